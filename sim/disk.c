/* The disk: what a process does to it, one operation at a time. What a crash, a backup and bit rot
 * do is in disk_crash.c. Each operation is counted before it takes effect, so that a crash can be
 * placed before every one of them. */
#include "disk_parts.h"

#include <string.h>

static bool take(struct lapse_sim_disk *disk);
static struct lapse_sim_name *find(const struct lapse_sim_disk *disk, const char *name);
static bool note(struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                 struct lapse_sim_pending pending, const void *bytes);
static void bind_durably(struct lapse_sim_disk *disk, const struct lapse_sim_file *file);
static bool keep(struct lapse_sim_disk *disk);
static void forget_kept(struct lapse_sim_disk *disk);

void lapse_sim_disk_init(struct lapse_sim_disk *disk, const lapse_alloc *alloc,
                         struct lapse_sim_trouble *trouble) {
    *disk = (struct lapse_sim_disk){.alloc = alloc, .trouble = trouble};
}

void lapse_sim_disk_finish(struct lapse_sim_disk *disk) {
    forget_kept(disk);
    lapse_sim_disk_wipe(disk);
    lapse_alloc_free(disk->alloc, disk->names, disk->name_cap * sizeof(*disk->names));
    lapse_alloc_free(disk->alloc, (void *)disk->files, disk->file_cap * sizeof(*disk->files));
    disk->names = NULL;
    disk->files = NULL;
    disk->name_cap = disk->file_cap = 0;
}

enum lapse_sim_disk_says lapse_sim_disk_open(struct lapse_sim_disk *disk, const char *name,
                                             bool make, struct lapse_sim_file **ret) {
    if (disk->trouble->dead) {
        return LAPSE_SIM_DISK_FAILED;
    }
    struct lapse_sim_name *found = find(disk, name);
    if (!make && (found == NULL || found->now == NULL)) {
        return LAPSE_SIM_DISK_ABSENT;
    }
    found = lapse_sim_disk_name(disk, name);
    if (found != NULL && found->now == NULL) {
        found->now = lapse_sim_disk_make_file(disk);
    }
    if (found == NULL || found->now == NULL) {
        lapse_sim_disk_sweep(disk);
        return LAPSE_SIM_DISK_NOMEM;
    }
    found->now->opened++;
    *ret = found->now;
    return LAPSE_SIM_DISK_DONE;
}

void lapse_sim_disk_close(struct lapse_sim_disk *disk, struct lapse_sim_file *file) {
    LAPSE_ASSERT(file->opened > 0);
    file->opened--;
    lapse_sim_disk_sweep(disk);
}

bool lapse_sim_disk_has(const struct lapse_sim_disk *disk, const char *name) {
    const struct lapse_sim_name *found = find(disk, name);
    return found != NULL && found->now != NULL;
}

enum lapse_sim_disk_says lapse_sim_disk_read(const struct lapse_sim_disk *disk,
                                             const struct lapse_sim_file *file, void *buf,
                                             size_t len, size_t at) {
    if (disk->trouble->dead) {
        return LAPSE_SIM_DISK_FAILED;
    }
    size_t there = at < file->now.len ? file->now.len - at : 0;
    there = there < len ? there : len;
    if (there > 0) {
        memcpy(buf, file->now.bytes + at, there);
    }
    if (there < len) {
        memset((unsigned char *)buf + there, 0, len - there);
    }
    return there < len ? LAPSE_SIM_DISK_SHORT : LAPSE_SIM_DISK_DONE;
}

enum lapse_sim_disk_says lapse_sim_disk_write(struct lapse_sim_disk *disk,
                                              struct lapse_sim_file *file, const void *buf,
                                              size_t len, size_t at) {
    if (!take(disk)) {
        return LAPSE_SIM_DISK_FAILED;
    }
    if (disk->trouble->full && at + len > file->now.len) {
        return LAPSE_SIM_DISK_FULL;
    }
    size_t before = file->now.len;
    size_t after = at + len > before ? at + len : before;
    if (!lapse_sim_image_resize(disk->alloc, &file->now, after)) {
        return LAPSE_SIM_DISK_NOMEM;
    }
    if (!note(disk, file, (struct lapse_sim_pending){.at = at, .len = len}, buf)) {
        file->now.len = before;
        return LAPSE_SIM_DISK_NOMEM;
    }
    if (len > 0) {
        memcpy(file->now.bytes + at, buf, len);
    }
    return LAPSE_SIM_DISK_DONE;
}

enum lapse_sim_disk_says lapse_sim_disk_truncate(struct lapse_sim_disk *disk,
                                                 struct lapse_sim_file *file, size_t len) {
    if (!take(disk)) {
        return LAPSE_SIM_DISK_FAILED;
    }
    if (disk->trouble->full && len > file->now.len) {
        return LAPSE_SIM_DISK_FULL;
    }
    if (!note(disk, file, (struct lapse_sim_pending){.at = len, .truncates = true}, NULL)) {
        return LAPSE_SIM_DISK_NOMEM;
    }
    if (!lapse_sim_image_resize(disk->alloc, &file->now, len)) {
        file->pending_count--;
        return LAPSE_SIM_DISK_NOMEM;
    }
    return LAPSE_SIM_DISK_DONE;
}

