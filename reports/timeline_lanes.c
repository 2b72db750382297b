/* What a timeline shows, read off the history: the lives of leases, locks and keys as the store
 * decided them, the pauses and beliefs of actors, and the instants that must stay apart. */
#include <stdlib.h>
#include <string.h>

#include "timeline.h"

/* A long run is shown by its beginning and by what led to the failure. */
enum { INSTANTS_HEAD = 8, INSTANTS_TAIL = 40 };

static void lanes_event(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static void lanes_apply(struct lapse_lanes *lanes, const struct lapse_history_event *event,
                        const struct lapse_history_event *invoke);
static void apply_lease(struct lapse_lanes *lanes, const struct lapse_history_event *event,
                        const struct lapse_request *request);
static void apply_key(struct lapse_lanes *lanes, const struct lapse_history_event *event,
                      const struct lapse_history_event *invoke);
static void lanes_fault(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static void lanes_belief(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static void lanes_focus(struct lapse_lanes *lanes);
static void lanes_instants(struct lapse_lanes *lanes);
static void note_instant(struct lapse_lanes *lanes, int64_t at);
static void note_call(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static size_t lane_find(struct lapse_lanes *lanes, enum lapse_lane_kind kind,
                        struct lapse_bytes bucket, struct lapse_bytes name);
static struct lapse_bar *bar_live(const struct lapse_lanes *lanes, size_t lane, int64_t at);
static void bar_add(struct lapse_lanes *lanes, size_t lane, const struct lapse_history_event *event,
                    struct lapse_bytes who, int64_t token);
static void bar_until(struct lapse_bar *bar, int64_t at, const struct lapse_answer *answer);
static void stretch_begin(struct lapse_lanes *lanes, enum lapse_stretch_kind kind, int32_t actor,
                          int64_t at, const struct lapse_grant_ref *grant);
static void stretch_end(struct lapse_lanes *lanes, enum lapse_stretch_kind kind, int32_t actor,
                        int64_t at, const struct lapse_grant_ref *grant);
static enum lapse_lane_kind key_kind(const struct lapse_lanes *lanes, struct lapse_bytes bucket);

void lapse_lanes_collect(struct lapse_lanes *lanes, const lapse_alloc *alloc,
                         const struct lapse_result_view *view, int64_t event) {
    memset(lanes, 0, sizeof *lanes);
    lanes->alloc = alloc;
    lanes->history = view->history;
    lanes->setup = view->the_case->setup;
    size_t count = lapse_history_count(view->history);
    if (event >= 0 && (size_t)event < count) {
        lanes->failing = lapse_history_at(view->history, (size_t)event);
    }
    for (size_t i = 0; i < count && !lanes->failed; i++) {
        lanes_event(lanes, lapse_history_at(view->history, i));
    }
    lanes_focus(lanes);
    lanes_instants(lanes);
}

void lapse_lanes_free(struct lapse_lanes *lanes) {
    lapse_alloc_free(lanes->alloc, lanes->calls, lanes->calls_cap * sizeof *lanes->calls);
    lapse_alloc_free(lanes->alloc, lanes->lanes, lanes->lane_cap * sizeof *lanes->lanes);
    lapse_alloc_free(lanes->alloc, lanes->bars, lanes->bar_cap * sizeof *lanes->bars);
    lapse_alloc_free(lanes->alloc, lanes->stretches, lanes->stretch_cap * sizeof *lanes->stretches);
    lapse_alloc_free(lanes->alloc, lanes->instants, lanes->instant_cap * sizeof *lanes->instants);
    memset(lanes, 0, sizeof *lanes);
}

const struct lapse_history_event *lapse_lanes_call(const struct lapse_lanes *lanes, int64_t call) {
    return call > 0 && (uint64_t)call < lanes->calls_cap ? lanes->calls[call] : NULL;
}

bool lapse_lanes_holds(const struct lapse_lanes *lanes, const struct lapse_grant_ref *grant,
                       struct lapse_bytes actor, int64_t at) {
    for (size_t i = 0; i < lanes->bar_count; i++) {
        const struct lapse_bar *bar = &lanes->bars[i];
        const struct lapse_lane *lane = &lanes->lanes[bar->lane];
        bool lock = lane->kind == LAPSE_LANE_LOCK;
        if (lane->kind == LAPSE_LANE_KEY || lock != grant->key_lock || at < bar->from ||
            (!bar->endless && at >= bar->to)) {
            continue;
        }
        if (!lock) {
            if (lapse_bytes_equal(lane->name, grant->name) && bar->token == grant->token) {
                return true;
            }
            continue;
        }
        size_t split = lane->bucket.len;
        bool same = grant->name.len == split + 1 + lane->name.len &&
                    memcmp(grant->name.data, lane->bucket.data, split) == 0 &&
                    (lane->name.len == 0 ||
                     memcmp(grant->name.data + split + 1, lane->name.data, lane->name.len) == 0);
        if (same && lapse_bytes_equal(bar->who, actor)) {
            return true;
        }
    }
    return false;
}

static void lanes_event(struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    const struct lapse_history_event *invoke;
    lanes->last = event->at.ns > lanes->last ? event->at.ns : lanes->last;
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        note_call(lanes, event);
        note_instant(lanes, event->at.ns);
        break;
    case LAPSE_HISTORY_APPLY:
        invoke = lapse_lanes_call(lanes, event->call);
        if (invoke != NULL) {
            lanes_apply(lanes, event, invoke);
        }
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
        lanes_fault(lanes, event);
        note_instant(lanes, event->at.ns);
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        lanes_belief(lanes, event);
        note_instant(lanes, event->at.ns);
        break;
    case LAPSE_HISTORY_RESOURCE:
    case LAPSE_HISTORY_PROBE:
        note_instant(lanes, event->at.ns);
        break;
    default:
        break;
    }
}

static void lanes_apply(struct lapse_lanes *lanes, const struct lapse_history_event *event,
                        const struct lapse_history_event *invoke) {
    const struct lapse_request *request = &invoke->u.invoke.request;
    switch (request->verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        apply_lease(lanes, event, request);
        break;
    default:
        apply_key(lanes, event, invoke);
        break;
    }
}

static void apply_lease(struct lapse_lanes *lanes, const struct lapse_history_event *event,
                        const struct lapse_request *request) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    const struct lapse_bytes none = {NULL, 0};
    size_t lane = lane_find(lanes, LAPSE_LANE_LEASE, none, request->command.key);
    if (lanes->failed || answer->status != LAPSE_OK) {
        return;
    }
    struct lapse_bar *live = bar_live(lanes, lane, event->at.ns);
    if (request->verb == LAPSE_VERB_ACQUIRE && !answer->renewed) {
        bar_add(lanes, lane, event, answer->owner, answer->token);
    } else if (request->verb == LAPSE_VERB_EXTEND && live != NULL) {
        bar_until(live, event->at.ns, answer);
    } else if (request->verb == LAPSE_VERB_RELEASE && live != NULL) {
        live->endless = false;
        live->to = event->at.ns;
    }
}

/* Keys and locks made of keys: the answers alone say what stands. */
static void apply_key(struct lapse_lanes *lanes, const struct lapse_history_event *event,
                      const struct lapse_history_event *invoke) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    const struct lapse_command *command = &invoke->u.invoke.request.command;
    int verb = invoke->u.invoke.request.verb;
    bool write = verb == LAPSE_VERB_SET || verb == LAPSE_VERB_CREATE || verb == LAPSE_VERB_UPDATE;
    bool term = verb == LAPSE_VERB_EXPIRE || verb == LAPSE_VERB_PERSIST ||
                (answer->renewed && (verb == LAPSE_VERB_GET || verb == LAPSE_VERB_ENTRY));
    bool end = verb == LAPSE_VERB_DELETE || verb == LAPSE_VERB_PURGE;
    if (!write && !term && !end && verb != LAPSE_VERB_GET && verb != LAPSE_VERB_ENTRY) {
        return;
    }
    enum lapse_lane_kind kind = key_kind(lanes, command->bucket);
    size_t lane = lane_find(lanes, kind, command->bucket, command->key);
    if (lanes->failed || answer->status != LAPSE_OK || (!write && !term && !end)) {
        return;
    }
    struct lapse_bytes who = command->u.write.value;
    if (kind == LAPSE_LANE_LOCK) {
        LAPSE_ASSERT(invoke->actor >= 0);
        who = lanes->setup->actors[invoke->actor].name;
    }
    struct lapse_bar *live = bar_live(lanes, lane, event->at.ns);
    bool renews = kind == LAPSE_LANE_LOCK && live != NULL && lapse_bytes_equal(live->who, who);
    if (write && renews) {
        live->token = answer->revision;
        bar_until(live, event->at.ns, answer);
    } else if (write) {
        if (live != NULL) {
            live->endless = false;
            live->to = event->at.ns;
        }
        bar_add(lanes, lane, event, who, answer->revision);
    } else if (live != NULL && term) {
        bar_until(live, event->at.ns, answer);
    } else if (live != NULL) {
        live->endless = false;
        live->to = event->at.ns;
    }
}

static void lanes_fault(struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    int32_t node = event->u.fault.node;
    int32_t actor = node >= 0 ? LAPSE_STRETCH_NODE(node) : event->actor;
    bool begins = event->kind == LAPSE_HISTORY_FAULT_BEGIN;
    enum lapse_stretch_kind kind =
        event->u.fault.kind == LAPSE_FAULT_PAUSE ? LAPSE_STRETCH_PAUSED : LAPSE_STRETCH_DOWN;
    if (event->u.fault.kind == LAPSE_FAULT_RESTART) {
        begins = false;
    }
    if (begins) {
        stretch_begin(lanes, kind, actor, event->at.ns, NULL);
    } else {
        stretch_end(lanes, kind, actor, event->at.ns, NULL);
    }
}

static void lanes_belief(struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    const struct lapse_grant_ref *grant = &event->u.belief.grant;
    if (event->kind == LAPSE_HISTORY_BELIEF_BEGIN) {
        stretch_begin(lanes, LAPSE_STRETCH_BELIEF, event->actor, event->at.ns, grant);
    } else {
        stretch_end(lanes, LAPSE_STRETCH_BELIEF, event->actor, event->at.ns, grant);
    }
}

/* Marks the lanes that the failing event is about. */
static void lanes_focus(struct lapse_lanes *lanes) {
    const struct lapse_history_event *event = lanes->failing;
    if (event == NULL) {
        return;
    }
    const struct lapse_history_event *invoke = lapse_lanes_call(lanes, event->call);
    struct lapse_bytes bucket = {NULL, 0}, name = {NULL, 0};
    if (event->kind == LAPSE_HISTORY_PROBE) {
        bucket = event->u.probe.bucket;
        name = event->u.probe.name;
    } else if (invoke != NULL) {
        bucket = invoke->u.invoke.request.command.bucket;
        name = invoke->u.invoke.request.command.key;
    } else if (event->kind == LAPSE_HISTORY_EMIT || event->kind == LAPSE_HISTORY_DELIVER) {
        bucket = event->kind == LAPSE_HISTORY_EMIT ? event->u.emit.event.bucket
                                                   : event->u.deliver.event.bucket;
        name = event->kind == LAPSE_HISTORY_EMIT ? event->u.emit.event.key
                                                 : event->u.deliver.event.key;
    }
    for (size_t i = 0; i < lanes->lane_count; i++) {
        struct lapse_lane *lane = &lanes->lanes[i];
        lane->focus =
            lapse_bytes_equal(lane->bucket, bucket) && lapse_bytes_equal(lane->name, name);
    }
}

static int instant_order(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

/* Instants that the axis keeps apart: rising, unique, not too many. */
static void lanes_instants(struct lapse_lanes *lanes) {
    note_instant(lanes, 0);
    note_instant(lanes, lanes->last);
    for (size_t i = 0; i < lanes->bar_count; i++) {
        const struct lapse_bar *bar = &lanes->bars[i];
        note_instant(lanes, bar->from);
        /* An end far beyond the run would squeeze the run itself. */
        if (!bar->endless && bar->to / 3 <= lanes->last / 2) {
            note_instant(lanes, bar->to);
        }
    }
    if (lanes->failed) {
        return;
    }
    qsort(lanes->instants, lanes->instant_count, sizeof *lanes->instants, instant_order);
    size_t count = 0;
    for (size_t i = 0; i < lanes->instant_count; i++) {
        if (count == 0 || lanes->instants[count - 1] != lanes->instants[i]) {
            lanes->instants[count++] = lanes->instants[i];
        }
    }
    if (count > INSTANTS_HEAD + INSTANTS_TAIL) {
        memmove(lanes->instants + INSTANTS_HEAD, lanes->instants + count - INSTANTS_TAIL,
                INSTANTS_TAIL * sizeof *lanes->instants);
        count = INSTANTS_HEAD + INSTANTS_TAIL;
    }
    lanes->instant_count = count;
}

static void note_instant(struct lapse_lanes *lanes, int64_t at) {
    void *array = lanes->instants;
    if (!lapse_alloc_grow(lanes->alloc, &array, &lanes->instant_cap, lanes->instant_count + 1,
                          sizeof *lanes->instants)) {
        lanes->failed = true;
        return;
    }
    lanes->instants = array;
    lanes->instants[lanes->instant_count++] = at;
}

static void note_call(struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    size_t before = lanes->calls_cap;
    void *array = lanes->calls;
    if (event->call <= 0 || !lapse_alloc_grow(lanes->alloc, &array, &lanes->calls_cap,
                                              (size_t)event->call + 1, sizeof *lanes->calls)) {
        lanes->failed = lanes->failed || event->call > 0;
        return;
    }
    lanes->calls = array;
    for (size_t i = before; i < lanes->calls_cap; i++) {
        lanes->calls[i] = NULL;
    }
    lanes->calls[event->call] = event;
}

/* The lane's index; makes it if it is new. */
static size_t lane_find(struct lapse_lanes *lanes, enum lapse_lane_kind kind,
                        struct lapse_bytes bucket, struct lapse_bytes name) {
    for (size_t i = 0; i < lanes->lane_count; i++) {
        const struct lapse_lane *lane = &lanes->lanes[i];
        if (lane->kind == kind && lapse_bytes_equal(lane->bucket, bucket) &&
            lapse_bytes_equal(lane->name, name)) {
            return i;
        }
    }
    void *array = lanes->lanes;
    if (!lapse_alloc_grow(lanes->alloc, &array, &lanes->lane_cap, lanes->lane_count + 1,
                          sizeof *lanes->lanes)) {
        lanes->failed = true;
        return 0;
    }
    lanes->lanes = array;
    lanes->lanes[lanes->lane_count] = (struct lapse_lane){kind, bucket, name, false};
    return lanes->lane_count++;
}

static struct lapse_bar *bar_live(const struct lapse_lanes *lanes, size_t lane, int64_t at) {
    for (size_t i = lanes->bar_count; i-- > 0;) {
        struct lapse_bar *bar = &lanes->bars[i];
        if (bar->lane == lane) {
            return bar->endless || at < bar->to ? bar : NULL;
        }
    }
    return NULL;
}

static void bar_add(struct lapse_lanes *lanes, size_t lane, const struct lapse_history_event *event,
                    struct lapse_bytes who, int64_t token) {
    void *array = lanes->bars;
    if (!lapse_alloc_grow(lanes->alloc, &array, &lanes->bar_cap, lanes->bar_count + 1,
                          sizeof *lanes->bars)) {
        lanes->failed = true;
        return;
    }
    lanes->bars = array;
    struct lapse_bar *bar = &lanes->bars[lanes->bar_count++];
    *bar = (struct lapse_bar){lane, event->at.ns, event->at.ns, false, who, token};
    bar_until(bar, event->at.ns, &event->u.apply.answer);
}

/* The end in true time: what is left, counted from the decision. */
static void bar_until(struct lapse_bar *bar, int64_t at, const struct lapse_answer *answer) {
    bar->endless = answer->end.kind == LAPSE_END_NONE;
    if (!lapse_ns_add(at, answer->left.ns, &bar->to)) {
        bar->endless = true;
    }
}

static void stretch_begin(struct lapse_lanes *lanes, enum lapse_stretch_kind kind, int32_t actor,
                          int64_t at, const struct lapse_grant_ref *grant) {
    void *array = lanes->stretches;
    if (!lapse_alloc_grow(lanes->alloc, &array, &lanes->stretch_cap, lanes->stretch_count + 1,
                          sizeof *lanes->stretches)) {
        lanes->failed = true;
        return;
    }
    lanes->stretches = array;
    lanes->stretches[lanes->stretch_count++] =
        (struct lapse_stretch){kind, actor, at, INT64_MAX, grant};
}

static void stretch_end(struct lapse_lanes *lanes, enum lapse_stretch_kind kind, int32_t actor,
                        int64_t at, const struct lapse_grant_ref *grant) {
    for (size_t i = lanes->stretch_count; i-- > 0;) {
        struct lapse_stretch *stretch = &lanes->stretches[i];
        bool same = stretch->kind == kind && stretch->actor == actor && stretch->to == INT64_MAX;
        if (same && grant != NULL) {
            same = stretch->grant->key_lock == grant->key_lock &&
                   lapse_bytes_equal(stretch->grant->name, grant->name);
        }
        if (same) {
            stretch->to = at;
            return;
        }
    }
}

static enum lapse_lane_kind key_kind(const struct lapse_lanes *lanes, struct lapse_bytes bucket) {
    for (size_t i = 0; i < lanes->setup->bucket_count; i++) {
        const struct lapse_setup_bucket *declared = &lanes->setup->buckets[i];
        if (declared->locks && lapse_bytes_equal(declared->name, bucket)) {
            return LAPSE_LANE_LOCK;
        }
    }
    return LAPSE_LANE_KEY;
}
