/* All crash points of a workload. 200 calls run once on the SQLite store on a crash disk; before
 * every operation that reaches the disk, and after the last, copies of it crash: plainly, and torn
 * by several choices. Each is opened again and what it holds is compared with what the store held
 * after each call. It must be the state after the last call that was acknowledged, or after the one
 * in hand (whole), and nothing else.
 *
 * Under full sync none may be lost. Under `normal`, and on a disk whose syncs lie, the same check
 * must find losses and name them: then it is known that it can.
 *
 * Usage: crash [calls]. */
#include "sim/arena.h"
#include "lapse/lapse.h"
#include "vfs.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    CALLS = 200,
    CALLS_MAX = 2000,
    TORN = 3,
    NAMES = 3,
    STEP_NS = 300000000,
    CALLS_A_LIFE = 25 /* then the process crashes and starts again, which folds its log in */
};

/* One way to run the workload, and what may be found then. */
struct way {
    const char *name;
    enum lapse_sync sync;
    bool lies; /* from the middle of the calls on */
    bool may_lose, may_corrupt;
};

/* Of rows; `numbers`: with the counters of revisions and tokens. */
struct sum {
    uint64_t value;
    bool numbers;
};

struct tally {
    int64_t points, crashes, whole, lost, lost_calls, corrupt, wrong;
    int named;
};

struct crash {
    const struct way *way;
    struct lapse_sim_trouble trouble;
    struct lapse_sim_disk disk;
    struct lapse_arena *arena; /* for copies */
    struct lapse_clock_manual clock;
    struct lapse *store;
    struct lapse_result result;
    struct lapse_error err;
    int calls, done;              /* of the workload; acknowledged so far */
    uint64_t states[CALLS_MAX + 2]; /* what the store holds after so many calls */
    struct tally tally;
    /* Copies as they crashed, whose states are known only once the call in hand is over. */
    struct found {
        uint64_t state;
        int done, torn;
        int64_t point;
    } * found;
    size_t found_count, found_cap;
};

static bool run(const struct way *way, int calls);
static void play(struct crash *crash);
static enum lapse_status call(struct crash *crash, int n);
static void crash_copies(void *ctx, struct lapse_sim_disk *disk);
static void crash_copy(struct crash *crash, int torn);
static enum lapse_status open_on(struct crash *crash, struct lapse_sim_vfs *vfs, uint64_t *ret_sum,
                                 struct lapse **ret);
static void fall(struct crash *crash);
static enum lapse_status add_row(void *ctx, const struct lapse_row *row);
static uint64_t sum_store(const struct crash *crash);
static void keep(struct crash *crash, struct found found);
static void judge(struct crash *crash, const struct found *found);
static void name_loss(struct crash *crash, const struct found *found, int held);
static bool report(const struct crash *crash);
static struct lapse_bytes text_of(char *buf, size_t cap, const char *prefix, uint64_t n);
static uint64_t mixed(uint64_t n);
static void need(bool holds, const char *what);

int main(int argc, char **argv) {
    static const struct way ways[] = {
        {"full", LAPSE_SYNC_FULL, false, false, false},
        {"normal", LAPSE_SYNC_NORMAL, false, true, false},
        {"full, syncs lie", LAPSE_SYNC_FULL, true, true, true},
    };
    int calls = argc > 1 ? atoi(argv[1]) : CALLS;
    bool good = calls > 0 && calls <= CALLS_MAX;
    for (size_t i = 0; good && i < sizeof(ways) / sizeof(ways[0]); i++) {
        good = run(&ways[i], calls);
    }
    return good ? 0 : 1;
}

static bool run(const struct way *way, int calls) {
    struct crash *crash = calloc(1, sizeof(*crash));
    need(crash != NULL, "memory");
    crash->way = way;
    crash->calls = calls;
    lapse_clock_manual_init(&crash->clock, (struct lapse_wall){0});
    lapse_result_init(&crash->result, NULL);
    crash->arena = lapse_arena_open();
    need(crash->arena != NULL, "memory");
    lapse_sim_disk_init(&crash->disk, lapse_alloc_libc(), &crash->trouble);
    crash->disk.before = crash_copies;
    crash->disk.before_ctx = crash;
    play(crash);
    for (size_t i = 0; i < crash->found_count; i++) {
        judge(crash, &crash->found[i]);
    }
    bool good = report(crash);
    lapse_sim_disk_finish(&crash->disk);
    lapse_result_free(&crash->result);
    lapse_arena_close(crash->arena);
    free(crash->found);
    free(crash);
    return good;
}

