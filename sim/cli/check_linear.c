/* LIN-01 of a recorded history, from outside: is there one order of all calls, each between its
 * sending and its answer, that explains what was answered? The witness of a yes and the core of a
 * no are told, and written as JSON lines for whoever would check them. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "contracts/certificate.h"

enum { CORE_SHOWN = 12, SAID_MAX = 8 };
static const char id[] = "LIN-01";

static void tell_nothing(struct lapse_cli_checked *checked, const char *of, const char *why);
static enum lapse_status judge_one(struct lapse_cli_checked *checked,
                                   const struct lapse_linear_problem *problem, size_t *no);
static void tell_no(struct lapse_cli_checked *checked, const struct lapse_linear_problem *problem,
                    const struct lapse_linear_result *result);
static void tell_gave_up(struct lapse_cli_checked *checked,
                         const struct lapse_linear_problem *problem,
                         const struct lapse_linear_result *result);
static void write_certificate(struct lapse_out *out, const char *path,
                              const struct lapse_linear_problem *problem,
                              const struct lapse_linear_result *result);
static void write_text(struct lapse_out *out, const char *text, size_t len);
static struct lapse_place place_of(const struct lapse_cli_checked *checked,
                                   const struct lapse_linear_call *call);
static void put_problem(struct lapse_out *out, const struct lapse_linear_problem *problem);

enum lapse_status lapse_cli_check_linear(struct lapse_cli_checked *checked) {
    const struct lapse_linear_problems *problems = &checked->problems;
    enum lapse_status status = LAPSE_OK;
    size_t no = 0;
    if (problems->not_judged != NULL) {
        lapse_out_format(&checked->judged, "%s not judged: %s\n", id, problems->not_judged);
        tell_nothing(checked, ", as ", problems->not_judged);
        return LAPSE_OK;
    }
    if (problems->left_out != NULL) {
        lapse_out_format(&checked->judged, "%s not judged of %s\n", id, problems->left_out);
    }
    if (problems->call_count == 0) {
        if (problems->left_out != NULL) {
            tell_nothing(checked, " of ", problems->left_out);
        }
        return LAPSE_OK;
    }
    for (size_t i = 0; i < problems->count && status == LAPSE_OK; i++) {
        status = judge_one(checked, &problems->items[i], &no);
    }
    if (status == LAPSE_OK && checked->verdict.outcome == LAPSE_OUTCOME_PASSED) {
        lapse_out_format(&checked->judged,
                         "%s: an order of %zu calls and ends of terms (names: %zu) explains every "
                         "answer\n",
                         id, problems->call_count, problems->count);
    }
    if (no > SAID_MAX) {
        lapse_out_format(&checked->judged, "%s: and of %zu more names\n", id, no - SAID_MAX);
    }
    return status;
}

/* A history of which nothing was judged has not passed. */
static void tell_nothing(struct lapse_cli_checked *checked, const char *of, const char *why) {
    bool judged = checked->verdict.outcome != LAPSE_OUTCOME_PASSED;
    for (size_t i = 0; i < checked->verdict.rule_count; i++) {
        judged = judged || checked->verdict.judged[i].premises > 0;
    }
    if (!judged) {
        (void)lapse_error_set(&checked->err, LAPSE_OK,
                              "nothing in it was judged: no rule speaks of what was recorded, and "
                              "%s is not looked for%s%s",
                              id, of, why);
        checked->verdict.outcome = LAPSE_OUTCOME_INCONCLUSIVE;
    }
}

/* A yes is believed only with a witness that the verifier accepts, which shares nothing with the
 * search. */
static enum lapse_status judge_one(struct lapse_cli_checked *checked,
                                   const struct lapse_linear_problem *problem, size_t *no) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    const struct lapse_linear_budget budget = lapse_linear_budget_default();
    struct lapse_linear_result result;
    enum lapse_status status = lapse_linear_check(alloc, &problem->model, problem->calls,
                                                  problem->count, &budget, &result, &checked->err);
    if (status == LAPSE_INVALID) {
        struct lapse_place place = {checked->path, 1, 1, 1};
        (void)lapse_diag_add(&checked->unread, "J110", place, "", "%s", checked->err.message);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    if (result.verdict == LAPSE_LINEAR_YES) {
        status = lapse_certificate_verify(alloc, &problem->model, problem->calls, problem->count,
                                          result.witness, result.witness_count, &checked->err);
        LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_NOMEM);
    } else if (result.verdict == LAPSE_LINEAR_NO) {
        if ((*no)++ < SAID_MAX) {
            tell_no(checked, problem, &result);
        }
    } else {
        tell_gave_up(checked, problem, &result);
    }
    write_certificate(&checked->certificate, checked->path, problem, &result);
    lapse_linear_result_free(&result);
    return status;
}

