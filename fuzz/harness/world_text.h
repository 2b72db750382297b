/* The text of worlds.yaml, which the build puts into the program: a fuzzer runs in any folder. */
#ifndef FUZZ_WORLD_TEXT_H
#define FUZZ_WORLD_TEXT_H

#include "lapse/base.h"

struct lapse_bytes lapse_world_text(void);

#endif
