/* Which fields there are, what they are called and where they lie. Whoever adds a field to the
 * history adds it here, and both directions know it. */
#include "recorded_fields.h"

#include <string.h>

#define F(word_, type_, member_, ...) \
    { .word = (word_), .at = offsetof(struct type_, member_), __VA_ARGS__ }
#define IS(kind_) .kind = LAPSE_RF_##kind_
#define MUST .how = LAPSE_RF_MUST
#define IF(type_, member_) .flag = 1 + offsetof(struct type_, member_)
#define UNLESS(value_) .absent = (value_)
#define OF(table_) .table = (table_)
#define LIST_OF(table_, item_, type_, count_)                 \
    IS(LIST), .table = (table_), .item_bytes = sizeof(item_), \
              .count = offsetof(struct type_, count_)
#define LAST \
    { .word = NULL }

/* ---- Words by number; NULL where a number has none. */
static const char *const sync_words[] = {"full", "normal", "none", ""};
static const char *const bar_words[] = {"writes", "ends", ""};
static const char *const durability_words[] = {"persistent", "ephemeral", ""};
static const char *const from_words[] = {"now", "live", "revision", ""};
static const char *const record_words[] = {NULL,    "value", "tombstone", "marker",
                                           "purge", "gone",  ""};
static const char *const change_words[] = {NULL, "put", "delete", "purge", "expired", "gap", ""};
static const char *const end_words[] = {"none", "own", "default", "idle", "session", ""};
static const char *const fault_words[] = {NULL,    "pause",  "crash",  "restart", "suspend",
                                          "clock", "freeze", "starve", "stall",   "slow",
                                          "cut",   "link",   "disk",   ""};
static const char *const disk_words[] = {"none", "sync_fail", "sync_lies", "sync_stalls",
                                         "tear", "full",      "rot",       ""};
static const char *const fate_words[] = {NULL, "lost", "late", "twice", "forged", "again", ""};
static const char *const restored_words[] = {"no", "old", "shifted", ""};
static const char *const role_words[] = {"follower", "leader", ""};
static const char *const belief_words[] = {"granted", "denied",   "released", "stopped",
                                           "crashed", "deadline", ""};
static const char *const probe_words[] = {NULL,       "gone",     "present", "left",   "holder",
                                          "believes", "may",      "stopped", "events", "read",
                                          "count",    "measured", "rows",    ""};
static const char *const outcome_words[] = {"passed", "violated", "inconclusive", ""};

