/* Who made the live entry of a lock key. */
#include "keylock.h"

static struct lapse_sim_keylock *find(const struct lapse_world *world, int32_t bucket,
                                      struct lapse_bytes key);
static struct lapse_sim_keylock *find_or_add(struct lapse_world *world, int32_t bucket,
                                             struct lapse_bytes key);
static bool live(const struct lapse_sim_keylock *lock, const struct lapse_result *result);
static void put(struct lapse_world *world, struct lapse_sim_keylock *lock,
                struct lapse_sim_call *call, const struct lapse_result *result);

void lapse_sim_keylock_apply(struct lapse_world *world, struct lapse_sim_call *call,
                             const struct lapse_result *result) {
    const struct lapse_plan_call *plan = &world->plan->steps[call->step].u.call;
    if (!plan->key_lock || result->status != LAPSE_OK) {
        return;
    }
    struct lapse_sim_keylock *lock = find_or_add(world, plan->bucket, call->request.command.key);
    if (lock == NULL) {
        return;
    }
    switch (call->request.verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        put(world, lock, call, result);
        break;
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
        lock->there = false;
        break;
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
        lock->end = result->end;
        break;
    default:
        break;
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

static bool live(const struct lapse_sim_keylock *lock, const struct lapse_result *result) {
    switch (lock->end.kind) {
    case LAPSE_END_STEADY:
        return lock->there && result->at.ns < lock->end.ns;
    case LAPSE_END_WALL:
        return lock->there && result->wall.ns < lock->end.ns;
    case LAPSE_END_NONE:
        break;
    }
    return lock->there;
}

/* A put on an absent key makes its sender the creator; so does one on another's entry that names
 * the entry's revision. Any other put leaves the creator as it was. */
static void put(struct lapse_world *world, struct lapse_sim_keylock *lock,
                struct lapse_sim_call *call, const struct lapse_result *result) {
    bool own = lock->actor == call->actor && lock->incarnation == call->incarnation;
    bool takes_over = call->request.command.u.write.has_if_version && !own;
    call->granted = !live(lock, result) || takes_over;
    if (call->granted) {
        lock->actor = call->actor;
        lock->incarnation = call->incarnation;
        lock->owner = world->actors[call->actor].owner;
    }
    lock->there = true;
    lock->end = result->end;
}
