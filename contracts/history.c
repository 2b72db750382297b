/* The history: one writer, stable addresses, a digest that runs along. Events lie in chunks with
 * all that they point to; an array of pointers finds them by number. */
#include "contracts/history.h"

#include "chunks.h"
#include "copy.h"
#include "feed.h"

#include <string.h>

enum { EVENTS_MAX_LEAST = 2 };

struct lapse_history {
    const lapse_alloc *alloc;
    struct lapse_chunks chunks;
    const struct lapse_history_event **events;
    size_t count, cap;
    size_t events_max; /* of ordinary events; one TRUNCATED may follow */
    size_t bytes;      /* of all events with what they point to; bounded too */
    bool truncated;
    struct lapse_digest digest;
};

static const struct lapse_history_event *store(struct lapse_history *history,
                                               const struct lapse_history_event *event);
static const struct lapse_history_event *truncate_here(struct lapse_history *history,
                                                       const struct lapse_history_event *event);

enum lapse_status lapse_history_open(const lapse_alloc *alloc, size_t events_max,
                                     struct lapse_history **ret, struct lapse_error *err) {
    LAPSE_ASSERT(events_max == 0 || events_max >= EVENTS_MAX_LEAST);
    struct lapse_history *history = lapse_alloc_zero(alloc, sizeof(*history));
    if (history == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a history");
    }
    history->alloc = alloc;
    history->events_max = events_max == 0 ? LAPSE_HISTORY_EVENTS_MAX : events_max;
    lapse_chunks_init(&history->chunks, alloc);
    lapse_digest_begin(&history->digest);
    *ret = history;
    return LAPSE_OK;
}

void lapse_history_close(struct lapse_history *history) {
    if (history == NULL) {
        return;
    }
    const lapse_alloc *alloc = history->alloc;
    lapse_chunks_free(&history->chunks);
    lapse_alloc_free(alloc, history->events, history->cap * sizeof(*history->events));
    lapse_alloc_free(alloc, history, sizeof(*history));
}

const struct lapse_history_event *lapse_history_append(struct lapse_history *history,
                                                       const struct lapse_history_event *event) {
    if (history->truncated) {
        return history->events[history->count - 1];
    }
    if (history->count >= history->events_max || history->bytes >= LAPSE_HISTORY_BYTES_MAX) {
        return truncate_here(history, event);
    }
    return store(history, event);
}

size_t lapse_history_count(const struct lapse_history *history) {
    return history->count;
}

const struct lapse_history_event *lapse_history_at(const struct lapse_history *history,
                                                   size_t index) {
    LAPSE_ASSERT(index < history->count);
    return history->events[index];
}

uint64_t lapse_history_digest(const struct lapse_history *history) {
    return lapse_digest_value(&history->digest);
}

uint64_t lapse_history_event_digest(const struct lapse_history_event *event) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_feed_event(&digest, event);
    return lapse_digest_value(&digest);
}

size_t lapse_history_part(const struct lapse_history *a, const struct lapse_history *b,
                          size_t count) {
    for (size_t i = 0; i < count && (i < a->count || i < b->count); i++) {
        if (i >= a->count || i >= b->count ||
            lapse_history_event_digest(a->events[i]) != lapse_history_event_digest(b->events[i])) {
            return i;
        }
    }
    return SIZE_MAX;
}

struct lapse_history_mark lapse_history_mark(const struct lapse_history *history) {
    return (struct lapse_history_mark){
        .count = history->count,
        .chunk = history->chunks.current,
        .chunk_used = lapse_chunks_used(&history->chunks),
        .bytes = history->bytes,
        .digest = history->digest,
        .truncated = history->truncated,
    };
}

void lapse_history_cut(struct lapse_history *history, const struct lapse_history_mark *mark) {
    LAPSE_ASSERT(mark->count <= history->count);
    lapse_chunks_cut(&history->chunks, mark->chunk, mark->chunk_used);
    history->count = mark->count;
    history->bytes = mark->bytes;
    history->digest = mark->digest;
    history->truncated = mark->truncated;
}

struct lapse_answer lapse_answer_of(const struct lapse_result *result) {
    bool tells = result->verb == LAPSE_VERB_ACQUIRE || result->verb == LAPSE_VERB_EXTEND ||
                 result->verb == LAPSE_VERB_INSPECT || result->verb == LAPSE_VERB_SESSION ||
                 result->verb == LAPSE_VERB_KEEPALIVE;
    return (struct lapse_answer){
        .status = result->status,
        .at = result->at,
        .wall = result->wall,
        .revision = result->revision,
        .end = result->end,
        .left = result->left,
        .renewed = result->renewed,
        .has_token = tells && result->status == LAPSE_OK,
        .token = result->token,
        .watcher = result->watcher,
        .value = result->value,
        .owner = result->owner,
        .item_count = result->item_count,
        .items = result->items,
        .more = result->more,
        .repeated = result->repeated,
        .answer_count = result->answer_count,
        .answers = result->answers,
    };
}

static const struct lapse_history_event *store(struct lapse_history *history,
                                               const struct lapse_history_event *event) {
    if (!lapse_alloc_grow(history->alloc, (void **)&history->events, &history->cap,
                          history->count + 1, sizeof(*history->events))) {
        return NULL;
    }
    struct lapse_copy count = {NULL, 0};
    struct lapse_history_event scratch = *event;
    lapse_copy_event(&count, &scratch);

    /* The event comes first; its size is a multiple of 16 only by luck, so its tail is padded. */
    size_t head = (sizeof(*event) + 15) / 16 * 16;
    unsigned char *memory = lapse_chunks_take(&history->chunks, head + count.used);
    if (memory == NULL) {
        return NULL;
    }
    struct lapse_history_event *stored = (struct lapse_history_event *)(void *)memory;
    memcpy(stored, event, sizeof(*event));
    struct lapse_copy copy = {memory + head, 0};
    lapse_copy_event(&copy, stored);
    LAPSE_ASSERT(copy.used == count.used);
    stored->seq = (int64_t)history->count;
    history->bytes += head + count.used;
    lapse_feed_event(&history->digest, stored);
    history->events[history->count++] = stored;
    return stored;
}

static const struct lapse_history_event *truncate_here(struct lapse_history *history,
                                                       const struct lapse_history_event *event) {
    struct lapse_history_event last = {
        .kind = LAPSE_HISTORY_TRUNCATED, .at = event->at, .actor = -1, .step = -1};
    const struct lapse_history_event *stored = store(history, &last);
    history->truncated = stored != NULL;
    return stored;
}
