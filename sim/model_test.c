/* The store against the model: calls drawn at random, every answer, event and row compared after
 * each, over reaps, alters, forks and restarts, on rows in memory and on SQLite. It finds what no
 * list of cases thinks of: two features that meet. */
#include "contracts/model.h"

#include "lapse/lapse.h"
#include "node.h"
#include "rows.h"
#include "sim/arena.h"
#include "vfs.h"

#include <criterion/criterion.h>

#define S(seconds) ((int64_t)(seconds) * LAPSE_NS_PER_S)

enum { ROW_SEEDS = 30, FILE_SEEDS = 6, CALLS = 1000, BATCH_MAX = 4, NAME_COUNT = 5 };

struct run {
    struct lapse *store;
    struct lapse_options options;
    struct lapse_clock_manual clock;
    struct lapse_sim_trouble trouble;
    struct lapse_arena *arena; /* of the rows, which go with it */
    struct lapse_sim_rows rows;
    struct lapse_sim_disk disk;
    struct lapse_sim_vfs *vfs; /* NULL: it keeps its rows in `rows` */
    struct lapse_result r;
    struct lapse_error err;
    struct lapse_model *model;
    struct lapse_command batch[BATCH_MAX];
    struct lapse_command sent[3]; /* by request id */
    uint64_t chance;
    int seed, call;
};

static const char *const buckets[] = {"b0", "b1", "kept", "unknown"};
static const char *const names[NAME_COUNT] = {"a", "ab", "b", "c", ""};
static const char *const owners[] = {"w1", "w2", ""};
static const char *const values[] = {"", "x", "yy", "a longer value"};

#define EXPECT(is, what, got, expected)                                                        \
    cr_assert(is, "seed %d%s, call %d at %lld, %s (%s): %s%s%s%s%s", run->seed,                 \
              run->vfs != NULL ? " in a file" : "", run->call, (long long)run->r.at.ns,         \
              lapse_verb_word(run->r.verb), lapse_status_word(run->r.status), (what),           \
              (got)[0] != '\0' ? " is " : "", (got), (got)[0] != '\0' ? ", not " : "", (expected))
#define SOUND(status) EXPECT((status) == LAPSE_OK, run->err.message, "", "")

static int draw(struct run *run, int n) {
    run->chance = run->chance * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)((run->chance >> 33) % (uint64_t)n);
}

static struct lapse_bytes pick(struct run *run, const char *const *texts, int count) {
    return lapse_bytes_of(texts[draw(run, count)]);
}

/* One in many is empty, and refused. */
static struct lapse_bytes some_name(struct run *run) {
    return pick(run, names, draw(run, 60) == 0 ? NAME_COUNT : NAME_COUNT - 1);
}

static struct lapse_bytes some_bucket(struct run *run) {
    return pick(run, buckets, draw(run, 60) == 0 ? 4 : 3);
}

static struct lapse_bytes some_owner(struct run *run) {
    return pick(run, owners, draw(run, 60) == 0 ? 3 : 2);
}

/* Now and then one that is refused, or that ends past the range of time. */
static int64_t some_span(struct run *run) {
    static const int64_t spans[] = {1, S(1) / 1000, S(1) / 2, S(1), S(2), S(3), S(5), S(10), S(70)};
    static const int64_t odd[] = {0, -1, INT64_MAX, INT64_MIN};
    return draw(run, 80) == 0 ? odd[draw(run, 4)] : spans[draw(run, 9)];
}

