/* The tracker of time: what the store's clocks read and when, where it stood still, when it began
 * anew, and which commits nothing but time's own marks explain. */
#include "track.h"

static struct lapse_steady store_after(const struct lapse_trackers *trackers,
                                       struct lapse_true_time at, bool most);
static enum lapse_status take_peak(struct lapse_trackers *trackers, int64_t seq, int64_t wall_ns);
static void take_store(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                       struct lapse_steady store);
static void take_fault(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static void take_disk(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static void gives_up(struct lapse_trackers *trackers, struct lapse_true_time at);
static void disk_works(struct lapse_trackers *trackers, struct lapse_true_time at);
static void stop_ends(struct lapse_trackers *trackers, struct lapse_true_time at, unsigned bits);
static enum lapse_status take_tenure(struct lapse_trackers *trackers,
                                     const struct lapse_history_event *event);
static enum lapse_status take_unanswered(struct lapse_trackers *trackers,
                                         const struct lapse_tracked_call *call);
static enum lapse_status take_move(struct lapse_trackers *trackers,
                                   const struct lapse_history_event *event);
static void take_commit(struct lapse_trackers *trackers, const struct lapse_history_event *event);
static bool reads(const struct lapse_trackers *trackers, const struct lapse_history_event *event);

#define BIT(kind) (1U << (unsigned)(kind))

enum lapse_status lapse_track_time_event(struct lapse_trackers *trackers,
                                         const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_APPLY:
        take_commit(trackers, event);
        if (event->u.apply.answer.status < 0)
            return LAPSE_OK;
        disk_works(trackers, event->at);
        take_store(trackers, event, event->u.apply.answer.at);
        return take_peak(trackers, event->seq, event->u.apply.answer.wall.ns);
    case LAPSE_HISTORY_EMIT:
        take_store(trackers, event, event->u.emit.event.at);
        return LAPSE_OK;
    case LAPSE_HISTORY_STEP:
        if (event->u.step.status < 0) {
            lapse_track_kv_untold(trackers, lapse_tracked_store_most(trackers, event->at),
                                  event->u.step.reading.wall, true);
            gives_up(trackers, event->at);
            return LAPSE_OK;
        }
        disk_works(trackers, event->at);
        trackers->mark_known = false; /* what a step has committed is not shown by it */
        trackers->durable_seen = INT64_MAX;
        take_store(trackers, event, event->u.step.store);
        return take_peak(trackers, event->seq, event->u.step.reading.wall.ns);
    case LAPSE_HISTORY_CLOCK:
        return event->u.clock.whose.kind == LAPSE_PARTY_NODE ? take_move(trackers, event)
                                                             : LAPSE_OK;
    case LAPSE_HISTORY_TENURE:
        return take_tenure(trackers, event);
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
        take_fault(trackers, event);
        return LAPSE_OK;
    default:
        return LAPSE_OK;
    }
}

void lapse_track_time_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->peaks,
                     trackers->peak_cap * sizeof *trackers->peaks);
    lapse_alloc_free(trackers->alloc, (void *)trackers->wall_moves,
                     trackers->wall_move_cap * sizeof *trackers->wall_moves);
}

int64_t lapse_tracked_wall_moved(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *since) {
    int64_t moved = 0;
    for (size_t i = trackers->wall_move_count; i > 0; i--) {
        const struct lapse_history_event *move = trackers->wall_moves[i - 1];
        int64_t step = 0;
        if (move->seq < since->seq)
            break;
        if (lapse_ns_sub(move->u.clock.after.wall.ns, move->u.clock.before.wall.ns, &step))
            (void)lapse_ns_add(moved, step, &moved);
    }
    return moved;
}

bool lapse_track_commit_unexplained(const struct lapse_trackers *trackers,
                                    const struct lapse_history_event *event) {
    return !trackers->dated && reads(trackers, event) &&
           event->u.apply.durable_point > trackers->durable_seen && trackers->mark_known &&
           lapse_steady_between(trackers->mark_at, event->u.apply.answer.at).ns < LAPSE_NS_PER_S;
}

