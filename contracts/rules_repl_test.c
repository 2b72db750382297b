/* Stories of the REPL rules: nodes that lead and follow, and what the next leader answers. */
#include <criterion/criterion.h>

#include "history_builder_test.h"

#define JOB "jobs/nightly"
#define SPAN (30 * SECOND)

enum { N1 = 0, N2 = 1 };

static struct lapse_request inspect(void) {
    return lease_call(LAPSE_VERB_INSPECT, JOB, "", 0);
}

/* n1 leads, what is to be kept is written, and n2 takes over a second later. */
static void begin_lead(struct builder *b) {
    role(b, N1, LAPSE_ROLE_LEADER, 1, 0, "");
}

static void pass_lead(struct builder *b) {
    b->at = SECOND;
    role(b, N2, LAPSE_ROLE_LEADER, 2, 0, "");
}

static void lead_lease(struct builder *b, enum lapse_durability durability) {
    struct lapse_request acquire = lease_call(LAPSE_VERB_ACQUIRE, JOB, "w1", SPAN);
    acquire.command.u.lease.durability = durability;
    begin_lead(b);
    converse(b, W1, acquire, holds_lease(b, "w1", 1, SPAN));
    pass_lead(b);
}

/* Two nodes lead the same epoch. */
static void repl_01(struct builder *b, bool broken) {
    begin_lead(b);
    role(b, N1, LAPSE_ROLE_LEADER, 1, 4, "a");
    role(b, N2, LAPSE_ROLE_FOLLOWER, 1, 4, "a");
    role(b, N2, LAPSE_ROLE_LEADER, broken ? 1 : 2, 4, "a");
}

/* The next leader shows another end. */
static void repl_02(struct builder *b, bool broken) {
    lead_lease(b, LAPSE_PERSISTENT);
    decide(b, W2, inspect(), holds_lease(b, "w1", 1, broken ? SPAN + SECOND : SPAN));
}

const struct rule_pair *repl_pairs(size_t *ret_count) {
    static const struct rule_pair pairs[] = {
        {.id = "REPL-01", .story = repl_01},
        {.id = "REPL-02", .story = repl_02},
    };
    *ret_count = sizeof pairs / sizeof pairs[0];
    return pairs;
}

static void states_part(struct builder *b, bool broken) {
    role(b, N1, LAPSE_ROLE_FOLLOWER, 0, 7, "a");
    role(b, N1, LAPSE_ROLE_FOLLOWER, 0, 3, "b");
    role(b, N2, LAPSE_ROLE_FOLLOWER, 0, 5, "c");
    role(b, N2, LAPSE_ROLE_FOLLOWER, 0, 3, broken ? "c" : "b");
}

static void holder_is_refused(struct builder *b, bool broken) {
    lead_lease(b, LAPSE_PERSISTENT);
    decide(b, W1, lease_call(LAPSE_VERB_EXTEND, JOB, "w1", SPAN),
           broken ? answered(b, LAPSE_NOT_OWNER) : holds_lease(b, "w1", 1, SECOND + SPAN));
}

static void lease_is_lost(struct builder *b, bool broken) {
    lead_lease(b, LAPSE_PERSISTENT);
    decide(b, W1, lease_call(LAPSE_VERB_EXTEND, JOB, "w1", SPAN),
           answered(b, broken ? LAPSE_LOST : LAPSE_UNAVAILABLE));
}

static void lease_is_given_away(struct builder *b, bool broken) {
    struct lapse_answer held = until(b, LAPSE_HELD, SPAN);
    held.owner = lapse_bytes_of("w1");
    lead_lease(b, LAPSE_PERSISTENT);
    held.at.ns = b->at;
    held.left.ns -= b->at;
    decide(b, W2, lease_call(LAPSE_VERB_ACQUIRE, JOB, "w2", SPAN),
           broken ? holds_lease(b, "w2", 2, SECOND + SPAN) : held);
}

static void lease_outlives_its_end(struct builder *b, bool broken) {
    lead_lease(b, LAPSE_PERSISTENT);
    b->at = SPAN;
    decide(b, W2, inspect(),
           broken ? holds_lease(b, "w1", 1, 2 * SPAN) : answered(b, LAPSE_ABSENT));
}

