/* A finding is an ordinary file, to be committed: `run` keeps checking it. Its last line is a
 * digest of all before it: by that a text that nobody has touched is told from one that somebody
 * has annotated, which is never overwritten. */
#define _POSIX_C_SOURCE 200809L

#include "shrunk.h"
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/skeleton.h"
#include "runner.h"
#include "scenarios/load.h"

enum { FOLDER_MODE = 0777, SAME_NAMES_MAX = 99, SEAL_BYTES = 96, NAME_BITS = 0xffffff };

static int seal_line(char *buf, const char *text, size_t bytes);
static bool is_sealed(const struct lapse_cli_bytes *bytes);
static bool holds(const char *path, const struct lapse_out *text);
static int write_new(const char *path, const struct lapse_out *text);

void lapse_cli_finding_seal(struct lapse_out *out) {
    char line[SEAL_BYTES];
    (void)seal_line(line, out->text, out->len);
    lapse_out_text(out, line);
}

bool lapse_cli_finding_may(const char *path, struct lapse_error *err) {
    struct lapse_cli_bytes bytes = {0};
    struct stat found;
    if (strlen(path) >= LAPSE_CLI_PATH_MAX) {
        (void)lapse_error_set(err, LAPSE_IO, "the path after -o is too long");
        return false;
    }
    if (lapse_cli_output_check(NULL, "the finding", path, err) != LAPSE_OK) {
        return false;
    }
    if (stat(path, &found) != 0 || found.st_size == 0) {
        return true;
    }
    bool own = lapse_cli_bytes_read(path, "a finding", LAPSE_FILE_BYTES_MAX, &bytes, NULL) ==
                   LAPSE_OK &&
               is_sealed(&bytes);
    lapse_cli_bytes_free(&bytes);
    if (!own) {
        (void)lapse_error_set(err, LAPSE_IO,
                              "%s is no finding, or was changed since it was saved, and is not "
                              "overwritten: name another file with -o",
                              path);
    }
    return own;
}

enum lapse_status lapse_cli_finding_put(const struct lapse_out *text, const char *path,
                                        struct lapse_error *err) {
    return lapse_cli_finding_may(path, err)
               ? lapse_cli_output_write("the finding", path, text->text, text->len, err)
               : LAPSE_IO;
}

bool lapse_cli_finding_folder(const char *folder, struct lapse_error *err) {
    struct stat found;
    bool there = stat(folder, &found) == 0;
    if (there && !S_ISDIR(found.st_mode)) {
        (void)lapse_error_set(err, LAPSE_IO, "%s: the folder for findings cannot be made (%s)",
                              folder, strerror(ENOTDIR));
        return false;
    }
    return lapse_cli_output_folder("findings", there ? folder : ".", err) == LAPSE_OK;
}

enum lapse_status lapse_cli_finding_add(const struct lapse_out *text, const char *folder,
                                        const char *id, char *ret_path, size_t cap,
                                        struct lapse_error *err) {
    uint64_t digits = lapse_skeleton_digest(text->text, text->len) & NAME_BITS;
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST) {
        return lapse_error_set(err, LAPSE_IO, "%s: the folder for findings cannot be made (%s)",
                               folder, strerror(errno));
    }
    for (int n = 1; n <= SAME_NAMES_MAX; n++) {
        char more[16] = "";
        if (n > 1) {
            (void)snprintf(more, sizeof more, "-%d", n);
        }
        (void)snprintf(ret_path, cap, "%s/%s-%06" PRIx64 "%s.yaml", folder, id, digits, more);
        int fault = write_new(ret_path, text);
        if (fault == 0 || (fault == EEXIST && holds(ret_path, text))) {
            return LAPSE_OK;
        }
        if (fault != EEXIST) {
            return lapse_error_set(err, LAPSE_IO, "%s: the finding cannot be saved (%s)", ret_path,
                                   strerror(fault));
        }
    }
    return lapse_error_set(err, LAPSE_LIMIT,
                           "%s: %d other files have this name already; move them away", ret_path,
                           (int)SAME_NAMES_MAX);
}

static int seal_line(char *buf, const char *text, size_t bytes) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_digest_bytes(&digest, (struct lapse_bytes){(const unsigned char *)text, bytes});
    return snprintf(buf, SEAL_BYTES, "# seal %016" PRIx64 ": once changed, never overwritten\n",
                    lapse_digest_value(&digest));
}

static bool is_sealed(const struct lapse_cli_bytes *bytes) {
    char line[SEAL_BYTES];
    size_t len = (size_t)seal_line(line, "", 0);
    if (bytes->count < len) {
        return false;
    }
    (void)seal_line(line, bytes->data, bytes->count - len);
    return memcmp(bytes->data + bytes->count - len, line, len) == 0;
}

static bool holds(const char *path, const struct lapse_out *text) {
    struct lapse_cli_bytes bytes = {0};
    bool same = lapse_cli_bytes_read(path, "a finding", text->len + 1, &bytes, NULL) == LAPSE_OK &&
                bytes.count == text->len && memcmp(bytes.data, text->text, text->len) == 0;
    lapse_cli_bytes_free(&bytes);
    return same;
}

/* Other programs may save in the same folder: what another has just made is left alone. Returns 0,
 * or errno. */
static int write_new(const char *path, const struct lapse_out *text) {
    FILE *file = fopen(path, "wx");
    if (file == NULL) {
        return errno;
    }
    errno = 0;
    bool good = fwrite(text->text, 1, text->len, file) == text->len;
    good = fclose(file) == 0 && good;
    int fault = errno != 0 ? errno : EIO;
    if (!good) {
        (void)unlink(path); /* half of it is no finding */
    }
    return good ? 0 : fault;
}
