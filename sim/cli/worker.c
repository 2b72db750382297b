/* What happens in a worker process: load, run, render, send. */
#define _POSIX_C_SOURCE 200809L

#include "worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "children.h"
#include "save.h"

struct work {
    const struct lapse_cli_options *options;
    const struct lapse_cli_sinks *sinks;
    int fd;
    struct lapse_arena *arena; /* of all worlds, one after the other; NULL: each has its own */
    uint64_t *seed; /* of the run in hand */
    struct lapse_cli_record sum;
    struct lapse_tally *tallies;                                       /* by rule */
    struct lapse_slack slacks[LAPSE_SLACKS], row_slacks[LAPSE_SLACKS]; /* of all runs; of a row's */
    bool *broke; /* by rule: a listed violation came */
    size_t rule_count;
    struct lapse_cli_unpromised unpromised;
    bool sent;    /* the parent still listens */
    bool starved; /* no memory for a record */
};

static void run_chosen(struct work *work, const struct lapse_cli_file *file,
                       const struct lapse_cli_target *target);
static bool run_one(struct work *work, const struct lapse_cli_file *file, size_t index,
                    const struct lapse_cli_target *target, struct lapse_cli_document *document);
static void run_seeds(struct work *work, const struct lapse_cli_file *file, size_t index,
                      const struct lapse_cli_target *target, struct lapse_cli_document *document,
                      struct lapse_cli_result *ret);
static void save_history(const struct work *work, struct lapse_cli_result *result);
static void count_run(struct work *work, const struct lapse_cli_result *result);
static void count_result(struct work *work, const struct lapse_cli_result *result,
                         struct lapse_cli_record *record);
static void send_file(struct work *work, const struct lapse_cli_file *file, const char *path);
static void put_expected(const struct work *work, struct lapse_out *out);
static void send_record(struct work *work, const struct lapse_cli_record *record, const char *text,
                        const struct lapse_out *bodies, size_t count);

int lapse_cli_worker(const struct lapse_cli_options *options, const struct lapse_cli_target *target,
                     const struct lapse_cli_sinks *sinks, int fd, uint64_t *ret_seed) {
    struct work work = {
        .options = options, .sinks = sinks, .fd = fd, .seed = ret_seed, .sent = true};
    *ret_seed = options->seed;
    (void)lapse_rule_table(&work.rule_count);
    work.tallies = calloc(work.rule_count + 1, sizeof *work.tallies);
    lapse_slack_init(work.slacks);
    work.broke = calloc(work.rule_count + 1, sizeof *work.broke);
    struct lapse_cli_file file;
    memset(&file, 0, sizeof file);
    enum lapse_status status = LAPSE_NOMEM;
    if (work.tallies != NULL && work.broke != NULL) {
        status = lapse_cli_file_open(target->path, &file);
    }
    if (status == LAPSE_OK) {
        work.arena = lapse_arena_open();
        run_chosen(&work, &file, target);
        lapse_arena_close(work.arena);
    }
    if (status != LAPSE_NOMEM && work.sent) {
        send_file(&work, &file, target->path);
    }
    if (file.unread.alloc != NULL) {
        lapse_cli_file_close(&file);
    }
    free(work.tallies);
    free(work.broke);
    lapse_cli_unpromised_free(&work.unpromised);
    if (status == LAPSE_NOMEM || work.starved) {
        return LAPSE_CLI_WORKER_STARVED;
    }
    return work.sent ? LAPSE_EXIT_PASSED : LAPSE_EXIT_BUG;
}

static void run_chosen(struct work *work, const struct lapse_cli_file *file,
                       const struct lapse_cli_target *target) {
    struct lapse_cli_document document;
    memset(&document, 0, sizeof document);
    document.number = -1;
    for (size_t i = 0; i < file->loaded.plan_count && work->sent; i++) {
        if (!lapse_cli_chosen(work->options, target, file->loaded.plans[i])) {
            continue;
        }
        if (file->loaded.plans[i]->explore.on) {
            work->sum.protocols++; /* there is no one run of it */
            continue;
        }
        bool failed = run_one(work, file, i, target, &document);
        if (failed && work->options->exit_first) {
            return;
        }
    }
}

