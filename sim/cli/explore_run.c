/* A protocol explored: fault after fault, what was found, and how far the claim goes. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "explore.h"

static uint32_t listed_of(const struct lapse_plan *plan);
static void put_head(struct lapse_out *out, const struct lapse_plan *plan);
static int put_round(struct lapse_out *out, const struct lapse_cli_explored *explored);
static void put_claim(struct lapse_out *out, const struct lapse_cli_explored *explored);
static bool was_found(const struct lapse_explored *found, const char *id);

int lapse_cli_explore_protocol(const struct lapse_cli_options *options,
                               const struct lapse_plan *plan, struct lapse_cli_states *states) {
    const struct lapse_plan_explore *protocol = &plan->explore;
    struct lapse_cli_explored explored = {.options = options, .plan = plan};
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    put_head(&out, plan);
    int code = LAPSE_EXIT_PASSED;
    int32_t most = protocol->faults_max;
    for (int32_t i = most < 0 ? -1 : 0; i <= most && code == LAPSE_EXIT_PASSED; i++) {
        struct lapse_error err = {0};
        explored.faults = i;
        enum lapse_status status =
            lapse_cli_explore_once(options, protocol, i, listed_of(plan), i == most ? states : NULL,
                                   &explored.found, &err);
        if (status != LAPSE_OK) {
            code = lapse_cli_complain(LAPSE_EXIT_BUG, "%s", err.message);
            break;
        }
        code = put_round(&out, &explored);
        if (states != NULL && i == most) {
            states->whole = explored.found.end == LAPSE_EXPLORE_ALL;
        }
        for (size_t k = 0; i == most && k < plan->the_case.violates_count; k++) {
            const char *id = plan->the_case.violates[k];
            if (code == LAPSE_EXIT_PASSED && !was_found(&explored.found, id)) {
                lapse_out_format(&out, "  did not violate %s, which `violates` lists\n", id);
                code = LAPSE_EXIT_VIOLATED;
            }
        }
        lapse_explored_free(&explored.found);
    }
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return code;
}

/* What `violates` lists is gone on from: only what concerns clients and resources can be. */
static uint32_t listed_of(const struct lapse_plan *plan) {
    uint32_t listed = 0;
    for (size_t i = 0; i < plan->the_case.violates_count; i++) {
        for (int what = 1; what < LAPSE_BREAKS; what++) {
            const char *id = lapse_explore_break_id((enum lapse_explore_break)what);
            listed |= strcmp(plan->the_case.violates[i], id) == 0 ? UINT32_C(1) << what : 0;
        }
    }
    return listed;
}

static void put_head(struct lapse_out *out, const struct lapse_plan *plan) {
    (void)lapse_out_safe_text(out, plan->file);
    lapse_out_format(out, ":%d  ", plan->line_first);
    (void)lapse_out_safe_text(out, plan->name);
    lapse_out_text(out, "\n");
}

static int put_round(struct lapse_out *out, const struct lapse_cli_explored *explored) {
    const struct lapse_explored *found = &explored->found;
    for (size_t i = 0; i < found->found_count; i++) {
        bool last = found->end == LAPSE_EXPLORE_FOUND && i + 1 == found->found_count;
        const char *id = lapse_explore_break_id(found->found[i].what);
        const char *sentence = lapse_explore_break_sentence(found->found[i].what);
        if (last) {
            lapse_out_format(out, "  error[%s]: %s\n", id, sentence);
            lapse_cli_explore_moves(out, &explored->plan->explore, &found->found[i]);
            lapse_cli_explore_scene(out, explored->options, explored->plan, &found->found[i]);
        } else if (explored->options->verbose > 0) {
            lapse_out_format(out, "  %s, as listed: %s\n", id, sentence);
            lapse_cli_explore_moves(out, &explored->plan->explore, &found->found[i]);
        }
    }
    put_claim(out, explored);
    switch (found->end) {
    case LAPSE_EXPLORE_ALL:
        return LAPSE_EXIT_PASSED;
    case LAPSE_EXPLORE_FOUND:
        return LAPSE_EXIT_VIOLATED;
    default:
        return LAPSE_EXIT_INCONCLUSIVE;
    }
}

static bool was_found(const struct lapse_explored *found, const char *id) {
    for (size_t i = 0; i < found->found_count; i++) {
        if (strcmp(lapse_explore_break_id(found->found[i].what), id) == 0) {
            return true;
        }
    }
    return false;
}

/* What has been shown, and what it is worth. */
static void put_claim(struct lapse_out *out, const struct lapse_cli_explored *explored) {
    const struct lapse_explored *found = &explored->found;
    static const char *const heads[] = {[LAPSE_EXPLORE_ALL] = "explored all",
                                        [LAPSE_EXPLORE_FOUND] = "found after",
                                        [LAPSE_EXPLORE_MEMORY] = "bounded by --memory: not all,",
                                        [LAPSE_EXPLORE_STOPPED] = "interrupted: not all,"};
    char states[32], faults[32] = "any number of faults";
    lapse_cli_number(found->counts.states, states);
    if (explored->faults >= 0) {
        (void)snprintf(faults, sizeof faults, "at most %d fault%s", (int)explored->faults,
                       explored->faults == 1 ? "" : "s");
    }
    lapse_out_format(out, "  %s %s states: ", heads[found->end], states);
    if (found->found_count == 0) {
        lapse_out_text(out, "no violation");
    }
    for (size_t i = 0; i < found->found_count; i++) {
        lapse_out_format(out, "%s%s", i > 0 ? ", " : "violates ",
                         lapse_explore_break_id(found->found[i].what));
    }
    bool all = found->end == LAPSE_EXPLORE_ALL;
    lapse_out_format(out, "%s for %d client%s,%s %s\n",
                     all || found->end == LAPSE_EXPLORE_FOUND ? "" : " so far",
                     (int)explored->plan->explore.clients,
                     explored->plan->explore.clients == 1 ? "" : "s", all ? " unlimited time," : "",
                     faults);
    if (explored->options->verbose > 0) {
        lapse_out_format(out,
                         "    %" PRIu64 " transitions, %" PRId64 " moves deep, %" PRIu64
                         " questions to the engine, digest %016" PRIx64 "\n",
                         found->counts.transitions, found->counts.depth, found->counts.calls,
                         found->counts.digest);
    }
}
