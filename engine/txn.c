/* All or nothing: the undo list.
 *
 * Memory is reserved before a row changes, and every changed row is listed once with the image it
 * had. Playing the list back needs no memory and cannot fail; read forwards it is the set of rows
 * that differ, which is what the journal writes. */
#include "decide.h"

enum { AHEAD = 8 }; /* rows of a long list that are asked for before they are needed */

static enum lapse_status none_left(const struct lapse_job *job,
                                   const struct lapse_bucket *bucket);
static void free_events(struct lapse_state *state);
static bool keep(struct lapse_job *job, const struct lapse_event *event,
                 struct lapse_bucket *bucket);

void lapse_txn_begin(struct lapse_state *state) {
    LAPSE_ASSERT(state->txn.count == 0);
    LAPSE_ASSERT(state->txn.events == NULL);
    state->txn.changes = 0;
    state->txn.token_before = state->token;
    state->txn.ceilings_before = state->ceilings;
    state->txn.session_before = state->session;
    state->txn.swept_before = state->swept;
    state->txn.revision_before = state->revision;
}

bool lapse_txn_touch(struct lapse_state *state, struct lapse_node *node) {
    struct lapse_txn *txn = &state->txn;
    if (!lapse_state_reserve(state, node)) {
        return false;
    }
    if (node->listed) {
        return true;
    }
    if (txn->count == txn->cap) {
        void *entries = txn->entries;
        if (!lapse_alloc_grow(state->alloc, &entries, &txn->cap, txn->count + 1,
                              sizeof(*txn->entries))) {
            return false;
        }
        txn->entries = entries;
    }
    node->listed = true;
    txn->entries[txn->count++] = (struct lapse_undo){node, node->now};
    return true;
}

void lapse_txn_set(struct lapse_state *state, struct lapse_node *node,
                   const struct lapse_image *image) {
    LAPSE_ASSERT(node->listed);
    unsigned char *blob = node->now.blob;
    size_t blob_len = node->now.blob_len;
    if (node->kind == LAPSE_ROW_BUCKET && node->now.present && blob == image->blob) {
        /* Each event comes by here. A bucket's row has no end, and its words stay what they are. */
        LAPSE_ASSERT(image->present);
        node->now = *image;
        state->txn.changes++;
        return;
    }
    lapse_state_place(state, node, image);
    state->txn.changes++;
    if (blob != image->blob) {
        if (node->fresh) {
            lapse_alloc_free(state->alloc, blob, blob_len);
        }
        node->fresh = image->blob != NULL;
    }
}

void lapse_txn_remove(struct lapse_state *state, struct lapse_node *node) {
    struct lapse_image absent = lapse_node_absent(node);
    lapse_txn_set(state, node, &absent);
}

enum lapse_status lapse_txn_event(struct lapse_job *job, enum lapse_event_kind kind,
                                  struct lapse_bucket *bucket, struct lapse_bytes key,
                                  const struct lapse_image *image, int64_t *ret_revision) {
    struct lapse_state *state = job->state;
    struct lapse_image row = bucket->row->now;
    bool takes = lapse_decide_takes_revision(state, bucket, kind);
    int64_t revision = image->revision;
    if (takes && !lapse_decide_next_revision(state, bucket, key, &revision)) {
        return none_left(job, bucket);
    }
    row.revision = row.revision < revision ? revision : row.revision;
    struct lapse_event event = {.kind = kind,
                                .bucket = lapse_node_key(bucket->row),
                                .key = key,
                                .revision = revision,
                                .at = job->now.store};
    if (kind == LAPSE_EVENT_PUT) {
        event.value = lapse_image_blob(image);
    } else {
        event.old_revision = image->revision;
    }
    if (kind == LAPSE_EVENT_EXPIRED) {
        event.why = lapse_image_why(image);
    }
    if (!lapse_result_event(job->result, &event) || !lapse_txn_touch(state, bucket->row) ||
        (bucket->watcher_count > 0 && !keep(job, &event, bucket))) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "no memory for an event");
    }
    lapse_txn_set(state, bucket->row, &row);
    state->revision = state->revision < revision ? revision : state->revision;
    *ret_revision = revision;
    if (revision < INT64_MAX || !takes || !lapse_decide_keeps_unmarked(state)) {
        return LAPSE_OK;
    }
    return lapse_record_last_given(job, bucket, key);
}