/* ---- The first line. */
static const struct lapse_rf term_fields[] = {
    F("ttl", lapse_term, ttl, IS(TIME), IF(lapse_term, given), .bit = LAPSE_TERM_TTL),
    F("idle", lapse_term, idle, IS(TIME), IF(lapse_term, given), .bit = LAPSE_TERM_IDLE),
    F("expires_at", lapse_term, expires_at, IS(DATE), IF(lapse_term, given),
      .bit = LAPSE_TERM_EXPIRES_AT),
    F("session", lapse_term, session, IS(BYTES), IF(lapse_term, given), .bit = LAPSE_TERM_SESSION),
    F("keep", lapse_term, given, IS(BIT), .bit = LAPSE_TERM_KEEP),
    F("cap", lapse_term, cap, IS(TIME)),
    LAST,
};
static const struct lapse_rf config_fields[] = {
    F("", lapse_bucket_config, term, IS(INLINE), OF(term_fields)),
    F("markers", lapse_bucket_config, markers, IS(TIME)),
    F("history", lapse_bucket_config, history, IS(U32)),
    F("first_revision", lapse_bucket_config, first_revision, IS(I64)),
    LAST,
};
static const struct lapse_rf bucket_fields[] = {
    F("name", lapse_setup_bucket, name, IS(BYTES), MUST),
    F("", lapse_setup_bucket, config, IS(INLINE), OF(config_fields)),
    F("locks", lapse_setup_bucket, locks, IS(BOOL)),
    LAST,
};
static const struct lapse_rf resource_setup_fields[] = {
    F("name", lapse_setup_resource, name, IS(BYTES), MUST),
    F("fenced", lapse_setup_resource, fenced, IS(BOOL)),
    F("lease", lapse_setup_resource, lease, IS(BYTES)),
    F("bar", lapse_setup_resource, bar, IS(WORD), .words = bar_words),
    F("not_after", lapse_setup_resource, not_after, IS(BOOL)),
    F("once", lapse_setup_resource, once, IS(BOOL)),
    LAST,
};
static const struct lapse_rf actor_fields[] = {
    F("name", lapse_setup_actor, name, IS(BYTES), MUST),
    F("owner", lapse_setup_actor, owner, IS(BYTES)),
    F("careful", lapse_setup_actor, careful, IS(BOOL)),
    F("margin", lapse_setup_actor, margin, IS(TIME)),
    F("timer_boot", lapse_setup_actor, timer_boot, IS(BOOL)),
    F("program", lapse_setup_actor, program, IS(BYTES)),
    LAST,
};
static const struct lapse_rf loop_fields[] = {
    F("actor", lapse_setup_loop, actor, IS(ACTOR), MUST),
    F("step", lapse_setup_loop, step, IS(I32)),
    F("gap", lapse_setup_loop, gap, IS(BOOL)),
    F("period", lapse_setup_loop, period, IS(TIME)),
    F("retry", lapse_setup_loop, retry, IS(TIME)),
    F("steady", lapse_setup_loop, steady, IS(BOOL)),
    F("slack", lapse_setup_loop, slack, IS(TIME)),
    LAST,
};
static const struct lapse_rf node_fields[] = {
    {.word = "name", IS(BYTES), MUST},
    LAST,
};
static const struct lapse_rf bound_fields[] = {
    F("rate", lapse_setup, rate_ppb, IS(RATE)),
    F("wall", lapse_setup, wall_bound, IS(TIME)),
    LAST,
};
const struct lapse_rf lapse_rf_setup[] = {
    F("scenario", lapse_setup, scenario, IS(BYTES)),
    F("profile", lapse_setup, profile, IS(BYTES)),
    F("policies", lapse_setup, policies, IS(POLICIES)),
    F("chaos", lapse_setup, chaos, IS(BOOL)),
    F("durable", lapse_setup, durable, IS(BOOL)),
    F("sync", lapse_setup, sync, IS(WORD), .words = sync_words),
    F("epoch", lapse_setup, epoch, IS(DATE)),
    {.word = "bounds", IS(OBJECT), OF(bound_fields)},
    F("reap_bound", lapse_setup, reap_bound, IS(TIME)),
    F("nodes", lapse_setup, nodes,
      LIST_OF(node_fields, struct lapse_bytes, lapse_setup, node_count),
      .how = LAPSE_RF_SHORT | LAPSE_RF_ALWAYS),
    F("actors", lapse_setup, actors,
      LIST_OF(actor_fields, struct lapse_setup_actor, lapse_setup, actor_count),
      .how = LAPSE_RF_SHORT | LAPSE_RF_ALWAYS),
    F("resources", lapse_setup, resources,
      LIST_OF(resource_setup_fields, struct lapse_setup_resource, lapse_setup, resource_count),
      .how = LAPSE_RF_SHORT | LAPSE_RF_ALWAYS),
    F("buckets", lapse_setup, buckets,
      LIST_OF(bucket_fields, struct lapse_setup_bucket, lapse_setup, bucket_count),
      .how = LAPSE_RF_SHORT | LAPSE_RF_ALWAYS),
    F("loops", lapse_setup, loops,
      LIST_OF(loop_fields, struct lapse_setup_loop, lapse_setup, loop_count)),
    LAST,
};
static const struct lapse_rf id_fields[] = {
    F("id", lapse_recorded_id, id, IS(BYTES), MUST),
    LAST,
};
const struct lapse_rf lapse_rf_top[] = {
    F("lapse", lapse_recorded_top, version, IS(I64), MUST),
    F("recorder", lapse_recorded_top, recorder, IS(BYTES)),
    F("promise_strict", lapse_recorded_top, promise_strict, IS(BOOL)),
    F("violates", lapse_recorded_top, violates,
      LIST_OF(id_fields, struct lapse_recorded_id, lapse_recorded_top, violates_count),
      .how = LAPSE_RF_SHORT),
    LAST,
};
const struct lapse_rf lapse_rf_closing[] = {
    F("outcome", lapse_recorded_closing, outcome, IS(WORD), MUST, .words = outcome_words),
    F("charged", lapse_recorded_closing, charged, IS(BYTES)),
    F("at_event", lapse_recorded_closing, event, IS(I64), UNLESS(-1)),
    F("events", lapse_recorded_closing, event_count, IS(I64), MUST),
    F("digest", lapse_recorded_closing, digest, IS(HEX), MUST),
    LAST,
};

