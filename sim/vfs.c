/* The VFS. It has no locks, for one connection at a time has a file open for writing, and its
 * shared memory, the index of a log, is plain memory that goes with the process. Time stands still
 * and sleep takes none: what SQLite asks of the clock may not depend on the day. */
#include "vfs.h"

#include "lapse/sqlite.h"

#include <sqlite3.h>
#include <string.h>

enum { NAME_MAX_BYTES = 64, REGIONS_MAX = 64, SEED = 1 };

struct lapse_sim_vfs {
    sqlite3_vfs vfs;
    struct lapse_sim_disk *disk;
};

struct region {
    void *bytes;
    size_t len;
};

struct handle {
    sqlite3_file base;
    struct lapse_sim_disk *disk;
    struct lapse_sim_file *file;
    char *gone_with; /* a temporary file: removed when it is closed */
    struct region regions[REGIONS_MAX];
};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret);
static int delete_file(sqlite3_vfs *vfs, const char *name, int durably);
static int has_file(sqlite3_vfs *vfs, const char *name, int flags, int *ret);
static int full_path(sqlite3_vfs *vfs, const char *name, int cap, char *ret);
static int draw(sqlite3_vfs *vfs, int len, char *ret);
static int sleep_not(sqlite3_vfs *vfs, int us);
static int now_ms(sqlite3_vfs *vfs, sqlite3_int64 *ret);
static int last_error(sqlite3_vfs *vfs, int cap, char *ret);
static int close_file(sqlite3_file *file);
static int read_file(sqlite3_file *file, void *buf, int len, sqlite3_int64 at);
static int write_file(sqlite3_file *file, const void *buf, int len, sqlite3_int64 at);
static int truncate_file(sqlite3_file *file, sqlite3_int64 len);
static int sync_file(sqlite3_file *file, int flags);
static int size_file(sqlite3_file *file, sqlite3_int64 *ret);
static int lock_file(sqlite3_file *file, int level);
static int reserved(sqlite3_file *file, int *ret);
static int control(sqlite3_file *file, int op, void *arg);
static int sector(sqlite3_file *file);
static int traits(sqlite3_file *file);
static int shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **ret);
static int shm_lock(sqlite3_file *file, int offset, int count, int flags);
static void shm_barrier(sqlite3_file *file);
static int shm_unmap(sqlite3_file *file, int gone);
static int code_of(enum lapse_sim_disk_says says, int failed);
static struct handle *of(sqlite3_file *file);

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_file,
    .xLock = lock_file,
    .xUnlock = lock_file,
    .xCheckReservedLock = reserved,
    .xFileControl = control,
    .xSectorSize = sector,
    .xDeviceCharacteristics = traits,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

struct lapse_sim_vfs *lapse_sim_vfs_make(struct lapse_sim_disk *disk) {
    struct lapse_sim_vfs *made = lapse_alloc_zero(disk->alloc, sizeof(*made));
    if (made != NULL) {
        made->disk = disk;
        made->vfs = (sqlite3_vfs){.iVersion = 2,
                                  .szOsFile = (int)sizeof(struct handle),
                                  .mxPathname = NAME_MAX_BYTES,
                                  .zName = "lapse-disk",
                                  .pAppData = disk,
                                  .xOpen = open_file,
                                  .xDelete = delete_file,
                                  .xAccess = has_file,
                                  .xFullPathname = full_path,
                                  .xRandomness = draw,
                                  .xSleep = sleep_not,
                                  .xGetLastError = last_error,
                                  .xCurrentTimeInt64 = now_ms};
    }
    return made;
}

void lapse_sim_vfs_free(struct lapse_sim_vfs *vfs) {
    if (vfs != NULL) {
        lapse_alloc_free(vfs->disk->alloc, vfs, sizeof(*vfs));
    }
}

enum lapse_status lapse_sim_vfs_open(struct lapse_sim_vfs *vfs, lapse_journal *ret,
                                     struct lapse_error *err) {
    struct lapse_sqlite_options options = {
        .alloc = vfs->disk->alloc, .vfs = lapse_sim_vfs_enter(vfs), .no_lock = true};
    enum lapse_status status = lapse_sqlite_open(LAPSE_SIM_STORE_PATH, &options, ret, err);
    lapse_sim_vfs_leave(vfs);
    return status;
}

const char *lapse_sim_vfs_enter(struct lapse_sim_vfs *vfs) {
    (void)sqlite3_initialize();
    (void)sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, SEED, (sqlite3 *)NULL);
    (void)sqlite3_vfs_register(&vfs->vfs, 0);
    return vfs->vfs.zName;
}

void lapse_sim_vfs_leave(struct lapse_sim_vfs *vfs) {
    (void)sqlite3_vfs_unregister(&vfs->vfs);
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret) {
    struct handle *own = of(file);
    *own = (struct handle){.disk = vfs->pAppData};
    bool make = (flags & SQLITE_OPEN_CREATE) != 0;
    char unnamed[NAME_MAX_BYTES] = "";
    if (name == NULL) {
        (void)sqlite3_snprintf(sizeof(unnamed), unnamed, "/temporary-%d",
                               (int)own->disk->file_count);
        name = unnamed;
    }
    enum lapse_sim_disk_says says = lapse_sim_disk_open(own->disk, name, make, &own->file);
    if (says != LAPSE_SIM_DISK_DONE) {
        return code_of(says, SQLITE_CANTOPEN);
    }
    if ((flags & SQLITE_OPEN_DELETEONCLOSE) != 0) {
        own->gone_with = sqlite3_mprintf("%s", name);
    }
    if (ret != NULL) {
        *ret = flags;
    }
    own->base.pMethods = &methods;
    return SQLITE_OK;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int durably) {
    enum lapse_sim_disk_says says = lapse_sim_disk_remove(vfs->pAppData, name, durably != 0);
    return says == LAPSE_SIM_DISK_ABSENT ? SQLITE_IOERR_DELETE_NOENT
                                         : code_of(says, SQLITE_IOERR_DELETE);
}

