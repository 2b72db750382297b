/* Clocks as functions of true time: the one place that knows how they differ from it.
 *
 * A product of a span and a rate needs 94 bits. It is never formed: the span is cut into whole
 * billions and the rest, and each part's product fits. */
#include "clock.h"

enum { PPB = 1000000000 };

static int64_t rate_of(const struct lapse_sim_clock *clock, enum lapse_sim_face face);
static int64_t read_hand(const struct lapse_sim_clock *clock, enum lapse_sim_face face,
                         struct lapse_true_time at);
static struct lapse_sim_hand settled(const struct lapse_sim_clock *clock, enum lapse_sim_face face,
                                     struct lapse_true_time at);
static void settle_all(struct lapse_sim_clock *clock, struct lapse_true_time at);
static struct lapse_true_time reach(const struct lapse_sim_clock *clock, enum lapse_sim_face face,
                                    int64_t reading);
static bool steps_until(uint64_t needed, int64_t rest, int64_t rate, int64_t *ret_ns);
static bool wanted_at_tick(int64_t reading, int64_t tick, int64_t *ret);
static int64_t cut_to_tick(int64_t reading, int64_t tick);
static uint64_t between(int64_t from, int64_t to);
static int64_t add_up(int64_t base, uint64_t more);
static int64_t add(int64_t a, int64_t b);
static enum lapse_sim_face steady_face(const struct lapse_sim_clock *clock);

struct lapse_sim_clock lapse_sim_clock_make(struct lapse_wall epoch, bool timer_boot) {
    struct lapse_sim_clock clock = {.boot = 1,
                                    .tick_ns = 1,
                                    .timer_boot = timer_boot,
                                    .rate_by_step = -1,
                                    .stop_by_step = -1};
    clock.hands[LAPSE_FACE_WALL].base_ns = epoch.ns;
    return clock;
}

struct lapse_reading lapse_sim_clock_read(const struct lapse_sim_clock *clock,
                                          struct lapse_true_time at) {
    return (struct lapse_reading){
        .boot = clock->boot,
        .raw_ns = read_hand(clock, LAPSE_FACE_BOOT, at),
        .wall = lapse_sim_clock_wall(clock, at),
    };
}

struct lapse_wall lapse_sim_clock_wall(const struct lapse_sim_clock *clock,
                                       struct lapse_true_time at) {
    return (struct lapse_wall){read_hand(clock, LAPSE_FACE_WALL, at)};
}

struct lapse_steady lapse_sim_clock_boot(const struct lapse_sim_clock *clock,
                                         struct lapse_true_time at) {
    return (struct lapse_steady){read_hand(clock, LAPSE_FACE_BOOT, at)};
}

struct lapse_steady lapse_sim_clock_mono(const struct lapse_sim_clock *clock,
                                         struct lapse_true_time at) {
    return (struct lapse_steady){read_hand(clock, LAPSE_FACE_MONO, at)};
}

struct lapse_steady lapse_sim_clock_steady(const struct lapse_sim_clock *clock,
                                           struct lapse_true_time at) {
    return (struct lapse_steady){read_hand(clock, steady_face(clock), at)};
}

struct lapse_true_time lapse_sim_clock_at_wall(const struct lapse_sim_clock *clock,
                                               struct lapse_wall reading) {
    return reach(clock, LAPSE_FACE_WALL, reading.ns);
}

struct lapse_true_time lapse_sim_clock_at_boot(const struct lapse_sim_clock *clock,
                                               struct lapse_steady reading) {
    return reach(clock, LAPSE_FACE_BOOT, reading.ns);
}

struct lapse_true_time lapse_sim_clock_at_steady(const struct lapse_sim_clock *clock,
                                                 struct lapse_steady reading) {
    return reach(clock, steady_face(clock), reading.ns);
}

void lapse_sim_clock_step_wall(struct lapse_sim_clock *clock, int64_t span_ns) {
    int64_t *base = &clock->hands[LAPSE_FACE_WALL].base_ns;
    *base = add(*base, span_ns);
}

void lapse_sim_clock_set_wall(struct lapse_sim_clock *clock, struct lapse_true_time at,
                              struct lapse_wall to) {
    clock->hands[LAPSE_FACE_WALL] = (struct lapse_sim_hand){at.ns, to.ns, 0};
}

void lapse_sim_clock_set_rate(struct lapse_sim_clock *clock, struct lapse_true_time at,
                              int64_t rate_ppb) {
    LAPSE_ASSERT(rate_ppb >= -LAPSE_SIM_RATE_PPB_MAX && rate_ppb <= LAPSE_SIM_RATE_PPB_MAX);
    settle_all(clock, at);
    clock->rate_ppb = rate_ppb;
}

void lapse_sim_clock_set_stopped(struct lapse_sim_clock *clock, struct lapse_true_time at,
                                 bool stopped) {
    settle_all(clock, at);
    clock->stopped = stopped;
}

void lapse_sim_clock_set_asleep(struct lapse_sim_clock *clock, struct lapse_true_time at,
                                bool asleep) {
    settle_all(clock, at);
    clock->asleep = asleep;
}

void lapse_sim_clock_set_frozen(struct lapse_sim_clock *clock, struct lapse_true_time at,
                                bool frozen) {
    settle_all(clock, at);
    clock->frozen = frozen;
}

void lapse_sim_clock_reboot(struct lapse_sim_clock *clock, struct lapse_true_time at) {
    clock->boot++;
    clock->hands[LAPSE_FACE_BOOT] = (struct lapse_sim_hand){at.ns, 0, 0};
    clock->hands[LAPSE_FACE_MONO] = (struct lapse_sim_hand){at.ns, 0, 0};
}