/* ---- Parts of events. */
static const struct lapse_rf reading_fields[] = {
    F("boot", lapse_reading, boot, IS(U64)),
    F("raw", lapse_reading, raw_ns, IS(TIME)),
    F("wall", lapse_reading, wall, IS(DATE)),
    LAST,
};
static const struct lapse_rf grant_fields[] = {
    F("given", lapse_grant_ref, given, IS(BOOL), UNLESS(1)),
    F("name", lapse_grant_ref, name, IS(BYTES)),
    F("token", lapse_grant_ref, token, IS(I64)),
    F("key_lock", lapse_grant_ref, key_lock, IS(BOOL)),
    LAST,
};
static const struct lapse_rf item_fields[] = {
    F("key", lapse_item, key, IS(BYTES)),
    F("value", lapse_item, value, IS(BYTES)),
    F("rev", lapse_item, revision, IS(I64)),
    F("kind", lapse_item, kind, IS(WORD), .words = record_words, UNLESS(LAPSE_RECORD_VALUE)),
    LAST,
};
static const struct lapse_rf batch_answer_fields[] = {
    F("verb", lapse_batch_answer, verb, IS(VERB), MUST),
    F("status", lapse_batch_answer, status, IS(STATUS)),
    F("rev", lapse_batch_answer, revision, IS(I64)),
    F("token", lapse_batch_answer, token, IS(I64)),
    F("end", lapse_batch_answer, end, IS(END)),
    F("left", lapse_batch_answer, left, IS(TIME)),
    LAST,
};
static const struct lapse_rf answer_fields[] = {
    F("status", lapse_answer, status, IS(STATUS), MUST),
    F("store", lapse_answer, at, IS(TIME)),
    F("wall", lapse_answer, wall, IS(DATE)),
    F("rev", lapse_answer, revision, IS(I64)),
    F("end", lapse_answer, end, IS(END)),
    F("left", lapse_answer, left, IS(TIME)),
    F("renewed", lapse_answer, renewed, IS(BOOL)),
    F("token", lapse_answer, token, IS(I64), IF(lapse_answer, has_token)),
    F("watcher", lapse_answer, watcher, IS(I64)),
    F("value", lapse_answer, value, IS(BYTES)),
    F("owner", lapse_answer, owner, IS(BYTES)),
    F("items", lapse_answer, items,
      LIST_OF(item_fields, struct lapse_item, lapse_answer, item_count), .how = LAPSE_RF_KEPT),
    F("count", lapse_answer, items, IS(COUNT), .count = offsetof(struct lapse_answer, item_count)),
    F("more", lapse_answer, more, IS(BOOL)),
    F("repeated", lapse_answer, repeated, IS(BOOL)),
    F("answers", lapse_answer, answers,
      LIST_OF(batch_answer_fields, struct lapse_batch_answer, lapse_answer, answer_count)),
    F("took", lapse_answer, took, IS(TIME)),
    LAST,
};
static const struct lapse_rf change_fields[] = {
    F("change", lapse_event, kind, IS(WORD), MUST, .words = change_words),
    F("why", lapse_event, why, IS(WORD), .words = end_words),
    F("bucket", lapse_event, bucket, IS(BYTES)),
    F("key", lapse_event, key, IS(BYTES)),
    F("value", lapse_event, value, IS(BYTES)),
    F("rev", lapse_event, revision, IS(I64)),
    F("old_rev", lapse_event, old_revision, IS(I64)),
    F("store", lapse_event, at, IS(TIME)),
    LAST,
};
static const struct lapse_rf probe_answer_fields[] = {
    F("verb", lapse_probe_answer, verb, IS(VERB)),
    F("answer", lapse_probe_answer, answer, IS(OBJECT), OF(answer_fields),
      .how = LAPSE_RF_MUST | LAPSE_RF_SHORT),
    LAST,
};

/* ---- Events. */
#define E(word_, member_, ...) F(word_, lapse_history_event, member_, __VA_ARGS__)
#define ANSWER(member_) \
    E("answer", member_, IS(OBJECT), OF(answer_fields), .how = LAPSE_RF_MUST | LAPSE_RF_SHORT)
