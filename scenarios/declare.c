/* What a document declares, gathered before any line is decoded: buckets, resources, actors, and
 * then, from all lines, saves, labels, watches and the names of leases. */
#include <string.h>

#include "decode.h"

enum { SAVE_NAME_MAX = 60 };

/* A walk over all lines. */
struct walk {
    struct lapse_decoder *d;
    int32_t actor; /* whose lines these are; -1: `by` says */
    int64_t times; /* of the loop around */
};

static void declare_resources(struct lapse_decoder *d, const struct lapse_node *node);
static void declare_actors(struct lapse_decoder *d, const struct lapse_node *node);
static void declare_actor(struct lapse_decoder *d, const struct lapse_node *name,
                          const struct lapse_node *words);
static void read_actor(struct lapse_decoder *d, const struct lapse_node *words,
                       struct lapse_setup_actor *ret);
static void read_timer(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_setup_actor *ret);
static void walk_actors(struct walk *w, const struct lapse_node *actors);
static void walk_list(struct walk *w, const struct lapse_node *list);
static void walk_line(struct walk *w, const struct lapse_node *line);
static int64_t times_of(const struct lapse_node *line, int64_t around);
static void declare_label(struct walk *w, const struct lapse_node *line);
static void declare_save(struct walk *w, const struct lapse_node *line, int64_t times);
static struct lapse_slot_decl *add_slot(struct walk *w, const struct lapse_node *save, size_t len,
                                        int64_t count, bool indexed);
static void add_verb(struct lapse_slot_decl *decl, const struct lapse_node *line);
static void declare_opened(struct walk *w, const struct lapse_node *line);
static void declare_watch(struct walk *w, const struct lapse_node *line);
static void declare_leases(struct walk *w, const struct lapse_node *line);
static void declare_session(struct walk *w, const struct lapse_node *line);
static void declare_altered(struct walk *w, const struct lapse_node *line);
static bool read_bucket_word(struct lapse_decoder *d, const struct lapse_node *key,
                             const struct lapse_node *value, bool send,
                             struct lapse_bucket_config *ret, bool *ret_locks);
static bool check_terms(struct lapse_decoder *d, const struct lapse_node *map, unsigned given);

void lapse_resolve_declare(struct lapse_decoder *d) {
    lapse_resolve_declare_buckets(d, lapse_node_get(d->root, "buckets"));
    declare_resources(d, lapse_node_get(d->root, "resources"));
    declare_actors(d, lapse_node_get(d->root, "actors"));
    struct walk walk = {.d = d, .actor = -1};
    walk_actors(&walk, lapse_node_get(d->root, "actors"));
    walk.actor = -1;
    walk_list(&walk, lapse_node_get(d->root, "steps"));
    walk_list(&walk, lapse_node_get(d->root, "add"));
    walk_list(&walk, lapse_node_get(d->root, "faults"));
    lapse_decode_resources_end(d);
}

void lapse_resolve_declare_buckets(struct lapse_decoder *d, const struct lapse_node *node) {
    if (lapse_node_is_null(node) || !lapse_shape_is(d, node, LAPSE_NODE_MAP, "a map of buckets")) {
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct lapse_node *words = node->items[i];
        if (!lapse_shape_name(d, node->keys[i], "a bucket's name")) {
            continue;
        }
        struct lapse_setup_bucket *bucket = lapse_decoder_add(d, &d->buckets);
        struct lapse_bucket_decl *decl = lapse_decoder_add(d, &d->bucket_decls);
        if (bucket == NULL || decl == NULL) {
            return;
        }
        const struct lapse_node *markers = lapse_node_get(words, "markers");
        decl->markers_open = markers != NULL && markers->varied;
        bucket->name = lapse_decoder_bytes(d, node->keys[i]);
        (void)lapse_decoder_name(d, LAPSE_SPACE_BUCKET, node->keys[i]->text,
                                 (int32_t)d->buckets.count - 1);
        if (!lapse_node_is_null(words)) {
            bool fine = lapse_resolve_terms(d, words, false, &bucket->config, &bucket->locks);
            decl->markers_open = decl->markers_open || !fine;
        }
    }
}

