/* The workers' parent: forks one process a file, at most so many at a time, collects what they
 * send, and survives their deaths. It ends only processes that it started, by their numbers. */
#define _DEFAULT_SOURCE 1

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker.h"

enum { READ_BYTES = 65536, EXIT_CODE_BASE = 256 };

struct watch {
    struct lapse_cli_pool *pool;
    int signals;     /* descriptor: SIGINT, SIGTERM */
    sigset_t before; /* the mask that workers get back */
    size_t next;     /* first target not started */
    size_t running;
    size_t settled; /* slots [0, settled) are done */
    bool stop;      /* -x, or interrupted: start no more */
    struct pollfd polled[LAPSE_CLI_JOBS_MAX + 1];
    size_t polled_slots[LAPSE_CLI_JOBS_MAX + 1];
};

static enum lapse_status watch_run(struct watch *watch, size_t jobs, struct lapse_error *err);
static bool watch_start(struct watch *watch, struct lapse_error *err);
static void child(const struct watch *watch, size_t index, int fd);
static bool watch_wait(struct watch *watch, struct lapse_error *err);
static bool slot_read(struct watch *watch, size_t index);
static void slot_end(struct watch *watch, size_t index);
static bool slot_failed(const struct lapse_cli_slot *slot);
static void settle(struct watch *watch);
static void end_all(struct watch *watch);
static size_t jobs_wanted(const struct lapse_cli_options *options);

enum lapse_status lapse_cli_pool_run(const struct lapse_cli_options *options,
                                     const struct lapse_cli_selection *selection,
                                     const struct lapse_cli_sinks *sinks,
                                     struct lapse_cli_pool *ret, struct lapse_error *err) {
    *ret = (struct lapse_cli_pool){options, selection, sinks, NULL, 0, 0};
    ret->slots = calloc(selection->count + 1, sizeof *ret->slots);
    if (ret->slots == NULL) {
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
    pool->slots = NULL;
}

/* The loop: start while there is room, wait, read, settle. */
static enum lapse_status watch_run(struct watch *watch, size_t jobs, struct lapse_error *err) {
    size_t count = watch->pool->selection->count;
    bool good = true;
    while (good && (watch->running > 0 || (!watch->stop && watch->next < count))) {
        while (good && !watch->stop && watch->running < jobs && watch->next < count) {
            good = watch_start(watch, err);
        }
        good = good && watch_wait(watch, err);
        settle(watch);
    }
    end_all(watch);
    return good ? LAPSE_OK : LAPSE_IO;
}

static bool watch_start(struct watch *watch, struct lapse_error *err) {
    struct lapse_cli_slot *slot = &watch->pool->slots[watch->next];
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
        child(watch, watch->next, ends[1]);
    }
    (void)close(ends[1]);
    slot->pid = pid;
    slot->fd = ends[0];
    watch->next++;
    watch->running++;
    return true;
}

/* Does not return. Nothing of the parent's is flushed or closed here. */
static void child(const struct watch *watch, size_t index, int fd) {
    const struct lapse_cli_pool *pool = watch->pool;
    (void)sigprocmask(SIG_SETMASK, &watch->before, NULL);
    int code = lapse_cli_worker(pool->options, &pool->selection->targets[index], pool->sinks, fd);
    (void)close(fd);
    _exit(code);
}

static bool watch_wait(struct watch *watch, struct lapse_error *err) {
    size_t count = 0;
    watch->polled[count++] = (struct pollfd){watch->signals, POLLIN, 0};
    for (size_t i = watch->settled; i < watch->next; i++) {
        if (watch->pool->slots[i].pid != 0) {
            LAPSE_ASSERT(count <= LAPSE_CLI_JOBS_MAX);
            watch->polled_slots[count] = i;
            watch->polled[count++] = (struct pollfd){watch->pool->slots[i].fd, POLLIN, 0};
        }
    }
    if (poll(watch->polled, (nfds_t)count, -1) < 0 && errno != EINTR) {
        (void)lapse_error_set(err, LAPSE_IO, "workers cannot be watched: %s", strerror(errno));
        return false;
    }
    if (watch->polled[0].revents != 0) {
        struct signalfd_siginfo info;
        bool whole = read(watch->signals, &info, sizeof info) == (ssize_t)sizeof info;
        watch->pool->interrupted = whole ? (int)info.ssi_signo : SIGTERM;
        watch->stop = true;
        end_all(watch);
        return true;
    }
    for (size_t i = 1; i < count; i++) {
        if (watch->polled[i].revents != 0 && !slot_read(watch, watch->polled_slots[i])) {
            slot_end(watch, watch->polled_slots[i]);
        }
    }
    return true;
}

/* False at the end of what the worker sends. */
static bool slot_read(struct watch *watch, size_t index) {
    struct lapse_cli_slot *slot = &watch->pool->slots[index];
    char bytes[READ_BYTES];
    ssize_t got = read(slot->fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) {
        return true;
    }
    if (got > 0) {
        lapse_out_bytes(&slot->records, bytes, (size_t)got);
    }
    return got > 0;
}

static void slot_end(struct watch *watch, size_t index) {
    struct lapse_cli_slot *slot = &watch->pool->slots[index];
    int status = 0;
    while (waitpid((pid_t)slot->pid, &status, 0) < 0 && errno == EINTR) {
    }
    (void)close(slot->fd);
    slot->pid = 0;
    slot->done = true;
    if (WIFSIGNALED(status)) {
        slot->death = WTERMSIG(status);
    } else if (WEXITSTATUS(status) != 0) {
        slot->death = EXIT_CODE_BASE + WEXITSTATUS(status);
    }
    watch->running--;
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
    for (size_t i = 0; i < watch->next; i++) {
        struct lapse_cli_slot *slot = &watch->pool->slots[i];
        if (slot->pid != 0) {
            (void)kill((pid_t)slot->pid, SIGKILL);
            slot_end(watch, i);
            slot->done = false;
        }
    }
}

static size_t jobs_wanted(const struct lapse_cli_options *options) {
    long jobs = options->jobs;
    if (jobs == 0) {
        jobs = sysconf(_SC_NPROCESSORS_ONLN);
    }
    return jobs < 1 ? 1 : jobs > LAPSE_CLI_JOBS_MAX ? LAPSE_CLI_JOBS_MAX : (size_t)jobs;
}
