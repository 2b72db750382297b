/* Keys: the verbs that write. A refused call changes nothing and takes no revision (CAS-05). */
#include "decide.h"
#include "restored.h"

static enum lapse_status put(struct lapse_job *job, struct lapse_image *image);
static enum lapse_status end_at_once(struct lapse_job *job, const struct lapse_image *image);
static enum lapse_status drop_key(struct lapse_job *job, struct lapse_node *newest,
                                  int64_t revision);
static enum lapse_status set_words(struct lapse_job *job, struct lapse_bucket *bucket,
                                   const struct lapse_bucket_config *config);
static enum lapse_status refuse_first(const struct lapse_job *job, int64_t first);
static bool refuses(struct lapse_job *job, const struct lapse_node *live);
static struct lapse_node *find_live(struct lapse_job *job);
static void show_end(struct lapse_job *job, const struct lapse_image *image);

enum { MESSAGE_BYTES = 80 };

enum lapse_status lapse_kv_open(struct lapse_job *job) {
    struct lapse_state *state = job->state;
    struct lapse_bytes name = job->command->bucket;
    const struct lapse_bucket_config *config = &job->command->u.open.config;
    enum lapse_status status = lapse_term_check_config(config, job->err);
    if (status == LAPSE_OK) {
        status = lapse_decide_words(state, config, job->err);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    char print[MESSAGE_BYTES];
    struct lapse_bucket *bucket = lapse_state_bucket(state, name);
    if (bucket != NULL && lapse_term_config_equal(&bucket->config, config)) {
        return LAPSE_OK;
    }
    if (bucket != NULL) {
        char have[LAPSE_CONFIG_TEXT_MAX];
        char want[LAPSE_CONFIG_TEXT_MAX];
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "bucket `%s` is open with %s and was asked "
                               "for with %s; open it with the same words or take another name",
                               lapse_bytes_print(name, print, sizeof(print)),
                               lapse_term_config_print(&bucket->config, have),
                               lapse_term_config_print(config, want));
    }
    if (state->buckets.count >= LAPSE_BUCKETS_MAX) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "%zu buckets are open and at most %d can "
                               "be; put more keys into fewer buckets",
                               state->buckets.count, (int)LAPSE_BUCKETS_MAX);
    }
    bucket = lapse_bucket_make(state, name);
    if (bucket == NULL) {
        return lapse_job_no_memory(job);
    }
    if (!lapse_txn_touch(state, bucket->row)) {
        lapse_bucket_free(state, bucket);
        return lapse_job_no_memory(job);
    }
    return set_words(job, bucket, config);
}

enum lapse_status lapse_kv_alter(struct lapse_job *job) {
    struct lapse_bucket *bucket = job->bucket;
    struct lapse_bucket_config config = job->command->u.open.config;
    enum lapse_status status = lapse_term_check_config(&config, job->err);
    if (config.first_revision == 0) {
        config.first_revision = bucket->config.first_revision;
    }
    if (status == LAPSE_OK) {
        status = lapse_decide_words(job->state, &config, job->err);
    }
    if (status == LAPSE_OK && config.first_revision != bucket->config.first_revision) {
        return refuse_first(job, config.first_revision);
    }
    if (status != LAPSE_OK || lapse_term_config_equal(&bucket->config, &config)) {
        return status;
    }
    bool unmarks = bucket->config.markers.ns > 0 && config.markers.ns == 0;
    if (unmarks && lapse_decide_keeps_unmarked(job->state)) {
        status = lapse_record_end_stayed(job);
    }
    if (status == LAPSE_OK && !lapse_txn_touch(job->state, bucket->row)) {
        return lapse_job_no_memory(job);
    }
    return status == LAPSE_OK ? set_words(job, bucket, &config) : status;
}