/* The words of a bucket. `send`: of a call, whose mistakes are the engine's to refuse. */
bool lapse_resolve_terms(struct lapse_decoder *d, const struct lapse_node *map, bool send,
                         struct lapse_bucket_config *ret, bool *ret_locks) {
    if (!lapse_shape_is(d, map, LAPSE_NODE_MAP, "a map of a bucket's words")) {
        return false;
    }
    bool fine = true;
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_node *key = map->keys[i];
        fine = (send || lapse_shape_word(d, key, LAPSE_WORD_BUCKET, "a bucket")) &&
               read_bucket_word(d, key, map->items[i], send, ret, ret_locks) && fine;
    }
    return (send || check_terms(d, map, ret->term.given)) && fine;
}

/* Other words of a call than those of its bucket are passed over. */
static bool read_bucket_word(struct lapse_decoder *d, const struct lapse_node *key,
                             const struct lapse_node *value, bool send,
                             struct lapse_bucket_config *ret, bool *ret_locks) {
    const int64_t min = send ? INT64_MIN : 1;
    if (lapse_node_is(key, "ttl")) {
        ret->term.given |= LAPSE_TERM_TTL;
        return lapse_number_span(d, value, min, &ret->term.ttl.ns);
    }
    if (lapse_node_is(key, "idle")) {
        ret->term.given |= LAPSE_TERM_IDLE;
        return lapse_number_span(d, value, min, &ret->term.idle.ns);
    }
    if (lapse_node_is(key, "cap")) {
        return lapse_number_span(d, value, min, &ret->term.cap.ns);
    }
    if (lapse_node_is(key, "markers") && lapse_node_is(value, "true")) {
        ret->markers.ns = 3600 * LAPSE_NS_PER_S;
        return true;
    }
    if (lapse_node_is(key, "markers") && !lapse_node_is(value, "false")) {
        return lapse_number_span(d, value, min, &ret->markers.ns);
    }
    if (lapse_node_is(key, "history")) {
        int64_t count = 0;
        bool fine = send ? lapse_number_count(d, value, 0, UINT32_MAX, &count)
                         : lapse_number_count(d, value, 1, LAPSE_HISTORY_MAX, &count);
        ret->history = (uint32_t)count;
        return fine;
    }
    if (lapse_node_is(key, "first_revision")) {
        return lapse_number_count(d, value, min, INT64_MAX, &ret->first_revision);
    }
    return !lapse_node_is(key, "locks") || lapse_shape_flag(d, value, ret_locks);
}

static bool check_terms(struct lapse_decoder *d, const struct lapse_node *map, unsigned given) {
    if (given == (LAPSE_TERM_TTL | LAPSE_TERM_IDLE)) {
        const struct lapse_node *idle = map->keys[lapse_node_index(map, "idle")];
        const struct lapse_node *ttl = map->keys[lapse_node_index(map, "ttl")];
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y117", idle->place, "",
                                                    "a bucket has `ttl` or `idle`, never both");
        lapse_diag_label(d->diags, diag, ttl->place, "the other one");
        lapse_diag_note(d->diags, diag, "help",
                        "keep one; to show that the store refuses both, send it: {open: NAME, ..}");
        return false;
    }
    int64_t cap = lapse_node_index(map, "cap");
    if (cap < 0 || (given & LAPSE_TERM_IDLE) != 0) {
        return true;
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y120", map->keys[cap]->place, "",
                                                "`cap` does nothing without `idle`");
    lapse_diag_note(d->diags, diag, "help",
                    "it bounds how far uses move an end: add `idle`, or take `cap` out");
    return false;
}

