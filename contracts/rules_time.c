/* CLOCK-01..04 and CLOCK-06: store time goes with true time and never back, and what the wall does
 * moves dates alone. */
#include "rules.h"
#include "track.h"

static bool store_of(const struct lapse_history_event *event, struct lapse_steady *ret);
static bool gives_date(const struct lapse_look *look);
static bool wall_explains(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event);
static bool keeps_pace(const struct lapse_trackers *trackers, int64_t elapsed, int64_t advanced,
                       bool both);
static bool starts_over(const struct lapse_trackers *trackers,
                        const struct lapse_history_event *event);
static bool goes_unmarked(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event);
static bool span_stands(const struct lapse_look *look, struct lapse_end *ret_end,
                        const struct lapse_history_event **ret_since);
static bool shows_live(const struct lapse_look *look, bool *ret_live);
static bool moved_by_use(const struct lapse_look *look);

/* ---- CLOCK-01: a step of the wall moves no span. */

static bool clock_01_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    struct lapse_end end;
    const struct lapse_history_event *since;
    bool live;
    return trackers->wall_move_count > 0 && span_stands(look, &end, &since) &&
           lapse_tracked_wall_moved(trackers, since) != 0 && shows_live(look, &live);
}

/* Only what the step explains is charged here: an end that lies off by just as much. Who finds it
 * live at the very end, and says of no other, counts the end in: the wall has no say. */
static bool clock_01_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    struct lapse_end end = {.kind = LAPSE_END_NONE};
    const struct lapse_history_event *since = NULL;
    bool shown = false;
    (void)span_stands(look, &end, &since);
    (void)shows_live(look, &shown);
    int64_t moved = lapse_tracked_wall_moved(trackers, since);
    int64_t earlier = end.ns, at = look->answer->at.ns;
    if (!lapse_ns_sub(end.ns, moved, &earlier))
        return true;
    bool by_wall = shown != (at < end.ns) && shown == (at < earlier);
    bool told = look->answer->end.kind == LAPSE_END_STEADY;
    if (shown && told && look->answer->end.ns == earlier && !moved_by_use(look))
        by_wall = true;
    bool counted_in = shown && at == end.ns && (!told || look->answer->end.ns == end.ns);
    if (!by_wall || counted_in)
        return true;
    struct lapse_rule_text name = lapse_text_name(look->key_name);
    struct lapse_rule_text step = lapse_text_ns(moved);
    struct lapse_rule_text text = lapse_text_end(end);
    lapse_violation_label(ret, look->event, "found it %s", shown ? "live" : "ended");
    lapse_violation_label(ret, since, "this gave it a term that ends: %s", text.text);
    lapse_violation_label(ret, trackers->wall_moves[trackers->wall_move_count - 1],
                          "the wall clock was moved");
    return lapse_violation_say(ret, "the end of %s (%s) moved with the wall clock, by %s",
                               name.text, text.text, step.text);
}

/* Whether the end that is shown is the one that this use gave. */
static bool moved_by_use(const struct lapse_look *look) {
    if (look->key == NULL || look->command == NULL || !lapse_look_uses(look) ||
        !lapse_tracked_entry_renews(&look->key->entry, look->answer->at))
        return false;
    return lapse_tracked_entry_renewed(&look->key->entry, look->answer->at).ns ==
           look->answer->end.ns;
}

bool lapse_rule_clock_01_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    return lapse_looks_any(trackers, event, false, clock_01_concerns) ||
           (trackers->wall_move_count > 0 && trackers->seen != NULL &&
            lapse_tracked_wall_moved(trackers, trackers->seen) != 0 &&
            lapse_rule_clock_06_premise(trackers, event));
}

/* Where store time is the wall's, a step moves every span at once. */
bool lapse_rule_clock_01_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    if (!lapse_looks_all(trackers, event, false, clock_01_concerns, clock_01_check, ret))
        return false;
    if (!wall_explains(trackers, event))
        return true;
    struct lapse_rule_text step =
        lapse_text_ns(lapse_tracked_wall_moved(trackers, trackers->seen));
    lapse_violation_label(ret, event, "store time has gone along");
    lapse_violation_label(ret, trackers->wall_moves[trackers->wall_move_count - 1],
                          "the wall clock was moved");
    return lapse_violation_say(ret, "store time moved with the wall clock, by %s, and all spans "
                                    "with it",
                               step.text);
}

/* ---- CLOCK-02: a date is reached when the wall first shows it, and stays reached. */

static bool clock_02_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    (void)trackers;
    bool known = look->state == LAPSE_TRACKED_LIVE || look->state == LAPSE_TRACKED_ENDED;
    if (gives_date(look))
        return true;
    /* That a write or delete of what has ended is accepted says nothing of its date. */
    bool over = look->state == LAPSE_TRACKED_ENDED && lapse_verb_takes_revision(look->verb) &&
                look->answer->status == LAPSE_OK;
    return known && !over && look->key->entry.end.kind == LAPSE_END_WALL &&
           lapse_look_shows(look) != LAPSE_SHOWN_NOTHING;
}

