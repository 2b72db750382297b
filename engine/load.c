/* The recovery path: rows in, state out. An open takes them from the journal, a fork from a walk.
 * Nothing here trusts a row: bytes from a disk are the world's, so what cannot be is `corrupt`,
 * never an assertion. */
#include "state.h"

static enum lapse_status load_mark(struct lapse_state *state, const struct lapse_row *row,
                                   struct lapse_error *err);
static enum lapse_status load_bucket(struct lapse_state *state, const struct lapse_row *row,
                                     struct lapse_error *err);
static enum lapse_status load_record(struct lapse_state *state, const struct lapse_row *row,
                                     struct lapse_error *err);
static enum lapse_status load_lease(struct lapse_state *state, const struct lapse_row *row,
                                    struct lapse_error *err);
static enum lapse_status load_deferred(struct lapse_state *state, const struct lapse_row *row,
                                       struct lapse_error *err);
static enum lapse_status place(struct lapse_state *state, struct lapse_node *node,
                               struct lapse_image *image, struct lapse_bytes blob,
                               struct lapse_error *err);
static bool end_fits(const struct lapse_image *image);
static enum lapse_status corrupt(const struct lapse_row *row, const char *why,
                                 struct lapse_error *err);
static enum lapse_status no_memory(struct lapse_error *err);

enum lapse_status lapse_state_load(struct lapse_state *state, const struct lapse_row *row,
                                   struct lapse_error *err) {
    if (row->key.len > LAPSE_KEY_BYTES_MAX || row->bucket.len > LAPSE_BUCKET_NAME_MAX) {
        return corrupt(row, "its key is longer than keys can be", err);
    }
    switch (row->kind) {
    case LAPSE_ROW_MARK:
        return load_mark(state, row, err);
    case LAPSE_ROW_COUNTER:
        if (!lapse_bytes_equal(row->key, lapse_bytes_of("token")) || row->revision < 0) {
            return corrupt(row, "it is not the counter `token`, or it lies below 0", err);
        }
        state->token = row->revision;
        return LAPSE_OK;
    case LAPSE_ROW_BUCKET:
        return load_bucket(state, row, err);
    case LAPSE_ROW_RECORD:
        return row->part == LAPSE_PART_DURABLE ? load_record(state, row, err)
                                               : load_deferred(state, row, err);
    case LAPSE_ROW_LEASE:
        return load_lease(state, row, err);
    case LAPSE_ROW_SESSION:
        break;
    }
    return lapse_error_set(err, LAPSE_VERSION,
                           "a stored row has kind %d, which this version does "
                           "not know; open the store with the version that wrote it",
                           (int)row->kind);
}

static enum lapse_status load_mark(struct lapse_state *state, const struct lapse_row *row,
                                   struct lapse_error *err) {
    struct lapse_mark mark = {row->mark.store, row->mark.reading};
    if (row->part == LAPSE_PART_DURABLE) {
        if (mark.store.ns < 0) {
            return corrupt(row, "its store time lies below 0", err);
        }
        state->mark = mark;
        return LAPSE_OK;
    }
    if (lapse_bytes_equal(row->key, lapse_bytes_of("now"))) {
        state->last = mark;
        state->seq = row->revision;
        return LAPSE_OK;
    }
    struct lapse_peaks *peaks = &state->peaks;
    if (!lapse_peaks_reserve(state)) {
        return no_memory(err);
    }
    peaks->items[peaks->count++] = (struct lapse_peak){row->revision, mark.reading.wall, false};
    return LAPSE_OK;
}

static enum lapse_status load_bucket(struct lapse_state *state, const struct lapse_row *row,
                                     struct lapse_error *err) {
    const struct lapse_bucket_config *config = &row->bucket_row.config;
    if (row->bucket.len == 0 || row->revision < 0 ||
        lapse_term_check_config(config, NULL) != LAPSE_OK) {
        return corrupt(row, "no bucket has such a name, revision or term", err);
    }
    if (lapse_state_bucket(state, row->bucket) != NULL) {
        return corrupt(row, "the bucket is stored twice", err);
    }
    struct lapse_bucket *bucket = lapse_bucket_make(state->alloc, row->bucket, config);
    if (bucket == NULL || !lapse_state_reserve(state, bucket->row)) {
        if (bucket != NULL) {
            lapse_bucket_free(state->alloc, bucket);
        }
        return no_memory(err);
    }
    struct lapse_image image = {.present = true, .revision = row->revision};
    lapse_state_place(state, bucket->row, &image);
    return LAPSE_OK;
}

