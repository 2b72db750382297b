/* What one judged file adds to the reports and to the sums. */
#include "check.h"

#include <string.h>

enum { OUTSIDE_USES = LAPSE_USE_RESOURCES | LAPSE_USE_BELIEF | LAPSE_USE_LOOPS };

static void count_one(struct lapse_cli_check_work *work, const struct lapse_cli_checked *checked);
static void count_order(struct lapse_cli_check_work *work,
                        const struct lapse_cli_checked *checked);
static void render_file(struct lapse_cli_check_work *work, const struct lapse_file_view *file,
                        bool first);
static void render_scenario(struct lapse_cli_check_work *work,
                            const struct lapse_cli_checked *checked);

void lapse_cli_check_sum(struct lapse_cli_check_work *work,
                         const struct lapse_cli_checked *checked) {
    const struct lapse_result_view *view = &checked->view;
    const struct lapse_file_view file = {
        .file = checked->path,
        .source = checked->bytes.count > 0 ? &checked->recorded.source : NULL,
        .diags = checked->ready ? NULL : lapse_cli_checked_diags(checked),
        .recorded = true,
        .scenarios = checked->ready,
        .passed = checked->ready && lapse_view_passed(view),
        .failed = checked->ready && view->outcome == LAPSE_OUTCOME_VIOLATED,
        .inconclusive = checked->ready && view->outcome == LAPSE_OUTCOME_INCONCLUSIVE,
        .expected_ids = "",
    };
    count_one(work, checked);
    render_file(work, &file, true);
    if (checked->ready) {
        render_scenario(work, checked);
    }
    render_file(work, &file, false);
}

static void count_one(struct lapse_cli_check_work *work, const struct lapse_cli_checked *checked) {
    struct lapse_totals *totals = &work->totals;
    const struct lapse_result_view *view = &checked->view;
    totals->files++;
    if (!checked->ready) {
        totals->mistaken_files++;
        totals->mistakes += lapse_cli_checked_diags(checked)->count;
        return;
    }
    size_t count = lapse_history_count(view->history);
    totals->scenarios++;
    totals->runs++;
    totals->events += count;
    totals->passed += lapse_view_passed(view);
    totals->failed += view->outcome == LAPSE_OUTCOME_VIOLATED;
    totals->inconclusive += view->outcome == LAPSE_OUTCOME_INCONCLUSIVE;
    /* Of what no decision tells nothing was expected to be judged. */
    totals->uses |=
        view->verdict->uses & (view->the_case->no_decisions ? OUTSIDE_USES : UINT32_MAX);
    (void)lapse_ns_add(totals->simulated_ns, lapse_history_at(view->history, count - 1)->at.ns,
                       &totals->simulated_ns);
    for (size_t i = 0; i < totals->rule_count; i++) {
        work->tallies[i].premises += view->verdict->judged[i].premises;
        work->tallies[i].runs += view->verdict->judged[i].premises > 0;
    }
    count_order(work, checked);
    lapse_out_bytes(&work->certificates, checked->certificate.text, checked->certificate.len);
    if (!lapse_view_passed(view) && work->replay.len == 0) {
        lapse_replay_line(&work->replay, view);
    }
}

/* What the search for an order has judged counts as LIN-01's, once a name. */
static void count_order(struct lapse_cli_check_work *work,
                        const struct lapse_cli_checked *checked) {
    size_t count, names = checked->problems.count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < work->totals.rule_count && i < count; i++) {
        if (strcmp(rules[i].id, "LIN-01") == 0 && names > 0 &&
            checked->problems.not_judged == NULL) {
            work->tallies[i].premises += (int64_t)names;
            work->tallies[i].runs++;
        }
    }
}

static void render_file(struct lapse_cli_check_work *work, const struct lapse_file_view *file,
                        bool first) {
    for (size_t i = 0; i < work->sinks.count; i++) {
        struct lapse_cli_sink *sink = &work->sinks.items[i];
        if (sink->format->file_first == first) {
            struct lapse_out body;
            lapse_out_init(&body, lapse_alloc_libc());
            sink->format->file(&body, &sink->style, file);
            lapse_format_join(&sink->body, body.text, body.len, &sink->index);
            sink->body.failed = sink->body.failed || body.failed;
            lapse_out_free(&body);
        }
    }
}

static void render_scenario(struct lapse_cli_check_work *work,
                            const struct lapse_cli_checked *checked) {
    for (size_t i = 0; i < work->sinks.count; i++) {
        struct lapse_cli_sink *sink = &work->sinks.items[i];
        struct lapse_out body;
        lapse_out_init(&body, lapse_alloc_libc());
        sink->format->scenario(&body, &sink->style, &checked->view);
        lapse_format_join(&sink->body, body.text, body.len, &sink->index);
        sink->body.failed = sink->body.failed || body.failed;
        lapse_out_free(&body);
    }
}
