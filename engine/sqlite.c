/* Opening and closing a store file. Before SQLite may write anything, the file has passed: its
 * header (sqlite_probe.c), the lock, the tables, SQLite's check of every page, and, in load, the
 * checksum of every row. Until then nothing is folded into it, not even at close. */
#include "sqlite_store.h"

#include <sqlite3.h>
#include <string.h>

enum { BUSY_MS = 1000, MODE_MAX = 16 };

static void close_file(struct lapse_sqlite *store);
static enum lapse_status find_path(struct lapse_sqlite *store, const char *path,
                                   const struct lapse_sqlite_options *options,
                                   struct lapse_error *err);
static enum lapse_status open_file(struct lapse_sqlite *store, bool locks,
                                   struct lapse_error *err);
static enum lapse_status lock_and_probe(struct lapse_sqlite *store, bool locks, bool *ret_fresh,
                                        struct lapse_error *err);
static enum lapse_status configure(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status make(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status verify(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status verify_tables(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status verify_alone(struct lapse_sqlite *store, struct lapse_error *err);
static const char *text_of(sqlite3_stmt *stmt, int column);
static enum lapse_status verify_pages(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status prepare_steps(struct lapse_sqlite *store, struct lapse_error *err);
static enum lapse_status status_of(int code);

enum lapse_status lapse_sqlite_open(const char *path, const struct lapse_sqlite_options *options,
                                    lapse_journal *ret, struct lapse_error *err) {
    static const struct lapse_sqlite_options none;
    options = options == NULL ? &none : options;
    if (path == NULL || path[0] == '\0') {
        return lapse_error_set(err, LAPSE_INVALID,
                               "the store file has no name; give the path of one");
    }
    const lapse_alloc *alloc = options->alloc == NULL ? lapse_alloc_libc() : options->alloc;
    struct lapse_sqlite *store = lapse_alloc_zero(alloc, sizeof(*store));
    if (store == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a store file");
    }
    store->alloc = alloc;
    store->lock_fd = -1;
    lapse_sqlite_own(store);
    enum lapse_status status = find_path(store, path, options, err);
    if (status == LAPSE_OK) {
        status = open_file(store, !options->no_lock, err);
    }
    if (status != LAPSE_OK) {
        lapse_sqlite_close(store);
        return status;
    }
    *ret = lapse_sqlite_vtable(store);
    return LAPSE_OK;
}

enum lapse_status lapse_open_file(const char *path, const struct lapse_options *options,
                                  struct lapse **ret, struct lapse_error *err) {
    struct lapse_options own = *options;
    const struct lapse_sqlite_options file = {.alloc = options->alloc};
    if (own.journal.load != NULL || own.journal.begin != NULL || own.journal.put != NULL ||
        own.journal.drop != NULL || own.journal.commit != NULL || own.journal.rollback != NULL ||
        own.journal.close != NULL) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "the options name a journal, and the file is to be the journal; "
                               "leave it all NULL, or call lapse_open");
    }
    enum lapse_status status = lapse_sqlite_open(path, &file, &own.journal, err);
    if (status != LAPSE_OK) {
        return status;
    }
    status = lapse_open(&own, ret, err);
    if (status != LAPSE_OK) {
        own.journal.close(own.journal.ctx);
    }
    return status;
}

void lapse_sqlite_close(struct lapse_sqlite *store) {
    if (lapse_sqlite_owned(store)) {
        close_file(store);
    }
    /* A forked child leaves SQLite's part alone: closing it could write to the parent's file. */
    lapse_sqlite_unlock(store);
    lapse_alloc_free(store->alloc, store->path, store->path_cap);
    lapse_alloc_free(store->alloc, store, sizeof(*store));
}

static void close_file(struct lapse_sqlite *store) {
    for (int i = 0; i < SQLITE_KINDS; i++) {
        (void)sqlite3_finalize(store->puts[i]);
        (void)sqlite3_finalize(store->drops[i]);
    }
    for (int i = 0; i < SQLITE_STEPS; i++) {
        (void)sqlite3_finalize(store->steps[i]);
    }
    int code = sqlite3_close(store->db);
    LAPSE_ASSERT(code == SQLITE_OK);
}

enum lapse_status lapse_sqlite_prepare(struct lapse_sqlite *store, const char *sql,
                                       sqlite3_stmt **ret, struct lapse_error *err) {
    int code = sqlite3_prepare_v3(store->db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);
    return code == SQLITE_OK ? LAPSE_OK : lapse_sqlite_fault(store, code, "be used", err);
}

enum lapse_status lapse_sqlite_exec(struct lapse_sqlite *store, const char *sql, const char *doing,
                                    struct lapse_error *err) {
    int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? LAPSE_OK : lapse_sqlite_fault(store, code, doing, err);
}

enum lapse_status lapse_sqlite_use_log(struct lapse_sqlite *store, struct lapse_error *err) {
    sqlite3_stmt *stmt = NULL;
    char mode[MODE_MAX] = "";
    enum lapse_status status =
        lapse_sqlite_prepare(store, "PRAGMA journal_mode = WAL", &stmt, err);
    if (status != LAPSE_OK) {
        return status;
    }
    int code = sqlite3_step(stmt);
    if (code == SQLITE_ROW) {
        (void)sqlite3_snprintf(sizeof(mode), mode, "%s", sqlite3_column_text(stmt, 0));
        code = sqlite3_step(stmt);
    }
    (void)sqlite3_finalize(stmt);
    if (code != SQLITE_DONE) {
        return lapse_sqlite_fault(store, code, "be opened", err);
    }
    if (strcmp(mode, "wal") != 0) {
        return lapse_error_set(err, LAPSE_IO,
                               "`%s` cannot be written ahead, its journal is `%s`; use a VFS with "
                               "shared memory",
                               store->path, mode);
    }
    return LAPSE_OK;
}

enum lapse_status lapse_sqlite_fault(const struct lapse_sqlite *store, int code, const char *doing,
                                     struct lapse_error *err) {
    static const char *const next[] = {
        [-LAPSE_NOMEM] = "free some memory and try again",
        [-LAPSE_IO] = "see to its disk, its folder and its rights, and try again",
        [-LAPSE_CORRUPT] = "restore an older copy",
        [-LAPSE_LOCKED] = "end the other program's transaction and try again",
    };
    enum lapse_status status = status_of(code);
    return lapse_error_set(err, status, "`%s` could not %s: %s (SQLite's code %d); %s", store->path,
                           doing, sqlite3_errstr(code), code, next[-status]);
}

static enum lapse_status status_of(int code) {
    if (code == SQLITE_IOERR_NOMEM) {
        return LAPSE_NOMEM;
    }
    if (code == SQLITE_IOERR_DATA || code == SQLITE_IOERR_CORRUPTFS) {
        return LAPSE_CORRUPT;
    }
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return LAPSE_NOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return LAPSE_LOCKED;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* a table is gone, or is another */
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_SCHEMA:
        return LAPSE_CORRUPT;
    default:
        return LAPSE_IO;
    }
}

/* The full path, by which one file has one lock. */
static enum lapse_status find_path(struct lapse_sqlite *store, const char *path,
                                   const struct lapse_sqlite_options *options,
                                   struct lapse_error *err) {
    store->vfs = sqlite3_initialize() == SQLITE_OK ? sqlite3_vfs_find(options->vfs) : NULL;
    if (store->vfs == NULL) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "no VFS `%s` is registered with SQLite; register it first, or give "
                               "none for the default",
                               options->vfs == NULL ? "" : options->vfs);
    }
    size_t cap = (size_t)store->vfs->mxPathname + 1;
    store->path = lapse_alloc_zero(store->alloc, cap);
    if (store->path == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the path of a store file");
    }
    store->path_cap = cap;
    int code = store->vfs->xFullPathname(store->vfs, path, (int)cap, store->path);
    if (code != SQLITE_OK && code != SQLITE_OK_SYMLINK) {
        return lapse_error_set(err, LAPSE_IO,
                               "the path `%.200s` does not lead to a file (SQLite's code %d); name "
                               "one in a folder that exists",
                               path, code);
    }
    return LAPSE_OK;
}

