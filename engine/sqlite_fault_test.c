/* Faults under the store file: the nth open, write, read, map and sync fail, for all n, over the
 * story of all calls. Each leaves the state as it was, or the handle unavailable and, reopened, the
 * call there whole or not at all; and what a crash of the process would find at that moment is the
 * same. */
#include "testing.h"

#include "lapse/sqlite.h"
#include "testing_files.h"
#include "testing_vfs.h"

#include <criterion/criterion.h>
#include <string.h>

enum { STATES_MAX = 8 };

struct run {
    struct lapse_testing_dir dir;
    struct lapse_testing_vfs vfs;
    struct lapse_testing t;    /* the store under test */
    struct lapse_testing twin; /* the same calls on a journal in memory */
    struct lapse_testing_journal rows;
    uint64_t states[STATES_MAX]; /* of the twin: before a call, after what precedes, after it */
    size_t state_count;
    enum lapse_sync sync;
    size_t calls; /* of the story that are played; 0: all */
};

/* Adds what a row says, but the numbers that an open lifts above their ceilings, and those of
 * commits, of which a sync that is not full needs more. */
static enum lapse_status add_row(void *ctx, const struct lapse_row *row) {
    struct lapse_row told = *row;
    if (row->part == LAPSE_PART_TENURE || row->kind == LAPSE_ROW_MARK ||
        row->kind == LAPSE_ROW_COUNTER) {
        return LAPSE_OK;
    }
    told.record.written_seq = 0;
    told.bucket_row.ceiling_revision = 0;
    told.revision = row->kind == LAPSE_ROW_BUCKET ? 0 : row->revision;
    lapse_row_digest(&told, ctx);
    return LAPSE_OK;
}

static uint64_t state_of(const struct lapse *store) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    cr_assert_eq(lapse_walk(store, add_row, &digest, NULL), LAPSE_OK);
    return lapse_digest_value(&digest);
}

static enum lapse_status no_row(void *ctx, const struct lapse_row *row) {
    (void)ctx;
    (void)row;
    return LAPSE_CORRUPT;
}

static enum lapse_status open_store(struct run *run, const char *path) {
    struct lapse_sqlite_options options = {.alloc = &run->t.alloc.vtable, .vfs = "faulty"};
    struct lapse_options own = run->t.options;
    own.sync = run->sync;
    enum lapse_status status =
        lapse_sqlite_open(path, &options, &own.journal, &run->t.err);
    if (status == LAPSE_OK) {
        status = lapse_open(&own, &run->t.store, &run->t.err);
        if (status != LAPSE_OK) {
            own.journal.close(own.journal.ctx);
        }
    }
    return status;
}

static void begin_run(struct run *run, enum lapse_sync sync) {
    lapse_testing_journal_init(&run->rows);
    lapse_testing_open_with(&run->twin, &run->rows, 0);
    lapse_testing_open(&run->t);
    lapse_close(run->t.store);
    run->t.store = NULL;
    run->sync = sync;
}

static void end_run(struct run *run) {
    lapse_testing_vfs_fail(&run->vfs, LAPSE_TESTING_OPEN, 0, 0);
    lapse_testing_close(&run->t);
    lapse_testing_close(&run->twin);
    lapse_testing_journal_finish(&run->rows);
    cr_assert_eq(lapse_testing_vfs_memory(), 0, "SQLite has not given all its memory back");
    lapse_testing_dir_empty(&run->dir);
}

/* Makes call i on the twin and keeps the states that it goes through. */
static enum lapse_status twin_call(struct run *run, size_t i) {
    lapse_testing_story_enter(&run->twin, i);
    run->state_count = 0;
    run->states[run->state_count++] = state_of(run->twin.store);
    while (lapse_testing_story_precede(&run->twin, i, 1) > 0) {
        cr_assert_lt(run->state_count, STATES_MAX - 1);
        run->states[run->state_count++] = state_of(run->twin.store);
    }
    enum lapse_status status = lapse_testing_story_call(&run->twin, i);
    run->states[run->state_count++] = state_of(run->twin.store);
    return status;
}

