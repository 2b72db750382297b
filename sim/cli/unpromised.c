/* Sums of unpromised breaks. They go from worker to parent as lines "TIMES TEXT": a text is made of
 * the words of our own tables, so it has no line break. */
#include "unpromised.h"

#include <string.h>

static void add(struct lapse_cli_unpromised *sums, const char *text, size_t len, int64_t times);
static char *copy(const char *text, size_t len);

void lapse_cli_unpromised_add(struct lapse_cli_unpromised *sums,
                              const struct lapse_result_view *view) {
    struct lapse_unpromised unpromised;
    struct lapse_out text;
    lapse_out_init(&text, lapse_alloc_libc());
    for (size_t at = 0; lapse_unpromised_next(view->verdict, &at, &unpromised);) {
        lapse_unpromised_draw(&text, view->the_case->setup, unpromised.id);
        if (text.failed) {
            sums->failed = true;
        } else {
            add(sums, text.text, text.len, unpromised.times);
        }
        lapse_out_free(&text);
    }
}

void lapse_cli_unpromised_write(const struct lapse_cli_unpromised *sums, struct lapse_out *out) {
    for (size_t i = 0; i < sums->count; i++) {
        lapse_out_format(out, "%lld %s\n", (long long)sums->items[i].times, sums->items[i].text);
    }
    out->failed = out->failed || sums->failed;
}

void lapse_cli_unpromised_read(struct lapse_cli_unpromised *sums, const char *text, size_t len) {
    const char *end = len > 0 ? text + len : text;
    while (text != end) {
        int64_t times = 0;
        for (; text < end && *text >= '0' && *text <= '9'; text++) {
            times = times * 10 + (*text - '0');
        }
        const char *line_end = memchr(text, '\n', (size_t)(end - text));
        if (line_end == NULL || *text != ' ') {
            return;
        }
        add(sums, text + 1, (size_t)(line_end - text) - 1, times);
        text = line_end + 1;
    }
}

void lapse_cli_unpromised_free(struct lapse_cli_unpromised *sums) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    for (size_t i = 0; i < sums->count; i++) {
        const char *text = sums->items[i].text;
        lapse_alloc_free(alloc, (char *)(uintptr_t)text, strlen(text) + 1);
    }
    lapse_alloc_free(alloc, sums->items, sums->cap * sizeof *sums->items);
    memset(sums, 0, sizeof *sums);
}

static void add(struct lapse_cli_unpromised *sums, const char *text, size_t len, int64_t times) {
    for (size_t i = 0; i < sums->count; i++) {
        const char *known = sums->items[i].text;
        if (strlen(known) == len && memcmp(known, text, len) == 0) {
            sums->items[i].times += times;
            return;
        }
    }
    void *items = sums->items;
    bool grown = lapse_alloc_grow(lapse_alloc_libc(), &items, &sums->cap, sums->count + 1,
                                  sizeof *sums->items);
    sums->items = items;
    char *own = grown ? copy(text, len) : NULL;
    if (own == NULL) {
        sums->failed = true;
        return;
    }
    sums->items[sums->count++] = (struct lapse_total_unpromised){own, times};
}

static char *copy(const char *text, size_t len) {
    char *own = lapse_alloc_zero(lapse_alloc_libc(), len + 1);
    if (own != NULL) {
        memcpy(own, text, len);
    }
    return own;
}