static enum lapse_status open_file(struct lapse_sqlite *store, bool locks,
                                   struct lapse_error *err) {
    bool fresh = false;
    enum lapse_status status = lock_and_probe(store, locks, &fresh, err);
    if (status != LAPSE_OK) {
        return status;
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE |
                (fresh ? SQLITE_OPEN_CREATE : 0);
    int code = sqlite3_open_v2(store->path, &store->db, flags, store->vfs->zName);
    if (code != SQLITE_OK) {
        return lapse_sqlite_fault(store, code, "be opened", err);
    }
    if (sqlite3_db_readonly(store->db, "main") == 1) {
        return lapse_sqlite_fault(store, SQLITE_READONLY, "be opened for writing", err);
    }
    status = configure(store, err);
    if (status == LAPSE_OK && fresh) {
        status = make(store, err);
    }
    if (status == LAPSE_OK) {
        status = verify(store, err);
    }
    if (status == LAPSE_OK) {
        status = prepare_steps(store, err);
    }
    if (status == LAPSE_OK) {
        lapse_sqlite_hook(store);
        lapse_sqlite_lock_say_made(store);
    }
    return status;
}

/* A lock is made only beside what may become or is a store; then the file is looked at again, for
 * it may have been made meanwhile. */
static enum lapse_status lock_and_probe(struct lapse_sqlite *store, bool locks, bool *ret_fresh,
                                        struct lapse_error *err) {
    /* Opening a pipe would wait for its other end. Where no lock is taken the file may be none of
     * the system's. */
    enum lapse_status status = locks ? lapse_sqlite_regular(store, err) : LAPSE_OK;
    if (status == LAPSE_OK && locks) {
        status = lapse_sqlite_lock(store, false, err);
    }
    if (status == LAPSE_ABSENT) {
        status = lapse_sqlite_probe(store, ret_fresh, err);
        if (status == LAPSE_OK) {
            status = lapse_sqlite_lock(store, true, err);
        }
    }
    return status == LAPSE_OK ? lapse_sqlite_probe(store, ret_fresh, err) : status;
}

static enum lapse_status configure(struct lapse_sqlite *store, struct lapse_error *err) {
    (void)sqlite3_busy_timeout(store->db, BUSY_MS);
    /* Without a log a close changes nothing, and takes away what the open has put beside the file.
     */
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, store->logged ? 1 : 0,
                            NULL);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(store->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return lapse_sqlite_exec(store,
                             "PRAGMA cell_size_check = ON; PRAGMA cache_size = -8000;"
                             "PRAGMA temp_store = MEMORY; PRAGMA synchronous = EXTRA;"
                             "PRAGMA journal_size_limit = 67108864",
                             "be opened", err);
}

/* All tables in one transaction, by a rollback journal: a crash leaves a whole store or none. */
static enum lapse_status make(struct lapse_sqlite *store, struct lapse_error *err) {
    char sql[256];
    (void)sqlite3_snprintf(sizeof(sql), sql,
                           "PRAGMA page_size = %d; PRAGMA encoding = 'UTF-8'; BEGIN IMMEDIATE;"
                           "PRAGMA application_id = %d; PRAGMA user_version = %d",
                           SQLITE_PAGE_BYTES, SQLITE_APPLICATION_ID, SQLITE_SCHEMA_VERSION);
    enum lapse_status status = lapse_sqlite_exec(store, sql, "be made", err);
    for (size_t i = 0; status == LAPSE_OK && lapse_sqlite_schema(i) != NULL; i++) {
        status = lapse_sqlite_exec(store, lapse_sqlite_schema(i)->sql, "be made", err);
    }
    if (status == LAPSE_OK) {
        status = lapse_sqlite_exec(store, "COMMIT", "be made", err);
    }
    return status;
}

static enum lapse_status verify(struct lapse_sqlite *store, struct lapse_error *err) {
    enum lapse_status status = verify_tables(store, err);
    if (status == LAPSE_OK) {
        status = verify_alone(store, err);
    }
    return status == LAPSE_OK ? verify_pages(store, err) : status;
}

/* The tables are what this version makes, word for word: a flipped bit in one would be read as
 * another column. What else a person may have added (a view) does not matter. */
static enum lapse_status verify_tables(struct lapse_sqlite *store, struct lapse_error *err) {
    sqlite3_stmt *stmt = NULL;
    enum lapse_status status = lapse_sqlite_prepare(
        store,
        "SELECT count(*) FROM sqlite_schema WHERE type = ? AND name = ? AND tbl_name = ?2"
        " AND sql = ?",
        &stmt, err);
    for (size_t i = 0; status == LAPSE_OK && lapse_sqlite_schema(i) != NULL; i++) {
        const struct lapse_sqlite_object *object = lapse_sqlite_schema(i);
        (void)sqlite3_bind_text(stmt, 1, object->type, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(stmt, 2, object->name, -1, SQLITE_STATIC);
        (void)sqlite3_bind_text(stmt, 3, object->sql, -1, SQLITE_STATIC);
        int code = sqlite3_step(stmt);
        if (code != SQLITE_ROW) {
            status = lapse_sqlite_fault(store, code, "be read", err);
        } else if (sqlite3_column_int(stmt, 0) != 1) {
            status = lapse_error_set(err, LAPSE_CORRUPT,
                                     "the %s %s of `%s` is not as a store has it; restore an older "
                                     "copy",
                                     object->type, object->name, store->path);
        }
        (void)sqlite3_reset(stmt);
    }
    (void)sqlite3_finalize(stmt);
    return status;
}

/* Nothing hangs on the tables: a unique index that somebody has added would make the put of one row
 * take another away. Their own keys are no rows of the schema. */
static enum lapse_status verify_alone(struct lapse_sqlite *store, struct lapse_error *err) {
    sqlite3_stmt *stmt = NULL;
    enum lapse_status status =
        lapse_sqlite_prepare(store,
                             "SELECT s.type, s.name FROM sqlite_schema s WHERE s.tbl_name = ?"
                             " AND s.type IN ('index', 'trigger')",
                             &stmt, err);
    for (size_t i = 0; status == LAPSE_OK && lapse_sqlite_schema(i) != NULL; i++) {
        const struct lapse_sqlite_object *object = lapse_sqlite_schema(i);
        if (strcmp(object->type, "table") != 0) {
            continue;
        }
        (void)sqlite3_bind_text(stmt, 1, object->name, -1, SQLITE_STATIC);
        int code = sqlite3_step(stmt);
        if (code == SQLITE_ROW) {
            status = lapse_error_set(err, LAPSE_CORRUPT,
                                     "the table %s of `%s` has the %.20s %.200s, and a store's has "
                                     "none; drop it with the sqlite3 shell",
                                     object->name, store->path, text_of(stmt, 0), text_of(stmt, 1));
        } else if (code != SQLITE_DONE) {
            status = lapse_sqlite_fault(store, code, "be read", err);
        }
        (void)sqlite3_reset(stmt);
    }
    (void)sqlite3_finalize(stmt);
    return status;
}

static const char *text_of(sqlite3_stmt *stmt, int column) {
    const unsigned char *text = sqlite3_column_text(stmt, column);
    return text == NULL ? "" : (const char *)text;
}

/* Every page is used once and cut right: rows that a damaged page hides have no checksum to tell.
 */
static enum lapse_status verify_pages(struct lapse_sqlite *store, struct lapse_error *err) {
    sqlite3_stmt *stmt = NULL;
    enum lapse_status status =
        lapse_sqlite_prepare(store, "PRAGMA integrity_check(1)", &stmt, err);
    if (status != LAPSE_OK) {
        return status;
    }
    int code = sqlite3_step(stmt);
    const char *said = code == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
    if (code != SQLITE_ROW) {
        status = lapse_sqlite_fault(store, code, "be read", err);
    } else if (said == NULL) {
        status = lapse_sqlite_fault(store, SQLITE_NOMEM, "be read", err);
    } else if (strcmp(said, "ok") != 0) {
        status = lapse_error_set(err, LAPSE_CORRUPT,
                                 "`%s` is damaged: %.200s; restore an older copy", store->path,
                                 said);
    }
    (void)sqlite3_finalize(stmt);
    return status;
}

static enum lapse_status prepare_steps(struct lapse_sqlite *store, struct lapse_error *err) {
    static const char *const texts[SQLITE_STEPS] = {
        [SQLITE_STEP_BEGIN] = "BEGIN IMMEDIATE",
        [SQLITE_STEP_COMMIT] = "COMMIT",
        [SQLITE_STEP_ROLLBACK] = "ROLLBACK",
    };
    enum lapse_status status = LAPSE_OK;
    for (int i = 0; i < SQLITE_STEPS && status == LAPSE_OK; i++) {
        status = lapse_sqlite_prepare(store, texts[i], &store->steps[i], err);
    }
    return status;
}
