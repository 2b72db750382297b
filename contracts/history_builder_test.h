/* Small histories for the tests of rules: one world of buckets, actors and a resource, and one
 * helper for each kind of event. A story is a function that appends a history; asked to, it breaks
 * it by one event. */
#ifndef CONTRACTS_HISTORY_BUILDER_TEST_H
#define CONTRACTS_HISTORY_BUILDER_TEST_H

#include "contracts/history.h"
#include "contracts/rule.h"

#define MINUTE (60 * LAPSE_NS_PER_S)
#define SECOND LAPSE_NS_PER_S

/* Actors: w1 and w2 are plain, c1 is careful with a margin of 1 s and has the loop. */
enum { W1 = 0, W2 = 1, C1 = 2 };
enum { REPORT = 0, NO_LOOP = -1, LOOP = 0, SLACK_LOOP = 1 };

/* The rule that looks at every number of a history. A story that is about another one tells only
 * what that one looks at, so this is asked of its own stories alone. */
#define BUILDER_WHOLE "LIN-01"

struct builder {
    struct lapse_history *history;
    int64_t at;                   /* true time and store time: this world's clocks are perfect */
    int64_t calls;                /* ids given so far */
    int32_t loop;                 /* of the next invoke ... */
    int32_t n;                    /* ... and which firing of it */
    struct lapse_grant_ref grant; /* of the next invoke and reply */
    bool looked;                  /* the next invoke: the careful actor looked ... */
    int64_t last_look;            /* ... at this time */
    int64_t durable_point;        /* of the next decision */
};

struct rule_pair {
    const char *id;
    void (*story)(struct builder *b, bool broken);
};

/* A story told once, and the rule that it breaks first. */
struct variant {
    const char *name;
    const char *id; /* NULL: none may be broken */
    void (*story)(struct builder *b);
};
/* Tells each, and fails where another rule is broken first, or none. */
void check_variants(const struct variant *variants, size_t count);

/* A story that breaks nothing, and, with one event changed, this rule first. */
struct twist {
    const char *name;
    const char *id; /* NULL: nothing even then */
    void (*story)(struct builder *b, bool broken);
    enum lapse_sync sync; /* 0: full */
};
void check_twists(const struct twist *twists, size_t count);

/* The story of a rule; NULL: there is none. */
const struct rule_pair *find_pair(const char *id);
const struct rule_pair *kv_pairs(size_t *ret_count);
const struct rule_pair *cas_pairs(size_t *ret_count);
const struct rule_pair *watch_pairs(size_t *ret_count);
const struct rule_pair *lease_pairs(size_t *ret_count);
const struct rule_pair *belief_pairs(size_t *ret_count);
const struct rule_pair *durable_pairs(size_t *ret_count);
const struct rule_pair *time_pairs(size_t *ret_count);
const struct rule_pair *live_pairs(size_t *ret_count);
const struct rule_pair *repl_pairs(size_t *ret_count);
const struct rule_pair *lin_pairs(size_t *ret_count);

/* The world of all stories. Buckets: codes (ttl 15m), plain (no term), idle (idle 30m), marked (ttl
 * 1m, markers), locks (ttl 30s, locks). */
const struct lapse_setup *builder_setup(void);
void builder_open(struct builder *b);
/* The same world with another store. `setup` is borrowed. */
void builder_open_with(struct builder *b, const struct lapse_setup *setup);
void builder_close(struct builder *b);
/* The place, from 1 on, of the first event that breaks a rule, and which; 0: none does.
 * BUILDER_WHOLE is asked only where the story is about it. */
size_t builder_first_broken(const struct builder *b, const char *about,
                            struct lapse_violation *ret);

static inline struct lapse_request key_call(enum lapse_verb verb, const char *bucket,
                                            const char *key) {
    struct lapse_request request = {.verb = (int)verb};
    request.command.verb = verb;
    request.command.bucket = lapse_bytes_of(bucket);
    request.command.key = lapse_bytes_of(key);
    return request;
}

static inline struct lapse_request put_call(enum lapse_verb verb, const char *bucket,
                                            const char *key, const char *value) {
    struct lapse_request request = key_call(verb, bucket, key);
    request.command.u.write.value = lapse_bytes_of(value);
    return request;
}

static inline struct lapse_request versioned(struct lapse_request request, int64_t revision) {
    request.command.u.write.has_if_version = true;
    request.command.u.write.if_version = revision;
    return request;
}

static inline struct lapse_request with_ttl(struct lapse_request request, int64_t ttl_ns) {
    request.command.u.write.term.given = LAPSE_TERM_TTL;
    request.command.u.write.term.ttl.ns = ttl_ns;
    return request;
}

static inline struct lapse_request lease_call(enum lapse_verb verb, const char *name,
                                              const char *owner, int64_t span_ns) {
    struct lapse_request request = key_call(verb, "", name);
    request.command.u.lease.owner = lapse_bytes_of(owner);
    request.command.u.lease.span.ns = span_ns;
    return request;
}

static inline struct lapse_request session_call(enum lapse_verb verb, const char *name,
                                                const char *owner, int64_t span_ns) {
    struct lapse_request request = key_call(verb, "", name);
    request.command.u.session.owner = lapse_bytes_of(owner);
    request.command.u.session.span.ns = span_ns;
    return request;
}

