/* Rows or a disk, whichever the medium is, behind one face. */
#include "sim/medium.h"

#include "rows.h"
#include "sim/arena.h"
#include "vfs.h"

struct lapse_medium {
    const lapse_alloc *alloc;
    struct lapse_sim_trouble trouble; /* none ever comes */
    struct lapse_arena *arena;        /* of the rows, which go with it; NULL: it is a disk */
    struct lapse_sim_rows rows;
    struct lapse_sim_disk disk;
    struct lapse_sim_vfs *vfs;
};

static const char *const paths[LAPSE_MEDIUM_FILES] = {LAPSE_SIM_STORE_PATH,
                                                      LAPSE_SIM_STORE_PATH "-wal"};

enum lapse_status lapse_medium_make(const lapse_alloc *alloc, enum lapse_store_kind kind,
                                    struct lapse_medium **ret) {
    struct lapse_medium *medium = lapse_alloc_zero(alloc, sizeof(*medium));
    if (medium == NULL) {
        return LAPSE_NOMEM;
    }
    medium->alloc = alloc;
    lapse_sim_disk_init(&medium->disk, alloc, &medium->trouble);
    bool made = false;
    if (kind == LAPSE_STORE_SQLITE) {
        medium->vfs = lapse_sim_vfs_make(&medium->disk);
        made = medium->vfs != NULL;
    } else {
        medium->arena = lapse_arena_open();
        made = medium->arena != NULL;
    }
    if (!made) {
        lapse_medium_free(medium);
        return LAPSE_NOMEM;
    }
    if (medium->arena != NULL) {
        lapse_sim_rows_init(&medium->rows, lapse_arena_alloc(medium->arena), &medium->trouble);
    }
    *ret = medium;
    return LAPSE_OK;
}

void lapse_medium_free(struct lapse_medium *medium) {
    if (medium != NULL) {
        lapse_sim_vfs_free(medium->vfs);
        lapse_sim_disk_finish(&medium->disk);
        lapse_arena_close(medium->arena);
        lapse_alloc_free(medium->alloc, medium, sizeof(*medium));
    }
}

void lapse_medium_wipe(struct lapse_medium *medium) {
    if (medium->vfs != NULL) {
        lapse_sim_disk_wipe(&medium->disk);
    } else {
        lapse_arena_clear(medium->arena);
        lapse_sim_rows_init(&medium->rows, lapse_arena_alloc(medium->arena), &medium->trouble);
    }
}

enum lapse_status lapse_medium_open(struct lapse_medium *medium, lapse_journal *ret,
                                    struct lapse_error *err) {
    if (medium->vfs != NULL) {
        return lapse_sim_vfs_open(medium->vfs, ret, err);
    }
    *ret = lapse_sim_rows_journal(&medium->rows);
    return LAPSE_OK;
}

bool lapse_medium_crash(struct lapse_medium *medium) {
    if (medium->vfs != NULL) {
        return lapse_sim_disk_crash(&medium->disk, NULL, 0);
    }
    lapse_sim_rows_lose_unsynced(&medium->rows);
    return true;
}

bool lapse_medium_read(const struct lapse_medium *medium, enum lapse_medium_file file,
                       struct lapse_bytes *ret) {
    for (size_t i = 0; i < medium->disk.name_count; i++) {
        const struct lapse_sim_name *name = &medium->disk.names[i];
        if (name->now != NULL &&
            lapse_bytes_equal(lapse_bytes_of(name->text), lapse_bytes_of(paths[file]))) {
            *ret = (struct lapse_bytes){name->now->now.bytes, name->now->now.len};
            return true;
        }
    }
    return false;
}

bool lapse_medium_write(struct lapse_medium *medium, enum lapse_medium_file file,
                        struct lapse_bytes bytes) {
    struct lapse_sim_disk *disk = &medium->disk;
    struct lapse_sim_file *made = NULL;
    (void)lapse_sim_disk_remove(disk, paths[file], true);
    if (lapse_sim_disk_open(disk, paths[file], true, &made) != LAPSE_SIM_DISK_DONE) {
        return false;
    }
    bool done = lapse_sim_disk_write(disk, made, bytes.data, bytes.len, 0) == LAPSE_SIM_DISK_DONE &&
                lapse_sim_disk_sync(disk, made) == LAPSE_SIM_DISK_DONE;
    lapse_sim_disk_close(disk, made);
    return done;
}
