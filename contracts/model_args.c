/* Commands that are refused for their words alone, whatever stands in the store. */
#include "model_parts.h"

static bool needs_bucket(enum lapse_verb verb);
static bool own_term_fits(const struct lapse_term *term);
static bool words_fit(const struct lapse_command *command);
static bool lease_fits(const struct lapse_command *command);
static bool request_fits(const struct lapse_command *command);
static bool batch_fits(struct lapse_model *model, const struct lapse_command *command);
static bool may_stand_in_batch(enum lapse_verb verb);

bool lapse_model_malformed(struct lapse_model *model, const struct lapse_command *command) {
    if (command->request.len > 0 && !request_fits(command)) {
        return true;
    }
    if (command->verb == LAPSE_VERB_BATCH) {
        return !batch_fits(model, command);
    }
    bool open = command->verb == LAPSE_VERB_OPEN;
    bool placed = open || needs_bucket(command->verb);
    if (placed && (command->bucket.len == 0 || command->bucket.len > LAPSE_BUCKET_NAME_MAX)) {
        return true;
    }
    bool whole = command->verb == LAPSE_VERB_LIST || command->verb == LAPSE_VERB_ALL ||
                 command->verb == LAPSE_VERB_COUNT || command->verb == LAPSE_VERB_WATCH ||
                 command->verb == LAPSE_VERB_ALTER || open;
    if (command->key.len > LAPSE_KEY_BYTES_MAX || (command->key.len == 0 && !whole)) {
        return true;
    }
    if (!words_fit(command)) {
        return true;
    }
    const struct lapse_model_bucket *bucket =
        needs_bucket(command->verb) ? lapse_model_bucket(model, command->bucket, false) : NULL;
    return needs_bucket(command->verb) && (bucket == NULL || !bucket->open) &&
           (bucket == NULL || !lapse_model_unsure(model, &bucket->name));
}

bool lapse_model_mistimed(struct lapse_model *model, const struct lapse_command *command) {
    bool keeps = command->u.write.term.given == LAPSE_TERM_KEEP;
    bool writes = command->verb == LAPSE_VERB_SET || command->verb == LAPSE_VERB_CREATE ||
                  command->verb == LAPSE_VERB_UPDATE || command->verb == LAPSE_VERB_EXPIRE;
    const struct lapse_term *term =
        writes ? lapse_model_own_term(model, lapse_model_bucket(model, command->bucket, false),
                                      command)
               : NULL;
    bool joins = command->verb == LAPSE_VERB_ACQUIRE && command->u.lease.session.len > 0;
    switch (command->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_UPDATE:
        return term == NULL || !own_term_fits(term);
    case LAPSE_VERB_CREATE:
        return keeps || term == NULL || !own_term_fits(term);
    case LAPSE_VERB_EXPIRE:
        return keeps || command->u.write.term.given == 0 || term == NULL || !own_term_fits(term);
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
        return joins ? command->u.lease.session.len > LAPSE_KEY_BYTES_MAX
                     : command->u.lease.span.ns <= 0;
    case LAPSE_VERB_SESSION:
        return command->u.session.span.ns <= 0;
    case LAPSE_VERB_KEEPALIVE:
        return command->u.session.span.ns < 0;
    case LAPSE_VERB_WATCH:
        return command->u.watch.from == LAPSE_WATCH_REVISION && command->u.watch.revision < 1;
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        return !lapse_model_config_fits(model, &command->u.open.config);
    default:
        return false;
    }
}

bool lapse_model_config_fits(const struct lapse_model *model,
                             const struct lapse_bucket_config *config) {
    const struct lapse_term *term = &config->term;
    bool fixed = term->given == 0 || term->given == LAPSE_TERM_TTL ||
                 term->given == LAPSE_TERM_IDLE;
    bool marks = lapse_model_policy(model, LAPSE_POLICY_MARKERS) == 0 || config->markers.ns <= 0;
    return fixed && marks && own_term_fits(term) && config->markers.ns >= 0 &&
           config->history <= LAPSE_HISTORY_MAX && config->first_revision >= 0;
}

static bool needs_bucket(enum lapse_verb verb) {
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_WATCH:
    case LAPSE_VERB_HISTORY:
    case LAPSE_VERB_ALTER:
        return true;
    default:
        return false;
    }
}

/* One term, of a span above 0; a cap only with an idle span. */
static bool own_term_fits(const struct lapse_term *term) {
    if (term->cap.ns < 0 || (term->cap.ns > 0 && term->given != LAPSE_TERM_IDLE)) {
        return false;
    }
    switch (term->given) {
    case 0:
    case LAPSE_TERM_EXPIRES_AT:
    case LAPSE_TERM_KEEP:
        return true;
    case LAPSE_TERM_TTL:
        return term->ttl.ns > 0;
    case LAPSE_TERM_IDLE:
        return term->idle.ns > 0;
    case LAPSE_TERM_SESSION:
        return term->session.len > 0 && term->session.len <= LAPSE_KEY_BYTES_MAX;
    default:
        return false;
    }
}

static bool words_fit(const struct lapse_command *command) {
    const struct lapse_bytes *owner = &command->u.session.owner;
    switch (command->verb) {
    case LAPSE_VERB_CREATE:
        return !command->u.write.has_if_version &&
               command->u.write.value.len <= LAPSE_VALUE_BYTES_MAX;
    case LAPSE_VERB_UPDATE:
        return command->u.write.has_if_version &&
               command->u.write.value.len <= LAPSE_VALUE_BYTES_MAX;
    case LAPSE_VERB_SET:
        return command->u.write.value.len <= LAPSE_VALUE_BYTES_MAX;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        return lease_fits(command);
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return owner->len > 0 && owner->len <= LAPSE_OWNER_BYTES_MAX;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
        return command->u.page.after.len <= LAPSE_KEY_BYTES_MAX;
    default:
        return true;
    }
}

static bool lease_fits(const struct lapse_command *command) {
    bool acquires = command->verb == LAPSE_VERB_ACQUIRE;
    bool named = command->u.lease.owner.len > 0 || (!acquires && command->u.lease.has_token);
    if (!named || command->u.lease.owner.len > LAPSE_OWNER_BYTES_MAX) {
        return false;
    }
    bool joins = acquires && command->u.lease.session.len > 0;
    return !joins || (command->u.lease.span.ns == 0 &&
                      command->u.lease.durability == LAPSE_PERSISTENT);
}

/* Only what changes what is stored is remembered by a request id. */
static bool request_fits(const struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
    case LAPSE_VERB_INSPECT:
    case LAPSE_VERB_WATCH:
        return false;
    case LAPSE_VERB_ACQUIRE:
        return command->request.len <= LAPSE_REQUEST_BYTES_MAX &&
               command->u.lease.durability == LAPSE_PERSISTENT;
    default:
        return command->request.len <= LAPSE_REQUEST_BYTES_MAX;
    }
}

static bool batch_fits(struct lapse_model *model, const struct lapse_command *command) {
    size_t count = command->u.batch.count;
    bool fits = count > 0 && count <= LAPSE_BATCH_MAX;
    for (size_t i = 0; fits && i < count; i++) {
        const struct lapse_command *member = &command->u.batch.commands[i];
        bool ephemeral = member->verb == LAPSE_VERB_ACQUIRE &&
                         member->u.lease.durability != LAPSE_PERSISTENT;
        fits = may_stand_in_batch(member->verb) && member->request.len == 0 && !ephemeral &&
               !lapse_model_malformed(model, member);
    }
    return fits;
}

static bool may_stand_in_batch(enum lapse_verb verb) {
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return true;
    default:
        return false;
    }
}
