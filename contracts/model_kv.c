/* Keys: the verbs that write. The newest record is what stands under a key; a refused call changes
 * nothing and takes no number. */
#include "model_parts.h"

static bool numbers(struct lapse_model *model, struct lapse_model_bucket *bucket,
                    struct lapse_model_key *key, int64_t told, int64_t *ret_expired, int64_t *ret);
static bool maybe_told(const struct lapse_model *model, const struct lapse_model_key *key);
static bool tell_end(struct lapse_model *model, struct lapse_model_bucket *bucket,
                     struct lapse_model_key *key, int64_t revision);
static bool put(struct lapse_model *model, struct lapse_model_bucket *bucket,
                struct lapse_model_key *key, const struct lapse_model_record *record);
static const struct lapse_model_record *below(struct lapse_model *model,
                                              const struct lapse_model_bucket *bucket,
                                              const struct lapse_model_key *key,
                                              enum lapse_record_kind kind);
static bool stands(const struct lapse_model *model, const struct lapse_model_key *key);
static const struct lapse_model_record *trimmed(struct lapse_model *model,
                                                const struct lapse_model_record *newest,
                                                size_t room);
static void end_at_once(struct lapse_model *model, struct lapse_model_bucket *bucket,
                        struct lapse_model_key *key);
static bool refused(const struct lapse_command *command, const struct lapse_model_key *key,
                    enum lapse_model_state state, struct lapse_model_answer *ret);
static void touch_key(struct lapse_model *model, struct lapse_model_bucket *bucket,
                      struct lapse_model_key *key);
static void tell_all_ends(struct lapse_model *model, struct lapse_model_bucket *bucket);
static bool same_words(const struct lapse_bucket_config *a, const struct lapse_bucket_config *b);

enum lapse_model_state lapse_model_key_state(const struct lapse_model *model,
                                             const struct lapse_model_key *key) {
    if (lapse_model_unsure(model, &key->name) || lapse_model_unsure(model, &key->name.in->name)) {
        return LAPSE_MODEL_UNSURE;
    }
    if (key->newest == NULL || key->newest->kind != LAPSE_RECORD_VALUE || key->marked) {
        return LAPSE_MODEL_ABSENT;
    }
    return lapse_model_term_state(model, &key->newest->term);
}

bool lapse_model_owes(const struct lapse_model *model, const struct lapse_model_key *key) {
    const struct lapse_model_bucket *bucket = key->name.in;
    bool tells = bucket->config.markers.ns > 0 && bucket->revision < INT64_MAX;
    return tells && key->newest != NULL && !key->marked &&
           key->newest->kind == LAPSE_RECORD_VALUE &&
           lapse_model_term_state(model, &key->newest->term) == LAPSE_MODEL_ABSENT;
}

void lapse_model_link(struct lapse_model *model, struct lapse_model_key *key) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, key->name.in->name.name, false);
    if (!key->listed && bucket != NULL) {
        key->listed = true;
        key->next = *bucket->keys;
        *bucket->keys = key;
    }
}

