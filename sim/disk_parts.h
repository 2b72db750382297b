/* Private to the disk: what its two files share. */
#ifndef SIM_DISK_PARTS_H
#define SIM_DISK_PARTS_H

#include "disk.h"

/* A write or a truncation that no sync has reached. */
struct lapse_sim_pending {
    size_t at;    /* where; of a truncation the new length */
    size_t len;
    size_t bytes; /* its bytes begin here in `written` */
    bool truncates;
};

/* Bytes that are new are zeros. False: no memory, and the image is as it was. */
bool lapse_sim_image_resize(const lapse_alloc *alloc, struct lapse_sim_image *image, size_t len);
void lapse_sim_image_free(const lapse_alloc *alloc, struct lapse_sim_image *image);
/* Makes a truncation, or the part [from, from + len) of a write, durable. */
bool lapse_sim_pending_apply(const struct lapse_sim_disk *disk, struct lapse_sim_file *file,
                             const struct lapse_sim_pending *pending, size_t from, size_t len);
/* The first `count` pending things are made durable; or are forgotten. */
bool lapse_sim_file_settle(struct lapse_sim_disk *disk, struct lapse_sim_file *file, size_t count);
void lapse_sim_file_forget(struct lapse_sim_file *file, size_t count);
/* Frees what nothing leads to. */
void lapse_sim_disk_sweep(struct lapse_sim_disk *disk);
/* A new file, which the next sweep takes away unless something leads to it; NULL: no memory. */
struct lapse_sim_file *lapse_sim_disk_make_file(struct lapse_sim_disk *disk);
/* The name, made if it is new; one that leads nowhere is swept too. NULL: no memory. */
struct lapse_sim_name *lapse_sim_disk_name(struct lapse_sim_disk *disk, const char *name);

#endif
