/* One count of syncs a disk: which of them fail, lie or hang. */
#include "trouble.h"

bool lapse_sim_trouble_reach(struct lapse_sim_trouble *trouble, enum lapse_point_kind kind) {
    if (!trouble->dead && trouble->reach != NULL) {
        trouble->reach(trouble->ctx, kind);
    }
    return !trouble->dead;
}

enum lapse_sim_sync lapse_sim_trouble_sync(struct lapse_sim_trouble *trouble) {
    trouble->syncs++;
    if (trouble->stall) {
        trouble->stall = false;
        trouble->hanging = true;
    }
    bool turn = trouble->sync != 0 && trouble->syncs_before == 0;
    if (trouble->syncs_before > 0) {
        trouble->syncs_before--;
    }
    if (turn && trouble->sync == LAPSE_DISK_SYNC_FAIL) {
        return LAPSE_SIM_SYNC_FAILS;
    }
    if (turn && trouble->sync == LAPSE_DISK_SYNC_LIES) {
        return LAPSE_SIM_SYNC_LIES;
    }
    trouble->hanging = trouble->hanging || turn;
    return trouble->hanging ? LAPSE_SIM_SYNC_HANGS : LAPSE_SIM_SYNC_DONE;
}
