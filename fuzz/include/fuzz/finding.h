/* A finding: the document of a failure made as small as it goes, and made to pass once what
 * broke is mended, so that it can be kept among scenarios. */
#ifndef FUZZ_FINDING_H
#define FUZZ_FINDING_H

#include "fuzz/shrink.h"

/* Makes one of the text of a document, and says why it fails. `keeps_shape`: nothing of what its
 * clients do is taken away, only what happens to them. ret->fails is false where it does not fail,
 * or is no document. OK or NOMEM; free *ret with lapse_shrunk_free in both cases. */
enum lapse_status lapse_finding_make(const char *text, size_t bytes, bool keeps_shape,
                                     const struct lapse_shrink_options *options,
                                     struct lapse_shrunk *ret);

#endif
