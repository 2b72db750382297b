/* What a name gives, and which places take it: a step that would send something else is not sent.
 */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

/* One client saves a lease's grant in slot 0, a value in 1, an entry without a term in 2, an entry
 * with a date in 3; then `line`, then one more call. Slot 4 stays unbound. */
struct saved {
    struct sketch sketch;
    int32_t actor, task, bucket;
};

static struct lapse_plan_step *save(struct saved *saved, struct lapse_plan_step *step,
                                    int32_t slot) {
    step->has_save = true;
    step->save.base = slot;
    sketch_line(&saved->sketch, saved->task, step);
    return step;
}

static void begin(struct saved *saved) {
    struct sketch *sketch = &saved->sketch;
    sketch_begin(sketch);
    saved->actor = sketch_actor(sketch, "a", false);
    saved->bucket = sketch_bucket(sketch, "b", 0, false);
    saved->task = sketch_task(sketch, saved->actor, false);
    (void)sketch_resource(sketch, "r", true);
    sketch->plan.the_case.slot_count = 5;
    int32_t a = saved->actor, b = saved->bucket;
    (void)save(saved, sketch_acquire(sketch, a, "l", S(30), -1), 0);
    sketch_line(sketch, saved->task, sketch_call(sketch, a, LAPSE_VERB_SET, b, "k"));
    struct lapse_plan_step *dated = sketch_call(sketch, a, LAPSE_VERB_SET, b, "d");
    dated->u.call.expires_at = sketch_number(LAPSE_OPERAND_NOW, S(60));
    sketch_line(sketch, saved->task, dated);
    (void)save(saved, sketch_call(sketch, a, LAPSE_VERB_GET, b, "k"), 1);
    (void)save(saved, sketch_call(sketch, a, LAPSE_VERB_ENTRY, b, "k"), 2);
    (void)save(saved, sketch_call(sketch, a, LAPSE_VERB_ENTRY, b, "d"), 3);
}

/* Where the name stands in the line. */
enum place { TTL, IDLE, DATE, VERSION, TOKEN, FENCE, SPAN, WORK, KEY, VALUE, NAME, SEEN, WAITED };

static struct lapse_text text_of(struct sketch *sketch, struct lapse_slot_ref ref) {
    struct lapse_text_part *part = &sketch->parts[sketch->part_count++];
    *part = (struct lapse_text_part){.kind = LAPSE_PART_SLOT, .slot = ref};
    return (struct lapse_text){1, part};
}

static struct lapse_plan_step *line(struct saved *saved, enum place place,
                                    struct lapse_operand operand) {
    struct sketch *sketch = &saved->sketch;
    int32_t a = saved->actor;
    struct lapse_plan_step *step = NULL;
    if (place == SEEN) {
        step = sketch_probe(sketch, LAPSE_PROBE_HOLDER, -1, "", S(1));
        step->u.probe.name = text_of(sketch, operand.slot);
        return step;
    }
    if (place == WORK || place == WAITED) {
        step = sketch_step(sketch, place == WORK ? LAPSE_STEP_WORK : LAPSE_STEP_AWAIT, a);
    } else if (place == SPAN || place == NAME) {
        step = sketch_acquire(sketch, a, "m", S(9), -1);
    } else if (place == TOKEN) {
        step = sketch_extend(sketch, a, "l", S(9), 0);
    } else if (place == FENCE) {
        step = sketch_write(sketch, a, 0, 0);
    } else {
        step = sketch_call(sketch, a, LAPSE_VERB_SET, saved->bucket, "x");
    }
    switch (place) {
    case TTL:
        step->u.call.ttl = operand;
        break;
    case IDLE:
        step->u.call.idle = operand;
        break;
    case DATE:
        step->u.call.expires_at = operand;
        break;
    case VERSION:
        step->u.call.if_version = operand;
        break;
    case TOKEN:
    case FENCE:
        step->u.call.token = operand;
        break;
    case SPAN:
        step->u.call.span = operand;
        break;
    case WORK:
        step->u.work = operand;
        break;
    case VALUE:
        step->u.call.value = text_of(sketch, operand.slot);
        break;
    case WAITED:
        step->u.await.kind = LAPSE_AWAIT_EVENT;
        step->u.await.event = LAPSE_EVENT_PUT;
        step->u.await.bucket = saved->bucket;
        step->u.await.key = text_of(sketch, operand.slot);
        break;
    default:
        step->u.call.key = text_of(sketch, operand.slot);
        break;
    }
    sketch_line(sketch, saved->task, step);
    return step;
}

