/* The failing VFS of testing_vfs.h. Each file stands before one of the default VFS. */
#include "testing_vfs.h"

#include <sqlite3.h>
#include <stdlib.h>

struct file {
    sqlite3_file base;
    struct lapse_testing_vfs *owner;
    sqlite3_file *real; /* right behind this struct */
};

static bool fails(struct lapse_testing_vfs *owner, enum lapse_testing_call kind);
static sqlite3_vfs *below(void);
static sqlite3_file *real_of(sqlite3_file *file);
static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret);
static void hook_memory(void);
static void *get_memory(int bytes);
static void *resize_memory(void *ptr, int bytes);
static int close_file(sqlite3_file *file);
static int read_file(sqlite3_file *file, void *buf, int len, sqlite3_int64 at);
static int write_file(sqlite3_file *file, const void *buf, int len, sqlite3_int64 at);
static int truncate_file(sqlite3_file *file, sqlite3_int64 size);
static int sync_file(sqlite3_file *file, int flags);
static int size_file(sqlite3_file *file, sqlite3_int64 *ret);
static int lock_file(sqlite3_file *file, int level);
static int unlock_file(sqlite3_file *file, int level);
static int reserved(sqlite3_file *file, int *ret);
static int control(sqlite3_file *file, int op, void *arg);
static int sector(sqlite3_file *file);
static int traits(sqlite3_file *file);
static int shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **ret);
static int shm_lock(sqlite3_file *file, int offset, int count, int flags);
static void shm_barrier(sqlite3_file *file);
static int shm_unmap(sqlite3_file *file, int gone);

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = reserved,
    .xFileControl = control,
    .xSectorSize = sector,
    .xDeviceCharacteristics = traits,
    .xShmMap = shm_map,
    .xShmLock = shm_lock,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = shm_unmap,
};

/* SQLite asks for memory without a context. */
static struct {
    sqlite3_mem_methods real;
    struct lapse_testing_vfs *owner;
} memory;

/* Of a VFS without shared memory. */
static const sqlite3_io_methods methods_plain = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_file,
    .xWrite = write_file,
    .xTruncate = truncate_file,
    .xSync = sync_file,
    .xFileSize = size_file,
    .xLock = lock_file,
    .xUnlock = unlock_file,
    .xCheckReservedLock = reserved,
    .xFileControl = control,
    .xSectorSize = sector,
    .xDeviceCharacteristics = traits,
};

void lapse_testing_vfs_init(struct lapse_testing_vfs *vfs, const char *name) {
    hook_memory();
    *vfs = (struct lapse_testing_vfs){.fail_at = 0};
    sqlite3_vfs *own = malloc(sizeof(*own));
    if (own == NULL) {
        abort();
    }
    *own = *below();
    own->pNext = NULL;
    own->zName = name;
    own->pAppData = vfs;
    own->szOsFile += (int)sizeof(struct file);
    own->xOpen = open_file;
    vfs->vfs = own;
    memory.owner = vfs;
    (void)sqlite3_vfs_register(own, 0);
}

void lapse_testing_vfs_finish(struct lapse_testing_vfs *vfs) {
    memory.owner = NULL;
    (void)sqlite3_vfs_unregister(vfs->vfs);
    free(vfs->vfs);
}

size_t lapse_testing_vfs_memory(void) {
    return (size_t)sqlite3_memory_used();
}

void lapse_testing_vfs_fail(struct lapse_testing_vfs *vfs, enum lapse_testing_call kind, int nth,
                            int count) {
    for (int i = 0; i < LAPSE_TESTING_CALLS; i++) {
        vfs->counts[i] = 0;
    }
    vfs->kind = kind;
    vfs->fail_at = nth;
    vfs->fail_for = count;
}

static bool fails(struct lapse_testing_vfs *owner, enum lapse_testing_call kind) {
    int nth = ++owner->counts[kind];
    return kind == owner->kind && owner->fail_at > 0 && nth >= owner->fail_at &&
           nth < owner->fail_at + owner->fail_for;
}

/* Puts the faults before SQLite's own allocator; that is possible only while SQLite is at rest. */
static void hook_memory(void) {
    if (memory.real.xMalloc == NULL) {
        (void)sqlite3_shutdown();
        (void)sqlite3_config(SQLITE_CONFIG_GETMALLOC, &memory.real);
        sqlite3_mem_methods own = memory.real;
        own.xMalloc = get_memory;
        own.xRealloc = resize_memory;
        (void)sqlite3_config(SQLITE_CONFIG_MALLOC, &own);
    }
    (void)sqlite3_initialize();
}