static struct lapse_bucket_config some_words(struct run *run) {
    static const unsigned kinds[] = {0, LAPSE_TERM_TTL, LAPSE_TERM_IDLE};
    struct lapse_bucket_config words = {.history = (uint32_t)draw(run, 5)};
    words.markers.ns = draw(run, 2) == 0 ? 0 : S(1 + draw(run, 10));
    words.term.given = kinds[draw(run, 3)];
    words.term.ttl.ns = words.term.given == LAPSE_TERM_TTL ? S(1 + draw(run, 9)) : 0;
    words.term.idle.ns = words.term.given == LAPSE_TERM_IDLE ? S(1 + draw(run, 9)) : 0;
    bool capped = words.term.given == LAPSE_TERM_IDLE && draw(run, 2) == 0;
    words.term.cap.ns = capped ? S(1 + draw(run, 20)) : 0;
    words.first_revision = draw(run, 30) == 0 ? draw(run, 4) : 0;
    return words;
}

static struct lapse_term some_term(struct run *run) {
    static const unsigned kinds[] = {0,
                                     0,
                                     LAPSE_TERM_TTL,
                                     LAPSE_TERM_IDLE,
                                     LAPSE_TERM_EXPIRES_AT,
                                     LAPSE_TERM_SESSION,
                                     LAPSE_TERM_KEEP};
    struct lapse_term term = {.given = kinds[draw(run, 7)]};
    term.given |= draw(run, 60) == 0 ? (unsigned)LAPSE_TERM_TTL : 0;
    int64_t span = some_span(run);
    term.ttl.ns = (term.given & LAPSE_TERM_TTL) != 0 ? span : 0;
    term.idle.ns = term.given == LAPSE_TERM_IDLE ? span : 0;
    term.cap.ns = term.given == LAPSE_TERM_IDLE && draw(run, 3) == 0 ? some_span(run) : 0;
    if ((term.given & LAPSE_TERM_EXPIRES_AT) != 0) {
        term.expires_at.ns = run->clock.now.wall.ns + S(draw(run, 14) - 3);
    }
    if ((term.given & LAPSE_TERM_SESSION) != 0) {
        term.session = some_name(run);
    }
    return term;
}

static void draw_write(struct run *run, struct lapse_command *command) {
    command->bucket = some_bucket(run);
    command->key = some_name(run);
    bool valued = command->verb == LAPSE_VERB_SET || command->verb == LAPSE_VERB_CREATE ||
                  command->verb == LAPSE_VERB_UPDATE;
    if (valued) {
        command->u.write.value = pick(run, values, 4);
    }
    bool timed = command->verb != LAPSE_VERB_DELETE && command->verb != LAPSE_VERB_PURGE &&
                 command->verb != LAPSE_VERB_PERSIST;
    if (timed) {
        command->u.write.term = some_term(run);
    }
    bool must = command->verb == LAPSE_VERB_UPDATE;
    bool may = command->verb != LAPSE_VERB_CREATE || draw(run, 40) == 0;
    command->u.write.has_if_version = must ? draw(run, 40) != 0 : may && draw(run, 4) == 0;
    if (command->u.write.has_if_version) {
        bool last = run->r.revision > 0 && draw(run, 2) == 0;
        command->u.write.if_version = last ? run->r.revision : 1 + draw(run, 300);
    }
}

static void draw_lease(struct run *run, struct lapse_command *command) {
    command->key = some_name(run);
    command->u.lease.owner = some_owner(run);
    command->u.lease.span.ns = command->verb == LAPSE_VERB_RELEASE ? 0 : some_span(run);
    command->u.lease.has_token = command->verb != LAPSE_VERB_ACQUIRE && draw(run, 4) == 0;
    if (command->u.lease.has_token) {
        command->u.lease.token = draw(run, 2) == 0 ? run->r.token : 1 + draw(run, 50);
    }
    if (command->verb == LAPSE_VERB_ACQUIRE && draw(run, 3) == 0) {
        command->u.lease.session = some_name(run);
        command->u.lease.span.ns = 0;
    } else if (command->verb == LAPSE_VERB_ACQUIRE && draw(run, 2) == 0) {
        command->u.lease.durability = LAPSE_EPHEMERAL;
    }
}