const struct lapse_rf lapse_rf_head[] = {
    E("at", at, IS(TIME), MUST),
    E("actor", actor, IS(ACTOR), UNLESS(-1)),
    E("life", incarnation, IS(LIFE)),
    E("wall", actor_wall, IS(DATE)),
    E("clock", actor_steady, IS(TIME)),
    E("call", call, IS(I64)),
    E("step", step, IS(I32), UNLESS(-1)),
    E("n", n, IS(I32)),
    LAST,
};
static const struct lapse_rf invoke_fields[] = {
    E("verb", u.invoke.request, IS(REQUEST)),
    E("under", u.invoke.grant, IS(OBJECT), OF(grant_fields)),
    E("loop", u.invoke.loop, IS(I32), UNLESS(-1)),
    E("due", u.invoke.due, IS(DUE)),
    E("looked", u.invoke.looked, IS(BOOL)),
    E("last_look", u.invoke.last_look, IS(TIME)),
    LAST,
};
static const struct lapse_rf apply_fields[] = {
    E("node", u.apply.node, IS(NODE)),
    E("reading", u.apply.reading, IS(OBJECT), OF(reading_fields)),
    E("durable_point", u.apply.durable_point, IS(I64)),
    ANSWER(u.apply.answer),
    LAST,
};
static const struct lapse_rf emit_fields[] = {
    E("node", u.emit.node, IS(NODE)),
    E("", u.emit.event, IS(INLINE), OF(change_fields)),
    LAST,
};
static const struct lapse_rf reply_fields[] = {
    E("verb", u.reply.verb, IS(VERB), MUST),
    E("sent", u.reply.sent, IS(BOOL), UNLESS(1)),
    E("save", u.reply.save_slot, IS(I32), UNLESS(-1)),
    E("under", u.reply.grant, IS(OBJECT), OF(grant_fields)),
    ANSWER(u.reply.answer),
    LAST,
};
static const struct lapse_rf fault_fields[] = {
    E("fault", u.fault.kind, IS(WORD), MUST, .words = fault_words),
    E("machine", u.fault.machine, IS(BOOL)),
    E("node", u.fault.node, IS(NODE), UNLESS(-1)),
    E("task", u.fault.task, IS(I32)),
    E("from", u.fault.from, IS(PARTY)),
    E("to", u.fault.to, IS(PARTY)),
    E("both", u.fault.both, IS(BOOL)),
    E("disk", u.fault.disk, IS(WORD), .words = disk_words),
    E("keeps", u.fault.keeps, IS(BOOL)),
    E("until", u.fault.until, IS(TIME), IF(lapse_history_event, u.fault.has_until)),
    LAST,
};
static const struct lapse_rf belief_fields[] = {
    E("grant", u.belief.grant, IS(OBJECT), OF(grant_fields), MUST),
    E("why", u.belief.why, IS(WORD), .words = belief_words),
    E("deadline", u.belief.deadline, IS(TIME), IF(lapse_history_event, u.belief.has_deadline)),
    LAST,
};
static const struct lapse_rf resource_fields[] = {
    E("resource", u.resource.resource, IS(RESOURCE), MUST),
    E("verb", u.resource.verb, IS(VERB), UNLESS(LAPSE_CALL_WRITE)),
    E("status", u.resource.status, IS(STATUS)),
    E("resource_wall", u.resource.wall, IS(DATE)),
    E("token", u.resource.token, IS(I64), IF(lapse_history_event, u.resource.has_token)),
    E("value", u.resource.value, IS(BYTES)),
    E("highest", u.resource.highest, IS(I64), IF(lapse_history_event, u.resource.has_highest)),
    LAST,
};
static const struct lapse_rf deliver_fields[] = {
    E("watch", u.deliver.watch, IS(I32), UNLESS(-1)),
    E("watcher", u.deliver.watcher, IS(I64)),
    E("first", u.deliver.first, IS(BOOL)),
    E("", u.deliver.event, IS(INLINE), OF(change_fields)),
    LAST,
};
static const struct lapse_rf probe_fields[] = {
    E("probe", u.probe.kind, IS(WORD), MUST, .words = probe_words),
    E("key_lock", u.probe.key_lock, IS(BOOL)),
    E("bucket", u.probe.bucket, IS(BYTES)),
    E("name", u.probe.name, IS(BYTES)),
    E("answers", u.probe.answers,
      LIST_OF(probe_answer_fields, struct lapse_probe_answer, lapse_history_event,
              u.probe.answer_count)),
    E("who", u.probe.who, IS(ACTORS),
      .count = offsetof(struct lapse_history_event, u.probe.who_count)),
    E("flag", u.probe.flag, IS(BOOL)),
    E("events", u.probe.events,
      LIST_OF(change_fields, struct lapse_event, lapse_history_event, u.probe.event_count)),
    E("rows", u.probe.row_count, IS(I64)),
    LAST,
};
static const struct lapse_rf unbound_fields[] = {
    E("slot", u.unbound.slot, IS(I32)),
    E("why", u.unbound.why, IS(I32)),
    E("field", u.unbound.field, IS(I32)),
    LAST,
};
static const struct lapse_rf note_fields[] = {
    E("text", u.note.text, IS(BYTES)),
    E("status", u.note.status, IS(STATUS)),
    LAST,
};
static const struct lapse_rf end_fields[] = {
    E("state", u.end.state_digest, IS(HEX)),
    E("cut", u.end.cut, IS(BOOL)),
    LAST,
};
static const struct lapse_rf step_fields[] = {
    E("node", u.step.node, IS(NODE)),
    E("reading", u.step.reading, IS(OBJECT), OF(reading_fields)),
    E("store", u.step.store, IS(TIME)),
    E("rows", u.step.row_count, IS(SIZE)),
    E("status", u.step.status, IS(STATUS)),
    LAST,
};
static const struct lapse_rf message_fields[] = {
    E("from", u.message.from, IS(PARTY)),
    E("to", u.message.to, IS(PARTY)),
    E("reply", u.message.reply, IS(BOOL)),
    E("fate", u.message.fate, IS(WORD), MUST, .words = fate_words),
    E("latency", u.message.latency, IS(TIME)),
    E("status", u.message.status, IS(STATUS)),
    LAST,
};
static const struct lapse_rf clock_fields[] = {
    E("whose", u.clock.whose, IS(PARTY)),
    E("before", u.clock.before, IS(OBJECT), OF(reading_fields)),
    E("after", u.clock.after, IS(OBJECT), OF(reading_fields)),
    E("mono_before", u.clock.mono_before, IS(TIME)),
    E("mono_after", u.clock.mono_after, IS(TIME)),
    E("rate", u.clock.rate_ppb, IS(RATE)),
    E("stopped", u.clock.stopped, IS(BOOL)),
    E("tick", u.clock.tick_ns, IS(TIME), UNLESS(1)),
    LAST,
};
static const struct lapse_rf tenure_fields[] = {
    E("node", u.tenure.node, IS(NODE)),
    E("machine", u.tenure.machine, IS(BOOL)),
    E("reading", u.tenure.reading, IS(OBJECT), OF(reading_fields)),
    E("store", u.tenure.store, IS(TIME)),
    E("restored", u.tenure.restored, IS(WORD), .words = restored_words),
    LAST,
};
static const struct lapse_rf role_fields[] = {
    E("node", u.role.node, IS(NODE), MUST),
    E("role", u.role.role, IS(WORD), MUST, .words = role_words),
    E("epoch", u.role.epoch, IS(I64)),
    E("index", u.role.index, IS(I64)),
    E("digest", u.role.digest, IS(BYTES)),
    LAST,
};
static const struct lapse_rf no_fields[] = {LAST};

