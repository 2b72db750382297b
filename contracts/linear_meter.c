/* An allocator that keeps within a bound, so that a search can be told how much it may take. */
#include "linear_parts.h"

static void *metered_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);

void lapse_meter_init(struct lapse_meter *meter, const lapse_alloc *outer, size_t limit) {
    *meter = (struct lapse_meter){.outer = outer, .limit = limit};
    meter->alloc = (lapse_alloc){metered_resize, meter};
}

static void *metered_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct lapse_meter *meter = ctx;
    LAPSE_ASSERT(old_bytes <= meter->used);
    size_t others = meter->used - old_bytes;
    /* A block that moves is there twice for a while. */
    size_t most = new_bytes > old_bytes ? meter->used : others;
    if (new_bytes > old_bytes && (most > meter->limit || new_bytes > meter->limit - most)) {
        meter->over = true;
        return NULL;
    }
    void *moved = meter->outer->resize(meter->outer->ctx, ptr, old_bytes, new_bytes);
    if (moved == NULL && new_bytes > 0) {
        meter->nomem = true;
        return NULL;
    }
    meter->used = others + new_bytes;
    size_t peak = new_bytes > old_bytes ? most + new_bytes : meter->used;
    meter->peak = peak > meter->peak ? peak : meter->peak;
    return moved;
}
