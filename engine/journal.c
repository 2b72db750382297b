/* Driving the journal: the undo list read forwards is one transaction of rows. */
#include "handle.h"

static enum lapse_status write_all(const lapse_journal *journal, const struct lapse_state *state,
                                   struct lapse_error *err);
static enum lapse_status write_entry(const lapse_journal *journal, const struct lapse_state *state,
                                     const struct lapse_undo *entry, struct lapse_error *err);
static enum lapse_status write_peak(const lapse_journal *journal, const struct lapse_peak *peak,
                                    struct lapse_error *err);
static enum lapse_status as_fault(enum lapse_status status, bool committing,
                                  struct lapse_error *err);

enum lapse_status lapse_journal_check(const lapse_journal *journal, bool *ret_journaled,
                                      struct lapse_error *err) {
    int given = (journal->load != NULL) + (journal->begin != NULL) + (journal->put != NULL) +
                (journal->drop != NULL) + (journal->commit != NULL) + (journal->rollback != NULL) +
                (journal->close != NULL);
    if (given != 0 && given != 7) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "the journal has %d of its 7 functions; give "
                               "all of them, or none for the memory store",
                               given);
    }
    *ret_journaled = given == 7;
    return LAPSE_OK;
}

enum lapse_status lapse_journal_write(const lapse_journal *journal, enum lapse_sync sync,
                                      const struct lapse_state *state, int64_t *ret_point,
                                      struct lapse_error *err) {
    if (err != NULL) {
        err->status = LAPSE_OK; /* tells below whether the journal has said what failed */
    }
    enum lapse_status status = as_fault(journal->begin(journal->ctx, err), false, err);
    if (status != LAPSE_OK) {
        return status;
    }
    status = write_all(journal, state, err);
    if (status != LAPSE_OK) {
        journal->rollback(journal->ctx);
        return status;
    }
    int64_t point = 0;
    status = as_fault(journal->commit(journal->ctx, sync, &point, err), true, err);
    if (status == LAPSE_OK) {
        *ret_point = point;
    }
    return status;
}

static enum lapse_status write_all(const lapse_journal *journal, const struct lapse_state *state,
                                   struct lapse_error *err) {
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < state->txn.count && status == LAPSE_OK; i++) {
        status = write_entry(journal, state, &state->txn.entries[i], err);
    }
    if (status == LAPSE_OK && state->session != state->txn.session_before) {
        struct lapse_row row;
        lapse_state_counter_row("session", state->session, &row);
        status = as_fault(journal->put(journal->ctx, &row, err), false, err);
    }
    if (status == LAPSE_OK && state->swept != state->txn.swept_before) {
        struct lapse_row row;
        lapse_state_counter_row("swept", state->swept, &row);
        status = as_fault(journal->put(journal->ctx, &row, err), false, err);
    }
    if (status == LAPSE_OK && state->token != state->txn.token_before) {
        struct lapse_row row;
        lapse_state_counter_row("token", state->token, &row);
        status = as_fault(journal->put(journal->ctx, &row, err), false, err);
    }
    for (size_t i = 0; i < state->peaks.count && status == LAPSE_OK; i++) {
        status = write_peak(journal, &state->peaks.items[i], err);
    }
    if (status == LAPSE_OK) {
        struct lapse_row row;
        lapse_state_mark_row(state, &row);
        status = as_fault(journal->put(journal->ctx, &row, err), false, err);
    }
    return status;
}

static enum lapse_status write_entry(const lapse_journal *journal, const struct lapse_state *state,
                                     const struct lapse_undo *entry, struct lapse_error *err) {
    const struct lapse_node *node = entry->node;
    const struct lapse_image *before = &entry->before;
    struct lapse_row row;
    /* A record's revision is part of its row's key, so a new one leaves the old row behind. */
    bool moved = node->kind == LAPSE_ROW_RECORD && before->revision != node->now.revision;
    if (before->present && (!node->now.present || moved)) {
        lapse_node_row(state, node, before, &row);
        enum lapse_status status = as_fault(journal->drop(journal->ctx, &row, err), false, err);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    if (!node->now.present) {
        return LAPSE_OK;
    }
    if (lapse_image_same_row(before, &node->now)) {
        /* A record that a newer one now covers is stored as it was. */
        return LAPSE_OK;
    }
    lapse_node_row(state, node, &node->now, &row);
    return as_fault(journal->put(journal->ctx, &row, err), false, err);
}

static enum lapse_status write_peak(const lapse_journal *journal, const struct lapse_peak *peak,
                                    struct lapse_error *err) {
    struct lapse_row row;
    if (peak->fresh == peak->leaving) {
        /* It stays, or it would come and go in one commit. */
        return LAPSE_OK;
    }
    lapse_state_peak_row(peak, &row);
    enum lapse_status status = peak->fresh ? journal->put(journal->ctx, &row, err)
                                           : journal->drop(journal->ctx, &row, err);
    return as_fault(status, false, err);
}

/* A journal that answers what it may not is a storage that failed. */
static enum lapse_status as_fault(enum lapse_status status, bool committing,
                                  struct lapse_error *err) {
    switch (status) {
    case LAPSE_OK:
        return LAPSE_OK;
    case LAPSE_NOMEM:
    case LAPSE_IO:
    case LAPSE_CORRUPT:
    case LAPSE_LOCKED:
        break;
    default:
        status = committing ? LAPSE_UNKNOWN : LAPSE_IO;
        break;
    }
    if (err != NULL && err->status != status) {
        (void)lapse_error_set(err, status, "the journal failed: %s", lapse_status_sentence(status));
    }
    return status;
}
