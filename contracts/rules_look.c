/* Looks: one way for all rules on keys and leases to see what an answer shows, whether a client
 * asked or an observer did, beside what the tracker believes at that instant. */
#include <stdarg.h>
#include <stdio.h>

#include "line.h"
#include "rules.h"
#include "track.h"

/* Values of two policies, by the places of their words. */
enum { VERSION_LIVE = 0, REVISION_KEY = 3 };

static size_t count_looks(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event);
static bool look_at_decision(const struct lapse_trackers *trackers,
                             const struct lapse_history_event *event, size_t index,
                             struct lapse_look *ret);
static enum lapse_shown shown_by_conflict(const struct lapse_look *look);
static bool is_sure(const struct lapse_trackers *trackers, const struct lapse_look *look);
static bool conflict_tells(const struct lapse_trackers *trackers);
static bool make_look(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event, size_t index,
                      struct lapse_look *ret);

enum lapse_status lapse_trackers_look(struct lapse_trackers *trackers,
                                      const struct lapse_history_event *event) {
    trackers->looked = NULL;
    lapse_outside_take(&trackers->outside, event);
    if (lapse_track_model_event(trackers, event) < 0)
        return LAPSE_NOMEM;
    size_t count = count_looks(trackers, event);
    if (!lapse_alloc_grow(trackers->alloc, (void **)&trackers->looks, &trackers->look_cap, count,
                          sizeof *trackers->looks))
        return LAPSE_NOMEM;
    trackers->look_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct lapse_look *look = &trackers->looks[trackers->look_count];
        if (make_look(trackers, event, i, look)) {
            look->sure = is_sure(trackers, look);
            look->conflict_tells = conflict_tells(trackers);
            trackers->look_count++;
        }
    }
    trackers->looked = event;
    return LAPSE_OK;
}

void lapse_looks_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->looks,
                     trackers->look_cap * sizeof *trackers->looks);
}

void lapse_looks_each(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event,
                      void (*visit)(const struct lapse_look *look, void *ctx), void *ctx) {
    LAPSE_ASSERT(trackers->looked == event);
    for (size_t i = 0; i < trackers->look_count; i++) {
        if (trackers->looks[i].sure)
            visit(&trackers->looks[i], ctx);
    }
}

bool lapse_looks_any(const struct lapse_trackers *trackers, const struct lapse_history_event *event,
                     bool open, lapse_look_concerns *concerns) {
    LAPSE_ASSERT(trackers->looked == event);
    for (size_t i = 0; i < trackers->look_count; i++) {
        const struct lapse_look *look = &trackers->looks[i];
        if ((open || look->sure) && concerns(trackers, look))
            return true;
    }
    return false;
}

bool lapse_looks_all(const struct lapse_trackers *trackers, const struct lapse_history_event *event,
                     bool open, lapse_look_concerns *concerns, lapse_look_check *check,
                     struct lapse_violation *ret) {
    LAPSE_ASSERT(trackers->looked == event);
    for (size_t i = 0; i < trackers->look_count; i++) {
        const struct lapse_look *look = &trackers->looks[i];
        if ((open || look->sure) && concerns(trackers, look) && !check(trackers, look, ret))
            return false;
    }
    return true;
}

enum lapse_shown lapse_look_shows(const struct lapse_look *look) {
    enum lapse_status status = look->answer->status;
    bool versioned = look->command != NULL && look->command->u.write.has_if_version;
    bool older = look->command != NULL && lapse_verb_reads_key(look->verb) &&
                 look->command->u.read.has_revision;
    switch (look->verb) {
    case LAPSE_VERB_HISTORY:
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        if (status == LAPSE_OK)
            return LAPSE_SHOWN_PRESENT;
        if (status == LAPSE_CONFLICT)
            return shown_by_conflict(look);
        return status == LAPSE_ABSENT && !older ? LAPSE_SHOWN_ABSENT : LAPSE_SHOWN_NOTHING;
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_SET:
        if (status == LAPSE_CONFLICT)
            return shown_by_conflict(look);
        if (status == LAPSE_OK && (versioned || look->verb == LAPSE_VERB_UPDATE))
            return LAPSE_SHOWN_PRESENT;
        return LAPSE_SHOWN_NOTHING;
    case LAPSE_VERB_CREATE:
        if (status == LAPSE_EXISTS)
            return LAPSE_SHOWN_PRESENT;
        return status == LAPSE_OK ? LAPSE_SHOWN_ABSENT : LAPSE_SHOWN_NOTHING;
    default:
        return LAPSE_SHOWN_NOTHING;
    }
}

/* A conflict names what it found. A number that is not the entry's shows no entry: CAS-01 asks
 * whether it is right. */
