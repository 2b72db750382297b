/* The one file of the simulator that makes and removes anything outside the world's memory. */
#define _DEFAULT_SOURCE
#include "store_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char pattern[] = "/tmp/lapse-XXXXXX";
static const char name[] = "/store";

enum lapse_status lapse_sim_store_file_make(struct lapse_sim_store_file *file,
                                            struct lapse_error *err) {
    LAPSE_ASSERT(sizeof(pattern) + sizeof(name) <= LAPSE_SIM_PATH_MAX);
    memcpy(file->dir, pattern, sizeof(pattern));
    if (mkdtemp(file->dir) == NULL) {
        file->dir[0] = '\0';
        return lapse_error_set(err, LAPSE_IO,
                               "no directory can be made in /tmp for the store's file; "
                               "make room there, or use `store: {kind: memory}`");
    }
    (void)snprintf(file->path, sizeof(file->path), "%.*s%s", (int)sizeof(pattern), file->dir, name);
    return LAPSE_OK;
}

/* The store keeps a log, an index of the log and a lock beside its file. What is not there is not
 * removed, and what cannot be removed is the system's to sweep. */
void lapse_sim_store_file_remove(struct lapse_sim_store_file *file) {
    static const char *const beside[] = {"", "-wal", "-shm", "-journal", "-lock"};
    if (file->dir[0] == '\0') {
        return;
    }
    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        char path[LAPSE_SIM_PATH_MAX + 16];
        (void)snprintf(path, sizeof(path), "%s%s", file->path, beside[i]);
        (void)unlink(path);
    }
    (void)rmdir(file->dir);
    file->dir[0] = '\0';
}
