/* What the decoders share: one document on its way to one plan.
 *
 * Decoders note mistakes and go on; a plan is made only if none was noted. Memory failures set
 * `nomem`, and nothing is read out of the decoder after that. */
#ifndef SCENARIOS_DECODE_H
#define SCENARIOS_DECODE_H

#include "mistakes.h"
#include "scenarios/node.h"
#include "sim/plan.h"
#include "sim/program.h"
#include "words.h"

/* Name spaces of a document (kinds of struct lapse_names). */
enum lapse_space {
    LAPSE_SPACE_BUCKET = 1,
    LAPSE_SPACE_RESOURCE,
    LAPSE_SPACE_ACTOR,
    LAPSE_SPACE_OWNER,
    LAPSE_SPACE_WATCH,
    LAPSE_SPACE_LABEL,
    LAPSE_SPACE_SLOT,         /* $x; number: index in `slots` */
    LAPSE_SPACE_SLOT_INDEXED, /* the x of $x$n; number: index in `slots` */
    LAPSE_SPACE_MEASURE,
    LAPSE_SPACE_LEASE,
    LAPSE_SPACE_SESSION,
    LAPSE_SPACE_OPENED /* a bucket that `open` names; number: index in `opened` */
};

struct lapse_slot_decl {
    const char *name; /* "t1"; of an indexed one the part before $n */
    int32_t base, count;
    bool indexed;
    struct lapse_place place;
    const char *verb;             /* of the first line that saves it */
    bool one_verb;                /* the other lines that save it have the same verb */
    uint32_t kinds[LAPSE_FIELDS]; /* what each field can be: 1 << kind of operand; 0: never there */
};
struct lapse_watch_decl {
    const char *name;
    int32_t bucket, actor;
};

struct lapse_bucket_decl {
    bool markers_open; /* whether it has markers is for another row of `vary`, for an `alter`, or a
                          mistake */
};
/* A fault line, for the check that what ends one has one to end. */
struct lapse_fault_decl {
    enum lapse_fault_kind kind;
    bool ends;
    bool all;    /* it heals all links, and the disk */
    bool varied; /* `vary` moves it: it is not the same in every row */
    bool at_run; /* it waits for a moment: when it is, the run tells */
    int32_t step;
    int32_t actor, node;
    int64_t at_ns;
    struct lapse_place place;
};

/* A line with a label; and a fault that waits for a moment of one. */
struct lapse_label_decl {
    const struct lapse_node *label;
    int32_t step;
};
struct lapse_point_decl {
    const struct lapse_node *node; /* LABEL.sent */
    size_t len;                    /* of the label */
    int32_t fault;                 /* its step */
};

/* A fault that starves one task, by name. */
struct lapse_starve_decl {
    const struct lapse_node *node; /* w1.task */
    size_t at;                     /* where the task's name begins */
    int32_t fault;
};

enum { LAPSE_TIMES_MAX = 10000 };

/* What holds unless it is written: 2000-01-01T00:00:00Z, and `down` of `chaos`. */
#define LAPSE_EPOCH_DEFAULT_S INT64_C(946684800)
#define LAPSE_CHAOS_DOWN_NS (10 * LAPSE_NS_PER_S)

/* Heads an unmet line whose word stands for no contract. */
#define LAPSE_NO_CONTRACT "EXPECT"

/* A copy of the node's disk, as its lines name it. */
struct lapse_copy_decl {
    const struct lapse_node *name;
    bool made;       /* a line makes it */
    int64_t made_ns; /* the first that does */
    int32_t step;
};

/* A line that puts a copy back. */
struct lapse_restore_decl {
    const struct lapse_node *name;
    int64_t at_ns;
    int32_t copy, step;
};

