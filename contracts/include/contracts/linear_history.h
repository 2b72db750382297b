/* A history into problems, seen from outside: only what clients sent and were told, and when.
 *
 * Decisions (APPLY) are not looked at. One problem comes of each key and of each lease name. An end
 * of a term is a call of its own, with the window in which it must come: of a span d
 * [sent + floor(d / (1 + rho)), answered + ceil(d / (1 - rho))], of a date its true instant within
 * epsilon; both wider by the restart error for each restart of the store's machine inside, and by
 * the rounding of readings where the history tells that the store's clock has a rate or ticks. It
 * comes to nothing once another call has given another term.
 *
 * What happens at one instant happens in the order of the history: who makes one of calls whose
 * order is not known puts the sendings of an instant before its replies.
 *
 * Where the outside does not tell, the reading is the one that accepts more:
 * - a term that is a session, of a key or a lease, may end at any time from its call on, or never;
 *   sessions themselves are not judged;
 * - a default term is taken as such where the bucket's words are given once; after an ALTER, or
 * with several OPENs, it may end at any time, or never;
 * - of idle terms a cap only moves the earliest end of a renewed term to the use itself; where a
 * key had several idle spans, a renewed term ends by any of them; a renewal in the last second
 * before a crash may be lost;
 * - a listing is one read for each key, also of those that it leaves out unless its limit cut it; a
 *   count tells something where it is 0 or the number of all keys that the history names. That all
 *   keys were as shown at one instant is what KV-03 and KV-11 judge, over decisions;
 * - the calls of a batch stand in their order, but others may come between them;
 * - a read of an old revision tells only that the key is live, if it is; watches tell their first
 *   keys and nothing else;
 * - an ask of an acquire that waits has no answer of its own; a forged answer is none.
 *
 * Policies other than strict's are honoured where the outside tells enough (linear_policy.c): ends
 * are seen later under `end_seen: sweep`, sooner where spans are cut down, at any time where a
 * wall moves them that nobody bounds; conditions look at tombstones and markers under
 * `if_version: last`.
 * Left out, with the policy's name: the keys or the leases of which it does not.
 *
 * Not judged, with a reason: runs outside the contract (but dates where a wall left its bound: they
 * may come at any time), and crashes of a store that keeps nothing over them or does not sync. */
#ifndef CONTRACTS_LINEAR_HISTORY_H
#define CONTRACTS_LINEAR_HISTORY_H

#include "contracts/history.h"
#include "contracts/linear_problem.h"

/* Makes the problems of a history, which is borrowed for the call. Each call's `source` is its id
 * in the history, and of an end that of the call that gave the term. Returns OK (free *ret) or
 * NOMEM. */
enum lapse_status lapse_linear_history_read(const lapse_alloc *alloc,
                                            const struct lapse_history *history,
                                            struct lapse_linear_problems *ret,
                                            struct lapse_error *err);

#endif
