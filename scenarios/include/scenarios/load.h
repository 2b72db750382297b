/* The loader: scenario text to plans, or every mistake of the file at once.
 *
 * Input is hostile: any bytes, any size. It is guarded before the YAML library sees it, read into a
 * tree of our own with places, and decoded by one table of words. A file with mistakes gives no
 * plan. Nothing is printed. */
#ifndef SCENARIOS_LOAD_H
#define SCENARIOS_LOAD_H

#include "contracts/diag.h"
#include "sim/plan.h"

enum { LAPSE_FILE_BYTES_MAX = 1024 * 1024 }; /* a larger file is one mistake */

struct lapse_file {
    const lapse_alloc *alloc;
    char *name;                   /* as given; places borrow it */
    char *text;                   /* a copy, NUL-terminated, for excerpts */
    size_t text_bytes;
    struct lapse_diag_list diags; /* empty iff the plans are there */
    size_t document_count;
    size_t plan_count;            /* one a document, or one a row of `vary` */
    struct lapse_plan **plans;    /* in document, then row order */
};

/* Loads `bytes` under the name `name` (copied). Always fills *ret, also with mistakes: then
 * plan_count is 0 and diags has at least one entry. Returns OK, INVALID (mistakes), NOMEM. */
enum lapse_status lapse_file_load(const lapse_alloc *alloc, const char *name, const char *bytes,
                                  size_t byte_count, struct lapse_file *ret);
/* Reads the file at `path` and loads it. IO: it cannot be read (err says why). */
enum lapse_status lapse_file_read(const lapse_alloc *alloc, const char *path,
                                  struct lapse_file *ret, struct lapse_error *err);
void lapse_file_free(struct lapse_file *file);

/* ---- The words of the language, for help, README and checks. */
enum lapse_word_kind {
    LAPSE_WORD_TOP = 1,  /* top level of a document */
    LAPSE_WORD_BUCKET,
    LAPSE_WORD_RESOURCE,
    LAPSE_WORD_ACTOR,
    LAPSE_WORD_VERB,     /* of a call */
    LAPSE_WORD_OBSERVER,
    LAPSE_WORD_FAULT,
    LAPSE_WORD_STEP,     /* any step: at, after, by, expect ... */
    LAPSE_WORD_ARGUMENT, /* of a verb */
    LAPSE_WORD_FIELD,    /* of an answer */
    LAPSE_WORD_PATTERN,
    LAPSE_WORD_MEASURE,
    LAPSE_WORD_ACTION,   /* stop, next ... */
    LAPSE_WORD_STORE,    /* of `store` */
    LAPSE_WORD_BOUND,    /* of `bounds` */
    LAPSE_WORD_CLOCK,    /* of `clocks` */
    LAPSE_WORD_CHAOS,    /* of `chaos` */
    LAPSE_WORD_EXPLORE,  /* of `explore` */
    LAPSE_WORD_KINDS
};
enum { LAPSE_STAGE_NOW = 2 }; /* words up to this stage of the language run */
struct lapse_word {
    enum lapse_word_kind kind;
    const char *word;
    int stage;            /* up to LAPSE_STAGE_NOW it runs; a later word is refused with a sentence
                             that says "not yet" */
    const char *takes;    /* "a duration", "a key (bucket/key)" */
    const char *sentence; /* what it means, one line */
    const char *contract; /* id that a verb or observer stands for; NULL */
    const char *answers;  /* verbs: "granted held timed_out"; NULL */
    const char *arguments;/* verbs: "for wait retry"; NULL */
};
const struct lapse_word *lapse_word_table(size_t *ret_count);

/* ---- The codes of mistakes, for `lapse explain`. */
struct lapse_mistake {
    const char *code;     /* "Y104" */
    const char *title;    /* "a duration needs a unit" */
    const char *more;     /* how it comes about and how to write it right */
};
const struct lapse_mistake *lapse_mistake_table(size_t *ret_count);

#endif