void lapse_model_write(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_answer *told, struct lapse_model_answer *ret) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, command->key, true);
    struct lapse_model_record record = {.kind = LAPSE_RECORD_VALUE,
                                        .value = command->u.write.value,
                                        .by = model->by};
    if (key == NULL) {
        return;
    }
    enum lapse_model_state state = lapse_model_key_state(model, key);
    const struct lapse_term *own = lapse_model_own_term(model, bucket, command);
    LAPSE_ASSERT(own != NULL);
    ret->answer.status =
        lapse_model_term_of(model, own, lapse_model_usual_term(model, bucket), &record.term);
    lapse_model_bound_term(model, bucket, &record.term);
    bool joins = record.term.session != NULL && record.term.session->unsure;
    ret->open = state == LAPSE_MODEL_UNSURE || joins;
    if (ret->answer.status != LAPSE_OK || (ret->open && told->status != LAPSE_OK)) {
        return;
    }
    if (!ret->open && command->verb == LAPSE_VERB_CREATE && state == LAPSE_MODEL_LIVE) {
        ret->answer.status = LAPSE_EXISTS;
        ret->by = key->newest->by;
        return;
    }
    if (!ret->open && refused(command, key, state, ret)) {
        return;
    }
    bool keeps = lapse_model_keeps_end(model, bucket, own);
    if (keeps && state == LAPSE_MODEL_LIVE) {
        record.term = key->newest->term;
    }
    touch_key(model, bucket, key);
    int64_t expired = 0;
    if (!numbers(model, bucket, key, told->revision, &expired, &record.revision)) {
        ret->answer.status = LAPSE_RANGE;
        return;
    }
    (void)tell_end(model, bucket, key, expired);
    if (!put(model, bucket, key, &record)) {
        return;
    }
    /* The term of a bucket whose words a crash may have taken back is known once they are. */
    bool usual = own->given == 0 && lapse_model_unsure(model, &bucket->name);
    key->name.unsure = usual || (keeps && state == LAPSE_MODEL_UNSURE);
    ret->answer.revision = record.revision;
    lapse_model_show_end(model, &record.term, &ret->answer);
    end_at_once(model, bucket, key);
}

void lapse_model_remove(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_answer *told, struct lapse_model_answer *ret) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, command->key, true);
    if (key == NULL) {
        return;
    }
    enum lapse_model_state state = lapse_model_key_state(model, key);
    ret->open = state == LAPSE_MODEL_UNSURE;
    if (ret->open && told->status != LAPSE_OK) {
        return;
    }
    if (!ret->open && refused(command, key, state, ret)) {
        return;
    }
    if (state == LAPSE_MODEL_ABSENT) {
        ret->answer.status = LAPSE_ABSENT;
        return;
    }
    bool purges = command->verb == LAPSE_VERB_PURGE;
    int64_t markers = bucket->config.markers.ns;
    struct lapse_model_record trace = {.kind = purges ? LAPSE_RECORD_PURGE : LAPSE_RECORD_TOMBSTONE,
                                       .term.end.kind = LAPSE_END_STEADY,
                                       .old_revision = key->newest == NULL ? 0
                                                                           : key->newest->revision,
                                       .by = model->by};
    if (!lapse_ns_add(model->store.ns, markers, &trace.term.end.ns)) {
        trace.term.end.ns = INT64_MAX;
    }
    touch_key(model, bucket, key);
    int64_t expired = 0;
    if (!numbers(model, bucket, key, told->revision, &expired, &trace.revision)) {
        ret->answer.status = LAPSE_RANGE;
        return;
    }
    if (!put(model, bucket, key, &trace)) {
        return;
    }
    if (markers == 0) {
        key->newest = NULL;
    }
    key->name.unsure = false;
    ret->answer.revision = trace.revision;
}

void lapse_model_retime(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_answer *told, struct lapse_model_answer *ret) {
    static const struct lapse_term none = {0};
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, command->key, true);
    struct lapse_model_term term;
    if (key == NULL) {
        return;
    }
    const struct lapse_term *own = lapse_model_own_term(model, bucket, command);
    LAPSE_ASSERT(own != NULL);
    enum lapse_model_state state = lapse_model_key_state(model, key);
    ret->answer.status = lapse_model_term_of(model, own, &none, &term);
    lapse_model_bound_term(model, bucket, &term);
    ret->open = state == LAPSE_MODEL_UNSURE || (term.session != NULL && term.session->unsure);
    if (ret->answer.status != LAPSE_OK || (ret->open && told->status != LAPSE_OK)) {
        return;
    }
    if (!ret->open && refused(command, key, state, ret)) {
        return;
    }
    if (state == LAPSE_MODEL_ABSENT) {
        ret->answer.status = LAPSE_ABSENT;
        return;
    }
    if (command->verb == LAPSE_VERB_EXPIRE && own->given == 0) {
        ret->open = ret->open || key->newest == NULL; /* it has looked past the term */
        if (!ret->open) {
            ret->answer.revision = key->newest->revision;
            lapse_model_show_end(model, &key->newest->term, &ret->answer);
        }
        return;
    }
    /* The term alone is new, and of a key that is open, what it is the term of is not known. */
    struct lapse_model_record *timed =
        key->newest == NULL ? NULL : lapse_model_take(model, sizeof(*timed));
    if (timed == NULL) {
        return;
    }
    *timed = *key->newest;
    timed->term = term;
    touch_key(model, bucket, key);
    key->newest = timed;
    key->marked = false;
    key->name.tenure = model->tenure; /* what was just written is known in this one */
    ret->answer.revision = timed->revision;
    lapse_model_show_end(model, &term, &ret->answer);
}

