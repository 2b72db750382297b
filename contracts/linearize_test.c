/* The search against trying all orders, within its bounds, and out of memory; and the verifier of
 * its witnesses. */
#include "contracts/certificate.h"
#include "linear_brute_test.h"
#include "linear_models.h"

#include <criterion/criterion.h>
#include <string.h>

enum { ROUNDS = 6000 };

/* A register's calls over so few values and instants that all kinds of overlap come up. */
static size_t draw_register(struct draw *draw, struct lapse_linear_call *calls) {
    size_t count = 1 + (size_t)draw_below(draw, BRUTE_CALLS_MAX - 1);
    for (size_t i = 0; i < count; i++) {
        int64_t sent = draw_below(draw, 9);
        struct lapse_linear_call *call = &calls[i];
        *call = (struct lapse_linear_call){.invoke_ns = sent,
                                           .return_ns = sent + draw_below(draw, 5),
                                           .open = draw_below(draw, 4) == 0,
                                           .end = draw_below(draw, 4) == 0,
                                           .branches = 1,
                                           .after = -1,
                                           .source = (int64_t)i};
        call->invoke_seq = draw_below(draw, 4);
        call->return_seq = call->invoke_seq + draw_below(draw, 3);
        call->op = (uint8_t)draw_below(draw, 3);
        call->arg[LAPSE_REGISTER_VALUE] =
            draw_below(draw, 5) == 0 ? LAPSE_REGISTER_NIL : draw_below(draw, 3);
        call->arg[LAPSE_REGISTER_TO] = draw_below(draw, 3);
        call->arg[LAPSE_REGISTER_DONE] = draw_below(draw, 2);
        call->lapses = call->open && draw_below(draw, 3) == 0;
        if (i > 0 && draw_below(draw, 4) == 0) {
            call->after = (int32_t)draw_below(draw, (int64_t)i);
            call->open = call->open || calls[call->after].open;
            call->end = false; /* no term of this model ends */
            bool early = call->return_ns <= calls[call->after].invoke_ns;
            call->after = early && !call->open ? -1 : call->after;
        }
    }
    return count;
}

/* Calls of four clients, each answered as the register stood at an instant between. `lie` spoils
 * one answer. */
static size_t draw_long(struct draw *draw, struct lapse_linear_call *calls, size_t count,
                        bool lie) {
    int64_t value = LAPSE_REGISTER_NIL;
    for (size_t i = 0; i < count; i++) {
        int64_t at = (int64_t)i * 10 + 40;
        struct lapse_linear_call *call = &calls[i];
        *call = (struct lapse_linear_call){.invoke_ns = at - draw_below(draw, 20),
                                           .return_ns = at + draw_below(draw, 20),
                                           .branches = 1,
                                           .after = -1,
                                           .op = (uint8_t)draw_below(draw, 3)};
        call->arg[LAPSE_REGISTER_VALUE] = draw_below(draw, 4);
        call->arg[LAPSE_REGISTER_TO] = draw_below(draw, 4);
        call->arg[LAPSE_REGISTER_DONE] = value == call->arg[LAPSE_REGISTER_VALUE];
        if (call->op == LAPSE_REGISTER_READ) {
            call->arg[LAPSE_REGISTER_VALUE] = value;
        } else if (call->op == LAPSE_REGISTER_WRITE) {
            value = call->arg[LAPSE_REGISTER_VALUE];
        } else if (call->arg[LAPSE_REGISTER_DONE] != 0) {
            value = call->arg[LAPSE_REGISTER_TO];
        }
        call->open = call->op != LAPSE_REGISTER_READ && draw_below(draw, 16) == 0;
        if (lie && i == count / 2) {
            call->op = LAPSE_REGISTER_READ;
            call->arg[LAPSE_REGISTER_VALUE] = 77;
            call->open = false;
        }
    }
    return count;
}

Test(linearize, decides_small_histories_as_trying_all_orders_does) {
    lapse_linear_model model = lapse_register_model();
    int accepted = 0;
    for (int64_t seed = 0; seed < ROUNDS; seed++) {
        struct draw draw = {(uint64_t)seed};
        struct lapse_linear_call calls[BRUTE_CALLS_MAX];
        size_t count = draw_register(&draw, calls);
        accepted += check_against_brute(&model, calls, count, seed) ? 1 : 0;
    }
    cr_assert(accepted > ROUNDS / 10 && accepted < ROUNDS * 9 / 10, "%d", accepted);
}

