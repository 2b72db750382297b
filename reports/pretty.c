/* The format for people: brief when all is well; a failure shows what a person looks for first and
 * ends with the command that shows it again. */
#include <stdio.h>
#include <string.h>

#include "draw.h"

enum { MEASURE_COLUMNS = 36 };

static void pretty_begin(struct lapse_out *out, const struct lapse_style *style,
                         const struct lapse_totals *totals);
static void pretty_file(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_file_view *view);
static void pretty_scenario(struct lapse_out *out, const struct lapse_style *style,
                            const struct lapse_result_view *view);
static void pretty_end(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_totals *totals, const char *replay);
static void file_mistakes(struct lapse_out *out, const struct lapse_style *style,
                          const struct lapse_file_view *view);
static void file_counts(struct lapse_out *out, const struct lapse_file_view *view);
static void scenario_passed(struct lapse_out *out, const struct lapse_style *style,
                            const struct lapse_result_view *view);
static void put_parting(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_result_view *view);
static void put_story(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_result_view *view);
static void put_word(struct lapse_out *out, const struct lapse_style *style, enum lapse_paint paint,
                     const char *word);
static void put_measures(struct lapse_out *out, const struct lapse_result_view *view);
static void put_slacks(struct lapse_out *out, const struct lapse_result_view *view);
static void end_contracts(struct lapse_out *out, const struct lapse_style *style,
                          const struct lapse_totals *totals);
static void end_paragraph(struct lapse_out *out);
static void end_counts(struct lapse_out *out, const struct lapse_totals *totals);

const lapse_format lapse_format_pretty = {"pretty",    pretty_begin, pretty_scenario,
                                          pretty_file, pretty_end,   true};

static void pretty_begin(struct lapse_out *out, const struct lapse_style *style,
                         const struct lapse_totals *totals) {
    if (style->verbose < 0 || totals->files == 0) {
        return;
    }
    if (totals->program != NULL) {
        lapse_out_format(out, "%s, ", totals->program);
    }
    if (totals->recorded) {
        lapse_out_count(out, totals->files, "recorded history", "recorded histories");
        lapse_out_text(out, "\n\n");
        return;
    }
    lapse_out_count(out, totals->scenarios, "scenario in ", "scenarios in ");
    lapse_out_count(out, totals->files, "file", "files");
    lapse_out_format(out, ", seed %llu\n\n", (unsigned long long)totals->seed);
}

static void pretty_file(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_file_view *view) {
    bool mistaken = view->diags != NULL && view->diags->count > 0;
    bool failed = view->failed > 0 || view->parted > 0 || view->broken > 0 || mistaken;
    if (view->scenarios == 0 && !failed) {
        return;
    }
    if (style->verbose < 0 && !failed && view->inconclusive == 0) {
        return;
    }
    if (failed) {
        put_word(out, style, LAPSE_PAINT_ERROR, "FAIL");
    } else if (view->inconclusive > 0) {
        put_word(out, style, LAPSE_PAINT_WARN, "OPEN");
    } else {
        put_word(out, style, LAPSE_PAINT_GOOD, "PASS");
    }
    int columns = lapse_out_safe_text(out, view->file);
    lapse_out_repeat(out, ' ', style->file_columns - columns);
    lapse_out_text(out, "   ");
    if (mistaken) {
        file_mistakes(out, style, view);
    } else {
        file_counts(out, view);
    }
}

static void file_mistakes(struct lapse_out *out, const struct lapse_style *style,
                          const struct lapse_file_view *view) {
    lapse_out_count(out, view->diags->count, "mistake", "mistakes");
    lapse_out_text(out, view->recorded ? ", not judged\n\n" : ", not run\n\n");
    for (size_t i = 0; i < view->diags->count; i++) {
        lapse_excerpt_draw(out, view->source, view->diags->items[i], style);
        lapse_out_text(out, "\n");
    }
}

