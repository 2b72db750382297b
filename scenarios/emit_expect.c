/* Expectations: answers, values, lists, fields with comparisons, events; and patterns. */
#include <string.h>

#include "emitter.h"

static struct lapse_node *emit_word(struct lapse_emitter *e, const struct lapse_word *row,
                                    const struct lapse_expect_word *word, bool listed);
static bool is_answer(const struct lapse_word *row, const struct lapse_node *value);
static struct lapse_node *emit_words(struct lapse_emitter *e, const struct lapse_word *row,
                                     const struct lapse_expect *expect);
static struct lapse_node *emit_keys(struct lapse_emitter *e, const struct lapse_word *row,
                                    const struct lapse_operand *operands, size_t count);
static bool begins_bucket(const struct lapse_emitter *e, const struct lapse_node *key);
static struct lapse_node *emit_fields(struct lapse_emitter *e, const struct lapse_word *row,
                                      const struct lapse_expect *expect);
static size_t run_of(const struct lapse_expect *expect, size_t from);
static struct lapse_node *emit_compares(struct lapse_emitter *e, const struct lapse_word *row,
                                        const struct lapse_compare *compares, size_t count);
static struct lapse_node *emit_compare(struct lapse_emitter *e, const struct lapse_word *row,
                                       const struct lapse_compare *compare);
static struct lapse_node *emit_value(struct lapse_emitter *e, enum lapse_field field,
                                     const struct lapse_operand *operand);
static enum lapse_operand_kind place_of(const struct lapse_emitter *e, enum lapse_field field);
static struct lapse_node *emit_event(struct lapse_emitter *e,
                                     const struct lapse_event_expect *event);
static struct lapse_node *event_key(struct lapse_emitter *e, const struct lapse_event_expect *event,
                                    const char *word);
static bool fits_text(const struct lapse_event_expect *event);

struct lapse_node *lapse_emit_expect(struct lapse_emitter *e, const struct lapse_word *row,
                                     const struct lapse_expect *expect) {
    switch (expect->kind) {
    case LAPSE_EXPECT_ANY:
        return emit_words(e, row, expect);
    case LAPSE_EXPECT_KEYS:
        return emit_keys(e, row, expect->operands, expect->operand_count);
    case LAPSE_EXPECT_FIELDS:
        return emit_fields(e, row, expect);
    case LAPSE_EXPECT_EVENTS:
        return lapse_emit_events(e, expect);
    case LAPSE_EXPECT_FIRST:
    case LAPSE_EXPECT_IS:
    case LAPSE_EXPECT_WHO:
        break;
    }
    lapse_emit_refuse(e, "`expect` of `%s` cannot be of kind %d", row->word, (int)expect->kind);
    return NULL;
}

struct lapse_node *lapse_emit_is(struct lapse_emitter *e, const struct lapse_expect *expect,
                                 enum lapse_operand_kind place) {
    if (expect->kind != LAPSE_EXPECT_IS || expect->compare_count == 0) {
        lapse_emit_refuse(e, "an observer's `is` compares nothing");
        return NULL;
    }
    e->place = place;
    return emit_compares(e, NULL, expect->compares, expect->compare_count);
}

struct lapse_node *lapse_emit_who(struct lapse_emitter *e, const struct lapse_expect *expect) {
    struct lapse_node *list = lapse_emit_seq(e);
    if (expect->kind != LAPSE_EXPECT_WHO) {
        lapse_emit_refuse(e, "an observer's `who` names nobody");
        return NULL;
    }
    for (size_t i = 0; i < expect->actor_count; i++) {
        lapse_emit_add(e, list, lapse_emit_actor(e, expect->actors[i]));
    }
    return list;
}

struct lapse_node *lapse_emit_events(struct lapse_emitter *e, const struct lapse_expect *expect) {
    struct lapse_node *list = lapse_emit_seq(e);
    if (expect->kind != LAPSE_EXPECT_EVENTS) {
        lapse_emit_refuse(e, "`events` expects none");
        return NULL;
    }
    for (size_t i = 0; i < expect->event_count; i++) {
        lapse_emit_add(e, list, emit_event(e, &expect->events[i]));
    }
    return list;
}

