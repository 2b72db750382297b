/* Opens that cannot be, and the journal by itself under faults: each is told by its status, leaves
 * the file as it was, and lets the next open have it. */
#include "testing.h"

#include "lapse/sqlite.h"
#include "testing_files.h"
#include "testing_vfs.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Codes of SQLite's that stand for memory, for damage and for a disk. */
enum { IOERR_NOMEM = 10 | 12 << 8, IOERR_CORRUPTFS = 10 | 33 << 8, IOERR_DATA = 10 | 32 << 8 };

struct scene {
    struct lapse_testing_dir dir;
    struct lapse_testing_vfs vfs;
    struct lapse_clock_manual clock;
    struct lapse_options options;
    struct lapse_error err;
    struct lapse *store;
};

static void begin_scene(struct scene *scene) {
    memset(scene, 0, sizeof(*scene));
    lapse_testing_dir_make(&scene->dir);
    lapse_testing_vfs_init(&scene->vfs, "faulty");
    lapse_clock_manual_init(&scene->clock, (struct lapse_wall){S(1000)});
    scene->options.clock = lapse_clock_manual_vtable(&scene->clock);
}

static void end_scene(struct scene *scene) {
    cr_expect_eq(lapse_testing_vfs_memory(), 0, "SQLite has not given all its memory back");
    lapse_testing_vfs_finish(&scene->vfs);
    lapse_testing_dir_remove(&scene->dir);
}

static enum lapse_status open_at(struct scene *scene, const char *path, bool no_lock) {
    struct lapse_sqlite_options file = {.vfs = "faulty", .no_lock = no_lock};
    struct lapse_options options = scene->options;
    enum lapse_status status = lapse_sqlite_open(path, &file, &options.journal, &scene->err);
    if (status == LAPSE_OK) {
        status = lapse_open(&options, &scene->store, &scene->err);
        if (status != LAPSE_OK) {
            options.journal.close(options.journal.ctx);
        }
    }
    return status;
}

static enum lapse_status write_key(struct scene *scene, const char *value) {
    struct lapse_bucket_config config = {.history = 1};
    struct lapse_bytes b = lapse_bytes_of("b");
    struct lapse_result r;
    lapse_result_init(&r, NULL);
    (void)lapse_bucket_open(scene->store, b, &config, &r, &scene->err);
    enum lapse_status status = lapse_set(scene->store, b, b, lapse_bytes_of(value), NULL, NULL, &r,
                                         &scene->err);
    lapse_result_free(&r);
    return status;
}

/* A store that was open when its process ended: its last writes lie in the log alone. */
static void leave_log(struct scene *scene) {
    cr_assert_eq(open_at(scene, scene->dir.file, false), LAPSE_OK, "%s", scene->err.message);
    cr_assert_eq(write_key(scene, "kept"), LAPSE_OK);
    lapse_testing_file_copy(scene->dir.file, scene->dir.copy);
    lapse_close(scene->store);
}

Test(sqlite_open, options_with_a_journal_of_their_own_are_refused) {
    struct scene scene;
    begin_scene(&scene);
    struct lapse_testing_journal *rows = calloc(1, sizeof(*rows));
    cr_assert_not_null(rows);
    lapse_testing_journal_init(rows);
    lapse_journal full = lapse_testing_journal_vtable(rows);
    for (int i = 0; i < 7; i++) {
        lapse_journal one = {.ctx = NULL};
        one.load = i == 0 ? full.load : NULL;
        one.begin = i == 1 ? full.begin : NULL;
        one.put = i == 2 ? full.put : NULL;
        one.drop = i == 3 ? full.drop : NULL;
        one.commit = i == 4 ? full.commit : NULL;
        one.rollback = i == 5 ? full.rollback : NULL;
        one.close = i == 6 ? full.close : NULL;
        scene.options.journal = one;
        cr_expect_eq(lapse_open_file(scene.dir.file, &scene.options, &scene.store, &scene.err),
                     LAPSE_INVALID, "member %d", i);
        cr_expect_eq(lapse_open(&scene.options, &scene.store, &scene.err), LAPSE_INVALID,
                     "member %d alone", i);
        cr_expect_not(lapse_testing_file_exists(scene.dir.file, ""));
    }
    lapse_testing_journal_finish(rows);
    free(rows);
    end_scene(&scene);
}

/* What fails above the file closes it again: the lock is free for the next. */
Test(sqlite_open, an_open_that_fails_above_the_file_lets_go_of_it) {
    struct scene scene;
    begin_scene(&scene);
    struct lapse_options clockless = {.clock = {NULL, NULL}};
    cr_expect_eq(lapse_open_file(scene.dir.file, &clockless, &scene.store, &scene.err),
                 LAPSE_INVALID);
    cr_expect_eq(lapse_open_file(scene.dir.file, &scene.options, &scene.store, &scene.err),
                 LAPSE_OK, "%s", scene.err.message);
    lapse_close(scene.store);
    end_scene(&scene);
}

