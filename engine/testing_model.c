/* The model of testing_model.h. It looks at everything each time, so it can be read. */
#include "testing_model.h"

#include <criterion/criterion.h>
#include <string.h>

static struct model_answer write_key(struct model *model, const struct model_call *call,
                                     int64_t revision);
static struct model_answer remove_key(struct model *model, const struct model_call *call,
                                      int64_t revision);
static struct model_answer retime_key(struct model *model, const struct model_call *call);
static struct model_answer read_key(struct model *model, const struct model_call *call);
static struct model_answer session_call(struct model *model, const struct model_call *call,
                                        int64_t number);
static struct model_answer acquire(struct model *model, const struct model_call *call,
                                   int64_t token);
static struct model_answer keep_or_free(struct model *model, const struct model_call *call);

static const struct model_answer nothing = {.owner = -1};

struct model_answer lapse_testing_model_apply(struct model *model, const struct model_call *call,
                                              const struct lapse_result *given) {
    switch (call->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        return write_key(model, call, given->revision);
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
        return remove_key(model, call, given->revision);
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        return retime_key(model, call);
    case LAPSE_VERB_GET:
        return read_key(model, call);
    case LAPSE_VERB_ACQUIRE:
        return acquire(model, call, given->token);
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        return keep_or_free(model, call);
    default:
        return session_call(model, call, given->token);
    }
}

static struct model_answer refusal(enum lapse_status status) {
    struct model_answer answer = nothing;
    answer.status = status;
    return answer;
}

static struct lapse_end steady(int64_t ns) {
    return (struct lapse_end){LAPSE_END_STEADY, ns};
}

static struct model_session *live_session(struct model *model, int name) {
    struct model_session *session = &model->sessions[model->current[name]];
    return model->current[name] > 0 && model->now < session->end ? session : NULL;
}

bool lapse_testing_model_record_live(const struct model *model,
                                     const struct model_record *record) {
    switch (record->end_kind) {
    case MODEL_NONE:
        return true;
    case MODEL_STEADY:
        return model->now < record->end;
    case MODEL_WALL:
        return !record->reached && model->wall < record->end;
    default:
        return model->now < model->sessions[record->session].end;
    }
}

static struct lapse_end end_of(const struct model *model, const struct model_record *record) {
    switch (record->end_kind) {
    case MODEL_NONE:
        return (struct lapse_end){LAPSE_END_NONE, 0};
    case MODEL_STEADY:
        return steady(record->end);
    case MODEL_WALL:
        return (struct lapse_end){LAPSE_END_WALL, record->end};
    default:
        return steady(model->sessions[record->session].end);
    }
}

static struct model_record *live_record(struct model *model, const struct model_call *call) {
    struct model_key *key = &model->buckets[call->bucket].keys[call->key];
    struct model_record *newest = key->count == 0 ? NULL : &key->records[key->count - 1];
    bool live = newest != NULL && newest->kind == LAPSE_RECORD_VALUE &&
                lapse_testing_model_record_live(model, newest);
    return live ? newest : NULL;
}

const struct model_record *lapse_testing_model_live(const struct model *model, int bucket,
                                                    int key) {
    struct model_call call = {.bucket = bucket, .key = key};
    return live_record((struct model *)(uintptr_t)model, &call);
}

/* A new record on top: what ended is gone, and of the rest as many stay as the bucket says. */
static void push(struct model *model, const struct model_call *call,
                 const struct model_record *record) {
    struct model_bucket *bucket = &model->buckets[call->bucket];
    struct model_key *key = &bucket->keys[call->key];
    struct model_key next = {.count = 0};
    bool whole = key->count > 0 && bucket->config.history > 1 &&
                 record->kind != LAPSE_RECORD_PURGE &&
                 lapse_testing_model_record_live(model, &key->records[key->count - 1]);
    size_t room = bucket->config.history - 1;
    for (size_t i = key->count; whole && i > 0 && next.count < room; i--) {
        const struct model_record *older = &key->records[i - 1];
        if (i == key->count || older->kind == LAPSE_RECORD_VALUE ||
            lapse_testing_model_record_live(model, older)) {
            memmove(&next.records[1], &next.records[0], next.count * sizeof(*older));
            next.records[0] = *older;
            next.count++;
        }
    }
    next.records[next.count++] = *record;
    *key = next;
    cr_assert_gt(record->revision, bucket->revision, "a revision came twice");
    bucket->revision = record->revision;
}

