/* The state line of a report: what stands under the name that an event is about. */
#include <stdio.h>

#include "rules.h"
#include "track.h"

/* What an event is about: a resource, a lease or a key. */
enum subject_kind { SUBJECT_NONE = 0, SUBJECT_RESOURCE, SUBJECT_LEASE, SUBJECT_KEY };
struct subject {
    enum subject_kind kind;
    int32_t resource;
    struct lapse_bytes bucket, name;
};

static struct subject subject_of(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event);
static struct subject subject_of_request(const struct lapse_request *request);
static struct subject subject_of_probe(const struct lapse_probe *probe);
static void describe_resource(const struct lapse_trackers *trackers, int32_t index, char *buf,
                              size_t cap);
static void describe_lease(const struct lapse_trackers *trackers, struct lapse_bytes name,
                           struct lapse_steady at, char *buf, size_t cap);
static void describe_key(const struct lapse_trackers *trackers, const struct subject *subject,
                         struct lapse_steady at, struct lapse_wall wall, char *buf, size_t cap);
static void describe_live(const struct lapse_trackers *trackers,
                          const struct lapse_tracked_key *key, const char *name, char *buf,
                          size_t cap);

char *lapse_trackers_describe(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event, char *buf, size_t cap) {
    LAPSE_ASSERT(cap > 0);
    struct subject subject = subject_of(trackers, event);
    struct lapse_steady at = lapse_tracked_store_time(trackers, event->at);
    /* Without a reading of the store, only dates that a command has reached count as reached. */
    struct lapse_wall wall = {INT64_MIN};
    if (event->kind == LAPSE_HISTORY_APPLY) {
        at = event->u.apply.answer.at;
        wall = event->u.apply.answer.wall;
    }
    buf[0] = '\0';
    switch (subject.kind) {
    case SUBJECT_RESOURCE:
        describe_resource(trackers, subject.resource, buf, cap);
        break;
    case SUBJECT_LEASE:
        describe_lease(trackers, subject.name, at, buf, cap);
        break;
    case SUBJECT_KEY:
        describe_key(trackers, &subject, at, wall, buf, cap);
        break;
    case SUBJECT_NONE:
        break;
    }
    return buf;
}

static struct subject subject_of(const struct lapse_trackers *trackers,
                                 const struct lapse_history_event *event) {
    const struct lapse_request *request;
    switch (event->kind) {
    case LAPSE_HISTORY_RESOURCE:
        return (struct subject){.kind = SUBJECT_RESOURCE, .resource = event->u.resource.resource};
    case LAPSE_HISTORY_EMIT:
        return (struct subject){.kind = SUBJECT_KEY,
                                .bucket = event->u.emit.event.bucket,
                                .name = event->u.emit.event.key};
    case LAPSE_HISTORY_DELIVER:
        return (struct subject){.kind = SUBJECT_KEY,
                                .bucket = event->u.deliver.event.bucket,
                                .name = event->u.deliver.event.key};
    case LAPSE_HISTORY_PROBE:
        return subject_of_probe(&event->u.probe);
    case LAPSE_HISTORY_INVOKE:
    case LAPSE_HISTORY_APPLY:
    case LAPSE_HISTORY_REPLY:
        request = lapse_tracked_request(trackers, event);
        return request != NULL ? subject_of_request(request) : (struct subject){0};
    default:
        return (struct subject){0};
    }
}

static struct subject subject_of_request(const struct lapse_request *request) {
    struct subject subject = {.bucket = request->command.bucket, .name = request->command.key};
    switch (request->verb) {
    case LAPSE_CALL_WRITE:
    case LAPSE_CALL_READ:
        subject.kind = SUBJECT_RESOURCE;
        subject.resource = request->resource;
        break;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_INSPECT:
        subject.kind = SUBJECT_LEASE;
        break;
    default:
        if (lapse_verb_reads_key(request->verb) || request->verb == LAPSE_VERB_HISTORY ||
            lapse_verb_writes_key(request->verb))
            subject.kind = SUBJECT_KEY;
        break;
    }
    return subject;
}

static struct subject subject_of_probe(const struct lapse_probe *probe) {
    struct subject subject = {.bucket = probe->bucket, .name = probe->name};
    switch (probe->kind) {
    case LAPSE_PROBE_GONE:
    case LAPSE_PROBE_PRESENT:
        subject.kind = SUBJECT_KEY;
        break;
    case LAPSE_PROBE_LEFT:
    case LAPSE_PROBE_HOLDER:
    case LAPSE_PROBE_BELIEVES:
    case LAPSE_PROBE_MAY:
        subject.kind = probe->key_lock ? SUBJECT_KEY : SUBJECT_LEASE;
        break;
    case LAPSE_PROBE_READ:
        if (probe->answer_count > 0 && lapse_verb_reads_key(probe->answers[0].verb))
            subject.kind = SUBJECT_KEY;
        else if (probe->answer_count > 0 && probe->answers[0].verb == LAPSE_VERB_INSPECT)
            subject.kind = SUBJECT_LEASE;
        break;
    default:
        break;
    }
    return subject;
}

