/* One recorded history: read, judged by the rules whose events it has, and, where no store's
 * decision was recorded, by looking for one order of its calls that explains all answers. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "contracts/jepsen.h"
#include "contracts/linear_history.h"

static const char *name_of(const struct lapse_cli_checked *checked);
static bool read_file(const char *path, struct lapse_cli_checked *ret);
static enum lapse_status read_history(struct lapse_cli_checked *checked);
static enum lapse_status read_log(struct lapse_cli_checked *checked);
static enum lapse_status judge_events(struct lapse_cli_checked *checked);
static enum lapse_status find_problems(struct lapse_cli_checked *checked);
static enum lapse_status copy_verdict(struct lapse_cli_checked *checked);
static void say_cut(struct lapse_cli_checked *checked);
static void say_judged(struct lapse_cli_checked *checked);

enum lapse_status lapse_cli_check_file(const struct lapse_cli_options *options, const char *path,
                                       struct lapse_cli_checked *ret) {
    memset(ret, 0, sizeof *ret);
    ret->path = path;
    ret->tally = options->tally;
    lapse_diag_list_init(&ret->unread, lapse_alloc_libc());
    lapse_diag_list_init(&ret->diags, lapse_alloc_libc());
    lapse_out_init(&ret->judged, lapse_alloc_libc());
    lapse_out_init(&ret->certificate, lapse_alloc_libc());
    if (!read_file(path, ret)) {
        return ret->unread.count > 0 ? LAPSE_INVALID : LAPSE_NOMEM;
    }
    ret->form = lapse_cli_form_find(options->form, ret->bytes.data, ret->bytes.count);
    enum lapse_status status = ret->form == LAPSE_FORM_LAPSE ? read_history(ret) : read_log(ret);
    if (status == LAPSE_OK) {
        status = judge_events(ret);
    }
    if (status == LAPSE_OK) {
        say_judged(ret);
        status = find_problems(ret);
    }
    if (status == LAPSE_OK) {
        status = lapse_cli_check_linear(ret);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    ret->view = (struct lapse_result_view){
        .file = path,
        .line = 1,
        .row = -1,
        .name = name_of(ret),
        .source = &ret->recorded.source,
        .history = ret->recorded.history,
        .verdict = &ret->verdict,
        .the_case = &ret->recorded.the_case,
        .outcome = ret->verdict.outcome,
        .why = ret->verdict.outcome == LAPSE_OUTCOME_INCONCLUSIVE ? ret->err.message : NULL,
        .promise_strict = ret->recorded.top.promise_strict,
        .recorded = true,
        .log_calls = ret->problems.sent_count,
        .judged = ret->judged.text,
        .certificates = ret->certificate.len > 0 ? ret->certificate.text : NULL,
    };
    ret->ready = true;
    return ret->judged.failed || ret->certificate.failed || ret->diags.failed ? LAPSE_NOMEM
                                                                              : LAPSE_OK;
}

const struct lapse_diag_list *lapse_cli_checked_diags(const struct lapse_cli_checked *checked) {
    return checked->unread.count > 0 ? &checked->unread : &checked->recorded.diags;
}

void lapse_cli_checked_free(struct lapse_cli_checked *checked) {
    lapse_judge_close(checked->judge);
    lapse_linear_problems_free(&checked->problems);
    lapse_recorded_free(&checked->recorded);
    lapse_cli_bytes_free(&checked->bytes);
    lapse_diag_list_free(&checked->unread);
    lapse_diag_list_free(&checked->diags);
    lapse_out_free(&checked->judged);
    lapse_out_free(&checked->certificate);
}

/* The scenario's name, where the first line tells it: its text ends in a NUL. */
static const char *name_of(const struct lapse_cli_checked *checked) {
    struct lapse_bytes name = checked->recorded.setup->scenario;
    bool text = strlen((const char *)name.data) == name.len;
    return text ? (const char *)name.data : checked->path;
}

static bool read_file(const char *path, struct lapse_cli_checked *ret) {
    struct lapse_error err = {0};
    enum lapse_status status = lapse_cli_bytes_read(
        path, "a history", (size_t)LAPSE_RECORDED_BYTES_MAX + 1, &ret->bytes, &err);
    if (status == LAPSE_IO) {
        struct lapse_place place = {path, 0, 0, 0};
        (void)lapse_diag_add(&ret->unread, "Y000", place, "", "the file cannot be read: %s",
                             err.message);
    }
    return status == LAPSE_OK;
}

static enum lapse_status read_history(struct lapse_cli_checked *checked) {
    return lapse_recorded_read(lapse_alloc_libc(), checked->path, checked->bytes.data,
                               checked->bytes.count, &checked->recorded, &checked->err);
}

/* A log tells of one register or of strings, not of leases and terms: its history has no events,
 * and the search alone judges. */
static enum lapse_status read_log(struct lapse_cli_checked *checked) {
    static const char none[] = "{\"lapse\": 1}\n";
    const struct lapse_bytes text = {(const unsigned char *)checked->bytes.data,
                                     checked->bytes.count};
    enum lapse_jepsen_form form =
        checked->form == LAPSE_FORM_ETCD ? LAPSE_JEPSEN_LOG : LAPSE_JEPSEN_MAPS;
    enum lapse_status status =
        lapse_recorded_read(lapse_alloc_libc(), checked->path, none, sizeof none - 1,
                            &checked->recorded, &checked->err);
    if (status != LAPSE_OK) {
        return status;
    }
    checked->recorded.source =
        (struct lapse_source){checked->path, checked->bytes.data, checked->bytes.count};
    struct lapse_error err = {0};
    status = lapse_jepsen_read(lapse_alloc_libc(), text, form, &checked->problems, &err);
    if (status == LAPSE_INVALID) {
        struct lapse_place place = {checked->path, err.line, err.column, err.span};
        (void)lapse_diag_add(&checked->unread, "J130", place, "", "%s", err.message);
    }
    return status;
}

