/* Calls on keys and on leases into the problems of their keys and names. */
#include "linear_split.h"

#include <string.h>

enum { UNTOLD = -1 };

/* The term that a write gives. */
struct given {
    struct lapse_term term;
    bool own;         /* the call's, not the bucket's */
    bool keeps;       /* a live key's end stays */
    bool words_known; /* `words` are the bucket's throughout */
    struct lapse_bucket_config words;
};

static bool key_answered(const struct lapse_linear_split *split,
                         const struct lapse_linear_part *part, bool *ret_tells);
static bool lease_answered(const struct lapse_linear_part *part, bool *ret_tells);
static bool certain(const struct lapse_answer *answer, const int *statuses, size_t count,
                    bool *ret_tells);
static int key_op(enum lapse_verb verb);
static bool key_told(struct lapse_linear_split *split, const struct lapse_linear_part *part,
                     struct lapse_linear_call *call);
static int64_t use_of(const struct lapse_linear_part *part);
static bool add_given(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                      const struct lapse_linear_part *part, struct lapse_linear_call *call);
static bool term_given(const struct lapse_linear_split *split, const struct lapse_linear_part *part,
                       struct given *ret);
static enum lapse_key_gives what_is_given(const struct lapse_linear_split *split,
                                          const struct given *given,
                                          const struct lapse_linear_call *call);
static struct lapse_linear_window term_window(const struct lapse_linear_split *split,
                                              const struct given *given,
                                              struct lapse_linear_call *call, bool *ret_ended);
static bool owner_number(struct lapse_linear_split *split, struct lapse_bytes owner, int64_t *ret);
static bool text_number(struct lapse_linear_split *split, struct lapse_bytes text, int64_t *ret);

bool lapse_linear_of_key(enum lapse_verb verb) {
    return (verb >= LAPSE_VERB_SET && verb <= LAPSE_VERB_PERSIST) || verb == LAPSE_VERB_HISTORY;
}

bool lapse_linear_of_lease(enum lapse_verb verb) {
    return verb >= LAPSE_VERB_ACQUIRE && verb <= LAPSE_VERB_INSPECT;
}

struct lapse_linear_problem *lapse_linear_split_place(struct lapse_linear_split *split,
                                                      const struct lapse_command *command) {
    unsigned char name[LAPSE_BUCKET_NAME_MAX + 1 + LAPSE_KEY_BYTES_MAX];
    if (lapse_linear_of_lease(command->verb)) {
        return lapse_linear_problem_find(split->problems, LAPSE_LINEAR_LEASE, command->key);
    }
    /* What is longer is no key, and each call on it is refused; it may as well be cut. */
    struct lapse_bytes bucket = command->bucket, key = command->key;
    bucket.len = bucket.len > LAPSE_BUCKET_NAME_MAX ? LAPSE_BUCKET_NAME_MAX : bucket.len;
    key.len = key.len > LAPSE_KEY_BYTES_MAX ? LAPSE_KEY_BYTES_MAX : key.len;
    if (bucket.len > 0) {
        memcpy(name, bucket.data, bucket.len);
    }
    name[bucket.len] = '/';
    if (key.len > 0) {
        memcpy(name + bucket.len + 1, key.data, key.len);
    }
    return lapse_linear_problem_find(split->problems, LAPSE_LINEAR_KEY,
                                     (struct lapse_bytes){name, bucket.len + 1 + key.len});
}

bool lapse_linear_split_key(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                            const struct lapse_linear_part *part) {
    struct lapse_linear_call call = part->call;
    bool tells;
    call.open = !key_answered(split, part, &tells);
    if (!tells || split->no_keys) {
        return true;
    }
    call.op = (uint8_t)key_op(part->command->verb);
    call.arg[LAPSE_KEY_ANSWER] = call.open ? LAPSE_OK : part->answer->status;
    call.arg[LAPSE_KEY_VERB] = part->command->verb;
    if (lapse_linear_policy_marks(split, part->command->bucket)) {
        call.arg[LAPSE_KEY_VERB] |= LAPSE_KEY_MARKED;
    }
    if (!key_told(split, part, &call)) {
        return false;
    }
    if (call.op == LAPSE_KEY_READ) {
        call.arg[LAPSE_KEY_GIVES] = use_of(part);
        /* Without an answer it may have renewed, which tells only of keys that idle. */
        return lapse_linear_split_add(split, problem, &call, LAPSE_KEY_SELF) >= 0;
    }
    if (call.op == LAPSE_KEY_REMOVE || call.arg[LAPSE_KEY_ANSWER] != LAPSE_OK ||
        part->command->verb == LAPSE_VERB_PERSIST) {
        return lapse_linear_split_add(split, problem, &call, LAPSE_KEY_SELF) >= 0;
    }
    return add_given(split, problem, part, &call);
}

