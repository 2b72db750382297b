/* What each rule found in each run, a line each, fields apart by tabs: what `lapse self-test` reads
 * of the runs that it starts. */
#include "draw.h"

static void tally_begin(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals);
static void tally_scenario(struct lapse_out *out, const struct lapse_style *style,
                           const struct lapse_result_view *view);
static void tally_file(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_file_view *view);
static void tally_end(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals, const char *replay);
static void put_rules(struct lapse_out *out, const struct lapse_verdict *verdict);

const lapse_format lapse_format_tally = {"tally",    tally_begin, tally_scenario,
                                         tally_file, tally_end,   false};

static void tally_begin(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals) {
    (void)out;
    (void)style;
    (void)totals;
}

/* The outcome, the contract charged, the event that ended the run, the number of events, the rules
 * with their breaks, the place, the name, and why if it was broken off. What there is none of is a
 * `-`. */
static void tally_scenario(struct lapse_out *out, const struct lapse_style *style,
                           const struct lapse_result_view *view) {
    static const char *const outcomes[] = {"passed", "violated", "inconclusive"};
    (void)style;
    if (view->broken) {
        lapse_out_text(out, "broken\t-\t-1\t0\t-\t");
    } else {
        const struct lapse_verdict *verdict = view->verdict;
        lapse_out_format(out, "%s\t%s\t%lld\t%zu\t", outcomes[view->outcome],
                         verdict->id != NULL ? verdict->id : "-", (long long)verdict->event,
                         lapse_history_count(view->history));
        put_rules(out, verdict);
        lapse_out_text(out, "\t");
    }
    (void)lapse_out_safe_text(out, view->file);
    lapse_out_format(out, ":%d\t", view->line);
    (void)lapse_out_safe_text(out, view->name);
    if (view->why != NULL) {
        lapse_out_text(out, "\t");
        (void)lapse_out_safe_text(out, view->why);
    }
    lapse_out_text(out, "\n");
}

/* "KV-01=3@17": broken three times, at first by the event 17. */
static void put_rules(struct lapse_out *out, const struct lapse_verdict *verdict) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct lapse_breaks *broke = &verdict->judged[i].tallied;
        if (broke->times > 0) {
            lapse_out_format(out, "%s%s=%lld@%lld", any ? " " : "", rules[i].id,
                             (long long)broke->times, (long long)broke->first);
            any = true;
        }
    }
    lapse_out_text(out, any ? "" : "-");
}

static void tally_file(struct lapse_out *out, const struct lapse_style *style,
                       const struct lapse_file_view *view) {
    (void)style;
    if (view->diags != NULL && view->diags->count > 0) {
        lapse_out_text(out, "mistaken\t-\t-1\t0\t-\t");
        (void)lapse_out_safe_text(out, view->file);
        lapse_out_text(out, "\t-\n");
    }
}

static void tally_end(struct lapse_out *out, const struct lapse_style *style,
                      const struct lapse_totals *totals, const char *replay) {
    (void)out;
    (void)style;
    (void)totals;
    (void)replay;
}
