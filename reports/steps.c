/* The steps of a run, a line each: a call beside its answer, faults, what observers saw. It is what
 * the author of a scenario reads to see what it did; every event is one step further (events.c). */
#include <string.h>

#include "draw.h"

enum { ACTOR_COLUMNS = 8 };

struct steps {
    struct lapse_out *out;
    const struct lapse_result_view *view;
    const struct lapse_history_event **replies; /* by call */
    bool *drawn;                                /* by call */
    size_t replies_cap, drawn_cap;
};

static bool steps_init(struct steps *steps);
static void draw_step(struct steps *steps, const struct lapse_history_event *event);
static void draw_looks(struct steps *steps, const struct lapse_history_event *event);
static void draw_call(struct steps *steps, const struct lapse_history_event *event);
static size_t fold_alike(struct steps *steps, const struct lapse_history_event *first);
static const struct lapse_history_event *reply_of(const struct steps *steps, int64_t call);
static void draw_head(struct steps *steps, const struct lapse_history_event *event);

void lapse_steps_draw(struct lapse_out *out, const struct lapse_result_view *view) {
    struct steps steps = {.out = out, .view = view};
    if (steps_init(&steps)) {
        size_t count = lapse_history_count(view->history);
        for (size_t i = 0; i < count; i++) {
            draw_step(&steps, lapse_history_at(view->history, i));
        }
    } else {
        out->failed = true;
    }
    lapse_alloc_free(out->alloc, steps.replies, steps.replies_cap * sizeof *steps.replies);
    lapse_alloc_free(out->alloc, steps.drawn, steps.drawn_cap * sizeof *steps.drawn);
}

static bool steps_init(struct steps *steps) {
    const struct lapse_history *history = steps->view->history;
    const lapse_alloc *alloc = steps->out->alloc;
    size_t count = lapse_history_count(history);
    int64_t calls = 0;
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        calls = event->call > calls ? event->call : calls;
    }
    void *replies = NULL, *drawn = NULL;
    bool whole =
        lapse_alloc_grow(alloc, &replies, &steps->replies_cap, (size_t)calls + 1,
                         sizeof *steps->replies) &&
        lapse_alloc_grow(alloc, &drawn, &steps->drawn_cap, (size_t)calls + 1, sizeof *steps->drawn);
    steps->replies = replies;
    steps->drawn = drawn;
    if (!whole) {
        return false;
    }
    for (size_t i = 0; i <= (size_t)calls; i++) {
        steps->replies[i] = NULL;
        steps->drawn[i] = false;
    }
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        if (event->kind == LAPSE_HISTORY_REPLY && event->call > 0) {
            steps->replies[event->call] = event;
        }
    }
    return true;
}

static void draw_step(struct steps *steps, const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        draw_call(steps, event);
        return;
    case LAPSE_HISTORY_REPLY:
        if (event->u.reply.sent) {
            return;
        }
        draw_head(steps, event);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
        draw_head(steps, event);
        break;
    case LAPSE_HISTORY_MESSAGE:
        if (event->u.message.fate == LAPSE_MESSAGE_LATE) {
            return; /* the reply tells when it came */
        }
        draw_head(steps, event);
        break;
    case LAPSE_HISTORY_PROBE:
        draw_head(steps, event);
        if (event->u.probe.answer_count > 1) {
            draw_looks(steps, event);
            return;
        }
        break;
    case LAPSE_HISTORY_CLOCK:
    case LAPSE_HISTORY_FAULT_END:
    case LAPSE_HISTORY_STOPPED:
    case LAPSE_HISTORY_UNBOUND:
    case LAPSE_HISTORY_NOT_RUN:
        draw_head(steps, event);
        lapse_out_text(steps->out, lapse_history_kind_word(event->kind));
        lapse_out_text(steps->out, " ");
        break;
    default:
        return;
    }
    lapse_event_body_draw(steps->out, steps->view, event);
    lapse_event_line_draw(steps->out, steps->view, event);
    lapse_out_text(steps->out, "\n");
}

