/* A link has two lanes, one each way. A lane keeps the order of what is sent over it, unless it is
 * told to reorder; it may take time, lose, and make copies, all by chance with a label of its own.
 * What a step says of its own messages comes first: one that takes its own time keeps no order and
 * is not lost by chance, but a cut loses all that is sent or under way.
 *
 * A watcher's events are a stream over the lane from the node, which no lane reorders or doubles.
 * One that is lost by chance breaks the stream, and its client is told of a gap in its place; of
 * what a cut takes it is told by one gap, when the lane is healed. */
#include "link.h"

#include "client.h"
#include "watcher.h"
#include "world_events.h"

enum { MILLION = 1000000 };

/* One direction between an actor and its peer: -1 the node, else a resource. */
struct route {
    int32_t actor, resource;
    bool back;
};

/* What becomes of one message. */
struct trip {
    bool lost, twice;
    int64_t at_ns, copy_ns;
};

static bool is_network(const struct lapse_plan_step *step);
static size_t peer_count(const struct lapse_world *world);
static struct lapse_sim_lane *lane_of(const struct lapse_world *world, struct route route);
static struct route route_of(const struct lapse_sim_call *call, bool back);
static struct trip travel(struct lapse_world *world, struct route route,
                          const struct lapse_plan_message *asked, int32_t step);
static bool chance(struct lapse_world *world, int32_t ppm, enum lapse_choice_label label,
                   int32_t step);
static int64_t arrival(struct lapse_world *world, struct lapse_sim_lane *lane, int32_t step,
                       bool ordered);
static void tell(struct lapse_world *world, const struct lapse_sim_call *call, struct route route,
                 enum lapse_message_fate fate, int64_t latency_ns);
static void tell_trip(struct lapse_world *world, const struct lapse_sim_call *call,
                      struct route route, const struct trip *trip);
static struct lapse_party actor_party(struct route route);
static struct lapse_party peer_party(struct route route);
static void send_copy(struct lapse_world *world, int32_t index, int64_t at_ns);
static void push(struct lapse_world *world, enum lapse_queue_kind kind,
                 const struct lapse_sim_call *call, int32_t index, int64_t at_ns);
static void forge(struct lapse_world *world, struct lapse_sim_call *call,
                  enum lapse_status status);

bool lapse_sim_link_open(struct lapse_world *world) {
    const struct lapse_plan *plan = world->plan;
    bool uses = plan->chaos.on;
    for (size_t i = 0; i < plan->step_count; i++) {
        uses = uses || is_network(&plan->steps[i]);
    }
    if (!uses) {
        return true;
    }
    size_t count = plan->setup.actor_count * peer_count(world) * 2;
    world->lanes = lapse_alloc_zero(world->alloc, (count + 1) * sizeof(*world->lanes));
    return world->lanes != NULL;
}

void lapse_sim_link_request(struct lapse_world *world, int32_t index) {
    struct lapse_sim_call *call = &world->calls[index];
    struct route route = route_of(call, false);
    const struct lapse_plan_message *asked = &world->plan->steps[call->step].request;
    struct trip trip = travel(world, route, asked, call->step);
    tell_trip(world, call, route, &trip);
    if (trip.lost) {
        lapse_sim_client_lose(world, call);
        return;
    }
    push(world, LAPSE_QUEUE_REQUEST, call, index, trip.at_ns);
    if (trip.twice) {
        send_copy(world, index, trip.copy_ns);
    }
}

/* Of two copies of an answer the client drops the second. */
void lapse_sim_link_reply(struct lapse_world *world, const struct lapse_queue_item *item,
                          struct lapse_sim_call *call) {
    const struct lapse_plan_step *step = &world->plan->steps[call->step];
    struct route route = route_of(call, true);
    if (step->forged) {
        forge(world, call, step->forged_status);
    }
    struct trip trip = travel(world, route, &step->reply, call->step);
    tell_trip(world, call, route, &trip);
    if (trip.lost) {
        lapse_sim_client_lose(world, call);
    } else {
        push(world, LAPSE_QUEUE_REPLY, call, item->index, trip.at_ns);
    }
}

