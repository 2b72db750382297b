/* `check --certificate FILE`: where witness orders and cores go. A path that was mistyped must cost
 * nobody a history, so what is there already and holds no certificates is left alone. */
#define _POSIX_C_SOURCE 200809L

#include "check.h"
#include "output.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_BYTES = 4096 };
static const char what[] = "certificates";

static bool holds_certificates(const char *path);

bool lapse_cli_certificate_free(const struct lapse_cli_options *options) {
    const char *path = options->certificate;
    struct lapse_error err = {0};
    struct stat found;
    if (path == NULL) {
        return true;
    }
    if (lapse_cli_output_check(options, what, path, &err) != LAPSE_OK) {
        (void)lapse_cli_complain(0, "--certificate %s", err.message);
        return false;
    }
    for (size_t i = 0; i < options->report_count; i++) {
        const char *report = options->reports[i].path;
        if (report != NULL && strcmp(report, path) == 0) {
            (void)lapse_cli_complain(
                0, "--certificate %s: a report goes there; give one another path", path);
            return false;
        }
    }
    if (stat(path, &found) == 0 && found.st_size > 0 && !holds_certificates(path)) {
        (void)lapse_cli_complain(0,
                                 "--certificate %s: the file is there and holds no certificates, "
                                 "so it is not overwritten; name another, or take it away",
                                 path);
        return false;
    }
    return true;
}

bool lapse_cli_certificate_write(const char *path, const struct lapse_out *text) {
    struct lapse_error err = {0};
    if (path == NULL || lapse_cli_output_write(what, path, text->text, text->len, &err) ==
                            LAPSE_OK) {
        return true;
    }
    (void)lapse_cli_complain(0, "--certificate %s", err.message);
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
