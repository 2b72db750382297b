/* Records as calls on a store: every verb that a client has, over few names, so that calls meet. */
#ifndef FUZZ_CALLS_H
#define FUZZ_CALLS_H

#include "lapse/command.h"
#include "producer.h"

/* A record that is made a member of a batch keeps its verb and arguments: they stand behind a head
 * of so many bytes, which says when, what and under which id, and with the kind of call. */
enum { LAPSE_CALLS_BUCKETS = 3, LAPSE_CALLS_BATCH_MAX = 4, LAPSE_CALLS_HEAD_BYTES = 5 };

/* What a call may refer to. */
struct lapse_calls_state {
    int64_t wall_ns;         /* what the wall reads */
    int64_t revision, token; /* of the last answer that told one */
};

/* The name of bucket `index`; the one past the last is declared by nobody. */
struct lapse_bytes lapse_calls_bucket(int index);
/* A bucket's words. */
struct lapse_bucket_config lapse_calls_words(struct lapse_producer *producer);
/* The call of the record in hand; a batch takes the records that follow as its members, which are
 * written to `members` (LAPSE_CALLS_BATCH_MAX of them). All bytes in it are constants. */
struct lapse_command lapse_calls_next(struct lapse_producer *producer,
                                      const struct lapse_calls_state *state,
                                      struct lapse_command *members);

#endif
