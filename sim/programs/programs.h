/* The client programs, one a file. */
#ifndef SIM_PROGRAMS_H
#define SIM_PROGRAMS_H

#include "sim/program.h"

/* Words of `with:`. */
#define WITH_SPAN(name, ns, sentence) \
    { name, LAPSE_PROGRAM_SPAN, ns, NULL, sentence, NULL }
/* 0 says: none. */
#define WITH_SPAN_OR_0(name, ns, sentence) \
    { name, LAPSE_PROGRAM_SPAN, ns, "0", sentence, NULL }
#define WITH_NUMBER(name, number, sentence) \
    { name, LAPSE_PROGRAM_NUMBER, number, NULL, sentence, NULL }
#define WITH_TEXT(takes, name, text, sentence) \
    { name, LAPSE_PROGRAM_##takes, 0, text, sentence, NULL }
#define WITH_LEASES(name, count, many, sentence) \
    { name, LAPSE_PROGRAM_LEASE, many, NULL, sentence, count }
/* What each program has, under these names. */
#define PROGRAM_PARTS \
    .words = words, .word_count = sizeof(words) / sizeof(words[0]), \
    .state_bytes = sizeof(struct state), .begin = begin, .replied = replied

extern const struct lapse_program_kind lapse_program_job_queue;
extern const struct lapse_program_kind lapse_program_job_sweeper;
extern const struct lapse_program_kind lapse_program_observer_lease;
extern const struct lapse_program_kind lapse_program_pool;
extern const struct lapse_program_kind lapse_program_quorum_lock;
extern const struct lapse_program_kind lapse_program_reentrant;
extern const struct lapse_program_kind lapse_program_session;
extern const struct lapse_program_kind lapse_program_waiting_queue;

#endif