static int has_file(sqlite3_vfs *vfs, const char *name, int flags, int *ret) {
    (void)flags;
    *ret = lapse_sim_disk_has(vfs->pAppData, name) ? 1 : 0;
    return SQLITE_OK;
}

static int full_path(sqlite3_vfs *vfs, const char *name, int cap, char *ret) {
    (void)vfs;
    (void)sqlite3_snprintf(cap, ret, "%s", name);
    return SQLITE_OK;
}

/* Never asked while the generator has a seed of its own; then zeros are as good as any. */
static int draw(sqlite3_vfs *vfs, int len, char *ret) {
    (void)vfs;
    memset(ret, 0, (size_t)len);
    return len;
}

static int sleep_not(sqlite3_vfs *vfs, int us) {
    (void)vfs;
    return us;
}

/* The first instant of 2000, in milliseconds of the Julian calendar. */
static int now_ms(sqlite3_vfs *vfs, sqlite3_int64 *ret) {
    (void)vfs;
    *ret = INT64_C(211813444800000);
    return SQLITE_OK;
}

static int last_error(sqlite3_vfs *vfs, int cap, char *ret) {
    (void)vfs;
    (void)cap;
    (void)ret;
    return 0;
}

static int close_file(sqlite3_file *file) {
    struct handle *own = of(file);
    (void)shm_unmap(file, 0);
    lapse_sim_disk_close(own->disk, own->file);
    if (own->gone_with != NULL) {
        (void)lapse_sim_disk_remove(own->disk, own->gone_with, false);
        sqlite3_free(own->gone_with);
    }
    return SQLITE_OK;
}

static int read_file(sqlite3_file *file, void *buf, int len, sqlite3_int64 at) {
    struct handle *own = of(file);
    return code_of(lapse_sim_disk_read(own->disk, own->file, buf, (size_t)len, (size_t)at),
                   SQLITE_IOERR_READ);
}

static int write_file(sqlite3_file *file, const void *buf, int len, sqlite3_int64 at) {
    struct handle *own = of(file);
    return code_of(lapse_sim_disk_write(own->disk, own->file, buf, (size_t)len, (size_t)at),
                   SQLITE_IOERR_WRITE);
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 len) {
    struct handle *own = of(file);
    return code_of(lapse_sim_disk_truncate(own->disk, own->file, (size_t)len),
                   SQLITE_IOERR_TRUNCATE);
}

static int sync_file(sqlite3_file *file, int flags) {
    (void)flags;
    struct handle *own = of(file);
    return code_of(lapse_sim_disk_sync(own->disk, own->file), SQLITE_IOERR_FSYNC);
}

static int size_file(sqlite3_file *file, sqlite3_int64 *ret) {
    *ret = (sqlite3_int64)of(file)->file->now.len;
    return SQLITE_OK;
}

static int lock_file(sqlite3_file *file, int level) {
    (void)file;
    (void)level;
    return SQLITE_OK;
}

static int reserved(sqlite3_file *file, int *ret) {
    (void)file;
    *ret = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int op, void *arg) {
    (void)file;
    (void)op;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int sector(sqlite3_file *file) {
    (void)file;
    return LAPSE_SIM_SECTOR_BYTES;
}

/* Nothing is promised: not that a sector is written whole, nor that writes keep their order. */
static int traits(sqlite3_file *file) {
    (void)file;
    return 0;
}

static int shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **ret) {
    struct handle *own = of(file);
    *ret = NULL;
    if (region < 0 || region >= REGIONS_MAX) {
        return SQLITE_IOERR_SHMMAP;
    }
    struct region *wanted = &own->regions[region];
    if (wanted->bytes == NULL && extend) {
        wanted->bytes = lapse_alloc_zero(own->disk->alloc, (size_t)bytes);
        wanted->len = (size_t)bytes;
        if (wanted->bytes == NULL) {
            return SQLITE_IOERR_NOMEM;
        }
    }
    *ret = wanted->bytes;
    return SQLITE_OK;
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    (void)file;
    (void)offset;
    (void)count;
    (void)flags;
    return SQLITE_OK;
}

static void shm_barrier(sqlite3_file *file) {
    (void)file;
}

static int shm_unmap(sqlite3_file *file, int gone) {
    (void)gone;
    struct handle *own = of(file);
    for (size_t i = 0; i < REGIONS_MAX; i++) {
        lapse_alloc_free(own->disk->alloc, own->regions[i].bytes, own->regions[i].len);
        own->regions[i] = (struct region){0};
    }
    return SQLITE_OK;
}

static int code_of(enum lapse_sim_disk_says says, int failed) {
    switch (says) {
    case LAPSE_SIM_DISK_DONE:
        return SQLITE_OK;
    case LAPSE_SIM_DISK_SHORT:
        return SQLITE_IOERR_SHORT_READ;
    case LAPSE_SIM_DISK_FULL:
        return SQLITE_FULL;
    case LAPSE_SIM_DISK_NOMEM:
        return SQLITE_IOERR_NOMEM;
    case LAPSE_SIM_DISK_ABSENT:
    case LAPSE_SIM_DISK_FAILED:
        break;
    }
    return failed;
}

static struct handle *of(sqlite3_file *file) {
    return (struct handle *)(void *)file;
}