struct lapse_decoder {
    const lapse_alloc *alloc;
    struct lapse_pool *pool; /* the plan's */
    struct lapse_diag_list *diags;
    const struct lapse_node *root;
    struct lapse_plan *plan;
    int64_t *budget; /* nodes and slots that the file may still unfold to */
    struct lapse_names names;
    struct lapse_list buckets, resources, actors; /* struct lapse_setup_... */
    struct lapse_list steps, checks;              /* side by side */
    struct lapse_list tasks, world, finals, loops;
    struct lapse_list slots, watches, measures;
    struct lapse_list programs;     /* struct lapse_plan_program */
    struct lapse_list bucket_decls; /* struct lapse_bucket_decl, beside `buckets` */
    struct lapse_list opened;       /* struct lapse_place */
    struct lapse_list faults;       /* struct lapse_fault_decl */
    struct lapse_list labels;       /* struct lapse_label_decl */
    struct lapse_list points;       /* struct lapse_point_decl */
    struct lapse_list starved;      /* struct lapse_starve_decl */
    struct lapse_list copies;       /* struct lapse_copy_decl */
    struct lapse_list restores;     /* struct lapse_restore_decl */
    int32_t slot_total;
    int64_t times;    /* of the line being decoded; 0: $n stands for nothing */
    int32_t listed;   /* the bucket whose listing is expected; -1 */
    bool leases_open; /* a lease name holds $, so names cannot be checked */
    bool sessions_open; /* as above, of sessions */
    bool node_falls;  /* a line crashes or restarts n1 */
    bool wants_rows;  /* a line needs a store that keeps its rows */
    const struct lapse_node *wants_files; /* the first word that needs a disk of files; NULL */
    bool endless;     /* a loop has neither times nor until: INSTANT, or a program runs */
    bool endless_program;
    struct lapse_place endless_place;
    bool nomem;
};

/* Pool memory; NULL sets nomem. */
void *lapse_decoder_take(struct lapse_decoder *d, size_t bytes);
/* A new item of one of the decoder's lists; NULL sets nomem. */
void *lapse_decoder_add(struct lapse_decoder *d, struct lapse_list *list);
/* Copies a scalar's text into the plan. */
struct lapse_bytes lapse_decoder_bytes(struct lapse_decoder *d, const struct lapse_node *node);
/* Registers a name; false if it is taken already, or memory ran out. */
bool lapse_decoder_name(struct lapse_decoder *d, enum lapse_space space, const char *text,
                        int32_t number);
int32_t lapse_decoder_find(const struct lapse_decoder *d, enum lapse_space space, const char *text,
                           size_t len);

/* ---- Shapes (shape.c). Each notes what is wrong and returns whether all is well. */
bool lapse_shape_is(struct lapse_decoder *d, const struct lapse_node *node,
                    enum lapse_node_kind kind, const char *wanted);
/* Checks the keys of a map against the words of a kind; `thing` is "a bucket". The message for a
 * word that is none names the nearest. True: the key can be decoded. */
bool lapse_shape_word(struct lapse_decoder *d, const struct lapse_node *key,
                      enum lapse_word_kind kind, const char *thing);
/* Notes that a word of a later stage was met. */
void lapse_shape_later(struct lapse_decoder *d, struct lapse_place place,
                       const struct lapse_word *word);
/* Whether the scalar may be a declared name. */
bool lapse_shape_name(struct lapse_decoder *d, const struct lapse_node *node, const char *what);
bool lapse_shape_flag(struct lapse_decoder *d, const struct lapse_node *node, bool *ret);
/* The place of a scalar's text from `offset`, `span` bytes long. */
struct lapse_place lapse_shape_part(const struct lapse_node *node, size_t offset, size_t span);

/* ---- Numbers (number.c). */
enum lapse_span_fault {
    LAPSE_SPAN_FINE = 0,
    LAPSE_SPAN_NO_UNIT,
    LAPSE_SPAN_MALFORMED,
    LAPSE_SPAN_MONTH,
    LAPSE_SPAN_RANGE,
    LAPSE_SPAN_ORDER /* units that do not fall, as in 1m1h */
};
/* Reads a whole text as a duration with arithmetic; notes nothing. *ret_at: where it went wrong. */
enum lapse_span_fault lapse_number_scan(const char *text, size_t len, int64_t *ret_ns,
                                        size_t *ret_at);
