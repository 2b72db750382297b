/* A store against the model: each record of the bytes is a call, or housekeeping, a fork or a
 * restart, and after each the store's answer, its events and all its rows are compared with the
 * model's.
 *
 * Bytes: four records of settings (where the rows lie, policies, three buckets), then up to
 * OPERATIONS_MAX operations (producer.h). */
#include "harness.h"

#include "contracts/model.h"
#include "lapse/lapse.h"
#include "sim/medium.h"

#include "calls.h"

#include <stdio.h>

enum { OPERATIONS_MAX = 64, CHECK_EACH = 16, IDS = 3 };

/* Kept from input to input, and wiped for each. */
struct media {
    struct lapse_medium *rows, *file;
};

struct run {
    struct lapse_medium *medium;
    struct lapse *store;
    struct lapse_options options;
    struct lapse_clock_manual clock;
    struct lapse_result r;
    struct lapse_error err;
    struct lapse_model *model;
    struct lapse_producer producer;
    struct lapse_calls_state state;
    struct lapse_command members[LAPSE_CALLS_BATCH_MAX];
    struct lapse_command sent[IDS]; /* by request id */
    struct lapse_digest digest;
    int operation;
};

static void begin_run(struct run *run, struct lapse_setup_bucket *declared);
static void read_policies(struct run *run);
static void open_store(struct run *run);
static void operate(struct run *run);
static void pass_time(struct run *run);
static void make_call(struct run *run);
static void give_id(struct run *run, struct lapse_command *command);
static void keep_house(struct run *run);
static void take_fork(struct run *run);
static void restart(struct run *run);
static void compare_rows(struct run *run, const struct lapse *store);
static void compare_events(struct run *run, bool of_call);
static void need(struct run *run, bool is, const struct lapse_model_difference *odd);
static void need_sound(struct run *run, enum lapse_status status);

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    static struct media media;
    struct lapse_setup_bucket declared[LAPSE_CALLS_BUCKETS] = {{.name = {0}}};
    struct run run = {.operation = 0};
    lapse_digest_begin(&run.digest);
    lapse_producer_begin(&run.producer, data, size);
    if (!lapse_producer_next(&run.producer)) {
        return 0;
    }
    bool in_file = lapse_producer_take(&run.producer, 16) == 15;
    struct lapse_medium **medium = in_file ? &media.file : &media.rows;
    if (*medium == NULL) {
        LAPSE_ASSERT(lapse_medium_make(lapse_alloc_libc(),
                                       in_file ? LAPSE_STORE_SQLITE : LAPSE_STORE_MEMORY,
                                       medium) == LAPSE_OK);
    }
    lapse_medium_wipe(*medium);
    run.medium = *medium;
    begin_run(&run, declared);
    while (run.operation < OPERATIONS_MAX && lapse_producer_next(&run.producer)) {
        operate(&run);
        run.operation++;
    }
    lapse_model_close(run.model);
    lapse_close(run.store);
    lapse_result_free(&run.r);
    return lapse_digest_value(&run.digest);
}

static void begin_run(struct run *run, struct lapse_setup_bucket *declared) {
    struct lapse_setup setup = {.epoch = {LAPSE_NS_PER_S * 1000},
                                .bucket_count = LAPSE_CALLS_BUCKETS,
                                .buckets = declared};
    int exhausted = lapse_producer_take(&run->producer, 16);
    lapse_clock_manual_init(&run->clock, setup.epoch);
    lapse_result_init(&run->r, NULL);
    read_policies(run);
    setup.policies = run->options.policies;
    run->options.clock = lapse_clock_manual_vtable(&run->clock);
    run->options.unlocked = true;
    open_store(run);
    (void)lapse_producer_next(&run->producer);
    for (int i = 0; i < LAPSE_CALLS_BUCKETS; i++) {
        declared[i].name = lapse_calls_bucket(i);
        declared[i].config = lapse_calls_words(&run->producer);
        if (run->options.policies.value[LAPSE_POLICY_MARKERS] != 0) {
            declared[i].config.markers.ns = 0;
        }
        if (i == 1 && exhausted == 15) {
            declared[i].config.first_revision = INT64_MAX - 20; /* they run out */
        }
        need_sound(run, lapse_bucket_open(run->store, declared[i].name, &declared[i].config,
                                          &run->r, &run->err));
    }
    LAPSE_ASSERT(lapse_model_open(lapse_alloc_libc(), &setup, &run->model) == LAPSE_OK);
}

/* As far as the model speaks for them; zeros are the strict ones. */
static void read_policies(struct run *run) {
    struct lapse_policies policies = {{0}};
    for (int i = 0; i < LAPSE_POLICIES; i++) {
        if (i % LAPSE_PRODUCER_RECORD_BYTES == 0) {
            (void)lapse_producer_next(&run->producer);
        }
        struct lapse_policies more = policies;
        more.value[i] = (uint8_t)lapse_producer_take(&run->producer, 4);
        bool may = lapse_policies_check(&more, NULL) == LAPSE_OK && lapse_model_covers(&more);
        policies = may ? more : policies;
    }
    run->options.policies = policies;
}

static void open_store(struct run *run) {
    need_sound(run, lapse_medium_open(run->medium, &run->options.journal, &run->err));
    need_sound(run, lapse_open(&run->options, &run->store, &run->err));
}

/* The rows show a store at rest: what they are after a restart is told by the next call. */
static void operate(struct run *run) {
    pass_time(run);
    int what = lapse_producer_take(&run->producer, 64);
    if (what < 56) {
        make_call(run);
    } else if (what < 61) {
        keep_house(run);
    } else if (what < 62) {
        take_fork(run);
    } else {
        restart(run);
        return;
    }
    compare_rows(run, run->store);
    if (run->operation % CHECK_EACH == CHECK_EACH - 1) {
        need_sound(run, lapse_check(run->store, &run->err));
    }
}

