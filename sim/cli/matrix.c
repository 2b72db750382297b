/* `lapse self-test --matrix`: every planted bug in every scenario, and what each rule finds there
 * alone, as the table that contracts/README.md carries. A cell counts the scenarios of a suite in
 * which some rule finds the bug; the last column says which rules, and in how many scenarios. What
 * a rule finds with no bug planted does not count. */
#include "self.h"

#include <stdlib.h>
#include <string.h>

enum { SUITES_MAX = 32, RULES_MAX = 128 };

struct matrix {
    struct lapse_cli_child *children; /* the first has no bug */
    size_t count;                     /* of bugs */
    size_t recorded;                  /* of them: shown by recorded histories */
    const struct lapse_bug *bugs;
    struct lapse_bytes suites[SUITES_MAX];
    size_t suite_count;
    const struct lapse_rule *rules;
    size_t rule_count;
};

/* One bug's row. */
struct row {
    size_t suites[SUITES_MAX];
    size_t rules[RULES_MAX];
};

static void plan(struct matrix *matrix, const char *planted);
static const struct lapse_out *clean_of(const struct matrix *matrix, size_t bug);
static int show(struct matrix *matrix);
static struct lapse_bytes suite_of(const struct lapse_cli_tally *tally);
static size_t place_of(const struct matrix *matrix, struct lapse_bytes suite);
static void name_suites(struct matrix *matrix);
static void fill(const struct matrix *matrix, size_t bug, struct row *ret);
static void put_row(const struct matrix *matrix, size_t bug, const struct row *row,
                    struct lapse_out *out);

