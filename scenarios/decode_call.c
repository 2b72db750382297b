/* What a client does: the object of each verb and its arguments. */
#include <string.h>

#include "decode.h"

/* How a verb's object is read. */
enum object { OBJECT_KEY = 1, OBJECT_BUCKET, OBJECT_LEASE, OBJECT_SESSION, OBJECT_RESOURCE };
struct verb_row {
    const char *word;
    int verb;
    enum object object;
};

static const struct verb_row verb_rows[] = {
    {"set", LAPSE_VERB_SET, OBJECT_KEY},
    {"create", LAPSE_VERB_CREATE, OBJECT_KEY},
    {"update", LAPSE_VERB_UPDATE, OBJECT_KEY},
    {"get", LAPSE_VERB_GET, OBJECT_KEY},
    {"entry", LAPSE_VERB_ENTRY, OBJECT_KEY},
    {"has", LAPSE_VERB_HAS, OBJECT_KEY},
    {"delete", LAPSE_VERB_DELETE, OBJECT_KEY},
    {"purge", LAPSE_VERB_PURGE, OBJECT_KEY},
    {"expire", LAPSE_VERB_EXPIRE, OBJECT_KEY},
    {"persist", LAPSE_VERB_PERSIST, OBJECT_KEY},
    {"list", LAPSE_VERB_LIST, OBJECT_BUCKET},
    {"all", LAPSE_VERB_ALL, OBJECT_BUCKET},
    {"count", LAPSE_VERB_COUNT, OBJECT_BUCKET},
    {"history", LAPSE_VERB_HISTORY, OBJECT_KEY},
    {"batch", LAPSE_VERB_BATCH, 0},
    {"acquire", LAPSE_VERB_ACQUIRE, OBJECT_LEASE},
    {"extend", LAPSE_VERB_EXTEND, OBJECT_LEASE},
    {"release", LAPSE_VERB_RELEASE, OBJECT_LEASE},
    {"inspect", LAPSE_VERB_INSPECT, OBJECT_LEASE},
    {"session", LAPSE_VERB_SESSION, OBJECT_SESSION},
    {"keepalive", LAPSE_VERB_KEEPALIVE, OBJECT_SESSION},
    {"close", LAPSE_VERB_CLOSE, OBJECT_SESSION},
    {"watch", LAPSE_VERB_WATCH, 0},
    {"unwatch", LAPSE_VERB_UNWATCH, 0},
    {"open", LAPSE_VERB_OPEN, 0},
    {"alter", LAPSE_VERB_ALTER, 0},
    {"write", LAPSE_CALL_WRITE, OBJECT_RESOURCE},
    {"read", LAPSE_CALL_READ, OBJECT_RESOURCE},
    {"work", LAPSE_CALL_WORK, 0},
};

static const struct verb_row *find_row(const char *word);
static void read_object(struct lapse_decoder *d, const struct verb_row *row,
                        const struct lapse_node *node, struct lapse_plan_call *call);
static void read_key(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_plan_call *call);
static void read_arguments(struct lapse_decoder *d, const struct lapse_node *map,
                           struct lapse_plan_call *call);
static void read_texts(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_call *call);
static void read_choices(struct lapse_decoder *d, const struct lapse_node *map,
                         struct lapse_plan_call *call);
static void read_page(struct lapse_decoder *d, const struct lapse_node *map,
                      struct lapse_plan_call *call);
static const char *missing_word(const struct lapse_node *map, int verb, const char **ret_help);
static void check_not_after(struct lapse_decoder *d, const struct lapse_node *node,
                            const struct lapse_plan_call *call);
static void check_needed(struct lapse_decoder *d, const struct lapse_node *map,
                         const struct lapse_node *key, struct lapse_plan_call *call);
static void read_watch(struct lapse_decoder *d, const struct lapse_node *map, int32_t actor,
                       struct lapse_plan_call *call);
static void read_unwatch(struct lapse_decoder *d, const struct lapse_node *map,
                         struct lapse_plan_call *call);
static void read_from(struct lapse_decoder *d, const struct lapse_node *from,
                      struct lapse_plan_call *call);
static void read_open(struct lapse_decoder *d, const struct lapse_node *name,
                      const struct lapse_node *map, struct lapse_plan_call *call);
static void read_work(struct lapse_decoder *d, const struct lapse_node *map,
                      struct lapse_plan_step *step);
