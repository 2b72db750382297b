/* Which margin keeps two clients from acting at once, for clocks off by so much: tried, one grain
 * after the other, until no state is left in which two may act. */
#include <stdio.h>

#include "explore.h"

static int one_bound(struct lapse_out *out, const struct lapse_cli_options *options,
                     const struct lapse_plan_explore *protocol);

int lapse_cli_explore_margins(const struct lapse_cli_options *options,
                              const struct lapse_plan *plan) {
    struct lapse_plan_explore protocol = plan->explore;
    struct lapse_out out;
    if (!protocol.careful) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE,
                                  "%s:%d: only careful clients have a margin; add `careful: true`",
                                  plan->file, plan->line_first);
    }
    lapse_out_init(&out, lapse_alloc_libc());
    (void)lapse_out_safe_text(&out, plan->file);
    lapse_out_format(&out, ":%d  ", plan->line_first);
    (void)lapse_out_safe_text(&out, plan->name);
    lapse_out_format(&out, "\n  %-10s %-10s %14s %14s\n", "clocks off", "margin", "states",
                     "two may act");
    int code = LAPSE_EXIT_PASSED;
    for (int64_t ns = 0; ns <= plan->explore.clock_ns && code == LAPSE_EXIT_PASSED;
         ns += protocol.grain_ns) {
        protocol.clock_ns = ns;
        code = one_bound(&out, options, &protocol);
    }
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return code;
}

static int one_bound(struct lapse_out *out, const struct lapse_cli_options *options,
                     const struct lapse_plan_explore *protocol) {
    struct lapse_plan_explore tried = *protocol;
    char clock[LAPSE_TIME_TEXT_MAX], margin[LAPSE_TIME_TEXT_MAX], states[32], two[32];
    (void)lapse_span_print((struct lapse_span){protocol->clock_ns}, clock);
    for (int64_t ns = 0; ns + protocol->renew_ns < protocol->span_ns; ns += protocol->grain_ns) {
        struct lapse_explored found;
        struct lapse_error err = {0};
        tried.margin_ns = ns;
        uint32_t listed = UINT32_C(1) << LAPSE_BREAK_TWO_ACT | UINT32_C(1) << LAPSE_BREAK_LOWER;
        enum lapse_status status =
            lapse_cli_explore_once(options, &tried, protocol->faults_max, listed, NULL, &found,
                                   &err);
        if (status != LAPSE_OK) {
            return lapse_cli_complain(LAPSE_EXIT_BUG, "%s", err.message);
        }
        uint64_t count = found.counts.two_act;
        bool whole = found.end == LAPSE_EXPLORE_ALL;
        bool broken = found.end == LAPSE_EXPLORE_FOUND;
        lapse_out_format(out, "  %-10s %-10s %14s %14s%s\n", clock,
                         lapse_span_print((struct lapse_span){ns}, margin),
                         lapse_cli_number(found.counts.states, states),
                         lapse_cli_number(count, two),
                         whole    ? (count == 0 ? "   safe" : "")
                         : broken ? "   the store breaks a contract: explore it without --margin"
                                  : "   not all states were seen");
        lapse_explored_free(&found);
        if (broken) {
            return LAPSE_EXIT_VIOLATED;
        }
        if (!whole || count == 0) {
            return whole ? LAPSE_EXIT_PASSED : LAPSE_EXIT_INCONCLUSIVE;
        }
    }
    lapse_out_format(out, "  %-10s no margin below `for`%s is enough\n", clock,
                     protocol->renew_ns > 0 ? " less `renew`" : "");
    return LAPSE_EXIT_PASSED;
}