static enum lapse_status judge_events(struct lapse_cli_checked *checked) {
    const struct lapse_history *history = checked->recorded.history;
    checked->recorded.the_case.tally = checked->tally;
    enum lapse_status status = lapse_judge_open(lapse_alloc_libc(), &checked->recorded.the_case,
                                                &checked->judge, &checked->err);
    bool stop = false;
    for (size_t i = 0; status == LAPSE_OK && i < lapse_history_count(history); i++) {
        status = lapse_judge_event(checked->judge, lapse_history_at(history, i), &stop);
    }
    return status == LAPSE_OK ? copy_verdict(checked) : status;
}

/* A history with decisions says itself in which order they came; without, an order is looked for.
 */
static enum lapse_status find_problems(struct lapse_cli_checked *checked) {
    if (checked->form != LAPSE_FORM_LAPSE || checked->recorded.decisions) {
        return LAPSE_OK;
    }
    return lapse_linear_history_read(lapse_alloc_libc(), checked->recorded.history,
                                     &checked->problems, &checked->err);
}

/* Texts stay the judge's. */
static enum lapse_status copy_verdict(struct lapse_cli_checked *checked) {
    const struct lapse_recorded_closing *closing = &checked->recorded.closing;
    checked->verdict = *lapse_judge_verdict(checked->judge);
    bool stopped = checked->verdict.outcome == LAPSE_OUTCOME_INCONCLUSIVE && closing->given &&
                   closing->outcome == LAPSE_OUTCOME_VIOLATED;
    char charged[64];
    if (stopped) {
        (void)lapse_error_set(
            &checked->err, LAPSE_OK,
            "the run was stopped at event %lld by what its scenario expects (%s), "
            "which is in no history; the rules broke nowhere before it",
            (long long)closing->event,
            lapse_bytes_print(closing->charged, charged, sizeof charged));
    } else if (checked->recorded.cut && checked->verdict.outcome != LAPSE_OUTCOME_VIOLATED) {
        say_cut(checked);
    } else if (checked->verdict.outcome == LAPSE_OUTCOME_INCONCLUSIVE) {
        (void)lapse_error_set(
            &checked->err, LAPSE_OK,
            "the history was cut at a bound, and what came later was not recorded");
    }
    return LAPSE_OK;
}

/* What lapse wrote tells by its last line that it is whole. */
static void say_cut(struct lapse_cli_checked *checked) {
    const struct lapse_history *history = checked->recorded.history;
    size_t count = lapse_history_count(history);
    const struct lapse_history_event *last = lapse_history_at(history, count - 1);
    bool whole = last->kind == LAPSE_HISTORY_END;
    size_t told = whole || count < 2 ? count - 1 : count - 2;
    int line = told == 0 ? 1 : checked->recorded.the_case.event_places[told].line;
    char at[LAPSE_TIME_TEXT_MAX];
    checked->verdict.outcome = LAPSE_OUTCOME_INCONCLUSIVE;
    (void)lapse_error_set(&checked->err, LAPSE_OK,
                          "it stops at line %d, at %s: lapse wrote it, and its closing line, which "
                          "shows that it is whole, is missing. Without `recorder` in the first "
                          "line it is judged as it is",
                          line, lapse_span_print((struct lapse_span){last->at.ns}, at));
}

/* Which rules had something to say, which had not, and which could not be asked. */
static void say_judged(struct lapse_cli_checked *checked) {
    struct lapse_out *out = &checked->judged;
    const struct lapse_verdict *verdict = &checked->verdict;
    size_t count, judged = 0, unasked = 0, contracts;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    (void)lapse_contract_table(&contracts);
    if (checked->form != LAPSE_FORM_LAPSE) {
        return; /* a log has no events that a rule speaks of */
    }
    lapse_out_text(out, "judged by rules:");
    for (size_t i = 0; i < count; i++) {
        bool asked =
            !checked->recorded.the_case.no_decisions || lapse_rule_needs_no_decision(rules[i].id);
        unasked += asked ? 0 : 1;
        if (asked && verdict->judged[i].premises > 0) {
            lapse_out_format(out, " %s", rules[i].id);
            judged++;
        }
    }
    lapse_out_text(out, judged == 0 ? " none, as nothing here is what one speaks of\n" : "\n");
    if (unasked > 0) {
        lapse_out_format(out, "not judged: %zu rules, as no decisions are recorded\n", unasked);
    }
}

enum lapse_cli_form lapse_cli_form_find(const char *name, const char *bytes, size_t count) {
    static const char *const names[] = {"", "lapse", "etcd", "kv"};
    for (size_t i = 1; name != NULL && i < sizeof names / sizeof *names; i++) {
        if (strcmp(names[i], name) == 0) {
            return (enum lapse_cli_form)i;
        }
    }
    if (name != NULL) {
        return 0;
    }
    const struct lapse_bytes text = {(const unsigned char *)bytes, count};
    switch (lapse_jepsen_detect(text)) {
    case LAPSE_JEPSEN_LOG:
        return LAPSE_FORM_ETCD;
    case LAPSE_JEPSEN_MAPS:
        return LAPSE_FORM_KV;
    default:
        return LAPSE_FORM_LAPSE; /* which says what is wrong with it, if it is none */
    }
}
