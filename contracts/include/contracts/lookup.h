/* A table of names: which number a text has. Readers of files keep one, so that the work of a file
 * grows with its length and no faster. */
#ifndef CONTRACTS_LOOKUP_H
#define CONTRACTS_LOOKUP_H

#include "lapse/base.h"

/* A table from (kind, text) to a number. It is looked up and never walked, so its order shows
 * nowhere. Texts are borrowed. */
struct lapse_name {
    struct lapse_bytes text;
    int kind; /* 0: the place is free */
    int32_t number;
};
struct lapse_names {
    struct lapse_name *slots;
    size_t count, cap;
};
/* Adds a name that is not there yet; kind > 0. False: memory ran out. */
bool lapse_names_add(const lapse_alloc *alloc, struct lapse_names *names, int kind,
                     struct lapse_bytes text, int32_t number);
/* The number under the name, or -1. */
int32_t lapse_names_find(const struct lapse_names *names, int kind, struct lapse_bytes text);
void lapse_names_free(const lapse_alloc *alloc, struct lapse_names *names);

#endif