Test(sqlite_open, a_file_system_that_cannot_hold_a_store_is_told) {
    struct scene scene;
    begin_scene(&scene);
    char *longest = calloc(1, 6000);
    cr_assert_not_null(longest);
    memset(longest, 'x', 5999);
    cr_expect_eq(open_at(&scene, longest, false), LAPSE_IO);
    cr_expect_not_null(strstr(scene.err.message, "does not lead to a file"));
    free(longest);
    scene.vfs.no_index = true;
    cr_expect_eq(open_at(&scene, scene.dir.file, true), LAPSE_IO);
    cr_expect_not_null(strstr(scene.err.message, "shared memory"), "%s", scene.err.message);
    scene.vfs.no_index = false;
    lapse_testing_dir_empty(&scene.dir);
    leave_log(&scene);
    scene.vfs.read_only = true;
    cr_expect_eq(open_at(&scene, scene.dir.file, true), LAPSE_IO);
    cr_expect_not_null(strstr(scene.err.message, "for writing"), "%s", scene.err.message);
    scene.vfs.read_only = false;
    cr_expect_eq(open_at(&scene, scene.dir.file, true), LAPSE_OK);
    lapse_close(scene.store);
    end_scene(&scene);
}

Test(sqlite_open, a_read_that_fails_is_told_by_what_it_says) {
    static const struct {
        int code;
        enum lapse_status status;
    } reads[] = {
        {0, LAPSE_IO},
        {IOERR_NOMEM, LAPSE_NOMEM},
        {IOERR_CORRUPTFS, LAPSE_CORRUPT},
        {IOERR_DATA, LAPSE_CORRUPT},
    };
    struct scene scene;
    begin_scene(&scene);
    leave_log(&scene);
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        scene.vfs.read_code = reads[i].code;
        lapse_testing_vfs_fail(&scene.vfs, LAPSE_TESTING_READ, 1, 1000);
        cr_expect_eq(open_at(&scene, scene.dir.file, false), reads[i].status, "%s",
                     scene.err.message);
        lapse_testing_vfs_fail(&scene.vfs, LAPSE_TESTING_READ, 0, 0);
        cr_expect_eq(open_at(&scene, scene.dir.file, false), LAPSE_OK, "%s", scene.err.message);
        lapse_close(scene.store);
    }
    end_scene(&scene);
}

/* Whether the key that the log holds is there. */
static bool is_kept(struct scene *scene) {
    struct lapse_result r;
    struct lapse_bytes b = lapse_bytes_of("b");
    lapse_result_init(&r, NULL);
    bool kept = lapse_get(scene->store, b, b, &r, &scene->err) == LAPSE_OK &&
                lapse_bytes_equal(r.value, lapse_bytes_of("kept"));
    lapse_result_free(&r);
    return kept && lapse_check(scene->store, &scene->err) == LAPSE_OK;
}

/* Recovery from a log: what fails in it is told, and the next open still finds all. */
Test(sqlite_open, a_recovery_that_fails_loses_nothing) {
    static const enum lapse_testing_call kinds[] = {LAPSE_TESTING_WRITE, LAPSE_TESTING_SYNC,
                                                    LAPSE_TESTING_READ,  LAPSE_TESTING_MAP,
                                                    LAPSE_TESTING_SIZE,  LAPSE_TESTING_LOCK,
                                                    LAPSE_TESTING_OPEN};
    struct scene scene;
    int failed = 0;
    begin_scene(&scene);
    for (int i = 0; i < 14; i++) {
        enum lapse_testing_call kind = kinds[i / 2];
        bool reached = true;
        for (int nth = 1; reached; nth++) {
            leave_log(&scene);
            lapse_testing_vfs_fail(&scene.vfs, kind, nth, i % 2 == 0 ? 1 : 1000);
            enum lapse_status status = open_at(&scene, scene.dir.copy, false);
            reached = scene.vfs.counts[kind] >= nth;
            lapse_testing_vfs_fail(&scene.vfs, kind, 0, 0);
            if (status == LAPSE_OK) {
                cr_expect(is_kept(&scene), "kind %d, call %d", (int)kind, nth);
                lapse_close(scene.store);
            } else {
                failed++;
                cr_expect(status == LAPSE_IO || status == LAPSE_CORRUPT, "%s", scene.err.message);
            }
            cr_assert_eq(open_at(&scene, scene.dir.copy, false), LAPSE_OK, "%s",
                         scene.err.message);
            cr_expect(is_kept(&scene), "kind %d, call %d: lost", (int)kind, nth);
            lapse_close(scene.store);
            lapse_testing_dir_empty(&scene.dir);
            cr_assert_lt(nth, 500);
        }
    }
    cr_expect_gt(failed, 20, "only %d opens failed", failed);
    end_scene(&scene);
}