/* What was extended since is the next leader's own, and another's contract. */
static void extended_since(struct builder *b, bool broken) {
    lead_lease(b, LAPSE_PERSISTENT);
    converse(b, W1, lease_call(LAPSE_VERB_EXTEND, JOB, "w1", 2 * SPAN),
             holds_lease(b, "w1", 1, SECOND + 2 * SPAN));
    decide(b, W2, inspect(), holds_lease(b, "w1", 1, broken ? SPAN : SECOND + 2 * SPAN));
}

static void ephemeral_outlives_its_leader(struct builder *b, bool broken) {
    lead_lease(b, LAPSE_EPHEMERAL);
    decide(b, W2, inspect(), broken ? holds_lease(b, "w1", 1, SPAN) : answered(b, LAPSE_ABSENT));
}

static void old_leader_speaks_late(struct builder *b, bool broken) {
    struct lapse_request acquire = lease_call(LAPSE_VERB_ACQUIRE, JOB, "w1", SPAN);
    acquire.command.u.lease.durability = LAPSE_EPHEMERAL;
    begin_lead(b);
    pass_lead(b);
    converse(b, W1, acquire, holds_lease(b, "w1", 1, SECOND + SPAN));
    role(b, N1, LAPSE_ROLE_LEADER, 1, 0, "");
    decide(b, W2, inspect(),
           broken ? answered(b, LAPSE_ABSENT) : holds_lease(b, "w1", 1, SECOND + SPAN));
}

static void key_is_lost(struct builder *b, bool broken) {
    begin_lead(b);
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    pass_lead(b);
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "c1"),
           broken ? answered(b, LAPSE_ABSENT) : read_value(b, "v", 1, 15 * MINUTE));
}

static void key_has_another_end(struct builder *b, bool broken) {
    begin_lead(b);
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    pass_lead(b);
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "c1"),
           read_value(b, "v", 1, 15 * MINUTE + (broken ? SECOND : 0)));
}

static void key_outlives_its_end(struct builder *b, bool broken) {
    begin_lead(b);
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    pass_lead(b);
    b->at = 15 * MINUTE;
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "c1"),
           broken ? read_value(b, "v", 1, 16 * MINUTE) : answered(b, LAPSE_ABSENT));
}

static void key_is_written_since(struct builder *b, bool broken) {
    begin_lead(b);
    put(b, W1, "codes", "c1", "v", 1, 15 * MINUTE);
    pass_lead(b);
    put(b, W1, "codes", "c1", "w", 2, SECOND + 15 * MINUTE);
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "c1"),
           broken ? answered(b, LAPSE_ABSENT) : read_value(b, "w", 2, SECOND + 15 * MINUTE));
}

Test(rules_repl, look_at_what_another_leader_has_promised) {
    static const struct twist twists[] = {
        {"states part", "REPL-01", states_part, LAPSE_SYNC_FULL},
        {"the holder is refused", "REPL-02", holder_is_refused, LAPSE_SYNC_FULL},
        {"a lease is lost", "REPL-02", lease_is_lost, LAPSE_SYNC_FULL},
        {"a lease is given away", "REPL-02", lease_is_given_away, LAPSE_SYNC_FULL},
        {"a lease outlives its end", "REPL-02", lease_outlives_its_end, LAPSE_SYNC_FULL},
        {"a lease was extended since", "LEASE-02", extended_since, LAPSE_SYNC_FULL},
        {"an ephemeral lease", "DUR-05", ephemeral_outlives_its_leader, LAPSE_SYNC_FULL},
        {"an old leader speaks late", "LEASE-02", old_leader_speaks_late, LAPSE_SYNC_FULL},
        {"a key is lost", "REPL-02", key_is_lost, LAPSE_SYNC_FULL},
        {"a key has another end", "REPL-02", key_has_another_end, LAPSE_SYNC_FULL},
        {"a key outlives its end", "REPL-02", key_outlives_its_end, LAPSE_SYNC_FULL},
        {"a key was written since", "KV-05", key_is_written_since, LAPSE_SYNC_FULL},
    };
    check_twists(twists, sizeof twists / sizeof twists[0]);
}