static const struct {
    enum place place;
    int32_t slot;
    enum lapse_field field;
    int64_t plus;
    int why; /* -1: it is sent */
} cases[] = {
    /* Names that are not bound, in each kind of line. */
    {TTL, 4, LAPSE_FIELD_DEFAULT, 0, LAPSE_UNBOUND_NAME},
    {WORK, 4, LAPSE_FIELD_DEFAULT, 0, LAPSE_UNBOUND_NAME},
    {KEY, 4, LAPSE_FIELD_OWNER, 0, LAPSE_UNBOUND_NAME},
    {SEEN, 4, LAPSE_FIELD_DEFAULT, 0, LAPSE_UNBOUND_NAME},
    {WAITED, 4, LAPSE_FIELD_DEFAULT, 0, LAPSE_UNBOUND_NAME},
    /* Fields that the saved reply lacks. */
    {TTL, 1, LAPSE_FIELD_TOKEN, 0, LAPSE_UNBOUND_FIELD},
    {TTL, 2, LAPSE_FIELD_LEFT, 0, LAPSE_UNBOUND_FIELD},
    {DATE, 2, LAPSE_FIELD_END, 0, LAPSE_UNBOUND_FIELD},
    {VERSION, 0, LAPSE_FIELD_REV, 0, LAPSE_UNBOUND_FIELD},
    {TOKEN, 0, LAPSE_FIELD_COUNT, 0, LAPSE_UNBOUND_FIELD},
    {FENCE, 1, LAPSE_FIELD_TOKEN, 0, LAPSE_UNBOUND_FIELD},
    {SPAN, 3, LAPSE_FIELD_KEYS, 0, LAPSE_UNBOUND_FIELD},
    {WORK, 2, LAPSE_FIELD_LEFT, 0, LAPSE_UNBOUND_FIELD},
    {KEY, 0, LAPSE_FIELD_VALUE, 0, LAPSE_UNBOUND_FIELD},
    {VALUE, 1, LAPSE_FIELD_OWNER, 0, LAPSE_UNBOUND_FIELD},
    {NAME, 1, LAPSE_FIELD_TOKEN, 0, LAPSE_UNBOUND_FIELD},
    {SEEN, 1, LAPSE_FIELD_OWNER, 0, LAPSE_UNBOUND_FIELD},
    {WAITED, 1, LAPSE_FIELD_OWNER, 0, LAPSE_UNBOUND_FIELD},
    /* Values of another kind than the place takes. */
    {DATE, 0, LAPSE_FIELD_END, 0, LAPSE_UNBOUND_KIND},
    {DATE, 0, LAPSE_FIELD_END, S(1), LAPSE_UNBOUND_KIND},
    {DATE, 1, LAPSE_FIELD_DEFAULT, S(1), LAPSE_UNBOUND_KIND},
    {TTL, 3, LAPSE_FIELD_END, 0, LAPSE_UNBOUND_KIND},
    {IDLE, 0, LAPSE_FIELD_TOKEN, 0, LAPSE_UNBOUND_KIND},
    {VERSION, 1, LAPSE_FIELD_DEFAULT, 0, LAPSE_UNBOUND_KIND},
    {VERSION, 0, LAPSE_FIELD_LEFT, 0, LAPSE_UNBOUND_KIND},
    {TOKEN, 0, LAPSE_FIELD_OWNER, 0, LAPSE_UNBOUND_KIND},
    {FENCE, 0, LAPSE_FIELD_END, 0, LAPSE_UNBOUND_KIND},
    {SPAN, 0, LAPSE_FIELD_DEFAULT, 0, LAPSE_UNBOUND_KIND},
    {WORK, 0, LAPSE_FIELD_DEFAULT, 0, LAPSE_UNBOUND_KIND},
    /* And what fits. */
    {TTL, 0, LAPSE_FIELD_LEFT, 0, -1},
    {DATE, 3, LAPSE_FIELD_END, S(1), -1},
    {VERSION, 2, LAPSE_FIELD_DEFAULT, 0, -1},
    {TOKEN, 0, LAPSE_FIELD_DEFAULT, 0, -1},
    {SPAN, 0, LAPSE_FIELD_END, -S(1), -1},
    {WORK, 0, LAPSE_FIELD_LEFT, -S(1), -1},
    {KEY, 0, LAPSE_FIELD_END, 0, -1},
    {VALUE, 0, LAPSE_FIELD_OWNER, 0, -1},
};

