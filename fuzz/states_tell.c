/* Abstract states in words: what their number was made of, and no more. */
#include "fuzz/states.h"

enum { FAULTS = 16 };

static void tell_decision(const struct lapse_moment *moment,
                          void (*put)(void *ctx, const char *text), void *ctx);
static void tell_other(const struct lapse_history_event *event,
                       void (*put)(void *ctx, const char *text), void *ctx);
static const char *message_word(enum lapse_message_fate fate);

void lapse_moment_tell(const struct lapse_moment *moment, void (*put)(void *ctx, const char *text),
                       void *ctx) {
    if (moment->invoke != NULL) {
        tell_decision(moment, put, ctx);
    } else {
        tell_other(moment->event, put, ctx);
    }
    const char *between = ", during ";
    for (int i = 0; i < 2 * FAULTS; i++) {
        if ((moment->faults >> i & 1) != 0) {
            put(ctx, between);
            put(ctx, lapse_fault_word((enum lapse_fault_kind)(i / 2)));
            put(ctx, i % 2 == 1 ? " of a node" : "");
            between = " and ";
        }
    }
}

static void tell_decision(const struct lapse_moment *moment,
                          void (*put)(void *ctx, const char *text), void *ctx) {
    static const char *const far[] = {"at", "1ns from", "less than 1s from", "1s from",
                                      "more than 1s from"};
    const struct lapse_answer *answer = &moment->event->u.apply.answer;
    put(ctx, lapse_call_word(moment->invoke->u.invoke.request.verb));
    put(ctx, moment->invoke->u.invoke.loop >= 0 ? " of a loop -> " : " -> ");
    put(ctx, lapse_status_word(answer->status));
    put(ctx, answer->renewed ? ", renewed" : "");
    put(ctx, answer->repeated ? ", as told before" : "");
    if (moment->near > 0) {
        uint64_t near = (moment->near - 1) % 16;
        put(ctx, ", ");
        put(ctx, far[near / 2 % 5]);
        put(ctx, near % 2 == 1 ? " and past its end" : " its end");
    }
    if (moment->last != 0) {
        put(ctx, moment->own ? "; before, by the same client, " : "; before, by another, ");
        put(ctx, lapse_call_word((int)(moment->last >> 8)));
        put(ctx, " -> ");
        put(ctx, lapse_status_word((enum lapse_status)(int8_t)(moment->last & 0xff)));
        put(ctx, moment->live ? "" : ", which ended it");
    } else {
        put(ctx, "; the first about it");
    }
}

static void tell_other(const struct lapse_history_event *event,
                       void (*put)(void *ctx, const char *text), void *ctx) {
    put(ctx, lapse_history_kind_word(event->kind));
    switch (event->kind) {
    case LAPSE_HISTORY_REPLY:
        put(ctx, ": ");
        put(ctx, lapse_call_word(event->u.reply.verb));
        put(ctx, " -> ");
        put(ctx, lapse_status_word(event->u.reply.answer.status));
        break;
    case LAPSE_HISTORY_EMIT:
        put(ctx, event->call > 0 ? " by a call" : " by the reaper");
        break;
    case LAPSE_HISTORY_RESOURCE:
        put(ctx, event->u.resource.has_token ? " -> " : ", without a token -> ");
        put(ctx, lapse_status_word(event->u.resource.status));
        break;
    case LAPSE_HISTORY_MESSAGE:
        put(ctx, event->u.message.reply ? ": a reply " : ": a request ");
        put(ctx, message_word(event->u.message.fate));
        break;
    case LAPSE_HISTORY_STEP:
        put(ctx, event->u.step.row_count > 0 ? ", rows reaped" : ", nothing to reap");
        break;
    default:
        break;
    }
}

static const char *message_word(enum lapse_message_fate fate) {
    switch (fate) {
    case LAPSE_MESSAGE_LOST:
        return "lost";
    case LAPSE_MESSAGE_LATE:
        return "late";
    case LAPSE_MESSAGE_TWICE:
        return "twice";
    case LAPSE_MESSAGE_FORGED:
        return "forged";
    default:
        return "decided again";
    }
}
