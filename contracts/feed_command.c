/* The digest of a command, field by field: a part of the history's, and how a call is told from
 * another that was sent under its request id. */
#include "feed.h"

static void feed_body(struct lapse_digest *digest, const struct lapse_command *command);
static void feed_write(struct lapse_digest *digest, const struct lapse_command *command);
static void feed_lease(struct lapse_digest *digest, const struct lapse_command *command);
static void feed_batch(struct lapse_digest *digest, const struct lapse_command *command);
static void feed_term(struct lapse_digest *digest, const struct lapse_term *term);
static void feed_bool(struct lapse_digest *digest, bool value);

void lapse_feed_command(struct lapse_digest *digest, const struct lapse_command *command) {
    lapse_digest_i64(digest, (int64_t)command->verb);
    lapse_digest_bytes(digest, command->bucket);
    lapse_digest_bytes(digest, command->key);
    lapse_digest_bytes(digest, command->request);
    feed_body(digest, command);
}

void lapse_feed_config(struct lapse_digest *digest, const struct lapse_bucket_config *config) {
    feed_term(digest, &config->term);
    lapse_digest_i64(digest, config->markers.ns);
    lapse_digest_u64(digest, config->history);
    lapse_digest_i64(digest, config->first_revision);
}

static void feed_body(struct lapse_digest *digest, const struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        feed_write(digest, command);
        break;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        feed_lease(digest, command);
        break;
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
        feed_bool(digest, command->u.read.peek);
        feed_bool(digest, command->u.read.has_revision);
        lapse_digest_i64(digest, command->u.read.revision);
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        feed_bool(digest, command->u.page.has_after);
        lapse_digest_bytes(digest, command->u.page.after);
        lapse_digest_u64(digest, command->u.page.limit);
        break;
    case LAPSE_VERB_BATCH:
        feed_batch(digest, command);
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        lapse_digest_bytes(digest, command->u.session.owner);
        lapse_digest_i64(digest, command->u.session.span.ns);
        break;
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        lapse_feed_config(digest, &command->u.open.config);
        break;
    case LAPSE_VERB_WATCH:
    case LAPSE_VERB_UNWATCH:
    case LAPSE_VERB_POLL:
        lapse_digest_i64(digest, (int64_t)command->u.watch.from);
        lapse_digest_i64(digest, command->u.watch.revision);
        lapse_digest_i64(digest, command->u.watch.watcher);
        lapse_digest_u64(digest, command->u.watch.events_max);
        break;
    case LAPSE_VERB_FLUSH:
        lapse_digest_i64(digest, command->u.flush.used.ns);
        lapse_digest_i64(digest, command->u.flush.revision);
        lapse_digest_i64(digest, (int64_t)command->u.flush.end.kind);
        lapse_digest_i64(digest, command->u.flush.end.ns);
        break;
    case LAPSE_VERB_REAP:
        lapse_digest_u64(digest, command->u.reap.rows_max);
        break;
    default:
        break;
    }
}

static void feed_write(struct lapse_digest *digest, const struct lapse_command *command) {
    lapse_digest_bytes(digest, command->u.write.value);
    feed_term(digest, &command->u.write.term);
    feed_bool(digest, command->u.write.has_if_version);
    lapse_digest_i64(digest, command->u.write.if_version);
}

static void feed_lease(struct lapse_digest *digest, const struct lapse_command *command) {
    lapse_digest_bytes(digest, command->u.lease.owner);
    lapse_digest_i64(digest, command->u.lease.span.ns);
    lapse_digest_bytes(digest, command->u.lease.session);
    feed_bool(digest, command->u.lease.has_token);
    lapse_digest_i64(digest, command->u.lease.token);
    lapse_digest_i64(digest, (int64_t)command->u.lease.durability);
}

/* A batch holds no batch, so this goes one level deep. */
static void feed_batch(struct lapse_digest *digest, const struct lapse_command *command) {
    lapse_digest_u64(digest, command->u.batch.count);
    for (size_t i = 0; i < command->u.batch.count; i++) {
        const struct lapse_command *member = &command->u.batch.commands[i];
        lapse_digest_i64(digest, (int64_t)member->verb);
        lapse_digest_bytes(digest, member->bucket);
        lapse_digest_bytes(digest, member->key);
        if (member->verb != LAPSE_VERB_BATCH)
            feed_body(digest, member);
    }
}

static void feed_term(struct lapse_digest *digest, const struct lapse_term *term) {
    lapse_digest_u64(digest, term->given);
    lapse_digest_i64(digest, term->ttl.ns);
    lapse_digest_i64(digest, term->idle.ns);
    lapse_digest_i64(digest, term->expires_at.ns);
    lapse_digest_i64(digest, term->cap.ns);
    lapse_digest_bytes(digest, term->session);
}

static void feed_bool(struct lapse_digest *digest, bool value) {
    lapse_digest_u64(digest, value ? 1 : 0);
}