void lapse_txn_rollback(struct lapse_state *state) {
    struct lapse_txn *txn = &state->txn;
    state->token = txn->token_before;
    state->ceilings = txn->ceilings_before;
    state->session = txn->session_before;
    state->swept = txn->swept_before;
    state->revision = txn->revision_before;
    txn->changes = 0;
    if (txn->count == 0) {
        /* An event lists its bucket, so there is none either. */
        LAPSE_ASSERT(txn->events == NULL);
        return;
    }
    free_events(state);
    for (size_t i = txn->count; i > 0; i--) {
        struct lapse_node *node = txn->entries[i - 1].node;
        struct lapse_image before = txn->entries[i - 1].before;
        unsigned char *blob = node->now.blob;
        size_t blob_len = node->now.blob_len;
        node->listed = node->fresh = false;
        lapse_state_place(state, node, &before);
        if (blob != before.blob) {
            lapse_alloc_free(state->alloc, blob, blob_len);
        }
    }
    /* Freed last of all: a row that ended with a new session named it until it was put back. */
    for (size_t i = 0; i < txn->count; i++) {
        if (!txn->entries[i].before.present) {
            lapse_state_drop_node(state, txn->entries[i].node);
        }
    }
    txn->count = 0;
}

void lapse_txn_finish(struct lapse_state *state) {
    struct lapse_txn *txn = &state->txn;
    while (txn->events != NULL) {
        struct lapse_kept *kept = txn->events;
        txn->events = kept->next;
        kept->next = NULL;
        kept->bucket->pending--;
        lapse_ring_push(state, kept->bucket, kept);
    }
    for (size_t i = 0; i < txn->count; i++) {
        struct lapse_node *node = txn->entries[i].node;
        const struct lapse_image *before = &txn->entries[i].before;
        if (txn->count - i > AHEAD) {
            lapse_node_prefetch(txn->entries[i + AHEAD].node);
            LAPSE_PREFETCH(txn->entries[i + AHEAD].before.blob);
        }
        node->listed = node->fresh = false;
        if (before->blob != node->now.blob) {
            lapse_alloc_free(state->alloc, before->blob, before->blob_len);
        }
        if (node->now.present) {
            lapse_idle_settle(state, node, before);
        } else {
            lapse_state_drop_node(state, node);
        }
    }
    txn->count = 0;
    txn->changes = 0;
}

static enum lapse_status none_left(const struct lapse_job *job,
                                   const struct lapse_bucket *bucket) {
    char name[80];
    return lapse_error_set(job->err, LAPSE_RANGE,
                           "bucket `%s` has given its last revision, %lld, and the call needs one; "
                           "write to another bucket",
                           lapse_bytes_print(lapse_node_key(bucket->row), name, sizeof(name)),
                           (long long)INT64_MAX);
}

static void free_events(struct lapse_state *state) {
    struct lapse_txn *txn = &state->txn;
    while (txn->events != NULL) {
        struct lapse_kept *kept = txn->events;
        txn->events = kept->next;
        kept->bucket->pending--;
        lapse_kept_free(state->alloc, kept);
    }
}

/* Keeps an event for the watchers of its bucket. False when memory runs out. */
static bool keep(struct lapse_job *job, const struct lapse_event *event,
                 struct lapse_bucket *bucket) {
    struct lapse_txn *txn = &job->state->txn;
    struct lapse_kept *kept = NULL;
    if (lapse_ring_reserve(job->state, bucket)) {
        kept = lapse_kept_make(job->state->alloc, bucket, event);
    }
    if (kept == NULL) {
        return false;
    }
    if (txn->events == NULL) {
        txn->events = kept;
    } else {
        txn->events_tail->next = kept;
    }
    txn->events_tail = kept;
    bucket->pending++;
    return true;
}
