/* FENCE-01..03: tokens rise, belong to one grant each, and are never applied backwards. */
#include "rules.h"
#include "track.h"

static const struct lapse_tracked_resource *find_resource(const struct lapse_trackers *trackers,
                                                          const struct lapse_history_event *event);
static bool is_grant(const struct lapse_look *look);
static bool is_unsure(const struct lapse_look *look);
static bool granted_beside(const struct lapse_trackers *trackers, const struct lapse_look *look);
static const struct lapse_history_event *find_grant(const struct lapse_trackers *trackers,
                                                    int64_t token);
static const struct lapse_history_event *find_key_grant(const struct lapse_trackers *trackers,
                                                        const struct lapse_grant_ref *grant);

static bool fence_01_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    (void)trackers;
    return is_grant(look) && look->lease != NULL && look->lease->grant_count > 0;
}

static bool fence_01_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    int64_t highest = look->lease->token_highest;
    if (look->answer->token > highest)
        return true;
    struct lapse_rule_text name = lapse_text_name(look->key_name);
    long long token = (long long)look->answer->token;
    lapse_violation_label(ret, look->event, "granted with token %lld", token);
    lapse_violation_label(ret, find_grant(trackers, highest), "granted with token %lld before",
                          (long long)highest);
    return lapse_violation_say(ret, "%s was granted with token %lld after token %lld", name.text,
                               token, (long long)highest);
}
LAPSE_RULE_BY_OPEN_LOOKS(fence_01, fence_01_concerns, fence_01_check)

static bool fence_02_concerns(const struct lapse_trackers *trackers,
                              const struct lapse_look *look) {
    if (is_grant(look))
        return trackers->lease_count > 0 || look->in_batch;
    return look->verb == LAPSE_VERB_EXTEND && look->answer->status == LAPSE_OK &&
           !is_unsure(look) && lapse_tracked_grant_live(look->lease, look->answer->at) != NULL;
}

static bool fence_02_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           struct lapse_violation *ret) {
    struct lapse_rule_text name = lapse_text_name(look->key_name);
    long long token = (long long)look->answer->token;
    if (look->verb == LAPSE_VERB_EXTEND) {
        const struct lapse_tracked_grant *grant =
            lapse_tracked_grant_live(look->lease, look->answer->at);
        if (look->answer->token == grant->token)
            return true;
        lapse_violation_label(ret, look->event, "extended with token %lld", token);
        lapse_violation_label(ret, grant->granted, "granted with token %lld",
                              (long long)grant->token);
        return lapse_violation_say(ret, "the token of %s became %lld when it was extended",
                                   name.text, token);
    }
    const struct lapse_history_event *other = find_grant(trackers, look->answer->token);
    if (other == NULL && granted_beside(trackers, look))
        other = look->event;
    if (other == NULL)
        return true;
    lapse_violation_label(ret, look->event, "granted with token %lld", token);
    lapse_violation_label(ret, other, "token %lld was given here first", token);
    return lapse_violation_say(ret, "token %lld belongs to two grants, the second of %s", token,
                               name.text);
}
LAPSE_RULE_BY_OPEN_LOOKS(fence_02, fence_02_concerns, fence_02_check)

bool lapse_rule_fence_03_premise(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    const struct lapse_tracked_resource *resource = find_resource(trackers, event);
    return resource != NULL && resource->has_highest && event->u.resource.has_token &&
           event->u.resource.verb == LAPSE_CALL_WRITE;
}