static bool is_state(const struct run *run, uint64_t digest, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (run->states[i] == digest) {
            return true;
        }
    }
    return false;
}

/* What another process would find if this one died now. */
static uint64_t after_a_crash(struct run *run) {
    struct lapse *store = run->t.store;
    lapse_testing_file_copy(run->dir.file, run->dir.copy);
    cr_assert_eq(open_store(run, run->dir.copy), LAPSE_OK, "%s", run->t.err.message);
    uint64_t digest = state_of(run->t.store);
    lapse_close(run->t.store);
    run->t.store = store;
    return digest;
}

/* Call i has failed with `status`. */
static void judge_fault(struct run *run, size_t i, enum lapse_status status) {
    uint64_t now = state_of(run->t.store);
    lapse_testing_check(&run->t);
    lapse_testing_vfs_fail(&run->vfs, LAPSE_TESTING_OPEN, 0, 0);
    cr_assert(status == LAPSE_UNKNOWN || status == LAPSE_IO || status == LAPSE_NOMEM,
              "call %zu: %s", i, run->t.err.message);
    uint64_t crashed = after_a_crash(run);
    if (status != LAPSE_UNKNOWN) {
        cr_assert(is_state(run, now, run->state_count - 1) || now == run->states[0]);
        cr_assert_eq(crashed, now, "call %zu was refused, and a crash carries it out", i);
    } else {
        cr_assert(is_state(run, crashed, run->state_count), "call %zu is there in part", i);
        lapse_testing_do(&run->t, LAPSE_VERB_COUNT, "ttl", "", NULL, 0, 0);
        cr_assert_eq(run->t.r.status, LAPSE_UNAVAILABLE);
    }
    lapse_close(run->t.store);
    run->t.store = NULL;
    cr_assert_eq(open_store(run, run->dir.file), LAPSE_OK, "%s", run->t.err.message);
    now = state_of(run->t.store);
    cr_assert(is_state(run, now, run->state_count), "after call %zu and a reopen", i);
    cr_assert_eq(now, crashed);
}

/* Opens and plays the story until a fault shows. Whether one did. */
static bool play(struct run *run, int *io, int *unknown) {
    enum lapse_status status = open_store(run, run->dir.file);
    if (status != LAPSE_OK) {
        bool memory = run->vfs.kind == LAPSE_TESTING_MEMORY && status == LAPSE_NOMEM;
        cr_assert(status == LAPSE_IO || status == LAPSE_CORRUPT || memory, "%s",
                  run->t.err.message);
        lapse_testing_vfs_fail(&run->vfs, LAPSE_TESTING_OPEN, 0, 0);
        cr_assert_eq(open_store(run, run->dir.file), LAPSE_OK, "%s", run->t.err.message);
        return true;
    }
    size_t calls = run->calls == 0 ? lapse_testing_story_length() : run->calls;
    for (size_t i = 0; i < calls; i++) {
        enum lapse_status want = twin_call(run, i);
        lapse_testing_story_enter(&run->t, i);
        status = lapse_testing_story_call(&run->t, i);
        if (status < LAPSE_OK && status != want) {
            *(status == LAPSE_UNKNOWN ? unknown : io) += 1;
            judge_fault(run, i, status);
            return true;
        }
        cr_assert_eq(status, want, "call %zu: %s", i, run->t.err.message);
        cr_assert_eq(state_of(run->t.store),
                     run->states[run->state_count - 1]);
    }
    return false;
}

