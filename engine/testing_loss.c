/* The journal of testing_loss.h: the testing journal behind one that remembers what was synced. */
#include "testing_loss.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static lapse_journal inner(struct lapse_testing_loss *loss) {
    return lapse_testing_journal_vtable(&loss->journal);
}

static void forget(struct lapse_testing_loss *loss) {
    for (size_t i = 0; i < loss->saved_count; i++) {
        free(loss->saved[i]);
    }
    loss->saved_count = 0;
}

static void save(struct lapse_testing_loss *loss) {
    forget(loss);
    for (size_t i = 0; i < loss->journal.row_count; i++) {
        const struct lapse_row *row = &loss->journal.rows[i];
        size_t len = 0;
        (void)lapse_row_encode(row, NULL, 0, &len);
        loss->saved[i] = malloc(len);
        cr_assert_not_null(loss->saved[i]);
        cr_assert_eq(lapse_row_encode(row, loss->saved[i], len, &len), LAPSE_OK);
        loss->saved_len[i] = len;
        loss->saved_count++;
    }
}

static struct lapse_row decode(const struct lapse_testing_loss *loss, size_t i) {
    struct lapse_row row;
    struct lapse_bytes bytes = {loss->saved[i], loss->saved_len[i]};
    cr_assert_eq(lapse_row_decode(bytes, &row, NULL), LAPSE_OK);
    return row;
}

static void lose(struct lapse_testing_loss *loss) {
    lapse_journal journal = inner(loss);
    int64_t point = 0;
    lapse_testing_journal_finish(&loss->journal);
    loss->journal.fail_at = 0;
    cr_assert_eq(journal.begin(journal.ctx, NULL), LAPSE_OK);
    for (size_t i = 0; i < loss->saved_count; i++) {
        struct lapse_row row = decode(loss, i);
        cr_assert_eq(journal.put(journal.ctx, &row, NULL), LAPSE_OK);
    }
    cr_assert_eq(journal.commit(journal.ctx, LAPSE_SYNC_FULL, &point, NULL), LAPSE_OK);
}

static enum lapse_status loss_load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                                   struct lapse_error *err) {
    lapse_journal journal = inner(ctx);
    return journal.load(journal.ctx, visit, visit_ctx, err);
}

static enum lapse_status loss_begin(void *ctx, struct lapse_error *err) {
    lapse_journal journal = inner(ctx);
    return journal.begin(journal.ctx, err);
}

static enum lapse_status loss_put(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    lapse_journal journal = inner(ctx);
    return journal.put(journal.ctx, row, err);
}

static enum lapse_status loss_drop(void *ctx, const struct lapse_row *row,
                                   struct lapse_error *err) {
    lapse_journal journal = inner(ctx);
    return journal.drop(journal.ctx, row, err);
}

static enum lapse_status loss_commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                     struct lapse_error *err) {
    struct lapse_testing_loss *loss = ctx;
    lapse_journal journal = inner(loss);
    if (loss->commit_fail_at == loss->synced + loss->unsynced + 1) {
        loss->journal.fail_at = loss->journal.calls + 1;
        loss->journal.fail_with = LAPSE_UNKNOWN;
    }
    enum lapse_status status = journal.commit(journal.ctx, LAPSE_SYNC_FULL, ret_point, err);
    if (status == LAPSE_OK && sync == LAPSE_SYNC_FULL) {
        save(loss);
    }
    *(sync == LAPSE_SYNC_FULL ? &loss->synced : &loss->unsynced) += 1;
    return status;
}

static void loss_rollback(void *ctx) {
    lapse_journal journal = inner(ctx);
    journal.rollback(journal.ctx);
}

static void loss_close(void *ctx) {
    lapse_journal journal = inner(ctx);
    journal.close(journal.ctx);
}

void lapse_testing_loss_init(struct lapse_testing_loss *loss) {
    memset(loss, 0, sizeof(*loss));
    lapse_testing_journal_init(&loss->journal);
}

void lapse_testing_loss_finish(struct lapse_testing_loss *loss) {
    forget(loss);
    lapse_testing_journal_finish(&loss->journal);
}

lapse_journal lapse_testing_loss_vtable(struct lapse_testing_loss *loss) {
    return (lapse_journal){loss_load,   loss_begin,    loss_put,   loss_drop,
                           loss_commit, loss_rollback, loss_close, loss};
}

void lapse_testing_loss_open(struct lapse_testing *t, struct lapse_testing_loss *loss,
                             enum lapse_sync sync) {
    lapse_testing_loss_init(loss);
    lapse_testing_open(t);
    lapse_close(t->store);
    t->options.journal = lapse_testing_loss_vtable(loss);
    t->options.sync = sync;
    lapse_testing_loss_reopen(t);
}

void lapse_testing_loss_crash(struct lapse_testing *t, struct lapse_testing_loss *loss,
                              bool machine) {
    lapse_close(t->store);
    t->store = NULL;
    loss->journal.closed = false;
    if (machine) {
        lose(loss);
    }
}

void lapse_testing_loss_reopen(struct lapse_testing *t) {
    enum lapse_status status = lapse_open(&t->options, &t->store, &t->err);
    cr_assert_eq(status, LAPSE_OK, "%s", t->err.message);
}

int64_t lapse_testing_loss_ceiling(const struct lapse_testing_loss *loss) {
    for (size_t i = 0; i < loss->saved_count; i++) {
        struct lapse_row row = decode(loss, i);
        if (row.kind == LAPSE_ROW_MARK && row.key.len == 0) {
            return row.mark.ceiling_store.ns;
        }
    }
    return 0;
}

int64_t lapse_testing_loss_token(const struct lapse_testing_loss *loss) {
    int64_t most = 0;
    for (size_t i = 0; i < loss->saved_count; i++) {
        struct lapse_row row = decode(loss, i);
        bool mark = row.kind == LAPSE_ROW_MARK && row.key.len == 0;
        bool counter =
            row.kind == LAPSE_ROW_COUNTER && lapse_bytes_equal(row.key, lapse_bytes_of("token"));
        int64_t number = mark ? row.mark.ceiling_token : 0;
        number = counter ? row.revision : number;
        most = number > most ? number : most;
    }
    return most;
}

int64_t lapse_testing_loss_revision(const struct lapse_testing_loss *loss, const char *bucket) {
    for (size_t i = 0; i < loss->saved_count; i++) {
        struct lapse_row row = decode(loss, i);
        if (row.kind == LAPSE_ROW_BUCKET &&
            lapse_bytes_equal(row.bucket, lapse_bytes_of(bucket))) {
            int64_t ceiling = row.bucket_row.ceiling_revision;
            return ceiling > row.revision ? ceiling : row.revision;
        }
    }
    return 0;
}
