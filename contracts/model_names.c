/* The model's names: one table of all things by kind and name. It is here for speed alone; that a
 * history is replayed in linear time rests on it. */
#include "model_parts.h"

static struct lapse_model_name *find(struct lapse_model *model, enum lapse_model_kind kind,
                                     const struct lapse_model_bucket *in, struct lapse_bytes name,
                                     size_t make_bytes);
static bool grow(struct lapse_model *model);

struct lapse_model_bucket *lapse_model_bucket(struct lapse_model *model, struct lapse_bytes name,
                                              bool make) {
    size_t before = model->name_count;
    struct lapse_model_bucket *bucket =
        (void *)find(model, LAPSE_MODEL_BUCKET, NULL, name, make ? sizeof(*bucket) : 0);
    if (model->name_count > before) {
        bucket->next = model->buckets;
        model->buckets = bucket;
        bucket->keys = lapse_model_take(model, sizeof(*bucket->keys));
    }
    return bucket != NULL && bucket->keys != NULL ? bucket : NULL;
}

struct lapse_model_key *lapse_model_key(struct lapse_model *model,
                                        struct lapse_model_bucket *bucket, struct lapse_bytes name,
                                        bool make) {
    struct lapse_model_key *key =
        (void *)find(model, LAPSE_MODEL_KEY, bucket, name, make ? sizeof(*key) : 0);
    return key;
}

struct lapse_model_lease *lapse_model_lease(struct lapse_model *model, struct lapse_bytes name,
                                            bool make) {
    size_t before = model->name_count;
    struct lapse_model_lease *lease =
        (void *)find(model, LAPSE_MODEL_LEASE, NULL, name, make ? sizeof(*lease) : 0);
    if (model->name_count > before) {
        lease->next = model->leases;
        model->leases = lease;
    }
    return lease;
}

struct lapse_model_session *lapse_model_session(struct lapse_model *model, struct lapse_bytes name,
                                                bool make) {
    size_t before = model->name_count;
    struct lapse_model_session *session =
        (void *)find(model, LAPSE_MODEL_SESSION, NULL, name, make ? sizeof(*session) : 0);
    if (model->name_count > before) {
        session->next = model->sessions;
        model->sessions = session;
    }
    return session;
}

struct lapse_model_request *lapse_model_request(struct lapse_model *model, struct lapse_bytes name,
                                                bool make) {
    struct lapse_model_request *request =
        (void *)find(model, LAPSE_MODEL_REQUEST, NULL, name, make ? sizeof(*request) : 0);
    return request;
}

bool lapse_model_unsure(const struct lapse_model *model, const struct lapse_model_name *name) {
    return name->unsure || name->tenure < model->lost_before;
}

void lapse_model_sure(const struct lapse_model *model, struct lapse_model_name *name) {
    name->unsure = false;
    name->tenure = model->tenure;
}

/* make_bytes 0: it is not made. */
static struct lapse_model_name *find(struct lapse_model *model, enum lapse_model_kind kind,
                                     const struct lapse_model_bucket *in, struct lapse_bytes name,
                                     size_t make_bytes) {
    uint64_t hash = lapse_bytes_hash(name) + (uint64_t)kind;
    hash += in == NULL ? 0 : in->name.hash * 31;
    if (make_bytes > 0 && !grow(model)) {
        return NULL;
    }
    if (model->slot_count == 0) {
        return NULL;
    }
    struct lapse_model_name **slot = &model->slots[hash & (model->slot_count - 1)];
    for (struct lapse_model_name *it = *slot; it != NULL; it = it->next) {
        if (it->hash == hash && it->kind == kind && it->in == in &&
            lapse_bytes_equal(it->name, name)) {
            return it;
        }
    }
    struct lapse_model_name *made = make_bytes == 0 ? NULL : lapse_model_take(model, make_bytes);
    if (made == NULL) {
        return NULL;
    }
    /* What was never heard of is sure: nothing can have been lost of it. */
    *made = (struct lapse_model_name){.next = *slot,
                                      .kind = kind,
                                      .in = in,
                                      .name = name,
                                      .hash = hash,
                                      .tenure = model->tenure};
    *slot = made;
    model->name_count++;
    return made;
}

/* Keeps about one name a slot. */
static bool grow(struct lapse_model *model) {
    if (model->name_count < model->slot_count) {
        return true;
    }
    size_t count = model->slot_count == 0 ? 32 : model->slot_count * 2;
    struct lapse_model_name **slots = lapse_alloc_zero(model->alloc, count * sizeof(*slots));
    if (slots == NULL) {
        model->failed = true;
        return false;
    }
    for (size_t i = 0; i < model->slot_count; i++) {
        struct lapse_model_name *next = NULL;
        for (struct lapse_model_name *it = model->slots[i]; it != NULL; it = next) {
            next = it->next;
            it->next = slots[it->hash & (count - 1)];
            slots[it->hash & (count - 1)] = it;
        }
    }
    lapse_alloc_free(model->alloc, model->slots, model->slot_count * sizeof(*slots));
    model->slots = slots;
    model->slot_count = count;
    return true;
}
