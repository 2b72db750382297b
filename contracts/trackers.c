/* The trackers as one: hands each event to the families that it concerns, and keeps what they
 * share: the calls by id. */
#include "contracts/tracker.h"

#include "track.h"

static enum lapse_status absorb_begin(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event);
static enum lapse_status absorb_invoke(struct lapse_trackers *trackers,
                                       const struct lapse_history_event *event);
static enum lapse_status absorb_apply(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event);
static void absorb_message(struct lapse_trackers *trackers,
                           const struct lapse_history_event *event);
static enum lapse_status absorb_members(struct lapse_trackers *trackers,
                                        struct lapse_tracked_call *call,
                                        const struct lapse_history_event *event);
static enum lapse_status absorb_unknown(struct lapse_trackers *trackers,
                                        const struct lapse_command *command,
                                        const struct lapse_history_event *event);
static void settle(struct lapse_trackers *trackers, const struct lapse_tracked_call *call);
static struct lapse_tracked_call *find_call(const struct lapse_trackers *trackers, int64_t id);
static void close_open_write(struct lapse_trackers *trackers,
                             const struct lapse_history_event *event);

enum lapse_status lapse_trackers_open(const lapse_alloc *alloc, struct lapse_trackers **ret,
                                      struct lapse_error *err) {
    LAPSE_ASSERT(alloc != NULL);
    struct lapse_trackers *trackers = lapse_alloc_zero(alloc, sizeof *trackers);
    if (trackers == NULL)
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the trackers");
    trackers->alloc = alloc;
    trackers->durable_seen = INT64_MAX;
    if (lapse_track_model_open(trackers) != LAPSE_OK) {
        lapse_trackers_close(trackers);
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the trackers");
    }
    *ret = trackers;
    return LAPSE_OK;
}

void lapse_trackers_close(struct lapse_trackers *trackers) {
    if (trackers == NULL)
        return;
    const lapse_alloc *alloc = trackers->alloc;
    lapse_track_kv_free(trackers);
    lapse_track_lease_free(trackers);
    lapse_track_watch_free(trackers);
    lapse_track_belief_free(trackers);
    lapse_track_live_free(trackers);
    lapse_track_fault_free(trackers);
    lapse_track_resource_free(trackers);
    lapse_looks_free(trackers);
    lapse_alloc_free(alloc, trackers->calls, trackers->call_cap * sizeof *trackers->calls);
    lapse_track_session_free(trackers);
    lapse_track_once_free(trackers);
    lapse_track_time_free(trackers);
    lapse_track_role_free(trackers);
    lapse_track_model_free(trackers);
    lapse_alloc_free(alloc, trackers, sizeof *trackers);
}

enum lapse_status lapse_trackers_absorb(struct lapse_trackers *trackers,
                                        const struct lapse_history_event *event) {
    enum lapse_status status = LAPSE_OK;
    if (trackers->looked != event) /* no rule was asked about it */
        lapse_outside_take(&trackers->outside, event);
    trackers->looked = NULL;
    close_open_write(trackers, event);
    status = lapse_track_model_event(trackers, event);
    if (status < 0)
        return status;
    status = lapse_track_live_event(trackers, event);
    if (status < 0)
        return status;
    switch (event->kind) {
    case LAPSE_HISTORY_BEGIN:
        return absorb_begin(trackers, event);
    case LAPSE_HISTORY_INVOKE:
        status = absorb_invoke(trackers, event);
        break;
    case LAPSE_HISTORY_APPLY:
        return absorb_apply(trackers, event);
    case LAPSE_HISTORY_EMIT:
        status = lapse_track_time_event(trackers, event);
        return status < 0 ? status : lapse_track_kv_emit(trackers, event);
    case LAPSE_HISTORY_STEP:
    case LAPSE_HISTORY_CLOCK:
    case LAPSE_HISTORY_TENURE:
        return lapse_track_time_event(trackers, event);
    case LAPSE_HISTORY_ROLE:
        return lapse_track_role_event(trackers, event);
    case LAPSE_HISTORY_REPLY: {
        struct lapse_tracked_call *call = find_call(trackers, event->call);
        if (call != NULL)
            call->reply = event;
        lapse_track_watch_reply(trackers, event);
        break;
    }
    case LAPSE_HISTORY_DELIVER:
        lapse_track_watch_deliver(trackers, event);
        return LAPSE_OK;
    case LAPSE_HISTORY_MESSAGE:
        absorb_message(trackers, event);
        return LAPSE_OK;
    case LAPSE_HISTORY_RESOURCE:
        lapse_track_resource_event(trackers, event);
        return LAPSE_OK;
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
        status = lapse_track_time_event(trackers, event);
        break;
    default:
        break;
    }
    return status < 0 ? status : lapse_track_belief_event(trackers, event);
}

