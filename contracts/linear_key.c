/* The model of a key: its value, its revision and the term that it lives by. */
#include "contracts/history.h"
#include "linear_models.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum word { PRESENT, VALUE, REV, TERM, LAST_REV, IDLE, USED_FROM, USED_TO, WORDS };
enum { UNTOLD = -1, RENEWALS_A_SPAN = 30 };

static void start(const void *ctx, int64_t *ret_state);
static void forget(int64_t *ret_state);
static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state);
static bool put(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                int64_t *state);
static bool create(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                   int64_t *state);
static bool read_key(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                     unsigned branch, int64_t *state);
static bool remove_key(const struct lapse_linear_clocks *clocks,
                       const struct lapse_linear_call *call, int64_t *state);
static bool change_term(const struct lapse_linear_clocks *clocks,
                        const struct lapse_linear_call *call, int64_t *state);
static bool end_term(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                     int64_t *state);
static bool write_entry(const struct lapse_linear_clocks *clocks,
                        const struct lapse_linear_call *call, int64_t *state);
static void give_term(const struct lapse_linear_clocks *clocks,
                      const struct lapse_linear_call *call, bool was_present, int64_t *state);
static bool new_rev(const struct lapse_linear_call *call, int64_t *state);
static bool tells_rev(const struct lapse_linear_call *call, int64_t *state);
static bool fits_version(const struct lapse_linear_clocks *clocks,
                         const struct lapse_linear_call *call, const int64_t *state);
static bool right_refusal(const struct lapse_linear_clocks *clocks,
                          const struct lapse_linear_call *call, int64_t *state);
static bool renew(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                  unsigned branch, int64_t *state);
static bool must_renew(const struct lapse_linear_clocks *clocks,
                       const struct lapse_linear_call *call, const int64_t *state);
static bool cannot_renew(const struct lapse_linear_clocks *clocks,
                         const struct lapse_linear_call *call, const int64_t *state);
static bool absent_conflicts(const struct lapse_linear_clocks *clocks,
                             const struct lapse_linear_call *call, const int64_t *state);
static void end_entry(const struct lapse_linear_clocks *clocks,
                      const struct lapse_linear_call *call, int64_t *state);
static void clear(int64_t *state);
static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b);
static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call);
static bool changes(const void *ctx, const struct lapse_linear_call *call);

lapse_linear_model lapse_key_model(const struct lapse_linear_clocks *clocks) {
    return (lapse_linear_model){.ctx = clocks,
                                .state_words = WORDS,
                                .start = start,
                                .step = step,
                                .same = same,
                                .looks = looks,
                                .changes = changes};
}

static void start(const void *ctx, int64_t *ret_state) {
    (void)ctx;
    forget(ret_state);
}

static void forget(int64_t *ret_state) {
    memset(ret_state, 0, WORDS * sizeof(*ret_state));
    ret_state[VALUE] = UNTOLD;
}

static bool step(const void *ctx, const int64_t *state, const struct lapse_linear_call *call,
                 unsigned branch, int64_t *ret_state) {
    memcpy(ret_state, state, WORDS * sizeof(*state));
    bool gives = call->op == LAPSE_KEY_PUT || call->op == LAPSE_KEY_CREATE ||
                 call->op == LAPSE_KEY_TERM;
    if (gives && !call->open && call->arg[LAPSE_KEY_ANSWER] == LAPSE_OK &&
        call->arg[LAPSE_KEY_GIVES] == LAPSE_GIVES_NEVER) {
        return false;
    }
    switch (call->op) {
    case LAPSE_KEY_PUT:
        return put(ctx, call, ret_state);
    case LAPSE_KEY_CREATE:
        return create(ctx, call, ret_state);
    case LAPSE_KEY_READ:
        return read_key(ctx, call, branch, ret_state);
    case LAPSE_KEY_REMOVE:
        return remove_key(ctx, call, ret_state);
    case LAPSE_KEY_TERM:
        return change_term(ctx, call, ret_state);
    default:
        return end_term(ctx, call, ret_state);
    }
}

static bool put(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                int64_t *state) {
    if (call->open) {
        return !fits_version(clocks, call, state) || write_entry(clocks, call, state);
    }
    if (call->arg[LAPSE_KEY_ANSWER] != LAPSE_OK) {
        return right_refusal(clocks, call, state);
    }
    return fits_version(clocks, call, state) && write_entry(clocks, call, state);
}

