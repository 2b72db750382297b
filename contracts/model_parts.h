/* Private to the model: what it remembers, and what its files share. */
#ifndef CONTRACTS_MODEL_PARTS_H
#define CONTRACTS_MODEL_PARTS_H

#include "contracts/model.h"

#include "chunks.h"

/* Three answers to "is it live": a crash may have left no telling. */
enum lapse_model_state { LAPSE_MODEL_ABSENT = 0, LAPSE_MODEL_LIVE, LAPSE_MODEL_UNSURE };

enum lapse_model_kind {
    LAPSE_MODEL_BUCKET = 1,
    LAPSE_MODEL_KEY,
    LAPSE_MODEL_LEASE,
    LAPSE_MODEL_SESSION,
    LAPSE_MODEL_REQUEST
};

/* How each thing begins: one table finds them all by name. */
struct lapse_model_name {
    struct lapse_model_name *next; /* in its slot */
    enum lapse_model_kind kind;
    const struct lapse_model_bucket *in; /* of a key */
    struct lapse_bytes name;
    uint64_t hash;
    int64_t tenure; /* in which it was last known for sure */
    bool unsure;    /* a call about it may have been done, or not */
};

/* One time that a session's name was opened. */
struct lapse_model_opening {
    int64_t number;
    struct lapse_bytes owner;
    struct lapse_steady end;
    struct lapse_span span;
    bool unsure;
};

struct lapse_model_term {
    enum lapse_why why; /* NONE: no term */
    struct lapse_end end;
    struct lapse_span span;
    struct lapse_steady last;              /* idle: the last write or renewal */
    struct lapse_steady cap;               /* idle: no use moves the end past it; 0: none */
    int64_t renewed;                       /* the tenure of the last renewal; 0: none since it was
                                              made durable */
    int64_t written;                       /* a date: the number of the command that set it */
    struct lapse_model_opening *session;   /* it ends with this; NULL: with none */
};

/* What was written under a key. Never changed: another term makes another record. */
struct lapse_model_record {
    const struct lapse_model_record *older;
    enum lapse_record_kind kind;
    int64_t revision;
    int64_t old_revision; /* of a tombstone or a purge */
    struct lapse_bytes value;
    struct lapse_model_term term;
    int64_t by;
};

/* What a walk has shown of a key: its newest record, and how many values there are. */
struct lapse_model_seen {
    int64_t walk; /* which */
    size_t value_count;
    enum lapse_record_kind kind;
    int64_t revision;
    struct lapse_bytes value; /* borrowed from the store */
    enum lapse_term_source source;
    struct lapse_end end;
    struct lapse_span span;
    bool idle;
    struct lapse_steady last, cap;
    int64_t session; /* the number of its opening; 0: none */
};

struct lapse_model_key {
    struct lapse_model_name name;
    struct lapse_model_key *next; /* of its bucket, in the order of first use */
    bool listed;                  /* in that list */
    const struct lapse_model_record *newest; /* NULL: nothing is kept of it */
    bool marked;    /* the end of the newest has been told */
    bool mark_open; /* or may have been */
    bool older_open; /* what is kept below it hangs on what a crash has left */
    struct lapse_model_seen seen;
};

struct lapse_model_bucket {
    struct lapse_model_name name;
    struct lapse_model_bucket *next;
    struct lapse_bucket_config config;
    bool open;        /* it is there */
    int64_t revision; /* the last one given */
    bool loose;       /* the next one may be any above it */
    struct lapse_model_key **keys; /* not part of what is taken back */
    int64_t walk;
};

struct lapse_model_lease {
    struct lapse_model_name name;
    struct lapse_model_lease *next;
    bool held; /* until its end */
    bool ephemeral;
    struct lapse_bytes owner;
    int64_t token;
    struct lapse_model_term term;
    int64_t by;
    int64_t walk; /* the last that has shown it */
};

struct lapse_model_session {
    struct lapse_model_name name;
    struct lapse_model_session *next;
    struct lapse_model_opening *opening; /* the last; NULL: none */
    int64_t walk;
};

/* A call that took effect under a request id. */
struct lapse_model_request {
    struct lapse_model_name name;
    bool known;
    enum lapse_verb verb;
    uint64_t digest;
    struct lapse_steady at;
    struct lapse_answer answer; /* its batch answers lie in the chunks */
};

/* A reading of the wall by a command; later ones were lower. */
struct lapse_model_peak {
    int64_t seq;
    int64_t wall_ns;
};
struct lapse_model_peaks {
    struct lapse_model_peak *items;
    size_t count, cap;
};

/* What a thing was before the present call. */
struct lapse_model_undo {
    void *thing;
    void *was;
    size_t bytes;
};

struct lapse_model_counters {
    int64_t token, session;
    bool token_loose, session_loose;
};