/* What the rules found first stays the error that is told; a no is then told as a line. */
static void tell_no(struct lapse_cli_checked *checked, const struct lapse_linear_problem *problem,
                    const struct lapse_linear_result *result) {
    char text[LAPSE_LINEAR_CALL_TEXT_MAX];
    struct lapse_out name;
    lapse_out_init(&name, lapse_alloc_libc());
    put_problem(&name, problem);
    if (checked->verdict.outcome == LAPSE_OUTCOME_VIOLATED) {
        lapse_out_format(&checked->judged, "%s: no order explains the answers of %s either\n", id,
                         name.text != NULL ? name.text : "");
        lapse_out_free(&name);
        return;
    }
    uint32_t last = result->core_count > 0 ? result->core[result->core_count - 1] : result->stuck;
    struct lapse_diag *diag =
        lapse_diag_add(&checked->diags, id, place_of(checked, &problem->calls[last]),
                       lapse_linear_call_print(problem, last, text),
                       "no order of the calls of %s explains what they answered",
                       name.text != NULL ? name.text : "");
    for (size_t i = 0; i + 1 < result->core_count; i++) {
        uint32_t call = result->core[i];
        (void)lapse_linear_call_print(problem, call, text);
        if (i + 1 < LAPSE_DIAG_LABELS_MAX) {
            lapse_diag_label(&checked->diags, diag, place_of(checked, &problem->calls[call]), "%s",
                             text);
        } else if (i < CORE_SHOWN) {
            lapse_diag_note(&checked->diags, diag, "and", "line %lld: %s",
                            (long long)place_of(checked, &problem->calls[call]).line, text);
        }
    }
    lapse_diag_note(&checked->diags, diag, "core", "%zu of %zu calls%s", result->core_count,
                    problem->count,
                    result->core_minimal ? ": were the answer of any one of them unknown, there "
                                           "would be an order"
                                         : ", not proven to be the fewest");
    lapse_out_format(&checked->judged, "%s: judged by looking for an order of calls, by name\n",
                     id);
    lapse_out_free(&name);
    checked->verdict.outcome = LAPSE_OUTCOME_VIOLATED;
    checked->verdict.id = id;
    checked->verdict.event = -1;
    checked->verdict.diags = checked->diags;
}

static void tell_gave_up(struct lapse_cli_checked *checked,
                         const struct lapse_linear_problem *problem,
                         const struct lapse_linear_result *result) {
    struct lapse_out name;
    lapse_out_init(&name, lapse_alloc_libc());
    put_problem(&name, problem);
    lapse_out_format(&checked->judged, "%s: gave up on %s after %llu steps\n", id,
                     name.text != NULL ? name.text : "", (unsigned long long)result->steps);
    if (checked->verdict.outcome == LAPSE_OUTCOME_PASSED) {
        (void)lapse_error_set(&checked->err, LAPSE_OK,
                              "the search for an order of the %zu calls of %s gave up after %llu "
                              "steps; record a shorter time, or fewer clients",
                              problem->count, name.text != NULL ? name.text : "",
                              (unsigned long long)result->steps);
        checked->verdict.outcome = LAPSE_OUTCOME_INCONCLUSIVE;
    }
    lapse_out_free(&name);
}

/* {"file", "kind", "name", "verdict", and "witness": [{"line", "call"}] or "core"}. */
static void write_certificate(struct lapse_out *out, const char *path,
                              const struct lapse_linear_problem *problem,
                              const struct lapse_linear_result *result) {
    bool yes = result->verdict == LAPSE_LINEAR_YES;
    size_t count = yes ? result->witness_count : result->core_count;
    lapse_out_text(out, "{\"file\": ");
    write_text(out, path, strlen(path));
    lapse_out_format(out, ", \"kind\": \"%s\", \"name\": ", lapse_linear_kind_word(problem->kind));
    write_text(out, (const char *)problem->name.data, problem->name.len);
    lapse_out_format(out, ", \"verdict\": \"%s\", \"steps\": %llu",
                     lapse_linear_verdict_word(result->verdict), (unsigned long long)result->steps);
    if (result->verdict == LAPSE_LINEAR_NO) {
        lapse_out_format(out, ", \"minimal\": %s", result->core_minimal ? "true" : "false");
    }
    lapse_out_format(out, ", \"%s\": [", yes ? "witness" : "core");
    for (size_t i = 0; i < count; i++) {
        char text[LAPSE_LINEAR_CALL_TEXT_MAX];
        uint32_t call = yes ? result->witness[i].call : result->core[i];
        (void)lapse_linear_call_print(problem, call, text);
        lapse_out_format(out, "%s{\"source\": %lld, \"call\": ", i > 0 ? ", " : "",
                         (long long)problem->calls[call].source);
        write_text(out, text, strlen(text));
        lapse_out_text(out, "}");
    }
    lapse_out_text(out, "]}\n");
}

/* Made safe first, so that any bytes are JSON. */
static void write_text(struct lapse_out *out, const char *text, size_t len) {
    char shown[2 * LAPSE_LINEAR_CALL_TEXT_MAX];
    const struct lapse_bytes bytes = {(const unsigned char *)text, len};
    (void)lapse_bytes_print(bytes, shown, sizeof shown);
    lapse_out_text(out, "\"");
    for (const char *at = shown; *at != '\0'; at++) {
        lapse_out_format(out, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    }
    lapse_out_text(out, "\"");
}

static struct lapse_place place_of(const struct lapse_cli_checked *checked,
                                   const struct lapse_linear_call *call) {
    int64_t source = call->source;
    const struct lapse_case *the_case = &checked->recorded.the_case;
    struct lapse_place place = {checked->path, 1, 1, 1};
    if (checked->form != LAPSE_FORM_LAPSE) {
        place.line = source > 0 && source < INT32_MAX ? (int)source : 1;
        return place;
    }
    for (size_t i = 0; i < lapse_history_count(checked->recorded.history); i++) {
        const struct lapse_history_event *event = lapse_history_at(checked->recorded.history, i);
        if (event->kind == LAPSE_HISTORY_INVOKE && event->call == source) {
            return the_case->event_places[i];
        }
    }
    return place;
}

static void put_problem(struct lapse_out *out, const struct lapse_linear_problem *problem) {
    char name[LAPSE_LINEAR_CALL_TEXT_MAX];
    lapse_out_text(out, problem->name.len > 0 ? "" : "the ");
    lapse_out_text(out, lapse_linear_kind_word(problem->kind));
    if (problem->name.len > 0) {
        lapse_out_format(out, " %s", lapse_bytes_print(problem->name, name, sizeof name));
    }
}