bool lapse_sim_link_deliver(struct lapse_world *world, const struct lapse_sim_watcher *watcher,
                            int64_t *ret_at_ns, bool *ret_lost) {
    struct route route = {watcher->actor, -1, true};
    struct lapse_sim_lane *lane = lane_of(world, route);
    if (lane->cut.on) {
        tell(world, NULL, route, LAPSE_MESSAGE_LOST, 0);
        return false;
    }
    *ret_lost = chance(world, lane->loss_ppm, LAPSE_CHOICE_LOSS, watcher->step);
    *ret_at_ns = arrival(world, lane, watcher->step, true);
    if (*ret_lost) {
        tell(world, NULL, route, LAPSE_MESSAGE_LOST, 0);
    }
    if (*ret_at_ns > world->now.ns) {
        tell(world, NULL, route, LAPSE_MESSAGE_LATE, *ret_at_ns - world->now.ns);
    }
    return true;
}

void lapse_sim_link_again(struct lapse_world *world, const struct lapse_sim_call *call) {
    tell(world, call, route_of(call, false), LAPSE_MESSAGE_AGAIN, 0);
}

static bool is_network(const struct lapse_plan_step *step) {
    return step->kind == LAPSE_STEP_FAULT && (step->u.fault.kind == LAPSE_FAULT_CUT ||
                                              step->u.fault.kind == LAPSE_FAULT_LINK);
}

static size_t peer_count(const struct lapse_world *world) {
    return 1 + world->plan->setup.resource_count;
}

/* NULL: the plan has no links. */
static struct lapse_sim_lane *lane_of(const struct lapse_world *world, struct route route) {
    size_t pair = (size_t)route.actor * peer_count(world) + (size_t)(route.resource + 1);
    return world->lanes == NULL ? NULL : &world->lanes[2 * pair + (route.back ? 1 : 0)];
}

static struct route route_of(const struct lapse_sim_call *call, bool back) {
    bool at_resource = call->request.verb >= LAPSE_CALL_WRITE;
    return (struct route){call->actor, at_resource ? call->request.resource : -1, back};
}

static struct trip travel(struct lapse_world *world, struct route route,
                          const struct lapse_plan_message *asked, int32_t step) {
    struct lapse_sim_lane *lane = lane_of(world, route);
    struct trip trip = {.at_ns = world->now.ns};
    bool takes = asked->kind == LAPSE_MESSAGE_TAKES;
    trip.twice = asked->kind == LAPSE_MESSAGE_IS_TWICE;
    trip.lost = asked->kind == LAPSE_MESSAGE_IS_LOST || (lane != NULL && lane->cut.on);
    if (trip.lost) {
        return trip;
    }
    if (takes) {
        trip.at_ns = lapse_ns_add(world->now.ns, asked->ns, &trip.at_ns) ? trip.at_ns : INT64_MAX;
    } else if (lane != NULL) {
        trip.lost = chance(world, lane->loss_ppm, LAPSE_CHOICE_LOSS, step);
        trip.at_ns = trip.lost ? trip.at_ns : arrival(world, lane, step, !lane->reorder);
    }
    trip.copy_ns = trip.at_ns;
    bool doubled = lane != NULL && !takes && !trip.lost && !trip.twice &&
                   chance(world, lane->duplicate_ppm, LAPSE_CHOICE_DUPLICATE, step);
    if (doubled) {
        trip.twice = true;
        int64_t copy = arrival(world, lane, step, !lane->reorder);
        trip.copy_ns = copy > trip.at_ns ? copy : trip.at_ns;
        trip.at_ns = copy < trip.at_ns ? copy : trip.at_ns;
    }
    return trip;
}

/* The plainest draw, 0, is that nothing happens. */
static bool chance(struct lapse_world *world, int32_t ppm, enum lapse_choice_label label,
                   int32_t step) {
    return ppm > 0 && lapse_choose(world->choices, MILLION, label, step) >=
                          (uint64_t)(MILLION - ppm);
}