struct lapse_model {
    const lapse_alloc *alloc;
    struct lapse_policies policies;
    struct lapse_chunks chunks; /* names, records, openings: they stay where they are */
    bool failed;                /* memory ran out */
    struct lapse_steady store;  /* the instant of the present command */
    struct lapse_wall wall;
    int64_t seq;    /* its number */
    int64_t by;     /* the caller's */
    int64_t tenure; /* from 1 */
    struct lapse_steady tenure_store;
    int64_t lost_before; /* what was last known in an earlier tenure may be gone */
    struct lapse_model_peaks known, possible;
    struct lapse_model_name **slots;
    size_t slot_count, name_count;
    struct lapse_model_bucket *buckets;
    struct lapse_model_lease *leases;
    struct lapse_model_session *sessions;
    struct lapse_model_counters counters;
    struct lapse_model_undo *undo;
    size_t undo_count, undo_cap;
    struct lapse_item *items; /* of the present answer */
    size_t item_count, item_cap;
    struct lapse_batch_answer *answers;
    size_t answer_cap;
    struct lapse_event *events; /* that the present call must write */
    size_t event_count, event_cap, event_next;
    bool events_open; /* it may write others */
    int64_t walk;     /* numbers the walks of the live view */
    int64_t walk_token, walk_session;  /* the counters that the present one has shown */
    struct lapse_model_difference odd; /* the first row of it that cannot be */
    bool is_odd;
};

/* ---- model.c */
/* Memory that lasts as long as the model. NULL: `failed` is set. */
void *lapse_model_take(struct lapse_model *model, size_t bytes);
/* Called before a thing is changed: a refused batch, or an answer that was not told, takes it
 * back. */
void lapse_model_touch(struct lapse_model *model, void *thing, size_t bytes);
void lapse_model_take_back(struct lapse_model *model);
/* Room for one more of an array. False: `failed` is set. */
bool lapse_model_grow(struct lapse_model *model, void *array, size_t *cap, size_t count,
                      size_t item_bytes);
/* The command's own answer: its times alone. */
struct lapse_answer lapse_model_plain(const struct lapse_model *model, enum lapse_status status);
/* Carries out one command that is not a batch. */
void lapse_model_run(struct lapse_model *model, const struct lapse_command *command,
                     const struct lapse_answer *told, struct lapse_model_answer *ret);

/* ---- model_names.c: by name, made if `make`; NULL: there is none, or no memory. */
struct lapse_model_bucket *lapse_model_bucket(struct lapse_model *model, struct lapse_bytes name,
                                              bool make);
struct lapse_model_key *lapse_model_key(struct lapse_model *model,
                                        struct lapse_model_bucket *bucket, struct lapse_bytes name,
                                        bool make);
struct lapse_model_lease *lapse_model_lease(struct lapse_model *model, struct lapse_bytes name,
                                            bool make);
struct lapse_model_session *lapse_model_session(struct lapse_model *model, struct lapse_bytes name,
                                                bool make);
struct lapse_model_request *lapse_model_request(struct lapse_model *model, struct lapse_bytes name,
                                                bool make);
/* Whether nothing can be said of it. */
bool lapse_model_unsure(const struct lapse_model *model, const struct lapse_model_name *name);
/* It is known for sure. */
void lapse_model_sure(const struct lapse_model *model, struct lapse_model_name *name);

/* ---- model_args.c: whether a command is refused for its words alone: for their form, which is
 * looked at of all calls of a batch before any is made; or for a term that cannot be, which is
 * looked at when the call's turn comes. */
bool lapse_model_malformed(struct lapse_model *model, const struct lapse_command *command);
bool lapse_model_mistimed(struct lapse_model *model, const struct lapse_command *command);
/* Whether a bucket may have these words. */
bool lapse_model_config_fits(const struct lapse_model *model,
                             const struct lapse_bucket_config *config);

/* ---- model_policy.c */
unsigned lapse_model_policy(const struct lapse_model *model, enum lapse_policy policy);
/* The term that counts as a write's own; NULL: it may have none. */
const struct lapse_term *lapse_model_own_term(const struct lapse_model *model,
                                              const struct lapse_model_bucket *bucket,
                                              const struct lapse_command *command);
/* The term of a write without its own. */
const struct lapse_term *lapse_model_usual_term(const struct lapse_model *model,
                                                const struct lapse_model_bucket *bucket);
/* Whether a write with this term of its own leaves a live key's end as it is. */
bool lapse_model_keeps_end(const struct lapse_model *model, const struct lapse_model_bucket *bucket,
                           const struct lapse_term *own);
/* Brings the end of a key's own ttl into its bucket's bounds. */
void lapse_model_bound_term(const struct lapse_model *model,
                            const struct lapse_model_bucket *bucket,
                            struct lapse_model_term *term);
