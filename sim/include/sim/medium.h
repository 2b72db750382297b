/* A medium: memory in which a store keeps its rows, or its file, and finds them again when it is
 * opened anew. For programs that drive a store by itself; the nodes of a world have their own disks
 * (and all that can befall those).
 *
 * One store at a time is open on the media of a process (sim/vfs.h says why). */
#ifndef SIM_MEDIUM_H
#define SIM_MEDIUM_H

#include "lapse/journal.h"
#include "sim/plan.h"

struct lapse_medium;

/* An empty one: rows (MEMORY) or a file (SQLITE). alloc is borrowed. OK or NOMEM. */
enum lapse_status lapse_medium_make(const lapse_alloc *alloc, enum lapse_store_kind kind,
                                    struct lapse_medium **ret);
/* No store may be open on it, here and below. NULL is allowed. */
void lapse_medium_free(struct lapse_medium *medium);
/* Makes it as it was just after it was made. */
void lapse_medium_wipe(struct lapse_medium *medium);

/* The journal for a store that opens on it; its close leaves the medium as it is. As
 * lapse_sqlite_open. */
enum lapse_status lapse_medium_open(struct lapse_medium *medium, lapse_journal *ret,
                                    struct lapse_error *err);
/* The machine has fallen: what no sync has reached is gone. False: no memory. */
bool lapse_medium_crash(struct lapse_medium *medium);

/* ---- The files of a SQLITE one, as they are now. */
enum lapse_medium_file {
    LAPSE_MEDIUM_STORE = 0,
    LAPSE_MEDIUM_LOG = 1,
    LAPSE_MEDIUM_FILES /* how many there are */
};
/* The bytes of a file, borrowed until something is written; false: there is no such file. */
bool lapse_medium_read(const struct lapse_medium *medium, enum lapse_medium_file file,
                       struct lapse_bytes *ret);
/* Makes it a file of these bytes, all of them durable. False: no memory. */
bool lapse_medium_write(struct lapse_medium *medium, enum lapse_medium_file file,
                        struct lapse_bytes bytes);

#endif
