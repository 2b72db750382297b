/* The history's digest, field by field in the order of the header, so that two runs agree iff all
 * that they recorded agrees. */
#include "feed.h"

static void feed_body(struct lapse_digest *digest, const struct lapse_history_event *event);
static void feed_time(struct lapse_digest *digest, const struct lapse_history_event *event);
static void feed_role(struct lapse_digest *digest, const struct lapse_history_event *event);
static void feed_setup(struct lapse_digest *digest, const struct lapse_setup *setup);
static void feed_invoke(struct lapse_digest *digest, const struct lapse_history_event *event);
static void feed_answer(struct lapse_digest *digest, const struct lapse_answer *answer);
static void feed_grant(struct lapse_digest *digest, const struct lapse_grant_ref *grant);
static void feed_bucket_event(struct lapse_digest *digest, const struct lapse_event *event);
static void feed_probe(struct lapse_digest *digest, const struct lapse_probe *probe);
static void feed_resource(struct lapse_digest *digest, const struct lapse_history_event *event);
static void feed_reading(struct lapse_digest *digest, const struct lapse_reading *reading);
static void feed_party(struct lapse_digest *digest, struct lapse_party party);
static void feed_bool(struct lapse_digest *digest, bool value);

void lapse_feed_event(struct lapse_digest *digest, const struct lapse_history_event *event) {
    lapse_digest_i64(digest, (int64_t)event->kind);
    lapse_digest_i64(digest, event->seq);
    lapse_digest_i64(digest, event->at.ns);
    lapse_digest_i64(digest, event->actor);
    lapse_digest_i64(digest, event->incarnation);
    lapse_digest_i64(digest, event->actor_wall.ns);
    lapse_digest_i64(digest, event->actor_steady.ns);
    lapse_digest_i64(digest, event->call);
    lapse_digest_i64(digest, event->step);
    lapse_digest_i64(digest, event->n);
    feed_body(digest, event);
}

static void feed_body(struct lapse_digest *digest, const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_BEGIN:
        feed_setup(digest, event->u.begin);
        break;
    case LAPSE_HISTORY_INVOKE:
        feed_invoke(digest, event);
        break;
    case LAPSE_HISTORY_APPLY:
        lapse_digest_i64(digest, event->u.apply.node);
        feed_reading(digest, &event->u.apply.reading);
        lapse_digest_i64(digest, event->u.apply.durable_point);
        feed_answer(digest, &event->u.apply.answer);
        break;
    case LAPSE_HISTORY_EMIT:
        lapse_digest_i64(digest, event->u.emit.node);
        feed_bucket_event(digest, &event->u.emit.event);
        break;
    case LAPSE_HISTORY_REPLY:
        lapse_digest_i64(digest, event->u.reply.verb);
        feed_bool(digest, event->u.reply.sent);
        lapse_digest_i64(digest, event->u.reply.save_slot);
        feed_grant(digest, &event->u.reply.grant);
        feed_answer(digest, &event->u.reply.answer);
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        feed_grant(digest, &event->u.belief.grant);
        lapse_digest_i64(digest, (int64_t)event->u.belief.why);
        feed_bool(digest, event->u.belief.has_deadline);
        lapse_digest_i64(digest, event->u.belief.deadline.ns);
        break;
    case LAPSE_HISTORY_RESOURCE:
        feed_resource(digest, event);
        break;
    case LAPSE_HISTORY_DELIVER:
        lapse_digest_i64(digest, event->u.deliver.watch);
        lapse_digest_i64(digest, event->u.deliver.watcher);
        feed_bool(digest, event->u.deliver.first);
        feed_bucket_event(digest, &event->u.deliver.event);
        break;
    case LAPSE_HISTORY_PROBE:
        feed_probe(digest, &event->u.probe);
        break;
    case LAPSE_HISTORY_UNBOUND:
        lapse_digest_i64(digest, event->u.unbound.slot);
        lapse_digest_i64(digest, event->u.unbound.why);
        lapse_digest_i64(digest, event->u.unbound.field);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
    case LAPSE_HISTORY_STEP:
    case LAPSE_HISTORY_MESSAGE:
    case LAPSE_HISTORY_CLOCK:
    case LAPSE_HISTORY_TENURE:
    case LAPSE_HISTORY_ROLE:
        feed_time(digest, event);
        break;
    case LAPSE_HISTORY_NOTE:
        lapse_digest_bytes(digest, event->u.note.text);
        lapse_digest_i64(digest, event->u.note.status);
        break;
    case LAPSE_HISTORY_END:
        lapse_digest_u64(digest, event->u.end.state_digest);
        feed_bool(digest, event->u.end.cut);
        break;
    default:
        break;
    }
}

