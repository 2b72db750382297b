/* Starting programs and listening to them. A child that spins is ended by the system at its bound
 * of processor time; its own workers have the same bound. */
#define _DEFAULT_SOURCE 1

#include "children.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_BYTES = 65536, NOT_STARTED = 127 };

struct watch {
    struct lapse_cli_child *children;
    size_t count, next, running;
    struct lapse_error *err;
};

static bool start(struct watch *watch);
static void become(const struct lapse_cli_child *child, int fd);
static bool wait_some(struct watch *watch);
static bool hear(struct lapse_cli_child *child);
static void end(struct watch *watch, struct lapse_cli_child *child);

enum lapse_status lapse_cli_children_run(struct lapse_cli_child *children, size_t count, int jobs,
                                         struct lapse_error *err) {
    struct watch watch = {children, count, 0, 0, err};
    long wanted = jobs > 0 ? jobs : sysconf(_SC_NPROCESSORS_ONLN);
    size_t most = wanted < 1                     ? 1
                  : wanted > LAPSE_CLI_JOBS_MAX ? LAPSE_CLI_JOBS_MAX
                                                : (size_t)wanted;
    bool good = true;
    bool whole = true;
    while (good && (watch.running > 0 || watch.next < count)) {
        while (good && watch.running < most && watch.next < count) {
            good = start(&watch);
        }
        good = good && wait_some(&watch);
    }
    for (size_t i = 0; i < count; i++) {
        if (children[i].pid != 0) {
            (void)kill((pid_t)children[i].pid, SIGKILL);
            end(&watch, &children[i]);
        }
        whole = whole && !children[i].told.failed;
    }
    if (good && !whole) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    return good ? LAPSE_OK : LAPSE_IO;
}

bool lapse_cli_send_all(int fd, const void *bytes, size_t count) {
    const char *at = bytes;
    while (count > 0) {
        ssize_t sent = write(fd, at, count);
        if (sent > 0) {
            at += sent;
            count -= (size_t)sent;
        } else if (sent == 0 || errno != EINTR) {
            errno = sent == 0 ? ENOSPC : errno;
            return false;
        }
    }
    return true;
}

static bool start(struct watch *watch) {
    struct lapse_cli_child *child = &watch->children[watch->next];
    int ends[2];
    lapse_out_init(&child->told, lapse_alloc_libc());
    if (pipe(ends) != 0) {
        (void)lapse_error_set(watch->err, LAPSE_IO, "no pipe for a program: %s", strerror(errno));
        return false;
    }
    pid_t pid = fork();
    if (pid < 0) {
        (void)close(ends[0]);
        (void)close(ends[1]);
        (void)lapse_error_set(watch->err, LAPSE_IO, "no process for a program: %s",
                              strerror(errno));
        return false;
    }
    if (pid == 0) {
        become(child, ends[1]);
    }
    (void)close(ends[1]);
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    child->pid = pid;
    child->fd = ends[0];
    watch->next++;
    watch->running++;
    return true;
}

/* Does not return. */
static void become(const struct lapse_cli_child *child, int fd) {
    struct rlimit limit = {LAPSE_CLI_CHILD_SECONDS_MAX, LAPSE_CLI_CHILD_SECONDS_MAX};
    (void)setrlimit(RLIMIT_CPU, &limit);
    int nowhere = open("/dev/null", O_RDWR);
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(fd, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    (void)close(fd);
    (void)execv(child->argv[0], (char *const *)(void *)child->argv);
    _exit(NOT_STARTED);
}

static bool wait_some(struct watch *watch) {
    struct pollfd polled[LAPSE_CLI_JOBS_MAX];
    struct lapse_cli_child *whose[LAPSE_CLI_JOBS_MAX];
    nfds_t count = 0;
    for (size_t i = 0; i < watch->next; i++) {
        if (watch->children[i].pid != 0) {
            LAPSE_ASSERT(count < LAPSE_CLI_JOBS_MAX);
            whose[count] = &watch->children[i];
            polled[count++] = (struct pollfd){watch->children[i].fd, POLLIN, 0};
        }
    }
    if (poll(polled, count, -1) < 0 && errno != EINTR) {
        (void)lapse_error_set(watch->err, LAPSE_IO, "programs cannot be watched: %s",
                              strerror(errno));
        return false;
    }
    for (nfds_t i = 0; i < count; i++) {
        if (polled[i].revents != 0 && !hear(whose[i])) {
            end(watch, whose[i]);
        }
    }
    return true;
}

/* False at the end of what the child writes. */
static bool hear(struct lapse_cli_child *child) {
    char bytes[READ_BYTES];
    ssize_t got = read(child->fd, bytes, sizeof bytes);
    if (got < 0 && errno == EINTR) {
        return true;
    }
    if (got > 0) {
        lapse_out_bytes(&child->told, bytes, (size_t)got);
    }
    return got > 0;
}

static void end(struct watch *watch, struct lapse_cli_child *child) {
    int status = 0;
    while (waitpid((pid_t)child->pid, &status, 0) < 0 && errno == EINTR) {
    }
    (void)close(child->fd);
    child->pid = 0;
    child->death = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    child->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    watch->running--;
}
