/* The scene's bookkeeping: one reader a kind of event. The tables are found by hash and walked in
 * the order of their making. */
#include "scene.h"

#include "names.h"

static enum lapse_status begin(struct lapse_scene *scene, const struct lapse_setup *setup);
static enum lapse_status note_call(struct lapse_scene *scene,
                                   const struct lapse_history_event *event);
static enum lapse_status note_apply(struct lapse_scene *scene,
                                    const struct lapse_history_event *event,
                                    struct lapse_fact *ret);
static uint32_t lease_fact(int verb, const struct lapse_answer *answer);
static void note_key(struct lapse_scene *scene, struct lapse_scene_name *name,
                     const struct lapse_history_event *invoke,
                     const struct lapse_history_event *event, struct lapse_fact *ret);
static void note_lock(struct lapse_scene_name *name, const struct lapse_history_event *invoke,
                      const struct lapse_answer *answer, struct lapse_fact *ret);
static void note_fault(struct lapse_scene *scene, const struct lapse_history_event *event,
                       struct lapse_fact *ret);
static enum lapse_status note_belief(struct lapse_scene *scene,
                                     const struct lapse_history_event *event,
                                     struct lapse_fact *ret);
static void note_resource(struct lapse_scene *scene, const struct lapse_history_event *event,
                          struct lapse_fact *ret);
static void stand(struct lapse_scene_name *name, const struct lapse_history_event *event, int verb,
                  int32_t actor, bool live);
static bool is_live(const struct lapse_stand *now, const struct lapse_answer *answer);

void lapse_scene_init(struct lapse_scene *scene, const lapse_alloc *alloc) {
    *scene = (struct lapse_scene){.alloc = alloc};
}

void lapse_scene_free(struct lapse_scene *scene) {
    const lapse_alloc *alloc = scene->alloc;
    lapse_alloc_free(alloc, scene->calls, scene->calls_cap * sizeof(*scene->calls));
    lapse_alloc_free(alloc, scene->names, scene->names_cap * sizeof(*scene->names));
    lapse_alloc_free(alloc, scene->index, scene->index_cap * sizeof(*scene->index));
    lapse_alloc_free(alloc, scene->beliefs, scene->beliefs_cap * sizeof(*scene->beliefs));
    if (scene->setup != NULL) {
        size_t writes = (scene->setup->resource_count + 1) * sizeof(*scene->writes);
        lapse_alloc_free(alloc, scene->actors,
                         (scene->setup->actor_count + 1) * sizeof(*scene->actors));
        lapse_alloc_free(alloc, scene->writes, writes);
        lapse_alloc_free(alloc, scene->writes_before, writes);
    }
    lapse_scene_init(scene, alloc);
}

enum lapse_status lapse_scene_absorb(struct lapse_scene *scene,
                                     const struct lapse_history_event *event,
                                     struct lapse_fact *ret) {
    *ret = (struct lapse_fact){.actor = event->actor, .subject = -1};
    if (event->kind == LAPSE_HISTORY_BEGIN) {
        return begin(scene, event->u.begin);
    }
    if (scene->setup == NULL) {
        return LAPSE_OK;
    }
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        return note_call(scene, event);
    case LAPSE_HISTORY_APPLY:
        return note_apply(scene, event, ret);
    case LAPSE_HISTORY_EMIT:
        if (event->u.emit.event.kind == LAPSE_EVENT_EXPIRED) {
            ret->kinds = LAPSE_FACT(LAPSE_PATTERN_EXPIRED);
            ret->bucket = event->u.emit.event.bucket;
            ret->name = event->u.emit.event.key;
        }
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
        note_fault(scene, event, ret);
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        return note_belief(scene, event, ret);
    case LAPSE_HISTORY_RESOURCE:
        note_resource(scene, event, ret);
        break;
    case LAPSE_HISTORY_STOPPED:
        ret->kinds = LAPSE_FACT(LAPSE_PATTERN_STOPPED);
        ret->subject = event->actor;
        break;
    default:
        break;
    }
    return LAPSE_OK;
}

int32_t lapse_scene_locks(const struct lapse_scene *scene, struct lapse_bytes bucket) {
    for (size_t i = 0; scene->setup != NULL && i < scene->setup->bucket_count; i++) {
        if (lapse_bytes_equal(scene->setup->buckets[i].name, bucket)) {
            return scene->setup->buckets[i].locks ? (int32_t)i : -1;
        }
    }
    return -1;
}

bool lapse_verb_is_key(int verb) {
    return verb >= LAPSE_VERB_SET && verb <= LAPSE_VERB_PERSIST;
}

bool lapse_verb_is_lease(int verb) {
    return verb >= LAPSE_VERB_ACQUIRE && verb <= LAPSE_VERB_INSPECT;
}