/* The members are borrowed until the call is sent. */
static inline struct lapse_request batch_call(const struct lapse_command *members, size_t count) {
    struct lapse_request request = key_call(LAPSE_VERB_BATCH, "", "");
    request.command.u.batch.count = count;
    request.command.u.batch.commands = members;
    return request;
}

static inline struct lapse_answer answered(const struct builder *b, enum lapse_status status) {
    return (struct lapse_answer){
        .status = status, .at = {b->at}, .wall = {builder_setup()->epoch.ns + b->at}};
}

/* With an end on store time and what is left until it; end 0: none. */
static inline struct lapse_answer until(const struct builder *b, enum lapse_status status,
                                        int64_t end_ns) {
    struct lapse_answer answer = answered(b, status);
    if (end_ns == 0)
        return answer;
    answer.end = (struct lapse_end){.kind = LAPSE_END_STEADY, .ns = end_ns};
    answer.left.ns = end_ns - b->at;
    return answer;
}

static inline struct lapse_answer wrote(const struct builder *b, int64_t revision, int64_t end_ns) {
    struct lapse_answer answer = until(b, LAPSE_OK, end_ns);
    answer.revision = revision;
    return answer;
}

static inline struct lapse_answer read_value(const struct builder *b, const char *value,
                                             int64_t revision, int64_t end_ns) {
    struct lapse_answer answer = wrote(b, revision, end_ns);
    answer.value = lapse_bytes_of(value);
    return answer;
}

static inline struct lapse_answer holds_lease(const struct builder *b, const char *owner,
                                              int64_t token, int64_t end_ns) {
    struct lapse_answer answer = until(b, LAPSE_OK, end_ns);
    answer.owner = lapse_bytes_of(owner);
    answer.has_token = true;
    answer.token = token;
    return answer;
}

static inline struct lapse_event bucket_event(const struct builder *b, enum lapse_event_kind kind,
                                              const struct lapse_command *command,
                                              int64_t revision) {
    struct lapse_event event = {.kind = kind,
                                .bucket = command->bucket,
                                .key = command->key,
                                .revision = revision,
                                .at = {b->at}};
    if (kind == LAPSE_EVENT_PUT)
        event.value = command->u.write.value;
    return event;
}

/* ---- One event each. */
int64_t invoke(struct builder *b, int32_t actor, struct lapse_request request);
void apply(struct builder *b, int64_t call, struct lapse_answer answer);
void emit(struct builder *b, int64_t call, struct lapse_event event);
void reply(struct builder *b, int32_t actor, int64_t call, int verb, struct lapse_answer answer);
void probe(struct builder *b, enum lapse_probe_kind kind, const char *bucket, const char *name,
           int verb, struct lapse_answer answer);
void deliver(struct builder *b, bool first, struct lapse_event event);
void resource(struct builder *b, int32_t actor, int64_t call, enum lapse_status status,
              int64_t token);
void plain_event(struct builder *b, enum lapse_history_kind kind, int32_t actor);
void client_fault(struct builder *b, enum lapse_fault_kind kind, int32_t actor);
void end_client_fault(struct builder *b, enum lapse_fault_kind kind, int32_t actor);

/* The link of an actor and the node is cut both ways, or healed. */
void cut(struct builder *b, enum lapse_history_kind kind, int32_t actor);
/* A fault of the link between it and the node. */
void link_fault(struct builder *b, enum lapse_history_kind kind, enum lapse_fault_kind fault,
                int32_t actor);
/* An event for a watcher of the actor is on its way for so long. */
void late_event(struct builder *b, int32_t actor, int64_t latency_ns);

/* Of the store node n1: a fault begins or ends; its wall is moved; it has done its housekeeping; it
 * begins anew; an observer counts its rows. */
void node_fault(struct builder *b, enum lapse_history_kind kind, enum lapse_fault_kind fault);
void disk_fault(struct builder *b, enum lapse_disk_fault disk);
void wall_step(struct builder *b, int64_t by_ns);
void step(struct builder *b, size_t row_count);
/* Its housekeeping has failed: what it did may be there. */
void failed_step(struct builder *b);
void tenure(struct builder *b, bool machine, int64_t store_ns);
/* Its store does not open, for this reason. */
void does_not_open(struct builder *b, enum lapse_status status);
/* A node leads or follows; epoch, index and digest may be 0 and "". */
void role(struct builder *b, int32_t node, enum lapse_role role, int64_t epoch, int64_t index,
          const char *digest);
void rows(struct builder *b, const char *bucket, int64_t count);

/* ---- Several. INVOKE and APPLY; returns the call. */
int64_t decide(struct builder *b, int32_t actor, struct lapse_request request,
               struct lapse_answer answer);
/* Also the EMIT of an accepted write. */
int64_t accept(struct builder *b, int32_t actor, struct lapse_request request,
               struct lapse_answer answer);
/* INVOKE, APPLY and REPLY. */
int64_t converse(struct builder *b, int32_t actor, struct lapse_request request,
                 struct lapse_answer answer);
/* A plain set or create that is accepted. */
void put(struct builder *b, int32_t actor, const char *bucket, const char *key, const char *value,
         int64_t revision, int64_t end_ns);
/* An acquire that is granted for span_ns. */
void grant(struct builder *b, int32_t actor, const char *name, const char *owner, int64_t span_ns,
           int64_t token);
/* A list that shows these `key=value` pairs; the letters are keys of one byte. */
void list(struct builder *b, const char *bucket, size_t count, const struct lapse_item *items);

#endif
