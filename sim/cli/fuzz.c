/* `lapse fuzz`: rounds of runs until the budget is spent, or the first finding. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "output.h"

enum { FIRST_ROUND = 32, NAME_BYTES = 40 };

static int open_campaign(struct lapse_cli_fuzz *fuzz);
static int campaign(struct lapse_cli_fuzz *fuzz);
static size_t round_of(const struct lapse_cli_fuzz *fuzz);
static bool is_over(struct lapse_cli_fuzz *fuzz);
static int finish(struct lapse_cli_fuzz *fuzz, enum lapse_status status, struct lapse_error *err);
static size_t jobs_of(const struct lapse_cli_options *options);

int lapse_cli_fuzz(const struct lapse_cli_options *options) {
    struct lapse_cli_fuzz *fuzz = calloc(1, sizeof *fuzz);
    if (fuzz == NULL) {
        return lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    if (options->profile != NULL && options->path_count > 0) {
        free(fuzz);
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "--profile is of what is drawn, and with PATH "
                                                    "nothing is: write `profile:` there instead");
    }
    enum lapse_profile profile;
    if (options->profile != NULL &&
        !lapse_profile_find(lapse_bytes_of(options->profile), &profile)) {
        free(fuzz);
        return lapse_cli_complain(LAPSE_EXIT_USAGE,
                                  "--profile: no profile is called '%s'; see lapse help profiles",
                                  options->profile);
    }
    fuzz->options = options;
    fuzz->jobs = jobs_of(options);
    int code = LAPSE_EXIT_PASSED;
    if (options->against != NULL) {
        code = lapse_cli_against_open(options, &fuzz->against);
    }
    bool against = options->against != NULL && code == LAPSE_EXIT_PASSED;
    if (code == LAPSE_EXIT_PASSED) {
        code = open_campaign(fuzz);
        code = code == LAPSE_EXIT_PASSED ? campaign(fuzz) : code;
    }
    lapse_campaign_close(fuzz->campaign);
    if (against) {
        lapse_cli_against_close(&fuzz->against);
    }
    for (size_t i = 0; i < fuzz->finding_count; i++) {
        lapse_out_free(&fuzz->findings[i].text);
        lapse_out_free(&fuzz->findings[i].told);
    }
    free(fuzz);
    return code;
}

/* With --against its runs are of that document; else of the shapes of the paths, if there are. */
static int open_campaign(struct lapse_cli_fuzz *fuzz) {
    const struct lapse_cli_options *options = fuzz->options;
    struct lapse_campaign_options wanted = {.alloc = lapse_alloc_libc(),
                                            .seed = options->seed,
                                            .promise_strict = options->promise_strict,
                                            .profile = options->profile};
    struct lapse_error err = {0};
    if (options->against != NULL) {
        wanted.against = &fuzz->against.reach;
        wanted.plan = fuzz->against.plan;
    }
    enum lapse_status status = lapse_campaign_open(&wanted, &fuzz->campaign, &err);
    if (status != LAPSE_OK) {
        return lapse_cli_complain(status == LAPSE_NOMEM ? LAPSE_EXIT_BUG : LAPSE_EXIT_MISTAKES,
                                  "%s", err.message);
    }
    return options->against != NULL
               ? LAPSE_EXIT_PASSED
               : lapse_cli_fuzz_shapes(fuzz, options->paths, options->path_count);
}

uint64_t lapse_cli_fuzz_number(const struct lapse_cli_fuzz *fuzz, uint64_t k) {
    uint64_t shards = fuzz->options->shard_count > 0 ? fuzz->options->shard_count : 1;
    uint64_t shard = fuzz->options->shard > 0 ? fuzz->options->shard - 1 : 0;
    return k * shards + shard;
}

/* A signal waits until the round is over: the runs under way are finished, and what is known is
 * told. */