Test(linearize, honours_a_budget_of_steps_and_of_bytes) {
    enum { CALLS = 400 };
    static struct lapse_linear_call calls[CALLS];
    lapse_linear_model model = lapse_register_model();
    struct draw draw = {7};
    draw_long(&draw, calls, CALLS, true);
    struct lapse_linear_budget all = lapse_linear_budget_default();
    struct lapse_linear_result result;
    cr_assert_eq(lapse_linear_check(lapse_alloc_libc(), &model, calls, CALLS, &all, &result, NULL),
                 LAPSE_OK);
    cr_assert_eq(result.verdict, LAPSE_LINEAR_NO);
    cr_assert(result.core_minimal);
    size_t bytes = result.bytes;
    lapse_linear_result_free(&result);
    bool gave_up = false, came_to_no = false;
    for (uint64_t steps = 1; steps < 4096; steps *= 2) {
        struct lapse_linear_budget budget = {steps, LAPSE_LINEAR_BYTES, steps};
        (void)lapse_linear_check(lapse_alloc_libc(), &model, calls, CALLS, &budget, &result, NULL);
        gave_up = gave_up || result.verdict == LAPSE_LINEAR_GAVE_UP;
        cr_assert_leq(result.steps, result.verdict == LAPSE_LINEAR_NO ? 2 * steps : steps);
        cr_assert(!result.core_minimal || result.verdict == LAPSE_LINEAR_NO);
        lapse_linear_result_free(&result);
    }
    cr_assert(gave_up);
    for (size_t most = 64; most < 4 * bytes; most += most / 4) {
        struct scarce counted;
        scarce_init(&counted, INT64_MAX);
        struct lapse_linear_budget budget = {LAPSE_LINEAR_STEPS, most, 0};
        cr_assert_eq(
            lapse_linear_check(&counted.alloc, &model, calls, CALLS, &budget, &result, NULL),
            LAPSE_OK);
        cr_assert_leq(result.bytes, most);
        came_to_no = result.verdict == LAPSE_LINEAR_NO;
        lapse_linear_result_free(&result);
        cr_assert_eq(counted.held, 0);
    }
    cr_assert(came_to_no);
}

/* Open calls by which the register comes from one value to the next one but two, in two ways each
 * time: as many sets of calls used as there are ways, none of which holds another. The last call
 * reads a value that nobody wrote. Returns how many calls there are. */
static size_t make_diamonds(struct lapse_linear_call *calls, int diamonds) {
    static const int64_t edges[4][2] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    static const struct lapse_linear_call plain = {.return_ns = 1, .branches = 1, .after = -1};
    size_t count = 0;
    calls[count] = plain;
    calls[count++].op = LAPSE_REGISTER_WRITE;
    for (int i = 0; i < 4 * diamonds; i++) {
        struct lapse_linear_call *call = &calls[count++];
        *call = plain;
        call->invoke_ns = call->return_ns = 2;
        call->open = true;
        call->op = LAPSE_REGISTER_CAS;
        call->arg[LAPSE_REGISTER_VALUE] = 3 * (i / 4) + edges[i % 4][0];
        call->arg[LAPSE_REGISTER_TO] = 3 * (i / 4) + edges[i % 4][1];
    }
    calls[count] = plain;
    calls[count].invoke_ns = 2;
    calls[count].return_ns = 3;
    calls[count].op = LAPSE_REGISTER_READ;
    calls[count++].arg[LAPSE_REGISTER_VALUE] = -1;
    return count;
}

/* Of twelve diamonds some 730000 questions are asked; comparing them takes as many steps again. */
Test(linearize, counts_as_steps_what_it_compares, .timeout = 20) {
    enum { DIAMONDS_MAX = 20 };
    static const struct {
        int diamonds;
        uint64_t steps;
        enum lapse_linear_verdict verdict;
    } cases[] = {
        {4, 1000000, LAPSE_LINEAR_NO},
        {12, 1000000, LAPSE_LINEAR_GAVE_UP},
        {12, 2000000, LAPSE_LINEAR_NO},
        {DIAMONDS_MAX, 2000000, LAPSE_LINEAR_GAVE_UP},
    };
    lapse_linear_model model = lapse_register_model();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lapse_linear_call calls[4 * DIAMONDS_MAX + 2];
        struct lapse_linear_result result;
        struct lapse_linear_budget budget = {cases[i].steps, LAPSE_LINEAR_BYTES, 0};
        size_t count = make_diamonds(calls, cases[i].diamonds);
        cr_assert_eq(
            lapse_linear_check(lapse_alloc_libc(), &model, calls, count, &budget, &result, NULL),
            LAPSE_OK);
        cr_assert_eq(result.verdict, cases[i].verdict, "case %zu", i);
        cr_assert_leq(result.steps, budget.steps);
        lapse_linear_result_free(&result);
    }
}

