/* Logs as Jepsen's tools write them, read into problems for the search.
 *
 * Two forms. A log: one line for each sending and each outcome, `PROCESS :TYPE :F VALUE` behind
 * whatever a logger put before it, of one register with :read, :write and :cas. Maps: one
 * `{:process 0, :type :invoke, :f :append, :key "0", :value "x"}` a line, of registers, or of
 * strings with :get, :put and :append, one for each key.
 *
 * The order of lines is the order of time. :ok is an answer; the :fail of a :cas is one as well (it
 * found another value), any other :fail says that nothing happened; after :info, or without an
 * outcome, a call may have taken effect at any later time, or never. */
#ifndef CONTRACTS_JEPSEN_H
#define CONTRACTS_JEPSEN_H

#include "contracts/linear_problem.h"

enum lapse_jepsen_form {
    LAPSE_JEPSEN_NONE = 0, /* none of the two */
    LAPSE_JEPSEN_LOG = 1,
    LAPSE_JEPSEN_MAPS = 2
};

/* What the first line that is not blank looks like. */
enum lapse_jepsen_form lapse_jepsen_detect(struct lapse_bytes text);

/* Reads a log. Each call's `source` is the line of its sending. Returns OK (free *ret); INVALID,
 * with line, column and span in *err; NOMEM. `text` is not borrowed. */
enum lapse_status lapse_jepsen_read(const lapse_alloc *alloc, struct lapse_bytes text,
                                    enum lapse_jepsen_form form, struct lapse_linear_problems *ret,
                                    struct lapse_error *err);

#endif
