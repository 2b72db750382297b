/* One mapped region with an allocator inside it, so that a world is copied and put back whole.
 *
 * Only this file of the simulator talks to the system, and only to reserve address space. Freed
 * blocks go to the list of their size class and are given out again last in, first out; both the
 * lists and the bump pointer lie in the region, so they are restored with it. */
#define _DEFAULT_SOURCE
#include "sim/arena.h"

#include <string.h>
#include <sys/mman.h>

/* Blocks up to SMALL_MAX bytes have classes 16 bytes apart, larger ones four a doubling. */
enum {
    ALIGN = 16,
    SMALL_MAX = 256,
    SMALL_SHIFT = 8,
    SMALL_CLASSES = 16,
    CLASSES = 16 + 4 * 36,
    CLEAR_BYTES_MAX = 1 << 20
};

static const size_t reserve_bytes = (size_t)16 << 30;
static const size_t reserve_bytes_min = (size_t)64 << 20;

struct lapse_arena {
    size_t reserved;
    size_t used;
    size_t touched; /* the most that was ever used: all behind it is zeros */
    lapse_alloc alloc;
    void *free[CLASSES];
};

static void begin(struct lapse_arena *arena, size_t reserved);
static void *arena_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
static void *take(struct lapse_arena *arena, size_t bytes);
static void give_back(struct lapse_arena *arena, void *ptr, size_t bytes);
static unsigned class_of(size_t bytes, size_t *ret_rounded);

struct lapse_arena *lapse_arena_open(void) {
    size_t bytes = reserve_bytes;
    void *base = MAP_FAILED;
    /* A limit on address space makes a smaller arena, not a failure. */
    while (base == MAP_FAILED && bytes >= reserve_bytes_min) {
        base = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        bytes = base == MAP_FAILED ? bytes / 2 : bytes;
    }
    if (base == MAP_FAILED) {
        return NULL;
    }
    begin(base, bytes);
    return base;
}

void lapse_arena_close(struct lapse_arena *arena) {
    if (arena != NULL) {
        (void)munmap(arena, arena->reserved);
    }
}

/* Few pages are written with zeros; of many the system takes back the lot. */
void lapse_arena_clear(struct lapse_arena *arena) {
    size_t reserved = arena->reserved;
    size_t touched = arena->touched;
    if (touched <= CLEAR_BYTES_MAX || madvise(arena, touched, MADV_DONTNEED) != 0) {
        memset(arena, 0, touched);
    }
    begin(arena, reserved);
}

const lapse_alloc *lapse_arena_alloc(struct lapse_arena *arena) {
    return &arena->alloc;
}

size_t lapse_arena_used(const struct lapse_arena *arena) {
    return arena->used;
}

void lapse_arena_save(const struct lapse_arena *arena, void *to) {
    memcpy(to, arena, arena->used);
}

void lapse_arena_load(struct lapse_arena *arena, const void *from, size_t bytes) {
    LAPSE_ASSERT(bytes <= arena->reserved);
    size_t touched = arena->touched;
    memcpy(arena, from, bytes);
    arena->touched = touched;
    LAPSE_ASSERT(arena->used == bytes);
}

static void begin(struct lapse_arena *arena, size_t reserved) {
    arena->reserved = reserved;
    arena->used = (sizeof(*arena) + ALIGN - 1) / ALIGN * ALIGN;
    arena->touched = arena->used;
    arena->alloc.resize = arena_resize;
    arena->alloc.ctx = arena;
}

static void *arena_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct lapse_arena *arena = ctx;
    if (new_bytes == 0) {
        give_back(arena, ptr, old_bytes);
        return NULL;
    }
    if (new_bytes > arena->reserved) {
        return NULL;
    }
    size_t rounded_old = 0, rounded_new = 0;
    if (ptr != NULL && class_of(old_bytes, &rounded_old) == class_of(new_bytes, &rounded_new)) {
        return ptr;
    }
    void *moved = take(arena, new_bytes);
    if (moved != NULL && ptr != NULL) {
        memcpy(moved, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
        give_back(arena, ptr, old_bytes);
    }
    return moved;
}

static void *take(struct lapse_arena *arena, size_t bytes) {
    size_t rounded = 0;
    unsigned class = class_of(bytes, &rounded);
    void *block = arena->free[class];
    if (block != NULL) {
        memcpy(&arena->free[class], block, sizeof(void *));
        return block;
    }
    if (rounded > arena->reserved - arena->used) {
        return NULL;
    }
    block = (unsigned char *)arena + arena->used;
    arena->used += rounded;
    arena->touched = arena->used > arena->touched ? arena->used : arena->touched;
    return block;
}

static void give_back(struct lapse_arena *arena, void *ptr, size_t bytes) {
    if (ptr == NULL) {
        return;
    }
    LAPSE_ASSERT(bytes > 0);
    size_t rounded = 0;
    unsigned class = class_of(bytes, &rounded);
    memcpy(ptr, &arena->free[class], sizeof(void *));
    arena->free[class] = ptr;
}

/* The size class of a block, and the bytes that its blocks have. */
static unsigned class_of(size_t bytes, size_t *ret_rounded) {
    if (bytes <= SMALL_MAX) {
        unsigned small = bytes == 0 ? 0 : (unsigned)((bytes - 1) / ALIGN);
        *ret_rounded = ((size_t)small + 1) * ALIGN;
        return small;
    }
    unsigned shift = SMALL_SHIFT; /* 2^shift < bytes <= 2^(shift+1) */
    while (((bytes - 1) >> (shift + 1)) != 0) {
        shift++;
    }
    size_t floor = (size_t)1 << shift;
    size_t step = floor / 4;
    size_t quarter = (bytes - floor + step - 1) / step;
    *ret_rounded = floor + quarter * step;
    unsigned class = SMALL_CLASSES + (shift - SMALL_SHIFT) * 4 + (unsigned)quarter - 1;
    LAPSE_ASSERT(class < CLASSES);
    return class;
}