static void draw_session(struct run *run, struct lapse_command *command) {
    command->key = some_name(run);
    command->u.session.owner = some_owner(run);
    bool spans = command->verb == LAPSE_VERB_SESSION ||
                 (command->verb == LAPSE_VERB_KEEPALIVE && draw(run, 2) == 0);
    command->u.session.span.ns = spans ? some_span(run) : 0;
}

static void draw_look(struct run *run, struct lapse_command *command) {
    command->bucket = some_bucket(run);
    command->key = some_name(run);
    switch (command->verb) {
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
        command->u.read.peek = draw(run, 4) == 0;
        command->u.read.has_revision = draw(run, 4) == 0;
        command->u.read.revision = draw(run, 2) == 0 ? run->r.revision : 1 + draw(run, 300);
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        command->u.page.limit = (size_t)draw(run, 4);
        command->u.page.has_after = draw(run, 2) == 0;
        command->u.page.after = some_name(run);
        break;
    case LAPSE_VERB_WATCH:
        command->key = draw(run, 2) == 0 ? lapse_bytes_of("") : command->key;
        command->u.watch.from = (enum lapse_watch_from)draw(run, 3);
        command->u.watch.revision = draw(run, 30);
        break;
    default:
        break;
    }
}

static struct lapse_command some_member(struct run *run) {
    static const enum lapse_verb verbs[] = {
        LAPSE_VERB_SET,     LAPSE_VERB_SET,    LAPSE_VERB_CREATE,  LAPSE_VERB_UPDATE,
        LAPSE_VERB_DELETE,  LAPSE_VERB_PURGE,  LAPSE_VERB_EXPIRE,  LAPSE_VERB_PERSIST,
        LAPSE_VERB_ACQUIRE, LAPSE_VERB_EXTEND, LAPSE_VERB_RELEASE, LAPSE_VERB_SESSION,
        LAPSE_VERB_CLOSE,   LAPSE_VERB_KEEPALIVE};
    struct lapse_command command = {.verb = verbs[draw(run, 14)]};
    switch (command.verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        draw_lease(run, &command);
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        draw_session(run, &command);
        break;
    default:
        draw_write(run, &command);
        break;
    }
    return command;
}

static struct lapse_command some_command(struct run *run) {
    static const enum lapse_verb looks[] = {
        LAPSE_VERB_GET,   LAPSE_VERB_GET,     LAPSE_VERB_GET,   LAPSE_VERB_ENTRY,
        LAPSE_VERB_HAS,   LAPSE_VERB_LIST,    LAPSE_VERB_ALL,   LAPSE_VERB_COUNT,
        LAPSE_VERB_WATCH, LAPSE_VERB_HISTORY, LAPSE_VERB_HISTORY, LAPSE_VERB_INSPECT};
    struct lapse_command command = {.verb = LAPSE_VERB_BATCH};
    int what = draw(run, 100);
    if (what < 55) {
        command = some_member(run);
    } else if (what < 90) {
        command.verb = looks[draw(run, 12)];
        draw_look(run, &command);
    } else if (what < 97) {
        command.u.batch.count = 1 + (size_t)draw(run, BATCH_MAX);
        command.u.batch.commands = run->batch;
        for (size_t i = 0; i < command.u.batch.count; i++) {
            run->batch[i] = some_member(run);
        }
    } else {
        command.verb = draw(run, 3) == 0 ? LAPSE_VERB_OPEN : LAPSE_VERB_ALTER;
        command.bucket = some_bucket(run);
        command.u.open.config = some_words(run);
    }
    return command;
}

/* A request id: with what was sent under it before, or with this. A batch's calls are not kept. */
static void draw_request(struct run *run, struct lapse_command *command) {
    static const char *const ids[] = {"r1", "r2", "r3"};
    int id = draw(run, 3);
    if (run->sent[id].verb != LAPSE_VERB_NONE && draw(run, 3) != 0) {
        *command = run->sent[id];
        return;
    }
    command->request = lapse_bytes_of(ids[id]);
    if (command->verb != LAPSE_VERB_BATCH) {
        run->sent[id] = *command;
    }
}

