/* Results: the caller's struct, filled by copying, so that nothing in it points into the store.
 *
 * All byte strings lie in one growing buffer. When the buffer moves, every string that lies in it
 * is moved along; the lists are arrays of their own. */
#include "state.h"

#include <string.h>

static bool copy(struct lapse_result *result, struct lapse_bytes from, struct lapse_bytes *ret);
static void append(struct lapse_result *result, struct lapse_bytes *bytes);
static bool grow_buffer(struct lapse_result *result, size_t more);
static void rebase(struct lapse_bytes *bytes, const unsigned char *from, unsigned char *to);
static void rebase_event(struct lapse_event *event, const unsigned char *from, unsigned char *to);
static bool add_event(struct lapse_result *result, struct lapse_event **list, size_t *count,
                      size_t *cap, const struct lapse_event *event);

void lapse_result_init(struct lapse_result *result, const lapse_alloc *alloc) {
    memset(result, 0, sizeof(*result));
    result->alloc = alloc == NULL ? lapse_alloc_libc() : alloc;
}

void lapse_result_free(struct lapse_result *result) {
    if (result == NULL || result->alloc == NULL) {
        return;
    }
    const lapse_alloc *alloc = result->alloc;
    lapse_alloc_free(alloc, result->buffer, result->buffer_cap);
    lapse_alloc_free(alloc, result->items, result->items_cap * sizeof(*result->items));
    lapse_alloc_free(alloc, result->answers, result->answers_cap * sizeof(*result->answers));
    lapse_alloc_free(alloc, result->events, result->events_cap * sizeof(*result->events));
    lapse_alloc_free(alloc, result->deliveries,
                     result->deliveries_cap * sizeof(*result->deliveries));
    lapse_result_init(result, alloc);
}

void lapse_result_begin(struct lapse_result *result, enum lapse_verb verb) {
    result->verb = verb;
    result->at.ns = 0;
    result->wall.ns = 0;
    result->command_seq = 0;
    lapse_result_clear(result);
}

void lapse_result_clear(struct lapse_result *result) {
    result->status = LAPSE_OK;
    result->durable_point = 0;
    lapse_result_next(result);
    result->repeated = false;
    result->watcher = 0;
    result->item_count = 0;
    result->more = false;
    result->answer_count = 0;
    result->event_count = 0;
    result->delivery_count = 0;
    result->buffer_len = 0;
}

void lapse_result_next(struct lapse_result *result) {
    result->revision = 0;
    result->end = (struct lapse_end){0};
    result->left = (struct lapse_span){0};
    result->renewed = false;
    result->repeated = false;
    result->more = false;
    result->token = 0;
    result->value = (struct lapse_bytes){0};
    result->owner = (struct lapse_bytes){0};
}

bool lapse_result_answer(struct lapse_result *result, const struct lapse_batch_answer *answer) {
    void *answers = result->answers;
    if (!lapse_alloc_grow(result->alloc, &answers, &result->answers_cap, result->answer_count + 1,
                          sizeof(*result->answers))) {
        return false;
    }
    result->answers = answers;
    result->answers[result->answer_count++] = *answer;
    return true;
}

bool lapse_result_value(struct lapse_result *result, struct lapse_bytes value) {
    return copy(result, value, &result->value);
}

bool lapse_result_owner(struct lapse_result *result, struct lapse_bytes owner) {
    return copy(result, owner, &result->owner);
}

bool lapse_result_item(struct lapse_result *result, const struct lapse_item *item) {
    void *items = result->items;
    if (!lapse_alloc_grow(result->alloc, &items, &result->items_cap, result->item_count + 1,
                          sizeof(*result->items))) {
        return false;
    }
    result->items = items;
    struct lapse_item *added = &result->items[result->item_count++];
    *added = (struct lapse_item){.revision = item->revision, .kind = item->kind};
    return copy(result, item->key, &added->key) && copy(result, item->value, &added->value);
}

