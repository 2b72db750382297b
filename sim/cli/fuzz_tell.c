/* A finding, told when it is met: which contract broke, how small it is by now, its story where a
 * campaign ends with it, and why it fails. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "story.h"

enum { INDENT = 10 };

static void draw_head(const struct lapse_cli_finding *finding, struct lapse_out *out);
static void print_story(const struct lapse_cli_fuzz *fuzz,
                        const struct lapse_cli_finding *finding);
static void draw_place(const struct lapse_cli_fuzz *fuzz, const struct lapse_cli_finding *finding,
                       struct lapse_out *out);
static void draw_campaign(const struct lapse_cli_fuzz *fuzz,
                          const struct lapse_cli_finding *finding, struct lapse_out *out);

void lapse_cli_fuzz_tell(const struct lapse_cli_fuzz *fuzz,
                         const struct lapse_cli_finding *finding) {
    struct lapse_out out;
    if (fuzz->options->verbose >= 0 && isatty(STDERR_FILENO) == 1) {
        (void)fputs("\r\033[K", stderr); /* the status is drawn again below */
    }
    lapse_out_init(&out, lapse_alloc_libc());
    draw_head(finding, &out);
    lapse_cli_print(&out);
    lapse_out_free(&out);
    if (finding->saved && finding->shrunk && !fuzz->options->batch) {
        print_story(fuzz, finding);
    }
    lapse_out_init(&out, lapse_alloc_libc());
    if (finding->shrunk) {
        size_t sizes = strcspn(finding->told.text, "\n") + 1;
        lapse_out_bytes(&out, finding->told.text + sizes, finding->told.len - sizes);
    }
    draw_place(fuzz, finding, &out);
    lapse_cli_print(&out);
    lapse_out_free(&out);
    (void)fflush(stdout);
}

static void draw_head(const struct lapse_cli_finding *finding, struct lapse_out *out) {
    if (finding->signature.id == NULL) {
        lapse_out_format(out, "BROKEN    lapse itself, in run %" PRIu64 ": ", finding->run);
        (void)lapse_out_safe_text(out, finding->why);
        lapse_out_text(out, "\n");
        return;
    }
    const struct lapse_contract *contract = lapse_contract_find(finding->signature.id);
    lapse_out_format(out, "VIOLATED  %s in run %" PRIu64 " after %" PRId64 " ms\n          ",
                     finding->signature.id, finding->run, finding->after_ns / LAPSE_NS_PER_MS);
    lapse_cli_wrap(out, contract != NULL ? contract->sentence : "", INDENT, INDENT);
    lapse_out_text(out, "  ");
    if (finding->shrunk) {
        lapse_out_bytes(out, finding->told.text, strcspn(finding->told.text, "\n"));
    } else {
        const char *why = finding->made.err.message;
        lapse_out_format(out, "it is as it was drawn: %s",
                         why[0] != '\0' ? why : "shrunk it did not fail");
    }
    lapse_out_text(out, "\n");
}

/* As `lapse replay` tells it. */
static void print_story(const struct lapse_cli_fuzz *fuzz,
                        const struct lapse_cli_finding *finding) {
    struct lapse_cli_options options = *fuzz->options;
    options.seed = 1;
    options.verbose = 0;
    (void)lapse_cli_replay_told(&options, finding->path);
}

static void draw_place(const struct lapse_cli_fuzz *fuzz, const struct lapse_cli_finding *finding,
                       struct lapse_out *out) {
    const char *promise = fuzz->options->promise_strict ? " --promise strict" : "";
    if (!finding->saved) {
        lapse_out_text(out, "not saved:\n");
        lapse_out_bytes(out, finding->text.text, finding->text.len);
        return;
    }
    lapse_out_text(out, "saved     ");
    (void)lapse_out_safe_text(out, finding->path);
    if (fuzz->options->against != NULL && finding->signature.id == NULL) {
        /* Run by itself it passes: only a campaign knows of the explored set, or draws orders. */
        lapse_out_text(out, "\nagain     lapse fuzz ");
        (void)lapse_out_safe_text(out, fuzz->options->paths[0]);
        lapse_out_text(out, " --against ");
        (void)lapse_out_safe_text(out, fuzz->options->against);
        draw_campaign(fuzz, finding, out);
        return;
    }
    /* What the model's rows alone show needs the model again. */
    const char *id = finding->signature.id;
    const char *model = id != NULL && strcmp(id, "LIN-01") == 0 ? " --model" : "";
    lapse_out_format(out, "     a scenario: `lapse run%s%s` fails on it until this is mended\n"
                          "replay    lapse replay ",
                     promise, model);
    (void)lapse_out_safe_text(out, finding->path);
    lapse_out_format(out, ":1%s%s\n", promise, model);
}

/* What a campaign's runs hang on. The numbers of a shard lie as far apart as there are shards. */
static void draw_campaign(const struct lapse_cli_fuzz *fuzz,
                          const struct lapse_cli_finding *finding, struct lapse_out *out) {
    const struct lapse_cli_options *options = fuzz->options;
    uint64_t shards = options->shard_count > 0 ? options->shard_count : 1;
    lapse_out_format(out, " --seed %" PRIu64 " --runs %" PRIu64, options->seed,
                     finding->run / shards + 1);
    if (options->shard_count > 0) {
        lapse_out_format(out, " --shard %" PRIu64 "/%" PRIu64, (uint64_t)options->shard, shards);
    }
    if (options->match != NULL) {
        lapse_out_text(out, " -k ");
        (void)lapse_out_safe_text(out, options->match);
    }
    lapse_out_text(out, options->promise_strict ? " --promise strict --mode batch\n"
                                                : " --mode batch\n");
}
