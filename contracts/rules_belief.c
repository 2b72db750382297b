/* BELIEF-01, BELIEF-02 and RENEW-01: what a client may still do once its own clock, a reply or the
 * end of its belief speaks against it. */
#include "rules.h"
#include "track.h"

static bool is_careful(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event);
static struct lapse_rule_text name_of(const struct lapse_tracked_belief *belief);
static bool is_act(const struct lapse_trackers *trackers, const struct lapse_history_event *event);
static const struct lapse_tracked_belief *act_belief(const struct lapse_trackers *trackers,
                                                     const struct lapse_history_event *event);
static bool has_loop(const struct lapse_tracked_belief *belief, int32_t loop);
static const char *end_word(enum lapse_belief_why why);

bool lapse_rule_belief_01_premise(const struct lapse_trackers *trackers,
                                  const struct lapse_history_event *event) {
    const struct lapse_tracked_belief *belief = act_belief(trackers, event);
    return belief != NULL && event->u.invoke.looked && belief->has_deadline;
}

bool lapse_rule_belief_01_holds(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event,
                                struct lapse_violation *ret) {
    const struct lapse_tracked_belief *belief = act_belief(trackers, event);
    struct lapse_steady look = event->u.invoke.last_look;
    if (look.ns < belief->deadline.ns)
        return true;
    struct lapse_rule_text who = lapse_text_actor(trackers, event);
    struct lapse_rule_text name = name_of(belief);
    struct lapse_rule_text seen = lapse_text_ns(look.ns);
    struct lapse_rule_text deadline = lapse_text_ns(belief->deadline.ns);
    lapse_violation_label(ret, event, "sent after its clock had shown %s", seen.text);
    lapse_violation_label(ret, belief->success, "its last success: deadline %s", deadline.text);
    return lapse_violation_say(ret, "%s acted on %s at %s of its clock, its deadline was %s",
                               who.text, name.text, seen.text, deadline.text);
}

bool lapse_rule_belief_02_premise(const struct lapse_trackers *trackers,
                                  const struct lapse_history_event *event) {
    return act_belief(trackers, event) != NULL;
}

bool lapse_rule_belief_02_holds(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event,
                                struct lapse_violation *ret) {
    const struct lapse_tracked_belief *belief = act_belief(trackers, event);
    if (belief->denied == NULL)
        return true;
    /* A grant since the denial is another one, also of a store whose numbers began anew; only a
     * call that still names the old is wrong. */
    int64_t token = event->u.invoke.grant.token;
    bool granted_since = belief->granted->seq > belief->denied->seq;
    if (granted_since && (token > belief->denied_token || token == belief->token))
        return true;
    struct lapse_rule_text who = lapse_text_actor(trackers, event);
    struct lapse_rule_text name = name_of(belief);
    lapse_violation_label(ret, event, "acted under it all the same");
    lapse_violation_label(ret, belief->denied, "%s was told: %s", who.text,
                          lapse_status_word(belief->denied->u.reply.answer.status));
    lapse_violation_label(ret, belief->granted, "the grant");
    return lapse_violation_say(ret, "%s acted on %s after a reply had denied it", who.text,
                               name.text);
}

bool lapse_rule_renew_01_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    const struct lapse_request *request = &event->u.invoke.request;
    if (event->u.invoke.loop < 0 || !lapse_tracked_request_renews(request))
        return false;
    const struct lapse_tracked_belief *belief =
        lapse_tracked_belief_about(trackers, event->actor, event->incarnation, request);
    /* A create asks for a new grant: it is how a client comes back, not a renewal. */
    return belief != NULL && request->verb != LAPSE_VERB_CREATE &&
           has_loop(belief, event->u.invoke.loop);
}

bool lapse_rule_renew_01_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    const struct lapse_tracked_belief *belief = lapse_tracked_belief_about(
        trackers, event->actor, event->incarnation, &event->u.invoke.request);
    if (belief->ended == NULL)
        return true;
    struct lapse_rule_text who = lapse_text_actor(trackers, event);
    struct lapse_rule_text name = name_of(belief);
    lapse_violation_label(ret, event, "the loop sends another renewal");
    lapse_violation_label(ret, belief->ended, "its belief ended here: %s", end_word(belief->why));
    lapse_violation_label(ret, belief->granted, "its grant");
    return lapse_violation_say(ret, "%s goes on renewing %s after its belief has ended", who.text,
                               name.text);
}

static bool is_careful(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event) {
    const struct lapse_setup *setup = trackers->setup;
    return setup != NULL && event->actor >= 0 && (size_t)event->actor < setup->actor_count &&
           setup->actors[event->actor].careful;
}

/* A call under a grant, other than those that ask for one, give it up or look at it. A create in a
 * bucket of locks asks for one; a delete of the lock itself gives it up. */
static bool is_act(const struct lapse_trackers *trackers, const struct lapse_history_event *event) {
    const struct lapse_tracked_bucket *bucket =
        lapse_tracked_bucket_find(trackers, event->u.invoke.request.command.bucket);
    if (!event->u.invoke.grant.given)
        return false;
    switch (event->u.invoke.request.verb) {
    case LAPSE_VERB_CREATE:
        return bucket == NULL || !bucket->locks;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_INSPECT:
        return false;
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
        return !event->u.invoke.grant.key_lock;
    default:
        return true;
    }
}

static const struct lapse_tracked_belief *act_belief(const struct lapse_trackers *trackers,
                                                     const struct lapse_history_event *event) {
    if (!is_careful(trackers, event) || !is_act(trackers, event))
        return NULL;
    return lapse_tracked_belief_find(trackers, event->actor, event->incarnation,
                                     &event->u.invoke.grant);
}

static struct lapse_rule_text name_of(const struct lapse_tracked_belief *belief) {
    return belief->key_lock ? lapse_text_key(belief->bucket, belief->name)
                            : lapse_text_name(belief->name);
}

static bool has_loop(const struct lapse_tracked_belief *belief, int32_t loop) {
    for (size_t i = 0; i < belief->loop_count; i++) {
        if (belief->loops[i] == loop)
            return true;
    }
    return false;
}

static const char *end_word(enum lapse_belief_why why) {
    switch (why) {
    case LAPSE_BELIEF_DENIED:
        return "a reply denied it";
    case LAPSE_BELIEF_RELEASED:
        return "it gave the grant up";
    case LAPSE_BELIEF_STOPPED:
        return "it was stopped";
    case LAPSE_BELIEF_CRASHED:
        return "it crashed";
    case LAPSE_BELIEF_DEADLINE:
        return "its deadline had come";
    default:
        return "its grant was renewed";
    }
}
