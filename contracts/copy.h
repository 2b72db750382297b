/* Deep copies of what a history holds. Each function walks all borrowed memory of one object. With
 * `base` NULL it only counts the bytes; with `base` set it moves the content there and redirects
 * the pointers. So a copy is: count, take so much memory, walk again. Private to contracts. */
#ifndef CONTRACTS_COPY_H
#define CONTRACTS_COPY_H

#include "contracts/history.h"

struct lapse_copy {
    unsigned char *base; /* NULL: count only; else aligned for any object */
    size_t used;
};

void lapse_copy_bytes(struct lapse_copy *copy, struct lapse_bytes *bytes);
void lapse_copy_answer(struct lapse_copy *copy, struct lapse_answer *answer);
void lapse_copy_event(struct lapse_copy *copy, struct lapse_history_event *event);

#endif
