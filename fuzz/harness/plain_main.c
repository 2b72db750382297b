/* A driver without a fuzzer: every file named on the command line, and every file below a folder
 * named there, goes through the harness twice and must come to the same. So the corpus is a test
 * under any compiler and sanitizer. Output is TAP; a plain main, so that leaks fail it. */
#include "harness.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_MAX_BYTES = 1024, DEPTH_MAX = 8, BYTES_MAX = 16 * 1024 * 1024 };

struct sum {
    int files, parted;
};

static bool run_path(const char *path, int depth, struct sum *sum);
static bool run_folder(const char *path, int depth, struct sum *sum);
static bool run_file(const char *path, struct sum *sum);

int main(int argc, char **argv) {
    struct sum sum = {0};
    for (int i = 1; i < argc; i++) {
        if (!run_path(argv[i], 0, &sum)) {
            printf("# nothing ran in %s\n", argv[i]);
            printf("1..1\nnot ok 1 - every argument has inputs\n");
            return 1;
        }
    }
    bool fine = sum.files > 0 && sum.parted == 0;
    printf("1..1\n%sok 1 - %d inputs end without harm, twice alike\n", fine ? "" : "not ",
           sum.files);
    return fine ? 0 : 1;
}

/* Whether any file ran. Their order does not matter: each stands alone. */
static bool run_path(const char *path, int depth, struct sum *sum) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return false;
    }
    return S_ISDIR(info.st_mode) ? run_folder(path, depth, sum) : run_file(path, sum);
}

static bool run_folder(const char *path, int depth, struct sum *sum) {
    DIR *stream = depth < DEPTH_MAX ? opendir(path) : NULL;
    bool any = false;
    if (stream == NULL) {
        return false;
    }
    const struct dirent *entry = readdir(stream);
    for (; entry != NULL; entry = readdir(stream)) {
        char below[PATH_MAX_BYTES];
        int len = snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && len > 0 && (size_t)len < sizeof(below)) {
            any = run_path(below, depth + 1, sum) || any;
        }
    }
    (void)closedir(stream);
    return any;
}

static bool run_file(const char *path, struct sum *sum) {
    FILE *stream = fopen(path, "rb");
    unsigned char *bytes = malloc(BYTES_MAX);
    unsigned char *exact = NULL;
    size_t size = 0;
    if (stream != NULL && bytes != NULL) {
        size = fread(bytes, 1, BYTES_MAX, stream);
        /* Exactly as large as the input, so that reading past it is seen. */
        exact = malloc(size == 0 ? 1 : size);
    }
    bool ran = exact != NULL;
    if (ran) {
        memcpy(exact, bytes, size);
        sum->files++;
        uint64_t first = lapse_harness_run(size == 0 ? NULL : exact, size);
        if (lapse_harness_run(size == 0 ? NULL : exact, size) != first) {
            printf("# %s comes to two things\n", path);
            sum->parted++;
        }
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    free(exact);
    free(bytes);
    return ran;
}
