/* Words that only the contracts' own texts need. Private. */
#ifndef CONTRACTS_WORDS_H
#define CONTRACTS_WORDS_H

#include "contracts/expect.h"

const char *lapse_words_of_event(enum lapse_event_kind kind);
const char *lapse_words_of_why(enum lapse_why why);
const char *lapse_words_of_field(enum lapse_field field);

#endif