/* Whether the answer is certain. *ret_tells: whether the call tells anything at all. */
static bool key_answered(const struct lapse_linear_split *split,
                         const struct lapse_linear_part *part, bool *ret_tells) {
    static const int statuses[] = {LAPSE_OK, LAPSE_ABSENT, LAPSE_EXISTS, LAPSE_CONFLICT};
    const struct lapse_command *command = part->command;
    bool reads = key_op(command->verb) == LAPSE_KEY_READ;
    bool answered = certain(part->answer, statuses, 4, ret_tells);
    bool old = reads && command->verb != LAPSE_VERB_HISTORY && command->u.read.has_revision;
    if (old && (!answered || part->answer->status != LAPSE_OK)) {
        *ret_tells = false; /* the revision may be gone, or the key */
    }
    if (answered && *ret_tells && part->answer->status == LAPSE_CONFLICT &&
        !command->u.write.has_if_version && command->request.len > 0 &&
        lapse_linear_policy(split, LAPSE_POLICY_REQUEST) != 0) {
        *ret_tells = false; /* it was sent before, under its request id */
    }
    return answered;
}

static bool certain(const struct lapse_answer *answer, const int *statuses, size_t count,
                    bool *ret_tells) {
    *ret_tells = true;
    if (answer == NULL || answer->status == LAPSE_UNKNOWN) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if ((int)answer->status == statuses[i]) {
            return true;
        }
    }
    *ret_tells = false; /* it was not done, for a reason that is not judged here */
    return true;
}

static int key_op(enum lapse_verb verb) {
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_UPDATE:
        return LAPSE_KEY_PUT;
    case LAPSE_VERB_CREATE:
        return LAPSE_KEY_CREATE;
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
        return LAPSE_KEY_REMOVE;
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        return LAPSE_KEY_TERM;
    default:
        return LAPSE_KEY_READ;
    }
}

/* Value, version and revision. */
static bool key_told(struct lapse_linear_split *split, const struct lapse_linear_part *part,
                     struct lapse_linear_call *call) {
    const struct lapse_command *command = part->command;
    enum lapse_verb verb = command->verb;
    bool reads = call->op == LAPSE_KEY_READ;
    bool found = !call->open && part->answer->status == LAPSE_OK;
    bool conflict = !call->open && part->answer->status == LAPSE_CONFLICT;
    bool shows = found && (verb == LAPSE_VERB_GET || verb == LAPSE_VERB_ENTRY) &&
                 !command->u.read.has_revision;
    bool shows_rev =
        found && !(reads && (verb == LAPSE_VERB_HISTORY || command->u.read.has_revision));
    int64_t text = UNTOLD;
    call->arg[LAPSE_KEY_VERSION] =
        !reads && command->u.write.has_if_version ? command->u.write.if_version : UNTOLD;
    bool told = (shows_rev && part->answer->revision > 0) || conflict;
    call->arg[LAPSE_KEY_REV] = told && lapse_linear_policy_tells_rev(split, call->op)
                                   ? part->answer->revision
                                   : UNTOLD;
    if ((call->op == LAPSE_KEY_PUT || call->op == LAPSE_KEY_CREATE) &&
        !text_number(split, command->u.write.value, &text)) {
        return false;
    }
    if (shows && !text_number(split, part->answer->value, &text)) {
        return false;
    }
    if (found && verb == LAPSE_VERB_HISTORY && part->answer->items != NULL &&
        part->answer->item_count > 0 && !part->answer->more) {
        const struct lapse_item *last = &part->answer->items[part->answer->item_count - 1];
        call->arg[LAPSE_KEY_REV] = last->kind == LAPSE_RECORD_VALUE ? last->revision : UNTOLD;
    }
    call->arg[LAPSE_KEY_TEXT] = text;
    call->arg[LAPSE_KEY_VERB] |= (text + 1) << LAPSE_KEY_VERB_BITS;
    return true;
}

