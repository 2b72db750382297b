/* The reader of recorded histories under any bytes, and the judge and the writers behind it: what
 * was read without a mistake may be nonsense, and must be judged and drawn without harm. */
#include "harness.h"

#include <string.h>

#include "contracts/linear_history.h"
#include "reports/recorded.h"

static void check_mistakes(const struct lapse_recorded *recorded);
static void judge(struct lapse_recorded *recorded, struct lapse_digest *digest);
static void search(const struct lapse_recorded *recorded, struct lapse_digest *digest);
static void draw(const struct lapse_recorded *recorded, const struct lapse_verdict *verdict,
                 struct lapse_digest *digest);

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    const char *bytes = data == NULL ? "" : (const char *)data;
    struct lapse_recorded recorded;
    struct lapse_digest digest;
    struct lapse_error err = {0};
    lapse_digest_begin(&digest);
    enum lapse_status status =
        lapse_recorded_read(lapse_alloc_libc(), "fuzz.jsonl", bytes, size, &recorded, &err);
    LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_INVALID);
    LAPSE_ASSERT((status == LAPSE_OK) == (recorded.diags.count == 0));
    LAPSE_ASSERT((status == LAPSE_OK) == (recorded.the_case.setup != NULL));
    check_mistakes(&recorded);
    lapse_digest_u64(&digest, recorded.diags.count);
    if (status == LAPSE_OK) {
        lapse_digest_u64(&digest, lapse_history_digest(recorded.history));
        judge(&recorded, &digest);
        if (!recorded.decisions) {
            search(&recorded, &digest);
        }
    }
    lapse_recorded_free(&recorded);
    return lapse_digest_value(&digest);
}

static void check_mistakes(const struct lapse_recorded *recorded) {
    for (size_t i = 0; i < recorded->diags.count; i++) {
        const struct lapse_diag *diag = recorded->diags.items[i];
        const struct lapse_place *place = &diag->labels[0].place;
        LAPSE_ASSERT(diag->label_count > 0);
        LAPSE_ASSERT(place->line > 0);
        LAPSE_ASSERT(place->column > 0);
        LAPSE_ASSERT(place->span > 0);
        LAPSE_ASSERT(diag->message[0] != '\0');
    }
}

static void judge(struct lapse_recorded *recorded, struct lapse_digest *digest) {
    struct lapse_judge *judge = NULL;
    struct lapse_error err = {0};
    bool stop = false;
    LAPSE_ASSERT(lapse_judge_open(lapse_alloc_libc(), &recorded->the_case, &judge, &err) ==
                 LAPSE_OK);
    for (size_t i = 0; i < lapse_history_count(recorded->history); i++) {
        (void)lapse_judge_event(judge, lapse_history_at(recorded->history, i), &stop);
    }
    draw(recorded, lapse_judge_verdict(judge), digest);
    lapse_judge_close(judge);
}

/* From outside, within a small budget; each call that a report may name can be told in words. */
static void search(const struct lapse_recorded *recorded, struct lapse_digest *digest) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    const struct lapse_linear_budget budget = {
        .steps = 20000, .bytes = (size_t)16 * 1024 * 1024, .core_steps = 5000};
    struct lapse_linear_problems problems;
    struct lapse_linear_sum sum;
    struct lapse_error err = {0};
    LAPSE_ASSERT(lapse_linear_history_read(alloc, recorded->history, &problems, &err) == LAPSE_OK);
    enum lapse_status status = lapse_linear_judge(alloc, &problems, &budget, &sum, &err);
    /* INVALID: an answer that no store gives, such as a term below 0 that was taken. */
    LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_INVALID);
    lapse_digest_u64(digest, status == LAPSE_OK ? sum.steps : 0);
    for (size_t i = 0; i < problems.count; i++) {
        char text[LAPSE_LINEAR_CALL_TEXT_MAX];
        for (size_t call = 0; call < problems.items[i].count; call++) {
            (void)lapse_linear_call_print(&problems.items[i], call, text);
        }
    }
    lapse_linear_result_free(&sum.result);
    lapse_linear_problems_free(&problems);
}

/* As every format writes it; and as a history once more, which must be read back alike. */
static void draw(const struct lapse_recorded *recorded, const struct lapse_verdict *verdict,
                 struct lapse_digest *digest) {
    const struct lapse_style style = {.width = 100, .verbose = 2};
    const struct lapse_result_view view = {
        .file = "fuzz.jsonl",
        .line = 1,
        .row = -1,
        .name = "fuzz",
        .source = &recorded->source,
        .history = recorded->history,
        .verdict = verdict,
        .the_case = &recorded->the_case,
        .outcome = verdict->outcome,
        .recorded = true,
    };
    struct lapse_error err = {0};
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    for (const char *const *name = lapse_format_names(); *name != NULL; name++) {
        lapse_format_find(*name)->scenario(&out, &style, &view);
    }
    lapse_steps_draw(&out, &view);
    lapse_digest_bytes(digest, (struct lapse_bytes){(const unsigned char *)out.text, out.len});
    lapse_out_free(&out);
    struct lapse_recorded again;
    enum lapse_status status = lapse_recorded_write(&out, &view, &err);
    LAPSE_ASSERT(status == LAPSE_OK);
    status =
        lapse_recorded_read(lapse_alloc_libc(), "again.jsonl", out.text, out.len, &again, &err);
    LAPSE_ASSERT(status == LAPSE_OK);
    LAPSE_ASSERT(again.complete);
    lapse_recorded_free(&again);
    lapse_out_free(&out);
}
