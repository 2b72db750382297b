/* What happens to a disk: crashes of its machine, bit rot, backups. */
#include "disk_parts.h"

#include <string.h>

static bool lose(struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                 struct lapse_choices *choices, int32_t who);
static bool tear(struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                 const struct lapse_sim_pending *pending, struct lapse_choices *choices,
                 int32_t who);
static void choose_name(struct lapse_sim_name *name, struct lapse_choices *choices, int32_t who);
static void flip(struct lapse_sim_disk *disk, uint64_t bit);
static bool named_durably(const struct lapse_sim_disk *disk, const struct lapse_sim_file *file);
static bool copy_file(struct lapse_sim_disk *to, const struct lapse_sim_file *from, bool all,
                      struct lapse_sim_file **ret);
static bool copy_names(struct lapse_sim_disk *to, struct lapse_sim_file *made,
                       const struct lapse_sim_disk *from, const struct lapse_sim_file *file,
                       bool all);
static bool copy_image(const lapse_alloc *alloc, struct lapse_sim_image *to,
                       const struct lapse_sim_image *from);
static bool sound(const struct lapse_sim_disk *disk, const struct lapse_sim_file *file);

bool lapse_sim_disk_crash(struct lapse_sim_disk *disk, struct lapse_choices *choices,
                          int32_t who) {
    bool done = true;
    for (size_t i = 0; i < disk->name_count; i++) {
        choose_name(&disk->names[i], choices, who);
    }
    for (size_t i = 0; i < disk->file_count; i++) {
        LAPSE_ASSERT(disk->files[i]->opened == 0);
        done = lose(disk, disk->files[i], choices, who) && done;
    }
    lapse_sim_disk_sweep(disk);
    return done;
}

void lapse_sim_disk_rot(struct lapse_sim_disk *disk, int64_t bits, struct lapse_choices *choices,
                        int32_t who) {
    struct lapse_sim_disk *lasting = disk->kept != NULL ? disk->kept : disk;
    uint64_t bytes = 0;
    for (size_t i = 0; i < lasting->file_count; i++) {
        bytes += named_durably(lasting, lasting->files[i]) ? lasting->files[i]->durable.len : 0;
    }
    for (int64_t i = 0; i < bits && bytes > 0; i++) {
        uint64_t bit = lapse_choose(choices, bytes * 8, LAPSE_CHOICE_ROT, who);
        flip(lasting, bit);
        if (lasting != disk) {
            flip(disk, bit); /* what it will be when it is let go */
        }
    }
}

bool lapse_sim_disk_copy(struct lapse_sim_disk *to, const struct lapse_sim_disk *from, bool all) {
    from = from->kept != NULL ? from->kept : from;
    for (size_t i = 0; i < from->file_count; i++) {
        const struct lapse_sim_file *file = from->files[i];
        struct lapse_sim_file *made = NULL;
        if ((all || named_durably(from, file)) && !copy_file(to, file, all, &made)) {
            return false;
        }
        if (made != NULL && !copy_names(to, made, from, file, all)) {
            return false;
        }
    }
    lapse_sim_disk_sweep(to); /* one that was open and had no name */
    return true;
}

void lapse_sim_disk_wipe(struct lapse_sim_disk *disk) {
    for (size_t i = 0; i < disk->name_count; i++) {
        disk->names[i].now = disk->names[i].durable = NULL;
    }
    for (size_t i = 0; i < disk->file_count; i++) {
        LAPSE_ASSERT(disk->files[i]->opened == 0);
    }
    lapse_sim_disk_sweep(disk);
}

enum lapse_status lapse_sim_disk_check(const struct lapse_sim_disk *disk,
                                       struct lapse_error *err) {
    for (size_t i = 0; i < disk->file_count; i++) {
        if (!sound(disk, disk->files[i])) {
            return lapse_error_set(err, LAPSE_BUG, "file %zu of the disk is not as it should be",
                                   i);
        }
    }
    for (size_t i = 0; i < disk->name_count; i++) {
        if (disk->names[i].now == NULL && disk->names[i].durable == NULL) {
            return lapse_error_set(err, LAPSE_BUG, "a name of the disk leads nowhere: %.100s",
                                   disk->names[i].text);
        }
    }
    return LAPSE_OK;
}

/* What is left is what is durable. */
static bool lose(struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                 struct lapse_choices *choices, int32_t who) {
    bool done = true;
    for (size_t i = 0; choices != NULL && i < file->pending_count; i++) {
        done = tear(disk, file, &file->pending[i], choices, who) && done;
    }
    lapse_sim_file_forget(file, file->pending_count);
    file->name_hangs = false;
    return copy_image(disk->alloc, &file->now, &file->durable) && done;
}

