/* Instants and spans: int64 nanoseconds, one type per clock, so that they do not mix by accident.
 *
 * The only arithmetic on time in the project is in time.c. It never wraps: exact, or a status
 * (CLOCK-05). Part of liblapse_base. Thread-safe. */
#ifndef LAPSE_TIME_H
#define LAPSE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lapse/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A length of time in ns; may be negative where a header says so. */
struct lapse_span {
    int64_t ns;
};
/* An instant on a steady clock: the store's own time, or an actor's monotonic clock. */
struct lapse_steady {
    int64_t ns;
};
/* An instant on a wall clock: ns since 1970-01-01T00:00:00Z. */
struct lapse_wall {
    int64_t ns;
};
/* An instant of the simulator's true time: ns since the start of the run. */
struct lapse_true_time {
    int64_t ns;
};

#define LAPSE_NS_PER_US INT64_C(1000)
#define LAPSE_NS_PER_MS INT64_C(1000000)
#define LAPSE_NS_PER_S INT64_C(1000000000)

/* Exact int64 arithmetic: true and *ret, or false (nothing written) when the result would leave
 * the range. */
bool lapse_ns_add(int64_t a, int64_t b, int64_t *ret);
bool lapse_ns_sub(int64_t a, int64_t b, int64_t *ret);
bool lapse_ns_mul(int64_t a, int64_t b, int64_t *ret);
/* floor(a * num / den) without overflow of the product; a, num >= 0, den > 0. */
bool lapse_ns_scale(int64_t a, int64_t num, int64_t den, int64_t *ret);

/* at + span; false when it would leave the range. */
bool lapse_steady_add(struct lapse_steady at, struct lapse_span span, struct lapse_steady *ret);
bool lapse_wall_add(struct lapse_wall at, struct lapse_span span, struct lapse_wall *ret);
/* later - earlier, saturating at the range's ends (for display and for "time left"). */
struct lapse_span lapse_steady_between(struct lapse_steady earlier, struct lapse_steady later);
struct lapse_span lapse_wall_between(struct lapse_wall earlier, struct lapse_wall later);

/* ---- Text of spans. `30s`, `1h30m`, `500ms`, `14m59s999ms999us999ns`; negative with a minus. */
enum { LAPSE_TIME_TEXT_MAX = 64 };

/* Writes span exactly into buf (LAPSE_TIME_TEXT_MAX bytes) and returns buf. Zero is "0s". The units
 * written are d h m s ms us ns, each at most once, largest first. */
char *lapse_span_print(struct lapse_span span, char *buf);

/* Reads one unsigned span with units (ns us ms s m h d w, joined: "1h30m"; "0" alone needs none)
 * from text[0..len). Writes *ret_used, the bytes read, and *ret. Returns OK; INVALID: no number or
 * no unit at text + *ret_used; RANGE. */
enum lapse_status lapse_span_scan(const char *text, size_t len, struct lapse_span *ret,
                                  size_t *ret_used);

/* ---- Text of dates: proleptic Gregorian, UTC, `2026-01-31T00:00:00Z` with up to nine decimals. */
char *lapse_wall_print(struct lapse_wall wall, char *buf);
/* Reads such a date that fills text[0..len) whole. Returns OK, INVALID or RANGE. */
enum lapse_status lapse_wall_scan(const char *text, size_t len, struct lapse_wall *ret);

#ifdef __cplusplus
}
#endif
#endif