static bool clock_02_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    if (gives_date(look)) {
        struct lapse_end asked = {LAPSE_END_WALL, look->command->u.write.term.expires_at.ns};
        struct lapse_rule_text right = lapse_text_end(asked);
        struct lapse_rule_text shown = lapse_text_end(look->answer->end);
        bool over = asked.ns <= look->answer->wall.ns;
        if (over ? look->answer->left.ns <= 0 : look->answer->end.ns == asked.ns)
            return true;
        lapse_violation_label(ret, look->event, "its end is shown as %s", shown.text);
        return lapse_violation_say(ret, "%s was given %s as its date, and has %s",
                                   lapse_text_key(look->bucket->name, look->key_name).text,
                                   right.text, shown.text);
    }
    bool live = look->state == LAPSE_TRACKED_LIVE;
    bool shown = lapse_look_shows(look) == LAPSE_SHOWN_PRESENT;
    struct lapse_wall end = {look->key->entry.end.ns};
    bool past = look->key->entry.term->u.apply.answer.left.ns <= 0; /* it ended at its write */
    if (shown == live)
        return past ||
               lapse_true_says(look, lapse_true_date(trackers, end, look->event->at), shown, ret);
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    struct lapse_rule_text date = lapse_text_end(look->key->entry.end);
    struct lapse_end now = {LAPSE_END_WALL, look->answer->wall.ns};
    struct lapse_rule_text wall = lapse_text_end(now);
    lapse_violation_label(ret, look->event, "decided when the wall read %s", wall.text);
    lapse_violation_label(ret, look->key->entry.term, "this gave it its date, %s", date.text);
    return lapse_violation_say(ret,
                               live ? "%s was absent, but no reading since has reached its date"
                                    : "%s was still there, but a reading has reached its date",
                               name.text);
}
LAPSE_RULE_BY_LOOKS(clock_02, clock_02_concerns, clock_02_check)

/* ---- CLOCK-03: store time never goes back, over starts too. */

bool lapse_rule_clock_03_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    struct lapse_steady store;
    return trackers->highest_by != NULL && !starts_over(trackers, event) && store_of(event, &store);
}

bool lapse_rule_clock_03_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    struct lapse_steady store = {0};
    (void)store_of(event, &store);
    if (store.ns >= trackers->store_highest.ns)
        return true;
    struct lapse_rule_text now = lapse_text_ns(store.ns);
    struct lapse_rule_text before = lapse_text_ns(trackers->store_highest.ns);
    lapse_violation_label(ret, event, "store time is %s", now.text);
    lapse_violation_label(ret, trackers->highest_by, "store time was %s", before.text);
    return lapse_violation_say(ret, "store time went back from %s to %s", before.text, now.text);
}

/* ---- CLOCK-04: time asleep counts, and a stop of the store adds no life. */

bool lapse_rule_clock_04_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    struct lapse_steady store;
    return trackers->slept != NULL && trackers->seen != NULL &&
           trackers->seen->seq < trackers->slept->seq && store_of(event, &store);
}

bool lapse_rule_clock_04_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    struct lapse_steady store = {0};
    (void)store_of(event, &store);
    int64_t elapsed = event->at.ns - trackers->seen_at.ns;
    int64_t advanced = lapse_steady_between(trackers->seen_store, store).ns;
    if (keeps_pace(trackers, elapsed, advanced, false) || wall_explains(trackers, event))
        return true;
    struct lapse_rule_text passed = lapse_text_ns(elapsed);
    struct lapse_rule_text counted = lapse_text_ns(advanced);
    lapse_violation_label(ret, event, "store time has advanced by %s", counted.text);
    lapse_violation_label(ret, trackers->slept, "it stood still until here");
    lapse_violation_label(ret, trackers->seen, "%s before", passed.text);
    return lapse_violation_say(ret, "the store counted %s of %s in which it stood still",
                               counted.text, passed.text);
}

/* ---- CLOCK-06: store time advances by true time, over a start on the same boot too. A start on
 * another boot is not judged here: what the wall did meanwhile may be in it. */

bool lapse_rule_clock_06_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    struct lapse_steady store;
    bool machine = event->kind == LAPSE_HISTORY_TENURE && event->u.tenure.machine;
    return trackers->seen != NULL && !machine && !starts_over(trackers, event) &&
           !goes_unmarked(trackers, event) &&
           store_of(event, &store);
}

bool lapse_rule_clock_06_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    struct lapse_steady store = {0};
    (void)store_of(event, &store);
    int64_t elapsed = event->at.ns - trackers->seen_at.ns;
    int64_t advanced = lapse_steady_between(trackers->seen_store, store).ns;
    if (keeps_pace(trackers, elapsed, advanced, true) ||
        wall_explains(trackers, event)) /* CLOCK-01 names it */
        return true;
    struct lapse_rule_text passed = lapse_text_ns(elapsed);
    struct lapse_rule_text counted = lapse_text_ns(advanced);
    lapse_violation_label(ret, event, "store time has advanced by %s", counted.text);
    lapse_violation_label(ret, trackers->seen, "%s before", passed.text);
    return lapse_violation_say(ret, "store time advanced by %s in %s of true time", counted.text,
                               passed.text);
}