int64_t lapse_tracked_drift(const struct lapse_trackers *trackers, int64_t elapsed_ns) {
    int64_t rate = trackers->setup != NULL ? trackers->setup->rate_ppb : 0;
    int64_t drift = 0;
    if (rate > 0 && elapsed_ns > 0)
        drift = lapse_ns_scale(elapsed_ns, rate, LAPSE_NS_PER_S, &drift) ? drift + 1 : elapsed_ns;
    return lapse_ns_add(drift, trackers->tick_ns, &drift) ? drift : INT64_MAX;
}

struct lapse_steady lapse_tracked_store_time(const struct lapse_trackers *trackers,
                                             struct lapse_true_time at) {
    return store_after(trackers, at, false);
}

struct lapse_steady lapse_tracked_store_most(const struct lapse_trackers *trackers,
                                             struct lapse_true_time at) {
    return store_after(trackers, at, true);
}

/* From where store time was last told, or the rate last set; rounding and a tick can take away less
 * than a nanosecond and a tick, and can add as much. */
static struct lapse_steady store_after(const struct lapse_trackers *trackers,
                                       struct lapse_true_time at, bool most) {
    int64_t rate = LAPSE_NS_PER_S + trackers->rate_ppb;
    int64_t passed = 0, store = 0;
    if (!lapse_ns_sub(at.ns, trackers->pace_at.ns, &passed) || passed <= 0)
        return trackers->pace_store;
    if (!lapse_ns_scale(passed, rate, LAPSE_NS_PER_S, &passed))
        passed = INT64_MAX;
    int64_t off = most ? trackers->tick_ns + (trackers->rate_ppb != 0) : -trackers->tick_ns;
    if (!lapse_ns_add(passed, off, &passed) || passed < 0)
        passed = most ? INT64_MAX : 0;
    return (struct lapse_steady){
        lapse_ns_add(trackers->pace_store.ns, passed, &store) ? store : INT64_MAX};
}

/* Keeps the list falling: a reading hides all earlier ones that are not above it. */
static enum lapse_status take_peak(struct lapse_trackers *trackers, int64_t seq, int64_t wall_ns) {
    while (trackers->peak_count > 0 && trackers->peaks[trackers->peak_count - 1].wall_ns <= wall_ns)
        trackers->peak_count--;
    void *peaks = trackers->peaks;
    if (!lapse_alloc_grow(trackers->alloc, &peaks, &trackers->peak_cap, trackers->peak_count + 1,
                          sizeof *trackers->peaks))
        return LAPSE_NOMEM;
    trackers->peaks = peaks;
    trackers->peaks[trackers->peak_count++] =
        (struct lapse_tracked_peak){.seq = seq, .wall_ns = wall_ns};
    return LAPSE_OK;
}

static void take_store(struct lapse_trackers *trackers, const struct lapse_history_event *event,
                       struct lapse_steady store) {
    trackers->seen_at = event->at;
    trackers->seen_store = store;
    trackers->pace_at = event->at;
    trackers->pace_store = store;
    trackers->seen = event;
    bool shown = event->kind != LAPSE_HISTORY_TENURE; /* nobody has been told yet */
    if (!shown || (trackers->highest_by != NULL && store.ns < trackers->store_highest.ns))
        return;
    trackers->store_highest = store;
    trackers->highest_by = event;
}

