/* Expectations as data: what a scenario's author says must be answered, counted or measured.
 *
 * The loader makes them, the plan holds them, the judge evaluates them. Names saved by steps are
 * slots; the world binds them while it runs, and each reply event says which slot it wrote, so the
 * judge can follow a stored history without the world. */
#ifndef CONTRACTS_EXPECT_H
#define CONTRACTS_EXPECT_H

#include "contracts/diag.h"
#include "contracts/history.h"

/* ---- Fields of an answer that can be compared or referred to as $x.field. */
enum lapse_field {
    LAPSE_FIELD_DEFAULT = 0, /* $x alone: token (acquire extend), revision (writes, entry), value */
    LAPSE_FIELD_VALUE,
    LAPSE_FIELD_REV,
    LAPSE_FIELD_END,
    LAPSE_FIELD_LEFT,
    LAPSE_FIELD_KEYS,
    LAPSE_FIELD_COUNT,
    LAPSE_FIELD_OWNER,
    LAPSE_FIELD_TOKEN,
    LAPSE_FIELD_TOOK,
    LAPSE_FIELD_REPEATED, /* TEXT: true or false */
    LAPSE_FIELD_MORE,     /* TEXT: true or false */
    LAPSE_FIELDS
};

/* A saved name: slot `base`, or base + n - 1 where the name holds $n. */
struct lapse_slot_ref {
    int32_t base;
    bool indexed;
    enum lapse_field field;
};

/* ---- Text with names in it: `codes/k$n`, `by-$t1`. */
enum lapse_part_kind { LAPSE_PART_LITERAL = 0, LAPSE_PART_SLOT = 1, LAPSE_PART_N = 2 };
struct lapse_text_part {
    enum lapse_part_kind kind;
    struct lapse_bytes literal;
    struct lapse_slot_ref slot;
};
struct lapse_text {
    size_t part_count; /* 0: the empty text */
    const struct lapse_text_part *parts;
};

/* ---- Numbers and texts that may come from a slot: `15m`, `$t1`, `$t1.end-1ns`, `42`. */
enum lapse_operand_kind {
    LAPSE_OPERAND_NUMBER = 1, /* plain number: revision, token, count */
    LAPSE_OPERAND_SPAN,       /* ns; for `end`: store time from the start */
    LAPSE_OPERAND_DATE,       /* Unix ns */
    LAPSE_OPERAND_NOW,        /* `now+15s`: the actor's wall clock plus `number` ns */
    LAPSE_OPERAND_TEXT,       /* text */
    LAPSE_OPERAND_SLOT,       /* slot, plus `number` */
    LAPSE_OPERAND_ABSENT,     /* the word `absent` (holder) */
    LAPSE_OPERAND_RECORD      /* history: a record that is no value; `number` is its
                                 enum lapse_record_kind */
};
struct lapse_operand {
    enum lapse_operand_kind kind;
    int64_t number;
    struct lapse_text text;
    struct lapse_slot_ref slot;
};

/* ---- Values of slots, kept by whoever follows a run. Copies into its allocator. */
struct lapse_slot {
    bool bound;
    int verb;
    struct lapse_answer answer; /* deep copy, items included */
    void *memory;               /* private */
    size_t memory_bytes;
};
struct lapse_slots {
    const lapse_alloc *alloc;
    size_t count;
    struct lapse_slot *items;
};
enum lapse_status lapse_slots_init(struct lapse_slots *slots, const lapse_alloc *alloc,
                                   size_t count);
void lapse_slots_free(struct lapse_slots *slots);
/* Binds (again) slot `index`. Returns OK or NOMEM (the old value stays). */
enum lapse_status lapse_slots_bind(struct lapse_slots *slots, int32_t index, int verb,
                                   const struct lapse_answer *answer);
/* The slot meant by ref in firing n, or NULL if it is not bound. */
const struct lapse_slot *lapse_slots_find(const struct lapse_slots *slots,
                                          struct lapse_slot_ref ref, int32_t n);

