/* JSON lines for programs: one object a line, first the beginning, then each file and scenario,
 * last the sums. Times are in nanoseconds. Fields are added, never renamed. */
#include <string.h>

#include "draw.h"

static void jsonl_begin(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals);
static void jsonl_scenario(struct lapse_out *out, const struct lapse_style *style,
                           const struct lapse_result_view *view);
static void jsonl_file(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_file_view *view);
static void jsonl_end(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals, const char *replay);
static const char *outcome_of(const struct lapse_result_view *view);
static void put_run(struct lapse_out *out, const struct lapse_result_view *view);
static void put_certificates(struct lapse_out *out, const char *lines);
static void put_premises(struct lapse_out *out, const struct lapse_verdict *verdict);
static void put_measures(struct lapse_out *out, const struct lapse_result_view *view);
static void put_diag(struct lapse_out *out, const struct lapse_diag *diag);
static void put_contracts(struct lapse_out *out, const struct lapse_totals *totals);
static void put_slacks(struct lapse_out *out, const struct lapse_slack *slacks);
static void put_text(struct lapse_out *out, const char *key, const char *text);
static void put_number(struct lapse_out *out, const char *key, int64_t number);

const lapse_format lapse_format_jsonl = {"jsonl",    jsonl_begin, jsonl_scenario,
                                         jsonl_file, jsonl_end,   true};

static void jsonl_begin(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals) {
    (void)style;
    lapse_out_text(out, "{\"type\": \"start\", \"lapse\": 1");
    if (totals->program != NULL) {
        put_text(out, "program", totals->program);
    }
    lapse_out_format(out, ", \"seed\": %llu}\n", (unsigned long long)totals->seed);
}

static void jsonl_scenario(struct lapse_out *out, const struct lapse_style *style,
                           const struct lapse_result_view *view) {
    (void)style;
    lapse_out_text(out, "{\"type\": \"scenario\"");
    put_text(out, "file", view->file);
    put_number(out, "line", view->line);
    if (view->row >= 0) {
        put_number(out, "row", view->row);
    }
    put_text(out, "name", view->name);
    lapse_out_format(out, ", \"seed\": %llu", (unsigned long long)view->seed);
    put_text(out, "outcome", outcome_of(view));
    if (view->why != NULL) {
        put_text(out, "why", view->why);
    }
    if (view->verdict != NULL && view->history != NULL) {
        put_run(out, view);
    }
    if (!lapse_view_passed(view)) {
        struct lapse_out replay;
        lapse_out_init(&replay, out->alloc);
        lapse_replay_line(&replay, view);
        put_text(out, "replay", replay.text != NULL ? replay.text : "");
        out->failed = out->failed || replay.failed;
        lapse_out_free(&replay);
    }
    lapse_out_text(out, "}\n");
}

static void jsonl_file(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_file_view *view) {
    (void)style;
    lapse_out_text(out, "{\"type\": \"file\"");
    put_text(out, "file", view->file);
    put_number(out, "scenarios", (int64_t)view->scenarios);
    put_number(out, "passed", (int64_t)view->passed);
    if (view->diags != NULL && view->diags->count > 0) {
        lapse_out_text(out, ", \"mistakes\": [");
        for (size_t i = 0; i < view->diags->count; i++) {
            lapse_out_text(out, i > 0 ? ", " : "");
            put_diag(out, view->diags->items[i]);
        }
        lapse_out_text(out, "]");
    }
    lapse_out_text(out, "}\n");
}

static void jsonl_end(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals, const char *replay) {
    (void)style;
    lapse_out_text(out, "{\"type\": \"end\"");
    put_number(out, "passed", (int64_t)totals->passed);
    put_number(out, "failed", (int64_t)totals->failed);
    put_number(out, "inconclusive", (int64_t)totals->inconclusive);
    put_number(out, "not_deterministic", (int64_t)totals->parted);
    put_number(out, "broken_off", (int64_t)totals->broken);
    put_number(out, "mistakes", (int64_t)totals->mistakes);
    lapse_out_format(out, ", \"runs\": %llu, \"events\": %llu", (unsigned long long)totals->runs,
                     (unsigned long long)totals->events);
    put_number(out, "simulated_ns", totals->simulated_ns);
    put_number(out, "exit_code", totals->exit_code);
    if (replay != NULL) {
        put_text(out, "replay", replay);
    }
    put_contracts(out, totals);
    put_slacks(out, totals->slacks);
    lapse_out_text(out, "}\n");
}

static const char *outcome_of(const struct lapse_result_view *view) {
    return view->starved                                 ? "out of memory"
           : view->broken                                ? "broken off"
           : lapse_view_parted(view)                     ? "not deterministic"
           : view->outcome == LAPSE_OUTCOME_VIOLATED     ? "violated"
           : view->outcome == LAPSE_OUTCOME_INCONCLUSIVE ? "inconclusive"
                                                         : "passed";
}

