/* The canaries: for each contract the story that its rule's tests tell, told right and with one
 * event changed. Right it must pass, changed it must be rejected, and under that contract. A line
 * of the output is a contract, the event that rang (0: none did), how many there are, and what the
 * change is, apart by tabs. Exits 1 if one does not ring, or rings at the right story. */
#include <stdio.h>
#include <string.h>

#include "history_builder_test.h"

struct canary {
    const char *id;
    const char *story; /* what goes wrong in it */
};

static const struct canary canaries[] = {
    {"KV-01", "The end is a nanosecond late."},
    {"KV-02", "The call's own term loses against the bucket's."},
    {"KV-03", "At its end exactly, the key is still read."},
    {"KV-04", "A key found ended is back."},
    {"KV-05", "A nanosecond before its end the key is gone."},
    {"KV-06", "Expire takes a revision."},
    {"KV-07", "A plain set keeps the old end."},
    {"KV-08", "A read after floor(S/30) does not renew."},
    {"KV-09", "A renewal of the entry before moves the end of the new one."},
    {"KV-11", "A listing leaves a live key out."},
    {"KV-12", "Each use of an idle key is written to storage."},
    {"KV-13", "A nanosecond too much is shown as left."},
    {"KV-14", "A set that keeps the term starts it afresh."},
    {"CAS-01", "A conditional delete goes through on a revision that the key never had."},
    {"CAS-02", "The second of two writes on one revision succeeds too."},
    {"CAS-03", "Create writes over a live entry."},
    {"CAS-04", "A number comes twice after a delete."},
    {"CAS-05", "The value of an update that was refused is read afterwards."},
    {"ONCE-01", "The same set, sent again, is done a second time."},
    {"WATCH-01", "The watcher is handed the second event and never sees the first."},
    {"WATCH-02", "A delete is announced as a purge."},
    {"WATCH-03", "The next write comes and the end before it was never marked."},
    {"WATCH-04", "An end makes an event in a bucket without markers."},
    {"WATCH-05", "A tombstone is still stored after its own hour."},
    {"WATCH-06",
     "A watch from revision 1 is handed the second key's event and never the first key's."},
    {"LEASE-01", "Two holders: inspect names another than the one who holds it."},
    {"LEASE-02", "A nanosecond before its end nobody holds it."},
    {"LEASE-03", "A held name is granted to another."},
    {"LEASE-04", "At the end exactly, the name is still said to be held."},
    {"LEASE-05", "A released name is not free."},
    {"LEASE-06", "An extend adds its span to the end instead of to the call."},
    {"LEASE-07", "An extend at the end brings the grant back."},
    {"LEASE-08", "The holder asks again and gets a longer term."},
    {"LEASE-09", "A release takes away another's grant."},
    {"LEASE-10", "A client that did not create the lock writes it without if_version."},
    {"FENCE-01", "A takeover gets a lower token than the grant before it."},
    {"FENCE-02", "A token comes twice, under two names."},
    {"FENCE-03", "The late write of a former holder is applied."},
    {"BELIEF-01", "A write goes out though the clock had shown the deadline."},
    {"BELIEF-02", "A write goes out after the store has said that the lease is lost."},
    {"RENEW-01",
     "The loop renews once more after its client was told that another holds the lease."},
    {"REPL-01", "Two nodes lead the same epoch."},
    {"REPL-02", "The next leader shows another end of a lease."},
    {"DUR-01", "A value that was acknowledged is gone after a crash."},
    {"DUR-02", "A write without an answer is there with another value than it had."},
    {"DUR-03", "A crash takes a renewal that was two seconds old."},
    {"DUR-04", "After a crash the lease ends later than its holder was told."},
    {"DUR-05", "An ephemeral lease is still held in the next tenure."},
    {"DUR-06", "A store on a disk whose bits have flipped shows a value that nobody has written."},
    {"CLOCK-01", "The wall is set an hour ahead, and a key of 15 minutes is gone at once."},
    {"CLOCK-02", "A date was reached, the wall is set back, and the key is there again."},
    {"CLOCK-03", "After a machine's restart store time begins a second lower."},
    {"CLOCK-04", "The machine slept for an hour, and the store counted none of it."},
    {"CLOCK-05", "A term that ends past the end of time is accepted."},
    {"CLOCK-06",
     "The process starts again on the same boot, and the minute that it was down is not counted."},
    {"REAP-01", "A row is still stored two seconds after its end."},
    {"REAP-02", "A write of one key marks the end of another."},
    {"LIN-01",
     "The client is told another revision than was decided."},
    {"LIVE-01", "A loop that wants a free lease is refused it, and tries no more."},
    {"LIVE-02", "Three firings of a loop lie within one period."},
};

static size_t rings_at(const char *id, const struct rule_pair *pair, bool broken,
                       size_t *ret_events);
static const char *story_of(const char *id);
static bool show(const char *id);

int main(void) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        good = show(rules[i].id) && good;
    }
    return good ? 0 : 1;
}

static bool show(const char *id) {
    const struct rule_pair *pair = find_pair(id);
    const char *story = story_of(id);
    size_t events = 0, told = 0, rang = 0;
    bool quiet = false;
    if (pair != NULL && story != NULL) {
        quiet = rings_at(NULL, pair, false, &told) == 0;
        rang = rings_at(id, pair, true, &events);
    }
    (void)printf("%s\t%zu\t%zu\t%s\n", id, quiet ? rang : 0, events,
                 story == NULL || pair == NULL ? "no story is told of it" : story);
    return quiet && rang > 0;
}

/* The event, from 1 on, at which the story breaks its first rule; 0: none, or (with an id) one of
 * another contract. */
static size_t rings_at(const char *id, const struct rule_pair *pair, bool broken,
                       size_t *ret_events) {
    struct builder b;
    struct lapse_violation violation = {0};
    builder_open(&b);
    pair->story(&b, broken);
    size_t at = builder_first_broken(&b, pair->id, &violation);
    *ret_events = lapse_history_count(b.history);
    builder_close(&b);
    return at > 0 && id != NULL && strcmp(violation.id, id) != 0 ? 0 : at;
}

static const char *story_of(const char *id) {
    for (size_t i = 0; i < sizeof canaries / sizeof canaries[0]; i++) {
        if (strcmp(canaries[i].id, id) == 0) {
            return canaries[i].story;
        }
    }
    return NULL;
}