/* Returns whether it failed. */
static bool run_one(struct work *work, const struct lapse_cli_file *file, size_t index,
                    const struct lapse_cli_target *target, struct lapse_cli_document *document) {
    const struct lapse_plan *plan = file->loaded.plans[index];
    struct lapse_cli_record record = {
        .kind = LAPSE_RECORD_START,
        .line = plan->line_first,
        .row = plan->row,
        .repeats = file->repeats[index],
    };
    *work->seed = work->options->seed;
    send_record(work, &record, plan->name, NULL, 0);
    struct lapse_cli_result result;
    run_seeds(work, file, index, target, document, &result);
    save_history(work, &result);
    struct lapse_out bodies[LAPSE_CLI_REPORTS_MAX];
    for (size_t i = 0; i < work->sinks->count; i++) {
        const struct lapse_cli_sink *sink = &work->sinks->items[i];
        lapse_out_init(&bodies[i], lapse_alloc_libc());
        sink->format->scenario(&bodies[i], &sink->style, &result.view);
    }
    record.kind = LAPSE_RECORD_SCENARIO;
    count_result(work, &result, &record);
    struct lapse_out replay;
    lapse_out_init(&replay, lapse_alloc_libc());
    if (record.passed == 0) {
        lapse_replay_line(&replay, &result.view);
    }
    send_record(work, &record, replay.text != NULL ? replay.text : "", bodies, work->sinks->count);
    for (size_t i = 0; i < work->sinks->count; i++) {
        lapse_out_free(&bodies[i]);
    }
    lapse_out_free(&replay);
    lapse_cli_result_free(&result);
    return record.failed > 0 || record.parted > 0 || record.broken > 0;
}

/* One seed after the other, until one does not pass; the last that ran is what is reported. */
static void run_seeds(struct work *work, const struct lapse_cli_file *file, size_t index,
                      const struct lapse_cli_target *target, struct lapse_cli_document *document,
                      struct lapse_cli_result *ret) {
    const struct lapse_cli_choice choice = {
        .options = work->options, .target = target, .arena = work->arena};
    bool last = false;
    lapse_slack_init(work->row_slacks);
    for (uint64_t i = 0; !last; i++) {
        if (i > 0) {
            lapse_cli_result_free(ret);
        }
        *work->seed = work->options->seed + i;
        lapse_cli_plan_run(file, index, choice, *work->seed, ret);
        last = i + 1 == work->options->runs || !lapse_cli_result_varies(ret);
        lapse_cli_document_follow(file, index, choice, last, document, ret);
        count_run(work, ret);
    }
    ret->view.slacks = ret->ran ? work->row_slacks : NULL;
    lapse_slack_join(work->slacks, work->row_slacks);
}

/* The history of the run that is reported. One that cannot be saved fails the scenario: a folder
 * with a hole in it would look whole. */
static void save_history(const struct work *work, struct lapse_cli_result *result) {
    if (work->options->save_folder == NULL || !result->ran) {
        return;
    }
    enum lapse_status status =
        lapse_cli_save(work->options->save_folder, &result->view, &result->err);
    if (status == LAPSE_OK) {
        return;
    }
    (void)snprintf(result->why, sizeof result->why, "%s", result->err.message);
    result->view.broken = true;
    result->view.starved = status == LAPSE_NOMEM;
    result->view.why = result->why;
}

/* What a run adds, whether or not it is the one that is reported. */
static void count_run(struct work *work, const struct lapse_cli_result *result) {
    const struct lapse_result_view *view = &result->view;
    struct lapse_cli_record *sum = &work->sum;
    if (!result->ran) {
        return;
    }
    sum->runs++;
    sum->again += result->again.history != NULL;
    if (!lapse_ns_add(sum->simulated_ns, lapse_cli_result_ns(result), &sum->simulated_ns)) {
        sum->simulated_ns = INT64_MAX;
    }
    sum->events += (int64_t)result->run.events;
    sum->uses |= (int64_t)view->verdict->uses;
    lapse_cli_unpromised_add(&work->unpromised, view);
    LAPSE_ASSERT(view->verdict->rule_count <= work->rule_count);
    for (size_t i = 0; i < view->verdict->rule_count; i++) {
        const struct lapse_judged *judged = &view->verdict->judged[i];
        work->tallies[i].premises += judged->premises;
        work->tallies[i].runs += judged->premises > 0;
        work->tallies[i].breaks += judged->violations + judged->unpromised.times;
    }
    lapse_slack_join(work->row_slacks, view->verdict->slacks);
}