enum lapse_sim_disk_says lapse_sim_disk_sync(struct lapse_sim_disk *disk,
                                             struct lapse_sim_file *file) {
    if (!take(disk) || !lapse_sim_trouble_reach(disk->trouble, LAPSE_POINT_SYNC)) {
        return LAPSE_SIM_DISK_FAILED;
    }
    switch (lapse_sim_trouble_sync(disk->trouble)) {
    case LAPSE_SIM_SYNC_DONE:
        break;
    case LAPSE_SIM_SYNC_LIES:
        return LAPSE_SIM_DISK_DONE;
    case LAPSE_SIM_SYNC_HANGS:
        if (!keep(disk)) {
            return LAPSE_SIM_DISK_NOMEM;
        }
        file->hanging = file->pending_count;
        file->name_hangs = true;
        return LAPSE_SIM_DISK_DONE;
    case LAPSE_SIM_SYNC_FAILS:
        /* The system drops what it could not write: a later sync does not try it again. */
        lapse_sim_file_forget(file, file->pending_count);
        return LAPSE_SIM_DISK_FAILED;
    }
    if (!lapse_sim_file_settle(disk, file, file->pending_count)) {
        return LAPSE_SIM_DISK_NOMEM;
    }
    bind_durably(disk, file);
    return LAPSE_SIM_DISK_DONE;
}

enum lapse_sim_disk_says lapse_sim_disk_remove(struct lapse_sim_disk *disk, const char *name,
                                               bool durably) {
    if (!take(disk)) {
        return LAPSE_SIM_DISK_FAILED;
    }
    struct lapse_sim_name *found = find(disk, name);
    if (found == NULL || found->now == NULL) {
        return LAPSE_SIM_DISK_ABSENT;
    }
    found->now = NULL;
    found->durable = durably ? NULL : found->durable;
    lapse_sim_disk_sweep(disk);
    return LAPSE_SIM_DISK_DONE;
}

bool lapse_sim_disk_let_go(struct lapse_sim_disk *disk) {
    bool done = true;
    for (size_t i = 0; i < disk->file_count; i++) {
        struct lapse_sim_file *file = disk->files[i];
        done = lapse_sim_file_settle(disk, file, file->hanging) && done;
        if (file->name_hangs) {
            bind_durably(disk, file);
        }
        file->name_hangs = false;
    }
    forget_kept(disk);
    lapse_sim_disk_sweep(disk);
    return done;
}

bool lapse_sim_disk_fall(struct lapse_sim_disk *disk) {
    struct lapse_sim_disk *kept = disk->kept;
    if (kept == NULL) {
        return true;
    }
    disk->kept = NULL;
    lapse_sim_disk_wipe(disk);
    bool done = lapse_sim_disk_copy(disk, kept, true);
    disk->kept = kept;
    forget_kept(disk);
    return done;
}

bool lapse_sim_image_resize(const lapse_alloc *alloc, struct lapse_sim_image *image, size_t len) {
    void *bytes = image->bytes;
    if (!lapse_alloc_grow(alloc, &bytes, &image->cap, len, 1)) {
        return false;
    }
    image->bytes = bytes;
    if (len > image->len) {
        memset(image->bytes + image->len, 0, len - image->len);
    }
    image->len = len;
    return true;
}

void lapse_sim_image_free(const lapse_alloc *alloc, struct lapse_sim_image *image) {
    lapse_alloc_free(alloc, image->bytes, image->cap);
    *image = (struct lapse_sim_image){0};
}

bool lapse_sim_pending_apply(const struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                             const struct lapse_sim_pending *pending, size_t from, size_t len) {
    struct lapse_sim_image *durable = &file->durable;
    if (pending->truncates) {
        return lapse_sim_image_resize(disk->alloc, durable, pending->at);
    }
    size_t at = pending->at + from;
    size_t after = at + len > durable->len ? at + len : durable->len;
    if (!lapse_sim_image_resize(disk->alloc, durable, after)) {
        return false;
    }
    if (len > 0) {
        memcpy(durable->bytes + at, file->written.bytes + pending->bytes + from, len);
    }
    return true;
}

bool lapse_sim_file_settle(struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                           size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!lapse_sim_pending_apply(disk, file, &file->pending[i], 0, file->pending[i].len)) {
            return false;
        }
    }
    lapse_sim_file_forget(file, count);
    return true;
}

void lapse_sim_file_forget(struct lapse_sim_file *file, size_t count) {
    size_t left = file->pending_count - count;
    size_t bytes = left == 0 ? file->written.len : file->pending[count].bytes;
    if (count == 0) {
        return;
    }
    if (left > 0) {
        memmove(file->pending, file->pending + count, left * sizeof(*file->pending));
        memmove(file->written.bytes, file->written.bytes + bytes, file->written.len - bytes);
    }
    for (size_t i = 0; i < left; i++) {
        file->pending[i].bytes -= bytes;
    }
    file->written.len -= bytes;
    file->pending_count = left;
    file->hanging = file->hanging > count ? file->hanging - count : 0;
}