/* Where ends begin or cease to have events, what has ended goes by the words of before: the reaper
 * takes it first, whatever comes of the call. */
void lapse_model_before_words(struct lapse_model *model, const struct lapse_command *command,
                              struct lapse_wall wall) {
    const struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    bool marks = bucket != NULL && bucket->config.markers.ns > 0;
    if (command->verb != LAPSE_VERB_ALTER || bucket == NULL || !bucket->open ||
        marks == (command->u.open.config.markers.ns > 0)) {
        return;
    }
    lapse_model_read_wall(model, wall, true);
    for (struct lapse_model_bucket *it = model->buckets; it != NULL; it = it->next) {
        tell_all_ends(model, it);
    }
    model->undo_count = 0;
}

/* Other words hold for what is written from now on. */
void lapse_model_words(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_answer *told, struct lapse_model_answer *ret) {
    const struct lapse_bucket_config *config = &command->u.open.config;
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, true);
    if (bucket == NULL) {
        return;
    }
    bool opens = command->verb == LAPSE_VERB_OPEN;
    ret->open = lapse_model_unsure(model, &bucket->name);
    if (ret->open && told->status != LAPSE_OK) {
        return;
    }
    struct lapse_bucket_config words = *config;
    words.first_revision =
        !opens && words.first_revision == 0 ? bucket->config.first_revision : words.first_revision;
    bool other = opens ? !same_words(&bucket->config, &words)
                       : words.first_revision != bucket->config.first_revision;
    if (!ret->open && bucket->open && other) {
        ret->answer.status = LAPSE_INVALID;
        return;
    }
    if (!ret->open && bucket->open && same_words(&bucket->config, &words)) {
        return;
    }
    lapse_model_touch(model, bucket, sizeof(*bucket));
    lapse_model_give_words(bucket, &words);
    lapse_model_sure(model, &bucket->name);
}

void lapse_model_give_words(struct lapse_model_bucket *bucket,
                            const struct lapse_bucket_config *config) {
    int64_t first = config->first_revision == 0 ? 1 : config->first_revision;
    bucket->revision = bucket->open ? bucket->revision : first - 1;
    bucket->config = *config;
    bucket->config.first_revision = first;
    bucket->open = true;
}

/* The number of what is written now, and of the end that is told before it, 0 if none is. */
static bool numbers(struct lapse_model *model, struct lapse_model_bucket *bucket,
                    struct lapse_model_key *key, int64_t told, int64_t *ret_expired,
                    int64_t *ret) {
    bool owes = lapse_model_owes(model, key);
    bool maybe = owes && maybe_told(model, key);
    int64_t next = 0;
    if (lapse_model_key_state(model, key) == LAPSE_MODEL_UNSURE) {
        model->events_open = true;
        *ret = told;
        return true;
    }
    if (!lapse_ns_add(bucket->revision, 1, &next)) {
        return false;
    }
    if (bucket->loose && told > next) {
        next = told - (owes && told - 1 > bucket->revision ? 1 : 0);
    }
    bool expires = owes && !(maybe && told == next);
    *ret_expired = expires ? next : 0;
    *ret = next;
    model->events_open = model->events_open || (maybe && bucket->loose);
    return !expires || lapse_ns_add(next, 1, ret);
}

