/* Where the file of a world's store lies: a fresh directory of its own, gone with the world. Its
 * name is chance and appears in nothing that a run tells. */
#ifndef SIM_STORE_FILE_H
#define SIM_STORE_FILE_H

#include "lapse/base.h"

enum { LAPSE_SIM_PATH_MAX = 64 };

struct lapse_sim_store_file {
    char dir[LAPSE_SIM_PATH_MAX];  /* empty: there is none */
    char path[LAPSE_SIM_PATH_MAX]; /* the file, which is the store's to make */
};

/* Makes the directory. OK, or IO. */
enum lapse_status lapse_sim_store_file_make(struct lapse_sim_store_file *file,
                                            struct lapse_error *err);
/* Removes the store's files and the directory, if there is one. */
void lapse_sim_store_file_remove(struct lapse_sim_store_file *file);

#endif
