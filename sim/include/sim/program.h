/* Client programs: what a list of steps should not say, written in C against ordinary calls.
 *
 * A program is a machine that waits: `begin` once an incarnation of its actor runs, then `replied`
 * for each answer, `worked` when its work is over, `fired` for each timer, `told` for each event of
 * its watches. All it does goes through the client machinery that lines use, so beliefs, deadlines
 * of careful actors, faults and the history hold for it as for them. It sees nothing but answers
 * and its actor's own clock. Its state is plain memory of the world, zeroed before each `begin`; a
 * program keeps no other. Handlers are called one at a time, and never from within a call of this
 * header. */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include "contracts/history.h"

struct lapse_program; /* one that runs: made and freed by the world */

enum { LAPSE_PROGRAM_TIMERS_MAX = 16, LAPSE_PROGRAM_TEXT_MAX = 64, LAPSE_PROGRAM_MANY_MAX = 64 };

/* ---- What a program is. */
enum lapse_program_takes {
    LAPSE_PROGRAM_SPAN = 1,
    LAPSE_PROGRAM_NUMBER,   /* 0 .. LAPSE_PROGRAM_MANY_MAX */
    LAPSE_PROGRAM_LEASE,    /* a lease name, or the first part of several */
    LAPSE_PROGRAM_KEY,      /* bucket/key: the bucket is declared */
    LAPSE_PROGRAM_BUCKET,
    LAPSE_PROGRAM_RESOURCE,
    LAPSE_PROGRAM_CARELESS, /* one of the program's mistakes */
    LAPSE_PROGRAM_NAME      /* any text */
};
/* A word of `with:`. */
struct lapse_program_word {
    const char *name;
    enum lapse_program_takes takes;
    int64_t number;   /* unless given: ns of a span, or a number */
    const char *text; /* unless given; NULL: a text that must be given. CARELESS: the mistakes,
                         parted by spaces. SPAN: not NULL where 0 is one */
    const char *sentence;
    const char *count; /* LEASE: the word for how many there are, name/1 and so on; NULL: one. Then
                          `number` is how many unless given */
};
struct lapse_program_reply {
    int tag; /* of the call */
    int verb;
    enum lapse_status status;
    const struct lapse_answer *answer;
    struct lapse_steady sent; /* the actor's steady clock as the call was sent */
};
struct lapse_program_kind {
    const char *name;
    const char *sentence; /* what it does, one line */
    const struct lapse_program_word *words;
    size_t word_count;
    size_t state_bytes;
    void (*begin)(struct lapse_program *program, void *state);
    void (*replied)(struct lapse_program *program, void *state,
                    const struct lapse_program_reply *reply);
    void (*worked)(struct lapse_program *program, void *state, enum lapse_status status);
    void (*fired)(struct lapse_program *program, void *state, int timer);
    void (*told)(struct lapse_program *program, void *state, const struct lapse_event *event);
};
/* All programs, by name; any handler but `begin` may be NULL. */
const struct lapse_program_kind *const *lapse_program_table(size_t *ret_count);
const struct lapse_program_kind *lapse_program_find(const char *name, size_t len);
const struct lapse_program_word *lapse_program_word_find(const struct lapse_program_kind *kind,
                                                         const char *name, size_t len);

/* ---- For programs: what `with:` gives. */
int64_t lapse_program_number(const struct lapse_program *program, const char *name);
struct lapse_span lapse_program_span(const struct lapse_program *program, const char *name);
struct lapse_bytes lapse_program_text(const struct lapse_program *program, const char *name);
/* Whether `careless:` is this word. */
bool lapse_program_careless(const struct lapse_program *program, const char *word);
/* The resource that a word names; -1: the word was not given. */
int32_t lapse_program_resource(const struct lapse_program *program, const char *name);

/* The actor's owner text, of this incarnation. */
struct lapse_bytes lapse_program_owner(const struct lapse_program *program);

/* ---- For programs: calls. Texts are copied. Unused fields are 0. */
struct lapse_program_call {
    int tag;  /* comes back with the reply */
    int verb; /* enum lapse_verb, or LAPSE_CALL_WRITE or LAPSE_CALL_READ */
    struct lapse_bytes name; /* a lease, a session, or bucket/key; a bucket for LIST and WATCH */
    struct lapse_bytes value;
    struct lapse_span span; /* ACQUIRE EXTEND SESSION KEEPALIVE: `for`; SET CREATE UPDATE: `ttl` */
    struct lapse_bytes session;
    bool has_token; /* EXTEND RELEASE WRITE */
    int64_t token;
    bool has_if_version;
    int64_t if_version;
    int32_t resource;
    struct lapse_span timeout; /* 0: none */
};
/* Sends it; the answer, also a refusal to send, comes to `replied` later. */
void lapse_program_send(struct lapse_program *program, const struct lapse_program_call *call);
/* Writes to the resource that the word `resource` names, if any, under this token. */
void lapse_program_write(struct lapse_program *program, int tag, int64_t token);
/* Spends running time, one piece of work at a time. tied: under the grant with this token, if the
 * actor believes in it: it then ends early, `too_late`, with that belief. */
void lapse_program_work(struct lapse_program *program, struct lapse_span span, bool tied,
                        int64_t token);

/* ---- For programs: time, by the actor's steady clock. */
struct lapse_steady lapse_program_now(const struct lapse_program *program);
/* Sets timer 0 .. LAPSE_PROGRAM_TIMERS_MAX - 1 anew. */
void lapse_program_timer_at(struct lapse_program *program, int timer, struct lapse_steady at);
void lapse_program_timer(struct lapse_program *program, int timer, struct lapse_span in);
void lapse_program_timer_stop(struct lapse_program *program, int timer);

/* ---- For programs: a belief of its own making, in what several grants make up together. It ends
 * by the second of these, or with the actor. */
void lapse_program_believe(struct lapse_program *program, struct lapse_bytes name, int64_t token);
void lapse_program_doubt(struct lapse_program *program, struct lapse_bytes name);

/* ---- For programs: their ends. Stopped: by an answer, so its actor's beliefs end if nothing else
 * of it runs. */
void lapse_program_stop(struct lapse_program *program);
void lapse_program_end(struct lapse_program *program);

/* Writes `name`, a slash and a number from 1 into buf; the text is cut to fit. */
struct lapse_bytes lapse_program_numbered(struct lapse_bytes name, int number,
                                          char buf[LAPSE_PROGRAM_TEXT_MAX]);

#endif