Test(request, what_a_name_cannot_give_is_not_sent_and_the_task_goes_on) {
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct saved saved;
        begin(&saved);
        struct lapse_operand operand = sketch_slot(cases[i].slot);
        operand.slot.field = cases[i].field;
        operand.number = cases[i].plus;
        struct lapse_plan_step *step = line(&saved, cases[i].place, operand);
        struct lapse_plan_step *after =
            sketch_call(&saved.sketch, saved.actor, LAPSE_VERB_SET, saved.bucket, "after");
        sketch_line(&saved.sketch, saved.task, after);
        struct stage stage = stage_run(&saved.sketch);
        int32_t number = sketch_number_of(&saved.sketch, step);
        const struct lapse_history_event *unbound =
            stage_find(&stage, LAPSE_HISTORY_UNBOUND, number, 0);
        cr_assert_eq(unbound != NULL, cases[i].why >= 0, "case %zu", i);
        if (unbound != NULL) {
            cr_assert_eq(unbound->u.unbound.why, cases[i].why, "case %zu", i);
            cr_assert_eq(unbound->u.unbound.slot, cases[i].slot, "case %zu", i);
            cr_assert_eq(unbound->u.unbound.field, (int)cases[i].field, "case %zu", i);
            cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, number), 0, "case %zu", i);
            cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_PROBE, number), 0, "case %zu", i);
        }
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_INVOKE, number), unbound == NULL ? 1 : 0,
                     "case %zu", i);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_WAITING, -1), 0, "case %zu", i);
        cr_assert_not_null(
            stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(&saved.sketch, after), 0),
            "case %zu", i);
        stage_close(&stage);
    }
}

/* Each word that a call may carry, and what of the command it becomes. */
Test(request, every_word_of_a_call_reaches_the_command) {
    static struct saved saved;
    begin(&saved);
    struct sketch *sketch = &saved.sketch;
    int32_t a = saved.actor, b = saved.bucket;
    static const int verbs[] = {LAPSE_VERB_SET,       LAPSE_VERB_GET,     LAPSE_VERB_LIST,
                                LAPSE_VERB_HISTORY,   LAPSE_VERB_ACQUIRE, LAPSE_VERB_SESSION,
                                LAPSE_VERB_KEEPALIVE, LAPSE_VERB_CLOSE,   LAPSE_VERB_ALTER,
                                LAPSE_VERB_WATCH};
    enum { COUNT = sizeof(verbs) / sizeof(verbs[0]) };
    struct lapse_plan_step *steps[COUNT];
    const struct lapse_command *sent[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        steps[i] = sketch_call(sketch, a, verbs[i], b, "x");
        struct lapse_plan_call *call = &steps[i]->u.call;
        call->idle = sketch_number(LAPSE_OPERAND_SPAN, S(9));
        call->cap = sketch_number(LAPSE_OPERAND_SPAN, S(90));
        call->keep = true;
        call->session = sketch_text(sketch, "s");
        call->request = sketch_text(sketch, "id");
        call->rev = sketch_slot(2); /* an entry's revision */
        call->peek = true;
        call->has_after = true;
        call->after = sketch_text(sketch, "c");
        call->limit = 3;
        call->durability = LAPSE_EPHEMERAL;
        call->span = sketch_number(LAPSE_OPERAND_SPAN, S(8));
        call->config.history = 5;
        call->from = LAPSE_WATCH_REVISION;
        steps[i]->nowait = true;
        sketch_line(sketch, saved.task, steps[i]);
    }
    struct stage stage = stage_run(sketch);
    for (size_t i = 0; i < COUNT; i++) {
        const struct lapse_history_event *invoke =
            stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(sketch, steps[i]), 0);
        cr_assert_not_null(invoke, "%s", lapse_call_word(verbs[i]));
        sent[i] = &invoke->u.invoke.request.command;
        cr_assert_eq((int)sent[i]->verb, verbs[i]);
        cr_assert(lapse_bytes_equal(sent[i]->request, lapse_bytes_of("id")));
    }
    const struct lapse_term *term = &sent[0]->u.write.term;
    cr_assert_eq(term->given, LAPSE_TERM_IDLE | LAPSE_TERM_SESSION | LAPSE_TERM_KEEP);
    cr_assert_eq(term->cap.ns, S(90));
    cr_assert(lapse_bytes_equal(term->session, lapse_bytes_of("s")));
    cr_assert(sent[1]->u.read.peek);
    cr_assert(sent[1]->u.read.has_revision);
    cr_assert_eq(sent[1]->u.read.revision, 1);
    for (size_t i = 2; i < 4; i++) {
        cr_assert(sent[i]->u.page.has_after);
        cr_assert(lapse_bytes_equal(sent[i]->u.page.after, lapse_bytes_of("c")));
        cr_assert_eq(sent[i]->u.page.limit, 3);
    }
    cr_assert_eq(sent[4]->u.lease.durability, LAPSE_EPHEMERAL);
    cr_assert(lapse_bytes_equal(sent[4]->u.lease.session, lapse_bytes_of("s")));
    for (size_t i = 5; i < 8; i++) {
        cr_assert(lapse_bytes_equal(sent[i]->u.session.owner, lapse_bytes_of("a")));
        cr_assert_eq(sent[i]->u.session.span.ns, S(8));
        cr_assert(lapse_bytes_equal(sent[i]->key, lapse_bytes_of("x")));
    }
    cr_assert_eq(sent[8]->u.open.config.history, 5);
    cr_assert_eq(sent[9]->u.watch.from, LAPSE_WATCH_REVISION);
    cr_assert_eq(sent[9]->u.watch.revision, 1);
    stage_close(&stage);
}

