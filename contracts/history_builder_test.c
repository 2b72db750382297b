/* The events of the stories that the rules' tests tell. */
#include "history_builder_test.h"

#include <string.h>

#include <criterion/criterion.h>

#include "contracts/rule.h"

static void check_broken(const struct builder *b, const char *wanted, const char *about,
                         const char *name);
static void broken_by(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event, bool whole,
                      struct lapse_violation *ret);
static struct lapse_reading reading(const struct builder *b);
static void append(struct builder *b, struct lapse_history_event *event);
static struct lapse_history_event event_by(const struct builder *b, enum lapse_history_kind kind,
                                           int32_t actor, int64_t call);

#define TEXT(text) \
    { (const unsigned char *)(text), sizeof(text) - 1 }

static const struct lapse_setup_bucket buckets[] = {
    {.name = TEXT("codes"), .config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {15 * MINUTE}}}},
    {.name = TEXT("plain")},
    {.name = TEXT("idle"), .config = {.term = {.given = LAPSE_TERM_IDLE, .idle = {30 * MINUTE}}}},
    {.name = TEXT("marked"),
     .config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {MINUTE}}, .markers = {60 * MINUTE}}},
    {.name = TEXT("locks"),
     .config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {30 * SECOND}}},
     .locks = true},
    {.name = TEXT("kept"), .config = {.markers = {60 * MINUTE}, .history = 3}},
};
static const struct lapse_setup_actor actors[] = {
    {.name = TEXT("w1")},
    {.name = TEXT("w2")},
    {.name = TEXT("c1"), .careful = true, .margin = {SECOND}},
};
static const struct lapse_setup_resource resources[] = {{.name = TEXT("report")}};
static const struct lapse_setup_loop loops[] = {
    {.actor = C1, .step = 3, .period = {SECOND}, .steady = true},
    {.actor = C1, .step = 4, .period = {SECOND}, .steady = true, .slack = {SECOND / 2}}};
static const struct lapse_bytes nodes[] = {TEXT("n1"), TEXT("n2")};

static const struct lapse_setup setup = {
    .scenario = TEXT("a story"),
    .durable = true,
    .sync = LAPSE_SYNC_FULL,
    .epoch = {INT64_C(946684800) * SECOND},
    .rate_ppb = 100000000, /* ten in a hundred, so that a forgotten rate shows */
    .reap_bound = {SECOND},
    .bucket_count = sizeof buckets / sizeof buckets[0],
    .resource_count = 1,
    .actor_count = sizeof actors / sizeof actors[0],
    .loop_count = 2,
    .node_count = 2,
    .buckets = buckets,
    .resources = resources,
    .actors = actors,
    .loops = loops,
    .nodes = nodes,
};

const struct lapse_setup *builder_setup(void) {
    return &setup;
}

void builder_open(struct builder *b) {
    builder_open_with(b, &setup);
}

void builder_open_with(struct builder *b, const struct lapse_setup *its) {
    *b = (struct builder){.loop = NO_LOOP};
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &b->history, NULL), LAPSE_OK);
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_BEGIN, -1, 0);
    event.u.begin = its;
    append(b, &event);
}

void builder_close(struct builder *b) {
    lapse_history_close(b->history);
}

int64_t invoke(struct builder *b, int32_t actor, struct lapse_request request) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_INVOKE, actor, ++b->calls);
    event.u.invoke.request = request;
    event.n = b->n;
    event.u.invoke.loop = b->loop;
    event.u.invoke.grant = b->grant;
    event.u.invoke.looked = b->looked;
    event.u.invoke.last_look.ns = b->last_look;
    append(b, &event);
    return b->calls;
}

void apply(struct builder *b, int64_t call, struct lapse_answer answer) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_APPLY, -1, call);
    event.u.apply.answer = answer;
    event.u.apply.durable_point = b->durable_point;
    append(b, &event);
}

void emit(struct builder *b, int64_t call, struct lapse_event made) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_EMIT, -1, call);
    event.u.emit.event = made;
    append(b, &event);
}

void reply(struct builder *b, int32_t actor, int64_t call, int verb, struct lapse_answer answer) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_REPLY, actor, call);
    event.u.reply.verb = verb;
    event.u.reply.sent = answer.status != LAPSE_TOO_LATE;
    event.u.reply.save_slot = -1;
    event.u.reply.grant = b->grant;
    event.u.reply.answer = answer;
    append(b, &event);
}

void probe(struct builder *b, enum lapse_probe_kind kind, const char *bucket, const char *name,
           int verb, struct lapse_answer answer) {
    struct lapse_probe_answer answers = {.verb = verb, .answer = answer};
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_PROBE, -1, 0);
    event.u.probe.kind = kind;
    event.u.probe.bucket = lapse_bytes_of(bucket);
    event.u.probe.name = lapse_bytes_of(name);
    event.u.probe.answer_count = 1;
    event.u.probe.answers = &answers;
    append(b, &event);
}

void deliver(struct builder *b, bool first, struct lapse_event handed) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_DELIVER, W2, 0);
    event.u.deliver.watcher = 1;
    event.u.deliver.first = first;
    event.u.deliver.event = handed;
    append(b, &event);
}

