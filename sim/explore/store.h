/* Private: the engine under the search.
 *
 * All that the store holds in a protocol is one lease, or none, and the counter of tokens. So its
 * canonical state is: who holds (a client's place, or somebody else) and how much is left. For each
 * there is an image, the bytes of an arena with a store in it that has come to this state: grants
 * are made by calls, then the store is loaded anew from its own rows, as after a restart. To ask
 * is to copy the image in, call the engine, and walk over the rows that are there then.
 *
 * Image and question are the same bytes each time, so the answer is; and what the walk shows beside
 * lease and counter (marks: the dates and numbers of commands) enters answers by differences only.
 * A test follows long paths on one store that is never put back and compares all answers. */
#ifndef EXPLORE_STORE_H
#define EXPLORE_STORE_H

#include "form.h"
#include "lapse/lapse.h"

/* Who is not one of the clients: an incarnation that is gone, holding or asking. */
enum { OWNER_NONE = -2, OWNER_OTHER = -1 };

struct question {
    enum lapse_verb verb; /* ACQUIRE EXTEND RELEASE; REAP: one grain passes, then housekeeping */
    int32_t owner;        /* ACQUIRE: who asks */
    uint8_t token;        /* EXTEND RELEASE: rank of the grant that is named */
};

struct holding {
    int32_t owner; /* OWNER_NONE: nobody */
    int32_t left;  /* grains; 0: nobody */
    bool unreaped; /* nobody, and the row of the last grant is there yet: no call may tell */
};

struct reply {
    enum lapse_status status;
    bool renewed;  /* of an acquire: a grant held already */
    int32_t named; /* the owner whom the answer names; OWNER_NONE: none */
    int64_t token; /* less that of the last grant before; 0: it or none */
    bool has_token;
    int64_t left_ns;      /* as told */
    int64_t end_ns;       /* as told, less now */
    bool whole;           /* what is held then is a whole number of grains, of the full span */
    struct holding after; /* `unreaped`: a row that has ended is there */
    int64_t counter;      /* of tokens, less what it was */
};

struct store;

/* Alloc borrowed. OK, NOMEM, BUG. */
enum lapse_status lapse_explore_store_open(const lapse_alloc *alloc, const struct scope *scope,
                                           struct store **ret, struct lapse_error *err);
void lapse_explore_store_close(struct store *store);
/* Asks the engine in the state `before`. *ret borrows nothing. OK, NOMEM, BUG. */
enum lapse_status lapse_explore_store_ask(struct store *store, struct holding before,
                                          const struct question *question, struct reply *ret,
                                          struct lapse_error *err);
/* How often the engine was asked. */
uint64_t lapse_explore_store_calls(const struct store *store);
/* Bytes of an image, the greatest of those made. */
size_t lapse_explore_store_bytes(const struct store *store);

/* ---- The parts of a question, for who keeps a store of its own. */
/* Fills *command; it borrows from static texts. `last` is the token of the last grant. */
void lapse_explore_store_command(const struct scope *scope, const struct question *question,
                                 int64_t last, struct lapse_command *command);
/* The client whose owner text this is; OTHER: one that is gone; NONE: no text. */
int32_t lapse_explore_store_owner(const struct scope *scope, struct lapse_bytes owner);
/* What is held now, by a walk. BUG: rows are there that the canonical form does not tell. */
enum lapse_status lapse_explore_store_look(const struct scope *scope, const struct lapse *store,
                                           struct reply *ret, struct lapse_error *err);

#endif
