/* The recovery path: rows in, state out. An open takes them from the journal, a fork from a walk.
 * Nothing here trusts a row: bytes from a disk are the world's, so what cannot be is `corrupt`,
 * never an assertion. What one row shows is checked as it comes, against the mark, the counter and
 * the bucket that came before it; what only all of them show, at the end. */
#include "ephemeral.h"

#include "decide.h"

static void take_off_stayed(struct lapse_state *state);
static bool is_mark(const struct lapse_row *row);
static bool part_fits(const struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_mark(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_peak(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_now(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_counter(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_bucket(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_record(struct lapse_load *load, const struct lapse_row *row);
static const char *record_fault(const struct lapse_state *state, const struct lapse_row *row,
                                const struct lapse_bucket *bucket, const struct lapse_image *image);
static bool trace_fits(const struct lapse_state *state, const struct lapse_row *row);
static bool gone_fits(const struct lapse_state *state, const struct lapse_row *row);
static bool begun_fits(const struct lapse_state *state, const struct lapse_image *image,
                       int64_t last);
static const char *twin_fault(const struct lapse_node *below, const struct lapse_image *image);
static enum lapse_status load_lease(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_deferred(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status load_ephemeral(struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status place(struct lapse_load *load, struct lapse_node *node,
                               struct lapse_image *image, struct lapse_bytes blob);
static bool end_fits(const struct lapse_state *state, const struct lapse_image *image);
static bool source_fits(const struct lapse_state *state, const struct lapse_image *image);
static enum lapse_status find_twins(const struct lapse_load *load, const struct lapse_table *table,
                                    const char *what);
static enum lapse_status told(const struct lapse_load *load, const struct lapse_row *row,
                              enum lapse_status status);
static enum lapse_status corrupt(const struct lapse_load *load, const struct lapse_row *row,
                                 const char *why);
static enum lapse_status too_new(const struct lapse_load *load, const struct lapse_row *row);
static enum lapse_status no_memory(const struct lapse_load *load);

enum lapse_status lapse_load_row(void *ctx, const struct lapse_row *row) {
    struct lapse_load *load = ctx;
    if (row->key.len > LAPSE_KEY_BYTES_MAX || row->bucket.len > LAPSE_BUCKET_NAME_MAX) {
        return corrupt(load, row, "its key is longer than keys can be");
    }
    if (!part_fits(load, row)) {
        return corrupt(load, row, "its part is not one that such a row is stored in");
    }
    if (!load->marked && !is_mark(row)) {
        return corrupt(load, row, "no mark is stored before it, so its time cannot be told");
    }
    if (row->part == LAPSE_PART_TENURE &&
        (row->kind == LAPSE_ROW_COUNTER || row->kind == LAPSE_ROW_LEASE)) {
        return load_ephemeral(load, row);
    }
    switch (row->kind) {
    case LAPSE_ROW_MARK:
        return load_mark(load, row);
    case LAPSE_ROW_COUNTER:
        return load_counter(load, row);
    case LAPSE_ROW_BUCKET:
        return load_bucket(load, row);
    case LAPSE_ROW_RECORD:
        return row->part == LAPSE_PART_DURABLE ? load_record(load, row) : load_deferred(load, row);
    case LAPSE_ROW_LEASE:
        return load_lease(load, row);
    case LAPSE_ROW_SESSION:
        return told(load, row, lapse_load_session(load, row));
    case LAPSE_ROW_REQUEST:
        return told(load, row, lapse_load_request(load, row));
    }
    return too_new(load, row);
}

enum lapse_status lapse_load_finish(struct lapse_load *load, enum lapse_status status) {
    const struct lapse_state *state = load->state;
    lapse_alloc_free(state->alloc, load->sessions, load->session_count * sizeof(*load->sessions));
    load->sessions = NULL;
    if (status == LAPSE_OK && !lapse_decide_token_by_name(state, LAPSE_PERSISTENT)) {
        status = find_twins(load, &state->leases, "another lease has the same fencing token");
    }
    if (status == LAPSE_OK) {
        status = find_twins(load, &state->sessions, "another session has the same number");
    }
    if (status == LAPSE_OK && lapse_decide_keeps_unmarked(state)) {
        take_off_stayed(load->state);
    }
    const struct lapse_node *row = lapse_table_any(&state->buckets);
    if (lapse_decide_first_revision(state) == 0) {
        return status; /* each key counts for itself */
    }
    for (; row != NULL && status == LAPSE_OK; row = lapse_table_after(&state->buckets, row)) {
        status = find_twins(load, &lapse_node_bucket(state, row)->records,
                            "another key of the bucket has the same revision");
    }
    return status;
}

/* What had ended by the mark and stays has no place by its end, as the reaper has left it (S13). */
static void take_off_stayed(struct lapse_state *state) {
    struct lapse_now now =
        lapse_decide_now(state, state->mark.store, state->mark.reading.wall, state->log_seq);
    struct lapse_node *row = lapse_table_any(&state->buckets);
    for (; row != NULL; row = lapse_table_after(&state->buckets, row)) {
        const struct lapse_table *records = &lapse_node_bucket(state, row)->records;
        struct lapse_node *node = lapse_table_any(records);
        for (; node != NULL; node = lapse_table_after(records, node)) {
            if (!node->now.older && !lapse_state_live(node, &now) &&
                lapse_decide_stays(state, node, &now)) {
                struct lapse_image image = node->now;
                image.covered = true;
                image.reached = false;
                lapse_state_place(state, node, &image);
            }
        }
    }
}

static bool is_mark(const struct lapse_row *row) {
    return row->kind == LAPSE_ROW_MARK && row->part == LAPSE_PART_DURABLE && row->key.len == 0;
}

static bool part_fits(const struct lapse_load *load, const struct lapse_row *row) {
    bool now = row->kind == LAPSE_ROW_MARK && lapse_bytes_equal(row->key, lapse_bytes_of("now"));
    if (row->part == LAPSE_PART_DURABLE) {
        return !now;
    }
    return load->forking && row->part == LAPSE_PART_TENURE &&
           (now || row->kind == LAPSE_ROW_RECORD || row->kind == LAPSE_ROW_COUNTER ||
            row->kind == LAPSE_ROW_LEASE);
}

static enum lapse_status load_mark(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    if (row->part == LAPSE_PART_TENURE) {
        return load_now(load, row);
    }
    if (!is_mark(row)) {
        return load_peak(load, row);
    }
    if (load->marked) {
        return corrupt(load, row, "a mark is stored already, and there is one");
    }
    if (row->mark.store.ns < 0 || row->revision < 0 || row->revision == INT64_MAX) {
        return corrupt(load, row, "its store time or its number is out of range");
    }
    if (row->mark.ceiling_store.ns < 0 || row->mark.ceiling_token < 0) {
        return corrupt(load, row, "a ceiling of it lies below 0");
    }
    enum lapse_status status =
        lapse_decide_same_policies(state, row->mark.policies, load->err);
    if (status != LAPSE_OK) {
        return status;
    }
    load->marked = true;
    state->mark = (struct lapse_mark){row->mark.store, row->mark.reading};
    state->log_seq = row->revision;
    state->ceilings = (struct lapse_ceilings){row->mark.ceiling_store, row->mark.ceiling_token};
    return LAPSE_OK;
}

static enum lapse_status load_peak(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    if (!lapse_bytes_equal(row->key, lapse_bytes_of("peak"))) {
        return corrupt(load, row, "no mark has such a key");
    }
    if (load->counted || load->numbered || state->buckets.count > 0 || state->leases.count > 0) {
        return corrupt(load, row, "a peak comes right after the mark");
    }
    enum lapse_status status = lapse_peaks_load(state, row->revision, row->mark.reading.wall);
    if (status == LAPSE_CORRUPT) {
        return corrupt(load, row,
                       "its number and reading do not lie between those of the peak "
                       "before it and of the mark");
    }
    return status == LAPSE_OK ? LAPSE_OK : no_memory(load);
}

static enum lapse_status load_now(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    bool before =
        row->mark.store.ns < state->mark.store.ns && !lapse_decide_time_returns(state);
    if (before || row->revision < state->log_seq) {
        return corrupt(load, row, "the last command lies before the last commit");
    }
    state->last = (struct lapse_mark){row->mark.store, row->mark.reading};
    state->seq = row->revision;
    return LAPSE_OK;
}

static enum lapse_status load_counter(struct lapse_load *load, const struct lapse_row *row) {
    bool sessions = lapse_bytes_equal(row->key, lapse_bytes_of("session"));
    bool tokens = lapse_bytes_equal(row->key, lapse_bytes_of("token"));
    bool swept = lapse_bytes_equal(row->key, lapse_bytes_of("swept"));
    if ((!sessions && !tokens && !swept) || row->revision < 0) {
        return corrupt(load, row,
                       "it is no counter, which are `session`, `swept` and `token`, or it lies "
                       "below 0");
    }
    bool late = row->revision > load->state->mark.store.ns;
    if (swept && (!lapse_decide_notes_sweeps(load->state) ||
                  (late && !lapse_decide_time_returns(load->state)))) {
        return corrupt(load, row, "the store has no sweeps, or it lies after the mark");
    }
    bool *seen = sessions ? &load->numbered : swept ? &load->timed : &load->counted;
    if (*seen) {
        return corrupt(load, row, "the counter is stored twice");
    }
    *seen = true;
    struct lapse_state *state = load->state;
    *(sessions ? &state->session : swept ? &state->swept : &state->token) = row->revision;
    return LAPSE_OK;
}

static enum lapse_status load_bucket(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    const struct lapse_bucket_config *config = &row->bucket_row.config;
    if (row->bucket_row.ceiling_revision < 0 || row->bucket.len == 0 || row->key.len != 0 ||
        row->revision < 0 || lapse_term_check_config(config, NULL) != LAPSE_OK) {
        return corrupt(load, row, "no bucket has such a name, key, revision or words");
    }
    int64_t first = lapse_term_config_plain(config).first_revision;
    if (row->revision < first - 1 || (first > 1 && !lapse_decide_by_bucket(state))) {
        return corrupt(load, row, "its revision is not one that follows from its first");
    }
    if (row->bucket_row.forgotten < 0 || row->bucket_row.forgotten > row->revision) {
        return corrupt(load, row, "it has forgotten an event that it never had");
    }
    if (lapse_state_bucket(state, row->bucket) != NULL) {
        return corrupt(load, row, "the bucket is stored twice");
    }
    if (state->buckets.count >= LAPSE_BUCKETS_MAX) {
        return corrupt(load, row, "there are more buckets than a store can have");
    }
    struct lapse_image image = {.present = true,
                                .revision = row->revision,
                                .span_ns = row->bucket_row.ceiling_revision,
                                .aux.forgotten = row->bucket_row.forgotten};
    struct lapse_bucket *bucket = lapse_bucket_make(state, row->bucket);
    if (bucket == NULL || !lapse_state_reserve(state, bucket->row) ||
        !lapse_bucket_words(state->alloc, config, &image)) {
        if (bucket != NULL) {
            lapse_bucket_free(state, bucket);
        }
        return no_memory(load);
    }
    lapse_state_place(state, bucket->row, &image);
    state->revision = state->revision < row->revision ? row->revision : state->revision;
    return LAPSE_OK;
}

static enum lapse_status load_record(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_bucket *bucket = lapse_state_bucket(load->state, row->bucket);
    if (bucket == NULL) {
        return corrupt(load, row, "its bucket is not stored before it");
    }
    if ((unsigned)row->record.end.kind > LAPSE_END_WALL ||
        (unsigned)row->record.source > LAPSE_SOURCE_MARKERS ||
        (unsigned)row->record.kind > LAPSE_RECORD_GONE ||
        (unsigned)row->record.why > LAPSE_WHY_SESSION) {
        return corrupt(load, row, "its end, its term or it itself is of no kind that there is");
    }
    struct lapse_image image = {.revision = row->revision,
                                .end_kind = (uint8_t)row->record.end.kind,
                                .end_ns = row->record.end.ns,
                                .span_ns = row->record.span.ns,
                                .source = (uint8_t)row->record.source,
                                .record = (uint8_t)row->record.kind,
                                .why = (unsigned)row->record.why & 7u,
                                .idle = row->record.idle,
                                .present = true};
    if (image.record != LAPSE_RECORD_VALUE) {
        image.aux.old_revision = row->record.old_revision;
    } else if (image.end_kind == LAPSE_END_WALL) {
        image.aux.written_seq = row->record.written_seq;
    } else if (image.idle) {
        image.aux.cap_ns = row->record.cap.ns;
    }
    struct lapse_node *below = lapse_table_find(&bucket->records, row->key);
    const char *fault = record_fault(load->state, row, bucket, &image);
    if (fault == NULL && below != NULL) {
        fault = twin_fault(below, &image);
    }
    if (fault != NULL) {
        return corrupt(load, row, fault);
    }
    struct lapse_node *node = lapse_node_make(load->state->alloc, LAPSE_ROW_RECORD, row->key);
    if (node == NULL) {
        return no_memory(load);
    }
    node->bucket = bucket->index;
    enum lapse_status status = lapse_load_join(load, row->record.session, &image);
    if (status != LAPSE_OK) {
        lapse_node_free(load->state->alloc, node);
        return told(load, row, status);
    }
    image.reached = image.end_kind == LAPSE_END_WALL && lapse_peaks_reached(load->state, &image);
    if (below != NULL) {
        /* Until now it was the newest. */
        struct lapse_image covered = below->now;
        covered.older = true;
        covered.covered = covered.record == LAPSE_RECORD_VALUE &&
                          !lapse_decide_older_lives(load->state);
        covered.reached = covered.reached && !covered.covered;
        lapse_state_place(load->state, below, &covered);
    }
    return place(load, node, &image, row->record.value);
}

/* What is wrong with a record, or NULL. */
static const char *record_fault(const struct lapse_state *state, const struct lapse_row *row,
                                const struct lapse_bucket *bucket,
                                const struct lapse_image *image) {
    bool value = image->record == LAPSE_RECORD_VALUE;
    if (!value && image->record != LAPSE_RECORD_TOMBSTONE &&
        image->record != LAPSE_RECORD_MARKER && image->record != LAPSE_RECORD_PURGE &&
        image->record != LAPSE_RECORD_GONE) {
        return "no record is of such a kind";
    }
    if (row->key.len == 0 || row->record.value.len > LAPSE_VALUE_BYTES_MAX) {
        return "its key is empty or its value too long";
    }
    if (row->revision < lapse_decide_first_of(state, bucket) ||
        row->revision > bucket->row->now.revision) {
        return "its bucket has not given its revision";
    }
    if (!end_fits(state, image) || row->record.written_seq != lapse_image_written_seq(image) ||
        row->record.cap.ns != lapse_image_cap(image) ||
        row->record.last.ns != (image->idle ? lapse_image_last(image) : 0)) {
        return "its end, its span and its last use do not fit each other, or lie after the mark";
    }
    if (!source_fits(state, image)) {
        return "its term is not one that its source gives";
    }
    if (value ? row->record.old_revision != 0 || row->record.why != LAPSE_WHY_NONE
              : !trace_fits(state, row)) {
        return "a value tells of no end, and what does has no value and an older revision";
    }
    return NULL;
}

/* Whether a tombstone, purge or marker tells what those that are written tell. */
static bool trace_fits(const struct lapse_state *state, const struct lapse_row *row) {
    if (row->record.kind == LAPSE_RECORD_GONE) {
        return gone_fits(state, row);
    }
    bool why = row->record.kind == LAPSE_RECORD_MARKER
                   ? row->record.why != LAPSE_WHY_NONE
                   : row->record.why == LAPSE_WHY_NONE;
    return why && row->record.value.len == 0 &&
           lapse_decide_tells(state, row->revision, row->record.old_revision);
}

/* Whether a record is one that a key is remembered by. */
static bool gone_fits(const struct lapse_state *state, const struct lapse_row *row) {
    return lapse_decide_remembers(state) && row->record.value.len == 0 &&
           row->record.old_revision == 0;
}

/* What is wrong with a record on top of one of the same key, or NULL (S10). */
static const char *twin_fault(const struct lapse_node *below, const struct lapse_image *image) {
    size_t count = 1;
    const struct lapse_node *older = lapse_table_older(below);
    for (; older != NULL; older = lapse_table_older(older)) {
        count++;
    }
    if (below->now.revision >= image->revision) {
        return "a record of its key comes before it that is not older";
    }
    if (count >= LAPSE_HISTORY_MAX) {
        return "its key has more records than are ever kept";
    }
    if (below->now.record == LAPSE_RECORD_MARKER || image->record == LAPSE_RECORD_MARKER ||
        image->record == LAPSE_RECORD_PURGE || image->record == LAPSE_RECORD_GONE ||
        below->now.record == LAPSE_RECORD_GONE) {
        return "a marker stands alone, and nothing stays below a purge";
    }
    return NULL;
}

static enum lapse_status load_lease(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    struct lapse_image image = {.revision = row->lease.token,
                                .end_kind = (uint8_t)row->lease.end.kind,
                                .end_ns = row->lease.end.ns,
                                .span_ns = row->lease.span.ns,
                                .source = LAPSE_SOURCE_OWN,
                                .present = true};
    if (row->lease.session != 0) {
        image.source = LAPSE_SOURCE_SESSION;
    }
    bool over = row->lease.end.kind == LAPSE_END_NONE && row->lease.session == 0 &&
                lapse_decide_keeps_name(state, LAPSE_PERSISTENT);
    bool unowned = over && lapse_decide_token_by_name(state, LAPSE_PERSISTENT);
    if (over) {
        image.source = LAPSE_SOURCE_NONE;
    }
    if (row->key.len == 0 || row->bucket.len != 0 || (row->lease.owner.len == 0 && !unowned) ||
        row->lease.owner.len > LAPSE_OWNER_BYTES_MAX || row->lease.durability != LAPSE_PERSISTENT) {
        return corrupt(load, row, "no stored lease has such a name, owner or durability");
    }
    bool by_name = lapse_decide_token_by_name(state, LAPSE_PERSISTENT);
    if (by_name ? image.revision < 0 : image.revision < 1 || image.revision > state->token) {
        return corrupt(load, row, "the counter has not given its token");
    }
    bool own = row->lease.session == 0 && !over;
    if (own != (image.end_kind == LAPSE_END_STEADY) || image.end_kind == LAPSE_END_WALL ||
        !end_fits(state, &image)) {
        return corrupt(load, row, "its end and span do not fit each other, or lie after the mark");
    }
    if (lapse_table_find(&state->leases, row->key) != NULL) {
        return corrupt(load, row, "the lease is stored twice");
    }
    enum lapse_status status = lapse_load_join(load, row->lease.session, &image);
    if (status != LAPSE_OK) {
        return told(load, row, status);
    }
    struct lapse_node *node = lapse_node_make(state->alloc, LAPSE_ROW_LEASE, row->key);
    return node == NULL ? no_memory(load) : place(load, node, &image, row->lease.owner);
}

static enum lapse_status load_deferred(struct lapse_load *load, const struct lapse_row *row) {
    struct lapse_state *state = load->state;
    struct lapse_bucket *bucket = lapse_state_bucket(state, row->bucket);
    struct lapse_node *node = bucket == NULL ? NULL : lapse_table_find(&bucket->records, row->key);
    node = lapse_record_numbered(state, node, row->revision);
    int64_t used = row->record.last.ns;
    if (node == NULL || node->deferred ||
        row->mark.store.ns > used || !lapse_idle_moves(state, &node->now, used)) {
        return corrupt(load, row, "no stored key has such a renewal");
    }
    bool noted = lapse_idle_defer(state, node, row->record.last, row->mark.store);
    return noted ? LAPSE_OK : no_memory(load);
}

/* Of a fork: what a walk shows of the ephemeral leases and their tokens. */
static enum lapse_status load_ephemeral(struct lapse_load *load, const struct lapse_row *row) {
    enum lapse_status status = lapse_ephemeral_load(load->state, row);
    if (status == LAPSE_CORRUPT) {
        return corrupt(load, row, "no tenure holds such an ephemeral lease or counter");
    }
    return status == LAPSE_OK ? LAPSE_OK : no_memory(load);
}

/* Puts a fresh node into its table and heap, or frees it. */
static enum lapse_status place(struct lapse_load *load, struct lapse_node *node,
                               struct lapse_image *image, struct lapse_bytes blob) {
    struct lapse_state *state = load->state;
    if (!lapse_state_reserve_end(state, image) || !lapse_state_reserve(state, node) ||
        !lapse_image_copy_blob(state->alloc, image, blob)) {
        lapse_node_free(state->alloc, node);
        return no_memory(load);
    }
    lapse_state_place(state, node, image);
    return LAPSE_OK;
}

/* Whether kind, end, span and last use can have been written together (S4), before the mark. */
static bool end_fits(const struct lapse_state *state, const struct lapse_image *image) {
    int64_t last = 0;
    switch (image->end_kind) {
    case LAPSE_END_NONE:
        return image->end_ns == 0 && image->span_ns == 0 && !image->idle;
    case LAPSE_END_WALL:
        return image->span_ns == 0 && !image->idle && image->aux.written_seq > 0 &&
               image->aux.written_seq <= state->log_seq;
    default:
        if (image->end_ns == lapse_image_cap(image)) {
            return image->span_ns > 0 && image->end_ns > 0;
        }
        return image->span_ns > 0 && lapse_ns_sub(image->end_ns, image->span_ns, &last) &&
               begun_fits(state, image, last);
    }
}

/* Whether a term may have begun at `last`. Where reads renew a key's own term by the bucket's span,
 * it says nothing of when the key was written. */
static bool begun_fits(const struct lapse_state *state, const struct lapse_image *image,
                       int64_t last) {
    bool borrowed = image->idle && image->source == LAPSE_SOURCE_OWN &&
                    lapse_policy(state, LAPSE_POLICY_IDLE_OWN) != 0;
    bool returns = lapse_decide_time_returns(state);
    return borrowed || (last >= 0 && (returns || last <= state->mark.store.ns));
}

/* Whether kind and source go together. A default term may be one that the bucket had before it was
 * altered, but never a date; no term has no source; a cap is of an idle term and after its end. */
static bool source_fits(const struct lapse_state *state, const struct lapse_image *image) {
    bool ageless = image->record == LAPSE_RECORD_GONE ||
                   lapse_policy(state, LAPSE_POLICY_REVISION) == LAPSE_REVISION_RECORDS;
    bool value = image->record == LAPSE_RECORD_VALUE;
    int64_t cap = lapse_image_cap(image);
    if (cap != 0 && cap < image->end_ns) {
        return false;
    }
    switch (image->source) {
    case LAPSE_SOURCE_NONE:
        return (value || ageless) && image->end_kind == LAPSE_END_NONE;
    case LAPSE_SOURCE_OWN:
        return value && image->end_kind != LAPSE_END_NONE;
    case LAPSE_SOURCE_DEFAULT:
        return value && image->end_kind == LAPSE_END_STEADY;
    case LAPSE_SOURCE_MARKERS:
        return !value && image->end_kind == LAPSE_END_STEADY && !image->idle;
    default: /* a session, which has the end */
        return value && image->end_kind == LAPSE_END_NONE;
    }
}

/* Two rows of a table with one revision, or one token. */
static enum lapse_status find_twins(const struct lapse_load *load, const struct lapse_table *table,
                                    const char *what) {
    const lapse_alloc *alloc = load->state->alloc;
    struct lapse_node **nodes = NULL;
    if (!lapse_table_by_revision(alloc, table, &nodes)) {
        return no_memory(load);
    }
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 1; i < table->count && status == LAPSE_OK; i++) {
        if (nodes[i - 1]->now.revision == nodes[i]->now.revision) {
            struct lapse_row row;
            lapse_node_row(load->state, nodes[i], &nodes[i]->now, &row);
            status = corrupt(load, &row, what);
        }
    }
    lapse_alloc_free(alloc, nodes, table->count * sizeof(struct lapse_node *));
    return status;
}

/* Puts what load_session.c found into words. */
static enum lapse_status told(const struct lapse_load *load, const struct lapse_row *row,
                              enum lapse_status status) {
    if (status == LAPSE_CORRUPT) {
        return corrupt(load, row, load->fault);
    }
    return status == LAPSE_NOMEM ? no_memory(load) : status;
}

static enum lapse_status corrupt(const struct lapse_load *load, const struct lapse_row *row,
                                 const char *why) {
    char bucket[80];
    char key[80];
    return lapse_error_set(load->err, LAPSE_CORRUPT,
                           "the stored row of kind %d, bucket `%s`, key `%s`, "
                           "revision %lld is not what was written: %s; restore an older copy",
                           (int)row->kind, lapse_bytes_print(row->bucket, bucket, sizeof(bucket)),
                           lapse_bytes_print(row->key, key, sizeof(key)), (long long)row->revision,
                           why);
}

static enum lapse_status too_new(const struct lapse_load *load, const struct lapse_row *row) {
    char key[80];
    return lapse_error_set(load->err, LAPSE_VERSION,
                           "the stored row of kind %d, key `%s`, revision %lld says what this "
                           "version does not know; open the store with the version that wrote it",
                           (int)row->kind, lapse_bytes_print(row->key, key, sizeof(key)),
                           (long long)row->revision);
}

static enum lapse_status no_memory(const struct lapse_load *load) {
    return lapse_error_set(load->err, LAPSE_NOMEM, "no memory to load the store");
}
