/* The model from open to answer: one command at one instant. What each verb means is in the file
 * named for what it is about. */
#include "model_parts.h"

#include <string.h>

static void answer(struct lapse_model *model, const struct lapse_command *command,
                   const struct lapse_answer *told, struct lapse_model_answer *ret);
static bool allows(enum lapse_status status);
static bool marks_dates(struct lapse_model *model, const struct lapse_command *command);
static void maybe_key(struct lapse_model *model, const struct lapse_command *command);
static void maybe_session(struct lapse_model *model, struct lapse_bytes name);
static void unlearn(struct lapse_model *model, const struct lapse_command *command);

enum lapse_status lapse_model_open(const lapse_alloc *alloc, const struct lapse_setup *setup,
                                   struct lapse_model **ret) {
    struct lapse_model *model = lapse_alloc_zero(alloc, sizeof(*model));
    if (model == NULL) {
        return LAPSE_NOMEM;
    }
    model->alloc = alloc;
    model->policies = setup->policies;
    model->tenure = 1;
    model->wall = setup->epoch;
    lapse_chunks_init(&model->chunks, alloc);
    for (size_t i = 0; i < setup->bucket_count; i++) {
        struct lapse_model_bucket *bucket =
            lapse_model_bucket(model, setup->buckets[i].name, true);
        if (bucket != NULL) {
            lapse_model_give_words(bucket, &setup->buckets[i].config);
        }
    }
    if (model->failed) {
        lapse_model_close(model);
        return LAPSE_NOMEM;
    }
    *ret = model;
    return LAPSE_OK;
}

void lapse_model_close(struct lapse_model *model) {
    if (model == NULL) {
        return;
    }
    const lapse_alloc *alloc = model->alloc;
    lapse_chunks_free(&model->chunks);
    lapse_alloc_free(alloc, model->slots, model->slot_count * sizeof(*model->slots));
    lapse_alloc_free(alloc, model->known.items, model->known.cap * sizeof(*model->known.items));
    lapse_alloc_free(alloc, model->possible.items,
                     model->possible.cap * sizeof(*model->possible.items));
    lapse_alloc_free(alloc, model->undo, model->undo_cap * sizeof(*model->undo));
    lapse_alloc_free(alloc, model->items, model->item_cap * sizeof(*model->items));
    lapse_alloc_free(alloc, model->answers, model->answer_cap * sizeof(*model->answers));
    lapse_alloc_free(alloc, model->events, model->event_cap * sizeof(*model->events));
    lapse_alloc_free(alloc, model, sizeof(*model));
}

enum lapse_status lapse_model_apply(struct lapse_model *model, const struct lapse_command *command,
                                    const struct lapse_answer *told, int64_t by,
                                    struct lapse_model_answer *ret) {
    *ret = (struct lapse_model_answer){.by = -1};
    model->by = by;
    model->undo_count = model->event_count = model->event_next = 0;
    model->events_open = false;
    if (told->status >= 0) {
        lapse_model_step(model, told->at, told->wall);
    } else if (told->at.ns > model->store.ns) {
        model->store = told->at; /* it looked at the time, but no date is reached by a refusal */
    }
    if (told->status < 0 && told->status != LAPSE_INVALID) {
        /* Nothing was done, or nobody knows: a fault is not the model's to foresee. */
        ret->open = true;
        if (!allows(told->status)) {
            lapse_model_maybe(model, command);
        }
        return model->failed ? LAPSE_NOMEM : LAPSE_OK;
    }
    answer(model, command, told, ret);
    if (!ret->open && ret->answer.status != told->status) {
        lapse_model_take_back(model);
        unlearn(model, command);
    }
    return model->failed ? LAPSE_NOMEM : LAPSE_OK;
}

void lapse_model_step(struct lapse_model *model, struct lapse_steady store,
                      struct lapse_wall wall) {
    model->store = store;
    model->wall = wall;
    model->seq++;
    lapse_model_read_wall(model, wall, true);
}

void lapse_model_wall_back(struct lapse_model *model, struct lapse_wall before) {
    lapse_model_read_wall(model, before, false);
}

