/* Open addressing over a power of two, at most half full. */
#include "contracts/lookup.h"

static size_t find_slot(const struct lapse_names *names, int kind, struct lapse_bytes text);
static bool grow_names(const lapse_alloc *alloc, struct lapse_names *names);

bool lapse_names_add(const lapse_alloc *alloc, struct lapse_names *names, int kind,
                     struct lapse_bytes text, int32_t number) {
    LAPSE_ASSERT(kind > 0);
    if (2 * (names->count + 1) > names->cap && !grow_names(alloc, names)) {
        return false;
    }
    size_t slot = find_slot(names, kind, text);
    LAPSE_ASSERT(names->slots[slot].kind == 0);
    names->slots[slot] = (struct lapse_name){text, kind, number};
    names->count++;
    return true;
}

int32_t lapse_names_find(const struct lapse_names *names, int kind, struct lapse_bytes text) {
    if (names->cap == 0) {
        return -1;
    }
    size_t slot = find_slot(names, kind, text);
    return names->slots[slot].kind == 0 ? -1 : names->slots[slot].number;
}

void lapse_names_free(const lapse_alloc *alloc, struct lapse_names *names) {
    lapse_alloc_free(alloc, names->slots, names->cap * sizeof(*names->slots));
    *names = (struct lapse_names){0};
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t find_slot(const struct lapse_names *names, int kind, struct lapse_bytes text) {
    size_t slot = (size_t)(lapse_bytes_hash(text) + (uint64_t)kind) & (names->cap - 1);
    while (names->slots[slot].kind != 0 &&
           (names->slots[slot].kind != kind || !lapse_bytes_equal(names->slots[slot].text, text))) {
        slot = (slot + 1) & (names->cap - 1);
    }
    return slot;
}

static bool grow_names(const lapse_alloc *alloc, struct lapse_names *names) {
    struct lapse_names grown = {NULL, names->count, names->cap == 0 ? 16 : names->cap * 2};
    grown.slots = lapse_alloc_zero(alloc, grown.cap * sizeof(*grown.slots));
    if (grown.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < names->cap; i++) {
        const struct lapse_name *name = &names->slots[i];
        if (name->kind != 0) {
            grown.slots[find_slot(&grown, name->kind, name->text)] = *name;
        }
    }
    lapse_alloc_free(alloc, names->slots, names->cap * sizeof(*names->slots));
    *names = grown;
    return true;
}
