/* A store on a disk in memory: it outlives the crash of its process like one in rows. */
#include "plan_builder_test.h"
#include "state.h"

#include <criterion/criterion.h>

/* A key for 30 s and a lease; the node falls and comes back; both are looked for. */
static struct lapse_plan_step *story(struct sketch *sketch, bool machine, enum lapse_sync sync) {
    sketch_begin(sketch);
    int32_t w = sketch_actor(sketch, "w", false);
    int32_t bucket = sketch_bucket(sketch, "b", S(30), false);
    int32_t task = sketch_task(sketch, w, true);
    sketch_line_at(sketch, task, sketch_call(sketch, w, LAPSE_VERB_SET, bucket, "k"), S(1));
    sketch_line_at(sketch, task, sketch_acquire(sketch, w, "l", S(20), 0), S(9));
    struct lapse_plan_step *crash = sketch_node_fault(sketch, LAPSE_FAULT_CRASH, S(10), S(2));
    crash->u.fault.machine = machine;
    struct lapse_plan_step *get = sketch_call(sketch, w, LAPSE_VERB_GET, bucket, "k");
    sketch_line_at(sketch, task, get, S(15));
    sketch_line_at(sketch, task, sketch_call(sketch, w, LAPSE_VERB_INSPECT, -1, "l"), S(16));
    sketch_probe(sketch, LAPSE_PROBE_PRESENT, bucket, "k", S(16));
    sketch->plan.store = LAPSE_STORE_SQLITE;
    sketch->plan.setup.sync = sync;
    return get;
}

/* A commit that no sync has reached goes with the machine, and with it alone. */
Test(tenure, a_store_on_a_disk_outlives_its_process_and_what_was_synced_its_machine) {
    static const enum lapse_sync syncs[] = {LAPSE_SYNC_FULL, LAPSE_SYNC_NORMAL, LAPSE_SYNC_NONE};
    for (size_t i = 0; i < 6; i++) {
        static struct sketch sketch;
        bool machine = i % 2 == 1;
        bool kept = !machine || syncs[i / 2] != LAPSE_SYNC_NONE; /* a later mark was synced */
        struct lapse_plan_step *get = story(&sketch, machine, syncs[i / 2]);
        struct stage stage = stage_open(&sketch, 1);
        struct lapse_error err = {0};
        cr_assert_eq(lapse_world_run(stage.world, &err), LAPSE_OK, "%s", err.message);
        const struct lapse_history_event *reply =
            stage_find(&stage, LAPSE_HISTORY_REPLY, sketch_number_of(&sketch, get), 0);
        cr_assert_eq(reply->u.reply.answer.status, kept ? LAPSE_OK : LAPSE_ABSENT, "%zu", i);
        cr_assert_eq(stage_count(&stage, LAPSE_HISTORY_TENURE, -1), 1);
        struct lapse_snapshot *snapshot = NULL;
        cr_assert_eq(lapse_world_snapshot(stage.world, lapse_alloc_libc(), &snapshot),
                     LAPSE_INVALID);
        stage_close(&stage);
    }
}

Test(tenure, runs_on_a_disk_are_alike) {
    static struct sketch sketch;
    (void)story(&sketch, true, LAPSE_SYNC_FULL);
    uint64_t digests[3] = {0};
    struct lapse_error err = {0};
    cr_assert_eq(lapse_run_twice(&sketch.plan, 1, digests, &err), LAPSE_OK, "%s", err.message);
    cr_assert_neq(digests[0], 0);
    cr_assert_eq(digests[0], digests[1]);
    cr_assert_eq(digests[0], digests[2]);
}
