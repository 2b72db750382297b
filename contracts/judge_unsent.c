/* The judge's messages on lines that sent nothing or got nothing: a name that gave no value, a line
 * that never ran, a call without an answer. */
#include "judge_parts.h"

#include "expect_parts.h"
#include "words.h"

enum { TEXT_MAX = 512 };

static void say_unbound(struct lapse_judge *judge, const struct lapse_history_event *event,
                        const struct lapse_finding *finding);
static void label_save(struct lapse_judge *judge, struct lapse_diag *diag,
                       const struct lapse_history_event *event);
static void put_misfit(const struct lapse_judge *judge, const struct lapse_history_event *event,
                       struct lapse_line *line);
static const char *field_word(const struct lapse_slot *slot, enum lapse_field field);
static void put_kind(struct lapse_line *line, const struct lapse_slot *slot,
                     enum lapse_field field);
static void say_end(struct lapse_judge *judge, const struct lapse_history_event *event,
                    const struct lapse_finding *finding);
static void label_waiting(struct lapse_judge *judge, struct lapse_diag *diag,
                          const struct lapse_history_event *event);
static bool is_nearer(const struct lapse_history_event *one,
                      const struct lapse_history_event *other, int32_t step);

void lapse_judge_say_unsent(struct lapse_judge *judge, const struct lapse_history_event *event,
                            const struct lapse_finding *finding) {
    if (event->kind == LAPSE_HISTORY_UNBOUND) {
        say_unbound(judge, event, finding);
    } else {
        say_end(judge, event, finding);
    }
}

static void say_unbound(struct lapse_judge *judge, const struct lapse_history_event *event,
                        const struct lapse_finding *finding) {
    const struct lapse_case *the_case = judge->the_case;
    int32_t slot = event->u.unbound.slot;
    bool known = slot >= 0 && (size_t)slot < the_case->slot_count;
    char text[TEXT_MAX];
    struct lapse_line line;
    lapse_line_begin(&line, text, sizeof(text));
    lapse_line_add(&line, "$%s", known ? the_case->slot_names[slot] : "?");
    if (known && event->u.unbound.why != LAPSE_UNBOUND_NAME) {
        put_misfit(judge, event, &line);
    } else {
        lapse_line_add(&line, " was not bound when this step ran");
    }
    struct lapse_diag *diag = lapse_diag_add(&judge->verdict.diags, finding->check->contract,
                                             finding->place, "this step was not sent", "%s", text);
    if (known) {
        label_save(judge, diag, event);
    }
    judge->verdict.id = finding->check->contract;
    lapse_judge_fail(judge, diag, event->seq);
}

/* The line that bound the name, with the answer that it keeps, or that should have bound it. */
static void label_save(struct lapse_judge *judge, struct lapse_diag *diag,
                       const struct lapse_history_event *event) {
    int32_t index = event->u.unbound.slot;
    struct lapse_place place = judge->the_case->slot_places[index];
    const struct lapse_slot *slot = &judge->slots.items[index];
    char text[TEXT_MAX];
    struct lapse_line line;
    if (place.file == NULL) {
        return;
    }
    lapse_line_begin(&line, text, sizeof(text));
    if (event->u.unbound.why != LAPSE_UNBOUND_NAME && slot->bound) {
        lapse_line_add(&line, "this line saved: ");
        lapse_line_answer(&line, slot->verb, &slot->answer);
    } else {
        lapse_line_add(&line, "this line should have bound it");
    }
    lapse_diag_label(&judge->verdict.diags, diag, place, "%s", text);
}

/* ".rev: the saved reply has no rev", or ".end is a span from the start, ...". */
static void put_misfit(const struct lapse_judge *judge, const struct lapse_history_event *event,
                       struct lapse_line *line) {
    const struct lapse_slot *slot = &judge->slots.items[event->u.unbound.slot];
    int number = event->u.unbound.field;
    bool named = number > LAPSE_FIELD_DEFAULT && number < LAPSE_FIELDS;
    enum lapse_field field = named ? (enum lapse_field)number : LAPSE_FIELD_DEFAULT;
    if (named) {
        lapse_line_add(line, ".%s", field_word(slot, field));
    }
    if (event->u.unbound.why == LAPSE_UNBOUND_FIELD) {
        lapse_line_add(line, ": the saved reply has no %s", field_word(slot, field));
    } else {
        put_kind(line, slot, field);
    }
}

