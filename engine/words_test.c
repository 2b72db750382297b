/* Words for numbers: each number of a table has its own, and every other number has `?`. */
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

Test(words, every_number_of_a_table_has_its_own_word_and_no_other_has_one) {
    int statuses = 0;
    int verbs = 0;
    for (int i = -20; i < 40; i++) {
        const char *status = lapse_status_word((enum lapse_status)i);
        const char *verb = lapse_verb_word((enum lapse_verb)i);
        for (int k = -20; k < i; k++) {
            cr_expect(strcmp(status, "?") == 0 ||
                      strcmp(status, lapse_status_word((enum lapse_status)k)) != 0);
            cr_expect(strcmp(verb, "?") == 0 ||
                      strcmp(verb, lapse_verb_word((enum lapse_verb)k)) != 0);
        }
        statuses += strcmp(status, "?") == 0 ? 0 : 1;
        verbs += strcmp(verb, "?") == 0 ? 0 : 1;
    }
    cr_expect_eq(statuses, 23);
    cr_expect_eq(verbs, 30);
    static const char *const events[] = {"?", "put", "delete", "purge", "expired", "gap", "?"};
    static const char *const whys[] = {"?", "own", "default", "idle", "session", "?"};
    for (int i = 0; i < 7; i++) {
        cr_expect_str_eq(lapse_event_word((enum lapse_event_kind)i), events[i]);
        cr_expect(i > 5 || strcmp(lapse_why_word((enum lapse_why)i), whys[i]) == 0);
    }
}

/* A date is read whole or refused, wherever it is cut or spoiled. */
Test(words, a_date_that_is_cut_or_spoiled_is_refused) {
    static const char date[] = "2026-02-03T04:05:06.789Z";
    size_t len = sizeof(date) - 1;
    struct lapse_wall wall = {7};
    cr_expect_eq(lapse_wall_scan(date, len, &wall), LAPSE_OK);
    int64_t whole = wall.ns;
    for (size_t i = 0; i < len; i++) {
        char spoiled[sizeof(date)];
        memcpy(spoiled, date, sizeof(date));
        cr_expect_lt(lapse_wall_scan(date, i, &wall), LAPSE_OK, "cut to %zu", i);
        spoiled[i] = 'x';
        cr_expect_lt(lapse_wall_scan(spoiled, len, &wall), LAPSE_OK, "%s", spoiled);
        spoiled[i] = ' ';
        cr_expect_lt(lapse_wall_scan(spoiled, len, &wall), LAPSE_OK, "%s", spoiled);
        cr_expect_eq(wall.ns, whole, "a refused date was given");
    }
}

/* A handle without its mutex gives the same answers to one thread. */
Test(words, an_unlocked_handle_answers_alike) {
    uint64_t digests[2];
    for (int i = 0; i < 2; i++) {
        struct lapse_testing t;
        struct lapse_digest answers;
        lapse_digest_begin(&answers);
        lapse_testing_open(&t);
        lapse_close(t.store);
        t.options.unlocked = i == 1;
        cr_assert_eq(lapse_open(&t.options, &t.store, &t.err), LAPSE_OK);
        for (size_t k = 0; k < lapse_testing_story_length(); k++) {
            lapse_testing_story(&t, k);
            lapse_testing_answer(&answers, &t.r);
        }
        digests[i] = lapse_digest_value(&answers);
        lapse_testing_close(&t);
    }
    cr_expect_eq(digests[0], digests[1]);
}

/* A batch that grants a lease after ephemeral ones: a mark goes before it, so its token is above
 * theirs (FENCE-01). */
Test(words, a_grant_in_a_batch_is_above_the_ephemeral_ones) {
    struct lapse_testing t;
    struct lapse_span span = {S(60)};
    struct lapse_bytes w = lapse_bytes_of("w");
    struct lapse_command calls[2] = {{.verb = LAPSE_VERB_SET}, {.verb = LAPSE_VERB_ACQUIRE}};
    struct lapse_command batch = {.verb = LAPSE_VERB_BATCH, .u.batch = {1, calls}};
    struct lapse_command before;
    lapse_testing_open(&t);
    lapse_testing_bucket(&t, "b", 0, 0, 0);
    for (int i = 0; i < 3; i++) {
        lapse_acquire_ephemeral(t.store, lapse_bytes_of(i == 0 ? "x" : i == 1 ? "y" : "z"), w, span,
                                &t.r, &t.err);
    }
    cr_assert_eq(t.r.token, 3);
    calls[0].bucket = lapse_bytes_of("b");
    calls[0].key = w;
    calls[1].key = lapse_bytes_of("job");
    calls[1].u.lease.owner = w;
    calls[1].u.lease.span = span;
    cr_expect_eq(lapse_preceding(t.store, &batch, &before, &t.err), LAPSE_ABSENT);
    batch.u.batch.count = 2;
    cr_expect_eq(lapse_preceding(t.store, &batch, &before, &t.err), LAPSE_OK);
    cr_expect(before.verb == LAPSE_VERB_MARK && before.u.mark.token == 3);
    cr_assert_eq(lapse_batch(t.store, calls, 2, &t.r, &t.err), LAPSE_OK, "%s", t.err.message);
    cr_expect_eq(t.r.answers[1].token, 4);
    lapse_testing_close(&t);
}
