/* Keys: the verbs that read. What has ended is absent to all of them. */
#include "model_parts.h"

#include <stdlib.h>

static void learn(struct lapse_model *model, struct lapse_model_key *key,
                  const struct lapse_answer *told);
static void read_revision(struct lapse_model *model, const struct lapse_command *command,
                          const struct lapse_model_key *key, struct lapse_model_answer *ret);
static void use(struct lapse_model *model, struct lapse_model_key *key,
                struct lapse_model_answer *ret);
static bool renewed_end(const struct lapse_model *model, const struct lapse_model_record *record,
                        struct lapse_steady *ret);
static bool passes(const struct lapse_command *command, const struct lapse_model_key *key);
static bool is_kept(const struct lapse_model *model, const struct lapse_model_record *record);
static void add_item(struct lapse_model *model, const struct lapse_model_key *key,
                     const struct lapse_model_record *record, bool valued);
static int by_key(const void *a, const void *b);
static void cut(struct lapse_model *model, size_t limit, struct lapse_model_answer *ret);

void lapse_model_read(struct lapse_model *model, const struct lapse_command *command,
                      const struct lapse_answer *told, struct lapse_model_answer *ret) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, command->key, false);
    enum lapse_model_state state =
        key == NULL ? LAPSE_MODEL_ABSENT : lapse_model_key_state(model, key);
    ret->open = state == LAPSE_MODEL_UNSURE || bucket == NULL ||
                lapse_model_unsure(model, &bucket->name);
    if (ret->open && key != NULL && !command->u.read.has_revision) {
        learn(model, key, told);
    }
    if (ret->open) {
        return;
    }
    if (state == LAPSE_MODEL_ABSENT) {
        ret->answer.status = LAPSE_ABSENT;
        return;
    }
    ret->by = key->newest->by;
    if (command->u.read.has_revision) {
        ret->open = key->older_open;
        read_revision(model, command, key, ret);
        return;
    }
    if (!command->u.read.peek) {
        use(model, key, ret);
    }
    ret->answer.revision = key->newest->revision;
    if (command->verb != LAPSE_VERB_HAS) {
        ret->answer.value = key->newest->value;
        lapse_model_show_end(model, &key->newest->term, &ret->answer);
    }
}

void lapse_model_list(struct lapse_model *model, const struct lapse_command *command,
                      struct lapse_model_answer *ret) {
    bool watch = command->verb == LAPSE_VERB_WATCH;
    bool counts = command->verb == LAPSE_VERB_COUNT;
    size_t limit = watch || counts ? 0 : command->u.page.limit;
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    model->item_count = 0;
    if (bucket == NULL || (watch && command->u.watch.from != LAPSE_WATCH_LIVE)) {
        return;
    }
    ret->open = lapse_model_unsure(model, &bucket->name);
    struct lapse_model_key **link = bucket->keys;
    while (*link != NULL) {
        struct lapse_model_key *key = *link;
        enum lapse_model_state state = lapse_model_key_state(model, key);
        if (state == LAPSE_MODEL_ABSENT && !lapse_model_owes(model, key)) {
            *link = key->next; /* until it is written again */
            key->listed = false;
            bool value = key->newest != NULL && key->newest->kind == LAPSE_RECORD_VALUE;
            key->newest = value ? NULL : key->newest;
            continue;
        }
        link = &key->next;
        if (state == LAPSE_MODEL_UNSURE && passes(command, key)) {
            ret->partial = true;
        } else if (state == LAPSE_MODEL_LIVE && passes(command, key)) {
            add_item(model, key, key->newest, watch || command->verb == LAPSE_VERB_ALL);
        }
    }
    ret->open = ret->open || (ret->partial && (counts || limit > 0));
    if (model->item_count > 1) {
        qsort(model->items, model->item_count, sizeof(*model->items), by_key);
    }
    cut(model, limit, ret);
    if (counts) {
        ret->answer.items = NULL;
    }
}

void lapse_model_history(struct lapse_model *model, const struct lapse_command *command,
                         struct lapse_model_answer *ret) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, command->key, false);
    enum lapse_model_state state =
        key == NULL ? LAPSE_MODEL_ABSENT : lapse_model_key_state(model, key);
    model->item_count = 0;
    ret->open = state == LAPSE_MODEL_UNSURE || bucket == NULL ||
                lapse_model_unsure(model, &bucket->name) ||
                (state == LAPSE_MODEL_LIVE && key->older_open);
    if (state == LAPSE_MODEL_ABSENT) {
        ret->answer.status = LAPSE_ABSENT;
        return;
    }
    const struct lapse_model_record *record = key->newest;
    for (; record != NULL; record = record->older) {
        if (is_kept(model, record)) {
            add_item(model, key, record, true);
        }
    }
    /* They were taken newest first, and are told oldest first. */
    for (size_t i = 0; i < model->item_count / 2; i++) {
        struct lapse_item swap = model->items[i];
        model->items[i] = model->items[model->item_count - 1 - i];
        model->items[model->item_count - 1 - i] = swap;
    }
    ret->by = key->newest == NULL ? -1 : key->newest->by;
    cut(model, command->u.page.limit, ret);
}

/* What an answer tells of a key that a crash has left open: that it is gone; or that it stands
 * there with the end that it shows, if what it is was known and only how often it was renewed was
 * not. */
