/* Patterns, and what is made of them: `sometimes`, `measure`. */
#include <string.h>

#include "decode.h"

enum subject { SUBJECT_LEASE = 1, SUBJECT_KEY, SUBJECT_RESOURCE, SUBJECT_ACTOR };
struct pattern_row {
    const char *word;
    enum lapse_pattern_kind kind;
    enum subject subject;
    bool by; /* `by` makes sense */
};
static const struct pattern_row pattern_rows[] = {
    {"granted", LAPSE_PATTERN_GRANTED, SUBJECT_LEASE, true},
    {"extended", LAPSE_PATTERN_EXTENDED, SUBJECT_LEASE, true},
    {"held", LAPSE_PATTERN_HELD, SUBJECT_LEASE, true},
    {"denied", LAPSE_PATTERN_DENIED, SUBJECT_LEASE, true},
    {"released", LAPSE_PATTERN_RELEASED, SUBJECT_LEASE, true},
    {"believes", LAPSE_PATTERN_BELIEVES, SUBJECT_LEASE, true},
    {"two_believe", LAPSE_PATTERN_TWO_BELIEVE, SUBJECT_LEASE, false},
    {"written", LAPSE_PATTERN_WRITTEN, SUBJECT_KEY, true},
    {"expired", LAPSE_PATTERN_EXPIRED, SUBJECT_KEY, false},
    {"accepted", LAPSE_PATTERN_ACCEPTED, SUBJECT_RESOURCE, true},
    {"fenced", LAPSE_PATTERN_FENCED, SUBJECT_RESOURCE, true},
    {"crash", LAPSE_PATTERN_CRASH, SUBJECT_ACTOR, false},
    {"wakes", LAPSE_PATTERN_WAKES, SUBJECT_ACTOR, false},
    {"stopped", LAPSE_PATTERN_STOPPED, SUBJECT_ACTOR, false},
};

static const struct pattern_row *find_row(const char *word);
static void read_subject(struct lapse_decoder *d, const struct pattern_row *row,
                         const struct lapse_node *node, struct lapse_pattern *ret);
static void read_key(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_pattern *ret);
static void read_lease(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_pattern *ret);
static void read_measure(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_measure *ret);
static void note_measure(struct lapse_decoder *d, const struct lapse_node *node);

bool lapse_decode_pattern(struct lapse_decoder *d, const struct lapse_node *node,
                          struct lapse_pattern *ret) {
    *ret = (struct lapse_pattern){.subject = -1, .by = -1, .place = node->place};
    if (!lapse_shape_is(d, node, LAPSE_NODE_MAP, "a pattern ({granted: jobs/x})")) {
        return false;
    }
    const struct pattern_row *found = NULL;
    const struct lapse_node *by = NULL;
    for (size_t i = 0; i < node->count; i++) {
        const struct lapse_node *key = node->keys[i];
        if (!lapse_shape_word(d, key, LAPSE_WORD_PATTERN, "a pattern")) {
            return false;
        }
        const struct pattern_row *row = find_row(key->text);
        if (row != NULL && found != NULL) {
            lapse_mistake_add(d->diags, "Y124", key->place, "",
                              "a pattern names one thing, and this one names two");
            return false;
        }
        if (row != NULL) {
            found = row;
            read_subject(d, row, node->items[i], ret);
        } else if (lapse_node_is(key, "by")) {
            by = key;
            ret->by = lapse_resolve_name(d, node->items[i], LAPSE_SPACE_ACTOR);
        } else {
            ret->has_at = lapse_number_span(d, node->items[i], 0, &ret->at.ns);
        }
    }
    if (found == NULL) {
        lapse_mistake_add(d->diags, "Y124", node->place, "", "this pattern names nothing");
        return false;
    }
    ret->kind = found->kind;
    if (by != NULL && !found->by) {
        lapse_mistake_add(d->diags, "Y120", by->place, "", "`by` does not go with `%s`",
                          found->word);
    }
    return true;
}

const char *lapse_decode_pattern_word(enum lapse_pattern_kind kind) {
    for (size_t i = 0; i < sizeof(pattern_rows) / sizeof(pattern_rows[0]); i++) {
        if (pattern_rows[i].kind == kind) {
            return pattern_rows[i].word;
        }
    }
    return NULL;
}

void lapse_decode_sometimes(struct lapse_decoder *d, const struct lapse_node *sometimes) {
    if (lapse_node_is_null(sometimes) ||
        !lapse_shape_is(d, sometimes, LAPSE_NODE_SEQ, "a list of patterns")) {
        return;
    }
    if (sometimes->count > LAPSE_SOMETIMES_MAX) {
        (void)lapse_mistake_add(d->diags, "Y006", sometimes->items[LAPSE_SOMETIMES_MAX]->place, "",
                                "`sometimes` lists %zu patterns, at most %d are taken",
                                sometimes->count, (int)LAPSE_SOMETIMES_MAX);
        return;
    }
    struct lapse_pattern *patterns = lapse_decoder_take(d, sometimes->count * sizeof(*patterns));
    for (size_t i = 0; patterns != NULL && i < sometimes->count; i++) {
        (void)lapse_decode_pattern(d, sometimes->items[i], &patterns[i]);
    }
    d->plan->the_case.sometimes = patterns;
    d->plan->the_case.sometimes_count = sometimes->count;
}