/* The field's word; for $x alone, that of the field which it stands for. */
static const char *field_word(const struct lapse_slot *slot, enum lapse_field field) {
    if (field != LAPSE_FIELD_DEFAULT) {
        return lapse_words_of_field(field);
    }
    switch (slot->verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_INSPECT:
        return lapse_words_of_field(LAPSE_FIELD_TOKEN);
    case LAPSE_VERB_GET:
    case LAPSE_VERB_HAS:
    case LAPSE_CALL_READ:
        return lapse_words_of_field(LAPSE_FIELD_VALUE);
    case LAPSE_VERB_COUNT:
        return lapse_words_of_field(LAPSE_FIELD_COUNT);
    default:
        return lapse_words_of_field(LAPSE_FIELD_REV);
    }
}

/* What the name gives, and what it is not: the place takes one of the other kinds. */
static void put_kind(struct lapse_line *line, const struct lapse_slot *slot,
                     enum lapse_field field) {
    struct lapse_value value = {0};
    bool end = field == LAPSE_FIELD_END;
    if (!slot->bound || !lapse_answer_field(slot->verb, &slot->answer, field, &value)) {
        lapse_line_add(line, " is of a kind that does not fit here");
        return;
    }
    switch (value.kind) {
    case LAPSE_OPERAND_SPAN:
        lapse_line_add(line, " is a span%s, a date or a number is wanted here",
                       end ? " from the start" : "");
        break;
    case LAPSE_OPERAND_DATE:
        lapse_line_add(line, " is a date, a span or a number is wanted here");
        break;
    case LAPSE_OPERAND_TEXT:
        lapse_line_add(line, " is a text, a number or a time is wanted here");
        break;
    default:
        lapse_line_add(line, " is a number, a span or a date is wanted here");
        break;
    }
}

static void say_end(struct lapse_judge *judge, const struct lapse_history_event *event,
                    const struct lapse_finding *finding) {
    const struct lapse_step_check *check = finding->check;
    bool waits = event->kind == LAPSE_HISTORY_WAITING;
    const char *label = waits ? "still waiting for an answer at the end"
                              : "this line had not run when the run ended";
    struct lapse_diag *diag = lapse_diag_add(&judge->verdict.diags, check->contract, finding->place,
                                             label, "%s %s: %s", check->verb, check->object, label);
    if (!waits) {
        label_waiting(judge, diag, event);
    }
    char at[LAPSE_TIME_TEXT_MAX];
    (void)lapse_span_print((struct lapse_span){event->at.ns}, at);
    lapse_diag_note(&judge->verdict.diags, diag, "note", "the run ended at %s", at);
    judge->verdict.id = check->contract;
    lapse_judge_fail(judge, diag, event->seq);
}

/* What the line's actor waits for, of all that is told to wait just before. */
static void label_waiting(struct lapse_judge *judge, struct lapse_diag *diag,
                          const struct lapse_history_event *event) {
    const struct lapse_history_event *waiting = NULL;
    for (int64_t i = event->seq - 1; i >= 0 && event->actor >= 0; i--) {
        const struct lapse_history_event *other = judge->events[i];
        if (other->kind != LAPSE_HISTORY_WAITING && other->kind != LAPSE_HISTORY_NOT_RUN) {
            break;
        }
        if (other->kind == LAPSE_HISTORY_WAITING && other->actor == event->actor &&
            (waiting == NULL || is_nearer(other, waiting, event->step))) {
            waiting = other;
        }
    }
    const struct lapse_step_check *check =
        waiting == NULL ? NULL : lapse_judge_step(judge, waiting->step);
    if (check != NULL && check->place.file != NULL) {
        lapse_diag_label(&judge->verdict.diags, diag, check->place, "%s",
                         waiting->call > 0 ? "this line still waits for its answer"
                                           : "this line still waits for what never came");
    }
}

/* An actor can wait in several tasks: the last line before the one that did not run is the likely
 * cause, else the first after it. */
static bool is_nearer(const struct lapse_history_event *one,
                      const struct lapse_history_event *other, int32_t step) {
    bool before = one->step < step;
    if (before != (other->step < step)) {
        return before;
    }
    return before ? one->step > other->step : one->step < other->step;
}
