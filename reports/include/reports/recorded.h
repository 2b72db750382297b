/* Recorded histories: JSON lines, one object a line. What lapse writes is complete: read back, it
 * is the same history, event for event. What another recorder writes may be as little as the calls
 * with their times. The format is described in contracts/README.md.
 *
 * Reading trusts nothing: every mistake of the file is told with its place, up to a bound. */
#ifndef REPORTS_RECORDED_H
#define REPORTS_RECORDED_H

#include "reports/report.h"

enum {
    LAPSE_RECORDED_BYTES_MAX = 256 * 1024 * 1024,
    LAPSE_RECORDED_LINE_BYTES_MAX = 40 * 1024 * 1024, /* the largest value, as hexadecimal */
    LAPSE_RECORDED_LINE_VALUES_MAX = 1 << 18, /* of a line, its words counted */
    LAPSE_RECORDED_EVENTS_MAX = LAPSE_HISTORY_EVENTS_MAX,
    LAPSE_RECORDED_MISTAKES_MAX = 50
};

/* What the first line says beside the setup, and the last one. */
struct lapse_recorded_id {
    struct lapse_bytes id;
};
struct lapse_recorded_top {
    int64_t version;
    struct lapse_bytes recorder; /* who wrote it: "lapse", or free text */
    bool promise_strict;
    size_t violates_count; /* contracts that the scenario lists as bound to break */
    const struct lapse_recorded_id *violates;
};
struct lapse_recorded_closing {
    bool given;
    enum lapse_outcome outcome;
    struct lapse_bytes charged; /* the contract, if one was */
    int64_t event;              /* that broke it; -1 */
    int64_t event_count;
    uint64_t digest; /* of all events */
};

/* Appends a whole history. `view` gives history, verdict and case. Returns OK; NOMEM; INVALID: an
 * event has what the format cannot say (err names it; a bug of lapse). */
enum lapse_status lapse_recorded_write(struct lapse_out *out, const struct lapse_result_view *view,
                                       struct lapse_error *err);

/* A history as read. */
struct lapse_recorded {
    struct lapse_diag_list diags; /* the mistakes; if there is one, nothing else is to be used */
    struct lapse_source source;   /* the bytes, borrowed */
    struct lapse_recorded_top top;
    struct lapse_recorded_closing closing;
    const struct lapse_setup *setup;
    struct lapse_history *history;
    struct lapse_case the_case; /* judges by rules alone */
    bool complete;              /* written by lapse, and whole */
    bool cut;                   /* written by lapse, and the closing line is missing */
    bool decisions;             /* some line tells what a store decided */
    void *memory;               /* private */
};

/* The codes of mistakes of recorded histories, for `lapse explain`. */
struct lapse_recorded_code {
    const char *code;  /* "J104" */
    const char *title; /* "a word is missing" */
    const char *more;
};
const struct lapse_recorded_code *lapse_recorded_codes(size_t *ret_count);

/* Whether the bytes, which may be the first of more, look like a recorded history: an object in a
 * line of its own, and another in the next. A scenario may be written as one object. */
bool lapse_recorded_looks(const char *bytes, size_t byte_count);
/* Reads one. name and bytes are borrowed. Returns OK, INVALID (ret->diags says why) or NOMEM; in
 * each case lapse_recorded_free gives back what was taken. */
enum lapse_status lapse_recorded_read(const lapse_alloc *alloc, const char *name, const char *bytes,
                                      size_t byte_count, struct lapse_recorded *ret,
                                      struct lapse_error *err);
void lapse_recorded_free(struct lapse_recorded *recorded);

#endif
