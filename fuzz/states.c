/* Abstract states of a history. The walk keeps a few things by name, each with its end and what was
 * done to it last; no more is needed to say how an event stands to what came before. */
#include "fuzz/states.h"

#include <string.h>

enum { THINGS = 64, CALLS = 256, CAP_FIRST = 256 };

/* A key, a lease, a session or a bucket. */
struct thing {
    uint64_t name;
    struct lapse_end end;
    uint32_t last; /* the verb and the answer of the last decision about it */
    int32_t actor; /* who sent that */
    bool live;
};

struct walk {
    const struct lapse_states *known;
    struct lapse_states *found;
    void (*seen)(void *ctx, uint64_t state, const struct lapse_moment *moment); /* of a trail */
    void *ctx;
    struct lapse_moment moment;
    struct thing things[THINGS];
    size_t thing_count;
    const struct lapse_history_event *calls[CALLS]; /* INVOKE, by id */
    uint32_t faults;
    bool failed;
};

static uint64_t mix(uint64_t hash, uint64_t value);
static uint64_t text_hash(uint64_t hash, struct lapse_bytes text);
static void look(struct walk *walk, const struct lapse_history_event *event);
static void look_decision(struct walk *walk, const struct lapse_history_event *event);
static void look_other(struct walk *walk, const struct lapse_history_event *event);
static struct thing *thing_of(struct walk *walk, const struct lapse_request *request);
static void take_in(struct thing *thing, const struct lapse_history_event *invoke,
                    const struct lapse_answer *answer);
static uint64_t place_of(const struct thing *thing, const struct lapse_answer *answer);
static void found(struct walk *walk, uint64_t state);
static bool place(struct lapse_states *states, uint64_t state);

void lapse_states_init(struct lapse_states *states, const lapse_alloc *alloc) {
    *states = (struct lapse_states){.alloc = alloc};
}

void lapse_states_free(struct lapse_states *states) {
    lapse_alloc_free(states->alloc, states->slots, states->cap * sizeof(*states->slots));
    lapse_states_init(states, states->alloc);
}

bool lapse_states_has(const struct lapse_states *states, uint64_t state) {
    state += state == 0;
    for (size_t at = state; states->cap > 0; at++) {
        uint64_t slot = states->slots[at & (states->cap - 1)];
        if (slot == state || slot == 0) {
            return slot == state;
        }
    }
    return false;
}

bool lapse_states_add(struct lapse_states *states, uint64_t state, bool *ret_new) {
    *ret_new = !lapse_states_has(states, state);
    if (!*ret_new) {
        return true;
    }
    if (2 * (states->count + 1) > states->cap) {
        struct lapse_states larger = {.alloc = states->alloc,
                                      .cap = states->cap > 0 ? 2 * states->cap : CAP_FIRST};
        larger.slots = lapse_alloc_zero(states->alloc, larger.cap * sizeof(*larger.slots));
        if (larger.slots == NULL) {
            return false;
        }
        for (size_t i = 0; i < states->cap; i++) {
            if (states->slots[i] != 0) {
                larger.count += place(&larger, states->slots[i]);
            }
        }
        lapse_states_free(states);
        *states = larger;
    }
    states->count += place(states, state);
    return true;
}

bool lapse_states_collect(const struct lapse_history *history, const struct lapse_states *known,
                          struct lapse_states *ret) {
    struct walk walk = {.known = known, .found = ret};
    for (size_t i = 0; i < lapse_history_count(history) && !walk.failed; i++) {
        look(&walk, lapse_history_at(history, i));
    }
    return !walk.failed;
}

void lapse_states_trail(const struct lapse_history *history,
                        void (*seen)(void *ctx, uint64_t state, const struct lapse_moment *moment),
                        void *ctx) {
    struct walk walk = {.seen = seen, .ctx = ctx};
    for (size_t i = 0; i < lapse_history_count(history); i++) {
        walk.moment = (struct lapse_moment){.event = lapse_history_at(history, i)};
        look(&walk, walk.moment.event);
    }
}

static bool place(struct lapse_states *states, uint64_t state) {
    state += state == 0;
    size_t at = state;
    while (states->slots[at & (states->cap - 1)] != 0) {
        at++;
    }
    states->slots[at & (states->cap - 1)] = state;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

static uint64_t text_hash(uint64_t hash, struct lapse_bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        hash = mix(hash, text.data[i]);
    }
    return mix(hash, text.len);
}

/* On a trail each is told, and none is kept. */
static void found(struct walk *walk, uint64_t state) {
    bool is_new;
    if (walk->seen != NULL) {
        walk->moment.faults = walk->faults;
        walk->seen(walk->ctx, state, &walk->moment);
        return;
    }
    if (!lapse_states_has(walk->known, state)) {
        walk->failed = !lapse_states_add(walk->found, state, &is_new) || walk->failed;
    }
}

static void look(struct walk *walk, const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        walk->calls[event->call % CALLS] = event;
        break;
    case LAPSE_HISTORY_APPLY:
        look_decision(walk, event);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
        walk->faults |= UINT32_C(1) << (2 * event->u.fault.kind + (event->u.fault.node >= 0));
        break;
    case LAPSE_HISTORY_FAULT_END:
        walk->faults &= ~(UINT32_C(1) << (2 * event->u.fault.kind + (event->u.fault.node >= 0)));
        break;
    case LAPSE_HISTORY_CLOCK:
        walk->faults |= UINT32_C(1) << (2 * LAPSE_FAULT_CLOCK +
                                        (event->u.clock.whose.kind == LAPSE_PARTY_NODE));
        break;
    default:
        look_other(walk, event);
        break;
    }
}

