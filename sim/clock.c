/* Clocks as functions of true time: the one place that knows how they differ from it. */
#include "clock.h"

struct lapse_reading lapse_sim_clock_read(const struct lapse_sim_clock *clock,
                                          struct lapse_true_time at) {
    return (struct lapse_reading){
        .boot = clock->boot,
        .raw_ns = at.ns,
        .wall = lapse_sim_clock_wall(clock, at),
    };
}

struct lapse_wall lapse_sim_clock_wall(const struct lapse_sim_clock *clock,
                                       struct lapse_true_time at) {
    struct lapse_wall wall;
    if (!lapse_wall_add(clock->epoch, (struct lapse_span){at.ns}, &wall)) {
        wall.ns = INT64_MAX;
    }
    return wall;
}

struct lapse_steady lapse_sim_clock_steady(const struct lapse_sim_clock *clock,
                                           struct lapse_true_time at) {
    (void)clock;
    return (struct lapse_steady){at.ns};
}

struct lapse_true_time lapse_sim_clock_at_steady(const struct lapse_sim_clock *clock,
                                                 struct lapse_steady reading) {
    (void)clock;
    return (struct lapse_true_time){reading.ns < 0 ? 0 : reading.ns};
}

struct lapse_true_time lapse_sim_clock_at_wall(const struct lapse_sim_clock *clock,
                                               struct lapse_wall reading) {
    int64_t passed = lapse_wall_between(clock->epoch, reading).ns;
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
