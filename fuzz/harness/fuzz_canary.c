/* Must fail: a promise that four bytes break, each a branch of its own. A fuzzer that does not find
 * them within seconds, or a driver that does not tell, finds nothing elsewhere either. */
#include "harness.h"

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    if (size < 4 || data[0] != 'b') {
        return 0;
    }
    if (data[1] != 'i') {
        return 1;
    }
    if (data[2] != 'r') {
        return 2;
    }
    LAPSE_ASSERT(data[3] != 'd');
    return 3;
}