/* A file that no name leads to and nobody has open is gone; so is a name that leads nowhere. */
void lapse_sim_disk_sweep(struct lapse_sim_disk *disk) {
    size_t kept = 0;
    for (size_t i = 0; i < disk->file_count; i++) {
        struct lapse_sim_file *file = disk->files[i];
        bool named = file->opened > 0;
        for (size_t k = 0; k < disk->name_count && !named; k++) {
            named = disk->names[k].now == file || disk->names[k].durable == file;
        }
        if (named) {
            disk->files[kept++] = file;
            continue;
        }
        lapse_sim_image_free(disk->alloc, &file->now);
        lapse_sim_image_free(disk->alloc, &file->durable);
        lapse_sim_image_free(disk->alloc, &file->written);
        lapse_alloc_free(disk->alloc, file->pending, file->pending_cap * sizeof(*file->pending));
        lapse_alloc_free(disk->alloc, file, sizeof(*file));
    }
    disk->file_count = kept;
    kept = 0;
    for (size_t i = 0; i < disk->name_count; i++) {
        struct lapse_sim_name name = disk->names[i];
        if (name.now != NULL || name.durable != NULL) {
            disk->names[kept++] = name;
        } else {
            lapse_alloc_free(disk->alloc, name.text, strlen(name.text) + 1);
        }
    }
    disk->name_count = kept;
}

struct lapse_sim_file *lapse_sim_disk_make_file(struct lapse_sim_disk *disk) {
    void *files = (void *)disk->files;
    if (!lapse_alloc_grow(disk->alloc, &files, &disk->file_cap, disk->file_count + 1,
                          sizeof(*disk->files))) {
        return NULL;
    }
    disk->files = files;
    struct lapse_sim_file *file = lapse_alloc_zero(disk->alloc, sizeof(*file));
    if (file != NULL) {
        disk->files[disk->file_count++] = file;
    }
    return file;
}

struct lapse_sim_name *lapse_sim_disk_name(struct lapse_sim_disk *disk, const char *name) {
    struct lapse_sim_name *found = find(disk, name);
    void *names = disk->names;
    size_t bytes = strlen(name) + 1;
    if (found != NULL) {
        return found;
    }
    if (!lapse_alloc_grow(disk->alloc, &names, &disk->name_cap, disk->name_count + 1,
                          sizeof(*disk->names))) {
        return NULL;
    }
    disk->names = names;
    char *text = lapse_alloc_zero(disk->alloc, bytes);
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, name, bytes);
    disk->names[disk->name_count] = (struct lapse_sim_name){.text = text};
    return &disk->names[disk->name_count++];
}

/* Counts an operation; false: the process has fallen. */
static bool take(struct lapse_sim_disk *disk) {
    if (disk->trouble->dead) {
        return false;
    }
    disk->operations++;
    if (disk->before != NULL) {
        disk->before(disk->before_ctx, disk);
    }
    return !disk->trouble->dead;
}

static struct lapse_sim_name *find(const struct lapse_sim_disk *disk, const char *name) {
    for (size_t i = 0; i < disk->name_count; i++) {
        if (strcmp(disk->names[i].text, name) == 0) {
            return &disk->names[i];
        }
    }
    return NULL;
}

static bool note(struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                 struct lapse_sim_pending pending, const void *bytes) {
    void *list = file->pending;
    size_t old = file->written.len;
    if (!lapse_alloc_grow(disk->alloc, &list, &file->pending_cap, file->pending_count + 1,
                          sizeof(*file->pending))) {
        return false;
    }
    file->pending = list;
    if (!lapse_sim_image_resize(disk->alloc, &file->written, old + pending.len)) {
        return false;
    }
    if (bytes != NULL && pending.len > 0) {
        memcpy(file->written.bytes + old, bytes, pending.len);
    }
    pending.bytes = old;
    file->pending[file->pending_count++] = pending;
    return true;
}

static void bind_durably(struct lapse_sim_disk *disk, const struct lapse_sim_file *file) {
    for (size_t i = 0; i < disk->name_count; i++) {
        if (disk->names[i].now == file) {
            disk->names[i].durable = disk->names[i].now;
        }
    }
    lapse_sim_disk_sweep(disk);
}

/* Before the first sync that hangs is noted: nothing of what hangs is in it. */
static bool keep(struct lapse_sim_disk *disk) {
    if (disk->kept != NULL) {
        return true;
    }
    struct lapse_sim_disk *kept = lapse_alloc_zero(disk->alloc, sizeof(*kept));
    if (kept == NULL) {
        return false;
    }
    lapse_sim_disk_init(kept, disk->alloc, disk->trouble);
    bool done = lapse_sim_disk_copy(kept, disk, true);
    disk->kept = kept;
    if (!done) {
        forget_kept(disk);
    }
    return done;
}

static void forget_kept(struct lapse_sim_disk *disk) {
    if (disk->kept != NULL) {
        lapse_sim_disk_finish(disk->kept);
        lapse_alloc_free(disk->alloc, disk->kept, sizeof(*disk->kept));
        disk->kept = NULL;
    }
}