/* A value in hand: of a field, or of an operand. */
struct lapse_value {
    enum lapse_operand_kind kind; /* NUMBER SPAN DATE TEXT ABSENT */
    int64_t number;
    struct lapse_bytes text;
};
/* Reads a field of an answer. False if this verb and status do not fill it. */
bool lapse_answer_field(int verb, const struct lapse_answer *answer, enum lapse_field field,
                        struct lapse_value *ret);
/* Evaluates an operand in firing n, `wall` being the actor's. Text is rendered into buf (cut at
 * cap; the value borrows it). Returns OK; ABSENT: a slot is not bound (*ret_slot names it); RANGE;
 * INVALID: the slot has no such field. */
enum lapse_status lapse_operand_value(const struct lapse_operand *operand,
                                      const struct lapse_slots *slots, int32_t n,
                                      struct lapse_wall wall, char *buf, size_t cap,
                                      struct lapse_value *ret, int32_t *ret_slot);
/* Renders a text; *ret_len is its whole length, also when it was cut at cap. Same statuses. */
enum lapse_status lapse_text_render(const struct lapse_text *text, const struct lapse_slots *slots,
                                    int32_t n, char *buf, size_t cap, size_t *ret_len,
                                    int32_t *ret_slot);

/* ---- Comparisons. Two numbers, spans or dates compare as such. A text meets a number as its text,
 * byte for byte for eq, ne and in; for lt, le, gt and ge two texts that are whole decimal numbers
 * (an optional minus and digits, within int64) compare as numbers, others in byte order. */
enum lapse_op {
    LAPSE_OP_EQ = 1,
    LAPSE_OP_NE,
    LAPSE_OP_LT,
    LAPSE_OP_LE,
    LAPSE_OP_GT,
    LAPSE_OP_GE,
    LAPSE_OP_IN
};
struct lapse_compare {
    enum lapse_field field;
    enum lapse_op op;
    size_t operand_count; /* 1, but any number for IN (and for KEYS EQ: the keys in order) */
    const struct lapse_operand *operands;
    struct lapse_place place;
};

/* ---- One event asked for by `events:`. Fields not given are not compared. */
struct lapse_event_expect {
    enum lapse_event_kind kind;
    struct lapse_text bucket, key; /* GAP: empty */
    bool has_at, has_rev, has_why;
    struct lapse_operand at, rev;
    enum lapse_why why;
    struct lapse_place place;
};

/* ---- What a step expects. Kinds can be asked for alone; every member not used is empty. */
enum lapse_expect_kind {
    LAPSE_EXPECT_FIRST = 0, /* nothing written: the verb's first answer */
    LAPSE_EXPECT_ANY,       /* one of `words`: an answer, or a value */
    LAPSE_EXPECT_KEYS,      /* exactly these keys in this order: `operands`. Of HISTORY: exactly
                               these records, oldest first: TEXT a value, or RECORD */
    LAPSE_EXPECT_FIELDS, /* answer `words[0]` if word_count is 1, else the first; and `compares` */
    LAPSE_EXPECT_IS,     /* observers: `compares` with field DEFAULT, or LEFT, OWNER */
    LAPSE_EXPECT_WHO,    /* believes, may: exactly these `actors`, rising */
    LAPSE_EXPECT_EVENTS  /* exactly these `events` */
};
struct lapse_expect_word {
    bool is_value;            /* else a status */
    enum lapse_status status; /* the verb's first answer is OK whatever its word */
    struct lapse_operand value;
};
struct lapse_expect {
    enum lapse_expect_kind kind;
    struct lapse_place place; /* of what follows `expect:` / `is:` / `who:` */
    size_t word_count;
    const struct lapse_expect_word *words;
    size_t operand_count;
    const struct lapse_operand *operands;
    size_t compare_count;
    const struct lapse_compare *compares;
    size_t actor_count;
    const int32_t *actors;
    size_t event_count;
    const struct lapse_event_expect *events;
};

