/* Expectations of observers: that a key is gone or present to every call at once, what is left, who
 * holds, who believes, which events came. */
#include "expect_parts.h"

#include "words.h"

/* Calls that are named where they are not the ones in the wrong. */
enum { CALLS_NAMED_MAX = 3 };

static bool meets_key(const struct lapse_probe *probe, struct lapse_sides *sides);
static bool shows_either(const struct lapse_probe *probe, struct lapse_line *line);
static void put_sides(struct lapse_line *line, const struct lapse_probe *probe, size_t wrong);
static void put_calls(struct lapse_line *line, const struct lapse_probe *probe, bool absent);
static bool shows_absent(const struct lapse_probe_answer *tried);
static bool shows_present(const struct lapse_probe_answer *tried);
static bool meets_one(const struct lapse_expect *expect, const struct lapse_probe *probe,
                      const struct lapse_expect_context *context, struct lapse_sides *sides);
static bool meets_who(const struct lapse_expect *expect, const struct lapse_probe *probe,
                      const struct lapse_expect_context *context, struct lapse_sides *sides);
static void put_actors(struct lapse_line *line, const struct lapse_setup *setup,
                       const int32_t *actors, size_t count);
static bool meets_events(const struct lapse_expect *expect, const struct lapse_probe *probe,
                         const struct lapse_expect_context *context, struct lapse_sides *sides);
static bool meets_event(const struct lapse_event_expect *wanted, const struct lapse_event *event,
                        const struct lapse_expect_context *context);
static bool text_is(const struct lapse_text *text, struct lapse_bytes bytes,
                    const struct lapse_expect_context *context);
static void put_wanted(struct lapse_line *line, const struct lapse_event_expect *wanted,
                       const struct lapse_expect_context *context);
static void put_event(struct lapse_line *line, const struct lapse_event *event,
                      const struct lapse_event_expect *wanted);

bool lapse_expect_probe(const struct lapse_expect *expect, const struct lapse_probe *probe,
                        const struct lapse_expect_context *context, char *ret_expected,
                        char *ret_got, struct lapse_place *ret_place) {
    struct lapse_sides sides;
    lapse_sides_begin(&sides, ret_expected, ret_got, expect->place);
    bool met = false;
    switch (probe->kind) {
    case LAPSE_PROBE_GONE:
    case LAPSE_PROBE_PRESENT:
        met = meets_key(probe, &sides);
        break;
    case LAPSE_PROBE_LEFT:
    case LAPSE_PROBE_HOLDER:
        met = meets_one(expect, probe, context, &sides);
        break;
    case LAPSE_PROBE_BELIEVES:
    case LAPSE_PROBE_MAY:
        met = meets_who(expect, probe, context, &sides);
        break;
    case LAPSE_PROBE_STOPPED:
        met = probe->flag;
        lapse_line_add(&sides.expected, "stopped");
        lapse_line_add(&sides.got, "not stopped"); /* running still, or ended by itself */
        break;
    case LAPSE_PROBE_EVENTS:
        met = meets_events(expect, probe, context, &sides);
        break;
    case LAPSE_PROBE_READ:
        return probe->answer_count == 1 &&
               lapse_expect_answer(expect, probe->answers[0].verb, &probe->answers[0].answer,
                                   context, ret_expected, ret_got, ret_place);
    case LAPSE_PROBE_ROWS: {
        struct lapse_value rows = {.kind = LAPSE_OPERAND_NUMBER, .number = probe->row_count};
        met = lapse_expect_is(expect, probe->answer_count == 0 ? &rows : NULL, "unavailable",
                              context, &sides);
        break;
    }
    case LAPSE_PROBE_COUNT:
    case LAPSE_PROBE_MEASURED:
        LAPSE_ASSERT(probe->kind < LAPSE_PROBE_COUNT); /* only the judge knows the number */
        break;
    }
    *ret_place = sides.place;
    return met;
}

static bool meets_key(const struct lapse_probe *probe, struct lapse_sides *sides) {
    bool gone = probe->kind == LAPSE_PROBE_GONE;
    lapse_line_add(&sides->expected, gone ? "absent to every call" : "present to every call");
    if (probe->answer_count == 0) {
        lapse_line_add(&sides->got, "no answer");
        return false;
    }
    if (!shows_either(probe, &sides->got)) {
        return false;
    }
    size_t wrong = 0;
    for (size_t i = 0; i < probe->answer_count; i++) {
        wrong += shows_absent(&probe->answers[i]) == gone ? 0 : 1;
    }
    if (wrong > 0) {
        put_sides(&sides->got, probe, wrong);
    }
    return wrong == 0;
}

/* Whether every call said that the key is there, or that it is not. If one said neither, that is
 * the news. */
static bool shows_either(const struct lapse_probe *probe, struct lapse_line *line) {
    for (size_t i = 0; i < probe->answer_count; i++) {
        const struct lapse_probe_answer *tried = &probe->answers[i];
        if (!shows_absent(tried) && !shows_present(tried)) {
            lapse_line_answer(line, tried->verb, &tried->answer);
            lapse_line_add(line, " from %s", lapse_call_word(tried->verb));
            return false;
        }
    }
    return true;
}

