/* The set of all states: it is what an exploration tells, the same everywhere, and a file that is
 * not whole is never one. */
#include "fuzz/reach.h"
#include "scenarios/load.h"
#include "sim/explore.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

struct meter {
    int64_t left, out; /* calls that still succeed; blocks that are out */
};

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
static void load(const char *text, struct lapse_file *ret);
static void collect(const lapse_alloc *alloc, const struct lapse_plan *plan,
                    struct lapse_reach_builder *ret);

static const char *const careful = "name: careful\nexplore: {clients: 2, for: 3s, careful: true, "
                                   "clock: 1s, margin: 2s, pause: true, crash: true, "
                                   "resource: fenced}\n";
static const char *const rich = "name: rich\nexplore: {clients: 2, for: 3s, careful: true, "
                                "resource: fenced, fresh_owner: true, delay: true, loss: true, "
                                "crash: true}\n";
static const char *const tiny = "name: tiny\nexplore: {clients: 1, for: 2s}\n";

/* The numbers are those of the first run; another compiler gives no others. */
Test(reach, abstract_states_are_the_same_everywhere) {
    const struct {
        const char *text;
        size_t states, moves;
        const char *end;
    } rows[] = {{careful, 228, 2133, "f0346048d45b2a82"}, {rich, 9397, 70913, "7408acba35c08ead"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lapse_reach_builder all;
        struct lapse_emitted text;
        struct lapse_file file;
        load(rows[i].text, &file);
        collect(lapse_alloc_libc(), file.plans[0], &all);
        cr_expect_eq(all.reach.states.count, rows[i].states, "%zu", all.reach.states.count);
        cr_expect_eq(all.reach.moves.count, rows[i].moves, "%zu", all.reach.moves.count);
        cr_assert_eq(lapse_reach_write(&all.reach, &text), LAPSE_OK);
        cr_expect_not_null(strstr(text.text, rows[i].end), "%s", text.text + text.bytes - 22);
        lapse_emitted_free(&text);
        lapse_reach_finish(&all);
        lapse_file_free(&file);
    }
}

Test(reach, what_is_written_is_read_again_and_no_part_of_it_is) {
    struct lapse_reach_builder all;
    struct lapse_emitted text, again;
    struct lapse_reach read;
    struct lapse_file file;
    load(tiny, &file);
    collect(lapse_alloc_libc(), file.plans[0], &all);
    cr_assert_eq(lapse_reach_write(&all.reach, &text), LAPSE_OK);
    cr_assert_eq(lapse_reach_read(lapse_alloc_libc(), text.text, text.bytes, &read, NULL),
                 LAPSE_OK);
    cr_assert_eq(lapse_reach_write(&read, &again), LAPSE_OK);
    cr_expect_str_eq(text.text, again.text);
    lapse_emitted_free(&again);
    for (size_t i = 0; i < read.states.count; i++) {
        cr_expect_eq(lapse_reach_find_state(&all.reach, read.states.keys[i]), (int64_t)i);
        cr_expect_gt(strlen(lapse_reach_tell(&read, i)), 10);
    }
    lapse_reach_free(&read);
    for (size_t i = 0; i < text.bytes; i++) {
        struct lapse_error err = {0};
        cr_expect_eq(lapse_reach_read(lapse_alloc_libc(), text.text, i, &read, &err),
                     LAPSE_INVALID, "the first %zu bytes", i);
        text.text[i] ^= 1;
        enum lapse_status status =
            lapse_reach_read(lapse_alloc_libc(), text.text, text.bytes, &read, &err);
        cr_expect(status == LAPSE_INVALID || status == LAPSE_VERSION, "byte %zu", i);
        text.text[i] ^= 1;
    }
    lapse_emitted_free(&text);
    lapse_reach_finish(&all);
    lapse_file_free(&file);
}

Test(reach, a_set_is_of_one_document_whatever_its_name_is) {
    static const char *const texts[] = {
        "name: a\nexplore: {clients: 1, for: 2s}\n", "name: b\nexplore: {for: 2s, clients: 1}\n",
        "name: a\nexplore: {clients: 1, for: 3s}\n",
        "name: a\nexplore: {clients: 1, for: 2s, crash: true}\n"};
    uint64_t digests[4];
    for (size_t i = 0; i < 4; i++) {
        struct lapse_file file;
        load(texts[i], &file);
        cr_assert_eq(lapse_reach_digest(lapse_alloc_libc(), file.plans[0], &digests[i], NULL),
                     LAPSE_OK);
        lapse_file_free(&file);
        cr_expect_eq(digests[i] == digests[0], i < 2, "document %zu", i);
    }
}

Test(reach, memory_may_run_out_anywhere) {
    struct lapse_file file;
    load(tiny, &file);
    bool done = false;
    for (int64_t nth = 0; !done; nth++) {
        struct meter meter = {.left = nth};
        lapse_alloc alloc = {meter_resize, &meter};
        struct lapse_reach_builder all;
        struct lapse_emitted text = {.alloc = &alloc};
        struct lapse_reach read;
        enum lapse_status status = lapse_reach_begin(&all, &alloc, file.plans[0], NULL);
        if (status == LAPSE_OK) {
            lapse_reach_take_move(&all, 0, 0);
            lapse_reach_take_move(&all, 0, 1);
            status = all.status;
        }
        if (status == LAPSE_OK) {
            status = lapse_reach_write(&all.reach, &text);
        }
        if (status == LAPSE_OK) {
            status = lapse_reach_read(&alloc, text.text, text.bytes, &read, NULL);
            done = status == LAPSE_OK;
            lapse_emitted_free(&text);
        }
        if (done) {
            cr_expect_eq(read.moves.count, 1);
            lapse_reach_free(&read);
        }
        cr_assert(done || status == LAPSE_NOMEM, "%s", lapse_status_word(status));
        lapse_reach_finish(&all);
        cr_assert_eq(meter.out, 0, "after %" PRId64 " calls %" PRId64 " blocks are out", nth,
                     meter.out);
    }
    lapse_file_free(&file);
}

static void load(const char *text, struct lapse_file *ret) {
    cr_assert_eq(lapse_file_load(lapse_alloc_libc(), "x", text, strlen(text), ret), LAPSE_OK);
    cr_assert_eq(ret->plan_count, 1);
}

static void collect(const lapse_alloc *alloc, const struct lapse_plan *plan,
                    struct lapse_reach_builder *ret) {
    cr_assert_eq(lapse_reach_begin(ret, alloc, plan, NULL), LAPSE_OK);
    const struct lapse_explore_options options = {.protocol = &plan->explore,
                                                  .faults_max = -1,
                                                  .listed = ~UINT32_C(0),
                                                  .abstract = lapse_reach_take_move,
                                                  .abstract_ctx = ret};
    struct lapse_explored found;
    cr_assert_eq(lapse_explore(&options, &found, NULL), LAPSE_OK);
    cr_assert_eq(found.end, LAPSE_EXPLORE_ALL);
    cr_assert_eq(ret->status, LAPSE_OK);
    lapse_explored_free(&found);
}

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct meter *meter = ctx;
    const lapse_alloc *libc = lapse_alloc_libc();
    if (new_bytes > 0 && meter->left-- <= 0) {
        return NULL;
    }
    meter->out += (ptr == NULL && new_bytes > 0) - (ptr != NULL && new_bytes == 0);
    return libc->resize(libc->ctx, ptr, old_bytes, new_bytes);
}