Test(linearize, counts_as_steps_the_plans_for_a_core) {
    enum { CALLS = 2000, LIE = 10 };
    static struct lapse_linear_call calls[CALLS];
    lapse_linear_model model = lapse_register_model();
    for (int i = 0; i < CALLS; i++) {
        calls[i] = (struct lapse_linear_call){.invoke_ns = 10 * i,
                                              .return_ns = 10 * i + 5,
                                              .branches = 1,
                                              .after = -1,
                                              .op = LAPSE_REGISTER_WRITE};
    }
    calls[LIE].op = LAPSE_REGISTER_READ;
    calls[LIE].arg[LAPSE_REGISTER_VALUE] = 77;
    for (uint64_t most = CALLS / 2; most < LAPSE_LINEAR_STEPS; most *= 100) {
        struct lapse_linear_budget budget = {LAPSE_LINEAR_STEPS, LAPSE_LINEAR_BYTES, most};
        struct lapse_linear_result result;
        (void)lapse_linear_check(lapse_alloc_libc(), &model, calls, CALLS, &budget, &result, NULL);
        cr_assert_eq(result.verdict, LAPSE_LINEAR_NO);
        cr_assert_leq(result.steps, LIE + 2 + most);
        cr_assert_eq(result.core_minimal, most > CALLS);
        cr_assert_eq(result.core_count, most > CALLS ? 1 : CALLS);
        lapse_linear_result_free(&result);
    }
}

Test(linearize, leaves_nothing_behind_when_memory_runs_out) {
    enum { CALLS = 40 };
    static struct lapse_linear_call calls[CALLS];
    lapse_linear_model model = lapse_register_model();
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    for (int lie = 0; lie < 2; lie++) {
        struct draw draw = {3};
        draw_long(&draw, calls, CALLS, lie != 0);
        enum lapse_status status = LAPSE_NOMEM;
        for (int64_t n = 0; status == LAPSE_NOMEM; n++) {
            struct scarce scarce;
            struct lapse_linear_result result;
            struct lapse_error err = {0};
            scarce_init(&scarce, n);
            status =
                lapse_linear_check(&scarce.alloc, &model, calls, CALLS, &budget, &result, &err);
            cr_assert(status == LAPSE_OK || status == LAPSE_NOMEM);
            cr_assert(status == LAPSE_OK || (result.witness == NULL && result.core == NULL));
            lapse_linear_result_free(&result);
            cr_assert_eq(scarce.held, 0);
        }
    }
}

Test(linearize, gives_the_same_result_to_the_step) {
    enum { CALLS = 300 };
    static struct lapse_linear_call calls[CALLS];
    lapse_linear_model model = lapse_register_model();
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    struct lapse_linear_result first, second;
    struct draw draw = {11};
    draw_long(&draw, calls, CALLS, false);
    (void)lapse_linear_check(lapse_alloc_libc(), &model, calls, CALLS, &budget, &first, NULL);
    (void)lapse_linear_check(lapse_alloc_libc(), &model, calls, CALLS, &budget, &second, NULL);
    cr_assert_eq(first.verdict, LAPSE_LINEAR_YES);
    cr_assert_eq(first.steps, second.steps);
    cr_assert_eq(first.bytes, second.bytes);
    cr_assert_eq(first.witness_count, second.witness_count);
    cr_assert_arr_eq(first.witness, second.witness, first.witness_count * sizeof(*first.witness));
    lapse_linear_result_free(&first);
    lapse_linear_result_free(&second);
}

Test(linearize, refuses_calls_that_contradict_themselves) {
    static const struct lapse_linear_call good = {
        .invoke_ns = 1, .return_ns = 2, .branches = 1, .after = -1};
    struct lapse_linear_call pairs[6][2];
    for (int i = 0; i < 6; i++) {
        pairs[i][0] = pairs[i][1] = good;
    }
    pairs[0][1].return_ns = 0;
    pairs[1][1].branches = 0;
    pairs[2][1].branches = LAPSE_LINEAR_BRANCHES_MAX + 1;
    pairs[3][1].after = 1;
    pairs[4][0].open = true;
    pairs[4][1].after = 0;
    pairs[5][0].invoke_ns = pairs[5][0].return_ns = 3;
    pairs[5][1].after = 0;
    lapse_linear_model model = lapse_register_model();
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    for (int i = 0; i < 6; i++) {
        struct lapse_linear_result result;
        struct lapse_error err = {0};
        cr_assert_eq(
            lapse_linear_check(lapse_alloc_libc(), &model, pairs[i], 2, &budget, &result, &err),
            LAPSE_INVALID);
        cr_assert(strstr(err.message, "call 1") != NULL, "%s", err.message);
    }
}

