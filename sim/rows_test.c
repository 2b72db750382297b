/* The disk in memory: rows go in and out by key, load in the order that a store wants, and come
 * back as a rollback or a crash leaves them. */
#include "sim/arena.h"
#include "rows.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct seen {
    char text[512];
};

static enum lapse_status see(void *ctx, const struct lapse_row *row) {
    struct seen *seen = ctx;
    char buf[64];
    size_t used = strlen(seen->text);
    (void)snprintf(seen->text + used, sizeof(seen->text) - used, "%d:%s%s%lld ", (int)row->kind,
                   lapse_bytes_print(row->key, buf, sizeof(buf)), row->key.len > 0 ? "/" : "",
                   (long long)row->revision);
    return LAPSE_OK;
}

static void expect_rows(struct lapse_sim_rows *rows, const char *wanted) {
    lapse_journal journal = lapse_sim_rows_journal(rows);
    struct seen seen = {""};
    cr_assert_eq(journal.load(journal.ctx, see, &seen, NULL), LAPSE_OK);
    cr_assert_str_eq(seen.text, wanted);
}

static struct lapse_row row_of(enum lapse_row_kind kind, const char *bucket, const char *key,
                               int64_t revision) {
    struct lapse_row row = {.kind = kind,
                            .bucket = lapse_bytes_of(bucket),
                            .key = lapse_bytes_of(key),
                            .revision = revision};
    row.record.kind = LAPSE_RECORD_VALUE;
    return row;
}

static void put(lapse_journal journal, struct lapse_row row) {
    cr_assert_eq(journal.put(journal.ctx, &row, NULL), LAPSE_OK);
}

static void commit(lapse_journal journal, enum lapse_sync sync) {
    int64_t point = 0;
    cr_assert_eq(journal.commit(journal.ctx, sync, &point, NULL), LAPSE_OK);
    cr_assert_gt(point, 0);
}

Test(rows, load_in_the_order_that_a_store_wants) {
    struct lapse_arena *arena = lapse_arena_open();
    struct lapse_sim_trouble trouble = {0};
    struct lapse_sim_rows rows;
    lapse_sim_rows_init(&rows, lapse_arena_alloc(arena), &trouble);
    lapse_journal journal = lapse_sim_rows_journal(&rows);
    expect_rows(&rows, "");
    (void)journal.begin(journal.ctx, NULL);
    put(journal, row_of(LAPSE_ROW_REQUEST, "", "id", 0));
    put(journal, row_of(LAPSE_ROW_LEASE, "", "l", 0));
    put(journal, row_of(LAPSE_ROW_RECORD, "b", "k", 10));
    put(journal, row_of(LAPSE_ROW_RECORD, "b", "k", 9));
    put(journal, row_of(LAPSE_ROW_RECORD, "b", "j", 11));
    put(journal, row_of(LAPSE_ROW_BUCKET, "b", "", 11));
    put(journal, row_of(LAPSE_ROW_SESSION, "", "s", 2));
    put(journal, row_of(LAPSE_ROW_SESSION, "", "s", 1));
    put(journal, row_of(LAPSE_ROW_COUNTER, "", "token", 4));
    put(journal, row_of(LAPSE_ROW_MARK, "", "peak", 8));
    put(journal, row_of(LAPSE_ROW_MARK, "", "peak", 7));
    put(journal, row_of(LAPSE_ROW_MARK, "", "", 12));
    put(journal, row_of(LAPSE_ROW_MARK, "", "", 13)); /* the mark is one row, whatever its number */
    put(journal, row_of(LAPSE_ROW_COUNTER, "", "token", 5));
    commit(journal, LAPSE_SYNC_FULL);
    expect_rows(&rows, "6:13 6:peak/7 6:peak/8 5:token/5 4:s/1 4:s/2 1:11 2:j/11 2:k/9 2:k/10 "
                       "3:l/0 7:id/0 ");
    lapse_sim_rows_lose_unsynced(&rows);
    (void)journal.begin(journal.ctx, NULL);
    struct lapse_row gone = row_of(LAPSE_ROW_RECORD, "b", "k", 9);
    cr_assert_eq(journal.drop(journal.ctx, &gone, NULL), LAPSE_OK);
    commit(journal, LAPSE_SYNC_FULL);
    expect_rows(&rows, "6:13 6:peak/7 6:peak/8 5:token/5 4:s/1 4:s/2 1:11 2:j/11 2:k/10 3:l/0 "
                       "7:id/0 ");
    lapse_arena_close(arena);
}

