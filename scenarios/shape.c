/* Shapes of nodes, and the decoder's small helpers: what every decoder asks before it reads. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

static const char *kind_word(enum lapse_node_kind kind);

void *lapse_decoder_take(struct lapse_decoder *d, size_t bytes) {
    void *taken = lapse_pool_take(d->pool, bytes);
    d->nomem = d->nomem || taken == NULL;
    return taken;
}

void *lapse_decoder_add(struct lapse_decoder *d, struct lapse_list *list) {
    void *item = lapse_list_add(d->alloc, list);
    d->nomem = d->nomem || item == NULL;
    return item;
}

struct lapse_bytes lapse_decoder_bytes(struct lapse_decoder *d, const struct lapse_node *node) {
    const char *text = lapse_pool_text(d->pool, node->text, node->len);
    d->nomem = d->nomem || text == NULL;
    return (struct lapse_bytes){(const unsigned char *)text, text == NULL ? 0 : node->len};
}

bool lapse_decoder_name(struct lapse_decoder *d, enum lapse_space space, const char *text,
                        int32_t number) {
    struct lapse_bytes bytes = lapse_bytes_of(text);
    if (lapse_names_find(&d->names, (int)space, bytes) >= 0) {
        return false;
    }
    if (!lapse_names_add(d->alloc, &d->names, (int)space, bytes, number)) {
        d->nomem = true;
        return false;
    }
    return true;
}

int32_t lapse_decoder_find(const struct lapse_decoder *d, enum lapse_space space, const char *text,
                           size_t len) {
    struct lapse_bytes bytes = {(const unsigned char *)text, len};
    return lapse_names_find(&d->names, (int)space, bytes);
}

bool lapse_shape_is(struct lapse_decoder *d, const struct lapse_node *node,
                    enum lapse_node_kind kind, const char *wanted) {
    bool fits = node->kind == kind && !(kind == LAPSE_NODE_SCALAR && lapse_node_is_null(node));
    if (fits) {
        return true;
    }
    const char *seen = lapse_node_is_null(node) ? "nothing" : kind_word(node->kind);
    lapse_mistake_add(d->diags, "Y103", node->place, "", "%s is wanted here, and this is %s",
                      wanted, seen);
    return false;
}

bool lapse_shape_word(struct lapse_decoder *d, const struct lapse_node *key,
                      enum lapse_word_kind kind, const char *thing) {
    const struct lapse_word *row = lapse_word_find(kind, key->text);
    if (row != NULL && row->stage <= LAPSE_STAGE_NOW) {
        return true;
    }
    if (row != NULL) {
        lapse_shape_later(d, key->place, row);
        return false;
    }
    if (d->diags->count > LAPSE_MISTAKES_MAX) {
        return false; /* it would not be shown, and looking for the nearest word takes time */
    }
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, key->text);
    lapse_nearest_offer_kind(&nearest, kind);
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y101", key->place, label,
                                                "`%.60s` is not a word of %s", key->text, thing);
    char list[320] = "";
    size_t used = 0;
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (table[i].kind == kind && table[i].stage <= LAPSE_STAGE_NOW &&
            used + 24 < sizeof(list)) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, " %s", table[i].word);
        }
    }
    lapse_diag_note(d->diags, diag, "note", "%s takes:%s", thing, list);
    return false;
}

void lapse_shape_later(struct lapse_decoder *d, struct lapse_place place,
                       const struct lapse_word *word) {
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y102", place, "", "`%s` does not run yet", word->word);
    lapse_diag_note(d->diags, diag, "note",
                    "it belongs to the language (%s), and a later version "
                    "of this program runs it",
                    word->sentence);
}

bool lapse_shape_name(struct lapse_decoder *d, const struct lapse_node *node, const char *what) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, what)) {
        return false;
    }
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
    if (strspn(node->text, letters) == node->len && node->len <= LAPSE_BUCKET_NAME_MAX) {
        return true;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y129", node->place, "", "`%.60s` is not %s", node->text, what);
    lapse_diag_note(d->diags, diag, "help", "a name has letters, digits, `_`, `-` and `.` alone");
    return false;
}

bool lapse_shape_flag(struct lapse_decoder *d, const struct lapse_node *node, bool *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "true or false")) {
        return false;
    }
    if (lapse_node_is(node, "true") || lapse_node_is(node, "false")) {
        *ret = lapse_node_is(node, "true");
        return true;
    }
    lapse_mistake_add(d->diags, "Y127", node->place, "", "`%.60s` is neither true nor false",
                      node->text);
    return false;
}

struct lapse_place lapse_shape_part(const struct lapse_node *node, size_t offset, size_t span) {
    struct lapse_place place = node->place;
    /* A text that differs from what was written (quotes, a name of `vary` filled in) is shown
     * whole. */
    if (place.span < 0 || (size_t)place.span != node->len || offset + span > node->len) {
        return place;
    }
    place.column += (int)offset;
    place.span = span == 0 ? 1 : (int)span;
    return place;
}

static const char *kind_word(enum lapse_node_kind kind) {
    switch (kind) {
    case LAPSE_NODE_MAP:
        return "a map";
    case LAPSE_NODE_SEQ:
        return "a list";
    case LAPSE_NODE_SCALAR:
        break;
    }
    return "a single value";
}
