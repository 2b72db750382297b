/* What is done to links: cuts, delays and losses begin, and are healed. Who heals all heals the
 * node's disk too. */
#include "client.h"
#include "fault.h"
#include "link.h"
#include "node_fault.h"
#include "watcher.h"
#include "world_events.h"

/* Where the parts of an end's id lie. */
enum { KIND_BITS = 8, ACTOR_AT = 10, PEER_AT = 36, INDEX_MASK = (1 << 26) - 1 };

/* The lanes that a fault is about: of one actor and one peer, one way or both. */
struct pair {
    int32_t actor, resource;
    bool way[2]; /* to the peer, and back */
};

static int64_t pack(enum lapse_fault_kind kind, const struct pair *pair);
static struct pair unpack(int64_t id);
static enum lapse_fault_kind kind_of(int64_t id);
static bool pair_of(const struct lapse_plan_link *link, struct pair *ret);
static struct lapse_sim_lane *lane_at(const struct lapse_world *world, const struct pair *pair,
                                      int back);
static void begin(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault);
static void shape(struct lapse_sim_lane *lane, const struct lapse_plan_link *link);
static void heal(struct lapse_world *world, int32_t step, const struct lapse_plan_link *link);
static void end_pair(struct lapse_world *world, enum lapse_fault_kind kind, int32_t step,
                     struct pair *pair, int64_t until_ns);
static struct lapse_sim_hold *hold_of(struct lapse_sim_lane *lane, enum lapse_fault_kind kind);
static void emit(struct lapse_world *world, bool begins, enum lapse_fault_kind kind, int32_t step,
                 const struct pair *pair, int64_t until_ns);
static void lose_under_way(struct lapse_world *world, const struct pair *pair);
static void hasten(struct lapse_world *world, const struct pair *pair);
static bool takes_its_own(const struct lapse_world *world, const struct lapse_queue_item *item);
static bool crosses(const struct lapse_world *world, const struct lapse_queue_item *item,
                    const struct pair *pair);
static void lose_item(struct lapse_world *world, struct lapse_queue_item *item,
                      const struct pair *pair);
static struct lapse_party peer_of(const struct pair *pair);

void lapse_sim_link_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault) {
    if (fault->ends) {
        heal(world, step, &fault->link);
    } else {
        begin(world, step, fault);
    }
}

void lapse_sim_link_fault_end(struct lapse_world *world, const struct lapse_queue_item *item) {
    struct pair pair = unpack(item->id);
    end_pair(world, kind_of(item->id), item->index, &pair, item->at_ns);
}

bool lapse_sim_link_stale(const struct lapse_world *world, const struct lapse_queue_item *item) {
    struct pair pair = unpack(item->id);
    for (int back = 0; back < 2; back++) {
        const struct lapse_sim_hold *hold =
            hold_of(lane_at(world, &pair, back), kind_of(item->id));
        if (pair.way[back] && hold->on && hold->until_ns == item->at_ns) {
            return false;
        }
    }
    return true;
}

/* An end is about the lanes of its beginning, which may be no line of the plan: it carries them. */
static int64_t pack(enum lapse_fault_kind kind, const struct pair *pair) {
    int64_t ways = (pair->way[0] ? 1 : 0) + (pair->way[1] ? 2 : 0);
    return (int64_t)kind | ways << KIND_BITS | (int64_t)pair->actor << ACTOR_AT |
           (int64_t)(pair->resource + 1) << PEER_AT;
}

static struct pair unpack(int64_t id) {
    int64_t ways = id >> KIND_BITS & 3;
    return (struct pair){.actor = (int32_t)(id >> ACTOR_AT & INDEX_MASK),
                         .resource = (int32_t)(id >> PEER_AT & INDEX_MASK) - 1,
                         .way = {(ways & 1) != 0, (ways & 2) != 0}};
}

static enum lapse_fault_kind kind_of(int64_t id) {
    return (enum lapse_fault_kind)(id & ((1 << KIND_BITS) - 1));
}

/* False: every link is meant. */
static bool pair_of(const struct lapse_plan_link *link, struct pair *ret) {
    bool back = link->to.kind == LAPSE_PARTY_ACTOR;
    struct lapse_party peer = back ? link->from : link->to;
    *ret = (struct pair){.actor = back ? link->to.index : link->from.index,
                         .resource = peer.kind == LAPSE_PARTY_RESOURCE ? peer.index : -1,
                         .way = {link->both || !back, link->both || back}};
    return link->from.kind != 0;
}

static struct lapse_sim_lane *lane_at(const struct lapse_world *world, const struct pair *pair,
                                      int back) {
    size_t peers = 1 + world->plan->setup.resource_count;
    size_t at = (size_t)pair->actor * peers + (size_t)(pair->resource + 1);
    return &world->lanes[2 * at + (size_t)back];
}

