/* The workers' parent: at most so many processes at a time, each with a few files that follow each
 * other, since to start one costs more than a small file takes. It collects what they send and
 * survives their deaths: the file that a process died of is told, those behind it go to another. It
 * ends only processes that it started, by their numbers. */
#define _DEFAULT_SOURCE 1

#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker.h"

enum {
    READ_BYTES = 65536,
    EXIT_CODE_BASE = 256,
    SHARES_PER_JOB = 8, /* so many times a job gets files, if there are enough ... */
    TARGETS_MAX = 32,   /* ... and at most so many at once */
    KEPT_BYTES = 32 << 20
};

/* A process and its files: targets [at, end) are still to be told of. */
struct crew {
    long pid;
    int fd;
    size_t at, end;
    struct lapse_out unread; /* the beginning of a record */
};

struct watch {
    struct lapse_cli_pool *pool;
    int signals;     /* descriptor: SIGINT, SIGTERM */
    sigset_t before; /* the mask that workers get back */
    size_t next;     /* first target not given to a process */
    size_t running;
    size_t settled;                        /* slots [0, settled) are done */
    bool stop;                             /* -x, or interrupted: start no more */
    struct crew crews[LAPSE_CLI_JOBS_MAX]; /* [0, running) */
    struct pollfd polled[LAPSE_CLI_JOBS_MAX + 1];
};

static size_t seeds_bytes(const struct lapse_cli_pool *pool);
static enum lapse_status watch_run(struct watch *watch, size_t jobs, struct lapse_error *err);
static bool crew_start(struct watch *watch, struct crew *crew, struct lapse_error *err);
static void child(const struct watch *watch, const struct crew *crew, int fd);
static bool watch_wait(struct watch *watch, struct lapse_error *err);
static bool crew_read(struct watch *watch, struct crew *crew);
static void hand_out(struct watch *watch, struct crew *crew);
static bool crew_end(struct watch *watch, size_t index, struct lapse_error *err);
static int crew_reap(struct crew *crew);
static bool slot_failed(const struct lapse_cli_slot *slot);
static void settle(struct watch *watch);
static void end_all(struct watch *watch);
static size_t jobs_wanted(const struct lapse_cli_options *options);

