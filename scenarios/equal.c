/* Whether two plans say the same: a walk over both by the tables of equal_types.c. The path of the
 * first difference is put together on the way back, from the inside out. */
#include "equal.h"

#include <stdio.h>
#include <string.h>

#include "scenarios/emit.h"

enum { VALUE_BYTES = 96 };

static bool equal_thing(const struct lapse_shape_type *type, const unsigned char *a,
                        const unsigned char *b, struct lapse_error *err);
static bool equal_field(const struct lapse_shape_field *field, const unsigned char *a,
                        const unsigned char *b, struct lapse_error *err);
static bool equal_list(const struct lapse_shape_type *type, const unsigned char *a,
                       const unsigned char *b, size_t count, struct lapse_error *err);
static bool equal_leaf(enum lapse_leaf leaf, const unsigned char *a, const unsigned char *b,
                       struct lapse_error *err);
static struct lapse_bytes text_of(enum lapse_leaf leaf, const unsigned char *at, bool *ret_there);
static long long number_of(enum lapse_leaf leaf, const unsigned char *at);
static const unsigned char *pointer_at(const unsigned char *at);
static void put_before(struct lapse_error *err, const char *part);

bool lapse_plan_equal(const struct lapse_plan *a, const struct lapse_plan *b,
                      struct lapse_error *err) {
    struct lapse_error own = {0};
    return equal_thing(lapse_shape_plan(), (const unsigned char *)a, (const unsigned char *)b,
                       err == NULL ? &own : err);
}

static bool equal_thing(const struct lapse_shape_type *type, const unsigned char *a,
                        const unsigned char *b, struct lapse_error *err) {
    if (type->leaf != LAPSE_LEAF_NONE) {
        return equal_leaf(type->leaf, a, b, err);
    }
    for (size_t i = 0; i < type->field_count; i++) {
        if (!equal_field(&type->fields[i], a, b, err)) {
            put_before(err, type->fields[i].held == LAPSE_HELD_CHOICE ? "" : type->fields[i].name);
            return false;
        }
    }
    return true;
}

static bool equal_field(const struct lapse_shape_field *field, const unsigned char *a,
                        const unsigned char *b, struct lapse_error *err) {
    const unsigned char *x = a + field->at;
    const unsigned char *y = b + field->at;
    size_t count = 0;
    int kind = 0;
    switch (field->held) {
    case LAPSE_HELD_HERE:
        return equal_thing(field->type, x, y, err);
    case LAPSE_HELD_BEHIND:
        x = pointer_at(x);
        y = pointer_at(y);
        if ((x == NULL) == (y == NULL)) {
            return x == NULL || equal_thing(field->type, x, y, err);
        }
        (void)lapse_error_set(err, LAPSE_INVALID, ": %s in the first plan, %s in the second",
                              x == NULL ? "absent" : "there", y == NULL ? "absent" : "there");
        return false;
    case LAPSE_HELD_LIST: /* both have as many: the number comes first in its struct */
        memcpy(&count, a + field->count, sizeof(count));
        return equal_list(field->type, pointer_at(x), pointer_at(y), count, err);
    case LAPSE_HELD_ROW:
        return equal_list(field->type, x, y, field->count, err);
    case LAPSE_HELD_CHOICE: /* both are of one kind, for the same reason */
        memcpy(&kind, a + field->count, sizeof(kind));
        if (kind > 0 && (size_t)kind < field->type->field_count &&
            !equal_field(&field->type->fields[kind], x, y, err)) {
            put_before(err, field->type->fields[kind].name);
            return false;
        }
        return true;
    case LAPSE_HELD_NOT:
        break;
    }
    return true;
}

static bool equal_list(const struct lapse_shape_type *type, const unsigned char *a,
                       const unsigned char *b, size_t count, struct lapse_error *err) {
    for (size_t i = 0; i < count; i++) {
        if (!equal_thing(type, a + i * type->bytes, b + i * type->bytes, err)) {
            char index[32];
            (void)snprintf(index, sizeof(index), "[%zu]", i);
            put_before(err, index);
            return false;
        }
    }
    return true;
}

static bool equal_leaf(enum lapse_leaf leaf, const unsigned char *a, const unsigned char *b,
                       struct lapse_error *err) {
    char shown[2][VALUE_BYTES];
    if (leaf != LAPSE_LEAF_TEXT && leaf != LAPSE_LEAF_BYTES) {
        long long x = number_of(leaf, a);
        long long y = number_of(leaf, b);
        if (x != y) {
            (void)lapse_error_set(err, LAPSE_INVALID,
                                  ": %lld in the first plan, %lld in the second", x, y);
        }
        return x == y;
    }
    bool there[2] = {false, false};
    struct lapse_bytes x = text_of(leaf, a, &there[0]);
    struct lapse_bytes y = text_of(leaf, b, &there[1]);
    if (there[0] == there[1] && lapse_bytes_equal(x, y)) {
        return true;
    }
    (void)lapse_error_set(err, LAPSE_INVALID, ": `%s` in the first plan, `%s` in the second",
                          lapse_bytes_print(x, shown[0], VALUE_BYTES),
                          lapse_bytes_print(y, shown[1], VALUE_BYTES));
    return false;
}

static struct lapse_bytes text_of(enum lapse_leaf leaf, const unsigned char *at, bool *ret_there) {
    struct lapse_bytes bytes = {NULL, 0};
    if (leaf == LAPSE_LEAF_BYTES) {
        memcpy(&bytes, at, sizeof(bytes));
        *ret_there = true;
        return bytes;
    }
    const char *text = (const char *)pointer_at(at);
    *ret_there = text != NULL;
    return lapse_bytes_of(text);
}

static long long number_of(enum lapse_leaf leaf, const unsigned char *at) {
    int32_t i32 = 0;
    uint32_t u32 = 0;
    int64_t i64 = 0;
    size_t size = 0;
    bool flag = false;
    switch (leaf) {
    case LAPSE_LEAF_BOOL:
        memcpy(&flag, at, sizeof(flag));
        return flag ? 1 : 0;
    case LAPSE_LEAF_U8:
        return *at;
    case LAPSE_LEAF_I32:
        memcpy(&i32, at, sizeof(i32));
        return i32;
    case LAPSE_LEAF_U32:
        memcpy(&u32, at, sizeof(u32));
        return u32;
    case LAPSE_LEAF_SIZE:
        memcpy(&size, at, sizeof(size));
        return (long long)size;
    case LAPSE_LEAF_I64:
        memcpy(&i64, at, sizeof(i64));
        return i64;
    case LAPSE_LEAF_NONE:
    case LAPSE_LEAF_TEXT:
    case LAPSE_LEAF_BYTES:
        break;
    }
    return 0;
}

static const unsigned char *pointer_at(const unsigned char *at) {
    const void *pointer = NULL;
    memcpy(&pointer, at, sizeof(pointer));
    return pointer;
}

/* Puts a part of the path before what there is of it: a dot stands between two names. */
static void put_before(struct lapse_error *err, const char *part) {
    char whole[LAPSE_ERROR_MESSAGE_MAX];
    bool name = err->message[0] != '[' && err->message[0] != ':' && part[0] != '\0';
    (void)snprintf(whole, sizeof(whole), "%s%s%.400s", part, name ? "." : "", err->message);
    memcpy(err->message, whole, sizeof(whole));
}
