/* What the emitters share: one plan on its way to one document. They build the tree that the
 * decoders would read; yaml_write.c makes it text.
 *
 * Emitters note the first thing that cannot be written and go on; what they have built is used only
 * if nothing was noted. A node that is NULL is not put anywhere, so "nothing to say" needs no
 * branch. */
#ifndef SCENARIOS_EMITTER_H
#define SCENARIOS_EMITTER_H

#include "decode.h"

/* The sections of a document that hold lines. Steps are numbered as their sections stand. */
enum lapse_emit_section {
    LAPSE_EMIT_ACTORS = 0,
    LAPSE_EMIT_FAULTS,
    LAPSE_EMIT_STEPS,
    LAPSE_EMIT_EXPECT,
    LAPSE_EMIT_SECTIONS
};

struct lapse_emitter {
    struct lapse_pool *pool;
    const struct lapse_plan *plan;
    struct lapse_error *err;
    enum lapse_status status; /* INVALID: something was noted */
    bool first;               /* document of its file */
    int32_t step;             /* being written, for messages; -1 */
    int32_t next_step;        /* the number that the next line gets when it is loaded */
    size_t next_task;
    enum lapse_operand_kind place; /* what `is` compares with */
    int32_t listed;                /* the bucket whose listing is expected; -1 */
    size_t section_at;             /* how many sections have been written */
    enum lapse_emit_section sections[LAPSE_EMIT_SECTIONS]; /* in the order of their steps */
    int8_t *section_of; /* by step: whose line it is; -1: of a loop's body */
    bool *labelled;     /* by step: a fault waits for a moment of it */
    bool *indexed;      /* by slot: the first of a name with $n */
    char *text;         /* being put together; of the pool */
    size_t text_len, text_cap;
};

/* A line, or the call of a batch. */
struct lapse_emit_line {
    enum lapse_where where;
    int32_t number;
    const struct lapse_word *row; /* of its verb, observer or fault; NULL: a loop with a list */
    const struct lapse_plan_step *step;
    const struct lapse_step_check *check;
    const struct lapse_plan_step *loop; /* whose words stand in the line too; NULL */
    const struct lapse_plan_call *call; /* of the step, or of the batch; NULL */
};

/* One word's emitter: puts the word into `map`, if `thing` has something to say with it. What a
 * thing is goes by the kind of word. */
typedef void (*lapse_emit_word)(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                                const void *thing);
struct lapse_emit_row {
    enum lapse_word_kind kind;
    const char *word;
    lapse_emit_word emit; /* NULL: the loader resolves it, or it is the reader's: not in a plan */
};

/* ---- Words (emit.c). */
/* Whether emission has something to write each word of the language with. */
bool lapse_emit_knows(enum lapse_word_kind kind, const char *word);
/* Emits one word, or all words of a kind in the order of the table. */
void lapse_emit_one(struct lapse_emitter *e, enum lapse_word_kind kind, const char *word,
                    struct lapse_node *map, const void *thing);
void lapse_emit_all(struct lapse_emitter *e, enum lapse_word_kind kind, struct lapse_node *map,
                    const void *thing);
/* The rows of each file. */
const struct lapse_emit_row *lapse_emit_setup_rows(size_t *ret_count);
const struct lapse_emit_row *lapse_emit_client_rows(size_t *ret_count);
const struct lapse_emit_row *lapse_emit_explore_rows(size_t *ret_count);
const struct lapse_emit_row *lapse_emit_line_rows(size_t *ret_count);
const struct lapse_emit_row *lapse_emit_call_rows(size_t *ret_count);
const struct lapse_emit_row *lapse_emit_world_rows(size_t *ret_count);
/* Notes what cannot be written, after the step's number; the first note stays. */
void lapse_emit_refuse(struct lapse_emitter *e, const char *format, ...) LAPSE_PRINTF(2, 3);

/* A task, or the one step of a program, is written: it must be the next. */
void lapse_emit_take_task(struct lapse_emitter *e, size_t task);
bool lapse_emit_take_step(struct lapse_emitter *e, int32_t number);
/* Whether there is the one actor alone that a document has without `actors` (emit_setup.c). */
bool lapse_emit_is_usual(const struct lapse_setup *setup);

