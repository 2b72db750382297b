/* The text of events: whatever a call carries is shown, also inside a batch, and so are a store's
 * starts, clocks and housekeeping. */
#include <criterion/criterion.h>

#include "draw.h"

#define S LAPSE_NS_PER_S
#define TEXT(text) \
    { (const unsigned char *)(text), sizeof(text) - 1 }
#define EPOCH (INT64_C(946684800) * S)

static const struct lapse_bytes nodes[] = {TEXT("n1")};
static const struct lapse_setup setup = {.node_count = 1, .nodes = nodes};
static const struct lapse_case the_case = {.setup = &setup};
static const struct lapse_result_view view = {.the_case = &the_case};

static void expect_body(const struct lapse_history_event *event, const char *wanted) {
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_event_body_draw(&out, &view, event);
    cr_assert_not(out.failed);
    cr_expect_str_eq(out.text != NULL ? out.text : "", wanted);
    lapse_out_free(&out);
}

static struct lapse_command key_call(enum lapse_verb verb, const char *key) {
    return (struct lapse_command){
        .verb = verb, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of(key)};
}

static void expect_call(const struct lapse_command *command, const char *wanted) {
    struct lapse_history_event event = {.kind = LAPSE_HISTORY_INVOKE, .actor = -1, .step = -1};
    event.u.invoke.request.verb = (int)command->verb;
    event.u.invoke.request.command = *command;
    expect_body(&event, wanted);
}

Test(events, show_all_that_a_call_carries) {
    struct lapse_command set = key_call(LAPSE_VERB_SET, "k");
    set.request = lapse_bytes_of("r1");
    set.u.write.value = lapse_bytes_of("v");
    set.u.write.term.given = LAPSE_TERM_IDLE;
    set.u.write.term.idle.ns = 20 * S;
    set.u.write.term.cap.ns = 60 * S;
    set.u.write.has_if_version = true;
    set.u.write.if_version = 3;
    expect_call(&set, "set b/k value v idle 20s cap 1m if_version 3 id r1");
    struct lapse_command expire = key_call(LAPSE_VERB_EXPIRE, "k");
    expire.u.write.term.given = LAPSE_TERM_SESSION;
    expire.u.write.term.session = lapse_bytes_of("s");
    expect_call(&expire, "expire b/k session s");
    expire.u.write.term.given = LAPSE_TERM_EXPIRES_AT;
    expire.u.write.term.expires_at.ns = EPOCH;
    expect_call(&expire, "expire b/k expires_at 2000-01-01T00:00:00Z");
    set = key_call(LAPSE_VERB_SET, "k");
    set.u.write.term.given = LAPSE_TERM_KEEP;
    expect_call(&set, "set b/k value  term keep");
    struct lapse_command get = key_call(LAPSE_VERB_GET, "k");
    get.u.read.peek = true;
    expect_call(&get, "get b/k peek");
    get.u.read.peek = false;
    get.u.read.has_revision = true;
    get.u.read.revision = 2;
    expect_call(&get, "get b/k rev 2");
    struct lapse_command all = key_call(LAPSE_VERB_ALL, "");
    all.u.page.has_after = true;
    all.u.page.after = lapse_bytes_of("k");
    all.u.page.limit = 5;
    expect_call(&all, "all b after k limit 5");
    struct lapse_command alter = key_call(LAPSE_VERB_ALTER, "");
    alter.u.open.config.term.given = LAPSE_TERM_TTL;
    alter.u.open.config.term.ttl.ns = 60 * S;
    alter.u.open.config.markers.ns = 3600 * S;
    alter.u.open.config.history = 5;
    expect_call(&alter, "alter b ttl 1m markers 1h history 5");
}

Test(events, show_sessions_ephemeral_leases_and_batches) {
    struct lapse_command open = {.verb = LAPSE_VERB_SESSION, .key = lapse_bytes_of("s")};
    open.u.session.owner = lapse_bytes_of("w1");
    open.u.session.span.ns = 30 * S;
    expect_call(&open, "session s owner w1 for 30s");
    struct lapse_command close = open;
    close.verb = LAPSE_VERB_CLOSE;
    close.u.session.span.ns = 0;
    expect_call(&close, "close s owner w1");
    struct lapse_command acquire = {.verb = LAPSE_VERB_ACQUIRE, .key = lapse_bytes_of("job")};
    acquire.u.lease.owner = lapse_bytes_of("w1");
    acquire.u.lease.session = lapse_bytes_of("s");
    expect_call(&acquire, "acquire job owner w1 session s");
    acquire.u.lease.session.len = 0;
    acquire.u.lease.span.ns = S;
    acquire.u.lease.durability = LAPSE_EPHEMERAL;
    expect_call(&acquire, "acquire job owner w1 for 1s ephemeral");
    const struct lapse_command members[] = {key_call(LAPSE_VERB_DELETE, "k"), acquire, open};
    struct lapse_command batch = {.verb = LAPSE_VERB_BATCH, .request = lapse_bytes_of("r2")};
    batch.u.batch.count = 3;
    batch.u.batch.commands = members;
    expect_call(&batch, "batch delete b/k, acquire job owner w1 for 1s ephemeral, "
                        "session s owner w1 for 30s id r2");
}