static bool create(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                   int64_t *state) {
    if (call->open) {
        return state[PRESENT] != 0 || write_entry(clocks, call, state);
    }
    if (call->arg[LAPSE_KEY_ANSWER] != LAPSE_OK) {
        return state[PRESENT] != 0;
    }
    return state[PRESENT] == 0 && write_entry(clocks, call, state);
}

static bool read_key(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                     unsigned branch, int64_t *state) {
    if (!call->open) {
        bool found = call->arg[LAPSE_KEY_ANSWER] == LAPSE_OK;
        int64_t text = call->arg[LAPSE_KEY_TEXT];
        if (found != (state[PRESENT] != 0)) {
            return false;
        }
        if (found && ((text != UNTOLD && text != state[VALUE]) || !tells_rev(call, state))) {
            return false;
        }
    }
    return renew(clocks, call, branch, state);
}

static bool remove_key(const struct lapse_linear_clocks *clocks,
                       const struct lapse_linear_call *call, int64_t *state) {
    bool done = (state[PRESENT] != 0 || clocks->deletes_all) && fits_version(clocks, call, state);
    if (!call->open && call->arg[LAPSE_KEY_ANSWER] != LAPSE_OK) {
        return right_refusal(clocks, call, state);
    }
    if (done && !new_rev(call, state)) {
        return false;
    }
    if (done) {
        int64_t tombstone = state[REV];
        clear(state);
        state[REV] = clocks->last_record ? tombstone : 0;
    }
    return done || call->open;
}

static bool change_term(const struct lapse_linear_clocks *clocks,
                        const struct lapse_linear_call *call, int64_t *state) {
    bool done = state[PRESENT] != 0 && fits_version(clocks, call, state);
    if (call->open) {
        if (done) {
            give_term(clocks, call, true, state);
        }
        return true;
    }
    if (call->arg[LAPSE_KEY_ANSWER] != LAPSE_OK) {
        return right_refusal(clocks, call, state);
    }
    if (!done || !tells_rev(call, state)) {
        return false;
    }
    give_term(clocks, call, true, state);
    return true;
}

static bool end_term(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                     int64_t *state) {
    if (state[PRESENT] != 0 && state[TERM] == call->arg[LAPSE_KEY_SELF]) {
        end_entry(clocks, call, state);
    }
    return true;
}

/* The new entry; false if its revision is not above all that were told before. */
static bool write_entry(const struct lapse_linear_clocks *clocks,
                        const struct lapse_linear_call *call, int64_t *state) {
    bool was_present = state[PRESENT] != 0;
    if (!new_rev(call, state)) {
        return false;
    }
    state[PRESENT] = 1;
    state[VALUE] = call->arg[LAPSE_KEY_TEXT];
    give_term(clocks, call, was_present, state);
    return true;
}

static void give_term(const struct lapse_linear_clocks *clocks,
                      const struct lapse_linear_call *call, bool was_present, int64_t *state) {
    int64_t gives = call->arg[LAPSE_KEY_GIVES];
    int64_t to = call->open ? INT64_MAX : call->return_ns;
    bool keeps = gives == LAPSE_GIVES_KEPT_OR_NONE || gives == LAPSE_GIVES_KEPT_OR_TERM;
    if (gives == LAPSE_GIVES_ENDED) {
        end_entry(clocks, call, state);
    } else if (keeps && was_present) {
        /* Whether such a write is a use is left open: the last use lies between both. */
        state[USED_TO] = state[IDLE] > 0 && to > state[USED_TO] ? to : state[USED_TO];
    } else if (gives == LAPSE_GIVES_TERM || gives == LAPSE_GIVES_KEPT_OR_TERM) {
        bool idles = call->arg[LAPSE_KEY_IDLE] > 0;
        state[TERM] = call->arg[LAPSE_KEY_SELF];
        state[IDLE] = call->arg[LAPSE_KEY_IDLE];
        state[USED_FROM] = idles ? call->invoke_ns : 0;
        state[USED_TO] = idles ? to : 0;
    } else {
        state[TERM] = state[IDLE] = state[USED_FROM] = state[USED_TO] = 0;
    }
}

static bool new_rev(const struct lapse_linear_call *call, int64_t *state) {
    int64_t told = call->open ? UNTOLD : call->arg[LAPSE_KEY_REV];
    if (told != UNTOLD && told <= state[LAST_REV]) {
        return false;
    }
    state[REV] = told;
    state[LAST_REV] = told != UNTOLD ? told : state[LAST_REV];
    return true;
}

