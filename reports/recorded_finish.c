/* From lines to a history: who takes part, which event comes first, and the case under which the
 * judge reads it: rules alone, as what a scenario expects is in no history. */
#include "recorded_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_BYTES_MAX = 64 };

static void finish_setup(struct lapse_reading_file *file);
static void *name_items(struct lapse_reading_file *file, const struct lapse_reading_names *names,
                        size_t item_bytes, size_t at);
static void find_buckets(struct lapse_reading_file *file);
static bool add_bucket(struct lapse_reading_file *file, struct lapse_setup_bucket *buckets,
                       size_t *count, struct lapse_bytes name);
static void number_calls(struct lapse_reading_file *file);
static void sort_events(struct lapse_reading_file *file);
static int compare_events(const void *a, const void *b);
static void make_history(struct lapse_reading_file *file);
static void append_end(struct lapse_reading_file *file);
static void check_closing(struct lapse_reading_file *file);
static void make_case(struct lapse_reading_file *file);
static void make_checks(struct lapse_reading_file *file);
static void fill_check(struct lapse_reading_file *file, struct lapse_step_check *check,
                       const struct lapse_reading_event *read);

void lapse_reading_finish(struct lapse_reading_file *file) {
    file->line = 1;
    number_calls(file);
    if (file->calls) {
        sort_events(file);
    }
    finish_setup(file);
    if (!file->starved && lapse_reading_check(file)) {
        make_history(file);
    }
    if (!file->starved && file->ret->diags.count == 0) {
        make_case(file);
    }
}

static void finish_setup(struct lapse_reading_file *file) {
    struct lapse_setup *setup = &file->setup;
    if (file->nodes.count == 0) {
        (void)lapse_reading_name_add(file, &file->nodes, lapse_bytes_of("n1"));
    }
    if (!file->actors.listed) {
        setup->actors = name_items(file, &file->actors, sizeof(*setup->actors),
                                   offsetof(struct lapse_setup_actor, name));
        setup->actor_count = file->actors.count;
    }
    if (!file->resources.listed) {
        setup->resources = name_items(file, &file->resources, sizeof(*setup->resources),
                                      offsetof(struct lapse_setup_resource, name));
        setup->resource_count = file->resources.count;
    }
    if (!file->nodes.listed || setup->node_count == 0) {
        setup->nodes = name_items(file, &file->nodes, sizeof(*setup->nodes), 0);
        setup->node_count = file->nodes.count;
    }
    if (!file->buckets_listed) {
        find_buckets(file);
    }
    if (setup->scenario.len == 0) {
        setup->scenario = lapse_bytes_of(file->name);
    }
    file->ret->setup = setup;
}

static void *name_items(struct lapse_reading_file *file, const struct lapse_reading_names *names,
                        size_t item_bytes, size_t at) {
    char *items = lapse_reading_take(file, names->count * item_bytes);
    for (size_t i = 0; items != NULL && i < names->count; i++) {
        memcpy(items + i * item_bytes + at, &names->items[i], sizeof(names->items[i]));
    }
    return items;
}

/* Buckets that the first line leaves out are those that calls name, with no words of their own. */
static void find_buckets(struct lapse_reading_file *file) {
    const size_t most = LAPSE_BUCKETS_MAX;
    struct lapse_setup_bucket *buckets = lapse_reading_take(file, most * sizeof(*buckets));
    size_t count = 0;
    for (size_t i = 0; buckets != NULL && i < file->count; i++) {
        const struct lapse_history_event *event = &file->events[i].event;
        const struct lapse_command *command = &event->u.invoke.request.command;
        if (event->kind != LAPSE_HISTORY_INVOKE ||
            !add_bucket(file, buckets, &count, command->bucket)) {
            continue;
        }
        size_t members = command->verb == LAPSE_VERB_BATCH ? command->u.batch.count : 0;
        for (size_t k = 0; k < members; k++) {
            (void)add_bucket(file, buckets, &count, command->u.batch.commands[k].bucket);
        }
    }
    file->setup.buckets = buckets;
    file->setup.bucket_count = count;
}

