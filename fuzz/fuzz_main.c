/* A driver for harnesses without a fuzzer: every file named on the command line, and every file
 * below a folder named there, goes through the harness once. So the corpus is a test under any
 * compiler and sanitizer. Output is TAP; a plain main, so that leaks fail it. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_MAX_BYTES = 1024, DEPTH_MAX = 8, BYTES_MAX = 16 * 1024 * 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_path(const char *path, int depth);
static int run_folder(const char *path, int depth);
static int run_file(const char *path);

int main(int argc, char **argv) {
    int files = 0;
    for (int i = 1; i < argc; i++) {
        int ran = run_path(argv[i], 0);
        if (ran == 0) {
            printf("# nothing ran in %s\n", argv[i]);
            printf("1..1\nnot ok 1 - every argument has inputs\n");
            return 1;
        }
        files += ran;
    }
    printf("1..1\n%s 1 - %d inputs end without harm\n", files > 0 ? "ok" : "not ok", files);
    return files > 0 ? 0 : 1;
}

/* Returns how many files ran. Their order does not matter: each stands alone. */
static int run_path(const char *path, int depth) {
    struct stat info;
    if (stat(path, &info) != 0) {
        return 0;
    }
    return S_ISDIR(info.st_mode) ? run_folder(path, depth) : run_file(path);
}

static int run_folder(const char *path, int depth) {
    DIR *stream = depth < DEPTH_MAX ? opendir(path) : NULL;
    int files = 0;
    if (stream == NULL) {
        return 0;
    }
    const struct dirent *entry = readdir(stream);
    for (; entry != NULL; entry = readdir(stream)) {
        char below[PATH_MAX_BYTES];
        int len = snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && len > 0 && (size_t)len < sizeof(below)) {
            files += run_path(below, depth + 1);
        }
    }
    (void)closedir(stream);
    return files;
}

static int run_file(const char *path) {
    FILE *stream = fopen(path, "rb");
    uint8_t *bytes = malloc(BYTES_MAX);
    int ran = 0;
    if (stream != NULL && bytes != NULL) {
        size_t size = fread(bytes, 1, BYTES_MAX, stream);
        /* Exactly as large as the input, so that reading past it is seen. */
        uint8_t *exact = malloc(size == 0 ? 1 : size);
        if (exact != NULL) {
            memcpy(exact, bytes, size);
            (void)LLVMFuzzerTestOneInput(exact, size);
            ran = 1;
        }
        free(exact);
    }
    if (stream != NULL) {
        (void)fclose(stream);
    }
    free(bytes);
    return ran;
}