int lapse_cli_matrix(const struct lapse_cli_options *options, const char *planted) {
    struct matrix matrix = {0};
    struct lapse_error err = {0};
    matrix.bugs = lapse_bug_table(&matrix.count);
    matrix.rules = lapse_rule_table(&matrix.rule_count);
    LAPSE_ASSERT(matrix.rule_count <= RULES_MAX);
    for (size_t i = 0; i < matrix.count; i++) {
        matrix.recorded += lapse_cli_self_recorded(&matrix.bugs[i]);
    }
    size_t count = 1 + matrix.count + matrix.recorded;
    matrix.children = calloc(count, sizeof *matrix.children);
    if (matrix.children == NULL) {
        return lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    plan(&matrix, planted);
    int code = LAPSE_EXIT_BUG;
    if (lapse_cli_children_run(matrix.children, count, options->jobs, &err) != LAPSE_OK) {
        (void)lapse_cli_complain(code, "%s", err.message);
    } else {
        code = show(&matrix);
    }
    for (size_t i = 0; i < count; i++) {
        if (matrix.children[i].told.alloc != NULL) {
            lapse_out_free(&matrix.children[i].told);
        }
    }
    free(matrix.children);
    return code;
}

/* A recorded history has the run without its bug at the end, in the order of the bugs. */
static void plan(struct matrix *matrix, const char *planted) {
    struct lapse_cli_child *clean = &matrix->children[1 + matrix->count];
    matrix->children[0] = (struct lapse_cli_child){
        .argv = {planted, "run", "scenarios", "-j1", "--tally", "--report", "tally"}};
    for (size_t i = 0; i < matrix->count; i++) {
        const struct lapse_bug *bug = &matrix->bugs[i];
        struct lapse_cli_child *child = &matrix->children[1 + i];
        if (lapse_cli_self_recorded(bug)) {
            *child = (struct lapse_cli_child){.argv = {planted, "--plant", bug->name, "check",
                                                       bug->scenario, "--tally", "--report",
                                                       "tally"}};
            *clean++ = (struct lapse_cli_child){
                .argv = {planted, "check", bug->scenario, "--tally", "--report", "tally"}};
        } else {
            *child = (struct lapse_cli_child){.argv = {planted, "--plant", bug->name, "run",
                                                       "scenarios", "-j1", "--tally", "--report",
                                                       "tally"}};
        }
    }
}

/* What the run of a bug is compared with. */
static const struct lapse_out *clean_of(const struct matrix *matrix, size_t bug) {
    size_t at = 0;
    if (lapse_cli_self_recorded(&matrix->bugs[bug])) {
        at = 1 + matrix->count;
        for (size_t i = 0; i < bug; i++) {
            at += lapse_cli_self_recorded(&matrix->bugs[i]);
        }
    }
    return &matrix->children[at].told;
}

static int show(struct matrix *matrix) {
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    name_suites(matrix);
    lapse_out_text(&out, "| planted bug |");
    for (size_t i = 0; i < matrix->suite_count; i++) {
        lapse_out_format(&out, " %.*s |", (int)matrix->suites[i].len,
                         (const char *)matrix->suites[i].data);
    }
    lapse_out_text(&out, " found alone by, in so many scenarios |\n|---|");
    for (size_t i = 0; i < matrix->suite_count; i++) {
        lapse_out_text(&out, "--:|");
    }
    lapse_out_text(&out, "---|\n");
    size_t idle = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        struct row row = {{0}, {0}};
        size_t found = 0;
        fill(matrix, i, &row);
        put_row(matrix, i, &row, &out);
        for (size_t k = 0; k < matrix->rule_count; k++) {
            found += row.rules[k];
        }
        idle += found == 0 && !matrix->bugs[i].expected;
    }
    bool failed = out.failed;
    lapse_cli_print(&out);
    lapse_out_free(&out);
    if (failed) {
        return lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    return idle == 0 ? LAPSE_EXIT_PASSED : LAPSE_EXIT_VIOLATED;
}

/* The folder that a scenario's file lies in. */
static struct lapse_bytes suite_of(const struct lapse_cli_tally *tally) {
    struct lapse_bytes folder = tally->file;
    while (folder.len > 0 && folder.data[folder.len - 1] != '/') {
        folder.len--;
    }
    folder.len -= folder.len > 0 ? 1 : 0;
    struct lapse_bytes name = {folder.data + folder.len, 0};
    while (name.len < folder.len && name.data[-1] != '/') {
        name.data--;
        name.len++;
    }
    return name;
}

static size_t place_of(const struct matrix *matrix, struct lapse_bytes suite) {
    size_t at = 0;
    while (at < matrix->suite_count && !lapse_bytes_equal(matrix->suites[at], suite)) {
        at++;
    }
    return at;
}

/* In the order in which they run. */
static void name_suites(struct matrix *matrix) {
    struct lapse_cli_tally tally;
    for (size_t i = 0; i <= matrix->recorded; i++) {
        const struct lapse_out *told = &matrix->children[i == 0 ? 0 : matrix->count + i].told;
        for (size_t at = 0; lapse_cli_tally_read(told->text, told->len, &at, &tally);) {
            struct lapse_bytes suite = suite_of(&tally);
            bool known = place_of(matrix, suite) < matrix->suite_count;
            if (!known && matrix->suite_count < SUITES_MAX) {
                matrix->suites[matrix->suite_count++] = suite;
            }
        }
    }
}

/* Both runs tell of the same scenarios in the same order; a worker that died leaves some out. */
static void fill(const struct matrix *matrix, size_t bug, struct row *ret) {
    const struct lapse_out *told = &matrix->children[bug + 1].told;
    const struct lapse_out *clean = clean_of(matrix, bug);
    struct lapse_cli_tally tally, without = {0};
    size_t clean_at = 0;
    for (size_t at = 0; lapse_cli_tally_read(told->text, told->len, &at, &tally);) {
        bool same = false;
        while (!same && lapse_cli_tally_read(clean->text, clean->len, &clean_at, &without)) {
            same = lapse_bytes_equal(without.file, tally.file) && without.line == tally.line &&
                   lapse_bytes_equal(without.name, tally.name);
        }
        bool any = false;
        for (size_t i = 0; same && i < matrix->rule_count; i++) {
            int64_t event = 0;
            const char *id = matrix->rules[i].id;
            bool repeated = i > 0 && strcmp(matrix->rules[i - 1].id, id) == 0;
            bool missing = tally.event < 0 && lapse_cli_tally_is(tally.id, id);
            bool found = missing || (lapse_cli_tally_has(&tally, id, &event) &&
                                     !lapse_cli_tally_has(&without, id, &event));
            ret->rules[i] += found && !repeated;
            any = any || found;
        }
        size_t suite = place_of(matrix, suite_of(&tally));
        if (any && suite < matrix->suite_count) {
            ret->suites[suite]++;
        }
    }
}

static void put_row(const struct matrix *matrix, size_t bug, const struct row *row,
                    struct lapse_out *out) {
    lapse_out_format(out, "| %s |", matrix->bugs[bug].name);
    for (size_t i = 0; i < matrix->suite_count; i++) {
        if (row->suites[i] > 0) {
            lapse_out_format(out, " %zu", row->suites[i]);
        }
        lapse_out_text(out, " |");
    }
    for (size_t i = 0; i < matrix->rule_count; i++) {
        if (row->rules[i] > 0) {
            lapse_out_format(out, " %s %zu", matrix->rules[i].id, row->rules[i]);
        }
    }
    lapse_out_text(out, " |\n");
}
