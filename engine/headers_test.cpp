/* The public headers are C++ too: every one compiles, each alone first, and links as C. */
#include "lapse/policy.h"
#include "lapse/sqlite.h"
#include "lapse/lapse.h"
#include "lapse/journal.h"
#include "lapse/command.h"
#include "lapse/clock.h"
#include "lapse/time.h"
#include "lapse/base.h"
#include "lapse/status.h"

int main() {
    struct lapse_clock_manual clock;
    struct lapse_wall epoch = {0};
    lapse_clock_manual_init(&clock, epoch);
    struct lapse_options options = {};
    options.clock = lapse_clock_manual_vtable(&clock);
    struct lapse *store = nullptr;
    if (lapse_open(&options, &store, nullptr) != LAPSE_OK) {
        return 1;
    }
    struct lapse_result result;
    lapse_result_init(&result, nullptr);
    struct lapse_span span = {1};
    enum lapse_status status = lapse_acquire(store, lapse_bytes_of("n"), lapse_bytes_of("w"), span,
                                             &result, nullptr);
    bool right = status == LAPSE_OK && result.token == 1;
    lapse_result_free(&result);
    lapse_close(store);
    return right ? 0 : 1;
}
