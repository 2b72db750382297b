/* The live view: what the store holds, row by row, beside what the model does. A row of what has
 * ended may still be there, for the reaper comes when it comes; it must have ended. */
#include "model_parts.h"

#include <string.h>

static void take_bucket(struct lapse_model *model, const struct lapse_row *row);
static void take_record(struct lapse_model *model, const struct lapse_row *row);
static void take_lease(struct lapse_model *model, const struct lapse_row *row);
static void take_session(struct lapse_model *model, const struct lapse_row *row);
static void take_counter(struct lapse_model *model, const struct lapse_row *row);
static bool odd(struct lapse_model *model, const char *what, struct lapse_bytes in,
                struct lapse_bytes name);
static void odd_number(struct lapse_model *model, const char *what, struct lapse_bytes in,
                       struct lapse_bytes name, int64_t must, int64_t seen);
static void check_key(struct lapse_model *model, struct lapse_model_key *key);
static void check_live(struct lapse_model *model, const struct lapse_model_key *key);
static void adopt(struct lapse_model *model, struct lapse_model_key *key);
static bool ended(const struct lapse_model *model, struct lapse_end end, int64_t session);
static const struct lapse_model_opening *opening_of(const struct lapse_model *model,
                                                    int64_t number);
static size_t count_values(const struct lapse_model_key *key);
static void check_rest(struct lapse_model *model);
static struct lapse_bytes keep(struct lapse_model *model, struct lapse_bytes bytes);

void lapse_model_view_begin(struct lapse_model *model) {
    model->walk++;
    model->walk_token = model->walk_session = 0;
    model->is_odd = false;
}

enum lapse_status lapse_model_view_take(void *ctx, const struct lapse_row *row) {
    struct lapse_model *model = ctx;
    switch (row->kind) {
    case LAPSE_ROW_BUCKET:
        take_bucket(model, row);
        break;
    case LAPSE_ROW_RECORD:
        take_record(model, row);
        break;
    case LAPSE_ROW_LEASE:
        take_lease(model, row);
        break;
    case LAPSE_ROW_SESSION:
        take_session(model, row);
        break;
    case LAPSE_ROW_COUNTER:
        take_counter(model, row);
        break;
    case LAPSE_ROW_MARK:
    case LAPSE_ROW_REQUEST: /* what is answered again is told by the answers */
        break;
    }
    return model->failed ? LAPSE_NOMEM : LAPSE_OK;
}

bool lapse_model_view_end(struct lapse_model *model, struct lapse_model_difference *ret) {
    for (struct lapse_model_bucket *it = model->buckets; it != NULL; it = it->next) {
        if (it->open && !lapse_model_unsure(model, &it->name) && it->walk != model->walk) {
            (void)odd(model, "a bucket that is not there", it->name.name, it->name.name);
        }
        for (struct lapse_model_key *key = *it->keys; key != NULL; key = key->next) {
            check_key(model, key);
        }
    }
    check_rest(model);
    *ret = model->odd;
    return !model->is_odd;
}

static void take_bucket(struct lapse_model *model, const struct lapse_row *row) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, row->bucket, false);
    if (bucket == NULL) {
        (void)odd(model, "a bucket that nobody opened", row->bucket, row->bucket);
        return;
    }
    bucket->walk = model->walk;
    if (lapse_model_unsure(model, &bucket->name)) {
        lapse_model_give_words(bucket, &row->bucket_row.config);
        lapse_model_sure(model, &bucket->name);
    }
    if (bucket->loose && row->revision >= bucket->revision) {
        bucket->revision = row->revision;
        bucket->loose = false;
    }
    if (!bucket->loose) {
        odd_number(model, "the last revision", row->bucket, row->bucket, bucket->revision,
                   row->revision);
    }
    odd_number(model, "the markers", row->bucket, row->bucket, bucket->config.markers.ns,
               row->bucket_row.config.markers.ns);
    odd_number(model, "the term", row->bucket, row->bucket, (int64_t)bucket->config.term.given,
               (int64_t)row->bucket_row.config.term.given);
}

