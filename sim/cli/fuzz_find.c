/* Findings: each is shrunk, grouped by contract and shape, saved as a scenario and told. Of
 * failures that look alike before they are shrunk only the first few are. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz/skeleton.h"
#include "shrunk.h"

enum { ALIKE_MAX = 3, TRIES_MAX = 2000, SHRINK_SECONDS_MAX = 20 };

struct drawn {
    const struct lapse_attempt *attempt;
    bool keeps_shape;
};

static size_t alike(struct lapse_cli_fuzz *fuzz, const struct lapse_attempt *attempt,
                    struct lapse_cli_finding **ret_last);
static enum lapse_status shrink(const struct lapse_cli_fuzz *fuzz,
                                struct lapse_cli_finding *finding,
                                const struct lapse_attempt *attempt, struct lapse_error *err);
static enum lapse_status make(const void *what, const struct lapse_shrink_options *options,
                              struct lapse_shrunk *ret, struct lapse_error *err);
/* In a process, with the bounds of a campaign. */
static enum lapse_status shrink(const struct lapse_cli_fuzz *fuzz,
                                struct lapse_cli_finding *finding,
                                const struct lapse_attempt *attempt, struct lapse_error *err) {
    const struct drawn drawn = {attempt, fuzz->options->path_count > 0};
    const struct lapse_cli_small_job job = {.make = make,
                                            .what = &drawn,
                                            .seed = 1,
                                            .tries_max = TRIES_MAX,
                                            .seconds_max = SHRINK_SECONDS_MAX,
                                            .promise_strict = fuzz->options->promise_strict};
    enum lapse_status status =
        lapse_cli_small(&job, &finding->text, &finding->told, &finding->made, err);
    finding->shrunk = status == LAPSE_OK && finding->made.fails;
    return status;
}

static enum lapse_status make(const void *what, const struct lapse_shrink_options *options,
                              struct lapse_shrunk *ret, struct lapse_error *err) {
    const struct drawn *drawn = what;
    (void)err;
    return lapse_finding_make(drawn->attempt->text, drawn->attempt->text_bytes, drawn->keeps_shape,
                              options, ret);
}

static void take_as_drawn(struct lapse_cli_finding *finding, const struct lapse_attempt *attempt);
static bool grouped(struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding);
static void save(struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding);

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
    lapse_out_init(&finding->told, lapse_alloc_libc());
    bool failed = violated && shrink(fuzz, finding, attempt, err) != LAPSE_OK;
    if (!failed && !finding->shrunk) {
        take_as_drawn(finding, attempt);
    }
    failed = failed || finding->text.failed || finding->told.failed;
    finding->skeleton = failed ? 0 : lapse_skeleton_digest(finding->text.text, finding->text.len);
    if (failed || grouped(fuzz, finding)) {
        lapse_out_free(&finding->text);
        lapse_out_free(&finding->told);
        return failed && err->status == LAPSE_OK
                   ? lapse_error_set(err, LAPSE_NOMEM, "memory ran out")
                   : err->status;
    }
    fuzz->finding_count++;
    save(fuzz, finding);
    lapse_cli_fuzz_tell(fuzz, finding);
    return LAPSE_OK;
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

static void take_as_drawn(struct lapse_cli_finding *finding, const struct lapse_attempt *attempt) {
    if (finding->signature.id == NULL) {
        lapse_out_text(&finding->text, "# lapse itself failed: ");
        (void)lapse_out_safe_text(&finding->text, finding->why);
        lapse_out_text(&finding->text, "\n");
    }
    lapse_out_bytes(&finding->text, attempt->text, attempt->text_bytes);
    if (!finding->text.failed) {
        lapse_cli_finding_seal(&finding->text);
    }
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

/* A campaign of hours does not end for a full disk: the finding is printed in place of its file. */
static void save(struct lapse_cli_fuzz *fuzz, struct lapse_cli_finding *finding) {
    struct lapse_error err = {0};
    const char *id = finding->signature.id != NULL ? finding->signature.id : "lapse";
    finding->saved = lapse_cli_finding_add(&finding->text, fuzz->options->findings, id,
                                           finding->path, sizeof finding->path, &err) == LAPSE_OK;
    if (!finding->saved) {
        fuzz->unsaved++;
        (void)lapse_cli_complain(LAPSE_EXIT_BUG, "%s; it is printed, and the campaign goes on",
                                 err.message);
    }
}
