/* What an exploration finds, how far it claims, and that its states are the same everywhere. */
#include "sim/explore.h"

#include <criterion/criterion.h>

#include <inttypes.h>
#include <string.h>

#define SPAN(n) ((n)*LAPSE_NS_PER_S)
#define BIT(what) (UINT32_C(1) << (what))

static struct lapse_plan_explore protocol_of(int32_t clients, int64_t span);
static struct lapse_explored explore(const struct lapse_explore_options *options);
static struct lapse_explored explore_all(const struct lapse_plan_explore *protocol);
static bool only_finds(const struct lapse_plan_explore *protocol, enum lapse_explore_break what,
                       size_t steps);
static bool stop_at_once(void *ctx, const struct lapse_explore_counts *so_far);
static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);

struct meter {
    int64_t left, out; /* calls that still succeed; blocks that are out */
};

/* The numbers are those of the first run; another compiler, or another day, gives no others. */
Test(explore, states_and_digest_are_the_same_everywhere) {
    struct lapse_plan_explore careful = protocol_of(3, 10);
    careful.careful = careful.pause = careful.crash = true;
    struct lapse_plan_explore clocks = protocol_of(3, 10);
    clocks.careful = true;
    clocks.clock_ns = SPAN(1);
    clocks.margin_ns = SPAN(2);
    struct lapse_plan_explore rich = protocol_of(2, 3);
    rich.careful = rich.fresh_owner = rich.delay = rich.loss = rich.crash = true;
    rich.resource = LAPSE_EXPLORE_FENCED;
    const struct {
        const struct lapse_plan_explore *protocol;
        uint64_t states, transitions, digest;
    } rows[] = {{&careful, 104, 662, UINT64_C(0x2f2c379c68a5de62)},
                {&clocks, 454, 10503, UINT64_C(0x31dbd33ab50eb9ec)},
                {&rich, 66646, 774782, UINT64_C(0x44dd22d93e56a731)}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct lapse_explored found = explore_all(rows[i].protocol);
        cr_expect_eq(found.end, LAPSE_EXPLORE_ALL);
        cr_expect_eq(found.found_count, 0);
        cr_expect(found.counts.states == rows[i].states &&
                      found.counts.transitions == rows[i].transitions &&
                      found.counts.digest == rows[i].digest,
                  "row %zu: %" PRIu64 ", %" PRIu64 ", 0x%016" PRIx64, i, found.counts.states,
                  found.counts.transitions, found.counts.digest);
        lapse_explored_free(&found);
    }
}

Test(explore, each_pair_of_state_and_command_need_be_asked_once) {
    struct lapse_plan_explore protocol = protocol_of(2, 3);
    protocol.careful = protocol.fresh_owner = protocol.delay = protocol.crash = true;
    protocol.resource = LAPSE_EXPLORE_FENCED;
    struct lapse_explored once = explore_all(&protocol);
    struct lapse_explore_options options = {
        .protocol = &protocol, .faults_max = -1, .every_call = true};
    struct lapse_explored always = explore(&options);
    cr_assert_eq(once.counts.states, always.counts.states);
    cr_assert_eq(once.counts.transitions, always.counts.transitions);
    cr_assert_eq(once.counts.digest, always.counts.digest);
    cr_assert(once.counts.calls * 100 < always.counts.calls);
    lapse_explored_free(&once);
    lapse_explored_free(&always);
}

/* A search that could find nothing would pass all else. */
Test(explore, unsafe_protocols_are_found_by_the_shortest_way) {
    struct lapse_plan_explore plain = protocol_of(2, 3);
    cr_expect(only_finds(&plain, LAPSE_BREAK_TWO_ACT, 5)); /* acquire, 3 ticks, acquire */

    struct lapse_plan_explore open = protocol_of(2, 3);
    open.careful = open.delay = true;
    open.resource = LAPSE_EXPLORE_UNFENCED;
    cr_expect(only_finds(&open, LAPSE_BREAK_LOWER, 12));
    open.resource = LAPSE_EXPLORE_FENCED;
    cr_expect(only_finds(&open, LAPSE_BREAK_NONE, 0));

    struct lapse_plan_explore late = protocol_of(2, 3);
    late.careful = late.delay = late.loss = true;
    cr_expect(only_finds(&late, LAPSE_BREAK_TWO_ACT, 12));
    late.fresh_owner = true;
    cr_expect(only_finds(&late, LAPSE_BREAK_NONE, 0));
}

/* Twice the bound: an offset that may be off either way can shift by that much within a term. */
Test(explore, the_margin_that_is_safe_is_twice_the_clocks_bound) {
    for (int64_t bound = 0; bound <= 2; bound++) {
        for (int64_t margin = 0; margin <= 2 * bound; margin++) {
            struct lapse_plan_explore protocol = protocol_of(2, 6);
            protocol.careful = true;
            protocol.clock_ns = SPAN(bound);
            protocol.margin_ns = SPAN(margin);
            struct lapse_explore_options options = {
                .protocol = &protocol, .faults_max = -1, .listed = BIT(LAPSE_BREAK_TWO_ACT)};
            struct lapse_explored found = explore(&options);
            cr_expect_eq(found.end, LAPSE_EXPLORE_ALL);
            cr_expect_eq(found.counts.two_act == 0, margin == 2 * bound,
                         "off by %" PRId64 ", margin %" PRId64 ": %" PRIu64, bound, margin,
                         found.counts.two_act);
            lapse_explored_free(&found);
        }
    }
}

