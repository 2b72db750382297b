/* Jepsen's logs: histories of real systems where they lie beside this tree, their verdicts, and the
 * places of mistakes. */
#include "contracts/certificate.h"
#include "contracts/jepsen.h"
#include "linear_brute_test.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 4 * 1024 * 1024 };

/* Reads a file of the shared data; false if there is none. */
static bool read_data(const char *folder, const char *name, struct lapse_bytes *ret) {
    char path[1024];
    (void)snprintf(path, sizeof path, "%s/%s/%s", LAPSE_DATA, folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    unsigned char *data = malloc(FILE_BYTES_MAX);
    cr_assert_not_null(data);
    size_t len = fread(data, 1, FILE_BYTES_MAX, file);
    cr_assert_eq(fclose(file), 0);
    cr_assert_lt(len, FILE_BYTES_MAX);
    *ret = (struct lapse_bytes){data, len};
    return true;
}

static void free_data(struct lapse_bytes data) {
    free((void *)(uintptr_t)data.data);
}

static enum lapse_linear_verdict judge(const char *name, struct lapse_bytes text,
                                       enum lapse_jepsen_form form) {
    struct lapse_linear_problems problems;
    struct lapse_linear_sum sum;
    struct lapse_error err = {0};
    struct lapse_linear_budget budget = lapse_linear_budget_default();
    cr_assert_eq(lapse_jepsen_detect(text), form, "%s", name);
    cr_assert_eq(lapse_jepsen_read(lapse_alloc_libc(), text, form, &problems, &err), LAPSE_OK,
                 "%s:%d:%d: %s", name, err.line, err.column, err.message);
    cr_assert_eq(lapse_linear_judge(lapse_alloc_libc(), &problems, &budget, &sum, &err), LAPSE_OK,
                 "%s: %s", name, err.message);
    cr_assert(sum.verdict != LAPSE_LINEAR_NO || sum.result.core_minimal, "%s", name);
    enum lapse_linear_verdict verdict = sum.verdict;
    lapse_linear_result_free(&sum.result);
    for (size_t i = 0; verdict == LAPSE_LINEAR_YES && i < problems.count; i++) {
        struct lapse_linear_problem *p = &problems.items[i];
        (void)lapse_linear_check(lapse_alloc_libc(), &p->model, p->calls, p->count, &budget,
                                 &sum.result, NULL);
        cr_assert_eq(lapse_certificate_verify(lapse_alloc_libc(), &p->model, p->calls, p->count,
                                              sum.result.witness, sum.result.witness_count, &err),
                     LAPSE_OK, "%s: %s", name, err.message);
        lapse_linear_result_free(&sum.result);
    }
    lapse_linear_problems_free(&problems);
    return verdict;
}

Test(jepsen, judges_102_histories_of_etcd_rightly) {
    struct lapse_bytes verdicts;
    if (!read_data("etcd-histories", "verdicts.tsv", &verdicts)) {
        cr_skip_test("no etcd histories beside this tree");
    }
    char *text = malloc(verdicts.len + 1);
    cr_assert_not_null(text);
    memcpy(text, verdicts.data, verdicts.len);
    text[verdicts.len] = 0;
    int count = 0, yes = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        char name[64], word[64];
        struct lapse_bytes log;
        cr_assert_eq(sscanf(line, "%63s %63s", name, word), 2);
        cr_assert(read_data("etcd-histories", name, &log), "%s", name);
        bool expected = strcmp(word, "linearizable") == 0;
        cr_assert_eq(judge(name, log, LAPSE_JEPSEN_LOG),
                     expected ? LAPSE_LINEAR_YES : LAPSE_LINEAR_NO, "%s", name);
        count++;
        yes += expected ? 1 : 0;
        free_data(log);
    }
    cr_assert_eq(count, 102);
    cr_assert_eq(yes, 23);
    free(text);
    free_data(verdicts);
}

