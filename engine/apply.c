/* The state machine: apply(state, command, now) -> result, events.
 *
 * One table names for every verb what it needs and the function that carries it out. Arguments are
 * checked here, once, before anything is looked at, so that a verb sees only commands that it can
 * take. */
#include "ceiling.h"
#include "decide.h"
#include "ephemeral.h"

enum need {
    NEED_BUCKET = 1,     /* an open bucket */
    NEED_KEY = 2,        /* a key, not empty */
    NEED_NAME = 4,       /* a lease name, not empty */
    NEED_FLUSH = 8,      /* the key's deferred renewal precedes it */
    NEED_FLUSH_DUE = 16, /* all due renewals precede it */
    NEED_USE = 32,       /* it uses the key: a renewal that must be durable precedes it */
    NEED_SESSION = 64,   /* a session name, not empty */
    NEED_BATCH = 128,    /* the renewals of all keys that its calls name precede it */
    NEED_REAP = 256      /* if it gives or takes away markers, what has ended is reaped before */
};

struct lapse_verb_row {
    unsigned needs;
    enum lapse_status (*run)(struct lapse_job *job);
};

static bool precede_change(struct lapse_job *job, unsigned needs, struct lapse_command *ret);
static bool precede_alter(const struct lapse_job *job, struct lapse_command *ret);
static enum lapse_status find_bucket(struct lapse_job *job);
static enum lapse_status check_mark(struct lapse_job *job);
static const struct lapse_verb_row *find_row(enum lapse_verb verb);
static const char *key_word(unsigned needs);
static inline bool fits(struct lapse_bytes bytes, size_t most, bool may_be_empty);
static enum lapse_status check_len(struct lapse_job *job, const char *what,
                                   struct lapse_bytes bytes, size_t most, bool may_be_empty);
static enum lapse_status refuse_len(struct lapse_job *job, const char *what,
                                    struct lapse_bytes bytes, size_t most);
static enum lapse_status check_extra(struct lapse_job *job);
static enum lapse_status check_acquire(struct lapse_job *job);

static const struct lapse_verb_row verb_rows[] = {
    [LAPSE_VERB_OPEN] = {0, lapse_kv_open},
    [LAPSE_VERB_SET] = {NEED_BUCKET | NEED_KEY | NEED_FLUSH, lapse_kv_write},
    [LAPSE_VERB_CREATE] = {NEED_BUCKET | NEED_KEY | NEED_FLUSH, lapse_kv_write},
    [LAPSE_VERB_UPDATE] = {NEED_BUCKET | NEED_KEY | NEED_FLUSH, lapse_kv_write},
    [LAPSE_VERB_GET] = {NEED_BUCKET | NEED_KEY | NEED_USE, lapse_kv_read},
    [LAPSE_VERB_ENTRY] = {NEED_BUCKET | NEED_KEY | NEED_USE, lapse_kv_read},
    [LAPSE_VERB_HAS] = {NEED_BUCKET | NEED_KEY | NEED_USE, lapse_kv_read},
    [LAPSE_VERB_DELETE] = {NEED_BUCKET | NEED_KEY | NEED_FLUSH, lapse_kv_remove},
    [LAPSE_VERB_PURGE] = {NEED_BUCKET | NEED_KEY | NEED_FLUSH, lapse_kv_remove},
    [LAPSE_VERB_EXPIRE] = {NEED_BUCKET | NEED_KEY | NEED_FLUSH, lapse_kv_retime},
    [LAPSE_VERB_PERSIST] = {NEED_BUCKET | NEED_KEY | NEED_FLUSH, lapse_kv_retime},
    [LAPSE_VERB_LIST] = {NEED_BUCKET, lapse_kv_list},
    [LAPSE_VERB_ALL] = {NEED_BUCKET, lapse_kv_list},
    [LAPSE_VERB_COUNT] = {NEED_BUCKET, lapse_kv_list},
    [LAPSE_VERB_ACQUIRE] = {NEED_NAME, lapse_lease_acquire},
    [LAPSE_VERB_EXTEND] = {NEED_NAME, lapse_lease_extend},
    [LAPSE_VERB_RELEASE] = {NEED_NAME, lapse_lease_release},
    [LAPSE_VERB_SESSION] = {NEED_SESSION, lapse_session_begin},
    [LAPSE_VERB_KEEPALIVE] = {NEED_SESSION, lapse_session_keep},
    [LAPSE_VERB_CLOSE] = {NEED_SESSION, lapse_session_end},
    [LAPSE_VERB_INSPECT] = {NEED_NAME, lapse_lease_inspect},
    [LAPSE_VERB_WATCH] = {NEED_BUCKET, lapse_watch_start},
    [LAPSE_VERB_UNWATCH] = {0, lapse_watch_stop},
    [LAPSE_VERB_POLL] = {0, lapse_watch_poll},
    [LAPSE_VERB_REAP] = {NEED_FLUSH_DUE, lapse_reap_rows},
    [LAPSE_VERB_FLUSH] = {NEED_BUCKET | NEED_KEY, lapse_idle_flush},
    [LAPSE_VERB_MARK] = {0, lapse_ceiling_mark},
    [LAPSE_VERB_HISTORY] = {NEED_BUCKET | NEED_KEY, lapse_kv_history},
    [LAPSE_VERB_BATCH] = {NEED_BATCH, lapse_batch_run},
    [LAPSE_VERB_ALTER] = {NEED_BUCKET | NEED_REAP, lapse_kv_alter},
};