/* An observer that tried every read: what each said, in a word. */
static void draw_looks(struct steps *steps, const struct lapse_history_event *event) {
    const struct lapse_probe *probe = &event->u.probe;
    lapse_out_text(steps->out, probe->kind == LAPSE_PROBE_GONE ? "gone " : "present ");
    (void)lapse_out_safe(steps->out, (const char *)probe->bucket.data, probe->bucket.len,
                         INT32_MAX);
    lapse_out_text(steps->out, "/");
    (void)lapse_out_safe(steps->out, (const char *)probe->name.data, probe->name.len, INT32_MAX);
    for (size_t i = 0; i < probe->answer_count; i++) {
        int verb = probe->answers[i].verb;
        lapse_out_format(steps->out, "%s %s %s", i == 0 ? ":" : ",", lapse_call_word(verb),
                         lapse_answer_word(verb, probe->answers[i].answer.status));
    }
    lapse_event_line_draw(steps->out, steps->view, event);
    lapse_out_text(steps->out, "\n");
}

/* Calls of one step at one instant with the same answer are one line. */
static void draw_call(struct steps *steps, const struct lapse_history_event *event) {
    struct lapse_out *out = steps->out;
    if (event->call > 0 && steps->drawn[event->call]) {
        return;
    }
    const struct lapse_history_event *reply = reply_of(steps, event->call);
    draw_head(steps, event);
    lapse_event_body_draw(out, steps->view, event);
    if (reply == NULL) {
        lapse_out_text(out, " -> no answer");
    } else {
        lapse_out_text(out, " -> ");
        lapse_answer_draw(out, reply->u.reply.verb, &reply->u.reply.answer);
        if (reply->at.ns != event->at.ns) {
            char at[LAPSE_TIME_TEXT_MAX];
            lapse_out_format(out, ", at %s",
                             lapse_span_print((struct lapse_span){reply->at.ns}, at));
        }
    }
    size_t more = event->u.invoke.loop < 0 && event->n > 0 ? fold_alike(steps, event) : 0;
    if (more > 0) {
        lapse_out_format(out, ", and %zu more alike", more);
    }
    lapse_event_line_draw(out, steps->view, event);
    lapse_out_text(out, "\n");
}

static size_t fold_alike(struct steps *steps, const struct lapse_history_event *first) {
    const struct lapse_history *history = steps->view->history;
    const struct lapse_history_event *answer = reply_of(steps, first->call);
    size_t more = 0;
    for (size_t i = (size_t)first->seq + 1; i < lapse_history_count(history); i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        if (event->at.ns != first->at.ns) {
            break;
        }
        if (event->kind != LAPSE_HISTORY_INVOKE || event->step != first->step ||
            event->actor != first->actor || event->call <= 0) {
            continue;
        }
        const struct lapse_history_event *reply = reply_of(steps, event->call);
        bool alike =
            (reply == NULL) == (answer == NULL) &&
            (reply == NULL || reply->u.reply.answer.status == answer->u.reply.answer.status);
        steps->drawn[event->call] = steps->drawn[event->call] || alike;
        more += alike;
    }
    return more;
}

static const struct lapse_history_event *reply_of(const struct steps *steps, int64_t call) {
    return call > 0 ? steps->replies[call] : NULL;
}

static void draw_head(struct steps *steps, const struct lapse_history_event *event) {
    char at[LAPSE_TIME_TEXT_MAX];
    lapse_out_format(steps->out, "          %-12s  ",
                     lapse_span_print((struct lapse_span){event->at.ns}, at));
    int columns = 0;
    if (event->actor >= 0) {
        struct lapse_bytes name = steps->view->the_case->setup->actors[event->actor].name;
        columns = lapse_out_safe(steps->out, (const char *)name.data, name.len, INT32_MAX);
    }
    lapse_out_repeat(steps->out, ' ', ACTOR_COLUMNS - columns);
    lapse_out_text(steps->out, "  ");
}
