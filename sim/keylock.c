/* Who made the live entry of a lock key. */
#include "keylock.h"

#include "member.h"
#include "node.h"

/* What a walk looks for: the entry of a lock key. */
struct search {
    struct lapse_bytes bucket;
    struct lapse_sim_keylock *lock;
    bool found;
};

static void take(struct lapse_world *world, struct lapse_sim_call *call);
static void take_session(struct lapse_world *world, const struct lapse_sim_call *call);
static enum lapse_status find_entry(void *ctx, const struct lapse_row *row);
static struct lapse_sim_keylock *find(const struct lapse_world *world, int32_t bucket,
                                      struct lapse_bytes key);
static struct lapse_sim_keylock *find_or_add(struct lapse_world *world, int32_t bucket,
                                             struct lapse_bytes key);
static bool live(const struct lapse_sim_keylock *lock, const struct lapse_answer *decision);
static void put(struct lapse_world *world, struct lapse_sim_keylock *lock,
                struct lapse_sim_call *call);

void lapse_sim_keylock_apply(struct lapse_world *world, struct lapse_sim_call *call) {
    if (call->answer.status != LAPSE_OK) {
        return;
    }
    take(world, call);
    for (size_t i = 0; i < lapse_sim_member_count(call); i++) {
        struct lapse_sim_call member = lapse_sim_member_at(call, i);
        take(world, &member);
        if (member.granted) {
            lapse_sim_member_grant(world, call, i);
        }
    }
}

void lapse_sim_keylock_reload(struct lapse_world *world) {
    for (size_t i = 0; i < world->keylock_count; i++) {
        struct lapse_sim_keylock *lock = &world->keylocks[i];
        struct search search = {world->plan->setup.buckets[lock->bucket].name, lock, false};
        enum lapse_status status = lapse_walk(world->node.store, find_entry, &search, NULL);
        if (status < 0 && !lapse_sim_node_excuses(world, status)) {
            lapse_world_fail(world, status, "a walk over the store's rows");
        }
        lock->there = lock->there && search.found;
    }
}

struct lapse_bytes lapse_sim_keylock_owner(const struct lapse_world *world,
                                           struct lapse_bytes bucket, struct lapse_bytes key) {
    for (size_t i = 0; i < world->plan->setup.bucket_count; i++) {
        if (lapse_bytes_equal(world->plan->setup.buckets[i].name, bucket)) {
            const struct lapse_sim_keylock *lock = find(world, (int32_t)i, key);
            return lock != NULL && lock->there ? lock->owner : (struct lapse_bytes){NULL, 0};
        }
    }
    return (struct lapse_bytes){NULL, 0};
}

/* A call by itself, accepted. */
static void take(struct lapse_world *world, struct lapse_sim_call *call) {
    const struct lapse_plan_call *plan = lapse_sim_member_plan(world, call);
    int verb = call->request.verb;
    if (verb == LAPSE_VERB_KEEPALIVE || verb == LAPSE_VERB_CLOSE) {
        take_session(world, call);
        return;
    }
    if (verb == LAPSE_VERB_BATCH || plan == NULL || !plan->key_lock) {
        return;
    }
    struct lapse_sim_keylock *lock = find_or_add(world, plan->bucket, call->request.command.key);
    if (lock == NULL) {
        return;
    }
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        put(world, lock, call);
        break;
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
        lock->there = false;
        break;
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        lock->session = (struct lapse_bytes){NULL, 0};
        lock->end = call->answer.end;
        break;
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
        if (!call->request.command.u.read.has_revision) {
            lock->end = call->answer.end;
        }
        break;
    default:
        break;
    }
}

/* Entries end with their session, wherever that moves its end to. */
static void take_session(struct lapse_world *world, const struct lapse_sim_call *call) {
    for (size_t i = 0; i < world->keylock_count; i++) {
        struct lapse_sim_keylock *lock = &world->keylocks[i];
        if (lock->session.len == 0 || !live(lock, &call->answer) ||
            !lapse_bytes_equal(lock->session, call->request.command.key)) {
            continue;
        }
        if (call->request.verb == LAPSE_VERB_KEEPALIVE) {
            lock->end = call->answer.end;
        } else {
            lock->there = false;
        }
    }
}

static enum lapse_status find_entry(void *ctx, const struct lapse_row *row) {
    struct search *search = ctx;
    if (row->kind == LAPSE_ROW_RECORD && row->record.kind == LAPSE_RECORD_VALUE &&
        lapse_bytes_equal(row->bucket, search->bucket) &&
        lapse_bytes_equal(row->key, search->lock->key)) {
        search->found = true;
        if (row->record.source != LAPSE_SOURCE_SESSION) {
            search->lock->end = row->record.end;
        }
    }
    return LAPSE_OK;
}

static struct lapse_sim_keylock *find(const struct lapse_world *world, int32_t bucket,
                                      struct lapse_bytes key) {
    for (size_t i = 0; i < world->keylock_count; i++) {
        struct lapse_sim_keylock *lock = &world->keylocks[i];
        if (lock->bucket == bucket && lapse_bytes_equal(lock->key, key)) {
            return lock;
        }
    }
    return NULL;
}

static struct lapse_sim_keylock *find_or_add(struct lapse_world *world, int32_t bucket,
                                             struct lapse_bytes key) {
    struct lapse_sim_keylock *found = find(world, bucket, key);
    if (found != NULL) {
        return found;
    }
    void *keylocks = world->keylocks;
    if (!lapse_world_grow(world, &keylocks, &world->keylock_cap, world->keylock_count + 1,
                          sizeof(*world->keylocks))) {
        return NULL;
    }
    world->keylocks = keylocks;
    found = &world->keylocks[world->keylock_count++];
    *found = (struct lapse_sim_keylock){.bucket = bucket, .key = key};
    return found;
}

static bool live(const struct lapse_sim_keylock *lock, const struct lapse_answer *decision) {
    switch (lock->end.kind) {
    case LAPSE_END_STEADY:
        return lock->there && decision->at.ns < lock->end.ns;
    case LAPSE_END_WALL:
        return lock->there && decision->wall.ns < lock->end.ns;
    case LAPSE_END_NONE:
        break;
    }
    return lock->there;
}

/* A put on an absent key makes its sender the creator; so does one on another's entry that names
 * the entry's revision. Any other put leaves the creator as it was. */
static void put(struct lapse_world *world, struct lapse_sim_keylock *lock,
                struct lapse_sim_call *call) {
    const struct lapse_command *command = &call->request.command;
    bool own = lock->actor == call->actor && lock->incarnation == call->incarnation;
    bool takes_over = command->u.write.has_if_version && !own;
    bool was_live = live(lock, &call->answer);
    call->granted = !was_live || takes_over;
    if (call->granted) {
        lock->actor = call->actor;
        lock->incarnation = call->incarnation;
        lock->owner = world->actors[call->actor].owner;
    }
    if (!was_live || (command->u.write.term.given & LAPSE_TERM_KEEP) == 0) {
        lock->session = command->u.write.term.session;
    }
    lock->there = true;
    lock->end = call->answer.end;
}