static void compare_rows(struct run *run, const struct lapse *store) {
    struct lapse_model_difference odd;
    lapse_model_view_begin(run->model);
    enum lapse_status status = lapse_walk(store, lapse_model_view_take, run->model, &run->err);
    SOUND(status);
    bool same = lapse_model_view_end(run->model, &odd);
    EXPECT(same, odd.what, odd.got, odd.expected);
}

static void compare_events(struct run *run, bool of_call) {
    struct lapse_model_difference odd;
    for (size_t i = 0; i < run->r.event_count; i++) {
        bool may = lapse_model_emit(run->model, &run->r.events[i], of_call, &odd);
        EXPECT(may, odd.what, odd.got, odd.expected);
    }
    bool all = lapse_model_told_all(run->model, &odd);
    EXPECT(all, odd.what, odd.got, odd.expected);
}

static void make_call(struct run *run) {
    struct lapse_command command = some_command(run);
    if (draw(run, 8) == 0) {
        draw_request(run, &command);
    }
    (void)lapse_apply(run->store, &command, &run->r, &run->err);
    struct lapse_answer told = lapse_answer_of(&run->r);
    struct lapse_model_answer must;
    struct lapse_model_difference odd;
    enum lapse_status status = lapse_model_apply(run->model, &command, &told, run->call, &must);
    EXPECT(status == LAPSE_OK, "the model", "out of memory", "");
    bool fault = told.status < 0 && told.status != LAPSE_INVALID && told.status != LAPSE_RANGE;
    EXPECT(!fault, run->err.message, "", "");
    bool same = lapse_model_agrees(run->model, &command, &must, &told, &odd);
    EXPECT(same, odd.what, odd.got, odd.expected);
    compare_events(run, true);
}

static void keep_house(struct run *run) {
    enum lapse_status status =
        lapse_step(run->store, 1 + (size_t)draw(run, 6), &run->r, NULL, &run->err);
    SOUND(status);
    lapse_model_step(run->model, run->r.at, run->r.wall);
    compare_events(run, false);
}

static void pass_time(struct run *run) {
    int64_t by[10] = {draw(run, 1000), draw(run, 1000) * (S(1) / 1000), draw(run, 8) * (S(1) / 2)};
    by[3] = draw(run, 20) == 0 ? S(40) : 0;
    lapse_clock_manual_advance(&run->clock, (struct lapse_span){by[draw(run, 10)]});
    if (draw(run, 25) == 0) {
        int64_t step = S(draw(run, 12) - 6);
        if (step < 0) {
            lapse_model_wall_back(run->model, run->clock.now.wall);
        }
        lapse_clock_manual_step_wall(&run->clock, (struct lapse_span){step});
    }
}

static void open_store(struct run *run) {
    enum lapse_status status = LAPSE_OK;
    if (run->vfs != NULL) {
        status = lapse_sim_vfs_open(run->vfs, &run->options.journal, &run->err);
    } else {
        run->options.journal = lapse_sim_rows_journal(&run->rows);
    }
    SOUND(status);
    status = lapse_open(&run->options, &run->store, &run->err);
    SOUND(status);
}

/* As after a crash of the process, or of the machine: under full sync only renewals are lost. */
static void restart(struct run *run) {
    lapse_close(run->store);
    if (draw(run, 2) == 0) {
        lapse_clock_manual_reboot(&run->clock, run->clock.now.wall);
        lapse_sim_rows_lose_unsynced(&run->rows);
    }
    open_store(run);
    lapse_model_tenure(run->model, lapse_store_time(run->store), run->clock.now.wall, false);
}

