/* The scene: what patterns and messages need to remember of the events so far. It notes which call
 * an event belongs to, who created which key of a locks bucket, who believes in what, and which
 * step last set up each name. It judges nothing; the trackers do that. Private to the judge. */
#ifndef CONTRACTS_SCENE_H
#define CONTRACTS_SCENE_H

#include "contracts/expect.h"

/* What an accepted call left under a name. */
struct lapse_stand {
    const struct lapse_history_event *event; /* the APPLY; NULL: nothing yet */
    int verb;
    int32_t actor; /* who called */
    bool live;
    struct lapse_end end;
};

struct lapse_scene_name {
    bool lease;
    struct lapse_bytes bucket, name;
    struct lapse_stand now, before;
    int32_t creator, incarnation; /* of a key in a locks bucket; -1: none */
};

struct lapse_scene_call {
    int64_t call;
    const struct lapse_history_event *invoke;
};

struct lapse_scene_belief {
    bool key_lock;
    uint64_t hash; /* of the name: there may be very many */
    struct lapse_bytes name;
    int32_t actor;
};

struct lapse_scene_actor {
    unsigned held; /* a bit per enum lapse_fault_kind: pause, suspend, freeze */
    bool crashed;
    bool woke; /* a pause ended */
    struct lapse_true_time woke_at;
};

struct lapse_scene {
    const lapse_alloc *alloc;
    const struct lapse_setup *setup; /* NULL before BEGIN */
    struct lapse_scene_call *calls;  /* rising by id */
    size_t call_count, calls_cap;
    struct lapse_scene_name *names;
    size_t name_count, names_cap;
    uint32_t *index; /* hash table of 1 + index in names; 0: free */
    size_t index_cap;
    struct lapse_scene_belief *beliefs; /* those that stand */
    size_t belief_count, beliefs_cap;
    struct lapse_scene_actor *actors;
    const struct lapse_history_event **writes;        /* by resource: the last accepted write ... */
    const struct lapse_history_event **writes_before; /* ... and the one before it */
};

/* What one event is, in the words of patterns. */
struct lapse_fact {
    uint32_t kinds; /* bit per enum lapse_pattern_kind */
    bool key_lock;
    struct lapse_bytes bucket, name;
    int32_t actor;
    int32_t subject;
};
#define LAPSE_FACT(kind) (UINT32_C(1) << (kind))

void lapse_scene_init(struct lapse_scene *scene, const lapse_alloc *alloc);
void lapse_scene_free(struct lapse_scene *scene);
/* Takes in one event, which must stay where it is, and says what it was. OK or NOMEM. */
enum lapse_status lapse_scene_absorb(struct lapse_scene *scene,
                                     const struct lapse_history_event *event,
                                     struct lapse_fact *ret);
/* The INVOKE of a call, or NULL. */
const struct lapse_history_event *lapse_scene_invoke(const struct lapse_scene *scene, int64_t call);
const struct lapse_scene_name *lapse_scene_find(const struct lapse_scene *scene, bool lease,
                                                struct lapse_bytes bucket, struct lapse_bytes name);
/* The number of this bucket in setup if its keys are locks; -1 if not. */
int32_t lapse_scene_locks(const struct lapse_scene *scene, struct lapse_bytes bucket);
/* Whether a verb is of a key, or of a lease. */
bool lapse_verb_is_key(int verb);
bool lapse_verb_is_lease(int verb);

#endif
