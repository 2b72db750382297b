/* Keys: the verbs that read one. An ended key is absent to all of them at once, reaped or not
 * (KV-03). A deferred renewal counts for every reader from the use on. */
#include "decide.h"

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
