/* A finding: the document of a failure made as small as it goes, and made to pass once what
 * broke is mended, so that it can be kept among scenarios. */
#ifndef FUZZ_FINDING_H
#define FUZZ_FINDING_H

#include "fuzz/trial.h"

struct lapse_finding {
    struct lapse_emitted text; /* empty: the document does not fail */
    bool minimal, needs_fault;
    size_t steps_before, steps, faults; /* lines */
    size_t events_before, events;       /* of the history */
    size_t tries;
};

/* Makes one of the text of a document. `keeps_shape`: nothing of what its clients do is taken away,
 * only what happens to them. OK or NOMEM; free ret->text in both cases. */
enum lapse_status lapse_finding_make(const char *text, size_t bytes, bool keeps_shape,
                                     size_t tries_max, const struct lapse_trial_options *options,
                                     struct lapse_finding *ret);

#endif
