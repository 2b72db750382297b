/* Private: the SQLite store. sqlite.c opens and closes the file, sqlite_probe.c looks at it without
 * touching it, sqlite_rows.c turns rows into columns, sqlite_journal.c is the journal over it,
 * sqlite_schema.c holds the tables, sqlite_lock.c the lock. */
#ifndef ENGINE_SQLITE_STORE_H
#define ENGINE_SQLITE_STORE_H

#include "lapse/sqlite.h"

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_vfs;

enum { SQLITE_KINDS = LAPSE_ROW_REQUEST + 1, SQLITE_PAGE_BYTES = 4096 };

enum sqlite_step {
    SQLITE_STEP_BEGIN,
    SQLITE_STEP_COMMIT,
    SQLITE_STEP_ROLLBACK,
    SQLITE_STEPS
};

/* W1: `failed` is set when memory and file may differ; nothing is written from then on.
 * W2: a failed commit leaves no frame behind that a recovery could take for a commit.
 * W3: what load shows is durable when load returns. */
struct lapse_sqlite {
    const lapse_alloc *alloc;
    struct sqlite3_vfs *vfs;
    struct sqlite3 *db;
    char *path; /* full, links followed */
    size_t path_cap;
    int lock_fd; /* -1: none */
    int64_t owner; /* the process that has opened it */
    struct sqlite3_stmt *puts[SQLITE_KINDS], *drops[SQLITE_KINDS];
    struct sqlite3_stmt *steps[SQLITE_STEPS];
    enum lapse_sync level;      /* of SQLite's own commits */
    enum lapse_sync level_next; /* from the next transaction on */
    enum lapse_sync wanted;     /* by the last commit */
    int frames, frames_next;  /* in the log; a checkpoint is tried at frames_next */
    unsigned data_version;    /* moves when another connection writes */
    int64_t point;            /* commits since the store was made */
    bool logged;              /* the log held something when the file was opened */
    bool failed;
};

/* ---- sqlite_schema.c */
/* Application id and schema version, as the file's header has them. */
enum { SQLITE_APPLICATION_ID = 0x6c617073, SQLITE_SCHEMA_VERSION = 2 };
struct lapse_sqlite_object {
    const char *type, *name, *sql;
};
/* The nth table or view, or NULL past the last. */
const struct lapse_sqlite_object *lapse_sqlite_schema(size_t n);

/* ---- sqlite_lock.c; of FILE-lock, whose text says that a store was made beside it. */
/* Locks it. OK; ABSENT: it does not exist and `make` is false; LOCKED, IO. */
enum lapse_status lapse_sqlite_lock(struct lapse_sqlite *store, bool make, struct lapse_error *err);
/* OK, or IO: the store's path leads to what is no plain file. */
enum lapse_status lapse_sqlite_regular(const struct lapse_sqlite *store, struct lapse_error *err);
/* Notes the process that has it open; whether this is that one, and no fork of it. */
void lapse_sqlite_own(struct lapse_sqlite *store);
bool lapse_sqlite_owned(const struct lapse_sqlite *store);
bool lapse_sqlite_lock_says_made(const struct lapse_sqlite *store);
void lapse_sqlite_lock_say_made(const struct lapse_sqlite *store);
void lapse_sqlite_unlock(struct lapse_sqlite *store);

/* ---- sqlite_probe.c */
/* Looks at the file and changes nothing. OK: it is absent or empty (*ret_fresh), or a store of this
 * version as far as its header shows. VERSION, CORRUPT, IO, NOMEM. */
enum lapse_status lapse_sqlite_probe(struct lapse_sqlite *store, bool *ret_fresh,
                                     struct lapse_error *err);

/* ---- sqlite_rows.c */
/* Visits all rows in the order that load asks for; their checksums fit. */
enum lapse_status lapse_sqlite_load_rows(struct lapse_sqlite *store, lapse_row_visit visit,
                                         void *visit_ctx, struct lapse_error *err);
enum lapse_status lapse_sqlite_put(struct lapse_sqlite *store, const struct lapse_row *row,
                                   struct lapse_error *err);
enum lapse_status lapse_sqlite_drop(struct lapse_sqlite *store, const struct lapse_row *row,
                                    struct lapse_error *err);

/* ---- sqlite_journal.c */
lapse_journal lapse_sqlite_vtable(struct lapse_sqlite *store);
void lapse_sqlite_hook(struct lapse_sqlite *store);

/* ---- sqlite.c */
void lapse_sqlite_close(struct lapse_sqlite *store);
/* Prepares `sql` once and for all. OK or a fault. */
enum lapse_status lapse_sqlite_prepare(struct lapse_sqlite *store, const char *sql,
                                       struct sqlite3_stmt **ret, struct lapse_error *err);
/* Turns on the log, which is written into the file's header; no effect where it is on already. */
enum lapse_status lapse_sqlite_use_log(struct lapse_sqlite *store, struct lapse_error *err);
/* What SQLite's code says, as a status with a sentence. */
enum lapse_status lapse_sqlite_fault(const struct lapse_sqlite *store, int code, const char *doing,
                                     struct lapse_error *err);
/* Runs statements that give no rows. */
enum lapse_status lapse_sqlite_exec(struct lapse_sqlite *store, const char *sql, const char *doing,
                                    struct lapse_error *err);

#endif
