/* From plan to command. Only names can fail here: everything else was resolved by the loader. What
 * a name gives is known only now, so its kind is looked at here. */
#include "request.h"

struct maker {
    struct lapse_world *world;
    struct lapse_sim_draft *draft;
    const struct lapse_plan_call *call;
    int32_t actor, n;
    struct lapse_sim_miss *ret_miss;
};

static enum lapse_status make_texts(struct maker *maker);
static enum lapse_status make_write(struct maker *maker);
static enum lapse_status make_term(struct maker *maker, struct lapse_term *ret);
static enum lapse_status make_lease(struct maker *maker);
static enum lapse_status make_resource(struct maker *maker);
static enum lapse_status number(struct maker *maker, const struct lapse_operand *operand,
                                enum lapse_operand_kind wanted, bool *ret_given, int64_t *ret);
static bool fits(const struct lapse_world *world, struct lapse_slot_ref ref, int32_t n,
                 enum lapse_operand_kind wanted, struct lapse_sim_miss *ret_miss);
static int64_t watcher_of(const struct maker *maker);

enum lapse_status lapse_sim_draft_text(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_text *text, int32_t n,
                                       struct lapse_bytes *ret, struct lapse_sim_miss *ret_miss) {
    *ret = (struct lapse_bytes){NULL, 0};
    if (text->part_count == 0) {
        return LAPSE_OK;
    }
    if (text->part_count == 1 && text->parts[0].kind == LAPSE_PART_LITERAL) {
        *ret = text->parts[0].literal;
        return LAPSE_OK;
    }
    if (!lapse_sim_text_fits(world, text, n, ret_miss)) {
        return LAPSE_ABSENT;
    }
    char small[64];
    size_t len = 0;
    int32_t slot = -1;
    enum lapse_status status =
        lapse_text_render(text, &world->slots, n, small, sizeof(small), &len, &slot);
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
    status = lapse_text_render(text, &world->slots, n, block, len + 1, &len, &slot);
    *ret = (struct lapse_bytes){(const unsigned char *)block, len};
    return status;
}

enum lapse_status lapse_sim_draft_call(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_plan_call *call, int32_t actor, int32_t n,
                                       struct lapse_sim_miss *ret_miss) {
    struct maker maker = {world, draft, call, actor, n, ret_miss};
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
                                    enum lapse_operand_kind wanted, int32_t actor, int32_t n,
                                    int64_t *ret, struct lapse_sim_miss *ret_miss) {
    struct lapse_value value = {0};
    struct lapse_wall wall = {0};
    char buf[32];
    int32_t slot = -1;
    if (operand->kind == LAPSE_OPERAND_SLOT && !fits(world, operand->slot, n, wanted, ret_miss)) {
        return LAPSE_ABSENT;
    }
    if (actor >= 0) {
        wall = lapse_sim_clock_wall(&world->actors[actor].clock, world->now);
    }
    enum lapse_status status =
        lapse_operand_value(operand, &world->slots, n, wall, buf, sizeof(buf), &value, &slot);
    if (status != LAPSE_OK) {
        return status;
    }
    if (value.kind != wanted) {
        return LAPSE_INVALID;
    }
    *ret = value.number;
    return LAPSE_OK;
}

bool lapse_sim_text_fits(const struct lapse_world *world, const struct lapse_text *text, int32_t n,
                         struct lapse_sim_miss *ret_miss) {
    for (size_t i = 0; i < text->part_count; i++) {
        const struct lapse_text_part *part = &text->parts[i];
        if (part->kind == LAPSE_PART_SLOT && !fits(world, part->slot, n, 0, ret_miss)) {
            return false;
        }
    }
    return true;
}

int32_t lapse_sim_slot_of(struct lapse_slot_ref ref, int32_t n) {
    return ref.base + (ref.indexed && n > 0 ? n - 1 : 0);
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
                                      &command->bucket, maker->ret_miss);
    }
    if (status == LAPSE_OK) {
        status = lapse_sim_draft_text(maker->world, maker->draft, &call->key, maker->n,
                                      &command->key, maker->ret_miss);
    }
    return status;
}