static enum lapse_status load_record(struct lapse_state *state, const struct lapse_row *row,
                                     struct lapse_error *err) {
    struct lapse_bucket *bucket = lapse_state_bucket(state, row->bucket);
    if (bucket == NULL) {
        return corrupt(row, "its bucket is not stored before it", err);
    }
    if (row->record.kind != LAPSE_RECORD_VALUE) {
        return lapse_error_set(err, LAPSE_VERSION,
                               "a stored record has kind %d; this version "
                               "keeps values only",
                               (int)row->record.kind);
    }
    struct lapse_image image = {.revision = row->revision,
                                .end_kind = row->record.end.kind,
                                .end_ns = row->record.end.ns,
                                .span_ns = row->record.span.ns,
                                .last_ns = row->record.last.ns,
                                .written_seq = row->record.written_seq,
                                .source = row->record.source,
                                .idle = row->record.idle,
                                .present = true};
    if (row->key.len == 0 || row->record.value.len > LAPSE_VALUE_BYTES_MAX || row->revision < 1 ||
        row->revision > bucket->row->now.revision || !end_fits(&image)) {
        return corrupt(row, "its revision, end and span do not fit each other", err);
    }
    if (lapse_table_find(&bucket->records, row->key) != NULL) {
        return corrupt(row, "the key is stored twice", err);
    }
    struct lapse_node *node = lapse_node_make(state->alloc, LAPSE_ROW_RECORD, row->key);
    if (node == NULL) {
        return no_memory(err);
    }
    node->bucket = bucket;
    if (state->seq < image.written_seq) {
        /* Commands of this tenure come after all writes of earlier ones. */
        state->seq = image.written_seq;
    }
    return place(state, node, &image, row->record.value, err);
}

static enum lapse_status load_lease(struct lapse_state *state, const struct lapse_row *row,
                                    struct lapse_error *err) {
    struct lapse_image image = {.revision = row->lease.token,
                                .end_kind = row->lease.end.kind,
                                .end_ns = row->lease.end.ns,
                                .span_ns = row->lease.span.ns,
                                .source = LAPSE_SOURCE_OWN,
                                .present = true};
    if (row->key.len == 0 || row->lease.owner.len == 0 ||
        row->lease.owner.len > LAPSE_OWNER_BYTES_MAX || image.revision < 1 ||
        image.revision > state->token || image.end_kind != LAPSE_END_STEADY ||
        !lapse_ns_sub(image.end_ns, image.span_ns, &image.last_ns) || !end_fits(&image)) {
        return corrupt(row, "its owner, token, end and span do not fit each other", err);
    }
    if (lapse_table_find(&state->leases, row->key) != NULL) {
        return corrupt(row, "the lease is stored twice", err);
    }
    struct lapse_node *node = lapse_node_make(state->alloc, LAPSE_ROW_LEASE, row->key);
    return node == NULL ? no_memory(err) : place(state, node, &image, row->lease.owner, err);
}

static enum lapse_status load_deferred(struct lapse_state *state, const struct lapse_row *row,
                                       struct lapse_error *err) {
    struct lapse_bucket *bucket = lapse_state_bucket(state, row->bucket);
    struct lapse_node *node = bucket == NULL ? NULL : lapse_table_find(&bucket->records, row->key);
    if (node == NULL || !node->now.idle || node->deferred != NULL ||
        node->now.revision != row->revision || row->record.last.ns <= node->now.last_ns ||
        row->record.last.ns >= node->now.end_ns) {
        return corrupt(row, "no stored key has such a renewal", err);
    }
    bool noted = lapse_idle_defer(state, node, row->record.last, row->mark.store);
    return noted ? LAPSE_OK : no_memory(err);
}

/* Puts a fresh node into its table and heap, or frees it. */
static enum lapse_status place(struct lapse_state *state, struct lapse_node *node,
                               struct lapse_image *image, struct lapse_bytes blob,
                               struct lapse_error *err) {
    bool dated = image->end_kind == LAPSE_END_WALL;
    if ((dated && !lapse_state_reserve_date(state)) || !lapse_state_reserve(state, node) ||
        !lapse_image_copy_blob(state->alloc, image, blob)) {
        lapse_node_free(state->alloc, node);
        return no_memory(err);
    }
    lapse_state_place(state, node, image);
    return LAPSE_OK;
}

/* Whether kind, end, span and last use can have been written together (S4). */
static bool end_fits(const struct lapse_image *image) {
    int64_t end = 0;
    switch (image->end_kind) {
    case LAPSE_END_NONE:
        return image->end_ns == 0 && image->span_ns == 0 && !image->idle;
    case LAPSE_END_WALL:
        return image->span_ns == 0 && !image->idle && image->written_seq > 0;
    case LAPSE_END_STEADY:
        return image->span_ns > 0 && image->last_ns >= 0 &&
               lapse_ns_add(image->last_ns, image->span_ns, &end) && end == image->end_ns;
    }
    return false;
}

static enum lapse_status corrupt(const struct lapse_row *row, const char *why,
                                 struct lapse_error *err) {
    char bucket[80];
    char key[80];
    return lapse_error_set(err, LAPSE_CORRUPT,
                           "the stored row of kind %d, bucket `%s`, key `%s`, "
                           "revision %lld is not what was written: %s; restore an older copy",
                           (int)row->kind, lapse_bytes_print(row->bucket, bucket, sizeof(bucket)),
                           lapse_bytes_print(row->key, key, sizeof(key)), (long long)row->revision,
                           why);
}

static enum lapse_status no_memory(struct lapse_error *err) {
    return lapse_error_set(err, LAPSE_NOMEM, "no memory to load the store");
}