static bool add_bucket(struct lapse_reading_file *file, struct lapse_setup_bucket *buckets,
                       size_t *count, struct lapse_bytes name) {
    for (size_t i = 0; i < *count; i++) {
        if (lapse_bytes_equal(buckets[i].name, name)) {
            return true;
        }
    }
    if (name.len > 0 && *count < (size_t)LAPSE_BUCKETS_MAX) {
        buckets[(*count)++].name = name;
    } else if (name.len > 0 && file->ret->diags.count == 0) {
        (void)lapse_reading_mistake(file, "J006", NULL, "", "more than %d buckets",
                                    (int)LAPSE_BUCKETS_MAX);
    }
    return true;
}

/* A whole call need not say its number: it gets one above all that are said. Its two events follow
 * each other in the order of lines. Where no line tells a step each line is one, unless what was
 * recorded is a plan's history whole: then it had none. */
static void number_calls(struct lapse_reading_file *file) {
    int64_t most = 0;
    for (size_t i = 0; i < file->count; i++) {
        most = file->events[i].event.call > most ? file->events[i].event.call : most;
    }
    bool stepped = file->stepped || file->ret->closing.given;
    int32_t step = 0;
    for (size_t i = 0; i < file->count; i++) {
        struct lapse_reading_event *read = &file->events[i];
        bool own = read->rank == 0 && read->event.call == 0 && most < INT64_MAX;
        bool answer = read->rank == 2;
        if (own) {
            read->event.call = ++most;
        } else if (answer) {
            read->event.call = file->events[i - 1].event.call;
        }
        if (!stepped) {
            step += answer || i == 0 ? 0 : 1;
            read->event.step = step;
        }
    }
}

static void sort_events(struct lapse_reading_file *file) {
    qsort(file->events, file->count, sizeof(*file->events), compare_events);
}

/* By time; at one instant calls are sent before others return, so that they count as concurrent. */
static int compare_events(const void *a, const void *b) {
    const struct lapse_reading_event *x = a;
    const struct lapse_reading_event *y = b;
    if (x->event.at.ns != y->event.at.ns) {
        return x->event.at.ns < y->event.at.ns ? -1 : 1;
    }
    if (x->rank != y->rank) {
        return x->rank < y->rank ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order ? 1 : 0;
}

static void make_history(struct lapse_reading_file *file) {
    struct lapse_recorded *ret = file->ret;
    struct lapse_history_event begin = {.kind = LAPSE_HISTORY_BEGIN, .actor = -1, .step = -1};
    begin.u.begin = &file->setup;
    if (lapse_history_open(file->alloc, 0, &ret->history, NULL) != LAPSE_OK) {
        file->starved = true;
        return;
    }
    file->starved = lapse_history_append(ret->history, &begin) == NULL;
    for (size_t i = 0; i < file->count && !file->starved; i++) {
        const struct lapse_history_event *event = &file->events[i].event;
        file->starved = lapse_history_append(ret->history, event) == NULL;
        ret->decisions = ret->decisions || event->kind == LAPSE_HISTORY_APPLY;
    }
    if (file->starved) {
        return;
    }
    if (ret->closing.given) {
        check_closing(file);
    } else {
        append_end(file);
    }
}

/* A history that another recorder wrote ends with its last line. Ours ends with a closing line:
 * where that is missing, more may be. */
static void append_end(struct lapse_reading_file *file) {
    struct lapse_recorded *ret = file->ret;
    struct lapse_history *history = ret->history;
    ret->cut = lapse_bytes_equal(ret->top.recorder, lapse_bytes_of("lapse"));
    const struct lapse_history_event *last =
        lapse_history_at(history, lapse_history_count(history) - 1);
    if (last->kind == LAPSE_HISTORY_END || last->kind == LAPSE_HISTORY_TRUNCATED) {
        return;
    }
    struct lapse_history_event end = {
        .kind = ret->cut ? LAPSE_HISTORY_TRUNCATED : LAPSE_HISTORY_END,
        .at = last->at,
        .actor = -1,
        .step = -1};
    file->starved = lapse_history_append(history, &end) == NULL;
}

static void check_closing(struct lapse_reading_file *file) {
    struct lapse_recorded *ret = file->ret;
    size_t count = lapse_history_count(ret->history);
    uint64_t digest = lapse_history_digest(ret->history);
    file->line = file->closed;
    if (ret->closing.event_count != (int64_t)count) {
        (void)lapse_reading_mistake(file, "J112", NULL, "",
                                    "%zu events are here, and the closing line tells of %lld",
                                    count, (long long)ret->closing.event_count);
    } else if (ret->closing.digest != digest) {
        (void)lapse_reading_mistake(
            file, "J112", NULL, "",
            "the history was changed: its digest is %016llx, and the closing line tells %016llx",
            (unsigned long long)digest, (unsigned long long)ret->closing.digest);
    } else {
        ret->complete = true;
        return;
    }
    lapse_diag_note(&ret->diags, ret->diags.items[0], "help",
                    "to have it judged as it is, take the closing line out, and `recorder` out of "
                    "the first");
}

static void make_case(struct lapse_reading_file *file) {
    struct lapse_recorded *ret = file->ret;
    struct lapse_case *the_case = &ret->the_case;
    size_t count = ret->top.violates_count;
    const char **ids = lapse_reading_take(file, count * sizeof(*ids));
    struct lapse_place *places = lapse_reading_take(file, count * sizeof(*places));
    size_t events = lapse_history_count(ret->history);
    struct lapse_place *event_places = lapse_reading_take(file, events * sizeof(*event_places));
    if (file->starved) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct lapse_bytes id = ret->top.violates[i].id;
        const struct lapse_contract *contract = lapse_contract_find((const char *)id.data);
        ids[i] = contract == NULL ? "" : contract->id;
        places[i] = (struct lapse_place){file->name, 1, 1, 1};
    }
    for (size_t i = 0; i < file->count && i + 1 < events; i++) {
        event_places[i + 1] = file->events[i].place;
    }
    the_case->setup = ret->setup;
    the_case->violates_count = count;
    the_case->violates = ids;
    the_case->violates_places = places;
    the_case->promise_strict = ret->top.promise_strict;
    the_case->place = (struct lapse_place){file->name, 1, 1, 1};
    the_case->rules_only = true;
    the_case->no_decisions = !ret->decisions;
    the_case->event_place_count = events;
    the_case->event_places = event_places;
    make_checks(file);
}

