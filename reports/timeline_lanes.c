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
static bool stops(enum lapse_fault_kind kind);
static void lanes_fault(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static void lanes_belief(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static void focus_tables(struct lapse_lanes *lanes);
static void lanes_instants(struct lapse_lanes *lanes);
static void note_instant(struct lapse_lanes *lanes, int64_t at);
static void note_call(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static struct lapse_bar *bar_live(const struct lapse_lanes *lanes, size_t lane, int64_t at);
static void bar_add(struct lapse_lanes *lanes, size_t lane, const struct lapse_history_event *event,
                    struct lapse_bytes who, int64_t token);
static void bar_until(struct lapse_bar *bar, int64_t at, const struct lapse_answer *answer);
static void stretch_begin(struct lapse_lanes *lanes, enum lapse_stretch_kind kind, int32_t actor,
                          int64_t at, const struct lapse_grant_ref *grant);
static void stretch_end(struct lapse_lanes *lanes, enum lapse_stretch_kind kind, int32_t actor,
                        int64_t at, const struct lapse_grant_ref *grant);

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
    focus_tables(lanes);
    lapse_lanes_focus(lanes, view);
    lanes_instants(lanes);
}

void lapse_lanes_free(struct lapse_lanes *lanes) {
    lapse_alloc_free(lanes->alloc, lanes->calls, lanes->calls_cap * sizeof *lanes->calls);
    lapse_alloc_free(lanes->alloc, lanes->actors, lanes->actors_cap * sizeof *lanes->actors);
    lapse_alloc_free(lanes->alloc, lanes->resources,
                     lanes->resources_cap * sizeof *lanes->resources);
    lapse_alloc_free(lanes->alloc, lanes->lanes, lanes->lane_cap * sizeof *lanes->lanes);
    lapse_alloc_free(lanes->alloc, lanes->slots, lanes->slot_count * sizeof *lanes->slots);
    lapse_alloc_free(lanes->alloc, lanes->bars, lanes->bar_cap * sizeof *lanes->bars);
    lapse_alloc_free(lanes->alloc, lanes->stretches, lanes->stretch_cap * sizeof *lanes->stretches);
    lapse_alloc_free(lanes->alloc, lanes->instants, lanes->instant_cap * sizeof *lanes->instants);
    memset(lanes, 0, sizeof *lanes);
}

const struct lapse_history_event *lapse_lanes_call(const struct lapse_lanes *lanes, int64_t call) {
    return call > 0 && (uint64_t)call < lanes->calls_cap ? lanes->calls[call] : NULL;
}

enum lapse_lane_kind lapse_lanes_kind(const struct lapse_lanes *lanes, struct lapse_bytes bucket) {
    if (bucket.len == 0) {
        return LAPSE_LANE_LEASE;
    }
    for (size_t i = 0; i < lanes->setup->bucket_count; i++) {
        const struct lapse_setup_bucket *declared = &lanes->setup->buckets[i];
        if (declared->locks && lapse_bytes_equal(declared->name, bucket)) {
            return LAPSE_LANE_LOCK;
        }
    }
    return LAPSE_LANE_KEY;
}

static void lanes_event(struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    const struct lapse_history_event *invoke;
    lanes->last = event->at.ns > lanes->last ? event->at.ns : lanes->last;
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        note_call(lanes, event);
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
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        lanes_belief(lanes, event);
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
    size_t lane = lapse_lane_find(lanes, LAPSE_LANE_LEASE, none, request->command.key);
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
    enum lapse_lane_kind kind = lapse_lanes_kind(lanes, command->bucket);
    size_t lane = lapse_lane_find(lanes, kind, command->bucket, command->key);
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

/* Whether who has the fault stands still: late timers, slow work and links have no stretch. */
static bool stops(enum lapse_fault_kind kind) {
    return kind == LAPSE_FAULT_PAUSE || kind == LAPSE_FAULT_SUSPEND || kind == LAPSE_FAULT_FREEZE ||
           kind == LAPSE_FAULT_CRASH || kind == LAPSE_FAULT_RESTART || kind == LAPSE_FAULT_STALL;
}

static void lanes_fault(struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    int32_t node = event->u.fault.node;
    int32_t actor = node >= 0 ? LAPSE_STRETCH_NODE(node) : event->actor;
    bool begins = event->kind == LAPSE_HISTORY_FAULT_BEGIN;
    if (!stops(event->u.fault.kind)) {
        return;
    }
    enum lapse_stretch_kind kind =
        event->u.fault.kind == LAPSE_FAULT_PAUSE || event->u.fault.kind == LAPSE_FAULT_SUSPEND ||
                event->u.fault.kind == LAPSE_FAULT_FREEZE ||
                event->u.fault.kind == LAPSE_FAULT_STALL
            ? LAPSE_STRETCH_PAUSED
            : LAPSE_STRETCH_DOWN;
    if (event->u.fault.kind == LAPSE_FAULT_DISK) {
        return; /* nobody stands still by it */
    }
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

static void focus_tables(struct lapse_lanes *lanes) {
    void *actors = NULL, *resources = NULL;
    size_t actor_count = lanes->setup->actor_count, resource_count = lanes->setup->resource_count;
    bool whole = lapse_alloc_grow(lanes->alloc, &actors, &lanes->actors_cap, actor_count + 1,
                                  sizeof *lanes->actors) &&
                 lapse_alloc_grow(lanes->alloc, &resources, &lanes->resources_cap,
                                  resource_count + 1, sizeof *lanes->resources);
    lanes->actors = actors;
    lanes->resources = resources;
    if (!whole) {
        lanes->failed = true;
        return;
    }
    memset(lanes->actors, 0, lanes->actors_cap * sizeof *lanes->actors);
    memset(lanes->resources, 0, lanes->resources_cap * sizeof *lanes->resources);
}

static int instant_order(const void *a, const void *b) {
    int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return left < right ? -1 : left > right;
}

/* Whether the event has a place in a lane that is shown. */
static bool event_seen(const struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    bool all = lanes->failing == NULL;
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        return all || event->actor < 0 || lanes->actors[event->actor] != LAPSE_FOCUS_NONE;
    case LAPSE_HISTORY_RESOURCE:
        return all || lanes->resources[event->u.resource.resource] != LAPSE_FOCUS_NONE;
    case LAPSE_HISTORY_PROBE:
        return all;
    default:
        return false;
    }
}

/* Instants that the axis keeps apart: rising, unique, not too many. */
static void lanes_instants(struct lapse_lanes *lanes) {
    note_instant(lanes, 0);
    note_instant(lanes, lanes->last);
    for (size_t i = 0; !lanes->failed && i < lapse_history_count(lanes->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(lanes->history, i);
        if (event == lanes->failing || event_seen(lanes, event)) {
            note_instant(lanes, event->at.ns);
        }
    }
    for (size_t i = 0; i < lanes->bar_count; i++) {
        const struct lapse_bar *bar = &lanes->bars[i];
        if (lanes->failing != NULL && !lanes->lanes[bar->lane].focus) {
            continue;
        }
        note_instant(lanes, bar->from);
        /* An end far beyond the run would squeeze the run itself, unless it is all at one instant.
         */
        if (!bar->endless && (lanes->last == 0 || bar->to / 3 <= lanes->last / 2)) {
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

static struct lapse_bar *bar_live(const struct lapse_lanes *lanes, size_t lane, int64_t at) {
    if (lanes->failed || lanes->lanes[lane].bar_last == LAPSE_BAR_NONE) {
        return NULL;
    }
    struct lapse_bar *bar = &lanes->bars[lanes->lanes[lane].bar_last];
    return bar->endless || at < bar->to ? bar : NULL;
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
    struct lapse_bar *bar = &lanes->bars[lanes->bar_count];
    *bar = (struct lapse_bar){
        lane, event->at.ns, event->at.ns, false, who, token, lanes->lanes[lane].bar_last};
    lanes->lanes[lane].bar_last = lanes->bar_count++;
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