/* The rows of a key come by rising revision, those of deferred renewals last. */
static void take_record(struct lapse_model *model, const struct lapse_row *row) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, row->bucket, false);
    struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, row->key, false);
    if (key == NULL) {
        bool live = row->record.kind == LAPSE_RECORD_VALUE &&
                    !ended(model, row->record.end, row->record.session);
        if (live) {
            (void)odd(model, "a key that nobody wrote", row->bucket, row->key);
        }
        return;
    }
    lapse_model_link(model, key);
    if (key->seen.walk != model->walk) {
        key->seen = (struct lapse_model_seen){.walk = model->walk};
    }
    bool deferred = row->part == LAPSE_PART_TENURE;
    key->seen.value_count += !deferred && row->record.kind == LAPSE_RECORD_VALUE ? 1 : 0;
    key->seen.kind = row->record.kind;
    key->seen.revision = row->revision;
    key->seen.value = deferred ? key->seen.value : row->record.value;
    key->seen.source = row->record.source;
    key->seen.end = row->record.end;
    key->seen.span = row->record.span;
    key->seen.idle = row->record.idle;
    key->seen.last = row->record.last;
    key->seen.cap = row->record.cap;
    key->seen.session = row->record.session;
}

static void take_lease(struct lapse_model *model, const struct lapse_row *row) {
    struct lapse_model_lease *lease = lapse_model_lease(model, row->key, false);
    static const struct lapse_bytes none = {0};
    bool over = ended(model, row->lease.end, row->lease.session);
    bool ephemeral = row->lease.durability == LAPSE_EPHEMERAL;
    if (lease != NULL && lapse_model_lease_state(model, lease) == LAPSE_MODEL_UNSURE) {
        lease->walk = model->walk; /* which of a name's rows is the last is not told */
        return;
    }
    bool live = lease != NULL && lapse_model_lease_state(model, lease) == LAPSE_MODEL_LIVE;
    if (!live || ephemeral != lease->ephemeral) {
        if (!over) {
            (void)odd(model, "a lease that nobody holds", none, row->key);
        }
        return;
    }
    lease->walk = model->walk;
    struct lapse_end end = lapse_model_end_of(&lease->term);
    int64_t session = lease->term.session == NULL ? 0 : lease->term.session->number;
    odd_number(model, "the token", none, row->key, lease->token, row->lease.token);
    odd_number(model, "the session", none, row->key, session, row->lease.session);
    odd_number(model, "the end", none, row->key, session > 0 ? 0 : end.ns, row->lease.end.ns);
    if (!lapse_bytes_equal(lease->owner, row->lease.owner)) {
        (void)odd(model, "the owner", none, row->key);
    }
}

/* Older openings of a name are over, and may wait for the reaper. */
static void take_session(struct lapse_model *model, const struct lapse_row *row) {
    struct lapse_model_session *session = lapse_model_session(model, row->key, false);
    static const struct lapse_bytes none = {0};
    if (session != NULL && lapse_model_unsure(model, &session->name)) {
        return;
    }
    const struct lapse_model_opening *opening = session == NULL ? NULL : session->opening;
    if (opening == NULL || opening->number != row->revision) {
        if (!ended(model, row->session.end, 0)) {
            (void)odd(model, "a session that nobody opened", none, row->key);
        }
        return;
    }
    session->walk = model->walk;
    odd_number(model, "the end of session", none, row->key, opening->end.ns, row->session.end.ns);
    if (!lapse_bytes_equal(opening->owner, row->session.owner)) {
        (void)odd(model, "the owner of session", none, row->key);
    }
}

static void take_counter(struct lapse_model *model, const struct lapse_row *row) {
    bool token = lapse_bytes_equal(row->key, lapse_bytes_of("token"));
    int64_t *seen = token ? &model->walk_token : &model->walk_session;
    bool known = token || lapse_bytes_equal(row->key, lapse_bytes_of("session"));
    *seen = known && row->revision > *seen ? row->revision : *seen;
}