static int64_t arrival(struct lapse_world *world, struct lapse_sim_lane *lane, int32_t step,
                       bool ordered) {
    int64_t latency = lane->latency_ns_min;
    int64_t at = 0;
    if (lane->latency_ns_max > lane->latency_ns_min) {
        uint64_t range = (uint64_t)(lane->latency_ns_max - lane->latency_ns_min) + 1;
        latency += (int64_t)lapse_choose(world->choices, range, LAPSE_CHOICE_LATENCY, step);
    }
    at = lapse_ns_add(world->now.ns, latency, &at) ? at : INT64_MAX;
    if (ordered && at < lane->last_ns) {
        at = lane->last_ns;
    }
    lane->last_ns = at > lane->last_ns ? at : lane->last_ns;
    return at;
}

/* Without a call: an event on its way to a watcher. */
static void tell(struct lapse_world *world, const struct lapse_sim_call *call, struct route route,
                 enum lapse_message_fate fate, int64_t latency_ns) {
    struct lapse_history_event event =
        call == NULL ? lapse_world_event(world, LAPSE_HISTORY_MESSAGE, route.actor, -1)
                     : lapse_world_call_event(world, LAPSE_HISTORY_MESSAGE, call);
    event.u.message.from = route.back ? peer_party(route) : actor_party(route);
    event.u.message.to = route.back ? actor_party(route) : peer_party(route);
    event.u.message.reply = route.back && call != NULL;
    event.u.message.fate = fate;
    event.u.message.latency.ns = latency_ns;
    event.u.message.status = fate == LAPSE_MESSAGE_FORGED ? call->answer.status : LAPSE_OK;
    (void)lapse_world_emit(world, &event);
}

static void tell_trip(struct lapse_world *world, const struct lapse_sim_call *call,
                      struct route route, const struct trip *trip) {
    if (trip->lost) {
        tell(world, call, route, LAPSE_MESSAGE_LOST, 0);
        return;
    }
    if (trip->at_ns > world->now.ns) {
        tell(world, call, route, LAPSE_MESSAGE_LATE, trip->at_ns - world->now.ns);
    }
    if (trip->twice) {
        tell(world, call, route, LAPSE_MESSAGE_TWICE, trip->copy_ns - world->now.ns);
    }
}

static struct lapse_party actor_party(struct route route) {
    return (struct lapse_party){LAPSE_PARTY_ACTOR, route.actor};
}

static struct lapse_party peer_party(struct route route) {
    return route.resource < 0 ? (struct lapse_party){LAPSE_PARTY_NODE, 0}
                              : (struct lapse_party){LAPSE_PARTY_RESOURCE, route.resource};
}

/* The copy has a place of its own, since the first may be over when it arrives. Nobody waits for
 * its answer. */
static void send_copy(struct lapse_world *world, int32_t index, int64_t at_ns) {
    int32_t place = 0;
    struct lapse_sim_call *copy = lapse_sim_client_place(world, &place);
    if (copy == NULL) {
        return;
    }
    *copy = world->calls[index];
    copy->copy = true;
    copy->answered = true;
    push(world, LAPSE_QUEUE_REQUEST, copy, place, at_ns);
}

/* A request is on its way whatever becomes of its client. */
static void push(struct lapse_world *world, enum lapse_queue_kind kind,
                 const struct lapse_sim_call *call, int32_t index, int64_t at_ns) {
    bool request = kind == LAPSE_QUEUE_REQUEST;
    lapse_world_push(world, &(struct lapse_queue_item){.at_ns = at_ns,
                                                       .phase = LAPSE_PHASE_UNDER_WAY,
                                                       .kind = kind,
                                                       .rank = at_ns,
                                                       .due_ns = at_ns,
                                                       .actor = request ? -1 : call->actor,
                                                       .incarnation = call->incarnation,
                                                       .index = index,
                                                       .id = call->id});
}

/* A forged refusal tells nothing but itself; a forged first answer has the fields that the decision
 * had, if any. */
static void forge(struct lapse_world *world, struct lapse_sim_call *call,
                  enum lapse_status status) {
    struct lapse_answer decided = call->answer;
    if (status != LAPSE_OK) {
        call->answer = (struct lapse_answer){.at = decided.at, .wall = decided.wall};
        call->granted = false;
    }
    call->answer.status = status;
    tell(world, call, route_of(call, true), LAPSE_MESSAGE_FORGED, 0);
}