static void put_run(struct lapse_out *out, const struct lapse_result_view *view) {
    put_number(out, "calls", (int64_t)lapse_view_calls(view));
    put_number(out, "events", (int64_t)lapse_history_count(view->history));
    lapse_out_format(out, ", \"digest\": \"%016llx\"",
                     (unsigned long long)lapse_history_digest(view->history));
    put_premises(out, view->verdict);
    put_measures(out, view);
    if (view->slacks != NULL) {
        put_slacks(out, view->slacks);
    }
    const struct lapse_diag *diag = lapse_view_diag(view);
    if (diag != NULL) {
        lapse_out_text(out, ", \"violation\": ");
        put_diag(out, diag);
    }
    if (view->certificates != NULL) {
        put_certificates(out, view->certificates);
    }
}

static void put_certificates(struct lapse_out *out, const char *lines) {
    lapse_out_text(out, ", \"certificates\": [");
    for (const char *at = lines; *at != '\0';) {
        size_t len = strcspn(at, "\n");
        lapse_out_text(out, at == lines ? "" : ", ");
        lapse_out_bytes(out, at, len);
        at += len + (at[len] == '\n' ? 1 : 0);
    }
    lapse_out_text(out, "]");
}

/* How often each rule had something to say, by contract; those that never had are left out. */
static void put_premises(struct lapse_out *out, const struct lapse_verdict *verdict) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    const char *between = "";
    lapse_out_text(out, ", \"judged\": {");
    for (size_t i = 0; i < count && i < verdict->rule_count; i++) {
        if (verdict->judged[i].premises > 0) {
            lapse_out_format(out, "%s\"%s\": %lld", between, rules[i].id,
                             (long long)verdict->judged[i].premises);
            between = ", ";
        }
    }
    lapse_out_text(out, "}");
}

static void put_measures(struct lapse_out *out, const struct lapse_result_view *view) {
    for (size_t i = 0; i < view->the_case->measure_count; i++) {
        const struct lapse_measured *measured = &view->verdict->measured[i];
        struct lapse_bytes name = view->the_case->measures[i].name;
        struct lapse_out text;
        lapse_out_init(&text, out->alloc);
        lapse_out_bytes(&text, (const char *)name.data, name.len);
        lapse_out_text(out, i == 0 ? ", \"measured\": {\"" : ", \"");
        lapse_out_escaped(out, text.text != NULL ? text.text : "", "\"");
        if (!measured->known) {
            lapse_out_text(out, "\": null");
        } else {
            lapse_out_format(out, "\": %lld", (long long)measured->number);
        }
        out->failed = out->failed || text.failed;
        lapse_out_free(&text);
    }
    lapse_out_text(out, view->the_case->measure_count > 0 ? "}" : "");
}

static void put_diag(struct lapse_out *out, const struct lapse_diag *diag) {
    lapse_out_text(out, "{\"code\": \"");
    lapse_out_escaped(out, diag->code, "\"");
    lapse_out_text(out, "\"");
    put_text(out, "message", diag->message);
    if (diag->label_count > 0 && diag->labels[0].place.file != NULL) {
        put_text(out, "file", diag->labels[0].place.file);
        put_number(out, "line", diag->labels[0].place.line);
        put_number(out, "column", diag->labels[0].place.column);
    }
    lapse_out_text(out, "}");
}

static void put_contracts(struct lapse_out *out, const struct lapse_totals *totals) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    lapse_out_text(out, ", \"contracts\": {");
    for (size_t i = 0; i < count; i++) {
        struct lapse_tally tally = lapse_tally_of(totals, contracts[i].id);
        lapse_out_format(out, "%s\"%s\": {\"judged\": %lld, \"runs\": %lld, \"broken\": %lld}",
                         i > 0 ? ", " : "", contracts[i].id, (long long)tally.premises,
                         (long long)tally.runs, (long long)tally.breaks);
    }
    lapse_out_text(out, "}");
}

static void put_slacks(struct lapse_out *out, const struct lapse_slack *slacks) {
    const char *between = "";
    lapse_out_text(out, ", \"slack_ns\": {");
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        if (slacks[i].known) {
            lapse_out_format(out, "%s\"%s\": %lld", between, slacks[i].id,
                             (long long)slacks[i].least.ns);
            between = ", ";
        }
    }
    lapse_out_text(out, "}");
}

static void put_text(struct lapse_out *out, const char *key, const char *text) {
    lapse_out_format(out, ", \"%s\": \"", key);
    lapse_out_escaped(out, text, "\"");
    lapse_out_text(out, "\"");
}

static void put_number(struct lapse_out *out, const char *key, int64_t number) {
    lapse_out_format(out, ", \"%s\": %lld", key, (long long)number);
}
