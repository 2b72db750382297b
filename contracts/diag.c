/* Diagnostics: a list that owns its texts, so that the loader and the judge can build messages from
 * short-lived buffers. */
#include "contracts/diag.h"

#include "chunks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *text_of(struct lapse_diag_list *list, const char *format, va_list args);
static struct lapse_diag *diag_make(struct lapse_diag_list *list);
static int diag_compare(const struct lapse_diag *a, const struct lapse_diag *b);

void lapse_diag_list_init(struct lapse_diag_list *list, const lapse_alloc *alloc) {
    *list = (struct lapse_diag_list){.alloc = alloc};
}

void lapse_diag_list_free(struct lapse_diag_list *list) {
    if (list == NULL || list->alloc == NULL) {
        return;
    }
    const lapse_alloc *alloc = list->alloc;
    struct lapse_chunks *chunks = list->chunks;
    if (chunks != NULL) {
        lapse_chunks_free(chunks);
        lapse_alloc_free(alloc, chunks, sizeof(*chunks));
    }
    lapse_alloc_free(alloc, list->items, list->cap * sizeof(struct lapse_diag *));
    lapse_diag_list_init(list, alloc);
}

struct lapse_diag *lapse_diag_add(struct lapse_diag_list *list, const char *code,
                                  struct lapse_place place, const char *label, const char *format,
                                  ...) {
    struct lapse_diag *diag = diag_make(list);
    if (diag == NULL) {
        return NULL;
    }
    va_list args;
    va_start(args, format);
    diag->message = text_of(list, format, args);
    va_end(args);
    diag->code = code;
    lapse_diag_label(list, diag, place, "%s", label);
    list->items[list->count++] = diag;
    return diag;
}

void lapse_diag_label(struct lapse_diag_list *list, struct lapse_diag *diag,
                      struct lapse_place place, const char *format, ...) {
    if (diag == NULL || diag->label_count >= LAPSE_DIAG_LABELS_MAX) {
        return;
    }
    va_list args;
    va_start(args, format);
    const char *text = text_of(list, format, args);
    va_end(args);
    diag->labels[diag->label_count++] = (struct lapse_diag_label){place, text};
}

void lapse_diag_note(struct lapse_diag_list *list, struct lapse_diag *diag, const char *head,
                     const char *format, ...) {
    if (diag == NULL || diag->note_count >= LAPSE_DIAG_NOTES_MAX) {
        return;
    }
    va_list args;
    va_start(args, format);
    const char *text = text_of(list, format, args);
    va_end(args);
    diag->notes[diag->note_count++] = (struct lapse_diag_note){head, text};
}

/* Insertion sort: stable, and lists of mistakes are short and nearly in order. */
void lapse_diag_list_sort(struct lapse_diag_list *list) {
    for (size_t i = 1; i < list->count; i++) {
        struct lapse_diag *moved = list->items[i];
        size_t at = i;
        while (at > 0 && diag_compare(list->items[at - 1], moved) > 0) {
            list->items[at] = list->items[at - 1];
            at--;
        }
        list->items[at] = moved;
    }
}

/* A text in the list's memory; "" when memory ran out, so that no reader meets NULL. */
static const char *text_of(struct lapse_diag_list *list, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, again);
    va_end(again);
    LAPSE_ASSERT(len >= 0);
    char *text = lapse_chunks_take(list->chunks, (size_t)len + 1);
    if (text == NULL) {
        list->failed = true;
        return "";
    }
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    return text;
}

static struct lapse_diag *diag_make(struct lapse_diag_list *list) {
    struct lapse_diag *diag = NULL;
    if (list->chunks == NULL) {
        list->chunks = lapse_alloc_zero(list->alloc, sizeof(struct lapse_chunks));
        if (list->chunks != NULL) {
            lapse_chunks_init(list->chunks, list->alloc);
        }
    }
    if (list->chunks != NULL && lapse_alloc_grow(list->alloc, (void **)&list->items, &list->cap,
                                                 list->count + 1, sizeof(struct lapse_diag *))) {
        diag = lapse_chunks_take(list->chunks, sizeof(*diag));
    }
    if (diag == NULL) {
        list->failed = true;
        return NULL;
    }
    *diag = (struct lapse_diag){.message = ""};
    return diag;
}

static int diag_compare(const struct lapse_diag *a, const struct lapse_diag *b) {
    const struct lapse_place *x = &a->labels[0].place;
    const struct lapse_place *y = &b->labels[0].place;
    int files = strcmp(x->file == NULL ? "" : x->file, y->file == NULL ? "" : y->file);
    if (files != 0) {
        return files;
    }
    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    if (x->column != y->column) {
        return x->column < y->column ? -1 : 1;
    }
    return strcmp(a->code, b->code);
}
