/* Finding scenario files. Folders are walked in byte order, so that the order of results depends on
 * nothing but the names. */
#define _POSIX_C_SOURCE 200809L

#include "select.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct names {
    size_t count, cap;
    char **items;
};

static enum lapse_status select_path(struct lapse_cli_selection *selection, const char *path,
                                     int depth, struct lapse_error *err);
static enum lapse_status walk(struct lapse_cli_selection *selection, const char *folder, int depth,
                              struct lapse_error *err);
static enum lapse_status names_read(struct names *names, const char *folder,
                                    struct lapse_error *err);
static bool names_have(const struct names *names, const char *name);
static void names_free(struct names *names);
static bool is_folder(const char *path);
static bool is_own_folder(const char *path);
static bool is_file(const char *path);
static bool is_scenario(const char *name);
static char *join(const char *folder, const char *name);
static enum lapse_status target_add(struct lapse_cli_selection *selection, const char *path,
                                    int line, struct lapse_error *err);

enum lapse_status lapse_cli_select(char *const *paths, size_t path_count,
                                   struct lapse_cli_selection *ret, struct lapse_error *err) {
    memset(ret, 0, sizeof *ret);
    for (size_t i = 0; i < path_count; i++) {
        char *path = strdup(paths[i]);
        if (path == NULL) {
            return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
        }
        int line = is_file(path) || is_folder(path) ? 0 : lapse_cli_address_split(path);
        enum lapse_status status =
            line > 0 ? target_add(ret, path, line, err) : select_path(ret, path, 0, err);
        free(path);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    return LAPSE_OK;
}

void lapse_cli_selection_free(struct lapse_cli_selection *selection) {
    for (size_t i = 0; i < selection->count; i++) {
        struct lapse_cli_target *target = &selection->targets[i];
        free(target->path);
        lapse_alloc_free(lapse_alloc_libc(), target->lines,
                         target->line_cap * sizeof *target->lines);
    }
    lapse_alloc_free(lapse_alloc_libc(), selection->targets,
                     selection->cap * sizeof *selection->targets);
    free(selection->skipped_first);
    memset(selection, 0, sizeof *selection);
}

int lapse_cli_address_split(char *path) {
    char *colon = strrchr(path, ':');
    if (colon == NULL || colon == path || colon[1] == '\0') {
        return 0;
    }
    int line = 0;
    for (const char *at = colon + 1; *at != '\0'; at++) {
        if (*at < '0' || *at > '9' || line > (INT32_MAX - 9) / 10) {
            return 0;
        }
        line = line * 10 + (*at - '0');
    }
    if (line > 0) {
        *colon = '\0';
    }
    return line;
}

static enum lapse_status select_path(struct lapse_cli_selection *selection, const char *path,
                                     int depth, struct lapse_error *err) {
    /* A folder that is named like a scenario is a mistake, not a suite: reading it says so. */
    if (!is_folder(path) || is_scenario(path)) {
        return target_add(selection, path, 0, err);
    }
    if (depth > LAPSE_CLI_DEPTH_MAX) {
        return lapse_error_set(err, LAPSE_LIMIT, "%s: folders nested more than %d deep", path,
                               LAPSE_CLI_DEPTH_MAX);
    }
    return walk(selection, path, depth, err);
}

static enum lapse_status walk(struct lapse_cli_selection *selection, const char *folder, int depth,
                              struct lapse_error *err) {
    struct names names = {0, 0, NULL};
    enum lapse_status status = names_read(&names, folder, err);
    if (status == LAPSE_OK && depth > 0 && names_have(&names, ".lapse-skip")) {
        selection->skipped_folders++;
        names_free(&names);
        if (selection->skipped_first == NULL &&
            (selection->skipped_first = strdup(folder)) == NULL) {
            return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
        }
        return LAPSE_OK;
    }
    for (size_t i = 0; status == LAPSE_OK && i < names.count; i++) {
        char *path = names.items[i][0] == '.' ? NULL : join(folder, names.items[i]);
        if (path == NULL && names.items[i][0] != '.') {
            status = lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
        } else if (path != NULL && (is_own_folder(path) || is_scenario(names.items[i]))) {
            status = select_path(selection, path, depth + 1, err);
        }
        free(path);
    }
    names_free(&names);
    return status;
}

static int by_bytes(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum lapse_status names_read(struct names *names, const char *folder,
                                    struct lapse_error *err) {
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return lapse_error_set(err, LAPSE_IO, "%s: the folder cannot be read (%s)", folder,
                               strerror(errno));
    }
    enum lapse_status status = LAPSE_OK;
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        void *array = names->items;
        char *name = strdup(entry->d_name);
        if (name == NULL || !lapse_alloc_grow(lapse_alloc_libc(), &array, &names->cap,
                                              names->count + 1, sizeof *names->items)) {
            free(name);
            status = lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
            break;
        }
        names->items = array;
        names->items[names->count++] = name;
    }
    (void)closedir(dir);
    if (names->count > 1) {
        qsort(names->items, names->count, sizeof *names->items, by_bytes);
    }
    return status;
}

static bool names_have(const struct names *names, const char *name) {
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void names_free(struct names *names) {
    for (size_t i = 0; i < names->count; i++) {
        free(names->items[i]);
    }
    lapse_alloc_free(lapse_alloc_libc(), names->items, names->cap * sizeof *names->items);
}

static bool is_folder(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

/* A link to a folder is not followed on a walk: it may lead back up, and to files that the walk
 * finds anyway. */
static bool is_own_folder(const char *path) {
    struct stat found;
    return lstat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static bool is_file(const char *path) {
    struct stat found;
    return stat(path, &found) == 0 && !S_ISDIR(found.st_mode);
}

static bool is_scenario(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

static char *join(const char *folder, const char *name) {
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/') {
        len--;
    }
    char *path = malloc(len + strlen(name) + 2);
    if (path != NULL) {
        memcpy(path, folder, len);
        path[len] = '/';
        strcpy(path + len + 1, name);
    }
    return path;
}

static enum lapse_status target_line(struct lapse_cli_target *target, int line,
                                     struct lapse_error *err) {
    if (line == 0) {
        target->whole = true;
        return LAPSE_OK;
    }
    void *array = target->lines;
    if (!lapse_alloc_grow(lapse_alloc_libc(), &array, &target->line_cap, target->line_count + 1,
                          sizeof *target->lines)) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    target->lines = array;
    target->lines[target->line_count++] = line;
    return LAPSE_OK;
}

static enum lapse_status target_add(struct lapse_cli_selection *selection, const char *path,
                                    int line, struct lapse_error *err) {
    for (size_t i = 0; i < selection->count; i++) {
        if (strcmp(selection->targets[i].path, path) == 0) {
            return target_line(&selection->targets[i], line, err);
        }
    }
    if (selection->count == LAPSE_CLI_FILES_MAX) {
        return lapse_error_set(err, LAPSE_LIMIT, "more than %d files", LAPSE_CLI_FILES_MAX);
    }
    void *array = selection->targets;
    char *copy = strdup(path);
    if (copy == NULL || !lapse_alloc_grow(lapse_alloc_libc(), &array, &selection->cap,
                                          selection->count + 1, sizeof *selection->targets)) {
        free(copy);
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    selection->targets = array;
    struct lapse_cli_target *target = &selection->targets[selection->count++];
    memset(target, 0, sizeof *target);
    target->path = copy;
    return target_line(target, line, err);
}
