/* One round of a campaign in a few processes. Each inherits what the campaign knows, makes its
 * stretch of the runs and pipes what came of them; the parent takes it all in by rising number. A
 * process that dies takes one run along, which is told; the rest of its stretch goes to another. */
#define _DEFAULT_SOURCE 1

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "fuzz.h"

enum { READ_BYTES = 65536, RUN_SECONDS_MAX = 60, KEPT_BYTES = 32 << 20, DEATHS_MAX = 16 };

/* A process, and its stretch [at, end) of the round. */
struct crew {
    size_t at, end;
    pid_t pid;
    int fd;
    struct lapse_out told;
};

static bool start(const struct lapse_cli_fuzz *fuzz, struct crew *crew);
static void work(const struct lapse_cli_fuzz *fuzz, const struct crew *crew, int fd);
static void bound_run(void);
static bool hear(struct crew *crew);
static enum lapse_status make_whole(const struct lapse_cli_fuzz *fuzz, struct crew *crew,
                                    struct lapse_error *err);
static enum lapse_status take_in(struct lapse_cli_fuzz *fuzz, const struct crew *crew,
                                 struct lapse_error *err);
static size_t record_bytes(const struct crew *crew, size_t at);
static enum lapse_status take_record(struct lapse_cli_fuzz *fuzz, const struct crew *crew,
                                     size_t *at, struct lapse_error *err);
static enum lapse_status tell_death(const struct lapse_cli_fuzz *fuzz, struct crew *crew,
                                    int status, struct lapse_error *err);

enum lapse_status lapse_cli_fuzz_round(struct lapse_cli_fuzz *fuzz, size_t count,
                                       struct lapse_error *err) {
    struct crew crews[LAPSE_CLI_JOBS_MAX];
    struct pollfd polled[LAPSE_CLI_JOBS_MAX];
    size_t jobs = fuzz->jobs < count ? fuzz->jobs : count, running = jobs;
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < jobs; i++) {
        crews[i] = (struct crew){.at = count * i / jobs, .end = count * (i + 1) / jobs, .fd = -1};
        lapse_out_init(&crews[i].told, lapse_alloc_libc());
        if (!start(fuzz, &crews[i])) {
            return lapse_error_set(err, LAPSE_IO, "no process for runs: %s", strerror(errno));
        }
    }
    while (running > 0) {
        for (size_t i = 0; i < jobs; i++) {
            polled[i] = (struct pollfd){crews[i].fd, POLLIN, 0};
        }
        (void)poll(polled, (nfds_t)jobs, -1);
        for (size_t i = 0; i < jobs; i++) {
            if (crews[i].fd >= 0 && polled[i].revents != 0 && !hear(&crews[i])) {
                running--;
            }
        }
    }
    for (size_t i = 0; i < jobs && status == LAPSE_OK; i++) {
        status = make_whole(fuzz, &crews[i], err);
    }
    for (size_t i = 0; i < jobs; i++) {
        if (status == LAPSE_OK) {
            status = take_in(fuzz, &crews[i], err);
        }
        lapse_out_free(&crews[i].told);
    }
    fuzz->next += count;
    return status;
}

static bool start(const struct lapse_cli_fuzz *fuzz, struct crew *crew) {
    int ends[2];
    if (pipe(ends) != 0) {
        return false;
    }
    crew->pid = fork();
    if (crew->pid == 0) {
        (void)close(ends[0]);
        work(fuzz, crew, ends[1]);
    }
    (void)close(ends[1]);
    crew->fd = ends[0];
    return crew->pid > 0;
}

/* Does not return. */
static void work(const struct lapse_cli_fuzz *fuzz, const struct crew *crew, int fd) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    struct lapse_arena *arena = lapse_arena_open();
    struct lapse_diversity *diversity = calloc(1, sizeof *diversity);
    bool good = diversity != NULL && arena != NULL;
