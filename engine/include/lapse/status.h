/* Statuses: what a call of lapse answers, for every layer of the project.
 *
 * Zero is done. A positive status is an answer that the contracts allow ("absent", "held"): the
 * call was understood, and the state is what the answer says. A negative status is a fault: the
 * call could not be carried out, and the state is as it was before it (but see UNKNOWN).
 *
 * One table gives value, name and sentence. Numbers are never reused and never changed. */
#ifndef LAPSE_STATUS_H
#define LAPSE_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/* X(CONSTANT, value, word, sentence) */
#define LAPSE_STATUS_TABLE(X)                                                                      \
    X(OK, 0, "ok", "the call was done")                                                            \
    X(ABSENT, 1, "absent", "nothing live stands under this name at this instant")                  \
    X(EXISTS, 2, "exists", "a live entry stands under this key already")                           \
    X(CONFLICT, 3, "conflict", "the live entry does not have the revision asked for")              \
    X(HELD, 4, "held", "another owner holds a live grant of this name")                            \
    X(LOST, 5, "lost", "no live grant stands under this name")                                     \
    X(NOT_OWNER, 6, "not_owner", "the live grant is not the one that the call names")              \
    X(FENCED, 7, "fenced", "the token is missing or lower than one the resource has seen")         \
    X(TOO_LATE, 8, "too_late", "a careful client did not send the call: its deadline has come")    \
    X(USED, 9, "used", "the token has been used once already")                                     \
    X(TIMED_OUT, 10, "timed_out", "the waiting time ended before the name was free")               \
    X(GAP, 11, "gap", "events were lost to this watcher; the gap is reported here")                \
    X(NOMEM, -1, "nomem", "memory ran out; nothing was changed")                                   \
    X(IO, -2, "io", "the storage failed; nothing was changed")                                     \
    X(CORRUPT, -3, "corrupt", "stored bytes are not what was written")                             \
    X(INVALID, -4, "invalid", "an argument is not one that the call takes")                        \
    X(RANGE, -5, "range", "a number would leave its range")                                        \
    X(LOCKED, -6, "locked", "another process writes this store")                                   \
    X(VERSION, -7, "version", "the file was made by another program or a newer version")           \
    X(UNAVAILABLE, -8, "unavailable", "the store did not take the call; nothing happened")         \
    X(UNKNOWN, -9, "unknown", "no reply came in time; the call may have taken effect")             \
    X(LIMIT, -10, "limit", "a documented bound was reached; nothing was changed")                  \
    X(BUG, -11, "bug", "lapse found a mistake of its own")

/* The type of every call's outcome. */
enum lapse_status {
#define LAPSE_STATUS_ENUM(id, value, word, sentence) LAPSE_##id = (value),
    LAPSE_STATUS_TABLE(LAPSE_STATUS_ENUM)
#undef LAPSE_STATUS_ENUM
};

/* The word of a status ("not_owner"), or "?" for a number that is none. Static text. */
const char *lapse_status_word(enum lapse_status status);

/* The sentence of a status, without a full stop. Static text. */
const char *lapse_status_sentence(enum lapse_status status);

/* Finds the status whose word is `word`, NUL-terminated. Returns 1 and writes *ret_status, or 0. */
int lapse_status_find(const char *word, enum lapse_status *ret_status);

#ifdef __cplusplus
}
#endif
#endif
