/* Private: one state of a protocol, open and packed.
 *
 * Canonical means: two states from which the same can happen are the same bytes. So there is no
 * date in it: an end is what is left of it, a deadline what is left by its client's own clock, and
 * what has run out is 0 whenever it did. Tokens are ranks: 0 is that of the live grant, and the
 * others are counted from the newest. Clients have no names and are sorted. What nothing can read
 * any more is 0. */
#ifndef EXPLORE_FORM_H
#define EXPLORE_FORM_H

#include "sim/explore.h"

/* A protocol in grains. */
struct scope {
    int32_t clients;
    int32_t span, margin, bound, renew; /* renew 0: when it likes */
    bool careful, fresh_owner, delay, loss, crash, pause;
    bool resource, fenced;
    int32_t faults_max; /* -1: not counted */
    int64_t grain_ns;
    int32_t fresh;      /* the countdown of a success just sent: to the deadline, or to the end */
    int32_t floor;      /* of a countdown: what lies below it is alike */
    size_t words;       /* of a packed state */
    bool stale_is_idle; /* the store has been asked: a call with the token of a grant that is over
                           changes nothing, whatever is held */
};

/* What of a client's is under way to or from the store. */
enum call_kind {
    CALL_NONE = 0,
    CALL_ACQUIRE,
    CALL_EXTEND,
    CALL_RELEASE,
    CALL_GRANTED,  /* the answer to an acquire */
    CALL_EXTENDED, /* the answer to an extend */
    CALL_DENIED    /* a refused extend: the belief will end */
};

struct client {
    bool paused;
    bool believes;
    bool owns;     /* the live grant is this incarnation's */
    uint8_t rem;   /* countdown of the belief, by its own clock */
    uint8_t token; /* rank; of the belief */
    int8_t off;    /* its clock less true time */
    uint8_t call;  /* enum call_kind */
    uint8_t call_rem, call_token;
    uint8_t late;    /* a request that it waits for no longer: ACQUIRE, EXTEND or RELEASE */
    bool late_other; /* sent by an incarnation that is gone */
    uint8_t late_token;
    bool writing; /* a write is under way */
    uint8_t write_token;
};

struct state {
    bool live;       /* a grant is live; no client owns it: an incarnation that is gone */
    uint8_t left;    /* of it */
    bool applied;    /* the resource has applied a write */
    uint8_t highest; /* the highest token that it applied */
    uint8_t faults;
    struct client clients[LAPSE_EXPLORE_CLIENTS_MAX];
};

enum { WORDS_MAX = 1 + LAPSE_EXPLORE_CLIENTS_MAX, RANKS_MAX = 32, RANK_STALE = RANKS_MAX - 2 };

/* Reads a protocol into grains. OK, or INVALID with the word that is wrong (ret_word may be NULL;
 * the text is static). */
enum lapse_status lapse_explore_scope(const struct lapse_plan_explore *protocol, int32_t faults_max,
                                      struct scope *ret, const char **ret_word,
                                      struct lapse_error *err);
/* Whether a client would act now: it believes, it runs, and if careful it is before its deadline.
 */
bool lapse_explore_may_act(const struct scope *scope, const struct client *client);
/* A careful client at its deadline gives up: it sends nothing any more. Only an answer to what it
 * has sent before could move the deadline. */
void lapse_explore_settle(const struct scope *scope, struct client *client);
/* Makes every older token one rank older: a grant has come or gone. */
void lapse_explore_age(const struct scope *scope, struct state *state);
/* Puts a state into canonical form and packs it. ret_order[i] is the client that comes i-th. */
void lapse_explore_pack(const struct scope *scope, struct state *state, uint64_t *ret,
                        uint8_t ret_order[LAPSE_EXPLORE_CLIENTS_MAX]);
void lapse_explore_unpack(const struct scope *scope, const uint64_t *words, struct state *ret);

#endif
