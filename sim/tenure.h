/* Tenures of the store: from the opening of its handle to the crash of its process. */
#ifndef SIM_TENURE_H
#define SIM_TENURE_H

#include "state.h"

/* Opens the store for the first time, with the plan's buckets. OK, NOMEM, INVALID (a bucket is not
 * one), or what lapse_open answers. */
enum lapse_status lapse_sim_tenure_open(struct lapse_world *world, struct lapse_error *err);
/* Closes the store: only one on SQLite, whose memory is not the world's, needs that. */
void lapse_sim_tenure_close(struct lapse_world *world);
/* The process crashes: its handle is gone, its rows stay. */
void lapse_sim_tenure_end(struct lapse_world *world);
/* The process starts again, by plan step `step`, and opens its store. False: it cannot, which a
 * note in the history tells, and the process is down. */
bool lapse_sim_tenure_reopen(struct lapse_world *world, int32_t step);
/* After that: watchers are told of a gap and watch on, housekeeping runs if it is due. */
void lapse_sim_tenure_begin(struct lapse_world *world, int32_t step);
/* What lapse_numbers_highest tells of the store that lies on the node's disk, while its process is
 * down. OK, NOMEM, or what lapse_open answers. */
enum lapse_status lapse_sim_tenure_highest(struct lapse_world *world, int64_t *ret,
                                           struct lapse_error *err);
/* A store equal to the node's, at this instant, for observers; NULL: the process is down, or the
 * world has failed. */
struct lapse *lapse_sim_tenure_fork(struct lapse_world *world);

#endif
