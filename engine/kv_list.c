/* Listings: the live keys of a bucket in byte order, whole or by pages, and their count. A page
 * comes from the order of the bucket's keys where that is made; else it is selected, by one look
 * at every row and a heap of as many keys as the page has. */
#include "decide.h"

enum {
    SORTED_KEYS_MAX = 4096, /* so many are put in order at the first page */
    LARGE_PAGE = 8          /* a page of this part of all keys is not worth selecting */
};

/* The least live keys seen so far, a heap with the greatest on top. */
struct page {
    struct lapse_node **nodes;
    size_t count, cap;
};

static void count_keys(struct lapse_job *job, const struct lapse_bytes *after);
static enum lapse_status list(struct lapse_job *job, const struct lapse_bytes *after, size_t limit,
                              bool values);
static enum lapse_status list_order(struct lapse_job *job, const struct lapse_bytes *after,
                                    size_t limit, bool values);
static enum lapse_status list_selected(struct lapse_job *job, const struct lapse_bytes *after,
                                       size_t limit, bool values);
static void select_keys(const struct lapse_job *job, const struct lapse_bytes *after,
                        struct page *page);
static void offer(struct page *page, struct lapse_node *node);
static void sink(struct page *page, size_t at, struct lapse_node *node);
static void sort(struct page *page);
static bool below(const struct lapse_node *a, const struct lapse_node *b);
static bool show(struct lapse_job *job, const struct lapse_node *node, bool values);

enum lapse_status lapse_kv_list(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    const struct lapse_bytes *after = command->u.page.has_after ? &command->u.page.after : NULL;
    if (command->verb == LAPSE_VERB_COUNT) {
        count_keys(job, after);
        return LAPSE_OK;
    }
    size_t limit = command->u.page.limit == 0 ? SIZE_MAX : command->u.page.limit;
    return list(job, after, limit, command->verb == LAPSE_VERB_ALL);
}

enum lapse_status lapse_kv_list_all(struct lapse_job *job) {
    return list(job, NULL, SIZE_MAX, true);
}

/* A count is the same in any order. */
static void count_keys(struct lapse_job *job, const struct lapse_bytes *after) {
    const struct lapse_table *records = &job->bucket->records;
    struct lapse_node *node = lapse_table_any(records);
    size_t count = 0;
    for (; node != NULL; node = lapse_table_after(records, node)) {
        bool above = after == NULL || lapse_bytes_compare(lapse_node_key(node), *after) > 0;
        const struct lapse_node *current =
            node->now.older || !above ? NULL
                                      : lapse_record_current(job->state, node, &job->now, true);
        count += lapse_record_shown(job->state, current, &job->now) ? 1 : 0;
    }
    lapse_result_count(job->result, count);
}

static enum lapse_status list(struct lapse_job *job, const struct lapse_bytes *after, size_t limit,
                              bool values) {
    struct lapse_order *order = &job->bucket->order;
    size_t count = job->bucket->records.count;
    bool makes = count <= SORTED_KEYS_MAX || limit >= count / LARGE_PAGE || order->asked;
    if (makes && !lapse_order_make(job->state->alloc, order, &job->bucket->records)) {
        return lapse_job_no_memory(job);
    }
    order->asked = true;
    order->used = job->now.store;
    return order->made ? list_order(job, after, limit, values)
                       : list_selected(job, after, limit, values);
}

static enum lapse_status list_order(struct lapse_job *job, const struct lapse_bytes *after,
                                    size_t limit, bool values) {
    const struct lapse_order *order = &job->bucket->order;
    struct lapse_order_at at = lapse_order_above(order, after);
    struct lapse_node *newest = lapse_order_next(order, &at);
    for (; newest != NULL; newest = lapse_order_next(order, &at)) {
        const struct lapse_node *node =
            lapse_record_current(job->state, newest, &job->now, true);
        if (!lapse_record_shown(job->state, node, &job->now)) {
            continue;
        }
        if (job->result->item_count == limit) {
            job->result->more = true;
            return LAPSE_OK;
        }
        if (!show(job, node, values)) {
            return lapse_job_no_memory(job);
        }
    }
    return LAPSE_OK;
}

static enum lapse_status list_selected(struct lapse_job *job, const struct lapse_bytes *after,
                                       size_t limit, bool values) {
    const lapse_alloc *alloc = job->state->alloc;
    /* One more than the page holds tells whether there are more. */
    struct page page = {.cap = limit + 1};
    size_t bytes = page.cap * sizeof(struct lapse_node *);
    page.nodes = alloc->resize(alloc->ctx, NULL, 0, bytes);
    if (page.nodes == NULL) {
        return lapse_job_no_memory(job);
    }
    select_keys(job, after, &page);
    sort(&page);
    bool told = true;
    for (size_t i = 0; i < page.count && i < limit && told; i++) {
        told = show(job, page.nodes[i], values);
    }
    job->result->more = page.count > limit;
    lapse_alloc_free(alloc, page.nodes, bytes);
    return told ? LAPSE_OK : lapse_job_no_memory(job);
}

static void select_keys(const struct lapse_job *job, const struct lapse_bytes *after,
                        struct page *page) {
    const struct lapse_table *records = &job->bucket->records;
    struct lapse_node *node = lapse_table_any(records);
    for (; node != NULL; node = lapse_table_after(records, node)) {
        bool above = after == NULL || lapse_bytes_compare(lapse_node_key(node), *after) > 0;
        if (node->now.older || !above ||
            (page->count == page->cap && !below(node, page->nodes[0]))) {
            continue;
        }
        struct lapse_node *current = lapse_record_current(job->state, node, &job->now, true);
        if (lapse_record_shown(job->state, current, &job->now)) {
            offer(page, current);
        }
    }
}

/* Takes in a key, in place of the greatest where there is no room. */
static void offer(struct page *page, struct lapse_node *node) {
    if (page->count == page->cap) {
        sink(page, 0, node);
        return;
    }
    size_t at = page->count++;
    while (at > 0 && below(page->nodes[(at - 1) / 2], node)) {
        page->nodes[at] = page->nodes[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    page->nodes[at] = node;
}

static void sink(struct page *page, size_t at, struct lapse_node *node) {
    for (size_t child = 2 * at + 1; child < page->count; child = 2 * at + 1) {
        if (child + 1 < page->count && below(page->nodes[child], page->nodes[child + 1])) {
            child++;
        }
        if (!below(node, page->nodes[child])) {
            break;
        }
        page->nodes[at] = page->nodes[child];
        at = child;
    }
    page->nodes[at] = node;
}

/* Makes of the heap a list by rising key. */
static void sort(struct page *page) {
    size_t count = page->count;
    while (page->count > 1) {
        struct lapse_node *greatest = page->nodes[0];
        page->count--;
        sink(page, 0, page->nodes[page->count]);
        page->nodes[page->count] = greatest;
    }
    page->count = count;
}

static bool below(const struct lapse_node *a, const struct lapse_node *b) {
    return lapse_bytes_compare(lapse_node_key(a), lapse_node_key(b)) < 0;
}

/* Puts a key into the answer. False when memory runs out. */
static bool show(struct lapse_job *job, const struct lapse_node *node, bool values) {
    struct lapse_item item = {.key = lapse_node_key(node),
                              .revision = node->now.revision,
                              .kind = LAPSE_RECORD_VALUE};
    if (values) {
        item.value = lapse_image_blob(&node->now);
    }
    return lapse_result_item(job->result, &item);
}