static int64_t use_of(const struct lapse_linear_part *part) {
    const struct lapse_command *command = part->command;
    if (command->verb == LAPSE_VERB_HISTORY || command->u.read.peek ||
        command->u.read.has_revision) {
        return LAPSE_USE_NONE;
    }
    if (part->answer == NULL || part->answer->status != LAPSE_OK) {
        return part->answer == NULL || part->answer->status == LAPSE_UNKNOWN ? LAPSE_USE_ANY
                                                                             : LAPSE_USE_NONE;
    }
    return part->answer->renewed ? LAPSE_USE_RENEWED : LAPSE_USE_BY_RULE;
}

/* A write, or expire, with the term that it gives and its end. */
static bool add_given(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                      const struct lapse_linear_part *part, struct lapse_linear_call *call) {
    struct lapse_linear_window window = {call->invoke_ns, 0, true};
    struct given given;
    bool ended = false;
    bool is_known = term_given(split, part, &given);
    const struct lapse_term *term = &given.term;
    if (is_known && (term->given & (term->given - 1)) != 0) {
        return true; /* two terms: refused, told or not */
    }
    enum lapse_key_gives gives = given.keeps ? LAPSE_GIVES_KEPT_OR_TERM : LAPSE_GIVES_TERM;
    gives = is_known ? what_is_given(split, &given, call) : gives;
    if (gives == LAPSE_GIVES_NEVER && call->open) {
        return true;
    }
    bool ends = gives == LAPSE_GIVES_TERM || gives == LAPSE_GIVES_KEPT_OR_TERM;
    if (is_known && ends) {
        window = term_window(split, &given, call, &ended);
    }
    call->arg[LAPSE_KEY_GIVES] = ended && !given.keeps ? LAPSE_GIVES_ENDED : gives;
    int32_t index = lapse_linear_split_add(split, problem, call, LAPSE_KEY_SELF);
    bool begins = ends && call->arg[LAPSE_KEY_GIVES] != LAPSE_GIVES_ENDED;
    return index >= 0 && (!begins || lapse_linear_split_end(split, problem, index, LAPSE_KEY_END,
                                                            LAPSE_KEY_SELF, window));
}

/* The call's own term, else its bucket's. False: a default that is not known. */
static bool term_given(const struct lapse_linear_split *split, const struct lapse_linear_part *part,
                       struct given *ret) {
    const struct lapse_command *command = part->command;
    bool expires = command->verb == LAPSE_VERB_EXPIRE;
    ret->words_known = lapse_linear_split_words(split, command->bucket, &ret->words);
    ret->term = command->u.write.term;
    ret->keeps = !expires && (ret->term.given & LAPSE_TERM_KEEP) != 0;
    ret->term.given &= ~(unsigned)LAPSE_TERM_KEEP;
    ret->own = ret->term.given != 0;
    bool taken = !ret->own || lapse_linear_policy_own(split, &ret->words);
    if (!taken && (expires || !ret->words_known)) {
        return false;
    }
    if ((ret->own && taken) || expires) {
        return true;
    }
    ret->own = false;
    if (!ret->keeps && ret->words_known) {
        ret->keeps = lapse_linear_policy_keeps(split, &ret->words);
    }
    if (!lapse_linear_policy_default(split)) {
        ret->term = (struct lapse_term){0};
        return true;
    }
    ret->term = ret->words.term;
    return ret->words_known;
}

/* Whether a write gives a term, and whose. */
static enum lapse_key_gives what_is_given(const struct lapse_linear_split *split,
                                          const struct given *given,
                                          const struct lapse_linear_call *call) {
    const struct lapse_term *term = &given->term;
    int64_t span = term->given == LAPSE_TERM_IDLE ? term->idle.ns : term->ttl.ns;
    bool spans = term->given == LAPSE_TERM_TTL || term->given == LAPSE_TERM_IDLE;
    bool puts = call->op != LAPSE_KEY_TERM;
    if (term->given == 0) {
        return given->keeps && puts ? LAPSE_GIVES_KEPT_OR_NONE : LAPSE_GIVES_NONE;
    }
    if (spans && span <= 0) {
        enum lapse_linear_zero zero = lapse_linear_policy_zero(split, span);
        return zero == LAPSE_ZERO_ENDS         ? LAPSE_GIVES_ENDED
               : zero == LAPSE_ZERO_NEVER_ENDS ? LAPSE_GIVES_NONE
                                               : LAPSE_GIVES_NEVER;
    }
    return given->keeps && puts ? LAPSE_GIVES_KEPT_OR_TERM : LAPSE_GIVES_TERM;
}

