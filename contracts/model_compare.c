/* Answers compared with what they must be, field by field; the first that differs is told. */
#include "model_parts.h"

#include "line.h"

#include <stdio.h>
#include <string.h>

static bool same_number(struct lapse_model_difference *ret, const char *what, int64_t must,
                        int64_t told);
static bool same_span(struct lapse_model_difference *ret, const char *what, int64_t must,
                      int64_t told);
static bool same_bytes(struct lapse_model_difference *ret, const char *what,
                       struct lapse_bytes must, struct lapse_bytes told);
static bool same_flag(struct lapse_model_difference *ret, const char *what, bool must, bool told);
static bool same_end(struct lapse_model_difference *ret, const char *what, struct lapse_end must,
                     struct lapse_end told);
static bool same_status(struct lapse_model_difference *ret, const char *what,
                        enum lapse_status must, enum lapse_status told);
static bool same_items(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_model_answer *must, const struct lapse_answer *told,
                       struct lapse_model_difference *ret);
static bool is_open(struct lapse_model *model, const struct lapse_command *command,
                    struct lapse_bytes key);
static bool same_item(const struct lapse_item *must, const struct lapse_item *told,
                      struct lapse_model_difference *ret);
static bool same_answers(const struct lapse_answer *must, const struct lapse_answer *told,
                         struct lapse_model_difference *ret);

bool lapse_model_agrees(struct lapse_model *model, const struct lapse_command *command,
                        const struct lapse_model_answer *must, const struct lapse_answer *told,
                        struct lapse_model_difference *ret) {
    const struct lapse_answer *want = &must->answer;
    *ret = (struct lapse_model_difference){.by = must->by};
    if (must->open) {
        return true;
    }
    bool same = same_status(ret, "the answer", want->status, told->status);
    if (!same || told->status < 0) {
        if (!same) {
            (void)lapse_model_differ(ret, "the answer", command->bucket, command->key);
        }
        return same;
    }
    ret->of_event = want->revision != told->revision && model->event_count > 0;
    same = same_number(ret, "the revision", want->revision, told->revision) &&
           same_flag(ret, "whether it tells a token", want->has_token || want->repeated,
                     told->has_token || want->repeated) &&
           same_number(ret, "the token", want->token, told->token) &&
           same_end(ret, "the end", want->end, told->end) &&
           same_span(ret, "what is left", want->left.ns, told->left.ns) &&
           same_flag(ret, "whether it was renewed", want->renewed, told->renewed) &&
           same_flag(ret, "whether it was answered before", want->repeated, told->repeated) &&
           same_bytes(ret, "the value", want->value, told->value) &&
           same_bytes(ret, "the owner", want->owner, told->owner);
    if (!same) {
        char what[LAPSE_MODEL_TEXT_MAX];
        memcpy(what, ret->what, sizeof(what));
        return lapse_model_differ(ret, what, command->bucket, command->key);
    }
    return same_items(model, command, must, told, ret) && same_answers(want, told, ret);
}

bool lapse_model_differ(struct lapse_model_difference *ret, const char *what, struct lapse_bytes in,
                        struct lapse_bytes name) {
    char bucket[40];
    char key[40];
    char copy[LAPSE_MODEL_TEXT_MAX];
    (void)snprintf(copy, sizeof(copy), "%s", what);
    lapse_model_say(ret->what, "%s of %s%s%s", copy,
                    lapse_bytes_print(in, bucket, sizeof(bucket)), in.len > 0 ? "/" : "",
                    lapse_bytes_print(name, key, sizeof(key)));
    return false;
}

void lapse_model_say(char *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    lapse_line_format(text, LAPSE_MODEL_TEXT_MAX, format, args);
    va_end(args);
}

void lapse_model_say_end(char *text, struct lapse_end end) {
    char buf[LAPSE_TIME_TEXT_MAX];
    switch (end.kind) {
    case LAPSE_END_NONE:
        lapse_model_say(text, "never");
        break;
    case LAPSE_END_STEADY:
        lapse_model_say(text, "%s", lapse_span_print((struct lapse_span){end.ns}, buf));
        break;
    case LAPSE_END_WALL:
        lapse_model_say(text, "%s", lapse_wall_print((struct lapse_wall){end.ns}, buf));
        break;
    }
}

static bool same_number(struct lapse_model_difference *ret, const char *what, int64_t must,
                        int64_t told) {
    if (must == told) {
        return true;
    }
    lapse_model_say(ret->what, "%s", what);
    lapse_model_say(ret->expected, "%lld", (long long)must);
    lapse_model_say(ret->got, "%lld", (long long)told);
    return false;
}

static bool same_span(struct lapse_model_difference *ret, const char *what, int64_t must,
                      int64_t told) {
    char buf[LAPSE_TIME_TEXT_MAX];
    if (must == told) {
        return true;
    }
    lapse_model_say(ret->what, "%s", what);
    lapse_model_say(ret->expected, "%s", lapse_span_print((struct lapse_span){must}, buf));
    lapse_model_say(ret->got, "%s", lapse_span_print((struct lapse_span){told}, buf));
    return false;
}

