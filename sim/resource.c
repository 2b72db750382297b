/* A fenced resource keeps the highest token it has seen, refuses lower ones and missing ones, and
 * takes equal ones. Before its first write it has none. An unfenced one takes everything; its
 * highest token is kept all the same, for the rules to look at.
 *
 * One that serves a lease knows which tokens are of that lease, and with `bar: ends` learns of an
 * end at its instant: it looks at the store before it decides a write, and no answer between shows
 * the bar. While the store is down it learns nothing. */
#include "resource.h"

#include "member.h"
#include "tenure.h"
#include "world_events.h"

static enum lapse_status write_status(const struct lapse_world *world,
                                      const struct lapse_request *request);
static void raise_bar(struct lapse_world *world, int32_t resource);
static void take_write(struct lapse_world *world, const struct lapse_request *request);
static void take_grant(struct lapse_world *world, const struct lapse_sim_call *call);
static size_t place_of(const struct lapse_sim_tokens *tokens, int64_t token);
static bool has_token(const struct lapse_sim_tokens *tokens, int64_t token);
static void add_token(struct lapse_world *world, struct lapse_sim_tokens *tokens, int64_t token);

void lapse_sim_resource_decide(struct lapse_world *world, struct lapse_sim_call *call) {
    const struct lapse_request *request = &call->request;
    struct lapse_sim_resource *resource = &world->resources[request->resource];
    bool write = request->verb == LAPSE_CALL_WRITE;
    raise_bar(world, request->resource);
    call->answer = lapse_sim_resource_read(world, request->resource);
    if (write) {
        call->answer.status = write_status(world, request);
        call->answer.value = (struct lapse_bytes){NULL, 0};
        call->answer.has_token = request->has_token;
        call->answer.token = request->token;
    }
    if (write && call->answer.status == LAPSE_OK) {
        take_write(world, request);
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

void lapse_sim_resource_granted(struct lapse_world *world, const struct lapse_sim_call *call) {
    if (world->plan->setup.resource_count == 0 || call->answer.status != LAPSE_OK) {
        return;
    }
    if (call->request.verb == LAPSE_VERB_ACQUIRE) {
        take_grant(world, call);
    }
    for (size_t i = 0; i < lapse_sim_member_count(call); i++) {
        struct lapse_sim_call member = lapse_sim_member_at(call, i);
        if (member.request.verb == LAPSE_VERB_ACQUIRE) {
            take_grant(world, &member);
        }
    }
}

bool lapse_sim_resource_holder(struct lapse_world *world, struct lapse_bytes name,
                               int64_t *ret_token) {
    struct lapse_command command = {.verb = LAPSE_VERB_INSPECT, .key = name};
    struct lapse *fork = lapse_sim_tenure_fork(world);
    struct lapse_result result;
    if (fork == NULL) {
        return false;
    }
    lapse_result_init(&result, world->alloc);
    enum lapse_status status = lapse_apply(fork, &command, &result, NULL);
    if (status == LAPSE_NOMEM) { /* a store that has given up shows nothing */
        lapse_world_fail(world, status, "no memory for a look at who holds a lease");
    }
    bool held = status == LAPSE_OK;
    *ret_token = held ? result.token : 0;
    lapse_result_free(&result);
    lapse_close(fork);
    return held;
}

static enum lapse_status write_status(const struct lapse_world *world,
                                      const struct lapse_request *request) {
    const struct lapse_sim_resource *resource = &world->resources[request->resource];
    const struct lapse_setup_resource *setup = &world->plan->setup.resources[request->resource];
    bool lower = resource->has_highest && request->token < resource->highest;
    if (setup->fenced && (!request->has_token || lower)) {
        return LAPSE_FENCED;
    }
    if (setup->lease.len > 0 && request->has_token &&
        !has_token(&resource->granted, request->token)) {
        return LAPSE_FENCED;
    }
    if (setup->not_after && request->has_not_after &&
        lapse_sim_clock_wall(&resource->clock, world->now).ns > request->not_after.ns) {
        return LAPSE_TOO_LATE;
    }
    bool spent = setup->once && request->has_token && has_token(&resource->used, request->token);
    return spent ? LAPSE_USED : LAPSE_OK;
}

/* All its lease's grants but a live one have ended. */
static void raise_bar(struct lapse_world *world, int32_t index) {
    struct lapse_sim_resource *resource = &world->resources[index];
    const struct lapse_setup_resource *setup = &world->plan->setup.resources[index];
    size_t count = resource->granted.count;
    if (setup->bar != LAPSE_BAR_ENDS || count == 0 || world->node.store == NULL) {
        return;
    }
    int64_t newest = resource->granted.items[count - 1], live = 0;
    bool held = lapse_sim_resource_holder(world, setup->lease, &live) && live == newest;
    bool ended = !held || count > 1;
    int64_t last = held && count > 1 ? resource->granted.items[count - 2] : newest;
    if (ended && last < INT64_MAX && (!resource->has_highest || resource->highest <= last)) {
        resource->has_highest = true;
        resource->highest = last + 1;
    }
}

static void take_write(struct lapse_world *world, const struct lapse_request *request) {
    struct lapse_sim_resource *resource = &world->resources[request->resource];
    resource->value = request->value;
    resource->has_token = request->has_token;
    resource->token = request->token;
    if (!request->has_token) {
        return;
    }
    if (!resource->has_highest || request->token > resource->highest) {
        resource->has_highest = true;
        resource->highest = request->token;
    }
    if (world->plan->setup.resources[request->resource].once) {
        add_token(world, &resource->used, request->token);
    }
}

static void take_grant(struct lapse_world *world, const struct lapse_sim_call *call) {
    const struct lapse_setup *setup = &world->plan->setup;
    for (size_t i = 0; i < setup->resource_count; i++) {
        if (setup->resources[i].lease.len > 0 &&
            lapse_bytes_equal(setup->resources[i].lease, call->request.command.key)) {
            add_token(world, &world->resources[i].granted, call->answer.token);
        }
    }
}

/* The place of the first token that is not below. */
static size_t place_of(const struct lapse_sim_tokens *tokens, int64_t token) {
    size_t low = 0, high = tokens->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tokens->items[middle] < token) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool has_token(const struct lapse_sim_tokens *tokens, int64_t token) {
    size_t at = place_of(tokens, token);
    return at < tokens->count && tokens->items[at] == token;
}

static void add_token(struct lapse_world *world, struct lapse_sim_tokens *tokens, int64_t token) {
    size_t at = place_of(tokens, token);
    void *items = tokens->items;
    if (has_token(tokens, token) ||
        !lapse_world_grow(world, &items, &tokens->cap, tokens->count + 1, sizeof(int64_t))) {
        return;
    }
    tokens->items = items;
    for (size_t i = tokens->count++; i > at; i--) {
        tokens->items[i] = tokens->items[i - 1];
    }
    tokens->items[at] = token;
}
