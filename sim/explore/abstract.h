/* Private: what of a state an abstract state keeps. */
#ifndef EXPLORE_ABSTRACT_H
#define EXPLORE_ABSTRACT_H

#include "form.h"

/* The abstract state of a packed one: the same whatever the order of its clients is. */
uint64_t lapse_explore_abstract(const struct scope *scope, const uint64_t *words);

#endif
