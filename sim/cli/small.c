/* The shrinker in a process. It is quick as long as no run dies: then all is done again, each run
 * being made in a process of its own first. */
#define _DEFAULT_SOURCE 1

#include "small.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "shrunk.h"

enum { READ_BYTES = 65536, RUN_SECONDS_MAX = 5 };

/* What the process writes before its two texts. */
struct head {
    struct lapse_cli_made made;
    size_t text_bytes, told_bytes;
};

static enum lapse_status make(const struct lapse_cli_small_job *job, bool apart,
                              struct lapse_out *ret, int *ret_death, struct lapse_error *err);
static void work(const struct lapse_cli_small_job *job, bool apart, int fd);
static bool send(int fd, enum lapse_status status, const struct lapse_error *err,
                 const struct lapse_shrunk *shrunk, const struct lapse_cli_sizes *sizes);
static int run_apart(void (*run)(void *arg), void *arg);
static void be_quiet(void);
static void bound(unsigned seconds);
static int wait_for(pid_t pid);
static void read_all(int fd, struct lapse_out *ret);

enum lapse_status lapse_cli_small(const struct lapse_cli_small_job *job, struct lapse_out *text,
                                  struct lapse_out *told, struct lapse_cli_made *ret,
                                  struct lapse_error *err) {
    struct lapse_out all;
    struct head head = {.text_bytes = 0};
    int death = 0;
    *ret = (struct lapse_cli_made){.status = LAPSE_BUG};
    lapse_out_init(&all, lapse_alloc_libc());
    enum lapse_status status = make(job, false, &all, &death, err);
    if (status == LAPSE_OK && death != 0 && death != SIGXCPU && death != SIGKILL) {
        all.len = 0;
        status = make(job, true, &all, &death, err);
    }
    if (status == LAPSE_OK && all.failed) {
        status = lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    if (status == LAPSE_OK && all.len >= sizeof head) {
        memcpy(&head, all.text, sizeof head);
    }
    if (status == LAPSE_OK && all.len == sizeof head + head.text_bytes + head.told_bytes) {
        *ret = head.made;
        lapse_out_bytes(text, all.text + sizeof head, head.text_bytes);
        lapse_out_bytes(told, all.text + sizeof head + head.text_bytes, head.told_bytes);
    } else if (status == LAPSE_OK) {
        (void)lapse_error_set(&ret->err, LAPSE_BUG, "the shrinker died of signal %d", death);
    }
    lapse_out_free(&all);
    return status;
}

static enum lapse_status make(const struct lapse_cli_small_job *job, bool apart,
                              struct lapse_out *ret, int *ret_death, struct lapse_error *err) {
    int ends[2];
    if (pipe(ends) != 0) {
        return lapse_error_set(err, LAPSE_IO, "no pipe to shrink with: %s", strerror(errno));
    }
    pid_t pid = fork();
    if (pid < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        return lapse_error_set(err, LAPSE_IO, "no process to shrink in: %s", strerror(errno));
    }
    if (pid == 0) {
        (void)close(ends[0]);
        work(job, apart, ends[1]);
    }
    (void)close(ends[1]);
    read_all(ends[0], ret);
    (void)close(ends[0]);
    *ret_death = wait_for(pid);
    return LAPSE_OK;
}

/* Does not return. */
static void work(const struct lapse_cli_small_job *job, bool apart, int fd) {
    struct lapse_cli_sizes sizes = {.count = 0};
    const struct lapse_shrink_options options = {.alloc = lapse_alloc_libc(),
                                                 .arena = lapse_arena_open(),
                                                 .seed = job->seed,
                                                 .tries_max = job->tries_max,
                                                 .no_model = job->no_model,
                                                 .promise_strict = job->promise_strict,
                                                 .as_written = job->as_written,
                                                 .apart = apart ? run_apart : NULL,
                                                 .progress = lapse_cli_sizes_take,
                                                 .ctx = &sizes};
    struct lapse_shrunk shrunk;
    struct lapse_error err = {0};
    be_quiet();
    bound(job->seconds_max);
    enum lapse_status status = job->make(job->what, &options, &shrunk, &err);
    _exit(send(fd, status, &err, &shrunk, &sizes) ? 0 : LAPSE_EXIT_BUG);
}

static bool send(int fd, enum lapse_status status, const struct lapse_error *err,
                 const struct lapse_shrunk *shrunk, const struct lapse_cli_sizes *sizes) {
    struct lapse_out text, told;
    struct head head = {.made = {.status = status, .err = *err}};
    lapse_out_init(&text, lapse_alloc_libc());
    lapse_out_init(&told, lapse_alloc_libc());
    if (status == LAPSE_OK && shrunk->fails) {
        lapse_cli_shrunk_text(&text, shrunk);
        lapse_cli_sizes_draw(&told, sizes, shrunk);
        lapse_out_text(&told, "\n");
        lapse_cli_shrunk_draw(&told, shrunk);
        head.made.fails = true;
        head.made.minimal = shrunk->minimal;
        head.made.needs_fault = shrunk->needs_fault;
        head.made.stable = shrunk->stable;
        head.made.pinned = shrunk->pinned;
        head.made.thresholds = shrunk->threshold_count;
        head.made.tries = shrunk->tries;
        head.made.before = shrunk->before;
        head.made.after = shrunk->after;
        (void)snprintf(head.made.id, sizeof head.made.id, "%s", shrunk->signature.id);
    }
    head.text_bytes = text.len;
    head.told_bytes = told.len;
    return !text.failed && !told.failed && lapse_cli_send_all(fd, &head, sizeof head) &&
           lapse_cli_send_all(fd, text.text, text.len) &&
           lapse_cli_send_all(fd, told.text, told.len);
}

/* Without a process it is made here, and may end this one. */
static int run_apart(void (*run)(void *arg), void *arg) {
    pid_t pid = fork();
    if (pid == 0) {
        bound(RUN_SECONDS_MAX);
        run(arg);
        _exit(0);
    }
    return pid < 0 ? 0 : wait_for(pid);
}

/* An assertion that fires says so each time. */
static void be_quiet(void) {
    int nowhere = open("/dev/null", O_WRONLY);
    const struct rlimit no_core = {0, 0};
    (void)dup2(nowhere, STDERR_FILENO);
    (void)close(nowhere);
    (void)setrlimit(RLIMIT_CORE, &no_core);
}

static void bound(unsigned seconds) {
    const struct rlimit limit = {seconds, seconds + 1};
    if (seconds > 0) {
        (void)setrlimit(RLIMIT_CPU, &limit);
    }
}

/* Returns the signal that it died of, or 0. */
static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void read_all(int fd, struct lapse_out *ret) {
    char bytes[READ_BYTES];
    for (ssize_t got = 1; got != 0;) {
        got = read(fd, bytes, sizeof bytes);
        if (got > 0) {
            lapse_out_bytes(ret, bytes, (size_t)got);
        } else if (got < 0) {
            got = errno == EINTR ? 1 : 0;
        }
    }
}
