/* FILE-lock: one writing process a store. The lock is the system's and goes with the process; it is
 * held on a file of its own, so that a reader's shell is never shut out. Unlike a record lock, it
 * belongs to the open file, so a second open in one process is refused too; and so a process that
 * forks shares it with its child, which must not write: SQLite's own locks are not the child's. */
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
static enum lapse_status odd_lock(const struct lapse_sqlite *store, struct lapse_error *err);

enum lapse_status lapse_sqlite_lock(struct lapse_sqlite *store, bool make,
                                    struct lapse_error *err) {
    int fd = open_lock(store, make);
    if (fd < 0 && errno == ENOENT && !make) {
        return LAPSE_ABSENT;
    }
    if (fd < 0 && errno == ELOOP) {
        return odd_lock(store, err);
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
    struct stat about;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        (void)close(fd);
        return odd_lock(store, err);
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

static enum lapse_status odd_lock(const struct lapse_sqlite *store, struct lapse_error *err) {
    return lapse_error_set(err, LAPSE_IO,
                           "`%s-lock` is a link, or no plain file, and a lock in it would be in "
                           "another's file; remove it",
                           store->path);
}

enum lapse_status lapse_sqlite_regular(const struct lapse_sqlite *store, struct lapse_error *err) {
    struct stat about;
    /* What is not there, or cannot be looked at, is told when it is opened. */
    if (stat(store->path, &about) != 0 || S_ISREG(about.st_mode)) {
        return LAPSE_OK;
    }
    return lapse_error_set(err, LAPSE_IO,
                           "`%s` is %s and no plain file; name a store's file, or one that does "
                           "not exist yet",
                           store->path, S_ISDIR(about.st_mode) ? "a folder" : "a pipe or a device");
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

void lapse_sqlite_own(struct lapse_sqlite *store) {
    store->owner = getpid();
}

bool lapse_sqlite_owned(const struct lapse_sqlite *store) {
    return store->owner == getpid();
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
    int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (make ? O_CREAT : 0);
    int fd = open(name, flags, 0666);
    int why = errno;
    lapse_alloc_free(store->alloc, name, cap);
    errno = why;
    return fd;
}
