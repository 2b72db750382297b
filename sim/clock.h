/* Virtual clocks: what a machine reads, as exact integer functions of true time.
 *
 * True time is known only to the world. Each actor, node and resource has a wall clock, a boot
 * clock (it counts suspend) and a monotonic clock (it does not). All three run at 1 + rate_ppb /
 * 1e9 of true time, rounded down, and what is left over of a nanosecond is kept over each change,
 * so that nothing is lost by slicing. A clock that is given another rate, stopped or let go on is
 * settled first: what it reads at that instant becomes the point from which it goes on. Readings
 * stop at the ends of the range; they never wrap. */
#ifndef SIM_CLOCK_H
#define SIM_CLOCK_H

#include "lapse/clock.h"

/* Rates lie between these: a clock stands still by a flag, and never runs backwards. */
#define LAPSE_SIM_RATE_PPB_MAX INT64_C(999999999)

enum lapse_sim_face { LAPSE_FACE_WALL = 0, LAPSE_FACE_BOOT, LAPSE_FACE_MONO, LAPSE_FACES };

/* One clock from its last change on: at true time from_ns it read `base` and `rest` billionths. */
struct lapse_sim_hand {
    int64_t from_ns, base_ns, rest;
};

struct lapse_sim_clock {
    struct lapse_sim_hand hands[LAPSE_FACES];
    uint64_t boot;     /* which run of the machine */
    int64_t rate_ppb;  /* of all three */
    int64_t tick_ns;   /* readings are cut down to a multiple of this, >= 1 */
    bool stopped;      /* boot and monotonic stand still */
    bool asleep;       /* monotonic stands still */
    bool frozen;       /* all stand still */
    bool timer_boot;   /* its owner's steady clock is boot, else monotonic */
    int64_t rate_start_ppb;           /* as the run began */
    int32_t rate_by_step, stop_by_step; /* who set the rate, or the stop, last; -1: nobody */
};

/* A machine that began at true time 0, its wall clock at `epoch` then; `timer_boot` as above. */
struct lapse_sim_clock lapse_sim_clock_make(struct lapse_wall epoch, bool timer_boot);

/* ---- Readings at a true time that is not before the clock's last change. */
/* What the store's engine is handed: the boot clock, and the wall. */
struct lapse_reading lapse_sim_clock_read(const struct lapse_sim_clock *clock,
                                          struct lapse_true_time at);
struct lapse_wall lapse_sim_clock_wall(const struct lapse_sim_clock *clock,
                                       struct lapse_true_time at);
struct lapse_steady lapse_sim_clock_boot(const struct lapse_sim_clock *clock,
                                         struct lapse_true_time at);
struct lapse_steady lapse_sim_clock_mono(const struct lapse_sim_clock *clock,
                                         struct lapse_true_time at);
/* The clock that timers go by: boot or monotonic. */
struct lapse_steady lapse_sim_clock_steady(const struct lapse_sim_clock *clock,
                                           struct lapse_true_time at);

/* ---- The first true time since the last change at which a clock reads this or more, if it goes
 * on as it does now; never below 0. INT64_MAX: never. */
struct lapse_true_time lapse_sim_clock_at_wall(const struct lapse_sim_clock *clock,
                                               struct lapse_wall reading);
struct lapse_true_time lapse_sim_clock_at_boot(const struct lapse_sim_clock *clock,
                                               struct lapse_steady reading);
struct lapse_true_time lapse_sim_clock_at_steady(const struct lapse_sim_clock *clock,
                                                 struct lapse_steady reading);

/* ---- Changes at `at`, which is not before the last one. */
/* Steps the wall clock by `span_ns`, either way, or to `to`; it stops at the range's ends. */
void lapse_sim_clock_step_wall(struct lapse_sim_clock *clock, int64_t span_ns);
void lapse_sim_clock_set_wall(struct lapse_sim_clock *clock, struct lapse_true_time at,
                              struct lapse_wall to);
/* |rate_ppb| <= LAPSE_SIM_RATE_PPB_MAX. */
void lapse_sim_clock_set_rate(struct lapse_sim_clock *clock, struct lapse_true_time at,
                              int64_t rate_ppb);
void lapse_sim_clock_set_stopped(struct lapse_sim_clock *clock, struct lapse_true_time at,
                                 bool stopped);
void lapse_sim_clock_set_asleep(struct lapse_sim_clock *clock, struct lapse_true_time at,
                                bool asleep);
void lapse_sim_clock_set_frozen(struct lapse_sim_clock *clock, struct lapse_true_time at,
                                bool frozen);
/* The machine restarts: another boot, boot and monotonic from 0; the wall clock goes on. */
void lapse_sim_clock_reboot(struct lapse_sim_clock *clock, struct lapse_true_time at);
/* Whether all is within its bounds: OK, or BUG. */
enum lapse_status lapse_sim_clock_check(const struct lapse_sim_clock *clock,
                                        struct lapse_true_time now, struct lapse_error *err);

#endif
