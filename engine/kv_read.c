/* Keys: the verbs that read. An ended key is absent to all of them at once, reaped or not (KV-03).
 * A deferred renewal counts for every reader from the use on. */
#include "decide.h"

static void count_keys(struct lapse_job *job, const struct lapse_bytes *after);
static enum lapse_status list(struct lapse_job *job, const struct lapse_bytes *after, size_t limit,
                              bool values);

enum lapse_status lapse_kv_read(struct lapse_job *job) {
    struct lapse_result *result = job->result;
    if (job->command->u.read.has_revision) {
        return lapse_kv_read_revision(job);
    }
    struct lapse_node *node =
        lapse_record_current(job->state, lapse_job_find(job), &job->now, true);
    if (!lapse_record_shown(job->state, node, &job->now)) {
        return LAPSE_ABSENT;
    }
    bool has = job->command->verb == LAPSE_VERB_HAS;
    if (!has && !lapse_result_value(result, lapse_image_blob(&node->now))) {
        return lapse_job_no_memory(job);
    }
    /* The use comes last: after it nothing can fail but the commit of what it wrote. */
    bool renewed = false;
    struct lapse_end end = lapse_idle_end(job->state, node);
    if (node->now.idle && !job->command->u.read.peek) {
        enum lapse_status status = lapse_idle_use(job, node, &renewed, &end);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    result->revision = node->now.revision;
    result->renewed = renewed;
    if (!has) {
        result->end = end;
        result->left = lapse_state_left(&job->now, end);
    }
    return LAPSE_OK;
}

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
    struct lapse_result *result = job->result;
    struct lapse_order *order = &job->bucket->order;
    if (!lapse_order_make(job->state->alloc, order, &job->bucket->records)) {
        return lapse_job_no_memory(job);
    }
    order->used = job->now.store;
    struct lapse_order_at at = lapse_order_above(order, after);
    struct lapse_node *newest = lapse_order_next(order, &at);
    for (; newest != NULL; newest = lapse_order_next(order, &at)) {
        const struct lapse_node *node =
            lapse_record_current(job->state, newest, &job->now, true);
        if (!lapse_record_shown(job->state, node, &job->now)) {
            continue;
        }
        if (result->item_count == limit) {
            result->more = true;
            return LAPSE_OK;
        }
        struct lapse_item item = {.key = lapse_node_key(node),
                                  .revision = node->now.revision,
                                  .kind = LAPSE_RECORD_VALUE};
        if (values) {
            item.value = lapse_image_blob(&node->now);
        }
        if (!lapse_result_item(result, &item)) {
            return lapse_job_no_memory(job);
        }
    }
    return LAPSE_OK;
}