/* ---- Nodes (emit_value.c). */
struct lapse_node *lapse_emit_map(struct lapse_emitter *e);
struct lapse_node *lapse_emit_seq(struct lapse_emitter *e);
void lapse_emit_put(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    struct lapse_node *value);
void lapse_emit_add(struct lapse_emitter *e, struct lapse_node *seq, struct lapse_node *item);
/* A scalar: a word of the language; any text. */
struct lapse_node *lapse_emit_text(struct lapse_emitter *e, const char *text);
struct lapse_node *lapse_emit_bytes(struct lapse_emitter *e, struct lapse_bytes bytes);
/* `true`, or NULL. */
struct lapse_node *lapse_emit_flag(struct lapse_emitter *e, bool flag);
struct lapse_node *lapse_emit_number(struct lapse_emitter *e, int64_t number);
struct lapse_node *lapse_emit_span(struct lapse_emitter *e, int64_t ns);
struct lapse_node *lapse_emit_signed(struct lapse_emitter *e, int64_t ns);
struct lapse_node *lapse_emit_range(struct lapse_emitter *e, int64_t min, int64_t max);
struct lapse_node *lapse_emit_rate(struct lapse_emitter *e, int64_t ppb, bool sign);
struct lapse_node *lapse_emit_share(struct lapse_emitter *e, int32_t ppm);
struct lapse_node *lapse_emit_date(struct lapse_emitter *e, int64_t ns);
/* A text with names in it, behind `bucket/` if bucket >= 0. */
struct lapse_node *lapse_emit_name(struct lapse_emitter *e, int32_t bucket,
                                   const struct lapse_text *text);
/* A text without names, where none are read. */
struct lapse_node *lapse_emit_literal(struct lapse_emitter *e, const struct lapse_text *text);
/* `bucket/key`, or the key alone where the bucket is empty; three texts as one. */
struct lapse_node *lapse_emit_key(struct lapse_emitter *e, struct lapse_bytes bucket,
                                  struct lapse_bytes key);
struct lapse_node *lapse_emit_join(struct lapse_emitter *e, const char *a, const char *b,
                                   const char *c);
/* `place`: what its place takes, NUMBER, SPAN, DATE or TEXT. */
struct lapse_node *lapse_emit_operand(struct lapse_emitter *e, const struct lapse_operand *operand,
                                      enum lapse_operand_kind place);
/* `$x`, `$x$n`, `$x.field`; with `save` the name alone. */
struct lapse_node *lapse_emit_slot(struct lapse_emitter *e, struct lapse_slot_ref slot, bool save);
struct lapse_node *lapse_emit_actor(struct lapse_emitter *e, int32_t actor);
struct lapse_node *lapse_emit_resource(struct lapse_emitter *e, int32_t resource);
struct lapse_node *lapse_emit_bucket(struct lapse_emitter *e, int32_t bucket);
struct lapse_node *lapse_emit_party(struct lapse_emitter *e, struct lapse_party party);
/* `a-n1`, `a>n1`. */
struct lapse_node *lapse_emit_ends(struct lapse_emitter *e, const struct lapse_plan_link *link);
/* Whether the operand was given. */
bool lapse_emit_given(const struct lapse_operand *operand);

/* ---- Expectations (emit_expect.c). */
struct lapse_node *lapse_emit_expect(struct lapse_emitter *e, const struct lapse_word *row,
                                     const struct lapse_expect *expect);
struct lapse_node *lapse_emit_is(struct lapse_emitter *e, const struct lapse_expect *expect,
                                 enum lapse_operand_kind place);
struct lapse_node *lapse_emit_who(struct lapse_emitter *e, const struct lapse_expect *expect);
struct lapse_node *lapse_emit_events(struct lapse_emitter *e, const struct lapse_expect *expect);
struct lapse_node *lapse_emit_pattern(struct lapse_emitter *e, const struct lapse_pattern *pattern);
/* The answer's word of this verb; NULL and a note: it has none. */
const char *lapse_emit_answer(struct lapse_emitter *e, const struct lapse_word *row,
                              enum lapse_status status);

/* ---- Lines (emit_line.c). */
struct lapse_node *lapse_emit_line(struct lapse_emitter *e, enum lapse_where where, int32_t number);
/* The call of a batch. */
struct lapse_node *lapse_emit_member(struct lapse_emitter *e, const struct lapse_plan_call *call);
/* The label of a call that a fault waits for. */
struct lapse_node *lapse_emit_label(struct lapse_emitter *e, int32_t step, const char *moment);

#endif
