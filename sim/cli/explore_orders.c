/* A scenario explored: every order of what is due at one instant, and every value that chance can
 * take, one run after the other. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explore.h"

enum { RUNS_USUAL = 100000, WIDE = 16 };

struct orders {
    const struct lapse_cli_options *options;
    struct lapse_cli_choice choice;
    struct lapse_cli_document *document;
    struct lapse_cli_states *states; /* NULL: none are collected */
    const struct lapse_cli_file *file;
    size_t index;
    struct lapse_arena *arena;
    struct lapse_choice *list; /* of the run that comes next */
    size_t count, cap;
    uint64_t runs;
    bool narrowed;
    bool unmet; /* all passed, and a pattern of `sometimes` came true in none */
    struct lapse_out out;
};

static int run_all(struct orders *orders, uint64_t most);
static int run_one(struct orders *orders, struct lapse_cli_result *result);
static int follow(struct orders *orders, struct lapse_cli_result *result, bool last);
static bool note_choices(struct orders *orders, const struct lapse_cli_result *result);
static void show(struct orders *orders, struct lapse_cli_result *result);
static void claim(struct orders *orders, int code, bool all);

int lapse_cli_explore_orders(struct lapse_cli_choice choice, const struct lapse_cli_file *file,
                             size_t index, struct lapse_cli_document *document,
                             struct lapse_cli_states *states) {
    const struct lapse_cli_options *options = choice.options;
    const struct lapse_plan *plan = file->loaded.plans[index];
    struct orders orders = {.options = options,
                            .choice = choice,
                            .document = document,
                            .states = states,
                            .file = file,
                            .index = index};
    uint64_t most = options->runs_given ? options->runs : RUNS_USUAL;
    orders.arena = lapse_arena_open();
    lapse_out_init(&orders.out, lapse_alloc_libc());
    (void)lapse_out_safe_text(&orders.out, plan->file);
    lapse_out_format(&orders.out, ":%d  ", plan->line_first);
    (void)lapse_out_safe_text(&orders.out, plan->name);
    lapse_out_text(&orders.out, "\n");
    int code = run_all(&orders, options->has_nth ? options->nth : most);
    lapse_cli_print(&orders.out);
    lapse_out_free(&orders.out);
    lapse_arena_close(orders.arena);
    lapse_alloc_free(lapse_alloc_libc(), orders.list, orders.cap * sizeof *orders.list);
    return code;
}

/* With --nth only that run is told. */
static int run_all(struct orders *orders, uint64_t most) {
    int code = LAPSE_EXIT_PASSED;
    bool more = true;
    while (more && code == LAPSE_EXIT_PASSED && orders->runs < most &&
           lapse_cli_interrupted() == 0) {
        struct lapse_cli_result result;
        orders->runs++;
        code = run_one(orders, &result);
        bool noted = note_choices(orders, &result);
        more = noted && lapse_choices_next(orders->list, &orders->count, WIDE, &orders->narrowed);
        if (code == LAPSE_EXIT_PASSED && !orders->options->has_nth) {
            code = follow(orders, &result, !more && !orders->narrowed);
        }
        bool told = orders->options->has_nth && orders->runs == most;
        if (told || (code != LAPSE_EXIT_PASSED && !orders->options->has_nth)) {
            show(orders, &result);
        } else if (orders->options->has_nth && code != LAPSE_EXIT_BUG) {
            code = LAPSE_EXIT_PASSED;
        }
        if (!noted && code == LAPSE_EXIT_PASSED) {
            code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
        }
        lapse_cli_result_free(&result);
    }
    if (!orders->options->has_nth) {
        if (code != LAPSE_EXIT_BUG) {
            claim(orders, code, !more);
        }
        bool whole = !more && !orders->narrowed;
        if (orders->states != NULL) {
            orders->states->whole = whole && (code == LAPSE_EXIT_PASSED || orders->unmet);
        }
        return code == LAPSE_EXIT_PASSED && !whole ? LAPSE_EXIT_INCONCLUSIVE : code;
    }
    return orders->runs < most ? LAPSE_EXIT_NOTHING : code;
}