static void pass_time(struct run *run) {
    static const int64_t units[] = {0, LAPSE_NS_PER_S / 2, 1, LAPSE_NS_PER_S / 1000,
                                    LAPSE_NS_PER_S};
    int unit = lapse_producer_take(&run->producer, 16);
    int64_t amount = lapse_producer_take(&run->producer, 64);
    if (unit < 14) {
        struct lapse_span span = {units[unit % 5] * amount};
        (void)lapse_clock_manual_advance(&run->clock, span);
        return;
    }
    if (amount < 32) {
        lapse_model_wall_back(run->model, run->clock.now.wall);
    }
    struct lapse_span step = {(amount - 32) * LAPSE_NS_PER_S / 2};
    (void)lapse_clock_manual_step_wall(&run->clock, step);
}

static void make_call(struct run *run) {
    struct lapse_answer told;
    struct lapse_model_answer must;
    struct lapse_model_difference odd = {{0}, {0}, {0}, 0, false};
    run->state.wall_ns = run->clock.now.wall.ns;
    int id = lapse_producer_take(&run->producer, 16);
    struct lapse_command command = lapse_calls_next(&run->producer, &run->state, run->members);
    if (id >= 14) {
        give_id(run, &command);
    }
    (void)lapse_apply(run->store, &command, &run->r, &run->err);
    told = lapse_answer_of(&run->r);
    bool fault = told.status < 0 && told.status != LAPSE_INVALID && told.status != LAPSE_RANGE;
    need_sound(run, fault ? told.status : LAPSE_OK);
    LAPSE_ASSERT(lapse_model_apply(run->model, &command, &told, run->operation, &must) ==
                 LAPSE_OK);
    need(run, lapse_model_agrees(run->model, &command, &must, &told, &odd), &odd);
    compare_events(run, true);
    run->state.revision = run->r.revision > 0 ? run->r.revision : run->state.revision;
    run->state.token = run->r.token > 0 ? run->r.token : run->state.token;
    lapse_digest_i64(&run->digest, told.status);
    lapse_digest_i64(&run->digest, told.revision);
    lapse_digest_i64(&run->digest, told.left.ns);
}

/* A request id: with what was sent under it before, or with this. A batch's calls are not kept. */
static void give_id(struct run *run, struct lapse_command *command) {
    static const char *const ids[IDS] = {"r1", "r2", "r3"};
    int id = lapse_producer_take(&run->producer, IDS);
    bool again = lapse_producer_take(&run->producer, 4) != 0;
    if (run->sent[id].verb != LAPSE_VERB_NONE && again) {
        *command = run->sent[id];
        return;
    }
    command->request = lapse_bytes_of(ids[id]);
    if (command->verb != LAPSE_VERB_BATCH) {
        run->sent[id] = *command;
    }
}

static void keep_house(struct run *run) {
    size_t rows = 1 + (size_t)lapse_producer_take(&run->producer, 6);
    need_sound(run, lapse_step(run->store, rows, &run->r, NULL, &run->err));
    lapse_model_step(run->model, run->r.at, run->r.wall);
    compare_events(run, false);
}

/* A fork is what it was taken of. */
static void take_fork(struct run *run) {
    struct lapse *fork = NULL;
    need_sound(run, lapse_fork(run->store, NULL, run->options.clock, &fork, &run->err));
    compare_rows(run, fork);
    need_sound(run, lapse_check(fork, &run->err));
    lapse_close(fork);
}

/* As after a crash of the process, or of the machine: under full sync only renewals are lost. */
static void restart(struct run *run) {
    lapse_close(run->store);
    run->store = NULL;
    if (lapse_producer_take(&run->producer, 2) == 1) {
        lapse_clock_manual_reboot(&run->clock, run->clock.now.wall);
        LAPSE_ASSERT(lapse_medium_crash(run->medium));
    }
    open_store(run);
    lapse_model_tenure(run->model, lapse_store_time(run->store), run->clock.now.wall, false);
}

static void compare_rows(struct run *run, const struct lapse *store) {
    struct lapse_model_difference odd = {{0}, {0}, {0}, 0, false};
    lapse_model_view_begin(run->model);
    need_sound(run, lapse_walk(store, lapse_model_view_take, run->model, &run->err));
    need(run, lapse_model_view_end(run->model, &odd), &odd);
}

static void compare_events(struct run *run, bool of_call) {
    struct lapse_model_difference odd = {{0}, {0}, {0}, 0, false};
    for (size_t i = 0; i < run->r.event_count; i++) {
        need(run, lapse_model_emit(run->model, &run->r.events[i], of_call, &odd), &odd);
    }
    need(run, lapse_model_told_all(run->model, &odd), &odd);
}

/* Says what differs before the process ends: bytes do not. */
static void need(struct run *run, bool is, const struct lapse_model_difference *odd) {
    if (!is) {
        (void)fprintf(stderr, "operation %d, %s at %lld answers %s: %s is '%s', not '%s'\n",
                      run->operation, lapse_verb_word(run->r.verb), (long long)run->r.at.ns,
                      lapse_status_word(run->r.status), odd->what, odd->got, odd->expected);
        LAPSE_ASSERT(is);
    }
}

static void need_sound(struct run *run, enum lapse_status status) {
    if (status != LAPSE_OK) {
        (void)fprintf(stderr, "operation %d: %s: %s\n", run->operation,
                      lapse_status_word(status), run->err.message);
        LAPSE_ASSERT(status == LAPSE_OK);
    }
}