/* A duration >= min (0 or 1). */
bool lapse_number_span(struct lapse_decoder *d, const struct lapse_node *node, int64_t min,
                       int64_t *ret_ns);
/* As above on a part of the text, any sign. */
bool lapse_number_span_part(struct lapse_decoder *d, const struct lapse_node *node, size_t offset,
                            int64_t *ret_ns);
bool lapse_number_count(struct lapse_decoder *d, const struct lapse_node *node, int64_t min,
                        int64_t max, int64_t *ret);
/* A date: DATE or NOW. */
bool lapse_number_date(struct lapse_decoder *d, const struct lapse_node *node,
                       struct lapse_operand *ret);

/* ---- Texts and saved names (text.c). */
bool lapse_text_decode(struct lapse_decoder *d, const struct lapse_node *node, size_t offset,
                       struct lapse_text *ret);
/* A scalar that is one `$name`, `$name$n` or `$name.field`. */
bool lapse_text_slot(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_slot_ref *ret);
/* An operand of this kind: NUMBER, SPAN, DATE or TEXT; the first three also as `$x`, `$x+1`. */
bool lapse_text_operand(struct lapse_decoder *d, const struct lapse_node *node,
                        enum lapse_operand_kind kind, struct lapse_operand *ret);
/* As lapse_text_operand, of a call's own argument: notes a saved value that is never of its kind.
 */
bool lapse_text_argument(struct lapse_decoder *d, const struct lapse_node *node,
                         enum lapse_operand_kind kind, struct lapse_operand *ret);

/* ---- Fields of answers (fields.c). */
/* The field of this word, or DEFAULT; the word of a field. */
enum lapse_field lapse_field_find(const char *word, size_t len);
const char *lapse_field_word(enum lapse_field field);
/* What `$x` alone means of a reply to this verb. */
enum lapse_field lapse_field_default(int verb);
/* Whether the answer of the verb has the field. */
bool lapse_field_answered(int verb, enum lapse_status status, enum lapse_field field);
/* What the field of a saved reply can be: 1 << kind of operand. `dated`: the call says
 * `expires_at`. */
uint32_t lapse_field_saved(int verb, bool dated, enum lapse_field field);
/* The words of the fields that an answer has; of those that a saved name has. Return buf. */
const char *lapse_field_list(int verb, enum lapse_status status, char *buf, size_t cap);
const char *lapse_field_list_saved(const uint32_t *kinds, char *buf, size_t cap);

/* ---- Names (resolve.c). */
/* Declares buckets, resources and actors, then saves, labels, watches and lease names. */
void lapse_resolve_declare(struct lapse_decoder *d);
/* The number under a name; -1 and a mistake with the nearest name if there is none. */
int32_t lapse_resolve_name(struct lapse_decoder *d, const struct lapse_node *node,
                           enum lapse_space space);
/* Splits bucket/key. *ret_offset: where the key begins. */
bool lapse_resolve_key(struct lapse_decoder *d, const struct lapse_node *node, int32_t *ret_bucket,
                       size_t *ret_offset);
/* A declared bucket whose name and `/` begin the text, or -1. */
int32_t lapse_resolve_prefix(const struct lapse_decoder *d, const struct lapse_node *node);
/* Notes an end that never becomes an event, because the bucket keeps no markers. */
void lapse_resolve_markers(struct lapse_decoder *d, int32_t bucket, struct lapse_place place);
/* Notes a lease name that no call of the document names. */
void lapse_resolve_lease(struct lapse_decoder *d, const struct lapse_node *node);
/* Notes a session that no line opens. */
void lapse_resolve_session(struct lapse_decoder *d, const struct lapse_node *node);
/* Notes that a name of this kind is not there, with the nearest. */
void lapse_resolve_unknown(struct lapse_decoder *d, struct lapse_place place,
                           enum lapse_space space, const char *name);
