/* What a failing event is about: the names, actors and resources that the reader must see. The rest
 * of a run is folded away, or a picture of twenty actors would hide the two that matter. */
#include <string.h>

#include "timeline.h"

static bool event_direct(const struct lapse_lanes *lanes, const struct lapse_result_view *view,
                         const struct lapse_history_event *event);
static void focus_event(struct lapse_lanes *lanes, const struct lapse_result_view *view,
                        const struct lapse_history_event *event);
static void focus_request(struct lapse_lanes *lanes, const struct lapse_request *request);
static void focus_bucket(struct lapse_lanes *lanes, struct lapse_bytes bucket);
static void focus_probe(struct lapse_lanes *lanes, const struct lapse_result_view *view,
                        const struct lapse_history_event *event);
static void focus_pattern(struct lapse_lanes *lanes, const struct lapse_pattern *pattern);
static void focus_names(struct lapse_lanes *lanes);
static void focus_near(struct lapse_lanes *lanes, const struct lapse_history_event *event);
static void focus_actor(struct lapse_lanes *lanes, int32_t actor, enum lapse_focus focus);
static void focus_resource(struct lapse_lanes *lanes, int32_t resource, enum lapse_focus focus);
static void focus_lane(struct lapse_lanes *lanes, struct lapse_bytes bucket,
                       struct lapse_bytes name);
static void focus_grant(struct lapse_lanes *lanes, const struct lapse_grant_ref *grant);
static bool in_focus(const struct lapse_lanes *lanes, const struct lapse_request *request);
static bool to_resource(const struct lapse_request *request);

void lapse_lanes_focus(struct lapse_lanes *lanes, const struct lapse_result_view *view) {
    if (lanes->failing == NULL || lanes->failed) {
        return;
    }
    size_t count = lapse_history_count(lanes->history);
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *event = lapse_history_at(lanes->history, i);
        if (event_direct(lanes, view, event)) {
            focus_event(lanes, view, event);
        }
    }
    focus_names(lanes);
    for (size_t i = 0; i < count; i++) {
        focus_near(lanes, lapse_history_at(lanes->history, i));
    }
}

/* The failing event, its call, and what was caused by a line that the error points at. */
static bool event_direct(const struct lapse_lanes *lanes, const struct lapse_result_view *view,
                         const struct lapse_history_event *event) {
    const struct lapse_history_event *failing = lanes->failing;
    if (event == failing || (event->call > 0 && event->call == failing->call)) {
        return true;
    }
    const struct lapse_case *the_case = view->the_case;
    const struct lapse_diag *diag = lapse_view_diag(view);
    if (diag == NULL || event->step < 0 || (size_t)event->step >= the_case->check_count) {
        return false;
    }
    bool pointed = false;
    for (size_t i = 0; i < diag->label_count; i++) {
        pointed = pointed || diag->labels[i].place.line == the_case->checks[event->step].place.line;
    }
    return pointed;
}

static void focus_event(struct lapse_lanes *lanes, const struct lapse_result_view *view,
                        const struct lapse_history_event *event) {
    focus_actor(lanes, event->actor, LAPSE_FOCUS_DIRECT);
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        focus_request(lanes, &event->u.invoke.request);
        focus_grant(lanes, &event->u.invoke.grant);
        break;
    case LAPSE_HISTORY_REPLY:
        focus_grant(lanes, &event->u.reply.grant);
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        focus_grant(lanes, &event->u.belief.grant);
        break;
    case LAPSE_HISTORY_RESOURCE:
        focus_resource(lanes, event->u.resource.resource, LAPSE_FOCUS_DIRECT);
        break;
    case LAPSE_HISTORY_EMIT:
        focus_lane(lanes, event->u.emit.event.bucket, event->u.emit.event.key);
        break;
    case LAPSE_HISTORY_DELIVER:
        focus_lane(lanes, event->u.deliver.event.bucket, event->u.deliver.event.key);
        break;
    case LAPSE_HISTORY_PROBE:
        focus_probe(lanes, view, event);
        break;
    default:
        break;
    }
}

static void focus_request(struct lapse_lanes *lanes, const struct lapse_request *request) {
    if (to_resource(request)) {
        focus_resource(lanes, request->resource, LAPSE_FOCUS_DIRECT);
    } else if (request->command.key.len > 0) {
        focus_lane(lanes, request->command.bucket, request->command.key);
    } else if (request->command.bucket.len > 0) {
        focus_bucket(lanes, request->command.bucket);
    }
}

/* A listing, or a watch. Many in a row are of one bucket. */
static void focus_bucket(struct lapse_lanes *lanes, struct lapse_bytes bucket) {
    if (lapse_bytes_equal(lanes->bucket_focus, bucket)) {
        return;
    }
    lanes->bucket_focus = bucket;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        struct lapse_lane *lane = &lanes->lanes[i];
        lane->focus = lane->focus || lapse_bytes_equal(lane->bucket, bucket);
    }
}

