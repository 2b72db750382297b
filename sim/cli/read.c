/* Reading a scenario's file. The library's own reader is plain C; here the path may lead to
 * anything that a user can name. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "contracts/jepsen.h"
#include "reports/recorded.h"
#include "runner.h"

enum { READ_BYTES = 65536 };

static const char *other_form(const struct lapse_cli_bytes *bytes);
static int open_regular(const char *path, const char *what, struct lapse_error *err);
static enum lapse_status read_all(int fd, size_t most, struct lapse_cli_bytes *ret,
                                  struct lapse_error *err);

enum lapse_status lapse_cli_read(const char *path, struct lapse_file *ret,
                                 struct lapse_error *err) {
    struct lapse_cli_bytes bytes;
    enum lapse_status status =
        lapse_cli_bytes_read(path, "a scenario", (size_t)LAPSE_FILE_BYTES_MAX + 1, &bytes, err);
    if (status == LAPSE_OK) {
        status = lapse_file_load(lapse_alloc_libc(), path, bytes.data, bytes.count, ret);
        if (status == LAPSE_NOMEM) {
            lapse_file_free(ret);
            (void)lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
        }
        const char *other = status == LAPSE_INVALID ? other_form(&bytes) : NULL;
        if (other != NULL) {
            lapse_file_free(ret);
            status = lapse_error_set(err, LAPSE_IO, "%s", other);
        }
    }
    lapse_cli_bytes_free(&bytes);
    return status;
}

/* What is no scenario and can be judged gets one sentence, not a mistake a word. NULL: none of it.
 */
static const char *other_form(const struct lapse_cli_bytes *bytes) {
    const struct lapse_bytes text = {(const unsigned char *)bytes->data, bytes->count};
    if (lapse_recorded_looks(bytes->data, bytes->count)) {
        return "it is a recorded history, and no scenario: `lapse check` judges it, and `lapse "
               "replay` tells it";
    }
    return lapse_jepsen_detect(text) == LAPSE_JEPSEN_NONE
               ? NULL
               : "it is a log of Jepsen's, and no scenario: `lapse check` judges it";
}

enum lapse_status lapse_cli_bytes_read(const char *path, const char *what, size_t most,
                                       struct lapse_cli_bytes *ret, struct lapse_error *err) {
    *ret = (struct lapse_cli_bytes){0};
    int fd = open_regular(path, what, err);
    if (fd < 0) {
        return LAPSE_IO;
    }
    enum lapse_status status = read_all(fd, most, ret, err);
    (void)close(fd);
    return status;
}

void lapse_cli_bytes_free(struct lapse_cli_bytes *bytes) {
    lapse_alloc_free(lapse_alloc_libc(), bytes->data, bytes->cap);
    *bytes = (struct lapse_cli_bytes){0};
}

/* A pipe or a terminal may never give an end of file, a device never ends: they are not read. The
 * question is put to what was opened, as the path may lead elsewhere a moment later; opening a pipe
 * must not wait for a writer. Returns the descriptor, or -1. */
static int open_regular(const char *path, const char *what, struct lapse_error *err) {
    struct stat found;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &found) != 0) {
        bool socket = errno == ENXIO;
        (void)lapse_error_set(err, LAPSE_IO,
                              socket ? "it is a socket, and %s is a regular file" : "%s",
                              socket ? what : strerror(errno));
    } else if (!S_ISREG(found.st_mode)) {
        (void)lapse_error_set(err, LAPSE_IO, "it is %s, and %s is a regular file",
                              S_ISDIR(found.st_mode)    ? "a folder"
                              : S_ISFIFO(found.st_mode) ? "a pipe"
                                                        : "a device",
                              what);
    } else {
        return fd;
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return -1;
}

/* Reads to the end, or to just past the size that is turned away, however the file grows or shrinks
 * meanwhile. */
static enum lapse_status read_all(int fd, size_t most, struct lapse_cli_bytes *ret,
                                  struct lapse_error *err) {
    while (ret->count < most) {
        void *grown = ret->data;
        if (!lapse_alloc_grow(lapse_alloc_libc(), &grown, &ret->cap, ret->count + READ_BYTES, 1)) {
            return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
        }
        ret->data = grown;
        ssize_t got = read(fd, ret->data + ret->count, ret->cap - ret->count);
        if (got == 0) {
            return LAPSE_OK;
        }
        if (got < 0 && errno != EINTR) {
            return lapse_error_set(err, LAPSE_IO, "%s", strerror(errno));
        }
        ret->count += got > 0 ? (size_t)got : 0;
    }
    return LAPSE_OK;
}
