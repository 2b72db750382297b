/* Store time goes on from the last reading. The only place where the wall can move a span is here,
 * and only over a restart of the machine. */
#include "mark.h"

bool lapse_mark_advance(const struct lapse_mark *from, const struct lapse_reading *reading,
                        struct lapse_mark *ret) {
    struct lapse_span passed = {0};
    if (reading->boot == from->reading.boot) {
        passed = lapse_steady_between((struct lapse_steady){from->reading.raw_ns},
                                      (struct lapse_steady){reading->raw_ns});
    } else {
        passed = lapse_wall_between(from->reading.wall, reading->wall);
    }
    if (passed.ns < 0) {
        passed.ns = 0;
    }
    ret->reading = *reading;
    return lapse_steady_add(from->store, passed, &ret->store);
}

bool lapse_mark_due(const struct lapse_mark *mark, const struct lapse_mark *last) {
    const int64_t parting_ns_max = 100 * LAPSE_NS_PER_MS;
    struct lapse_span passed = lapse_steady_between(mark->store, last->store);
    if (passed.ns >= LAPSE_NS_PER_S) {
        return true;
    }
    struct lapse_span wall = lapse_wall_between(mark->reading.wall, last->reading.wall);
    int64_t parted = 0;
    if (!lapse_ns_sub(wall.ns, passed.ns, &parted)) {
        return true;
    }
    return parted >= parting_ns_max || parted <= -parting_ns_max;
}
