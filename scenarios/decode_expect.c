/* Expectations of calls and observers: a word, a list, a map of fields, a comparison. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

/* What a call's expectation is read for. */
struct target {
    const struct lapse_word *row;
    int verb;
};

/* Verbs whose answer holds a value, so that a word may be one. */
#define VALUE_VERBS "get entry has read"

struct op_word {
    const char *word;
    enum lapse_op op;
};
static const struct op_word op_words[] = {
    {"eq", LAPSE_OP_EQ}, {"ne", LAPSE_OP_NE}, {"lt", LAPSE_OP_LT}, {"le", LAPSE_OP_LE},
    {"gt", LAPSE_OP_GT}, {"ge", LAPSE_OP_GE}, {"in", LAPSE_OP_IN},
};

/* Records of a key that are no values. */
static const struct {
    const char *word;
    enum lapse_record_kind kind;
} record_words[] = {
    {"delete", LAPSE_RECORD_TOMBSTONE},
    {"expired", LAPSE_RECORD_MARKER},
    {"purge", LAPSE_RECORD_PURGE},
};

static void read_word(struct lapse_decoder *d, const struct lapse_word *row,
                      const struct lapse_node *node, struct lapse_list *words);
static void read_words(struct lapse_decoder *d, const struct lapse_word *row,
                       const struct lapse_node *node, struct lapse_expect *expect);
static void read_fields(struct lapse_decoder *d, const struct target *target,
                        const struct lapse_node *node, struct lapse_expect *expect);
static bool read_answer(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *value, enum lapse_status *ret);
static void note_answer(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *node);
static void note_field(struct lapse_decoder *d, const struct target *target,
                       const struct lapse_node *key, const struct lapse_node *value);
static bool note_comparison(struct lapse_decoder *d, const struct target *target,
                            const struct lapse_node *key, const struct lapse_node *value);
static void note_never(struct lapse_decoder *d, const struct target *target,
                       enum lapse_status status, const struct lapse_node *key);
static enum lapse_op op_of(const char *word);
static struct lapse_operand *read_keys(struct lapse_decoder *d, const struct lapse_node *list);
static struct lapse_operand *read_records(struct lapse_decoder *d, const struct lapse_node *list);
static void read_record(struct lapse_decoder *d, const struct lapse_node *node,
                        struct lapse_operand *ret);
static bool is_flag(enum lapse_field field);
static enum lapse_operand_kind kind_of_field(enum lapse_field field, const struct lapse_node *node);
static void read_compares(struct lapse_decoder *d, enum lapse_field field,
                          enum lapse_operand_kind kind, const struct lapse_node *node,
                          struct lapse_list *compares);
static void read_compare(struct lapse_decoder *d, enum lapse_field field, enum lapse_op op,
                         enum lapse_operand_kind kind, const struct lapse_node *node,
                         struct lapse_list *compares);
static bool read_value(struct lapse_decoder *d, enum lapse_field field,
                       enum lapse_operand_kind kind, const struct lapse_node *node,
                       struct lapse_operand *ret);
static struct lapse_operand *read_operands(struct lapse_decoder *d, enum lapse_field field,
                                           enum lapse_operand_kind kind,
                                           const struct lapse_node *list);
static void seal_compares(struct lapse_decoder *d, struct lapse_list *compares,
                          struct lapse_expect *expect);
static int compare_numbers(const int32_t *a, size_t count);

struct lapse_expect *lapse_decode_first(struct lapse_decoder *d, struct lapse_place place) {
    struct lapse_expect *expect = lapse_decoder_take(d, sizeof(*expect));
    if (expect != NULL) {
        expect->kind = LAPSE_EXPECT_FIRST;
        expect->place = place;
    }
    return expect;
}