/* A fork is what it was taken of. */
static void take_fork(struct run *run) {
    struct lapse *fork = NULL;
    enum lapse_status status = lapse_fork(run->store, NULL, run->options.clock, &fork, &run->err);
    SOUND(status);
    compare_rows(run, fork);
    SOUND(lapse_check(fork, &run->err));
    lapse_close(fork);
}

static void go_on(struct run *run) {
    int what = draw(run, 100);
    if (what < 86) {
        make_call(run);
    } else if (what < 96) {
        keep_house(run);
    } else if (what < 98) {
        take_fork(run);
    } else {
        restart(run);
        return; /* the rows show a store at rest: what they are is told by the next call */
    }
    compare_rows(run, run->store);
    if (run->call % 16 == 0) {
        SOUND(lapse_check(run->store, &run->err));
    }
}

static void open_buckets(struct run *run, struct lapse_setup_bucket *declared) {
    for (int i = 0; i < 3; i++) {
        declared[i].name = lapse_bytes_of(buckets[i]);
        declared[i].config = some_words(run);
        if (run->options.policies.value[LAPSE_POLICY_MARKERS] != 0) {
            declared[i].config.markers.ns = 0;
        }
        if (i == 1 && run->seed % 4 == 0) {
            declared[i].config.first_revision = INT64_MAX - draw(run, 40); /* they run out */
        }
        enum lapse_status status = lapse_bucket_open(
            run->store, declared[i].name, &declared[i].config, &run->r, &run->err);
        SOUND(status);
    }
}

/* Every second seed has policies of its own, as far as the model speaks for them. */
static struct lapse_policies some_policies(struct run *run) {
    struct lapse_policies policies = {{0}};
    for (int i = 0; run->seed % 2 == 1 && i < LAPSE_POLICIES; i++) {
        uint8_t value = (uint8_t)draw(run, 3);
        struct lapse_policies more = policies;
        more.value[i] = value;
        bool may = lapse_policies_check(&more, NULL) == LAPSE_OK && lapse_model_covers(&more);
        policies = may ? more : policies;
    }
    return policies;
}

static void run_seed(int seed, bool in_file) {
    static struct run run;
    struct lapse_setup_bucket declared[3] = {{.name = {0}}};
    struct lapse_setup setup = {.epoch = {S(1000)}, .bucket_count = 3, .buckets = declared};
    run = (struct run){.seed = seed, .chance = (uint64_t)seed * 7919 + 13};
    lapse_clock_manual_init(&run.clock, setup.epoch);
    lapse_result_init(&run.r, NULL);
    run.arena = lapse_arena_open();
    cr_assert_not_null(run.arena);
    lapse_sim_rows_init(&run.rows, lapse_arena_alloc(run.arena), &run.trouble);
    lapse_sim_disk_init(&run.disk, lapse_alloc_libc(), &run.trouble);
    run.vfs = in_file ? lapse_sim_vfs_make(&run.disk) : NULL;
    run.options.clock = lapse_clock_manual_vtable(&run.clock);
    setup.policies = run.options.policies = some_policies(&run);
    open_store(&run);
    open_buckets(&run, declared);
    cr_assert_eq(lapse_model_open(lapse_alloc_libc(), &setup, &run.model), LAPSE_OK);
    for (run.call = 0; run.call < CALLS; run.call++) {
        pass_time(&run);
        go_on(&run);
    }
    lapse_model_close(run.model);
    lapse_close(run.store);
    lapse_sim_vfs_free(run.vfs);
    lapse_sim_disk_finish(&run.disk);
    lapse_arena_close(run.arena);
    lapse_result_free(&run.r);
}

Test(model, a_store_with_rows_in_memory_answers_as_the_model_does) {
    for (int seed = 0; seed < ROW_SEEDS; seed++) {
        run_seed(seed, false);
    }
}

Test(model, a_store_in_a_file_answers_as_the_model_does) {
    for (int seed = 0; seed < FILE_SEEDS; seed++) {
        run_seed(100 + seed, true);
    }
}
