/* The journal over a store file: transactions, what a sync means, and when the log is folded into
 * the file.
 *
 * SQLite's own level (`PRAGMA synchronous`) cannot change inside a transaction, and a commit's sync
 * is known only at its end. So the level follows the last commit's, and a commit that needs more
 * than the level gives syncs the log itself.
 *
 * `EXTRA` is FULL with one more sync: of the folder, once a rollback journal is removed. Making a
 * file, and turning it to its log, goes by such a journal; one that came back with a crash of the
 * machine would roll the file's pages back to that day, whatever has been folded in since.
 *
 * A commit that fails may have written its last frame: a crash would then take it for done. So a
 * small commit that changes nothing is written over it and synced; only when that succeeds is it
 * certain that nothing happened (W2). A failed sync is never tried again: the system may have
 * dropped the pages that it could not write, and the next sync would answer done. */
#include "sqlite_store.h"

#include <sqlite3.h>

enum { FRAMES_BEFORE_CHECKPOINT = 1000 };

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err);
static enum lapse_status settle(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status begin(void *ctx, struct lapse_error *err);
static enum lapse_status put(void *ctx, const struct lapse_row *row, struct lapse_error *err);
static enum lapse_status drop(void *ctx, const struct lapse_row *row, struct lapse_error *err);
static enum lapse_status commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                struct lapse_error *err);
static void rollback(void *ctx);
static void close_store(void *ctx);
static enum lapse_status refuse(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status refuse_child(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status set_level(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status commit_failed(struct lapse_sqlite *store, int code,
                                       struct lapse_error *err);
static enum lapse_status unknown(struct lapse_sqlite *store, int code, struct lapse_error *err);
static bool nullify(struct lapse_sqlite *store);
static void checkpoint(struct lapse_sqlite *store);
static int sync_file(struct lapse_sqlite *store, int which);
static int step(struct lapse_sqlite *store, enum sqlite_step which);
static unsigned data_version(struct lapse_sqlite *store);
static int count_frames(void *ctx, sqlite3 *db, const char *name, int frames);

lapse_journal lapse_sqlite_vtable(struct lapse_sqlite *store) {
    return (lapse_journal){load, begin, put, drop, commit, rollback, close_store, store};
}

/* Takes the place of SQLite's own checkpoints: those swallow a failed sync. */
void lapse_sqlite_hook(struct lapse_sqlite *store) {
    store->frames_next = FRAMES_BEFORE_CHECKPOINT;
    (void)sqlite3_wal_hook(store->db, count_frames, store);
}

static enum lapse_status load(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err) {
    struct lapse_sqlite *store = ctx;
    if (!lapse_sqlite_owned(store)) {
        return refuse_child(store, err);
    }
    enum lapse_status status = lapse_sqlite_exec(store, "BEGIN", "be read", err);
    if (status != LAPSE_OK) {
        return status;
    }
    status = lapse_sqlite_load_rows(store, visit, visit_ctx, err);
    (void)step(store, SQLITE_STEP_ROLLBACK);
    return status == LAPSE_OK ? settle(store, err) : status;
}

/* What was loaded is shown from now on, so it is made durable: a process that wrote it may have
 * ended before its sync. From here on the file is ours, and closing it folds the log in. */
static enum lapse_status settle(struct lapse_sqlite *store, struct lapse_error *err) {
    int code = SQLITE_OK;
    enum lapse_status status = lapse_sqlite_use_log(store, err);
    if (status != LAPSE_OK) {
        return status;
    }
    if (store->logged) {
        if (!nullify(store)) {
            return lapse_sqlite_fault(store, sqlite3_extended_errcode(store->db), "be synced", err);
        }
        code = sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
        code = (code & 0xff) == SQLITE_BUSY ? SQLITE_OK : code;
    }
    if (code == SQLITE_OK) {
        code = sync_file(store, SQLITE_FCNTL_FILE_POINTER);
    }
    if (code == SQLITE_OK) {
        code = step(store, SQLITE_STEP_BEGIN);
        store->data_version = data_version(store);
        (void)step(store, SQLITE_STEP_ROLLBACK);
    }
    if (code != SQLITE_OK) {
        return lapse_sqlite_fault(store, code, "be synced", err);
    }
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
    return LAPSE_OK;
}

static enum lapse_status begin(void *ctx, struct lapse_error *err) {
    struct lapse_sqlite *store = ctx;
    if (!lapse_sqlite_owned(store)) {
        return refuse_child(store, err);
    }
    if (store->failed) {
        return refuse(store, err);
    }
    enum lapse_status status = set_level(store, err);
    if (status != LAPSE_OK) {
        return status;
    }
    int code = step(store, SQLITE_STEP_BEGIN);
    if (code != SQLITE_OK) {
        return lapse_sqlite_fault(store, code, "be written", err);
    }
    if (data_version(store) != store->data_version) {
        rollback(store);
        store->failed = true;
        return lapse_error_set(err, LAPSE_CORRUPT,
                               "`%s` was written by another program while this one had it open; "
                               "close it, see what was changed, and open it again",
                               store->path);
    }
    return LAPSE_OK;
}

static enum lapse_status put(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    return lapse_sqlite_put(ctx, row, err);
}

static enum lapse_status drop(void *ctx, const struct lapse_row *row, struct lapse_error *err) {
    return lapse_sqlite_drop(ctx, row, err);
}

static enum lapse_status commit(void *ctx, enum lapse_sync sync, int64_t *ret_point,
                                struct lapse_error *err) {
    struct lapse_sqlite *store = ctx;
    int code = step(store, SQLITE_STEP_COMMIT);
    if (code != SQLITE_OK) {
        return commit_failed(store, code, err);
    }
    store->data_version = data_version(store);
    if (sync == LAPSE_SYNC_FULL && store->level != LAPSE_SYNC_FULL) {
        code = sync_file(store, SQLITE_FCNTL_JOURNAL_POINTER);
        if (code != SQLITE_OK) {
            return unknown(store, code, err);
        }
    }
    /* One commit that asks for more is served above; two in a row move the level. */
    store->level_next = sync > store->level || sync == store->wanted ? sync : store->level;
    store->wanted = sync;
    *ret_point = store->point;
    if (store->frames >= store->frames_next) {
        checkpoint(store);
    }
    return LAPSE_OK;
}

static void rollback(void *ctx) {
    struct lapse_sqlite *store = ctx;
    /* Some faults have ended the transaction already. */
    if (!sqlite3_get_autocommit(store->db) && step(store, SQLITE_STEP_ROLLBACK) != SQLITE_OK &&
        !sqlite3_get_autocommit(store->db)) {
        store->failed = true;
    }
}

static void close_store(void *ctx) {
    lapse_sqlite_close(ctx);
}

static enum lapse_status refuse(struct lapse_sqlite *store, struct lapse_error *err) {
    return lapse_error_set(err, LAPSE_IO,
                           "`%s` is not written any more since a sync of it failed or another "
                           "program wrote it; close it and open it again",
                           store->path);
}

static enum lapse_status refuse_child(struct lapse_sqlite *store, struct lapse_error *err) {
    return lapse_error_set(err, LAPSE_LOCKED,
                           "`%s` was opened by another process, of which this one is a fork; open "
                           "the store after the fork, or send the call to that process",
                           store->path);
}

static enum lapse_status set_level(struct lapse_sqlite *store, struct lapse_error *err) {
    static const char *const levels[] = {[LAPSE_SYNC_FULL] = "PRAGMA synchronous = EXTRA",
                                         [LAPSE_SYNC_NORMAL] = "PRAGMA synchronous = NORMAL",
                                         [LAPSE_SYNC_NONE] = "PRAGMA synchronous = OFF"};
    if (store->level_next == store->level) {
        return LAPSE_OK;
    }
    /* What was folded into the file under `none` was not synced then. */
    int code = store->level == LAPSE_SYNC_NONE ? sync_file(store, SQLITE_FCNTL_FILE_POINTER)
                                               : SQLITE_OK;
    if (code != SQLITE_OK) {
        store->failed = true;
        return lapse_sqlite_fault(store, code, "be synced", err);
    }
    /* Not a statement that is kept: SQLite carries this one out when it is prepared. */
    enum lapse_status status =
        lapse_sqlite_exec(store, levels[store->level_next], "be written", err);
    store->level = status == LAPSE_OK ? store->level_next : store->level;
    return status;
}

static enum lapse_status commit_failed(struct lapse_sqlite *store, int code,
                                       struct lapse_error *err) {
    bool synced = code != SQLITE_IOERR_FSYNC && code != SQLITE_IOERR_DIR_FSYNC;
    enum lapse_status status = lapse_sqlite_fault(store, code, "be written", err);
    rollback(store);
    if (!synced || store->failed || !nullify(store)) {
        return unknown(store, code, err);
    }
    return status;
}

static enum lapse_status unknown(struct lapse_sqlite *store, int code, struct lapse_error *err) {
    store->failed = true;
    /* A close must not fold in what may not be there: the next open recovers. */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return lapse_error_set(err, LAPSE_UNKNOWN,
                           "a commit to `%s` failed (%s), and it may be there or not; close the "
                           "store and open it again to see",
                           store->path, sqlite3_errstr(code));
}

/* Writes a commit that changes nothing over whatever frames a failed one has left, and syncs. */
static bool nullify(struct lapse_sqlite *store) {
    char sql[64];
    (void)sqlite3_snprintf(sizeof(sql), sql, "PRAGMA user_version = %d", SQLITE_SCHEMA_VERSION);
    bool done = step(store, SQLITE_STEP_BEGIN) == SQLITE_OK &&
                sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK &&
                step(store, SQLITE_STEP_COMMIT) == SQLITE_OK;
    if (!done) {
        rollback(store);
        return false;
    }
    store->data_version = data_version(store);
    return sync_file(store, SQLITE_FCNTL_JOURNAL_POINTER) == SQLITE_OK;
}

/* Folds the log into the file. A reader's shell may hold part of it back: then it is tried again
 * after as many frames more. A failure changes no answer: the log still has all; but nothing more
 * is written, for the log must not be begun anew. */
static void checkpoint(struct lapse_sqlite *store) {
    if (store->level == LAPSE_SYNC_NONE && store->wanted != LAPSE_SYNC_NONE) {
        return;
    }
    int log = 0;
    int folded = 0;
    int code =
        sqlite3_wal_checkpoint_v2(store->db, "main", SQLITE_CHECKPOINT_PASSIVE, &log, &folded);
    int primary = code & 0xff;
    if (code != SQLITE_OK && primary != SQLITE_BUSY && primary != SQLITE_NOMEM) {
        store->failed = true;
        (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        return;
    }
    bool whole = code == SQLITE_OK && log == folded;
    store->frames_next = FRAMES_BEFORE_CHECKPOINT + (whole ? 0 : store->frames);
}

static int sync_file(struct lapse_sqlite *store, int which) {
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(store->db, "main", which, &file);
    if (code == SQLITE_OK && file != NULL && file->pMethods != NULL) {
        code = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
    }
    return code;
}

static int step(struct lapse_sqlite *store, enum sqlite_step which) {
    int code = sqlite3_step(store->steps[which]);
    (void)sqlite3_reset(store->steps[which]);
    return code == SQLITE_DONE || code == SQLITE_ROW ? SQLITE_OK : code;
}

/* Counted by the pager at its own commits, and where it finds, at the start of a transaction, that
 * what it knew is old: between a commit and the next begin only another connection moves it. */
static unsigned data_version(struct lapse_sqlite *store) {
    unsigned version = 0;
    (void)sqlite3_file_control(store->db, "main", SQLITE_FCNTL_DATA_VERSION, &version);
    return version;
}

static int count_frames(void *ctx, sqlite3 *db, const char *name, int frames) {
    struct lapse_sqlite *store = ctx;
    (void)db;
    (void)name;
    store->frames = frames;
    return SQLITE_OK;
}
