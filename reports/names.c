/* Names as CI systems keep them: a test's past is found by its name, so that two scenarios must
 * never be written alike, and nothing may hang on which others were run beside it. */
#include <stdlib.h>
#include <string.h>

#include "draw.h"

#define PLACE_BEGIN " (line "

struct entry {
    size_t at;    /* in the text of all names as written */
    size_t index; /* in the caller's array */
    const char *written;
};

static bool ends_in_place(const char *written);

static int by_text(const void *a, const void *b) {
    const struct entry *left = a, *right = b;
    int order = strcmp(left->written, right->written);
    return order != 0 ? order : left->index < right->index ? -1 : left->index > right->index;
}

enum lapse_status lapse_names_repeat(const lapse_alloc *alloc, const char *const *names,
                                     size_t count, bool *ret_repeats) {
    struct lapse_out text;
    lapse_out_init(&text, alloc);
    struct entry *entries = lapse_alloc_zero(alloc, (count + 1) * sizeof *entries);
    for (size_t i = 0; entries != NULL && i < count; i++) {
        entries[i] = (struct entry){text.len, i, NULL};
        (void)lapse_out_safe_text(&text, names[i]);
        lapse_out_bytes(&text, "", 1);
    }
    bool whole = entries != NULL && !text.failed;
    for (size_t i = 0; whole && i < count; i++) {
        entries[i].written = text.text + entries[i].at;
    }
    if (whole && count > 0) {
        qsort(entries, count, sizeof *entries, by_text);
    }
    for (size_t i = 0; whole && i < count; i++) {
        const char *own = entries[i].written;
        bool alike = (i > 0 && strcmp(entries[i - 1].written, own) == 0) ||
                     (i + 1 < count && strcmp(entries[i + 1].written, own) == 0);
        ret_repeats[entries[i].index] = alike || ends_in_place(own);
    }
    lapse_alloc_free(alloc, entries, (count + 1) * sizeof *entries);
    lapse_out_free(&text);
    return whole ? LAPSE_OK : LAPSE_NOMEM;
}

/* A scenario may be named as another one is written with its place. */
static bool ends_in_place(const char *written) {
    size_t len = strlen(written);
    return len > 0 && written[len - 1] == ')' && strstr(written, PLACE_BEGIN) != NULL;
}