enum { VERB_COUNT = sizeof(verb_rows) / sizeof(verb_rows[0]), MESSAGE_BYTES = 80 };

enum lapse_status lapse_job_check(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    const struct lapse_verb_row *row = find_row(command->verb);
    job->row = row;
    if (row == NULL) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "%d is not the number of a verb; use one "
                               "of enum lapse_verb",
                               (int)command->verb);
    }
    enum lapse_status status = command->request.len > 0 ? lapse_request_check(job) : LAPSE_OK;
    if (status != LAPSE_OK) {
        return status;
    }
    bool placed = (row->needs & NEED_BUCKET) != 0 || command->verb == LAPSE_VERB_OPEN;
    if (placed && !fits(command->bucket, LAPSE_BUCKET_NAME_MAX, false)) {
        return refuse_len(job, "bucket name", command->bucket, LAPSE_BUCKET_NAME_MAX);
    }
    bool required = (row->needs & (NEED_KEY | NEED_NAME | NEED_SESSION)) != 0;
    if (!fits(command->key, LAPSE_KEY_BYTES_MAX, !required)) {
        return refuse_len(job, key_word(row->needs), command->key, LAPSE_KEY_BYTES_MAX);
    }
    status = check_extra(job);
    if (status == LAPSE_OK) {
        job->klass = lapse_ephemeral_class(job, lapse_command_class(command));
    }
    bool named = command->verb == LAPSE_VERB_MARK && command->bucket.len > 0;
    if (status != LAPSE_OK || ((row->needs & NEED_BUCKET) == 0 && !named)) {
        return status;
    }
    return find_bucket(job);
}

static enum lapse_status find_bucket(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    struct lapse_bucket *recent = job->state->recent;
    if (recent != NULL && lapse_node_has_key(recent->row, command->bucket)) {
        job->bucket = recent;
        return LAPSE_OK;
    }
    job->bucket = job->state->recent = lapse_state_bucket(job->state, command->bucket);
    if (job->bucket == NULL) {
        char name[MESSAGE_BYTES];
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "no bucket `%s` is open; open it before "
                               "its keys are used",
                               lapse_bytes_print(command->bucket, name, sizeof(name)));
    }
    return LAPSE_OK;
}

bool lapse_job_precede(struct lapse_job *job, struct lapse_command *ret) {
    const struct lapse_command *command = job->command;
    unsigned needs = job->row->needs;
    job->looked = false;
    /* A log command that is the first to reach a date tells so by its own commit. */
    if (job->klass != LAPSE_CLASS_LOG && lapse_peaks_due(job->state, &job->now)) {
        *ret = (struct lapse_command){.verb = LAPSE_VERB_MARK};
        return true;
    }
    if ((needs & NEED_USE) == 0) {
        return precede_change(job, needs, ret);
    }
    if (command->u.read.peek || command->u.read.has_revision) {
        return false;
    }
    /* Only an idle row can be renewed. */
    struct lapse_node *node =
        lapse_record_current(job->state, lapse_job_find(job), &job->now, true);
    if (node == NULL || !node->now.idle) {
        return false;
    }
    bool use = false;
    bool owed = lapse_idle_owed_use(job->state, node, &job->now, ret, &use);
    job->used = job->used || use;
    return owed;
}

