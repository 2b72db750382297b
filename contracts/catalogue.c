/* The catalogue: every contract of the project in a sentence, where it comes from, and what goes
 * wrong for a user without it. Ids are never renumbered; a contract may stand here before there is
 * a rule that judges it. */
#include <string.h>

#include "contracts/rule.h"

#define SRC_EXPIRY "002 (KV / Expiry)"
#define SRC_NATS "000 (NATS)"
#define SRC_LEASES "004 (Leases)"
#define SRC_LAPSE "lapse"
#define SRC_EXPIRY_NATS SRC_EXPIRY ", " SRC_NATS
#define SRC_BOTH SRC_LEASES ", " SRC_NATS

static const struct lapse_contract contracts[] = {
    {.id = "KV-01",
     .sentence =
         "A key written with a term of d at the instant s is live at every instant from s up to, "
         "but not at, s + d.",
     .source = SRC_EXPIRY,
     .why =
         "If the edge is soft, a code that is good for 15 minutes works for a second too long, or "
         "fails a user who was in time."},
    {.id = "KV-02",
     .sentence =
         "The call's own term wins, then the bucket's default, then none; a bucket with two kinds "
         "of term, or a call with two terms, is refused.",
     .source = SRC_EXPIRY,
     .why = "A short own term that loses against the bucket's default keeps a secret alive for "
            "hours; two terms at once leave nobody sure which one counts."},
    {.id = "KV-03",
     .sentence = "From the instant of its end a key is absent to every call alike, reads, writes, "
                 "listings and watches, whether or not it has been reaped.",
     .source = SRC_EXPIRY,
     .why = "If get says absent and list still shows the key, two parts of one program see two "
            "worlds, and what was to be forgotten leaks out of a listing."},
    {.id = "KV-04",
     .sentence =
         "What any command has once found ended stays absent until somebody writes it again.",
     .source = SRC_LAPSE,
     .why = "A session that was gone and comes back lets in somebody who was logged out."},
    {.id = "KV-05",
     .sentence = "No key is absent before its end, unless it was deleted or purged.",
     .source = SRC_LAPSE,
     .why =
         "A lock or a session that vanishes early looks like data loss, and two workers start on "
         "the same job."},
    {.id = "KV-06",
     .sentence =
         "Expire and persist change when a key ends and nothing else: its value and its revision "
         "stay.",
     .source = SRC_EXPIRY,
     .why =
         "If a changed term moved the revision, every conditional write under way would fail for "
         "no reason."},
    {.id = "KV-07",
     .sentence =
         "A set that names no term starts the bucket's default term afresh, also on a live key.",
     .source = SRC_EXPIRY,
     .why =
         "A heartbeat by plain set that keeps the old end lets the key die under a client that is "
         "alive and well."},
    {.id = "KV-08",
     .sentence =
         "Get, entry and has keep an idle key alive, once a thirtieth of its span has passed "
         "since the last use; listings, counts and watches do not.",
     .source = SRC_EXPIRY,
     .why = "If a dashboard that lists keys kept them alive, no session would ever end; if a read "
            "did not, active users would be thrown out."},
    {.id = "KV-09",
     .sentence =
         "A renewal that arrives late neither touches an entry written since, nor shortens a "
         "term, nor brings back what has ended.",
     .source = SRC_LAPSE,
     .why = "A renewal written behind the user's back would stretch the term of another value that "
            "only shares the key."},
    {.id = "KV-11",
     .sentence =
         "A read gives the value that was accepted last; a listing shows each live key once, in "
         "byte order, and nothing else.",
     .source = SRC_LAPSE,
     .why = "Stale reads and keys that a listing skips or doubles turn every clean-up job into "
            "guesswork."},
    {.id = "KV-12",
     .sentence =
         "However often an idle key is used, it costs at most one durable write in each thirtieth "
         "of its span.",
     .source = SRC_EXPIRY,
     .why = "Otherwise reads of a busy key become a storm of writes."},
    {.id = "KV-13",
     .sentence =
         "The time that a call shows as left is exactly end minus now, always above zero and "
         "never above the span.",
     .source = SRC_LAPSE,
     .why = "Clients plan their next renewal by it: too much, and they renew after the end; below "
            "zero, and they spin."},
    {.id = "KV-14",
     .sentence = "A set that asks to keep the term leaves a live key's end where it was.",
     .source = SRC_LAPSE,
     .why = "Without it a value cannot be corrected without also giving it more time to live."},
    {.id = "CAS-01",
     .sentence = "A write under a version is done if the live entry has that revision, and answers "
                 "conflict in every other case.",
     .source = SRC_EXPIRY_NATS,
     .why =
         "It is the only way to change what one has read without losing another's change; done on "
         "the wrong revision, the update is lost silently."},
    {.id = "CAS-02",
     .sentence = "Of all writes that name one revision, one at most succeeds.",
     .source = SRC_NATS,
     .why = "Two winners of one race both believe that they own the next step."},
    {.id = "CAS-03",
     .sentence =
         "Create succeeds if nothing live stands under the key, and only then; of several at once "
         "the first decided wins.",
     .source = SRC_NATS,
     .why = "Create is how a lock is taken: a second success is a second holder, a wrong refusal a "
            "lock that nobody can take."},
    {.id = "CAS-04",
     .sentence = "In a bucket each accepted change has a higher revision than all before it, over "
                 "deletes, ends and restarts.",
     .source = SRC_NATS,
     .why = "A number that comes twice lets an old conditional write succeed on a new entry."},
    {.id = "CAS-05",
     .sentence =
         "A refused call leaves no trace, and neither it nor a change of term takes a revision or "
         "makes an event.",
     .source = SRC_LAPSE,
     .why = "If a refusal changed something, the loser of a race would still do harm."},
    {.id = "ONCE-01",
     .sentence =
         "A call sent again under its request id takes effect once and gets the answer of the "
         "first time.",
     .source = SRC_NATS,
     .why =
         "After a time-out the client cannot know what happened; without this its retry may lock "
         "it out by its own earlier success."},
    {.id = "WATCH-01",
     .sentence =
         "A watcher gets events in the order of their revisions, each once; what it cannot get is "
         "reported as a gap.",
     .source = SRC_NATS,
     .why = "A copy that is kept up by a watch drifts away for good after one silent loss."},
    {.id = "WATCH-02",
     .sentence =
         "Each accepted put, delete and purge becomes one event of just that kind; a renewal by "
         "put is a put, an end is none of them.",
     .source = SRC_NATS,
     .why = "A watcher that takes an end for a delete, or misses a refresh, acts on something that "
            "did not happen."},
    {.id = "WATCH-03",
     .sentence =
         "With markers, each end becomes one expired event: after the key's last put, before its "
         "next write, and soon.",
     .source = SRC_NATS,
     .why = "Who waits for the expired event to take over waits for ever if it does not come, and "
            "takes over twice if it comes twice."},
    {.id = "WATCH-04",
     .sentence =
         "Without markers an end makes no event at all, and a watch begun later does not see the "
         "key.",
     .source = SRC_NATS,
     .why = "Programs written for silent ends would be woken by events that they do not know."},
    {.id = "WATCH-05",
     .sentence = "Markers and tombstones go away after a term of their own, without an event.",
     .source = SRC_NATS,
     .why =
         "Otherwise a bucket of short-lived keys grows for ever with the traces of what is gone."},
    {.id = "WATCH-06",
     .sentence =
         "A watch from an older revision gets at least the last event since then of each key that "
         "has one, or is told of a gap first.",
     .source = SRC_LAPSE,
     .why = "A client that was away for a while would go on with a picture that misses changes."},
    {.id = "LEASE-01",
     .sentence = "At no instant of store time do two owners hold one name.",
     .source = SRC_LEASES,
     .why = "This is what a lease is for: with two holders each job runs twice."},
    {.id = "LEASE-02",
     .sentence =
         "A lease granted for d at the instant s is held from s up to, but not at, s + d, unless "
         "it is released or shortened.",
     .source = SRC_LEASES,
     .why =
         "A holder that loses its lease early works unprotected; one that keeps it longer blocks "
         "the others."},
    {.id = "LEASE-03",
     .sentence =
         "Acquire on a name that another holds is refused, says who holds it until when, and "
         "changes nothing.",
     .source = SRC_LEASES,
     .why = "A refused rival that still shortens or takes the lease breaks the holder's work."},
    {.id = "LEASE-04",
     .sentence =
         "Once a lease has ended, the next acquire is granted, with nobody having to clean up.",
     .source = SRC_LEASES,
     .why = "A crashed holder would block its job until a person steps in."},
    {.id = "LEASE-05",
     .sentence = "A release by the holder frees the name at that instant.",
     .source = SRC_LEASES,
     .why = "Without it every orderly hand-over waits for a full term."},
    {.id = "LEASE-06",
     .sentence =
         "An extend in time moves the end to now plus the span asked for, and keeps owner and "
         "token.",
     .source = SRC_LEASES,
     .why = "If it added to the old end, terms would grow beyond all bounds; if it changed the "
            "token, the holder would be fenced off from its own work."},
    {.id = "LEASE-07",
     .sentence =
         "Extend with nothing live under the name answers lost, under another's grant not_owner, "
         "and revives nothing.",
     .source = SRC_LEASES,
     .why = "A late renewal that revives a lease puts its sender beside the successor."},
    {.id = "LEASE-08",
     .sentence =
         "The live holder that acquires again gets the same token and what is left of its term; "
         "the end does not move.",
     .source = SRC_LEASES,
     .why = "A client that retries after a lost reply would lock itself out, or renew without "
            "meaning to."},
    {.id = "LEASE-09",
     .sentence =
         "Extend and release touch only the grant that their token names, or, without a token, "
         "their owner.",
     .source = SRC_LEASES,
     .why = "A former holder's late release would free the lease under its successor's feet."},
    {.id = "LEASE-10",
     .sentence =
         "In a bucket of locks nobody but the creator changes a live entry without naming its "
         "version.",
     .source = SRC_NATS,
     .why = "A sleeper's plain put steals the lock back from the one who took over, and no refusal "
            "tells either."},
    {.id = "FENCE-01",
     .sentence = "Each grant of a name carries a higher token than all grants of it before.",
     .source = SRC_LEASES,
     .why = "A resource tells old holders from new ones by this number alone."},
    {.id = "FENCE-02",
     .sentence = "A token belongs to one grant and stays with it through extends.",
     .source = SRC_LEASES,
     .why = "Two grants with one token cannot be told apart, so the fence is open."},
    {.id = "FENCE-03",
     .sentence =
         "A guarded resource never applies a write whose token is lower than one that it has "
         "applied.",
     .source = SRC_LEASES,
     .why = "A paused holder wakes up and writes over the work of its successor."},
    {.id = "BELIEF-01",
     .sentence = "A careful client sends nothing under a grant once its own clock has shown it the "
                 "deadline.",
     .source = SRC_BOTH,
     .why =
         "It is the client's half of the bargain: the store cannot call back a client that sleeps "
         "or is cut off."},
    {.id = "BELIEF-02",
     .sentence =
         "A careful client that was told no does nothing more under that grant; after no answer "
         "it may retry until its deadline.",
     .source = SRC_BOTH,
     .why = "Going on after a clear no means working beside the new holder, knowingly."},
    {.id = "RENEW-01",
     .sentence =
         "A loop that renewed a grant sends no further renewal once its client's belief has "
         "ended, until there is a new grant.",
     .source = SRC_LAPSE,
     .why = "A renewal timer that was never stopped takes the lock back from the next holder, or "
            "hides that it is lost."},
    {.id = "DUR-01",
     .sentence = "With full sync, whatever an answer has shown is still there after any crash.",
     .source = SRC_LAPSE,
     .why = "A lock granted and then forgotten is granted a second time."},
    {.id = "DUR-02",
     .sentence = "A write without an answer is there whole after a crash, or not at all.",
     .source = SRC_LAPSE,
     .why = "Half a write leaves a key whose value and term do not belong together."},
    {.id = "DUR-03",
     .sentence =
         "A crash loses at most the idle renewals of the last second, and none that had to be "
         "durable first.",
     .source = SRC_EXPIRY,
     .why = "A session in use would end at each restart."},
    {.id = "DUR-04",
     .sentence =
         "A persistent lease comes back from a crash with its owner, token and end; its term has "
         "run on meanwhile.",
     .source = SRC_LEASES,
     .why = "The holder could no longer extend it, or would hold it longer than it was granted."},
    {.id = "DUR-05",
     .sentence = "An ephemeral lease is gone after the tenure in which it was granted.",
     .source = SRC_LEASES,
     .why = "Who chose the cheap kind counts on a fresh start after a restart."},
    {.id = "DUR-06",
     .sentence = "Damage to stored data is noticed: the answer is right, or it says corrupt.",
     .source = SRC_LAPSE,
     .why = "A flipped bit must not become somebody's lock."},
    {.id = "CLOCK-01",
     .sentence = "Steps of the wall clock do not move terms that are spans.",
     .source = SRC_LAPSE,
     .why = "Setting a clock right would end every lease, or keep all alive for an hour."},
    {.id = "CLOCK-02",
     .sentence =
         "A term that is a date ends when the wall clock first shows that date, once, even if the "
         "clock is set back later.",
     .source = SRC_LAPSE,
     .why = "A key that ended at midnight must not come back because a clock was corrected."},
    {.id = "CLOCK-03",
     .sentence = "Store time never runs backwards, over restarts too.",
     .source = SRC_LAPSE,
     .why = "What has ended would be live again."},
    {.id = "CLOCK-04",
     .sentence = "Time asleep counts, and a store that was paused gives nothing a longer life.",
     .source = SRC_LAPSE,
     .why = "A laptop lid or a stalled machine would stretch every lease."},
    {.id = "CLOCK-05",
     .sentence =
         "Arithmetic on time is exact or refused; it never wraps, and no elapsed time is negative.",
     .source = SRC_LAPSE,
     .why = "A term of 300 years would be a term in the past."},
    {.id = "CLOCK-06",
     .sentence =
         "Between two answers store time advances by the true time between them, within drift and "
         "restart error.",
     .source = SRC_LAPSE,
     .why =
         "All other promises speak of store time: this ties them to the time that people live in."},
    {.id = "REAP-01",
     .sentence =
         "What has ended is removed within the reap bound, and its removal changes no answer and "
         "never hits a live or rewritten key.",
     .source = SRC_EXPIRY,
     .why = "Without removal storage fills up; with a careless one a key written anew is deleted."},
    {.id = "REAP-02",
     .sentence =
         "No call writes to storage because a term has ended: that is left to the reaper or to "
         "the key's next write.",
     .source = SRC_EXPIRY,
     .why = "A storm of ends would make plain reads slow."},
    {.id = "REPL-01",
     .sentence =
         "A replicated store has one leader an epoch, and its nodes agree on their logs and "
         "states.",
     .source = SRC_LEASES,
     .why = "Two leaders grant one lease twice."},
    {.id = "REPL-02",
     .sentence = "The next leader keeps every lease's end, and its holder can extend it there.",
     .source = SRC_LEASES,
     .why = "Each change of leader would free all locks, or freeze them."},
    {.id = "LIN-01",
     .sentence =
         "All calls can be put into one order, each between its sending and its reply, in which "
         "every answer is right.",
     .source = SRC_LAPSE,
     .why = "It is what makes a store behave like one thing, whatever happens at once."},
    {.id = "LIVE-01",
     .sentence =
         "Once all faults have stopped, a free name is acquired within a retry, a round trip and "
         "the time of an election.",
     .source = SRC_LEASES,
     .why = "A store that only ever refuses keeps all promises of safety and is of no use."},
    {.id = "LIVE-02",
     .sentence = "A client loop keeps to its planned rate: it neither spins nor falls asleep.",
     .source = SRC_LAPSE,
     .why = "A loop gone wild takes the store down; one that has stalled lets its lease end."},
};

const struct lapse_contract *lapse_contract_table(size_t *ret_count) {
    *ret_count = sizeof contracts / sizeof contracts[0];
    return contracts;
}

const struct lapse_contract *lapse_contract_find(const char *id) {
    for (size_t i = 0; i < sizeof contracts / sizeof contracts[0]; i++) {
        if (strcmp(contracts[i].id, id) == 0)
            return &contracts[i];
    }
    return NULL;
}