struct lapse_expect *lapse_decode_expect(struct lapse_decoder *d, const struct lapse_word *row,
                                         int32_t bucket, const struct lapse_node *node) {
    const struct target target = {row, lapse_decode_verb(row->word)};
    d->listed = bucket;
    struct lapse_expect *expect = lapse_decode_first(d, node->place);
    if (expect == NULL) {
        return NULL;
    }
    bool lists = lapse_words_have("list all", row->word);
    if (node->kind == LAPSE_NODE_MAP) {
        expect->kind = LAPSE_EXPECT_FIELDS;
        read_fields(d, &target, node, expect);
    } else if (node->kind == LAPSE_NODE_SEQ && (lists || target.verb == LAPSE_VERB_HISTORY)) {
        expect->kind = LAPSE_EXPECT_KEYS;
        expect->operands = lists ? read_keys(d, node) : read_records(d, node);
        expect->operand_count = node->count;
    } else {
        expect->kind = LAPSE_EXPECT_ANY;
        read_words(d, row, node, expect);
    }
    return expect;
}

struct lapse_expect *lapse_decode_is(struct lapse_decoder *d, enum lapse_field field,
                                     enum lapse_operand_kind kind, const struct lapse_node *node) {
    struct lapse_expect *expect = lapse_decode_first(d, node->place);
    if (expect == NULL) {
        return NULL;
    }
    struct lapse_list compares = {.item_bytes = sizeof(struct lapse_compare)};
    expect->kind = LAPSE_EXPECT_IS;
    read_compares(d, field, kind, node, &compares);
    seal_compares(d, &compares, expect);
    return expect;
}

struct lapse_expect *lapse_decode_who(struct lapse_decoder *d, const struct lapse_node *node) {
    struct lapse_expect *expect = lapse_decode_first(d, node->place);
    bool one = node->kind == LAPSE_NODE_SCALAR;
    if (expect == NULL || (!one && !lapse_shape_is(d, node, LAPSE_NODE_SEQ, "a list of actors"))) {
        return expect;
    }
    size_t count = one ? 1 : node->count;
    int32_t *actors = lapse_decoder_take(d, count * sizeof(*actors));
    expect->kind = LAPSE_EXPECT_WHO;
    for (size_t i = 0; actors != NULL && i < count; i++) {
        actors[i] = lapse_resolve_name(d, one ? node : node->items[i], LAPSE_SPACE_ACTOR);
        /* Kept rising: each goes in before the first that is not smaller. */
        for (size_t j = i; j > 0 && actors[j - 1] > actors[j]; j--) {
            int32_t moved = actors[j];
            actors[j] = actors[j - 1];
            actors[j - 1] = moved;
        }
    }
    expect->actors = actors;
    expect->actor_count = count;
    if (actors != NULL && compare_numbers(actors, count) == 0) {
        lapse_mistake_add(d->diags, "Y119", node->place, "", "an actor stands here twice");
    }
    return expect;
}

/* 0 if two neighbours are equal. Unknown names, all -1, have been noted already. */
static int compare_numbers(const int32_t *a, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (a[i] >= 0 && a[i - 1] == a[i]) {
            return 0;
        }
    }
    return 1;
}

static void read_words(struct lapse_decoder *d, const struct lapse_word *row,
                       const struct lapse_node *node, struct lapse_expect *expect) {
    struct lapse_list words = {.item_bytes = sizeof(struct lapse_expect_word)};
    /* A count is a number, not a word. */
    if (strcmp(row->word, "count") == 0 && node->kind == LAPSE_NODE_SCALAR &&
        strchr("0123456789$", (int)node->text[0]) != NULL && node->len > 0) {
        struct lapse_list compares = {.item_bytes = sizeof(struct lapse_compare)};
        expect->kind = LAPSE_EXPECT_FIELDS;
        read_compares(d, LAPSE_FIELD_COUNT, LAPSE_OPERAND_NUMBER, node, &compares);
        seal_compares(d, &compares, expect);
        return;
    }
    bool one = node->kind == LAPSE_NODE_SCALAR;
    for (size_t i = 0; i < (one ? 1 : node->count); i++) {
        read_word(d, row, one ? node : node->items[i], &words);
    }
    if (!one && node->count == 0) {
        lapse_mistake_add(d->diags, "Y103", node->place, "", "an empty list expects nothing");
    }
    expect->word_count = words.count;
    expect->words = lapse_list_seal(&words, d->pool);
    lapse_list_free(d->alloc, &words);
}