bool lapse_rule_fence_03_holds(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event,
                               struct lapse_violation *ret) {
    const struct lapse_tracked_resource *resource = find_resource(trackers, event);
    if (event->u.resource.status != LAPSE_OK || event->u.resource.token >= resource->highest)
        return true;
    struct lapse_rule_text name =
        lapse_text_name(trackers->setup->resources[event->u.resource.resource].name);
    struct lapse_rule_text when = lapse_text_ns(resource->highest_by->at.ns);
    long long token = (long long)event->u.resource.token, highest = (long long)resource->highest;
    lapse_violation_label(ret, event, "applied token %lld", token);
    const struct lapse_tracked_call *earlier =
        lapse_tracked_call_find(trackers, resource->highest_by->call);
    const struct lapse_history_event *grant = NULL;
    if (earlier != NULL && earlier->invoke->u.invoke.grant.key_lock)
        grant = find_key_grant(trackers, &earlier->invoke->u.invoke.grant);
    else
        grant = find_grant(trackers, resource->highest);
    if (grant != NULL) {
        struct lapse_rule_text holder = lapse_text_actor(trackers, grant);
        lapse_violation_label(ret, grant, "%s was granted token %lld", holder.text, highest);
    }
    lapse_violation_label(ret, resource->highest_by, "%s applied token %lld at %s", name.text,
                          highest, when.text);
    return lapse_violation_say(ret,
                               "%s applied a write with token %lld after it had applied token %lld",
                               name.text, token, highest);
}

static const struct lapse_tracked_resource *find_resource(const struct lapse_trackers *trackers,
                                                          const struct lapse_history_event *event) {
    int32_t index = event->u.resource.resource;
    if (index < 0 || (size_t)index >= trackers->resource_count)
        return NULL;
    return &trackers->resources[index];
}

/* A new grant: an acquire that found its name free; of a held one LEASE-03 and LEASE-08 ask. A
 * batch does not say so itself: where a crash has left open who holds the name, it may be an old
 * one. */
static bool is_grant(const struct lapse_look *look) {
    bool held = !is_unsure(look) && lapse_tracked_grant_live(look->lease, look->answer->at) != NULL;
    return look->verb == LAPSE_VERB_ACQUIRE && look->command != NULL && !held &&
           look->answer->status == LAPSE_OK && !look->answer->renewed &&
           !(look->in_batch && is_unsure(look));
}

static bool is_unsure(const struct lapse_look *look) {
    return look->lease != NULL && look->lease->unsure;
}

/* Whether another name got the same token in the same batch. */
static bool granted_beside(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    const struct lapse_answer *answer = &look->event->u.apply.answer;
    const struct lapse_request *request = lapse_tracked_request(trackers, look->event);
    for (size_t i = 0; look->in_batch && i < lapse_member_count(request, answer); i++) {
        struct lapse_member member;
        lapse_member_at(trackers, request, answer, i, &member);
        if (member.command->verb == LAPSE_VERB_ACQUIRE && member.answer.status == LAPSE_OK &&
            member.answer.token == look->answer->token &&
            !lapse_bytes_equal(member.command->key, look->key_name))
            return true;
    }
    return false;
}

/* The APPLY of the grant with this token; newest first, for that one is mostly asked for. */
static const struct lapse_history_event *find_grant(const struct lapse_trackers *trackers,
                                                    int64_t token) {
    if (token > trackers->token_highest)
        return NULL;
    for (size_t i = 0; i < trackers->lease_count; i++) {
        const struct lapse_tracked_lease *lease = &trackers->leases[i];
        for (size_t g = lease->grant_count; g > 0; g--) {
            if (lease->grants[g - 1].token == token)
                return lease->grants[g - 1].granted;
        }
    }
    return NULL;
}

/* The APPLY that made a client the creator of the lock, where the grant is named bucket/key. */
static const struct lapse_history_event *find_key_grant(const struct lapse_trackers *trackers,
                                                        const struct lapse_grant_ref *grant) {
    for (size_t i = 0; i < grant->name.len; i++) {
        if (grant->name.data[i] != '/')
            continue;
        struct lapse_bytes bucket = {grant->name.data, i};
        struct lapse_bytes key = {grant->name.data + i + 1, grant->name.len - i - 1};
        const struct lapse_tracked_key *found =
            lapse_tracked_key_find(lapse_tracked_bucket_find(trackers, bucket), key);
        if (found != NULL)
            return found->created;
    }
    return NULL;
}
