/* The set of all states as a file, and back. Lines are read strictly: what another program wrote,
 * or half of a file, is never taken for a smaller set. */
#include "fuzz/reach.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 1, HEX_DIGITS = 16, LINE_MAX_BYTES = 2048, DECIMAL_MAX = 10 };

struct scan {
    const char *text;
    size_t bytes, at;
    const char *line; /* of `len` bytes, with no newline */
    size_t len;
    int number;
    bool cut; /* no newline ends it */
    struct lapse_error *err;
};

static void put(struct lapse_emitted *out, bool *good, const char *format, ...)
    LAPSE_PRINTF(3, 4);
static uint64_t digest_of(const char *text, size_t bytes);
static enum lapse_status read_head(struct scan *scan, const lapse_alloc *alloc,
                                   struct lapse_reach *reach);
static enum lapse_status read_all(struct scan *scan, struct lapse_reach *reach);
static enum lapse_status read_state(struct scan *scan, struct lapse_reach *reach);
static enum lapse_status read_move(struct scan *scan, struct lapse_reach *reach);
static enum lapse_status read_end(struct scan *scan);
static bool next_line(struct scan *scan);
static bool take(const char **at, const char *end, const char *word);
static bool take_hex(const char **at, const char *end, uint64_t *ret);
static bool take_number(const char **at, const char *end, uint64_t *ret);
static enum lapse_status damaged(struct scan *scan, const char *wanted);

enum lapse_status lapse_reach_write(const struct lapse_reach *reach, struct lapse_emitted *ret) {
    bool good = true;
    *ret = (struct lapse_emitted){.alloc = reach->alloc};
    put(ret, &good, "lapse-states %d %s %016" PRIx64 "\n", VERSION,
        reach->protocol ? "protocol" : "scenario", reach->digest);
    put(ret, &good, "states %zu transitions %zu\n", reach->states.count, reach->moves.count);
    for (size_t i = 0; i < reach->states.count && good; i++) {
        put(ret, &good, "s %016" PRIx64 " %s\n", reach->states.keys[i],
            lapse_reach_tell(reach, i));
    }
    for (size_t i = 0; i < reach->moves.count && good; i++) {
        put(ret, &good, "t %" PRIu32 " %" PRIu32 "\n", (uint32_t)(reach->moves.keys[i] >> 32),
            (uint32_t)reach->moves.keys[i]);
    }
    put(ret, &good, "end %016" PRIx64 "\n", digest_of(ret->text, ret->bytes));
    if (!good) {
        lapse_emitted_free(ret);
    }
    return good ? LAPSE_OK : LAPSE_NOMEM;
}

enum lapse_status lapse_reach_read(const lapse_alloc *alloc, const char *text, size_t bytes,
                                   struct lapse_reach *ret, struct lapse_error *err) {
    struct scan scan = {.text = text, .bytes = bytes, .err = err};
    enum lapse_status status = read_head(&scan, alloc, ret);
    if (status == LAPSE_OK) {
        status = read_all(&scan, ret);
    }
    if (status == LAPSE_NOMEM) {
        (void)lapse_error_set(err, status, "no memory for a file of states");
    }
    if (status != LAPSE_OK) {
        lapse_reach_free(ret);
    }
    return status;
}

static void put(struct lapse_emitted *out, bool *good, const char *format, ...) {
    char text[LINE_MAX_BYTES];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    LAPSE_ASSERT(len > 0 && (size_t)len < sizeof text);
    void *grown = out->text;
    *good = *good && lapse_alloc_grow(out->alloc, &grown, &out->cap,
                                      out->bytes + (size_t)len + 1, 1);
    if (*good) {
        out->text = grown;
        memcpy(out->text + out->bytes, text, (size_t)len + 1);
        out->bytes += (size_t)len;
    }
}

static uint64_t digest_of(const char *text, size_t bytes) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_digest_bytes(&digest, (struct lapse_bytes){(const unsigned char *)text, bytes});
    return lapse_digest_value(&digest);
}

static enum lapse_status read_head(struct scan *scan, const lapse_alloc *alloc,
                                   struct lapse_reach *reach) {
    uint64_t version = 0, digest = 0;
    lapse_reach_init(reach, alloc, false, 0);
    bool line = next_line(scan);
    const char *at = scan->line, *end = scan->line + scan->len;
    if (!line || !take(&at, end, "lapse-states ") || !take_number(&at, end, &version)) {
        return lapse_error_set(scan->err, LAPSE_INVALID,
                               "it is no file of states, whose first line begins with "
                               "`lapse-states %d`; write one with `lapse explore FILE --states "
                               "STATES`",
                               VERSION);
    }
    if (version != VERSION || (at < end && *at != ' ')) {
        return lapse_error_set(scan->err, LAPSE_VERSION,
                               "it is of another version than %d, which is the reader's; write it "
                               "anew with `lapse explore FILE --states STATES`",
                               VERSION);
    }
    bool protocol = take(&at, end, " protocol ");
    if ((!protocol && !take(&at, end, " scenario ")) || !take_hex(&at, end, &digest) ||
        at != end) {
        return damaged(scan, "`protocol` or `scenario`, and a digest");
    }
    lapse_reach_init(reach, alloc, protocol, digest);
    return LAPSE_OK;
}