void resource(struct builder *b, int32_t actor, int64_t call, enum lapse_status status,
              int64_t token) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_RESOURCE, actor, call);
    event.u.resource.resource = REPORT;
    event.u.resource.verb = LAPSE_CALL_WRITE;
    event.u.resource.status = status;
    event.u.resource.has_token = true;
    event.u.resource.token = token;
    event.u.resource.value = lapse_bytes_of("v");
    append(b, &event);
}

void plain_event(struct builder *b, enum lapse_history_kind kind, int32_t actor) {
    struct lapse_history_event event = event_by(b, kind, actor, 0);
    append(b, &event);
}

void does_not_open(struct builder *b, enum lapse_status status) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_NOTE, -1, 0);
    event.u.note.text = lapse_bytes_of("n1 does not start");
    event.u.note.status = status;
    append(b, &event);
}

void client_fault(struct builder *b, enum lapse_fault_kind kind, int32_t actor) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_FAULT_BEGIN, actor, 0);
    event.u.fault.kind = kind;
    event.u.fault.node = -1;
    append(b, &event);
}

void end_client_fault(struct builder *b, enum lapse_fault_kind kind, int32_t actor) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_FAULT_END, actor, 0);
    event.u.fault.kind = kind;
    event.u.fault.node = -1;
    append(b, &event);
}

void cut(struct builder *b, enum lapse_history_kind kind, int32_t actor) {
    link_fault(b, kind, LAPSE_FAULT_CUT, actor);
}

void link_fault(struct builder *b, enum lapse_history_kind kind, enum lapse_fault_kind fault,
                int32_t actor) {
    struct lapse_history_event event = event_by(b, kind, -1, 0);
    event.u.fault.kind = fault;
    event.u.fault.node = -1;
    event.u.fault.both = true;
    event.u.fault.from = (struct lapse_party){LAPSE_PARTY_ACTOR, actor};
    event.u.fault.to = (struct lapse_party){LAPSE_PARTY_NODE, 0};
    append(b, &event);
}

void late_event(struct builder *b, int32_t actor, int64_t latency_ns) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_MESSAGE, actor, 0);
    event.u.message.from = (struct lapse_party){LAPSE_PARTY_NODE, 0};
    event.u.message.to = (struct lapse_party){LAPSE_PARTY_ACTOR, actor};
    event.u.message.fate = LAPSE_MESSAGE_LATE;
    event.u.message.latency.ns = latency_ns;
    append(b, &event);
}

void node_fault(struct builder *b, enum lapse_history_kind kind, enum lapse_fault_kind fault) {
    struct lapse_history_event event = event_by(b, kind, -1, 0);
    event.u.fault.kind = fault;
    append(b, &event);
}

void disk_fault(struct builder *b, enum lapse_disk_fault disk) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_FAULT_BEGIN, -1, 0);
    event.u.fault.kind = LAPSE_FAULT_DISK;
    event.u.fault.disk = disk;
    append(b, &event);
}

void wall_step(struct builder *b, int64_t by_ns) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_CLOCK, -1, 0);
    event.u.clock.whose = (struct lapse_party){LAPSE_PARTY_NODE, 0};
    event.u.clock.before = reading(b);
    event.u.clock.after = reading(b);
    event.u.clock.after.wall.ns += by_ns;
    append(b, &event);
}

void step(struct builder *b, size_t row_count) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_STEP, -1, 0);
    event.u.step.reading = reading(b);
    event.u.step.store.ns = b->at;
    event.u.step.row_count = row_count;
    append(b, &event);
}

void failed_step(struct builder *b) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_STEP, -1, 0);
    event.u.step.reading = reading(b);
    event.u.step.status = LAPSE_UNKNOWN;
    append(b, &event);
}

void tenure(struct builder *b, bool machine, int64_t store_ns) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_TENURE, -1, 0);
    event.u.tenure.machine = machine;
    event.u.tenure.reading = reading(b);
    event.u.tenure.store.ns = store_ns;
    append(b, &event);
}

void role(struct builder *b, int32_t node, enum lapse_role its, int64_t epoch, int64_t index,
          const char *digest) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_ROLE, -1, 0);
    event.u.role.node = node;
    event.u.role.role = its;
    event.u.role.epoch = epoch;
    event.u.role.index = index;
    event.u.role.digest = lapse_bytes_of(digest);
    append(b, &event);
}

void rows(struct builder *b, const char *bucket, int64_t count) {
    struct lapse_history_event event = event_by(b, LAPSE_HISTORY_PROBE, -1, 0);
    event.u.probe.kind = LAPSE_PROBE_ROWS;
    event.u.probe.bucket = lapse_bytes_of(bucket);
    event.u.probe.row_count = count;
    append(b, &event);
}

int64_t decide(struct builder *b, int32_t actor, struct lapse_request request,
               struct lapse_answer answer) {
    int64_t call = invoke(b, actor, request);
    apply(b, call, answer);
    return call;
}