enum lapse_status lapse_model_nothing_to_release(const struct lapse_model *model);
bool lapse_model_forgets(struct lapse_model *model, const struct lapse_command *command,
                         struct lapse_wall wall);

/* ---- model_term.c */
/* The term of a call from now on: its own, else the bucket's, else none. OK, RANGE or LOST; *ret's
 * session is unsure where that is not known. */
enum lapse_status lapse_model_term_of(struct lapse_model *model, const struct lapse_term *own,
                                      const struct lapse_term *usual,
                                      struct lapse_model_term *ret);
/* A plain span from now on. OK, INVALID or RANGE. */
enum lapse_status lapse_model_span_of(const struct lapse_model *model, struct lapse_span span,
                                      struct lapse_model_term *ret);
enum lapse_model_state lapse_model_term_state(const struct lapse_model *model,
                                              const struct lapse_model_term *term);
/* When it ends, as answers show it, and what is left. */
void lapse_model_show_end(const struct lapse_model *model, const struct lapse_model_term *term,
                          struct lapse_answer *answer);
struct lapse_end lapse_model_end_of(const struct lapse_model_term *term);
struct lapse_span lapse_model_left(const struct lapse_model *model, struct lapse_end end);
/* The wall was read: `sure` by a command that found what has come by then, else perhaps. */
void lapse_model_read_wall(struct lapse_model *model, struct lapse_wall wall, bool sure);

/* ---- model_kv.c, model_read.c */
void lapse_model_write(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_answer *told, struct lapse_model_answer *ret);
void lapse_model_remove(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_answer *told, struct lapse_model_answer *ret);
void lapse_model_retime(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_answer *told, struct lapse_model_answer *ret);
/* Gives a bucket its words; one that is new gives its first revision next. */
void lapse_model_give_words(struct lapse_model_bucket *bucket,
                            const struct lapse_bucket_config *config);
void lapse_model_before_words(struct lapse_model *model, const struct lapse_command *command,
                              struct lapse_wall wall);
void lapse_model_words(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_answer *told, struct lapse_model_answer *ret);
void lapse_model_read(struct lapse_model *model, const struct lapse_command *command,
                      const struct lapse_answer *told, struct lapse_model_answer *ret);
void lapse_model_list(struct lapse_model *model, const struct lapse_command *command,
                      struct lapse_model_answer *ret);
void lapse_model_history(struct lapse_model *model, const struct lapse_command *command,
                         struct lapse_model_answer *ret);
/* Whether a live value stands under the key. */
enum lapse_model_state lapse_model_key_state(const struct lapse_model *model,
                                             const struct lapse_model_key *key);
/* Whether the end of its value has come and its event is still to be written. */
bool lapse_model_owes(const struct lapse_model *model, const struct lapse_model_key *key);
/* The keys of a bucket that are not known to be gone for good. */
void lapse_model_link(struct lapse_model *model, struct lapse_model_key *key);

/* ---- model_lease.c, model_session.c, model_batch.c */
void lapse_model_lease_call(struct lapse_model *model, const struct lapse_command *command,
                            const struct lapse_answer *told, struct lapse_model_answer *ret);
enum lapse_model_state lapse_model_lease_state(const struct lapse_model *model,
                                               const struct lapse_model_lease *lease);
void lapse_model_session_call(struct lapse_model *model, const struct lapse_command *command,
                              const struct lapse_answer *told, struct lapse_model_answer *ret);
/* What is live under a session's name; NULL: nothing. */
struct lapse_model_opening *lapse_model_opening(struct lapse_model *model,
                                                struct lapse_bytes name);
/* Whether a call is about an ephemeral lease that is live. */
bool lapse_model_of_tenure(struct lapse_model *model, const struct lapse_command *command);
void lapse_model_batch(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_answer *told, struct lapse_model_answer *ret);
/* Whether the call was done before under its request id; then *ret is what it must be answered. */
bool lapse_model_recall(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_answer *told, struct lapse_model_answer *ret);
void lapse_model_note(struct lapse_model *model, const struct lapse_command *command,
                      const struct lapse_model_answer *done);

/* ---- model_event.c */
/* The call must write this event. */
void lapse_model_expect(struct lapse_model *model, const struct lapse_event *event);

/* ---- model_compare.c: fills *ret. Returns false, so that `return lapse_model_differ(..)` ends a
 * comparison. */
bool lapse_model_differ(struct lapse_model_difference *ret, const char *what, struct lapse_bytes in,
                        struct lapse_bytes name);
void lapse_model_say(char *text, const char *format, ...) LAPSE_PRINTF(2, 3);
void lapse_model_say_end(char *text, struct lapse_end end);

#endif