/* Keeps the first. Returns false. */
static bool odd(struct lapse_model *model, const char *what, struct lapse_bytes in,
                struct lapse_bytes name) {
    if (model->is_odd) {
        return false;
    }
    model->is_odd = true;
    model->odd = (struct lapse_model_difference){.by = -1};
    lapse_model_say(model->odd.expected, "none");
    lapse_model_say(model->odd.got, "a row");
    return lapse_model_differ(&model->odd, what, in, name);
}

static void odd_number(struct lapse_model *model, const char *what, struct lapse_bytes in,
                       struct lapse_bytes name, int64_t must, int64_t seen) {
    if (must == seen || model->is_odd) {
        return;
    }
    (void)odd(model, what, in, name);
    lapse_model_say(model->odd.expected, "%lld", (long long)must);
    lapse_model_say(model->odd.got, "%lld", (long long)seen);
}

static void check_key(struct lapse_model *model, struct lapse_model_key *key) {
    const struct lapse_model_seen *seen = &key->seen;
    struct lapse_bytes bucket = key->name.in->name.name;
    bool value = seen->walk == model->walk && seen->kind == LAPSE_RECORD_VALUE;
    switch (lapse_model_key_state(model, key)) {
    case LAPSE_MODEL_UNSURE:
        adopt(model, key);
        return;
    case LAPSE_MODEL_LIVE:
        if (!value) {
            (void)odd(model, "a live key that is not there", bucket, key->name.name);
            lapse_model_say(model->odd.expected, "revision %lld",
                            (long long)key->newest->revision);
            lapse_model_say(model->odd.got, "none");
            return;
        }
        check_live(model, key);
        return;
    case LAPSE_MODEL_ABSENT:
        break;
    }
    if (value && !ended(model, seen->end, seen->session)) {
        (void)odd(model, "a key that is over", bucket, key->name.name);
    }
}

static void check_live(struct lapse_model *model, const struct lapse_model_key *key) {
    const struct lapse_model_seen *seen = &key->seen;
    const struct lapse_model_term *term = &key->newest->term;
    struct lapse_bytes bucket = key->name.in->name.name;
    struct lapse_bytes name = key->name.name;
    int64_t session = term->session == NULL ? 0 : term->session->number;
    odd_number(model, "the revision", bucket, name, key->newest->revision, seen->revision);
    odd_number(model, "the kind of end", bucket, name, session > 0 ? 0 : (int64_t)term->end.kind,
               (int64_t)seen->end.kind);
    odd_number(model, "the end", bucket, name, session > 0 ? 0 : term->end.ns, seen->end.ns);
    odd_number(model, "the session", bucket, name, session, seen->session);
    if (!key->older_open) {
        odd_number(model, "the number of values", bucket, name, (int64_t)count_values(key),
                   (int64_t)seen->value_count);
    }
    if (!lapse_bytes_equal(key->newest->value, seen->value)) {
        (void)odd(model, "the value", bucket, name);
    }
    if (model->is_odd && model->odd.by < 0) {
        model->odd.by = key->newest->by;
    }
}

/* What a crash has left of a key with one record and an end of its own on store time, or none. Any
 * other stays open until it is written again. */
static void adopt(struct lapse_model *model, struct lapse_model_key *key) {
    const struct lapse_model_seen *seen = &key->seen;
    bool gone = seen->walk != model->walk;
    bool value = !gone && seen->kind == LAPSE_RECORD_VALUE && seen->end.kind != LAPSE_END_WALL &&
                 seen->session == 0 && seen->value_count == 1;
    if (lapse_model_unsure(model, &key->name.in->name) || key->name.in->config.history > 1 ||
        !(gone || value)) {
        return;
    }
    struct lapse_model_record *made = NULL;
    if (value) {
        made = lapse_model_take(model, sizeof(*made));
        if (made == NULL) {
            return;
        }
        *made = (struct lapse_model_record){.kind = LAPSE_RECORD_VALUE,
                                            .revision = seen->revision,
                                            .value = keep(model, seen->value),
                                            .by = -1};
        made->term = (struct lapse_model_term){
            .end = seen->end, .span = seen->span, .last = seen->last, .cap = seen->cap};
        bool ends = seen->end.kind == LAPSE_END_STEADY;
        bool usual = seen->source == LAPSE_SOURCE_DEFAULT;
        made->term.why = usual ? LAPSE_WHY_DEFAULT : LAPSE_WHY_OWN;
        made->term.why = seen->idle ? LAPSE_WHY_IDLE : made->term.why;
        made->term.why = ends ? made->term.why : LAPSE_WHY_NONE;
        /* From now on the walk's end holds; what is deferred can be lost again. */
        made->term.renewed = seen->idle ? model->tenure : 0;
    }
    key->newest = made;
    key->marked = key->mark_open = false;
    lapse_model_sure(model, &key->name);
}