static const struct {
    const char *word; /* NULL: no line has it */
    const struct lapse_rf *fields;
} kinds[LAPSE_HISTORY_KINDS] = {
    [LAPSE_HISTORY_INVOKE] = {"invoke", invoke_fields},
    [LAPSE_HISTORY_APPLY] = {"apply", apply_fields},
    [LAPSE_HISTORY_EMIT] = {"emit", emit_fields},
    [LAPSE_HISTORY_REPLY] = {"reply", reply_fields},
    [LAPSE_HISTORY_FAULT_BEGIN] = {"fault_begin", fault_fields},
    [LAPSE_HISTORY_FAULT_END] = {"fault_end", fault_fields},
    [LAPSE_HISTORY_BELIEF_BEGIN] = {"belief_begin", belief_fields},
    [LAPSE_HISTORY_BELIEF_END] = {"belief_end", belief_fields},
    [LAPSE_HISTORY_RESOURCE] = {"resource", resource_fields},
    [LAPSE_HISTORY_DELIVER] = {"deliver", deliver_fields},
    [LAPSE_HISTORY_STOPPED] = {"stopped", no_fields},
    [LAPSE_HISTORY_PROBE] = {"probe", probe_fields},
    [LAPSE_HISTORY_UNBOUND] = {"unbound", unbound_fields},
    [LAPSE_HISTORY_NOT_RUN] = {"not_run", no_fields},
    [LAPSE_HISTORY_WAITING] = {"waiting", no_fields},
    [LAPSE_HISTORY_NOTE] = {"note", note_fields},
    [LAPSE_HISTORY_TRUNCATED] = {"truncated", no_fields},
    [LAPSE_HISTORY_END] = {"end", end_fields},
    [LAPSE_HISTORY_STEP] = {"step", step_fields},
    [LAPSE_HISTORY_MESSAGE] = {"message", message_fields},
    [LAPSE_HISTORY_CLOCK] = {"clock", clock_fields},
    [LAPSE_HISTORY_ROLE] = {"role", role_fields},
    [LAPSE_HISTORY_TENURE] = {"tenure", tenure_fields},
};

