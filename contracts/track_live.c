/* The tracker of loops: when each fired, what its last try for a lease was answered, and since when
 * nothing stands in its way. */
#include "track.h"

static struct lapse_tracked_loop *loop_of(struct lapse_trackers *trackers, int32_t index);
static void take_invoke(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static void take_reply(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static void take_message(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static void take_clock(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static void wake_up(struct lapse_trackers *trackers, int32_t actor);
static void lose_sight(struct lapse_trackers *trackers, int32_t actor);

enum lapse_status lapse_track_live_begin(struct lapse_trackers *trackers) {
    size_t count = trackers->setup->loop_count;
    if (count == 0)
        return LAPSE_OK;
    trackers->loops = lapse_alloc_zero(trackers->alloc, count * sizeof *trackers->loops);
    if (trackers->loops == NULL)
        return LAPSE_NOMEM;
    trackers->loop_count = count;
    return LAPSE_OK;
}

enum lapse_status lapse_track_live_event(struct lapse_trackers *trackers,
                                         const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        take_invoke(trackers, event);
        break;
    case LAPSE_HISTORY_REPLY:
        take_reply(trackers, event);
        break;
    case LAPSE_HISTORY_UNBOUND:
    case LAPSE_HISTORY_STOPPED:
        lose_sight(trackers, event->actor);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
        trackers->fault = event;
        return lapse_track_fault_event(trackers, event);
    case LAPSE_HISTORY_FAULT_END:
        trackers->fault = event;
        if (event->u.fault.kind == LAPSE_FAULT_CRASH && event->u.fault.node < 0)
            lose_sight(trackers, event->actor);
        wake_up(trackers, event->actor);
        return lapse_track_fault_event(trackers, event);
    case LAPSE_HISTORY_MESSAGE:
        take_message(trackers, event);
        break;
    case LAPSE_HISTORY_APPLY:
    case LAPSE_HISTORY_TENURE:
        lapse_track_fault_opened(trackers, event);
        break;
    case LAPSE_HISTORY_CLOCK:
        trackers->fault = event;
        take_clock(trackers, event);
        break;
    default:
        break;
    }
    return LAPSE_OK;
}

/* What a line of the plan does to its own messages is in its client's way. Chance loses some only
 * while a fault of a link stands. */
static void take_message(struct lapse_trackers *trackers,
                         const struct lapse_history_event *event) {
    if (!trackers->setup->chaos || event->u.message.fate != LAPSE_MESSAGE_LOST)
        trackers->fault = event;
}

/* A clock that runs fast passes over readings, and a coarse one over all but its ticks. */
static void take_clock(struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    int64_t coarse = event->u.clock.tick_ns;
    if (event->u.clock.whose.kind != LAPSE_PARTY_ACTOR)
        return;
    if (coarse > trackers->coarse_ns)
        trackers->coarse_ns = coarse;
}

void lapse_track_live_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->loops,
                     trackers->loop_count * sizeof *trackers->loops);
}

bool lapse_tracked_free_since(const struct lapse_trackers *trackers, struct lapse_bytes name,
                              struct lapse_true_time at, struct lapse_true_time *ret) {
    const struct lapse_tracked_lease *lease = lapse_tracked_lease_find(trackers, name);
    *ret = (struct lapse_true_time){0};
    if (lease == NULL || lease->grant_count == 0)
        return !trackers->leases_unsure;
    if (lease->unsure || trackers->leases_unsure)
        return false;
    const struct lapse_tracked_grant *grant = &lease->grants[lease->grant_count - 1];
    const struct lapse_history_event *gone = grant->released != NULL ? grant->released
                                                                     : grant->lost;
    if (gone != NULL) {
        *ret = gone->at;
        return true;
    }
    struct lapse_steady now = lapse_tracked_store_time(trackers, at);
    int64_t since;
    if (grant->end.kind != LAPSE_END_STEADY || grant->end.ns > now.ns || grant->session > 0 ||
        !lapse_ns_sub(now.ns, grant->end.ns, &since))
        return false;
    ret->ns = at.ns - since;
    return true;
}

static struct lapse_tracked_loop *loop_of(struct lapse_trackers *trackers, int32_t index) {
    return index >= 0 && (size_t)index < trackers->loop_count ? &trackers->loops[index] : NULL;
}

/* A firing begins with the first call of its number. */
static void take_invoke(struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    struct lapse_tracked_loop *loop = loop_of(trackers, event->u.invoke.loop);
    if (loop == NULL)
        return;
    bool other = loop->starts[0] != NULL && loop->starts[0]->incarnation != event->incarnation;
    if (other)
        *loop = (struct lapse_tracked_loop){.refused = NULL};
    if (loop->blind) {
        loop->part_n = event->n;
        loop->blind = false;
    }
    bool begins = loop->starts[0] == NULL || loop->starts[0]->n != event->n;
    if (begins && loop->part_n != event->n) {
        loop->starts[1] = loop->starts[0];
        loop->starts[0] = event;
        loop->held_up[1] = loop->held_up[0];
        loop->held_up[0] = loop->woke;
    }
    loop->woke = false;
    loop->refused = NULL;
    loop->last = event;
    loop->in_flight++;
}

static void take_reply(struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    if (!event->u.reply.sent || call == NULL) {
        lose_sight(trackers, event->actor);
        return;
    }
    bool whole = event->u.reply.answer.status != LAPSE_UNKNOWN && trackers->faults_open == 0;
    if (whole && event->u.reply.answer.took.ns > trackers->took.ns)
        trackers->took = event->u.reply.answer.took;
    struct lapse_tracked_loop *loop = loop_of(trackers, call->invoke->u.invoke.loop);
    if (loop == NULL || loop->starts[0] == NULL ||
        loop->starts[0]->incarnation != event->incarnation)
        return;
    enum lapse_status status = event->u.reply.answer.status;
    loop->last = event;
    loop->in_flight -= loop->in_flight > 0;
    bool tries = event->u.reply.verb == LAPSE_VERB_ACQUIRE;
    bool denied = status == LAPSE_HELD || status == LAPSE_UNAVAILABLE || status == LAPSE_UNKNOWN;
    loop->refused = tries && denied ? event : NULL;
    loop->name = call->invoke->u.invoke.request.command.key;
}

/* What waited for a client that stood still, or starved, comes now. */
static void wake_up(struct lapse_trackers *trackers, int32_t actor) {
    for (size_t i = 0; actor >= 0 && i < trackers->loop_count; i++) {
        if (trackers->setup->loops[i].actor == actor)
            trackers->loops[i].woke = true;
    }
}

/* A line that sends nothing is not told under its loop: what the actor's loops do is not known
 * again before they fire. */
static void lose_sight(struct lapse_trackers *trackers, int32_t actor) {
    for (size_t i = 0; i < trackers->loop_count; i++) {
        if (trackers->setup->loops[i].actor == actor)
            trackers->loops[i] = (struct lapse_tracked_loop){.blind = true};
    }
}
