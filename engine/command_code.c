/* What a command asks for, as one number: two commands that say the same in all that their verb
 * takes have the same, whatever stands in fields that it does not look at. */
#include "state.h"

static void feed(struct lapse_digest *digest, const struct lapse_command *command);
static void feed_write(struct lapse_digest *digest, const struct lapse_command *command);
static void feed_term(struct lapse_digest *digest, const struct lapse_term *term);
static void feed_lease(struct lapse_digest *digest, const struct lapse_command *command);
static void feed_batch(struct lapse_digest *digest, const struct lapse_command *command);

uint64_t lapse_command_digest(const struct lapse_command *command) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    feed(&digest, command);
    if (command->verb == LAPSE_VERB_BATCH) {
        feed_batch(&digest, command);
    }
    return lapse_digest_value(&digest);
}

/* All but the calls of a batch, which hold no batch themselves. */
static void feed(struct lapse_digest *digest, const struct lapse_command *command) {
    lapse_digest_u64(digest, (uint64_t)command->verb);
    lapse_digest_bytes(digest, command->bucket);
    lapse_digest_bytes(digest, command->key);
    switch (command->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        feed_write(digest, command);
        return;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        feed_lease(digest, command);
        return;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
        lapse_digest_i64(digest, command->u.session.span.ns);
        lapse_digest_bytes(digest, command->u.session.owner);
        return;
    case LAPSE_VERB_CLOSE:
        lapse_digest_bytes(digest, command->u.session.owner);
        return;
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        feed_term(digest, &command->u.open.config.term);
        lapse_digest_i64(digest, command->u.open.config.markers.ns);
        lapse_digest_u64(digest, command->u.open.config.history);
        lapse_digest_i64(digest, command->u.open.config.first_revision);
        return;
    default:
        return;
    }
}

static void feed_write(struct lapse_digest *digest, const struct lapse_command *command) {
    bool puts = command->verb == LAPSE_VERB_SET || command->verb == LAPSE_VERB_CREATE ||
                command->verb == LAPSE_VERB_UPDATE;
    if (puts) {
        lapse_digest_bytes(digest, command->u.write.value);
    }
    if (puts || command->verb == LAPSE_VERB_EXPIRE) {
        feed_term(digest, &command->u.write.term);
    }
    lapse_digest_u64(digest, command->u.write.has_if_version ? 1 : 0);
    if (command->u.write.has_if_version) {
        lapse_digest_i64(digest, command->u.write.if_version);
    }
}

static void feed_term(struct lapse_digest *digest, const struct lapse_term *term) {
    lapse_digest_u64(digest, term->given);
    if ((term->given & LAPSE_TERM_TTL) != 0) {
        lapse_digest_i64(digest, term->ttl.ns);
    }
    if ((term->given & LAPSE_TERM_IDLE) != 0) {
        lapse_digest_i64(digest, term->idle.ns);
        lapse_digest_i64(digest, term->cap.ns);
    }
    if ((term->given & LAPSE_TERM_EXPIRES_AT) != 0) {
        lapse_digest_i64(digest, term->expires_at.ns);
    }
    if ((term->given & LAPSE_TERM_SESSION) != 0) {
        lapse_digest_bytes(digest, term->session);
    }
}

static void feed_lease(struct lapse_digest *digest, const struct lapse_command *command) {
    lapse_digest_bytes(digest, command->u.lease.owner);
    if (command->verb != LAPSE_VERB_RELEASE) {
        lapse_digest_i64(digest, command->u.lease.span.ns);
    }
    if (command->verb == LAPSE_VERB_ACQUIRE) {
        lapse_digest_bytes(digest, command->u.lease.session);
        lapse_digest_u64(digest, (uint64_t)command->u.lease.durability);
        return;
    }
    lapse_digest_u64(digest, command->u.lease.has_token ? 1 : 0);
    if (command->u.lease.has_token) {
        lapse_digest_i64(digest, command->u.lease.token);
    }
}

static void feed_batch(struct lapse_digest *digest, const struct lapse_command *command) {
    lapse_digest_u64(digest, command->u.batch.count);
    for (size_t i = 0; i < command->u.batch.count; i++) {
        feed(digest, &command->u.batch.commands[i]);
    }
}
