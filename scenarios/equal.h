/* The structure of a plan as data: what equality walks. A field that is added to the plan is added
 * here; a test holds the tables against the sizes of the structs. */
#ifndef SCENARIOS_EQUAL_H
#define SCENARIOS_EQUAL_H

#include <stddef.h>

#include "sim/plan.h"

enum lapse_leaf {
    LAPSE_LEAF_NONE = 0, /* a struct */
    LAPSE_LEAF_BOOL,
    LAPSE_LEAF_U8,
    LAPSE_LEAF_I32, /* enums too */
    LAPSE_LEAF_U32,
    LAPSE_LEAF_I64,
    LAPSE_LEAF_SIZE,
    LAPSE_LEAF_TEXT, /* const char *, NUL-terminated; NULL is no text */
    LAPSE_LEAF_BYTES
};
enum lapse_held {
    LAPSE_HELD_HERE = 0,
    LAPSE_HELD_BEHIND, /* a pointer to one, or NULL */
    LAPSE_HELD_LIST,   /* a pointer to as many as the field `count` says */
    LAPSE_HELD_ROW,    /* an array inside of the struct */
    LAPSE_HELD_CHOICE, /* a union: which member the field `count`, an enum, says */
    LAPSE_HELD_NOT     /* counts in nothing */
};
struct lapse_shape_field;
struct lapse_shape_type {
    const char *name;
    size_t bytes;
    enum lapse_leaf leaf;
    const struct lapse_shape_field *fields;
    size_t field_count;
};
struct lapse_shape_field {
    const char *name;
    size_t at, bytes;
    enum lapse_held held;
    const struct lapse_shape_type *type; /* of CHOICE: by the enum's value, ends with no name */
    size_t count;                        /* where the number lies; of ROW: the number */
};
/* The type of struct lapse_plan. */
const struct lapse_shape_type *lapse_shape_plan(void);

#endif
