/* LIVE-01 and LIVE-02: what must come about in the end. Both judge by what a history shows of a
 * loop, so they speak only of loops in which nothing but calls takes time. */
#include "rules.h"
#include "track.h"

static const struct lapse_tracked_loop *overdue(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event,
                                                int64_t *ret_late_ns);
static bool fails_though_free(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event);
static bool patience(const struct lapse_trackers *trackers, size_t index, int64_t *ret_ns);
static int64_t later(int64_t a, int64_t b);
static const struct lapse_tracked_loop *firing(const struct lapse_trackers *trackers,
                                               const struct lapse_history_event *event,
                                               const struct lapse_setup_loop **ret_setup);
static bool spins(const struct lapse_trackers *trackers, const struct lapse_setup_loop *setup,
                  const struct lapse_tracked_loop *loop, const struct lapse_history_event *event);
static bool stalls(const struct lapse_trackers *trackers, const struct lapse_setup_loop *setup,
                   const struct lapse_tracked_loop *loop, const struct lapse_history_event *event);

/* A loop's try that ends a wait meets it, and so does one that waits too long, or that fails while
 * nothing is in its way. */
bool lapse_rule_live_01_premise(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    int64_t late_ns;
    if (trackers->loop_count == 0 || trackers->faults_open > 0)
        return false;
    if (event->kind != LAPSE_HISTORY_REPLY)
        return overdue(trackers, event, &late_ns) != NULL;
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    int32_t loop = call != NULL ? call->invoke->u.invoke.loop : -1;
    bool granted = event->u.reply.verb == LAPSE_VERB_ACQUIRE &&
                   event->u.reply.answer.status == LAPSE_OK;
    return (granted && loop >= 0 && trackers->setup->loops[loop].steady) ||
           fails_though_free(trackers, event) || overdue(trackers, event, &late_ns) != NULL;
}

bool lapse_rule_live_01_holds(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event,
                              struct lapse_violation *ret) {
    int64_t late_ns = 0;
    if (event->kind == LAPSE_HISTORY_REPLY && fails_though_free(trackers, event)) {
        const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
        struct lapse_rule_text key = lapse_text_name(call->invoke->u.invoke.request.command.key);
        lapse_violation_label(ret, event, "answered %s",
                              lapse_status_word(event->u.reply.answer.status));
        lapse_violation_label(ret, call->invoke, "asked for it here");
        lapse_violation_label(ret, trackers->fault, "the last fault");
        return lapse_violation_say(ret, "%s was free, no fault stood, and who asked did not get it",
                                   key.text);
    }
    const struct lapse_tracked_loop *loop = overdue(trackers, event, &late_ns);
    if (loop == NULL)
        return true;
    struct lapse_rule_text who = lapse_text_actor(trackers, loop->refused);
    struct lapse_rule_text name = lapse_text_name(loop->name);
    struct lapse_rule_text late = lapse_text_ns(late_ns);
    lapse_violation_label(ret, event, "still free here");
    lapse_violation_label(ret, loop->refused, "its last try, answered %s",
                          lapse_status_word(loop->refused->u.reply.answer.status));
    lapse_violation_label(ret, trackers->fault, "the last fault");
    return lapse_violation_say(ret, "%s was free, %s wanted it, and %s after it must have had it "
                                    "nobody has",
                               name.text, who.text, late.text);
}

bool lapse_rule_live_02_premise(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    const struct lapse_setup_loop *setup;
    return firing(trackers, event, &setup) != NULL;
}

bool lapse_rule_live_02_holds(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event,
                              struct lapse_violation *ret) {
    const struct lapse_setup_loop *setup = NULL;
    const struct lapse_tracked_loop *loop = firing(trackers, event, &setup);
    struct lapse_rule_text who = lapse_text_actor(trackers, event);
    struct lapse_rule_text period = lapse_text_ns(setup->period.ns);
    if (spins(trackers, setup, loop, event)) {
        lapse_violation_label(ret, event, "fires again");
        lapse_violation_label(ret, loop->starts[0], "the firing before");
        return lapse_violation_say(ret, "a loop of %s fires faster than its period of %s", who.text,
                                   period.text);
    }
    if (!stalls(trackers, setup, loop, event))
        return true;
    lapse_violation_label(ret, event, "fires late");
    lapse_violation_label(ret, loop->last, "its last call was over");
    return lapse_violation_say(ret, "a loop of %s was still for longer than its period of %s",
                               who.text, period.text);
}