#define C(word_, member_, ...) F(word_, lapse_recorded_call, member_, __VA_ARGS__)
const struct lapse_rf lapse_rf_call[] = {
    C("", invoke, IS(INLINE), OF(lapse_rf_head)),
    C("verb", invoke.u.invoke.request, IS(REQUEST)),
    C("under", invoke.u.invoke.grant, IS(OBJECT), OF(grant_fields)),
    C("loop", invoke.u.invoke.loop, IS(I32), UNLESS(-1)),
    C("looked", invoke.u.invoke.looked, IS(BOOL)),
    C("last_look", invoke.u.invoke.last_look, IS(TIME)),
    C("replied", reply.at, IS(TIME), IF(lapse_recorded_call, replied)),
    C("replied_wall", reply.actor_wall, IS(DATE)),
    C("replied_clock", reply.actor_steady, IS(TIME)),
    C("answer", reply.u.reply.answer, IS(OBJECT), OF(answer_fields), .how = LAPSE_RF_SHORT),
    LAST,
};

const struct lapse_rf *lapse_rf_of_kind(int kind) {
    return kind >= 0 && kind < (int)LAPSE_HISTORY_KINDS ? kinds[kind].fields : NULL;
}

const char *lapse_rf_kind_word(int kind) {
    return kind >= 0 && kind < (int)LAPSE_HISTORY_KINDS ? kinds[kind].word : NULL;
}

/* ---- Commands, by verb, in the words of the scenario language. */
#define V(word_, member_, ...) F(word_, lapse_command, member_, __VA_ARGS__)
#define R(word_, member_, ...) F(word_, lapse_request, member_, __VA_ARGS__)
#define KEY V("bucket", bucket, IS(BYTES)), V("key", key, IS(BYTES)), V("id", request, IS(BYTES))
#define NAME V("bucket", bucket, IS(BYTES)), V("name", key, IS(BYTES)), V("id", request, IS(BYTES))
static const struct lapse_rf write_fields[] = {
    KEY,
    V("value", u.write.value, IS(BYTES)),
    V("", u.write.term, IS(INLINE), OF(term_fields)),
    V("if_version", u.write.if_version, IS(I64), IF(lapse_command, u.write.has_if_version)),
    LAST,
};
static const struct lapse_rf lease_fields[] = {
    NAME,
    V("owner", u.lease.owner, IS(BYTES)),
    V("for", u.lease.span, IS(TIME)),
    V("session", u.lease.session, IS(BYTES)),
    V("token", u.lease.token, IS(I64), IF(lapse_command, u.lease.has_token)),
    V("durability", u.lease.durability, IS(WORD), .words = durability_words),
    LAST,
};
static const struct lapse_rf inspect_fields[] = {
    NAME,
    V("durability", u.lease.durability, IS(WORD), .words = durability_words),
    LAST,
};
static const struct lapse_rf read_fields[] = {
    KEY,
    V("peek", u.read.peek, IS(BOOL)),
    V("rev", u.read.revision, IS(I64), IF(lapse_command, u.read.has_revision)),
    LAST,
};
static const struct lapse_rf page_fields[] = {
    KEY,
    V("after", u.page.after, IS(BYTES), IF(lapse_command, u.page.has_after)),
    V("limit", u.page.limit, IS(SIZE)),
    LAST,
};
static const struct lapse_rf member_fields[] = {
    {.word = "verb", IS(COMMAND)},
    LAST,
};
static const struct lapse_rf batch_fields[] = {
    KEY,
    V("calls", u.batch.commands,
      LIST_OF(member_fields, struct lapse_command, lapse_command, u.batch.count)),
    LAST,
};
static const struct lapse_rf session_fields[] = {
    NAME,
    V("owner", u.session.owner, IS(BYTES)),
    V("for", u.session.span, IS(TIME)),
    LAST,
};
static const struct lapse_rf open_fields[] = {
    KEY,
    V("", u.open.config, IS(INLINE), OF(config_fields)),
    LAST,
};
static const struct lapse_rf watch_fields[] = {
    KEY,
    V("from", u.watch.from, IS(WORD), .words = from_words),
    V("rev", u.watch.revision, IS(I64)),
    V("watcher", u.watch.watcher, IS(I64)),
    V("events_max", u.watch.events_max, IS(SIZE)),
    LAST,
};
static const struct lapse_rf flush_fields[] = {
    KEY,
    V("used", u.flush.used, IS(TIME)),
    V("rev", u.flush.revision, IS(I64)),
    V("end", u.flush.end, IS(END)),
    LAST,
};
static const struct lapse_rf reap_fields[] = {
    KEY,
    V("rows", u.reap.rows_max, IS(SIZE)),
    LAST,
};
static const struct lapse_rf mark_fields[] = {KEY, LAST};
static const struct lapse_rf guarded_fields[] = {
    R("resource", resource, IS(RESOURCE), MUST),
    R("value", value, IS(BYTES)),
    R("token", token, IS(I64), IF(lapse_request, has_token)),
    R("not_after", not_after, IS(DATE), IF(lapse_request, has_not_after)),
    LAST,
};
static const struct lapse_rf work_fields[] = {
    R("for", work, IS(TIME)),
    LAST,
};