static struct lapse_linear_window term_window(const struct lapse_linear_split *split,
                                              const struct given *given,
                                              struct lapse_linear_call *call, bool *ret_ended) {
    const struct lapse_term *term = &given->term;
    int64_t least = term->ttl.ns, most;
    if (term->given == LAPSE_TERM_EXPIRES_AT) {
        return lapse_linear_date_window(&split->terms, call, term->expires_at.ns, ret_ended);
    }
    if (term->given == LAPSE_TERM_SESSION) {
        return (struct lapse_linear_window){call->invoke_ns, 0, true};
    }
    if (term->given == LAPSE_TERM_IDLE) {
        bool capped = term->cap.ns > 0 && term->cap.ns < INT64_MAX;
        least = capped && term->cap.ns < term->idle.ns ? term->cap.ns : term->idle.ns;
        call->arg[LAPSE_KEY_IDLE] = term->idle.ns;
        call->arg[LAPSE_KEY_VERB] |= capped ? LAPSE_KEY_CAPPED : 0;
    }
    most = least;
    if (given->own && lapse_linear_policy(split, LAPSE_POLICY_OWN_BOUNDS) != 0 &&
        !given->words_known) {
        return (struct lapse_linear_window){call->invoke_ns, 0, true};
    }
    if (given->own) {
        lapse_linear_policy_span(split, &given->words, &least, &most);
    }
    bool wraps = most > INT64_MAX / 4; /* a policy may let it end at once */
    if (wraps && lapse_linear_policy(split, LAPSE_POLICY_OVERFLOW) != 0) {
        return (struct lapse_linear_window){call->invoke_ns, 0, true};
    }
    struct lapse_linear_window window = lapse_linear_span_window(&split->terms, call, most);
    window.from = lapse_linear_span_window(&split->terms, call, least).from;
    return window;
}

bool lapse_linear_split_lease(struct lapse_linear_split *split,
                              struct lapse_linear_problem *problem,
                              const struct lapse_linear_part *part) {
    const struct lapse_command *command = part->command;
    struct lapse_linear_call call = part->call;
    bool tells;
    call.open = !lease_answered(part, &tells);
    if (!tells || split->no_leases) {
        return true;
    }
    if (command->verb == LAPSE_VERB_RELEASE && !call.open && part->answer->status == LAPSE_OK &&
        lapse_linear_policy_release(split)) {
        call.open = call.lapses = true; /* it freed the name, or found it free */
    }
    bool asks = command->verb != LAPSE_VERB_INSPECT;
    bool acquires = command->verb == LAPSE_VERB_ACQUIRE;
    struct lapse_bytes none = {NULL, 0};
    call.op = (uint8_t)(command->verb - LAPSE_VERB_ACQUIRE);
    call.arg[LAPSE_LEASE_ANSWER] = call.open ? LAPSE_OK : part->answer->status;
    call.arg[LAPSE_LEASE_TOKEN] =
        asks && !acquires && command->u.lease.has_token ? command->u.lease.token : UNTOLD;
    call.arg[LAPSE_LEASE_TOLD_TOKEN] =
        !call.open && part->answer->has_token ? part->answer->token : UNTOLD;
    /* A recorder may leave out that the grant was held already: only a told one is held to it. */
    call.arg[LAPSE_LEASE_AGAIN] =
        !call.open && !part->batch && part->answer->renewed ? 1 : UNTOLD;
    call.arg[LAPSE_LEASE_EPHEMERAL] =
        acquires && command->u.lease.durability == LAPSE_EPHEMERAL ? 1 : 0;
    if (!owner_number(split, asks ? command->u.lease.owner : none, &call.arg[LAPSE_LEASE_OWNER]) ||
        !owner_number(split, call.open ? none : part->answer->owner,
                      &call.arg[LAPSE_LEASE_TOLD_OWNER])) {
        return false;
    }
    bool gives = asks && command->verb != LAPSE_VERB_RELEASE &&
                 call.arg[LAPSE_LEASE_ANSWER] == LAPSE_OK &&
                 (!acquires || call.arg[LAPSE_LEASE_AGAIN] != 1);
    int32_t index = lapse_linear_split_add(split, problem, &call, LAPSE_LEASE_SELF);
    if (index < 0 || !gives) {
        return index >= 0;
    }
    struct lapse_linear_window window = {call.invoke_ns, 0, true};
    if (!(acquires && command->u.lease.session.len > 0) && command->u.lease.span.ns > 0) {
        window = lapse_linear_span_window(&split->terms, &call, command->u.lease.span.ns);
    }
    return lapse_linear_split_end(split, problem, index, LAPSE_LEASE_END, LAPSE_LEASE_SELF, window);
}