void lapse_model_maybe(struct lapse_model *model, const struct lapse_command *command) {
    struct lapse_model_lease *lease = NULL;
    struct lapse_model_bucket *bucket = NULL;
    struct lapse_model_request *request =
        command->request.len > 0 ? lapse_model_request(model, command->request, true) : NULL;
    if (request != NULL) {
        request->name.unsure = true;
    }
    switch (command->verb) {
    case LAPSE_VERB_BATCH:
        for (size_t i = 0; i < command->u.batch.count; i++) {
            lapse_model_maybe(model, &command->u.batch.commands[i]);
        }
        break;
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        bucket = lapse_model_bucket(model, command->bucket, true);
        if (bucket != NULL) {
            bucket->name.unsure = true;
        }
        break;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        lease = lapse_model_lease(model, command->key, true);
        if (lease != NULL) {
            lease->name.unsure = true;
        }
        model->counters.token_loose = true;
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        maybe_session(model, command->key);
        break;
    default:
        maybe_key(model, command);
        break;
    }
}

/* Numbers may jump over those that were set aside. What ended before may have been told. */
void lapse_model_tenure(struct lapse_model *model, struct lapse_steady store,
                        struct lapse_wall wall, bool lost) {
    model->tenure++;
    model->tenure_store = store;
    model->event_count = model->event_next = 0;
    lapse_model_read_wall(model, wall, false);
    model->store = store;
    model->wall = wall;
    model->counters.token_loose = true;
    if (lost) {
        model->lost_before = model->tenure;
        model->counters = (struct lapse_model_counters){.token_loose = true, .session_loose = true};
    }
    for (struct lapse_model_bucket *it = model->buckets; it != NULL; it = it->next) {
        it->loose = true;
        it->revision = lost ? it->config.first_revision - 1 : it->revision;
    }
}

void lapse_model_lead(struct lapse_model *model) {
    lapse_model_tenure(model, model->store, model->wall, false);
}

void *lapse_model_take(struct lapse_model *model, size_t bytes) {
    void *taken = lapse_chunks_take(&model->chunks, bytes);
    if (taken == NULL) {
        model->failed = true;
        return NULL;
    }
    memset(taken, 0, bytes);
    return taken;
}

bool lapse_model_grow(struct lapse_model *model, void *array, size_t *cap, size_t count,
                      size_t item_bytes) {
    bool grown = lapse_alloc_grow(model->alloc, array, cap, count, item_bytes);
    model->failed = model->failed || !grown;
    return grown;
}

void lapse_model_touch(struct lapse_model *model, void *thing, size_t bytes) {
    void *undo = model->undo;
    void *was = lapse_model_take(model, bytes);
    if (was == NULL || !lapse_model_grow(model, &undo, &model->undo_cap, model->undo_count + 1,
                                         sizeof(*model->undo))) {
        return;
    }
    model->undo = undo;
    memcpy(was, thing, bytes);
    model->undo[model->undo_count++] = (struct lapse_model_undo){thing, was, bytes};
}

void lapse_model_take_back(struct lapse_model *model) {
    while (model->undo_count > 0) {
        const struct lapse_model_undo *undo = &model->undo[--model->undo_count];
        memcpy(undo->thing, undo->was, undo->bytes);
    }
    model->event_count = 0;
}

struct lapse_answer lapse_model_plain(const struct lapse_model *model, enum lapse_status status) {
    return (struct lapse_answer){.status = status, .at = model->store, .wall = model->wall};
}

void lapse_model_run(struct lapse_model *model, const struct lapse_command *command,
                     const struct lapse_answer *told, struct lapse_model_answer *ret) {
    if (lapse_model_mistimed(model, command)) {
        ret->answer.status = LAPSE_INVALID;
        return;
    }
    switch (command->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        lapse_model_write(model, command, told, ret);
        break;
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
        lapse_model_remove(model, command, told, ret);
        break;
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        lapse_model_retime(model, command, told, ret);
        break;
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
        lapse_model_read(model, command, told, ret);
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_WATCH:
        lapse_model_list(model, command, ret);
        break;
    case LAPSE_VERB_HISTORY:
        lapse_model_history(model, command, ret);
        break;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
    case LAPSE_VERB_INSPECT:
        lapse_model_lease_call(model, command, told, ret);
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        lapse_model_session_call(model, command, told, ret);
        break;
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        lapse_model_words(model, command, told, ret);
        break;
    default:
        ret->open = true; /* what watchers are handed is told by the events */
        break;
    }
}

