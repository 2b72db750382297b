/* A disk of files in memory, on which a crash of the machine takes what no sync has reached.
 *
 * A file has a current image, which is what a process reads, and a durable one; between them lie
 * its pending writes and truncations, in order. A name leads to a file now, and to one durably. A
 * sync makes what is pending of a file durable, and its name. A crash of a process takes nothing.
 * A crash of the machine takes all that is pending; where it tears, each sector of 512 bytes, each
 * truncation and each change of a name is kept or dropped by itself, by choice.
 *
 * A truncation is one thing and keeps its place among the writes; a name that is removed and made
 * again leads to a new file. All memory is the allocator's that the disk was given.
 *
 * A sync that hangs answers at once, so that its process runs on to where the world can hold it.
 * What the process does from there counts only once the disk is let go: if the process falls before
 * that, or its machine does, it never came past that sync. */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include "sim/choice.h"
#include "trouble.h"

enum { LAPSE_SIM_SECTOR_BYTES = 512 };

enum lapse_sim_disk_says {
    LAPSE_SIM_DISK_DONE = 0,
    LAPSE_SIM_DISK_ABSENT, /* no such file */
    LAPSE_SIM_DISK_SHORT,  /* a read past the end: zeros are filled in */
    LAPSE_SIM_DISK_FAILED, /* nothing was done; or a sync failed */
    LAPSE_SIM_DISK_FULL,   /* nothing was done */
    LAPSE_SIM_DISK_NOMEM
};

struct lapse_sim_image {
    unsigned char *bytes;
    size_t len, cap;
};

struct lapse_sim_pending;

struct lapse_sim_file {
    struct lapse_sim_image now, durable;
    struct lapse_sim_pending *pending; /* oldest first */
    size_t pending_count, pending_cap;
    struct lapse_sim_image written; /* the bytes of pending writes, one after the other */
    size_t hanging;                 /* so many of them are under a sync that hangs */
    bool name_hangs;
    int32_t opened;                 /* by how many handles */
};

struct lapse_sim_name {
    char *text;
    struct lapse_sim_file *now, *durable; /* NULL: none */
};

struct lapse_sim_disk {
    const lapse_alloc *alloc;
    struct lapse_sim_trouble *trouble; /* borrowed */
    struct lapse_sim_file **files;
    size_t file_count, file_cap;
    struct lapse_sim_name *names;
    size_t name_count, name_cap;
    int64_t operations; /* writes, truncations, syncs and removals that were asked for */
    /* Told before each of them takes effect; may set `dead`. NULL: nobody asks. */
    void (*before)(void *ctx, struct lapse_sim_disk *disk);
    void *before_ctx;
    struct lapse_sim_disk *kept; /* as it was when a sync began to hang; NULL: none hangs */
};

/* An empty disk. Both are borrowed. */
void lapse_sim_disk_init(struct lapse_sim_disk *disk, const lapse_alloc *alloc,
                         struct lapse_sim_trouble *trouble);
void lapse_sim_disk_finish(struct lapse_sim_disk *disk);

/* ---- What a process does. */
/* ABSENT (and not `make`), FAILED, NOMEM. */
enum lapse_sim_disk_says lapse_sim_disk_open(struct lapse_sim_disk *disk, const char *name,
                                             bool make, struct lapse_sim_file **ret);
void lapse_sim_disk_close(struct lapse_sim_disk *disk, struct lapse_sim_file *file);
bool lapse_sim_disk_has(const struct lapse_sim_disk *disk, const char *name);
/* DONE, SHORT, FAILED. */
enum lapse_sim_disk_says lapse_sim_disk_read(const struct lapse_sim_disk *disk,
                                             const struct lapse_sim_file *file, void *buf,
                                             size_t len, size_t at);
/* DONE, FAILED, FULL, NOMEM. */
enum lapse_sim_disk_says lapse_sim_disk_write(struct lapse_sim_disk *disk,
                                              struct lapse_sim_file *file, const void *buf,
                                              size_t len, size_t at);
enum lapse_sim_disk_says lapse_sim_disk_truncate(struct lapse_sim_disk *disk,
                                                 struct lapse_sim_file *file, size_t len);
/* DONE, FAILED, NOMEM. */
enum lapse_sim_disk_says lapse_sim_disk_sync(struct lapse_sim_disk *disk,
                                             struct lapse_sim_file *file);
/* `durably`: the folder is synced too. DONE, ABSENT, FAILED. */
enum lapse_sim_disk_says lapse_sim_disk_remove(struct lapse_sim_disk *disk, const char *name,
                                               bool durably);

/* ---- What happens to it. No handle may be open but for let_go and rot. */
/* Syncs that hang are done. False: no memory. */
bool lapse_sim_disk_let_go(struct lapse_sim_disk *disk);
/* The process has fallen. If a sync of it hung, the disk is again as it was when the first of them
 * began, and what that one covered stays pending. False: no memory. */
bool lapse_sim_disk_fall(struct lapse_sim_disk *disk);
/* The machine crashes. choices NULL: all that is pending is gone; else each thing by a choice.
 * False: no memory. */
bool lapse_sim_disk_crash(struct lapse_sim_disk *disk, struct lapse_choices *choices, int32_t who);
/* `bits` chosen bits of what is durable flip. */
void lapse_sim_disk_rot(struct lapse_sim_disk *disk, int64_t bits, struct lapse_choices *choices,
                        int32_t who);
/* Makes `to`, an empty disk, what `from` would be after a crash; or, with `all`, what it is now,
 * with all that is pending. What comes after a sync that hangs is left out. False: no memory. */
bool lapse_sim_disk_copy(struct lapse_sim_disk *to, const struct lapse_sim_disk *from, bool all);
/* Everything is gone. */
void lapse_sim_disk_wipe(struct lapse_sim_disk *disk);

/* Walks its invariants. OK, or BUG with a sentence. */
enum lapse_status lapse_sim_disk_check(const struct lapse_sim_disk *disk, struct lapse_error *err);

#endif