/* Every nth call of a kind, one alone or all from there on, until a run ends before the nth. */
static void fail_run(struct run *run, enum lapse_testing_call kind, int count, int step, int *io,
                     int *unknown) {
    enum lapse_testing_left left = run->vfs.left;
    lapse_testing_dir_make(&run->dir);
    lapse_testing_vfs_init(&run->vfs, "faulty");
    bool reached = true;
    for (int nth = 1; reached; nth += step) {
        begin_run(run, run->sync);
        run->vfs.left = left;
        run->vfs.full = nth % 2 == 0;
        lapse_testing_vfs_fail(&run->vfs, kind, nth, count);
        (void)play(run, io, unknown);
        reached = run->vfs.fail_at == 0 || run->vfs.counts[kind] >= nth;
        end_run(run);
        cr_assert_lt(nth, 20000);
    }
    lapse_testing_vfs_finish(&run->vfs);
    lapse_testing_dir_remove(&run->dir);
}

static void fail_each(enum lapse_testing_call kind, int count, enum lapse_testing_left left,
                      enum lapse_sync sync, int step, int *io, int *unknown) {
    struct run run = {.sync = sync, .vfs.left = left};
    fail_run(&run, kind, count, step, io, unknown);
}

/* The same over the first calls of the story; 0: all. */
static void fail_first(enum lapse_testing_call kind, int count, size_t calls, int step, int *io,
                       int *unknown) {
    struct run run = {.sync = LAPSE_SYNC_FULL, .calls = calls};
    fail_run(&run, kind, count, step, io, unknown);
}

Test(sqlite_fault, a_write_that_fails_once_changes_nothing) {
    int io = 0;
    int unknown = 0;
    fail_each(LAPSE_TESTING_WRITE, 1, LAPSE_TESTING_NOTHING, LAPSE_SYNC_FULL, 1, &io, &unknown);
    fail_each(LAPSE_TESTING_WRITE, 1, LAPSE_TESTING_HALF, LAPSE_SYNC_NORMAL, 3, &io, &unknown);
    /* The worst: all of a commit is in the log, and yet it is refused. */
    fail_each(LAPSE_TESTING_WRITE, 1, LAPSE_TESTING_ALL, LAPSE_SYNC_FULL, 1, &io, &unknown);
    cr_expect_gt(io, 100, "only %d writes failed a call", io);
    cr_expect_eq(unknown, 0, "%d calls were unknown, with a disk that writes again", unknown);
}

Test(sqlite_fault, a_disk_that_stays_full_leaves_no_half_call) {
    int io = 0;
    int unknown = 0;
    fail_each(LAPSE_TESTING_WRITE, 100000, LAPSE_TESTING_HALF, LAPSE_SYNC_FULL, 2, &io, &unknown);
    fail_each(LAPSE_TESTING_WRITE, 100000, LAPSE_TESTING_ALL, LAPSE_SYNC_NONE, 5, &io, &unknown);
    cr_expect_gt(io + unknown, 50, "only %d writes failed a call", io + unknown);
}

Test(sqlite_fault, a_sync_that_fails_is_unknown_until_reopened) {
    int io = 0;
    int unknown = 0;
    fail_each(LAPSE_TESTING_SYNC, 1, LAPSE_TESTING_NOTHING, LAPSE_SYNC_FULL, 1, &io, &unknown);
    fail_each(LAPSE_TESTING_SYNC, 100000, LAPSE_TESTING_NOTHING, LAPSE_SYNC_FULL, 3, &io, &unknown);
    cr_expect_gt(unknown, 20, "only %d syncs failed a call", unknown);
    cr_expect_eq(io, 0, "%d failed syncs were called certain", io);
}

