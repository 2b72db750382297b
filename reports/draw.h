/* Private to reports: the small drawing tools that all writers share.
 *
 * Text from a scenario is hostile: it reaches an output only through `safe`, which shows control
 * characters, broken UTF-8 and direction overrides as \xNN. A code point counts as one column. */
#ifndef REPORTS_DRAW_H
#define REPORTS_DRAW_H

#include "reports/report.h"

enum lapse_paint {
    LAPSE_PAINT_RESET = 0,
    LAPSE_PAINT_ERROR,
    LAPSE_PAINT_GOOD,
    LAPSE_PAINT_WARN,
    LAPSE_PAINT_FRAME, /* gutters, arrows, axes */
    LAPSE_PAINT_STRONG
};

/* Switches the colour, if the style has any. */
void lapse_out_paint(struct lapse_out *out, const struct lapse_style *style,
                     enum lapse_paint paint);
/* `count` times one character; none if count <= 0. */
void lapse_out_repeat(struct lapse_out *out, char character, int count);
/* Text made safe, at most columns_max characters (the last three then are "..."). Returns the
 * columns written. */
int lapse_out_safe(struct lapse_out *out, const char *bytes, size_t len, int columns_max);
/* Safe text broken at spaces so that no line passes `width`; lines after the first are indented by
 * `indent`. The first begins at column `at`. No newline at the end. */
void lapse_out_wrap(struct lapse_out *out, const char *text, int at, int indent, int width);
/* "1 scenario", "4 scenarios". */
void lapse_out_count(struct lapse_out *out, size_t count, const char *one, const char *many);

/* The bytes of the character that begins at bytes[0], len > 0; *ret_plain is false if it must not
 * be shown as it is. */
size_t lapse_character_bytes(const char *bytes, size_t len, bool *ret_plain);
/* The columns of bytes[0..len) as `safe` shows them. */
int lapse_columns_of(const char *bytes, size_t len);
/* Whether a code is this letter and a number: Y104 and W002 are of the loader and of the program,
 * WATCH-01 is a contract. */
bool lapse_code_numbered(const char *code, char letter);

/* One history event as a line of text without newline (events.c). `view` gives names. */
void lapse_event_draw(struct lapse_out *out, const struct lapse_result_view *view,
                      const struct lapse_history_event *event);
/* What the line says of the event itself; then the line of the scenario that caused it. */
void lapse_event_body_draw(struct lapse_out *out, const struct lapse_result_view *view,
                           const struct lapse_history_event *event);
void lapse_event_line_draw(struct lapse_out *out, const struct lapse_result_view *view,
                           const struct lapse_history_event *event);
void lapse_answer_draw(struct lapse_out *out, int verb, const struct lapse_answer *answer);
/* The number of calls sent in a history, or in a log. */
size_t lapse_view_calls(const struct lapse_result_view *view);
/* What broke and is not promised: a line each, with its times and, if asked, where it first came
 * (promises.c). Nothing for a run that has no verdict. */
void lapse_unpromised_lines(struct lapse_out *out, const struct lapse_result_view *view,
                            const char *indent, bool where);
/* The same over all runs. */
void lapse_unpromised_sums(struct lapse_out *out, const struct lapse_totals *totals,
                           const char *indent);
/* The first diagnostic of a view, or NULL. */
const struct lapse_diag *lapse_view_diag(const struct lapse_result_view *view);
/* The lines of view->judged, indented. */
void lapse_judged_lines(struct lapse_out *out, const struct lapse_result_view *view,
                        const char *indent);
/* The body of a failure without looks: excerpt, timeline, history line. At most about 50 lines. */
void lapse_failure_draw(struct lapse_out *out, const struct lapse_result_view *view,
                        const struct lapse_style *style);

/* A view with a parting (parting.c): a sentence; the event as it came first, or again; both, a line
 * each. */
void lapse_parting_say(struct lapse_out *out, const struct lapse_parting *parting);
void lapse_parting_event(struct lapse_out *out, const struct lapse_result_view *view, bool again);
void lapse_parting_draw(struct lapse_out *out, const struct lapse_result_view *view,
                        const char *indent);

/* Text made safe, and then with a \ before each \ and each of `special`. */
void lapse_out_escaped(struct lapse_out *out, const char *text, const char *special);
/* How near a view's runs came to breaking a promise, " LEASE-01 10s": those that are known. */
void lapse_slacks_draw(struct lapse_out *out, const struct lapse_slack *slacks);
/* Every contract, with how often it was judged (coverage.c). */
void lapse_coverage_draw(struct lapse_out *out, const struct lapse_totals *totals);
/* The rule's tally of a contract; zeros if no rule judges it. */
struct lapse_tally lapse_tally_of(const struct lapse_totals *totals, const char *id);
/* How a contract fared over all runs: nothing came near it; its verbs were used but its premise
 * never came true; it was judged. */
enum lapse_touch { LAPSE_TOUCH_NONE = 0, LAPSE_TOUCH_IDLE = 1, LAPSE_TOUCH_JUDGED = 2 };
enum lapse_touch lapse_touch_of(const struct lapse_totals *totals, const char *id);

extern const lapse_format lapse_format_pretty, lapse_format_tap, lapse_format_junit,
    lapse_format_jsonl, lapse_format_digests, lapse_format_tally;

#endif