static enum lapse_status begin(struct lapse_scene *scene, const struct lapse_setup *setup) {
    LAPSE_ASSERT(scene->setup == NULL);
    size_t writes = (setup->resource_count + 1) * sizeof(*scene->writes);
    scene->setup = setup;
    scene->actors =
        lapse_alloc_zero(scene->alloc, (setup->actor_count + 1) * sizeof(*scene->actors));
    scene->writes = lapse_alloc_zero(scene->alloc, writes);
    scene->writes_before = lapse_alloc_zero(scene->alloc, writes);
    bool made = scene->actors != NULL && scene->writes != NULL && scene->writes_before != NULL;
    return made ? LAPSE_OK : LAPSE_NOMEM;
}

static enum lapse_status note_call(struct lapse_scene *scene,
                                   const struct lapse_history_event *event) {
    if (!lapse_alloc_grow(scene->alloc, (void **)&scene->calls, &scene->calls_cap,
                          scene->call_count + 1, sizeof(*scene->calls))) {
        return LAPSE_NOMEM;
    }
    size_t at = scene->call_count++;
    while (at > 0 && scene->calls[at - 1].call > event->call) {
        scene->calls[at] = scene->calls[at - 1];
        at--;
    }
    scene->calls[at] = (struct lapse_scene_call){event->call, event};
    return LAPSE_OK;
}

static enum lapse_status note_apply(struct lapse_scene *scene,
                                    const struct lapse_history_event *event,
                                    struct lapse_fact *ret) {
    const struct lapse_history_event *invoke = lapse_scene_invoke(scene, event->call);
    if (invoke == NULL) {
        return LAPSE_OK;
    }
    const struct lapse_command *command = &invoke->u.invoke.request.command;
    int verb = invoke->u.invoke.request.verb;
    bool lease = lapse_verb_is_lease(verb);
    if (!lease && !lapse_verb_is_key(verb)) {
        return LAPSE_OK;
    }
    struct lapse_bytes bucket = lease ? (struct lapse_bytes){0} : command->bucket;
    struct lapse_scene_name *name = lapse_scene_make(scene, lease, bucket, command->key);
    if (name == NULL) {
        return LAPSE_NOMEM;
    }
    ret->bucket = bucket;
    ret->name = command->key;
    ret->actor = invoke->actor;
    if (lease) {
        ret->kinds = lease_fact(verb, &event->u.apply.answer);
        if (ret->kinds != 0 && event->u.apply.answer.status == LAPSE_OK) {
            stand(name, event, verb, invoke->actor, verb != LAPSE_VERB_RELEASE);
        }
    } else {
        note_key(scene, name, invoke, event, ret);
    }
    return LAPSE_OK;
}

static uint32_t lease_fact(int verb, const struct lapse_answer *answer) {
    if (verb == LAPSE_VERB_ACQUIRE && answer->status == LAPSE_HELD) {
        return LAPSE_FACT(LAPSE_PATTERN_HELD);
    }
    if (answer->status != LAPSE_OK) {
        return 0;
    }
    switch (verb) {
    case LAPSE_VERB_ACQUIRE:
        return answer->renewed ? 0 : LAPSE_FACT(LAPSE_PATTERN_GRANTED);
    case LAPSE_VERB_EXTEND:
        return LAPSE_FACT(LAPSE_PATTERN_EXTENDED);
    case LAPSE_VERB_RELEASE:
        return LAPSE_FACT(LAPSE_PATTERN_RELEASED);
    default:
        return 0;
    }
}

static void note_key(struct lapse_scene *scene, struct lapse_scene_name *name,
                     const struct lapse_history_event *invoke,
                     const struct lapse_history_event *event, struct lapse_fact *ret) {
    const struct lapse_answer *answer = &event->u.apply.answer;
    int verb = invoke->u.invoke.request.verb;
    bool locks = lapse_scene_locks(scene, name->bucket) >= 0;
    ret->key_lock = locks;
    if (answer->status == LAPSE_EXISTS && locks) {
        ret->kinds = LAPSE_FACT(LAPSE_PATTERN_HELD);
    }
    if (answer->status != LAPSE_OK) {
        return;
    }
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        ret->kinds = LAPSE_FACT(LAPSE_PATTERN_WRITTEN);
        if (locks) {
            note_lock(name, invoke, answer, ret);
        }
        stand(name, event, verb, invoke->actor, true);
        break;
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
        if (locks && name->creator == invoke->actor && name->incarnation == invoke->incarnation) {
            ret->kinds = LAPSE_FACT(LAPSE_PATTERN_RELEASED);
        }
        name->creator = -1;
        stand(name, event, verb, invoke->actor, false);
        break;
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        stand(name, event, verb, invoke->actor, true);
        break;
    default: /* a read: an idle term may have moved */
        if (verb != LAPSE_VERB_HAS && name->now.live) {
            name->now.end = answer->end;
        }
        break;
    }
}

/* A put in a locks bucket: a grant, a renewal by its creator, or a conditional takeover. */
static void note_lock(struct lapse_scene_name *name, const struct lapse_history_event *invoke,
                      const struct lapse_answer *answer, struct lapse_fact *ret) {
    int verb = invoke->u.invoke.request.verb;
    bool mine = name->creator == invoke->actor && name->incarnation == invoke->incarnation;
    if (verb == LAPSE_VERB_CREATE || (verb == LAPSE_VERB_SET && !is_live(&name->now, answer))) {
        ret->kinds |= LAPSE_FACT(LAPSE_PATTERN_GRANTED);
    } else if (mine) {
        ret->kinds |= LAPSE_FACT(LAPSE_PATTERN_EXTENDED);
    } else if (!invoke->u.invoke.request.command.u.write.has_if_version) {
        return;
    }
    name->creator = invoke->actor;
    name->incarnation = invoke->incarnation;
}

