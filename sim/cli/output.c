/* Writing a whole file or none. Opening a pipe waits for a reader that may never come, and a device
 * takes bytes that nobody finds again: neither is opened. */
#define _XOPEN_SOURCE 700

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE_NEW = 0666, MODE_BITS = 0777 };

static bool is_input(const struct lapse_cli_options *options, const struct stat *found);
static const char *fault_of(const char *path, struct stat *ret_found, bool *ret_there);
static bool folder_of(const char *path, char *ret);
static int write_all(int fd, const char *bytes, size_t count);
static enum lapse_status cannot(struct lapse_error *err, const char *what, const char *path,
                                const char *why);

enum lapse_status lapse_cli_output_check(const struct lapse_cli_options *options, const char *what,
                                         const char *path, struct lapse_error *err) {
    struct stat found;
    bool there;
    const char *fault = fault_of(path, &found, &there);
    if (fault != NULL) {
        return cannot(err, what, path, fault);
    }
    return there && options != NULL && is_input(options, &found)
               ? cannot(err, what, path, "it is one of the files to be read")
               : LAPSE_OK;
}

enum lapse_status lapse_cli_output_folder(const char *what, const char *path,
                                          struct lapse_error *err) {
    return access(path, W_OK | X_OK) == 0 ? LAPSE_OK : cannot(err, what, path, strerror(errno));
}

enum lapse_status lapse_cli_output_write(const char *what, const char *path, const char *bytes,
                                         size_t count, struct lapse_error *err) {
    char folder[LAPSE_CLI_PATH_MAX], beside[LAPSE_CLI_PATH_MAX + 40];
    struct stat found;
    bool there;
    const char *fault = fault_of(path, &found, &there);
    /* A link stays one: the file that it leads to is replaced. */
    char *real = fault == NULL && there ? realpath(path, NULL) : NULL;
    const char *place = real != NULL ? real : path;
    if (fault == NULL && !folder_of(place, folder)) {
        fault = "the path is too long";
    }
    if (fault == NULL) {
        (void)snprintf(beside, sizeof beside, "%s.lapse-%ld.part", folder, (long)getpid());
        int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE_NEW);
        int code = fd < 0 ? errno : write_all(fd, bytes, count);
        if (code == 0 && there && fchmod(fd, found.st_mode & MODE_BITS) != 0) {
            code = errno;
        }
        if (fd >= 0 && close(fd) != 0 && code == 0) {
            code = errno;
        }
        if (code == 0 && rename(beside, place) != 0) {
            code = errno;
        }
        if (code != 0 && fd >= 0) {
            (void)unlink(beside);
        }
        fault = code != 0 ? strerror(code) : NULL;
    }
    free(real);
    return fault != NULL ? cannot(err, what, path, fault) : LAPSE_OK;
}

static bool is_input(const struct lapse_cli_options *options, const struct stat *found) {
    for (size_t i = 0; i < options->path_count; i++) {
        struct stat input;
        if (stat(options->paths[i], &input) == 0 && input.st_dev == found->st_dev &&
            input.st_ino == found->st_ino) {
            return true;
        }
    }
    return false;
}

/* Why no file can be put there; NULL: none is known. *ret_there: there is one, *ret_found. */
static const char *fault_of(const char *path, struct stat *ret_found, bool *ret_there) {
    char folder[LAPSE_CLI_PATH_MAX];
    *ret_there = stat(path, ret_found) == 0;
    if (*ret_there) {
        mode_t mode = ret_found->st_mode;
        return S_ISDIR(mode)                 ? "it is a folder"
               : S_ISFIFO(mode)              ? "it is a pipe, not a regular file"
               : S_ISSOCK(mode)              ? "it is a socket, not a regular file"
               : !S_ISREG(mode)              ? "it is a device, not a regular file"
               : access(path, W_OK) != 0     ? strerror(errno)
                                             : NULL;
    }
    if (errno != ENOENT) {
        return strerror(errno);
    }
    if (!folder_of(path, folder)) {
        return "the path is too long";
    }
    size_t len = strlen(path);
    if (len == 0 || path[len - 1] == '/') {
        return "it names a folder";
    }
    return access(folder, W_OK | X_OK) != 0 ? strerror(errno) : NULL;
}

/* All up to the last slash; "./" without one. False: it does not fit. */
static bool folder_of(const char *path, char *ret) {
    const char *slash = strrchr(path, '/');
    int len = slash == NULL ? 0 : (int)(slash - path) + 1;
    int used = snprintf(ret, LAPSE_CLI_PATH_MAX, "%.*s%s", len, path, slash == NULL ? "./" : "");
    return used > 0 && used < LAPSE_CLI_PATH_MAX;
}

/* Returns 0, or errno. */
static int write_all(int fd, const char *bytes, size_t count) {
    for (size_t at = 0; at < count;) {
        ssize_t done = write(fd, bytes + at, count - at);
        if (done > 0) {
            at += (size_t)done;
        } else if (done == 0 || errno != EINTR) {
            return done == 0 ? ENOSPC : errno;
        }
    }
    return 0;
}

static enum lapse_status cannot(struct lapse_error *err, const char *what, const char *path,
                                const char *why) {
    return lapse_error_set(err, LAPSE_IO, "%s: %s cannot be written (%s); name another place",
                           path, what, why);
}