/* The calls that contradict, and those that do not: an end seen by some calls alone is another
 * fault than one that none has seen. */
static void put_sides(struct lapse_line *line, const struct lapse_probe *probe, size_t wrong) {
    bool gone = probe->kind == LAPSE_PROBE_GONE;
    size_t right = probe->answer_count - wrong;
    if (right == 0 && wrong > 1) {
        lapse_line_add(line, gone ? "all calls still hold it" : "no call holds it");
        return;
    }
    put_calls(line, probe, !gone);
    if (gone) {
        lapse_line_add(line, wrong == 1 ? " still holds it" : " still hold it");
    } else {
        lapse_line_add(line, wrong == 1 ? " does not hold it" : " do not hold it");
    }
    if (right == 0) {
        return;
    }
    lapse_line_add(line, ", ");
    if (right > CALLS_NAMED_MAX) {
        lapse_line_add(line, "the others");
    } else {
        put_calls(line, probe, gone);
    }
    const char *one = gone ? " does not" : " does";
    const char *more = gone ? " do not" : " do";
    lapse_line_add(line, "%s", right == 1 ? one : more);
}

/* "get, entry and has": the calls that show the key absent, or those that show it. */
static void put_calls(struct lapse_line *line, const struct lapse_probe *probe, bool absent) {
    size_t count = 0;
    for (size_t i = 0; i < probe->answer_count; i++) {
        count += shows_absent(&probe->answers[i]) == absent ? 1 : 0;
    }
    size_t put = 0;
    for (size_t i = 0; i < probe->answer_count; i++) {
        if (shows_absent(&probe->answers[i]) != absent) {
            continue;
        }
        const char *comma = put == 0 ? "" : put + 1 == count ? " and " : ", ";
        lapse_line_add(line, "%s%s", comma, lapse_call_word(probe->answers[i].verb));
        put++;
    }
}

/* What each verb answers where nothing live stands (KV-03). */
static bool shows_absent(const struct lapse_probe_answer *tried) {
    switch (tried->verb) {
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
        return tried->answer.status == LAPSE_OK && tried->answer.item_count == 0;
    case LAPSE_VERB_UPDATE:
        return tried->answer.status == LAPSE_CONFLICT;
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
        /* A bucket that has given its last revision takes no write, and says so where a live key
           would say `exists`. */
        return tried->answer.status == LAPSE_OK || tried->answer.status == LAPSE_RANGE;
    default:
        return tried->answer.status == LAPSE_ABSENT;
    }
}

static bool shows_present(const struct lapse_probe_answer *tried) {
    switch (tried->verb) {
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
        return tried->answer.status == LAPSE_OK && tried->answer.item_count > 0;
    case LAPSE_VERB_CREATE:
        return tried->answer.status == LAPSE_EXISTS;
    default:
        return tried->answer.status == LAPSE_OK;
    }
}

/* What is left of a term, or who holds: one value, or the word absent. */
static bool meets_one(const struct lapse_expect *expect, const struct lapse_probe *probe,
                      const struct lapse_expect_context *context, struct lapse_sides *sides) {
    struct lapse_value value = {.kind = LAPSE_OPERAND_ABSENT};
    const char *none = "no answer";
    bool known = probe->answer_count == 1;
    if (known) {
        const struct lapse_answer *answer = &probe->answers[0].answer;
        bool live = answer->status == LAPSE_OK;
        none = lapse_status_word(answer->status);
        known = live || answer->status == LAPSE_ABSENT;
        if (live && probe->kind == LAPSE_PROBE_HOLDER) {
            value = (struct lapse_value){.kind = LAPSE_OPERAND_TEXT, .text = answer->owner};
        } else if (live && answer->end.kind != LAPSE_END_NONE) {
            value = (struct lapse_value){.kind = LAPSE_OPERAND_SPAN, .number = answer->left.ns};
        } else if (live) {
            none = "no term";
            known = false;
        }
    }
    return lapse_expect_is(expect, known ? &value : NULL, none, context, sides);
}

static bool meets_who(const struct lapse_expect *expect, const struct lapse_probe *probe,
                      const struct lapse_expect_context *context, struct lapse_sides *sides) {
    bool met = expect->actor_count == probe->who_count;
    for (size_t i = 0; met && i < probe->who_count; i++) {
        met = expect->actors[i] == probe->who[i];
    }
    put_actors(&sides->expected, context->setup, expect->actors, expect->actor_count);
    put_actors(&sides->got, context->setup, probe->who, probe->who_count);
    return met;
}

static void put_actors(struct lapse_line *line, const struct lapse_setup *setup,
                       const int32_t *actors, size_t count) {
    if (count == 0) {
        lapse_line_add(line, "nobody");
    }
    for (size_t i = 0; i < count; i++) {
        lapse_line_add(line, "%s", i == 0 ? "" : ", ");
        bool known = actors[i] >= 0 && (size_t)actors[i] < setup->actor_count;
        lapse_line_bytes(line, known ? setup->actors[actors[i]].name : lapse_bytes_of("?"));
    }
}