void lapse_result_count(struct lapse_result *result, size_t count) {
    lapse_alloc_free(result->alloc, result->items, result->items_cap * sizeof(*result->items));
    result->items = NULL;
    result->items_cap = 0;
    result->item_count = count;
}

bool lapse_result_event(struct lapse_result *result, const struct lapse_event *event) {
    return add_event(result, &result->events, &result->event_count, &result->events_cap, event);
}

bool lapse_result_delivery(struct lapse_result *result, const struct lapse_event *event) {
    return add_event(result, &result->deliveries, &result->delivery_count, &result->deliveries_cap,
                     event);
}

static bool add_event(struct lapse_result *result, struct lapse_event **list, size_t *count,
                      size_t *cap, const struct lapse_event *event) {
    if (*count == *cap) {
        void *items = *list;
        if (!lapse_alloc_grow(result->alloc, &items, cap, *count + 1, sizeof(**list))) {
            return false;
        }
        *list = items;
    }
    /* Room for all of it first: while the buffer moves, the new event is not yet counted. */
    size_t bytes = event->bucket.len + event->key.len + event->value.len;
    if (bytes > result->buffer_cap - result->buffer_len && !grow_buffer(result, bytes)) {
        return false;
    }
    struct lapse_event *added = *list + *count;
    *added = *event;
    append(result, &added->bucket);
    append(result, &added->key);
    append(result, &added->value);
    (*count)++;
    return true;
}

/* Copies a string to the end of the buffer, which has room, and makes it lie there. */
static void append(struct lapse_result *result, struct lapse_bytes *bytes) {
    if (bytes->len == 0) {
        *bytes = (struct lapse_bytes){0};
        return;
    }
    unsigned char *to = result->buffer + result->buffer_len;
    memcpy(to, bytes->data, bytes->len);
    bytes->data = to;
    result->buffer_len += bytes->len;
}

/* Copies `from` to the end of the buffer. *ret is empty before, so that a move of the buffer finds
 * only strings that lie in it. */
static bool copy(struct lapse_result *result, struct lapse_bytes from, struct lapse_bytes *ret) {
    LAPSE_ASSERT(ret->len == 0);
    if (from.len == 0) {
        return true;
    }
    if (from.len > result->buffer_cap - result->buffer_len && !grow_buffer(result, from.len)) {
        return false;
    }
    *ret = from;
    append(result, ret);
    return true;
}

static bool grow_buffer(struct lapse_result *result, size_t more) {
    size_t cap = result->buffer_cap < 64 ? 64 : result->buffer_cap;
    while (cap - result->buffer_len < more) {
        if (cap > SIZE_MAX / 2) {
            return false;
        }
        cap *= 2;
    }
    unsigned char *buffer = result->alloc->resize(result->alloc->ctx, NULL, 0, cap);
    if (buffer == NULL) {
        return false;
    }
    unsigned char *old = result->buffer;
    if (result->buffer_len > 0) {
        memcpy(buffer, old, result->buffer_len);
        rebase(&result->value, old, buffer);
        rebase(&result->owner, old, buffer);
        for (size_t i = 0; result->items != NULL && i < result->item_count; i++) {
            rebase(&result->items[i].key, old, buffer);
            rebase(&result->items[i].value, old, buffer);
        }
        for (size_t i = 0; i < result->event_count; i++) {
            rebase_event(&result->events[i], old, buffer);
        }
        for (size_t i = 0; i < result->delivery_count; i++) {
            rebase_event(&result->deliveries[i], old, buffer);
        }
    }
    lapse_alloc_free(result->alloc, old, result->buffer_cap);
    result->buffer = buffer;
    result->buffer_cap = cap;
    return true;
}

static void rebase_event(struct lapse_event *event, const unsigned char *from, unsigned char *to) {
    rebase(&event->bucket, from, to);
    rebase(&event->key, from, to);
    rebase(&event->value, from, to);
}

static void rebase(struct lapse_bytes *bytes, const unsigned char *from, unsigned char *to) {
    if (bytes->len > 0) {
        bytes->data = to + (bytes->data - from);
    }
}