static void *get_memory(int bytes) {
    bool failed = memory.owner != NULL && fails(memory.owner, LAPSE_TESTING_MEMORY);
    return failed ? NULL : memory.real.xMalloc(bytes);
}

static void *resize_memory(void *ptr, int bytes) {
    bool failed = memory.owner != NULL && fails(memory.owner, LAPSE_TESTING_MEMORY);
    return failed ? NULL : memory.real.xRealloc(ptr, bytes);
}

static sqlite3_vfs *below(void) {
    return sqlite3_vfs_find(NULL);
}

static sqlite3_file *real_of(sqlite3_file *file) {
    return ((struct file *)file)->real;
}

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret) {
    struct file *own = (struct file *)file;
    *own = (struct file){.owner = vfs->pAppData, .real = (sqlite3_file *)(own + 1)};
    own->real->pMethods = NULL;
    if (fails(own->owner, LAPSE_TESTING_OPEN)) {
        return SQLITE_CANTOPEN;
    }
    if (own->owner->read_only && (flags & SQLITE_OPEN_READWRITE) != 0) {
        flags = (flags & ~(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)) | SQLITE_OPEN_READONLY;
    }
    int code = below()->xOpen(below(), name, own->real, flags, ret);
    if (own->real->pMethods != NULL) {
        own->base.pMethods = own->owner->no_index ? &methods_plain : &methods;
    }
    return code;
}

static int close_file(sqlite3_file *file) {
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int read_file(sqlite3_file *file, void *buf, int len, sqlite3_int64 at) {
    if (fails(((struct file *)file)->owner, LAPSE_TESTING_READ)) {
        int code = ((struct file *)file)->owner->read_code;
        return code == 0 ? SQLITE_IOERR_READ : code;
    }
    return real_of(file)->pMethods->xRead(real_of(file), buf, len, at);
}

static int write_file(sqlite3_file *file, const void *buf, int len, sqlite3_int64 at) {
    struct lapse_testing_vfs *owner = ((struct file *)file)->owner;
    if (!fails(owner, LAPSE_TESTING_WRITE)) {
        return real_of(file)->pMethods->xWrite(real_of(file), buf, len, at);
    }
    int done = owner->left == LAPSE_TESTING_ALL ? len : len / 2;
    done = owner->left == LAPSE_TESTING_NOTHING ? 0 : done;
    if (done > 0) {
        (void)real_of(file)->pMethods->xWrite(real_of(file), buf, done, at);
    }
    return owner->full ? SQLITE_FULL : SQLITE_IOERR_WRITE;
}

static int truncate_file(sqlite3_file *file, sqlite3_int64 size) {
    if (fails(((struct file *)file)->owner, LAPSE_TESTING_WRITE)) {
        return SQLITE_IOERR_TRUNCATE;
    }
    return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int sync_file(sqlite3_file *file, int flags) {
    (void)flags;
    return fails(((struct file *)file)->owner, LAPSE_TESTING_SYNC) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

static int size_file(sqlite3_file *file, sqlite3_int64 *ret) {
    if (fails(((struct file *)file)->owner, LAPSE_TESTING_SIZE)) {
        return SQLITE_IOERR_FSTAT;
    }
    return real_of(file)->pMethods->xFileSize(real_of(file), ret);
}

static int lock_file(sqlite3_file *file, int level) {
    if (fails(((struct file *)file)->owner, LAPSE_TESTING_LOCK)) {
        return SQLITE_IOERR_LOCK;
    }
    return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int unlock_file(sqlite3_file *file, int level) {
    return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int reserved(sqlite3_file *file, int *ret) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), ret);
}

static int control(sqlite3_file *file, int op, void *arg) {
    return real_of(file)->pMethods->xFileControl(real_of(file), op, arg);
}

static int sector(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int traits(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int shm_map(sqlite3_file *file, int region, int bytes, int extend, void volatile **ret) {
    if (fails(((struct file *)file)->owner, LAPSE_TESTING_MAP)) {
        *ret = NULL;
        return SQLITE_IOERR_SHMMAP;
    }
    return real_of(file)->pMethods->xShmMap(real_of(file), region, bytes, extend, ret);
}

static int shm_lock(sqlite3_file *file, int offset, int count, int flags) {
    if ((flags & SQLITE_SHM_LOCK) != 0 && fails(((struct file *)file)->owner, LAPSE_TESTING_LOCK)) {
        return SQLITE_IOERR_SHMLOCK;
    }
    return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
}

static void shm_barrier(sqlite3_file *file) {
    real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int shm_unmap(sqlite3_file *file, int gone) {
    return real_of(file)->pMethods->xShmUnmap(real_of(file), gone);
}
