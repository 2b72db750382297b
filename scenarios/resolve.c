/* Looking names up: every name of a document leads to what it names, or is a mistake that says
 * what there is. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

enum { NAMES_SHOWN_BYTES = 200 };

static void note_opened(struct lapse_decoder *d, struct lapse_place place, const char *name,
                        int32_t opened);
static const char *space_word(enum lapse_space space);
static const char *name_at(const struct lapse_decoder *d, enum lapse_space space, size_t index);

int32_t lapse_resolve_name(struct lapse_decoder *d, const struct lapse_node *node,
                           enum lapse_space space) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a name")) {
        return -1;
    }
    int32_t number = lapse_decoder_find(d, space, node->text, node->len);
    if (number < 0) {
        lapse_resolve_unknown(d, node->place, space, node->text);
    }
    return number;
}

bool lapse_resolve_key(struct lapse_decoder *d, const struct lapse_node *node, int32_t *ret_bucket,
                       size_t *ret_offset) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a key (bucket/key)")) {
        return false;
    }
    const char *slash = strchr(node->text, '/');
    if (slash == NULL || slash == node->text || slash[1] == '\0') {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y123", node->place, "",
                                                    "`%.60s` is not a key", node->text);
        lapse_diag_note(d->diags, diag, "help", "write bucket/key");
        return false;
    }
    size_t len = (size_t)(slash - node->text);
    *ret_bucket = lapse_decoder_find(d, LAPSE_SPACE_BUCKET, node->text, len);
    *ret_offset = len + 1;
    if (*ret_bucket >= 0) {
        return true;
    }
    char name[64];
    (void)snprintf(name, sizeof(name), "%.*s", (int)(len < 60 ? len : 60), node->text);
    lapse_resolve_unknown(d, lapse_shape_part(node, 0, len), LAPSE_SPACE_BUCKET, name);
    return false;
}

int32_t lapse_resolve_prefix(const struct lapse_decoder *d, const struct lapse_node *node) {
    const char *slash = strchr(node->text, '/');
    if (slash == NULL) {
        return -1;
    }
    return lapse_decoder_find(d, LAPSE_SPACE_BUCKET, node->text, (size_t)(slash - node->text));
}

void lapse_resolve_markers(struct lapse_decoder *d, int32_t bucket, struct lapse_place place) {
    if (bucket < 0 || (size_t)bucket >= d->bucket_decls.count) {
        return;
    }
    const struct lapse_setup_bucket *setup = lapse_list_at(&d->buckets, (size_t)bucket);
    const struct lapse_bucket_decl *decl = lapse_list_at(&d->bucket_decls, (size_t)bucket);
    if (setup->config.markers.ns != 0 || decl->markers_open) {
        return;
    }
    const char *name = (const char *)setup->name.data;
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y132", place, "",
                          "an end in `%.60s` is no event: the bucket has no `markers`", name);
    lapse_diag_note(d->diags, diag, "help", "add `markers: true` to `%.60s` in `buckets`", name);
}

void lapse_resolve_lease(struct lapse_decoder *d, const struct lapse_node *node) {
    if (!d->leases_open && lapse_decoder_find(d, LAPSE_SPACE_LEASE, node->text, node->len) < 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y111", node->place, "",
                              "no call of this document names the lease `%.60s`", node->text);
        lapse_diag_note(
            d->diags, diag, "help",
            "a lease is named by acquire, extend, release or inspect; a key of a bucket "
            "with `locks: true` by bucket/key");
    }
}

void lapse_resolve_session(struct lapse_decoder *d, const struct lapse_node *node) {
    if (node->kind != LAPSE_NODE_SCALAR || d->sessions_open || strchr(node->text, '$') != NULL ||
        lapse_decoder_find(d, LAPSE_SPACE_SESSION, node->text, node->len) >= 0) {
        return;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y111", node->place, "",
                          "no line of this document opens the session `%.60s`", node->text);
    lapse_diag_note(d->diags, diag, "help", "open it: {session: %.60s, for: 30s}", node->text);
}

void lapse_resolve_unknown(struct lapse_decoder *d, struct lapse_place place,
                           enum lapse_space space, const char *name) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, name);
    char list[NAMES_SHOWN_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < LAPSE_MISTAKES_MAX; i++) {
        const char *there = name_at(d, space, i);
        if (there == NULL) {
            break;
        }
        lapse_nearest_offer(&nearest, there);
        if (used + 40 < sizeof(list)) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, " %.30s", there);
        }
    }
    char label[300] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    int32_t opened = space == LAPSE_SPACE_BUCKET
                         ? lapse_decoder_find(d, LAPSE_SPACE_OPENED, name, strlen(name))
                         : -1;
    if (opened >= 0) {
        note_opened(d, place, name, opened);
        return;
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y111", place, label, "there is no %s named `%.60s`", space_word(space), name);
    if (used > 0) {
        lapse_diag_note(d->diags, diag, "note", "there is:%s", list);
    } else {
        lapse_diag_note(d->diags, diag, "note", "this document has none");
    }
}

static void note_opened(struct lapse_decoder *d, struct lapse_place place, const char *name,
                        int32_t opened) {
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y111", place, "",
        "`buckets` has no `%.60s`, and `open` only shows what that call answers", name);
    if ((size_t)opened < d->opened.count) {
        const struct lapse_place *open = lapse_list_at(&d->opened, (size_t)opened);
        lapse_diag_label(d->diags, diag, *open, "the `open`");
    }
    lapse_diag_note(d->diags, diag, "help",
                    "keys need their bucket in `buckets`: add `buckets: {%.60s: {..}}`", name);
}

static const char *space_word(enum lapse_space space) {
    switch (space) {
    case LAPSE_SPACE_BUCKET:
        return "bucket";
    case LAPSE_SPACE_RESOURCE:
        return "resource";
    case LAPSE_SPACE_ACTOR:
    case LAPSE_SPACE_OWNER:
        return "actor";
    case LAPSE_SPACE_WATCH:
        return "watch";
    case LAPSE_SPACE_LABEL:
        return "label";
    case LAPSE_SPACE_SLOT:
    case LAPSE_SPACE_SLOT_INDEXED:
        return "saved name";
    case LAPSE_SPACE_MEASURE:
        return "measure";
    case LAPSE_SPACE_SESSION:
        return "session";
    case LAPSE_SPACE_LEASE:
    case LAPSE_SPACE_OPENED:
        break;
    }
    return "lease";
}

/* The index-th declared name, or NULL behind the last. */
static const char *name_at(const struct lapse_decoder *d, enum lapse_space space, size_t index) {
    const struct lapse_list *list = NULL;
    switch (space) {
    case LAPSE_SPACE_BUCKET:
        list = &d->buckets;
        return index >= list->count
                   ? NULL
                   : (const char *)((struct lapse_setup_bucket *)list->items)[index].name.data;
    case LAPSE_SPACE_RESOURCE:
        list = &d->resources;
        return index >= list->count
                   ? NULL
                   : (const char *)((struct lapse_setup_resource *)list->items)[index].name.data;
    case LAPSE_SPACE_ACTOR:
    case LAPSE_SPACE_OWNER:
        list = &d->actors;
        return index >= list->count
                   ? NULL
                   : (const char *)((struct lapse_setup_actor *)list->items)[index].name.data;
    case LAPSE_SPACE_WATCH:
        list = &d->watches;
        return index >= list->count ? NULL : ((struct lapse_watch_decl *)list->items)[index].name;
    case LAPSE_SPACE_MEASURE:
        list = &d->measures;
        return index >= list->count
                   ? NULL
                   : (const char *)((struct lapse_measure *)list->items)[index].name.data;
    case LAPSE_SPACE_LABEL:
        list = &d->labels;
        return index >= list->count ? NULL
                                    : ((struct lapse_label_decl *)list->items)[index].label->text;
    case LAPSE_SPACE_SLOT:
    case LAPSE_SPACE_SLOT_INDEXED:
    case LAPSE_SPACE_LEASE:
    case LAPSE_SPACE_SESSION:
    case LAPSE_SPACE_OPENED:
        break;
    }
    return NULL;
}