static enum lapse_status make_write(struct maker *maker) {
    struct lapse_command *command = &maker->draft->request.command;
    enum lapse_status status =
        lapse_sim_draft_text(maker->world, maker->draft, &maker->call->value, maker->n,
                             &command->u.write.value, maker->ret_miss);
    if (status == LAPSE_OK) {
        status = make_term(maker, &command->u.write.term);
    }
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->if_version, LAPSE_OPERAND_NUMBER,
                        &command->u.write.has_if_version, &command->u.write.if_version);
    }
    return status;
}

/* Any combination of terms is sent, so that the refusal of two can be shown. */
static enum lapse_status make_term(struct maker *maker, struct lapse_term *ret) {
    bool ttl = false, idle = false, date = false;
    enum lapse_status status =
        number(maker, &maker->call->ttl, LAPSE_OPERAND_SPAN, &ttl, &ret->ttl.ns);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->idle, LAPSE_OPERAND_SPAN, &idle, &ret->idle.ns);
    }
    if (status == LAPSE_OK) {
        status =
            number(maker, &maker->call->expires_at, LAPSE_OPERAND_DATE, &date, &ret->expires_at.ns);
    }
    ret->given = (ttl ? (unsigned)LAPSE_TERM_TTL : 0) | (idle ? (unsigned)LAPSE_TERM_IDLE : 0) |
                 (date ? (unsigned)LAPSE_TERM_EXPIRES_AT : 0);
    return status;
}

static enum lapse_status make_lease(struct maker *maker) {
    struct lapse_command *command = &maker->draft->request.command;
    bool given = false;
    command->u.lease.owner = maker->world->actors[maker->actor].owner;
    enum lapse_status status =
        number(maker, &maker->call->span, LAPSE_OPERAND_SPAN, &given, &command->u.lease.span.ns);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->token, LAPSE_OPERAND_NUMBER,
                        &command->u.lease.has_token, &command->u.lease.token);
    }
    return status;
}

static enum lapse_status make_resource(struct maker *maker) {
    struct lapse_request *request = &maker->draft->request;
    request->resource = maker->call->resource;
    enum lapse_status status = lapse_sim_draft_text(maker->world, maker->draft, &maker->call->value,
                                                    maker->n, &request->value, maker->ret_miss);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->token, LAPSE_OPERAND_NUMBER, &request->has_token,
                        &request->token);
    }
    return status;
}

static enum lapse_status number(struct maker *maker, const struct lapse_operand *operand,
                                enum lapse_operand_kind wanted, bool *ret_given, int64_t *ret) {
    *ret_given = operand->kind != 0;
    if (!*ret_given) {
        return LAPSE_OK;
    }
    return lapse_sim_operand(maker->world, operand, wanted, maker->actor, maker->n, ret,
                             maker->ret_miss);
}

/* wanted 0: any kind will do, in a text. An end or a time left that is not there, of an entry
 * without a term, is no value either. */
static bool fits(const struct lapse_world *world, struct lapse_slot_ref ref, int32_t n,
                 enum lapse_operand_kind wanted, struct lapse_sim_miss *ret_miss) {
    const struct lapse_slot *slot = lapse_slots_find(&world->slots, ref, n);
    struct lapse_value value = {0};
    *ret_miss = (struct lapse_sim_miss){lapse_sim_slot_of(ref, n), LAPSE_UNBOUND_NAME, ref.field};
    if (slot == NULL) {
        return false;
    }
    ret_miss->why = LAPSE_UNBOUND_FIELD;
    if (!lapse_answer_field(slot->verb, &slot->answer, ref.field, &value) ||
        value.kind == LAPSE_OPERAND_ABSENT) {
        return false;
    }
    ret_miss->why = LAPSE_UNBOUND_KIND;
    return wanted == 0 || value.kind == wanted;
}

/* The actor's newest watch of that name; 0, which the store refuses, if there is none. */
static int64_t watcher_of(const struct maker *maker) {
    const struct lapse_world *world = maker->world;
    for (size_t i = world->watcher_count; i > 0; i--) {
        const struct lapse_sim_watcher *watcher = &world->watchers[i - 1];
        bool own = watcher->actor == maker->actor && !watcher->orphan &&
                   watcher->incarnation == world->actors[maker->actor].incarnation;
        if (own && watcher->watch == maker->call->watch) {
            return watcher->id;
        }
    }
    return 0;
}