const char *lapse_emit_answer(struct lapse_emitter *e, const struct lapse_word *row,
                              enum lapse_status status) {
    char first[32];
    enum lapse_status back = LAPSE_OK;
    const char *word = lapse_status_word(status);
    if (status == LAPSE_OK && lapse_words_next(row->answers, first, sizeof(first)) != NULL) {
        struct lapse_node *node = lapse_emit_text(e, first);
        return node == NULL ? NULL : node->text;
    }
    if (lapse_decode_answer(row, word, &back) && back == status) {
        return word;
    }
    lapse_emit_refuse(e, "`%s` never answers `%s`", row->word, word);
    return NULL;
}

/* In a list; alone `{value: ok}` would be a map of fields. */
static struct lapse_node *emit_word(struct lapse_emitter *e, const struct lapse_word *row,
                                    const struct lapse_expect_word *word, bool listed) {
    if (!word->is_value) {
        return lapse_emit_text(e, lapse_emit_answer(e, row, word->status));
    }
    struct lapse_node *value = lapse_emit_operand(e, &word->value, LAPSE_OPERAND_TEXT);
    if (!listed || value == NULL || !is_answer(row, value)) {
        return value;
    }
    struct lapse_node *map = lapse_emit_map(e);
    lapse_emit_put(e, map, "value", value);
    return map;
}

/* Whether the value alone would be read as an answer, or as nothing. */
static bool is_answer(const struct lapse_word *row, const struct lapse_node *value) {
    enum lapse_status status = LAPSE_OK;
    return lapse_decode_answer(row, value->text, &status);
}

static struct lapse_node *emit_words(struct lapse_emitter *e, const struct lapse_word *row,
                                     const struct lapse_expect *expect) {
    struct lapse_node *one =
        expect->word_count == 1 ? emit_word(e, row, &expect->words[0], false) : NULL;
    if (one != NULL && !(expect->words[0].is_value && is_answer(row, one))) {
        return one;
    }
    struct lapse_node *list = lapse_emit_seq(e);
    for (size_t i = 0; i < expect->word_count; i++) {
        lapse_emit_add(e, list, emit_word(e, row, &expect->words[i], true));
    }
    return list;
}

/* Keys are told bare; one that begins like a bucket comes behind the name of its own. A record's
 * text that is a record's word too is quoted. */
static struct lapse_node *emit_keys(struct lapse_emitter *e, const struct lapse_word *row,
                                    const struct lapse_operand *operands, size_t count) {
    struct lapse_node *list = lapse_emit_seq(e);
    bool records = row != NULL && strcmp(row->word, "history") == 0;
    for (size_t i = 0; i < count; i++) {
        struct lapse_node *item = lapse_emit_operand(e, &operands[i], LAPSE_OPERAND_TEXT);
        if (item != NULL && !records && e->listed >= 0 && begins_bucket(e, item)) {
            item = lapse_emit_name(e, e->listed, &operands[i].text);
        }
        if (item != NULL && records && operands[i].kind == LAPSE_OPERAND_TEXT) {
            item->quoted = item->quoted || lapse_node_is(item, "delete") ||
                           lapse_node_is(item, "expired") || lapse_node_is(item, "purge");
        }
        lapse_emit_add(e, list, item);
    }
    return list;
}

static bool begins_bucket(const struct lapse_emitter *e, const struct lapse_node *key) {
    const struct lapse_setup *setup = &e->plan->setup;
    size_t len = strcspn(key->text, "/");
    struct lapse_bytes name = {(const unsigned char *)key->text, len};
    for (size_t i = 0; len < key->len && i < setup->bucket_count; i++) {
        if (lapse_bytes_equal(setup->buckets[i].name, name)) {
            return true;
        }
    }
    return false;
}