/* Whether the end of a key, which has come, may have been told unseen: by a reaper that fell as it
 * told, or one that came before a bucket got other words. */
static bool maybe_told(const struct lapse_model *model, const struct lapse_model_key *key) {
    struct lapse_end end = lapse_model_end_of(&key->newest->term);
    bool before = end.kind != LAPSE_END_STEADY || end.ns <= model->tenure_store.ns;
    return key->mark_open || (before && key->name.tenure < model->tenure);
}

/* The event of an end that has come: always before the key's next write. */
static bool tell_end(struct lapse_model *model, struct lapse_model_bucket *bucket,
                     struct lapse_model_key *key, int64_t revision) {
    if (revision == 0) {
        return false;
    }
    struct lapse_event event = {.kind = LAPSE_EVENT_EXPIRED,
                                .why = key->newest->term.why,
                                .bucket = bucket->name.name,
                                .key = key->name.name,
                                .revision = revision,
                                .old_revision = key->newest->revision,
                                .at = model->store};
    lapse_model_expect(model, &event);
    bucket->revision = revision;
    key->marked = true;
    return true;
}

/* Puts a record on top and says so. Its number is its event's. */
static bool put(struct lapse_model *model, struct lapse_model_bucket *bucket,
                struct lapse_model_key *key, const struct lapse_model_record *record) {
    struct lapse_model_record *made = lapse_model_take(model, sizeof(*made));
    if (made == NULL) {
        return false;
    }
    *made = *record;
    bool open = lapse_model_key_state(model, key) == LAPSE_MODEL_UNSURE;
    bool stays = bucket->config.history > 1 && record->kind != LAPSE_RECORD_PURGE;
    key->older_open = stays && (open || (key->older_open && stands(model, key)));
    made->older = below(model, bucket, key, record->kind);
    struct lapse_event event = {.kind = LAPSE_EVENT_PUT,
                                .bucket = bucket->name.name,
                                .key = key->name.name,
                                .revision = record->revision,
                                .at = model->store};
    if (record->kind == LAPSE_RECORD_VALUE) {
        event.value = record->value;
    } else {
        event.kind =
            record->kind == LAPSE_RECORD_PURGE ? LAPSE_EVENT_PURGE : LAPSE_EVENT_DELETE;
        event.old_revision = record->old_revision;
    }
    lapse_model_expect(model, &event);
    key->newest = made;
    key->marked = key->mark_open = false;
    bucket->revision = record->revision;
    bucket->loose = bucket->loose && model->events_open;
    key->name.tenure = model->tenure; /* what was just written is known in this one */
    return true;
}

/* What stays of a key below a new record: nothing of one that has ended, nothing below a purge. */
static const struct lapse_model_record *below(struct lapse_model *model,
                                              const struct lapse_model_bucket *bucket,
                                              const struct lapse_model_key *key,
                                              enum lapse_record_kind kind) {
    if (!stands(model, key) || bucket->config.history <= 1 || kind == LAPSE_RECORD_PURGE) {
        return NULL;
    }
    return trimmed(model, key->newest, bucket->config.history - 1);
}

/* Whether the newest record is one that a new one is put on. */
static bool stands(const struct lapse_model *model, const struct lapse_model_key *key) {
    return key->newest != NULL && !key->marked &&
           lapse_model_term_state(model, &key->newest->term) == LAPSE_MODEL_LIVE;
}

