/* Every rule can accept and can reject: each has a story, and the story told with one event changed
 * or left out breaks that rule and no more special one. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "contracts/tracker.h"
#include "history_builder_test.h"

enum { RULES_MAX = 64 };

struct outcome {
    const char *broken; /* the first rule that the first bad event breaks; NULL: none */
    struct lapse_violation violation;
    int premises[RULES_MAX];
};

static void judge(const struct builder *b, const char *about, struct outcome *ret);
static void judge_event(const struct lapse_trackers *trackers,
                        const struct lapse_history_event *event, const char *about,
                        struct outcome *ret);
static uint64_t event_digest(const struct lapse_history *history, size_t index);
static size_t events_apart(const struct lapse_history *a, const struct lapse_history *b);
static void check_labels(const struct builder *b, const struct outcome *outcome, const char *id);

Test(rules, each_accepts_its_story_and_rejects_it_one_event_away) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    cr_assert_leq(count, (size_t)RULES_MAX);
    for (size_t i = 0; i < count; i++) {
        const char *id = rules[i].id;
        const struct rule_pair *pair = find_pair(id);
        cr_assert_not_null(pair, "%s has no story", id);
        struct builder good, bad;
        struct outcome outcome;
        builder_open(&good);
        pair->story(&good, false);
        judge(&good, id, &outcome);
        cr_assert_null(outcome.broken, "the good story of %s breaks %s: %s", id, outcome.broken,
                       outcome.violation.message);
        cr_assert_gt(outcome.premises[i], 0, "the good story of %s never meets its premise", id);
        builder_open(&bad);
        pair->story(&bad, true);
        judge(&bad, id, &outcome);
        cr_assert_not_null(outcome.broken, "the bad story of %s breaks nothing", id);
        cr_assert_str_eq(outcome.broken, id, "the bad story of %s breaks %s: %s", id,
                         outcome.broken, outcome.violation.message);
        check_labels(&bad, &outcome, id);
        cr_assert_eq(events_apart(good.history, bad.history), 1, "the stories of %s differ by %zu",
                     id, events_apart(good.history, bad.history));
        builder_close(&good);
        builder_close(&bad);
    }
}

Test(rules, exist_for_the_ids_of_the_table_alone) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++)
        cr_assert(lapse_rule_exists(rules[i].id), "%s", rules[i].id);
    struct lapse_policies policies = {{0}};
    cr_assert(lapse_rule_judges("LIN-01", &policies));
    policies.value[LAPSE_POLICY_OLDER] = 1;
    cr_assert_not(lapse_rule_judges("LIN-01", &policies), "the model does not speak for it");
    cr_assert(lapse_rule_judges("KV-01", &policies));
    static const char *const others[] = {"KV-10", "KV-99", "KV-0", "kv-01", ""};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        cr_assert_not(lapse_rule_exists(others[i]), "%s", others[i]);
}

Test(rules, each_has_a_contract_in_the_catalogue) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++) {
        cr_assert_not_null(lapse_contract_find(rules[i].id), "%s", rules[i].id);
        cr_assert_neq(rules[i].kinds, 0U, "%s", rules[i].id);
        cr_assert_neq(rules[i].uses, 0U, "%s", rules[i].id);
        for (size_t k = 0; k < i; k++)
            cr_assert_str_neq(rules[i].id, rules[k].id);
    }
    cr_assert_null(lapse_contract_find("KV-99"));
}

Test(catalogue, every_entry_says_what_and_why) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    cr_assert_eq(count, (size_t)60);
    for (size_t i = 0; i < count; i++) {
        cr_assert_gt(strlen(contracts[i].sentence), (size_t)20, "%s", contracts[i].id);
        cr_assert_gt(strlen(contracts[i].why), (size_t)20, "%s", contracts[i].id);
        cr_assert_eq(lapse_contract_find(contracts[i].id), &contracts[i]);
    }
}

Test(rules, fence_03_points_at_the_grant_and_the_earlier_write) {
    struct builder b;
    struct outcome outcome;
    builder_open(&b);
    find_pair("FENCE-03")->story(&b, true);
    judge(&b, "FENCE-03", &outcome);
    const struct lapse_violation *said = &outcome.violation;
    cr_assert_str_eq(said->message,
                     "report applied a write with token 1 after it had applied token 2");
    cr_assert_eq(said->label_count, (size_t)3);
    cr_assert_str_eq(said->labels[0].text, "applied token 1");
    cr_assert_str_eq(said->labels[1].text, "w2 was granted token 2");
    cr_assert_str_eq(said->labels[2].text, "report applied token 2 at 35s");
    builder_close(&b);
}