static int run_one(struct orders *orders, struct lapse_cli_result *result) {
    const struct lapse_cli_choice choice = {.options = orders->options,
                                            .arena = orders->arena,
                                            .listed = true,
                                            .list = orders->list,
                                            .list_count = orders->count};
    lapse_cli_plan_run(orders->file, orders->index, choice, 1, result);
    if (result->view.broken) {
        return LAPSE_EXIT_BUG;
    }
    return lapse_view_passed(&result->view)                 ? LAPSE_EXIT_PASSED
           : result->view.outcome == LAPSE_OUTCOME_VIOLATED ? LAPSE_EXIT_VIOLATED
                                                            : LAPSE_EXIT_INCONCLUSIVE;
}

/* A run that passed: its states, and what of `sometimes` came true. All runs together answer for
 * that, so the last of them fails where something did not. */
static int follow(struct orders *orders, struct lapse_cli_result *result, bool last) {
    if (orders->states != NULL) {
        lapse_reach_take_run(&orders->states->all, result->run.history);
    }
    lapse_cli_document_follow(orders->file, orders->index, orders->choice, last, orders->document,
                              result);
    orders->unmet = result->view.outcome == LAPSE_OUTCOME_INCONCLUSIVE;
    return orders->unmet ? LAPSE_EXIT_INCONCLUSIVE : LAPSE_EXIT_PASSED;
}

/* What the run has drawn is where the next one counts on. */
static bool note_choices(struct orders *orders, const struct lapse_cli_result *result) {
    size_t count = 0;
    if (!result->ran) {
        return false;
    }
    const struct lapse_choice *drawn = lapse_choices_list(result->run.choices, &count);
    void *list = orders->list;
    if (!lapse_alloc_grow(lapse_alloc_libc(), &list, &orders->cap, count + 1,
                          sizeof *orders->list)) {
        return false;
    }
    orders->list = list;
    if (count > 0) {
        memcpy(orders->list, drawn, count * sizeof *drawn);
    }
    orders->count = count;
    return true;
}

static void show(struct orders *orders, struct lapse_cli_result *result) {
    const struct lapse_plan *plan = orders->file->loaded.plans[orders->index];
    struct lapse_style style = lapse_cli_style(orders->options);
    char replay[LAPSE_CLI_PATH_MAX + 64], row[32] = "";
    if (plan->row >= 0) {
        (void)snprintf(row, sizeof row, " --row %d", (int)plan->row);
    }
    (void)snprintf(replay, sizeof replay, "lapse explore %s:%d%s --nth %" PRIu64, plan->file,
                   plan->line_first, row, orders->runs);
    result->view.replay = replay;
    lapse_format_find("pretty")->scenario(&orders->out, &style, &result->view);
    if (lapse_view_passed(&result->view)) {
        lapse_timeline_draw(&orders->out, &result->view, -1, &style);
    }
}

static void claim(struct orders *orders, int code, bool all) {
    const struct lapse_plan *plan = orders->file->loaded.plans[orders->index];
    const char *none = plan->the_case.violates_count > 0 ? "each breaks what it lists, and no more"
                                                         : "no violation";
    char runs[32];
    lapse_cli_number(orders->runs, runs);
    if (orders->unmet) {
        lapse_out_format(&orders->out,
                         "  explored all %s orders and choices, and in none it came true\n", runs);
    } else if (code != LAPSE_EXIT_PASSED) {
        lapse_out_format(&orders->out, "  found in run %s\n", runs);
    } else if (!all) {
        lapse_out_format(&orders->out, "  %s: %s orders and choices, %s so far\n",
                         lapse_cli_interrupted() != 0 ? "interrupted" : "bounded by --runs", runs,
                         none);
    } else if (orders->narrowed) {
        lapse_out_format(&orders->out,
                         "  bounded: %s orders and choices, %s; of draws with more than "
                         "%d outcomes the first and the last\n",
                         runs, none, (int)WIDE);
    } else {
        lapse_out_format(&orders->out, "  explored all %s orders and choices: %s\n",
                         runs, none);
    }
}
