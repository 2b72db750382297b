/* Private to the rules: the list of all rules, in the order in which a broken promise is charged,
 * and what their predicates share. */
#ifndef CONTRACTS_RULES_H
#define CONTRACTS_RULES_H

#include "contracts/tracker.h"

#define LAPSE_ON(kind) LAPSE_RULE_KIND(LAPSE_HISTORY_##kind)
#define LAPSE_ON_LOOK (LAPSE_ON(APPLY) | LAPSE_ON(PROBE))
#define LAPSE_ON_STORE \
    (LAPSE_ON(APPLY) | LAPSE_ON(STEP) | LAPSE_ON(TENURE))
#define LAPSE_ON_REPLAY \
    (LAPSE_ON(APPLY) | LAPSE_ON(EMIT) | LAPSE_ON(STEP) | LAPSE_ON(REPLY) | LAPSE_ON(END))
#define LAPSE_ON_WRITTEN \
    (LAPSE_ON(EMIT) | LAPSE_ON(APPLY) | LAPSE_ON(REPLY) | LAPSE_ON(DELIVER) | LAPSE_ON(END))

/* X(name, id, kinds, uses), most special first: an event that breaks several contracts is charged
 * to the first. So what was found ended stands before what has ended, that before what lives on,
 * and those before the general promises on terms. Where store time has gone back, what had ended
 * may not have, so that stands before all that ends. The most general one, that all answers have
 * one order, comes last. */
