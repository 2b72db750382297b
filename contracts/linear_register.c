/* The register with compare-and-set: one number, nil at first. */
#include "linear_models.h"

#include <inttypes.h>
#include <stdio.h>

static void start(const void *ctx, int64_t *ret_state);
static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state);
static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b);
static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call);
static bool changes(const void *ctx, const struct lapse_linear_call *call);
static void print_value(int64_t value, char *buf, size_t cap);

lapse_linear_model lapse_register_model(void) {
    return (lapse_linear_model){.state_words = 1,
                                .start = start,
                                .step = step,
                                .same = same,
                                .looks = looks,
                                .changes = changes};
}

static void start(const void *ctx, int64_t *ret_state) {
    (void)ctx;
    ret_state[0] = LAPSE_REGISTER_NIL;
}

static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state) {
    (void)ctx;
    (void)branch;
    int64_t value = call->arg[LAPSE_REGISTER_VALUE];
    ret_state[0] = state[0];
    switch (call->op) {
    case LAPSE_REGISTER_READ:
        return call->open || state[0] == value;
    case LAPSE_REGISTER_WRITE:
        ret_state[0] = value;
        return true;
    default: {
        bool done = state[0] == value;
        ret_state[0] = done ? call->arg[LAPSE_REGISTER_TO] : state[0];
        return call->open || done == (call->arg[LAPSE_REGISTER_DONE] != 0);
    }
    }
}

static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b) {
    (void)ctx;
    return a->op == b->op && a->arg[LAPSE_REGISTER_VALUE] == b->arg[LAPSE_REGISTER_VALUE] &&
           (a->op != LAPSE_REGISTER_CAS || a->arg[LAPSE_REGISTER_TO] == b->arg[LAPSE_REGISTER_TO]);
}

static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call) {
    (void)ctx;
    (void)state;
    return call->op == LAPSE_REGISTER_READ ||
           (call->op == LAPSE_REGISTER_CAS && !call->open && call->arg[LAPSE_REGISTER_DONE] == 0);
}

static bool changes(const void *ctx, const struct lapse_linear_call *call) {
    (void)ctx;
    return call->op != LAPSE_REGISTER_READ;
}

char *lapse_register_print(const struct lapse_linear_call *call, char *buf) {
    char value[32], to[32];
    print_value(call->arg[LAPSE_REGISTER_VALUE], value, sizeof value);
    print_value(call->arg[LAPSE_REGISTER_TO], to, sizeof to);
    const char *answer = call->open ? "no answer" : "ok";
    size_t cap = LAPSE_LINEAR_CALL_TEXT_MAX;
    if (call->op == LAPSE_REGISTER_READ && call->open) {
        (void)snprintf(buf, cap, "read: no answer");
    } else if (call->op == LAPSE_REGISTER_READ) {
        (void)snprintf(buf, cap, "read: %s", value);
    } else if (call->op == LAPSE_REGISTER_WRITE) {
        (void)snprintf(buf, cap, "write %s: %s", value, answer);
    } else {
        bool failed = !call->open && call->arg[LAPSE_REGISTER_DONE] == 0;
        (void)snprintf(buf, cap, "cas %s to %s: %s", value, to, failed ? "fail" : answer);
    }
    return buf;
}

static void print_value(int64_t value, char *buf, size_t cap) {
    if (value == LAPSE_REGISTER_NIL) {
        (void)snprintf(buf, cap, "nil");
    } else {
        (void)snprintf(buf, cap, "%" PRId64, value);
    }
}