/* The last close is none of a crash: it folds the log in, and has points too. */
static void play(struct crash *crash) {
    struct lapse_sim_vfs *vfs = lapse_sim_vfs_make(&crash->disk);
    need(vfs != NULL, "memory");
    for (int n = 0; n < crash->calls; n++) {
        if (n % CALLS_A_LIFE == 0) {
            fall(crash);
            need(open_on(crash, vfs, NULL, &crash->store) == LAPSE_OK, crash->err.message);
        }
        if (crash->way->lies && n == crash->calls / 2) {
            crash->trouble.sync = LAPSE_DISK_SYNC_LIES;
        }
        lapse_clock_manual_advance(&crash->clock, (struct lapse_span){STEP_NS});
        need(call(crash, n) >= 0, crash->err.message);
        crash->done = n + 1;
        crash->states[n + 1] = sum_store(crash);
    }
    crash->states[crash->calls + 1] = crash->states[crash->calls];
    lapse_close(crash->store);
    crash_copies(crash, &crash->disk);
    lapse_sim_vfs_free(vfs);
}

/* Keys and leases of few names, so that they meet; terms that end within the run, so that there is
 * something to reap; a batch now and then. One call is one transaction, or a mark and one. */
static enum lapse_status call(struct crash *crash, int n) {
    char key_text[16], value_text[16];
    uint64_t chance = mixed((uint64_t)n);
    struct lapse_bytes bucket = lapse_bytes_of("b");
    struct lapse_bytes key = text_of(key_text, sizeof(key_text), "k", chance % 11);
    struct lapse_bytes value = text_of(value_text, sizeof(value_text), "v", (uint64_t)n);
    struct lapse_term term = {.given = LAPSE_TERM_TTL, .ttl = {20 * (int64_t)STEP_NS}};
    struct lapse_bucket_config config = {.markers = {3 * LAPSE_NS_PER_S},
                                         .history = 3};
    struct lapse_command members[2] = {
        {.verb = LAPSE_VERB_SET, .bucket = bucket, .key = key, .u.write.value = value},
        {.verb = LAPSE_VERB_SET, .bucket = bucket, .key = value, .u.write.value = value}};
    struct lapse_command batch = {
        .verb = LAPSE_VERB_BATCH, .bucket = bucket, .u.batch = {2, members}};
    struct lapse_result *result = &crash->result;
    struct lapse_error *err = &crash->err;
    if (n == 0) {
        return lapse_bucket_open(crash->store, bucket, &config, result, err);
    }
    switch (chance / 11 % 8) {
    case 0:
    case 1:
        return lapse_set(crash->store, bucket, key, value, &term, NULL, result, err);
    case 2:
        return lapse_set(crash->store, bucket, key, value, NULL, NULL, result, err);
    case 3:
        return lapse_delete(crash->store, bucket, key, NULL, result, err);
    case 4:
        return lapse_acquire(crash->store, key, value, term.ttl, result, err);
    case 5:
        return lapse_release(crash->store, key, value, NULL, result, err);
    case 6:
        return lapse_apply(crash->store, &batch, result, err);
    default:
        return lapse_step(crash->store, 1, result, NULL, err);
    }
}

/* The disk as it is now, crashed in each way. */
static void crash_copies(void *ctx, struct lapse_sim_disk *disk) {
    struct crash *crash = ctx;
    need(disk == &crash->disk, "another disk");
    crash->tally.points++;
    for (int torn = 0; torn <= TORN; torn++) {
        crash_copy(crash, torn);
    }
}

static void crash_copy(struct crash *crash, int torn) {
    struct lapse_sim_trouble trouble = {0};
    struct lapse_sim_disk copy;
    struct lapse_choices *choices = NULL;
    struct found found = {.done = crash->done, .torn = torn, .point = crash->tally.points};
    lapse_sim_disk_init(&copy, lapse_arena_alloc(crash->arena), &trouble);
    need(lapse_sim_disk_copy(&copy, &crash->disk, true), "memory for a copy");
    need(lapse_choices_open_seed(lapse_alloc_libc(), (uint64_t)torn, &choices) == LAPSE_OK,
         "memory for choices");
    need(lapse_sim_disk_crash(&copy, torn == 0 ? NULL : choices, (int32_t)crash->tally.points),
         "memory for a crash");
    need(lapse_sim_disk_check(&copy, &crash->err) == LAPSE_OK, crash->err.message);
    struct lapse_sim_vfs *vfs = lapse_sim_vfs_make(&copy);
    struct lapse *store = NULL;
    need(vfs != NULL, "memory");
    enum lapse_status status = open_on(crash, vfs, &found.state, &store);
    if (status == LAPSE_OK) {
        need(lapse_check(store, &crash->err) == LAPSE_OK, crash->err.message);
        lapse_close(store);
        keep(crash, found);
    } else {
        need(status == LAPSE_CORRUPT, crash->err.message);
        crash->tally.corrupt++;
    }
    crash->tally.crashes++;
    lapse_sim_vfs_free(vfs);
    lapse_sim_disk_finish(&copy);
    lapse_choices_close(choices);
}