static struct lapse_node *emit_fields(struct lapse_emitter *e, const struct lapse_word *row,
                                      const struct lapse_expect *expect) {
    const struct lapse_compare *first = expect->compares;
    if (expect->word_count == 0 && expect->compare_count == 1 && strcmp(row->word, "count") == 0 &&
        first->field == LAPSE_FIELD_COUNT && first->op == LAPSE_OP_EQ) {
        struct lapse_node *count = emit_compare(e, row, first);
        if (count != NULL && count->text[0] != '-') {
            return count;
        }
    }
    struct lapse_node *map = lapse_emit_map(e);
    if (expect->word_count == 1) {
        lapse_emit_put(e, map, "answer",
                       lapse_emit_text(e, lapse_emit_answer(e, row, expect->words[0].status)));
    }
    for (size_t i = 0; i < expect->compare_count;) {
        size_t count = run_of(expect, i);
        lapse_emit_put(e, map, lapse_field_word(expect->compares[i].field),
                       emit_compares(e, row, &expect->compares[i], count));
        i += count;
    }
    return map;
}

/* How many comparisons of one field stand together. */
static size_t run_of(const struct lapse_expect *expect, size_t from) {
    size_t count = 1;
    while (from + count < expect->compare_count &&
           expect->compares[from + count].field == expect->compares[from].field) {
        count++;
    }
    return count;
}

static struct lapse_node *emit_compares(struct lapse_emitter *e, const struct lapse_word *row,
                                        const struct lapse_compare *compares, size_t count) {
    if (count == 1 && compares->op == LAPSE_OP_EQ) {
        return emit_compare(e, row, compares);
    }
    struct lapse_node *map = lapse_emit_map(e);
    for (size_t i = 0; i < count; i++) {
        lapse_emit_put(e, map, lapse_decode_op_word(compares[i].op),
                       emit_compare(e, row, &compares[i]));
    }
    return map;
}

static struct lapse_node *emit_compare(struct lapse_emitter *e, const struct lapse_word *row,
                                       const struct lapse_compare *compare) {
    if (compare->field == LAPSE_FIELD_KEYS) {
        return emit_keys(e, row, compare->operands, compare->operand_count);
    }
    if (compare->op != LAPSE_OP_IN) {
        if (compare->operand_count == 1) {
            return emit_value(e, compare->field, compare->operands);
        }
        lapse_emit_refuse(e, "a comparison of `%s` has %zu values, not one",
                          lapse_field_word(compare->field), compare->operand_count);
        return NULL;
    }
    struct lapse_node *list = lapse_emit_seq(e);
    for (size_t i = 0; i < compare->operand_count; i++) {
        lapse_emit_add(e, list, emit_value(e, compare->field, &compare->operands[i]));
    }
    return list;
}

/* The words `absent` and `none` are no owners: where one is a text nothing can be written. */
static struct lapse_node *emit_value(struct lapse_emitter *e, enum lapse_field field,
                                     const struct lapse_operand *operand) {
    bool owner = field == LAPSE_FIELD_OWNER;
    if (owner && operand->kind == LAPSE_OPERAND_ABSENT) {
        return lapse_emit_text(e, "absent");
    }
    struct lapse_node *value = lapse_emit_operand(e, operand, place_of(e, field));
    if (owner && (lapse_node_is(value, "absent") || lapse_node_is(value, "none"))) {
        lapse_emit_refuse(e, "an owner whose text is `%s` is read as nobody", value->text);
    }
    return value;
}

/* What a field is compared with; what the observer looks at has no name. */
static enum lapse_operand_kind place_of(const struct lapse_emitter *e, enum lapse_field field) {
    switch (field) {
    case LAPSE_FIELD_DEFAULT:
        return e->place;
    case LAPSE_FIELD_REV:
    case LAPSE_FIELD_COUNT:
    case LAPSE_FIELD_TOKEN:
        return LAPSE_OPERAND_NUMBER;
    case LAPSE_FIELD_END:
    case LAPSE_FIELD_LEFT:
    case LAPSE_FIELD_TOOK:
        return LAPSE_OPERAND_SPAN;
    default:
        return LAPSE_OPERAND_TEXT;
    }
}