static void declare_resources(struct lapse_decoder *d, const struct lapse_node *node) {
    if (lapse_node_is_null(node) ||
        !lapse_shape_is(d, node, LAPSE_NODE_MAP, "a map of resources")) {
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        const struct lapse_node *words = node->items[i];
        if (!lapse_shape_name(d, node->keys[i], "a resource's name")) {
            continue;
        }
        struct lapse_setup_resource *resource = lapse_decoder_add(d, &d->resources);
        if (resource == NULL) {
            return;
        }
        resource->name = lapse_decoder_bytes(d, node->keys[i]);
        (void)lapse_decoder_name(d, LAPSE_SPACE_RESOURCE, node->keys[i]->text,
                                 (int32_t)d->resources.count - 1);
        if (lapse_node_is_null(words) ||
            !lapse_shape_is(d, words, LAPSE_NODE_MAP, "a map of a resource's words")) {
            continue;
        }
        lapse_decode_resource(d, words, resource);
    }
}

static void declare_actors(struct lapse_decoder *d, const struct lapse_node *node) {
    if (lapse_node_is_null(node)) {
        struct lapse_setup_actor *only = lapse_decoder_add(d, &d->actors);
        if (only != NULL) {
            only->name = lapse_bytes_of("client");
            (void)lapse_decoder_name(d, LAPSE_SPACE_ACTOR, "client", 0);
        }
        return;
    }
    if (node->kind == LAPSE_NODE_SCALAR) {
        (void)lapse_shape_is(d, node, LAPSE_NODE_MAP, "a list of names or a map of actors");
        return;
    }
    for (size_t i = 0; i < node->count; i++) {
        bool map = node->kind == LAPSE_NODE_MAP;
        declare_actor(d, map ? node->keys[i] : node->items[i], map ? node->items[i] : NULL);
    }
}

static void declare_actor(struct lapse_decoder *d, const struct lapse_node *name,
                          const struct lapse_node *words) {
    if (!lapse_shape_name(d, name, "an actor's name")) {
        return;
    }
    if (lapse_node_is(name, "n1")) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y119", name->place, "", "`n1` is the store's node");
        lapse_diag_note(d->diags, diag, "help", "give the actor another name");
        return;
    }
    if (!lapse_decoder_name(d, LAPSE_SPACE_ACTOR, name->text, (int32_t)d->actors.count)) {
        lapse_mistake_add(d->diags, "Y119", name->place, "", "`%.60s` is an actor already",
                          name->text);
        return;
    }
    struct lapse_setup_actor *actor = lapse_decoder_add(d, &d->actors);
    if (actor == NULL) {
        return;
    }
    actor->name = lapse_decoder_bytes(d, name);
    if (words != NULL && words->kind == LAPSE_NODE_MAP) {
        read_actor(d, words, actor);
    }
}

static void read_actor(struct lapse_decoder *d, const struct lapse_node *words,
                       struct lapse_setup_actor *ret) {
    for (size_t i = 0; i < words->count; i++) {
        const struct lapse_node *key = words->keys[i];
        const struct lapse_node *value = words->items[i];
        if (!lapse_shape_word(d, key, LAPSE_WORD_ACTOR, "an actor")) {
            continue;
        }
        if (lapse_node_is(key, "careful")) {
            (void)lapse_shape_flag(d, value, &ret->careful);
        } else if (lapse_node_is(key, "margin")) {
            (void)lapse_number_span(d, value, 0, &ret->margin.ns);
        } else if (lapse_node_is(key, "program") && value->kind == LAPSE_NODE_SCALAR) {
            ret->program = lapse_decoder_bytes(d, value);
        } else if (lapse_node_is(key, "timer")) {
            read_timer(d, value, ret);
        } else if (lapse_node_is(key, "owner") &&
                   lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "an owner text")) {
            ret->owner = lapse_decoder_bytes(d, value);
            (void)lapse_decoder_name(d, LAPSE_SPACE_OWNER, value->text, 0);
        }
    }
    int64_t with = lapse_node_index(words, "with");
    if (with >= 0 && lapse_node_index(words, "program") < 0) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y120", words->keys[with]->place, "",
                                                    "`with` does nothing without `program`");
        lapse_diag_note(d->diags, diag, "help", "add `program: NAME`, or take `with` out");
    }
    int64_t margin = lapse_node_index(words, "margin");
    if (margin >= 0 && !ret->careful) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y120", words->keys[margin]->place, "",
                              "`margin` does nothing without `careful: true`");
        lapse_diag_note(d->diags, diag, "help", "add `careful: true`, or take `margin` out");
    }
}