static bool is_live(const struct lapse_stand *now, const struct lapse_answer *answer) {
    if (!now->live) {
        return false;
    }
    switch (now->end.kind) {
    case LAPSE_END_STEADY:
        return answer->at.ns < now->end.ns;
    case LAPSE_END_WALL:
        return answer->wall.ns < now->end.ns;
    default:
        return true;
    }
}

static void stand(struct lapse_scene_name *name, const struct lapse_history_event *event, int verb,
                  int32_t actor, bool live) {
    name->before = name->now;
    name->now = (struct lapse_stand){event, verb, actor, live, event->u.apply.answer.end};
}

/* An actor wakes when nothing holds it down any more. */
static void note_fault(struct lapse_scene *scene, const struct lapse_history_event *event,
                       struct lapse_fact *ret) {
    if (event->u.fault.node >= 0 || event->actor < 0) {
        return;
    }
    LAPSE_ASSERT((size_t)event->actor < scene->setup->actor_count);
    struct lapse_scene_actor *actor = &scene->actors[event->actor];
    bool was_down = actor->held != 0 || actor->crashed;
    bool begins = event->kind == LAPSE_HISTORY_FAULT_BEGIN;
    unsigned bit = 1U << (unsigned)event->u.fault.kind;
    ret->subject = event->actor;
    switch (event->u.fault.kind) {
    case LAPSE_FAULT_PAUSE:
    case LAPSE_FAULT_SUSPEND:
    case LAPSE_FAULT_FREEZE:
        actor->held = begins ? actor->held | bit : actor->held & ~bit;
        if (!begins) {
            actor->woke = true;
            actor->woke_at = event->at;
        }
        break;
    case LAPSE_FAULT_CRASH:
        actor->crashed = begins;
        actor->held = 0; /* what held it went with it */
        if (begins) {
            ret->kinds = LAPSE_FACT(LAPSE_PATTERN_CRASH);
        }
        break;
    case LAPSE_FAULT_RESTART:
        actor->crashed = false;
        break;
    default:
        break;
    }
    if (was_down && actor->held == 0 && !actor->crashed) {
        ret->kinds |= LAPSE_FACT(LAPSE_PATTERN_WAKES);
    }
}

static enum lapse_status note_belief(struct lapse_scene *scene,
                                     const struct lapse_history_event *event,
                                     struct lapse_fact *ret) {
    const struct lapse_grant_ref *grant = &event->u.belief.grant;
    uint64_t hash = lapse_bytes_hash(grant->name);
    size_t at = 0;
    while (at < scene->belief_count &&
           (scene->beliefs[at].hash != hash || scene->beliefs[at].actor != event->actor ||
            scene->beliefs[at].key_lock != grant->key_lock ||
            !lapse_bytes_equal(scene->beliefs[at].name, grant->name))) {
        at++;
    }
    ret->key_lock = grant->key_lock;
    ret->name = grant->name;
    if (event->kind == LAPSE_HISTORY_BELIEF_END) {
        if (event->u.belief.why == LAPSE_BELIEF_DENIED) {
            ret->kinds = LAPSE_FACT(LAPSE_PATTERN_DENIED);
        }
        if (at < scene->belief_count) {
            scene->beliefs[at] = scene->beliefs[--scene->belief_count];
        }
        return LAPSE_OK;
    }
    ret->kinds = LAPSE_FACT(LAPSE_PATTERN_BELIEVES);
    if (at < scene->belief_count) {
        return LAPSE_OK;
    }
    if (!lapse_alloc_grow(scene->alloc, (void **)&scene->beliefs, &scene->beliefs_cap,
                          scene->belief_count + 1, sizeof(*scene->beliefs))) {
        return LAPSE_NOMEM;
    }
    scene->beliefs[scene->belief_count++] =
        (struct lapse_scene_belief){grant->key_lock, hash, grant->name, event->actor};
    return LAPSE_OK;
}

static void note_resource(struct lapse_scene *scene, const struct lapse_history_event *event,
                          struct lapse_fact *ret) {
    int32_t resource = event->u.resource.resource;
    if (event->u.resource.verb != LAPSE_CALL_WRITE) {
        return;
    }
    LAPSE_ASSERT(resource >= 0);
    LAPSE_ASSERT((size_t)resource < scene->setup->resource_count);
    ret->subject = resource;
    if (event->u.resource.status == LAPSE_OK) {
        ret->kinds = LAPSE_FACT(LAPSE_PATTERN_ACCEPTED);
        scene->writes_before[resource] = scene->writes[resource];
        scene->writes[resource] = event;
    } else if (event->u.resource.status == LAPSE_FENCED) {
        ret->kinds = LAPSE_FACT(LAPSE_PATTERN_FENCED);
    }
}
