/* A journal that can lose its un-synced tail, as a disk does when the machine stops: what a commit
 * with sync FULL left is kept aside, and comes back. Not part of any library. */
#ifndef ENGINE_TESTING_LOSS_H
#define ENGINE_TESTING_LOSS_H

#include "testing.h"

struct lapse_testing_loss {
    struct lapse_testing_journal journal;
    unsigned char *saved[LAPSE_TESTING_ROWS_MAX]; /* the rows of the last synced commit, encoded */
    size_t saved_len[LAPSE_TESTING_ROWS_MAX];
    size_t saved_count;
    int64_t synced, unsynced; /* commits of each kind */
    int64_t commit_fail_at;   /* the commit, counted from 1, that answers UNKNOWN; 0: none */
};

void lapse_testing_loss_init(struct lapse_testing_loss *loss);
void lapse_testing_loss_finish(struct lapse_testing_loss *loss);
lapse_journal lapse_testing_loss_vtable(struct lapse_testing_loss *loss);
/* Opens a store on it, as lapse_testing_open does. */
void lapse_testing_loss_open(struct lapse_testing *t, struct lapse_testing_loss *loss,
                             enum lapse_sync sync);
/* The process ends, and with `machine` what was not synced is gone. The store is closed; the clock
 * is the caller's to move before it opens it again. */
void lapse_testing_loss_crash(struct lapse_testing *t, struct lapse_testing_loss *loss,
                              bool machine);
void lapse_testing_loss_reopen(struct lapse_testing *t);
/* What a machine that stops now leaves: the ceiling of store time; the greatest token or revision
 * of a bucket that the next tenure goes on above. */
int64_t lapse_testing_loss_ceiling(const struct lapse_testing_loss *loss);
int64_t lapse_testing_loss_token(const struct lapse_testing_loss *loss);
int64_t lapse_testing_loss_revision(const struct lapse_testing_loss *loss, const char *bucket);

#endif