/* The term of a call: its own, else the bucket's, else none. */
static enum lapse_status resolve(struct model *model, const struct model_call *call,
                                 struct model_record *ret) {
    const struct lapse_term *usual = &model->buckets[call->bucket].config.term;
    unsigned given = call->given;
    int64_t term = call->term;
    int64_t cap = call->cap;
    if ((given & ~(unsigned)LAPSE_TERM_KEEP) == 0 && call->verb != LAPSE_VERB_PERSIST) {
        given = usual->given;
        term = given == LAPSE_TERM_TTL ? usual->ttl.ns : usual->idle.ns;
        cap = usual->cap.ns;
    }
    if (given == LAPSE_TERM_SESSION) {
        ret->end_kind = MODEL_SESSION;
        ret->session = model->current[call->session];
        return live_session(model, call->session) == NULL ? LAPSE_LOST : LAPSE_OK;
    }
    if (given == LAPSE_TERM_EXPIRES_AT) {
        ret->end_kind = MODEL_WALL;
        ret->end = term < model->wall ? model->wall : term;
        return LAPSE_OK;
    }
    if (given == 0) {
        return LAPSE_OK;
    }
    ret->end_kind = MODEL_STEADY;
    ret->span = term;
    ret->last = model->now;
    ret->idle = given == LAPSE_TERM_IDLE;
    ret->cap = cap > 0 ? model->now + cap : 0;
    ret->end = ret->cap > 0 && ret->cap < model->now + term ? ret->cap : model->now + term;
    return LAPSE_OK;
}

static bool version_fits(const struct model_call *call, const struct model_record *live) {
    return !call->has_if_version || (live != NULL && live->revision == call->if_version);
}

static struct model_answer conflict(const struct model_record *live) {
    struct model_answer answer = refusal(LAPSE_CONFLICT);
    answer.revision = live == NULL ? 0 : live->revision;
    return answer;
}

static struct model_answer write_key(struct model *model, const struct model_call *call,
                                     int64_t revision) {
    struct model_record record = {.kind = LAPSE_RECORD_VALUE};
    enum lapse_status status = resolve(model, call, &record);
    const struct model_record *live = live_record(model, call);
    if (status != LAPSE_OK) {
        return refusal(status);
    }
    if (call->verb == LAPSE_VERB_CREATE && live != NULL) {
        return refusal(LAPSE_EXISTS);
    }
    if (!version_fits(call, live)) {
        return conflict(live);
    }
    if (call->given == LAPSE_TERM_KEEP && live != NULL) {
        record = *live;
    }
    record.value = call->value;
    record.revision = revision;
    push(model, call, &record);
    struct model_answer answer = nothing;
    answer.revision = revision;
    answer.end = end_of(model, &record);
    return answer;
}

static struct model_answer remove_key(struct model *model, const struct model_call *call,
                                      int64_t revision) {
    struct model_bucket *bucket = &model->buckets[call->bucket];
    const struct model_record *live = live_record(model, call);
    if (!version_fits(call, live)) {
        return conflict(live);
    }
    if (live == NULL) {
        return refusal(LAPSE_ABSENT);
    }
    struct model_record trace = {.revision = revision,
                                 .end_kind = MODEL_STEADY,
                                 .end = model->now + bucket->config.markers.ns};
    trace.kind = call->verb == LAPSE_VERB_PURGE ? LAPSE_RECORD_PURGE : LAPSE_RECORD_TOMBSTONE;
    push(model, call, &trace);
    if (bucket->config.markers.ns == 0) {
        bucket->keys[call->key].count = 0;
    }
    struct model_answer answer = nothing;
    answer.revision = revision;
    return answer;
}

static struct model_answer retime_key(struct model *model, const struct model_call *call) {
    struct model_record timed = {.kind = LAPSE_RECORD_VALUE};
    enum lapse_status status = resolve(model, call, &timed);
    struct model_record *live = live_record(model, call);
    if (status != LAPSE_OK) {
        return refusal(status);
    }
    if (!version_fits(call, live)) {
        return conflict(live);
    }
    if (live == NULL) {
        return refusal(LAPSE_ABSENT);
    }
    timed.revision = live->revision;
    timed.value = live->value;
    *live = timed;
    struct model_answer answer = nothing;
    answer.revision = timed.revision;
    answer.end = end_of(model, live);
    return answer;
}

static struct model_answer read_key(struct model *model, const struct model_call *call) {
    struct model_record *live = live_record(model, call);
    struct model_answer answer = nothing;
    if (live == NULL) {
        return refusal(LAPSE_ABSENT);
    }
    int64_t end = model->now + live->span;
    end = live->cap > 0 && live->cap < end ? live->cap : end;
    if (!call->peek && live->idle && model->now >= live->last + live->span / 30 &&
        end > live->end) {
        live->end = end;
        live->last = model->now;
        answer.renewed = true;
    }
    answer.revision = live->revision;
    answer.end = end_of(model, live);
    return answer;
}