/* An answer if it is one of the verb's, else a value, if the verb's answer has one. */
static void read_word(struct lapse_decoder *d, const struct lapse_word *row,
                      const struct lapse_node *node, struct lapse_list *words) {
    if (node->kind == LAPSE_NODE_MAP) {
        const struct lapse_node *value = lapse_node_get(node, "value");
        if (node->count != 1 || value == NULL) {
            lapse_mistake_add(d->diags, "Y103", node->place, "",
                              "in a list of words only {value: TEXT} can be a map");
            return;
        }
        struct lapse_expect_word *word = lapse_decoder_add(d, words);
        if (word != NULL) {
            word->is_value = lapse_text_operand(d, value, LAPSE_OPERAND_TEXT, &word->value);
        }
        return;
    }
    if (node->kind != LAPSE_NODE_SCALAR || (lapse_node_is_null(node) && node->len == 0)) {
        (void)lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "an answer or a value");
        return;
    }
    enum lapse_status status = LAPSE_OK;
    bool answer = lapse_decode_answer(row, node->text, &status);
    if (!answer && !lapse_words_have(VALUE_VERBS, row->word)) {
        note_answer(d, row, node);
        return;
    }
    struct lapse_expect_word *word = lapse_decoder_add(d, words);
    if (word == NULL) {
        return;
    }
    word->is_value = !answer;
    word->status = status;
    if (!answer) {
        (void)lapse_text_operand(d, node, LAPSE_OPERAND_TEXT, &word->value);
    }
}

static void note_answer(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *node) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, node->text);
    /* The table's texts are whole lists: cut out, a word must live as long as the note. */
    char words[16][32];
    size_t count = 0;
    const char *rest = row->answers;
    while (count < 16 && (rest = lapse_words_next(rest, words[count], sizeof(words[0]))) != NULL) {
        lapse_nearest_offer(&nearest, words[count]);
        count++;
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y114", node->place, label, "`%.60s` is not an answer of `%s`",
                          node->text, row->word);
    lapse_diag_note(d->diags, diag, "note",
                    "`%s` answers: %s; any call also: invalid range io corrupt locked version "
                    "unavailable unknown too_late",
                    row->word, row->answers);
}

/* The answer comes first: it says which fields there are. */
static void read_fields(struct lapse_decoder *d, const struct target *target,
                        const struct lapse_node *node, struct lapse_expect *expect) {
    struct lapse_list words = {.item_bytes = sizeof(struct lapse_expect_word)};
    struct lapse_list compares = {.item_bytes = sizeof(struct lapse_compare)};
    const struct lapse_node *answer = lapse_node_get(node, "answer");
    enum lapse_status status = LAPSE_OK;
    bool known = answer == NULL || read_answer(d, target->row, answer, &status);
    if (answer != NULL && known) {
        struct lapse_expect_word *word = lapse_decoder_add(d, &words);
        if (word != NULL) {
            word->status = status;
        }
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct lapse_node *key = node->keys[i];
        const struct lapse_node *value = node->items[i];
        enum lapse_field field = lapse_field_find(key->text, key->len);
        if (lapse_node_is(key, "answer")) {
            continue;
        }
        if (field == LAPSE_FIELD_DEFAULT) {
            note_field(d, target, key, value);
        } else if (known && !lapse_field_answered(target->verb, status, field)) {
            note_never(d, target, status, key);
        } else {
            read_compares(d, field, kind_of_field(field, value), value, &compares);
        }
    }
    expect->word_count = words.count;
    expect->words = lapse_list_seal(&words, d->pool);
    lapse_list_free(d->alloc, &words);
    seal_compares(d, &compares, expect);
}

