/* Runs the list, and tells an answer as text: every field that is not zero. */
#include "conformance.h"

#include "lapse/sqlite.h"

#include <stdio.h>
#include <string.h>

enum { CONFORMANCE_ANSWER_MAX = CONFORMANCE_MESSAGE_MAX / 4 };

struct text {
    char *buf;
    size_t len;
};

static bool run_step(struct lapse *store, struct lapse_clock_manual *clock,
                     const struct conformance_step *step, int64_t *watcher, char *ret_answer);
static void tell(struct text *text, const struct lapse_result *result);
static void tell_event(struct text *text, const struct lapse_event *event);
static void tell_number(struct text *text, const char *name, int64_t number);
static void tell_span(struct text *text, const char *name, int64_t ns);
static void tell_bytes(struct text *text, const char *name, struct lapse_bytes bytes);
static void add(struct text *text, const char *more);

bool conformance_run(const struct conformance_store *store, char *message) {
    struct lapse_clock_manual clock;
    struct lapse_error err = {.status = LAPSE_OK};
    struct lapse *open = NULL;
    int64_t watcher = 0;
    bool right = true;
    lapse_clock_manual_init(&clock, (struct lapse_wall){1000 * LAPSE_NS_PER_S});
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&clock)};
    enum lapse_status status = store->open(store->ctx, &options, &open, &err);
    for (size_t i = 0; i < conformance_step_count && right && status == LAPSE_OK; i++) {
        char answer[CONFORMANCE_ANSWER_MAX] = "";
        right = run_step(open, &clock, &conformance_steps[i], &watcher, answer) &&
                lapse_check(open, &err) == LAPSE_OK;
        (void)snprintf(message, CONFORMANCE_MESSAGE_MAX,
                       "step %zu, a %s at %lld ns: wanted `%s`, got `%s` %s", i,
                       lapse_verb_word(conformance_steps[i].command.verb),
                       (long long)conformance_steps[i].at,
                       conformance_steps[i].answer, answer, err.message);
        if (right && store->reopens && !conformance_steps[i].held) {
            lapse_close(open);
            open = NULL;
            status = store->open(store->ctx, &options, &open, &err);
        }
    }
    if (status != LAPSE_OK) {
        (void)snprintf(message, CONFORMANCE_MESSAGE_MAX, "it does not open: %s", err.message);
    }
    lapse_close(open);
    return right && status == LAPSE_OK;
}

enum lapse_status conformance_memory(void *ctx, const struct lapse_options *options,
                                     struct lapse **ret, struct lapse_error *err) {
    (void)ctx;
    return lapse_open(options, ret, err);
}

enum lapse_status conformance_file(void *ctx, const struct lapse_options *options,
                                   struct lapse **ret, struct lapse_error *err) {
    return lapse_open_file(ctx, options, ret, err);
}

uint64_t conformance_verbs(void) {
    uint64_t verbs = 0;
    for (size_t i = 0; i < conformance_step_count; i++) {
        verbs |= UINT64_C(1) << conformance_steps[i].command.verb;
    }
    return verbs;
}

static bool run_step(struct lapse *store, struct lapse_clock_manual *clock,
                     const struct conformance_step *step, int64_t *watcher, char *ret_answer) {
    struct lapse_result result;
    struct lapse_command command = step->command;
    struct lapse_span wait = {step->at - clock->now.raw_ns};
    struct text text = {ret_answer, 0};
    (void)lapse_clock_manual_advance(clock, wait);
    (void)lapse_clock_manual_step_wall(clock, (struct lapse_span){step->wall});
    lapse_result_init(&result, NULL);
    bool watches = command.verb == LAPSE_VERB_POLL || command.verb == LAPSE_VERB_UNWATCH;
    if (watches) {
        command.u.watch.watcher = *watcher;
    }
    (void)lapse_apply(store, &command, &result, NULL);
    *watcher = command.verb == LAPSE_VERB_WATCH ? result.watcher : *watcher;
    tell(&text, &result);
    lapse_result_free(&result);
    return strcmp(ret_answer, step->answer) == 0;
}

static void tell(struct text *text, const struct lapse_result *result) {
    static const char *const kinds[] = {
        " no kind", "", " tombstone", " marker", " purge"}; /* a value's goes without saying */
    add(text, lapse_status_word(result->status));
    add(text, result->watcher > 0 ? " watcher" : "");
    tell_number(text, " items=", (int64_t)result->item_count);
    tell_number(text, " revision=", result->revision);
    tell_bytes(text, " value=", result->value);
    tell_span(text, result->end.kind == LAPSE_END_WALL ? " date=" : " end=", result->end.ns);
    tell_span(text, " left=", result->left.ns);
    tell_number(text, " token=", result->token);
    tell_bytes(text, " owner=", result->owner);
    add(text, result->renewed ? " renewed" : "");
    add(text, result->repeated ? " repeated" : "");
    add(text, result->more ? " more" : "");
    for (size_t i = 0; result->items != NULL && i < result->item_count; i++) {
        tell_bytes(text, " [", result->items[i].key);
        tell_bytes(text, "=", result->items[i].value);
        tell_number(text, " @", result->items[i].revision);
        add(text, kinds[(unsigned)result->items[i].kind % 5]);
        add(text, "]");
    }
    for (size_t i = 0; i < result->answer_count; i++) {
        add(text, " {");
        add(text, lapse_status_word(result->answers[i].status));
        tell_number(text, " revision=", result->answers[i].revision);
        tell_number(text, " token=", result->answers[i].token);
        tell_span(text, " end=", result->answers[i].end.ns);
        tell_span(text, " left=", result->answers[i].left.ns);
        add(text, "}");
    }
    for (size_t i = 0; i < result->event_count; i++) {
        add(text, " +");
        tell_event(text, &result->events[i]);
    }
    for (size_t i = 0; i < result->delivery_count; i++) {
        add(text, " -");
        tell_event(text, &result->deliveries[i]);
    }
}

static void tell_event(struct text *text, const struct lapse_event *event) {
    add(text, lapse_event_word(event->kind));
    tell_bytes(text, "(", event->key);
    tell_bytes(text, "=", event->value);
    tell_number(text, " @", event->revision);
    tell_number(text, " old=", event->old_revision);
    if (event->why != LAPSE_WHY_NONE) {
        add(text, " ");
        add(text, lapse_why_word(event->why));
    }
    add(text, ")");
}

static void tell_number(struct text *text, const char *name, int64_t number) {
    if (number != 0) {
        char digits[24];
        (void)snprintf(digits, sizeof(digits), "%lld", (long long)number);
        add(text, name);
        add(text, digits);
    }
}

static void tell_span(struct text *text, const char *name, int64_t ns) {
    if (ns != 0) {
        char span[LAPSE_TIME_TEXT_MAX];
        add(text, name);
        add(text, lapse_span_print((struct lapse_span){ns}, span));
    }
}

static void tell_bytes(struct text *text, const char *name, struct lapse_bytes bytes) {
    if (bytes.len > 0) {
        char printed[80];
        add(text, name);
        add(text, lapse_bytes_print(bytes, printed, sizeof(printed)));
    }
}

/* What does not fit is cut: the answer is then not the one wanted. */
static void add(struct text *text, const char *more) {
    size_t left = CONFORMANCE_ANSWER_MAX - text->len;
    int len = snprintf(text->buf + text->len, left, "%s", more);
    text->len += (size_t)len < left ? (size_t)len : left - 1;
}
