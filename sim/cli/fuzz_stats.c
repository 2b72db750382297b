/* stats.json: the numbers of a campaign for other programs. What the clock says is kept out, so
 * that two campaigns of one seed and so many runs write the same bytes. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "output.h"

static void write_share(FILE *file, const struct lapse_cli_fuzz *fuzz);
static void write_findings(FILE *file, const struct lapse_cli_fuzz *fuzz);
static void write_diversity(FILE *file, const struct lapse_cli_fuzz *fuzz);

bool lapse_cli_fuzz_stats_free(const char *folder, struct lapse_error *err) {
    static const char begin[] = "{\"lapse\": \"";
    char path[LAPSE_CLI_FINDING_PATH_MAX], head[sizeof begin] = "";
    struct stat found;
    (void)snprintf(path, sizeof path, "%s/stats.json", folder);
    if (lstat(path, &found) != 0) {
        return true;
    }
    FILE *file = S_ISREG(found.st_mode) ? fopen(path, "r") : NULL;
    size_t got = file == NULL ? 0 : fread(head, 1, sizeof begin - 1, file);
    bool own = file != NULL && (got == 0 || strcmp(head, begin) == 0);
    if (file != NULL) {
        (void)fclose(file);
    }
    if (!own) {
        (void)lapse_error_set(err, LAPSE_IO,
                              "%s is no campaign's, and is not overwritten: name another folder "
                              "with --findings",
                              path);
    }
    return own;
}

enum lapse_status lapse_cli_fuzz_stats(const struct lapse_cli_fuzz *fuzz, const char *folder,
                                       struct lapse_error *err) {
    const struct lapse_campaign_totals *totals = lapse_campaign_totals(fuzz->campaign);
    char path[LAPSE_CLI_FINDING_PATH_MAX];
    (void)snprintf(path, sizeof path, "%s/stats.json", folder);
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    if (file == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    (void)fprintf(file,
                  "{\"lapse\": \"%s\", \"seed\": %" PRIu64 ", \"runs\": %" PRIu64
                  ", \"drawn\": %" PRIu64 ", \"events\": %" PRIu64 ", \"simulated_s\": %" PRIu64
                  ",\n \"passed\": %" PRIu64 ", \"violated\": %" PRIu64 ", \"unmet\": %" PRIu64
                  ", \"inconclusive\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"broken\": %" PRIu64
                  ",\n \"states\": %zu, \"last_new_state_in_run\": %" PRIu64
                  ", \"corpus\": %zu,\n",
                  LAPSE_CLI_VERSION, fuzz->options->seed, totals->runs, totals->drawn,
                  totals->events, totals->simulated_s, totals->outcomes[LAPSE_TRIAL_PASSED],
                  totals->outcomes[LAPSE_TRIAL_VIOLATED], totals->unmet,
                  totals->outcomes[LAPSE_TRIAL_INCONCLUSIVE],
                  totals->outcomes[LAPSE_TRIAL_REFUSED], totals->outcomes[LAPSE_TRIAL_BROKEN],
                  lapse_campaign_states(fuzz->campaign), totals->states_at,
                  lapse_campaign_corpus(fuzz->campaign));
    write_share(file, fuzz);
    (void)fprintf(file, " \"slack_ns\": {");
    struct lapse_slack slacks[LAPSE_SLACKS];
    lapse_slack_init(slacks);
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        (void)fprintf(file, "%s\"%s\": %" PRId64, i > 0 ? ", " : "", slacks[i].id,
                      totals->slack_ns[i]);
    }
    write_findings(file, fuzz);
    write_diversity(file, fuzz);
    bool good = ferror(file) == 0;
    good = fclose(file) == 0 && good;
    enum lapse_status status =
        good ? lapse_cli_output_write("what was counted", path, text, len, err)
             : lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    free(text);
    return status;
}

static void write_share(FILE *file, const struct lapse_cli_fuzz *fuzz) {
    struct lapse_campaign_share share;
    if (lapse_campaign_share(fuzz->campaign, &share)) {
        (void)fprintf(file,
                      " \"against\": {\"states\": %zu, \"of_states\": %zu, \"transitions\": %zu, "
                      "\"of_transitions\": %zu},\n",
                      share.states, share.states_all, share.moves, share.moves_all);
    }
}

static void write_findings(FILE *file, const struct lapse_cli_fuzz *fuzz) {
    (void)fprintf(file, "},\n \"findings\": [");
    for (size_t i = 0; i < fuzz->finding_count; i++) {
        const struct lapse_cli_finding *finding = &fuzz->findings[i];
        const struct lapse_cli_made *made = &finding->made;
        const char *slash = strrchr(finding->path, '/');
        (void)fprintf(file,
                      "%s\n  {\"contract\": \"%s\", \"run\": %" PRIu64 ", \"seen\": %" PRIu64
                      ", \"steps\": %zu, \"faults\": %zu, \"tries\": %zu, \"minimal\": %s, "
                      "\"needs_fault\": %s, \"stable\": %s, \"thresholds\": %zu, "
                      "\"file\": \"%s\"}",
                      i > 0 ? "," : "",
                      finding->signature.id != NULL ? finding->signature.id : "lapse",
                      finding->run, finding->count, made->after.steps, made->after.faults,
                      made->tries, made->minimal ? "true" : "false",
                      made->needs_fault ? "true" : "false", made->stable ? "true" : "false",
                      made->thresholds,
                      !finding->saved ? "" : slash != NULL ? slash + 1 : finding->path);
    }
}

static void write_diversity(FILE *file, const struct lapse_cli_fuzz *fuzz) {
    const struct lapse_trait_row *row;
    (void)fprintf(file, "],\n \"diversity\": {");
    for (size_t i = 0; (row = lapse_trait_row(i)) != NULL; i++) {
        struct lapse_bytes option;
        (void)fprintf(file, "%s\n  \"%s\": {", i > 0 ? "," : "", row->word);
        for (size_t k = 0; lapse_trait_option(row, k, &option); k++) {
            (void)fprintf(file, "%s\"%.*s\": %" PRIu64, k > 0 ? ", " : "", (int)option.len,
                          (const char *)option.data, fuzz->diversity.counts[i][k]);
        }
        (void)fprintf(file, "}");
    }
    (void)fprintf(file, "}}\n");
}