static void look_decision(struct walk *walk, const struct lapse_history_event *event) {
    const struct lapse_history_event *invoke = walk->calls[event->call % CALLS];
    if (invoke == NULL || invoke->call != event->call) {
        return;
    }
    const struct lapse_request *request = &invoke->u.invoke.request;
    const struct lapse_answer *answer = &event->u.apply.answer;
    struct thing *thing = thing_of(walk, request);
    uint64_t what = mix(LAPSE_HISTORY_APPLY, (uint64_t)request->verb);
    what = mix(what, (uint64_t)answer->status);
    what = mix(what, (uint64_t)answer->renewed | (uint64_t)answer->repeated << 1 |
                         (uint64_t)(invoke->u.invoke.loop >= 0) << 2);
    uint64_t near = place_of(thing, answer);
    what = mix(what, near);
    if (walk->seen == NULL) {
        found(walk, mix(mix(what, walk->faults), 1)); /* the next is the finer one */
    }
    walk->moment.invoke = invoke;
    walk->moment.near = near;
    walk->moment.last = thing->last;
    walk->moment.live = thing->live;
    walk->moment.own = thing->actor == invoke->actor;
    what = mix(what, thing->last);
    what = mix(what, (uint64_t)thing->live | (uint64_t)(thing->actor == invoke->actor) << 1);
    found(walk, mix(what, 2));
    take_in(thing, invoke, answer);
}

static void look_other(struct walk *walk, const struct lapse_history_event *event) {
    uint64_t what = mix(event->kind, walk->faults);
    switch (event->kind) {
    case LAPSE_HISTORY_REPLY:
        if (event->u.reply.answer.status == LAPSE_OK) {
            return;
        }
        what = mix(mix(what, (uint64_t)event->u.reply.verb),
                   (uint64_t)event->u.reply.answer.status);
        break;
    case LAPSE_HISTORY_EMIT:
        what = mix(what, (uint64_t)event->u.emit.event.kind << 1 | (event->call > 0));
        break;
    case LAPSE_HISTORY_RESOURCE:
        what = mix(what, (uint64_t)event->u.resource.status << 2 |
                             (uint64_t)event->u.resource.has_token << 1 |
                             (event->u.resource.token < event->u.resource.highest));
        break;
    case LAPSE_HISTORY_DELIVER:
        what = mix(what, (uint64_t)event->u.deliver.event.kind << 1 | event->u.deliver.first);
        break;
    case LAPSE_HISTORY_BELIEF_END:
        what = mix(what, (uint64_t)event->u.belief.why);
        break;
    case LAPSE_HISTORY_TENURE:
        what = mix(what, (uint64_t)event->u.tenure.machine << 4 |
                             (uint64_t)event->u.tenure.restored);
        break;
    case LAPSE_HISTORY_MESSAGE:
        what = mix(what, (uint64_t)event->u.message.fate << 1 | event->u.message.reply);
        break;
    case LAPSE_HISTORY_STEP:
        what = mix(what, (uint64_t)(event->u.step.row_count > 0) << 8 |
                             (uint64_t)event->u.step.status);
        break;
    default:
        return;
    }
    found(walk, what);
}

/* Names beyond those that fit share the last place. */
static struct thing *thing_of(struct walk *walk, const struct lapse_request *request) {
    uint64_t name = text_hash(text_hash(request->command.bucket.len > 0, request->command.bucket),
                              request->command.key);
    for (size_t i = 0; i < walk->thing_count; i++) {
        if (walk->things[i].name == name) {
            return &walk->things[i];
        }
    }
    if (walk->thing_count == THINGS) {
        return &walk->things[THINGS - 1];
    }
    struct thing *thing = &walk->things[walk->thing_count++];
    *thing = (struct thing){.name = name, .actor = -1};
    return thing;
}

static void take_in(struct thing *thing, const struct lapse_history_event *invoke,
                    const struct lapse_answer *answer) {
    int verb = invoke->u.invoke.request.verb;
    thing->last = (uint32_t)verb << 8 | (uint32_t)(answer->status & 0xff);
    thing->actor = invoke->actor;
    bool ends = verb == LAPSE_VERB_DELETE || verb == LAPSE_VERB_PURGE ||
                verb == LAPSE_VERB_RELEASE || verb == LAPSE_VERB_CLOSE;
    if (answer->status != LAPSE_OK) {
        return;
    }
    thing->live = !ends;
    if (answer->end.kind != LAPSE_END_NONE || verb == LAPSE_VERB_SET ||
        verb == LAPSE_VERB_PERSIST) {
        thing->end = answer->end;
    }
}

/* How a decision lies to the end that the thing had before. */
static uint64_t place_of(const struct thing *thing, const struct lapse_answer *answer) {
    int64_t left = 0;
    int64_t now = thing->end.kind == LAPSE_END_WALL ? answer->wall.ns : answer->at.ns;
    if (thing->end.kind == LAPSE_END_NONE || !lapse_ns_sub(thing->end.ns, now, &left)) {
        return 0;
    }
    int64_t size = left < 0 ? -left : left;
    uint64_t far = size == 0                ? 0
                   : size == 1              ? 1
                   : size < LAPSE_NS_PER_S  ? 2
                   : size == LAPSE_NS_PER_S ? 3
                                            : 4;
    return 1 + 2 * far + (left < 0) + 16 * (uint64_t)thing->end.kind;
}