/* What an observer looked at has a lane even if nothing ever stood there. */
static void focus_probe(struct lapse_lanes *lanes, const struct lapse_result_view *view,
                        const struct lapse_history_event *event) {
    const struct lapse_probe *probe = &event->u.probe;
    const struct lapse_case *the_case = view->the_case;
    switch (probe->kind) {
    case LAPSE_PROBE_STOPPED:
        for (size_t i = 0; i < lanes->setup->actor_count; i++) {
            if (lapse_bytes_equal(lanes->setup->actors[i].name, probe->name)) {
                focus_actor(lanes, (int32_t)i, LAPSE_FOCUS_DIRECT);
            }
        }
        break;
    case LAPSE_PROBE_EVENTS:
        for (size_t i = 0; i < probe->event_count; i++) {
            focus_lane(lanes, probe->events[i].bucket, probe->events[i].key);
        }
        break;
    case LAPSE_PROBE_COUNT:
        if (event->step >= 0 && (size_t)event->step < the_case->check_count &&
            the_case->checks[event->step].count != NULL) {
            focus_pattern(lanes, the_case->checks[event->step].count);
        }
        break;
    case LAPSE_PROBE_MEASURED:
        break;
    default:
        (void)lapse_lane_find(lanes, lapse_lanes_kind(lanes, probe->bucket), probe->bucket,
                              probe->name);
        focus_lane(lanes, probe->bucket, probe->name);
        break;
    }
    for (size_t i = 0; i < probe->who_count; i++) {
        focus_actor(lanes, probe->who[i], LAPSE_FOCUS_DIRECT);
    }
}

static void focus_pattern(struct lapse_lanes *lanes, const struct lapse_pattern *pattern) {
    focus_actor(lanes, pattern->by, LAPSE_FOCUS_DIRECT);
    switch (pattern->kind) {
    case LAPSE_PATTERN_ACCEPTED:
    case LAPSE_PATTERN_FENCED:
        focus_resource(lanes, pattern->subject, LAPSE_FOCUS_DIRECT);
        break;
    case LAPSE_PATTERN_CRASH:
    case LAPSE_PATTERN_WAKES:
    case LAPSE_PATTERN_STOPPED:
        focus_actor(lanes, pattern->subject, LAPSE_FOCUS_DIRECT);
        break;
    default:
        focus_lane(lanes, pattern->bucket, pattern->name);
        break;
    }
}

/* An error that names no key and no lease is shown beside those that its actors called on. */
static void focus_names(struct lapse_lanes *lanes) {
    bool named = false;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        named = named || lanes->lanes[i].focus;
    }
    for (size_t i = 0; !named && i < lapse_history_count(lanes->history); i++) {
        const struct lapse_history_event *event = lapse_history_at(lanes->history, i);
        if (event->kind == LAPSE_HISTORY_INVOKE && event->actor >= 0 &&
            lanes->actors[event->actor] == LAPSE_FOCUS_DIRECT) {
            focus_request(lanes, &event->u.invoke.request);
        }
    }
}

/* Actors that called on a name in focus, and resources that were written under it. */
static void focus_near(struct lapse_lanes *lanes, const struct lapse_history_event *event) {
    if (event->kind != LAPSE_HISTORY_INVOKE) {
        return;
    }
    const struct lapse_request *request = &event->u.invoke.request;
    const struct lapse_grant_ref *grant = &event->u.invoke.grant;
    const struct lapse_lane *lane = lapse_lane_of_grant(lanes, grant);
    bool under = lane != NULL && lane->focus;
    bool touches =
        under || (to_resource(request) ? lanes->resources[request->resource] == LAPSE_FOCUS_DIRECT
                                       : in_focus(lanes, request));
    if (touches) {
        focus_actor(lanes, event->actor, LAPSE_FOCUS_NEAR);
    }
    if (under && to_resource(request)) {
        focus_resource(lanes, request->resource, LAPSE_FOCUS_NEAR);
    }
}

static void focus_actor(struct lapse_lanes *lanes, int32_t actor, enum lapse_focus focus) {
    if (actor >= 0 && lanes->actors[actor] < focus) {
        lanes->actors[actor] = focus;
    }
}

static void focus_resource(struct lapse_lanes *lanes, int32_t resource, enum lapse_focus focus) {
    if (resource >= 0 && lanes->resources[resource] < focus) {
        lanes->resources[resource] = focus;
    }
}

static void focus_lane(struct lapse_lanes *lanes, struct lapse_bytes bucket,
                       struct lapse_bytes name) {
    struct lapse_lane *lane = lapse_lane_seek(lanes, bucket, name);
    if (lane != NULL) {
        lane->focus = true;
    }
}

static void focus_grant(struct lapse_lanes *lanes, const struct lapse_grant_ref *grant) {
    struct lapse_lane *lane = lapse_lane_of_grant(lanes, grant);
    if (lane != NULL) {
        lane->focus = true;
    }
}

static bool in_focus(const struct lapse_lanes *lanes, const struct lapse_request *request) {
    const struct lapse_command *command = &request->command;
    const struct lapse_lane *lane =
        command->key.len == 0 ? NULL : lapse_lane_seek(lanes, command->bucket, command->key);
    return lane != NULL && lane->focus;
}

static bool to_resource(const struct lapse_request *request) {
    return request->verb == LAPSE_CALL_WRITE || request->verb == LAPSE_CALL_READ;
}
