/* DUR-06: what a disk whose bits have flipped may say. A store that opens on it answers what was
 * once so: the newest, or, where the log's last transactions are damaged, what was before them. It
 * never shows a value or a grant that nobody asked for. */
#include "rules.h"
#include "track.h"

static bool shows_value(const struct lapse_look *look);
static bool shows_grant(const struct lapse_look *look);
static bool wrote(const struct lapse_tracked_call *call, const struct lapse_look *look);
static bool writes(const struct lapse_command *command, const struct lapse_look *look);
static bool granted(const struct lapse_tracked_call *call, const struct lapse_look *look);
static const struct lapse_command *command_of(const struct lapse_tracked_call *call);

static bool dur_06_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    return trackers->rot != NULL && trackers->tenure != NULL &&
           trackers->rot->seq < trackers->tenure->seq && (shows_value(look) || shows_grant(look));
}

static bool dur_06_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_violation *ret) {
    bool value = shows_value(look);
    for (size_t i = trackers->call_count; i > 0; i--) {
        const struct lapse_tracked_call *call = &trackers->calls[i - 1];
        if (value ? wrote(call, look) : granted(call, look))
            return true;
    }
    lapse_violation_label(ret, look->event, "%s answered %s", lapse_call_word(look->verb),
                          lapse_status_word(look->answer->status));
    lapse_violation_label(ret, trackers->rot, "bits of the disk flipped");
    lapse_violation_label(ret, trackers->tenure, "the store was started on it");
    struct lapse_rule_text name = value ? lapse_text_key(look->bucket_name, look->key_name)
                                        : lapse_text_name(look->key_name);
    return lapse_violation_say(ret, value ? "%s shows what nobody has written"
                                          : "%s shows a grant that was never given",
                               name.text);
}
LAPSE_RULE_BY_OPEN_LOOKS(dur_06, dur_06_concerns, dur_06_check)

static bool shows_value(const struct lapse_look *look) {
    return (look->verb == LAPSE_VERB_GET || look->verb == LAPSE_VERB_ENTRY) && !look->in_batch &&
           look->answer->status == LAPSE_OK;
}

static bool shows_grant(const struct lapse_look *look) {
    return look->verb == LAPSE_VERB_INSPECT && look->answer->status == LAPSE_OK;
}

/* Of a call that was answered, with the revision that it was told. */
static bool wrote(const struct lapse_tracked_call *call, const struct lapse_look *look) {
    const struct lapse_command *command = command_of(call);
    if (command == NULL)
        return false;
    if (command->verb == LAPSE_VERB_BATCH) {
        for (size_t i = 0; i < command->u.batch.count; i++) {
            if (writes(&command->u.batch.commands[i], look))
                return true;
        }
        return false;
    }
    bool told = call->apply != NULL && call->apply->u.apply.answer.status == LAPSE_OK;
    return writes(command, look) &&
           (!told || call->apply->u.apply.answer.revision == look->answer->revision);
}

static bool writes(const struct lapse_command *command, const struct lapse_look *look) {
    return lapse_verb_event((int)command->verb) == LAPSE_EVENT_PUT &&
           lapse_bytes_equal(command->bucket, look->bucket_name) &&
           lapse_bytes_equal(command->key, look->key_name) &&
           lapse_bytes_equal(command->u.write.value, look->answer->value);
}

static bool granted(const struct lapse_tracked_call *call, const struct lapse_look *look) {
    const struct lapse_command *command = command_of(call);
    if (command == NULL || command->verb != LAPSE_VERB_ACQUIRE ||
        !lapse_bytes_equal(command->key, look->key_name) ||
        !lapse_bytes_equal(command->u.lease.owner, look->answer->owner))
        return false;
    bool told = call->apply != NULL && call->apply->u.apply.answer.status == LAPSE_OK;
    return !told || call->apply->u.apply.answer.token == look->answer->token;
}

static const struct lapse_command *command_of(const struct lapse_tracked_call *call) {
    const struct lapse_request *request = &call->invoke->u.invoke.request;
    return request->verb < LAPSE_CALL_WRITE ? &request->command : NULL;
}
