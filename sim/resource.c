/* A fenced resource keeps the highest token it has seen, refuses lower ones and missing ones, and
 * takes equal ones. Before its first write it has none. An unfenced one takes everything; its
 * highest token is kept all the same, for the rules to look at. */
#include "resource.h"

#include "world_events.h"

static enum lapse_status write_status(const struct lapse_sim_resource *resource, bool fenced,
                                      const struct lapse_request *request);

void lapse_sim_resource_decide(struct lapse_world *world, struct lapse_sim_call *call) {
    const struct lapse_request *request = &call->request;
    struct lapse_sim_resource *resource = &world->resources[request->resource];
    bool write = request->verb == LAPSE_CALL_WRITE;
    bool fenced = world->plan->setup.resources[request->resource].fenced;
    call->answer = lapse_sim_resource_read(world, request->resource);
    if (write) {
        call->answer.status = write_status(resource, fenced, request);
        call->answer.value = (struct lapse_bytes){NULL, 0};
        call->answer.has_token = request->has_token;
        call->answer.token = request->token;
    }
    if (write && call->answer.status == LAPSE_OK) {
        resource->value = request->value;
        resource->has_token = request->has_token;
        resource->token = request->token;
        if (request->has_token && (!resource->has_highest || request->token > resource->highest)) {
            resource->has_highest = true;
            resource->highest = request->token;
        }
    }
    struct lapse_history_event event = lapse_world_call_event(world, LAPSE_HISTORY_RESOURCE, call);
    event.u.resource.resource = request->resource;
    event.u.resource.verb = request->verb;
    event.u.resource.status = call->answer.status;
    event.u.resource.wall = lapse_sim_clock_wall(&resource->clock, world->now);
    event.u.resource.has_token = call->answer.has_token;
    event.u.resource.token = call->answer.token;
    event.u.resource.value = write ? request->value : resource->value;
    event.u.resource.has_highest = resource->has_highest;
    event.u.resource.highest = resource->highest;
    (void)lapse_world_emit(world, &event);
}

struct lapse_answer lapse_sim_resource_read(const struct lapse_world *world, int32_t resource) {
    const struct lapse_sim_resource *from = &world->resources[resource];
    return (struct lapse_answer){
        .status = LAPSE_OK,
        .at = {world->now.ns},
        .wall = lapse_sim_clock_wall(&from->clock, world->now),
        .has_token = from->has_token,
        .token = from->token,
        .value = from->value,
    };
}

static enum lapse_status write_status(const struct lapse_sim_resource *resource, bool fenced,
                                      const struct lapse_request *request) {
    if (!fenced) {
        return LAPSE_OK;
    }
    bool lower = resource->has_highest && request->token < resource->highest;
    return request->has_token && !lower ? LAPSE_OK : LAPSE_FENCED;
}