/* The first loop that has waited longer for a free name than anything can hold it up. */
static const struct lapse_tracked_loop *overdue(const struct lapse_trackers *trackers,
                                                const struct lapse_history_event *event,
                                                int64_t *ret_late_ns) {
    for (size_t i = 0; i < trackers->loop_count; i++) {
        const struct lapse_tracked_loop *loop = &trackers->loops[i];
        struct lapse_true_time free_at;
        int64_t wait_ns, due_ns;
        if (loop->refused == NULL || !trackers->setup->loops[i].steady ||
            !patience(trackers, i, &wait_ns) ||
            !lapse_tracked_free_since(trackers, loop->name, event->at, &free_at))
            continue;
        int64_t from_ns = later(free_at.ns, loop->refused->at.ns);
        from_ns = later(from_ns, trackers->fault != NULL ? trackers->fault->at.ns : 0);
        if (!lapse_ns_add(from_ns, wait_ns, &due_ns) || event->at.ns <= due_ns)
            continue;
        *ret_late_ns = event->at.ns - due_ns;
        return loop;
    }
    return NULL;
}

/* A loop asked for a lease that was free, after the last fault: whatever it took, it must get it,
 * since its next try comes a period later. */
static bool fails_though_free(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event) {
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    enum lapse_status status = event->u.reply.answer.status;
    struct lapse_true_time free_at;
    if (call == NULL || event->u.reply.verb != LAPSE_VERB_ACQUIRE ||
        (status != LAPSE_UNAVAILABLE && status != LAPSE_UNKNOWN) ||
        call->invoke->u.invoke.loop < 0 ||
        !trackers->setup->loops[call->invoke->u.invoke.loop].steady)
        return false;
    struct lapse_bytes name = call->invoke->u.invoke.request.command.key;
    bool after = trackers->fault == NULL || call->invoke->seq > trackers->fault->seq;
    return after && lapse_tracked_free_since(trackers, name, event->at, &free_at) &&
           call->invoke->at.ns >= free_at.ns;
}

/* A period by a clock that may be slow, as may the one that told when the name was free; what
 * chance may add, and a round trip; false: no sum. */
static bool patience(const struct lapse_trackers *trackers, size_t index, int64_t *ret_ns) {
    const struct lapse_setup_loop *setup = &trackers->setup->loops[index];
    int64_t sum = later(setup->period.ns, setup->retry.ns);
    int64_t drift = lapse_tracked_drift(trackers, sum);
    return lapse_ns_add(sum, drift, &sum) && lapse_ns_add(sum, drift, &sum) &&
           lapse_ns_add(sum, setup->slack.ns, &sum) &&
           lapse_ns_add(sum, trackers->took.ns, ret_ns);
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The loop of which a call begins a new firing, as it was before; NULL: none, or its first. */
static const struct lapse_tracked_loop *firing(const struct lapse_trackers *trackers,
                                               const struct lapse_history_event *event,
                                               const struct lapse_setup_loop **ret_setup) {
    int32_t index = event->u.invoke.loop;
    if (index < 0 || (size_t)index >= trackers->loop_count)
        return NULL;
    const struct lapse_tracked_loop *loop = &trackers->loops[index];
    *ret_setup = &trackers->setup->loops[index];
    bool same = loop->starts[0] != NULL && loop->starts[0]->incarnation == event->incarnation;
    return same && loop->starts[0]->n != event->n ? loop : NULL;
}

/* By the client's own clock. A firing comes before its first call by what the plan lets pass there,
 * or by more where its client stood still meanwhile. After a body that was over late the next
 * firing comes at once and the one after it on the grid, but two periods never hold four. */
static bool spins(const struct lapse_trackers *trackers, const struct lapse_setup_loop *setup,
                  const struct lapse_tracked_loop *loop, const struct lapse_history_event *event) {
    int which = setup->gap ? 0 : 1;
    const struct lapse_history_event *from = loop->starts[which];
    int64_t slack = setup->gap ? 0 : setup->slack.ns;
    int64_t least = 0;
    if (from == NULL || setup->slack.ns == INT64_MAX || (slack > 0 && loop->held_up[which]))
        return false;
    if (slack > 0 && !lapse_ns_add(slack, trackers->coarse_ns, &slack))
        return false;
    return lapse_ns_sub(setup->period.ns, slack, &least) &&
           lapse_steady_between(from->actor_steady, event->actor_steady).ns < least;
}

/* Nothing was in its way since its last call was over. */
static bool stalls(const struct lapse_trackers *trackers, const struct lapse_setup_loop *setup,
                   const struct lapse_tracked_loop *loop, const struct lapse_history_event *event) {
    int64_t most = 0;
    bool hindered = trackers->faults_open > 0 ||
                    (trackers->fault != NULL && trackers->fault->seq > loop->last->seq);
    return setup->steady && !hindered && loop->last->kind == LAPSE_HISTORY_REPLY &&
           lapse_ns_add(setup->period.ns, setup->slack.ns, &most) &&
           lapse_ns_add(most, trackers->coarse_ns, &most) &&
           lapse_steady_between(loop->last->actor_steady, event->actor_steady).ns > most;
}
