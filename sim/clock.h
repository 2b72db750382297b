/* Virtual clocks: what a machine reads, as integer functions of true time.
 *
 * True time is known only to the world. Each actor and node has one of these; all are perfect for
 * now (no offset, no drift), but nobody else may assume so. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "lapse/clock.h"

struct lapse_sim_clock {
    struct lapse_wall epoch; /* the wall clock at true time 0 */
    uint64_t boot;
};

struct lapse_reading lapse_sim_clock_read(const struct lapse_sim_clock *clock,
                                          struct lapse_true_time at);
struct lapse_wall lapse_sim_clock_wall(const struct lapse_sim_clock *clock,
                                       struct lapse_true_time at);
struct lapse_steady lapse_sim_clock_steady(const struct lapse_sim_clock *clock,
                                           struct lapse_true_time at);
/* The first true time at which the steady, or the wall clock, reads this or more; never below 0. */
struct lapse_true_time lapse_sim_clock_at_steady(const struct lapse_sim_clock *clock,
                                                 struct lapse_steady reading);
struct lapse_true_time lapse_sim_clock_at_wall(const struct lapse_sim_clock *clock,
                                               struct lapse_wall reading);
/* The true time at which a timer of `span` set at `from` fires; the range's end if past it. */
struct lapse_true_time lapse_sim_clock_after(const struct lapse_sim_clock *clock,
                                             struct lapse_true_time from, int64_t span_ns);

#endif
