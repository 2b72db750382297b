/* The rule table: each contract as data, and the trackers that rules look at.
 *
 * A tracker believes what the store's accepted answers say; a rule compares the next event with
 * it. For each event the judge runs every rule whose mask has the event's kind: premise first (and
 * counts it), then `holds`. Only after all rules have seen the event do the trackers absorb it.
 * Rules never call the world or the engine. */
#ifndef CONTRACTS_RULE_H
#define CONTRACTS_RULE_H

#include "contracts/history.h"

struct lapse_trackers; /* tracker.h; public to reports */

/* alloc borrowed. Returns OK or NOMEM. The setup comes with the BEGIN event. */
enum lapse_status lapse_trackers_open(const lapse_alloc *alloc, struct lapse_trackers **ret,
                                      struct lapse_error *err);
void lapse_trackers_close(struct lapse_trackers *trackers);
/* Makes ready what the rules see in an event, once for all of them. To be called before a rule is
 * asked about it. OK or NOMEM. */
enum lapse_status lapse_trackers_look(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event);
/* Takes in one event (a pointer into the history, which must outlive the trackers). OK or NOMEM. */
enum lapse_status lapse_trackers_absorb(struct lapse_trackers *trackers,
                                        const struct lapse_history_event *event);
/* One line on what stands under the name or resource that `event` is about: for "= state".
 * Returns buf. */
char *lapse_trackers_describe(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event, char *buf, size_t cap);

enum { LAPSE_VIOLATION_LABELS_MAX = 4, LAPSE_VIOLATION_TEXT_MAX = 200 };

/* A broken promise: the event that broke it with a label, and up to three that set it up. */
struct lapse_violation {
    const char *id;
    char message[LAPSE_VIOLATION_TEXT_MAX]; /* "the report took a write with token 1 after ..." */
    size_t label_count;
    struct {
        int64_t event; /* seq */
        char text[LAPSE_VIOLATION_TEXT_MAX];
    } labels[LAPSE_VIOLATION_LABELS_MAX];
};

struct lapse_rule {
    const char *id;
    uint32_t kinds; /* bit per enum lapse_history_kind */
    /* Whether the contract has something to say of this event. */
    bool (*premise)(const struct lapse_trackers *trackers, const struct lapse_history_event *event);
    /* Called when the premise is true. True, or false with *ret filled (ret->id is set by caller).
     */
    bool (*holds)(const struct lapse_trackers *trackers, const struct lapse_history_event *event,
                  struct lapse_violation *ret);
    /* The verbs (bits by the call's family) whose use makes "never exercised" a finding. */
    uint32_t uses;
};
#define LAPSE_RULE_KIND(kind) (UINT32_C(1) << (kind))

/* What a suite used, for "never exercised" against "not touched". */
enum lapse_use {
    LAPSE_USE_KEYS = 1,  /* a key call */
    LAPSE_USE_TERMS = 2, /* a key with a term */
    LAPSE_USE_IDLE = 4,
    LAPSE_USE_CAS = 8, /* create, update, if_version */
    LAPSE_USE_WATCH = 16,
    LAPSE_USE_MARKERS = 32,
    LAPSE_USE_LEASES = 64,
    LAPSE_USE_LOCK_KEYS = 128,
    LAPSE_USE_RESOURCES = 256,
    LAPSE_USE_BELIEF = 512,  /* careful actors */
    LAPSE_USE_LOOPS = 1024,  /* every, gap */
    LAPSE_USE_RETIME = 2048, /* expire, persist */
    LAPSE_USE_EXTEND = 4096,
    LAPSE_USE_RELEASE = 8192,
    LAPSE_USE_REQUESTS = 16384,   /* request ids */
    LAPSE_USE_RESTARTS = 32768,   /* a store node is started again */
    LAPSE_USE_CLOCKS = 65536,     /* a store node's clock is moved */
    LAPSE_USE_DATES = 131072,     /* expires_at */
    LAPSE_USE_STOPS = 262144,     /* a store node is paused or suspended */
    LAPSE_USE_KEEP = 524288,      /* term: keep */
    LAPSE_USE_EDGES = 1048576,    /* a call was refused as invalid, or out of range */
    LAPSE_USE_WANTS = 2097152,    /* a loop asks for a lease */
    LAPSE_USE_ROLES = 4194304     /* a node of the store leads, or follows */
};

/* All rules, most special first: an event that breaks several is charged to the first. */
const struct lapse_rule *lapse_rule_table(size_t *ret_count);
/* Whether a rule judges this contract, so that a run can break it. An id of the catalogue may have
 * none yet. */
bool lapse_rule_exists(const char *id);
/* Whether what a rule of this contract looks at is seen from outside of a store: calls, beliefs,
 * resources. The others compare decisions. */
bool lapse_rule_needs_no_decision(const char *id);
/* Whether it also judges a store with these policies: LIN-01 does where the model speaks. */
bool lapse_rule_judges(const char *id, const struct lapse_policies *policies);

/* ---- The catalogue: every contract id of the project, rule or not. */
struct lapse_contract {
    const char *id;
    const char *sentence; /* our words */
    const char *source;   /* "002 (KV / Expiry)", "000 (NATS)", "004 (Leases)", "lapse" */
    const char *why;      /* a line or two for `lapse explain`: what goes wrong without it */
};
const struct lapse_contract *lapse_contract_table(size_t *ret_count);
/* The contract with this id, or NULL. */
const struct lapse_contract *lapse_contract_find(const char *id);

#endif