enum lapse_status lapse_kv_write(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_image image = {.present = true, .record = LAPSE_RECORD_VALUE};
    const struct lapse_term *term = &command->u.write.term;
    if (term->given == LAPSE_TERM_KEEP && command->verb == LAPSE_VERB_CREATE) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "create writes only where nothing is live, so there is no end to "
                               "keep; give another term, or none");
    }
    /* Looked up first: what it waits for comes in while the term is reckoned. */
    const struct lapse_node *live = find_live(job);
    if (live != NULL) {
        lapse_node_prefetch_change(live);
    }
    enum lapse_status status =
        lapse_decide_own_term(job->state, job->bucket, term, &term, job->err);
    if (status == LAPSE_OK) {
        const struct lapse_term *fallback = lapse_decide_default(job->state, job->bucket);
        status = lapse_term_resolve(job, term, fallback, &image);
    }
    if (status == LAPSE_OK) {
        status = lapse_session_join(job, term->session, &image);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    lapse_decide_bounds(job->state, job->bucket, &job->now, &image);
    lapse_decide_idle_own(job->state, job->bucket, &job->now, &image);
    if (command->verb == LAPSE_VERB_CREATE && live != NULL) {
        return LAPSE_EXISTS;
    }
    if (refuses(job, live)) {
        return LAPSE_CONFLICT;
    }
    if (live != NULL && lapse_decide_keeps_end(job->state, job->bucket, term)) {
        lapse_term_keep(&live->now, &image);
    }
    if (!lapse_image_copy_blob(job->state->alloc, &image, command->u.write.value)) {
        return lapse_job_no_memory(job);
    }
    status = put(job, &image);
    if (status != LAPSE_OK) {
        lapse_alloc_free(job->state->alloc, image.blob, image.blob_len);
        return status;
    }
    show_end(job, &image);
    return lapse_term_past(&image, &job->now) ? end_at_once(job, &image) : LAPSE_OK;
}

enum lapse_status lapse_kv_remove(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_bucket *bucket = job->bucket;
    struct lapse_node *live = find_live(job);
    struct lapse_node *newest = lapse_job_find(job);
    if (refuses(job, live)) {
        return LAPSE_CONFLICT;
    }
    if (live == NULL && !lapse_decide_deletes_ended(job->state, newest)) {
        return LAPSE_ABSENT;
    }
    bool purge = command->verb == LAPSE_VERB_PURGE;
    int64_t revision = 0;
    enum lapse_status status = lapse_record_clear_ended(job, newest, &newest);
    /* What is deleted may be no longer there, or never have been. */
    struct lapse_image of = newest == NULL ? (struct lapse_image){0} : newest->now;
    if (status == LAPSE_OK) {
        status = lapse_txn_event(job, purge ? LAPSE_EVENT_PURGE : LAPSE_EVENT_DELETE, bucket,
                                 command->key, &of, &revision);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    job->result->revision = revision;
    if (!lapse_decide_leaves_trace(job->state, bucket)) {
        return drop_key(job, newest, revision);
    }
    struct lapse_image trace = lapse_record_trace(
        job, purge ? LAPSE_RECORD_PURGE : LAPSE_RECORD_TOMBSTONE, bucket, &of, revision);
    return lapse_record_push(job, command->key, newest, &trace);
}

enum lapse_status lapse_kv_retime(struct lapse_job *job) {
    static const struct lapse_term none = {0};
    const struct lapse_command *command = job->command;
    bool persist = command->verb == LAPSE_VERB_PERSIST;
    const struct lapse_term *term = persist ? &none : &command->u.write.term;
    if (!persist && (term->given == 0 || term->given == LAPSE_TERM_KEEP)) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "expire has no term; give one of ttl, idle, "
                               "expires_at and a session, or use persist to remove it");
    }
    struct lapse_image timed = {0};
    enum lapse_status status =
        lapse_decide_own_term(job->state, job->bucket, term, &term, job->err);
    if (status == LAPSE_OK) {
        status = lapse_term_resolve(job, term, &none, &timed);
    }
    if (status == LAPSE_OK) {
        status = lapse_session_join(job, term->session, &timed);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    lapse_decide_bounds(job->state, job->bucket, &job->now, &timed);
    lapse_decide_idle_own(job->state, job->bucket, &job->now, &timed);
    struct lapse_node *live = find_live(job);
    if (refuses(job, live)) {
        return LAPSE_CONFLICT;
    }
    if (live == NULL) {
        return LAPSE_ABSENT;
    }
    if (!persist && term->given == 0) {
        /* The store has looked past the term that it was given. */
        show_end(job, &live->now);
        return LAPSE_OK;
    }
    if (!lapse_state_reserve_end(job->state, &timed) || !lapse_txn_touch(job->state, live)) {
        return lapse_job_no_memory(job);
    }
    /* The term alone is new: value and revision are the entry's (KV-06). */
    timed.present = true;
    timed.record = LAPSE_RECORD_VALUE;
    timed.revision = live->now.revision;
    timed.blob = live->now.blob;
    timed.blob_len = live->now.blob_len;
    timed.older = live->now.older;
    lapse_txn_set(job->state, live, &timed);
    show_end(job, &timed);
    bool gone = timed.end_kind == LAPSE_END_STEADY && timed.span_ns == 0;
    return gone ? lapse_record_end(job, live) : LAPSE_OK;
}

