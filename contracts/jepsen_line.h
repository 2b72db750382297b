/* One line of a Jepsen log, taken apart. Private to contracts. */
#ifndef CONTRACTS_JEPSEN_LINE_H
#define CONTRACTS_JEPSEN_LINE_H

#include "contracts/jepsen.h"

enum lapse_jepsen_type {
    LAPSE_JEPSEN_INVOKE = 0,
    LAPSE_JEPSEN_OK,
    LAPSE_JEPSEN_FAIL,
    LAPSE_JEPSEN_INFO,
    LAPSE_JEPSEN_TYPES
};
enum lapse_jepsen_f {
    LAPSE_JEPSEN_READ = 0,
    LAPSE_JEPSEN_WRITE,
    LAPSE_JEPSEN_CAS,
    LAPSE_JEPSEN_GET,
    LAPSE_JEPSEN_PUT,
    LAPSE_JEPSEN_APPEND,
    LAPSE_JEPSEN_FS
};
enum lapse_jepsen_value {
    LAPSE_JEPSEN_NIL = 0,
    LAPSE_JEPSEN_NUMBER,
    LAPSE_JEPSEN_PAIR,
    LAPSE_JEPSEN_TEXT,
    LAPSE_JEPSEN_WORD
};

struct lapse_jepsen_line {
    bool skip; /* blank, or not about a client */
    int64_t process;
    enum lapse_jepsen_type type;
    enum lapse_jepsen_f f;
    struct lapse_bytes key; /* as written, without quotes */
    enum lapse_jepsen_value value;
    int64_t a, b;            /* NUMBER: a; PAIR */
    struct lapse_bytes text; /* TEXT: as written between the quotes; WORD */
    size_t column;           /* of the value, for messages; from 1 */
};

/* Takes a line apart (without its line feed; parts point into it). Returns OK, or INVALID with
 * column and span in *err; the line number is the caller's to add. */
enum lapse_status lapse_jepsen_log_line(struct lapse_bytes line, struct lapse_jepsen_line *ret,
                                        struct lapse_error *err);
enum lapse_status lapse_jepsen_map_line(struct lapse_bytes line, struct lapse_jepsen_line *ret,
                                        struct lapse_error *err);

#endif