/* A defect planted in a good witness. False: it had no place there. */
static bool spoil(int how, struct draw *draw, struct lapse_linear_call *calls,
                  struct lapse_linear_place *order, size_t *count) {
    size_t at = (size_t)draw_below(draw, (int64_t)*count);
    size_t other = (size_t)draw_below(draw, (int64_t)*count);
    struct lapse_linear_place moved = order[at];
    switch (how) {
    case 0: /* an answered call has no place */
        memmove(order + at, order + at + 1, (--*count - at) * sizeof(*order));
        return !calls[moved.call].open;
    case 1: /* a call stands there twice */
        order[(*count)++] = moved;
        return true;
    case 2: /* a call comes before one that was answered when it was sent */
        order[at] = order[other];
        order[other] = moved;
        return calls[order[at < other ? at : other].call].invoke_ns >
                   calls[order[at < other ? other : at].call].return_ns &&
               !calls[order[at < other ? other : at].call].open;
    case 3: /* an answer is another one */
        calls[moved.call].arg[LAPSE_REGISTER_VALUE] = 99;
        return calls[moved.call].op == LAPSE_REGISTER_READ;
    case 4: /* no such call */
        order[at].call = 1000;
        return true;
    default: /* no such way */
        order[at].branch = 1;
        return true;
    }
}

Test(certificate, refuses_each_defect_planted_in_a_witness) {
    enum { CALLS = 60, DEFECTS = 6 };
    lapse_linear_model model = lapse_register_model();
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    int refused[DEFECTS] = {0};
    for (int64_t seed = 0; seed < 600; seed++) {
        struct lapse_linear_call calls[CALLS];
        struct lapse_linear_result result;
        struct lapse_linear_place order[CALLS + 1];
        struct draw draw = {(uint64_t)seed};
        draw_long(&draw, calls, CALLS, false);
        (void)lapse_linear_check(lapse_alloc_libc(), &model, calls, CALLS, &budget, &result, NULL);
        cr_assert_eq(result.verdict, LAPSE_LINEAR_YES, "seed %lld", (long long)seed);
        size_t count = result.witness_count;
        memcpy(order, result.witness, count * sizeof(*order));
        lapse_linear_result_free(&result);
        cr_assert_eq(
            lapse_certificate_verify(lapse_alloc_libc(), &model, calls, CALLS, order, count, NULL),
            LAPSE_OK);
        int how = (int)(seed % DEFECTS);
        if (spoil(how, &draw, calls, order, &count)) {
            struct lapse_error err = {0};
            cr_assert_eq(lapse_certificate_verify(lapse_alloc_libc(), &model, calls, CALLS, order,
                                                  count, &err),
                         LAPSE_CONFLICT, "seed %lld, defect %d", (long long)seed, how);
            cr_assert_neq(err.message[0], 0);
            refused[how]++;
        }
    }
    for (int how = 0; how < DEFECTS; how++) {
        cr_assert_gt(refused[how], 10, "defect %d came up %d times", how, refused[how]);
    }
}

Test(certificate, refuses_a_call_before_the_one_that_it_is_after) {
    lapse_linear_model model = lapse_register_model();
    struct lapse_linear_call calls[2] = {
        {.invoke_ns = 1, .return_ns = 5, .branches = 1, .after = -1, .op = LAPSE_REGISTER_WRITE},
        {.invoke_ns = 1, .return_ns = 5, .branches = 1, .after = 0, .op = LAPSE_REGISTER_WRITE}};
    static const struct lapse_linear_place right[] = {{0, 0}, {1, 0}}, wrong[] = {{1, 0}, {0, 0}};
    cr_assert_eq(lapse_certificate_verify(lapse_alloc_libc(), &model, calls, 2, right, 2, NULL),
                 LAPSE_OK);
    cr_assert_eq(lapse_certificate_verify(lapse_alloc_libc(), &model, calls, 2, wrong, 2, NULL),
                 LAPSE_CONFLICT);
    struct scarce scarce;
    scarce_init(&scarce, 0);
    cr_assert_eq(lapse_certificate_verify(&scarce.alloc, &model, calls, 2, right, 2, NULL),
                 LAPSE_NOMEM);
}