static void learn(struct lapse_model *model, struct lapse_model_key *key,
                  const struct lapse_answer *told) {
    if (told->status == LAPSE_ABSENT) {
        bool marks = key->name.in->config.markers.ns > 0;
        key->newest = marks ? key->newest : NULL;
        key->name.unsure = marks || lapse_model_unsure(model, &key->name.in->name);
        return;
    }
    const struct lapse_model_record *record = key->newest;
    bool known = !lapse_model_unsure(model, &key->name) && record != NULL;
    struct lapse_steady end = {told->end.ns};
    if (!known || told->status != LAPSE_OK || told->revision != record->revision ||
        record->term.why != LAPSE_WHY_IDLE ||
        !(told->end.kind == LAPSE_END_STEADY ||
          (told->renewed && renewed_end(model, record, &end)))) {
        return;
    }
    struct lapse_model_record *made = lapse_model_take(model, sizeof(*made));
    if (made == NULL) {
        return;
    }
    *made = *record;
    made->term.end.ns = end.ns;
    made->term.renewed = told->renewed ? model->tenure : 0;
    made->term.last = model->store;
    if (!told->renewed && !lapse_ns_sub(told->end.ns, record->term.span.ns, &made->term.last.ns)) {
        made->term.last.ns = 0;
    }
    key->newest = made;
}

/* A value that is kept can be read as long as its key lives. */
static void read_revision(struct lapse_model *model, const struct lapse_command *command,
                          const struct lapse_model_key *key, struct lapse_model_answer *ret) {
    const struct lapse_model_record *record = key->newest;
    while (record != NULL && record->revision != command->u.read.revision) {
        record = record->older;
    }
    if (record == NULL || record->kind != LAPSE_RECORD_VALUE) {
        ret->answer.status = LAPSE_ABSENT;
        return;
    }
    ret->by = record->by;
    ret->answer.revision = record->revision;
    if (command->verb != LAPSE_VERB_HAS) {
        ret->answer.value = record->value;
        lapse_model_show_end(model, &key->newest->term, &ret->answer);
    }
}

/* A use renews once a thirtieth of the span has passed since the last, if that moves the end. */
static void use(struct lapse_model *model, struct lapse_model_key *key,
                struct lapse_model_answer *ret) {
    const struct lapse_model_term *term = &key->newest->term;
    struct lapse_steady end = {0};
    if (term->why != LAPSE_WHY_IDLE ||
        model->store.ns - term->last.ns < term->span.ns / 30 ||
        !renewed_end(model, key->newest, &end)) {
        return;
    }
    struct lapse_model_record *renewed =
        end.ns > term->end.ns ? lapse_model_take(model, sizeof(*renewed)) : NULL;
    if (renewed == NULL) {
        return;
    }
    *renewed = *key->newest;
    renewed->term.end.ns = end.ns;
    renewed->term.last = model->store;
    renewed->term.renewed = model->tenure;
    lapse_model_touch(model, key, sizeof(*key));
    key->newest = renewed;
    ret->answer.renewed = true;
}

/* Where a use now moves the end: one span on, but never past the cap. */
static bool renewed_end(const struct lapse_model *model, const struct lapse_model_record *record,
                        struct lapse_steady *ret) {
    struct lapse_steady cap = record->term.cap;
    bool fits = lapse_steady_add(model->store, record->term.span, ret);
    if (cap.ns > 0 && (!fits || ret->ns > cap.ns)) {
        *ret = cap;
        return true;
    }
    return fits;
}

/* Whether a listing is about this key. */
static bool passes(const struct lapse_command *command, const struct lapse_model_key *key) {
    if (command->verb == LAPSE_VERB_WATCH) {
        return command->key.len == 0 || lapse_bytes_equal(command->key, key->name.name);
    }
    return !command->u.page.has_after ||
           lapse_bytes_compare(key->name.name, command->u.page.after) > 0;
}

/* Of a live key each value is kept, and a trace until its own end. */
static bool is_kept(const struct lapse_model *model, const struct lapse_model_record *record) {
    return record->kind == LAPSE_RECORD_VALUE ||
           lapse_model_term_state(model, &record->term) == LAPSE_MODEL_LIVE;
}

static void add_item(struct lapse_model *model, const struct lapse_model_key *key,
                     const struct lapse_model_record *record, bool valued) {
    void *items = model->items;
    if (!lapse_model_grow(model, &items, &model->item_cap, model->item_count + 1,
                          sizeof(*model->items))) {
        return;
    }
    model->items = items;
    model->items[model->item_count++] =
        (struct lapse_item){.key = key->name.name,
                            .value = valued ? record->value : (struct lapse_bytes){0},
                            .revision = record->revision,
                            .kind = record->kind};
}

static int by_key(const void *a, const void *b) {
    const struct lapse_item *x = a;
    const struct lapse_item *y = b;
    return lapse_bytes_compare(x->key, y->key);
}

/* The first `limit` of the items; 0: all. */
static void cut(struct lapse_model *model, size_t limit, struct lapse_model_answer *ret) {
    bool more = limit > 0 && model->item_count > limit;
    ret->answer.more = more;
    ret->answer.item_count = more ? limit : model->item_count;
    ret->answer.items = ret->answer.item_count > 0 ? model->items : NULL;
}