static struct model_answer session_call(struct model *model, const struct model_call *call,
                                        int64_t number) {
    struct model_session *live = live_session(model, call->session);
    struct model_answer answer = nothing;
    bool opens = call->verb == LAPSE_VERB_SESSION;
    bool own = live != NULL && live->owner == call->owner;
    if (!opens && !own) {
        return refusal(LAPSE_LOST);
    }
    if (opens && live == NULL) {
        cr_assert(number > 0 && number < MODEL_SESSIONS_MAX && model->sessions[number].span == 0,
                  "session number %d", (int)number);
        model->current[call->session] = number;
        live = &model->sessions[number];
        *live = (struct model_session){model->now + call->span, call->span, call->owner};
    } else if (opens) {
        answer.status = own ? LAPSE_OK : LAPSE_HELD;
        answer.renewed = own;
        answer.owner = own ? -1 : live->owner;
    } else if (call->verb == LAPSE_VERB_CLOSE) {
        live->end = model->now;
        return answer;
    } else {
        live->span = call->span > 0 ? call->span : live->span;
        live->end = model->now + live->span;
    }
    answer.token = answer.status == LAPSE_OK ? model->current[call->session] : 0;
    answer.end = steady(live->end);
    return answer;
}

static int64_t lease_end(const struct model *model, const struct model_lease *lease) {
    return lease->session > 0 ? model->sessions[lease->session].end : lease->end;
}

static struct model_lease *live_lease(struct model *model, int name) {
    struct model_lease *lease = &model->leases[name];
    return lease->held && model->now < lease_end(model, lease) ? lease : NULL;
}

static struct model_answer shown(const struct model *model, const struct model_lease *lease,
                                 bool own) {
    struct model_answer answer = nothing;
    answer.status = own ? LAPSE_OK : LAPSE_HELD;
    answer.token = own ? lease->token : 0;
    answer.owner = lease->owner;
    answer.end = steady(lease_end(model, lease));
    return answer;
}

static struct model_answer acquire(struct model *model, const struct model_call *call,
                                   int64_t token) {
    struct model_lease *live = live_lease(model, call->key);
    bool of_session = call->given == LAPSE_TERM_SESSION;
    if (of_session && live_session(model, call->session) == NULL) {
        return refusal(LAPSE_LOST);
    }
    if (live != NULL) {
        struct model_answer answer = shown(model, live, live->owner == call->owner);
        answer.renewed = answer.status == LAPSE_OK;
        return answer;
    }
    struct model_lease *lease = &model->leases[call->key];
    cr_assert_gt(token, lease->token, "a token came twice (FENCE-01)");
    *lease = (struct model_lease){.held = true,
                                  .ephemeral = call->ephemeral,
                                  .owner = call->owner,
                                  .token = token,
                                  .end = model->now + call->span,
                                  .session = of_session ? model->current[call->session] : 0};
    return shown(model, lease, true);
}

static struct model_answer keep_or_free(struct model *model, const struct model_call *call) {
    struct model_lease *live = live_lease(model, call->key);
    bool extends = call->verb == LAPSE_VERB_EXTEND;
    if (live == NULL) {
        return refusal(extends ? LAPSE_LOST : LAPSE_ABSENT);
    }
    if (live->owner != call->owner) {
        return refusal(LAPSE_NOT_OWNER);
    }
    if (extends) {
        live->session = 0;
        live->end = model->now + call->span;
        return shown(model, live, true);
    }
    live->held = false;
    return nothing;
}

void lapse_testing_model_reach(struct model *model) {
    for (int i = 0; i < MODEL_BUCKETS * MODEL_KEYS; i++) {
        struct model_call call = {.bucket = i / MODEL_KEYS, .key = i % MODEL_KEYS};
        struct model_key *key = &model->buckets[call.bucket].keys[call.key];
        struct model_record *newest = key->count == 0 ? NULL : &key->records[key->count - 1];
        if (newest != NULL && newest->end_kind == MODEL_WALL && model->wall >= newest->end) {
            newest->reached = true;
        }
    }
}

void lapse_testing_model_restart(struct model *model) {
    for (int i = 0; i < MODEL_NAMES; i++) {
        model->leases[i].held = model->leases[i].held && !model->leases[i].ephemeral;
    }
}
