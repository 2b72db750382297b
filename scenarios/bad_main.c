/* The test that every broken file is told apart: each FILE.yaml of the folders named on the command
 * line gives exactly the mistakes of FILE.yaml.expected, and nothing that makes the loader crash.
 * What is too large to keep is made here. With --write the expected texts are written anew, to be
 * read before they are committed. Output is TAP; a plain main, so that leaks fail it. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scenarios/load.h"

enum { PATH_MAX_BYTES = 600, TEXT_MAX_BYTES = 256 * 1024, FILES_MAX = 500 };

struct run {
    bool write;
    int tests, failed;
    char codes[4096]; /* every code that was seen, parted by spaces */
};

static void run_folder(struct run *run, const char *folder);
static int list_folder(const char *folder, char (*paths)[PATH_MAX_BYTES]);
static int compare_paths(const void *a, const void *b);
static void run_file(struct run *run, const char *path);
static void run_large(struct run *run, const char *title, size_t bytes, const char *code);
static void run_codes(struct run *run);
static size_t render(const struct lapse_file *file, char *text, size_t cap);
static size_t put(char *text, size_t cap, size_t used, const char *what);
static void note_codes(struct run *run, const struct lapse_file *file);
static bool read_text(const char *path, char *text, size_t cap);
static void report(struct run *run, bool passed, const char *title);

int main(int argc, char **argv) {
    struct run *run = calloc(1, sizeof(*run));
    if (run == NULL) {
        return 1;
    }
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--write") == 0) {
            run->write = true;
        } else {
            run_folder(run, argv[i]);
        }
    }
    run_large(run, "a file of one byte too many", (size_t)LAPSE_FILE_BYTES_MAX + 1, "Y001");
    run_large(run, "a file of 10 MB", 10U * 1000 * 1000, "Y001");
    run_codes(run);
    printf("1..%d\n", run->tests);
    int failed = run->failed;
    free(run);
    return failed == 0 ? 0 : 1;
}

static void run_folder(struct run *run, const char *folder) {
    char(*paths)[PATH_MAX_BYTES] = calloc(FILES_MAX, PATH_MAX_BYTES);
    int count = paths == NULL ? 0 : list_folder(folder, paths);
    if (count == 0) {
        report(run, false, folder);
    }
    for (int i = 0; i < count; i++) {
        run_file(run, paths[i]);
    }
    free(paths);
}

/* The folder's .yaml files by name, so that the output is the same everywhere. */
static int list_folder(const char *folder, char (*paths)[PATH_MAX_BYTES]) {
    DIR *stream = opendir(folder);
    int count = 0;
    if (stream == NULL) {
        return 0;
    }
    const struct dirent *entry = readdir(stream);
    for (; entry != NULL && count < FILES_MAX; entry = readdir(stream)) {
        size_t len = strlen(entry->d_name);
        if (len > 5 && strcmp(entry->d_name + len - 5, ".yaml") == 0) {
            (void)snprintf(paths[count++], PATH_MAX_BYTES, "%.300s/%.250s", folder, entry->d_name);
        }
    }
    (void)closedir(stream);
    qsort(paths, (size_t)count, PATH_MAX_BYTES, compare_paths);
    return count;
}

static int compare_paths(const void *a, const void *b) {
    return strcmp(a, b);
}

static void run_file(struct run *run, const char *path) {
    struct lapse_file file;
    struct lapse_error err = {0};
    char expected_path[PATH_MAX_BYTES + 16];
    char *got = calloc(1, TEXT_MAX_BYTES);
    char *expected = calloc(1, TEXT_MAX_BYTES);
    (void)snprintf(expected_path, sizeof(expected_path), "%s.expected", path);
    enum lapse_status status = lapse_file_read(lapse_alloc_libc(), path, &file, &err);
    if (got != NULL && expected != NULL) {
        size_t len = render(&file, got, TEXT_MAX_BYTES);
        FILE *out = run->write ? fopen(expected_path, "wb") : NULL;
        if (out != NULL) {
            (void)fwrite(got, 1, len, out);
            (void)fclose(out);
        }
        bool same =
            read_text(expected_path, expected, TEXT_MAX_BYTES) && strcmp(got, expected) == 0;
        if (!same) {
            printf("# expected:\n%s# got:\n%s", expected, got);
        }
        report(run, same && status == LAPSE_INVALID && file.plan_count == 0,
               strrchr(path, '/') + 1);
        note_codes(run, &file);
    }
    lapse_file_free(&file);
    free(got);
    free(expected);
}