#define LAPSE_RULES(X)                                                                           \
    X(fence_03, "FENCE-03", LAPSE_ON(RESOURCE), LAPSE_USE_RESOURCES)                             \
    X(renew_01, "RENEW-01", LAPSE_ON(INVOKE), LAPSE_USE_LOOPS)                                   \
    X(belief_02, "BELIEF-02", LAPSE_ON(INVOKE), LAPSE_USE_BELIEF)                                \
    X(belief_01, "BELIEF-01", LAPSE_ON(INVOKE), LAPSE_USE_BELIEF)                                \
    X(repl_01, "REPL-01", LAPSE_ON(ROLE), LAPSE_USE_ROLES)                                       \
    X(clock_03, "CLOCK-03", LAPSE_ON_STORE, LAPSE_USE_KEYS | LAPSE_USE_LEASES)                   \
    X(lease_10, "LEASE-10", LAPSE_ON(APPLY), LAPSE_USE_LOCK_KEYS)                                \
    X(once_01, "ONCE-01", LAPSE_ON(APPLY) | LAPSE_ON(EMIT), LAPSE_USE_REQUESTS)                  \
    X(clock_05, "CLOCK-05", LAPSE_ON(APPLY), LAPSE_USE_EDGES)                                    \
    X(clock_04, "CLOCK-04", LAPSE_ON(APPLY) | LAPSE_ON(STEP), LAPSE_USE_STOPS)                   \
    X(clock_06, "CLOCK-06", LAPSE_ON_STORE, LAPSE_USE_KEYS | LAPSE_USE_LEASES)                   \
    X(fence_01, "FENCE-01", LAPSE_ON(APPLY), LAPSE_USE_LEASES)                                   \
    X(fence_02, "FENCE-02", LAPSE_ON(APPLY), LAPSE_USE_LEASES)                                   \
    X(dur_06, "DUR-06", LAPSE_ON_LOOK, LAPSE_USE_RESTARTS)                                       \
    X(repl_02, "REPL-02", LAPSE_ON_LOOK, LAPSE_USE_ROLES)                                        \
    X(dur_05, "DUR-05", LAPSE_ON_LOOK, LAPSE_USE_RESTARTS)                                       \
    X(dur_04, "DUR-04", LAPSE_ON_LOOK, LAPSE_USE_RESTARTS)                                       \
    X(clock_01, "CLOCK-01", LAPSE_ON_LOOK | LAPSE_ON_STORE, LAPSE_USE_CLOCKS)                    \
    X(lease_08, "LEASE-08", LAPSE_ON(APPLY), LAPSE_USE_LEASES)                                   \
    X(lease_03, "LEASE-03", LAPSE_ON(APPLY), LAPSE_USE_LEASES)                                   \
    X(lease_05, "LEASE-05", LAPSE_ON_LOOK, LAPSE_USE_RELEASE)                                    \
    X(lease_04, "LEASE-04", LAPSE_ON(APPLY), LAPSE_USE_LEASES)                                   \
    X(lease_09, "LEASE-09", LAPSE_ON(APPLY), LAPSE_USE_RELEASE | LAPSE_USE_EXTEND)               \
    X(lease_07, "LEASE-07", LAPSE_ON(APPLY), LAPSE_USE_EXTEND)                                   \
    X(lease_06, "LEASE-06", LAPSE_ON(APPLY), LAPSE_USE_EXTEND)                                   \
    X(lease_01, "LEASE-01", LAPSE_ON_LOOK, LAPSE_USE_LEASES)                                     \
    X(lease_02, "LEASE-02", LAPSE_ON_LOOK, LAPSE_USE_LEASES)                                     \
    X(watch_04, "WATCH-04", LAPSE_ON_WRITTEN, LAPSE_USE_WATCH)                                   \
    X(reap_02, "REAP-02", LAPSE_ON(EMIT) | LAPSE_ON(APPLY), LAPSE_USE_TERMS)                     \
    X(watch_03, "WATCH-03", LAPSE_ON(EMIT) | LAPSE_ON(END), LAPSE_USE_MARKERS)                   \
    X(watch_02, "WATCH-02", LAPSE_ON_WRITTEN, LAPSE_USE_WATCH)                                   \
    X(watch_06, "WATCH-06", LAPSE_ON(DELIVER), LAPSE_USE_WATCH)                                  \
    X(watch_01, "WATCH-01", LAPSE_ON(DELIVER) | LAPSE_ON(END), LAPSE_USE_WATCH)                  \
    X(watch_05, "WATCH-05", LAPSE_ON_LOOK | LAPSE_ON(EMIT), LAPSE_USE_MARKERS)                   \
    X(reap_01, "REAP-01", LAPSE_ON(PROBE), LAPSE_USE_TERMS)                                      \
    X(dur_02, "DUR-02", LAPSE_ON_LOOK, LAPSE_USE_RESTARTS)                                       \
    X(dur_03, "DUR-03", LAPSE_ON_LOOK, LAPSE_USE_RESTARTS)                                       \
    X(dur_01, "DUR-01", LAPSE_ON_LOOK | LAPSE_ON(NOTE), LAPSE_USE_RESTARTS)                      \
    X(cas_02, "CAS-02", LAPSE_ON(APPLY), LAPSE_USE_CAS)                                          \
    X(kv_12, "KV-12", LAPSE_ON(APPLY), LAPSE_USE_IDLE)                                           \
    X(kv_09, "KV-09", LAPSE_ON(APPLY), LAPSE_USE_IDLE)                                           \
    X(kv_04, "KV-04", LAPSE_ON_LOOK, LAPSE_USE_TERMS)                                            \
    X(clock_02, "CLOCK-02", LAPSE_ON_LOOK, LAPSE_USE_DATES)                                      \
    X(kv_08, "KV-08", LAPSE_ON(APPLY), LAPSE_USE_IDLE)                                           \
    X(kv_03, "KV-03", LAPSE_ON_LOOK, LAPSE_USE_TERMS)                                            \
    X(cas_03, "CAS-03", LAPSE_ON(APPLY), LAPSE_USE_CAS)                                          \
    X(kv_05, "KV-05", LAPSE_ON_LOOK, LAPSE_USE_TERMS)                                            \
    X(cas_01, "CAS-01", LAPSE_ON(APPLY), LAPSE_USE_CAS)                                          \
    X(cas_05, "CAS-05", LAPSE_ON(APPLY) | LAPSE_ON(EMIT), LAPSE_USE_CAS)                         \
    X(cas_04, "CAS-04", LAPSE_ON(APPLY) | LAPSE_ON(EMIT), LAPSE_USE_KEYS)                        \
    X(kv_06, "KV-06", LAPSE_ON(APPLY), LAPSE_USE_RETIME)                                         \
    X(kv_14, "KV-14", LAPSE_ON(APPLY), LAPSE_USE_KEEP)                                           \
    X(kv_07, "KV-07", LAPSE_ON(APPLY), LAPSE_USE_TERMS)                                          \
    X(kv_02, "KV-02", LAPSE_ON(APPLY), LAPSE_USE_TERMS)                                          \
    X(kv_01, "KV-01", LAPSE_ON_LOOK, LAPSE_USE_TERMS)                                            \
    X(kv_11, "KV-11", LAPSE_ON_LOOK, LAPSE_USE_KEYS)                                             \
    X(kv_13, "KV-13", LAPSE_ON_LOOK, LAPSE_USE_TERMS)                                            \
    X(live_02, "LIVE-02", LAPSE_ON(INVOKE), LAPSE_USE_LOOPS)                                     \
    X(live_01, "LIVE-01", LAPSE_ON(INVOKE) | LAPSE_ON(REPLY) | LAPSE_ON(END), LAPSE_USE_WANTS)   \
    X(lin_01, "LIN-01", LAPSE_ON_REPLAY, LAPSE_USE_KEYS | LAPSE_USE_LEASES)