Test(jepsen, accepts_the_good_histories_of_a_string_store_and_no_bad_one) {
    static const char *const names[] = {"c01-ok.txt",  "c10-ok.txt",  "c50-ok.txt",
                                        "c01-bad.txt", "c10-bad.txt", "c50-bad.txt"};
    for (size_t i = 0; i < 6; i++) {
        struct lapse_bytes log;
        if (!read_data("kv-histories", names[i], &log)) {
            cr_skip_test("no histories of a string store beside this tree");
        }
        cr_assert_eq(judge(names[i], log, LAPSE_JEPSEN_MAPS),
                     i < 3 ? LAPSE_LINEAR_YES : LAPSE_LINEAR_NO, "%s", names[i]);
        free_data(log);
    }
}

Test(jepsen, takes_each_outcome_for_what_it_says) {
    static const struct {
        const char *log;
        enum lapse_linear_verdict verdict;
    } cases[] = {
        {"1 :invoke :write 3\n1 :ok :write 3\n2 :invoke :read nil\n2 :ok :read 3", 0},
        {"1 :invoke :write 3\n1 :ok :write 3\n2 :invoke :read nil\n2 :ok :read nil", 1},
        {"1 :invoke :write 3\n1 :info :write :timed-out\n2 :invoke :read nil\n2 :ok :read 3", 0},
        {"1 :invoke :write 3\n1 :info :write :timed-out\n2 :invoke :read nil\n2 :ok :read nil", 0},
        {"1 :invoke :write 3\n1 :fail :write 3\n2 :invoke :read nil\n2 :ok :read 3", 1},
        {"1 :invoke :write 3\n2 :invoke :read nil\n2 :ok :read 3\n", 0},
        {"1 :invoke :cas [1 2]\n1 :ok :cas [1 2]\n", 1},
        {"1 :invoke :cas [1 2]\n1 :fail :cas [1 2]\n", 0},
        {"1 :invoke :cas [1 2]\n1 :info :cas :timed-out\n", 0},
        {"1 :invoke :read nil\n1 :fail :read :timed-out\n\n:nemesis :info :start nil\n", 0},
        {"INFO  x - 7\t:invoke\t:write\t-1\nINFO x - 7\t:ok\t:write\t-1\r\n", 0},
        {"{:process 1, :type :invoke, :f :put, :key 1, :value \"a\\\"\"}\n"
         "{:process 1, :type :ok, :f :put, :key 1, :value \"a\\\"\"}\n"
         "{:type :invoke :process 2 :f :append :key 1 :value \"b\" :time 9}\n"
         "{:process 3, :type :invoke, :f :get, :key 1, :value nil}\n"
         "{:process 3, :type :ok, :f :get, :key 1, :value \"a\\\"b\"}\n"
         "{:process :nemesis, :type :info, :f :kill, :value nil}\n",
         0},
        {"{:process 1, :type :invoke, :f :append, :key 1, :value \"a\"}\n"
         "{:process 1, :type :ok, :f :append, :key 1, :value \"a\"}\n"
         "{:process 1, :type :invoke, :f :get, :key 2, :value nil}\n"
         "{:process 1, :type :ok, :f :get, :key 2, :value \"a\"}\n",
         1},
        {"{:process 1, :type :invoke, :f :write, :key 1, :value 5}\n"
         "{:process 1, :type :ok, :f :write, :key 1, :value 5}\n"
         "{:process 1, :type :invoke, :f :read, :key 1, :value nil}\n"
         "{:process 1, :type :ok, :f :read, :key 1, :value 5}\n",
         0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lapse_bytes text = lapse_bytes_of(cases[i].log);
        enum lapse_jepsen_form form = cases[i].log[0] == '{' ? LAPSE_JEPSEN_MAPS : LAPSE_JEPSEN_LOG;
        cr_assert_eq(judge(cases[i].log, text, form), cases[i].verdict, "%s", cases[i].log);
    }
    cr_assert_eq(lapse_jepsen_detect(lapse_bytes_of("lapse: 1\n")), LAPSE_JEPSEN_NONE);
    cr_assert_eq(lapse_jepsen_detect(lapse_bytes_of("")), LAPSE_JEPSEN_NONE);
}

Test(jepsen, points_at_each_mistake) {
    static const struct {
        const char *log;
        int line, column;
        const char *what;
    } cases[] = {
        {"1 :invoke :write 3\nrubbish\n", 2, 1, "has no :invoke"},
        {"1 :invoke :turn 3\n", 1, 11, ":turn"},
        {"x :invoke :read nil\n", 1, 3, "has no number of a process"},
        {"1 :ok :read 3\n", 1, 13, "was not sent"},
        {"1 :invoke :read nil\n1 :invoke :read nil\n", 2, 17, "has no outcome yet"},
        {"1 :invoke :read nil\n1 :ok :write 3\n", 2, 14, "another call"},
        {"1 :invoke :write\n", 1, 17, "is no value"},
        {"1 :invoke :write [1 2]\n", 1, 18, "is no value of a register"},
        {"1 :invoke :cas [1 2\n", 1, 16, "is no value"},
        {"1 :invoke :cas 1\n", 1, 16, "is no pair"},
        {"{:process 1, :type :invoke, :f :get, :key 1, :value nil\n", 1, 56, "ends with }"},
        {"{:process 1, :type :invoke, :f :get, :key 1}\n", 1, 1, "lacks one of"},
        {"{:process 1, :type :began, :f :get, :key 1, :value nil}\n", 1, 20, ":began"},
        {"{:process 1, :type :invoke, :f :put, :key 1, :value 7}\n", 1, 53, "no text in quotes"},
        {"{:process 1, :type :invoke, :f :put, :key 1, :value \"7}\n", 1, 53, "is no value"},
        {"{:process {}, :type :invoke}\n", 1, 11, "is no value"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lapse_linear_problems problems;
        struct lapse_error err = {0};
        enum lapse_jepsen_form form = cases[i].log[0] == '{' ? LAPSE_JEPSEN_MAPS : LAPSE_JEPSEN_LOG;
        cr_assert_eq(lapse_jepsen_read(lapse_alloc_libc(), lapse_bytes_of(cases[i].log), form,
                                       &problems, &err),
                     LAPSE_INVALID, "%s", cases[i].log);
        cr_assert_eq(err.line, cases[i].line, "%s: line %d", cases[i].log, err.line);
        cr_assert_eq(err.column, cases[i].column, "%s: column %d", cases[i].log, err.column);
        cr_assert(strstr(err.message, cases[i].what) != NULL, "%s: %s", cases[i].log, err.message);
    }
}

Test(jepsen, leaves_nothing_behind_when_memory_runs_out) {
    static const char log[] = "{:process 1, :type :invoke, :f :put, :key 1, :value \"ab\"}\n"
                              "{:process 1, :type :ok, :f :put, :key 1, :value \"ab\"}\n"
                              "{:process 2, :type :invoke, :f :get, :key 1, :value nil}\n"
                              "{:process 2, :type :ok, :f :get, :key 1, :value \"ab\"}\n"
                              "{:process 2, :type :invoke, :f :cas, :key 7, :value [1 2]}\n";
    enum lapse_status status = LAPSE_NOMEM;
    for (int64_t n = 0; status == LAPSE_NOMEM; n++) {
        struct scarce scarce;
        struct lapse_linear_problems problems;
        scarce_init(&scarce, n);
        status = lapse_jepsen_read(&scarce.alloc, lapse_bytes_of(log), LAPSE_JEPSEN_MAPS, &problems,
                                   NULL);
        cr_assert(status == LAPSE_OK || status == LAPSE_NOMEM);
        lapse_linear_problems_free(&problems);
        cr_assert_eq(scarce.held, 0);
    }
}
