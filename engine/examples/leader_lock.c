/* A leader lock with fencing: why the lease alone is not enough, and what the token is for.
 *
 * The first leader stands still for longer than its lease. A second one takes over. When the first
 * one wakes, it still believes to lead: only the resource, which keeps the highest token it has
 * seen, can refuse its late write. */
#include <lapse/lapse.h>

#include <stdio.h>

/* What the leaders write to. It must keep `highest` as durably as the value. */
struct ledger {
    bool written;
    int64_t highest;
    const char *value;
};

static enum lapse_status ledger_write(struct ledger *ledger, int64_t token, const char *value) {
    if (ledger->written && token < ledger->highest) {
        return LAPSE_FENCED;
    }
    *ledger = (struct ledger){true, token, value};
    return LAPSE_OK;
}

struct leader {
    const char *owner; /* names one run of one process, never two */
    int64_t token;
};

static bool lead(struct lapse *store, struct leader *leader, struct lapse_result *result) {
    static const struct lapse_span term = {30 * LAPSE_NS_PER_S};
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_acquire(store, lapse_bytes_of("jobs/nightly"), lapse_bytes_of(leader->owner), term,
                      result, &err);
    printf("%s asks: %s", leader->owner, lapse_status_word(status));
    if (status == LAPSE_OK) {
        leader->token = result->token;
        printf(", token %lld", (long long)leader->token);
    }
    printf("\n");
    return status == LAPSE_OK;
}

static enum lapse_status report(struct ledger *ledger, const struct leader *leader) {
    enum lapse_status status = ledger_write(ledger, leader->token, leader->owner);
    printf("%s writes with token %lld: %s\n", leader->owner, (long long)leader->token,
           lapse_status_word(status));
    return status;
}

int main(void) {
    struct lapse_clock_manual clock;
    lapse_clock_manual_init(&clock, (struct lapse_wall){0});
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&clock)};
    struct lapse *store = NULL;
    struct lapse_error err = {0};
    if (lapse_open(&options, &store, &err) != LAPSE_OK) {
        fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    struct lapse_result result;
    lapse_result_init(&result, NULL);
    struct ledger ledger = {0};
    struct leader first = {.owner = "w1"};
    struct leader second = {.owner = "w2"};

    bool right = lead(store, &first, &result) && !lead(store, &second, &result);
    /* w1 stands still; its lease ends at 30 s. */
    (void)lapse_clock_manual_advance(&clock, (struct lapse_span){30 * LAPSE_NS_PER_S});
    right = right && lead(store, &second, &result);
    right = right && report(&ledger, &second) == LAPSE_OK;
    /* w1 wakes and writes what it had begun. */
    right = right && report(&ledger, &first) == LAPSE_FENCED;
    /* Its next renewal tells it what happened. */
    enum lapse_status status =
        lapse_extend(store, lapse_bytes_of("jobs/nightly"), lapse_bytes_of(first.owner),
                     (struct lapse_span){30 * LAPSE_NS_PER_S}, &first.token, &result, &err);
    printf("w1 renews: %s\n", lapse_status_word(status));
    right = right && status == LAPSE_NOT_OWNER;

    lapse_result_free(&result);
    lapse_close(store);
    return right ? 0 : 1;
}