enum lapse_status lapse_cli_pool_run(const struct lapse_cli_options *options,
                                     const struct lapse_cli_selection *selection,
                                     const struct lapse_cli_sinks *sinks,
                                     struct lapse_cli_pool *ret, struct lapse_error *err) {
    *ret = (struct lapse_cli_pool){.options = options, .selection = selection, .sinks = sinks};
    ret->slots = calloc(selection->count + 1, sizeof *ret->slots);
    ret->seeds =
        mmap(NULL, seeds_bytes(ret), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ret->seeds = ret->seeds == MAP_FAILED ? NULL : ret->seeds;
    if (ret->slots == NULL || ret->seeds == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    for (size_t i = 0; i < selection->count; i++) {
        lapse_out_init(&ret->slots[i].records, lapse_alloc_libc());
    }
    struct watch watch;
    memset(&watch, 0, sizeof watch);
    watch.pool = ret;
    sigset_t watched;
    (void)sigemptyset(&watched);
    (void)sigaddset(&watched, SIGINT);
    (void)sigaddset(&watched, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &watched, &watch.before);
    watch.signals = signalfd(-1, &watched, SFD_CLOEXEC);
    enum lapse_status status = LAPSE_OK;
    if (watch.signals < 0) {
        status = lapse_error_set(err, LAPSE_IO, "signals cannot be watched: %s", strerror(errno));
    } else {
        status = watch_run(&watch, jobs_wanted(options), err);
        (void)close(watch.signals);
    }
    (void)sigprocmask(SIG_SETMASK, &watch.before, NULL);
    ret->usable = watch.settled;
    return status;
}

void lapse_cli_pool_free(struct lapse_cli_pool *pool) {
    for (size_t i = 0; pool->slots != NULL && i < pool->selection->count; i++) {
        lapse_out_free(&pool->slots[i].records);
    }
    free(pool->slots);
    if (pool->seeds != NULL) {
        (void)munmap(pool->seeds, seeds_bytes(pool));
    }
    pool->slots = NULL;
    pool->seeds = NULL;
}

static size_t seeds_bytes(const struct lapse_cli_pool *pool) {
    return (pool->selection->count + 1) * sizeof *pool->seeds;
}

/* The loop: start while there is room, wait, read, settle. */
static enum lapse_status watch_run(struct watch *watch, size_t jobs, struct lapse_error *err) {
    size_t count = watch->pool->selection->count;
    size_t share = count / (jobs * SHARES_PER_JOB) + 1;
    share = share < TARGETS_MAX ? share : TARGETS_MAX;
    bool good = true;
    while (good && (watch->running > 0 || (!watch->stop && watch->next < count))) {
        while (good && !watch->stop && watch->running < jobs && watch->next < count) {
            struct crew *crew = &watch->crews[watch->running];
            size_t end = watch->next + share < count ? watch->next + share : count;
            *crew = (struct crew){.at = watch->next, .end = end};
            lapse_out_init(&crew->unread, lapse_alloc_libc());
            good = crew_start(watch, crew, err);
            watch->running += good;
            watch->next = good ? end : watch->next;
        }
        good = good && watch_wait(watch, err);
        settle(watch);
    }
    end_all(watch);
    return good ? LAPSE_OK : LAPSE_IO;
}

static bool crew_start(struct watch *watch, struct crew *crew, struct lapse_error *err) {
    int ends[2];
    if (pipe(ends) != 0) {
        (void)lapse_error_set(err, LAPSE_IO, "no pipe for a worker: %s", strerror(errno));
        return false;
    }
    pid_t pid = fork();
    if (pid < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)lapse_error_set(err, LAPSE_IO, "no process for a worker: %s", strerror(errno));
        return false;
    }
    if (pid == 0) {
        (void)close(ends[0]);
        child(watch, crew, ends[1]);
    }
    (void)close(ends[1]);
    crew->pid = pid;
    crew->fd = ends[0];
    return true;
}

/* Does not return. Nothing of the parent's is flushed or closed here. */
static void child(const struct watch *watch, const struct crew *crew, int fd) {
    const struct lapse_cli_pool *pool = watch->pool;
    (void)sigprocmask(SIG_SETMASK, &watch->before, NULL);
#ifdef M_TRIM_THRESHOLD
    /* One run's memory is the next one's: to give it back to the system between them would cost a
     * fifth of a short run. */
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
    (void)mallopt(M_MMAP_THRESHOLD, KEPT_BYTES);
#endif
    int code = LAPSE_EXIT_PASSED;
    for (size_t i = crew->at; i < crew->end && code == LAPSE_EXIT_PASSED; i++) {
        code = lapse_cli_worker(pool->options, &pool->selection->targets[i], pool->sinks, fd,
                                &pool->seeds[i]);
    }
    (void)close(fd);
    _exit(code);
}

static bool watch_wait(struct watch *watch, struct lapse_error *err) {
    struct pollfd *polled = watch->polled;
    polled[0] = (struct pollfd){watch->signals, POLLIN, 0};
    for (size_t i = 0; i < watch->running; i++) {
        polled[1 + i] = (struct pollfd){watch->crews[i].fd, POLLIN, 0};
    }
    if (poll(polled, (nfds_t)watch->running + 1, -1) < 0 && errno != EINTR) {
        (void)lapse_error_set(err, LAPSE_IO, "workers cannot be watched: %s", strerror(errno));
        return false;
    }
    if (polled[0].revents != 0) {
        struct signalfd_siginfo info;
        bool whole = read(watch->signals, &info, sizeof info) == (ssize_t)sizeof info;
        watch->pool->interrupted = whole ? (int)info.ssi_signo : SIGTERM;
        watch->stop = true;
        end_all(watch);
        return true;
    }
    /* From the last on: a crew that has ended gives its place to the last. */
    bool good = true;
    for (size_t i = watch->running; good && i-- > 0;) {
        if (polled[1 + i].revents != 0 && !crew_read(watch, &watch->crews[i])) {
            good = crew_end(watch, i, err);
        }
    }
    return good;
}

/* False at the end of what the process sends. */
static bool crew_read(struct watch *watch, struct crew *crew) {
    char bytes[READ_BYTES];
    ssize_t got = read(crew->fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) {
        return true;
    }
    if (got > 0) {
        lapse_out_bytes(&crew->unread, bytes, (size_t)got);
        hand_out(watch, crew);
    }
    return got > 0;
}

/* Gives each record to the file that it is of; a FILE record is a file's last. */
static void hand_out(struct watch *watch, struct crew *crew) {
    struct lapse_cli_record_view record;
    size_t begun = 0, at = 0;
    while (crew->at < crew->end &&
           lapse_cli_record_read(crew->unread.text, crew->unread.len, &at, &record)) {
        struct lapse_cli_slot *slot = &watch->pool->slots[crew->at];
        lapse_out_bytes(&slot->records, crew->unread.text + begun, at - begun);
        slot->records.failed = slot->records.failed || crew->unread.failed;
        begun = at;
        if (record.head.kind == LAPSE_RECORD_FILE) {
            slot->done = true;
            crew->at++;
        }
    }
    if (begun > 0) {
        crew->unread.len -= begun;
        memmove(crew->unread.text, crew->unread.text + begun, crew->unread.len);
    }
}

/* A process that died took its file along; those behind it go to a new one. False: there is none.
 */
static bool crew_end(struct watch *watch, size_t index, struct lapse_error *err) {
    struct crew *crew = &watch->crews[index];
    int status = crew_reap(crew);
    if (crew->at < crew->end) {
        struct lapse_cli_slot *slot = &watch->pool->slots[crew->at];
        slot->records.failed = slot->records.failed || crew->unread.failed;
        slot->done = true;
        slot->death = WIFSIGNALED(status) ? WTERMSIG(status) : EXIT_CODE_BASE + WEXITSTATUS(status);
        crew->at++;
    }
    lapse_out_free(&crew->unread);
    bool goes_on = crew->at < crew->end && !watch->stop;
    bool started = goes_on && crew_start(watch, crew, err);
    if (!started) {
        watch->crews[index] = watch->crews[--watch->running];
    }
    return started || !goes_on;
}

/* Returns the process's status. */
static int crew_reap(struct crew *crew) {
    int status = 0;
    while (waitpid((pid_t)crew->pid, &status, 0) < 0 && errno == EINTR) {
    }
    (void)close(crew->fd);
    return status;
}

/* Counts what is done without a gap. Under -x the first failure in file order is the last result
 * that counts, whoever failed first by the clock. */
static void settle(struct watch *watch) {
    struct lapse_cli_pool *pool = watch->pool;
    bool failed = false;
    while (!failed && watch->settled < watch->next && pool->slots[watch->settled].done) {
        failed = pool->options->exit_first && slot_failed(&pool->slots[watch->settled]);
        watch->settled++;
    }
    if (failed) {
        watch->stop = true;
        end_all(watch);
    }
}

static bool slot_failed(const struct lapse_cli_slot *slot) {
    struct lapse_cli_record_view record;
    bool failed = slot->death != 0;
    for (size_t at = 0;
         lapse_cli_record_read(slot->records.text, slot->records.len, &at, &record);) {
        failed = failed || record.head.failed > 0 || record.head.parted > 0 ||
                 record.head.broken > 0 || record.head.mistakes > 0;
    }
    return failed;
}

/* What still runs will not be shown. */
static void end_all(struct watch *watch) {
    while (watch->running > 0) {
        struct crew *crew = &watch->crews[watch->running - 1];
        (void)kill((pid_t)crew->pid, SIGKILL);
        (void)crew_reap(crew);
        lapse_out_free(&crew->unread);
        watch->running--;
    }
}

static size_t jobs_wanted(const struct lapse_cli_options *options) {
    long jobs = options->jobs;
    if (jobs == 0) {
        jobs = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return jobs < 1 ? 1 : jobs > LAPSE_CLI_JOBS_MAX ? LAPSE_CLI_JOBS_MAX : (size_t)jobs;
}