static void read_timer(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_setup_actor *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "boot or monotonic")) {
        return;
    }
    ret->timer_boot = lapse_node_is(node, "boot");
    if (!ret->timer_boot && !lapse_node_is(node, "monotonic")) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y127", node->place, "",
                              "`%.60s` is no clock that timers go by", node->text);
        lapse_diag_note(d->diags, diag, "help",
                        "`timer: boot` counts the machine's sleep; `monotonic`, which is what "
                        "holds unless `timer` is given, does not");
    }
}

static void walk_actors(struct walk *w, const struct lapse_node *actors) {
    if (actors == NULL || actors->kind != LAPSE_NODE_MAP) {
        return;
    }
    for (size_t i = 0; i < actors->count; i++) {
        const struct lapse_node *name = actors->keys[i];
        const struct lapse_node *words = actors->items[i];
        const struct lapse_node *tasks = lapse_node_get(words, "tasks");
        w->actor = lapse_decoder_find(w->d, LAPSE_SPACE_ACTOR, name->text, name->len);
        walk_list(w, words);
        lapse_decode_program_leases(w->d, words);
        for (size_t j = 0; tasks != NULL && j < tasks->count; j++) {
            walk_list(w, tasks->items[j]);
        }
    }
}

/* Shapes are checked when lines are decoded; here what does not fit is passed over. */
static void walk_list(struct walk *w, const struct lapse_node *list) {
    for (size_t i = 0; list != NULL && list->kind == LAPSE_NODE_SEQ && i < list->count; i++) {
        walk_line(w, list->items[i]);
    }
}

static void walk_line(struct walk *w, const struct lapse_node *line) {
    if (line->kind != LAPSE_NODE_MAP || line->dropped) {
        return;
    }
    int64_t times = times_of(line, w->times);
    declare_label(w, line);
    declare_save(w, line, times);
    declare_watch(w, line);
    declare_leases(w, line);
    declare_session(w, line);
    declare_opened(w, line);
    declare_altered(w, line);
    const struct lapse_node *batch = lapse_node_get(line, "batch");
    for (size_t i = 0; batch != NULL && batch->kind == LAPSE_NODE_SEQ && i < batch->count; i++) {
        if (batch->items[i]->kind == LAPSE_NODE_MAP) {
            declare_leases(w, batch->items[i]);
            declare_session(w, batch->items[i]);
        }
    }
    int64_t around = w->times;
    w->times = times;
    walk_list(w, lapse_node_get(line, "do"));
    w->times = around;
}

/* The number of `times`, or that of the loop around; a malformed one is noted later. */
static int64_t times_of(const struct lapse_node *line, int64_t around) {
    const struct lapse_node *node = lapse_node_get(line, "times");
    if (node == NULL || node->kind != LAPSE_NODE_SCALAR) {
        return around;
    }
    int64_t times = 0;
    for (size_t i = 0; i < node->len && node->text[i] >= '0' && node->text[i] <= '9'; i++) {
        times = times > LAPSE_TIMES_MAX ? times : times * 10 + (node->text[i] - '0');
    }
    return times > LAPSE_TIMES_MAX ? LAPSE_TIMES_MAX : times;
}

static void declare_label(struct walk *w, const struct lapse_node *line) {
    const struct lapse_node *label = lapse_node_get(line, "label");
    if (label == NULL || !lapse_shape_name(w->d, label, "a label")) {
        return;
    }
    if (!lapse_decoder_name(w->d, LAPSE_SPACE_LABEL, label->text, label->place.line)) {
        int32_t first = lapse_decoder_find(w->d, LAPSE_SPACE_LABEL, label->text, label->len);
        lapse_mistake_add(w->d->diags, "Y119", label->place, "",
                          "the label `%.60s` stands on line %d already", label->text, (int)first);
    }
}

