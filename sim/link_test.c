/* Messages on their way: what is lost, late, doubled or forged, and what both ends know of it. */
#include "plan_builder_test.h"

#include <criterion/criterion.h>

struct scene {
    struct sketch sketch;
    int32_t actor, bucket, task;
    struct lapse_plan_step *call, *look;
};

/* A client `w` that sets b/k at 10 s, with a timeout of 5 s, and looks at it at 20 s. */
static void scene_begin(struct scene *scene) {
    sketch_begin(&scene->sketch);
    scene->actor = sketch_actor(&scene->sketch, "w", false);
    scene->bucket = sketch_bucket(&scene->sketch, "b", 0, false);
    scene->task = sketch_task(&scene->sketch, scene->actor, true);
    scene->call = sketch_call(&scene->sketch, scene->actor, LAPSE_VERB_SET, scene->bucket, "k");
    scene->call->has_timeout = true;
    scene->call->timeout_ns = S(5);
    sketch_line_at(&scene->sketch, scene->task, scene->call, S(10));
    scene->look = sketch_call(&scene->sketch, scene->actor, LAPSE_VERB_ENTRY, scene->bucket, "k");
    sketch_line_at(&scene->sketch, scene->task, scene->look, S(20));
}

static struct lapse_plan_step *link_fault(struct scene *scene, enum lapse_fault_kind kind,
                                          bool back, bool both, int64_t at_ns, int64_t for_ns) {
    struct lapse_plan_step *step = sketch_pause(&scene->sketch, scene->actor, at_ns, for_ns);
    struct lapse_party actor = {LAPSE_PARTY_ACTOR, scene->actor};
    struct lapse_party node = {LAPSE_PARTY_NODE, 0};
    step->u.fault.kind = kind;
    step->u.fault.actor = -1;
    step->u.fault.link = (struct lapse_plan_link){
        .from = back ? node : actor, .to = back ? actor : node, .both = both};
    return step;
}

static const struct lapse_answer *answer_to(const struct scene *scene, const struct stage *stage,
                                            const struct lapse_plan_step *step) {
    const struct lapse_history_event *reply =
        stage_find(stage, LAPSE_HISTORY_REPLY, sketch_number_of(&scene->sketch, step), 0);
    return reply == NULL ? NULL : &reply->u.reply.answer;
}

struct message_case {
    struct lapse_plan_message request, reply;
    enum lapse_status told;
    int64_t took; /* of the call's reply */
    int64_t revision; /* that the look finds; 0: none */
    size_t applied;
    int first_fate; /* of the first MESSAGE; 0: there is none */
};

