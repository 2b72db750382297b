/* The entry that fuzzers know: linked with -fsanitize=fuzzer this is a persistent fuzzer under
 * afl-clang-fast, where inputs come through shared memory, and libFuzzer under clang. */
#include "harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    (void)lapse_harness_run(size == 0 ? NULL : data, size);
    return 0;
}
