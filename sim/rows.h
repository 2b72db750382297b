/* The rows of a store node's disk: a journal in the world's memory.
 *
 * It outlives the process that writes it. A crash of the process loses nothing that was committed;
 * a crash of the machine loses what no sync has reached: under `full` nothing, under `normal` all
 * since the last commit that was synced, under `none` everything. Its syncs may fail, lie or hang,
 * as its trouble says. */
#ifndef SIM_ROWS_H
#define SIM_ROWS_H

#include "lapse/journal.h"
#include "trouble.h"

struct lapse_sim_row; /* one row as bytes */

struct lapse_sim_rows {
    const lapse_alloc *alloc;
    struct lapse_sim_trouble *trouble;
    struct lapse_sim_row **chains; /* by hash of the row's key */
    size_t chain_count;
    size_t count;
    /* Inverses of what no sync has reached: those of finished commits, then of the one in hand. */
    struct lapse_sim_rows_undo {
        struct lapse_sim_row *row;
        bool added; /* the row was new: taking it back removes it. Else it was there before */
    } * undo;
    size_t undo_count, undo_cap;
    size_t undo_committed;
    bool hanging;      /* what is committed waits for a sync that hangs */
    bool open;         /* a transaction runs */
    bool never_synced; /* a commit was made that no later sync may reach */
    int64_t commits;
};

/* An empty disk, whose memory is alloc's. Both are borrowed. */
void lapse_sim_rows_init(struct lapse_sim_rows *rows, const lapse_alloc *alloc,
                         struct lapse_sim_trouble *trouble);
/* The journal of these rows, which it borrows; its close leaves them as they are. */
lapse_journal lapse_sim_rows_journal(struct lapse_sim_rows *rows);
/* What a crash of the process leaves: nothing of a transaction that has not been committed. */
void lapse_sim_rows_crash(struct lapse_sim_rows *rows);
/* A sync that hangs is done. */
void lapse_sim_rows_let_go(struct lapse_sim_rows *rows);
/* What a crash of the machine leaves. */
void lapse_sim_rows_lose_unsynced(struct lapse_sim_rows *rows);

#endif
