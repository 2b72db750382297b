/* Who comes first at one instant. A draw has one outcome for each actor that has something due; 0
 * is the one that comes first in every other run. */
#include "order.h"

enum { PARTIES_MAX = 64 };

static bool is_fixed(const struct lapse_queue_item *item);
static int32_t party_of(const struct lapse_world *world, const struct lapse_queue_item *item);
static void put_in(struct lapse_world *world, size_t *places, size_t *count, size_t place);

struct lapse_queue_item lapse_sim_order_take(struct lapse_world *world,
                                             bool (*stale)(const struct lapse_world *world,
                                                           const struct lapse_queue_item *item)) {
    const struct lapse_queue_list *heap = &world->queue.heap;
    const struct lapse_queue_item *first = &heap->items[0];
    size_t places[PARTIES_MAX], count = 0;
    bool moves = first->phase == LAPSE_PHASE_UNDER_WAY || first->phase == LAPSE_PHASE_STEPS;
    if (!moves || is_fixed(first)) {
        return lapse_queue_pop(&world->queue);
    }
    const struct lapse_queue_item *wall = NULL; /* what nothing passes */
    for (size_t i = 0; i < heap->count; i++) {
        const struct lapse_queue_item *item = &heap->items[i];
        bool due = item->at_ns == first->at_ns && item->phase == first->phase;
        if (due && is_fixed(item) && (wall == NULL || lapse_queue_before(item, wall))) {
            wall = item;
        }
    }
    for (size_t i = 0; i < heap->count; i++) {
        const struct lapse_queue_item *item = &heap->items[i];
        bool due = item->at_ns == first->at_ns && item->phase == first->phase;
        if (due && (wall == NULL || lapse_queue_before(item, wall)) && !stale(world, item)) {
            put_in(world, places, &count, i);
        }
    }
    LAPSE_ASSERT(count > 0 && places[0] == 0);
    uint64_t chosen = count == 1 ? 0 : lapse_choose(world->choices, count, LAPSE_CHOICE_ORDER, -1);
    return lapse_queue_take(&world->queue, places[chosen]);
}

static bool is_fixed(const struct lapse_queue_item *item) {
    return item->kind == LAPSE_QUEUE_PROBE || item->kind == LAPSE_QUEUE_REAP ||
           item->kind == LAPSE_QUEUE_HOUSEKEEP || item->kind == LAPSE_QUEUE_CHAOS;
}

/* A request is its client's until it has been decided. */
static int32_t party_of(const struct lapse_world *world, const struct lapse_queue_item *item) {
    bool request = item->kind == LAPSE_QUEUE_REQUEST && item->index >= 0 &&
                   (size_t)item->index < world->call_count;
    return request ? world->calls[item->index].actor : item->actor;
}

/* Keeps the first item of each actor, in their order. */
static void put_in(struct lapse_world *world, size_t *places, size_t *count, size_t place) {
    const struct lapse_queue_item *items = world->queue.heap.items;
    int32_t party = party_of(world, &items[place]);
    for (size_t i = 0; i < *count; i++) {
        if (party_of(world, &items[places[i]]) != party) {
            continue;
        }
        if (!lapse_queue_before(&items[place], &items[places[i]])) {
            return;
        }
        for (; i + 1 < *count; i++) {
            places[i] = places[i + 1];
        }
        (*count)--;
    }
    size_t at = *count;
    if (at == PARTIES_MAX) {
        lapse_world_fail(world, LAPSE_LIMIT,
                         "more than %d actors have something due at one instant, too many to try "
                         "every order",
                         (int)PARTIES_MAX);
        return;
    }
    for (; at > 0 && lapse_queue_before(&items[place], &items[places[at - 1]]); at--) {
        places[at] = places[at - 1];
    }
    places[at] = place;
    (*count)++;
}