#define LAPSE_RULE_DECLARE(name, id, kinds, uses)                              \
    bool lapse_rule_##name##_premise(const struct lapse_trackers *trackers,    \
                                     const struct lapse_history_event *event); \
    bool lapse_rule_##name##_holds(const struct lapse_trackers *trackers,      \
                                   const struct lapse_history_event *event,    \
                                   struct lapse_violation *ret);
LAPSE_RULES(LAPSE_RULE_DECLARE)
#undef LAPSE_RULE_DECLARE

/* Sets the message of a violation. Returns false, so that `return lapse_violation_say(..)` ends a
 * predicate. */
bool lapse_violation_say(struct lapse_violation *ret, const char *format, ...) LAPSE_PRINTF(2, 3);
/* Adds a label on an event; NULL events and labels past the bound are left out. */
void lapse_violation_label(struct lapse_violation *ret, const struct lapse_history_event *event,
                           const char *format, ...) LAPSE_PRINTF(3, 4);

/* ---- Text for messages. */
enum { LAPSE_RULE_TEXT_MAX = 96 };
struct lapse_rule_text {
    char text[LAPSE_RULE_TEXT_MAX];
};
/* "codes/c1"; "jobs/nightly"; "15m", a date or "never"; "15m" of store time; "w1". */
struct lapse_rule_text lapse_text_key(struct lapse_bytes bucket, struct lapse_bytes key);
struct lapse_rule_text lapse_text_name(struct lapse_bytes name);
struct lapse_rule_text lapse_text_end(struct lapse_end end);
struct lapse_rule_text lapse_text_ns(int64_t ns);
struct lapse_rule_text lapse_text_actor(const struct lapse_trackers *trackers,
                                        const struct lapse_history_event *event);

/* ---- One answer about a key or a listing, beside what the tracker believes. An APPLY has one, a
 * PROBE one for each verb that it tried. */
struct lapse_look {
    const struct lapse_history_event *event;
    int verb;
    bool probed;                         /* by an observer: `command` says bucket and key alone */
    const struct lapse_command *command; /* NULL if probed */
    const struct lapse_answer *answer;
    struct lapse_answer own; /* of a member of a batch: `answer` points here */
    bool in_batch;
    struct lapse_bytes bucket_name, key_name;
    const struct lapse_tracked_bucket *bucket; /* NULL: unknown, or a lease is looked at */
    const struct lapse_tracked_key *key;       /* NULL: never written, or a listing */
    enum lapse_tracked_state state;            /* of the key, at this decision */
    const struct lapse_tracked_lease *lease;   /* NULL: never granted, or a key is looked at */
    bool sure; /* no crash has left open what stands there */
    bool conflict_tells; /* a conflict tells whether there is an entry: versions are compared with
                            a live one's, and 0 is no entry's */
};

typedef bool lapse_look_concerns(const struct lapse_trackers *trackers,
                                 const struct lapse_look *look);
typedef bool lapse_look_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                              struct lapse_violation *ret);

/* Hands each look of the event to `visit`, but for what a crash has left open. For all that asks
 * for looks the event must have been taken by lapse_trackers_look. */
void lapse_looks_each(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event,
                      void (*visit)(const struct lapse_look *look, void *ctx), void *ctx);
