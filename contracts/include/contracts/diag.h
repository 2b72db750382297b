/* Diagnostics as data: what is wrong, where, and what else the reader should see.
 *
 * The loader and the judge make them; reports print them (excerpt.c is the only drawer of source
 * lines). A diagnostic has one primary place and up to three more labelled places, like a
 * compiler's message with notes. All text is owned by the list. */
#ifndef CONTRACTS_DIAG_H
#define CONTRACTS_DIAG_H

#include "lapse/base.h"

/* A span of source text. `file` is borrowed (it lives as long as the plan). */
struct lapse_place {
    const char *file; /* NULL: no place */
    int line;         /* from 1 */
    int column;       /* from 1, in bytes */
    int span;         /* bytes, >= 1 */
};

enum { LAPSE_DIAG_LABELS_MAX = 4, LAPSE_DIAG_NOTES_MAX = 6 };

struct lapse_diag_label {
    struct lapse_place place;
    const char *text; /* "" for a bare underline */
};

struct lapse_diag_note {
    const char *head; /* "help", "note", "contract", "state" */
    const char *text;
};

struct lapse_diag {
    const char *code; /* "Y104", "KV-03" */
    const char *message;
    struct lapse_diag_label labels[LAPSE_DIAG_LABELS_MAX]; /* [0] is the primary one */
    size_t label_count;
    struct lapse_diag_note notes[LAPSE_DIAG_NOTES_MAX];
    size_t note_count;
};

struct lapse_diag_list {
    const lapse_alloc *alloc;
    struct lapse_diag **items; /* pointers stay valid until free */
    size_t count, cap;
    void *chunks; /* the texts; private */
    bool failed;  /* memory ran out: some diagnostics are missing */
};

void lapse_diag_list_init(struct lapse_diag_list *list, const lapse_alloc *alloc);
void lapse_diag_list_free(struct lapse_diag_list *list);

/* Appends a diagnostic with its primary place (the text of its label is set by `label`, may be "").
 * Returns it, or NULL (list->failed is set) when memory runs out; the calls below accept NULL. */
struct lapse_diag *lapse_diag_add(struct lapse_diag_list *list, const char *code,
                                  struct lapse_place place, const char *label, const char *format,
                                  ...) LAPSE_PRINTF(5, 6);
/* Adds a labelled place; more than LAPSE_DIAG_LABELS_MAX are left out. */
void lapse_diag_label(struct lapse_diag_list *list, struct lapse_diag *diag,
                      struct lapse_place place, const char *format, ...) LAPSE_PRINTF(4, 5);
/* Adds a "= head: text" line. */
void lapse_diag_note(struct lapse_diag_list *list, struct lapse_diag *diag, const char *head,
                     const char *format, ...) LAPSE_PRINTF(4, 5);
/* Sorts by file, line, column, code; for the loader, which finds mistakes in several passes. */
void lapse_diag_list_sort(struct lapse_diag_list *list);

#endif