static bool same_bytes(struct lapse_model_difference *ret, const char *what,
                       struct lapse_bytes must, struct lapse_bytes told) {
    char buf[LAPSE_MODEL_TEXT_MAX];
    if (lapse_bytes_equal(must, told)) {
        return true;
    }
    lapse_model_say(ret->what, "%s", what);
    lapse_model_say(ret->expected, "%s", lapse_bytes_print(must, buf, sizeof(buf)));
    lapse_model_say(ret->got, "%s", lapse_bytes_print(told, buf, sizeof(buf)));
    return false;
}

static bool same_flag(struct lapse_model_difference *ret, const char *what, bool must, bool told) {
    if (must == told) {
        return true;
    }
    lapse_model_say(ret->what, "%s", what);
    lapse_model_say(ret->expected, "%s", must ? "yes" : "no");
    lapse_model_say(ret->got, "%s", told ? "yes" : "no");
    return false;
}

static bool same_end(struct lapse_model_difference *ret, const char *what, struct lapse_end must,
                     struct lapse_end told) {
    if (must.kind == told.kind && must.ns == told.ns) {
        return true;
    }
    lapse_model_say(ret->what, "%s", what);
    lapse_model_say_end(ret->expected, must);
    lapse_model_say_end(ret->got, told);
    return false;
}

static bool same_status(struct lapse_model_difference *ret, const char *what,
                        enum lapse_status must, enum lapse_status told) {
    if (must == told) {
        return true;
    }
    lapse_model_say(ret->what, "%s", what);
    lapse_model_say(ret->expected, "%s", lapse_status_word(must));
    lapse_model_say(ret->got, "%s", lapse_status_word(told));
    return false;
}

/* Of what a crash has left open any item will do. */
static bool same_items(struct lapse_model *model, const struct lapse_command *command,
                       const struct lapse_model_answer *must, const struct lapse_answer *told,
                       struct lapse_model_difference *ret) {
    const struct lapse_answer *want = &must->answer;
    size_t at = 0;
    for (size_t i = 0; told->items != NULL && i < told->item_count; i++) {
        if (must->partial && is_open(model, command, told->items[i].key)) {
            continue;
        }
        if (want->items == NULL || at == want->item_count) {
            lapse_model_say(ret->expected, "none");
            lapse_model_say(ret->got, "revision %lld", (long long)told->items[i].revision);
            return lapse_model_differ(ret, "an item", command->bucket, told->items[i].key);
        }
        if (!same_item(&want->items[at++], &told->items[i], ret)) {
            return lapse_model_differ(ret, "an item", command->bucket, told->items[i].key);
        }
    }
    if (want->items != NULL && at < want->item_count) {
        lapse_model_say(ret->expected, "revision %lld", (long long)want->items[at].revision);
        lapse_model_say(ret->got, "none");
        return lapse_model_differ(ret, "an item", command->bucket, want->items[at].key);
    }
    if (!must->partial && !same_number(ret, "the count", (int64_t)want->item_count,
                                       (int64_t)told->item_count)) {
        return lapse_model_differ(ret, "the count", command->bucket, command->key);
    }
    return must->partial || same_flag(ret, "whether there are more", want->more, told->more);
}

static bool is_open(struct lapse_model *model, const struct lapse_command *command,
                    struct lapse_bytes key) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    const struct lapse_model_key *known =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, key, false);
    return known != NULL && lapse_model_key_state(model, known) == LAPSE_MODEL_UNSURE;
}

static bool same_item(const struct lapse_item *must, const struct lapse_item *told,
                      struct lapse_model_difference *ret) {
    return same_bytes(ret, "the key", must->key, told->key) &&
           same_number(ret, "the revision", must->revision, told->revision) &&
           same_number(ret, "the kind", (int64_t)must->kind, (int64_t)told->kind) &&
           same_bytes(ret, "the value", must->value, told->value);
}

static bool same_answers(const struct lapse_answer *must, const struct lapse_answer *told,
                         struct lapse_model_difference *ret) {
    if (!same_number(ret, "the number of answers", (int64_t)must->answer_count,
                     (int64_t)told->answer_count)) {
        return false;
    }
    for (size_t i = 0; i < told->answer_count; i++) {
        const struct lapse_batch_answer *a = &must->answers[i];
        const struct lapse_batch_answer *b = &told->answers[i];
        bool same = same_number(ret, "the verb in the batch", (int64_t)a->verb, (int64_t)b->verb) &&
                    same_status(ret, "the answer in the batch", a->status, b->status) &&
                    same_number(ret, "the revision in the batch", a->revision, b->revision) &&
                    same_number(ret, "the token in the batch", a->token, b->token) &&
                    same_end(ret, "the end in the batch", a->end, b->end) &&
                    same_span(ret, "what is left in the batch", a->left.ns, b->left.ns);
        if (!same) {
            return false;
        }
    }
    return true;
}