Test(link, what_a_step_says_of_its_messages_happens_to_them) {
    static const struct message_case cases[] = {
        {{0}, {0}, LAPSE_OK, 0, 1, 1, 0},
        {{LAPSE_MESSAGE_TAKES, S(2)}, {0}, LAPSE_OK, S(2), 1, 1, LAPSE_MESSAGE_LATE},
        {{0}, {LAPSE_MESSAGE_TAKES, S(3)}, LAPSE_OK, S(3), 1, 1, LAPSE_MESSAGE_LATE},
        {{LAPSE_MESSAGE_TAKES, S(5)}, {0}, LAPSE_OK, S(5), 1, 1, LAPSE_MESSAGE_LATE},
        {{LAPSE_MESSAGE_TAKES, S(6)}, {0}, LAPSE_UNKNOWN, S(5), 1, 1, LAPSE_MESSAGE_LATE},
        {{0}, {LAPSE_MESSAGE_TAKES, S(6)}, LAPSE_UNKNOWN, S(5), 1, 1, LAPSE_MESSAGE_LATE},
        {{LAPSE_MESSAGE_IS_LOST, 0}, {0}, LAPSE_UNKNOWN, S(5), 0, 0, LAPSE_MESSAGE_LOST},
        {{0}, {LAPSE_MESSAGE_IS_LOST, 0}, LAPSE_UNKNOWN, S(5), 1, 1, LAPSE_MESSAGE_LOST},
        {{LAPSE_MESSAGE_IS_TWICE, 0}, {0}, LAPSE_OK, 0, 2, 2, LAPSE_MESSAGE_TWICE},
        {{0}, {LAPSE_MESSAGE_IS_TWICE, 0}, LAPSE_OK, 0, 1, 1, LAPSE_MESSAGE_TWICE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        const struct message_case *now = &cases[i];
        scene_begin(&scene);
        scene.call->request = now->request;
        scene.call->reply = now->reply;
        int32_t number = sketch_number_of(&scene.sketch, scene.call);
        struct stage stage = stage_run(&scene.sketch);
        const struct lapse_answer *told = answer_to(&scene, &stage, scene.call);
        cr_expect_eq(told->status, now->told, "case %zu", i);
        cr_expect_eq(told->took.ns, now->took, "case %zu", i);
        cr_expect_eq(answer_to(&scene, &stage, scene.look)->revision, now->revision, "case %zu", i);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_APPLY, number), now->applied, "case %zu", i);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_REPLY, number), 1, "case %zu", i);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_WAITING, -1), 0, "case %zu", i);
        const struct lapse_history_event *message =
            stage_find(&stage, LAPSE_HISTORY_MESSAGE, number, 0);
        cr_expect_eq(message == NULL ? 0 : (int)message->u.message.fate, now->first_fate,
                     "case %zu", i);
        stage_close(&stage);
    }
}

Test(link, a_forged_refusal_hides_what_was_decided) {
    static struct scene scene;
    scene_begin(&scene);
    scene.call->forged = true;
    scene.call->forged_status = LAPSE_CONFLICT;
    struct stage stage = stage_run(&scene.sketch);
    cr_assert_eq(answer_to(&scene, &stage, scene.call)->status, LAPSE_CONFLICT);
    cr_assert_eq(answer_to(&scene, &stage, scene.call)->revision, 0);
    cr_assert_eq(answer_to(&scene, &stage, scene.look)->revision, 1);
    const struct lapse_history_event *message = stage_find(&stage, LAPSE_HISTORY_MESSAGE, -1, 0);
    cr_assert_eq(message->u.message.fate, LAPSE_MESSAGE_FORGED);
    cr_assert_eq(message->u.message.status, LAPSE_CONFLICT);
    stage_close(&stage);
}

/* A cut of one lane or both, and where the call was when it began. */
struct cut_case {
    bool back, both;
    int64_t begins, lasts;
    int64_t request_ns, reply_ns;
    enum lapse_status told;
    size_t applied;
};

