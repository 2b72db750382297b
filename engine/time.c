/* The only arithmetic on time in the project. Everything is exact or refused; nothing wraps
 * (CLOCK-05). */
#include "exact.h"

__extension__ typedef unsigned __int128 wide;

bool lapse_ns_add(int64_t a, int64_t b, int64_t *ret) {
    return lapse_exact_add(a, b, ret);
}

bool lapse_ns_sub(int64_t a, int64_t b, int64_t *ret) {
    return lapse_exact_sub(a, b, ret);
}

bool lapse_ns_mul(int64_t a, int64_t b, int64_t *ret) {
    bool negative = (a < 0) != (b < 0);
    uint64_t ua = a < 0 ? (uint64_t)0 - (uint64_t)a : (uint64_t)a;
    uint64_t ub = b < 0 ? (uint64_t)0 - (uint64_t)b : (uint64_t)b;
    wide product = (wide)ua * ub;
    wide most = (wide)INT64_MAX + (negative ? 1 : 0);
    if (product > most) {
        return false;
    }
    uint64_t size = (uint64_t)product;
    if (!negative) {
        *ret = (int64_t)size;
    } else {
        /* -(size - 1) - 1 reaches INT64_MIN without leaving the range on the way. */
        *ret = size == 0 ? 0 : -(int64_t)(size - 1) - 1;
    }
    return true;
}

bool lapse_ns_scale(int64_t a, int64_t num, int64_t den, int64_t *ret) {
    LAPSE_ASSERT(a >= 0);
    LAPSE_ASSERT(num >= 0);
    LAPSE_ASSERT(den > 0);
    wide quotient = (wide)(uint64_t)a * (uint64_t)num / (uint64_t)den;
    if (quotient > (wide)INT64_MAX) {
        return false;
    }
    *ret = (int64_t)quotient;
    return true;
}

bool lapse_steady_add(struct lapse_steady at, struct lapse_span span, struct lapse_steady *ret) {
    return lapse_exact_add(at.ns, span.ns, &ret->ns);
}

bool lapse_wall_add(struct lapse_wall at, struct lapse_span span, struct lapse_wall *ret) {
    return lapse_exact_add(at.ns, span.ns, &ret->ns);
}

struct lapse_span lapse_steady_between(struct lapse_steady earlier, struct lapse_steady later) {
    return (struct lapse_span){lapse_exact_between(earlier.ns, later.ns)};
}

struct lapse_span lapse_wall_between(struct lapse_wall earlier, struct lapse_wall later) {
    return (struct lapse_span){lapse_exact_between(earlier.ns, later.ns)};
}