/* Where each step stands: the first line that tells of it. */
static void make_checks(struct lapse_reading_file *file) {
    size_t count = 0;
    for (size_t i = 0; i < file->count; i++) {
        size_t step = (size_t)(file->events[i].event.step + 1);
        count = step > count ? step : count;
    }
    struct lapse_step_check *checks = lapse_reading_take(file, count * sizeof(*checks));
    struct lapse_expect *any = lapse_reading_take(file, sizeof(*any));
    for (size_t i = 0; checks != NULL && i < count; i++) {
        checks[i] = (struct lapse_step_check){.contract = "LIN-01",
                                              .verb = "",
                                              .object = "",
                                              .expect = any,
                                              .measure = -1,
                                              .place = {file->name, 1, 1, 1}};
    }
    for (size_t i = 0; checks != NULL && any != NULL && i < file->count; i++) {
        int32_t step = file->events[i].event.step;
        if (step >= 0 && checks[step].verb[0] == '\0') {
            fill_check(file, &checks[step], &file->events[i]);
        }
    }
    file->ret->the_case.check_count = file->starved ? 0 : count;
    file->ret->the_case.checks = checks;
}

static void fill_check(struct lapse_reading_file *file, struct lapse_step_check *check,
                       const struct lapse_reading_event *read) {
    const struct lapse_history_event *event = &read->event;
    check->place = read->place;
    check->verb = lapse_rf_kind_word((int)event->kind);
    if (event->kind != LAPSE_HISTORY_INVOKE) {
        return;
    }
    const struct lapse_command *command = &event->u.invoke.request.command;
    char bucket[OBJECT_BYTES_MAX], key[OBJECT_BYTES_MAX];
    lapse_bytes_print(command->bucket, bucket, sizeof(bucket));
    lapse_bytes_print(command->key, key, sizeof(key));
    size_t room = sizeof(bucket) + sizeof(key);
    char *object = lapse_reading_take(file, room);
    if (object != NULL) {
        (void)snprintf(object, room, "%s%s%s", bucket, bucket[0] != '\0' ? "/" : "", key);
        check->object = object;
    }
    check->verb = lapse_call_word(event->u.invoke.request.verb);
}