/* A cut within a cut can only make it longer; a link takes the words that it was given last. */
static void begin(struct lapse_world *world, int32_t step, const struct lapse_plan_fault *fault) {
    int64_t until = lapse_sim_fault_until(world, fault);
    bool cut = fault->kind == LAPSE_FAULT_CUT;
    struct pair pair;
    (void)pair_of(&fault->link, &pair);
    for (int back = 0; back < 2; back++) {
        struct lapse_sim_lane *lane = lane_at(world, &pair, back);
        struct lapse_sim_hold *hold = hold_of(lane, fault->kind);
        if (!pair.way[back]) {
            continue;
        }
        bool longer = cut && hold->on && hold->until_ns > until;
        *hold = (struct lapse_sim_hold){true, longer ? hold->until_ns : until};
        if (!cut) {
            shape(lane, &fault->link);
        }
    }
    emit(world, true, fault->kind, step, &pair, until);
    if (cut) {
        lose_under_way(world, &pair);
    }
    if (until < INT64_MAX) {
        lapse_world_push(world, &(struct lapse_queue_item){.at_ns = until,
                                                           .phase = LAPSE_PHASE_FAULTS,
                                                           .kind = LAPSE_QUEUE_HEAL,
                                                           .rank = step,
                                                           .due_ns = until,
                                                           .actor = -1,
                                                           .index = step,
                                                           .id = pack(fault->kind, &pair)});
    }
}

static void shape(struct lapse_sim_lane *lane, const struct lapse_plan_link *link) {
    lane->latency_ns_min = link->latency_ns_min;
    lane->latency_ns_max = link->latency_ns_max;
    lane->loss_ppm = link->loss_ppm;
    lane->duplicate_ppm = link->duplicate_ppm;
    lane->reorder = link->reorder;
}

static void heal(struct lapse_world *world, int32_t step, const struct lapse_plan_link *link) {
    struct pair pair;
    if (pair_of(link, &pair)) {
        struct pair again = pair;
        end_pair(world, LAPSE_FAULT_CUT, step, &pair, -1);
        end_pair(world, LAPSE_FAULT_LINK, step, &again, -1);
        return;
    }
    lapse_sim_node_fault_step(world, step,
                              &(struct lapse_plan_fault){.kind = LAPSE_FAULT_DISK, .ends = true});
    int32_t resources = (int32_t)world->plan->setup.resource_count;
    for (int32_t actor = 0; actor < (int32_t)world->plan->setup.actor_count; actor++) {
        for (int32_t peer = -1; peer < resources; peer++) {
            struct pair cut = {actor, peer, {true, true}};
            struct pair shaped = cut;
            end_pair(world, LAPSE_FAULT_CUT, step, &cut, -1);
            end_pair(world, LAPSE_FAULT_LINK, step, &shaped, -1);
        }
    }
}

/* Ends it where it is on, and (until_ns -1: whatever was said) meant to end now. */
static void end_pair(struct lapse_world *world, enum lapse_fault_kind kind, int32_t step,
                     struct pair *pair, int64_t until_ns) {
    for (int back = 0; back < 2; back++) {
        struct lapse_sim_lane *lane = lane_at(world, pair, back);
        struct lapse_sim_hold *hold = hold_of(lane, kind);
        pair->way[back] = pair->way[back] && hold->on &&
                          (until_ns < 0 || hold->until_ns == until_ns);
        if (!pair->way[back]) {
            continue;
        }
        hold->on = false;
        if (kind == LAPSE_FAULT_LINK) {
            shape(lane, &(struct lapse_plan_link){0});
        }
    }
    if (!pair->way[0] && !pair->way[1]) {
        return;
    }
    emit(world, false, kind, step, pair, INT64_MAX);
    if (kind == LAPSE_FAULT_LINK) {
        hasten(world, pair);
    }
    if (kind == LAPSE_FAULT_CUT && pair->way[1] && pair->resource < 0) {
        lapse_sim_watcher_reconnect(world, pair->actor);
    }
}

static struct lapse_sim_hold *hold_of(struct lapse_sim_lane *lane, enum lapse_fault_kind kind) {
    return kind == LAPSE_FAULT_CUT ? &lane->cut : &lane->shaped;
}

static void emit(struct lapse_world *world, bool begins, enum lapse_fault_kind kind, int32_t step,
                 const struct pair *pair, int64_t until_ns) {
    struct lapse_history_event event = lapse_world_event(
        world, begins ? LAPSE_HISTORY_FAULT_BEGIN : LAPSE_HISTORY_FAULT_END, -1, step);
    struct lapse_party actor = {LAPSE_PARTY_ACTOR, pair->actor};
    event.u.fault.kind = kind;
    event.u.fault.node = -1;
    event.u.fault.both = pair->way[0] && pair->way[1];
    event.u.fault.from = pair->way[0] ? actor : peer_of(pair);
    event.u.fault.to = pair->way[0] ? peer_of(pair) : actor;
    event.u.fault.has_until = until_ns < INT64_MAX;
    event.u.fault.until.ns = event.u.fault.has_until ? until_ns : 0;
    (void)lapse_world_emit(world, &event);
}