static bool lease_answered(const struct lapse_linear_part *part, bool *ret_tells) {
    static const int statuses[4][3] = {{LAPSE_OK, LAPSE_HELD, LAPSE_OK},
                                       {LAPSE_OK, LAPSE_LOST, LAPSE_NOT_OWNER},
                                       {LAPSE_OK, LAPSE_ABSENT, LAPSE_NOT_OWNER},
                                       {LAPSE_OK, LAPSE_ABSENT, LAPSE_OK}};
    return certain(part->answer, statuses[part->command->verb - LAPSE_VERB_ACQUIRE], 3, ret_tells);
}

/* Nobody has no name. */
static bool owner_number(struct lapse_linear_split *split, struct lapse_bytes owner, int64_t *ret) {
    *ret = UNTOLD;
    return owner.len == 0 || text_number(split, owner, ret);
}

static bool text_number(struct lapse_linear_split *split, struct lapse_bytes text, int64_t *ret) {
    *ret = lapse_linear_store_text(split->problems->store, text);
    return *ret >= 0;
}

int32_t lapse_linear_split_add(struct lapse_linear_split *split,
                               struct lapse_linear_problem *problem,
                               const struct lapse_linear_call *call, int self) {
    struct lapse_linear_call added = *call;
    added.arg[self] = (int64_t)problem->count + 1;
    return lapse_linear_problem_add(split->problems, problem, &added);
}

bool lapse_linear_split_end(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                            int32_t begun, int op, int self, struct lapse_linear_window window) {
    struct lapse_linear_call end = {.invoke_ns = window.from,
                                    .return_ns = window.to_open ? window.from : window.to,
                                    .open = window.to_open,
                                    .end = true,
                                    .branches = 1,
                                    .op = (uint8_t)op,
                                    .after = begun,
                                    .actor = -1,
                                    .source = problem->calls[begun].source};
    end.arg[self] = problem->calls[begun].arg[self];
    if (problem->kind == LAPSE_LINEAR_KEY) {
        end.arg[LAPSE_KEY_VERB] = problem->calls[begun].arg[LAPSE_KEY_VERB] & LAPSE_KEY_MARKED;
    }
    return lapse_linear_problem_add(split->problems, problem, &end) >= 0;
}

bool lapse_linear_split_words(const struct lapse_linear_split *split, struct lapse_bytes bucket,
                              struct lapse_bucket_config *ret) {
    bool declared = false, altered = false;
    size_t opened = 0;
    *ret = (struct lapse_bucket_config){0};
    for (size_t i = 0; i < split->setup->bucket_count; i++) {
        if (lapse_bytes_equal(split->setup->buckets[i].name, bucket)) {
            declared = true;
            *ret = split->setup->buckets[i].config;
        }
    }
    for (size_t i = 0; i < split->word_count; i++) {
        const struct lapse_linear_sent *sent = &split->sent[split->words[i]];
        const struct lapse_command *command = &sent->invoke->u.invoke.request.command;
        enum lapse_status status =
            sent->reply == NULL ? LAPSE_UNKNOWN : sent->reply->u.reply.answer.status;
        if (!lapse_bytes_equal(command->bucket, bucket) ||
            (status != LAPSE_OK && status != LAPSE_UNKNOWN)) {
            continue;
        }
        altered = altered || command->verb == LAPSE_VERB_ALTER;
        if (!declared && command->verb == LAPSE_VERB_OPEN) {
            opened++;
            *ret = command->u.open.config;
        }
    }
    return !altered && opened <= 1;
}
