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