Test(events, show_all_that_an_answer_carries) {
    const struct lapse_batch_answer answers[] = {
        {.verb = LAPSE_VERB_SET, .status = LAPSE_OK, .revision = 4},
        {.verb = LAPSE_VERB_ACQUIRE, .status = LAPSE_OK, .token = 7},
        {.verb = LAPSE_VERB_CREATE, .status = LAPSE_EXISTS},
    };
    const struct lapse_item items[] = {
        {.key = lapse_bytes_of("k"), .value = lapse_bytes_of("old"), .revision = 1},
        {.key = lapse_bytes_of("k"), .value = lapse_bytes_of("new"), .revision = 2},
    };
    const struct {
        int verb;
        struct lapse_answer answer;
        const char *wanted;
    } cases[] = {
        {LAPSE_VERB_BATCH,
         {.status = LAPSE_CONFLICT, .answer_count = 3, .answers = answers},
         "batch: conflict: ok rev 4, granted token 7, exists"},
        {LAPSE_VERB_HISTORY,
         {.status = LAPSE_OK, .item_count = 2, .items = items, .more = true},
         "history: ok 2: old new and more"},
        {LAPSE_VERB_ALL,
         {.status = LAPSE_OK, .item_count = 1, .items = items},
         "all: ok 1: k"},
        {LAPSE_VERB_SET,
         {.status = LAPSE_OK, .revision = 3, .repeated = true},
         "set: ok rev 3 (as before)"},
        {LAPSE_VERB_SESSION,
         {.status = LAPSE_OK, .has_token = true, .token = 2, .renewed = true},
         "session: ok token 2 (held already)"},
        {LAPSE_VERB_GET,
         {.status = LAPSE_OK,
          .value = lapse_bytes_of("v"),
          .revision = 1,
          .end = {LAPSE_END_STEADY, 20 * S},
          .left = {5 * S},
          .renewed = true},
         "get: value v rev 1 end 20s left 5s (renewed)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct lapse_history_event event = {.kind = LAPSE_HISTORY_REPLY, .actor = -1, .step = -1};
        event.u.reply.verb = cases[i].verb;
        event.u.reply.sent = true;
        event.u.reply.answer = cases[i].answer;
        expect_body(&event, cases[i].wanted);
    }
}

static struct lapse_history_event of_node(enum lapse_history_kind kind) {
    return (struct lapse_history_event){.kind = kind, .actor = -1, .step = -1};
}

Test(events, show_what_a_store_does_by_itself) {
    struct lapse_history_event event = of_node(LAPSE_HISTORY_STEP);
    event.u.step.store.ns = 3 * S;
    event.u.step.row_count = 1;
    expect_body(&event, "store 3s, 1 row removed");
    event.u.step.row_count = 2;
    expect_body(&event, "store 3s, 2 rows removed");
    event = of_node(LAPSE_HISTORY_CLOCK);
    event.u.clock.whose = (struct lapse_party){LAPSE_PARTY_NODE, 0};
    event.u.clock.before.wall.ns = EPOCH;
    event.u.clock.after.wall.ns = EPOCH + 3600 * S;
    expect_body(&event, "n1: 2000-01-01T00:00:00Z is set to 2000-01-01T01:00:00Z");
    event.u.clock.after = event.u.clock.before;
    expect_body(&event, "n1: 2000-01-01T00:00:00Z, rate +0ppm");
    event.u.clock.rate_ppb = -200000;
    event.u.clock.stopped = true;
    event.u.clock.tick_ns = 1000000;
    event.u.clock.after.raw_ns = 500 * S;
    expect_body(&event, "n1: 2000-01-01T00:00:00Z, raw 8m20s, rate -200ppm, monotonic and boot "
                        "stand still, ticks of 1ms");
    event = of_node(LAPSE_HISTORY_TENURE);
    event.u.tenure.store.ns = 61 * S;
    event.u.tenure.reading.wall.ns = EPOCH;
    expect_body(&event, "n1: opens, store 1m1s, wall 2000-01-01T00:00:00Z");
    event.u.tenure.machine = true;
    expect_body(&event, "n1: opens on another boot, store 1m1s, wall 2000-01-01T00:00:00Z");
    event = of_node(LAPSE_HISTORY_ROLE);
    expect_body(&event, "n1: follows");
    event.u.role.role = LAPSE_ROLE_LEADER;
    event.u.role.epoch = 2;
    event.u.role.index = 17;
    event.u.role.digest = lapse_bytes_of("c0de");
    expect_body(&event, "n1: leads, epoch 2, index 17, state c0de");
    event = of_node(LAPSE_HISTORY_FAULT_BEGIN);
    event.u.fault.kind = LAPSE_FAULT_CRASH;
    event.u.fault.machine = true;
    event.u.fault.has_until = true;
    event.u.fault.until.ns = 9 * S;
    expect_body(&event, "crash of n1 with its machine until 9s");
    event.u.fault.kind = LAPSE_FAULT_SUSPEND;
    event.u.fault.machine = event.u.fault.has_until = false;
    expect_body(&event, "suspend of n1");
    event = of_node(LAPSE_HISTORY_EMIT);
    event.u.emit.event = (struct lapse_event){.kind = LAPSE_EVENT_EXPIRED,
                                              .why = LAPSE_WHY_SESSION,
                                              .bucket = lapse_bytes_of("b"),
                                              .key = lapse_bytes_of("k"),
                                              .revision = 3};
    expect_body(&event, "expired b/k rev 3 (session)");
    event = of_node(LAPSE_HISTORY_PROBE);
    event.u.probe = (struct lapse_probe){
        .kind = LAPSE_PROBE_ROWS, .bucket = lapse_bytes_of("b"), .row_count = 2};
    expect_body(&event, "b/: 2");
}
