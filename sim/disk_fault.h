/* What is done to the node's disk, whichever it is: its syncs, crashes of its machine, backups. */
#ifndef SIM_DISK_FAULT_H
#define SIM_DISK_FAULT_H

#include "state.h"

/* A queue item of kind WAKE whose id is this plus a kind of disk fault is that fault's end. */
enum { LAPSE_SIM_DISK_ENDS = 1000 };

/* A fault of kind DISK or STALL begins, by plan step `step`; one of kind DISK ends. */
void lapse_sim_disk_fault_step(struct lapse_world *world, int32_t step,
                               const struct lapse_plan_fault *fault);
void lapse_sim_disk_fault_end(struct lapse_world *world, const struct lapse_queue_item *item);
/* Ends all of its faults that stand. */
void lapse_sim_disk_heal(struct lapse_world *world, int32_t step);
/* After whatever the store has done: if a sync of it hangs, its process does. */
void lapse_sim_node_hang(struct lapse_world *world);
/* Syncs that hang are done. */
void lapse_sim_disk_let_go_all(struct lapse_world *world);
/* The process has fallen: nobody waits for a sync any more, and what came after one that hangs was
 * never done. */
void lapse_sim_disk_left(struct lapse_world *world);
/* The machine has crashed too, by plan step `step`: what no sync has reached is gone. */
void lapse_sim_disk_lose_unsynced(struct lapse_world *world, int32_t step);
/* An operator's `backup` or `restore` is due. */
void lapse_sim_disk_operate(struct lapse_world *world, int32_t step);

#endif