const struct lapse_tracked_call *lapse_tracked_call_find(const struct lapse_trackers *trackers,
                                                         int64_t id) {
    return find_call(trackers, id);
}

void lapse_track_call_resolved(struct lapse_trackers *trackers, int64_t id, int resolved) {
    struct lapse_tracked_call *call = find_call(trackers, id);
    if (call != NULL)
        call->resolved = resolved;
}

const struct lapse_request *lapse_tracked_request(const struct lapse_trackers *trackers,
                                                  const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_INVOKE)
        return &event->u.invoke.request;
    const struct lapse_tracked_call *call = find_call(trackers, event->call);
    return call != NULL ? &call->invoke->u.invoke.request : NULL;
}

static enum lapse_status absorb_begin(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event) {
    trackers->setup = event->u.begin;
    enum lapse_status status = lapse_track_kv_begin(trackers);
    if (status >= 0)
        status = lapse_track_live_begin(trackers);
    return status < 0 ? status : lapse_track_resource_begin(trackers);
}

static enum lapse_status absorb_invoke(struct lapse_trackers *trackers,
                                       const struct lapse_history_event *event) {
    if (event->call <= 0 || find_call(trackers, event->call) != NULL)
        return LAPSE_OK;
    void *calls = trackers->calls;
    if (!lapse_alloc_grow(trackers->alloc, &calls, &trackers->call_cap, trackers->call_count + 1,
                          sizeof *trackers->calls))
        return LAPSE_NOMEM;
    trackers->calls = calls;
    size_t at = trackers->call_count;
    /* Ids rise with time, so this loop ends at once unless a history came from elsewhere. */
    for (; at > 0 && trackers->calls[at - 1].id > event->call; at--)
        trackers->calls[at] = trackers->calls[at - 1];
    trackers->calls[at] = (struct lapse_tracked_call){.id = event->call, .invoke = event};
    trackers->call_count++;
    if (at < trackers->calls_before)
        trackers->calls_before = at;
    return LAPSE_OK;
}

static void absorb_message(struct lapse_trackers *trackers,
                           const struct lapse_history_event *event) {
    struct lapse_tracked_call *call = find_call(trackers, event->call);
    if (call != NULL && !event->u.message.reply && event->u.message.fate == LAPSE_MESSAGE_TWICE)
        call->copied = true;
    if (call != NULL && event->u.message.fate == LAPSE_MESSAGE_FORGED)
        call->forged = true;
    lapse_track_watch_message(trackers, event);
}

static enum lapse_status absorb_apply(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event) {
    struct lapse_tracked_call *call = find_call(trackers, event->call);
    const struct lapse_answer *answer = &event->u.apply.answer;
    if (call == NULL)
        return lapse_track_time_event(trackers, event);
    const struct lapse_command *command = &call->invoke->u.invoke.request.command;
    if (call->decided == 0 && !call->copied)
        settle(trackers, call);
    call->apply = event;
    call->decided++;
    enum lapse_status status = LAPSE_OK;
    if (answer->status == LAPSE_UNKNOWN)
        status = absorb_unknown(trackers, command, event);
    else if (!answer->repeated)
        status = absorb_members(trackers, call, event);
    if (status >= 0)
        status = lapse_track_watch_apply(trackers, command, event);
    if (status >= 0)
        status = lapse_track_once_apply(trackers, command, event);
    /* Last: the reading counts for what was written before it, and for this write too. */
    return status < 0 ? status : lapse_track_time_event(trackers, event);
}