/* Sectors are those of the file, so a write that begins inside one keeps or loses that part. */
static bool tear(struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                 const struct lapse_sim_pending *pending, struct lapse_choices *choices,
                 int32_t who) {
    if (pending->truncates) {
        return lapse_choose(choices, 2, LAPSE_CHOICE_TEAR, who) == 0 ||
               lapse_sim_pending_apply(disk, file, pending, 0, 0);
    }
    size_t from = 0;
    bool done = true;
    while (from < pending->len) {
        size_t part =
            LAPSE_SIM_SECTOR_BYTES - (pending->at + from) % LAPSE_SIM_SECTOR_BYTES;
        part = part < pending->len - from ? part : pending->len - from;
        if (lapse_choose(choices, 2, LAPSE_CHOICE_TEAR, who) == 1) {
            done = lapse_sim_pending_apply(disk, file, pending, from, part) && done;
        }
        from += part;
    }
    return done;
}

/* Of a name that was removed and made again the removal alone may have reached the disk. */
static void choose_name(struct lapse_sim_name *name, struct lapse_choices *choices, int32_t who) {
    if (name->now != name->durable && choices != NULL) {
        bool both = name->now != NULL && name->durable != NULL;
        uint64_t kept = lapse_choose(choices, both ? 3 : 2, LAPSE_CHOICE_TEAR, who);
        if (kept > 0) {
            name->durable = kept == 1 ? name->now : NULL;
        }
    }
    name->now = name->durable;
}

/* A process that reads on finds the damage too, unless it has written over it since. */
static void flip(struct lapse_sim_disk *disk, uint64_t bit) {
    for (size_t i = 0; i < disk->file_count; i++) {
        struct lapse_sim_file *file = disk->files[i];
        uint64_t bits = named_durably(disk, file) ? (uint64_t)file->durable.len * 8 : 0;
        if (bit >= bits) {
            bit -= bits;
            continue;
        }
        size_t at = (size_t)(bit / 8);
        unsigned char mask = (unsigned char)(1U << (bit % 8));
        bool same = at < file->now.len && file->now.bytes[at] == file->durable.bytes[at];
        file->durable.bytes[at] ^= mask;
        if (same) {
            file->now.bytes[at] ^= mask;
        }
        return;
    }
}

static bool named_durably(const struct lapse_sim_disk *disk, const struct lapse_sim_file *file) {
    bool named = false;
    for (size_t i = 0; i < disk->name_count; i++) {
        named = named || disk->names[i].durable == file;
    }
    return named;
}

static bool copy_file(struct lapse_sim_disk *to, const struct lapse_sim_file *from, bool all,
                      struct lapse_sim_file **ret) {
    struct lapse_sim_file *made = *ret = lapse_sim_disk_make_file(to);
    if (made == NULL || !copy_image(to->alloc, &made->durable, &from->durable)) {
        return false;
    }
    if (!all) {
        return copy_image(to->alloc, &made->now, &from->durable);
    }
    void *pending = NULL;
    if (!copy_image(to->alloc, &made->now, &from->now) ||
        !copy_image(to->alloc, &made->written, &from->written) ||
        !lapse_alloc_grow(to->alloc, &pending, &made->pending_cap, from->pending_count,
                          sizeof(*made->pending))) {
        return false;
    }
    made->pending = pending;
    if (from->pending_count > 0) {
        memcpy(pending, from->pending, from->pending_count * sizeof(*made->pending));
    }
    made->pending_count = from->pending_count;
    made->hanging = from->hanging;
    made->name_hangs = from->name_hangs;
    return true;
}

static bool copy_names(struct lapse_sim_disk *to, struct lapse_sim_file *made,
                       const struct lapse_sim_disk *from, const struct lapse_sim_file *file,
                       bool all) {
    for (size_t i = 0; i < from->name_count; i++) {
        const struct lapse_sim_name *name = &from->names[i];
        bool now = all && name->now == file;
        bool durable = name->durable == file;
        if (!now && !durable) {
            continue;
        }
        struct lapse_sim_name *copy = lapse_sim_disk_name(to, name->text);
        if (copy == NULL) {
            return false;
        }
        copy->now = now || !all ? made : copy->now;
        copy->durable = durable ? made : copy->durable;
    }
    return true;
}

static bool copy_image(const lapse_alloc *alloc, struct lapse_sim_image *to,
                       const struct lapse_sim_image *from) {
    if (!lapse_sim_image_resize(alloc, to, from->len)) {
        return false;
    }
    if (from->len > 0) {
        memcpy(to->bytes, from->bytes, from->len);
    }
    return true;
}

/* Bytes of pending writes lie one after the other and are all there. */
static bool sound(const struct lapse_sim_disk *disk, const struct lapse_sim_file *file) {
    size_t bytes = 0;
    bool led_to = file->opened > 0;
    for (size_t i = 0; i < disk->name_count; i++) {
        led_to = led_to || disk->names[i].now == file || disk->names[i].durable == file;
    }
    for (size_t i = 0; i < file->pending_count; i++) {
        if (file->pending[i].bytes != bytes) {
            return false;
        }
        bytes += file->pending[i].len;
    }
    return led_to && bytes == file->written.len && file->hanging <= file->pending_count;
}