void lapse_resolve_declare_buckets(struct lapse_decoder *d, const struct lapse_node *node);
bool lapse_resolve_terms(struct lapse_decoder *d, const struct lapse_node *map, bool send,
                         struct lapse_bucket_config *ret, bool *ret_locks);

/* ---- Lines (decode_step.c). */
enum lapse_where {
    LAPSE_WHERE_STEPS = 1,
    LAPSE_WHERE_TASK,
    LAPSE_WHERE_BODY, /* of a loop */
    LAPSE_WHERE_FAULTS,
    LAPSE_WHERE_EXPECT
};
struct lapse_line {
    const struct lapse_node *node;
    enum lapse_where where;
    int32_t actor;    /* TASK BODY */
    int32_t loop;     /* BODY: index in loops; else -1 */
    bool shares_line; /* BODY: the loop's words stand in the same map */
    int64_t at_ns;    /* STEPS FAULTS: when it is due */
    int64_t times;    /* BODY: the loop's; 0 */
};
/* The row of a line's verb, observer or fault, if `word` is that here; else NULL. `session` and
 * `history` are arguments too, where another verb stands. */
const struct lapse_word *lapse_decode_main_row(const struct lapse_node *map, const char *word);
/* The line's `after` as a time, or NULL: with list, all and count `after: bucket/key` says where
 * the listing goes on. */
const struct lapse_node *lapse_decode_after(const struct lapse_node *map);
/* Notes that a line has two times; of a listing, how a key is written. */
void lapse_decode_note_after(struct lapse_decoder *d, const struct lapse_node *map,
                             const struct lapse_node *after);
/* Decodes one line; *ret_step is its number, or -1 if it was a mistake. */
void lapse_decode_line(struct lapse_decoder *d, const struct lapse_line *line, int32_t *ret_step);
/* Adds an empty step and check; -1: memory ran out. */
int32_t lapse_decode_new_step(struct lapse_decoder *d, const struct lapse_line *line,
                              const struct lapse_word *row, size_t main_key);
struct lapse_plan_step *lapse_decode_step_at(struct lapse_decoder *d, int32_t step);
struct lapse_step_check *lapse_decode_check_at(struct lapse_decoder *d, int32_t step);
/* Whether the answer's word belongs to the verb's; writes its status. */
bool lapse_decode_answer(const struct lapse_word *row, const char *word, enum lapse_status *ret);
void lapse_decode_when(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_when *ret);

/* ---- What a line does. Each fills step->u and its kind. */
void lapse_decode_call(struct lapse_decoder *d, const struct lapse_word *row,
                       const struct lapse_node *map, struct lapse_plan_step *step);
void lapse_decode_probe(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *map, struct lapse_plan_step *step,
                        struct lapse_step_check *check);
void lapse_decode_fault(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_node *map, struct lapse_plan_step *step);
/* The link of a `cut`, `heal` or `link`, and what the last does to it; and what becomes of a call's
 * own messages (decode_link.c). */
void lapse_decode_link(struct lapse_decoder *d, const struct lapse_node *map,
                       const struct lapse_node *target, struct lapse_plan_fault *fault);
void lapse_decode_messages(struct lapse_decoder *d, const struct lapse_word *row,
                           const struct lapse_node *map, struct lapse_plan_step *step);
/* Who is starved, and how slow (decode_slow.c); and, when all lines are read, which task. */
void lapse_decode_starved(struct lapse_decoder *d, const struct lapse_node *node,
                          struct lapse_plan_fault *fault);