#ifdef M_TRIM_THRESHOLD
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
#endif
    for (size_t i = crew->at; good && i < crew->end; i++) {
        struct lapse_attempt attempt;
        bound_run();
        good = lapse_campaign_attempt(fuzz->campaign,
                                      lapse_cli_fuzz_number(fuzz, fuzz->next + i), arena, diversity,
                                      &attempt) == LAPSE_OK &&
               lapse_cli_send_all(fd, &attempt, sizeof attempt) &&
               lapse_cli_send_all(fd, attempt.states,
                                  attempt.state_count * sizeof *attempt.states) &&
               lapse_cli_send_all(fd, attempt.reached,
                                  attempt.reached_count * sizeof *attempt.reached) &&
               lapse_cli_send_all(fd, attempt.text, attempt.text == NULL ? 0 : attempt.text_bytes);
        lapse_attempt_free(alloc, &attempt);
    }
    good = good && lapse_cli_send_all(fd, diversity, sizeof *diversity);
    _exit(good ? 0 : LAPSE_EXIT_BUG);
}

/* By processor time, of each run by itself: how many it shares its process with does not count. */
static void bound_run(void) {
    struct rusage used;
    struct rlimit bound;
    if (getrusage(RUSAGE_SELF, &used) == 0 && getrlimit(RLIMIT_CPU, &bound) == 0) {
        bound.rlim_cur =
            (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + RUN_SECONDS_MAX;
        (void)setrlimit(RLIMIT_CPU, &bound);
    }
}

/* False at the end of what the process tells. */
static bool hear(struct crew *crew) {
    char bytes[READ_BYTES];
    ssize_t got = read(crew->fd, bytes, sizeof bytes);
    if (got > 0) {
        lapse_out_bytes(&crew->told, bytes, (size_t)got);
    }
    if (got > 0 || (got < 0 && errno == EINTR)) {
        return true;
    }
    (void)close(crew->fd);
    crew->fd = -1;
    return false;
}

/* All records of the stretch, while the campaign is as it was when the round began: a process that
 * died is told as a record of its run, and another makes the runs behind it. */
static enum lapse_status make_whole(const struct lapse_cli_fuzz *fuzz, struct crew *crew,
                                    struct lapse_error *err) {
    size_t at = 0, run = crew->at;
    for (int deaths = 0;; deaths++) {
        int ended = 0;
        while (waitpid(crew->pid, &ended, 0) < 0 && errno == EINTR) {
        }
        for (size_t bytes; run < crew->end && (bytes = record_bytes(crew, at)) > 0; run++) {
            at += bytes;
        }
        if (crew->told.failed) {
            return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
        }
        if (run == crew->end) {
            return LAPSE_OK;
        }
        if (deaths == DEATHS_MAX) {
            return lapse_error_set(err, LAPSE_LIMIT,
                                   "%d processes of one round died, and %zu runs were not made; "
                                   "see to the findings first",
                                   (int)DEATHS_MAX, crew->end - run);
        }
        crew->told.len = at;
        struct crew rest = *crew;
        rest.at = run++;
        enum lapse_status status = tell_death(fuzz, &rest, ended, err);
        rest.at = run;
        at = rest.told.len;
        if (status == LAPSE_OK && run < crew->end && !start(fuzz, &rest)) {
            status = lapse_error_set(err, LAPSE_IO, "no process for runs: %s", strerror(errno));
        }
        while (status == LAPSE_OK && run < crew->end && hear(&rest)) {
        }
        rest.at = crew->at;
        *crew = rest;
        if (status != LAPSE_OK || run == crew->end) {
            return status;
        }
    }
}

static enum lapse_status take_in(struct lapse_cli_fuzz *fuzz, const struct crew *crew,
                                 struct lapse_error *err) {
    enum lapse_status status = LAPSE_OK;
    size_t at = 0;
    for (size_t i = crew->at; status == LAPSE_OK && i < crew->end; i++) {
        status = take_record(fuzz, crew, &at, err);
    }
    if (status == LAPSE_OK && crew->told.len - at == sizeof fuzz->diversity) {
        struct lapse_diversity *drawn = malloc(sizeof *drawn);
        if (drawn != NULL) {
            memcpy(drawn, crew->told.text + at, sizeof *drawn);
            lapse_diversity_join(&fuzz->diversity, drawn);
        }
        free(drawn);
    }
    return status;
}

/* Of the whole record that begins there; 0: none does. */
static size_t record_bytes(const struct crew *crew, size_t at) {
    struct lapse_attempt attempt;
    size_t left = crew->told.len - at;
    if (left < sizeof attempt) {
        return 0;
    }
    memcpy(&attempt, crew->told.text + at, sizeof attempt);
    size_t rest = attempt.state_count * sizeof *attempt.states +
                  attempt.reached_count * sizeof *attempt.reached +
                  (attempt.text == NULL ? 0 : attempt.text_bytes);
    return left - sizeof attempt < rest ? 0 : sizeof attempt + rest;
}

static enum lapse_status take_record(struct lapse_cli_fuzz *fuzz, const struct crew *crew,
                                     size_t *at, struct lapse_error *err) {
    struct lapse_attempt attempt;
    memcpy(&attempt, crew->told.text + *at, sizeof attempt);
    size_t states = attempt.state_count * sizeof *attempt.states;
    size_t reached = attempt.reached_count * sizeof *attempt.reached;
    size_t text = attempt.text == NULL ? 0 : attempt.text_bytes;
    char *copy = malloc(states + reached + text + 1);
    if (copy == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    memcpy(copy, crew->told.text + *at + sizeof attempt, states + reached + text);
    copy[states + reached + text] = '\0';
    attempt.states = (uint64_t *)(void *)copy;
    attempt.reached = (uint32_t *)(void *)(copy + states);
    attempt.text = attempt.text == NULL ? NULL : copy + states + reached;
    enum lapse_status status = lapse_campaign_take(fuzz->campaign, &attempt);
    if (status == LAPSE_OK) {
        status = lapse_cli_fuzz_find(fuzz, &attempt, err);
    }
    free(copy);
    *at += sizeof attempt + states + reached + text;
    return status;
}

/* Adds a record of the run that a process died of. */
static enum lapse_status tell_death(const struct lapse_cli_fuzz *fuzz, struct crew *crew,
                                    int status, struct lapse_error *err) {
    struct lapse_attempt attempt = {
        .parent = -1, .outcome = LAPSE_TRIAL_BROKEN, .slack_ns = {-1, -1, -1}};
    struct lapse_error why = {0};
    struct lapse_emitted text = {.alloc = lapse_alloc_libc()};
    attempt.run = lapse_cli_fuzz_number(fuzz, fuzz->next + crew->at);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU) {
        attempt.outcome = LAPSE_TRIAL_INCONCLUSIVE;
        lapse_error_set(&why, LAPSE_LIMIT, "the run took more than %d s", (int)RUN_SECONDS_MAX);
    } else if (WIFSIGNALED(status)) {
        lapse_error_set(&why, LAPSE_BUG, "the process died of signal %d", WTERMSIG(status));
    } else {
        lapse_error_set(&why, LAPSE_BUG, "the process ended with code %d", WEXITSTATUS(status));
    }
    memcpy(attempt.why, why.message, sizeof attempt.why);
    enum lapse_status done = lapse_campaign_document(fuzz->campaign, attempt.run, &text);
    attempt.text = text.text;
    attempt.text_bytes = text.bytes;
    lapse_out_bytes(&crew->told, (const char *)&attempt, sizeof attempt);
    lapse_out_bytes(&crew->told, text.text == NULL ? "" : text.text, text.bytes);
    lapse_emitted_free(&text);
    return done == LAPSE_NOMEM ? lapse_error_set(err, LAPSE_NOMEM, "memory ran out") : done;
}