static const struct {
    int verb;
    const struct lapse_rf *fields;
} verbs[] = {
    {LAPSE_VERB_OPEN, open_fields},       {LAPSE_VERB_SET, write_fields},
    {LAPSE_VERB_CREATE, write_fields},    {LAPSE_VERB_UPDATE, write_fields},
    {LAPSE_VERB_GET, read_fields},        {LAPSE_VERB_ENTRY, read_fields},
    {LAPSE_VERB_HAS, read_fields},        {LAPSE_VERB_DELETE, write_fields},
    {LAPSE_VERB_PURGE, write_fields},     {LAPSE_VERB_EXPIRE, write_fields},
    {LAPSE_VERB_PERSIST, write_fields},   {LAPSE_VERB_LIST, page_fields},
    {LAPSE_VERB_ALL, page_fields},        {LAPSE_VERB_COUNT, page_fields},
    {LAPSE_VERB_ACQUIRE, lease_fields},   {LAPSE_VERB_EXTEND, lease_fields},
    {LAPSE_VERB_RELEASE, lease_fields},   {LAPSE_VERB_INSPECT, inspect_fields},
    {LAPSE_VERB_WATCH, watch_fields},     {LAPSE_VERB_UNWATCH, watch_fields},
    {LAPSE_VERB_POLL, watch_fields},      {LAPSE_VERB_REAP, reap_fields},
    {LAPSE_VERB_FLUSH, flush_fields},     {LAPSE_VERB_MARK, mark_fields},
    {LAPSE_VERB_HISTORY, page_fields},    {LAPSE_VERB_BATCH, batch_fields},
    {LAPSE_VERB_SESSION, session_fields}, {LAPSE_VERB_KEEPALIVE, session_fields},
    {LAPSE_VERB_CLOSE, session_fields},   {LAPSE_VERB_ALTER, open_fields},
    {LAPSE_CALL_WRITE, guarded_fields},   {LAPSE_CALL_READ, guarded_fields},
    {LAPSE_CALL_WORK, work_fields},
};

const struct lapse_rf *lapse_rf_of_verb(int verb) {
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (verbs[i].verb == verb) {
            return verbs[i].fields;
        }
    }
    return NULL;
}

int lapse_rf_verb_find(const char *word) {
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (strcmp(lapse_call_word(verbs[i].verb), word) == 0) {
            return verbs[i].verb;
        }
    }
    return 0;
}

const char *lapse_rf_verb_word(size_t index) {
    return index < sizeof(verbs) / sizeof(verbs[0]) ? lapse_call_word(verbs[index].verb) : NULL;
}