void lapse_decode_slow(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault);
void lapse_decode_starved_end(struct lapse_decoder *d);
/* The moment that a fault waits for, if its line has `when` (decode_point.c). */
void lapse_decode_point(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_step *step);
/* The label of a line, if it has one; and, when all lines are read, the calls that moments name. */
void lapse_decode_label(struct lapse_decoder *d, const struct lapse_node *map, int32_t step);
void lapse_decode_points_end(struct lapse_decoder *d);
/* The members of a batch (decode_batch.c). */
void lapse_decode_batch(struct lapse_decoder *d, const struct lapse_node *list,
                        struct lapse_plan_call *call);
/* A verb that is sent to the store with an object and arguments, `map` being its words. */
void lapse_decode_request(struct lapse_decoder *d, const struct lapse_word *row,
                          const struct lapse_node *map, struct lapse_plan_call *call);
/* `wait` and `retry` of an acquire, `unchanged`, `revoke`, a resource's words (decode_client.c). */
void lapse_decode_wait(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_call *call);
void lapse_decode_unchanged(struct lapse_decoder *d, const struct lapse_node *map,
                            struct lapse_plan_step *step);
void lapse_decode_revoke(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_plan_step *step);
void lapse_decode_resource(struct lapse_decoder *d, const struct lapse_node *words,
                           struct lapse_setup_resource *ret);
/* With all calls walked: the leases that resources serve are named by one. */
void lapse_decode_resources_end(struct lapse_decoder *d);
/* An actor that runs a program: its task; and, before, the leases that the program names
 * (decode_program.c). */
void lapse_decode_program(struct lapse_decoder *d, int32_t actor, const struct lapse_node *words);
void lapse_decode_program_leases(struct lapse_decoder *d, const struct lapse_node *words);
/* Notes each `resume` and `restart` that no earlier fault gives something to end; a `resume` ends
 * what began last, a pause or a suspend. */
void lapse_decode_fault_ends(struct lapse_decoder *d);
void lapse_decode_loop(struct lapse_decoder *d, const struct lapse_line *line, int32_t *ret_step);
/* With all lines read: which loops rules on liveness can judge. */
void lapse_decode_loops_end(struct lapse_decoder *d);
void lapse_decode_handlers(struct lapse_decoder *d, const struct lapse_word *row,
                           const struct lapse_line *line, struct lapse_plan_step *step,
                           struct lapse_step_check *check);
/* The verb's number, or 0. */
int lapse_decode_verb(const char *word);

/* ---- Expectations (decode_expect.c, decode_events.c). NULL: a mistake. */
/* `bucket`: what is listed, or -1. */
struct lapse_expect *lapse_decode_expect(struct lapse_decoder *d, const struct lapse_word *row,
                                         int32_t bucket, const struct lapse_node *node);
struct lapse_expect *lapse_decode_is(struct lapse_decoder *d, enum lapse_field field,
                                     enum lapse_operand_kind kind, const struct lapse_node *node);
struct lapse_expect *lapse_decode_who(struct lapse_decoder *d, const struct lapse_node *node);
struct lapse_expect *lapse_decode_events(struct lapse_decoder *d, int32_t watch,
                                         const struct lapse_node *node);
struct lapse_expect *lapse_decode_first(struct lapse_decoder *d, struct lapse_place place);
/* The kind of an event's word ("put"), or 0. */
enum lapse_event_kind lapse_decode_event_kind(const char *word, size_t len);

/* The words of the verb's own that a line can have, for notes. */
void lapse_decode_note_takes(struct lapse_decoder *d, struct lapse_diag *diag,
                             const struct lapse_word *row);

/* What a line does to a clock; `bounds` and `clocks` (decode_clock.c). */
void lapse_decode_clock(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_fault *fault);
void lapse_decode_bounds(struct lapse_decoder *d, const struct lapse_node *map);
void lapse_decode_clocks(struct lapse_decoder *d, const struct lapse_node *map);

