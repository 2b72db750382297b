/* What a store holds and no answer shows: changed behind the world's back, it is found at the next
 * call. */
#include "plan_builder_test.h"
#include "state.h"

#include "lapse/lapse.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

enum { NOTHING = 0, ANOTHER_KEY, ANOTHER_VALUE, ANOTHER_END, A_LEASE, A_SESSION, CHANGES };

static struct lapse_bytes of(const char *text) {
    return lapse_bytes_of(text);
}

static void change(struct lapse *store, int what) {
    struct lapse_result r;
    struct lapse_error err;
    const struct lapse_term ttl = {.given = LAPSE_TERM_TTL, .ttl = {S(99)}};
    lapse_result_init(&r, NULL);
    switch (what) {
    case ANOTHER_KEY:
        (void)lapse_set(store, of("b"), of("other"), of("v"), NULL, NULL, &r, &err);
        break;
    case ANOTHER_VALUE:
        (void)lapse_set(store, of("b"), of("k"), of("w"), NULL, NULL, &r, &err);
        break;
    case ANOTHER_END:
        (void)lapse_expire(store, of("b"), of("k"), &ttl, NULL, &r, &err);
        break;
    case A_LEASE:
        (void)lapse_acquire_ephemeral(store, of("job"), of("w"), (struct lapse_span){S(99)}, &r,
                                      &err);
        break;
    case A_SESSION:
        (void)lapse_session_open(store, of("s"), of("w"), (struct lapse_span){S(99)}, &r, &err);
        break;
    default:
        return;
    }
    cr_assert_eq(r.status, LAPSE_OK, "change %d: %s", what, lapse_status_word(r.status));
    lapse_result_free(&r);
}

/* A set, the change, and a call that has nothing to do with it. */
static void run(int what, bool compares, struct lapse_verdict *ret, char *message, size_t cap) {
    static struct sketch sketch;
    sketch_begin(&sketch);
    int32_t w = sketch_actor(&sketch, "w", false);
    int32_t bucket = sketch_bucket(&sketch, "b", S(900), false);
    int32_t other = sketch_bucket(&sketch, "c", 0, false);
    int32_t task = sketch_task(&sketch, w, true);
    sketch_line_at(&sketch, task, sketch_call(&sketch, w, LAPSE_VERB_SET, bucket, "k"), 0);
    sketch_line_at(&sketch, task, sketch_call(&sketch, w, LAPSE_VERB_SET, other, "k"), S(10));
    sketch.plan.compare_model = compares;
    struct lapse_history *history = NULL;
    struct lapse_judge *judge = NULL;
    struct lapse_choices *choices = NULL;
    struct lapse_world *world = NULL;
    struct lapse_error err = {0};
    const lapse_alloc *alloc = lapse_alloc_libc();
    cr_assert_eq(lapse_history_open(alloc, 0, &history, &err), LAPSE_OK);
    cr_assert_eq(lapse_judge_open(alloc, &sketch.plan.the_case, &judge, &err), LAPSE_OK);
    cr_assert_eq(lapse_choices_open_seed(alloc, 1, &choices), LAPSE_OK);
    struct lapse_world_options options = {
        .plan = &sketch.plan, .choices = choices, .history = history, .judge = judge};
    cr_assert_eq(lapse_world_open(&options, &world, &err), LAPSE_OK, "%s", err.message);
    bool over = false;
    bool changed = false;
    while (!over) {
        cr_assert_eq(lapse_world_step(world, &over, &err), LAPSE_OK, "%s", err.message);
        bool set = lapse_history_count(history) > 4;
        if (set && !changed) {
            change(world->node.store, what);
            changed = true;
        }
    }
    *ret = *lapse_judge_verdict(judge);
    (void)snprintf(message, cap, "%s",
                   ret->diags.count > 0 ? ret->diags.items[0]->message : "nothing");
    lapse_world_close(world);
    lapse_choices_close(choices);
    lapse_judge_close(judge);
    lapse_history_close(history);
}

Test(live_view, what_no_answer_shows_is_a_violation_of_lin_01) {
    static const char *const wanted[CHANGES] = {
        "nothing", "revision of b", "revision of b", "the end of b/k", "a lease that nobody holds",
        "a session that nobody opened"};
    for (int what = NOTHING; what < CHANGES; what++) {
        struct lapse_verdict verdict;
        char message[400];
        run(what, true, &verdict, message, sizeof(message));
        bool broken = verdict.outcome == LAPSE_OUTCOME_VIOLATED;
        cr_assert_eq(broken, what != NOTHING, "change %d: %s", what, message);
        cr_assert_not_null(strstr(message, wanted[what]), "change %d: %s", what, message);
        cr_assert(!broken || strcmp(verdict.id, "LIN-01") == 0, "%s", message);
    }
}

Test(live_view, it_is_compared_where_the_plan_asks_for_it) {
    struct lapse_verdict verdict;
    char message[400];
    run(A_LEASE, false, &verdict, message, sizeof(message));
    cr_assert_eq(verdict.outcome, LAPSE_OUTCOME_PASSED, "%s", message);
}