/* The newest, and below it as many as there is room for, without traces whose own term is over. */
static const struct lapse_model_record *trimmed(struct lapse_model *model,
                                                const struct lapse_model_record *newest,
                                                size_t room) {
    struct lapse_model_record *first = NULL;
    struct lapse_model_record *last = NULL;
    size_t kept = 0;
    for (const struct lapse_model_record *it = newest; it != NULL && kept < room; it = it->older) {
        bool value = it->kind == LAPSE_RECORD_VALUE;
        if (it != newest && !value &&
            lapse_model_term_state(model, &it->term) != LAPSE_MODEL_LIVE) {
            continue;
        }
        struct lapse_model_record *copy = lapse_model_take(model, sizeof(*copy));
        if (copy == NULL) {
            return first;
        }
        *copy = *it;
        copy->older = NULL;
        if (last != NULL) {
            last->older = copy;
        }
        first = first == NULL ? copy : first;
        last = copy;
        kept++;
    }
    return first;
}

/* A write whose date had passed was over as it was made: with markers that is told at once. */
static void end_at_once(struct lapse_model *model, struct lapse_model_bucket *bucket,
                        struct lapse_model_key *key) {
    int64_t revision = 0;
    bool over = key->newest->term.end.kind == LAPSE_END_WALL && lapse_model_owes(model, key);
    if (over && lapse_ns_add(bucket->revision, 1, &revision)) {
        (void)tell_end(model, bucket, key, revision);
    }
}

/* Whether an if_version is not the live entry's; then the answer names that. */
static bool refused(const struct lapse_command *command, const struct lapse_model_key *key,
                    enum lapse_model_state state, struct lapse_model_answer *ret) {
    int64_t found = state == LAPSE_MODEL_LIVE ? key->newest->revision : 0;
    bool fits = state == LAPSE_MODEL_LIVE && found == command->u.write.if_version;
    if (!command->u.write.has_if_version || fits) {
        return false;
    }
    ret->answer.status = LAPSE_CONFLICT;
    ret->answer.revision = found;
    ret->by = found > 0 ? key->newest->by : -1;
    return true;
}

static void touch_key(struct lapse_model *model, struct lapse_model_bucket *bucket,
                      struct lapse_model_key *key) {
    lapse_model_link(model, key); /* first: the list stays as it is when the rest is taken back */
    lapse_model_touch(model, key, sizeof(*key));
    lapse_model_touch(model, bucket, sizeof(*bucket));
}

/* The reaper takes all that has ended, before a bucket's words say otherwise of it. */
static void tell_all_ends(struct lapse_model *model, struct lapse_model_bucket *bucket) {
    for (struct lapse_model_key *key = *bucket->keys; key != NULL; key = key->next) {
        enum lapse_model_state state = lapse_model_key_state(model, key);
        /* Nor is it known if an end has an event while the words are not. */
        bool marks = bucket->config.markers.ns > 0 || lapse_model_unsure(model, &bucket->name);
        bool open = state == LAPSE_MODEL_UNSURE && marks;
        bucket->loose = bucket->loose || open;
        key->mark_open = key->mark_open || open;
        if (state != LAPSE_MODEL_ABSENT || key->newest == NULL ||
            key->newest->kind != LAPSE_RECORD_VALUE) {
            continue;
        }
        bool owes = lapse_model_owes(model, key);
        bucket->loose = bucket->loose || (owes && maybe_told(model, key));
        bucket->revision +=
            owes && !maybe_told(model, key) && bucket->revision < INT64_MAX ? 1 : 0;
        key->newest = NULL;
    }
}

static bool same_words(const struct lapse_bucket_config *a, const struct lapse_bucket_config *b) {
    uint32_t a_history = a->history == 0 ? 1 : a->history;
    uint32_t b_history = b->history == 0 ? 1 : b->history;
    int64_t a_first = a->first_revision == 0 ? 1 : a->first_revision;
    int64_t b_first = b->first_revision == 0 ? 1 : b->first_revision;
    return a->term.given == b->term.given && a_history == b_history && a_first == b_first &&
           a->markers.ns == b->markers.ns && a->term.cap.ns == b->term.cap.ns &&
           (a->term.given != LAPSE_TERM_TTL || a->term.ttl.ns == b->term.ttl.ns) &&
           (a->term.given != LAPSE_TERM_IDLE || a->term.idle.ns == b->term.idle.ns);
}
