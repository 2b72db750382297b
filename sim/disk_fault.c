/* Faults of the node's disk, and what an operator does with copies of it. */
#include "disk_fault.h"

#include "fault.h"
#include "node_fault.h"
#include "tenure.h"
#include "world_events.h"

#include <stdio.h>

enum { NOTE_MAX = 200 };

static void break_syncs(struct lapse_world *world, const struct lapse_plan_fault *fault);
static void end(struct lapse_world *world, int32_t step, enum lapse_disk_fault disk);
static void push_end(struct lapse_world *world, int32_t step, enum lapse_disk_fault disk);
static void emit(struct lapse_world *world, bool begins, enum lapse_disk_fault disk, int32_t step,
                 int64_t until_ns);
static void back_up(struct lapse_world *world, int32_t copy);
static void put_back(struct lapse_world *world, int32_t step);
static enum lapse_restored read_lost(struct lapse_world *world, int32_t step);
static bool copy_disk(struct lapse_world *world, struct lapse_sim_disk *to,
                      const struct lapse_sim_disk *from);

void lapse_sim_disk_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault) {
    struct lapse_sim_node *node = &world->node;
    if (fault->kind == LAPSE_FAULT_STALL) {
        node->trouble.stall = true;
        node->stall = *fault;
        node->stall_step = step;
        return;
    }
    int64_t until = lapse_sim_fault_until(world, fault);
    node->troubled = true;
    node->disk_until_ns[fault->disk] = until;
    emit(world, true, fault->disk, step, until);
    switch (fault->disk) {
    case LAPSE_DISK_SYNC_FAIL:
    case LAPSE_DISK_SYNC_LIES:
    case LAPSE_DISK_SYNC_STALLS:
        break_syncs(world, fault);
        node->stall_step = step;
        break;
    case LAPSE_DISK_TEAR:
        node->trouble.tear = true;
        break;
    case LAPSE_DISK_FULL:
        node->trouble.full = true;
        break;
    case LAPSE_DISK_ROT:
        lapse_sim_disk_rot(&node->disk, fault->disk_bits, world->choices, step);
        break;
    }
    push_end(world, step, fault->disk);
}

void lapse_sim_disk_fault_end(struct lapse_world *world, const struct lapse_queue_item *item) {
    end(world, item->index, (enum lapse_disk_fault)(item->id - LAPSE_SIM_DISK_ENDS));
}

void lapse_sim_disk_heal(struct lapse_world *world, int32_t step) {
    for (int disk = LAPSE_DISK_SYNC_FAIL; disk < LAPSE_DISK_ROT; disk++) {
        if (world->node.disk_until_ns[disk] > 0) {
            end(world, step, (enum lapse_disk_fault)disk);
        }
    }
    world->node.trouble.stall = false;
}

/* By a stall for its span from here on; by a disk until that is well again. */
void lapse_sim_node_hang(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    if (!node->trouble.hanging || node->stops[LAPSE_SIM_STOP_STALL].on || node->trouble.dead) {
        return;
    }
    int64_t until = node->trouble.sync == LAPSE_DISK_SYNC_STALLS
                        ? node->disk_until_ns[LAPSE_DISK_SYNC_STALLS]
                        : lapse_sim_fault_until(world, &node->stall);
    lapse_sim_node_stop(world, node->stall_step, LAPSE_FAULT_STALL, until);
}

void lapse_sim_disk_let_go_all(struct lapse_world *world) {
    struct lapse_sim_node *node = &world->node;
    node->trouble.hanging = false;
    lapse_sim_rows_let_go(&node->rows);
    if (!lapse_sim_disk_let_go(&node->disk)) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for the disk");
    }
}

/* What the rows took after a sync that hangs may stay: they keep their order, and nobody was told.
 */
void lapse_sim_disk_left(struct lapse_world *world) {
    world->node.trouble.hanging = false;
    if (!lapse_sim_disk_fall(&world->node.disk)) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for the disk");
    }
}

void lapse_sim_disk_lose_unsynced(struct lapse_world *world, int32_t step) {
    struct lapse_sim_node *node = &world->node;
    lapse_sim_rows_lose_unsynced(&node->rows);
    if (!lapse_sim_disk_crash(&node->disk, node->trouble.tear ? world->choices : NULL, step)) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for the disk");
    }
}

void lapse_sim_disk_operate(struct lapse_world *world, int32_t step) {
    const struct lapse_plan_operator *act = &world->plan->steps[step].u.operator_act;
    if (act->verb == LAPSE_OPERATOR_BACKUP) {
        world->ran[step] = LAPSE_RAN_YES;
        back_up(world, act->copy);
    } else if (world->node.copied[act->copy]) {
        world->ran[step] = LAPSE_RAN_YES;
        put_back(world, step);
    }
}