Test(trackers, describe_says_what_stands_under_the_name) {
    static const struct {
        const char *id;
        const char *line;
    } cases[] = {
        {"KV-07", "codes/c1: w, revision 2, ends at 16m"},
        {"KV-04", "codes/c1: ended at 15m (was v, revision 1)"},
        {"CAS-01", "plain/k: v, revision 1, no end"},
        {"LEASE-04", "jobs/nightly: w2 until 1m, token 2"},
        {"LEASE-07", "jobs/nightly: free since 30s (last w1, token 1)"},
        {"LEASE-10", "locks/job: a, revision 2, ends at 31s, created by w1"},
        {"FENCE-03", "report: v, highest token 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct builder b;
        builder_open(&b);
        find_pair(cases[i].id)->story(&b, false);
        struct lapse_trackers *trackers = NULL;
        cr_assert_eq(lapse_trackers_open(lapse_alloc_libc(), &trackers, NULL), LAPSE_OK);
        size_t count = lapse_history_count(b.history);
        for (size_t e = 0; e < count; e++)
            cr_assert_eq(lapse_trackers_absorb(trackers, lapse_history_at(b.history, e)), LAPSE_OK);
        char line[200];
        const struct lapse_history_event *last = lapse_history_at(b.history, count - 1);
        cr_assert_str_eq(lapse_trackers_describe(trackers, last, line, sizeof line), cases[i].line);
        lapse_trackers_close(trackers);
        builder_close(&b);
    }
}

static void judge(const struct builder *b, const char *about, struct outcome *ret) {
    struct lapse_trackers *trackers = NULL;
    memset(ret, 0, sizeof *ret);
    cr_assert_eq(lapse_trackers_open(lapse_alloc_libc(), &trackers, NULL), LAPSE_OK);
    for (size_t i = 0; i < lapse_history_count(b->history) && ret->broken == NULL; i++) {
        const struct lapse_history_event *event = lapse_history_at(b->history, i);
        cr_assert_eq(lapse_trackers_look(trackers, event), LAPSE_OK);
        judge_event(trackers, event, about, ret);
        cr_assert_eq(lapse_trackers_absorb(trackers, event), LAPSE_OK);
    }
    lapse_trackers_close(trackers);
}

static void judge_event(const struct lapse_trackers *trackers,
                        const struct lapse_history_event *event, const char *about,
                        struct outcome *ret) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct lapse_violation violation = {.id = rules[i].id};
        if (strcmp(rules[i].id, BUILDER_WHOLE) == 0 && strcmp(about, BUILDER_WHOLE) != 0)
            continue;
        if ((rules[i].kinds & LAPSE_RULE_KIND(event->kind)) == 0 ||
            !rules[i].premise(trackers, event))
            continue;
        ret->premises[i]++;
        if (rules[i].holds(trackers, event, &violation) || ret->broken != NULL)
            continue;
        ret->broken = rules[i].id;
        ret->violation = violation;
    }
}

/* The digest of one event in a history of its own, so that its place does not count. */
static uint64_t event_digest(const struct lapse_history *history, size_t index) {
    struct lapse_history *alone = NULL;
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &alone, NULL), LAPSE_OK);
    cr_assert_not_null(lapse_history_append(alone, lapse_history_at(history, index)));
    uint64_t digest = lapse_history_digest(alone);
    lapse_history_close(alone);
    return digest;
}

/* How many events lie between the common beginning and the common end. */
static size_t events_apart(const struct lapse_history *a, const struct lapse_history *b) {
    size_t a_count = lapse_history_count(a), b_count = lapse_history_count(b);
    size_t shorter = a_count < b_count ? a_count : b_count;
    size_t longer = a_count < b_count ? b_count : a_count;
    size_t head = 0, tail = 0;
    while (head < shorter && event_digest(a, head) == event_digest(b, head))
        head++;
    while (tail < shorter - head &&
           event_digest(a, a_count - 1 - tail) == event_digest(b, b_count - 1 - tail))
        tail++;
    return longer - head - tail;
}

static void check_labels(const struct builder *b, const struct outcome *outcome, const char *id) {
    const struct lapse_violation *said = &outcome->violation;
    cr_assert_gt(strlen(said->message), (size_t)0, "%s says nothing", id);
    cr_assert_gt(said->label_count, (size_t)0, "%s points at nothing", id);
    for (size_t i = 0; i < said->label_count; i++) {
        cr_assert_lt(said->labels[i].event, (int64_t)lapse_history_count(b->history));
        cr_assert_gt(strlen(said->labels[i].text), (size_t)0, "%s", id);
    }
}