static void file_counts(struct lapse_out *out, const struct lapse_file_view *view) {
    if (view->recorded) {
        lapse_out_text(out, view->failed > 0         ? "violated\n"
                            : view->inconclusive > 0 ? "inconclusive\n"
                                                     : "accepted\n");
        return;
    }
    lapse_out_count(out, view->scenarios, "scenario", "scenarios");
    if (view->failed > 0) {
        lapse_out_format(out, ", %zu failed", view->failed);
    }
    if (view->inconclusive > 0) {
        lapse_out_format(out, ", %zu inconclusive", view->inconclusive);
    }
    if (view->parted > 0) {
        lapse_out_format(out, ", %zu not deterministic", view->parted);
    }
    if (view->broken > 0) {
        lapse_out_format(out, ", %zu broken off", view->broken);
    }
    if (view->expected_violations > 0) {
        lapse_out_text(out, "   (");
        lapse_out_count(out, view->expected_violations,
                        "expected violation: ", "expected violations: ");
        lapse_out_format(out, "%s, as listed)", view->expected_ids);
    }
    lapse_out_text(out, "\n");
}

static void pretty_scenario(struct lapse_out *out, const struct lapse_style *style,
                            const struct lapse_result_view *view) {
    if (lapse_view_passed(view)) {
        scenario_passed(out, style, view);
        return;
    }
    lapse_out_text(out, "\n");
    bool parted = lapse_view_parted(view);
    bool open = !view->broken && !parted && view->outcome == LAPSE_OUTCOME_INCONCLUSIVE;
    put_word(out, style, open ? LAPSE_PAINT_WARN : LAPSE_PAINT_ERROR,
             view->starved  ? "OUT "
             : view->broken ? "BUG "
             : parted       ? "DIFF"
             : open         ? "OPEN"
                            : "FAIL");
    lapse_out_safe_text(out, view->file);
    if (view->line > 0) {
        lapse_out_format(out, ":%d", view->line);
    }
    lapse_out_text(out, "   ");
    lapse_out_paint(out, style, LAPSE_PAINT_STRONG);
    lapse_out_safe_text(out, view->name);
    lapse_out_paint(out, style, LAPSE_PAINT_RESET);
    lapse_out_text(out, "\n\n");
    if (view->history != NULL && style->verbose >= 1) {
        put_story(out, style, view);
        put_slacks(out, view);
        lapse_out_text(out, "\n");
    }
    if (view->why != NULL && lapse_view_diag(view) == NULL) {
        lapse_out_text(out, "  ");
        lapse_out_wrap(out, view->why, 2, 2, style->width);
        lapse_out_text(out, "\n\n");
    }
    if (view->parting != NULL) {
        put_parting(out, style, view);
    }
    if (!view->broken && !parted) {
        lapse_failure_draw(out, view, style);
        lapse_unpromised_lines(out, view, "    ", true);
    }
    lapse_judged_lines(out, view, "    ");
    lapse_out_text(out, "    replay    ");
    lapse_replay_line(out, view);
    lapse_out_text(out, "\n");
    lapse_out_text(out, "\n");
}

static void put_parting(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_result_view *view) {
    struct lapse_out said;
    lapse_out_init(&said, out->alloc);
    lapse_parting_say(&said, view->parting);
    lapse_out_text(out, "  ");
    lapse_out_wrap(out, said.text != NULL ? said.text : "", 2, 2, style->width);
    lapse_out_text(out, "\n\n");
    lapse_parting_draw(out, view, "    ");
    lapse_out_text(out, "\n");
    out->failed = out->failed || said.failed;
    lapse_out_free(&said);
}

/* Calls that still waited for an answer when the run was over: they lie just before its end. */
static void put_waiting(struct lapse_out *out, const struct lapse_result_view *view) {
    const struct lapse_case *the_case = view->the_case;
    for (size_t i = lapse_history_count(view->history); i-- > 0;) {
        const struct lapse_history_event *event = lapse_history_at(view->history, i);
        if (event->kind == LAPSE_HISTORY_END) {
            continue;
        }
        bool step = event->step >= 0 && (size_t)event->step < the_case->check_count;
        if (event->kind != LAPSE_HISTORY_WAITING || !step) {
            return;
        }
        const struct lapse_step_check *check = &the_case->checks[event->step];
        lapse_out_format(out, "        line %d: %s ", check->place.line, check->verb);
        lapse_out_safe_text(out, check->object);
        bool call = event->call > 0;
        lapse_out_text(out, call ? " had no answer when the run ended\n" : " never came\n");
    }
}

static void put_note(struct lapse_out *out, const struct lapse_result_view *view) {
    if (view->note != NULL) {
        lapse_out_format(out, "        line %d: %s\n", view->line, view->note);
    }
}