static void describe_resource(const struct lapse_trackers *trackers, int32_t index, char *buf,
                              size_t cap) {
    if (index < 0 || (size_t)index >= trackers->resource_count)
        return;
    const struct lapse_tracked_resource *resource = &trackers->resources[index];
    struct lapse_rule_text name = lapse_text_name(trackers->setup->resources[index].name);
    struct lapse_rule_text value = lapse_text_name(resource->value);
    char last[40] = "";
    if (resource->write_count > 0 && resource->write->u.resource.has_token &&
        resource->write->u.resource.token != resource->highest)
        (void)snprintf(last, sizeof last, ", last token %lld",
                       (long long)resource->write->u.resource.token);
    if (resource->write_count == 0)
        (void)snprintf(buf, cap, "%s: no write yet", name.text);
    else if (!resource->has_highest)
        (void)snprintf(buf, cap, "%s: %s, no token yet", name.text, value.text);
    else
        (void)snprintf(buf, cap, "%s: %s, highest token %lld%s", name.text, value.text,
                       (long long)resource->highest, last);
}

static void describe_lease(const struct lapse_trackers *trackers, struct lapse_bytes name,
                           struct lapse_steady at, char *buf, size_t cap) {
    const struct lapse_tracked_lease *lease = lapse_tracked_lease_find(trackers, name);
    const struct lapse_tracked_grant *last = lapse_tracked_grant_last(lease);
    struct lapse_rule_text text = lapse_text_name(name);
    if (last == NULL) {
        (void)snprintf(buf, cap, "%s: never granted", text.text);
        return;
    }
    struct lapse_rule_text owner = lapse_text_name(last->owner);
    struct lapse_rule_text end = lapse_text_end(last->end);
    long long token = (long long)last->token;
    if (lapse_tracked_grant_live(lease, at) != NULL)
        (void)snprintf(buf, cap, "%s: %s until %s, token %lld", text.text, owner.text, end.text,
                       token);
    else if (last->lost != NULL)
        (void)snprintf(buf, cap, "%s: free, gone with its tenure (last %s, token %lld)", text.text,
                       owner.text, token);
    else if (last->released != NULL && last->released->actor < 0)
        (void)snprintf(buf, cap, "%s: free, taken from %s by an operator (token %lld)", text.text,
                       owner.text, token);
    else if (last->released != NULL)
        (void)snprintf(buf, cap, "%s: free, released by %s (token %lld)", text.text, owner.text,
                       token);
    else
        (void)snprintf(buf, cap, "%s: free since %s (last %s, token %lld)", text.text, end.text,
                       owner.text, token);
}

static void describe_key(const struct lapse_trackers *trackers, const struct subject *subject,
                         struct lapse_steady at, struct lapse_wall wall, char *buf, size_t cap) {
    const struct lapse_tracked_key *key =
        lapse_tracked_key_find(lapse_tracked_bucket_find(trackers, subject->bucket), subject->name);
    struct lapse_rule_text name = lapse_text_key(subject->bucket, subject->name);
    switch (lapse_tracked_key_state(trackers, key, at, wall)) {
    case LAPSE_TRACKED_NEVER:
        (void)snprintf(buf, cap, "%s: never written", name.text);
        break;
    case LAPSE_TRACKED_REMOVED:
        (void)snprintf(buf, cap, "%s: removed", name.text);
        break;
    case LAPSE_TRACKED_ENDED: {
        struct lapse_rule_text end = lapse_text_end(key->entry.end);
        struct lapse_rule_text value = lapse_text_name(key->entry.value);
        (void)snprintf(buf, cap, "%s: ended at %s (was %s, revision %lld)", name.text, end.text,
                       value.text, (long long)key->entry.revision);
        break;
    }
    case LAPSE_TRACKED_UNSURE:
        (void)snprintf(buf, cap, "%s: what a crash has left of it is not known yet", name.text);
        break;
    case LAPSE_TRACKED_LIVE:
        describe_live(trackers, key, name.text, buf, cap);
        break;
    }
}

static void describe_live(const struct lapse_trackers *trackers,
                          const struct lapse_tracked_key *key, const char *name, char *buf,
                          size_t cap) {
    struct lapse_rule_text value = lapse_text_name(key->entry.value);
    struct lapse_rule_text end = lapse_text_end(key->entry.end);
    struct lapse_rule_text creator = {""};
    if (key->created != NULL && key->creator >= 0)
        creator = lapse_text_actor(trackers, key->created);
    (void)snprintf(buf, cap, "%s: %s, revision %lld, %s%s%s%s", name, value.text,
                   (long long)key->entry.revision,
                   key->entry.end.kind == LAPSE_END_NONE ? "no end" : "ends at ",
                   key->entry.end.kind == LAPSE_END_NONE ? "" : end.text,
                   creator.text[0] != '\0' ? ", created by " : "", creator.text);
}
