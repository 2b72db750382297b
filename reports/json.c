/* The face of the JSON library: it checks and decodes a line, and a walk over the same bytes finds
 * where each value stands, which the library does not tell. */
#include "json.h"

#include <jansson.h>
#include <string.h>

/* Walks the text that the library has taken, value by value in its order. */
struct walk {
    struct lapse_reading_pool *pool;
    const char *bytes;
    size_t len, at;
    struct lapse_json_error *err;
};

static enum lapse_json_fault fault_of(const json_error_t *error);
static bool build(struct walk *walk, json_t *value, int depth, struct lapse_json *ret);
static bool build_map(struct walk *walk, json_t *value, int depth, struct lapse_json *ret);
static bool build_list(struct walk *walk, json_t *value, int depth, struct lapse_json *ret);
static bool build_text(struct walk *walk, const json_t *value, struct lapse_json *ret);
static struct lapse_json *take_items(struct walk *walk, size_t count, int depth,
                                     struct lapse_json *ret);
static bool fail(struct walk *walk, enum lapse_json_fault fault, size_t at);
static void skip_blanks(struct walk *walk);
static void skip_mark(struct walk *walk);
static void skip_text(struct walk *walk);
static void skip_word(struct walk *walk);

bool lapse_json_read(struct lapse_reading_pool *pool, const char *bytes, size_t len,
                     const struct lapse_json **ret, struct lapse_json_error *err) {
    json_error_t error;
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
    *err = (struct lapse_json_error){LAPSE_JSON_FINE, 1};
    json_t *value = json_loadb(bytes, len, flags, &error);
    if (value == NULL) {
        err->fault = fault_of(&error);
        err->column = error.position > 0 ? error.position : 1;
        return false;
    }
    struct walk walk = {pool, bytes, len, 0, err};
    struct lapse_json *root = lapse_reading_pool_take(pool, sizeof(*root));
    bool built = root != NULL ? build(&walk, value, 0, root) : fail(&walk, LAPSE_JSON_NOMEM, 0);
    json_decref(value);
    *ret = root;
    return built;
}

const struct lapse_json *lapse_json_find(const struct lapse_json *map, const char *word) {
    for (size_t i = 0; map->kind == LAPSE_JSON_MAP && i < map->count; i++) {
        if (strcmp(map->items[i].key, word) == 0) {
            return &map->items[i];
        }
    }
    return NULL;
}

static enum lapse_json_fault fault_of(const json_error_t *error) {
    switch (json_error_code(error)) {
    case json_error_out_of_memory:
        return LAPSE_JSON_NOMEM;
    case json_error_premature_end_of_input:
        return LAPSE_JSON_CUT;
    case json_error_end_of_input_expected:
        return LAPSE_JSON_MORE;
    case json_error_invalid_utf8:
        return LAPSE_JSON_UTF8;
    case json_error_duplicate_key:
        return LAPSE_JSON_TWICE;
    case json_error_numeric_overflow:
        return LAPSE_JSON_RANGE;
    case json_error_null_byte_in_key:
        return LAPSE_JSON_NUL_KEY;
    case json_error_stack_overflow:
        return LAPSE_JSON_DEEP;
    default:
        return LAPSE_JSON_SYNTAX;
    }
}

static bool build(struct walk *walk, json_t *value, int depth, struct lapse_json *ret) {
    skip_blanks(walk);
    size_t from = walk->at;
    bool built = true;
    ret->column = (int)from + 1;
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        ret->kind = LAPSE_JSON_MAP;
        built = build_map(walk, value, depth, ret);
        break;
    case JSON_ARRAY:
        ret->kind = LAPSE_JSON_LIST;
        built = build_list(walk, value, depth, ret);
        break;
    case JSON_STRING:
        ret->kind = LAPSE_JSON_TEXT;
        built = build_text(walk, value, ret);
        break;
    case JSON_INTEGER:
        ret->kind = LAPSE_JSON_NUMBER;
        ret->number = json_integer_value(value);
        skip_word(walk);
        break;
    case JSON_REAL:
        ret->kind = LAPSE_JSON_REAL;
        skip_word(walk);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        ret->kind = LAPSE_JSON_BOOL;
        ret->truth = json_is_true(value);
        skip_word(walk);
        break;
    case JSON_NULL:
        skip_word(walk);
        break;
    }
    ret->span = (int)(walk->at - from);
    return built;
}