/* Whether an answer (or probe) meets an expectation. True; else false with the two sides as text:
 * `ret_expected` and `ret_got`, each LAPSE_EXPECT_TEXT_MAX bytes, and *ret_place, the narrowest
 * place. probe is NULL for a call. `setup` gives names. */
enum { LAPSE_EXPECT_TEXT_MAX = 256 };
struct lapse_expect_context {
    const struct lapse_setup *setup;
    const struct lapse_slots *slots;
    int32_t n;
    struct lapse_wall wall;
};
bool lapse_expect_answer(const struct lapse_expect *expect, int verb,
                         const struct lapse_answer *answer,
                         const struct lapse_expect_context *context, char *ret_expected,
                         char *ret_got, struct lapse_place *ret_place);
bool lapse_expect_probe(const struct lapse_expect *expect, const struct lapse_probe *probe,
                        const struct lapse_expect_context *context, char *ret_expected,
                        char *ret_got, struct lapse_place *ret_place);

/* The word of an answer: OK has one by verb ("granted", "extended", "value", "ok"). */
const char *lapse_answer_word(int verb, enum lapse_status status);

/* ---- Patterns: things that can be counted or must come true. */
enum lapse_pattern_kind {
    LAPSE_PATTERN_GRANTED = 1,
    LAPSE_PATTERN_EXTENDED,
    LAPSE_PATTERN_HELD,
    LAPSE_PATTERN_DENIED, /* a reply denied a belief: it ended by that */
    LAPSE_PATTERN_RELEASED,
    LAPSE_PATTERN_BELIEVES,
    LAPSE_PATTERN_TWO_BELIEVE,
    LAPSE_PATTERN_WRITTEN,
    LAPSE_PATTERN_EXPIRED,
    LAPSE_PATTERN_ACCEPTED,
    LAPSE_PATTERN_FENCED,
    LAPSE_PATTERN_CRASH,
    LAPSE_PATTERN_WAKES,
    LAPSE_PATTERN_STOPPED
};
struct lapse_pattern {
    enum lapse_pattern_kind kind;
    bool key_lock;             /* name is a key of a locks bucket */
    struct lapse_bytes bucket; /* keys: the bucket; name is then the key */
    struct lapse_bytes name;   /* lease name, or key */
    int32_t subject;           /* actor of crash, wakes, stopped; resource of accepted, fenced */
    int32_t by;                /* actor; -1: anyone */
    bool has_at;
    struct lapse_true_time at;
    struct lapse_place place;
};

/* ---- Measures: the first `to` at or after the first `from`; a count; a total time. */
enum lapse_measure_kind {
    LAPSE_MEASURE_BETWEEN = 1,
    LAPSE_MEASURE_COUNT,
    LAPSE_MEASURE_TOTAL /* how long the pattern held: believes, two_believe */
};
struct lapse_measure {
    struct lapse_bytes name;
    enum lapse_measure_kind kind;
    struct lapse_pattern from, to; /* BETWEEN */
    struct lapse_pattern pattern;  /* COUNT TOTAL */
    struct lapse_place place;
};

/* ---- One plan step as the judge sees it; index = step number in events. */
struct lapse_step_check {
    struct lapse_place place;          /* the verb's word and its object */
    struct lapse_place who;            /* the step that a copy has changed; no file: none */
    const char *contract;              /* id that the verb stands for: "KV-01" */
    const char *verb;                  /* its word: "get", "gone" */
    const char *object;                /* as written: "codes/c1" */
    const struct lapse_expect *expect; /* never NULL */
    bool written;                      /* an `expect:` was written (so nothing else will do) */
    const struct lapse_expect *need;   /* the client's own check, which takes any answer; NULL */
    uint32_t handled;                  /* bit (status + 16): an on_... word takes this answer */
    bool must_run;                     /* a line of `steps` or `expect` */
    /* `expect` entries that the judge itself answers: */
    const struct lapse_pattern *count; /* {count: PATTERN, is: N} */
    int32_t measure;                   /* {measured: NAME}: index; -1 */
};
#define LAPSE_HANDLED_BIT(status) (UINT32_C(1) << ((status) + 16))

#endif
