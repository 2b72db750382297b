/* How near an event came to what would have broken a promise. */
#include "contracts/slack.h"

#include "rules.h"
#include "track.h"

enum slack_of { OF_LEASE_01 = 0, OF_BELIEF_01 = 1, OF_KV_03 = 2 };

static void take_look(const struct lapse_look *look, void *ctx);
static void take_grant(struct lapse_slack *slack, const struct lapse_look *look);
static void take_listing(struct lapse_slack *slack, const struct lapse_look *look);
static void take_entry(struct lapse_slack *slack, const struct lapse_look *look,
                       const struct lapse_tracked_key *key);
static void take_act(struct lapse_slack *slack, const struct lapse_trackers *trackers,
                     const struct lapse_history_event *event);
static void lower(struct lapse_slack *slack, int64_t from_ns, int64_t to_ns, int64_t event);

void lapse_slack_init(struct lapse_slack ret[LAPSE_SLACKS]) {
    static const char *const ids[LAPSE_SLACKS] = {
        [OF_LEASE_01] = "LEASE-01", [OF_BELIEF_01] = "BELIEF-01", [OF_KV_03] = "KV-03"};
    for (int i = 0; i < LAPSE_SLACKS; i++) {
        ret[i] = (struct lapse_slack){.id = ids[i], .event = -1};
    }
}

void lapse_slack_take(struct lapse_slack slacks[LAPSE_SLACKS],
                      const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_INVOKE) {
        take_act(&slacks[OF_BELIEF_01], trackers, event);
    } else if (event->kind == LAPSE_HISTORY_APPLY || event->kind == LAPSE_HISTORY_PROBE) {
        lapse_looks_each(trackers, event, take_look, slacks);
    }
}

void lapse_slack_join(struct lapse_slack slacks[LAPSE_SLACKS],
                      const struct lapse_slack other[LAPSE_SLACKS]) {
    for (int i = 0; i < LAPSE_SLACKS; i++) {
        if (other[i].known) {
            lower(&slacks[i], 0, other[i].least.ns, other[i].event);
        }
    }
}

static void take_look(const struct lapse_look *look, void *ctx) {
    struct lapse_slack *slacks = ctx;
    if (look->verb == LAPSE_VERB_ACQUIRE) {
        take_grant(&slacks[OF_LEASE_01], look);
    } else if (lapse_look_lists(look)) {
        take_listing(&slacks[OF_KV_03], look);
    } else if (look->key != NULL && lapse_look_shows(look) == LAPSE_SHOWN_PRESENT) {
        take_entry(&slacks[OF_KV_03], look, look->key);
    }
}

/* A grant anew, after one of another owner that is over. */
static void take_grant(struct lapse_slack *slack, const struct lapse_look *look) {
    const struct lapse_tracked_grant *last =
        look->lease != NULL ? lapse_tracked_grant_last(look->lease) : NULL;
    if (last == NULL || last->lost != NULL || look->command == NULL ||
        look->answer->status != LAPSE_OK || look->answer->renewed ||
        lapse_bytes_equal(last->owner, look->command->u.lease.owner)) {
        return;
    }
    if (last->released != NULL) {
        int64_t freed = last->released->u.apply.answer.at.ns;
        lower(slack, freed, look->answer->at.ns, look->event->seq);
    } else if (last->end.kind == LAPSE_END_STEADY) {
        lower(slack, last->end.ns, look->answer->at.ns, look->event->seq);
    }
}

/* A count has no items: it does not say which keys it saw. */
static void take_listing(struct lapse_slack *slack, const struct lapse_look *look) {
    size_t count = look->answer->items != NULL ? look->answer->item_count : 0;
    for (size_t i = 0; i < count; i++) {
        const struct lapse_tracked_key *key =
            lapse_tracked_key_find(look->bucket, look->answer->items[i].key);
        if (key != NULL) {
            take_entry(slack, look, key);
        }
    }
}

/* A use that renews has moved the end already when the answer comes: the end that it found counts.
 */
static void take_entry(struct lapse_slack *slack, const struct lapse_look *look,
                       const struct lapse_tracked_key *key) {
    if (!key->present || key->entry.end.kind == LAPSE_END_NONE) {
        return;
    }
    bool date = key->entry.end.kind == LAPSE_END_WALL;
    int64_t now = date ? look->answer->wall.ns : look->answer->at.ns;
    lower(slack, now, key->entry.end.ns, look->event->seq);
}

static void take_act(struct lapse_slack *slack, const struct lapse_trackers *trackers,
                     const struct lapse_history_event *event) {
    if (lapse_rule_belief_01_premise(trackers, event)) {
        const struct lapse_tracked_belief *belief = lapse_tracked_belief_find(
            trackers, event->actor, event->incarnation, &event->u.invoke.grant);
        lower(slack, event->u.invoke.last_look.ns, belief->deadline.ns, event->seq);
    }
}

/* From an instant to a later one of the same clock; below 0 where a promise is broken. */
static void lower(struct lapse_slack *slack, int64_t from_ns, int64_t to_ns, int64_t event) {
    int64_t near_ns;
    if (lapse_ns_sub(to_ns, from_ns, &near_ns) && (!slack->known || near_ns < slack->least.ns)) {
        slack->known = true;
        slack->least.ns = near_ns;
        slack->event = event;
    }
}