/* Whether what a row tells is over, by the session that it ends with, or by its own end. */
static bool ended(const struct lapse_model *model, struct lapse_end end, int64_t session) {
    if (session > 0) {
        const struct lapse_model_opening *opening = opening_of(model, session);
        return opening == NULL || opening->unsure || model->store.ns >= opening->end.ns;
    }
    switch (end.kind) {
    case LAPSE_END_NONE:
        return false;
    case LAPSE_END_STEADY:
        return model->store.ns >= end.ns;
    case LAPSE_END_WALL:
        break;
    }
    /* Which readings it has seen is not in the row: the greatest of all is the first peak. */
    return model->possible.count > 0 && model->possible.items[0].wall_ns >= end.ns;
}

/* The last opening of some name that has this number; NULL: an older one, which is over. */
static const struct lapse_model_opening *opening_of(const struct lapse_model *model,
                                                    int64_t number) {
    for (const struct lapse_model_session *it = model->sessions; it != NULL; it = it->next) {
        if (it->opening != NULL && it->opening->number == number) {
            return it->opening;
        }
    }
    return NULL;
}

static size_t count_values(const struct lapse_model_key *key) {
    size_t count = 0;
    for (const struct lapse_model_record *it = key->newest; it != NULL; it = it->older) {
        count += it->kind == LAPSE_RECORD_VALUE ? 1 : 0;
    }
    return count;
}

static void check_rest(struct lapse_model *model) {
    static const struct lapse_bytes none = {0};
    for (struct lapse_model_lease *it = model->leases; it != NULL; it = it->next) {
        bool live = lapse_model_lease_state(model, it) == LAPSE_MODEL_LIVE;
        if (live && it->walk != model->walk) {
            (void)odd(model, "a lease that is not there", none, it->name.name);
        }
    }
    for (struct lapse_model_session *it = model->sessions; it != NULL; it = it->next) {
        bool live = it->opening != NULL && !lapse_model_unsure(model, &it->name) &&
                    model->store.ns < it->opening->end.ns;
        if (live && it->walk != model->walk) {
            (void)odd(model, "a session that is not there", none, it->name.name);
        }
    }
    struct lapse_model_counters *counters = &model->counters;
    if (counters->token_loose && model->walk_token >= counters->token) {
        counters->token = model->walk_token;
        counters->token_loose = false;
    }
    if (counters->session_loose && model->walk_session >= counters->session) {
        counters->session = model->walk_session;
        counters->session_loose = false;
    }
    if (!counters->token_loose) {
        odd_number(model, "the last token", none, lapse_bytes_of("leases"), counters->token,
                   model->walk_token);
    }
    if (!counters->session_loose) {
        odd_number(model, "the last number", none, lapse_bytes_of("sessions"), counters->session,
                   model->walk_session);
    }
}

/* What is borrowed from the store lasts as long as its row. */
static struct lapse_bytes keep(struct lapse_model *model, struct lapse_bytes bytes) {
    unsigned char *copy = bytes.len == 0 ? NULL : lapse_model_take(model, bytes.len);
    if (copy == NULL) {
        return (struct lapse_bytes){0};
    }
    memcpy(copy, bytes.data, bytes.len);
    return (struct lapse_bytes){copy, bytes.len};
}
