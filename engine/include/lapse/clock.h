/* Clocks: where the engine's time comes from.
 *
 * A clock is a struct of one function that gives three readings at one moment. The engine reads it
 * once at the door of each call; below the door `now` is a parameter. Store time is not a reading:
 * it is state of the store, carried on by the readings (see lapse.h).
 *
 * The manual clock moves only when told: for tests, and for the simulator. It is the caller's
 * memory, not thread-safe. */
#ifndef LAPSE_CLOCK_H
#define LAPSE_CLOCK_H

#include "lapse/time.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One moment as a machine sees it. */
struct lapse_reading {
    uint64_t boot;          /* id of this run of the machine; another value after a reboot */
    int64_t raw_ns;         /* ns since that run began; counts suspend; no wall step moves it */
    struct lapse_wall wall; /* Unix time; may step either way */
};

/* read(ctx, ret) fills *ret and returns OK, or IO: the call in hand answers io, nothing changed. */
typedef struct lapse_clock {
    enum lapse_status (*read)(void *ctx, struct lapse_reading *ret);
    void *ctx;
} lapse_clock;

struct lapse_clock_manual {
    struct lapse_reading now;
};

/* Begins at raw 0 of boot 1, wall `wall`. */
void lapse_clock_manual_init(struct lapse_clock_manual *manual, struct lapse_wall wall);
/* The vtable of `manual`, which it borrows. */
lapse_clock lapse_clock_manual_vtable(struct lapse_clock_manual *manual);
/* Moves raw and wall on by span >= 0. RANGE (nothing moved) past the range, INVALID if negative. */
enum lapse_status lapse_clock_manual_advance(struct lapse_clock_manual *manual,
                                             struct lapse_span span);
/* Steps the wall alone, either way; spans do not move (CLOCK-01). RANGE past the range. */
enum lapse_status lapse_clock_manual_step_wall(struct lapse_clock_manual *manual,
                                               struct lapse_span step);
/* A machine restart: another boot, raw 0, the wall as given. */
void lapse_clock_manual_reboot(struct lapse_clock_manual *manual, struct lapse_wall wall);

/* The machine's clocks: boot and raw from CLOCK_BOOTTIME and the kernel's id of this boot, wall
 * from CLOCK_REALTIME. It has no state of its own and may be read from any thread. `read` answers
 * IO where the machine does not tell its boot. */
lapse_clock lapse_clock_system(void);

#ifdef __cplusplus
}
#endif
#endif