static bool read_answer(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *value, enum lapse_status *ret) {
    if (!lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "an answer")) {
        return false;
    }
    if (!lapse_decode_answer(row, value->text, ret)) {
        note_answer(d, row, value);
        return false;
    }
    return true;
}

static void note_field(struct lapse_decoder *d, const struct target *target,
                       const struct lapse_node *key, const struct lapse_node *value) {
    if (note_comparison(d, target, key, value)) {
        return;
    }
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, key->text);
    lapse_nearest_offer(&nearest, "answer");
    for (int i = LAPSE_FIELD_VALUE; i < LAPSE_FIELDS; i++) {
        lapse_nearest_offer(&nearest, lapse_field_word((enum lapse_field)i));
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y101", key->place, label,
                                                "`%.60s` is not a field of an answer", key->text);
    char list[96];
    lapse_diag_note(d->diags, diag, "note", "`%s` has: answer %s", target->row->word,
                    lapse_field_list(target->verb, LAPSE_OK, list, sizeof(list)));
}

/* A comparison that stands where the field it compares should. */
static bool note_comparison(struct lapse_decoder *d, const struct target *target,
                            const struct lapse_node *key, const struct lapse_node *value) {
    if (op_of(key->text) == 0) {
        return false;
    }
    enum lapse_field field = lapse_field_default(target->verb);
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y101", key->place, "",
                          "`%.60s` compares a field, and none is named here", key->text);
    if (lapse_field_answered(target->verb, LAPSE_OK, field)) {
        lapse_diag_note(d->diags, diag, "help", "write {%s: {%.60s: %.60s}}",
                        lapse_field_word(field), key->text,
                        value->kind == LAPSE_NODE_SCALAR ? value->text : "..");
    }
    char list[96];
    lapse_diag_note(d->diags, diag, "note", "`%s` has: answer %s", target->row->word,
                    lapse_field_list(target->verb, LAPSE_OK, list, sizeof(list)));
    return true;
}

static void note_never(struct lapse_decoder *d, const struct target *target,
                       enum lapse_status status, const struct lapse_node *key) {
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y130", key->place, "", "`%s` never has `%s` when it answers `%s`",
        target->row->word, key->text, lapse_answer_word(target->verb, status));
    char list[96];
    lapse_diag_note(d->diags, diag, "help", "this answer has: %s",
                    lapse_field_list(target->verb, status, list, sizeof(list)));
    bool reads = target->verb == LAPSE_VERB_GET || target->verb == LAPSE_VERB_HAS;
    if (reads && status == LAPSE_OK && lapse_words_have("rev end left", key->text)) {
        lapse_diag_note(d->diags, diag, "help", "`entry` answers value, rev, end and left");
    }
}

const char *lapse_decode_op_word(enum lapse_op op) {
    for (size_t i = 0; i < sizeof(op_words) / sizeof(op_words[0]); i++) {
        if (op_words[i].op == op) {
            return op_words[i].word;
        }
    }
    return NULL;
}

const char *lapse_decode_record_word(int64_t kind) {
    for (size_t i = 0; i < sizeof(record_words) / sizeof(record_words[0]); i++) {
        if ((int64_t)record_words[i].kind == kind) {
            return record_words[i].word;
        }
    }
    return NULL;
}

static enum lapse_op op_of(const char *word) {
    for (size_t i = 0; i < sizeof(op_words) / sizeof(op_words[0]); i++) {
        if (strcmp(op_words[i].word, word) == 0) {
            return op_words[i].op;
        }
    }
    return (enum lapse_op)0;
}

