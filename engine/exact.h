/* Private: the exact arithmetic of time.c, inline for what is reckoned on every call. Only time.c
 * tells the rest of the tree; nothing here wraps (CLOCK-05). */
#ifndef ENGINE_EXACT_H
#define ENGINE_EXACT_H

#include "lapse/time.h"

static inline bool lapse_exact_add(int64_t a, int64_t b, int64_t *ret) {
    if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b) {
        return false;
    }
    *ret = a + b;
    return true;
}

static inline bool lapse_exact_sub(int64_t a, int64_t b, int64_t *ret) {
    if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b) {
        return false;
    }
    *ret = a - b;
    return true;
}

/* later - earlier, or the end of the range. */
static inline int64_t lapse_exact_between(int64_t earlier, int64_t later) {
    int64_t result = 0;
    if (!lapse_exact_sub(later, earlier, &result)) {
        result = later < earlier ? INT64_MIN : INT64_MAX;
    }
    return result;
}

#endif