static void feed_time(struct lapse_digest *digest, const struct lapse_history_event *event) {
    switch (event->kind) {
    case LAPSE_HISTORY_STEP:
        lapse_digest_i64(digest, event->u.step.node);
        feed_reading(digest, &event->u.step.reading);
        lapse_digest_i64(digest, event->u.step.store.ns);
        if (event->u.step.status < 0) /* then no row was removed */
            lapse_digest_i64(digest, event->u.step.status);
        else
            lapse_digest_u64(digest, event->u.step.row_count);
        break;
    case LAPSE_HISTORY_CLOCK:
        feed_party(digest, event->u.clock.whose);
        feed_reading(digest, &event->u.clock.before);
        feed_reading(digest, &event->u.clock.after);
        lapse_digest_i64(digest, event->u.clock.mono_before.ns);
        lapse_digest_i64(digest, event->u.clock.mono_after.ns);
        lapse_digest_i64(digest, event->u.clock.rate_ppb);
        feed_bool(digest, event->u.clock.stopped);
        lapse_digest_i64(digest, event->u.clock.tick_ns);
        break;
    case LAPSE_HISTORY_TENURE:
        lapse_digest_i64(digest, event->u.tenure.node);
        feed_bool(digest, event->u.tenure.machine);
        feed_reading(digest, &event->u.tenure.reading);
        lapse_digest_i64(digest, event->u.tenure.store.ns);
        lapse_digest_i64(digest, (int64_t)event->u.tenure.restored);
        break;
    case LAPSE_HISTORY_ROLE:
        feed_role(digest, event);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
        lapse_digest_i64(digest, (int64_t)event->u.fault.kind);
        lapse_digest_i64(digest, event->u.fault.node);
        feed_bool(digest, event->u.fault.machine);
        lapse_digest_i64(digest, event->u.fault.task);
        feed_party(digest, event->u.fault.from);
        feed_party(digest, event->u.fault.to);
        feed_bool(digest, event->u.fault.both);
        lapse_digest_i64(digest, (int64_t)event->u.fault.disk);
        feed_bool(digest, event->u.fault.keeps);
        feed_bool(digest, event->u.fault.has_until);
        lapse_digest_i64(digest, event->u.fault.until.ns);
        break;
    case LAPSE_HISTORY_MESSAGE:
        feed_party(digest, event->u.message.from);
        feed_party(digest, event->u.message.to);
        feed_bool(digest, event->u.message.reply);
        lapse_digest_i64(digest, (int64_t)event->u.message.fate);
        lapse_digest_i64(digest, event->u.message.latency.ns);
        lapse_digest_i64(digest, (int64_t)event->u.message.status);
        break;
    default:
        break;
    }
}

static void feed_role(struct lapse_digest *digest, const struct lapse_history_event *event) {
    lapse_digest_i64(digest, event->u.role.node);
    lapse_digest_i64(digest, (int64_t)event->u.role.role);
    lapse_digest_i64(digest, event->u.role.epoch);
    lapse_digest_i64(digest, event->u.role.index);
    lapse_digest_bytes(digest, event->u.role.digest);
}

