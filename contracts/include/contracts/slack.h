/* Slack: how near a run that kept a promise came to breaking it, as a distance in time.
 *
 * Measured for the promises that a distance has a meaning for. A smaller slack says that a run came
 * closer to the edge at which the verdict flips; a campaign can be led by it. It is no verdict. */
#ifndef CONTRACTS_SLACK_H
#define CONTRACTS_SLACK_H

#include "contracts/rule.h"

/* LEASE-01: between the end, or release, of one owner's grant and the grant of the name to another,
 *           in store time.
 * BELIEF-01: between a careful client's last look at its clock before an act and its deadline, by
 *           that clock.
 * KV-03: between an answer that shows a key and the key's end, in store time; of a date, by the
 *           wall reading of the decision. */
enum { LAPSE_SLACKS = 3 };

struct lapse_slack {
    const char *id;
    bool known; /* false: nothing in the run came near */
    struct lapse_span least; /* above 0, for LEASE-01 also 0, where the promise was kept */
    int64_t event;           /* seq of the first event that came so near */
};

/* Fills all of `ret` with ids, and nothing known. */
void lapse_slack_init(struct lapse_slack ret[LAPSE_SLACKS]);
/* Takes in the next event, before the trackers absorb it. */
void lapse_slack_take(struct lapse_slack slacks[LAPSE_SLACKS],
                      const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event);
/* Lowers `slacks` to what another run came to. Its event numbers are of that run then. */
void lapse_slack_join(struct lapse_slack slacks[LAPSE_SLACKS],
                      const struct lapse_slack other[LAPSE_SLACKS]);

#endif