/* What lies on the disk is summed up before the engine goes on from it; NULL: it is not. */
static enum lapse_status open_on(struct crash *crash, struct lapse_sim_vfs *vfs, uint64_t *ret_sum,
                                 struct lapse **ret) {
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&crash->clock),
                                    .sync = crash->way->sync};
    enum lapse_status status = lapse_sim_vfs_open(vfs, &options.journal, &crash->err);
    if (status != LAPSE_OK) {
        return status;
    }
    if (ret_sum != NULL) {
        struct sum sum = {.numbers = crash->way->sync == LAPSE_SYNC_FULL};
        status = options.journal.load(options.journal.ctx, add_row, &sum, &crash->err);
        *ret_sum = sum.value;
    }
    if (status == LAPSE_OK) {
        status = lapse_open(&options, ret, &crash->err);
    }
    if (status != LAPSE_OK) {
        options.journal.close(options.journal.ctx);
    }
    return status;
}

/* What the process had is gone, what it wrote is not. */
static void fall(struct crash *crash) {
    crash->trouble.dead = true;
    lapse_close(crash->store);
    crash->trouble.dead = false;
    crash->store = NULL;
}

/* The sum of all rows' digests, so that their order does not matter. Marks tell time alone, and a
 * counter that has given nothing out is not stored. Without full sync numbers run ahead of what is
 * stored, up to ceilings that are synced beforehand: they are left out. */
static enum lapse_status add_row(void *ctx, const struct lapse_row *row) {
    struct sum *sum = ctx;
    struct lapse_row copy = *row;
    struct lapse_digest digest;
    bool number = row->kind == LAPSE_ROW_COUNTER && (row->revision == 0 || !sum->numbers);
    if (row->part != LAPSE_PART_DURABLE || row->kind == LAPSE_ROW_MARK || number) {
        return LAPSE_OK;
    }
    if (row->kind == LAPSE_ROW_BUCKET && !sum->numbers) {
        copy.revision = copy.bucket_row.ceiling_revision = 0;
    }
    lapse_digest_begin(&digest);
    lapse_row_digest(&copy, &digest);
    sum->value += lapse_digest_value(&digest);
    return LAPSE_OK;
}

static uint64_t sum_store(const struct crash *crash) {
    struct sum sum = {.numbers = crash->way->sync == LAPSE_SYNC_FULL};
    need(lapse_walk(crash->store, add_row, &sum, NULL) == LAPSE_OK, "a walk");
    return sum.value;
}

static void keep(struct crash *crash, struct found found) {
    if (crash->found_count == crash->found_cap) {
        crash->found_cap = crash->found_cap * 2 + 1024;
        crash->found = realloc(crash->found, crash->found_cap * sizeof(*crash->found));
        need(crash->found != NULL, "memory for what was found");
    }
    crash->found[crash->found_count++] = found;
}

/* The newest state that is what was found: the one in hand, the acknowledged one, an older one. */
static void judge(struct crash *crash, const struct found *found) {
    struct tally *tally = &crash->tally;
    int held = found->done + 1;
    while (held >= 0 && crash->states[held] != found->state) {
        held--;
    }
    tally->whole += held > found->done ? 1 : 0;
    tally->wrong += held < 0 ? 1 : 0;
    if (held >= 0 && held < found->done) {
        tally->lost++;
        tally->lost_calls += found->done - held;
        name_loss(crash, found, held);
    }
}

static void name_loss(struct crash *crash, const struct found *found, int held) {
    if (crash->tally.named++ < NAMES) {
        printf("#   %s, crash point %lld%s: %d calls were acknowledged, calls %d to %d are gone\n",
               crash->way->name, (long long)found->point, found->torn > 0 ? ", torn" : "",
               found->done, held + 1, found->done);
    }
}

static bool report(const struct crash *crash) {
    const struct way *way = crash->way;
    const struct tally *tally = &crash->tally;
    printf("%s: %d calls, %lld crash points, %lld crashes, %lld with the call in hand whole, "
           "%lld lost acknowledged calls (%lld of them), %lld corrupt, %lld wrong\n",
           way->name, crash->calls, (long long)tally->points, (long long)tally->crashes,
           (long long)tally->whole, (long long)tally->lost, (long long)tally->lost_calls,
           (long long)tally->corrupt, (long long)tally->wrong);
    bool loses = way->may_lose ? tally->lost > 0 : tally->lost == 0;
    bool breaks = way->may_corrupt || (tally->corrupt == 0 && tally->wrong == 0);
    if (!loses || !breaks || tally->points <= crash->calls) {
        printf("%s: not as it should be\n", way->name);
    }
    return loses && breaks && tally->points > crash->calls;
}

static struct lapse_bytes text_of(char *buf, size_t cap, const char *prefix, uint64_t n) {
    (void)snprintf(buf, cap, "%s%llu", prefix, (unsigned long long)n);
    return lapse_bytes_of(buf);
}

static uint64_t mixed(uint64_t n) {
    n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    n ^= n >> 29;
    n *= UINT64_C(0xbf58476d1ce4e5b9);
    return n ^ n >> 32;
}

static void need(bool holds, const char *what) {
    if (!holds) {
        printf("cannot go on: %s\n", what);
        exit(1);
    }
}
