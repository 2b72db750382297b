/* The arena: one mapped region that holds all mutable state of a world.
 *
 * A snapshot is a copy of its used part, a restore the copy back: the region stays at one address,
 * so pointers inside it stay right. A bump pointer and free lists by size class lie inside it too.
 * Nothing outside may point into it except the handle that opened it. To map one and give it back
 * costs more than a short run does, so whoever makes many runs keeps one and clears it between
 * them. Not thread-safe. */
#ifndef SIM_ARENA_H
#define SIM_ARENA_H

#include "lapse/base.h"

struct lapse_arena;

/* Maps a fresh arena, or returns NULL when the system gives no address space. */
struct lapse_arena *lapse_arena_open(void);
/* Unmaps it with all that lies in it; NULL is allowed. */
void lapse_arena_close(struct lapse_arena *arena);
/* Makes it as it was just after it was opened: empty, and all zeros. */
void lapse_arena_clear(struct lapse_arena *arena);
/* Its allocator, which lives as long as the arena. */
const lapse_alloc *lapse_arena_alloc(struct lapse_arena *arena);
/* Bytes that a snapshot copies. */
size_t lapse_arena_used(const struct lapse_arena *arena);
/* Copies the used part to `to`, of lapse_arena_used bytes. */
void lapse_arena_save(const struct lapse_arena *arena, void *to);
/* Copies back what lapse_arena_save wrote for this same arena. */
void lapse_arena_load(struct lapse_arena *arena, const void *from, size_t bytes);

#endif