static void read_await(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_plan_step *step);

int lapse_decode_verb(const char *word) {
    const struct verb_row *row = find_row(word);
    return row == NULL ? 0 : row->verb;
}

const char *lapse_decode_verb_word(int verb) {
    for (size_t i = 0; i < sizeof(verb_rows) / sizeof(verb_rows[0]); i++) {
        if (verb_rows[i].verb == verb) {
            return verb_rows[i].word;
        }
    }
    return NULL;
}

void lapse_decode_call(struct lapse_decoder *d, const struct lapse_word *row,
                       const struct lapse_node *map, struct lapse_plan_step *step) {
    if (strcmp(row->word, "work") == 0) {
        read_work(d, map, step);
        return;
    }
    if (strcmp(row->word, "unchanged") == 0) {
        lapse_decode_unchanged(d, map, step);
        return;
    }
    if (strcmp(row->word, "await") == 0) {
        read_await(d, lapse_node_get(map, "await"), step);
        return;
    }
    const struct verb_row *verb = find_row(row->word);
    LAPSE_ASSERT(verb != NULL);
    step->kind = LAPSE_STEP_CALL;
    struct lapse_plan_call *call = &step->u.call;
    const struct lapse_node *object = lapse_node_get(map, row->word);
    call->verb = verb->verb;
    call->bucket = call->resource = call->watch = -1;
    if (verb->verb == LAPSE_VERB_OPEN || verb->verb == LAPSE_VERB_ALTER) {
        read_open(d, object, map, call);
    } else if (verb->verb == LAPSE_VERB_BATCH) {
        lapse_decode_batch(d, object, call);
        read_texts(d, map, call);
    } else if (verb->verb == LAPSE_VERB_WATCH) {
        read_watch(d, map, step->actor, call);
    } else if (verb->verb == LAPSE_VERB_UNWATCH) {
        read_unwatch(d, map, call);
    } else {
        lapse_decode_request(d, row, map, call);
    }
}

void lapse_decode_request(struct lapse_decoder *d, const struct lapse_word *row,
                          const struct lapse_node *map, struct lapse_plan_call *call) {
    const struct verb_row *verb = find_row(row->word);
    LAPSE_ASSERT(verb != NULL);
    call->verb = verb->verb;
    call->bucket = call->resource = call->watch = -1;
    read_object(d, verb, lapse_node_get(map, row->word), call);
    read_arguments(d, map, call);
    read_texts(d, map, call);
    read_choices(d, map, call);
    read_page(d, map, call);
    lapse_decode_wait(d, map, call);
    check_needed(d, map, map->keys[lapse_node_index(map, row->word)], call);
}

static const struct verb_row *find_row(const char *word) {
    for (size_t i = 0; i < sizeof(verb_rows) / sizeof(verb_rows[0]); i++) {
        if (strcmp(verb_rows[i].word, word) == 0) {
            return &verb_rows[i];
        }
    }
    return NULL;
}

static void read_object(struct lapse_decoder *d, const struct verb_row *row,
                        const struct lapse_node *node, struct lapse_plan_call *call) {
    switch (row->object) {
    case OBJECT_KEY:
        read_key(d, node, call);
        break;
    case OBJECT_BUCKET:
        call->bucket = lapse_resolve_name(d, node, LAPSE_SPACE_BUCKET);
        break;
    case OBJECT_LEASE:
        if (lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a lease name")) {
            (void)lapse_text_decode(d, node, 0, &call->key);
        }
        break;
    case OBJECT_SESSION:
        if (lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a session's name")) {
            (void)lapse_text_decode(d, node, 0, &call->key);
            lapse_resolve_session(d, node);
        }
        break;
    case OBJECT_RESOURCE:
        call->resource = lapse_resolve_name(d, node, LAPSE_SPACE_RESOURCE);
        break;
    }
}

static void read_key(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_plan_call *call) {
    size_t offset = 0;
    if (!lapse_resolve_key(d, node, &call->bucket, &offset) ||
        !lapse_text_decode(d, node, offset, &call->key)) {
        return;
    }
    const struct lapse_setup_bucket *bucket = lapse_list_at(&d->buckets, (size_t)call->bucket);
    call->key_lock = bucket->locks;
}

