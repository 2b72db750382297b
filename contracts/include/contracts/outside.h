/* Outside the contract: what a run did that promises do not rest on, and what is judged then.
 *
 * Promises rest on clocks that keep within their bounds, on syncs and disks that keep their word,
 * on the store's own newest file and on one owner text for one incarnation. A run that breaks one
 * of these is marked from that event on, and from there only a few contracts are judged, besides
 * those that the scenario lists under `violates`. Marks are read from the history alone. */
#ifndef CONTRACTS_OUTSIDE_H
#define CONTRACTS_OUTSIDE_H

#include "contracts/history.h"

enum lapse_outside_kind {
    LAPSE_OUTSIDE_CLOCK = 0, /* a raw clock runs beyond the declared rate, or stands still */
    LAPSE_OUTSIDE_FROZEN,    /* a machine stood still, its clocks with it */
    LAPSE_OUTSIDE_WALL,      /* a wall clock beyond the declared bound */
    LAPSE_OUTSIDE_LIES,      /* a sync said done and was not */
    LAPSE_OUTSIDE_ROT,       /* what was durable has changed */
    LAPSE_OUTSIDE_OLD,       /* an old copy of the store was put back */
    LAPSE_OUTSIDE_SHIFTED,   /* the same, and the store was told so */
    LAPSE_OUTSIDE_OWNER,     /* one owner text stands for two incarnations */
    LAPSE_OUTSIDE_KINDS
};

struct lapse_outside_mark {
    const struct lapse_history_event *by; /* the first event that did it; NULL: none has */
    struct lapse_party whose;
};

struct lapse_outside {
    const struct lapse_setup *setup; /* of BEGIN */
    bool owners;                     /* some owner text is fixed, so that two may share it */
    bool node_wall; /* a node's wall was beyond its bound: dates are not judged in true time */
    struct lapse_outside_mark marks[LAPSE_OUTSIDE_KINDS];
    size_t count; /* of marks */
};

/* Takes in an event, before it is judged. To take one twice changes nothing. */
void lapse_outside_take(struct lapse_outside *outside, const struct lapse_history_event *event);
/* Whether a contract is still judged. */
bool lapse_outside_judges(const struct lapse_outside *outside, const char *id);

enum { LAPSE_OUTSIDE_TEXT_MAX = 160 };
/* "clock of w1 beyond 200ppm from 12s", of a kind that is marked; returns buf, of that size. */
char *lapse_outside_say(const struct lapse_outside *outside, enum lapse_outside_kind kind,
                        char *buf);

#endif
