/* Kills a writing process at any moment and looks at what it left: every write that it acknowledged
 * is there, nothing that it never sent, and the one in hand whole or not at all (DUR-01, DUR-02).
 *
 * Usage: kill [rounds]. Works in a folder of its own below the current one. A round's moment is a
 * function of its number: after the k-th acknowledgement and a spin. */
#define _POSIX_C_SOURCE 200809L

#include "lapse/sqlite.h"
#include "testing_files.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 200, KEYS = 7, CALLS_MAX = 64, TEXT_MAX = 2000 };

struct killing {
    struct lapse_testing_dir dir;
    struct lapse_clock_manual clock;
    struct lapse *store;
    struct lapse_result r;
    struct lapse_error err;
};

static int64_t play_round(struct killing *k, int round, int64_t done);
static void write_on(struct killing *k, int64_t from, enum lapse_sync sync, int acknowledge);
static enum lapse_status make_call(struct killing *k, int64_t n);
static int64_t count_done(struct killing *k, int64_t acknowledged);
static bool stands(struct killing *k, int64_t n);
static void text_of(int64_t n, char *ret);
static enum lapse_status open_store(struct killing *k, enum lapse_sync sync);
static uint64_t draw(uint64_t *state, uint64_t n);
static void spin(uint64_t turns);
static void fail(const struct killing *k, int round, const char *what, int64_t number);

int main(int argc, char **argv) {
    struct killing k = {.store = NULL};
    int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS;
    int64_t done = 0;
    lapse_testing_dir_make(&k.dir);
    lapse_clock_manual_init(&k.clock, (struct lapse_wall){0});
    lapse_result_init(&k.r, NULL);
    for (int round = 0; round < rounds; round++) {
        done = play_round(&k, round, done);
    }
    lapse_result_free(&k.r);
    lapse_testing_dir_remove(&k.dir);
    printf("%d kills, %lld writes, all acknowledged ones kept\n", rounds, (long long)done);
    return rounds > 0 && done > 0 ? 0 : 1;
}

/* `done` calls stand before the round; returns how many do after it. */
static int64_t play_round(struct killing *k, int round, int64_t done) {
    uint64_t chance = (uint64_t)round;
    enum lapse_sync sync = round % 4 == 0 ? LAPSE_SYNC_FULL : LAPSE_SYNC_NORMAL;
    int64_t kill_after = (int64_t)draw(&chance, 10);
    int pipe_ends[2];
    if (pipe(pipe_ends) != 0) {
        fail(k, round, "no pipe", 0);
    }
    pid_t child = fork();
    if (child == 0) {
        (void)close(pipe_ends[0]);
        write_on(k, done, sync, pipe_ends[1]);
    }
    (void)close(pipe_ends[1]);
    int64_t acknowledged = 0;
    char byte = 0;
    while (acknowledged < kill_after && read(pipe_ends[0], &byte, 1) == 1) {
        acknowledged++;
    }
    if (acknowledged > 0 && round % 8 == 0 && open_store(k, sync) != LAPSE_LOCKED) {
        fail(k, round, "a second process was let in", 0);
    }
    spin(draw(&chance, 300000));
    (void)kill(child, SIGKILL);
    while (read(pipe_ends[0], &byte, 1) == 1) {
        acknowledged++;
    }
    (void)close(pipe_ends[0]);
    int how = 0;
    bool killed = waitpid(child, &how, 0) == child &&
                  (WIFSIGNALED(how) ? WTERMSIG(how) == SIGKILL : WEXITSTATUS(how) == 0);
    if (!killed) {
        fail(k, round, "the writer failed of itself", WIFEXITED(how) ? WEXITSTATUS(how) : 0);
    }
    if (open_store(k, sync) != LAPSE_OK) {
        fail(k, round, k->err.message, 0);
    }
    int64_t now = count_done(k, done + acknowledged);
    if (now < done + acknowledged || lapse_check(k->store, &k->err) != LAPSE_OK) {
        fail(k, round, "lost or half done: call", done + acknowledged);
    }
    lapse_close(k->store);
    return now;
}

