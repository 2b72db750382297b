/* What `events:` asks for: `put locks/job`, `expired k`, `gap`, or a map with at, rev and why. */
#include <string.h>

#include "decode.h"

struct event_word {
    const char *word;
    enum lapse_event_kind kind;
};
static const struct event_word event_words[] = {
    {"put", LAPSE_EVENT_PUT},         {"delete", LAPSE_EVENT_DELETE}, {"purge", LAPSE_EVENT_PURGE},
    {"expired", LAPSE_EVENT_EXPIRED}, {"gap", LAPSE_EVENT_GAP},
};

static void read_event(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                       struct lapse_event_expect *ret);
static void read_text(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                      struct lapse_event_expect *ret);
static void read_map(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                     struct lapse_event_expect *ret);
static void read_key(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                     size_t offset, struct lapse_event_expect *ret);
static void read_why(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_event_expect *ret);
static void note_event(struct lapse_decoder *d, const struct lapse_node *node);

enum lapse_event_kind lapse_decode_event_kind(const char *word, size_t len) {
    for (size_t i = 0; i < sizeof(event_words) / sizeof(event_words[0]); i++) {
        if (strlen(event_words[i].word) == len && memcmp(event_words[i].word, word, len) == 0) {
            return event_words[i].kind;
        }
    }
    return (enum lapse_event_kind)0;
}

struct lapse_expect *lapse_decode_events(struct lapse_decoder *d, int32_t watch,
                                         const struct lapse_node *node) {
    struct lapse_expect *expect = lapse_decode_first(d, node->place);
    if (expect == NULL || !lapse_shape_is(d, node, LAPSE_NODE_SEQ, "a list of events")) {
        return expect;
    }
    struct lapse_event_expect *events = lapse_decoder_take(d, node->count * sizeof(*events));
    expect->kind = LAPSE_EXPECT_EVENTS;
    expect->events = events;
    expect->event_count = node->count;
    for (size_t i = 0; events != NULL && i < node->count; i++) {
        read_event(d, watch, node->items[i], &events[i]);
    }
    return expect;
}

static void read_event(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                       struct lapse_event_expect *ret) {
    ret->place = node->place;
    if (node->kind == LAPSE_NODE_MAP) {
        read_map(d, watch, node, ret);
    } else if (lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "an event")) {
        read_text(d, watch, node, ret);
    }
}

static void read_text(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                      struct lapse_event_expect *ret) {
    size_t word = strcspn(node->text, " ");
    size_t key = word + strspn(node->text + word, " ");
    ret->kind = lapse_decode_event_kind(node->text, word);
    bool has_key = node->text[key] != '\0';
    if (ret->kind == 0 || has_key == (ret->kind == LAPSE_EVENT_GAP)) {
        note_event(d, node);
    } else if (has_key) {
        read_key(d, watch, node, key, ret);
    }
}

static void read_map(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                     struct lapse_event_expect *ret) {
    for (size_t i = 0; i < node->count; i++) {
        const struct lapse_node *key = node->keys[i];
        const struct lapse_node *value = node->items[i];
        enum lapse_event_kind kind = lapse_decode_event_kind(key->text, key->len);
        if (kind != 0 && ret->kind == 0) {
            ret->kind = kind;
            if (kind != LAPSE_EVENT_GAP && lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "a key")) {
                read_key(d, watch, value, 0, ret);
            }
        } else if (lapse_node_is(key, "at")) {
            ret->has_at = lapse_text_operand(d, value, LAPSE_OPERAND_SPAN, &ret->at);
        } else if (lapse_node_is(key, "rev")) {
            ret->has_rev = lapse_text_operand(d, value, LAPSE_OPERAND_NUMBER, &ret->rev);
        } else if (lapse_node_is(key, "why")) {
            read_why(d, value, ret);
        } else {
            note_event(d, key);
        }
    }
    if (ret->kind == 0) {
        note_event(d, node);
    }
}

/* The bucket's name may be left out: it is the watch's. */
static void read_key(struct lapse_decoder *d, int32_t watch, const struct lapse_node *node,
                     size_t offset, struct lapse_event_expect *ret) {
    struct lapse_node rest = *node;
    rest.text += offset;
    rest.len -= offset;
    int32_t bucket = lapse_resolve_prefix(d, &rest);
    const char *slash = bucket >= 0 ? strchr(rest.text, '/') : NULL;
    if (slash != NULL) {
        offset += (size_t)(slash - rest.text) + 1;
    } else if (watch >= 0) {
        bucket = ((struct lapse_watch_decl *)lapse_list_at(&d->watches, (size_t)watch))->bucket;
    }
    struct lapse_text_part *part = lapse_decoder_take(d, sizeof(*part));
    if (bucket >= 0 && part != NULL) {
        const struct lapse_setup_bucket *decl = lapse_list_at(&d->buckets, (size_t)bucket);
        part->literal = decl->name;
        ret->bucket.parts = part;
        ret->bucket.part_count = 1;
    }
    if (ret->kind == LAPSE_EVENT_EXPIRED) {
        lapse_resolve_markers(d, bucket, node->place);
    }
    (void)lapse_text_decode(d, node, offset, &ret->key);
}

static void read_why(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_event_expect *ret) {
    static const char *const words[] = {"", "own", "default", "idle", "session"};
    for (int i = LAPSE_WHY_OWN; i <= LAPSE_WHY_SESSION; i++) {
        if (lapse_node_is(node, words[i])) {
            ret->has_why = true;
            ret->why = (enum lapse_why)i;
            return;
        }
    }
    lapse_mistake_add(d->diags, "Y127", node->place, "",
                      "a key ends for one of these reasons: own, default, idle, session");
}

static void note_event(struct lapse_decoder *d, const struct lapse_node *node) {
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y127", node->place, "", "this is not an event");
    lapse_diag_note(d->diags, diag, "help",
                    "write `put k`, `delete k`, `purge k`, `expired k`, `gap`, or a map such as "
                    "{expired: k, at: 30s, rev: 2, why: own}");
}
