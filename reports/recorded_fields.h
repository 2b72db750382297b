/* The fields of a recorded history as data: one table a kind of event, which the writer and the
 * reader both go by, so that the two cannot drift. Private to reports. */
#ifndef REPORTS_RECORDED_FIELDS_H
#define REPORTS_RECORDED_FIELDS_H

#include "reports/recorded.h"

#include <stddef.h>

enum lapse_rf_kind {
    LAPSE_RF_I32 = 1,
    LAPSE_RF_I64,
    LAPSE_RF_U32,
    LAPSE_RF_U64, /* above int64: text, 0x and hexadecimal digits */
    LAPSE_RF_HEX, /* uint64 as 16 hexadecimal digits */
    LAPSE_RF_SIZE,
    LAPSE_RF_BOOL,
    LAPSE_RF_BIT,  /* a bit of an unsigned, as true or false */
    LAPSE_RF_TIME, /* ns, int64; a duration as text is read too */
    LAPSE_RF_DATE, /* Unix ns, int64; a date as text is read too */
    LAPSE_RF_RATE, /* ppb, int64; "200ppm" is read too */
    LAPSE_RF_BYTES,
    LAPSE_RF_WORD,   /* an enum; `words` are its words by number */
    LAPSE_RF_STATUS, /* enum lapse_status; an answer's own word is read too ("granted") */
    LAPSE_RF_VERB,   /* int or enum lapse_verb */
    LAPSE_RF_END,    /* struct lapse_end: ns of store time, or {"date": ns} */
    LAPSE_RF_ACTOR,  /* int32_t, by name; absent: -1 */
    LAPSE_RF_NODE,
    LAPSE_RF_RESOURCE,
    LAPSE_RF_PARTY,    /* struct lapse_party: {"actor": name} or node or resource */
    LAPSE_RF_INLINE,   /* the fields of `table`, in this very map */
    LAPSE_RF_OBJECT,   /* a map of the fields of `table`; absent iff all of them are zero */
    LAPSE_RF_LIST,     /* of maps of `table` */
    LAPSE_RF_ACTORS,   /* a list of int32_t, by name */
    LAPSE_RF_COUNT,    /* the count of a list that is not there: a number without the items */
    LAPSE_RF_POLICIES, /* of struct lapse_setup: those in which it differs from its profile */
    LAPSE_RF_REQUEST,  /* struct lapse_request: its verb and what that takes */
    LAPSE_RF_COMMAND,  /* struct lapse_command: the same, in a batch */
    LAPSE_RF_LIFE,     /* the incarnation: absent, 1 of an actor and 0 of none */
    LAPSE_RF_DUE       /* absent: the event's own time */
};

/* MUST: written and asked for always. SHORT, of OBJECT and LIST: the value of the first field of
 * the table alone will do, where all others are absent. KEPT, of LIST: an empty one is not none.
 * ALWAYS: written always, and not asked for. */
enum { LAPSE_RF_MUST = 1, LAPSE_RF_SHORT = 2, LAPSE_RF_KEPT = 4, LAPSE_RF_ALWAYS = 8 };

struct lapse_rf {
    const char *word;
    enum lapse_rf_kind kind;
    unsigned how;
    size_t at;                    /* offset of the value */
    size_t flag;                  /* 1 + offset of what says that it is given; 0: nothing does */
    unsigned bit;                 /* 0: the flag is a bool; else this bit of an unsigned */
    int64_t absent;               /* what the value is where the word is not there */
    const struct lapse_rf *table; /* INLINE OBJECT LIST; ends with an entry without word */
    const char *const *words;     /* WORD: NULL for a number without one; ends with "" */
    size_t count;                 /* LIST ACTORS COUNT: offset of the size_t */
    size_t item_bytes;            /* LIST */
};

/* The tables. */
extern const struct lapse_rf lapse_rf_setup[];   /* of struct lapse_setup */
extern const struct lapse_rf lapse_rf_top[];     /* of struct lapse_recorded_top */
extern const struct lapse_rf lapse_rf_closing[]; /* of struct lapse_recorded_closing */
extern const struct lapse_rf lapse_rf_head[];    /* of struct lapse_history_event, of every kind */
extern const struct lapse_rf lapse_rf_call[];    /* of struct lapse_recorded_call */
/* Of struct lapse_history_event, of one kind; NULL: no line has it. */
const struct lapse_rf *lapse_rf_of_kind(int kind);
/* Of struct lapse_command, or, for the verbs that are no store's, of struct lapse_request. */
const struct lapse_rf *lapse_rf_of_verb(int verb);

/* What one line of a whole call says: two events. */
struct lapse_recorded_call {
    struct lapse_history_event invoke, reply;
    bool replied;
};

/* ---- A map about to be written or read: all its fields with the objects that they are in. */
enum { LAPSE_RF_FIELDS_MAX = 48 };
struct lapse_rf_place {
    const struct lapse_rf *field;
    char *base;
};
struct lapse_rf_map {
    struct lapse_rf_place items[LAPSE_RF_FIELDS_MAX];
    size_t count;
};
/* Adds the fields of a table; of a REQUEST or COMMAND those that its verb takes, so the verb is set
 * before. */
void lapse_rf_map_add(struct lapse_rf_map *map, const struct lapse_rf *table, void *base);

/* ---- Reaching into an object. */
int64_t lapse_rf_number(const struct lapse_rf *field, const char *base);
void lapse_rf_number_set(const struct lapse_rf *field, char *base, int64_t number);
bool lapse_rf_flag(const struct lapse_rf *field, const char *base);
void lapse_rf_flag_set(const struct lapse_rf *field, char *base);
/* Whether every field of the table is zero. */
bool lapse_rf_zero(const struct lapse_rf *table, const char *base);
/* Whether a field has the value that stands for a word that is not there. */
bool lapse_rf_absent(const struct lapse_rf *field, const char *base);

/* The word of a verb, from both tables; 0: none has it. */
int lapse_rf_verb_find(const char *word);
/* All of them, from 0; NULL: no more. */
const char *lapse_rf_verb_word(size_t index);
/* The words of kinds of events, by number; NULL: no line has it. */
const char *lapse_rf_kind_word(int kind);

#endif