static void end(struct lapse_world *world, int32_t step, enum lapse_disk_fault disk) {
    struct lapse_sim_trouble *trouble = &world->node.trouble;
    world->node.disk_until_ns[disk] = 0;
    emit(world, false, disk, step, INT64_MAX);
    if (disk == LAPSE_DISK_TEAR) {
        trouble->tear = false;
    } else if (disk == LAPSE_DISK_FULL) {
        trouble->full = false;
    } else if (trouble->sync == disk) {
        trouble->sync = 0;
    }
}

static void break_syncs(struct lapse_world *world, const struct lapse_plan_fault *fault) {
    struct lapse_sim_trouble *trouble = &world->node.trouble;
    trouble->sync = fault->disk;
    trouble->syncs_before = fault->disk_nth > 0 ? fault->disk_nth - 1 : 0;
}

static void push_end(struct lapse_world *world, int32_t step, enum lapse_disk_fault disk) {
    int64_t at_ns = world->node.disk_until_ns[disk];
    if (at_ns == INT64_MAX || disk == LAPSE_DISK_ROT) {
        return;
    }
    lapse_world_push(world, &(struct lapse_queue_item){.at_ns = at_ns,
                                                       .phase = LAPSE_PHASE_FAULTS,
                                                       .kind = LAPSE_QUEUE_WAKE,
                                                       .rank = step,
                                                       .due_ns = at_ns,
                                                       .actor = -1,
                                                       .index = step,
                                                       .id = LAPSE_SIM_DISK_ENDS + (int64_t)disk});
}

static void emit(struct lapse_world *world, bool begins, enum lapse_disk_fault disk, int32_t step,
                 int64_t until_ns) {
    struct lapse_history_event event = lapse_world_event(
        world, begins ? LAPSE_HISTORY_FAULT_BEGIN : LAPSE_HISTORY_FAULT_END, -1, step);
    event.u.fault.kind = LAPSE_FAULT_DISK;
    event.u.fault.node = 0;
    event.u.fault.disk = disk;
    event.u.fault.has_until = until_ns < INT64_MAX;
    event.u.fault.until.ns = event.u.fault.has_until ? until_ns : 0;
    (void)lapse_world_emit(world, &event);
}

static void back_up(struct lapse_world *world, int32_t copy) {
    struct lapse_sim_node *node = &world->node;
    node->copied[copy] = copy_disk(world, &node->copies[copy], &node->disk);
}

/* The process falls, its disk is the copy, and it starts again: not on another boot. */
static void put_back(struct lapse_world *world, int32_t step) {
    const struct lapse_plan_operator *act = &world->plan->steps[step].u.operator_act;
    struct lapse_sim_node *node = &world->node;
    struct lapse_plan_fault fault = {.kind = LAPSE_FAULT_CRASH, .actor = -1};
    lapse_sim_node_fall(world, step, &fault);
    enum lapse_restored shifted = act->restored ? read_lost(world, step) : LAPSE_RESTORED_OLD;
    if (!copy_disk(world, &node->disk, &node->copies[act->copy])) {
        return;
    }
    node->restored = shifted;
    node->shifts = act->restored;
    node->was_shifted = node->was_shifted || act->restored;
    fault.kind = LAPSE_FAULT_RESTART;
    lapse_sim_node_fall(world, step, &fault);
}

/* What the store that is lost has given is read from its files before the copy takes their place.
 * Where they cannot be read, numbers move up from the copy's own; if an earlier copy was put back
 * in this way, what was given since may be given again. */
static enum lapse_restored read_lost(struct lapse_world *world, int32_t step) {
    struct lapse_sim_node *node = &world->node;
    struct lapse_error err = {0};
    node->restored_above = 0;
    enum lapse_status status = lapse_sim_tenure_highest(world, &node->restored_above, &err);
    if (status == LAPSE_OK) {
        return LAPSE_RESTORED_SHIFTED;
    }
    char text[NOTE_MAX];
    (void)snprintf(text, sizeof(text),
                   "the store that n1 had cannot be read, it is %s: numbers move up from those of "
                   "the copy",
                   lapse_status_word(status));
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_NOTE, -1, step);
    event.u.note.text = lapse_bytes_of(text);
    (void)lapse_world_emit(world, &event);
    return node->was_shifted ? LAPSE_RESTORED_OLD : LAPSE_RESTORED_SHIFTED;
}

static bool copy_disk(struct lapse_world *world, struct lapse_sim_disk *to,
                      const struct lapse_sim_disk *from) {
    lapse_sim_disk_wipe(to);
    bool done = lapse_sim_disk_copy(to, from, false);
    if (!done) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for a copy of the disk");
    }
    return done;
}
