/* Findings: each is shrunk in a process of its own, grouped by contract and shape, and saved as a
 * scenario. Of failures that look alike before they are shrunk only the first few are. */
#define _DEFAULT_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "fuzz/skeleton.h"

enum {
    SAME_NAMES_MAX = 99,
    ALIKE_MAX = 3,
    TRIES_MAX = 2000,
    SHRINK_SECONDS_MAX = 20,
    READ_BYTES = 65536
};

static size_t alike(struct lapse_cli_fuzz *fuzz, const struct lapse_attempt *attempt,
                    struct lapse_cli_finding **ret_last);
static void shrink(const struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding,
                   const struct lapse_attempt *attempt);
static void shrink_apart(const struct lapse_cli_fuzz *fuzz, const struct lapse_attempt *attempt,
                         int fd);
static bool grouped(struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding);
static bool is_there(const struct lapse_cli_finding *finding);
static enum lapse_status save(const struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding,
                              struct lapse_error *err);

enum lapse_status lapse_cli_fuzz_find(struct lapse_cli_fuzz *fuzz,
                                      const struct lapse_attempt *attempt,
                                      struct lapse_error *err) {
    bool broken = attempt->outcome == LAPSE_TRIAL_BROKEN;
    bool violated = attempt->outcome == LAPSE_TRIAL_VIOLATED && !attempt->signature.unmet;
    struct lapse_cli_finding *last = NULL;
    if (!broken && !violated) {
        if (fuzz->options->verbose > 1 && attempt->outcome == LAPSE_TRIAL_REFUSED) {
            (void)fprintf(stderr, "run %" PRIu64 " made no sense: %s\n", attempt->run,
                          attempt->why);
        }
        return LAPSE_OK;
    }
    bool enough = !fuzz->options->batch && fuzz->finding_count > 0;
    if (enough || alike(fuzz, attempt, &last) >= ALIKE_MAX ||
        fuzz->finding_count == LAPSE_CLI_FINDINGS_MAX) {
        fuzz->findings_dropped += last == NULL;
        if (last != NULL) {
            last->count++;
        }
        return LAPSE_OK;
    }
    struct lapse_cli_finding *finding = &fuzz->findings[fuzz->finding_count];
    *finding = (struct lapse_cli_finding){
        .signature = attempt->signature, .run = attempt->run, .count = 1};
    finding->after_ns = lapse_cli_clock_ns() - fuzz->began_ns;
    memcpy(finding->why, attempt->why, sizeof finding->why);
    lapse_out_init(&finding->text, lapse_alloc_libc());
    if (violated) {
        shrink(fuzz, finding, attempt);
    }
    if (finding->text.len == 0) {
        lapse_out_bytes(&finding->text, attempt->text, attempt->text_bytes);
    }
    finding->skeleton = lapse_skeleton_digest(finding->text.text, finding->text.len);
    if (grouped(fuzz, finding)) {
        lapse_out_free(&finding->text);
        return LAPSE_OK;
    }
    fuzz->finding_count++;
    return save(fuzz, finding, err);
}

/* How many findings there are that looked like this one; the last of them. */
static size_t alike(struct lapse_cli_fuzz *fuzz, const struct lapse_attempt *attempt,
                    struct lapse_cli_finding **ret_last) {
    size_t count = 0;
    for (size_t i = 0; i < fuzz->finding_count; i++) {
        struct lapse_cli_finding *finding = &fuzz->findings[i];
        bool both_broken = finding->signature.id == NULL && attempt->signature.id == NULL &&
                           strcmp(finding->why, attempt->why) == 0;
        if (both_broken || lapse_trial_same(&finding->signature, &attempt->signature)) {
            *ret_last = finding;
            count += finding->count < ALIKE_MAX ? (size_t)finding->count : ALIKE_MAX;
        }
    }
    return count;
}

