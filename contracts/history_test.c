/* The history keeps what it was given, where it was given, and its digest tells any difference. */
#include "contracts/history.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* An allocator that fails from the n-th request for memory on. */
struct stingy {
    int left;
};

static void *stingy_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct stingy *stingy = ctx;
    if (new_bytes > 0 && stingy->left-- <= 0) {
        return NULL;
    }
    return lapse_alloc_libc()->resize(NULL, ptr, old_bytes, new_bytes);
}

static struct lapse_history *open_history(size_t events_max) {
    struct lapse_history *history = NULL;
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), events_max, &history, NULL), LAPSE_OK);
    return history;
}

static struct lapse_history_event event_of(enum lapse_history_kind kind) {
    return (struct lapse_history_event){.kind = kind, .actor = -1, .step = -1};
}

static uint64_t digest_of(const struct lapse_history_event *event) {
    struct lapse_history *history = open_history(0);
    cr_assert_not_null(lapse_history_append(history, event));
    uint64_t digest = lapse_history_digest(history);
    lapse_history_close(history);
    return digest;
}

/* Sets one member in a fresh event of a kind and expects another digest than without it. */
#define DIFFERS(kind_of_event, member, setting)                                          \
    do {                                                                                 \
        struct lapse_history_event plain = event_of(LAPSE_HISTORY_##kind_of_event);      \
        struct lapse_history_event other = plain;                                        \
        other.member = setting;                                                          \
        cr_assert_neq(digest_of(&plain), digest_of(&other), #kind_of_event " " #member); \
    } while (0)

Test(history, digest_covers_the_head_of_every_event) {
    DIFFERS(NOTE, at.ns, 1);
    DIFFERS(NOTE, actor, 1);
    DIFFERS(NOTE, incarnation, 1);
    DIFFERS(NOTE, actor_wall.ns, 1);
    DIFFERS(NOTE, actor_steady.ns, 1);
    DIFFERS(NOTE, call, 1);
    DIFFERS(NOTE, step, 1);
    DIFFERS(NOTE, n, 1);
    DIFFERS(NOTE, kind, LAPSE_HISTORY_STOPPED);
    DIFFERS(NOTE, u.note.text, lapse_bytes_of("x"));
    DIFFERS(NOTE, u.note.status, LAPSE_CORRUPT);
}

Test(history, digest_covers_calls_and_answers) {
    DIFFERS(INVOKE, u.invoke.request.verb, LAPSE_VERB_SET);
    DIFFERS(INVOKE, u.invoke.request.command.bucket, lapse_bytes_of("b"));
    DIFFERS(INVOKE, u.invoke.request.command.key, lapse_bytes_of("k"));
    DIFFERS(INVOKE, u.invoke.request.resource, 1);
    DIFFERS(INVOKE, u.invoke.request.value, lapse_bytes_of("v"));
    DIFFERS(INVOKE, u.invoke.request.has_token, true);
    DIFFERS(INVOKE, u.invoke.request.token, 1);
    DIFFERS(INVOKE, u.invoke.request.work.ns, 1);
    DIFFERS(INVOKE, u.invoke.grant.given, true);
    DIFFERS(INVOKE, u.invoke.grant.key_lock, true);
    DIFFERS(INVOKE, u.invoke.grant.name, lapse_bytes_of("n"));
    DIFFERS(INVOKE, u.invoke.grant.token, 1);
    DIFFERS(INVOKE, u.invoke.loop, 1);
    DIFFERS(INVOKE, u.invoke.due.ns, 1);
    DIFFERS(INVOKE, u.invoke.looked, true);
    DIFFERS(INVOKE, u.invoke.last_look.ns, 1);
    DIFFERS(APPLY, u.apply.node, 1);
    DIFFERS(APPLY, u.apply.reading.boot, 1);
    DIFFERS(APPLY, u.apply.reading.raw_ns, 1);
    DIFFERS(APPLY, u.apply.reading.wall.ns, 1);
    DIFFERS(APPLY, u.apply.durable_point, 1);
    DIFFERS(REPLY, u.reply.verb, LAPSE_VERB_GET);
    DIFFERS(REPLY, u.reply.sent, true);
    DIFFERS(REPLY, u.reply.save_slot, 1);
    DIFFERS(REPLY, u.reply.grant.token, 1);
    DIFFERS(REPLY, u.reply.answer.status, LAPSE_ABSENT);
    DIFFERS(REPLY, u.reply.answer.at.ns, 1);
    DIFFERS(REPLY, u.reply.answer.wall.ns, 1);
    DIFFERS(REPLY, u.reply.answer.revision, 1);
    DIFFERS(REPLY, u.reply.answer.end.kind, LAPSE_END_WALL);
    DIFFERS(REPLY, u.reply.answer.end.ns, 1);
    DIFFERS(REPLY, u.reply.answer.left.ns, 1);
    DIFFERS(REPLY, u.reply.answer.renewed, true);
    DIFFERS(REPLY, u.reply.answer.has_token, true);
    DIFFERS(REPLY, u.reply.answer.token, 1);
    DIFFERS(REPLY, u.reply.answer.watcher, 1);
    DIFFERS(REPLY, u.reply.answer.value, lapse_bytes_of("v"));
    DIFFERS(REPLY, u.reply.answer.owner, lapse_bytes_of("o"));
    DIFFERS(REPLY, u.reply.answer.item_count, 1);
    DIFFERS(REPLY, u.reply.answer.took.ns, 1);
    DIFFERS(REPLY, u.reply.answer.more, true);
    DIFFERS(REPLY, u.reply.answer.repeated, true);
    DIFFERS(INVOKE, u.invoke.request.command.request, lapse_bytes_of("r"));
}

/* Sets one member of a command of this verb, and expects another digest than without it; then the
 * same of the command as the only one of a batch. */
#define COMMAND_DIFFERS(the_verb, member, setting)                               \
    do {                                                                         \
        struct lapse_command plain = {.verb = LAPSE_VERB_##the_verb};            \
        struct lapse_command other = plain;                                      \
        other.member = setting;                                                  \
        cr_expect_neq(command_digest(&plain, false), command_digest(&other, false), \
                      #the_verb " " #member);                                    \
        cr_expect_neq(command_digest(&plain, true), command_digest(&other, true), \
                      #the_verb " " #member " in a batch");                      \
    } while (0)

static uint64_t command_digest(const struct lapse_command *command, bool in_batch) {
    struct lapse_history_event event = event_of(LAPSE_HISTORY_INVOKE);
    event.u.invoke.request.command = *command;
    if (in_batch) {
        event.u.invoke.request.command = (struct lapse_command){.verb = LAPSE_VERB_BATCH};
        event.u.invoke.request.command.u.batch.count = 1;
        event.u.invoke.request.command.u.batch.commands = command;
    }
    return digest_of(&event);
}

Test(history, digest_covers_commands_and_those_of_a_batch) {
    COMMAND_DIFFERS(SET, bucket, lapse_bytes_of("b"));
    COMMAND_DIFFERS(SET, key, lapse_bytes_of("k"));
    COMMAND_DIFFERS(SET, verb, LAPSE_VERB_CREATE);
    COMMAND_DIFFERS(SET, u.write.value, lapse_bytes_of("v"));
    COMMAND_DIFFERS(SET, u.write.has_if_version, true);
    COMMAND_DIFFERS(SET, u.write.if_version, 1);
    COMMAND_DIFFERS(SET, u.write.term.given, LAPSE_TERM_KEEP);
    COMMAND_DIFFERS(SET, u.write.term.ttl.ns, 1);
    COMMAND_DIFFERS(EXPIRE, u.write.term.idle.ns, 1);
    COMMAND_DIFFERS(EXPIRE, u.write.term.expires_at.ns, 1);
    COMMAND_DIFFERS(CREATE, u.write.term.cap.ns, 1);
    COMMAND_DIFFERS(UPDATE, u.write.term.session, lapse_bytes_of("s"));
    COMMAND_DIFFERS(ACQUIRE, u.lease.owner, lapse_bytes_of("o"));
    COMMAND_DIFFERS(ACQUIRE, u.lease.span.ns, 1);
    COMMAND_DIFFERS(ACQUIRE, u.lease.session, lapse_bytes_of("s"));
    COMMAND_DIFFERS(ACQUIRE, u.lease.durability, LAPSE_EPHEMERAL);
    COMMAND_DIFFERS(EXTEND, u.lease.has_token, true);
    COMMAND_DIFFERS(RELEASE, u.lease.token, 1);
    COMMAND_DIFFERS(SESSION, u.session.owner, lapse_bytes_of("o"));
    COMMAND_DIFFERS(KEEPALIVE, u.session.span.ns, 1);
    COMMAND_DIFFERS(GET, u.read.peek, true);
    COMMAND_DIFFERS(ENTRY, u.read.has_revision, true);
    COMMAND_DIFFERS(HAS, u.read.revision, 1);
    COMMAND_DIFFERS(LIST, u.page.has_after, true);
    COMMAND_DIFFERS(ALL, u.page.after, lapse_bytes_of("k"));
    COMMAND_DIFFERS(HISTORY, u.page.after, lapse_bytes_of("k"));
    COMMAND_DIFFERS(HISTORY, u.page.limit, 1);
    COMMAND_DIFFERS(OPEN, u.open.config.term.cap.ns, 1);
    COMMAND_DIFFERS(ALTER, u.open.config.history, 2);
    COMMAND_DIFFERS(WATCH, u.watch.from, LAPSE_WATCH_REVISION);
    COMMAND_DIFFERS(WATCH, u.watch.revision, 1);
}

/* Sets one member of a batch's only answer. */
#define BATCH_ANSWER_DIFFERS(member, setting)                                         \
    do {                                                                              \
        struct lapse_batch_answer plain = {.verb = LAPSE_VERB_SET}, other = plain;    \
        other.member = setting;                                                       \
        cr_expect_neq(batch_digest(&plain, 1), batch_digest(&other, 1), "%s", #member); \
    } while (0)

static uint64_t batch_digest(const struct lapse_batch_answer *answers, size_t count) {
    struct lapse_history_event event = event_of(LAPSE_HISTORY_APPLY);
    event.u.apply.answer.answer_count = count;
    event.u.apply.answer.answers = answers;
    return digest_of(&event);
}

Test(history, digest_covers_the_answers_of_a_batch) {
    static const struct lapse_batch_answer two[2];
    BATCH_ANSWER_DIFFERS(verb, LAPSE_VERB_CREATE);
    BATCH_ANSWER_DIFFERS(status, LAPSE_EXISTS);
    BATCH_ANSWER_DIFFERS(revision, 1);
    BATCH_ANSWER_DIFFERS(token, 1);
    BATCH_ANSWER_DIFFERS(end.kind, LAPSE_END_WALL);
    BATCH_ANSWER_DIFFERS(end.ns, 1);
    BATCH_ANSWER_DIFFERS(left.ns, 1);
    cr_assert_neq(batch_digest(two, 1), batch_digest(two, 2));
}

Test(history, digest_covers_what_the_world_does) {
    DIFFERS(EMIT, u.emit.node, 1);
    DIFFERS(EMIT, u.emit.event.kind, LAPSE_EVENT_PUT);
    DIFFERS(EMIT, u.emit.event.why, LAPSE_WHY_OWN);
    DIFFERS(EMIT, u.emit.event.value, lapse_bytes_of("v"));
    DIFFERS(EMIT, u.emit.event.revision, 1);
    DIFFERS(EMIT, u.emit.event.old_revision, 1);
    DIFFERS(EMIT, u.emit.event.at.ns, 1);
    DIFFERS(DELIVER, u.deliver.watch, 1);
    DIFFERS(DELIVER, u.deliver.watcher, 1);
    DIFFERS(DELIVER, u.deliver.first, true);
    DIFFERS(DELIVER, u.deliver.event.key, lapse_bytes_of("k"));
    DIFFERS(FAULT_BEGIN, u.fault.kind, LAPSE_FAULT_PAUSE);
    DIFFERS(FAULT_BEGIN, u.fault.node, 1);
    DIFFERS(FAULT_BEGIN, u.fault.machine, true);
    DIFFERS(STEP, u.step.reading.raw_ns, 1);
    DIFFERS(STEP, u.step.store.ns, 1);
    DIFFERS(STEP, u.step.row_count, 1);
    DIFFERS(FAULT_BEGIN, u.fault.task, 1);
    DIFFERS(FAULT_BEGIN, u.fault.from.kind, LAPSE_PARTY_ACTOR);
    DIFFERS(FAULT_BEGIN, u.fault.to.index, 1);
    DIFFERS(FAULT_BEGIN, u.fault.both, true);
    DIFFERS(FAULT_BEGIN, u.fault.disk, LAPSE_DISK_FULL);
    DIFFERS(FAULT_BEGIN, u.fault.keeps, true);
    DIFFERS(MESSAGE, u.message.from.kind, LAPSE_PARTY_ACTOR);
    DIFFERS(MESSAGE, u.message.to.index, 1);
    DIFFERS(MESSAGE, u.message.reply, true);
    DIFFERS(MESSAGE, u.message.fate, LAPSE_MESSAGE_LOST);
    DIFFERS(MESSAGE, u.message.latency.ns, 1);
    DIFFERS(MESSAGE, u.message.status, LAPSE_HELD);
    DIFFERS(CLOCK, u.clock.whose.kind, LAPSE_PARTY_NODE);
    DIFFERS(CLOCK, u.clock.whose.index, 1);
    DIFFERS(CLOCK, u.clock.mono_before.ns, 1);
    DIFFERS(CLOCK, u.clock.mono_after.ns, 1);
    DIFFERS(CLOCK, u.clock.rate_ppb, 1);
    DIFFERS(CLOCK, u.clock.stopped, true);
    DIFFERS(CLOCK, u.clock.tick_ns, 1);
    DIFFERS(CLOCK, u.clock.before.wall.ns, 1);
    DIFFERS(CLOCK, u.clock.after.wall.ns, 1);
}

Test(history, digest_covers_what_becomes_of_nodes_and_clients) {
    DIFFERS(TENURE, u.tenure.machine, true);
    DIFFERS(TENURE, u.tenure.reading.boot, 1);
    DIFFERS(TENURE, u.tenure.store.ns, 1);
    DIFFERS(TENURE, u.tenure.restored, LAPSE_RESTORED_OLD);
    DIFFERS(ROLE, u.role.node, 1);
    DIFFERS(ROLE, u.role.role, LAPSE_ROLE_LEADER);
    DIFFERS(ROLE, u.role.epoch, 1);
    DIFFERS(ROLE, u.role.index, 1);
    DIFFERS(ROLE, u.role.digest, lapse_bytes_of("d"));
    DIFFERS(PROBE, u.probe.row_count, 1);
    DIFFERS(FAULT_BEGIN, u.fault.has_until, true);
    DIFFERS(FAULT_BEGIN, u.fault.until.ns, 1);
    DIFFERS(BELIEF_BEGIN, u.belief.grant.name, lapse_bytes_of("n"));
    DIFFERS(BELIEF_END, u.belief.why, LAPSE_BELIEF_DENIED);
    DIFFERS(BELIEF_BEGIN, u.belief.has_deadline, true);
    DIFFERS(BELIEF_BEGIN, u.belief.deadline.ns, 1);
    DIFFERS(RESOURCE, u.resource.resource, 1);
    DIFFERS(RESOURCE, u.resource.verb, LAPSE_CALL_WRITE);
    DIFFERS(RESOURCE, u.resource.status, LAPSE_FENCED);
    DIFFERS(RESOURCE, u.resource.has_token, true);
    DIFFERS(RESOURCE, u.resource.token, 1);
    DIFFERS(RESOURCE, u.resource.value, lapse_bytes_of("v"));
    DIFFERS(RESOURCE, u.resource.has_highest, true);
    DIFFERS(RESOURCE, u.resource.highest, 1);
    DIFFERS(RESOURCE, u.resource.wall.ns, 1);
    DIFFERS(PROBE, u.probe.kind, LAPSE_PROBE_LEFT);
    DIFFERS(PROBE, u.probe.key_lock, true);
    DIFFERS(PROBE, u.probe.bucket, lapse_bytes_of("b"));
    DIFFERS(PROBE, u.probe.name, lapse_bytes_of("k"));
    DIFFERS(PROBE, u.probe.flag, true);
    DIFFERS(UNBOUND, u.unbound.slot, 1);
    DIFFERS(UNBOUND, u.unbound.why, 1);
    DIFFERS(UNBOUND, u.unbound.field, 1);
    DIFFERS(END, u.end.state_digest, 1);
    DIFFERS(END, u.end.cut, true);
}

/* As DIFFERS, of one member of the setup that BEGIN points to. */
#define SETUP_DIFFERS(member, setting)                                            \
    do {                                                                          \
        struct setup_parts plain, other;                                          \
        fill_setup(&plain);                                                       \
        fill_setup(&other);                                                       \
        other.member = setting;                                                   \
        cr_assert_neq(digest_of(&plain.event), digest_of(&other.event), #member); \
    } while (0)

struct setup_parts {
    struct lapse_setup setup;
    struct lapse_setup_bucket bucket;
    struct lapse_setup_resource resource;
    struct lapse_setup_actor actor;
    struct lapse_setup_loop loop;
    struct lapse_bytes node;
    struct lapse_history_event event;
};

static void fill_setup(struct setup_parts *parts) {
    *parts = (struct setup_parts){.event = event_of(LAPSE_HISTORY_BEGIN)};
    parts->setup = (struct lapse_setup){.bucket_count = 1,
                                        .resource_count = 1,
                                        .actor_count = 1,
                                        .loop_count = 1,
                                        .node_count = 1,
                                        .buckets = &parts->bucket,
                                        .resources = &parts->resource,
                                        .actors = &parts->actor,
                                        .loops = &parts->loop,
                                        .nodes = &parts->node};
    parts->event.u.begin = &parts->setup;
}

Test(history, digest_covers_the_setup) {
    SETUP_DIFFERS(setup.scenario, lapse_bytes_of("s"));
    SETUP_DIFFERS(setup.profile, lapse_bytes_of("strict"));
    SETUP_DIFFERS(setup.sync, (enum lapse_sync)1);
    SETUP_DIFFERS(setup.chaos, true);
    SETUP_DIFFERS(setup.durable, true);
    for (int policy = 0; policy < LAPSE_POLICIES; policy++)
        SETUP_DIFFERS(setup.policies.value[policy], 1);
    SETUP_DIFFERS(setup.epoch.ns, 1);
    SETUP_DIFFERS(setup.rate_ppb, 1);
    SETUP_DIFFERS(setup.wall_bound.ns, 1);
    SETUP_DIFFERS(setup.reap_bound.ns, 1);
    SETUP_DIFFERS(setup.bucket_count, 0);
    SETUP_DIFFERS(setup.resource_count, 0);
    SETUP_DIFFERS(setup.actor_count, 0);
    SETUP_DIFFERS(setup.loop_count, 0);
    SETUP_DIFFERS(setup.node_count, 0);
    SETUP_DIFFERS(bucket.name, lapse_bytes_of("b"));
    SETUP_DIFFERS(bucket.config.term.given, LAPSE_TERM_TTL);
    SETUP_DIFFERS(bucket.config.term.ttl.ns, 1);
    SETUP_DIFFERS(bucket.config.term.idle.ns, 1);
    SETUP_DIFFERS(bucket.config.term.expires_at.ns, 1);
    SETUP_DIFFERS(bucket.config.markers.ns, 1);
    SETUP_DIFFERS(bucket.config.term.cap.ns, 1);
    SETUP_DIFFERS(bucket.config.history, 2);
    SETUP_DIFFERS(bucket.locks, true);
    SETUP_DIFFERS(resource.name, lapse_bytes_of("r"));
    SETUP_DIFFERS(resource.fenced, true);
    SETUP_DIFFERS(resource.lease, lapse_bytes_of("l"));
    SETUP_DIFFERS(resource.bar, LAPSE_BAR_ENDS);
    SETUP_DIFFERS(resource.not_after, true);
    SETUP_DIFFERS(resource.once, true);
    SETUP_DIFFERS(actor.name, lapse_bytes_of("a"));
    SETUP_DIFFERS(actor.owner, lapse_bytes_of("o"));
    SETUP_DIFFERS(actor.careful, true);
    SETUP_DIFFERS(actor.margin.ns, 1);
    SETUP_DIFFERS(actor.timer_boot, true);
    SETUP_DIFFERS(actor.program, lapse_bytes_of("p"));
    SETUP_DIFFERS(loop.actor, 1);
    SETUP_DIFFERS(loop.step, 1);
    SETUP_DIFFERS(loop.gap, true);
    SETUP_DIFFERS(loop.period.ns, 1);
    SETUP_DIFFERS(loop.retry.ns, 1);
    SETUP_DIFFERS(loop.steady, true);
    SETUP_DIFFERS(loop.slack.ns, 1);
    SETUP_DIFFERS(node, lapse_bytes_of("n"));
}

Test(history, keeps_deep_copies_after_the_source_is_gone) {
    char text[] = "key-1 value-1";
    struct lapse_item item = {.key = {(unsigned char *)text, 5},
                              .value = {(unsigned char *)text + 6, 7},
                              .revision = 3};
    struct lapse_probe_answer tried = {
        LAPSE_VERB_ALL, {.item_count = 1, .items = &item, .value = {(unsigned char *)text, 3}}};
    int32_t who[] = {0, 2};
    struct lapse_event seen = {.kind = LAPSE_EVENT_PUT, .key = {(unsigned char *)text, 5}};
    struct lapse_history_event event = event_of(LAPSE_HISTORY_PROBE);
    event.u.probe = (struct lapse_probe){.kind = LAPSE_PROBE_GONE,
                                         .answer_count = 1,
                                         .answers = &tried,
                                         .who_count = 2,
                                         .who = who,
                                         .event_count = 1,
                                         .events = &seen};
    struct lapse_history *history = open_history(0);
    const struct lapse_history_event *stored = lapse_history_append(history, &event);
    memset(text, 'x', sizeof(text) - 1);
    memset(&item, 0, sizeof(item));
    memset(who, 0, sizeof(who));
    memset(&seen, 0, sizeof(seen));
    memset(&tried, 0, sizeof(tried));

    const struct lapse_probe *probe = &stored->u.probe;
    cr_assert(lapse_bytes_equal(probe->answers[0].answer.items[0].key, lapse_bytes_of("key-1")));
    cr_assert(
        lapse_bytes_equal(probe->answers[0].answer.items[0].value, lapse_bytes_of("value-1")));
    cr_assert_eq(probe->answers[0].answer.items[0].revision, 3);
    cr_assert(lapse_bytes_equal(probe->answers[0].answer.value, lapse_bytes_of("key")));
    cr_assert_eq(probe->who[1], 2);
    cr_assert(lapse_bytes_equal(probe->events[0].key, lapse_bytes_of("key-1")));
    lapse_history_close(history);
}

/* All that is borrowed by a batch, and by the commands in it. */
Test(history, keeps_deep_copies_of_a_batch_and_its_answers) {
    enum { COMMANDS = 6 };
    char text[] = "abcdefgh";
    struct lapse_bytes parts[8];
    for (size_t i = 0; i < 8; i++)
        parts[i] = (struct lapse_bytes){(unsigned char *)text + i, 1};
    struct lapse_command commands[COMMANDS] = {
        {.verb = LAPSE_VERB_SET, .bucket = parts[0], .key = parts[1]},
        {.verb = LAPSE_VERB_ACQUIRE, .key = parts[2]},
        {.verb = LAPSE_VERB_SESSION, .key = parts[3]},
        {.verb = LAPSE_VERB_ALL},
        {.verb = LAPSE_VERB_HISTORY},
        {.verb = LAPSE_VERB_GET, .key = parts[7]},
    };
    commands[0].u.write.value = parts[2];
    commands[0].u.write.term.session = parts[3];
    commands[1].u.lease.owner = parts[4];
    commands[1].u.lease.session = parts[5];
    commands[2].u.session.owner = parts[6];
    commands[3].u.page.after = parts[0];
    commands[4].u.page.after = parts[1];
    struct lapse_batch_answer answers[2] = {{.revision = 3}, {.token = 4}};
    struct lapse_history_event sent = event_of(LAPSE_HISTORY_INVOKE);
    sent.u.invoke.request.command.verb = LAPSE_VERB_BATCH;
    sent.u.invoke.request.command.request = parts[7];
    sent.u.invoke.request.command.u.batch.count = COMMANDS;
    sent.u.invoke.request.command.u.batch.commands = commands;
    struct lapse_history_event decided = event_of(LAPSE_HISTORY_APPLY);
    decided.u.apply.answer.answer_count = 2;
    decided.u.apply.answer.answers = answers;
    struct lapse_history *history = open_history(0);
    const struct lapse_history_event *invoke = lapse_history_append(history, &sent);
    const struct lapse_history_event *apply = lapse_history_append(history, &decided);
    memset(text, 'x', sizeof(text) - 1);
    memset(commands, 0, sizeof(commands));
    memset(answers, 0, sizeof(answers));

    const struct lapse_command *batch = &invoke->u.invoke.request.command;
    const struct lapse_command *kept = batch->u.batch.commands;
    const struct {
        struct lapse_bytes bytes;
        const char *wanted;
    } checks[] = {
        {batch->request, "h"},           {kept[0].bucket, "a"},
        {kept[0].key, "b"},              {kept[0].u.write.value, "c"},
        {kept[0].u.write.term.session, "d"}, {kept[1].key, "c"},
        {kept[1].u.lease.owner, "e"},    {kept[1].u.lease.session, "f"},
        {kept[2].key, "d"},              {kept[2].u.session.owner, "g"},
        {kept[3].u.page.after, "a"},     {kept[4].u.page.after, "b"},
        {kept[5].key, "h"},
    };
    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
        cr_expect(lapse_bytes_equal(checks[i].bytes, lapse_bytes_of(checks[i].wanted)), "%zu", i);
    cr_assert_eq(apply->u.apply.answer.answers[0].revision, 3);
    cr_assert_eq(apply->u.apply.answer.answers[1].token, 4);
    lapse_history_close(history);
}

Test(history, cut_back_goes_on_as_if_the_rest_had_never_been) {
    struct lapse_history *history = open_history(0);
    unsigned char text[900];
    memset(text, 'a', sizeof(text));
    struct lapse_history_event event = event_of(LAPSE_HISTORY_NOTE);
    event.u.note.text = (struct lapse_bytes){text, sizeof(text)};
    for (int i = 0; i < 40; i++) {
        event.at.ns = i;
        (void)lapse_history_append(history, &event);
    }
    const struct lapse_history_event *kept = lapse_history_at(history, 39);
    struct lapse_history_mark mark = lapse_history_mark(history);
    uint64_t digests[2];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 90; i++) {
            event.at.ns = 100 + i;
            cr_assert_eq(lapse_history_append(history, &event)->seq, 40 + i);
        }
        digests[round] = lapse_history_digest(history);
        cr_assert_eq(lapse_history_count(history), 130);
        lapse_history_cut(history, &mark);
        cr_assert_eq(lapse_history_count(history), 40);
        cr_assert_eq(lapse_history_at(history, 39), kept);
        cr_assert_eq(kept->u.note.text.data[899], 'a');
    }
    cr_assert_eq(digests[0], digests[1]);
    cr_assert_neq(digests[0], lapse_history_digest(history));
    lapse_history_close(history);
}

Test(history, past_its_bound_it_says_so_once) {
    struct lapse_history *history = open_history(2);
    struct lapse_history_event event = event_of(LAPSE_HISTORY_STOPPED);
    (void)lapse_history_append(history, &event);
    struct lapse_history_mark mark = lapse_history_mark(history);
    cr_assert_eq(lapse_history_append(history, &event)->kind, LAPSE_HISTORY_STOPPED);
    event.at.ns = 7;
    const struct lapse_history_event *last = lapse_history_append(history, &event);
    cr_assert_eq(last->kind, LAPSE_HISTORY_TRUNCATED);
    cr_assert_eq(last->at.ns, 7);
    cr_assert_eq(lapse_history_append(history, &event), last);
    cr_assert_eq(lapse_history_count(history), 3);
    lapse_history_cut(history, &mark);
    cr_assert_eq(lapse_history_append(history, &event)->kind, LAPSE_HISTORY_STOPPED);
    lapse_history_close(history);
}

/* The bound on bytes holds where that on events is far away; a cut takes the bytes back. */
Test(history, past_its_bytes_it_says_so_too) {
    enum { BYTES = 32 * 1024 * 1024, BOUND = 128 * 1024 * 1024 };
    unsigned char *large = calloc(1, BYTES);
    cr_assert_not_null(large);
    struct lapse_history *history = open_history(0);
    struct lapse_history_event event = event_of(LAPSE_HISTORY_NOTE);
    event.u.note.text = (struct lapse_bytes){large, BYTES};
    struct lapse_history_mark mark = lapse_history_mark(history);
    int kept = 0;
    while (kept < 100 && lapse_history_append(history, &event)->kind == LAPSE_HISTORY_NOTE) {
        mark = kept == 0 ? lapse_history_mark(history) : mark;
        kept++;
    }
    cr_assert_eq(kept, BOUND / BYTES, "the event that reaches the bound is the last");
    cr_assert_eq(lapse_history_at(history, (size_t)kept)->kind, LAPSE_HISTORY_TRUNCATED);
    cr_assert_eq(lapse_history_count(history), (size_t)kept + 1);
    lapse_history_cut(history, &mark);
    event.u.note.text = lapse_bytes_of("small");
    cr_assert_eq(lapse_history_append(history, &event)->kind, LAPSE_HISTORY_NOTE);
    lapse_history_close(history);
    free(large);
}

Test(history, append_without_memory_changes_nothing) {
    struct lapse_history_event event = event_of(LAPSE_HISTORY_NOTE);
    event.u.note.text = lapse_bytes_of("a note");
    bool went_through = false;
    for (int allowed = 0; !went_through; allowed++) {
        struct stingy stingy = {allowed};
        lapse_alloc alloc = {stingy_resize, &stingy};
        struct lapse_history *history = NULL;
        if (lapse_history_open(&alloc, 0, &history, NULL) != LAPSE_OK) {
            continue;
        }
        uint64_t before = lapse_history_digest(history);
        went_through = lapse_history_append(history, &event) != NULL;
        cr_assert(went_through || lapse_history_digest(history) == before);
        cr_assert_eq(lapse_history_count(history), went_through ? 1 : 0);
        lapse_history_close(history);
        cr_assert_lt(allowed, 10);
    }
}

Test(history, every_kind_has_its_word) {
    for (int kind = 0; kind < LAPSE_HISTORY_KINDS; kind++) {
        if (kind == 20 || kind == 22) {
            continue; /* kept for later */
        }
        cr_assert_str_neq(lapse_history_kind_word((enum lapse_history_kind)kind), "?");
    }
    cr_assert_str_eq(lapse_history_kind_word(LAPSE_HISTORY_END), "end");
    cr_assert_str_eq(lapse_call_word(LAPSE_VERB_ACQUIRE), "acquire");
    cr_assert_str_eq(lapse_call_word(LAPSE_CALL_WORK), "work");
    cr_assert_str_eq(lapse_fault_word(LAPSE_FAULT_CRASH), "crash");
}