static void declare_save(struct walk *w, const struct lapse_node *line, int64_t times) {
    const struct lapse_node *save = lapse_node_get(line, "save");
    if (save == NULL || !lapse_shape_is(w->d, save, LAPSE_NODE_SCALAR, "a name")) {
        return;
    }
    size_t len = save->len;
    bool indexed = len > 2 && strcmp(save->text + len - 2, "$n") == 0;
    len -= indexed ? 2 : 0;
    const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    bool digit_first = save->text[0] >= '0' && save->text[0] <= '9';
    if (strspn(save->text, letters) != len || digit_first || strcmp(save->text, "n") == 0 ||
        len > SAVE_NAME_MAX) {
        struct lapse_diag *diag = lapse_mistake_add(w->d->diags, "Y129", save->place, "",
                                                    "`%.60s` cannot be a saved name", save->text);
        lapse_diag_note(
            w->d->diags, diag, "help",
            "letters, digits and `_`, a letter first, not `n` alone; `x$n` with `times`");
        return;
    }
    if (indexed && times == 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(w->d->diags, "Y113", lapse_shape_part(save, len, 2), "",
                              "$n stands outside of `times`");
        lapse_diag_note(w->d->diags, diag, "help", "give the step or its loop `times: N`");
        times = 1;
    }
    struct lapse_slot_decl *decl = add_slot(w, save, len, indexed ? times : 1, indexed);
    if (decl != NULL) {
        add_verb(decl, line);
    }
}

/* A name may be saved by several lines: they fill the same slots. NULL: too many, or no memory. */
static struct lapse_slot_decl *add_slot(struct walk *w, const struct lapse_node *save, size_t len,
                                        int64_t count, bool indexed) {
    struct lapse_decoder *d = w->d;
    enum lapse_space space = indexed ? LAPSE_SPACE_SLOT_INDEXED : LAPSE_SPACE_SLOT;
    int32_t known = lapse_decoder_find(d, space, save->text, len);
    if (known >= 0) {
        struct lapse_slot_decl *first = lapse_list_at(&d->slots, (size_t)known);
        if (count > first->count) {
            lapse_mistake_add(d->diags, "Y119", save->place, "",
                              "`%.60s` is saved on line %d by fewer calls", save->text,
                              first->place.line);
        }
        return first;
    }
    char *name = lapse_pool_text(d->pool, save->text, len);
    struct lapse_slot_decl *decl = lapse_decoder_add(d, &d->slots);
    *d->budget -= count;
    if (name == NULL || decl == NULL || *d->budget < 0) {
        d->nomem = d->nomem || name == NULL;
        d->slots.count -= decl == NULL ? 0 : 1;
        return NULL;
    }
    *decl = (struct lapse_slot_decl){.name = name,
                                     .base = d->slot_total,
                                     .count = (int32_t)count,
                                     .indexed = indexed,
                                     .place = save->place,
                                     .one_verb = true};
    d->slot_total += (int32_t)count;
    (void)lapse_decoder_name(d, space, name, (int32_t)d->slots.count - 1);
    return decl;
}

/* What the line's verb answers, added to what the name can hold. A line whose verb answers nothing
 * that is known here, or that is a mistake, leaves everything possible. */
static void add_verb(struct lapse_slot_decl *decl, const struct lapse_node *line) {
    const char *word = "";
    for (size_t i = 0; i < line->count; i++) {
        const struct lapse_word *row = lapse_decode_main_row(line, line->keys[i]->text);
        bool runs = row != NULL && row->kind == LAPSE_WORD_VERB && row->stage <= LAPSE_STAGE_NOW;
        word = runs ? row->word : word;
    }
    int verb = lapse_decode_verb(word);
    bool dated = lapse_node_get(line, "expires_at") != NULL || lapse_node_get(line, "term") != NULL;
    for (int i = LAPSE_FIELD_DEFAULT; i < LAPSE_FIELDS; i++) {
        decl->kinds[i] |=
            verb == 0 ? UINT32_MAX : lapse_field_saved(verb, dated, (enum lapse_field)i);
    }
    decl->one_verb = decl->one_verb && (decl->verb == NULL || strcmp(decl->verb, word) == 0);
    decl->verb = decl->verb == NULL ? word : decl->verb;
}

