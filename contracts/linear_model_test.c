/* The models of keys and leases, under random calls: the search must say what trying all orders
 * says, with ends of terms, uses that may renew and calls without an answer among them. */
#include "linear_brute_test.h"
#include "linear_models.h"

#include <criterion/criterion.h>

enum { ROUNDS = 3000 };

static int64_t draw_of(struct draw *draw, const int64_t *values, int64_t count) {
    return values[draw_below(draw, count)];
}

static struct lapse_linear_call draw_times(struct draw *draw) {
    int64_t sent = draw_below(draw, 9);
    return (struct lapse_linear_call){.invoke_ns = sent,
                                      .return_ns = sent + draw_below(draw, 5),
                                      .open = draw_below(draw, 5) == 0,
                                      .branches = 1,
                                      .after = -1};
}

/* Adds the end of the term that the last call gives. */
static size_t draw_end(struct draw *draw, struct lapse_linear_call *calls, size_t count, int op,
                       int self) {
    const struct lapse_linear_call *begun = &calls[count - 1];
    struct lapse_linear_call end = {.invoke_ns = begun->invoke_ns + 1 + draw_below(draw, 4),
                                    .return_ns = begun->return_ns + 1 + draw_below(draw, 6),
                                    .open = begun->open || draw_below(draw, 6) == 0,
                                    .end = true,
                                    .branches = 1,
                                    .op = (uint8_t)op,
                                    .after = (int32_t)count - 1};
    end.return_ns = end.return_ns < end.invoke_ns ? end.invoke_ns : end.return_ns;
    end.arg[self] = begun->arg[self];
    calls[count] = end;
    return count + 1;
}

static size_t draw_key(struct draw *draw, struct lapse_linear_call *calls) {
    static const int64_t refusals[] = {LAPSE_OK, LAPSE_OK, LAPSE_ABSENT, LAPSE_CONFLICT};
    static const int64_t numbers[] = {-1, -1, 1, 2, 3};
    size_t count = 0;
    while (count < BRUTE_CALLS_MAX - 1) {
        struct lapse_linear_call call = draw_times(draw);
        call.op = (uint8_t)draw_below(draw, LAPSE_KEY_END);
        call.arg[LAPSE_KEY_TEXT] = draw_below(draw, 3) - 1;
        call.arg[LAPSE_KEY_REV] = draw_of(draw, numbers, 5);
        call.arg[LAPSE_KEY_VERSION] = -1;
        call.arg[LAPSE_KEY_SELF] = (int64_t)count + 1;
        call.arg[LAPSE_KEY_ANSWER] = draw_of(draw, refusals, 4);
        if (call.op == LAPSE_KEY_CREATE && call.arg[LAPSE_KEY_ANSWER] != LAPSE_OK) {
            call.arg[LAPSE_KEY_ANSWER] = LAPSE_EXISTS;
        } else if (call.op == LAPSE_KEY_READ && call.arg[LAPSE_KEY_ANSWER] != LAPSE_OK) {
            call.arg[LAPSE_KEY_ANSWER] = LAPSE_ABSENT;
        } else if (call.arg[LAPSE_KEY_ANSWER] == LAPSE_CONFLICT || draw_below(draw, 4) == 0) {
            call.arg[LAPSE_KEY_VERSION] = 1 + draw_below(draw, 3);
        }
        bool gives = false;
        if (call.op == LAPSE_KEY_READ) {
            call.arg[LAPSE_KEY_GIVES] = draw_below(draw, 4);
            gives = call.arg[LAPSE_KEY_GIVES] != LAPSE_USE_NONE;
            call.branches = gives && call.arg[LAPSE_KEY_GIVES] != LAPSE_USE_RENEWED ? 2 : 1;
        } else if (call.op != LAPSE_KEY_REMOVE) {
            call.arg[LAPSE_KEY_GIVES] = draw_below(draw, 5);
            gives = call.arg[LAPSE_KEY_GIVES] == LAPSE_GIVES_TERM ||
                    call.arg[LAPSE_KEY_GIVES] == LAPSE_GIVES_KEPT_OR_TERM;
            call.arg[LAPSE_KEY_IDLE] = gives && draw_below(draw, 2) == 0 ? 60 : 0;
        }
        calls[count++] = call;
        if (gives) {
            count = draw_end(draw, calls, count, LAPSE_KEY_END, LAPSE_KEY_SELF);
        }
        if (draw_below(draw, 5) == 0) {
            break;
        }
    }
    return count;
}