Test(link, a_cut_loses_what_is_sent_or_under_way_and_nothing_else) {
    static const struct cut_case cases[] = {
        {false, false, S(5), S(9), 0, 0, LAPSE_UNKNOWN, 0}, /* it cannot be sent */
        {true, false, S(5), S(9), 0, 0, LAPSE_UNKNOWN, 1},  /* it cannot be answered */
        {false, true, S(5), S(9), 0, 0, LAPSE_UNKNOWN, 0},
        {false, true, S(5), S(5), 0, 0, LAPSE_OK, 1}, /* healed as it is sent */
        {false, true, S(11), S(1), S(2), 0, LAPSE_UNKNOWN, 0}, /* under way, either way */
        {false, true, S(11), S(1), 0, S(2), LAPSE_UNKNOWN, 1},
        {true, false, S(11), S(1), S(2), 0, LAPSE_OK, 1}, /* the other lane */
        {false, false, S(11), S(1), 0, S(2), LAPSE_OK, 1},
        {false, true, S(12), S(1), S(2), 0, LAPSE_UNKNOWN, 0}, /* as it would arrive */
        {false, true, S(13), S(1), S(2), 0, LAPSE_OK, 1},      /* it has arrived */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct scene scene;
        const struct cut_case *now = &cases[i];
        scene_begin(&scene);
        scene.call->request = (struct lapse_plan_message){
            now->request_ns > 0 ? LAPSE_MESSAGE_TAKES : LAPSE_MESSAGE_PLAIN, now->request_ns};
        scene.call->reply = (struct lapse_plan_message){
            now->reply_ns > 0 ? LAPSE_MESSAGE_TAKES : LAPSE_MESSAGE_PLAIN, now->reply_ns};
        struct lapse_plan_step *cut =
            link_fault(&scene, LAPSE_FAULT_CUT, now->back, now->both, now->begins, now->lasts);
        int32_t number = sketch_number_of(&scene.sketch, cut);
        struct stage stage = stage_run(&scene.sketch);
        cr_expect_eq(answer_to(&scene, &stage, scene.call)->status, now->told, "case %zu", i);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_APPLY,
                                 sketch_number_of(&scene.sketch, scene.call)), now->applied,
                     "case %zu", i);
        cr_expect_eq(answer_to(&scene, &stage, scene.look)->status,
                     now->applied > 0 ? LAPSE_OK : LAPSE_ABSENT, "case %zu", i);
        cr_expect_eq(stage_count(&stage, LAPSE_HISTORY_FAULT_BEGIN, number), 1, "case %zu", i);
        const struct lapse_history_event *ended =
            stage_find(&stage, LAPSE_HISTORY_FAULT_END, number, 0);
        cr_expect_eq(ended->at.ns, now->begins + now->lasts, "case %zu", i);
        cr_expect_eq(ended->u.fault.both, now->both, "case %zu", i);
        stage_close(&stage);
    }
}

Test(link, a_cut_within_a_cut_makes_it_longer_and_a_heal_ends_one_way_or_all) {
    static struct scene scene;
    scene_begin(&scene);
    struct sketch *sketch = &scene.sketch;
    (void)link_fault(&scene, LAPSE_FAULT_CUT, false, true, S(1), S(50));
    (void)link_fault(&scene, LAPSE_FAULT_CUT, false, true, S(2), S(3));
    struct lapse_plan_step *way = link_fault(&scene, LAPSE_FAULT_CUT, false, false, S(18), 0);
    struct lapse_plan_step *all = link_fault(&scene, LAPSE_FAULT_CUT, false, false, S(25), 0);
    way->u.fault.ends = all->u.fault.ends = true;
    all->u.fault.link = (struct lapse_plan_link){0};
    scene.look->has_timeout = true;
    scene.look->timeout_ns = S(1);
    struct lapse_plan_step *last =
        sketch_call(sketch, scene.actor, LAPSE_VERB_ENTRY, scene.bucket, "k");
    sketch_line_at(sketch, scene.task, last, S(30));
    struct stage stage = stage_run(sketch);
    cr_assert_eq(answer_to(&scene, &stage, scene.call)->status, LAPSE_UNKNOWN);
    cr_assert_eq(answer_to(&scene, &stage, scene.look)->status, LAPSE_UNKNOWN);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_APPLY, sketch_number_of(sketch, scene.look)), 1);
    cr_assert_eq(answer_to(&scene, &stage, last)->status, LAPSE_ABSENT);
    const struct lapse_history_event *first = stage_find(&stage, LAPSE_HISTORY_FAULT_END, -1, 0);
    cr_assert_eq(first->at.ns, S(18));
    cr_assert_not(first->u.fault.both);
    cr_assert_eq(first->u.fault.from.kind, LAPSE_PARTY_ACTOR);
    const struct lapse_history_event *rest = stage_find(&stage, LAPSE_HISTORY_FAULT_END, -1, 1);
    cr_assert_eq(rest->at.ns, S(25));
    cr_assert_eq(rest->u.fault.from.kind, LAPSE_PARTY_NODE);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_FAULT_END, -1), 2);
    stage_close(&stage);
}