/* ---- Sections. */
/* `profile`, `policy`, `store` (decode_store.c). */
void lapse_decode_store(struct lapse_decoder *d);
/* `chaos` (decode_chaos.c); after the sections and `run_for`. */
void lapse_decode_chaos(struct lapse_decoder *d);
/* `explore` (decode_explore.c). */
void lapse_decode_explore(struct lapse_decoder *d);
/* A rate (200ppm); a share of messages (20%) in millionths; a span, or a range of spans. */
bool lapse_decode_rate(struct lapse_decoder *d, const struct lapse_node *node, int64_t *ret);
void lapse_decode_share(struct lapse_decoder *d, const struct lapse_node *node, int32_t *ret_ppm);
void lapse_decode_range(struct lapse_decoder *d, const struct lapse_node *node, int64_t *ret_min,
                        int64_t *ret_max);
/* A store that crashes keeps its rows somewhere, also where no `store` says so. */
void lapse_decode_store_end(struct lapse_decoder *d);
void lapse_decode_tasks(struct lapse_decoder *d, const struct lapse_node *actors);
void lapse_decode_steps(struct lapse_decoder *d, const struct lapse_node *steps,
                        const struct lapse_node *add);
void lapse_decode_faults(struct lapse_decoder *d, const struct lapse_node *faults);
void lapse_decode_finals(struct lapse_decoder *d, const struct lapse_node *expect);
void lapse_decode_measures(struct lapse_decoder *d, const struct lapse_node *measure);
void lapse_decode_sometimes(struct lapse_decoder *d, const struct lapse_node *sometimes);
bool lapse_decode_pattern(struct lapse_decoder *d, const struct lapse_node *node,
                          struct lapse_pattern *ret);

/* ---- A whole document (decode_doc.c): one row of it, `vary` resolved. */
struct lapse_decode_input {
    const lapse_alloc *alloc;
    struct lapse_diag_list *diags;
    const char *file;
    const struct lapse_node *root;
    const char *row_text; /* "[span=5s]", or NULL */
    int32_t row, document;
    int line_begin, line_first, line_last;
    int64_t *budget;
};
/* *ret is the plan, or NULL if there are mistakes. False: memory ran out. */
bool lapse_decode_document(const struct lapse_decode_input *input, struct lapse_plan **ret);
void lapse_decode_free(struct lapse_plan *plan);

/* ---- The words of what was decoded, out of the tables that decode them; NULL: it has none. */
const char *lapse_decode_verb_word(int verb);
const char *lapse_decode_probe_word(enum lapse_probe_kind kind);
const char *lapse_decode_fault_word(enum lapse_fault_kind kind, bool ends);
const char *lapse_decode_pattern_word(enum lapse_pattern_kind kind);
const char *lapse_decode_point_word(enum lapse_point_kind kind);
const char *lapse_decode_action_word(enum lapse_action_kind kind);
const char *lapse_decode_op_word(enum lapse_op op);
const char *lapse_decode_record_word(int64_t kind);
/* `sync` with *ret_value `fail`, or `tear` with NULL. */
const char *lapse_decode_disk_word(enum lapse_disk_fault disk, const char **ret_value);
const char *lapse_decode_chaos_disk_word(enum lapse_disk_fault disk);
/* The answers that `on_WORD` takes; false: the word is no answer of the verb. *ret_rank: 0 an
 * answer, 1 refused, 2 any. */
bool lapse_decode_handled(const struct lapse_word *row, const char *word, uint32_t *ret_mask,
                          int *ret_rank);

/* ---- The node's disk (decode_disk.c). */
void lapse_decode_disk(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault);
void lapse_decode_stall(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_fault *fault);
/* An operator's `backup` or `restore`; false: the word is neither. */
bool lapse_decode_copy(struct lapse_decoder *d, const struct lapse_word *row,
                       const struct lapse_node *map, struct lapse_plan_step *step);
/* Once all lines are known: the copies, and the store that the document needs. */
void lapse_decode_copies_end(struct lapse_decoder *d);
void lapse_decode_disk_store(struct lapse_decoder *d);

#endif
