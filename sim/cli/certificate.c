/* `check --certificate FILE`: where witness orders and cores go. A path that was mistyped must cost
 * nobody a history, so what is there already and holds no certificates is left alone. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_BYTES = 4096 };

static bool is_input(const struct lapse_cli_options *options, const struct stat *found);
static bool holds_certificates(const char *path);

bool lapse_cli_certificate_free(const struct lapse_cli_options *options) {
    const char *path = options->certificate;
    struct stat found;
    if (path == NULL || stat(path, &found) != 0 || !S_ISREG(found.st_mode)) {
        return true;
    }
    if (is_input(options, &found)) {
        (void)lapse_cli_complain(0,
                                 "--certificate %s: that is a history to be judged, and it would "
                                 "be overwritten; name another file",
                                 path);
        return false;
    }
    if (found.st_size > 0 && !holds_certificates(path)) {
        (void)lapse_cli_complain(0,
                                 "--certificate %s: the file is there and holds no certificates, "
                                 "so it is not overwritten; name another, or take it away",
                                 path);
        return false;
    }
    return true;
}

bool lapse_cli_certificate_write(const char *path, const struct lapse_out *text) {
    if (path == NULL) {
        return true;
    }
    FILE *file = fopen(path, "wb");
    bool written = file != NULL &&
                   fwrite(text->text != NULL ? text->text : "", 1, text->len, file) == text->len;
    if (file != NULL) {
        written = fclose(file) == 0 && written;
    }
    if (!written) {
        (void)lapse_cli_complain(0, "%s: the certificates cannot be written", path);
    }
    return written;
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

/* As they are written: a map that names the file, the kind and the name before the verdict. */
static bool holds_certificates(const char *path) {
    static const char first[] = "{\"file\": \"";
    char head[HEAD_BYTES + 1];
    FILE *file = fopen(path, "rb");
    size_t count = file != NULL ? fread(head, 1, HEAD_BYTES, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    head[count] = '\0';
    head[strcspn(head, "\n")] = '\0';
    return strncmp(head, first, sizeof first - 1) == 0 && strstr(head, "\"kind\": \"") != NULL;
}
