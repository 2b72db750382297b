/* Requests: from the words of a plan step to a command as sent. */
#ifndef SIM_REQUEST_H
#define SIM_REQUEST_H

#include "state.h"

/* Memory that a request in the making needs. */
struct lapse_sim_block {
    struct lapse_sim_block *next;
    size_t bytes; /* of the whole block */
    unsigned char memory[];
};

/* A request being made. Its bytes are borrowed from plan, history, or from its own blocks. */
struct lapse_sim_draft {
    struct lapse_request request;
    struct lapse_sim_block *blocks;
};

/* Renders a text for firing n. Texts without names in them borrow the plan's bytes; others lie in a
 * block of the draft. OK; ABSENT: a name gives nothing that fits (*ret_miss says what); NOMEM. */
enum lapse_status lapse_sim_draft_text(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_text *text, int32_t n,
                                       struct lapse_bytes *ret, struct lapse_sim_miss *ret_miss);
/* Fills draft->request from a CALL step of `actor`. Same statuses, and RANGE. */
enum lapse_status lapse_sim_draft_call(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_plan_call *call, int32_t actor, int32_t n,
                                       struct lapse_sim_miss *ret_miss);
/* A number of the kind that its place takes: NUMBER, SPAN or DATE. A name that gives another kind
 * is a miss. OK, ABSENT, RANGE; INVALID: the plan itself has another kind there. */
enum lapse_status lapse_sim_operand(struct lapse_world *world, const struct lapse_operand *operand,
                                    enum lapse_operand_kind wanted, int32_t actor, int32_t n,
                                    int64_t *ret, struct lapse_sim_miss *ret_miss);
/* Whether all names in a text give something; if not, *ret_miss is the first that does not. */
bool lapse_sim_text_fits(const struct lapse_world *world, const struct lapse_text *text, int32_t n,
                         struct lapse_sim_miss *ret_miss);
/* The slot that a name means in firing n. */
int32_t lapse_sim_slot_of(struct lapse_slot_ref ref, int32_t n);
void lapse_sim_draft_free(struct lapse_world *world, struct lapse_sim_draft *draft);

#endif
