/* Store time goes on from the last reading. The only place where the wall can move a span is here,
 * and only over a restart of the machine.
 *
 *   M1  store time never goes back: a clock that does counts as one that stood still
 *   M2  on one boot it passes as the raw clock does, whatever the wall says
 *   M3  on another boot it goes on by what the wall passed since the mark, if it did
 *   M4  a sum past the range is told, never wrapped */
#include "mark.h"

#include "exact.h"

bool lapse_mark_advance(const struct lapse_mark *from, const struct lapse_reading *reading,
                        struct lapse_mark *ret) {
    bool same = reading->boot == from->reading.boot;
    int64_t before = same ? from->reading.raw_ns : from->reading.wall.ns;
    int64_t after = same ? reading->raw_ns : reading->wall.ns;
    int64_t passed = 0;
    ret->reading = *reading;
    if (after > before && !lapse_exact_sub(after, before, &passed)) {
        return false;
    }
    return lapse_exact_add(from->store.ns, passed, &ret->store.ns);
}

bool lapse_mark_parted(const struct lapse_mark *mark, const struct lapse_now *now) {
    const int64_t parting_ns_max = 100 * LAPSE_NS_PER_MS;
    int64_t wall = 0;
    int64_t parted = 0;
    struct lapse_span passed = lapse_steady_between(mark->store, now->store);
    if (!lapse_ns_sub(now->wall.ns, mark->reading.wall.ns, &wall) ||
        !lapse_ns_sub(wall, passed.ns, &parted)) {
        return true;
    }
    return parted >= parting_ns_max || parted <= -parting_ns_max;
}

bool lapse_mark_due(const struct lapse_mark *mark, const struct lapse_mark *last) {
    struct lapse_now now = {.store = last->store, .wall = last->reading.wall};
    struct lapse_span passed = lapse_steady_between(mark->store, last->store);
    return passed.ns >= LAPSE_NS_PER_S || lapse_mark_parted(mark, &now);
}
