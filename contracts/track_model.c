/* The model beside the store: each decision of a history is replayed in it, in the order in which
 * they were made. */
#include "track.h"

static enum lapse_status begin(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event);
static enum lapse_status replay(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event);
static void begin_anew(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event);
static void take_clock(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event);
static void end_call(struct lapse_tracked_model *lin, const struct lapse_history_event *event);

enum lapse_status lapse_track_model_open(struct lapse_trackers *trackers) {
    trackers->lin = lapse_alloc_zero(trackers->alloc, sizeof *trackers->lin);
    if (trackers->lin == NULL)
        return LAPSE_NOMEM;
    trackers->lin->at = -1;
    trackers->lin->agrees = true;
    return LAPSE_OK;
}

void lapse_track_model_free(struct lapse_trackers *trackers) {
    if (trackers->lin != NULL)
        lapse_model_close(trackers->lin->model);
    lapse_alloc_free(trackers->alloc, trackers->lin, sizeof *trackers->lin);
}

enum lapse_status lapse_track_model_event(const struct lapse_trackers *trackers,
                                          const struct lapse_history_event *event) {
    struct lapse_tracked_model *lin = trackers->lin;
    if (lin->failed)
        return LAPSE_NOMEM;
    if (event->seq < lin->next)
        return LAPSE_OK;
    lin->next = event->seq + 1;
    lin->at = -1;
    lin->agrees = true;
    if (event->kind == LAPSE_HISTORY_BEGIN)
        return begin(trackers, event);
    if (lin->model == NULL)
        return LAPSE_OK;
    switch (event->kind) {
    case LAPSE_HISTORY_APPLY:
        return replay(trackers, event);
    case LAPSE_HISTORY_EMIT:
        lin->at = event->seq;
        lin->agrees =
            lapse_model_emit(lin->model, &event->u.emit.event, event->call > 0, &lin->odd);
        lin->waits = lin->waits && lin->agrees;
        break;
    case LAPSE_HISTORY_REPLY:
    case LAPSE_HISTORY_END:
        if (lin->waits)
            end_call(lin, event);
        break;
    case LAPSE_HISTORY_STEP:
        end_call(lin, event);
        if (event->u.step.status == LAPSE_OK)
            lapse_model_step(lin->model, event->u.step.store, event->u.step.reading.wall);
        break;
    case LAPSE_HISTORY_TENURE:
        begin_anew(trackers, event);
        break;
    case LAPSE_HISTORY_ROLE:
        if (lapse_tracked_lead_passes(trackers, event))
            lapse_model_lead(lin->model);
        break;
    case LAPSE_HISTORY_CLOCK:
        take_clock(trackers, event);
        break;
    default:
        break;
    }
    return LAPSE_OK;
}

static enum lapse_status begin(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    const struct lapse_setup *setup = event->u.begin;
    struct lapse_tracked_model *lin = trackers->lin;
    if (lin->model != NULL || !lapse_model_covers(&setup->policies))
        return LAPSE_OK;
    enum lapse_status status = lapse_model_open(trackers->alloc, setup, &lin->model);
    lin->failed = status < 0;
    return status;
}

static enum lapse_status replay(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    struct lapse_tracked_model *lin = trackers->lin;
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    const struct lapse_answer *told = &event->u.apply.answer;
    struct lapse_model_answer must;
    end_call(lin, event);
    if (call == NULL || call->invoke->u.invoke.request.verb >= LAPSE_CALL_WRITE)
        return LAPSE_OK;
    const struct lapse_command *command = &call->invoke->u.invoke.request.command;
    enum lapse_status status = lapse_model_apply(lin->model, command, told, event->seq, &must);
    if (status < 0) {
        lin->failed = true;
        return status;
    }
    bool late = !lin->agrees; /* an event of the call before is missing: that is said first */
    lin->at = event->seq;
    if (late)
        return LAPSE_OK;
    lin->agrees = lapse_model_agrees(lin->model, command, &must, told, &lin->odd);
    lin->waits = !lin->agrees && lin->odd.of_event;
    lin->agrees = lin->agrees || lin->waits;
    lin->waiting = lin->odd;
    return LAPSE_OK;
}

/* Under full sync nothing that was answered is lost; with less the last commits may be. Calls that
 * nobody saw decided may have been. */
static void begin_anew(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event) {
    struct lapse_tracked_model *lin = trackers->lin;
    const struct lapse_setup *setup = trackers->setup;
    bool lost = !setup->durable || setup->sync != LAPSE_SYNC_FULL ||
                event->u.tenure.restored != LAPSE_RESTORED_NO;
    lapse_model_tenure(lin->model, event->u.tenure.store, event->u.tenure.reading.wall, lost);
    for (size_t i = lin->calls_from; i < trackers->call_count; i++) {
        const struct lapse_tracked_call *call = &trackers->calls[i];
        bool of_store = call->invoke->u.invoke.request.verb < LAPSE_CALL_WRITE;
        bool done = call->decided > 0 && !call->copied;
        if (of_store && !done)
            lapse_model_maybe(lin->model, &call->invoke->u.invoke.request.command);
        if ((done || !of_store) && lin->calls_from == i)
            lin->calls_from++;
    }
}

static void take_clock(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event) {
    bool of_node = event->u.clock.whose.kind == LAPSE_PARTY_NODE;
    if (of_node && event->u.clock.after.wall.ns < event->u.clock.before.wall.ns)
        lapse_model_wall_back(trackers->lin->model, event->u.clock.before.wall);
}

/* The events of a call come right after it. */
static void end_call(struct lapse_tracked_model *lin, const struct lapse_history_event *event) {
    lin->at = event->seq;
    lin->agrees = lapse_model_told_all(lin->model, &lin->odd);
    if (lin->waits && lin->agrees) {
        lin->agrees = false;
        lin->odd = lin->waiting;
    }
    lin->waits = false;
}