static bool meets_events(const struct lapse_expect *expect, const struct lapse_probe *probe,
                         const struct lapse_expect_context *context, struct lapse_sides *sides) {
    bool met = true;
    for (size_t i = 0; i < expect->event_count; i++) {
        const struct lapse_event_expect *wanted = &expect->events[i];
        lapse_line_add(&sides->expected, "%s", i == 0 ? "" : ", ");
        put_wanted(&sides->expected, wanted, context);
        bool same = i < probe->event_count && meets_event(wanted, &probe->events[i], context);
        if (!same && met) {
            sides->place = wanted->place.file != NULL ? wanted->place : expect->place;
        }
        met = met && same;
    }
    for (size_t i = 0; i < probe->event_count; i++) {
        lapse_line_add(&sides->got, "%s", i == 0 ? "" : ", ");
        put_event(&sides->got, &probe->events[i],
                  i < expect->event_count ? &expect->events[i] : NULL);
    }
    if (expect->event_count == 0) {
        lapse_line_add(&sides->expected, "no events");
    }
    if (probe->event_count == 0) {
        lapse_line_add(&sides->got, "no events");
    }
    return met && probe->event_count == expect->event_count;
}

static bool meets_event(const struct lapse_event_expect *wanted, const struct lapse_event *event,
                        const struct lapse_expect_context *context) {
    if (wanted->kind != event->kind) {
        return false;
    }
    if (wanted->kind != LAPSE_EVENT_GAP && (!text_is(&wanted->bucket, event->bucket, context) ||
                                            !text_is(&wanted->key, event->key, context))) {
        return false;
    }
    char buf[LAPSE_EXPECT_VALUE_MAX];
    struct lapse_value value = {0};
    if (wanted->has_at && (!lapse_expect_operand(&wanted->at, context, buf, &value) ||
                           value.number != event->at.ns)) {
        return false;
    }
    if (wanted->has_rev && (!lapse_expect_operand(&wanted->rev, context, buf, &value) ||
                            value.number != event->revision)) {
        return false;
    }
    return !wanted->has_why || wanted->why == event->why;
}

static bool text_is(const struct lapse_text *text, struct lapse_bytes bytes,
                    const struct lapse_expect_context *context) {
    struct lapse_operand operand = {.kind = LAPSE_OPERAND_TEXT, .text = *text};
    char buf[LAPSE_EXPECT_VALUE_MAX];
    struct lapse_value value = {0};
    return lapse_expect_operand(&operand, context, buf, &value) &&
           lapse_bytes_equal(value.text, bytes);
}

static void put_wanted(struct lapse_line *line, const struct lapse_event_expect *wanted,
                       const struct lapse_expect_context *context) {
    const struct lapse_text *names[] = {&wanted->bucket, &wanted->key};
    char buf[LAPSE_EXPECT_VALUE_MAX];
    struct lapse_value value = {0};
    lapse_line_add(line, "%s", lapse_words_of_event(wanted->kind));
    for (size_t i = 0; i < 2 && wanted->kind != LAPSE_EVENT_GAP; i++) {
        struct lapse_operand operand = {.kind = LAPSE_OPERAND_TEXT, .text = *names[i]};
        lapse_line_add(line, "%s", i == 0 ? " " : "/");
        if (lapse_expect_operand(&operand, context, buf, &value)) {
            lapse_line_bytes(line, value.text);
        }
    }
    if (wanted->has_at && lapse_expect_operand(&wanted->at, context, buf, &value)) {
        lapse_line_add(line, " at ");
        lapse_line_span(line, value.number);
    }
    if (wanted->has_rev && lapse_expect_operand(&wanted->rev, context, buf, &value)) {
        lapse_line_add(line, " rev %lld", (long long)value.number);
    }
    if (wanted->has_why) {
        lapse_line_add(line, " why %s", lapse_words_of_why(wanted->why));
    }
}

/* An event that came, with those of its fields that were asked for. */
static void put_event(struct lapse_line *line, const struct lapse_event *event,
                      const struct lapse_event_expect *wanted) {
    lapse_line_add(line, "%s", lapse_words_of_event(event->kind));
    if (event->kind != LAPSE_EVENT_GAP) {
        lapse_line_add(line, " ");
        lapse_line_bytes(line, event->bucket);
        lapse_line_add(line, "/");
        lapse_line_bytes(line, event->key);
    }
    if (wanted != NULL && wanted->has_at) {
        lapse_line_add(line, " at ");
        lapse_line_span(line, event->at.ns);
    }
    if (wanted != NULL && wanted->has_rev) {
        lapse_line_add(line, " rev %lld", (long long)event->revision);
    }
    if (wanted != NULL && wanted->has_why) {
        lapse_line_add(line, " why %s", lapse_words_of_why(event->why));
    }
}
