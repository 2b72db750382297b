/* Observers and the entries of the top-level `expect`: what is looked at, and what must be seen. */
#include <string.h>

#include "decode.h"

struct probe_row {
    const char *word;
    enum lapse_probe_kind kind;
};
static const struct probe_row probe_rows[] = {
    {"gone", LAPSE_PROBE_GONE},         {"present", LAPSE_PROBE_PRESENT},
    {"left", LAPSE_PROBE_LEFT},         {"holder", LAPSE_PROBE_HOLDER},
    {"believes", LAPSE_PROBE_BELIEVES}, {"may", LAPSE_PROBE_MAY},
    {"stopped", LAPSE_PROBE_STOPPED},   {"events", LAPSE_PROBE_EVENTS},
    {"measured", LAPSE_PROBE_MEASURED}, {"rows", LAPSE_PROBE_ROWS},
};

static void read_kind(struct lapse_decoder *d, const struct lapse_word *row,
                      const struct lapse_node *map, struct lapse_plan_probe *probe,
                      struct lapse_step_check *check);
static void read_key(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_plan_probe *probe);
static void read_name(struct lapse_decoder *d, const struct lapse_node *node, bool any_key,
                      struct lapse_plan_probe *probe);
static void read_read(struct lapse_decoder *d, const struct lapse_word *row,
                      const struct lapse_node *map, struct lapse_plan_probe *probe,
                      struct lapse_step_check *check);
static void read_count(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_probe *probe, struct lapse_step_check *check);
static void read_measured(struct lapse_decoder *d, const struct lapse_node *map,
                          struct lapse_step_check *check);
static const struct lapse_node *needed(struct lapse_decoder *d, const struct lapse_word *row,
                                       const struct lapse_node *map, const char *word);
static void check_holder(struct lapse_decoder *d, const struct lapse_node *is);

void lapse_decode_probe(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *map, struct lapse_plan_step *step,
                        struct lapse_step_check *check) {
    step->kind = LAPSE_STEP_PROBE;
    struct lapse_plan_probe *probe = &step->u.probe;
    probe->bucket = probe->actor = probe->watch = -1;
    check->expect = lapse_decode_first(d, check->place);
    const struct lapse_node *count = lapse_node_get(map, "count");
    if (count != NULL && count->kind == LAPSE_NODE_MAP) {
        read_count(d, map, probe, check);
    } else if (row->kind == LAPSE_WORD_VERB) {
        read_read(d, row, map, probe, check);
    } else {
        read_kind(d, row, map, probe, check);
    }
}

const char *lapse_decode_probe_word(enum lapse_probe_kind kind) {
    for (size_t i = 0; i < sizeof(probe_rows) / sizeof(probe_rows[0]); i++) {
        if (probe_rows[i].kind == kind) {
            return probe_rows[i].word;
        }
    }
    return NULL;
}

static void read_kind(struct lapse_decoder *d, const struct lapse_word *row,
                      const struct lapse_node *map, struct lapse_plan_probe *probe,
                      struct lapse_step_check *check) {
    for (size_t i = 0; i < sizeof(probe_rows) / sizeof(probe_rows[0]); i++) {
        probe->kind = strcmp(probe_rows[i].word, row->word) == 0 ? probe_rows[i].kind : probe->kind;
    }
    const struct lapse_node *object = lapse_node_get(map, row->word);
    const struct lapse_node *wanted = NULL;
    switch (probe->kind) {
    case LAPSE_PROBE_GONE:
    case LAPSE_PROBE_PRESENT:
        read_key(d, object, probe);
        return;
    case LAPSE_PROBE_STOPPED:
        probe->actor = lapse_resolve_name(d, object, LAPSE_SPACE_ACTOR);
        return;
    case LAPSE_PROBE_MEASURED:
        read_measured(d, map, check);
        return;
    case LAPSE_PROBE_LEFT:
    case LAPSE_PROBE_HOLDER:
        read_name(d, object, probe->kind == LAPSE_PROBE_LEFT, probe);
        wanted = needed(d, row, map, "is");
        break;
    case LAPSE_PROBE_BELIEVES:
    case LAPSE_PROBE_MAY:
        read_name(d, object, false, probe);
        wanted = needed(d, row, map, "who");
        break;
    case LAPSE_PROBE_EVENTS:
        probe->watch = lapse_resolve_name(d, object, LAPSE_SPACE_WATCH);
        wanted = needed(d, row, map, "expect");
        break;
    case LAPSE_PROBE_ROWS:
        probe->bucket = lapse_resolve_name(d, object, LAPSE_SPACE_BUCKET);
        wanted = needed(d, row, map, "is");
        break;
    case LAPSE_PROBE_READ:
    case LAPSE_PROBE_COUNT:
        break;
    }
    if (wanted == NULL) {
        return;
    }
    check->written = true;
    if (probe->kind == LAPSE_PROBE_LEFT) {
        check->expect = lapse_decode_is(d, LAPSE_FIELD_LEFT, LAPSE_OPERAND_SPAN, wanted);
    } else if (probe->kind == LAPSE_PROBE_HOLDER) {
        check->expect = lapse_decode_is(d, LAPSE_FIELD_OWNER, LAPSE_OPERAND_TEXT, wanted);
        check_holder(d, wanted);
    } else if (probe->kind == LAPSE_PROBE_ROWS) {
        check->expect = lapse_decode_is(d, LAPSE_FIELD_DEFAULT, LAPSE_OPERAND_NUMBER, wanted);
    } else if (probe->kind == LAPSE_PROBE_EVENTS) {
        check->expect = lapse_decode_events(d, probe->watch, wanted);
    } else {
        check->expect = lapse_decode_who(d, wanted);
    }
}

