/* The manual clock: it moves only when told. For tests and for the simulator. */
#include "lapse/clock.h"

static enum lapse_status read_manual(void *ctx, struct lapse_reading *ret);

void lapse_clock_manual_init(struct lapse_clock_manual *manual, struct lapse_wall wall) {
    manual->now = (struct lapse_reading){1, 0, wall};
}

lapse_clock lapse_clock_manual_vtable(struct lapse_clock_manual *manual) {
    return (lapse_clock){read_manual, manual};
}

enum lapse_status lapse_clock_manual_advance(struct lapse_clock_manual *manual,
                                             struct lapse_span span) {
    struct lapse_reading next = manual->now;
    if (span.ns < 0) {
        return LAPSE_INVALID;
    }
    if (!lapse_ns_add(next.raw_ns, span.ns, &next.raw_ns) ||
        !lapse_wall_add(next.wall, span, &next.wall)) {
        return LAPSE_RANGE;
    }
    manual->now = next;
    return LAPSE_OK;
}

enum lapse_status lapse_clock_manual_step_wall(struct lapse_clock_manual *manual,
                                               struct lapse_span step) {
    struct lapse_wall wall;
    if (!lapse_wall_add(manual->now.wall, step, &wall)) {
        return LAPSE_RANGE;
    }
    manual->now.wall = wall;
    return LAPSE_OK;
}

void lapse_clock_manual_reboot(struct lapse_clock_manual *manual, struct lapse_wall wall) {
    manual->now = (struct lapse_reading){manual->now.boot + 1, 0, wall};
}

static enum lapse_status read_manual(void *ctx, struct lapse_reading *ret) {
    const struct lapse_clock_manual *manual = ctx;
    *ret = manual->now;
    return LAPSE_OK;
}
