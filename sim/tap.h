/* The points of a store's own work, told to the world: a journal before the store's journal. */
#ifndef SIM_TAP_H
#define SIM_TAP_H

#include "lapse/journal.h"
#include "trouble.h"

struct lapse_sim_tap {
    lapse_journal inner;
    struct lapse_sim_trouble *trouble;
    const bool *housekeeping; /* what the store is at is its own housekeeping */
    bool told;                /* in this transaction: that it expires something */
};

/* Puts itself before *journal (of no journal, nothing). All but the journal is borrowed. */
void lapse_sim_tap_init(struct lapse_sim_tap *tap, struct lapse_sim_trouble *trouble,
                           const bool *housekeeping, lapse_journal *journal);

#endif