/* What the process tells: the numbers, then the text. */
static void shrink(const struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding,
                   const struct lapse_attempt *attempt) {
    int ends[2];
    struct lapse_finding told;
    char bytes[READ_BYTES];
    size_t head = 0;
    if (pipe(ends) != 0) {
        return;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[0]);
        shrink_apart(fuzz, attempt, ends[1]);
    }
    (void)close(ends[1]);
    for (ssize_t got = 1; pid > 0 && got != 0;) {
        bool heads = head < sizeof told;
        got = heads ? read(ends[0], (char *)&told + head, sizeof told - head)
                    : read(ends[0], bytes, sizeof bytes);
        if (got < 0) {
            got = errno == EINTR ? 1 : 0;
        } else if (heads) {
            head += (size_t)got;
        } else {
            lapse_out_bytes(&finding->text, bytes, (size_t)got);
        }
    }
    (void)close(ends[0]);
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (head == sizeof told && finding->text.len == told.text.bytes && !finding->text.failed) {
        finding->shrunk = true;
        finding->made = told;
        finding->made.text = (struct lapse_emitted){0}; /* its memory was the process's */
    } else {
        finding->text.len = 0; /* the process fell: what was drawn is saved as it is */
    }
}

/* Does not return. */
static void shrink_apart(const struct lapse_cli_fuzz *fuzz, const struct lapse_attempt *attempt,
                         int fd) {
    const struct lapse_trial_options options = {.alloc = lapse_alloc_libc(),
                                                .arena = lapse_arena_open(),
                                                .seed = 1,
                                                .no_model = true,
                                                .promise_strict =
                                                    fuzz->options->promise_strict};
    struct lapse_finding made;
    const struct rlimit bound = {SHRINK_SECONDS_MAX, SHRINK_SECONDS_MAX};
    (void)setrlimit(RLIMIT_CPU, &bound);
    enum lapse_status status =
        lapse_finding_make(attempt->text, attempt->text_bytes, fuzz->options->path_count > 0,
                           TRIES_MAX, &options, &made);
    bool sent = status == LAPSE_OK && made.text.bytes > 0 &&
                write(fd, &made, sizeof made) == (ssize_t)sizeof made;
    for (size_t at = 0; sent && at < made.text.bytes;) {
        ssize_t got = write(fd, made.text.text + at, made.text.bytes - at);
        sent = got > 0 || errno == EINTR;
        at += got > 0 ? (size_t)got : 0;
    }
    _exit(0);
}

/* Whether one of the same contract and shape is there already, which then counts it. */
static bool grouped(struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding) {
    for (size_t i = 0; i < fuzz->finding_count; i++) {
        struct lapse_cli_finding *other = &fuzz->findings[i];
        if (other->signature.id == finding->signature.id && other->skeleton == finding->skeleton) {
            other->count++;
            return true;
        }
    }
    return false;
}

static enum lapse_status save(const struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding,
                              struct lapse_error *err) {
    const char *folder = fuzz->options->findings;
    const char *id = finding->signature.id != NULL ? finding->signature.id : "lapse";
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return lapse_error_set(err, LAPSE_IO, "%s: the folder for findings cannot be made (%s)",
                               folder, strerror(errno));
    }
    for (int n = 1; n <= SAME_NAMES_MAX; n++) {
        char more[16] = "";
        if (n > 1) {
            (void)snprintf(more, sizeof more, "-%d", n);
        }
        (void)snprintf(finding->path, sizeof finding->path, "%s/%s-%06" PRIx64 "%s.yaml", folder,
                       id, finding->skeleton & 0xffffff, more);
        FILE *file = fopen(finding->path, "wx");
        if (file == NULL && errno == EEXIST) {
            if (is_there(finding)) {
                return LAPSE_OK;
            }
            continue; /* a person's, or another finding's */
        }
        bool good = file != NULL &&
                    fwrite(finding->text.text, 1, finding->text.len, file) == finding->text.len;
        good = (file == NULL || fclose(file) == 0) && good;
        int fault = errno;
        if (file != NULL && !good) {
            (void)unlink(finding->path); /* half of it is no finding */
        }
        return good ? LAPSE_OK
                    : lapse_error_set(err, LAPSE_IO, "%s: the finding cannot be saved (%s)",
                                      finding->path, strerror(fault));
    }
    return lapse_error_set(err, LAPSE_LIMIT,
                           "%s: %d other files have this name already; move them away",
                           finding->path, (int)SAME_NAMES_MAX);
}

/* Whether the file of that name is this very finding, saved before. */
static bool is_there(const struct lapse_cli_finding *finding) {
    FILE *file = fopen(finding->path, "r");
    size_t at = 0;
    int byte = 0;
    while (file != NULL && (byte = fgetc(file)) != EOF && at < finding->text.len &&
           byte == (unsigned char)finding->text.text[at]) {
        at++;
    }
    bool same = file != NULL && byte == EOF && at == finding->text.len;
    if (file != NULL) {
        (void)fclose(file);
    }
    return same;
}
