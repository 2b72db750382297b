/* A recorded history while it is read: where the reader stands, whom it knows, what it has found.
 * Private to reports. */
#ifndef REPORTS_RECORDED_READING_H
#define REPORTS_RECORDED_READING_H

#include "contracts/lookup.h"
#include "json.h"
#include "recorded_fields.h"

/* Actors, nodes or resources. Where the first line lists them no other name will do; where it does
 * not, they are taken as they come. */
struct lapse_reading_names {
    const char *what; /* "actor" */
    struct lapse_bytes *items;
    size_t count, cap;
    struct lapse_names table; /* kind 1: to its place in `items` */
    bool listed;
};

struct lapse_reading_event {
    struct lapse_history_event event;
    struct lapse_place place; /* of the word that says what it is */
    int rank;                 /* at one instant: calls are sent, then all else, then they return */
    size_t order;
};

struct lapse_reading_file {
    const lapse_alloc *alloc;
    struct lapse_reading_pool pool; /* what is kept */
    struct lapse_reading_pool line_pool; /* the tree of the line in hand */
    struct lapse_recorded *ret;
    const char *name;
    int line; /* where it stands, from 1 */
    struct lapse_reading_names actors, nodes, resources;
    const struct lapse_json *policies; /* of the first line */
    bool buckets_listed;
    struct lapse_setup setup;
    struct lapse_reading_event *events;
    size_t count, cap;
    bool calls;   /* some line is a whole call, so that events are put in order of time */
    bool stepped; /* some line tells its step: they are a plan's */
    int closed;   /* the closing line; 0: it was not read */
    bool alien;   /* the first line is none of a history: nothing more is read */
    bool starved;
};

/* Notes a mistake at a value of the line in hand (NULL: at its beginning). Returns it, or NULL. */
struct lapse_diag *lapse_reading_mistake(struct lapse_reading_file *file, const char *code,
                                         const struct lapse_json *at, const char *label,
                                         const char *format, ...) LAPSE_PRINTF(5, 6);
/* The same at a word of a map. */
struct lapse_diag *lapse_reading_mistake_word(struct lapse_reading_file *file, const char *code,
                                              const struct lapse_json *of, const char *format, ...)
    LAPSE_PRINTF(4, 5);
/* Adds "help: did you mean", or the list of all words. */
void lapse_reading_help(struct lapse_reading_file *file, struct lapse_diag *diag, const char *seen,
                        const char *const *words, size_t count, const char *what);

/* Fills an object from a map by a table (and a second; NULL: none). Words that no table has are
 * mistakes, but for `event`. False: at least one mistake was noted, or memory ran out. */
bool lapse_reading_map(struct lapse_reading_file *file, const struct lapse_json *json,
                       const struct lapse_rf *first, void *first_base,
                       const struct lapse_rf *second, void *second_base);
/* The policies of the first line, over those of its profile. */
bool lapse_reading_policies(struct lapse_reading_file *file, const struct lapse_json *first);
/* Memory of the pool, or NULL (file->starved is set). */
void *lapse_reading_take(struct lapse_reading_file *file, size_t bytes);
/* The bytes of a text or of {"hex": ..}, which live as long as the line, or in the pool. False:
 * it is neither, or memory ran out. */
bool lapse_reading_bytes(struct lapse_reading_file *file, const struct lapse_json *json,
                         struct lapse_bytes *ret);
/* Adds a copy of a name; -1: memory ran out. One that is there already only takes a place. */
int32_t lapse_reading_name_add(struct lapse_reading_file *file, struct lapse_reading_names *names,
                               struct lapse_bytes name);

/* Whether events fit each other and the first line, as the rules take for granted. Notes the first
 * mistake. */
bool lapse_reading_check(struct lapse_reading_file *file);
/* Whether a call can be answered so at all. */
bool lapse_reading_can_answer(const struct lapse_request *request, enum lapse_status status);
/* Puts what was read in order and makes history and case of it. */
void lapse_reading_finish(struct lapse_reading_file *file);

#endif