static void read_arguments(struct lapse_decoder *d, const struct lapse_node *map,
                           struct lapse_plan_call *call) {
    struct {
        const char *word;
        enum lapse_operand_kind kind;
        struct lapse_operand *operand;
    } rows[] = {
        {"ttl", LAPSE_OPERAND_SPAN, &call->ttl},
        {"idle", LAPSE_OPERAND_SPAN, &call->idle},
        {"expires_at", LAPSE_OPERAND_DATE, &call->expires_at},
        {"cap", LAPSE_OPERAND_SPAN, &call->cap},
        {"for", LAPSE_OPERAND_SPAN, &call->span},
        {"if_version", LAPSE_OPERAND_NUMBER, &call->if_version},
        {"token", LAPSE_OPERAND_NUMBER, &call->token},
        {"rev", LAPSE_OPERAND_NUMBER, &call->rev},
        {"not_after", LAPSE_OPERAND_DATE, &call->not_after},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct lapse_node *node = lapse_node_get(map, rows[i].word);
        if (node != NULL) {
            (void)lapse_text_argument(d, node, rows[i].kind, rows[i].operand);
        }
    }
    check_not_after(d, lapse_node_get(map, "not_after"), call);
}

/* A resource that looks at no clock would take the write at any time. */
static void check_not_after(struct lapse_decoder *d, const struct lapse_node *node,
                            const struct lapse_plan_call *call) {
    if (node == NULL || call->resource < 0) {
        return;
    }
    const struct lapse_setup_resource *its = lapse_list_at(&d->resources, (size_t)call->resource);
    if (!its->not_after) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y120", node->place, "",
                              "`not_after` does nothing here: `%.60s` does not look at it",
                              (const char *)its->name.data);
        lapse_diag_note(d->diags, diag, "help",
                        "write `%.60s: {not_after: true}` in `resources`, or leave it out",
                        (const char *)its->name.data);
    }
}

/* `session` and `history` are the verbs of other lines. */
static void read_texts(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_call *call) {
    const struct lapse_node *value = lapse_node_get(map, "value");
    const struct lapse_node *id = lapse_node_get(map, "id");
    const struct lapse_node *session = lapse_node_get(map, "session");
    if (value != NULL && lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "a text")) {
        call->has_value = lapse_text_decode(d, value, 0, &call->value);
    }
    if (id != NULL && lapse_shape_is(d, id, LAPSE_NODE_SCALAR, "a request id (a text)")) {
        (void)lapse_text_decode(d, id, 0, &call->request);
        if (id->len == 0) {
            lapse_mistake_add(d->diags, "Y103", id->place, "", "a request id is not empty");
        }
    }
    if (session != NULL && call->verb != LAPSE_VERB_SESSION &&
        lapse_shape_is(d, session, LAPSE_NODE_SCALAR, "a session's name")) {
        (void)lapse_text_decode(d, session, 0, &call->session);
        lapse_resolve_session(d, session);
    }
}

static void read_choices(struct lapse_decoder *d, const struct lapse_node *map,
                         struct lapse_plan_call *call) {
    const struct lapse_node *term = lapse_node_get(map, "term");
    const struct lapse_node *peek = lapse_node_get(map, "peek");
    const struct lapse_node *durability = lapse_node_get(map, "durability");
    int64_t cap = lapse_node_index(map, "cap");
    if (peek != NULL) {
        (void)lapse_shape_flag(d, peek, &call->peek);
    }
    if (term != NULL && !(call->keep = lapse_node_is(term, "keep"))) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y127", term->place, "", "`term` takes `keep` alone");
        lapse_diag_note(d->diags, diag, "help",
                        "any other term has a word of its own: ttl, idle, expires_at, session");
    }
    if (durability != NULL && lapse_node_is(durability, "ephemeral")) {
        call->durability = LAPSE_EPHEMERAL;
    } else if (durability != NULL && !lapse_node_is(durability, "persistent")) {
        lapse_mistake_add(d->diags, "Y127", durability->place, "",
                          "a lease is `persistent` (unless given) or `ephemeral`");
    }
    if (cap >= 0 && lapse_node_index(map, "idle") < 0) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y120", map->keys[cap]->place, "",
                                                    "`cap` does nothing without `idle`");
        lapse_diag_note(d->diags, diag, "help",
                        "it bounds how far uses move an end: add `idle`, or take `cap` out");
    }
}

