/* Results in file order: what the workers sent is joined into the reports and summed up. What a
 * dead worker left is told here: its parent alone can. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker.h"

enum { WHY_MAX = 256, NAME_BYTES_MAX = 512, DEATH_BY_CODE = 256 };

static void slot_join(const struct lapse_cli_pool *pool, size_t index,
                      struct lapse_cli_sinks *sinks, struct lapse_cli_summary *summary);
static void join_scenarios(const struct lapse_cli_slot *slot, struct lapse_cli_sinks *sinks,
                           struct lapse_cli_summary *summary);
static bool file_record(const struct lapse_cli_slot *slot, struct lapse_cli_record_view *ret);
static void join_bodies(struct lapse_cli_sinks *sinks, const struct lapse_cli_record_view *record,
                        bool file_first);
static void add_file(struct lapse_cli_summary *summary, const struct lapse_cli_record_view *record);
static void tell_death(const struct lapse_cli_pool *pool, size_t index,
                       struct lapse_cli_sinks *sinks, struct lapse_cli_summary *summary);
static bool death_tell(const struct lapse_cli_slot *slot, char *why, size_t cap);
static bool last_started(const struct lapse_cli_slot *slot, struct lapse_cli_record_view *ret,
                         struct lapse_cli_record_view *ret_sum);
static void show_broken(const struct lapse_cli_slot *slot, struct lapse_cli_sinks *sinks,
                        struct lapse_cli_summary *summary, const struct lapse_result_view *view,
                        const struct lapse_cli_record *sum);
static int exit_code(const struct lapse_totals *totals);

void lapse_cli_summary_make(const struct lapse_cli_pool *pool, struct lapse_cli_sinks *sinks,
                            struct lapse_cli_summary *ret) {
    memset(ret, 0, sizeof *ret);
    lapse_out_init(&ret->replay, lapse_alloc_libc());
    struct lapse_totals *totals = &ret->totals;
    (void)lapse_rule_table(&totals->rule_count);
    ret->tallies = calloc(totals->rule_count + 1, sizeof *ret->tallies);
    if (ret->tallies == NULL) {
        totals->rule_count = 0;
    }
    totals->tallies = ret->tallies;
    lapse_slack_init(totals->slacks);
    totals->program = "lapse " LAPSE_CLI_VERSION ", strict engine";
    totals->seed = pool->options->seed;
    totals->skipped_folders = pool->selection->skipped_folders;
    for (size_t i = 0; i < pool->usable; i++) {
        slot_join(pool, i, sinks, ret);
    }
    totals->unpromised = ret->unpromised.items;
    totals->unpromised_count = ret->unpromised.count;
    totals->exit_code = exit_code(totals);
}

void lapse_cli_summary_free(struct lapse_cli_summary *summary) {
    free(summary->tallies);
    summary->tallies = NULL;
    lapse_cli_unpromised_free(&summary->unpromised);
    lapse_out_free(&summary->replay);
}

static void slot_join(const struct lapse_cli_pool *pool, size_t index,
                      struct lapse_cli_sinks *sinks, struct lapse_cli_summary *summary) {
    const struct lapse_cli_slot *slot = &pool->slots[index];
    struct lapse_cli_record_view file;
    if (slot->records.failed || !file_record(slot, &file)) {
        tell_death(pool, index, sinks, summary);
        return;
    }
    join_bodies(sinks, &file, true);
    join_scenarios(slot, sinks, summary);
    join_bodies(sinks, &file, false);
    add_file(summary, &file);
}

static void join_scenarios(const struct lapse_cli_slot *slot, struct lapse_cli_sinks *sinks,
                           struct lapse_cli_summary *summary) {
    struct lapse_cli_record_view record;
    for (size_t at = 0;
         lapse_cli_record_read(slot->records.text, slot->records.len, &at, &record);) {
        if (record.head.kind != LAPSE_RECORD_SCENARIO) {
            continue;
        }
        for (size_t i = 0; i < sinks->count; i++) {
            lapse_format_join(&sinks->items[i].body, record.bodies[i], (size_t)record.head.bytes[i],
                              &sinks->items[i].index);
        }
        if (summary->replay.len == 0) {
            lapse_out_bytes(&summary->replay, record.text, (size_t)record.head.text_bytes);
        }
    }
}

/* The record of the whole file: without it the worker did not come to its end. */
static bool file_record(const struct lapse_cli_slot *slot, struct lapse_cli_record_view *ret) {
    for (size_t at = 0; lapse_cli_record_read(slot->records.text, slot->records.len, &at, ret);) {
        if (ret->head.kind == LAPSE_RECORD_FILE) {
            return true;
        }
    }
    return false;
}