/* In the order in which it was sent. */
static void lose_under_way(struct lapse_world *world, const struct pair *pair) {
    int64_t last = -1;
    for (;;) {
        struct lapse_queue_item *next = NULL;
        for (size_t i = 0; i < world->queue.heap.count; i++) {
            struct lapse_queue_item *item = &world->queue.heap.items[i];
            if (item->seq > last && (next == NULL || item->seq < next->seq) &&
                crosses(world, item, pair)) {
                next = item;
            }
        }
        if (next == NULL) {
            break;
        }
        last = next->seq;
        lose_item(world, next, pair);
    }
    /* What comes later waits for nothing of it. */
    for (int back = 0; back < 2; back++) {
        if (pair->way[back]) {
            lane_at(world, pair, back)->last_ns = 0;
        }
    }
}

/* What a slow link still carries when it is slow no more arrives at once, in the order in which it
 * was sent: nothing that is sent from now on comes before it, or has to wait for it. */
static void hasten(struct lapse_world *world, const struct pair *pair) {
    bool moved = false;
    for (size_t i = 0; i < world->queue.heap.count; i++) {
        struct lapse_queue_item *item = &world->queue.heap.items[i];
        if (item->at_ns <= world->now.ns || !crosses(world, item, pair) ||
            takes_its_own(world, item)) {
            continue;
        }
        item->at_ns = item->due_ns = item->rank = world->now.ns;
        moved = true;
    }
    if (moved) {
        lapse_queue_restore(&world->queue);
    }
    for (int back = 0; back < 2; back++) {
        if (pair->way[back]) {
            lane_at(world, pair, back)->last_ns = 0;
        }
    }
}

/* The time was said by the message's own line. */
static bool takes_its_own(const struct lapse_world *world, const struct lapse_queue_item *item) {
    if (item->kind == LAPSE_QUEUE_DELIVER) {
        return false;
    }
    const struct lapse_plan_step *step = &world->plan->steps[world->calls[item->index].step];
    bool request = item->kind == LAPSE_QUEUE_REQUEST;
    return (request ? step->request.kind : step->reply.kind) == LAPSE_MESSAGE_TAKES;
}

/* What has arrived, and waits for a paused client or node, is not on its way any more. */
static bool crosses(const struct lapse_world *world, const struct lapse_queue_item *item,
                    const struct pair *pair) {
    if (item->due_ns < world->now.ns) {
        return false;
    }
    if (item->kind == LAPSE_QUEUE_DELIVER) {
        const struct lapse_sim_delivery *delivery = item->payload;
        return pair->way[1] && pair->resource < 0 && item->actor == pair->actor && !delivery->lost;
    }
    bool request = item->kind == LAPSE_QUEUE_REQUEST;
    if (!request && item->kind != LAPSE_QUEUE_REPLY) {
        return false;
    }
    const struct lapse_sim_call *call = &world->calls[item->index];
    bool at_resource = call->request.verb >= LAPSE_CALL_WRITE;
    int32_t resource = at_resource ? call->request.resource : -1;
    return call->id == item->id && call->actor == pair->actor && resource == pair->resource &&
           pair->way[request ? 0 : 1] && !(request ? call->arrived : call->told);
}

static void lose_item(struct lapse_world *world, struct lapse_queue_item *item,
                      const struct pair *pair) {
    struct lapse_history_event event;
    bool delivery = item->kind == LAPSE_QUEUE_DELIVER;
    struct lapse_party actor = {LAPSE_PARTY_ACTOR, pair->actor};
    bool back = item->kind != LAPSE_QUEUE_REQUEST;
    if (delivery) {
        event = lapse_world_event(world, LAPSE_HISTORY_MESSAGE, pair->actor, -1);
        lapse_sim_watcher_lose(world, item->payload);
    } else {
        struct lapse_sim_call *call = &world->calls[item->index];
        event = lapse_world_call_event(world, LAPSE_HISTORY_MESSAGE, call);
        item->id = -1; /* nothing more arrives */
        lapse_sim_client_lose(world, call);
    }
    event.u.message.from = back ? peer_of(pair) : actor;
    event.u.message.to = back ? actor : peer_of(pair);
    event.u.message.reply = back && !delivery;
    event.u.message.fate = LAPSE_MESSAGE_LOST;
    (void)lapse_world_emit(world, &event);
}

static struct lapse_party peer_of(const struct pair *pair) {
    return pair->resource < 0 ? (struct lapse_party){LAPSE_PARTY_NODE, 0}
                              : (struct lapse_party){LAPSE_PARTY_RESOURCE, pair->resource};
}
