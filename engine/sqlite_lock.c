/* FILE-lock: one writing process a store. The lock is the system's and goes with the process; it is
 * held on a file of its own, so that a reader's shell is never shut out. Unlike a record lock, it
 * belongs to the open file, so a second open in one process is refused too. */
#define _POSIX_C_SOURCE 200809L

#include "sqlite_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char made[] = "A lapse store lies beside this file. Its writer locks this one.\n";

static int open_lock(const struct lapse_sqlite *store, bool make);

enum lapse_status lapse_sqlite_lock(struct lapse_sqlite *store, bool make,
                                    struct lapse_error *err) {
    int fd = open_lock(store, make);
    if (fd < 0 && errno == ENOENT && !make) {
        return LAPSE_ABSENT;
    }
    if (fd < 0 && errno == ENOMEM) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the name of a lock");
    }
    if (fd < 0) {
        return lapse_error_set(err, LAPSE_IO,
                               "`%s-lock` could not be opened for writing (%s); name a store in a "
                               "folder that exists and that this process may write",
                               store->path, strerror(errno));
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        int why = errno;
        (void)close(fd);
        if (why == EWOULDBLOCK) {
            return lapse_error_set(err, LAPSE_LOCKED,
                                   "`%s` is open for writing already; close it there, or wait for "
                                   "that process to end",
                                   store->path);
        }
        return lapse_error_set(err, LAPSE_IO, "`%s-lock` could not be locked (%s)", store->path,
                               strerror(why));
    }
    store->lock_fd = fd;
    return LAPSE_OK;
}

bool lapse_sqlite_lock_says_made(const struct lapse_sqlite *store) {
    struct stat about;
    return store->lock_fd >= 0 && fstat(store->lock_fd, &about) == 0 && about.st_size > 0;
}

/* A sign that cannot be written is done without: it only tells an emptied file from a new one. */
void lapse_sqlite_lock_say_made(const struct lapse_sqlite *store) {
    if (store->lock_fd >= 0 && !lapse_sqlite_lock_says_made(store)) {
        ssize_t written = pwrite(store->lock_fd, made, sizeof(made) - 1, 0);
        (void)written;
    }
}

void lapse_sqlite_unlock(struct lapse_sqlite *store) {
    if (store->lock_fd >= 0) {
        (void)close(store->lock_fd);
        store->lock_fd = -1;
    }
}

static int open_lock(const struct lapse_sqlite *store, bool make) {
    size_t len = strlen(store->path);
    size_t cap = len + sizeof("-lock");
    char *name = lapse_alloc_zero(store->alloc, cap);
    if (name == NULL) {
        errno = ENOMEM;
        return -1;
    }
    memcpy(name, store->path, len);
    memcpy(name + len, "-lock", sizeof("-lock"));
    int fd = open(name, O_RDWR | O_CLOEXEC | (make ? O_CREAT : 0), 0666);
    int why = errno;
    lapse_alloc_free(store->alloc, name, cap);
    errno = why;
    return fd;
}