/* A crash ends a pause of the process, and a start ends the crash. */
static void take_fault(struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    enum lapse_fault_kind kind = event->u.fault.kind;
    if (kind == LAPSE_FAULT_DISK) {
        take_disk(trackers, event);
        return;
    }
    if (event->u.fault.node < 0) {
        lapse_track_watch_fault(trackers, event);
        return;
    }
    if (kind == LAPSE_FAULT_SLOW) /* calls wait for it, its housekeeping does not */
        return;
    if (kind == LAPSE_FAULT_RESTART) {
        stop_ends(trackers, event->at, BIT(LAPSE_FAULT_CRASH));
    } else if (event->kind == LAPSE_HISTORY_FAULT_END) {
        if (kind != LAPSE_FAULT_CRASH)
            trackers->slept = event;
        stop_ends(trackers, event->at, BIT(kind));
    } else {
        if (trackers->node_stops == 0)
            trackers->node_stopped = lapse_tracked_store_time(trackers, event->at);
        if ((trackers->node_stops & BIT(LAPSE_FAULT_STALL)) != 0)
            lapse_track_kv_untold(trackers, lapse_tracked_store_most(trackers, event->at),
                                  (struct lapse_wall){INT64_MAX}, true);
        if (kind == LAPSE_FAULT_CRASH) {
            trackers->node_stops = 0;
            trackers->node_crashed = true;
            trackers->node_crashed_at = trackers->node_stopped;
        }
        trackers->node_stops |= BIT(kind);
        trackers->node_paused = true;
    }
}

/* While writes may fail nothing is owed by housekeeping, nor after that before the store shows that
 * it has not given up. */
static void take_disk(struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    enum lapse_disk_fault disk = event->u.fault.disk;
    if (disk == LAPSE_DISK_ROT && trackers->rot == NULL)
        trackers->rot = event;
    if (disk == LAPSE_DISK_ROT || disk == LAPSE_DISK_TEAR)
        return;
    if (event->kind == LAPSE_HISTORY_FAULT_END) {
        trackers->disk_faults &= ~BIT(disk);
        return;
    }
    trackers->disk_faults |= BIT(disk);
    gives_up(trackers, event->at);
}

static void gives_up(struct lapse_trackers *trackers, struct lapse_true_time at) {
    if (trackers->node_stops == 0)
        trackers->node_stopped = lapse_tracked_store_time(trackers, at);
    trackers->node_stops |= BIT(LAPSE_FAULT_DISK);
    trackers->node_paused = true;
}

/* A store that has given up answers nothing any more. */
static void disk_works(struct lapse_trackers *trackers, struct lapse_true_time at) {
    if (trackers->disk_faults == 0 && (trackers->node_stops & BIT(LAPSE_FAULT_DISK)) != 0)
        stop_ends(trackers, at, BIT(LAPSE_FAULT_DISK));
}

static void stop_ends(struct lapse_trackers *trackers, struct lapse_true_time at, unsigned bits) {
    trackers->node_stops &= ~bits;
    trackers->node_paused = trackers->node_stops != 0;
    trackers->node_was_paused = true;
    trackers->node_woke = at;
}

/* Under full sync nothing that was answered is lost; with less the last commits may be. */
static enum lapse_status take_tenure(struct lapse_trackers *trackers,
                                     const struct lapse_history_event *event) {
    const struct lapse_setup *setup = trackers->setup;
    bool lost = setup == NULL || !setup->durable || setup->sync != LAPSE_SYNC_FULL;
    bool all = setup == NULL || !setup->durable || setup->sync == LAPSE_SYNC_NONE;
    lapse_track_kv_tenure(trackers, event, lost);
    lapse_track_lease_tenure(trackers, event, lost);
    lapse_track_watch_tenure(trackers, event, all);
    if (lost)
        trackers->once_count = 0;
    if (all) {
        trackers->highest_by = NULL;
        trackers->token_highest = 0;
        for (size_t i = 0; i < trackers->bucket_count; i++) {
            lapse_track_first_number(&trackers->buckets[i]);
            trackers->buckets[i].event_base = trackers->buckets[i].event_count;
        }
        for (size_t i = 0; i < trackers->lease_count; i++)
            trackers->leases[i].token_highest = 0;
    }
    enum lapse_status status = LAPSE_OK;
    for (size_t i = trackers->calls_before; status == LAPSE_OK && i < trackers->call_count; i++)
        status = take_unanswered(trackers, &trackers->calls[i]);
    stop_ends(trackers, event->at, ~0U);
    if (trackers->disk_faults != 0)
        gives_up(trackers, event->at);
    trackers->node_crashed = false;
    trackers->calls_before = trackers->call_count;
    trackers->tenure = event;
    if (event->u.tenure.machine)
        trackers->machine_tenure = event;
    trackers->slept = NULL;
    trackers->durable_seen = INT64_MAX;
    trackers->mark_known = false;
    take_store(trackers, event, event->u.tenure.store);
    return status < 0 ? status : take_peak(trackers, event->seq, event->u.tenure.reading.wall.ns);
}