enum lapse_status lapse_job_no_memory(const struct lapse_job *job) {
    return lapse_error_set(job->err, LAPSE_NOMEM, "%s: memory ran out; nothing was changed",
                           lapse_verb_word(job->command->verb));
}

enum lapse_status lapse_job_apply(struct lapse_job *job) {
    const struct lapse_verb_row *row = job->row;
    bool remembered = job->command->request.len > 0;
    enum lapse_status status = LAPSE_OK;
    bool judged = remembered && lapse_decide_condition_first(job->state) &&
                  !lapse_kv_condition_holds(job);
    if (remembered && !judged && lapse_request_recall(job, &status)) {
        return status;
    }
    if ((row->needs & NEED_NAME) != 0 && lapse_ephemeral_takes(job)) {
        return lapse_ephemeral_run(job);
    }
    status = row->run(job);
    return status == LAPSE_OK && remembered ? lapse_request_note(job) : status;
}

/* What must precede a command that uses no key. */
static bool precede_change(struct lapse_job *job, unsigned needs, struct lapse_command *ret) {
    if ((needs & NEED_REAP) != 0) {
        return precede_alter(job, ret);
    }
    /* Only a key that was used owes a flush. */
    if (job->state->deferred_first == NULL) {
        return false;
    }
    /* The event that takes the last revision of a bucket looks at keys that are not its own. */
    bool looks = (needs & (NEED_BATCH | NEED_FLUSH)) != 0 &&
                 lapse_decide_keeps_unmarked(job->state);
    if (((needs & NEED_FLUSH_DUE) != 0 || looks) &&
        lapse_idle_owed_due(job->state, &job->now, ret)) {
        return true;
    }
    if ((needs & NEED_BATCH) != 0) {
        return lapse_batch_owed(job, ret);
    }
    const struct lapse_node *node = (needs & NEED_FLUSH) != 0 ? lapse_job_find(job) : NULL;
    return node != NULL && lapse_idle_owed(job->state, node, ret);
}

/* An end is marked as its bucket says when it comes. So before the bucket says otherwise, the
 * reaper takes what has ended under the words of before. */
static bool precede_alter(const struct lapse_job *job, struct lapse_command *ret) {
    enum { ROWS_AT_ONCE = 1000 };
    bool marks = job->bucket->config.markers.ns > 0;
    if (marks == (job->command->u.open.config.markers.ns > 0)) {
        return false;
    }
    if (lapse_idle_owed_due(job->state, &job->now, ret)) {
        return true;
    }
    if (!lapse_reap_owed(job->state, &job->now)) {
        return false;
    }
    *ret = (struct lapse_command){.verb = LAPSE_VERB_REAP, .u.reap.rows_max = ROWS_AT_ONCE};
    return true;
}

static const struct lapse_verb_row *find_row(enum lapse_verb verb) {
    bool known = (unsigned)verb < VERB_COUNT && verb_rows[verb].run != NULL;
    return known ? &verb_rows[verb] : NULL;
}

/* What the key of a command is. */
static const char *key_word(unsigned needs) {
    if ((needs & NEED_SESSION) != 0) {
        return "session name";
    }
    return (needs & NEED_NAME) != 0 ? "lease name" : "key";
}

static enum lapse_status check_len(struct lapse_job *job, const char *what,
                                   struct lapse_bytes bytes, size_t most, bool may_be_empty) {
    return fits(bytes, most, may_be_empty) ? LAPSE_OK : refuse_len(job, what, bytes, most);
}

static inline bool fits(struct lapse_bytes bytes, size_t most, bool may_be_empty) {
    return bytes.len <= most && (bytes.len > 0 || may_be_empty);
}

static enum lapse_status refuse_len(struct lapse_job *job, const char *what,
                                    struct lapse_bytes bytes, size_t most) {
    if (bytes.len == 0) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "%s: the %s is empty; give at least one "
                               "byte",
                               lapse_verb_word(job->command->verb), what);
    }
    return lapse_error_set(job->err, LAPSE_INVALID,
                           "%s: the %s has %zu bytes; at most %zu are "
                           "taken",
                           lapse_verb_word(job->command->verb), what, bytes.len, most);
}

