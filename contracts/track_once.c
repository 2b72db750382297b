/* The tracker of request ids: which call was accepted under each, so that a call sent again can be
 * told from one that took effect twice. */
#include "feed.h"
#include "track.h"

static bool changes(const struct lapse_command *command, const struct lapse_answer *answer);

enum lapse_status lapse_track_once_apply(struct lapse_trackers *trackers,
                                         const struct lapse_command *command,
                                         const struct lapse_history_event *event) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    bool done = answer->status == LAPSE_OK || answer->status == LAPSE_UNKNOWN;
    if (command->request.len == 0 || !done || answer->repeated)
        return LAPSE_OK;
    size_t at = 0;
    while (at < trackers->once_count &&
           !lapse_bytes_equal(trackers->once[at].request, command->request))
        at++;
    void *once = trackers->once;
    if (!lapse_alloc_grow(trackers->alloc, &once, &trackers->once_cap, at + 1,
                          sizeof *trackers->once))
        return LAPSE_NOMEM;
    trackers->once = once;
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_feed_command(&digest, command);
    trackers->once[at] = (struct lapse_tracked_once){.request = command->request,
                                                     .digest = lapse_digest_value(&digest),
                                                     .sure = changes(command, answer),
                                                     .apply = event};
    if (at == trackers->once_count)
        trackers->once_count++;
    return LAPSE_OK;
}

void lapse_track_once_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->once, trackers->once_cap * sizeof *trackers->once);
}

const struct lapse_tracked_once *lapse_tracked_once_find(const struct lapse_trackers *trackers,
                                                         struct lapse_bytes request,
                                                         struct lapse_steady at) {
    for (size_t i = 0; request.len > 0 && i < trackers->once_count; i++) {
        const struct lapse_tracked_once *known = &trackers->once[i];
        if (!lapse_bytes_equal(known->request, request))
            continue;
        struct lapse_steady first = known->apply->u.apply.answer.at;
        bool kept = known->apply->u.apply.answer.status != LAPSE_OK ||
                    lapse_steady_between(first, at).ns < LAPSE_REQUEST_SPAN_NS;
        return kept ? known : NULL;
    }
    return NULL;
}

/* Only what surely changed something must be remembered. */
static bool changes(const struct lapse_command *command, const struct lapse_answer *answer) {
    if (answer->status != LAPSE_OK)
        return false;
    switch (command->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return true;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_SESSION:
        return !answer->renewed;
    default:
        return false;
    }
}