static enum lapse_status read_all(struct scan *scan, struct lapse_reach *reach) {
    uint64_t states = 0, moves = 0;
    bool line = next_line(scan);
    const char *at = scan->line, *end = scan->line + scan->len;
    if (!line || !take(&at, end, "states ") || !take_number(&at, end, &states) ||
        !take(&at, end, " transitions ") || !take_number(&at, end, &moves) || at != end) {
        return damaged(scan, "`states N transitions M`");
    }
    if (states == 0) {
        return lapse_error_set(scan->err, LAPSE_INVALID,
                               "it tells of no state, so there is nothing to count against");
    }
    if (states > LAPSE_REACH_STATES_MAX || moves > LAPSE_REACH_MOVES_MAX) {
        return lapse_error_set(scan->err, LAPSE_INVALID,
                               "it tells of %" PRIu64 " states and %" PRIu64 " transitions, and "
                               "there are %d and %d at most",
                               states, moves, (int)LAPSE_REACH_STATES_MAX,
                               (int)LAPSE_REACH_MOVES_MAX);
    }
    enum lapse_status status = LAPSE_OK;
    for (uint64_t i = 0; i < states && status == LAPSE_OK; i++) {
        status = read_state(scan, reach);
    }
    for (uint64_t i = 0; i < moves && status == LAPSE_OK; i++) {
        status = read_move(scan, reach);
    }
    return status == LAPSE_OK ? read_end(scan) : status;
}

static enum lapse_status read_state(struct scan *scan, struct lapse_reach *reach) {
    uint64_t state = 0;
    uint32_t place;
    bool is_new;
    bool line = next_line(scan);
    const char *at = scan->line, *end = scan->line + scan->len;
    if (!line || !take(&at, end, "s ") || !take_hex(&at, end, &state) || !take(&at, end, " ") ||
        memchr(at, '\0', (size_t)(end - at)) != NULL) {
        return damaged(scan, "`s`, the number of a state and its words");
    }
    enum lapse_status status = lapse_reach_state(reach, state, &place, &is_new);
    if (status == LAPSE_OK && !is_new) {
        return damaged(scan, "a state that is not there yet");
    }
    return status == LAPSE_OK ? lapse_reach_words(reach, at, (size_t)(end - at)) : status;
}

static enum lapse_status read_move(struct scan *scan, struct lapse_reach *reach) {
    uint64_t from = 0, to = 0;
    size_t before = reach->moves.count;
    bool line = next_line(scan);
    const char *at = scan->line, *end = scan->line + scan->len;
    if (!line || !take(&at, end, "t ") || !take_number(&at, end, &from) || !take(&at, end, " ") ||
        !take_number(&at, end, &to) || at != end || from >= reach->states.count ||
        to >= reach->states.count) {
        return damaged(scan, "`t` and the places of two states");
    }
    enum lapse_status status = lapse_reach_move(reach, (uint32_t)from, (uint32_t)to);
    return status == LAPSE_OK && reach->moves.count == before
               ? damaged(scan, "a transition that is not there yet")
               : status;
}

static enum lapse_status read_end(struct scan *scan) {
    uint64_t digest = 0, wanted = digest_of(scan->text, scan->at);
    bool line = next_line(scan);
    const char *at = scan->line, *end = scan->line + scan->len;
    if (!line || !take(&at, end, "end ") || !take_hex(&at, end, &digest) || at != end ||
        scan->at != scan->bytes) {
        return damaged(scan, "`end` and a digest, and nothing behind it");
    }
    return digest == wanted ? LAPSE_OK
                            : lapse_error_set(scan->err, LAPSE_INVALID,
                                              "its digest is %016" PRIx64 ", and its lines have "
                                              "%016" PRIx64 ": it was changed; write it anew",
                                              digest, wanted);
}

/* A line ends with a newline: one that does not was cut. */
static bool next_line(struct scan *scan) {
    const char *from = scan->text + scan->at;
    size_t left = scan->bytes - scan->at;
    const char *newline = left > 0 ? memchr(from, '\n', left) : NULL;
    scan->number++;
    scan->line = from;
    scan->len = 0;
    scan->cut = newline == NULL;
    if (newline == NULL) {
        return false;
    }
    scan->len = (size_t)(newline - from);
    scan->at += scan->len + 1;
    return true;
}

static bool take(const char **at, const char *end, const char *word) {
    size_t len = strlen(word);
    bool there = (size_t)(end - *at) >= len && memcmp(*at, word, len) == 0;
    *at += there ? len : 0;
    return there;
}

static bool take_hex(const char **at, const char *end, uint64_t *ret) {
    static const char digits[] = "0123456789abcdef";
    *ret = 0;
    for (int i = 0; i < HEX_DIGITS; i++) {
        const char *digit = *at < end && **at != '\0' ? strchr(digits, **at) : NULL;
        if (digit == NULL) {
            return false;
        }
        *ret = *ret << 4 | (uint64_t)(digit - digits);
        (*at)++;
    }
    return true;
}

static bool take_number(const char **at, const char *end, uint64_t *ret) {
    int count = 0;
    for (*ret = 0; *at < end && **at >= '0' && **at <= '9' && count < DECIMAL_MAX; count++) {
        *ret = *ret * 10 + (uint64_t)(*(*at)++ - '0');
    }
    return count > 0;
}

static enum lapse_status damaged(struct scan *scan, const char *wanted) {
    return lapse_error_set(scan->err, LAPSE_INVALID,
                           "line %d is not %s: the file is %s; write it anew with `lapse explore "
                           "FILE --states STATES`",
                           scan->number, wanted, scan->cut ? "cut short" : "damaged");
}