/* A commit asks for more than the one before, or less: only those of `full` are synced. */
Test(sqlite_fault, a_commit_is_synced_as_it_asks) {
    static const enum lapse_sync asked[] = {
        LAPSE_SYNC_FULL,   LAPSE_SYNC_NORMAL, LAPSE_SYNC_NORMAL, LAPSE_SYNC_FULL, LAPSE_SYNC_NORMAL,
        LAPSE_SYNC_NORMAL, LAPSE_SYNC_FULL,   LAPSE_SYNC_FULL,   LAPSE_SYNC_FULL, LAPSE_SYNC_NONE,
        LAPSE_SYNC_NONE,   LAPSE_SYNC_FULL,   LAPSE_SYNC_NONE,   LAPSE_SYNC_NONE};
    struct run run = {.sync = LAPSE_SYNC_FULL};
    struct lapse_sqlite_options options = {.vfs = "faulty"};
    struct lapse_row row = {.kind = LAPSE_ROW_MARK};
    struct lapse_error err;
    lapse_journal journal;
    lapse_testing_dir_make(&run.dir);
    lapse_testing_vfs_init(&run.vfs, "faulty");
    cr_assert_eq(lapse_sqlite_open(run.dir.file, &options, &journal, &err), LAPSE_OK);
    cr_assert_eq(journal.load(journal.ctx, no_row, NULL, &err), LAPSE_OK);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        int64_t point = 0;
        row.revision++;
        cr_assert_eq(journal.begin(journal.ctx, &err), LAPSE_OK);
        cr_assert_eq(journal.put(journal.ctx, &row, &err), LAPSE_OK);
        int syncs = run.vfs.counts[LAPSE_TESTING_SYNC];
        cr_assert_eq(journal.commit(journal.ctx, asked[i], &point, &err), LAPSE_OK);
        cr_expect_eq(point, row.revision);
        syncs = run.vfs.counts[LAPSE_TESTING_SYNC] - syncs;
        bool full = asked[i] == LAPSE_SYNC_FULL;
        /* The level follows one commit later, so the first that asks for less is synced too. */
        bool late = i > 0 && asked[i - 1] == LAPSE_SYNC_FULL;
        cr_expect(full ? syncs > 0 : syncs == 0 || late, "commit %zu had %d syncs", i, syncs);
    }
    journal.close(journal.ctx);
    lapse_testing_vfs_finish(&run.vfs);
    lapse_testing_dir_remove(&run.dir);
}

Test(sqlite_fault, a_file_that_cannot_be_opened_or_read_is_told) {
    int io = 0;
    int unknown = 0;
    fail_each(LAPSE_TESTING_OPEN, 1, LAPSE_TESTING_NOTHING, LAPSE_SYNC_FULL, 1, &io, &unknown);
    fail_each(LAPSE_TESTING_READ, 1, LAPSE_TESTING_NOTHING, LAPSE_SYNC_FULL, 1, &io, &unknown);
    fail_each(LAPSE_TESTING_MAP, 1, LAPSE_TESTING_NOTHING, LAPSE_SYNC_FULL, 1, &io, &unknown);
}

/* Memory that SQLite asks for, at an open and in the first calls; then here and there in all. */
Test(sqlite_fault, memory_that_sqlite_misses_leaves_no_half_call) {
    int io = 0;
    int unknown = 0;
    fail_first(LAPSE_TESTING_MEMORY, 1, 6, 5, &io, &unknown);
    fail_first(LAPSE_TESTING_MEMORY, 100000, 6, 37, &io, &unknown);
    fail_first(LAPSE_TESTING_MEMORY, 1, 0, 397, &io, &unknown);
    cr_expect_gt(io, 10, "only %d calls missed memory", io);
}

Test(sqlite_fault, a_file_that_cannot_be_locked_or_measured_is_told) {
    int io = 0;
    int unknown = 0;
    fail_first(LAPSE_TESTING_SIZE, 1, 0, 5, &io, &unknown);
    fail_first(LAPSE_TESTING_SIZE, 1, 9, 1, &io, &unknown);
    fail_first(LAPSE_TESTING_LOCK, 1, 0, 11, &io, &unknown);
    fail_first(LAPSE_TESTING_LOCK, 1, 9, 1, &io, &unknown);
    cr_expect_gt(io, 10, "only %d calls were refused", io);
}
