/* What an exploration has found, told: its moves, and then as an ordinary scenario, which is
 * loaded, run and judged as one from a file. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore.h"
#include "scenarios/scene.h"

static void put_move(struct lapse_out *out, const struct lapse_explore_step *step);
static bool show_run(struct lapse_out *out, const struct lapse_cli_options *options,
                     const struct lapse_emitted *text, const char *id);
static bool fails_with(const struct lapse_cli_result *result, const char *id);

static const char *const words[] = {[LAPSE_MOVE_ACQUIRE] = "acquires",
                                    [LAPSE_MOVE_EXTEND] = "extends",
                                    [LAPSE_MOVE_RELEASE] = "releases",
                                    [LAPSE_MOVE_WRITE] = "writes",
                                    [LAPSE_MOVE_ARRIVE] = "is decided:",
                                    [LAPSE_MOVE_REPLY] = "is told:",
                                    [LAPSE_MOVE_LATE] = "late, is decided:",
                                    [LAPSE_MOVE_LAND] = "its write arrives",
                                    [LAPSE_MOVE_LOSE_CALL] = "loses its",
                                    [LAPSE_MOVE_LOSE_LATE] = "lost is its late",
                                    [LAPSE_MOVE_LOSE_WRITE] = "loses its write",
                                    [LAPSE_MOVE_GIVE_UP] = "gives up its",
                                    [LAPSE_MOVE_PAUSE] = "is paused",
                                    [LAPSE_MOVE_WAKE] = "wakes",
                                    [LAPSE_MOVE_CRASH] = "crashes, begins again"};

void lapse_cli_explore_moves(struct lapse_out *out, const struct lapse_plan_explore *protocol,
                             const struct lapse_explore_found *found) {
    lapse_out_format(out, "  the shortest way there has %zu moves:\n", found->step_count);
    int64_t tick = -1;
    for (size_t i = 0; i < found->step_count; i++) {
        const struct lapse_explore_step *step = &found->steps[i];
        char at[LAPSE_TIME_TEXT_MAX] = "";
        if (step->kind == LAPSE_MOVE_TICK) {
            for (int32_t c = 0; c < protocol->clients; c++) {
                if (step->clock[c] != 1) {
                    lapse_out_format(out, "    %8s  c%d  clock moves by %d\n", "", (int)c + 1,
                                     (int)step->clock[c]);
                }
            }
            continue;
        }
        if (step->tick != tick) {
            (void)lapse_span_print((struct lapse_span){step->tick * protocol->grain_ns}, at);
        }
        tick = step->tick;
        lapse_out_format(out, "    %8s  c%d  ", at, (int)step->client + 1);
        put_move(out, step);
    }
}

static void put_move(struct lapse_out *out, const struct lapse_explore_step *step) {
    lapse_out_text(out, words[step->kind]);
    bool names = step->kind >= LAPSE_MOVE_ARRIVE && step->verb != LAPSE_VERB_NONE;
    if (names) {
        lapse_out_format(out, " %s", lapse_verb_word(step->verb));
    }
    if (step->asked) {
        lapse_out_format(out, " -> %s", lapse_status_word(step->status));
    }
    if (step->token > 0) {
        lapse_out_format(out, ", token %" PRId64, step->token);
    }
    lapse_out_text(out, step->reply_lost ? ", the answer is lost\n" : "\n");
}

/* The plain form first. Where the scenario's own order inside an instant makes it another story,
 * the moves are spread. */
void lapse_cli_explore_scene(struct lapse_out *out, const struct lapse_cli_options *options,
                             const struct lapse_plan *plan,
                             const struct lapse_explore_found *found) {
    struct lapse_error err = {0};
    const char *id = lapse_explore_break_id(found->what);
    bool shown = false;
    for (int spread = 0; spread < 2 && !shown; spread++) {
        struct lapse_emitted text;
        enum lapse_status status = lapse_scene_write(lapse_alloc_libc(), &plan->explore, found,
                                                     plan->name, spread == 1, &text, &err);
        if (status != LAPSE_OK) {
            lapse_out_format(out, "  no scenario says this: %s\n", err.message);
            return;
        }
        shown = show_run(out, options, &text, id);
        lapse_emitted_free(&text);
    }
    if (!shown) {
        lapse_out_text(out, "  no scenario was found that comes to the same\n");
    }
}

/* Whether the scenario fails as it should; then it is shown, and its run. */
static bool show_run(struct lapse_out *out, const struct lapse_cli_options *options,
                     const struct lapse_emitted *text, const char *id) {
    struct lapse_cli_file file;
    bool same = false;
    if (lapse_cli_file_text("found.yaml", text->text, text->bytes, &file) == LAPSE_OK) {
        struct lapse_cli_result result;
        const struct lapse_cli_choice choice = {.options = options};
        lapse_cli_plan_run(&file, 0, choice, 1, &result);
        same = fails_with(&result, id);
        if (same) {
            struct lapse_style style = lapse_cli_style(options);
            lapse_out_format(out, "  as a scenario:\n\n%s\n", text->text);
            result.view.replay = "lapse replay found.yaml:1 --seed 1, once it is saved there";
            lapse_format_find("pretty")->scenario(out, &style, &result.view);
        }
        lapse_cli_result_free(&result);
    }
    lapse_cli_file_close(&file);
    return same;
}

/* The first error of the run is charged to this contract. */
static bool fails_with(const struct lapse_cli_result *result, const char *id) {
    const struct lapse_diag_list *diags = result->ran ? &result->view.verdict->diags : NULL;
    return diags != NULL && result->view.outcome == LAPSE_OUTCOME_VIOLATED && diags->count > 0 &&
           strcmp(diags->items[0]->code, id) == 0;
}