/* A call that was sent before the crash and never decided, as far as its client can know. What a
 * tenure before has left open is not opened again. */
static enum lapse_status take_unanswered(struct lapse_trackers *trackers,
                                         const struct lapse_tracked_call *call) {
    const struct lapse_command *command = &call->invoke->u.invoke.request.command;
    bool told = call->reply != NULL && call->reply->u.reply.answer.status != LAPSE_UNKNOWN;
    bool before = trackers->tenure != NULL && call->invoke->seq < trackers->tenure->seq;
    bool to_store = call->invoke->u.invoke.request.verb < LAPSE_CALL_WRITE;
    /* The second copy of a request is answered to nobody; under an id it does nothing more. */
    bool copy = call->copied && call->decided < 2 && command->request.len == 0;
    bool known = !copy && (call->apply != NULL || told);
    if (known || before || !to_store)
        return LAPSE_OK;
    enum lapse_status status = lapse_track_kv_maybe(trackers, command, call->invoke);
    return status < 0 ? status : lapse_track_lease_maybe(trackers, command);
}

static enum lapse_status take_move(struct lapse_trackers *trackers,
                                   const struct lapse_history_event *event) {
    void *moves = (void *)trackers->wall_moves;
    trackers->mark_known = false; /* a wall that parts from the raw clock is marked at once */
    if (!lapse_alloc_grow(trackers->alloc, &moves, &trackers->wall_move_cap,
                          trackers->wall_move_count + 1, sizeof *trackers->wall_moves))
        return LAPSE_NOMEM;
    trackers->pace_store = lapse_tracked_store_time(trackers, event->at);
    trackers->pace_at = event->at;
    trackers->rate_ppb = event->u.clock.stopped ? -LAPSE_NS_PER_S : event->u.clock.rate_ppb;
    trackers->tick_ns = event->u.clock.tick_ns > 1 ? event->u.clock.tick_ns - 1 : 0;
    trackers->wall_moves = moves;
    trackers->wall_moves[trackers->wall_move_count++] = event;
    return LAPSE_OK;
}

/* The first answer after a start, a step or a write says how far commits have come; from then on a
 * read that shows a newer one shows that something was committed in between. */
static void take_commit(struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    int64_t point = event->u.apply.durable_point;
    if (!reads(trackers, event)) {
        trackers->durable_seen = INT64_MAX;
        trackers->mark_known = false;
        return;
    }
    if (trackers->durable_seen != INT64_MAX && point > trackers->durable_seen) {
        trackers->mark_known = true;
        trackers->mark_at = event->u.apply.answer.at;
    }
    if (trackers->durable_seen == INT64_MAX || point > trackers->durable_seen)
        trackers->durable_seen = point;
}

/* An accepted read that renewed nothing, and whose answer says how far commits have come. */
static bool reads(const struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    const struct lapse_request *request = lapse_tracked_request(trackers, event);
    const struct lapse_answer *answer = &event->u.apply.answer;
    if (request == NULL || answer->status < 0 || answer->renewed ||
        event->u.apply.durable_point == 0)
        return false;
    return lapse_verb_reads_key(request->verb) || lapse_verb_lists(request->verb) ||
           request->verb == LAPSE_VERB_INSPECT || request->verb == LAPSE_VERB_HISTORY;
}
