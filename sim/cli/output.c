/* Writing a whole file or none. Opening a pipe waits for a reader that may never come, and a device
 * takes bytes that nobody finds again: neither is opened. */
#define _XOPEN_SOURCE 700

#include "output.h"
#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODE_NEW = 0666, MODE_BITS = 0777 };

/* Where a file is to lie: a link stays one, and the file that it leads to is replaced. */
struct place {
    char file[LAPSE_CLI_PATH_MAX];
    char folder[LAPSE_CLI_PATH_MAX]; /* with a slash at its end */
    bool there;                      /* there is a file, `found` */
    struct stat found;
};

static const char *look_at(const char *path, struct place *ret);
static const char *split(const char *path, struct place *ret);
static bool is_input(const struct lapse_cli_options *options, const struct stat *found);
static const char *write_beside(const struct place *place, const char *bytes, size_t count);
static enum lapse_status cannot(struct lapse_error *err, const char *what, const char *path,
                                const char *why);

enum lapse_status lapse_cli_output_check(const struct lapse_cli_options *options, const char *what,
                                         const char *path, struct lapse_error *err) {
    struct place place;
    const char *fault = look_at(path, &place);
    if (fault != NULL) {
        return cannot(err, what, path, fault);
    }
    return place.there && options != NULL && is_input(options, &place.found)
               ? cannot(err, what, path, "it is one of the files to be read")
               : LAPSE_OK;
}

enum lapse_status lapse_cli_output_folder(const char *what, const char *path,
                                          struct lapse_error *err) {
    return access(path, W_OK | X_OK) == 0 ? LAPSE_OK : cannot(err, what, path, strerror(errno));
}

enum lapse_status lapse_cli_output_write(const char *what, const char *path, const char *bytes,
                                         size_t count, struct lapse_error *err) {
    struct place place;
    const char *fault = look_at(path, &place);
    if (fault == NULL) {
        fault = write_beside(&place, bytes, count);
    }
    return fault != NULL ? cannot(err, what, path, fault) : LAPSE_OK;
}

/* Returns why no file can be put there; NULL: nothing is known to be in the way. */
static const char *look_at(const char *path, struct place *ret) {
    size_t len = strlen(path);
    ret->there = stat(path, &ret->found) == 0;
    if (!ret->there && errno != ENOENT) {
        return strerror(errno);
    }
    struct stat link;
    if (!ret->there && lstat(path, &link) == 0) {
        return "it is a link to what is not there";
    }
    if (len == 0 || path[len - 1] == '/') {
        return "it names a folder";
    }
    if (!ret->there) {
        return split(path, ret);
    }
    mode_t mode = ret->found.st_mode;
    if (!S_ISREG(mode)) {
        return S_ISDIR(mode)    ? "it is a folder"
               : S_ISFIFO(mode) ? "it is a pipe, not a regular file"
               : S_ISSOCK(mode) ? "it is a socket, not a regular file"
                                : "it is a device, not a regular file";
    }
    char *real = access(path, W_OK) == 0 ? realpath(path, NULL) : NULL;
    const char *fault = real == NULL ? strerror(errno) : split(real, ret);
    free(real);
    return fault;
}

/* The folder is where the file is made, so it must take one. */
static const char *split(const char *path, struct place *ret) {
    const char *slash = strrchr(path, '/');
    int len = slash == NULL ? 0 : (int)(slash - path) + 1;
    int used = snprintf(ret->file, sizeof ret->file, "%s", path);
    if (used < 0 || (size_t)used >= sizeof ret->file) {
        return "the path is too long";
    }
    (void)snprintf(ret->folder, sizeof ret->folder, "%.*s", len, path);
    return access(len == 0 ? "." : ret->folder, W_OK | X_OK) != 0 ? strerror(errno) : NULL;
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

static const char *write_beside(const struct place *place, const char *bytes, size_t count) {
    char beside[LAPSE_CLI_PATH_MAX + 40];
    (void)snprintf(beside, sizeof beside, "%s.lapse-%ld.part", place->folder, (long)getpid());
    int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, MODE_NEW);
    if (fd < 0) {
        return strerror(errno);
    }
    int fault = lapse_cli_send_all(fd, bytes, count) ? 0 : errno;
    if (fault == 0 && place->there && fchmod(fd, place->found.st_mode & MODE_BITS) != 0) {
        fault = errno;
    }
    if (close(fd) != 0 && fault == 0) {
        fault = errno;
    }
    if (fault == 0 && rename(beside, place->file) != 0) {
        fault = errno;
    }
    if (fault != 0) {
        (void)unlink(beside);
    }
    return fault != 0 ? strerror(fault) : NULL;
}

static enum lapse_status cannot(struct lapse_error *err, const char *what, const char *path,
                                const char *why) {
    return lapse_error_set(err, LAPSE_IO, "%s: %s cannot be written (%s); name another place",
                           path, what, why);
}