static void feed_setup(struct lapse_digest *digest, const struct lapse_setup *setup) {
    lapse_digest_bytes(digest, setup->scenario);
    lapse_digest_bytes(digest, setup->profile);
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        lapse_digest_u64(digest, setup->policies.value[i]);
    }
    feed_bool(digest, setup->chaos);
    feed_bool(digest, setup->durable);
    lapse_digest_i64(digest, (int64_t)setup->sync);
    lapse_digest_i64(digest, setup->epoch.ns);
    lapse_digest_i64(digest, setup->rate_ppb);
    lapse_digest_i64(digest, setup->wall_bound.ns);
    lapse_digest_i64(digest, setup->reap_bound.ns);
    lapse_digest_u64(digest, setup->bucket_count);
    for (size_t i = 0; i < setup->bucket_count; i++) {
        lapse_digest_bytes(digest, setup->buckets[i].name);
        lapse_feed_config(digest, &setup->buckets[i].config);
        feed_bool(digest, setup->buckets[i].locks);
    }
    lapse_digest_u64(digest, setup->resource_count);
    for (size_t i = 0; i < setup->resource_count; i++) {
        lapse_digest_bytes(digest, setup->resources[i].name);
        feed_bool(digest, setup->resources[i].fenced);
        lapse_digest_bytes(digest, setup->resources[i].lease);
        lapse_digest_i64(digest, (int64_t)setup->resources[i].bar);
        feed_bool(digest, setup->resources[i].not_after);
        feed_bool(digest, setup->resources[i].once);
    }
    lapse_digest_u64(digest, setup->actor_count);
    for (size_t i = 0; i < setup->actor_count; i++) {
        lapse_digest_bytes(digest, setup->actors[i].name);
        lapse_digest_bytes(digest, setup->actors[i].owner);
        feed_bool(digest, setup->actors[i].careful);
        lapse_digest_i64(digest, setup->actors[i].margin.ns);
        feed_bool(digest, setup->actors[i].timer_boot);
        lapse_digest_bytes(digest, setup->actors[i].program);
    }
    lapse_digest_u64(digest, setup->loop_count);
    for (size_t i = 0; i < setup->loop_count; i++) {
        lapse_digest_i64(digest, setup->loops[i].actor);
        lapse_digest_i64(digest, setup->loops[i].step);
        feed_bool(digest, setup->loops[i].gap);
        lapse_digest_i64(digest, setup->loops[i].period.ns);
        lapse_digest_i64(digest, setup->loops[i].retry.ns);
        feed_bool(digest, setup->loops[i].steady);
        lapse_digest_i64(digest, setup->loops[i].slack.ns);
    }
    lapse_digest_u64(digest, setup->node_count);
    for (size_t i = 0; i < setup->node_count; i++) {
        lapse_digest_bytes(digest, setup->nodes[i]);
    }
}

static void feed_invoke(struct lapse_digest *digest, const struct lapse_history_event *event) {
    const struct lapse_request *request = &event->u.invoke.request;
    lapse_digest_i64(digest, request->verb);
    lapse_feed_command(digest, &request->command);
    lapse_digest_i64(digest, request->resource);
    lapse_digest_bytes(digest, request->value);
    feed_bool(digest, request->has_token);
    lapse_digest_i64(digest, request->token);
    feed_bool(digest, request->has_not_after);
    lapse_digest_i64(digest, request->not_after.ns);
    lapse_digest_i64(digest, request->work.ns);
    feed_grant(digest, &event->u.invoke.grant);
    lapse_digest_i64(digest, event->u.invoke.loop);
    lapse_digest_i64(digest, event->u.invoke.due.ns);
    feed_bool(digest, event->u.invoke.looked);
    lapse_digest_i64(digest, event->u.invoke.last_look.ns);
}

