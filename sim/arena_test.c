/* The arena gives memory out again, and comes back whole from a copy. */
#include "sim/arena.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

Test(arena, freed_blocks_of_every_size_are_used_again) {
    struct lapse_arena *arena = lapse_arena_open();
    cr_assert_not_null(arena);
    const lapse_alloc *alloc = lapse_arena_alloc(arena);
    for (size_t bytes = 1; bytes < 100000; bytes += bytes / 7 + 1) {
        void *first = alloc->resize(alloc->ctx, NULL, 0, bytes);
        cr_assert_not_null(first);
        cr_assert_eq((uintptr_t)first % 16, 0);
        memset(first, 0xaa, bytes);
        lapse_alloc_free(alloc, first, bytes);
        size_t used = lapse_arena_used(arena);
        void *second = alloc->resize(alloc->ctx, NULL, 0, bytes);
        cr_assert_eq(second, first, "%zu bytes were not taken from the free list", bytes);
        cr_assert_eq(lapse_arena_used(arena), used);
    }
    lapse_arena_close(arena);
}

Test(arena, a_resized_block_keeps_its_bytes) {
    struct lapse_arena *arena = lapse_arena_open();
    const lapse_alloc *alloc = lapse_arena_alloc(arena);
    size_t bytes = 5;
    unsigned char *block = alloc->resize(alloc->ctx, NULL, 0, bytes);
    memcpy(block, "lapse", 5);
    for (int i = 0; i < 20; i++) {
        block = alloc->resize(alloc->ctx, block, bytes, bytes * 2);
        cr_assert_not_null(block);
        bytes *= 2;
        cr_assert_eq(memcmp(block, "lapse", 5), 0);
    }
    cr_assert_null(alloc->resize(alloc->ctx, block, bytes, SIZE_MAX / 2));
    cr_assert_eq(memcmp(block, "lapse", 5), 0, "a refused resize moved the block");
    lapse_arena_close(arena);
}

Test(arena, cleared_it_is_as_new) {
    static const size_t sizes[] = {100, 3 << 20};
    struct lapse_arena *arena = lapse_arena_open();
    const lapse_alloc *alloc = lapse_arena_alloc(arena);
    size_t empty = lapse_arena_used(arena);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        size_t bytes = sizes[i / 2];
        unsigned char *block = alloc->resize(alloc->ctx, NULL, 0, bytes);
        cr_assert_not_null(block);
        for (size_t k = 0; k < bytes; k++) {
            cr_assert_eq(block[k], 0, "byte %zu of %zu is left of the last use", k, bytes);
        }
        memset(block, 0xaa, bytes);
        lapse_alloc_free(alloc, block, bytes);
        /* A restore of an earlier, smaller state hides nothing from the next clear. */
        void *early = malloc(empty);
        lapse_arena_clear(arena);
        lapse_arena_save(arena, early);
        block = alloc->resize(alloc->ctx, NULL, 0, bytes);
        memset(block, 0xbb, bytes);
        lapse_arena_load(arena, early, empty);
        free(early);
        lapse_arena_clear(arena);
        cr_assert_eq(lapse_arena_used(arena), empty);
    }
    lapse_arena_close(arena);
}

Test(arena, a_restore_brings_bytes_and_free_lists_back) {
    struct lapse_arena *arena = lapse_arena_open();
    const lapse_alloc *alloc = lapse_arena_alloc(arena);
    char *kept = alloc->resize(alloc->ctx, NULL, 0, 100);
    void *freed = alloc->resize(alloc->ctx, NULL, 0, 300);
    memcpy(kept, "before", 7);
    lapse_alloc_free(alloc, freed, 300);
    size_t used = lapse_arena_used(arena);
    void *copy = malloc(used);
    lapse_arena_save(arena, copy);
    memcpy(kept, "after!", 7);
    void *taken = alloc->resize(alloc->ctx, NULL, 0, 300);
    (void)alloc->resize(alloc->ctx, NULL, 0, 100000);
    lapse_arena_load(arena, copy, used);
    cr_assert_str_eq(kept, "before");
    cr_assert_eq(lapse_arena_used(arena), used);
    cr_assert_eq(alloc->resize(alloc->ctx, NULL, 0, 300), taken);
    free(copy);
    lapse_arena_close(arena);
}
