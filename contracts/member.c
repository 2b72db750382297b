/* Calls as their members: a batch is judged and believed like the calls that it holds, all decided
 * at one instant. */
#include "track.h"

static bool same_thing(const struct lapse_command *a, const struct lapse_command *b);
static size_t place_of(const struct lapse_answer *answer, size_t index);

size_t lapse_member_count(const struct lapse_request *request, const struct lapse_answer *answer) {
    if (request->verb != LAPSE_VERB_BATCH)
        return 1;
    size_t count = answer->answer_count;
    if (count > request->command.u.batch.count)
        count = request->command.u.batch.count;
    return answer->status == LAPSE_OK || count == 0 ? count : 1;
}

void lapse_member_at(const struct lapse_trackers *trackers, const struct lapse_request *request,
                     const struct lapse_answer *answer, size_t index, struct lapse_member *ret) {
    *ret = (struct lapse_member){.command = &request->command, .answer = *answer};
    if (request->verb != LAPSE_VERB_BATCH)
        return;
    size_t place = place_of(answer, index);
    const struct lapse_command *command = &request->command.u.batch.commands[place];
    const struct lapse_batch_answer *own = &answer->answers[place];
    ret->command = command;
    ret->in_batch = true;
    ret->answer = (struct lapse_answer){.status = own->status,
                                        .at = answer->at,
                                        .wall = answer->wall,
                                        .revision = own->revision,
                                        .end = own->end,
                                        .left = own->left,
                                        .token = own->token,
                                        .has_token = own->token != 0};
    if (own->status != LAPSE_OK)
        return;
    if (command->verb == LAPSE_VERB_ACQUIRE) {
        const struct lapse_tracked_grant *live =
            lapse_tracked_grant_live(lapse_tracked_lease_find(trackers, command->key), answer->at);
        ret->answer.owner = command->u.lease.owner;
        ret->answer.renewed = live != NULL && live->token == own->token;
    } else if (command->verb == LAPSE_VERB_SESSION) {
        const struct lapse_tracked_session *session =
            lapse_tracked_session_find(trackers, command->key);
        ret->answer.renewed =
            lapse_tracked_session_live(session, answer->at) && session->token == own->token;
    }
}

bool lapse_member_hidden(const struct lapse_request *request, const struct lapse_answer *answer,
                         size_t index) {
    if (request->verb != LAPSE_VERB_BATCH)
        return false;
    const struct lapse_command *commands = request->command.u.batch.commands;
    size_t place = place_of(answer, index);
    for (size_t i = 0; i < place; i++) {
        if (same_thing(&commands[i], &commands[place]))
            return true;
    }
    return false;
}

size_t lapse_member_next_event(const struct lapse_request *request,
                               const struct lapse_answer *answer, size_t from) {
    size_t count = answer->status == LAPSE_OK ? lapse_member_count(request, answer) : 0;
    for (; from < count; from++) {
        int verb = request->verb;
        if (verb == LAPSE_VERB_BATCH)
            verb = (int)request->command.u.batch.commands[from].verb;
        if (lapse_verb_takes_revision(verb))
            break;
    }
    return from;
}

/* A session moves all that ends with it, so next to one of its calls nothing is sure. */
static bool same_thing(const struct lapse_command *a, const struct lapse_command *b) {
    if (lapse_verb_of_session((int)a->verb))
        return true;
    return lapse_verb_of_lease((int)a->verb) == lapse_verb_of_lease((int)b->verb) &&
           lapse_bytes_equal(a->bucket, b->bucket) && lapse_bytes_equal(a->key, b->key);
}

/* Of a batch that was refused only the last answer, the refusal itself, says what it found. */
static size_t place_of(const struct lapse_answer *answer, size_t index) {
    return answer->status == LAPSE_OK ? index : answer->answer_count - 1;
}