static void feed_answer(struct lapse_digest *digest, const struct lapse_answer *answer) {
    lapse_digest_i64(digest, (int64_t)answer->status);
    lapse_digest_i64(digest, answer->at.ns);
    lapse_digest_i64(digest, answer->wall.ns);
    lapse_digest_i64(digest, answer->revision);
    lapse_digest_i64(digest, (int64_t)answer->end.kind);
    lapse_digest_i64(digest, answer->end.ns);
    lapse_digest_i64(digest, answer->left.ns);
    feed_bool(digest, answer->renewed);
    feed_bool(digest, answer->has_token);
    lapse_digest_i64(digest, answer->token);
    lapse_digest_i64(digest, answer->watcher);
    lapse_digest_bytes(digest, answer->value);
    lapse_digest_bytes(digest, answer->owner);
    lapse_digest_u64(digest, answer->item_count);
    feed_bool(digest, answer->items != NULL);
    for (size_t i = 0; answer->items != NULL && i < answer->item_count; i++) {
        lapse_digest_bytes(digest, answer->items[i].key);
        lapse_digest_bytes(digest, answer->items[i].value);
        lapse_digest_i64(digest, answer->items[i].revision);
        lapse_digest_i64(digest, (int64_t)answer->items[i].kind);
    }
    feed_bool(digest, answer->more);
    feed_bool(digest, answer->repeated);
    lapse_digest_u64(digest, answer->answer_count);
    for (size_t i = 0; i < answer->answer_count; i++) {
        lapse_digest_i64(digest, (int64_t)answer->answers[i].verb);
        lapse_digest_i64(digest, (int64_t)answer->answers[i].status);
        lapse_digest_i64(digest, answer->answers[i].revision);
        lapse_digest_i64(digest, answer->answers[i].token);
        lapse_digest_i64(digest, (int64_t)answer->answers[i].end.kind);
        lapse_digest_i64(digest, answer->answers[i].end.ns);
        lapse_digest_i64(digest, answer->answers[i].left.ns);
    }
    lapse_digest_i64(digest, answer->took.ns);
}

static void feed_grant(struct lapse_digest *digest, const struct lapse_grant_ref *grant) {
    feed_bool(digest, grant->given);
    feed_bool(digest, grant->key_lock);
    lapse_digest_bytes(digest, grant->name);
    lapse_digest_i64(digest, grant->token);
}

static void feed_bucket_event(struct lapse_digest *digest, const struct lapse_event *event) {
    lapse_digest_i64(digest, (int64_t)event->kind);
    lapse_digest_i64(digest, (int64_t)event->why);
    lapse_digest_bytes(digest, event->bucket);
    lapse_digest_bytes(digest, event->key);
    lapse_digest_bytes(digest, event->value);
    lapse_digest_i64(digest, event->revision);
    lapse_digest_i64(digest, event->old_revision);
    lapse_digest_i64(digest, event->at.ns);
}

static void feed_probe(struct lapse_digest *digest, const struct lapse_probe *probe) {
    lapse_digest_i64(digest, (int64_t)probe->kind);
    feed_bool(digest, probe->key_lock);
    lapse_digest_bytes(digest, probe->bucket);
    lapse_digest_bytes(digest, probe->name);
    lapse_digest_u64(digest, probe->answer_count);
    for (size_t i = 0; i < probe->answer_count; i++) {
        lapse_digest_i64(digest, probe->answers[i].verb);
        feed_answer(digest, &probe->answers[i].answer);
    }
    lapse_digest_u64(digest, probe->who_count);
    for (size_t i = 0; i < probe->who_count; i++) {
        lapse_digest_i64(digest, probe->who[i]);
    }
    feed_bool(digest, probe->flag);
    lapse_digest_u64(digest, probe->event_count);
    for (size_t i = 0; i < probe->event_count; i++) {
        feed_bucket_event(digest, &probe->events[i]);
    }
    lapse_digest_i64(digest, probe->row_count);
}

static void feed_resource(struct lapse_digest *digest, const struct lapse_history_event *event) {
    lapse_digest_i64(digest, event->u.resource.resource);
    lapse_digest_i64(digest, event->u.resource.verb);
    lapse_digest_i64(digest, (int64_t)event->u.resource.status);
    feed_bool(digest, event->u.resource.has_token);
    lapse_digest_i64(digest, event->u.resource.token);
    lapse_digest_bytes(digest, event->u.resource.value);
    feed_bool(digest, event->u.resource.has_highest);
    lapse_digest_i64(digest, event->u.resource.highest);
    lapse_digest_i64(digest, event->u.resource.wall.ns);
}

static void feed_party(struct lapse_digest *digest, struct lapse_party party) {
    lapse_digest_i64(digest, (int64_t)party.kind);
    lapse_digest_i64(digest, party.index);
}

static void feed_reading(struct lapse_digest *digest, const struct lapse_reading *reading) {
    lapse_digest_u64(digest, reading->boot);
    lapse_digest_i64(digest, reading->raw_ns);
    lapse_digest_i64(digest, reading->wall.ns);
}

static void feed_bool(struct lapse_digest *digest, bool value) {
    lapse_digest_u64(digest, value ? 1 : 0);
}
