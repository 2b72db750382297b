/* Looking at a file before SQLite does. SQLite would roll back another program's journal, or make a
 * log beside a file that is none of ours; so the header is read first, through the VFS (a plain
 * close would drop the locks that this process holds on the file), and only a file that says it is
 * a store of this version goes on.
 *
 * The header's fields that never change in our files are compared too: nothing else covers them. */
#include "sqlite_store.h"

#include <sqlite3.h>
#include <string.h>

enum { HEADER_BYTES = 100, JOURNAL_BYTES = 28 };

struct found {
    bool exists;
    sqlite3_int64 size;
    unsigned char head[HEADER_BYTES];
};

static enum lapse_status look(const struct lapse_sqlite *store, const char *suffix, int type,
                              struct found *ret, struct lapse_error *err);
static int read_head(const struct lapse_sqlite *store, const char *name, int type,
                     struct found *ret);
static bool journal_of_making(const struct found *journal);
static enum lapse_status judge(const struct lapse_sqlite *store, const struct found *file,
                               bool whole, struct lapse_error *err);
static const char *odd_field(const unsigned char *head);
static uint32_t number_at(const unsigned char *head, size_t at);

enum lapse_status lapse_sqlite_probe(struct lapse_sqlite *store, bool *ret_fresh,
                                     struct lapse_error *err) {
    struct found file, log, journal;
    enum lapse_status status = look(store, "", SQLITE_OPEN_MAIN_DB, &file, err);
    if (status == LAPSE_OK) {
        status = look(store, "-wal", SQLITE_OPEN_WAL, &log, err);
    }
    if (status == LAPSE_OK) {
        status = look(store, "-journal", SQLITE_OPEN_MAIN_JOURNAL, &journal, err);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    store->logged = log.size > 0;
    *ret_fresh = false;
    if (journal_of_making(&journal)) {
        /* A crash while the file was made: rolled back, it is empty. */
        *ret_fresh = true;
        return LAPSE_OK;
    }
    if (file.size > 0) {
        return judge(store, &file, log.size == 0 && !journal.exists, err);
    }
    if (log.size > 0 || (file.exists && lapse_sqlite_lock_says_made(store))) {
        return lapse_error_set(err, LAPSE_CORRUPT,
                               "`%s` is empty or gone, and what lies beside it says that a store "
                               "was here; restore a copy, or remove `%s-wal` and `%s-lock` to "
                               "begin anew",
                               store->path, store->path, store->path);
    }
    *ret_fresh = true;
    return LAPSE_OK;
}

/* Size and first bytes of a file, zeros past its end. */
static enum lapse_status look(const struct lapse_sqlite *store, const char *suffix, int type,
                              struct found *ret, struct lapse_error *err) {
    *ret = (struct found){0};
    char *name = sqlite3_mprintf("%s%s", store->path, suffix);
    const char *file = name == NULL ? NULL : sqlite3_create_filename(name, "", "", 0, NULL);
    int code = file == NULL ? SQLITE_NOMEM : read_head(store, file, type, ret);
    sqlite3_free_filename((char *)(uintptr_t)file);
    sqlite3_free(name);
    return code == SQLITE_OK ? LAPSE_OK : lapse_sqlite_fault(store, code, "be looked at", err);
}

static int read_head(const struct lapse_sqlite *store, const char *name, int type,
                     struct found *ret) {
    sqlite3_vfs *vfs = store->vfs;
    int exists = 0;
    int code = vfs->xAccess(vfs, name, SQLITE_ACCESS_EXISTS, &exists);
    /* The default VFS says of an empty file that it is not there. */
    if (code != SQLITE_OK || (!exists && type != SQLITE_OPEN_MAIN_DB)) {
        return code;
    }
    sqlite3_file *file = sqlite3_malloc(vfs->szOsFile);
    if (file == NULL) {
        return SQLITE_NOMEM;
    }
    memset(file, 0, (size_t)vfs->szOsFile);
    int given = 0;
    code = vfs->xOpen(vfs, name, file, SQLITE_OPEN_READONLY | type, &given);
    ret->exists = code == SQLITE_OK;
    if (code == SQLITE_OK) {
        code = file->pMethods->xFileSize(file, &ret->size);
    }
    if (code == SQLITE_OK && ret->size == 0) {
        /* The default VFS calls a file of one byte empty. */
        ret->size = file->pMethods->xRead(file, ret->head, 1, 0) == SQLITE_OK ? 1 : 0;
    }
    if (code == SQLITE_OK && ret->size > 1) {
        code = file->pMethods->xRead(file, ret->head, HEADER_BYTES, 0);
        code = code == SQLITE_IOERR_SHORT_READ ? SQLITE_OK : code;
    }
    if (file->pMethods != NULL) {
        (void)file->pMethods->xClose(file);
    }
    sqlite3_free(file);
    if (code == SQLITE_IOERR_FSTAT && exists) {
        /* A log whose file is gone: the default VFS does not open it, but it is not empty. */
        ret->size = 1;
        return SQLITE_OK;
    }
    return code == SQLITE_CANTOPEN && !exists ? SQLITE_OK : code;
}

/* A rollback journal of a file that had no page before. */
static bool journal_of_making(const struct found *journal) {
    static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
    return journal->size >= JOURNAL_BYTES && memcmp(journal->head, magic, sizeof(magic)) == 0 &&
           number_at(journal->head, 16) == 0;
}

/* `whole`: no log and no journal adds to the file, so its size must be what it says. */
static enum lapse_status judge(const struct lapse_sqlite *store, const struct found *file,
                               bool whole, struct lapse_error *err) {
    const unsigned char *head = file->head;
    if (file->size < HEADER_BYTES || memcmp(head, "SQLite format 3", 16) != 0) {
        return lapse_error_set(err, LAPSE_CORRUPT,
                               "`%s` is not a database: it does not begin as one; name a store's "
                               "file, or one that does not exist yet",
                               store->path);
    }
    if (number_at(head, 68) != SQLITE_APPLICATION_ID) {
        return lapse_error_set(err, LAPSE_VERSION,
                               "`%s` is another program's database: its application id is %08x, a "
                               "store's is %08x; name another file",
                               store->path, (unsigned)number_at(head, 68),
                               (unsigned)SQLITE_APPLICATION_ID);
    }
    if (number_at(head, 60) > SQLITE_SCHEMA_VERSION ||
        (number_at(head, 60) > 0 && number_at(head, 60) < SQLITE_SCHEMA_VERSION)) {
        return lapse_error_set(err, LAPSE_VERSION,
                               "`%s` has schema version %u, this program reads %u alone; open it "
                               "with the version that wrote it",
                               store->path, (unsigned)number_at(head, 60),
                               (unsigned)SQLITE_SCHEMA_VERSION);
    }
    const char *odd = odd_field(head);
    int64_t pages = number_at(head, 28);
    if (odd == NULL && whole && file->size != pages * SQLITE_PAGE_BYTES) {
        odd = "its size is not that of its pages";
    }
    if (odd != NULL) {
        return lapse_error_set(err, LAPSE_CORRUPT, "`%s` is damaged: %s; restore an older copy",
                               store->path, odd);
    }
    return LAPSE_OK;
}

/* What no store's header says, or NULL. */
static const char *odd_field(const unsigned char *head) {
    static const unsigned char shape[] = {SQLITE_PAGE_BYTES >> 8, SQLITE_PAGE_BYTES & 0xff};
    static const unsigned char fractions[] = {0, 64, 32, 32};
    static const unsigned char unused[20];
    if (memcmp(head + 16, shape, sizeof(shape)) != 0 ||
        memcmp(head + 20, fractions, sizeof(fractions)) != 0) {
        return "its pages are not cut as a store's are";
    }
    if (head[18] < 1 || head[18] > 2 || head[19] != head[18]) {
        return "its format is not one that a store has";
    }
    if (number_at(head, 60) != SQLITE_SCHEMA_VERSION || number_at(head, 44) != 4) {
        return "no store has had such a schema version";
    }
    if (number_at(head, 56) != 1 || number_at(head, 52) != 0 || number_at(head, 64) != 0 ||
        memcmp(head + 72, unused, sizeof(unused)) != 0) {
        return "its header says what a store's never does";
    }
    return NULL;
}

/* Four bytes, the highest first. */
static uint32_t number_at(const unsigned char *head, size_t at) {
    return (uint32_t)head[at] << 24 | (uint32_t)head[at + 1] << 16 | (uint32_t)head[at + 2] << 8 |
           head[at + 3];
}
