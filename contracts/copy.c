/* Deep copies: the one list of every pointer inside a history event. A member added to the history
 * that borrows memory is added here and in feed.c. */
#include "copy.h"

#include <string.h>

enum { ALIGNMENT = 16 };

static const void *copy_array(struct lapse_copy *copy, const void *array, size_t bytes);
static void copy_items(struct lapse_copy *copy, struct lapse_answer *answer);
static void copy_answers(struct lapse_copy *copy, struct lapse_answer *answer);
static void copy_command(struct lapse_copy *copy, struct lapse_command *command);
static void copy_batch(struct lapse_copy *copy, struct lapse_command *command);
static void copy_bucket_event(struct lapse_copy *copy, struct lapse_event *event);
static void copy_probe(struct lapse_copy *copy, struct lapse_probe *probe);

void lapse_copy_bytes(struct lapse_copy *copy, struct lapse_bytes *bytes) {
    if (copy->base != NULL && bytes->len > 0) {
        memcpy(copy->base + copy->used, bytes->data, bytes->len);
        bytes->data = copy->base + copy->used;
    }
    copy->used += bytes->len;
}

void lapse_copy_answer(struct lapse_copy *copy, struct lapse_answer *answer) {
    lapse_copy_bytes(copy, &answer->value);
    lapse_copy_bytes(copy, &answer->owner);
    copy_items(copy, answer);
    copy_answers(copy, answer);
}

void lapse_copy_event(struct lapse_copy *copy, struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        lapse_copy_bytes(copy, &event->u.invoke.request.value);
        copy_command(copy, &event->u.invoke.request.command);
        lapse_copy_bytes(copy, &event->u.invoke.grant.name);
        break;
    case LAPSE_HISTORY_APPLY:
        lapse_copy_answer(copy, &event->u.apply.answer);
        break;
    case LAPSE_HISTORY_EMIT:
        copy_bucket_event(copy, &event->u.emit.event);
        break;
    case LAPSE_HISTORY_REPLY:
        lapse_copy_bytes(copy, &event->u.reply.grant.name);
        lapse_copy_answer(copy, &event->u.reply.answer);
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        lapse_copy_bytes(copy, &event->u.belief.grant.name);
        break;
    case LAPSE_HISTORY_RESOURCE:
        lapse_copy_bytes(copy, &event->u.resource.value);
        break;
    case LAPSE_HISTORY_DELIVER:
        copy_bucket_event(copy, &event->u.deliver.event);
        break;
    case LAPSE_HISTORY_PROBE:
        copy_probe(copy, &event->u.probe);
        break;
    case LAPSE_HISTORY_ROLE:
        lapse_copy_bytes(copy, &event->u.role.digest);
        break;
    case LAPSE_HISTORY_NOTE:
        lapse_copy_bytes(copy, &event->u.note.text);
        break;
    default:
        break;
    }
}

static const void *copy_array(struct lapse_copy *copy, const void *array, size_t bytes) {
    copy->used = (copy->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const void *placed = array;
    if (copy->base != NULL && bytes > 0) {
        memcpy(copy->base + copy->used, array, bytes);
        placed = copy->base + copy->used;
    }
    copy->used += bytes;
    return placed;
}

/* COUNT gives a number of items and no items. */
static void copy_items(struct lapse_copy *copy, struct lapse_answer *answer) {
    size_t count = answer->items == NULL ? 0 : answer->item_count;
    const struct lapse_item *from = answer->items;
    answer->items = copy_array(copy, from, count * sizeof(*from));
    for (size_t i = 0; i < count; i++) {
        struct lapse_item item = from[i];
        lapse_copy_bytes(copy, &item.key);
        lapse_copy_bytes(copy, &item.value);
        if (copy->base != NULL) {
            ((struct lapse_item *)answer->items)[i] = item;
        }
    }
}

static void copy_answers(struct lapse_copy *copy, struct lapse_answer *answer) {
    answer->answers =
        copy_array(copy, answer->answers, answer->answer_count * sizeof(*answer->answers));
}

static void copy_command(struct lapse_copy *copy, struct lapse_command *command) {
    lapse_copy_bytes(copy, &command->bucket);
    lapse_copy_bytes(copy, &command->key);
    lapse_copy_bytes(copy, &command->request);
    switch (command->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        lapse_copy_bytes(copy, &command->u.write.value);
        lapse_copy_bytes(copy, &command->u.write.term.session);
        break;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        lapse_copy_bytes(copy, &command->u.lease.owner);
        lapse_copy_bytes(copy, &command->u.lease.session);
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        lapse_copy_bytes(copy, &command->u.page.after);
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        lapse_copy_bytes(copy, &command->u.session.owner);
        break;
    case LAPSE_VERB_BATCH:
        copy_batch(copy, command);
        break;
    default:
        break;
    }
}

/* A batch holds no batch, so this goes one level deep. */
static void copy_batch(struct lapse_copy *copy, struct lapse_command *command) {
    size_t count = command->u.batch.count;
    const struct lapse_command *from = command->u.batch.commands;
    command->u.batch.commands = copy_array(copy, from, count * sizeof(*from));
    for (size_t i = 0; i < count; i++) {
        struct lapse_command member = from[i];
        if (member.verb != LAPSE_VERB_BATCH) {
            copy_command(copy, &member);
        }
        if (copy->base != NULL) {
            ((struct lapse_command *)command->u.batch.commands)[i] = member;
        }
    }
}

static void copy_bucket_event(struct lapse_copy *copy, struct lapse_event *event) {
    lapse_copy_bytes(copy, &event->bucket);
    lapse_copy_bytes(copy, &event->key);
    lapse_copy_bytes(copy, &event->value);
}

static void copy_probe(struct lapse_copy *copy, struct lapse_probe *probe) {
    lapse_copy_bytes(copy, &probe->bucket);
    lapse_copy_bytes(copy, &probe->name);
    probe->who = copy_array(copy, probe->who, probe->who_count * sizeof(*probe->who));

    const struct lapse_probe_answer *answers = probe->answers;
    probe->answers = copy_array(copy, answers, probe->answer_count * sizeof(*answers));
    for (size_t i = 0; i < probe->answer_count; i++) {
        struct lapse_probe_answer answer = answers[i];
        lapse_copy_answer(copy, &answer.answer);
        if (copy->base != NULL) {
            ((struct lapse_probe_answer *)probe->answers)[i] = answer;
        }
    }
    const struct lapse_event *events = probe->events;
    probe->events = copy_array(copy, events, probe->event_count * sizeof(*events));
    for (size_t i = 0; i < probe->event_count; i++) {
        struct lapse_event event = events[i];
        copy_bucket_event(copy, &event);
        if (copy->base != NULL) {
            ((struct lapse_event *)probe->events)[i] = event;
        }
    }
}