bool lapse_kv_condition_holds(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    int64_t found = 0;
    switch (command->verb) {
    case LAPSE_VERB_CREATE:
        return find_live(job) == NULL;
    case LAPSE_VERB_SET:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        return !command->u.write.has_if_version ||
               lapse_decide_version(job, find_live(job), lapse_job_find(job), &found);
    default:
        return true;
    }
}

/* Writes `image` under the command's key, over whatever stands there. Takes image->blob over on OK
 * alone. */
static enum lapse_status put(struct lapse_job *job, struct lapse_image *image) {
    struct lapse_bytes key = job->command->key;
    struct lapse_node *newest = lapse_job_find(job);
    job->looked = false;
    enum lapse_status status = lapse_record_clear_ended(job, newest, &newest);
    if (status == LAPSE_OK) {
        status = lapse_txn_event(job, LAPSE_EVENT_PUT, job->bucket, key, image, &image->revision);
    }
    return status == LAPSE_OK ? lapse_record_push(job, key, newest, image) : status;
}

/* The entry ended at the instant of the call: with markers, its event comes at once. A past date
 * leaves the rest to the reaper; a span that is over is not stored. */
static enum lapse_status end_at_once(struct lapse_job *job, const struct lapse_image *image) {
    bool dated = image->end_kind == LAPSE_END_WALL;
    if (dated && !lapse_decide_marks_end(job->state, job->bucket, LAPSE_RECORD_VALUE)) {
        return LAPSE_OK;
    }
    return lapse_record_end(job, lapse_table_find(&job->bucket->records, job->command->key));
}

/* The event of `revision` leaves no record behind, or only what is remembered of the key. */
static enum lapse_status drop_key(struct lapse_job *job, struct lapse_node *newest,
                                  int64_t revision) {
    /* The event has listed the bucket's row, so there is room to change it again. */
    enum lapse_status status = lapse_record_forget(job, job->bucket, revision);
    LAPSE_ASSERT(status == LAPSE_OK);
    bool given = newest != NULL || revision >= lapse_decide_first_revision(job->state);
    if (given && lapse_decide_remembers(job->state)) {
        return lapse_record_remember(job, newest, revision, LAPSE_WHY_NONE);
    }
    return newest == NULL ? LAPSE_OK : lapse_record_remove_all(job, newest);
}

/* Numbers that were given cannot be given otherwise. */
static enum lapse_status refuse_first(const struct lapse_job *job, int64_t first) {
    char print[MESSAGE_BYTES];
    return lapse_error_set(job->err, LAPSE_INVALID,
                           "the revisions of bucket `%s` began at %lld and alter asks for %lld; "
                           "leave the first revision out, or open another bucket with it",
                           lapse_bytes_print(job->command->bucket, print, sizeof(print)),
                           (long long)job->bucket->config.first_revision, (long long)first);
}

/* Gives a touched bucket its words, and a new one the revision before its first. */
static enum lapse_status set_words(struct lapse_job *job, struct lapse_bucket *bucket,
                                   const struct lapse_bucket_config *config) {
    struct lapse_image image = bucket->row->now;
    if (!image.present) {
        int64_t before = lapse_term_config_plain(config).first_revision - 1;
        int64_t floor = lapse_restored_floor(job->state);
        image.revision = before > floor ? before : floor;
    }
    image.present = true;
    if (!lapse_bucket_words(job->state->alloc, config, &image)) {
        return lapse_job_no_memory(job);
    }
    lapse_txn_set(job->state, bucket->row, &image);
    return LAPSE_OK;
}

/* Whether the command's if_version is not the right one; then the result tells that. */
static bool refuses(struct lapse_job *job, const struct lapse_node *live) {
    int64_t found = 0;
    if (!job->command->u.write.has_if_version ||
        lapse_decide_version(job, live, lapse_job_find(job), &found)) {
        return false;
    }
    job->result->revision = found;
    return true;
}

/* The live entry of the command's key, or NULL. Its deferred renewal has been flushed before. */
static struct lapse_node *find_live(struct lapse_job *job) {
    struct lapse_node *node =
        lapse_record_current(job->state, lapse_job_find(job), &job->now, false);
    return lapse_record_live(job->state, node, &job->now) ? node : NULL;
}

static void show_end(struct lapse_job *job, const struct lapse_image *image) {
    job->result->revision = image->revision;
    job->result->end = lapse_state_end(image);
    job->result->left = lapse_state_left(&job->now, job->result->end);
}