/* Where a listing goes on, and how far. */
static void read_page(struct lapse_decoder *d, const struct lapse_node *map,
                      struct lapse_plan_call *call) {
    const struct lapse_node *after = lapse_node_get(map, "after");
    const struct lapse_node *limit = lapse_node_get(map, "limit");
    int64_t count = 0;
    if (limit != NULL && lapse_number_count(d, limit, 1, INT32_MAX, &count)) {
        call->limit = (size_t)count;
    }
    int32_t bucket = -1;
    size_t offset = 0;
    if (after == NULL || lapse_decode_after(map) != NULL ||
        !lapse_resolve_key(d, after, &bucket, &offset)) {
        return;
    }
    call->has_after = lapse_text_decode(d, after, offset, &call->after);
    if (call->bucket >= 0 && bucket != call->bucket) {
        const struct lapse_setup_bucket *listed = lapse_list_at(&d->buckets, (size_t)call->bucket);
        lapse_mistake_add(d->diags, "Y134", lapse_shape_part(after, 0, offset - 1), "",
                          "a list of `%.60s` goes on after one of its own keys",
                          (const char *)listed->name.data);
    }
}

/* What the verb cannot be sent without. Two terms in one call are sent: the store refuses them. */
static void check_needed(struct lapse_decoder *d, const struct lapse_node *map,
                         const struct lapse_node *key, struct lapse_plan_call *call) {
    const char *help = "";
    const char *missing = missing_word(map, call->verb, &help);
    if (missing != NULL) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y125", key->place, "",
                                                    "`%s` needs `%s`", key->text, missing);
        lapse_diag_note(d->diags, diag, "help", "%s", help);
    }
}

static const char *missing_word(const struct lapse_node *map, int verb, const char **ret_help) {
    bool spanned = lapse_node_get(map, "for") != NULL;
    if (verb == LAPSE_VERB_ACQUIRE && !spanned && lapse_node_get(map, "session") == NULL) {
        *ret_help = "write `for: 30s`, the span of the lease, or the `session` that it ends with";
        return "for";
    }
    if (verb == LAPSE_VERB_EXTEND && !spanned) {
        *ret_help = "write `for: 30s`, the span of the lease";
        return "for";
    }
    if (verb == LAPSE_VERB_SESSION && !spanned) {
        *ret_help = "write `for: 30s`, how long the session lives without a keepalive";
        return "for";
    }
    if (verb == LAPSE_VERB_UPDATE && lapse_node_get(map, "if_version") == NULL) {
        *ret_help = "write `if_version: $v1`; without a revision it is a `set`";
        return "if_version";
    }
    static const char *const terms[] = {"ttl", "idle", "expires_at", "session"};
    bool term = verb != LAPSE_VERB_EXPIRE;
    for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
        term = term || lapse_node_get(map, terms[i]) != NULL;
    }
    *ret_help = "write `ttl`, `idle` or `expires_at`; `persist` takes the term away";
    return term ? NULL : "ttl";
}

static void read_watch(struct lapse_decoder *d, const struct lapse_node *map, int32_t actor,
                       struct lapse_plan_call *call) {
    const struct lapse_node *object = lapse_node_get(map, "watch");
    const struct lapse_node *from = lapse_node_get(map, "from");
    const struct lapse_node *as = lapse_node_get(map, "as");
    if (!lapse_shape_is(d, object, LAPSE_NODE_SCALAR, "a bucket or a key")) {
        return;
    }
    if (strchr(object->text, '/') != NULL) {
        read_key(d, object, call);
    } else {
        call->bucket = lapse_resolve_name(d, object, LAPSE_SPACE_BUCKET);
    }
    if (as == NULL || lapse_shape_name(d, as, "a watch's name")) {
        const struct lapse_node *name = as == NULL ? object : as;
        call->watch = lapse_decoder_find(d, LAPSE_SPACE_WATCH, name->text, name->len);
    }
    if (as == NULL && call->watch >= 0) {
        const struct lapse_watch_decl *decl = lapse_list_at(&d->watches, (size_t)call->watch);
        call->watch = decl->actor >= 0 && decl->actor != actor ? -1 : call->watch;
    }
    if (from != NULL && !lapse_node_is(from, "now")) {
        read_from(d, from, call);
    }
}

