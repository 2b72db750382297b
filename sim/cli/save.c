/* One file a scenario. A name is made of the scenario's, so that it can be found, and of a number
 * for its place, so that two scenarios of one name do not meet. */
#define _POSIX_C_SOURCE 200809L

#include "save.h"
#include "children.h"
#include "output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reports/recorded.h"

enum { NAME_BYTES_MAX = 60, FILE_BYTES_MAX = 160, PATH_BYTES_MAX = 4096 };
static const char suffix[] = ".jsonl";

static bool holds_histories(DIR *folder);
static void file_name(const struct lapse_result_view *view, char *buf, size_t cap);
static enum lapse_status write_file(int fd, const struct lapse_out *out, const char *path,
                                    struct lapse_error *err);

enum lapse_status lapse_cli_save_folder(const char *folder, struct lapse_error *err) {
    if (mkdir(folder, 0777) == 0) {
        return LAPSE_OK;
    }
    DIR *found = errno == EEXIST ? opendir(folder) : NULL;
    if (found == NULL) {
        return lapse_error_set(err, LAPSE_IO, "%s: the folder for histories cannot be made (%s)",
                               folder, strerror(errno));
    }
    bool held = holds_histories(found);
    (void)closedir(found);
    if (held) {
        return lapse_error_set(err, LAPSE_IO,
                               "%s holds recorded histories, and none is overwritten: name another "
                               "folder, or take them away",
                               folder);
    }
    return lapse_cli_output_folder("histories", folder, err);
}

enum lapse_status lapse_cli_save(const char *folder, const struct lapse_result_view *view,
                                 struct lapse_error *err) {
    char name[FILE_BYTES_MAX], path[PATH_BYTES_MAX];
    file_name(view, name, sizeof name);
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= sizeof path) {
        return lapse_error_set(err, LAPSE_IO, "the name of the folder for histories is too long");
    }
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    enum lapse_status status = lapse_recorded_write(&out, view, err);
    if (status == LAPSE_OK) {
        int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        status = fd >= 0 ? write_file(fd, &out, path, err)
                         : lapse_error_set(err, LAPSE_IO, "%s: the history cannot be saved (%s)",
                                           path, strerror(errno));
    }
    lapse_out_free(&out);
    return status;
}

static bool holds_histories(DIR *folder) {
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        size_t len = strlen(entry->d_name);
        if (len >= sizeof suffix &&
            strcmp(entry->d_name + len - (sizeof suffix - 1), suffix) == 0) {
            return true;
        }
    }
    return false;
}

/* "a-paused-holder-row2-seed1-0badcafe.jsonl": small letters, digits and dashes of the name. */
static void file_name(const struct lapse_result_view *view, char *buf, size_t cap) {
    char words[NAME_BYTES_MAX + 1], row[24] = "";
    size_t len = 0;
    for (const char *at = view->name; *at != '\0' && len < NAME_BYTES_MAX; at++) {
        char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
        bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain) {
            words[len++] = c;
        } else if (len > 0 && words[len - 1] != '-') {
            words[len++] = '-';
        }
    }
    while (len > 0 && words[len - 1] == '-') {
        len--;
    }
    words[len] = '\0';
    struct lapse_digest place;
    lapse_digest_begin(&place);
    lapse_digest_bytes(&place, lapse_bytes_of(view->file));
    lapse_digest_i64(&place, view->line);
    if (view->row >= 0) {
        (void)snprintf(row, sizeof row, "-row%d", (int)view->row);
    }
    (void)snprintf(buf, cap, "%s%s-seed%llu-%08x%s", words, row, (unsigned long long)view->seed,
                   (unsigned)(lapse_digest_value(&place) & 0xFFFFFFFFU), suffix);
}

static enum lapse_status write_file(int fd, const struct lapse_out *out, const char *path,
                                    struct lapse_error *err) {
    int fault = lapse_cli_send_all(fd, out->text, out->len) ? 0 : errno;
    if (close(fd) != 0 && fault == 0) {
        fault = errno;
    }
    if (fault == 0) {
        return LAPSE_OK;
    }
    (void)unlink(path);
    return lapse_error_set(err, LAPSE_IO, "%s: the history cannot be saved (%s)", path,
                           strerror(fault));
}