static void count_result(struct work *work, const struct lapse_cli_result *result,
                         struct lapse_cli_record *record) {
    const struct lapse_result_view *view = &result->view;
    record->scenarios = 1;
    record->broken = view->broken;
    record->starved = view->starved;
    record->passed = lapse_view_passed(view);
    record->parted = lapse_view_parted(view);
    record->failed = !view->broken && view->outcome == LAPSE_OUTCOME_VIOLATED;
    record->inconclusive =
        !view->broken && !record->parted && view->outcome == LAPSE_OUTCOME_INCONCLUSIVE;
    record->expected = record->passed && view->the_case->violates_count > 0;
    struct lapse_cli_record *sum = &work->sum;
    sum->scenarios++;
    sum->broken += record->broken;
    sum->starved += record->starved;
    sum->passed += record->passed;
    sum->failed += record->failed;
    sum->inconclusive += record->inconclusive;
    sum->parted += record->parted;
    sum->expected += record->expected;
    for (size_t i = 0; result->ran && i < view->verdict->rule_count; i++) {
        bool broke = view->verdict->judged[i].violations > 0;
        work->broke[i] = work->broke[i] || (record->expected && broke);
    }
}

static void send_file(struct work *work, const struct lapse_cli_file *file, const char *path) {
    const struct lapse_diag_list *diags = lapse_cli_file_diags(file);
    struct lapse_out bodies[LAPSE_CLI_REPORTS_MAX], expected, unpromised;
    lapse_out_init(&expected, lapse_alloc_libc());
    lapse_out_init(&unpromised, lapse_alloc_libc());
    lapse_cli_unpromised_write(&work->unpromised, &unpromised);
    work->starved = work->starved || unpromised.failed;
    put_expected(work, &expected);
    const struct lapse_file_view view = {
        .file = path,
        .source = file->readable ? &file->source : NULL,
        .diags = diags,
        .scenarios = (size_t)work->sum.scenarios,
        .passed = (size_t)work->sum.passed,
        .failed = (size_t)work->sum.failed,
        .inconclusive = (size_t)work->sum.inconclusive,
        .parted = (size_t)work->sum.parted,
        .broken = (size_t)work->sum.broken,
        .expected_violations = (size_t)work->sum.expected,
        .expected_ids = expected.text != NULL ? expected.text : "",
    };
    for (size_t i = 0; i < work->sinks->count; i++) {
        const struct lapse_cli_sink *sink = &work->sinks->items[i];
        lapse_out_init(&bodies[i], lapse_alloc_libc());
        sink->format->file(&bodies[i], &sink->style, &view);
    }
    work->sum.kind = LAPSE_RECORD_FILE;
    work->sum.mistakes = (int64_t)diags->count;
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        work->sum.slack_known[i] = work->slacks[i].known;
        work->sum.slack_ns[i] = work->slacks[i].least.ns;
    }
    work->sum.tally_count = (int64_t)work->rule_count;
    send_record(work, &work->sum, unpromised.text != NULL ? unpromised.text : "", bodies,
                work->sinks->count);
    for (size_t i = 0; i < work->sinks->count; i++) {
        lapse_out_free(&bodies[i]);
    }
    lapse_out_free(&expected);
    lapse_out_free(&unpromised);
}

/* The ids that broke as listed, each once, in the order of the rule table. */
static void put_expected(const struct work *work, struct lapse_out *out) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool said = !work->broke[i];
        for (size_t k = 0; k < i; k++) {
            said = said || (work->broke[k] && strcmp(rules[k].id, rules[i].id) == 0);
        }
        if (!said) {
            lapse_out_format(out, "%s%s", out->len > 0 ? ", " : "", rules[i].id);
        }
    }
}

static void send_record(struct work *work, const struct lapse_cli_record *record, const char *text,
                        const struct lapse_out *bodies, size_t count) {
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_cli_record_write(&out, record, work->tallies, text, bodies, count);
    work->starved = work->starved || out.failed;
    work->sent = work->sent && !out.failed && lapse_cli_send_all(work->fd, out.text, out.len);
    lapse_out_free(&out);
}