/* The live keys, or a revision: a number, or a saved one. */
static void read_from(struct lapse_decoder *d, const struct lapse_node *from,
                      struct lapse_plan_call *call) {
    bool number = from->kind == LAPSE_NODE_SCALAR && from->len > 0 &&
                  strchr("$-0123456789", (int)from->text[0]) != NULL;
    call->from = LAPSE_WATCH_LIVE;
    if (number) {
        call->from = LAPSE_WATCH_REVISION;
        (void)lapse_text_argument(d, from, LAPSE_OPERAND_NUMBER, &call->rev);
    } else if (!lapse_node_is(from, "live")) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y127", from->place, "",
                              "a watch is from `now`, from `live` or from a revision");
        lapse_diag_note(d->diags, diag, "help",
                        "a revision is a number, or $NAME, saved by a write or by `entry`");
    }
}

static void read_unwatch(struct lapse_decoder *d, const struct lapse_node *map,
                         struct lapse_plan_call *call) {
    const struct lapse_node *as = lapse_node_get(map, "as");
    const struct lapse_node *name = as == NULL ? lapse_node_get(map, "unwatch") : as;
    call->watch = lapse_resolve_name(d, name, LAPSE_SPACE_WATCH);
    if (call->watch >= 0) {
        const struct lapse_watch_decl *decl = lapse_list_at(&d->watches, (size_t)call->watch);
        call->bucket = decl->bucket;
    }
}

/* The name may be of no declared bucket, and the words may be what the store refuses. What is
 * altered has been declared, or opened. */
static void read_open(struct lapse_decoder *d, const struct lapse_node *name,
                      const struct lapse_node *map, struct lapse_plan_call *call) {
    if (!lapse_shape_name(d, name, "a bucket's name")) {
        return;
    }
    call->bucket = lapse_decoder_find(d, LAPSE_SPACE_BUCKET, name->text, name->len);
    if (call->verb == LAPSE_VERB_ALTER && call->bucket < 0 &&
        lapse_decoder_find(d, LAPSE_SPACE_OPENED, name->text, name->len) < 0) {
        lapse_resolve_unknown(d, name->place, LAPSE_SPACE_BUCKET, name->text);
    }
    (void)lapse_text_decode(d, name, 0, &call->bucket_name);
    bool locks = false;
    (void)lapse_resolve_terms(d, map, true, &call->config, &locks);
}

static void read_work(struct lapse_decoder *d, const struct lapse_node *map,
                      struct lapse_plan_step *step) {
    const struct lapse_node *span = lapse_node_get(map, "work");
    step->kind = LAPSE_STEP_WORK;
    if (lapse_text_argument(d, span, LAPSE_OPERAND_SPAN, &step->u.work) &&
        step->u.work.kind == LAPSE_OPERAND_SPAN && step->u.work.number < 0) {
        lapse_mistake_add(d->diags, "Y109", span->place, "", "this duration is below 0");
    }
}

static void read_await(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_plan_step *step) {
    step->kind = LAPSE_STEP_AWAIT;
    struct lapse_plan_await *await = &step->u.await;
    await->bucket = -1;
    if (node->kind != LAPSE_NODE_MAP) {
        await->kind = LAPSE_AWAIT_SAVE;
        (void)lapse_text_slot(d, node, &await->slot);
        return;
    }
    await->kind = LAPSE_AWAIT_EVENT;
    const struct lapse_node *word = node->count == 0 ? node : node->keys[0];
    await->event = lapse_decode_event_kind(word->text, word->len);
    if (node->count != 1 || await->event == 0 || await->event == LAPSE_EVENT_GAP) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", word->place, "",
                                                    "this is not an event to wait for");
        lapse_diag_note(d->diags, diag, "help",
                        "write {put: bucket/key}, {delete: ..}, {purge: ..} or {expired: ..}");
        return;
    }
    const struct lapse_node *key = node->items[0];
    size_t offset = 0;
    if (!lapse_shape_is(d, key, LAPSE_NODE_SCALAR, "a key")) {
        return;
    }
    /* With one bucket its name may be left out. */
    if (d->buckets.count == 1 && lapse_resolve_prefix(d, key) < 0) {
        await->bucket = 0;
        (void)lapse_text_decode(d, key, 0, &await->key);
    } else if (lapse_resolve_key(d, key, &await->bucket, &offset)) {
        (void)lapse_text_decode(d, key, offset, &await->key);
    }
    if (await->event == LAPSE_EVENT_EXPIRED) {
        lapse_resolve_markers(d, await->bucket, key->place);
    }
}