/* The live entry's revision is what the answer tells; an unknown one becomes known by it. */
static bool tells_rev(const struct lapse_linear_call *call, int64_t *state) {
    int64_t told = call->arg[LAPSE_KEY_REV];
    if (told == UNTOLD || state[REV] != UNTOLD) {
        return told == UNTOLD || told == state[REV];
    }
    if (told <= state[LAST_REV]) {
        return false;
    }
    state[REV] = state[LAST_REV] = told;
    return true;
}

static bool fits_version(const struct lapse_linear_clocks *clocks,
                         const struct lapse_linear_call *call, const int64_t *state) {
    int64_t version = call->arg[LAPSE_KEY_VERSION];
    if (version == UNTOLD || state[PRESENT] != 0) {
        return version == UNTOLD || state[REV] == UNTOLD || state[REV] == version;
    }
    /* What is absent has a last record, or has none: a tombstone goes after its own term. */
    bool last = version == 0 || version == state[REV] ||
                (state[REV] == UNTOLD && version > state[LAST_REV]);
    return clocks->remembers || (clocks->last_record && last);
}

/* `absent` without a version; with one `conflict`, which tells the revision that was found. */
static bool right_refusal(const struct lapse_linear_clocks *clocks,
                          const struct lapse_linear_call *call, int64_t *state) {
    int64_t told = call->arg[LAPSE_KEY_REV];
    if (call->arg[LAPSE_KEY_ANSWER] != LAPSE_CONFLICT) {
        return state[PRESENT] == 0;
    }
    if (state[PRESENT] == 0) {
        return absent_conflicts(clocks, call, state);
    }
    if (told == UNTOLD) {
        return state[REV] == UNTOLD || state[REV] != call->arg[LAPSE_KEY_VERSION];
    }
    return told != 0 && told != call->arg[LAPSE_KEY_VERSION] && tells_rev(call, state);
}

/* A conflict of what is absent. REV is then that of its last record: 0, nothing is stored. */
static bool absent_conflicts(const struct lapse_linear_clocks *clocks,
                             const struct lapse_linear_call *call, const int64_t *state) {
    int64_t told = call->arg[LAPSE_KEY_REV];
    if (!clocks->last_record) {
        return told <= 0 || clocks->remembers;
    }
    if (told <= 0) {
        return call->arg[LAPSE_KEY_VERSION] != 0 || state[REV] != 0;
    }
    return told != call->arg[LAPSE_KEY_VERSION] &&
           (state[REV] == UNTOLD ? told > state[LAST_REV] : told == state[REV]);
}

/* A use of an idle entry. Branch 0 renews it, branch 1 does not. */
static bool renew(const struct lapse_linear_clocks *clocks, const struct lapse_linear_call *call,
                  unsigned branch, int64_t *state) {
    int64_t use = call->arg[LAPSE_KEY_GIVES];
    bool idles = state[PRESENT] != 0 && state[IDLE] > 0;
    bool renews = branch == 0 && idles && use != LAPSE_USE_NONE;
    if (use == LAPSE_USE_RENEWED && !renews) {
        return call->open;
    }
    if (use == LAPSE_USE_BY_RULE && idles && !call->open &&
        (renews ? cannot_renew(clocks, call, state) : must_renew(clocks, call, state))) {
        return false;
    }
    if (renews) {
        state[TERM] = call->arg[LAPSE_KEY_SELF];
        state[USED_FROM] = call->invoke_ns;
        state[USED_TO] = call->open ? INT64_MAX : call->return_ns;
    }
    return true;
}

/* It came surely a thirtieth of the span after the last use, however clocks ran. */
static bool must_renew(const struct lapse_linear_clocks *clocks,
                       const struct lapse_linear_call *call, const int64_t *state) {
    int64_t due, most;
    return lapse_ns_scale(state[IDLE] / RENEWALS_A_SPAN, LAPSE_NS_PER_S,
                          LAPSE_NS_PER_S - clocks->rate_ppb, &most) &&
           lapse_ns_add(state[USED_TO], most, &due) &&
           lapse_ns_add(due, clocks->slack_ns + (clocks->rate_ppb > 0 ? 1 : 0), &due) &&
           call->invoke_ns >= due;
}

