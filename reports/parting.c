/* What is told of a run that gave another history when it was made again: its first event that
 * differs, as it came first and as it came then. */
#include <stdio.h>

#include "draw.h"

bool lapse_view_passed(const struct lapse_result_view *view) {
    return !view->broken && view->parting == NULL && view->outcome == LAPSE_OUTCOME_PASSED;
}

bool lapse_view_parted(const struct lapse_result_view *view) {
    return !view->broken && view->parting != NULL && view->outcome != LAPSE_OUTCOME_VIOLATED;
}

void lapse_parting_say(struct lapse_out *out, const struct lapse_parting *parting) {
    lapse_out_format(
        out, "not deterministic: with the same seed, event %zu differs when the run %s",
        parting->at, parting->restored ? "goes on from a copy of its middle" : "is made again");
}

void lapse_parting_event(struct lapse_out *out, const struct lapse_result_view *view, bool again) {
    struct lapse_result_view told = *view;
    told.history = again ? view->parting->again : view->history;
    size_t at = view->parting->at;
    if (at >= lapse_history_count(told.history)) {
        lapse_out_text(out, "(no such event: the history ends before it)");
    } else {
        lapse_event_draw(out, &told, lapse_history_at(told.history, at));
    }
}

void lapse_parting_draw(struct lapse_out *out, const struct lapse_result_view *view,
                        const char *indent) {
    lapse_out_text(out, indent);
    lapse_out_text(out, "first   ");
    lapse_parting_event(out, view, false);
    lapse_out_format(out, "\n%sagain   ", indent);
    lapse_parting_event(out, view, true);
    lapse_out_text(out, "\n");
}