/* The keys of a listing, bare or with their bucket, which is the one that is listed. */
static struct lapse_operand *read_keys(struct lapse_decoder *d, const struct lapse_node *list) {
    const int32_t bucket = d->listed;
    struct lapse_operand *operands = lapse_decoder_take(d, list->count * sizeof(*operands));
    for (size_t i = 0; operands != NULL && i < list->count; i++) {
        const struct lapse_node *node = list->items[i];
        if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a key")) {
            continue;
        }
        int32_t prefix = lapse_resolve_prefix(d, node);
        size_t name = prefix < 0 ? 0 : strcspn(node->text, "/");
        operands[i].kind = LAPSE_OPERAND_TEXT;
        if (prefix < 0 || prefix == bucket || bucket < 0) {
            size_t offset = prefix < 0 ? 0 : name + 1;
            (void)lapse_text_decode(d, node, offset, &operands[i].text);
            continue;
        }
        const struct lapse_setup_bucket *listed = lapse_list_at(&d->buckets, (size_t)bucket);
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y134", lapse_shape_part(node, 0, name), "",
            "a list of `%.60s` never has a key of `%.*s`", (const char *)listed->name.data,
            name < 60 ? (int)name : 60, node->text);
        lapse_diag_note(d->diags, diag, "help",
                        "write its keys bare; one that begins like a bucket as `%.60s/%.60s`",
                        (const char *)listed->name.data, node->text);
    }
    return operands;
}

/* The records of a key, oldest first: a value's text, or what another record is. */
static struct lapse_operand *read_records(struct lapse_decoder *d, const struct lapse_node *list) {
    struct lapse_operand *operands = lapse_decoder_take(d, list->count * sizeof(*operands));
    for (size_t i = 0; operands != NULL && i < list->count; i++) {
        read_record(d, list->items[i], &operands[i]);
    }
    return operands;
}

/* {value: delete}, or quotes, make a text of what would be another record. */
static void read_record(struct lapse_decoder *d, const struct lapse_node *node,
                        struct lapse_operand *ret) {
    const struct lapse_node *value = lapse_node_get(node, "value");
    if (value != NULL && node->count == 1) {
        (void)lapse_text_operand(d, value, LAPSE_OPERAND_TEXT, ret);
        return;
    }
    for (size_t i = 0; i < sizeof(record_words) / sizeof(record_words[0]); i++) {
        if (lapse_node_is(node, record_words[i].word) && !node->quoted) {
            ret->kind = LAPSE_OPERAND_RECORD;
            ret->number = record_words[i].kind;
            return;
        }
    }
    if (node->kind == LAPSE_NODE_SCALAR) {
        (void)lapse_text_operand(d, node, LAPSE_OPERAND_TEXT, ret);
        return;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y103", node->place, "", "this is not a record of a key");
    lapse_diag_note(d->diags, diag, "help",
                    "write a value, or `delete`, `purge` or `expired`; {value: purge} is a text");
}

static bool is_flag(enum lapse_field field) {
    return field == LAPSE_FIELD_REPEATED || field == LAPSE_FIELD_MORE;
}

/* An `end` is a date where it is written as one. */
static enum lapse_operand_kind kind_of_field(enum lapse_field field,
                                             const struct lapse_node *node) {
    switch (field) {
    case LAPSE_FIELD_REV:
    case LAPSE_FIELD_COUNT:
    case LAPSE_FIELD_TOKEN:
        return LAPSE_OPERAND_NUMBER;
    case LAPSE_FIELD_LEFT:
    case LAPSE_FIELD_TOOK:
        return LAPSE_OPERAND_SPAN;
    case LAPSE_FIELD_END:
        if (node->kind == LAPSE_NODE_SCALAR &&
            (strchr(node->text, ':') != NULL || strncmp(node->text, "epoch", 5) == 0 ||
             strncmp(node->text, "now", 3) == 0)) {
            return LAPSE_OPERAND_DATE;
        }
        return LAPSE_OPERAND_SPAN;
    case LAPSE_FIELD_DEFAULT:
    case LAPSE_FIELD_VALUE:
    case LAPSE_FIELD_KEYS:
    case LAPSE_FIELD_OWNER:
    case LAPSE_FIELD_REPEATED:
    case LAPSE_FIELD_MORE:
    case LAPSE_FIELDS:
        break;
    }
    return LAPSE_OPERAND_TEXT;
}

/* A literal, a list (keys), or a map of comparisons. */
static void read_compares(struct lapse_decoder *d, enum lapse_field field,
                          enum lapse_operand_kind kind, const struct lapse_node *node,
                          struct lapse_list *compares) {
    if (node->kind != LAPSE_NODE_MAP) {
        read_compare(d, field, LAPSE_OP_EQ, kind, node, compares);
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        enum lapse_op op = op_of(node->keys[i]->text);
        if (op == 0) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y127", node->keys[i]->place, "",
                                  "`%.60s` is not a comparison", node->keys[i]->text);
            lapse_diag_note(d->diags, diag, "help", "write one of: eq ne lt le gt ge in");
            continue;
        }
        enum lapse_operand_kind its_kind =
            field == LAPSE_FIELD_END ? kind_of_field(field, node->items[i]) : kind;
        read_compare(d, field, op, its_kind, node->items[i], compares);
    }
}

