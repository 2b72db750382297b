/* Logs of Jepsen's tools under any bytes: read in the form that they look like, searched within a
 * small budget, and, where there is an order, its certificate verified. */
#include "harness.h"

#include "contracts/certificate.h"
#include "contracts/jepsen.h"

static void search(const struct lapse_linear_problems *problems, struct lapse_digest *digest);
static void verify(const struct lapse_linear_problem *problem, struct lapse_digest *digest);

static const struct lapse_linear_budget budget = {
    .steps = 20000, .bytes = (size_t)16 * 1024 * 1024, .core_steps = 5000};

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    const struct lapse_bytes text = {data, size};
    struct lapse_linear_problems problems;
    struct lapse_digest digest;
    struct lapse_error err = {0};
    lapse_digest_begin(&digest);
    enum lapse_jepsen_form form = lapse_jepsen_detect(text);
    if (form == LAPSE_JEPSEN_NONE) {
        return 0;
    }
    enum lapse_status status = lapse_jepsen_read(lapse_alloc_libc(), text, form, &problems, &err);
    LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_INVALID);
    if (status == LAPSE_INVALID) {
        LAPSE_ASSERT(err.line > 0 && err.message[0] != '\0');
        lapse_digest_i64(&digest, err.line);
        lapse_digest_bytes(&digest, lapse_bytes_of(err.message));
        return lapse_digest_value(&digest);
    }
    search(&problems, &digest);
    lapse_linear_problems_free(&problems);
    return lapse_digest_value(&digest);
}

static void search(const struct lapse_linear_problems *problems, struct lapse_digest *digest) {
    struct lapse_linear_sum sum;
    struct lapse_error err = {0};
    enum lapse_status status =
        lapse_linear_judge(lapse_alloc_libc(), problems, &budget, &sum, &err);
    LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_INVALID);
    if (status == LAPSE_OK) {
        lapse_digest_u64(digest, (uint64_t)sum.verdict);
        lapse_digest_u64(digest, sum.steps);
        lapse_linear_result_free(&sum.result);
    }
    for (size_t i = 0; status == LAPSE_OK && i < problems->count; i++) {
        verify(&problems->items[i], digest);
    }
}

static void verify(const struct lapse_linear_problem *problem, struct lapse_digest *digest) {
    struct lapse_linear_result result;
    struct lapse_error err = {0};
    char text[LAPSE_LINEAR_CALL_TEXT_MAX];
    for (size_t i = 0; i < problem->count; i++) {
        lapse_digest_bytes(digest, lapse_bytes_of(lapse_linear_call_print(problem, i, text)));
    }
    if (lapse_linear_check(lapse_alloc_libc(), &problem->model, problem->calls, problem->count,
                           &budget, &result, &err) != LAPSE_OK) {
        return;
    }
    if (result.verdict == LAPSE_LINEAR_YES) {
        LAPSE_ASSERT(lapse_certificate_verify(lapse_alloc_libc(), &problem->model, problem->calls,
                                              problem->count, result.witness,
                                              result.witness_count, &err) == LAPSE_OK);
    }
    lapse_linear_result_free(&result);
}