static enum lapse_shown shown_by_conflict(const struct lapse_look *look) {
    int64_t named = look->answer->revision;
    if (!look->conflict_tells)
        return LAPSE_SHOWN_NOTHING;
    if (named == 0)
        return LAPSE_SHOWN_ABSENT;
    bool entry = look->key == NULL || look->key->entry.revision == named;
    return entry ? LAPSE_SHOWN_PRESENT : LAPSE_SHOWN_NOTHING;
}

bool lapse_look_lists(const struct lapse_look *look) {
    if (look->answer->status != LAPSE_OK || look->bucket == NULL)
        return false;
    if (look->verb == LAPSE_VERB_WATCH)
        return look->command != NULL && look->command->u.watch.from == LAPSE_WATCH_LIVE;
    return lapse_verb_lists(look->verb);
}

bool lapse_look_lists_key(const struct lapse_look *look, struct lapse_bytes key) {
    if (look->command != NULL && lapse_verb_lists(look->verb) && look->command->u.page.has_after &&
        lapse_bytes_compare(key, look->command->u.page.after) <= 0)
        return false;
    return look->key_name.len == 0 || lapse_bytes_equal(look->key_name, key);
}

enum lapse_tracked_state lapse_look_state_of(const struct lapse_trackers *trackers,
                                             const struct lapse_look *look,
                                             const struct lapse_tracked_key *key) {
    return lapse_tracked_key_state(trackers, key, look->answer->at, look->answer->wall);
}

bool lapse_call_makes_events(const struct lapse_tracked_call *call) {
    const struct lapse_request *request = &call->invoke->u.invoke.request;
    const struct lapse_answer *answer = &call->apply->u.apply.answer;
    return answer->status == LAPSE_OK && !answer->repeated &&
           lapse_member_next_event(request, answer, 0) < lapse_member_count(request, answer);
}

bool lapse_reap_overdue(const struct lapse_trackers *trackers, struct lapse_true_time at,
                        struct lapse_steady store, struct lapse_end end, size_t due) {
    if (end.kind != LAPSE_END_STEADY || trackers->setup == NULL || trackers->node_paused)
        return false;
    int64_t overdue = lapse_steady_between((struct lapse_steady){end.ns}, store).ns;
    int64_t bound = trackers->setup->reap_bound.ns;
    (void)lapse_ns_add(bound, (int64_t)(due / 10000) * LAPSE_NS_PER_S, &bound);
    /* A coarse clock tells its store of an end a tick late. */
    (void)lapse_ns_add(bound, trackers->tick_ns, &bound);
    if (overdue <= bound)
        return false;
    return !trackers->node_was_paused || trackers->node_woke.ns < at.ns - overdue;
}

bool lapse_look_uses(const struct lapse_look *look) {
    return lapse_command_uses(look->command);
}

const struct lapse_command *lapse_rule_command(const struct lapse_trackers *trackers,
                                               const struct lapse_history_event *event) {
    const struct lapse_request *request = lapse_tracked_request(trackers, event);
    return request != NULL && request->verb < LAPSE_CALL_WRITE ? &request->command : NULL;
}

bool lapse_violation_say(struct lapse_violation *ret, const char *format, ...) {
    va_list args;
    va_start(args, format);
    lapse_line_format(ret->message, sizeof ret->message, format, args);
    va_end(args);
    return false;
}

void lapse_violation_label(struct lapse_violation *ret, const struct lapse_history_event *event,
                           const char *format, ...) {
    if (event == NULL || ret->label_count == LAPSE_VIOLATION_LABELS_MAX)
        return;
    va_list args;
    va_start(args, format);
    ret->labels[ret->label_count].event = event->seq;
    lapse_line_format(ret->labels[ret->label_count].text, LAPSE_VIOLATION_TEXT_MAX, format, args);
    va_end(args);
    ret->label_count++;
}

struct lapse_rule_text lapse_text_key(struct lapse_bytes bucket, struct lapse_bytes key) {
    struct lapse_rule_text ret;
    char left[LAPSE_RULE_TEXT_MAX / 2], right[LAPSE_RULE_TEXT_MAX / 2];
    (void)snprintf(ret.text, sizeof ret.text, "%s/%s", lapse_bytes_print(bucket, left, sizeof left),
                   lapse_bytes_print(key, right, sizeof right));
    return ret;
}

struct lapse_rule_text lapse_text_name(struct lapse_bytes name) {
    struct lapse_rule_text ret;
    (void)lapse_bytes_print(name, ret.text, sizeof ret.text);
    return ret;
}