static void read_key(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_plan_probe *probe) {
    size_t offset = 0;
    if (lapse_resolve_key(d, node, &probe->bucket, &offset) &&
        lapse_text_decode(d, node, offset, &probe->name)) {
        const struct lapse_setup_bucket *bucket = lapse_list_at(&d->buckets, (size_t)probe->bucket);
        probe->key_lock = bucket->locks;
    }
}

/* A lease name, or a key: of a bucket with locks, or (`any_key`) of any declared one. */
static void read_name(struct lapse_decoder *d, const struct lapse_node *node, bool any_key,
                      struct lapse_plan_probe *probe) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a lease name or a key")) {
        return;
    }
    int32_t prefix = lapse_resolve_prefix(d, node);
    bool locks = prefix >= 0 &&
                 ((struct lapse_setup_bucket *)lapse_list_at(&d->buckets, (size_t)prefix))->locks;
    if (locks || (any_key && prefix >= 0)) {
        read_key(d, node, probe);
        return;
    }
    lapse_resolve_lease(d, node);
    (void)lapse_text_decode(d, node, 0, &probe->name);
}

static void read_read(struct lapse_decoder *d, const struct lapse_word *row,
                      const struct lapse_node *map, struct lapse_plan_probe *probe,
                      struct lapse_step_check *check) {
    const struct lapse_node *object = lapse_node_get(map, row->word);
    const struct lapse_node *expect = lapse_node_get(map, "expect");
    probe->kind = LAPSE_PROBE_READ;
    probe->verb = lapse_decode_verb(row->word);
    if (lapse_words_have("list all count", row->word)) {
        probe->bucket = lapse_resolve_name(d, object, LAPSE_SPACE_BUCKET);
    } else {
        read_key(d, object, probe);
    }
    if (expect != NULL) {
        check->written = true;
        check->expect = lapse_decode_expect(d, row, probe->bucket, expect);
    }
    int64_t is = lapse_node_index(map, "is");
    if (is >= 0) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y120", map->keys[is]->place, "",
                                                    "`is` goes with the count of a pattern");
        lapse_diag_note(d->diags, diag, "help", "write `expect` for what a bucket counts");
    }
}

static void read_count(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_probe *probe, struct lapse_step_check *check) {
    probe->kind = LAPSE_PROBE_COUNT;
    check->contract = LAPSE_NO_CONTRACT;
    struct lapse_pattern *pattern = lapse_decoder_take(d, sizeof(*pattern));
    if (pattern != NULL && lapse_decode_pattern(d, lapse_node_get(map, "count"), pattern)) {
        check->count = pattern;
    }
    const struct lapse_node *is = needed(d, lapse_word_find(LAPSE_WORD_VERB, "count"), map, "is");
    if (is != NULL) {
        check->written = true;
        check->expect = lapse_decode_is(d, LAPSE_FIELD_DEFAULT, LAPSE_OPERAND_NUMBER, is);
    }
}

static void read_measured(struct lapse_decoder *d, const struct lapse_node *map,
                          struct lapse_step_check *check) {
    check->measure = lapse_resolve_name(d, lapse_node_get(map, "measured"), LAPSE_SPACE_MEASURE);
    const struct lapse_node *is =
        needed(d, lapse_word_find(LAPSE_WORD_OBSERVER, "measured"), map, "is");
    if (is == NULL || check->measure < 0) {
        return;
    }
    const struct lapse_measure *measure = lapse_list_at(&d->measures, (size_t)check->measure);
    check->written = true;
    check->expect = lapse_decode_is(
        d, LAPSE_FIELD_DEFAULT,
        measure->kind == LAPSE_MEASURE_COUNT ? LAPSE_OPERAND_NUMBER : LAPSE_OPERAND_SPAN, is);
}

static const struct lapse_node *needed(struct lapse_decoder *d, const struct lapse_word *row,
                                       const struct lapse_node *map, const char *word) {
    const struct lapse_node *node = lapse_node_get(map, word);
    if (node == NULL) {
        const struct lapse_node *key = map->keys[lapse_node_index(map, row->word)];
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y125", key->place, "", "`%s` needs `%s`", row->word, word);
        lapse_diag_note(d->diags, diag, "help", "say what must be seen with `%s: ..`", word);
    }
    return node;
}

/* An owner is an actor, an actor's later incarnation (w1#2), or an owner text. */
static void check_holder(struct lapse_decoder *d, const struct lapse_node *is) {
    if (is->kind != LAPSE_NODE_SCALAR || strchr(is->text, '$') != NULL ||
        lapse_node_is(is, "absent")) {
        return;
    }
    size_t name = strcspn(is->text, "#");
    if (lapse_decoder_find(d, LAPSE_SPACE_ACTOR, is->text, name) < 0 &&
        lapse_decoder_find(d, LAPSE_SPACE_OWNER, is->text, is->len) < 0) {
        lapse_resolve_unknown(d, is->place, LAPSE_SPACE_ACTOR, is->text);
    }
}