int64_t accept(struct builder *b, int32_t actor, struct lapse_request request,
               struct lapse_answer answer) {
    enum lapse_event_kind kind = LAPSE_EVENT_PUT;
    if (request.verb == LAPSE_VERB_DELETE)
        kind = LAPSE_EVENT_DELETE;
    else if (request.verb == LAPSE_VERB_PURGE)
        kind = LAPSE_EVENT_PURGE;
    int64_t call = decide(b, actor, request, answer);
    emit(b, call, bucket_event(b, kind, &request.command, answer.revision));
    return call;
}

int64_t converse(struct builder *b, int32_t actor, struct lapse_request request,
                 struct lapse_answer answer) {
    int64_t call = decide(b, actor, request, answer);
    reply(b, actor, call, request.verb, answer);
    return call;
}

void put(struct builder *b, int32_t actor, const char *bucket, const char *key, const char *value,
         int64_t revision, int64_t end_ns) {
    accept(b, actor, put_call(LAPSE_VERB_SET, bucket, key, value), wrote(b, revision, end_ns));
}

void grant(struct builder *b, int32_t actor, const char *name, const char *owner, int64_t span_ns,
           int64_t token) {
    converse(b, actor, lease_call(LAPSE_VERB_ACQUIRE, name, owner, span_ns),
             holds_lease(b, owner, token, b->at + span_ns));
}

void list(struct builder *b, const char *bucket, size_t count, const struct lapse_item *items) {
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.item_count = count;
    answer.items = items;
    decide(b, W1, key_call(LAPSE_VERB_ALL, bucket, ""), answer);
}

void check_variants(const struct variant *variants, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct builder b;
        builder_open(&b);
        variants[i].story(&b);
        check_broken(&b, variants[i].id, variants[i].id, variants[i].name);
        builder_close(&b);
    }
}

void check_twists(const struct twist *twists, size_t count) {
    for (size_t i = 0; i < 2 * count; i++) {
        const struct twist *twist = &twists[i / 2];
        bool broken = i % 2 == 1;
        struct lapse_setup its = setup;
        struct builder b;
        its.sync = twist->sync;
        builder_open_with(&b, &its);
        twist->story(&b, broken);
        check_broken(&b, broken ? twist->id : NULL, twist->id, twist->name);
        builder_close(&b);
    }
}

size_t builder_first_broken(const struct builder *b, const char *about,
                            struct lapse_violation *ret) {
    struct lapse_trackers *trackers = NULL;
    bool whole = about != NULL && strcmp(about, BUILDER_WHOLE) == 0;
    size_t at = 0;
    cr_assert_eq(lapse_trackers_open(lapse_alloc_libc(), &trackers, NULL), LAPSE_OK);
    while (at < lapse_history_count(b->history) && ret->id == NULL) {
        const struct lapse_history_event *event = lapse_history_at(b->history, at++);
        cr_assert_eq(lapse_trackers_look(trackers, event), LAPSE_OK);
        broken_by(trackers, event, whole, ret);
        cr_assert_eq(lapse_trackers_absorb(trackers, event), LAPSE_OK);
    }
    lapse_trackers_close(trackers);
    return ret->id != NULL ? at : 0;
}

static void check_broken(const struct builder *b, const char *wanted, const char *about,
                         const char *name) {
    struct lapse_violation violation = {0};
    (void)builder_first_broken(b, about, &violation);
    const char *broken = violation.id != NULL ? violation.id : "nothing";
    wanted = wanted != NULL ? wanted : "nothing";
    cr_expect(lapse_bytes_equal(lapse_bytes_of(broken), lapse_bytes_of(wanted)),
              "%s: wanted %s, breaks %s: %s", name, wanted, broken, violation.message);
}

static void broken_by(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event, bool whole,
                      struct lapse_violation *ret) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct lapse_violation violation = {.id = rules[i].id};
        if (!whole && strcmp(rules[i].id, BUILDER_WHOLE) == 0) {
            continue;
        }
        if ((rules[i].kinds & LAPSE_RULE_KIND(event->kind)) != 0 &&
            rules[i].premise(trackers, event) && !rules[i].holds(trackers, event, &violation)) {
            *ret = violation;
            return;
        }
    }
}

static struct lapse_reading reading(const struct builder *b) {
    return (struct lapse_reading){
        .boot = 1, .raw_ns = b->at, .wall = {builder_setup()->epoch.ns + b->at}};
}

static void append(struct builder *b, struct lapse_history_event *event) {
    cr_assert_not_null(lapse_history_append(b->history, event));
}

static struct lapse_history_event event_by(const struct builder *b, enum lapse_history_kind kind,
                                           int32_t actor, int64_t call) {
    struct lapse_history_event event;
    memset(&event, 0, sizeof event); /* all of the union, not its first member alone */
    event.kind = kind;
    event.at.ns = b->at;
    event.actor = actor;
    event.incarnation = actor >= 0 ? 1 : 0;
    event.actor_steady.ns = actor >= 0 ? b->at : 0;
    event.call = call;
    event.step = -1;
    return event;
}
