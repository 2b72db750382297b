/* The helpers of testing_files.h; they talk to the system, so they are apart. */
#define _POSIX_C_SOURCE 200809L

#include "testing_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void must(bool done, const char *what);
static void name_of(const char *path, const char *suffix, char *ret);

void lapse_testing_dir_make(struct lapse_testing_dir *dir) {
    (void)snprintf(dir->path, sizeof(dir->path), "lapse-sqlite-XXXXXX");
    must(mkdtemp(dir->path) != NULL, dir->path);
    (void)snprintf(dir->file, sizeof(dir->file), "%s/store.db", dir->path);
    (void)snprintf(dir->copy, sizeof(dir->copy), "%s/copy.db", dir->path);
}

void lapse_testing_dir_empty(const struct lapse_testing_dir *dir) {
    DIR *list = opendir(dir->path);
    must(list != NULL, dir->path);
    for (const struct dirent *entry = readdir(list); entry != NULL; entry = readdir(list)) {
        char name[2 * LAPSE_TESTING_PATH_MAX + 256];
        (void)snprintf(name, sizeof(name), "%s/%s", dir->path, entry->d_name);
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) {
            must(unlink(name) == 0, name);
        }
    }
    (void)closedir(list);
}

void lapse_testing_dir_remove(const struct lapse_testing_dir *dir) {
    lapse_testing_dir_empty(dir);
    must(rmdir(dir->path) == 0, dir->path);
}

bool lapse_testing_file_exists(const char *path, const char *suffix) {
    char name[2 * LAPSE_TESTING_PATH_MAX];
    name_of(path, suffix, name);
    return access(name, F_OK) == 0;
}

unsigned char *lapse_testing_file_read(const char *path, const char *suffix, size_t *ret_len) {
    char name[2 * LAPSE_TESTING_PATH_MAX];
    name_of(path, suffix, name);
    FILE *file = fopen(name, "rb");
    *ret_len = 0;
    if (file == NULL) {
        return NULL;
    }
    must(fseek(file, 0, SEEK_END) == 0, name);
    size_t len = (size_t)ftell(file);
    unsigned char *bytes = malloc(len + 1);
    must(bytes != NULL && fseek(file, 0, SEEK_SET) == 0, name);
    must(fread(bytes, 1, len, file) == len, name);
    (void)fclose(file);
    *ret_len = len;
    return bytes;
}

void lapse_testing_file_write(const char *path, const char *suffix, const unsigned char *bytes,
                              size_t len) {
    char name[2 * LAPSE_TESTING_PATH_MAX];
    name_of(path, suffix, name);
    if (bytes == NULL) {
        (void)unlink(name);
        return;
    }
    FILE *file = fopen(name, "wb");
    must(file != NULL && fwrite(bytes, 1, len, file) == len && fclose(file) == 0, name);
}

void lapse_testing_file_copy(const char *from, const char *to) {
    static const char *const suffixes[] = {"", "-wal"};
    lapse_testing_file_write(to, "-shm", NULL, 0);
    for (size_t i = 0; i < 2; i++) {
        size_t len = 0;
        unsigned char *bytes = lapse_testing_file_read(from, suffixes[i], &len);
        lapse_testing_file_write(to, suffixes[i], bytes, len);
        free(bytes);
    }
}

static void must(bool done, const char *what) {
    if (!done) {
        perror(what);
        exit(2);
    }
}

static void name_of(const char *path, const char *suffix, char *ret) {
    (void)snprintf(ret, 2 * (size_t)LAPSE_TESTING_PATH_MAX, "%s%s", path, suffix);
}

void lapse_testing_pipe_make(const char *path, const char *suffix) {
    char name[2 * LAPSE_TESTING_PATH_MAX];
    name_of(path, suffix, name);
    must(mkfifo(name, 0600) == 0, name);
}

void lapse_testing_link_make(const char *path, const char *suffix, const char *target) {
    char name[2 * LAPSE_TESTING_PATH_MAX];
    name_of(path, suffix, name);
    must(symlink(target, name) == 0, name);
}

int lapse_testing_in_child(int (*call)(void *ctx), void *ctx) {
    int told = 0;
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        _exit(call(ctx));
    }
    must(waitpid(child, &told, 0) == child, "waitpid");
    return WIFEXITED(told) ? WEXITSTATUS(told) : -1;
}
