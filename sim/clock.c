/* Clocks as functions of true time: the one place that knows how they differ from it. */
#include "clock.h"

static int64_t add(int64_t a, int64_t b);
static int64_t since(int64_t from, int64_t to);

struct lapse_sim_clock lapse_sim_clock_make(struct lapse_wall epoch) {
    return (struct lapse_sim_clock){.epoch = epoch, .boot = 1};
}

struct lapse_reading lapse_sim_clock_read(const struct lapse_sim_clock *clock,
                                          struct lapse_true_time at) {
    return (struct lapse_reading){
        .boot = clock->boot,
        .raw_ns = lapse_sim_clock_steady(clock, at).ns,
        .wall = lapse_sim_clock_wall(clock, at),
    };
}

struct lapse_wall lapse_sim_clock_wall(const struct lapse_sim_clock *clock,
                                       struct lapse_true_time at) {
    return (struct lapse_wall){add(clock->epoch.ns, at.ns)};
}

struct lapse_steady lapse_sim_clock_steady(const struct lapse_sim_clock *clock,
                                           struct lapse_true_time at) {
    return (struct lapse_steady){since(clock->boot_at_ns, at.ns)};
}

struct lapse_true_time lapse_sim_clock_at_steady(const struct lapse_sim_clock *clock,
                                                 struct lapse_steady reading) {
    int64_t at = add(clock->boot_at_ns, reading.ns);
    return (struct lapse_true_time){at < 0 ? 0 : at};
}

struct lapse_true_time lapse_sim_clock_at_wall(const struct lapse_sim_clock *clock,
                                               struct lapse_wall reading) {
    int64_t passed = since(clock->epoch.ns, reading.ns);
    return (struct lapse_true_time){passed < 0 ? 0 : passed};
}

struct lapse_true_time lapse_sim_clock_after(const struct lapse_sim_clock *clock,
                                             struct lapse_true_time from, int64_t span_ns) {
    struct lapse_steady reading;
    if (!lapse_steady_add(lapse_sim_clock_steady(clock, from), (struct lapse_span){span_ns},
                          &reading)) {
        return (struct lapse_true_time){INT64_MAX};
    }
    return lapse_sim_clock_at_steady(clock, reading);
}

void lapse_sim_clock_step_wall(struct lapse_sim_clock *clock, int64_t span_ns) {
    clock->epoch.ns = add(clock->epoch.ns, span_ns);
}

void lapse_sim_clock_set_wall(struct lapse_sim_clock *clock, struct lapse_true_time at,
                              struct lapse_wall to) {
    clock->epoch.ns = since(at.ns, to.ns);
}

void lapse_sim_clock_reboot(struct lapse_sim_clock *clock, struct lapse_true_time at) {
    clock->boot++;
    clock->boot_at_ns = at.ns;
}

/* Readings stop at the ends of the range. */
static int64_t add(int64_t a, int64_t b) {
    int64_t sum = 0;
    if (lapse_ns_add(a, b, &sum)) {
        return sum;
    }
    return b < 0 ? INT64_MIN : INT64_MAX;
}

static int64_t since(int64_t from, int64_t to) {
    return lapse_steady_between((struct lapse_steady){from}, (struct lapse_steady){to}).ns;
}
