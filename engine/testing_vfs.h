/* A VFS that fails on request: a shim over SQLite's default one. */
#ifndef ENGINE_TESTING_VFS_H
#define ENGINE_TESTING_VFS_H

#include <stdbool.h>
#include <stddef.h>

enum lapse_testing_call {
    LAPSE_TESTING_OPEN,
    LAPSE_TESTING_WRITE, /* and truncate */
    LAPSE_TESTING_SYNC,
    LAPSE_TESTING_READ,
    LAPSE_TESTING_MAP, /* of the index of the log */
    LAPSE_TESTING_SIZE,
    LAPSE_TESTING_LOCK,
    LAPSE_TESTING_MEMORY, /* of SQLite; not of the engine's allocator */
    LAPSE_TESTING_CALLS
};

/* What a failing write leaves behind. A call of another kind does nothing. */
enum lapse_testing_left { LAPSE_TESTING_NOTHING, LAPSE_TESTING_HALF, LAPSE_TESTING_ALL };

struct lapse_testing_vfs {
    void *vfs; /* its own */
    enum lapse_testing_call kind;
    int fail_at;  /* the call of that kind that fails, counted from 1; 0: none */
    int fail_for; /* how many from there on */
    enum lapse_testing_left left;
    bool full; /* a failing write says that the disk is full */
    int read_code;    /* what a failing read says; 0: that it failed */
    bool read_only;   /* opens no file for writing */
    bool no_index;    /* has no shared memory, so no index of a log */
    int counts[LAPSE_TESTING_CALLS];
};

/* Registers it under `name`; syncs are counted and left out. One at a time: SQLite's memory is the
 * process's, so its faults are those of the last one made. */
void lapse_testing_vfs_init(struct lapse_testing_vfs *vfs, const char *name);
void lapse_testing_vfs_finish(struct lapse_testing_vfs *vfs);
/* Bytes that SQLite has out. */
size_t lapse_testing_vfs_memory(void);
/* Counts from 0 and fails `count` calls of a kind from the nth on; nth 0: none. */
void lapse_testing_vfs_fail(struct lapse_testing_vfs *vfs, enum lapse_testing_call kind, int nth,
                            int count);

#endif