enum lapse_status lapse_sim_clock_check(const struct lapse_sim_clock *clock,
                                        struct lapse_true_time now, struct lapse_error *err) {
    bool sound = clock->boot > 0 && clock->tick_ns >= 1 &&
                 clock->rate_ppb >= -LAPSE_SIM_RATE_PPB_MAX &&
                 clock->rate_ppb <= LAPSE_SIM_RATE_PPB_MAX;
    for (int i = 0; i < LAPSE_FACES; i++) {
        const struct lapse_sim_hand *hand = &clock->hands[i];
        sound = sound && hand->from_ns >= 0 && hand->from_ns <= now.ns && hand->rest >= 0 &&
                hand->rest < PPB && (i == LAPSE_FACE_WALL || hand->base_ns >= 0);
    }
    return sound ? LAPSE_OK : lapse_error_set(err, LAPSE_BUG, "a clock is out of its bounds");
}

/* In billionths of true time; 0: it stands still. */
static int64_t rate_of(const struct lapse_sim_clock *clock, enum lapse_sim_face face) {
    bool still = clock->frozen || (clock->stopped && face != LAPSE_FACE_WALL) ||
                 (clock->asleep && face == LAPSE_FACE_MONO);
    return still ? 0 : PPB + clock->rate_ppb;
}

/* Nearly every reading is of a clock that nothing bends: it is spared the divisions. */
static int64_t read_hand(const struct lapse_sim_clock *clock, enum lapse_sim_face face,
                         struct lapse_true_time at) {
    const struct lapse_sim_hand *hand = &clock->hands[face];
    if (clock->tick_ns == 1 && hand->rest == 0 && rate_of(clock, face) == PPB) {
        return add(hand->base_ns, at.ns - hand->from_ns);
    }
    return cut_to_tick(settled(clock, face, at).base_ns, clock->tick_ns);
}

/* floor((passed * rate + rest) / 1e9): passed is below 2^63 and rate below 2e9, so the quotient is
 * below 2^64. */
static struct lapse_sim_hand settled(const struct lapse_sim_clock *clock, enum lapse_sim_face face,
                                     struct lapse_true_time at) {
    struct lapse_sim_hand hand = clock->hands[face];
    LAPSE_ASSERT(at.ns >= hand.from_ns);
    int64_t rate = rate_of(clock, face);
    int64_t passed = at.ns - hand.from_ns;
    int64_t part = passed % PPB * rate + hand.rest;
    uint64_t more = (uint64_t)(passed / PPB) * (uint64_t)rate + (uint64_t)(part / PPB);
    return (struct lapse_sim_hand){at.ns, add_up(hand.base_ns, more), part % PPB};
}

static void settle_all(struct lapse_sim_clock *clock, struct lapse_true_time at) {
    for (int i = 0; i < LAPSE_FACES; i++) {
        clock->hands[i] = settled(clock, (enum lapse_sim_face)i, at);
    }
}

static struct lapse_true_time reach(const struct lapse_sim_clock *clock, enum lapse_sim_face face,
                                    int64_t reading) {
    const struct lapse_sim_hand *hand = &clock->hands[face];
    const struct lapse_true_time never = {INT64_MAX};
    int64_t wanted = 0, passed = 0, at = 0;
    if (!wanted_at_tick(reading, clock->tick_ns, &wanted)) {
        return never;
    }
    if (wanted <= hand->base_ns) {
        return (struct lapse_true_time){hand->from_ns};
    }
    bool comes = steps_until(between(hand->base_ns, wanted), hand->rest, rate_of(clock, face),
                             &passed) &&
                 lapse_ns_add(hand->from_ns, passed, &at);
    return comes ? (struct lapse_true_time){at} : never;
}

/* ceil((needed * 1e9 - rest) / rate); false: it is past the range, or the clock stands still. */
static bool steps_until(uint64_t needed, int64_t rest, int64_t rate, int64_t *ret_ns) {
    if (rate == 0) {
        return false;
    }
    uint64_t whole = needed / (uint64_t)rate;
    int64_t part = (int64_t)(needed % (uint64_t)rate) * PPB - rest;
    int64_t more = part > 0 ? (part - 1) / rate + 1 : -(-part / rate);
    int64_t billions = 0;
    return whole <= (uint64_t)INT64_MAX && lapse_ns_mul((int64_t)whole, PPB, &billions) &&
           lapse_ns_add(billions, more, ret_ns);
}

/* The smallest multiple of a tick that is not below the reading; false: past the range. */
static bool wanted_at_tick(int64_t reading, int64_t tick, int64_t *ret) {
    int64_t over = reading % tick;
    int64_t up = over > 0 ? tick - over : -over;
    return lapse_ns_add(reading, up, ret);
}

static int64_t cut_to_tick(int64_t reading, int64_t tick) {
    int64_t over = reading % tick;
    return add(reading, over < 0 ? -tick - over : -over);
}

/* to - from, where to >= from. */
static uint64_t between(int64_t from, int64_t to) {
    return (uint64_t)to - (uint64_t)from;
}

/* base + more; it stops at the range's end. */
static int64_t add_up(int64_t base, uint64_t more) {
    uint64_t room = between(base, INT64_MAX);
    if (more >= room) {
        return INT64_MAX;
    }
    /* Above the middle of the range by less than room: two halves that each fit. */
    int64_t half = (int64_t)(more / 2);
    return base + half + (int64_t)(more - (uint64_t)half);
}

/* Readings stop at the ends of the range. */
static int64_t add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (lapse_ns_add(a, b, &sum)) {
        return sum;
    }
    return b < 0 ? INT64_MIN : INT64_MAX;
}

static enum lapse_sim_face steady_face(const struct lapse_sim_clock *clock) {
    return clock->timer_boot ? LAPSE_FACE_BOOT : LAPSE_FACE_MONO;
}