static void join_bodies(struct lapse_cli_sinks *sinks, const struct lapse_cli_record_view *record,
                        bool file_first) {
    for (size_t i = 0; i < sinks->count; i++) {
        struct lapse_cli_sink *sink = &sinks->items[i];
        if (sink->format->file_first == file_first) {
            lapse_format_join(&sink->body, record->bodies[i], (size_t)record->head.bytes[i],
                              &sink->index);
        }
    }
}

static void add_file(struct lapse_cli_summary *summary,
                     const struct lapse_cli_record_view *record) {
    struct lapse_totals *totals = &summary->totals;
    const struct lapse_cli_record *head = &record->head;
    totals->files += head->scenarios > 0 || head->mistakes > 0;
    totals->scenarios += (size_t)head->scenarios;
    totals->passed += (size_t)head->passed;
    totals->failed += (size_t)head->failed;
    totals->inconclusive += (size_t)head->inconclusive;
    totals->parted += (size_t)head->parted;
    totals->broken += (size_t)head->broken;
    totals->starved += (size_t)head->starved;
    totals->mistaken_files += head->mistakes > 0;
    totals->mistakes += (size_t)head->mistakes;
    totals->expected_violations += (size_t)head->expected;
    if (!lapse_ns_add(totals->simulated_ns, head->simulated_ns, &totals->simulated_ns)) {
        totals->simulated_ns = INT64_MAX;
    }
    totals->protocols += (size_t)head->protocols;
    totals->runs += (uint64_t)head->runs;
    totals->again += (uint64_t)head->again;
    totals->events += (uint64_t)head->events;
    totals->uses |= (uint32_t)head->uses;
    lapse_cli_unpromised_read(&summary->unpromised, record->text, (size_t)head->text_bytes);
    for (size_t i = 0; i < totals->rule_count && i < (size_t)head->tally_count; i++) {
        struct lapse_tally tally;
        memcpy(&tally, record->tallies + i * sizeof tally, sizeof tally);
        summary->tallies[i].premises += tally.premises;
        summary->tallies[i].runs += tally.runs;
        summary->tallies[i].breaks += tally.breaks;
    }
    struct lapse_slack slacks[LAPSE_SLACKS];
    lapse_slack_init(slacks);
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        slacks[i].known = head->slack_known[i] != 0;
        slacks[i].least.ns = head->slack_ns[i];
    }
    lapse_slack_join(totals->slacks, slacks);
}

/* Returns whether it was for want of memory. The system ends what takes too much of it by a signal
 * that nothing in lapse sends. */
static bool death_tell(const struct lapse_cli_slot *slot, char *why, size_t cap) {
    bool starved = slot->records.failed || slot->death == DEATH_BY_CODE + LAPSE_CLI_WORKER_STARVED;
    if (starved) {
        (void)snprintf(why, cap, "memory ran out, and the file was not run to its end");
    } else if (slot->death == SIGKILL) {
        (void)snprintf(
            why, cap,
            "the worker was killed from outside (signal 9), as a system does when memory "
            "runs out");
    } else if (slot->death > 0 && slot->death < DEATH_BY_CODE) {
        (void)snprintf(why, cap, "lapse itself failed: the worker died of signal %d", slot->death);
    } else {
        (void)snprintf(why, cap, "lapse itself failed: the worker ended early, with code %d",
                       slot->death % DEATH_BY_CODE);
    }
    return starved;
}

/* The scenario that was running is shown as broken off; what the file had finished before it
 * counts. */
