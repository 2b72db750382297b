/* Emission: plans back to scenario text, and whether two plans are equal.
 *
 * What is written loads to equal plans. It is the plan that is written, not the file it came from:
 * `like` and `vary` are resolved, so a row is a document of its own under its whole name, and what
 * only the reader of the file was told (comments, `about`, `tags`, labels that no fault waits for)
 * is not there. One table of words drives loader and emission (words_table.c). */
#ifndef SCENARIOS_EMIT_H
#define SCENARIOS_EMIT_H

#include "sim/plan.h"

/* A text that grows. */
struct lapse_emitted {
    const lapse_alloc *alloc;
    char *text; /* NUL-terminated; NULL: empty */
    size_t bytes, cap;
};

/* Writes the plans as the documents of one file, parted by `---`. OK; NOMEM; INVALID: the language
 * has no words for what a plan holds (err names the scenario, the step and the thing). Only with OK
 * is *ret filled; free it with lapse_emitted_free. */
enum lapse_status lapse_plans_emit(const lapse_alloc *alloc, const struct lapse_plan *const *plans,
                                   size_t count, struct lapse_emitted *ret,
                                   struct lapse_error *err);
/* As above, and proves it: the text is loaded, and INVALID names the first difference or mistake.
 */
enum lapse_status lapse_plans_emit_proved(const lapse_alloc *alloc,
                                          const struct lapse_plan *const *plans, size_t count,
                                          struct lapse_emitted *ret, struct lapse_error *err);
void lapse_emitted_free(struct lapse_emitted *emitted);

/* Whether two plans say the same. Places, the file, the row and the object as it was written count
 * in nothing; nor do promise_strict and compare_model, which are the runner's. False: err names the
 * first difference by its path ("steps[3].call.ttl.number") with both values. */
bool lapse_plan_equal(const struct lapse_plan *a, const struct lapse_plan *b,
                      struct lapse_error *err);

#endif