Test(rows, a_crash_leaves_what_was_committed_and_of_a_machine_what_was_synced) {
    static const struct {
        enum lapse_sync first, second;
        const char *after_process, *after_machine;
    } cases[] = {
        {LAPSE_SYNC_FULL, LAPSE_SYNC_FULL, "3:a/0 3:c/0 ", "3:a/0 3:c/0 "},
        {LAPSE_SYNC_FULL, LAPSE_SYNC_NORMAL, "3:a/0 3:c/0 ", "3:a/0 3:b/0 "},
        {LAPSE_SYNC_NORMAL, LAPSE_SYNC_FULL, "3:a/0 3:c/0 ", "3:a/0 3:c/0 "},
        {LAPSE_SYNC_NORMAL, LAPSE_SYNC_NORMAL, "3:a/0 3:c/0 ", ""},
        {LAPSE_SYNC_NONE, LAPSE_SYNC_NONE, "3:a/0 3:c/0 ", ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_arena *arena = lapse_arena_open();
        struct lapse_sim_trouble trouble = {0};
        struct lapse_sim_rows rows;
        lapse_sim_rows_init(&rows, lapse_arena_alloc(arena), &trouble);
        lapse_journal journal = lapse_sim_rows_journal(&rows);
        (void)journal.begin(journal.ctx, NULL);
        put(journal, row_of(LAPSE_ROW_LEASE, "", "a", 0));
        put(journal, row_of(LAPSE_ROW_LEASE, "", "b", 0));
        commit(journal, cases[i].first);
        (void)journal.begin(journal.ctx, NULL);
        struct lapse_row b = row_of(LAPSE_ROW_LEASE, "", "b", 0);
        cr_assert_eq(journal.drop(journal.ctx, &b, NULL), LAPSE_OK);
        put(journal, row_of(LAPSE_ROW_LEASE, "", "c", 0));
        commit(journal, cases[i].second);
        (void)journal.begin(journal.ctx, NULL);
        put(journal, row_of(LAPSE_ROW_LEASE, "", "d", 0));
        put(journal, row_of(LAPSE_ROW_LEASE, "", "a", 0));
        journal.close(journal.ctx); /* the process dies in the middle of a transaction */
        expect_rows(&rows, cases[i].after_process);
        lapse_sim_rows_lose_unsynced(&rows);
        expect_rows(&rows, cases[i].after_machine);
        (void)journal.begin(journal.ctx, NULL);
        put(journal, row_of(LAPSE_ROW_LEASE, "", "e", 0));
        journal.rollback(journal.ctx);
        expect_rows(&rows, cases[i].after_machine);
        lapse_arena_close(arena);
    }
}

/* Fails the call that `left` counts down to. */
struct failing {
    lapse_alloc vtable;
    int left;
    struct lapse_arena *arena;
};

static void *failing_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct failing *failing = ctx;
    const lapse_alloc *alloc = lapse_arena_alloc(failing->arena);
    if (new_bytes > 0 && failing->left-- == 0) {
        return NULL;
    }
    return alloc->resize(alloc->ctx, ptr, old_bytes, new_bytes);
}

Test(rows, a_change_without_memory_leaves_the_rows_as_they_were) {
    bool done = false;
    for (int fail_at = 0; !done; fail_at++) {
        struct failing failing = {{failing_resize, &failing}, 1000, lapse_arena_open()};
        struct lapse_sim_trouble trouble = {0};
        struct lapse_sim_rows rows;
        lapse_sim_rows_init(&rows, &failing.vtable, &trouble);
        lapse_journal journal = lapse_sim_rows_journal(&rows);
        failing.left = fail_at;
        int64_t point = 0;
        enum lapse_status status = LAPSE_OK;
        (void)journal.begin(journal.ctx, NULL);
        for (int64_t i = 0; i < 20 && status == LAPSE_OK; i++) {
            struct lapse_row row = row_of(LAPSE_ROW_RECORD, "b", "k", i);
            status = journal.put(journal.ctx, &row, NULL);
        }
        done = status == LAPSE_OK;
        failing.left = 1000;
        if (done) {
            cr_assert_eq(journal.commit(journal.ctx, LAPSE_SYNC_FULL, &point, NULL), LAPSE_OK);
            cr_assert_eq(rows.count, 20);
        } else {
            cr_assert_eq(status, LAPSE_NOMEM);
            journal.rollback(journal.ctx);
            expect_rows(&rows, "");
        }
        cr_assert_lt(fail_at, 100);
        lapse_arena_close(failing.arena);
    }
}

/* A sync that fails, lies, hangs, or at which the process falls: what the commit is told, and what
 * a crash of the machine leaves of it at once, once it was let go, and after a later sync. */
Test(rows, a_sync_that_goes_wrong_is_told_and_may_lose_its_commit) {
    static const struct {
        enum lapse_disk_fault sync;
        enum lapse_status told;
        const char *at_once, *let_go, *synced_later;
    } cases[] = {
        {0, LAPSE_OK, "3:a/0 ", "3:a/0 ", "3:a/0 3:b/0 "},
        {LAPSE_DISK_SYNC_FAIL, LAPSE_UNKNOWN, "", "", "3:a/0 3:b/0 "},
        {LAPSE_DISK_SYNC_LIES, LAPSE_OK, "", "", "3:a/0 3:b/0 "},
        {LAPSE_DISK_SYNC_STALLS, LAPSE_OK, "", "3:a/0 ", "3:a/0 3:b/0 "},
    };
    for (size_t i = 0; i < 3 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct lapse_arena *arena = lapse_arena_open();
        struct lapse_sim_trouble trouble = {.sync = cases[i / 3].sync};
        struct lapse_sim_rows rows;
        int64_t point = 0;
        lapse_sim_rows_init(&rows, lapse_arena_alloc(arena), &trouble);
        lapse_journal journal = lapse_sim_rows_journal(&rows);
        (void)journal.begin(journal.ctx, NULL);
        put(journal, row_of(LAPSE_ROW_LEASE, "", "a", 0));
        cr_expect_eq(journal.commit(journal.ctx, LAPSE_SYNC_FULL, &point, NULL), cases[i / 3].told);
        expect_rows(&rows, "3:a/0 ");
        if (i % 3 > 0) {
            lapse_sim_rows_let_go(&rows);
        }
        if (i % 3 == 2) {
            trouble.sync = 0;
            trouble.hanging = false;
            (void)journal.begin(journal.ctx, NULL);
            put(journal, row_of(LAPSE_ROW_LEASE, "", "b", 0));
            commit(journal, LAPSE_SYNC_FULL);
        }
        lapse_sim_rows_lose_unsynced(&rows);
        expect_rows(&rows, i % 3 == 0   ? cases[i / 3].at_once
                           : i % 3 == 1 ? cases[i / 3].let_go
                                        : cases[i / 3].synced_later);
        lapse_arena_close(arena);
    }
}
