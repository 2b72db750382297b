/* Virtual clocks: what a machine reads, as integer functions of true time.
 *
 * True time is known only to the world. Each actor and node has one of these. They run at the right
 * rate, but a node's wall clock may be stepped and its machine restarted, so nobody else may assume
 * what one reads. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "lapse/clock.h"

struct lapse_sim_clock {
    struct lapse_wall epoch; /* what the wall clock would have read at true time 0 */
    uint64_t boot;
    int64_t boot_at_ns; /* true time at which this run of the machine began: raw 0 */
};

/* A machine that began at true time 0, its wall clock at `epoch` then. */
struct lapse_sim_clock lapse_sim_clock_make(struct lapse_wall epoch);
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
/* Steps the wall clock by `span_ns`, either way, or to `to`; it stops at the range's ends. */
void lapse_sim_clock_step_wall(struct lapse_sim_clock *clock, int64_t span_ns);
void lapse_sim_clock_set_wall(struct lapse_sim_clock *clock, struct lapse_true_time at,
                              struct lapse_wall to);
/* The machine restarts: another boot, raw from 0; the wall clock goes on. */
void lapse_sim_clock_reboot(struct lapse_sim_clock *clock, struct lapse_true_time at);

#endif