static void put_unpromised(struct lapse_out *out, const struct lapse_result_view *view,
                           bool where) {
    char indent[32];
    (void)snprintf(indent, sizeof indent, "        line %d: ", view->line);
    lapse_unpromised_lines(out, view, indent, where);
}

/* Measures are what a scenario was written to show, so they are shown without being asked for. */
static void scenario_passed(struct lapse_out *out, const struct lapse_style *style,
                            const struct lapse_result_view *view) {
    if (style->verbose >= 0) {
        put_waiting(out, view);
        put_note(out, view);
        lapse_judged_lines(out, view, "        ");
        put_unpromised(out, view, style->verbose >= 1);
    }
    bool measures = view->the_case->measure_count > 0 && style->verbose >= 0;
    if (!measures && style->verbose < 1) {
        return;
    }
    lapse_out_text(out, "        ");
    lapse_out_safe_text(out, view->name);
    if (style->verbose >= 1) {
        lapse_out_format(out, "   (line %d, ", view->line);
        lapse_out_count(out, lapse_view_calls(view), "call)", "calls)");
    }
    if (measures) {
        put_measures(out, view);
    }
    lapse_out_text(out, "\n");
    if (style->verbose >= 1) {
        put_story(out, style, view);
        put_slacks(out, view);
    }
}

/* -v asks for the steps, -vv for every event. */
static void put_story(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_result_view *view) {
    if (style->verbose >= 2) {
        lapse_events_draw(out, view);
    } else {
        lapse_steps_draw(out, view);
    }
}

static void put_slacks(struct lapse_out *out, const struct lapse_result_view *view) {
    struct lapse_out text;
    lapse_out_init(&text, out->alloc);
    if (view->slacks != NULL) {
        lapse_slacks_draw(&text, view->slacks);
    }
    if (text.len > 0) {
        lapse_out_format(out, "    slack%s\n", text.text);
    }
    out->failed = out->failed || text.failed;
    lapse_out_free(&text);
}

static void put_measures(struct lapse_out *out, const struct lapse_result_view *view) {
    char buf[LAPSE_TIME_TEXT_MAX];
    for (size_t i = 0; i < view->the_case->measure_count; i++) {
        const struct lapse_measured *measured = &view->verdict->measured[i];
        struct lapse_bytes name = view->the_case->measures[i].name;
        lapse_out_text(out, "   ");
        (void)lapse_out_safe(out, (const char *)name.data, name.len, MEASURE_COLUMNS);
        if (!measured->known) {
            lapse_out_text(out, " -");
        } else if (measured->is_span) {
            lapse_out_format(out, " %s",
                             lapse_span_print((struct lapse_span){measured->number}, buf));
        } else {
            lapse_out_format(out, " %lld", (long long)measured->number);
        }
    }
}

static void pretty_end(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_totals *totals, const char *replay) {
    end_paragraph(out);
    if (style->verbose >= 0 && totals->scenarios > 0) {
        end_contracts(out, style, totals);
        if (style->coverage) {
            lapse_coverage_draw(out, totals);
        }
        lapse_unpromised_sums(out, totals, "");
        int64_t simulated = totals->simulated_ns;
        simulated -= simulated >= LAPSE_NS_PER_S ? simulated % LAPSE_NS_PER_S : 0;
        char buf[LAPSE_TIME_TEXT_MAX];
        if (totals->runs > totals->scenarios) {
            lapse_out_format(out, "%llu runs, %llu events, ", (unsigned long long)totals->runs,
                             (unsigned long long)totals->events);
        }
        lapse_out_format(out, "%s of %s time\n",
                         lapse_span_print((struct lapse_span){simulated}, buf),
                         totals->recorded ? "recorded" : "simulated");
    }
    if (style->verbose >= 0 && totals->again > 0 && totals->parted == 0) {
        lapse_out_format(out, "%llu of %llu runs made again, with the same history\n",
                         (unsigned long long)totals->again, (unsigned long long)totals->runs);
    }
    if (style->verbose >= 0 && totals->protocols > 0) {
        lapse_out_count(out, totals->protocols, "protocol", "protocols");
        lapse_out_text(out, " left to `lapse explore`\n");
    }
    if (style->verbose >= 0 && totals->skipped_folders > 0) {
        lapse_out_count(out, totals->skipped_folders, "folder", "folders");
        lapse_out_text(out, " skipped, as .lapse-skip in it asks\n");
    }
    if (totals->mistaken_files > 0) {
        lapse_out_count(out, totals->mistakes, "mistake", "mistakes");
        lapse_out_text(out, " in ");
        lapse_out_count(out, totals->mistaken_files, "file; that file was not ",
                        "files; those files were not ");
        lapse_out_text(out, totals->recorded ? "judged\n" : "run\n");
    }
    end_paragraph(out);
    end_counts(out, totals);
    if (totals->exit_code != 0) {
        bool starved = totals->broken > 0 && totals->starved == totals->broken;
        lapse_out_format(out, "exit     %s\n",
                         starved && totals->exit_code == 70
                             ? "70, memory ran out"
                             : lapse_exit_sentence(totals->exit_code));
    }
    if (replay != NULL) {
        lapse_out_format(out, "replay   %s\n", replay);
    }
}