/* The child: never returns. */
static void write_on(struct killing *k, int64_t from, enum lapse_sync sync, int acknowledge) {
    struct lapse_bucket_config config = {.history = 1};
    if (open_store(k, sync) != LAPSE_OK ||
        lapse_bucket_open(k->store, lapse_bytes_of("b"), &config, &k->r, &k->err) != LAPSE_OK) {
        _exit(3);
    }
    for (int64_t n = from; n < from + CALLS_MAX; n++) {
        if (make_call(k, n) != LAPSE_OK) {
            _exit(4);
        }
        if (write(acknowledge, "", 1) != 1) {
            _exit(5);
        }
    }
    _exit(0);
}

/* Call n: each fifth takes a lease, the others write a key. */
static enum lapse_status make_call(struct killing *k, int64_t n) {
    char name[32];
    char text[TEXT_MAX];
    if (n % 5 == 4) {
        (void)snprintf(name, sizeof(name), "lease %lld", (long long)n);
        return lapse_acquire(k->store, lapse_bytes_of(name), lapse_bytes_of(name),
                             (struct lapse_span){LAPSE_NS_PER_S}, &k->r, &k->err);
    }
    (void)snprintf(name, sizeof(name), "key %d", (int)(n % KEYS));
    text_of(n, text);
    return lapse_set(k->store, lapse_bytes_of("b"), lapse_bytes_of(name), lapse_bytes_of(text),
                     NULL, NULL, &k->r, &k->err);
}

/* How many calls stand: those acknowledged, or one more; -1: it is neither. */
static int64_t count_done(struct killing *k, int64_t acknowledged) {
    for (int64_t n = acknowledged; n <= acknowledged + 1; n++) {
        bool all = true;
        for (int64_t last = n - KEYS - 5; last < n + 8 && all; last++) {
            all = last < 0 || stands(k, last) == (last < n && (last % 5 == 4 || last + KEYS >= n ||
                                                              (last + KEYS) % 5 == 4));
        }
        if (all) {
            return n;
        }
    }
    return -1;
}

/* Whether call n is what its key or lease shows. */
static bool stands(struct killing *k, int64_t n) {
    char name[32];
    char text[TEXT_MAX];
    if (n % 5 == 4) {
        (void)snprintf(name, sizeof(name), "lease %lld", (long long)n);
        return lapse_inspect(k->store, lapse_bytes_of(name), &k->r, &k->err) == LAPSE_OK &&
               lapse_bytes_equal(k->r.owner, lapse_bytes_of(name));
    }
    (void)snprintf(name, sizeof(name), "key %d", (int)(n % KEYS));
    text_of(n, text);
    return lapse_get(k->store, lapse_bytes_of("b"), lapse_bytes_of(name), &k->r, &k->err) ==
               LAPSE_OK &&
           lapse_bytes_equal(k->r.value, lapse_bytes_of(text));
}

/* Of many lengths, so that calls take one page or several. */
static void text_of(int64_t n, char *ret) {
    int len = snprintf(ret, TEXT_MAX, "%lld ", (long long)n);
    size_t fill = (size_t)(n * 37 % (TEXT_MAX - 32));
    memset(ret + len, 'v', fill);
    ret[(size_t)len + fill] = '\0';
}

static enum lapse_status open_store(struct killing *k, enum lapse_sync sync) {
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&k->clock), .sync = sync};
    return lapse_open_file(k->dir.file, &options, &k->store, &k->err);
}

static uint64_t draw(uint64_t *state, uint64_t n) {
    *state = (*state + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (*state >> 33) % n;
}

static void spin(uint64_t turns) {
    for (volatile uint64_t i = 0; i < turns; i++) {
    }
}

static void fail(const struct killing *k, int round, const char *what, int64_t number) {
    fprintf(stderr, "round %d: %s %lld; the file is left at %s\n", round, what, (long long)number,
            k->dir.file);
    exit(1);
}
