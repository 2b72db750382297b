/* The events that the store writes: those of a call as it must write them, and the ends that the
 * reaper tells when it comes. */
#include "model_parts.h"

#include <stdio.h>

static bool same(const struct lapse_event *must, const struct lapse_event *told,
                 struct lapse_model_difference *ret);
static bool reaped(struct lapse_model *model, const struct lapse_event *event,
                   struct lapse_model_difference *ret);
static void catch_up(struct lapse_model *model, const struct lapse_event *event);
static void say_event(char *text, const struct lapse_event *event);

void lapse_model_expect(struct lapse_model *model, const struct lapse_event *event) {
    void *events = model->events;
    if (!lapse_model_grow(model, &events, &model->event_cap, model->event_count + 1,
                          sizeof(*model->events))) {
        return;
    }
    model->events = events;
    model->events[model->event_count++] = *event;
}

bool lapse_model_emit(struct lapse_model *model, const struct lapse_event *event, bool of_call,
                      struct lapse_model_difference *ret) {
    ret->by = -1;
    if (!of_call) {
        return reaped(model, event, ret);
    }
    if (model->events_open) {
        catch_up(model, event);
        return true;
    }
    if (model->event_next == model->event_count) {
        say_event(ret->got, event);
        lapse_model_say(ret->expected, "no event");
        catch_up(model, event);
        return lapse_model_differ(ret, "an event", event->bucket, event->key);
    }
    return same(&model->events[model->event_next++], event, ret);
}

bool lapse_model_told_all(struct lapse_model *model, struct lapse_model_difference *ret) {
    bool all = model->events_open || model->event_next == model->event_count;
    ret->by = -1;
    if (!all) {
        const struct lapse_event *event = &model->events[model->event_next];
        say_event(ret->expected, event);
        lapse_model_say(ret->got, "no event");
        (void)lapse_model_differ(ret, "an event", event->bucket, event->key);
    }
    model->event_count = model->event_next = 0;
    return all;
}

/* The reaper may tell what has ended, in any order that a rule of its own allows, and once. */
static bool reaped(struct lapse_model *model, const struct lapse_event *event,
                   struct lapse_model_difference *ret) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, event->bucket, false);
    struct lapse_model_key *key =
        bucket == NULL ? NULL : lapse_model_key(model, bucket, event->key, false);
    if (event->at.ns > model->store.ns) {
        model->store = event->at;
    }
    bool open = key != NULL && lapse_model_key_state(model, key) == LAPSE_MODEL_UNSURE;
    say_event(ret->got, event);
    if (!open && (key == NULL || event->kind != LAPSE_EVENT_EXPIRED ||
                  !lapse_model_owes(model, key))) {
        lapse_model_say(ret->expected, "no event");
        catch_up(model, event);
        return lapse_model_differ(ret, "an event of the reaper", event->bucket, event->key);
    }
    struct lapse_event must = *event;
    if (!open) {
        must.why = key->newest->term.why;
        must.old_revision = key->newest->revision;
        must.at = model->store;
        ret->by = key->newest->by;
    }
    if (!bucket->loose || event->revision <= bucket->revision) {
        must.revision = bucket->revision + (bucket->revision < INT64_MAX ? 1 : 0);
    }
    key->marked = true;
    if (open) {
        key->newest = NULL; /* it has ended, and is told: that is all there is to know */
        lapse_model_sure(model, &key->name);
    }
    catch_up(model, event);
    return same(&must, event, ret);
}

/* Numbers go on from what was told. */
static void catch_up(struct lapse_model *model, const struct lapse_event *event) {
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, event->bucket, false);
    if (bucket != NULL && event->revision > bucket->revision) {
        bucket->revision = event->revision;
        bucket->loose = false;
    }
}

static bool same(const struct lapse_event *must, const struct lapse_event *told,
                 struct lapse_model_difference *ret) {
    bool is = must->kind == told->kind && must->why == told->why &&
              must->revision == told->revision && must->old_revision == told->old_revision &&
              must->at.ns == told->at.ns && lapse_bytes_equal(must->bucket, told->bucket) &&
              lapse_bytes_equal(must->key, told->key) &&
              lapse_bytes_equal(must->value, told->value);
    if (!is) {
        say_event(ret->expected, must);
        say_event(ret->got, told);
        (void)lapse_model_differ(ret, "an event", must->bucket, must->key);
    }
    return is;
}

static void say_event(char *text, const struct lapse_event *event) {
    static const char *const kinds[] = {"?", "put", "delete", "purge", "expired", "gap"};
    static const char *const whys[] = {"", " own", " default", " idle", " session"};
    bool known = event->kind >= LAPSE_EVENT_PUT && event->kind <= LAPSE_EVENT_GAP &&
                 (unsigned)event->why <= LAPSE_WHY_SESSION;
    char value[32];
    char at[LAPSE_TIME_TEXT_MAX];
    lapse_model_say(text, "%s%s %lld of %lld at %s%s%s", known ? kinds[event->kind] : "?",
                    known ? whys[event->why] : "", (long long)event->revision,
                    (long long)event->old_revision,
                    lapse_span_print((struct lapse_span){event->at.ns}, at),
                    event->value.len > 0 ? " " : "",
                    lapse_bytes_print(event->value, value, sizeof(value)));
}
