/* The SQLite store: a journal in a file that a person can read with the sqlite3 shell while a
 * process writes it.
 *
 * The file is written ahead of each answer, in WAL mode: one transaction a call or batch. It is
 * read once, at open. Writers exclude each other by an advisory lock on FILE-lock, which the system
 * drops with the process (with the last one, if it forks) and which stays beside the file. A forked
 * child answers `locked` to what would write; it may close what it has inherited. Each row
 * carries a checksum; the file carries an application id and a schema version, and one of another
 * version, older or newer, is `version`. A file that cannot be opened is left as it was.
 *
 * Reading beside a writer is free. Writing there is not: the writer finds it at its next commit,
 * answers `corrupt` and writes no more until it is reopened. A log (FILE-wal) that a long reader
 * holds back grows until the reader ends; then it is folded into the file and begun anew.
 *
 * Not thread-safe by itself: it is driven under its handle's lock. */
#ifndef LAPSE_SQLITE_H
#define LAPSE_SQLITE_H

#include "lapse/lapse.h"

#ifdef __cplusplus
extern "C" {
#endif

struct lapse_sqlite_options {
    const lapse_alloc *alloc; /* borrowed until close; NULL: the C library's */
    const char *vfs;          /* a VFS registered with SQLite; NULL: the default one */
    bool no_lock;             /* takes no FILE-lock: for a VFS whose files no other process sees */
};

/* Opens or makes the store file `path` and gives it as a journal, which lapse_open takes over.
 * options may be NULL. Returns
 *   OK       *ret is written; its close closes the file
 *   LOCKED   another process has it open for writing
 *   VERSION  another program's file, or one of a newer schema
 *   CORRUPT  not a database, or damaged, or an index or trigger was added to its tables (views and
 *            tables of one's own may be)
 *   IO       the file cannot be opened, read or made, or it or its lock is no plain file
 *   NOMEM, INVALID (path NULL or empty). */
enum lapse_status lapse_sqlite_open(const char *path, const struct lapse_sqlite_options *options,
                                    lapse_journal *ret, struct lapse_error *err);

/* lapse_open on the store file `path`: options->journal must be all NULL. On failure nothing stays
 * open. Also what lapse_open and lapse_sqlite_open return. */
enum lapse_status lapse_open_file(const char *path, const struct lapse_options *options,
                                  struct lapse **ret, struct lapse_error *err);

#ifdef __cplusplus
}
#endif
#endif