/* Whether any look of the event concerns a rule; whether every one that does passes its check. Of
 * what a crash has left open (LAPSE_TRACKED_UNSURE), only with `open`. */
bool lapse_looks_any(const struct lapse_trackers *trackers, const struct lapse_history_event *event,
                     bool open, lapse_look_concerns *concerns);
bool lapse_looks_all(const struct lapse_trackers *trackers, const struct lapse_history_event *event,
                     bool open, lapse_look_concerns *concerns, lapse_look_check *check,
                     struct lapse_violation *ret);

/* Whether an expired event tells the end of a tombstone, which is no end of a key. */
bool lapse_rule_marks_trace(const struct lapse_trackers *trackers,
                            const struct lapse_history_event *event);

/* Defines a rule's two predicates from those over one look. */
#define LAPSE_RULE_BY_LOOKS(name, concerns, check) LAPSE_RULE_OF_LOOKS(name, false, concerns, check)
#define LAPSE_RULE_BY_OPEN_LOOKS(name, concerns, check) \
    LAPSE_RULE_OF_LOOKS(name, true, concerns, check)
#define LAPSE_RULE_OF_LOOKS(name, open, concerns, check)                        \
    bool lapse_rule_##name##_premise(const struct lapse_trackers *trackers,     \
                                     const struct lapse_history_event *event) { \
        return lapse_looks_any(trackers, event, open, concerns);                \
    }                                                                           \
    bool lapse_rule_##name##_holds(const struct lapse_trackers *trackers,       \
                                   const struct lapse_history_event *event,     \
                                   struct lapse_violation *ret) {               \
        return lapse_looks_all(trackers, event, open, concerns, check, ret);    \
    }

/* ---- True time (true_time.c), where `bounds` are declared: LIVE, ENDED, or UNSURE where clocks
 * within the bounds may differ, or nothing is claimed. */
enum lapse_tracked_state lapse_true_span(const struct lapse_trackers *trackers,
                                         const struct lapse_history_event *since,
                                         struct lapse_span span, struct lapse_true_time at);
enum lapse_tracked_state lapse_true_date(const struct lapse_trackers *trackers,
                                         struct lapse_wall date, struct lapse_true_time at);
/* Whether what a look shows, live or not, agrees with that. */
bool lapse_true_says(const struct lapse_look *look, enum lapse_tracked_state truth, bool shown,
                     struct lapse_violation *ret);

/* What a look at one key says of it. */
enum lapse_shown {
    LAPSE_SHOWN_NOTHING = 0, /* the answer does not tell */
    LAPSE_SHOWN_PRESENT,
    LAPSE_SHOWN_ABSENT
};
enum lapse_shown lapse_look_shows(const struct lapse_look *look);
/* Whether the look is a list, all, count, or a watch's first keys, and was answered. */
bool lapse_look_lists(const struct lapse_look *look);
/* Whether a listing would show this key at all: a watch of one key shows that key alone. */
bool lapse_look_lists_key(const struct lapse_look *look, struct lapse_bytes key);
enum lapse_tracked_state lapse_look_state_of(const struct lapse_trackers *trackers,
                                             const struct lapse_look *look,
                                             const struct lapse_tracked_key *key);
/* Whether an accepted call may make events of its own: a write, or a batch that holds one. */
bool lapse_call_makes_events(const struct lapse_tracked_call *call);
/* Whether what ended at `end` must have been reaped by now, with `due` rows to reap. A store that
 * stood still meanwhile is excused: the bound holds while it is stepped. */
bool lapse_reap_overdue(const struct lapse_trackers *trackers, struct lapse_true_time at,
                        struct lapse_steady store, struct lapse_end end, size_t due);
/* Whether a command may move the end of the idle key that it reads. */
bool lapse_look_uses(const struct lapse_look *look);
/* Sessions are judged under the contracts of leases: whether a look at one is this contract's to
 * judge, and whether what it shows is right to it. */
bool lapse_session_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look,
                            const char *id);
bool lapse_session_right(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         const char *id, struct lapse_violation *ret);
/* The APPLY a decision comes from and the request, when the event is an accepted or refused call
 * of `verb`; NULL otherwise. */
const struct lapse_command *lapse_rule_command(const struct lapse_trackers *trackers,
                                               const struct lapse_history_event *event);

#endif
