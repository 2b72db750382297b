/* The body of a failure, the same in every text format: excerpt, timeline, how long the history is.
 * It must fit a screen: what does not is one command away. */
#include "draw.h"

#include <string.h>

enum { DIAGS_MAX = 3 };

const struct lapse_diag *lapse_view_diag(const struct lapse_result_view *view) {
    if (view->verdict == NULL || view->verdict->diags.count == 0) {
        return NULL;
    }
    return view->verdict->diags.items[0];
}

void lapse_failure_draw(struct lapse_out *out, const struct lapse_result_view *view,
                        const struct lapse_style *style) {
    if (view->verdict == NULL) {
        return;
    }
    const struct lapse_diag_list *diags = &view->verdict->diags;
    for (size_t i = 0; i < diags->count && i < DIAGS_MAX; i++) {
        lapse_excerpt_draw(out, view->source, diags->items[i], style);
        lapse_out_text(out, "\n");
    }
    if (diags->count > DIAGS_MAX) {
        lapse_out_format(out, "and %zu more\n\n", diags->count - DIAGS_MAX);
    }
    if (view->history == NULL) {
        return;
    }
    size_t before = out->len;
    lapse_timeline_draw(out, view, view->verdict->event, style);
    lapse_out_text(out, out->len > before ? "\n" : "");
    lapse_out_text(out, "    history   ");
    size_t calls = lapse_view_calls(view), events = lapse_history_count(view->history);
    lapse_out_count(out, calls > 0 ? calls : events, calls > 0 ? "call" : "event",
                    calls > 0 ? "calls" : "events");
    if (view->log_calls > 0) {
        lapse_out_text(out, "\n");
        return;
    }
    lapse_out_format(out, ", digest %016llx%s\n",
                     (unsigned long long)lapse_history_digest(view->history),
                     style->verbose < 2 ? "; replay with -v shows every event" : "");
}

void lapse_judged_lines(struct lapse_out *out, const struct lapse_result_view *view,
                        const char *indent) {
    const char *at = view->judged != NULL ? view->judged : "";
    while (*at != '\0') {
        size_t len = strcspn(at, "\n");
        lapse_out_text(out, indent);
        lapse_out_bytes(out, at, len);
        lapse_out_text(out, "\n");
        at += len + (at[len] == '\n' ? 1 : 0);
    }
}
