/* From plan to command. Only names can fail here: everything else was resolved by the loader. */
#include "request.h"

struct maker {
    struct lapse_world *world;
    struct lapse_sim_draft *draft;
    const struct lapse_plan_call *call;
    int32_t actor, n;
    int32_t *ret_slot;
};

static enum lapse_status make_texts(struct maker *maker);
static enum lapse_status make_write(struct maker *maker);
static enum lapse_status make_term(struct maker *maker, struct lapse_term *ret);
static enum lapse_status make_lease(struct maker *maker);
static enum lapse_status make_resource(struct maker *maker);
static enum lapse_status number(struct maker *maker, const struct lapse_operand *operand,
                                bool *ret_given, int64_t *ret);
static int64_t watcher_of(const struct maker *maker);

enum lapse_status lapse_sim_draft_text(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_text *text, int32_t n,
                                       struct lapse_bytes *ret, int32_t *ret_slot) {
    *ret = (struct lapse_bytes){NULL, 0};
    if (text->part_count == 0) {
        return LAPSE_OK;
    }
    if (text->part_count == 1 && text->parts[0].kind == LAPSE_PART_LITERAL) {
        *ret = text->parts[0].literal;
        return LAPSE_OK;
    }
    char small[64];
    size_t len = 0;
    enum lapse_status status =
        lapse_text_render(text, &world->slots, n, small, sizeof(small), &len, ret_slot);
    if (status != LAPSE_OK || len == 0) {
        return status;
    }
    LAPSE_ASSERT(draft->text_count < LAPSE_DRAFT_TEXTS_MAX);
    char *block = lapse_alloc_zero(world->alloc, len + 1);
    if (block == NULL) {
        return LAPSE_NOMEM;
    }
    draft->texts[draft->text_count].ptr = block;
    draft->texts[draft->text_count++].bytes = len + 1;
    status = lapse_text_render(text, &world->slots, n, block, len + 1, &len, ret_slot);
    *ret = (struct lapse_bytes){(const unsigned char *)block, len};
    return status;
}

enum lapse_status lapse_sim_draft_call(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_plan_call *call, int32_t actor, int32_t n,
                                       int32_t *ret_slot) {
    struct maker maker = {world, draft, call, actor, n, ret_slot};
    struct lapse_request *request = &draft->request;
    request->verb = call->verb;
    request->resource = -1;
    if (call->verb == LAPSE_CALL_WRITE || call->verb == LAPSE_CALL_READ) {
        return make_resource(&maker);
    }
    request->command.verb = (enum lapse_verb)call->verb;
    enum lapse_status status = make_texts(&maker);
    if (status != LAPSE_OK) {
        return status;
    }
    switch (call->verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        return make_write(&maker);
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        return make_lease(&maker);
    case LAPSE_VERB_OPEN:
        request->command.u.open.config = call->config;
        return LAPSE_OK;
    case LAPSE_VERB_WATCH:
        request->command.u.watch.from = call->from;
        return LAPSE_OK;
    case LAPSE_VERB_UNWATCH:
        request->command.u.watch.watcher = watcher_of(&maker);
        return LAPSE_OK;
    default:
        return LAPSE_OK;
    }
}

enum lapse_status lapse_sim_operand(struct lapse_world *world, const struct lapse_operand *operand,
                                    int32_t actor, int32_t n, int64_t *ret, int32_t *ret_slot) {
    struct lapse_value value = {0};
    struct lapse_wall wall = {0};
    char buf[32];
    if (actor >= 0) {
        wall = lapse_sim_clock_wall(&world->actors[actor].clock, world->now);
    }
    enum lapse_status status =
        lapse_operand_value(operand, &world->slots, n, wall, buf, sizeof(buf), &value, ret_slot);
    if (status != LAPSE_OK) {
        return status;
    }
    if (value.kind == LAPSE_OPERAND_TEXT || value.kind == LAPSE_OPERAND_ABSENT) {
        return LAPSE_INVALID;
    }
    *ret = value.number;
    return LAPSE_OK;
}

