/* Files for the tests of the SQLite store: a folder of its own, and files as bytes. */
#ifndef ENGINE_TESTING_FILES_H
#define ENGINE_TESTING_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum { LAPSE_TESTING_PATH_MAX = 128 };

struct lapse_testing_dir {
    char path[LAPSE_TESTING_PATH_MAX - 32];
    char file[LAPSE_TESTING_PATH_MAX]; /* a store's, in it */
    char copy[LAPSE_TESTING_PATH_MAX]; /* another's */
};

/* Each ends the process when the system refuses. */
void lapse_testing_dir_make(struct lapse_testing_dir *dir);
/* Removes the files in it: all, or also the folder. */
void lapse_testing_dir_empty(const struct lapse_testing_dir *dir);
void lapse_testing_dir_remove(const struct lapse_testing_dir *dir);

bool lapse_testing_file_exists(const char *path, const char *suffix);
/* The bytes of a file (NULL and 0 if there is none), which the caller frees. */
unsigned char *lapse_testing_file_read(const char *path, const char *suffix, size_t *ret_len);
/* NULL removes it. */
void lapse_testing_file_write(const char *path, const char *suffix, const unsigned char *bytes,
                              size_t len);
/* What is no plain file: a pipe, and a link to `target`. */
void lapse_testing_pipe_make(const char *path, const char *suffix);
void lapse_testing_link_make(const char *path, const char *suffix, const char *target);
/* Runs `call` in a forked child; what it returned, or -1 if the child died of something else. */
int lapse_testing_in_child(int (*call)(void *ctx), void *ctx);
/* A store's file and log as a crash of the process would leave them. */
void lapse_testing_file_copy(const char *from, const char *to);

#endif
