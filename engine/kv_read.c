/* Keys: the verbs that read. An ended key is absent to all of them at once, reaped or not (KV-03).
 * A deferred renewal counts for every reader from the use on. */
#include "state.h"

static enum lapse_status no_memory(struct lapse_job *job);

enum lapse_status lapse_kv_read(struct lapse_job *job) {
    struct lapse_result *result = job->result;
    struct lapse_node *node = lapse_table_find(&job->bucket->records, job->command->key);
    if (node == NULL || !lapse_idle_live(node, &job->now)) {
        return LAPSE_ABSENT;
    }
    bool has = job->command->verb == LAPSE_VERB_HAS;
    if (!has && !lapse_result_value(result, lapse_image_blob(&node->now))) {
        return no_memory(job);
    }
    /* The use comes last: after it nothing can fail but the commit of what it wrote. */
    bool renewed = false;
    struct lapse_end end = {0};
    enum lapse_status status = lapse_idle_use(job, node, &renewed, &end);
    if (status != LAPSE_OK) {
        return status;
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
    const struct lapse_table *records = &job->bucket->records;
    struct lapse_result *result = job->result;
    if (job->command->verb == LAPSE_VERB_COUNT) {
        /* A count is the same in any order. */
        size_t count = 0;
        const struct lapse_node *node = lapse_table_any(records);
        for (; node != NULL; node = lapse_table_after(records, node)) {
            count += lapse_idle_live(node, &job->now) ? 1 : 0;
        }
        lapse_result_count(result, count);
        return LAPSE_OK;
    }
    struct lapse_node **nodes = NULL;
    if (!lapse_table_sorted(job->state->alloc, records, &nodes)) {
        return no_memory(job);
    }
    enum lapse_status status = LAPSE_OK;
    bool values = job->command->verb != LAPSE_VERB_LIST;
    for (size_t i = 0; i < records->count && status == LAPSE_OK; i++) {
        const struct lapse_node *node = nodes[i];
        struct lapse_item item = {.key = lapse_node_key(node), .revision = node->now.revision};
        if (values) {
            item.value = lapse_image_blob(&node->now);
        }
        if (lapse_idle_live(node, &job->now) && !lapse_result_item(result, &item)) {
            status = no_memory(job);
        }
    }
    lapse_alloc_free(job->state->alloc, nodes, records->count * sizeof(struct lapse_node *));
    return status;
}

static enum lapse_status no_memory(struct lapse_job *job) {
    return lapse_error_set(job->err, LAPSE_NOMEM, "%s: memory ran out; nothing was changed",
                           lapse_verb_word(job->command->verb));
}