/* What only some verbs carry: a value, an owner, a version. */
static enum lapse_status check_extra(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    switch (command->verb) {
    case LAPSE_VERB_CREATE:
        if (command->u.write.has_if_version) {
            return lapse_error_set(job->err, LAPSE_INVALID,
                                   "create writes only where nothing is "
                                   "live, so it takes no if_version; use update");
        }
        return check_len(job, "value", command->u.write.value, LAPSE_VALUE_BYTES_MAX, true);
    case LAPSE_VERB_UPDATE:
        if (!command->u.write.has_if_version) {
            return lapse_error_set(job->err, LAPSE_INVALID,
                                   "update has no if_version; give the "
                                   "revision it builds on, or use set");
        }
        return check_len(job, "value", command->u.write.value, LAPSE_VALUE_BYTES_MAX, true);
    case LAPSE_VERB_SET:
        return check_len(job, "value", command->u.write.value, LAPSE_VALUE_BYTES_MAX, true);
    case LAPSE_VERB_MARK:
        return check_mark(job);
    case LAPSE_VERB_ACQUIRE:
        return check_acquire(job);
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return check_len(job, "owner", command->u.session.owner, LAPSE_OWNER_BYTES_MAX, false);
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        return check_len(job, "owner", command->u.lease.owner, LAPSE_OWNER_BYTES_MAX,
                         command->u.lease.has_token);
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
        return check_len(job, "key to list after", command->u.page.after, LAPSE_KEY_BYTES_MAX,
                         true);
    case LAPSE_VERB_REAP:
        if (command->u.reap.rows_max == 0) {
            return lapse_error_set(job->err, LAPSE_INVALID,
                                   "%s of at most 0 rows does nothing; "
                                   "give rows_max above 0",
                                   lapse_verb_word(command->verb));
        }
        return LAPSE_OK;
    case LAPSE_VERB_POLL:
        if (command->u.watch.events_max == 0) {
            return lapse_error_set(job->err, LAPSE_INVALID,
                                   "%s of at most 0 events tells nothing; "
                                   "give events_max above 0",
                                   lapse_verb_word(command->verb));
        }
        return LAPSE_OK;
    case LAPSE_VERB_BATCH:
        return lapse_batch_check(job);
    default:
        return LAPSE_OK;
    }
}

/* Numbers that a mark may raise: none below 0, and a token that leaves one to give. */
static enum lapse_status check_mark(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    int64_t least = command->u.mark.token;
    const int64_t others[] = {command->u.mark.ceiling_store.ns, command->u.mark.ceiling_token,
                              command->u.mark.ceiling_revision};
    for (int i = 0; i < 3; i++) {
        least = others[i] < least ? others[i] : least;
    }
    if (least < 0) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "mark: %lld is no counter and no ceiling; give 0 for none",
                               (long long)least);
    }
    if (command->u.mark.token == INT64_MAX) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "mark: a counter of tokens at %lld leaves none to give; raise it to "
                               "less",
                               (long long)command->u.mark.token);
    }
    if (command->u.mark.ceiling_revision > 0 && command->bucket.len == 0) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "mark: a ceiling of revisions names no bucket; name the one it is "
                               "for");
    }
    return LAPSE_OK;
}

/* A lease has a span of its own or a session; what a session ends is stored. */
static enum lapse_status check_acquire(struct lapse_job *job) {
    const struct lapse_command *command = job->command;
    char text[LAPSE_TIME_TEXT_MAX];
    if (command->u.lease.durability != LAPSE_PERSISTENT &&
        command->u.lease.durability != LAPSE_EPHEMERAL) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "acquire was asked for with durability %d; give one of "
                               "enum lapse_durability",
                               (int)command->u.lease.durability);
    }
    enum lapse_status status =
        check_len(job, "owner", command->u.lease.owner, LAPSE_OWNER_BYTES_MAX, false);
    if (status != LAPSE_OK || command->u.lease.session.len == 0) {
        return status;
    }
    if (command->u.lease.span.ns != 0) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "acquire gives a span of %s and a session; give span 0 with a "
                               "session, whose end the lease has",
                               lapse_span_print(command->u.lease.span, text));
    }
    if (command->u.lease.durability != LAPSE_PERSISTENT) {
        return lapse_error_set(job->err, LAPSE_INVALID,
                               "acquire asks for an ephemeral lease with a session; a lease that "
                               "ends with a session is persistent");
    }
    return LAPSE_OK;
}
