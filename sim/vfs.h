/* A VFS of SQLite over the disk in memory: the real SQLite store runs, recovers and breaks on it.
 *
 * SQLite keeps two things for the whole process, its list of VFSs and its generator of random
 * numbers. Both are touched in vfs.c alone: the VFS stands in the list only while a database is
 * opened, never as the default one, and the generator is seeded at each opening, so that what is
 * written does not depend on what the process did before. So one store at a time is open on disks
 * of one process; parallel runs are processes.
 *
 * What SQLite allocates for itself lies in the C library's heap. */
#ifndef SIM_VFS_H
#define SIM_VFS_H

#include "disk.h"
#include "lapse/journal.h"

#define LAPSE_SIM_STORE_PATH "/store"

struct lapse_sim_vfs; /* of one disk */

/* Both are borrowed. NULL: no memory. */
struct lapse_sim_vfs *lapse_sim_vfs_make(struct lapse_sim_disk *disk);
/* Nothing may be open. NULL is allowed. */
void lapse_sim_vfs_free(struct lapse_sim_vfs *vfs);

/* Opens or makes the store file of the disk. As lapse_sqlite_open. */
enum lapse_status lapse_sim_vfs_open(struct lapse_sim_vfs *vfs, lapse_journal *ret,
                                     struct lapse_error *err);

/* For who opens a database on the disk without the engine: between the two calls SQLite knows the
 * VFS by the name that is returned. */
const char *lapse_sim_vfs_enter(struct lapse_sim_vfs *vfs);
void lapse_sim_vfs_leave(struct lapse_sim_vfs *vfs);

#endif