static void read_compare(struct lapse_decoder *d, enum lapse_field field, enum lapse_op op,
                         enum lapse_operand_kind kind, const struct lapse_node *node,
                         struct lapse_list *compares) {
    bool list = op == LAPSE_OP_IN || field == LAPSE_FIELD_KEYS;
    if (list && !lapse_shape_is(d, node, LAPSE_NODE_SEQ, "a list")) {
        return;
    }
    struct lapse_compare *compare = lapse_decoder_add(d, compares);
    if (compare == NULL) {
        return;
    }
    *compare = (struct lapse_compare){.field = field, .op = op, .place = node->place};
    if (list) {
        compare->operands = read_operands(d, field, kind, node);
        compare->operand_count = node->count;
        return;
    }
    struct lapse_operand *operand = lapse_decoder_take(d, sizeof(*operand));
    if (operand != NULL && read_value(d, field, kind, node, operand)) {
        compare->operands = operand;
        compare->operand_count = 1;
    }
}

/* `absent` is the owner of a free name; `none` is the end of what has none. */
static bool read_value(struct lapse_decoder *d, enum lapse_field field,
                       enum lapse_operand_kind kind, const struct lapse_node *node,
                       struct lapse_operand *ret) {
    bool may_lack =
        field == LAPSE_FIELD_OWNER || field == LAPSE_FIELD_END || field == LAPSE_FIELD_LEFT;
    if (may_lack && (lapse_node_is(node, "absent") || lapse_node_is(node, "none"))) {
        ret->kind = LAPSE_OPERAND_ABSENT;
        return true;
    }
    bool flag = false;
    if (is_flag(field) && !lapse_shape_flag(d, node, &flag)) {
        return false;
    }
    return lapse_text_operand(d, node, kind, ret);
}

static struct lapse_operand *read_operands(struct lapse_decoder *d, enum lapse_field field,
                                           enum lapse_operand_kind kind,
                                           const struct lapse_node *list) {
    if (field == LAPSE_FIELD_KEYS) {
        return read_keys(d, list);
    }
    struct lapse_operand *operands = lapse_decoder_take(d, list->count * sizeof(*operands));
    for (size_t i = 0; operands != NULL && i < list->count; i++) {
        (void)read_value(d, field, kind, list->items[i], &operands[i]);
    }
    return operands;
}

static void seal_compares(struct lapse_decoder *d, struct lapse_list *compares,
                          struct lapse_expect *expect) {
    expect->compare_count = compares->count;
    expect->compares = lapse_list_seal(compares, d->pool);
    lapse_list_free(d->alloc, compares);
}