/* An `open` shows what that call answers; it declares nothing. Kept to say so. */
static void declare_opened(struct walk *w, const struct lapse_node *line) {
    const struct lapse_node *name = lapse_node_get(line, "open");
    if (name == NULL || name->kind != LAPSE_NODE_SCALAR || name->len == 0 ||
        !lapse_decoder_name(w->d, LAPSE_SPACE_OPENED, name->text, (int32_t)w->d->opened.count)) {
        return;
    }
    struct lapse_place *place = lapse_decoder_add(w->d, &w->d->opened);
    if (place != NULL) {
        *place = name->place;
    }
}

/* A watch without `as` is named by what it watches, unless that name is taken. */
static void declare_watch(struct walk *w, const struct lapse_node *line) {
    struct lapse_decoder *d = w->d;
    const struct lapse_node *object = lapse_node_get(line, "watch");
    const struct lapse_node *name = lapse_node_get(line, "as");
    name = name == NULL ? object : name;
    if (object == NULL || object->kind != LAPSE_NODE_SCALAR || name->kind != LAPSE_NODE_SCALAR ||
        name->len == 0) {
        return;
    }
    const struct lapse_node *by = lapse_node_get(line, "by");
    int32_t actor = w->actor;
    if (by != NULL && by->kind == LAPSE_NODE_SCALAR) {
        actor = lapse_decoder_find(d, LAPSE_SPACE_ACTOR, by->text, by->len);
    }
    if (!lapse_decoder_name(d, LAPSE_SPACE_WATCH, name->text, (int32_t)d->watches.count)) {
        return;
    }
    struct lapse_watch_decl *watch = lapse_decoder_add(d, &d->watches);
    if (watch != NULL) {
        size_t len = strcspn(object->text, "/");
        watch->name = lapse_pool_text(d->pool, name->text, name->len);
        watch->bucket = lapse_decoder_find(d, LAPSE_SPACE_BUCKET, object->text, len);
        watch->actor = actor;
        d->nomem = d->nomem || watch->name == NULL;
    }
}

static void declare_leases(struct walk *w, const struct lapse_node *line) {
    static const char *const verbs[] = {"acquire", "extend", "release", "inspect"};
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        const struct lapse_node *name = lapse_node_get(line, verbs[i]);
        if (name == NULL || name->kind != LAPSE_NODE_SCALAR) {
            continue;
        }
        w->d->leases_open = w->d->leases_open || strchr(name->text, '$') != NULL;
        (void)lapse_decoder_name(w->d, LAPSE_SPACE_LEASE, name->text, 0);
    }
}

/* A session is opened by its own verb; a write or an acquire then ends with it. */
static void declare_session(struct walk *w, const struct lapse_node *line) {
    const struct lapse_node *name = lapse_node_get(line, "session");
    if (name == NULL || name->kind != LAPSE_NODE_SCALAR ||
        lapse_decode_main_row(line, "session") == NULL) {
        return;
    }
    w->d->sessions_open = w->d->sessions_open || strchr(name->text, '$') != NULL;
    (void)lapse_decoder_name(w->d, LAPSE_SPACE_SESSION, name->text, 0);
}

/* A bucket that is given markers by a call has ends that become events. */
static void declare_altered(struct walk *w, const struct lapse_node *line) {
    const struct lapse_node *name = lapse_node_get(line, "alter");
    if (name == NULL || name->kind != LAPSE_NODE_SCALAR || lapse_node_index(line, "markers") < 0) {
        return;
    }
    int32_t bucket = lapse_decoder_find(w->d, LAPSE_SPACE_BUCKET, name->text, name->len);
    if (bucket >= 0) {
        struct lapse_bucket_decl *decl = lapse_list_at(&w->d->bucket_decls, (size_t)bucket);
        decl->markers_open = true;
    }
}
