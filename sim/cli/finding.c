/* A finding is an ordinary file, to be committed: `run` keeps checking it. Nothing else is ever
 * overwritten by one. */
#define _POSIX_C_SOURCE 200809L

#include "shrunk.h"
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "contracts/rule.h"

enum { HEAD_BYTES = 4096, FOLDER_MODE = 0777 };
static const char folder[] = "findings";

static enum lapse_status name_it(const struct lapse_shrunk *shrunk, char *ret_path,
                                 struct lapse_error *err);
static bool is_finding(const char *head);

enum lapse_status lapse_cli_finding_save(const struct lapse_shrunk *shrunk, const char *path,
                                         char *ret_path, struct lapse_error *err) {
    if (path == NULL) {
        enum lapse_status status = name_it(shrunk, ret_path, err);
        if (status != LAPSE_OK) {
            return status;
        }
    } else if (strlen(path) >= LAPSE_CLI_PATH_MAX) {
        return lapse_error_set(err, LAPSE_IO, "the path after -o is too long");
    } else {
        (void)snprintf(ret_path, LAPSE_CLI_PATH_MAX, "%s", path);
    }
    if (!lapse_cli_finding_may(ret_path, err)) {
        return LAPSE_IO;
    }
    return lapse_cli_output_write("the finding", ret_path, shrunk->text.text, shrunk->text.bytes,
                                  err);
}

/* Named by its contract and its text, so that one failure found twice is one file. */
static enum lapse_status name_it(const struct lapse_shrunk *shrunk, char *ret_path,
                                 struct lapse_error *err) {
    struct lapse_bytes text = {(const unsigned char *)shrunk->text.text, shrunk->text.bytes};
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_digest_bytes(&digest, text);
    if (mkdir(folder, FOLDER_MODE) != 0 && errno != EEXIST) {
        return lapse_error_set(err, LAPSE_IO, "the folder %s cannot be made (%s)", folder,
                               strerror(errno));
    }
    (void)snprintf(ret_path, LAPSE_CLI_PATH_MAX, "%s/%s-%08x.yaml", folder, shrunk->signature.id,
                   (unsigned)(lapse_digest_value(&digest) & 0xFFFFFFFFU));
    return LAPSE_OK;
}

bool lapse_cli_finding_may(const char *path, struct lapse_error *err) {
    char head[HEAD_BYTES + 1];
    if (lapse_cli_output_check(NULL, "the finding", path, err) != LAPSE_OK) {
        return false;
    }
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return true;
    }
    size_t count = fread(head, 1, HEAD_BYTES, stream);
    (void)fclose(stream);
    head[count] = '\0';
    if (count > 0 && !is_finding(head)) {
        (void)lapse_error_set(err, LAPSE_IO,
                              "%s is no finding, and is not overwritten: name another file with -o",
                              path);
        return false;
    }
    return true;
}

/* "# ID: what went wrong", and a document of the name "what went wrong". */
static bool is_finding(const char *head) {
    char id[16], name[HEAD_BYTES];
    size_t len = strcspn(head, ":");
    const char *said = head + len + 2;
    if (head[0] != '#' || head[1] != ' ' || len < 3 || len - 2 >= sizeof id || head[len] != ':' ||
        head[len + 1] != ' ') {
        return false;
    }
    (void)snprintf(id, sizeof id, "%.*s", (int)(len - 2), head + 2);
    const char *end = strchr(said, '\n');
    const char *next = end == NULL ? NULL : strstr(end, "\nname: ");
    if (lapse_contract_find(id) == NULL || next == NULL) {
        return false;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(end - said), said);
    next += strlen("\nname: ");
    next += *next == '"' || *next == '\'' ? 1 : 0;
    return strncmp(next, name, strcspn(name, "'\"\\")) == 0;
}
