/* What is wrong with a node's disk: how its syncs go, and whether it takes anything at all.
 *
 * The disk of files (disk.h) and the rows in memory (rows.h) ask here before each sync and each
 * commit, so that a fault means the same on both. */
#ifndef SIM_TROUBLE_H
#define SIM_TROUBLE_H

#include "contracts/history.h"
#include "sim/plan.h"

/* How a sync goes. */
enum lapse_sim_sync {
    LAPSE_SIM_SYNC_DONE = 0,
    LAPSE_SIM_SYNC_FAILS, /* it says so, and what it covered will never be durable by a later one */
    LAPSE_SIM_SYNC_LIES,  /* it answers done, and nothing is durable by it */
    LAPSE_SIM_SYNC_HANGS  /* it answers done, but only once the disk is let go; durable from then */
};

struct lapse_sim_trouble {
    enum lapse_disk_fault sync; /* 0: syncs are as they should be */
    int64_t syncs_before;       /* so many go well before it */
    bool stall;                 /* the next sync hangs, and it alone */
    bool tear, full;
    bool dead;    /* the process has fallen: nothing more is taken from it */
    bool hanging; /* a sync hangs */
    int64_t syncs;              /* asked for so far */
    /* Told of a point before what it is the point of; may set `dead`. NULL: nobody asks. */
    void (*reach)(void *ctx, enum lapse_point_kind kind);
    void *ctx;
};

/* A point is reached; false: the process has fallen at it. */
bool lapse_sim_trouble_reach(struct lapse_sim_trouble *trouble, enum lapse_point_kind kind);
/* A sync begins: how it goes. */
enum lapse_sim_sync lapse_sim_trouble_sync(struct lapse_sim_trouble *trouble);

#endif