Test(request, a_batch_holds_its_calls_each_with_its_own_words) {
    static struct saved saved;
    begin(&saved);
    struct sketch *sketch = &saved.sketch;
    struct lapse_slot_ref token = {.base = 0, .field = LAPSE_FIELD_TOKEN};
    struct lapse_plan_call members[3];
    struct lapse_plan_step *made[3] = {
        sketch_call(sketch, saved.actor, LAPSE_VERB_SET, saved.bucket, "x"),
        sketch_acquire(sketch, saved.actor, "m", S(9), -1),
        sketch_extend(sketch, saved.actor, "l", S(30), 0),
    };
    for (size_t i = 0; i < 3; i++) {
        members[i] = made[i]->u.call;
    }
    members[0].value = text_of(sketch, token);
    struct lapse_plan_step *batch = sketch_call(sketch, saved.actor, LAPSE_VERB_BATCH, -1, "");
    batch->u.call.batch_count = 3;
    batch->u.call.batch = members;
    batch->u.call.request = sketch_text(sketch, "id");
    sketch_line(sketch, saved.task, batch);
    struct stage stage = stage_run(sketch);
    const struct lapse_history_event *invoke =
        stage_find(&stage, LAPSE_HISTORY_INVOKE, sketch_number_of(sketch, batch), 0);
    const struct lapse_command *sent = &invoke->u.invoke.request.command;
    cr_assert_eq(sent->verb, LAPSE_VERB_BATCH);
    cr_assert(lapse_bytes_equal(sent->request, lapse_bytes_of("id")));
    cr_assert_eq(sent->u.batch.count, 3);
    const struct lapse_command *calls = sent->u.batch.commands;
    cr_assert_eq(calls[0].verb, LAPSE_VERB_SET);
    cr_assert(lapse_bytes_equal(calls[0].u.write.value, lapse_bytes_of("1")));
    cr_assert_eq(calls[1].verb, LAPSE_VERB_ACQUIRE);
    cr_assert(lapse_bytes_equal(calls[1].u.lease.owner, lapse_bytes_of("a")));
    cr_assert_eq(calls[2].u.lease.token, 1);
    cr_assert_eq(invoke->u.invoke.grant.token, 1, "it is under the grant whose token it carries");
    const struct lapse_answer *answer =
        &stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(sketch, batch), 0)
             ->u.reply.answer;
    cr_assert_eq(answer->status, LAPSE_OK);
    cr_assert_eq(answer->answer_count, 3);
    cr_assert_eq(answer->answers[1].token, 2);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_BELIEF_BEGIN, -1), 2);
    stage_close(&stage);
}