/* `put b/k`, or a map where more is asked for or the key begins with a space. */
static struct lapse_node *emit_event(struct lapse_emitter *e,
                                     const struct lapse_event_expect *event) {
    const char *word = lapse_event_word(event->kind);
    bool gap = event->kind == LAPSE_EVENT_GAP;
    if (fits_text(event)) {
        return gap ? lapse_emit_text(e, word) : event_key(e, event, word);
    }
    struct lapse_node *map = lapse_emit_map(e);
    lapse_emit_put(e, map, word, gap ? lapse_emit_text(e, "true") : event_key(e, event, NULL));
    lapse_emit_put(e, map, "at",
                   event->has_at ? lapse_emit_operand(e, &event->at, LAPSE_OPERAND_SPAN) : NULL);
    lapse_emit_put(e, map, "rev",
                   event->has_rev ? lapse_emit_operand(e, &event->rev, LAPSE_OPERAND_NUMBER)
                                  : NULL);
    lapse_emit_put(e, map, "why",
                   event->has_why ? lapse_emit_text(e, lapse_why_word(event->why)) : NULL);
    return map;
}

/* The key behind its bucket's name, with `word` and a space before it. */
static struct lapse_node *event_key(struct lapse_emitter *e, const struct lapse_event_expect *event,
                                    const char *word) {
    const struct lapse_node *bucket = lapse_emit_name(e, -1, &event->bucket);
    const struct lapse_node *key = lapse_emit_name(e, -1, &event->key);
    if (bucket == NULL || key == NULL) {
        return NULL;
    }
    struct lapse_node *whole = lapse_emit_key(e, lapse_node_bytes(bucket), lapse_node_bytes(key));
    return word == NULL || whole == NULL ? whole : lapse_emit_join(e, word, " ", whole->text);
}

/* In a text the spaces before a key are not its own. */
static bool fits_text(const struct lapse_event_expect *event) {
    const struct lapse_text *name = event->bucket.part_count > 0 ? &event->bucket : &event->key;
    bool spaced = name->part_count > 0 && name->parts[0].kind == LAPSE_PART_LITERAL &&
                  name->parts[0].literal.len > 0 && name->parts[0].literal.data[0] == ' ';
    return !event->has_at && !event->has_rev && !event->has_why && !spaced;
}

struct lapse_node *lapse_emit_pattern(struct lapse_emitter *e,
                                      const struct lapse_pattern *pattern) {
    const char *word = lapse_decode_pattern_word(pattern->kind);
    struct lapse_node *map = lapse_emit_map(e);
    struct lapse_node *subject = NULL;
    if (word == NULL) {
        lapse_emit_refuse(e, "there is no pattern of kind %d", (int)pattern->kind);
        return NULL;
    }
    switch (pattern->kind) {
    case LAPSE_PATTERN_ACCEPTED:
    case LAPSE_PATTERN_FENCED:
        subject = lapse_emit_resource(e, pattern->subject);
        break;
    case LAPSE_PATTERN_CRASH:
    case LAPSE_PATTERN_WAKES:
    case LAPSE_PATTERN_STOPPED:
        subject = lapse_emit_actor(e, pattern->subject);
        break;
    default:
        subject = lapse_emit_key(e, pattern->bucket, pattern->name);
        break;
    }
    lapse_emit_put(e, map, word, subject);
    lapse_emit_put(e, map, "by", pattern->by >= 0 ? lapse_emit_actor(e, pattern->by) : NULL);
    lapse_emit_put(e, map, "at", pattern->has_at ? lapse_emit_span(e, pattern->at.ns) : NULL);
    return map;
}