static void tell_death(const struct lapse_cli_pool *pool, size_t index,
                       struct lapse_cli_sinks *sinks, struct lapse_cli_summary *summary) {
    const struct lapse_cli_slot *slot = &pool->slots[index];
    struct lapse_cli_record_view started, sum;
    bool running = last_started(slot, &started, &sum);
    char why[WHY_MAX], name[NAME_BYTES_MAX] = "(loading the file)";
    bool starved = death_tell(slot, why, sizeof why);
    if (running) {
        (void)snprintf(name, sizeof name, "%.*s", (int)started.head.text_bytes, started.text);
    }
    const struct lapse_result_view view = {
        .file = pool->selection->targets[index].path,
        .line = running ? (int)started.head.line : 0,
        .row = running ? (int32_t)started.head.row : -1,
        .name = name,
        .seed = pool->seeds[index],
        .why = why,
        .broken = true,
        .starved = starved,
        .name_repeats = running && started.head.repeats != 0,
        .promise_strict = pool->options->promise_strict,
    };
    sum.head.scenarios++;
    sum.head.broken++;
    sum.head.starved += starved;
    show_broken(slot, sinks, summary, &view, &sum.head);
    add_file(summary, &sum);
    if (summary->replay.len == 0) {
        lapse_replay_line(&summary->replay, &view);
    }
}

static void show_broken(const struct lapse_cli_slot *slot, struct lapse_cli_sinks *sinks,
                        struct lapse_cli_summary *summary, const struct lapse_result_view *view,
                        const struct lapse_cli_record *sum) {
    const struct lapse_file_view file = {
        .file = view->file,
        .scenarios = (size_t)sum->scenarios,
        .passed = (size_t)sum->passed,
        .failed = (size_t)sum->failed,
        .inconclusive = (size_t)sum->inconclusive,
        .parted = (size_t)sum->parted,
        .broken = (size_t)sum->broken,
        .expected_ids = "",
    };
    struct lapse_out body;
    lapse_out_init(&body, lapse_alloc_libc());
    for (int turn = 0; turn < 2; turn++) {
        for (size_t i = 0; i < sinks->count; i++) {
            struct lapse_cli_sink *sink = &sinks->items[i];
            if (sink->format->file_first == (turn == 0)) {
                sink->format->file(&body, &sink->style, &file);
            }
            if (turn == 1) {
                sink->format->scenario(&body, &sink->style, view);
            }
            lapse_format_join(&sink->body, body.text, body.len, &sink->index);
            lapse_out_free(&body);
        }
        if (turn == 0) {
            join_scenarios(slot, sinks, summary);
        }
    }
}

/* Whether a scenario was running at the end, and which; the sums of those that were finished. */
static bool last_started(const struct lapse_cli_slot *slot, struct lapse_cli_record_view *ret,
                         struct lapse_cli_record_view *ret_sum) {
    struct lapse_cli_record_view record;
    bool running = false;
    memset(ret, 0, sizeof *ret);
    memset(ret_sum, 0, sizeof *ret_sum);
    for (size_t at = 0;
         lapse_cli_record_read(slot->records.text, slot->records.len, &at, &record);) {
        running = record.head.kind == LAPSE_RECORD_START;
        *ret = running ? record : *ret;
        if (!running) {
            ret_sum->head.scenarios += record.head.scenarios;
            ret_sum->head.passed += record.head.passed;
            ret_sum->head.failed += record.head.failed;
            ret_sum->head.inconclusive += record.head.inconclusive;
            ret_sum->head.parted += record.head.parted;
            ret_sum->head.broken += record.head.broken;
            ret_sum->head.starved += record.head.starved;
        }
    }
    return running;
}

/* 1 outranks all but 70; then 7, 3, 4, 5. */
static int exit_code(const struct lapse_totals *totals) {
    if (totals->broken > 0) {
        return LAPSE_EXIT_BUG;
    }
    if (totals->failed > 0) {
        return LAPSE_EXIT_VIOLATED;
    }
    if (totals->parted > 0) {
        return LAPSE_EXIT_PARTED;
    }
    if (totals->mistaken_files > 0) {
        return LAPSE_EXIT_MISTAKES;
    }
    if (totals->inconclusive > 0) {
        return LAPSE_EXIT_INCONCLUSIVE;
    }
    return totals->scenarios == 0 ? LAPSE_EXIT_NOTHING : LAPSE_EXIT_PASSED;
}