struct lapse_rule_text lapse_text_end(struct lapse_end end) {
    struct lapse_rule_text ret = {"never"};
    if (end.kind == LAPSE_END_STEADY)
        (void)lapse_span_print((struct lapse_span){end.ns}, ret.text);
    else if (end.kind == LAPSE_END_WALL)
        (void)lapse_wall_print((struct lapse_wall){end.ns}, ret.text);
    return ret;
}

struct lapse_rule_text lapse_text_ns(int64_t ns) {
    struct lapse_rule_text ret;
    (void)lapse_span_print((struct lapse_span){ns}, ret.text);
    return ret;
}

struct lapse_rule_text lapse_text_actor(const struct lapse_trackers *trackers,
                                        const struct lapse_history_event *event) {
    struct lapse_rule_text ret = {"the store"};
    const struct lapse_setup *setup = trackers->setup;
    int32_t actor = event->actor;
    const struct lapse_tracked_call *call = lapse_tracked_call_find(trackers, event->call);
    if (actor < 0 && call != NULL)
        actor = call->invoke->actor;
    if (setup != NULL && actor >= 0 && (size_t)actor < setup->actor_count)
        (void)lapse_bytes_print(setup->actors[actor].name, ret.text, sizeof ret.text);
    return ret;
}

static size_t count_looks(const struct lapse_trackers *trackers,
                          const struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_PROBE)
        return event->u.probe.answer_count;
    if (event->kind != LAPSE_HISTORY_APPLY || event->u.apply.answer.repeated)
        return 0;
    const struct lapse_request *request = lapse_tracked_request(trackers, event);
    if (request == NULL)
        return 0;
    return lapse_member_count(request, &event->u.apply.answer);
}

/* False if what the event shows cannot be held against what the trackers believe: an earlier member
 * of the same batch has changed it. */
static bool make_look(const struct lapse_trackers *trackers,
                      const struct lapse_history_event *event, size_t index,
                      struct lapse_look *ret) {
    *ret = (struct lapse_look){.event = event};
    if (event->kind == LAPSE_HISTORY_APPLY) {
        if (!look_at_decision(trackers, event, index, ret))
            return false;
    } else {
        const struct lapse_probe_answer *probed = &event->u.probe.answers[index];
        ret->probed = true;
        ret->verb = probed->verb;
        ret->answer = &probed->answer;
        ret->bucket_name = event->u.probe.bucket;
        ret->key_name = event->u.probe.name;
    }
    if (lapse_verb_of_session(ret->verb))
        return ret->answer->status >= 0;
    if (lapse_verb_of_lease(ret->verb)) {
        ret->lease = lapse_tracked_lease_find(trackers, ret->key_name);
        return ret->answer->status >= 0;
    }
    ret->bucket = lapse_tracked_bucket_find(trackers, ret->bucket_name);
    if (!lapse_verb_lists(ret->verb) && ret->verb != LAPSE_VERB_WATCH)
        ret->key = lapse_tracked_key_find(ret->bucket, ret->key_name);
    ret->state = lapse_look_state_of(trackers, ret, ret->key);
    return true;
}

static bool look_at_decision(const struct lapse_trackers *trackers,
                             const struct lapse_history_event *event, size_t index,
                             struct lapse_look *ret) {
    const struct lapse_request *request = lapse_tracked_request(trackers, event);
    if (request->verb >= LAPSE_CALL_WRITE ||
        lapse_member_hidden(request, &event->u.apply.answer, index))
        return false;
    ret->command = &request->command;
    ret->answer = &event->u.apply.answer;
    if (request->verb == LAPSE_VERB_BATCH) {
        struct lapse_member member;
        lapse_member_at(trackers, request, &event->u.apply.answer, index, &member);
        ret->command = member.command;
        ret->own = member.answer;
        ret->answer = &ret->own;
        ret->in_batch = member.in_batch;
    }
    ret->verb = (int)ret->command->verb;
    ret->bucket_name = ret->command->bucket;
    ret->key_name = ret->command->key;
    return true;
}

/* Whether no crash has left open what stands there. */
static bool conflict_tells(const struct lapse_trackers *trackers) {
    const uint8_t *policies = trackers->setup->policies.value;
    return policies[LAPSE_POLICY_IF_VERSION] == VERSION_LIVE &&
           policies[LAPSE_POLICY_REVISION] != REVISION_KEY;
}

static bool is_sure(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    if (lapse_verb_of_lease(look->verb))
        return look->lease != NULL ? !look->lease->unsure : !trackers->leases_unsure;
    if (look->bucket == NULL || !look->bucket->unsure)
        return look->state != LAPSE_TRACKED_UNSURE;
    return look->key != NULL && look->state != LAPSE_TRACKED_UNSURE;
}
