/* Which answers a verb can have, so that a recorder that mixes them up is told so, and is not told
 * that the store was wrong. A fault (io, unavailable, unknown, ..) and `too_late` can come to any
 * call; a definite no only to those that know it. */
#include "recorded_reading.h"

#define BIT(status) (1U << LAPSE_##status)

static unsigned answers_of(int verb);
static unsigned members_of(const struct lapse_request *request);

bool lapse_reading_can_answer(const struct lapse_request *request, enum lapse_status status) {
    const struct lapse_command *command = &request->command;
    int verb = request->verb;
    unsigned can = answers_of(verb) | (verb == LAPSE_VERB_BATCH ? members_of(request) : 0);
    bool writes = verb >= LAPSE_VERB_SET && verb <= LAPSE_VERB_PERSIST;
    bool conditional = verb == LAPSE_VERB_UPDATE || verb == LAPSE_VERB_RELEASE ||
                       verb == LAPSE_VERB_BATCH;
    /* A request id that came before may be one, too, where the policies say so. */
    if (!conditional && command->request.len == 0 &&
        !(writes && command->u.write.has_if_version)) {
        can &= ~BIT(CONFLICT);
    }
    if (command->u.write.term.session.len == 0 && writes) {
        can &= ~BIT(LOST);
    }
    return status <= LAPSE_OK || status == LAPSE_TOO_LATE ||
           (status <= LAPSE_GAP && (can & (1U << status)) != 0);
}

static unsigned answers_of(int verb) {
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_UPDATE:
        return BIT(CONFLICT) | BIT(LOST);
    case LAPSE_VERB_CREATE:
        return BIT(EXISTS) | BIT(CONFLICT) | BIT(LOST);
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_PERSIST:
    case LAPSE_VERB_EXPIRE:
        return BIT(ABSENT) | BIT(CONFLICT) | BIT(LOST);
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
    case LAPSE_VERB_HISTORY:
    case LAPSE_VERB_INSPECT:
    case LAPSE_VERB_UNWATCH:
        return BIT(ABSENT);
    case LAPSE_VERB_POLL:
        return BIT(ABSENT) | BIT(GAP);
    case LAPSE_VERB_ACQUIRE:
        return BIT(HELD) | BIT(LOST) | BIT(TIMED_OUT) | BIT(CONFLICT);
    case LAPSE_VERB_EXTEND:
        return BIT(LOST) | BIT(NOT_OWNER) | BIT(CONFLICT);
    case LAPSE_VERB_RELEASE:
        return BIT(ABSENT) | BIT(NOT_OWNER) | BIT(CONFLICT);
    case LAPSE_VERB_SESSION:
        return BIT(HELD) | BIT(LOST) | BIT(CONFLICT);
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return BIT(LOST) | BIT(NOT_OWNER) | BIT(CONFLICT);
    case LAPSE_VERB_BATCH:
        return BIT(CONFLICT);
    case LAPSE_CALL_WRITE:
    case LAPSE_CALL_READ:
        return BIT(FENCED) | BIT(USED);
    default:
        return 0;
    }
}

/* A batch is refused with the answer of the member that was. */
static unsigned members_of(const struct lapse_request *request) {
    unsigned can = 0;
    for (size_t i = 0; i < request->command.u.batch.count; i++) {
        can |= answers_of((int)request->command.u.batch.commands[i].verb);
    }
    return can;
}
