/* What a medium is for: a store that is opened on it again finds what it kept, of either kind; and
 * the files of one are bytes that can be taken away and put back. */
#include "sim/medium.h"

#include "lapse/lapse.h"

#include <criterion/criterion.h>
#include <string.h>

struct bench {
    struct lapse_medium *medium;
    struct lapse_clock_manual clock;
    struct lapse *store;
    struct lapse_result r;
    struct lapse_error err;
};

static enum lapse_status open_store(struct bench *b) {
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&b->clock)};
    enum lapse_status status = lapse_medium_open(b->medium, &options.journal, &b->err);
    if (status == LAPSE_OK) {
        status = lapse_open(&options, &b->store, &b->err);
        if (status != LAPSE_OK) {
            options.journal.close(options.journal.ctx);
        }
    }
    return status;
}

static void begin(struct bench *b, enum lapse_store_kind kind) {
    *b = (struct bench){.store = NULL};
    lapse_clock_manual_init(&b->clock, (struct lapse_wall){LAPSE_NS_PER_S});
    lapse_result_init(&b->r, NULL);
    cr_assert_eq(lapse_medium_make(lapse_alloc_libc(), kind, &b->medium), LAPSE_OK);
    cr_assert_eq(open_store(b), LAPSE_OK, "%s", b->err.message);
}

static void finish(struct bench *b) {
    lapse_close(b->store);
    lapse_medium_free(b->medium);
    lapse_result_free(&b->r);
}

static enum lapse_status acquire(struct bench *b) {
    return lapse_acquire(b->store, lapse_bytes_of("n"), lapse_bytes_of("w"),
                         (struct lapse_span){60 * LAPSE_NS_PER_S}, &b->r, &b->err);
}

Test(medium, keeps_what_was_synced_over_a_crash_and_nothing_over_a_wipe) {
    for (int kind = LAPSE_STORE_MEMORY; kind <= LAPSE_STORE_SQLITE; kind++) {
        struct bench b;
        begin(&b, (enum lapse_store_kind)kind);
        cr_assert_eq(acquire(&b), LAPSE_OK);
        lapse_close(b.store);
        cr_assert(lapse_medium_crash(b.medium));
        lapse_clock_manual_reboot(&b.clock, b.clock.now.wall);
        cr_assert_eq(open_store(&b), LAPSE_OK, "%s", b.err.message);
        cr_expect(acquire(&b) == LAPSE_OK && b.r.renewed && b.r.token == 1, "kind %d", kind);
        lapse_close(b.store);
        lapse_medium_wipe(b.medium);
        cr_assert_eq(open_store(&b), LAPSE_OK, "%s", b.err.message);
        cr_expect(acquire(&b) == LAPSE_OK && !b.r.renewed, "kind %d", kind);
        finish(&b);
    }
}

Test(medium, files_are_bytes_that_can_be_put_back) {
    struct bench b;
    struct lapse_bytes file = {NULL, 0};
    unsigned char copy[256 * 1024];
    begin(&b, LAPSE_STORE_SQLITE);
    cr_assert_eq(acquire(&b), LAPSE_OK);
    cr_expect(lapse_medium_read(b.medium, LAPSE_MEDIUM_LOG, &file));
    lapse_close(b.store);
    cr_expect_not(lapse_medium_read(b.medium, LAPSE_MEDIUM_LOG, &file), "a close leaves a log");
    cr_assert(lapse_medium_read(b.medium, LAPSE_MEDIUM_STORE, &file));
    cr_assert_lt(file.len, sizeof(copy));
    size_t len = file.len;
    memcpy(copy, file.data, len);
    for (int damaged = 0; damaged < 2; damaged++) {
        memset(copy, damaged, (size_t)damaged);
        lapse_medium_wipe(b.medium);
        file = (struct lapse_bytes){copy, len};
        cr_assert(lapse_medium_write(b.medium, LAPSE_MEDIUM_STORE, file));
        cr_assert(lapse_medium_read(b.medium, LAPSE_MEDIUM_STORE, &file));
        cr_expect(file.len == len && memcmp(file.data, copy, len) == 0);
        enum lapse_status status = open_store(&b);
        cr_expect_eq(status == LAPSE_OK, damaged == 0, "%s", b.err.message);
        if (status == LAPSE_OK) {
            lapse_close(b.store);
        }
        b.store = NULL;
    }
    finish(&b);
}