void lapse_decode_measures(struct lapse_decoder *d, const struct lapse_node *measure) {
    if (lapse_node_is_null(measure) ||
        !lapse_shape_is(d, measure, LAPSE_NODE_MAP, "a map of measures")) {
        return;
    }
    for (size_t i = 0; i < measure->count; i++) {
        if (!lapse_shape_name(d, measure->keys[i], "a measure's name")) {
            continue;
        }
        struct lapse_measure read = {.place = measure->keys[i]->place};
        read.name = lapse_decoder_bytes(d, measure->keys[i]);
        read_measure(d, measure->items[i], &read);
        struct lapse_measure *kept = lapse_decoder_add(d, &d->measures);
        if (kept != NULL) {
            *kept = read;
            (void)lapse_decoder_name(d, LAPSE_SPACE_MEASURE, measure->keys[i]->text,
                                     (int32_t)d->measures.count - 1);
        }
    }
}

static void read_measure(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_measure *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_MAP, "a measure ({from: .., to: ..})")) {
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        if (!lapse_shape_word(d, node->keys[i], LAPSE_WORD_MEASURE, "a measure")) {
            return;
        }
    }
    const struct lapse_node *from = lapse_node_get(node, "from");
    const struct lapse_node *to = lapse_node_get(node, "to");
    const struct lapse_node *count = lapse_node_get(node, "count");
    const struct lapse_node *total = lapse_node_get(node, "total");
    if (node->count == 2 && from != NULL && to != NULL) {
        ret->kind = LAPSE_MEASURE_BETWEEN;
        (void)lapse_decode_pattern(d, from, &ret->from);
        (void)lapse_decode_pattern(d, to, &ret->to);
    } else if (node->count == 1 && count != NULL) {
        ret->kind = LAPSE_MEASURE_COUNT;
        (void)lapse_decode_pattern(d, count, &ret->pattern);
    } else if (node->count == 1 && total != NULL) {
        ret->kind = LAPSE_MEASURE_TOTAL;
        bool read = lapse_decode_pattern(d, total, &ret->pattern);
        if (read && ret->pattern.kind != LAPSE_PATTERN_BELIEVES &&
            ret->pattern.kind != LAPSE_PATTERN_TWO_BELIEVE) {
            lapse_mistake_add(d->diags, "Y127", total->place, "",
                              "only `believes` and `two_believe` hold for a time");
        }
    } else {
        note_measure(d, node);
    }
}

static void note_measure(struct lapse_decoder *d, const struct lapse_node *node) {
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y120", node->place, "", "these words do not make a measure");
    lapse_diag_note(d->diags, diag, "help",
                    "write {from: PATTERN, to: PATTERN}, {count: PATTERN} or {total: PATTERN}");
}

static const struct pattern_row *find_row(const char *word) {
    for (size_t i = 0; i < sizeof(pattern_rows) / sizeof(pattern_rows[0]); i++) {
        if (strcmp(pattern_rows[i].word, word) == 0) {
            return &pattern_rows[i];
        }
    }
    return NULL;
}

static void read_subject(struct lapse_decoder *d, const struct pattern_row *row,
                         const struct lapse_node *node, struct lapse_pattern *ret) {
    switch (row->subject) {
    case SUBJECT_LEASE:
        read_lease(d, node, ret);
        break;
    case SUBJECT_KEY:
        read_key(d, node, ret);
        if (row->kind == LAPSE_PATTERN_EXPIRED) {
            lapse_resolve_markers(d, lapse_resolve_prefix(d, node), node->place);
        }
        break;
    case SUBJECT_RESOURCE:
        ret->subject = lapse_resolve_name(d, node, LAPSE_SPACE_RESOURCE);
        break;
    case SUBJECT_ACTOR:
        ret->subject = lapse_resolve_name(d, node, LAPSE_SPACE_ACTOR);
        break;
    }
}

static void read_key(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_pattern *ret) {
    int32_t bucket = -1;
    size_t offset = 0;
    if (!lapse_resolve_key(d, node, &bucket, &offset)) {
        return;
    }
    const struct lapse_setup_bucket *decl = lapse_list_at(&d->buckets, (size_t)bucket);
    ret->key_lock = decl->locks;
    ret->bucket = decl->name;
    ret->name = lapse_decoder_bytes(d, node);
    ret->name.data += offset;
    ret->name.len -= offset;
}

/* A lease name, or a key of a bucket with locks. */
static void read_lease(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_pattern *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a lease name")) {
        return;
    }
    int32_t prefix = lapse_resolve_prefix(d, node);
    if (prefix >= 0 &&
        ((struct lapse_setup_bucket *)lapse_list_at(&d->buckets, (size_t)prefix))->locks) {
        read_key(d, node, ret);
        return;
    }
    lapse_resolve_lease(d, node);
    ret->name = lapse_decoder_bytes(d, node);
}
