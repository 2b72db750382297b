/* The table of client programs, which the loader, the help and the world look names up in. */
#include "programs.h"

static const struct lapse_program_kind *const programs[] = {
    &lapse_program_job_queue, &lapse_program_job_sweeper, &lapse_program_observer_lease,
    &lapse_program_pool,      &lapse_program_quorum_lock, &lapse_program_reentrant,
    &lapse_program_session,   &lapse_program_waiting_queue,
};

const struct lapse_program_kind *const *lapse_program_table(size_t *ret_count) {
    *ret_count = sizeof(programs) / sizeof(programs[0]);
    return programs;
}

const struct lapse_program_kind *lapse_program_find(const char *name, size_t len) {
    struct lapse_bytes wanted = {(const unsigned char *)name, len};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (lapse_bytes_equal(lapse_bytes_of(programs[i]->name), wanted)) {
            return programs[i];
        }
    }
    return NULL;
}

const struct lapse_program_word *lapse_program_word_find(const struct lapse_program_kind *kind,
                                                         const char *name, size_t len) {
    struct lapse_bytes wanted = {(const unsigned char *)name, len};
    for (size_t i = 0; i < kind->word_count; i++) {
        if (lapse_bytes_equal(lapse_bytes_of(kind->words[i].name), wanted)) {
            return &kind->words[i];
        }
    }
    return NULL;
}
