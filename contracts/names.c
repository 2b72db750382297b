/* Names and calls found fast: a hash table of numbers over an array in the order of first use. */
#include "names.h"

static uint32_t *slot_of(const struct lapse_scene *scene, bool lease, struct lapse_bytes bucket,
                         struct lapse_bytes name);
static bool index_grow(struct lapse_scene *scene);

const struct lapse_history_event *lapse_scene_invoke(const struct lapse_scene *scene,
                                                     int64_t call) {
    size_t low = 0;
    size_t high = scene->call_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (scene->calls[middle].call < call) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = call > 0 && low < scene->call_count && scene->calls[low].call == call;
    return found ? scene->calls[low].invoke : NULL;
}

const struct lapse_scene_name *lapse_scene_find(const struct lapse_scene *scene, bool lease,
                                                struct lapse_bytes bucket,
                                                struct lapse_bytes name) {
    const uint32_t *slot = scene->index_cap == 0 ? NULL : slot_of(scene, lease, bucket, name);
    return slot == NULL || *slot == 0 ? NULL : &scene->names[*slot - 1];
}

struct lapse_scene_name *lapse_scene_make(struct lapse_scene *scene, bool lease,
                                          struct lapse_bytes bucket, struct lapse_bytes name) {
    if (!index_grow(scene) ||
        !lapse_alloc_grow(scene->alloc, (void **)&scene->names, &scene->names_cap,
                          scene->name_count + 1, sizeof(*scene->names))) {
        return NULL;
    }
    uint32_t *slot = slot_of(scene, lease, bucket, name);
    if (*slot == 0) {
        scene->names[scene->name_count] = (struct lapse_scene_name){
            .lease = lease, .bucket = bucket, .name = name, .creator = -1};
        scene->name_count++;
        *slot = (uint32_t)scene->name_count;
    }
    return &scene->names[*slot - 1];
}

/* The slot that holds this name, or the free one where it belongs. */
static uint32_t *slot_of(const struct lapse_scene *scene, bool lease, struct lapse_bytes bucket,
                         struct lapse_bytes name) {
    uint64_t hash = lapse_bytes_hash(name) ^ (lapse_bytes_hash(bucket) << 1) ^ (lease ? 1 : 0);
    size_t at = (size_t)hash & (scene->index_cap - 1);
    for (;;) {
        uint32_t *slot = &scene->index[at];
        const struct lapse_scene_name *known = *slot == 0 ? NULL : &scene->names[*slot - 1];
        if (known == NULL || (known->lease == lease && lapse_bytes_equal(known->bucket, bucket) &&
                              lapse_bytes_equal(known->name, name))) {
            return slot;
        }
        at = (at + 1) & (scene->index_cap - 1);
    }
}

/* Keeps the table at most half full, with room for one more. */
static bool index_grow(struct lapse_scene *scene) {
    if ((scene->name_count + 1) * 2 <= scene->index_cap) {
        return true;
    }
    size_t grown = scene->index_cap == 0 ? 16 : scene->index_cap * 2;
    uint32_t *index = lapse_alloc_zero(scene->alloc, grown * sizeof(*index));
    if (index == NULL) {
        return false;
    }
    lapse_alloc_free(scene->alloc, scene->index, scene->index_cap * sizeof(*scene->index));
    scene->index = index;
    scene->index_cap = grown;
    for (size_t i = 0; i < scene->name_count; i++) {
        const struct lapse_scene_name *name = &scene->names[i];
        *slot_of(scene, name->lease, name->bucket, name->name) = (uint32_t)(i + 1);
    }
    return true;
}