static enum lapse_status no_row(void *ctx, const struct lapse_row *row) {
    (void)ctx;
    (void)row;
    return LAPSE_CORRUPT;
}

/* Commits of each level after each other, each of its syncs and allocations failed in turn: IO or
 * UNKNOWN, then no more until it is opened again. */
Test(sqlite_open, a_change_of_level_that_fails_is_told) {
    static const enum lapse_sync asked[] = {LAPSE_SYNC_FULL,   LAPSE_SYNC_NONE, LAPSE_SYNC_NONE,
                                            LAPSE_SYNC_FULL,   LAPSE_SYNC_FULL, LAPSE_SYNC_NORMAL,
                                            LAPSE_SYNC_NORMAL, LAPSE_SYNC_FULL, LAPSE_SYNC_NONE};
    struct scene scene;
    struct lapse_sqlite_options options = {.vfs = "faulty"};
    int refused = 0;
    begin_scene(&scene);
    for (int i = 1; i < 60; i++) {
        struct lapse_row row = {.kind = LAPSE_ROW_MARK};
        lapse_journal journal;
        enum lapse_status status =
            lapse_sqlite_open(scene.dir.file, &options, &journal, &scene.err);
        cr_assert_eq(status, LAPSE_OK, "%s", scene.err.message);
        cr_assert_eq(journal.load(journal.ctx, no_row, NULL, &scene.err), LAPSE_OK);
        lapse_testing_vfs_fail(&scene.vfs, i % 2 == 0 ? LAPSE_TESTING_SYNC : LAPSE_TESTING_MEMORY,
                               i / 2, i % 3 == 0 ? 1000 : 1);
        for (size_t k = 0; k < sizeof(asked) / sizeof(asked[0]) && status == LAPSE_OK; k++) {
            int64_t point = 0;
            row.revision++;
            status = journal.begin(journal.ctx, &scene.err);
            if (status == LAPSE_OK) {
                status = journal.put(journal.ctx, &row, &scene.err);
                if (status == LAPSE_OK) {
                    status = journal.commit(journal.ctx, asked[k], &point, &scene.err);
                } else {
                    journal.rollback(journal.ctx);
                }
            }
        }
        refused += status == LAPSE_OK ? 0 : 1;
        cr_expect(status == LAPSE_OK || status == LAPSE_IO || status == LAPSE_UNKNOWN ||
                      status == LAPSE_NOMEM, "%s", scene.err.message);
        bool broken = status == LAPSE_UNKNOWN;
        lapse_testing_vfs_fail(&scene.vfs, LAPSE_TESTING_SYNC, 0, 0);
        cr_expect(!broken || journal.begin(journal.ctx, &scene.err) == LAPSE_IO,
                  "written on after an unknown commit");
        journal.close(journal.ctx);
        lapse_testing_dir_empty(&scene.dir);
    }
    cr_expect_gt(refused, 10, "only %d runs were refused", refused);
    end_scene(&scene);
}

/* A log that has grown is folded in; where that fails, the store says so and keeps all. */
Test(sqlite_open, a_log_that_cannot_be_folded_in_is_kept) {
    struct scene scene;
    char *value = calloc(1, 3000001);
    cr_assert_not_null(value);
    memset(value, 'v', 3000000);
    for (int i = 0; i < 6; i++) {
        begin_scene(&scene);
        scene.options.sync = (enum lapse_sync)(i % 3);
        cr_assert_eq(open_at(&scene, scene.dir.file, false), LAPSE_OK);
        enum lapse_status status = write_key(&scene, value);
        cr_assert_eq(status, LAPSE_OK);
        /* The second write makes the log long enough; then its pages are written to the file. */
        lapse_testing_vfs_fail(&scene.vfs, i < 3 ? LAPSE_TESTING_READ : LAPSE_TESTING_WRITE,
                               i < 3 ? 1 : 1600, 100000);
        (void)write_key(&scene, value);
        status = write_key(&scene, "after");
        cr_expect(status == LAPSE_OK || status == LAPSE_IO || status == LAPSE_UNKNOWN ||
                      status == LAPSE_UNAVAILABLE, "%s", scene.err.message);
        lapse_testing_vfs_fail(&scene.vfs, LAPSE_TESTING_WRITE, 0, 0);
        lapse_close(scene.store);
        cr_assert_eq(open_at(&scene, scene.dir.file, false), LAPSE_OK, "%s", scene.err.message);
        cr_expect_eq(write_key(&scene, "kept"), LAPSE_OK);
        cr_expect(is_kept(&scene));
        lapse_close(scene.store);
        end_scene(&scene);
    }
    free(value);
}