/* With 40 writes sent at once, by another seed each time. */
Test(link, a_lane_keeps_its_order_unless_it_may_not) {
    size_t reordered[2] = {0, 0};
    for (int reorder = 0; reorder < 2; reorder++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            static struct scene scene;
            scene_begin(&scene);
            scene.call->times = 40;
            scene.call->nowait = true;
            scene.call->has_timeout = false;
            struct lapse_plan_step *link =
                link_fault(&scene, LAPSE_FAULT_LINK, false, true, 0, 0);
            link->u.fault.link.latency_ns_min = 5;
            link->u.fault.link.latency_ns_max = S(3);
            link->u.fault.link.reorder = reorder == 1;
            struct stage stage = stage_open(&scene.sketch, seed);
            cr_assert_eq(lapse_world_run(stage.world, NULL), LAPSE_OK);
            int32_t number = sketch_number_of(&scene.sketch, scene.call);
            cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_APPLY, number), 40);
            for (size_t k = 1; k < 40; k++) {
                int64_t before = stage_find(&stage, LAPSE_HISTORY_APPLY, number, k - 1)->call;
                int64_t after = stage_find(&stage, LAPSE_HISTORY_APPLY, number, k)->call;
                reordered[reorder] += after < before ? 1 : 0;
            }
            stage_close(&stage);
        }
    }
    cr_assert_eq(reordered[0], 0);
    cr_assert_gt(reordered[1], 20);
}

Test(link, chances_lose_and_double_about_as_many_as_they_say) {
    static struct scene scene;
    scene_begin(&scene);
    scene.call->times = 2000;
    scene.call->nowait = true;
    scene.call->has_timeout = false;
    struct lapse_plan_step *link = link_fault(&scene, LAPSE_FAULT_LINK, false, false, 0, S(15));
    link->u.fault.link.loss_ppm = 200000;
    link->u.fault.link.duplicate_ppm = 100000;
    struct stage stage = stage_run(&scene.sketch);
    size_t lost = 0, twice = 0;
    for (size_t i = 0; i < lapse_history_count(stage.history); i++) {
        const struct lapse_history_event *event = lapse_history_at(stage.history, i);
        bool message = event->kind == LAPSE_HISTORY_MESSAGE;
        lost += message && event->u.message.fate == LAPSE_MESSAGE_LOST ? 1 : 0;
        twice += message && event->u.message.fate == LAPSE_MESSAGE_TWICE ? 1 : 0;
    }
    cr_assert(lost > 320 && lost < 480, "%zu", lost);
    cr_assert(twice > 110 && twice < 210, "%zu", twice);
    cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_WAITING, -1), lost, "lost, and never answered");
    stage_close(&stage);
}

Test(link, a_watcher_is_told_of_a_gap_for_what_it_lost) {
    for (int by_chance = 0; by_chance < 2; by_chance++) {
        static struct scene scene;
        scene_begin(&scene);
        struct sketch *sketch = &scene.sketch;
        int32_t other = sketch_actor(sketch, "v", false);
        int32_t task = sketch_task(sketch, other, true);
        struct lapse_plan_step *watch =
            sketch_call(sketch, other, LAPSE_VERB_WATCH, scene.bucket, "");
        watch->u.call.from = LAPSE_WATCH_NOW;
        sketch_line_at(sketch, task, watch, S(1));
        struct lapse_plan_step *cut =
            link_fault(&scene, by_chance == 1 ? LAPSE_FAULT_LINK : LAPSE_FAULT_CUT, true, false,
                       S(5), S(10));
        cut->u.fault.link.to.index = other;
        cut->u.fault.link.loss_ppm = 1000000;
        cut->u.fault.link.latency_ns_min = cut->u.fault.link.latency_ns_max = S(1);
        struct stage stage = stage_run(sketch);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_DELIVER, -1), 1);
        const struct lapse_history_event *gap = stage_find(&stage, LAPSE_HISTORY_DELIVER, -1, 0);
        cr_assert_eq(gap->u.deliver.event.kind, LAPSE_EVENT_GAP);
        cr_assert_eq(gap->u.deliver.event.revision, 1);
        cr_assert_eq(gap->at.ns, by_chance == 1 ? S(11) : S(15));
        stage_close(&stage);
    }
}