void lapse_sim_draft_free(struct lapse_world *world, struct lapse_sim_draft *draft) {
    for (size_t i = 0; i < draft->text_count; i++) {
        lapse_alloc_free(world->alloc, draft->texts[i].ptr, draft->texts[i].bytes);
    }
    draft->text_count = 0;
}

static enum lapse_status make_texts(struct maker *maker) {
    const struct lapse_plan_call *call = maker->call;
    struct lapse_command *command = &maker->draft->request.command;
    enum lapse_status status = LAPSE_OK;
    if (call->bucket >= 0) {
        command->bucket = maker->world->plan->setup.buckets[call->bucket].name;
    } else {
        status = lapse_sim_draft_text(maker->world, maker->draft, &call->bucket_name, maker->n,
                                      &command->bucket, maker->ret_slot);
    }
    if (status == LAPSE_OK) {
        status = lapse_sim_draft_text(maker->world, maker->draft, &call->key, maker->n,
                                      &command->key, maker->ret_slot);
    }
    return status;
}

static enum lapse_status make_write(struct maker *maker) {
    struct lapse_command *command = &maker->draft->request.command;
    enum lapse_status status =
        lapse_sim_draft_text(maker->world, maker->draft, &maker->call->value, maker->n,
                             &command->u.write.value, maker->ret_slot);
    if (status == LAPSE_OK) {
        status = make_term(maker, &command->u.write.term);
    }
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->if_version, &command->u.write.has_if_version,
                        &command->u.write.if_version);
    }
    return status;
}

/* Any combination of terms is sent, so that the refusal of two can be shown. */
static enum lapse_status make_term(struct maker *maker, struct lapse_term *ret) {
    bool ttl = false, idle = false, date = false;
    enum lapse_status status = number(maker, &maker->call->ttl, &ttl, &ret->ttl.ns);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->idle, &idle, &ret->idle.ns);
    }
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->expires_at, &date, &ret->expires_at.ns);
    }
    ret->given = (ttl ? (unsigned)LAPSE_TERM_TTL : 0) | (idle ? (unsigned)LAPSE_TERM_IDLE : 0) |
                 (date ? (unsigned)LAPSE_TERM_EXPIRES_AT : 0);
    return status;
}

static enum lapse_status make_lease(struct maker *maker) {
    struct lapse_command *command = &maker->draft->request.command;
    bool given = false;
    command->u.lease.owner = maker->world->actors[maker->actor].owner;
    enum lapse_status status = number(maker, &maker->call->span, &given, &command->u.lease.span.ns);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->token, &command->u.lease.has_token,
                        &command->u.lease.token);
    }
    return status;
}

static enum lapse_status make_resource(struct maker *maker) {
    struct lapse_request *request = &maker->draft->request;
    request->resource = maker->call->resource;
    enum lapse_status status = lapse_sim_draft_text(maker->world, maker->draft, &maker->call->value,
                                                    maker->n, &request->value, maker->ret_slot);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->token, &request->has_token, &request->token);
    }
    return status;
}

static enum lapse_status number(struct maker *maker, const struct lapse_operand *operand,
                                bool *ret_given, int64_t *ret) {
    *ret_given = operand->kind != 0;
    if (!*ret_given) {
        return LAPSE_OK;
    }
    return lapse_sim_operand(maker->world, operand, maker->actor, maker->n, ret, maker->ret_slot);
}

/* The actor's newest watch of that name; 0, which the store refuses, if there is none. */
static int64_t watcher_of(const struct maker *maker) {
    const struct lapse_world *world = maker->world;
    for (size_t i = world->watcher_count; i > 0; i--) {
        const struct lapse_sim_watcher *watcher = &world->watchers[i - 1];
        if (watcher->actor == maker->actor && watcher->watch == maker->call->watch) {
            return watcher->id;
        }
    }
    return 0;
}
