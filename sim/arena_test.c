/* The arena gives memory out again, and comes back whole from a copy. */
#include "arena.h"

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
