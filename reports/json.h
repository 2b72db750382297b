/* One line of JSON as a tree in which each value knows its column: what is read of a recorded
 * history points back at the text. Private to reports; json.c alone knows the library. */
#ifndef REPORTS_JSON_H
#define REPORTS_JSON_H

#include "pool.h"

enum { LAPSE_JSON_DEPTH_MAX = 16 }; /* a history needs six */

enum lapse_json_kind {
    LAPSE_JSON_NULL = 0,
    LAPSE_JSON_BOOL,
    LAPSE_JSON_NUMBER, /* whole, within int64 */
    LAPSE_JSON_REAL,   /* with a point or an exponent: its value is not kept */
    LAPSE_JSON_TEXT,
    LAPSE_JSON_LIST,
    LAPSE_JSON_MAP
};

struct lapse_json {
    enum lapse_json_kind kind;
    int column, span; /* of the value; from 1, in bytes */
    const char *key;  /* in a map; NUL-terminated, and without NUL */
    int key_column;
    bool truth;              /* BOOL */
    int64_t number;          /* NUMBER */
    struct lapse_bytes text; /* TEXT: UTF-8 */
    size_t count;            /* LIST MAP */
    const struct lapse_json *items;
};

/* Why a line is no JSON. */
enum lapse_json_fault {
    LAPSE_JSON_FINE = 0,
    LAPSE_JSON_NOMEM,
    LAPSE_JSON_SYNTAX,  /* `text` says what stands there */
    LAPSE_JSON_CUT,     /* the line ends before its value does */
    LAPSE_JSON_MORE,    /* something follows the value */
    LAPSE_JSON_UTF8,    /* a byte that is no UTF-8 */
    LAPSE_JSON_TWICE,   /* a word stands twice in a map */
    LAPSE_JSON_RANGE,   /* a number beyond int64 */
    LAPSE_JSON_NUL_KEY, /* a NUL in a word */
    LAPSE_JSON_DEEP     /* nested deeper than LAPSE_JSON_DEPTH_MAX */
};
struct lapse_json_error {
    enum lapse_json_fault fault;
    int column;
};

/* Reads bytes[0..len) as one value. The tree lies in the pool and borrows nothing. False: *err says
 * why. */
bool lapse_json_read(struct lapse_reading_pool *pool, const char *bytes, size_t len,
                     const struct lapse_json **ret, struct lapse_json_error *err);
/* The value of a word of a map, or NULL. */
const struct lapse_json *lapse_json_find(const struct lapse_json *map, const char *word);

#endif
