/* Keys: what is kept of a live one. An ended key's records are absent with it, reaped or not, and
 * an older tombstone is gone at its own end (KV-03, WATCH-05). Nothing here is a use. */
#include "decide.h"

static struct lapse_node *find_shown(const struct lapse_job *job);
static enum lapse_status tell(struct lapse_job *job, const struct lapse_node *node);
static bool is_kept(const struct lapse_job *job, const struct lapse_node *node);

enum lapse_status lapse_kv_history(struct lapse_job *job) {
    const struct lapse_node *newest = find_shown(job);
    if (newest == NULL) {
        return LAPSE_ABSENT;
    }
    const struct lapse_node *kept[LAPSE_HISTORY_MAX];
    size_t count = 0;
    for (const struct lapse_node *node = newest; node != NULL; node = lapse_table_older(node)) {
        if (is_kept(job, node)) {
            LAPSE_ASSERT(count < LAPSE_HISTORY_MAX);
            kept[count++] = node;
        }
    }
    size_t limit = job->command->u.page.limit;
    job->result->more = limit != 0 && count > limit;
    for (size_t i = 0; i < count && (limit == 0 || i < limit); i++) {
        enum lapse_status status = tell(job, kept[count - 1 - i]);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    return LAPSE_OK;
}

enum lapse_status lapse_kv_read_revision(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_result *result = job->result;
    const struct lapse_node *newest = find_shown(job);
    const struct lapse_node *node = newest;
    while (node != NULL && node->now.revision != command->u.read.revision) {
        node = lapse_table_older(node);
    }
    if (node == NULL || node->now.record != LAPSE_RECORD_VALUE || !is_kept(job, node)) {
        return LAPSE_ABSENT;
    }
    bool has = command->verb == LAPSE_VERB_HAS;
    if (!has && !lapse_result_value(result, lapse_image_blob(&node->now))) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "%s: memory ran out",
                               lapse_verb_word(command->verb));
    }
    result->revision = node->now.revision;
    if (!has) {
        /* It can be read as long as its key lives, or as it does itself. */
        bool own = lapse_decide_older_lives(job->state);
        result->end = lapse_idle_end(job->state, own ? node : newest);
        result->left = lapse_state_left(&job->now, result->end);
    }
    return LAPSE_OK;
}

static struct lapse_node *find_shown(const struct lapse_job *job) {
    struct lapse_node *newest = lapse_table_find(&job->bucket->records, job->command->key);
    newest = lapse_record_current(job->state, newest, &job->now, true);
    return lapse_record_shown(job->state, newest, &job->now) ? newest : NULL;
}

/* Whether the record of a live key is still there for a reader. */
static bool is_kept(const struct lapse_job *job, const struct lapse_node *node) {
    if (lapse_decide_older_lives(job->state)) {
        return lapse_idle_live(job->state, node, &job->now) ||
               lapse_decide_stays(job->state, node, &job->now);
    }
    return node->now.record == LAPSE_RECORD_VALUE || lapse_state_live(node, &job->now);
}

static enum lapse_status tell(struct lapse_job *job, const struct lapse_node *node) {
    struct lapse_item item = {.key = lapse_node_key(node),
                              .value = lapse_image_blob(&node->now),
                              .revision = node->now.revision,
                              .kind = (enum lapse_record_kind)node->now.record};
    if (!lapse_result_item(job->result, &item)) {
        return lapse_error_set(job->err, LAPSE_NOMEM, "history: memory ran out");
    }
    return LAPSE_OK;
}
