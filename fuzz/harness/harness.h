/* What a harness is: one function over bytes. It may be handed anything, ends the process where a
 * promise of the project is broken, and otherwise tells what it came to as a digest, which must be
 * the same for the same bytes. fuzzer_main.c hands it a fuzzer's inputs, plain_main.c those of
 * files. */
#ifndef FUZZ_HARNESS_H
#define FUZZ_HARNESS_H

#include "lapse/base.h"

/* `data` is NULL iff size is 0. */
uint64_t lapse_harness_run(const unsigned char *data, size_t size);

#endif
