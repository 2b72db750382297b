/* The records that are kept of a key: what its history shows, and how many rows storage may hold.
 * Only what answers and events tell is kept here; a row that was reaped without an event leaves
 * this list at the key's next write. */
#include "track.h"

static void drop_ended(struct lapse_tracked_key *key, struct lapse_steady at);
static size_t limit_of(const struct lapse_tracked_bucket *bucket);

enum lapse_status lapse_track_record_add(struct lapse_trackers *trackers,
                                         const struct lapse_tracked_bucket *bucket,
                                         struct lapse_tracked_key *key, struct lapse_steady at,
                                         struct lapse_tracked_record record) {
    drop_ended(key, at);
    size_t limit = limit_of(bucket);
    size_t drop = key->record_count >= limit ? key->record_count - limit + 1 : 0;
    for (size_t i = drop; i < key->record_count; i++)
        key->records[i - drop] = key->records[i];
    key->record_count -= drop;
    if (key->record_count + 1 >= limit)
        key->records_from = 0; /* the limit leaves no room for an older one */
    if (record.revision > 0 && key->records_from > record.revision)
        key->records_from = record.revision; /* no newer one is left over */
    void *records = key->records;
    if (!lapse_alloc_grow(trackers->alloc, &records, &key->record_cap, key->record_count + 1,
                          sizeof *key->records))
        return LAPSE_NOMEM;
    key->records = records;
    key->records[key->record_count++] = record;
    return LAPSE_OK;
}

void lapse_track_record_none(struct lapse_tracked_key *key, int64_t from) {
    key->record_count = 0;
    key->records_from = from;
}

/* Tombstones and markers whose own end has passed take no room from those that have not ended,
 * whether the reaper has come or not. */
static void drop_ended(struct lapse_tracked_key *key, struct lapse_steady at) {
    size_t kept = 0;
    for (size_t i = 0; i < key->record_count; i++) {
        const struct lapse_end *end = &key->records[i].end;
        if (end->kind != LAPSE_END_STEADY || at.ns < end->ns)
            key->records[kept++] = key->records[i];
    }
    key->record_count = kept;
}

static size_t limit_of(const struct lapse_tracked_bucket *bucket) {
    return bucket->config.history == 0 ? 1 : bucket->config.history;
}