static void answer(struct lapse_model *model, const struct lapse_command *command,
                   const struct lapse_answer *told, struct lapse_model_answer *ret) {
    ret->answer = lapse_model_plain(model, LAPSE_OK);
    if (command->verb == LAPSE_VERB_UNWATCH || command->verb == LAPSE_VERB_POLL) {
        ret->open = true;
        return;
    }
    if (lapse_model_malformed(model, command)) {
        ret->answer.status = LAPSE_INVALID;
        return;
    }
    if (told->status < 0 && marks_dates(model, command)) {
        lapse_model_read_wall(model, told->wall, true);
    }
    lapse_model_before_words(model, command, told->wall);
    if (command->request.len > 0 && !lapse_model_forgets(model, command, told->wall) &&
        lapse_model_recall(model, command, told, ret)) {
        return;
    }
    if (command->verb == LAPSE_VERB_BATCH) {
        lapse_model_batch(model, command, told, ret);
    } else {
        lapse_model_run(model, command, told, ret);
    }
    if (command->request.len > 0) {
        lapse_model_note(model, command, ret);
    }
}

/* A call that changes nothing durable says beforehand which dates have come; then they have, even
 * if it is refused. Others say so with what they change. */
static bool marks_dates(struct lapse_model *model, const struct lapse_command *command) {
    bool local = command->verb == LAPSE_VERB_WATCH || lapse_model_of_tenure(model, command) ||
                 (command->verb == LAPSE_VERB_ACQUIRE &&
                  command->u.lease.durability == LAPSE_EPHEMERAL);
    bool batch = command->verb == LAPSE_VERB_BATCH;
    for (size_t i = 0; batch && i < command->u.batch.count && !local; i++) {
        local = lapse_model_of_tenure(model, &command->u.batch.commands[i]);
    }
    return local;
}

/* Faults after which it is certain that nothing was done. */
static bool allows(enum lapse_status status) {
    return status == LAPSE_NOMEM || status == LAPSE_IO || status == LAPSE_RANGE ||
           status == LAPSE_LOCKED || status == LAPSE_UNAVAILABLE || status == LAPSE_LIMIT;
}

static void maybe_key(struct lapse_model *model, const struct lapse_command *command) {
    bool writes = command->verb == LAPSE_VERB_SET || command->verb == LAPSE_VERB_CREATE ||
                  command->verb == LAPSE_VERB_UPDATE || command->verb == LAPSE_VERB_DELETE ||
                  command->verb == LAPSE_VERB_PURGE || command->verb == LAPSE_VERB_EXPIRE ||
                  command->verb == LAPSE_VERB_PERSIST;
    bool uses = command->verb == LAPSE_VERB_GET || command->verb == LAPSE_VERB_ENTRY ||
                command->verb == LAPSE_VERB_HAS;
    struct lapse_model_bucket *bucket = lapse_model_bucket(model, command->bucket, false);
    if (bucket == NULL || !(writes || uses)) {
        return;
    }
    struct lapse_model_key *key = lapse_model_key(model, bucket, command->key, writes);
    bool renews = key != NULL && key->newest != NULL && key->newest->term.why == LAPSE_WHY_IDLE;
    if (key == NULL || !(writes || renews)) {
        return;
    }
    key->name.unsure = true;
    bucket->loose = true;
    lapse_model_link(model, key);
}

static void maybe_session(struct lapse_model *model, struct lapse_bytes name) {
    struct lapse_model_session *session = lapse_model_session(model, name, true);
    if (session == NULL) {
        return;
    }
    session->name.unsure = true;
    model->counters.session_loose = true;
    if (session->opening != NULL) {
        session->opening->unsure = true;
    }
}

/* The store has answered otherwise than it must. What it has done instead is not guessed: one fault
 * is told once. */
static void unlearn(struct lapse_model *model, const struct lapse_command *command) {
    lapse_model_maybe(model, command);
    model->events_open = true;
}