/* The library gives the words of a map in the order in which they were written. */
static bool build_map(struct walk *walk, json_t *value, int depth, struct lapse_json *ret) {
    struct lapse_json *items = take_items(walk, json_object_size(value), depth, ret);
    bool built = items != NULL;
    size_t i = 0;
    skip_mark(walk);
    for (void *at = json_object_iter(value); built && at != NULL;
         at = json_object_iter_next(value, at), i++) {
        const char *key = json_object_iter_key(at);
        char *copy = lapse_reading_pool_take(walk->pool, strlen(key) + 1);
        skip_blanks(walk);
        items[i].key_column = (int)walk->at + 1;
        skip_text(walk);
        skip_mark(walk);
        built = copy != NULL ? build(walk, json_object_iter_value(at), depth + 1, &items[i])
                             : fail(walk, LAPSE_JSON_NOMEM, walk->at);
        if (copy != NULL) {
            memcpy(copy, key, strlen(key));
            items[i].key = copy;
        }
        skip_mark(walk); /* a comma, or the end */
    }
    if (built && i == 0) {
        skip_mark(walk);
    }
    return built;
}

static bool build_list(struct walk *walk, json_t *value, int depth, struct lapse_json *ret) {
    size_t count = json_array_size(value);
    struct lapse_json *items = take_items(walk, count, depth, ret);
    bool built = items != NULL;
    skip_mark(walk);
    for (size_t i = 0; built && i < count; i++) {
        built = build(walk, json_array_get(value, i), depth + 1, &items[i]);
        skip_mark(walk);
    }
    if (built && count == 0) {
        skip_mark(walk);
    }
    return built;
}

static bool build_text(struct walk *walk, const json_t *value, struct lapse_json *ret) {
    size_t len = json_string_length(value);
    unsigned char *copy = lapse_reading_pool_take(walk->pool, len + 1);
    if (copy == NULL) {
        return fail(walk, LAPSE_JSON_NOMEM, walk->at);
    }
    memcpy(copy, json_string_value(value), len);
    ret->text = (struct lapse_bytes){copy, len};
    skip_text(walk);
    return true;
}

static struct lapse_json *take_items(struct walk *walk, size_t count, int depth,
                                     struct lapse_json *ret) {
    if (depth >= LAPSE_JSON_DEPTH_MAX) {
        (void)fail(walk, LAPSE_JSON_DEEP, walk->at);
        return NULL;
    }
    struct lapse_json *items = lapse_reading_pool_take(walk->pool, count * sizeof(*items));
    if (items == NULL) {
        (void)fail(walk, LAPSE_JSON_NOMEM, walk->at);
    }
    ret->count = count;
    ret->items = items;
    return items;
}

static bool fail(struct walk *walk, enum lapse_json_fault fault, size_t at) {
    *walk->err = (struct lapse_json_error){fault, (int)at + 1};
    return false;
}

static void skip_blanks(struct walk *walk) {
    while (walk->at < walk->len && strchr(" \t\r\n", walk->bytes[walk->at]) != NULL) {
        walk->at++;
    }
}

/* One of { [ : , ] } */
static void skip_mark(struct walk *walk) {
    skip_blanks(walk);
    walk->at += walk->at < walk->len;
}

static void skip_text(struct walk *walk) {
    walk->at++;
    while (walk->at < walk->len && walk->bytes[walk->at] != '"') {
        walk->at += walk->bytes[walk->at] == '\\' ? 2 : 1;
    }
    walk->at += walk->at < walk->len;
}

/* A number, true, false or null. */
static void skip_word(struct walk *walk) {
    while (walk->at < walk->len && strchr(" \t\r\n,]}", walk->bytes[walk->at]) == NULL) {
        walk->at++;
    }
}