static void run_large(struct run *run, const char *title, size_t bytes, const char *code) {
    struct lapse_file file;
    char *text = malloc(bytes);
    if (text == NULL) {
        report(run, false, title);
        return;
    }
    memset(text, 'a', bytes);
    enum lapse_status status =
        lapse_file_load(lapse_alloc_libc(), "large.yaml", text, bytes, &file);
    bool one = status == LAPSE_INVALID && file.diags.count == 1;
    report(run, one && strcmp(file.diags.items[0]->code, code) == 0, title);
    note_codes(run, &file);
    lapse_file_free(&file);
    free(text);
}

/* Each code of the table has a file that shows it; what is no Y code is no mistake of a file. */
static void run_codes(struct run *run) {
    size_t count = 0;
    const struct lapse_mistake *table = lapse_mistake_table(&count);
    bool all = true;
    for (size_t i = 0; i < count; i++) {
        if (table[i].code[0] == 'Y' && strstr(run->codes, table[i].code) == NULL) {
            printf("# no file shows %s\n", table[i].code);
            all = false;
        }
    }
    report(run, all, "every code of a mistake is shown by a file");
}

/* One line a mistake, then its label, further places and notes, each indented. */
static size_t render(const struct lapse_file *file, char *text, size_t cap) {
    size_t used = 0;
    char line[1200];
    for (size_t i = 0; i < file->diags.count; i++) {
        const struct lapse_diag *diag = file->diags.items[i];
        for (size_t j = 0; j < diag->label_count; j++) {
            const struct lapse_diag_label *label = &diag->labels[j];
            (void)snprintf(line, sizeof(line), "%s%d:%d+%d %.500s\n", j == 0 ? "" : "  at ",
                           label->place.line, label->place.column, label->place.span,
                           j == 0 ? diag->message : label->text);
            used = j == 0 ? put(text, cap, used, diag->code) : used;
            used = j == 0 ? put(text, cap, used, " ") : used;
            used = put(text, cap, used, line);
            if (j == 0 && label->text[0] != '\0') {
                (void)snprintf(line, sizeof(line), "  ^ %.500s\n", label->text);
                used = put(text, cap, used, line);
            }
        }
        for (size_t j = 0; j < diag->note_count; j++) {
            (void)snprintf(line, sizeof(line), "  = %.20s: %.900s\n", diag->notes[j].head,
                           diag->notes[j].text);
            used = put(text, cap, used, line);
        }
    }
    return used;
}

static size_t put(char *text, size_t cap, size_t used, const char *what) {
    size_t len = strlen(what);
    if (used + len + 1 > cap) {
        return used;
    }
    memcpy(text + used, what, len + 1);
    return used + len;
}

static void note_codes(struct run *run, const struct lapse_file *file) {
    for (size_t i = 0; i < file->diags.count; i++) {
        const char *code = file->diags.items[i]->code;
        size_t used = strlen(run->codes);
        if (strstr(run->codes, code) == NULL && used + strlen(code) + 2 < sizeof(run->codes)) {
            (void)snprintf(run->codes + used, sizeof(run->codes) - used, "%s ", code);
        }
    }
}

static bool read_text(const char *path, char *text, size_t cap) {
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        return false;
    }
    size_t len = fread(text, 1, cap - 1, stream);
    text[len] = '\0';
    (void)fclose(stream);
    return true;
}

static void report(struct run *run, bool passed, const char *title) {
    run->tests++;
    run->failed += passed ? 0 : 1;
    printf("%s %d - %s\n", passed ? "ok" : "not ok", run->tests, title);
}
