/* Requests: from the words of a plan step to a command as sent. */
#ifndef SIM_REQUEST_H
#define SIM_REQUEST_H

#include "state.h"

enum { LAPSE_DRAFT_TEXTS_MAX = 3 };

/* A request being made. Its texts are borrowed from plan, history, or from its own blocks. */
struct lapse_sim_draft {
    struct lapse_request request;
    size_t text_count;
    struct {
        void *ptr;
        size_t bytes;
    } texts[LAPSE_DRAFT_TEXTS_MAX];
};

/* Renders a text for firing n. Texts without names in them borrow the plan's bytes; others lie in a
 * block of the draft. OK; ABSENT (*ret_slot is not bound); RANGE, INVALID; NOMEM. */
enum lapse_status lapse_sim_draft_text(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_text *text, int32_t n,
                                       struct lapse_bytes *ret, int32_t *ret_slot);
/* Fills draft->request from a CALL step of `actor`. Same statuses. */
enum lapse_status lapse_sim_draft_call(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_plan_call *call, int32_t actor, int32_t n,
                                       int32_t *ret_slot);
/* A number that is given: of a span, date, revision or token. Same statuses. */
enum lapse_status lapse_sim_operand(struct lapse_world *world, const struct lapse_operand *operand,
                                    int32_t actor, int32_t n, int64_t *ret, int32_t *ret_slot);
void lapse_sim_draft_free(struct lapse_world *world, struct lapse_sim_draft *draft);

#endif