/* A batch that was refused changed nothing, whatever its answers say of its first members. */
static enum lapse_status absorb_members(struct lapse_trackers *trackers,
                                        struct lapse_tracked_call *call,
                                        const struct lapse_history_event *event) {
    const struct lapse_request *request = &call->invoke->u.invoke.request;
    const struct lapse_answer *answer = &event->u.apply.answer;
    size_t count = lapse_member_count(request, answer);
    for (size_t i = 0; i < count; i++) {
        struct lapse_member member;
        lapse_member_at(trackers, request, answer, i, &member);
        enum lapse_status status =
            lapse_track_session_apply(trackers, member.command, &member.answer, event);
        if (status >= 0)
            status = lapse_track_kv_apply(trackers, call, member.command, &member.answer, event);
        if (status >= 0)
            status = lapse_track_lease_apply(trackers, member.command, &member.answer, event);
        if (status < 0)
            return status;
    }
    trackers->open_member = lapse_member_next_event(request, answer, 0);
    trackers->open_write =
        trackers->open_member < count && answer->status == LAPSE_OK ? event : NULL;
    return LAPSE_OK;
}

static enum lapse_status absorb_unknown(struct lapse_trackers *trackers,
                                        const struct lapse_command *command,
                                        const struct lapse_history_event *event) {
    enum lapse_status status = lapse_track_kv_maybe(trackers, command, event);
    lapse_track_kv_untold(trackers, lapse_tracked_store_most(trackers, event->at),
                          event->u.apply.reading.wall, false);
    return status < 0 ? status : lapse_track_lease_maybe(trackers, command);
}

/* A call is decided: what a crash seemed to have left open about it is not. Of one that went out
 * twice the decision on one copy does not tell what became of the other. */
static void settle(struct lapse_trackers *trackers, const struct lapse_tracked_call *call) {
    lapse_track_kv_settle(trackers, &call->invoke->u.invoke.request.command, call->id);
}

static struct lapse_tracked_call *find_call(const struct lapse_trackers *trackers, int64_t id) {
    size_t low = 0, high = trackers->call_count;
    /* Rules ask for an event's call over and over. The world numbers its calls without gaps, so a
     * call lies as far from the first as their numbers do. */
    uint64_t far = high == 0 ? 0 : (uint64_t)id - (uint64_t)trackers->calls[0].id;
    if (id > 0 && far < high && trackers->calls[far].id == id)
        return &trackers->calls[far];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trackers->calls[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    if (id <= 0 || low == trackers->call_count || trackers->calls[low].id != id)
        return NULL;
    return &trackers->calls[low];
}

/* A write's event comes before any other event of the store: past that it is overdue, which is said
 * once, at one of the kinds that WATCH-02 looks at. */
static void close_open_write(struct lapse_trackers *trackers,
                             const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_APPLY || event->kind == LAPSE_HISTORY_REPLY ||
        event->kind == LAPSE_HISTORY_DELIVER || event->kind == LAPSE_HISTORY_TENURE)
        trackers->open_write = NULL;
}

bool lapse_verb_reads_key(int verb) {
    return verb == LAPSE_VERB_GET || verb == LAPSE_VERB_ENTRY || verb == LAPSE_VERB_HAS;
}

bool lapse_verb_writes_key(int verb) {
    return lapse_verb_takes_revision(verb) || verb == LAPSE_VERB_EXPIRE ||
           verb == LAPSE_VERB_PERSIST;
}

bool lapse_command_uses(const struct lapse_command *command) {
    return command != NULL && lapse_verb_reads_key((int)command->verb) && !command->u.read.peek &&
           !command->u.read.has_revision;
}

bool lapse_verb_of_lease(int verb) {
    return verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_EXTEND || verb == LAPSE_VERB_RELEASE ||
           verb == LAPSE_VERB_INSPECT;
}

bool lapse_verb_of_session(int verb) {
    return verb == LAPSE_VERB_SESSION || verb == LAPSE_VERB_KEEPALIVE || verb == LAPSE_VERB_CLOSE;
}

bool lapse_verb_lists(int verb) {
    return verb == LAPSE_VERB_LIST || verb == LAPSE_VERB_ALL || verb == LAPSE_VERB_COUNT;
}

bool lapse_verb_takes_revision(int verb) {
    return lapse_verb_event(verb) != 0;
}

enum lapse_event_kind lapse_verb_event(int verb) {
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        return LAPSE_EVENT_PUT;
    case LAPSE_VERB_DELETE:
        return LAPSE_EVENT_DELETE;
    case LAPSE_VERB_PURGE:
        return LAPSE_EVENT_PURGE;
    default:
        return 0;
    }
}