/* One blank line, unless there is one or nothing stands above. */
static void end_paragraph(struct lapse_out *out) {
    bool blank = out->len >= 2 && out->text[out->len - 2] == '\n';
    lapse_out_text(out, out->len > 0 && !blank ? "\n" : "");
}

static void end_counts(struct lapse_out *out, const struct lapse_totals *totals) {
    lapse_out_format(out, "%zu passed, %zu failed", totals->passed, totals->failed);
    if (totals->inconclusive > 0) {
        lapse_out_format(out, ", %zu inconclusive", totals->inconclusive);
    }
    if (totals->parted > 0) {
        lapse_out_format(out, ", %zu not deterministic", totals->parted);
    }
    if (totals->broken > 0) {
        lapse_out_format(out, ", %zu broken off", totals->broken);
    }
    lapse_out_text(out, "\n");
}

/* " (LEASE-01 LEASE-03)". */
static void name_contracts(struct lapse_out *out, const struct lapse_totals *totals,
                           enum lapse_touch wanted) {
    size_t count, named = 0;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (lapse_touch_of(totals, contracts[i].id) == wanted) {
            lapse_out_format(out, "%s%s", named++ == 0 ? " (" : " ", contracts[i].id);
        }
    }
    lapse_out_text(out, named > 0 ? ")" : "");
}

static void list_contracts(struct lapse_out *out, const struct lapse_style *style,
                           const struct lapse_totals *totals, enum lapse_touch wanted,
                           const char *head) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (lapse_touch_of(totals, contracts[i].id) != wanted) {
            continue;
        }
        lapse_out_format(out, "  %s  %-9s  ", head, contracts[i].id);
        int at = (int)strlen(head) + 15;
        lapse_out_wrap(out, contracts[i].sentence, at, at, style->width);
        lapse_out_text(out, "\n");
    }
}

static void end_contracts(struct lapse_out *out, const struct lapse_style *style,
                          const struct lapse_totals *totals) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    size_t tally[3] = {0, 0, 0};
    for (size_t i = 0; i < count; i++) {
        tally[lapse_touch_of(totals, contracts[i].id)]++;
    }
    struct lapse_out line;
    lapse_out_init(&line, out->alloc);
    lapse_out_format(&line, "contracts: %zu %s", tally[LAPSE_TOUCH_JUDGED],
                     totals->failed + totals->unpromised_count > 0 ? "judged" : "held");
    if (tally[LAPSE_TOUCH_IDLE] > 0) {
        lapse_out_format(&line, ", %zu never exercised", tally[LAPSE_TOUCH_IDLE]);
        name_contracts(&line, totals, LAPSE_TOUCH_IDLE);
    }
    lapse_out_format(&line, ", %zu not touched", tally[LAPSE_TOUCH_NONE]);
    lapse_out_wrap(out, line.text != NULL ? line.text : "", 0, 11, style->width);
    lapse_out_text(out, "\n");
    out->failed = out->failed || line.failed;
    lapse_out_free(&line);
    if (style->verbose >= 1) {
        list_contracts(out, style, totals, LAPSE_TOUCH_IDLE, "never exercised");
        list_contracts(out, style, totals, LAPSE_TOUCH_NONE, "not touched");
    }
}

static void put_word(struct lapse_out *out, const struct lapse_style *style, enum lapse_paint paint,
                     const char *word) {
    lapse_out_paint(out, style, paint);
    lapse_out_text(out, word);
    lapse_out_paint(out, style, LAPSE_PAINT_RESET);
    lapse_out_text(out, "  ");
}