static int campaign(struct lapse_cli_fuzz *fuzz) {
    struct lapse_error err = {0};
    enum lapse_status status = LAPSE_OK;
    sigset_t held;
    (void)sigemptyset(&held);
    (void)sigaddset(&held, SIGINT);
    (void)sigaddset(&held, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &held, NULL);
    fuzz->began_ns = fuzz->shown_ns = fuzz->new_ns = lapse_cli_clock_ns();
    struct stat folder;
    if (strlen(fuzz->options->findings) + NAME_BYTES > LAPSE_CLI_FINDING_PATH_MAX) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE,
                                  "--findings: the path is longer than %d bytes; give a shorter "
                                  "one",
                                  (int)LAPSE_CLI_FINDING_PATH_MAX - NAME_BYTES);
    }
    bool made = mkdir(fuzz->options->findings, 0777) == 0 ||
                (errno == EEXIST && stat(fuzz->options->findings, &folder) == 0 &&
                 S_ISDIR(folder.st_mode));
    if (!made) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE,
                                  "%s: the folder for findings cannot be made (%s)",
                                  fuzz->options->findings, strerror(errno));
    }
    if (lapse_cli_output_folder("findings", fuzz->options->findings, &err) != LAPSE_OK ||
        !lapse_cli_fuzz_stats_free(fuzz->options->findings, &err)) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "%s", err.message);
    }
    lapse_cli_fuzz_begin(fuzz);
    while (status == LAPSE_OK && !is_over(fuzz)) {
        size_t states = lapse_campaign_states(fuzz->campaign);
        status = lapse_cli_fuzz_round(fuzz, round_of(fuzz), &err);
        if (lapse_campaign_states(fuzz->campaign) > states) {
            fuzz->new_ns = lapse_cli_clock_ns();
        }
        lapse_cli_fuzz_status(fuzz, false);
    }
    return finish(fuzz, status, &err);
}

/* The first rounds are short: what is easily found is found at once. */
static size_t round_of(const struct lapse_cli_fuzz *fuzz) {
    uint64_t left = fuzz->options->runs_given ? fuzz->options->runs - fuzz->next : UINT64_MAX;
    uint64_t size = fuzz->next < FIRST_ROUND            ? FIRST_ROUND
                    : fuzz->next < LAPSE_CAMPAIGN_ROUND ? fuzz->next
                                                        : LAPSE_CAMPAIGN_ROUND;
    return (size_t)(left < size ? left : size);
}

static bool is_over(struct lapse_cli_fuzz *fuzz) {
    const struct lapse_cli_options *options = fuzz->options;
    int64_t now = lapse_cli_clock_ns();
    sigset_t pending;
    (void)sigpending(&pending);
    fuzz->interrupted = sigismember(&pending, SIGINT) == 1    ? SIGINT
                        : sigismember(&pending, SIGTERM) == 1 ? SIGTERM
                                                              : 0;
    return fuzz->interrupted != 0 || (options->runs_given && fuzz->next >= options->runs) ||
           (options->time_ns > 0 && now - fuzz->began_ns >= options->time_ns) ||
           (options->until_done_ns > 0 && now - fuzz->new_ns >= options->until_done_ns) ||
           (!options->batch && fuzz->finding_count > 0);
}

/* Whatever ends a campaign, all that it knows is told first. */
static int finish(struct lapse_cli_fuzz *fuzz, enum lapse_status status, struct lapse_error *err) {
    lapse_cli_fuzz_status(fuzz, true);
    int code = fuzz->unsaved > 0 ? LAPSE_EXIT_BUG : LAPSE_EXIT_PASSED;
    for (size_t i = 0; i < fuzz->finding_count; i++) {
        bool broken = fuzz->findings[i].signature.id == NULL;
        code = broken || code == LAPSE_EXIT_BUG ? LAPSE_EXIT_BUG : LAPSE_EXIT_VIOLATED;
    }
    lapse_cli_fuzz_end(fuzz);
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "%s", err->message);
    }
    if (lapse_cli_fuzz_stats(fuzz, fuzz->options->findings, err) != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "%s", err->message);
    }
    return fuzz->interrupted != 0 ? 128 + fuzz->interrupted : code;
}

static size_t jobs_of(const struct lapse_cli_options *options) {
    long jobs = options->jobs > 0 ? options->jobs : sysconf(_SC_NPROCESSORS_ONLN);
    return jobs < 1 ? 1 : jobs > LAPSE_CLI_JOBS_MAX ? LAPSE_CLI_JOBS_MAX : (size_t)jobs;
}