static bool cannot_renew(const struct lapse_linear_clocks *clocks,
                         const struct lapse_linear_call *call, const int64_t *state) {
    int64_t due, least;
    return lapse_ns_scale(state[IDLE] / RENEWALS_A_SPAN, LAPSE_NS_PER_S,
                          LAPSE_NS_PER_S + clocks->rate_ppb, &least) &&
           lapse_ns_add(state[USED_FROM], least, &due) &&
           lapse_ns_sub(due, clocks->slack_ns, &due) && call->return_ns < due;
}

static void end_entry(const struct lapse_linear_clocks *clocks,
                      const struct lapse_linear_call *call, int64_t *state) {
    bool marked = (call->arg[LAPSE_KEY_VERB] & LAPSE_KEY_MARKED) != 0;
    clear(state);
    state[REV] = clocks->last_record && marked ? UNTOLD : 0;
}

/* Absent: nothing of the entry matters but the last revision told. */
static void clear(int64_t *state) {
    int64_t last_rev = state[LAST_REV];
    forget(state);
    state[LAST_REV] = last_rev;
}

static bool same(const void *ctx, const struct lapse_linear_call *a,
                 const struct lapse_linear_call *b) {
    (void)ctx;
    return a->op == b->op && a->op != LAPSE_KEY_READ && a->op != LAPSE_KEY_END &&
           a->arg[LAPSE_KEY_TEXT] == b->arg[LAPSE_KEY_TEXT] &&
           a->arg[LAPSE_KEY_VERSION] == b->arg[LAPSE_KEY_VERSION] &&
           a->arg[LAPSE_KEY_GIVES] == b->arg[LAPSE_KEY_GIVES] &&
           (a->op == LAPSE_KEY_REMOVE || a->arg[LAPSE_KEY_GIVES] == LAPSE_GIVES_NONE ||
            a->arg[LAPSE_KEY_GIVES] == LAPSE_GIVES_KEPT_OR_NONE);
}

static bool looks(const void *ctx, const int64_t *state, const struct lapse_linear_call *call) {
    (void)ctx;
    if (call->op == LAPSE_KEY_END) {
        return state[PRESENT] == 0 || state[TERM] != call->arg[LAPSE_KEY_SELF];
    }
    return call->arg[LAPSE_KEY_ANSWER] != LAPSE_OK ||
           (call->op == LAPSE_KEY_READ && call->arg[LAPSE_KEY_GIVES] == LAPSE_USE_NONE);
}

static bool changes(const void *ctx, const struct lapse_linear_call *call) {
    (void)ctx;
    return call->op != LAPSE_KEY_READ || call->arg[LAPSE_KEY_GIVES] != LAPSE_USE_NONE;
}

char *lapse_key_print(const struct lapse_linear_store *store, const struct lapse_linear_call *call,
                      char *buf) {
    char value[128] = "", version[40] = "", told[40] = "";
    int64_t verb = call->arg[LAPSE_KEY_VERB];
    if (call->op == LAPSE_KEY_END) {
        (void)snprintf(buf, LAPSE_LINEAR_CALL_TEXT_MAX, "the end of its term");
        return buf;
    }
    if (verb >> LAPSE_KEY_VERB_BITS > 0) {
        char text[96];
        (void)lapse_bytes_print(store->texts[(verb >> LAPSE_KEY_VERB_BITS) - 1], text, sizeof text);
        (void)snprintf(value, sizeof value, " \"%s\"", text);
    }
    if (call->arg[LAPSE_KEY_VERSION] != UNTOLD) {
        (void)snprintf(version, sizeof version, " if %" PRId64, call->arg[LAPSE_KEY_VERSION]);
    }
    if (!call->open && call->arg[LAPSE_KEY_REV] != UNTOLD) {
        (void)snprintf(told, sizeof told, ", rev %" PRId64, call->arg[LAPSE_KEY_REV]);
    }
    bool reads = call->op == LAPSE_KEY_READ;
    const char *word = lapse_call_word((int)(verb & (LAPSE_KEY_MARKED - 1)));
    const char *answer = call->open
                             ? "no answer"
                             : lapse_status_word((enum lapse_status)call->arg[LAPSE_KEY_ANSWER]);
    (void)snprintf(buf, LAPSE_LINEAR_CALL_TEXT_MAX, "%s%s%s: %s%s%s", word, reads ? "" : value,
                   version, answer, reads && !call->open ? value : "", told);
    return buf;
}
