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
    DIFFERS(CLOCK, u.clock.node, 1);
    DIFFERS(CLOCK, u.clock.before.wall.ns, 1);
    DIFFERS(CLOCK, u.clock.after.wall.ns, 1);
    DIFFERS(TENURE, u.tenure.machine, true);
    DIFFERS(TENURE, u.tenure.reading.boot, 1);
    DIFFERS(TENURE, u.tenure.store.ns, 1);
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
    SETUP_DIFFERS(bucket.locks, true);
    SETUP_DIFFERS(resource.name, lapse_bytes_of("r"));
    SETUP_DIFFERS(resource.fenced, true);
    SETUP_DIFFERS(actor.name, lapse_bytes_of("a"));
    SETUP_DIFFERS(actor.owner, lapse_bytes_of("o"));
    SETUP_DIFFERS(actor.careful, true);
    SETUP_DIFFERS(actor.margin.ns, 1);
    SETUP_DIFFERS(actor.timer_boot, true);
    SETUP_DIFFERS(loop.actor, 1);
    SETUP_DIFFERS(loop.step, 1);
    SETUP_DIFFERS(loop.gap, true);
    SETUP_DIFFERS(loop.period.ns, 1);
    SETUP_DIFFERS(loop.retry.ns, 1);
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
