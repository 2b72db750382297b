/* What the search costs. Histories of real systems are beside the numbers that another checker,
 * Porcupine, was measured to take for the same on a like core (it is no C, and not run here); a
 * generated history of leases is beside what was promised. Reading is not counted; the split of a
 * history into problems is. Times are the processor's; each the best of a few. */
#define _POSIX_C_SOURCE 200809L

#include "contracts/jepsen.h"
#include "contracts/linear_history.h"
#include "linear_leases_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, FILES_MAX = 128, FILE_BYTES_MAX = 1 << 20 };
static const double reference_sum_us = 368000, reference_median_us = 59.8,
                    reference_worst_us = 140000, string_us = 50000, leases_us = 1000000;

static bool etcd_rows(void);
static bool string_rows(void);
static bool leases_row(const char *what, const struct leases_plan *plan);
static double file_us(const char *folder, const char *name, enum lapse_linear_verdict *ret);
static double judge_us(const struct lapse_linear_problems *problems,
                       enum lapse_linear_verdict *ret);
static double now_us(void);
static int compare(const void *a, const void *b);
static bool row(const char *what, double us, double most_us);

int main(void) {
    static const struct leases_plan plans[] = {
        {10, 20, 10000, 0, -1, 1}, {10, 20, 10000, 10, -1, 2}, {10, 20, 10000, 10, 9000, 3}};
    bool good = etcd_rows();
    good = string_rows() && good;
    good = leases_row("10,000 calls, 10 clients, 20 leases", &plans[0]) && good;
    good = leases_row("the same, 1 % unanswered", &plans[1]) && good;
    good = leases_row("the same, one grant too many", &plans[2]) && good;
    return good ? 0 : 1;
}

static bool etcd_rows(void) {
    double us[FILES_MAX], sum = 0;
    int count = 0;
    for (int n = 0; n < FILES_MAX; n++) {
        char name[32];
        enum lapse_linear_verdict verdict;
        (void)snprintf(name, sizeof name, "etcd_%03d.log", n);
        double took = n == 95 ? -1 : file_us("etcd-histories", name, &verdict); /* 95 is none */
        if (took >= 0) {
            us[count++] = took;
            sum += took;
        }
    }
    if (count == 0) {
        printf("skipped: no histories of etcd beside this tree\n");
        return true;
    }
    qsort(us, (size_t)count, sizeof(*us), compare);
    printf("%d histories of etcd\n", count);
    bool good = row("sum, a fifth of Porcupine's", sum, reference_sum_us / 5);
    good = row("median, Porcupine's", us[count / 2], reference_median_us) && good;
    return row("worst, Porcupine's", us[count - 1], reference_worst_us) && good;
}

static bool string_rows(void) {
    static const char *const names[] = {"c01-ok.txt",  "c01-bad.txt", "c10-ok.txt",
                                        "c10-bad.txt", "c50-ok.txt",  "c50-bad.txt"};
    bool good = true;
    for (int i = 0; i < 6; i++) {
        enum lapse_linear_verdict verdict = LAPSE_LINEAR_GAVE_UP;
        double us = file_us("kv-histories", names[i], &verdict);
        bool right = (int)verdict == i % 2;
        good = (us < 0 || (row(names[i], us, string_us) && right)) && good;
    }
    return good;
}

static bool leases_row(const char *what, const struct leases_plan *plan) {
    double best = -1;
    enum lapse_linear_verdict verdict = LAPSE_LINEAR_GAVE_UP;
    struct lapse_history *history;
    if (lapse_history_open(lapse_alloc_libc(), 0, &history, NULL) != LAPSE_OK ||
        !leases_tell(plan, history)) {
        return false;
    }
    for (int round = 0; round < ROUNDS; round++) {
        struct lapse_linear_problems problems;
        double began = now_us();
        if (lapse_linear_history_read(lapse_alloc_libc(), history, &problems, NULL) != LAPSE_OK) {
            return false;
        }
        (void)judge_us(&problems, &verdict);
        double us = now_us() - began;
        best = best < 0 || us < best ? us : best;
        lapse_linear_problems_free(&problems);
    }
    lapse_history_close(history);
    bool expected = (int)verdict == (plan->planted >= 0 ? LAPSE_LINEAR_NO : LAPSE_LINEAR_YES);
    return row(what, best, leases_us) && expected;
}

/* The best of a few; -1: there is no such file. */
static double file_us(const char *folder, const char *name, enum lapse_linear_verdict *ret) {
    static unsigned char bytes[FILE_BYTES_MAX];
    char path[1024];
    double best = -1;
    (void)snprintf(path, sizeof path, "%s/%s/%s", LAPSE_DATA, folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return -1;
    }
    struct lapse_bytes text = {bytes, fread(bytes, 1, sizeof bytes, file)};
    (void)fclose(file);
    struct lapse_linear_problems problems;
    if (lapse_jepsen_read(lapse_alloc_libc(), text, lapse_jepsen_detect(text), &problems, NULL) !=
        LAPSE_OK) {
        return -1;
    }
    for (int round = 0; round < ROUNDS; round++) {
        double us = judge_us(&problems, ret);
        best = best < 0 || us < best ? us : best;
    }
    lapse_linear_problems_free(&problems);
    return best;
}

/* The verdict, without a core. */
static double judge_us(const struct lapse_linear_problems *problems,
                       enum lapse_linear_verdict *ret) {
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    struct lapse_linear_sum sum;
    budget.core_steps = 0;
    double began = now_us();
    if (lapse_linear_judge(lapse_alloc_libc(), problems, &budget, &sum, NULL) != LAPSE_OK) {
        exit(1);
    }
    double us = now_us() - began;
    *ret = sum.verdict;
    lapse_linear_result_free(&sum.result);
    return us;
}

static double now_us(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool row(const char *what, double us, double most_us) {
    printf("  %-38s %10.1f us   %10.1f us   %8.1fx\n", what, us, most_us, most_us / us);
    return us <= most_us;
}