/* Whoever renews in time acts together with another only after a fault, and one is enough. */
Test(explore, faults_are_counted) {
    struct lapse_plan_explore protocol = protocol_of(2, 6);
    protocol.renew_ns = SPAN(2);
    protocol.pause = true;
    for (int32_t faults = 0; faults <= 1; faults++) {
        struct lapse_explore_options options = {.protocol = &protocol, .faults_max = faults};
        struct lapse_explored found = explore(&options);
        cr_expect_eq(found.end, faults == 0 ? LAPSE_EXPLORE_ALL : LAPSE_EXPLORE_FOUND);
        lapse_explored_free(&found);
    }
}

Test(explore, what_was_not_seen_is_not_claimed) {
    struct lapse_plan_explore protocol = protocol_of(3, 6);
    protocol.careful = protocol.fresh_owner = protocol.delay = protocol.loss = true;
    protocol.resource = LAPSE_EXPLORE_FENCED;
    struct lapse_explore_options options = {
        .protocol = &protocol, .faults_max = -1, .bytes_max = 1 << 20};
    struct lapse_explored found = explore(&options);
    cr_assert_eq(found.end, LAPSE_EXPLORE_MEMORY);
    cr_assert(found.counts.states > 1000 && found.counts.states * 32 < 1 << 20);
    lapse_explored_free(&found);
    options.bytes_max = 0;
    options.progress = stop_at_once;
    found = explore(&options);
    cr_assert_eq(found.end, LAPSE_EXPLORE_STOPPED);
    lapse_explored_free(&found);
}

Test(explore, protocols_that_are_none_are_refused_by_their_word) {
    const struct {
        const char *word;
        int64_t clients, span, grain, margin, renew, clock;
    } rows[] = {{"clients", 0, 10, 1, 0, 0, 0}, {"clients", 5, 10, 1, 0, 0, 0},
                {"grain", 2, 10, 0, 0, 0, 0},   {"for", 2, 0, 1, 0, 0, 0},
                {"for", 2, 3, 2, 0, 0, 0},      {"for", 2, 64, 1, 0, 0, 0},
                {"margin", 2, 3, 1, 3, 0, 0},   {"renew", 2, 3, 1, 0, 3, 0},
                {"clock", 2, 10, 1, 0, 0, 4}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct lapse_plan_explore protocol = protocol_of((int32_t)rows[i].clients, rows[i].span);
        protocol.careful = true;
        protocol.grain_ns = SPAN(rows[i].grain);
        protocol.margin_ns = SPAN(rows[i].margin);
        protocol.renew_ns = SPAN(rows[i].renew);
        protocol.clock_ns = SPAN(rows[i].clock);
        struct lapse_error err = {0};
        const char *word = NULL;
        cr_expect_eq(lapse_explore_check(&protocol, &word, &err), LAPSE_INVALID, "row %zu", i);
        cr_expect_str_eq(word, rows[i].word, "row %zu", i);
        cr_expect_not_null(strstr(err.message, rows[i].word), "row %zu: %s", i, err.message);
    }
}

Test(explore, memory_may_run_out_anywhere) {
    struct lapse_plan_explore protocol = protocol_of(2, 3);
    bool done = false;
    for (int64_t nth = 0; !done; nth++) {
        struct meter meter = {.left = nth};
        lapse_alloc alloc = {meter_resize, &meter};
        struct lapse_explore_options options = {
            .alloc = &alloc, .protocol = &protocol, .faults_max = -1};
        struct lapse_explored found;
        struct lapse_error err = {0};
        enum lapse_status status = lapse_explore(&options, &found, &err);
        done = status == LAPSE_OK;
        cr_assert(done || status == LAPSE_NOMEM, "%s: %s", lapse_status_word(status), err.message);
        if (done) {
            cr_assert(nth > 20);
            lapse_explored_free(&found);
        }
        cr_assert_eq(meter.out, 0, "after %" PRId64 " calls %" PRId64 " blocks are out", nth,
                     meter.out);
    }
}

static struct lapse_plan_explore protocol_of(int32_t clients, int64_t span) {
    return (struct lapse_plan_explore){.on = true,
                                       .clients = clients,
                                       .span_ns = SPAN(span),
                                       .grain_ns = LAPSE_NS_PER_S,
                                       .faults_max = -1};
}

static struct lapse_explored explore(const struct lapse_explore_options *options) {
    struct lapse_explored found;
    struct lapse_error err = {0};
    cr_assert_eq(lapse_explore(options, &found, &err), LAPSE_OK, "%s", err.message);
    return found;
}

static struct lapse_explored explore_all(const struct lapse_plan_explore *protocol) {
    struct lapse_explore_options options = {.protocol = protocol, .faults_max = -1};
    return explore(&options);
}

static bool only_finds(const struct lapse_plan_explore *protocol, enum lapse_explore_break what,
                       size_t steps) {
    struct lapse_explored found = explore_all(protocol);
    bool none = what == LAPSE_BREAK_NONE;
    bool fits = found.found_count == !none &&
                found.end == (none ? LAPSE_EXPLORE_ALL : LAPSE_EXPLORE_FOUND) &&
                (none || (found.found[0].what == what && found.found[0].step_count == steps));
    lapse_explored_free(&found);
    return fits;
}

static bool stop_at_once(void *ctx, const struct lapse_explore_counts *so_far) {
    (void)ctx;
    return so_far->states == 0;
}

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct meter *meter = ctx;
    const lapse_alloc *libc = lapse_alloc_libc();
    if (new_bytes > 0 && meter->left-- <= 0) {
        return NULL;
    }
    meter->out += (ptr == NULL && new_bytes > 0) - (ptr != NULL && new_bytes == 0);
    return libc->resize(libc->ctx, ptr, old_bytes, new_bytes);
}
