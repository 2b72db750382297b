/* A plain model of the store for the tests: arrays, no index, nothing shared with the engine but
 * the types. It answers a call as SEMANTICS reads; the numbers that a store gives are told to it.
 * Not part of any library. */
#ifndef ENGINE_TESTING_MODEL_H
#define ENGINE_TESTING_MODEL_H

#include "testing.h"

enum {
    MODEL_BUCKETS = 2,
    MODEL_KEYS = 4,
    MODEL_NAMES = 3, /* of sessions and of leases */
    MODEL_HISTORY = 4,
    MODEL_SESSIONS_MAX = 4096
};

enum model_end { MODEL_NONE, MODEL_STEADY, MODEL_WALL, MODEL_SESSION };

struct model_record {
    enum lapse_record_kind kind;
    int64_t revision;
    int value;
    enum model_end end_kind;
    int64_t end, span, last, cap; /* cap: an instant, 0: none */
    bool idle, reached;
    int64_t session;
};

/* Records by rising revision, ended ones included until they are written over. */
struct model_key {
    struct model_record records[MODEL_HISTORY];
    size_t count;
};

struct model_bucket {
    struct lapse_bucket_config config;
    struct model_key keys[MODEL_KEYS];
    int64_t revision;
};

struct model_session {
    int64_t end, span;
    int owner;
};

struct model_lease {
    bool held, ephemeral;
    int owner;
    int64_t token, end, session;
};

struct model {
    int64_t now, wall; /* the driver's to move */
    struct model_bucket buckets[MODEL_BUCKETS];
    struct model_session sessions[MODEL_SESSIONS_MAX]; /* by number */
    int64_t current[MODEL_NAMES];                      /* the last number of a name; 0: none */
    struct model_lease leases[MODEL_NAMES];
};

struct model_call {
    enum lapse_verb verb;
    int bucket, key, value;
    unsigned given;
    int64_t term, cap;
    int session; /* its name's place */
    bool has_if_version;
    int64_t if_version;
    int owner;
    int64_t span;
    bool ephemeral, peek;
};

struct model_answer {
    enum lapse_status status;
    int64_t revision, token;
    struct lapse_end end;
    int owner; /* -1: none is told */
    bool renewed;
};

/* Answers the call and changes the model; `given` holds the numbers that the store gave. */
struct model_answer lapse_testing_model_apply(struct model *model, const struct model_call *call,
                                              const struct lapse_result *given);
/* The live value of a key, or NULL. */
const struct model_record *lapse_testing_model_live(const struct model *model, int bucket, int key);
bool lapse_testing_model_record_live(const struct model *model, const struct model_record *record);
/* After each call: the dates that the wall has come to stay reached. */
void lapse_testing_model_reach(struct model *model);
/* The tenure has ended. */
void lapse_testing_model_restart(struct model *model);

#endif