/* The store time that an event tells, if it tells one. */
static bool store_of(const struct lapse_history_event *event, struct lapse_steady *ret) {
    switch (event->kind) {
    case LAPSE_HISTORY_APPLY:
        *ret = event->u.apply.answer.at;
        return event->u.apply.answer.status >= 0;
    case LAPSE_HISTORY_STEP:
        *ret = event->u.step.store;
        return event->u.step.status >= 0;
    case LAPSE_HISTORY_TENURE:
        *ret = event->u.tenure.store;
        return true;
    default:
        return false;
    }
}

/* An accepted write of a date to come. That it has a date at all is KV-02's to ask. */
static bool gives_date(const struct lapse_look *look) {
    return look->command != NULL && look->bucket != NULL && lapse_verb_writes_key(look->verb) &&
           look->answer->status == LAPSE_OK && look->answer->end.kind == LAPSE_END_WALL &&
           look->command->u.write.term.given == LAPSE_TERM_EXPIRES_AT;
}

/* Whether store time is off by just as much as the wall was moved since it was last seen, and by
 * more than its own clock may be. */
static bool wall_explains(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event) {
    struct lapse_steady store = {0};
    if (!lapse_rule_clock_06_premise(trackers, event))
        return false;
    (void)store_of(event, &store);
    int64_t moved = lapse_tracked_wall_moved(trackers, trackers->seen);
    int64_t elapsed = event->at.ns - trackers->seen_at.ns;
    int64_t off = 0;
    int64_t drift = lapse_tracked_drift(trackers, elapsed);
    int64_t advanced = lapse_steady_between(trackers->seen_store, store).ns;
    return moved != 0 && !keeps_pace(trackers, elapsed, advanced, true) &&
           lapse_ns_sub(advanced, elapsed, &off) &&
           off >= moved - drift && off <= moved + drift;
}

/* Whether store time has advanced as a clock within its bound does: no less, and with `both` no
 * more. */
static bool keeps_pace(const struct lapse_trackers *trackers, int64_t elapsed, int64_t advanced,
                       bool both) {
    int64_t drift = lapse_tracked_drift(trackers, elapsed);
    int64_t ahead = 0;
    if (!lapse_ns_sub(advanced, elapsed, &ahead))
        return false;
    return ahead >= -drift && (!both || ahead <= drift);
}

/* A store that syncs nothing promises nothing after a crash. */
static bool starts_over(const struct lapse_trackers *trackers,
                        const struct lapse_history_event *event) {
    return event->kind == LAPSE_HISTORY_TENURE && trackers->setup != NULL &&
           trackers->setup->sync == LAPSE_SYNC_NONE;
}

/* A store that has answered nothing since it opened has left no mark of that time: it goes on from
 * what the tenure before had left, by the same rule as then. */
static bool goes_unmarked(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event) {
    return event->kind == LAPSE_HISTORY_TENURE && trackers->seen != NULL &&
           trackers->seen->kind == LAPSE_HISTORY_TENURE;
}

/* The end, if a span gave it, of the entry or grant looked at, and what gave it. */
static bool span_stands(const struct lapse_look *look, struct lapse_end *ret_end,
                        const struct lapse_history_event **ret_since) {
    if (lapse_verb_of_lease(look->verb)) {
        const struct lapse_tracked_grant *last = lapse_tracked_grant_last(look->lease);
        if (last == NULL || last->released != NULL || last->lost != NULL || last->session != 0)
            return false;
        *ret_end = last->end;
        *ret_since = last->term;
    } else {
        if (look->state != LAPSE_TRACKED_LIVE && look->state != LAPSE_TRACKED_ENDED)
            return false;
        const struct lapse_tracked_entry *entry = &look->key->entry;
        if (entry->session != 0 || look->key->expired != NULL)
            return false;
        *ret_end = entry->end;
        *ret_since = entry->renewal != NULL ? entry->renewal : entry->term;
    }
    return ret_end->kind == LAPSE_END_STEADY;
}

/* False: the answer does not tell whether it is live. */
static bool shows_live(const struct lapse_look *look, bool *ret_live) {
    enum lapse_status status = look->answer->status;
    if (look->verb == LAPSE_VERB_INSPECT) {
        *ret_live = status == LAPSE_OK;
        return true;
    }
    if (look->verb == LAPSE_VERB_ACQUIRE) {
        *ret_live = status == LAPSE_HELD || look->answer->renewed;
        return status == LAPSE_OK || status == LAPSE_HELD;
    }
    if (lapse_verb_of_lease(look->verb))
        return false;
    enum lapse_shown shown = lapse_look_shows(look);
    *ret_live = shown == LAPSE_SHOWN_PRESENT;
    return shown != LAPSE_SHOWN_NOTHING && !lapse_verb_writes_key(look->verb);
}