static size_t draw_lease(struct draw *draw, struct lapse_linear_call *calls) {
    static const int64_t answers[4][3] = {{LAPSE_OK, LAPSE_OK, LAPSE_HELD},
                                          {LAPSE_OK, LAPSE_LOST, LAPSE_NOT_OWNER},
                                          {LAPSE_OK, LAPSE_ABSENT, LAPSE_NOT_OWNER},
                                          {LAPSE_OK, LAPSE_OK, LAPSE_ABSENT}};
    static const int64_t numbers[] = {-1, -1, 1, 2, 3};
    size_t count = 0;
    while (count < BRUTE_CALLS_MAX - 1) {
        struct lapse_linear_call call = draw_times(draw);
        bool tenure = draw_below(draw, 12) == 0;
        call.op = (uint8_t)(tenure ? (int64_t)LAPSE_LEASE_TENURE : draw_below(draw, 4));
        call.open = call.open && !tenure;
        call.arg[LAPSE_LEASE_OWNER] = draw_below(draw, 2);
        call.arg[LAPSE_LEASE_TOKEN] =
            call.op == LAPSE_LEASE_ACQUIRE ? -1 : draw_of(draw, numbers, 5);
        call.arg[LAPSE_LEASE_TOLD_OWNER] = draw_below(draw, 3) - 1;
        call.arg[LAPSE_LEASE_TOLD_TOKEN] = draw_of(draw, numbers, 5);
        call.arg[LAPSE_LEASE_ANSWER] = tenure ? LAPSE_OK : answers[call.op][draw_below(draw, 3)];
        call.arg[LAPSE_LEASE_SELF] = (int64_t)count + 1;
        call.arg[LAPSE_LEASE_AGAIN] = draw_below(draw, 3) - 1;
        call.arg[LAPSE_LEASE_EPHEMERAL] = draw_below(draw, 2);
        calls[count++] = call;
        if (call.op <= LAPSE_LEASE_EXTEND) {
            count = draw_end(draw, calls, count, LAPSE_LEASE_END, LAPSE_LEASE_SELF);
        }
        if (draw_below(draw, 5) == 0) {
            break;
        }
    }
    return count;
}

Test(linear_model, of_a_key_is_searched_as_trying_all_orders_does) {
    static const struct lapse_linear_clocks ways[] = {
        {.rate_ppb = 100000000},
        {.rate_ppb = 100000000, .last_record = true, .deletes_all = true},
        {.last_record = true, .deletes_all = true},
        {.remembers = true},
    };
    int accepted = 0;
    for (int64_t seed = 0; seed < ROUNDS; seed++) {
        struct draw draw = {(uint64_t)seed};
        struct lapse_linear_call calls[BRUTE_CALLS_MAX];
        lapse_linear_model model = lapse_key_model(&ways[seed % 4]);
        accepted += check_against_brute(&model, calls, draw_key(&draw, calls), seed) ? 1 : 0;
    }
    cr_assert(accepted > ROUNDS / 10 && accepted < ROUNDS * 9 / 10, "%d", accepted);
}

Test(linear_model, of_a_lease_is_searched_as_trying_all_orders_does) {
    const struct lapse_linear_clocks clocks = {0};
    lapse_linear_model model = lapse_lease_model(&clocks);
    int accepted = 0;
    for (int64_t seed = 0; seed < ROUNDS; seed++) {
        struct draw draw = {(uint64_t)seed};
        struct lapse_linear_call calls[BRUTE_CALLS_MAX];
        accepted += check_against_brute(&model, calls, draw_lease(&draw, calls), seed) ? 1 : 0;
    }
    cr_assert(accepted > ROUNDS / 10 && accepted < ROUNDS * 9 / 10, "%d", accepted);
}
