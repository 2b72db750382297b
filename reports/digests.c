/* The digests of histories, a line each: what two builds of lapse are compared by. */
#include "draw.h"

static void digests_begin(struct lapse_out *out, const struct lapse_style *style,
                          const struct lapse_totals *totals);
static void digests_scenario(struct lapse_out *out, const struct lapse_style *style,
                             const struct lapse_result_view *view);
static void digests_file(struct lapse_out *out, const struct lapse_style *style,
                         const struct lapse_file_view *view);
static void digests_end(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals, const char *replay);

const lapse_format lapse_format_digests = {"digests",    digests_begin, digests_scenario,
                                           digests_file, digests_end,   false};

static void digests_begin(struct lapse_out *out, const struct lapse_style *style,
                          const struct lapse_totals *totals) {
    (void)out;
    (void)style;
    (void)totals;
}

/* A place as `replay` takes it, then the digest. What has none is told behind a `#`. */
static void digests_scenario(struct lapse_out *out, const struct lapse_style *style,
                             const struct lapse_result_view *view) {
    (void)style;
    lapse_out_text(out, view->broken ? "# " : "");
    (void)lapse_out_safe_text(out, view->file);
    lapse_out_format(out, ":%d", view->line);
    if (view->row >= 0) {
        lapse_out_format(out, " --row %d", (int)view->row);
    }
    lapse_out_format(out, " --seed %llu ", (unsigned long long)view->seed);
    if (view->broken) {
        (void)lapse_out_safe_text(out, view->why);
        lapse_out_text(out, "\n");
    } else {
        lapse_out_format(out, "%016llx\n", (unsigned long long)lapse_history_digest(view->history));
    }
}

static void digests_file(struct lapse_out *out, const struct lapse_style *style,
                         const struct lapse_file_view *view) {
    (void)style;
    if (view->diags != NULL && view->diags->count > 0) {
        lapse_out_text(out, "# ");
        (void)lapse_out_safe_text(out, view->file);
        lapse_out_text(out, ": mistakes in the file\n");
    }
}

static void digests_end(struct lapse_out *out, const struct lapse_style *style,
                        const struct lapse_totals *totals, const char *replay) {
    (void)out;
    (void)style;
    (void)totals;
    (void)replay;
}
