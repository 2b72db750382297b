/* From plan to command. Only names can fail here: everything else was resolved by the loader. What
 * a name gives is known only now, so its kind is looked at here. */
#include "request.h"

struct maker {
    struct lapse_world *world;
    struct lapse_sim_draft *draft;
    struct lapse_command *command; /* of the call, or of one inside a batch */
    const struct lapse_plan_call *call;
    int32_t actor, n;
    struct lapse_sim_miss *ret_miss;
};

static void *take_block(struct lapse_world *world, struct lapse_sim_draft *draft, size_t bytes);
static enum lapse_status make_command(struct maker *maker);
static enum lapse_status make_batch(struct maker *maker);
static enum lapse_status make_texts(struct maker *maker);
static enum lapse_status text(struct maker *maker, const struct lapse_text *from,
                              struct lapse_bytes *ret);
static enum lapse_status make_write(struct maker *maker);
static enum lapse_status make_term(struct maker *maker, struct lapse_term *ret);
static enum lapse_status make_lease(struct maker *maker);
static enum lapse_status make_session(struct maker *maker);
static enum lapse_status make_watch(struct maker *maker);
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
    char *block = take_block(world, draft, len + 1);
    if (block == NULL) {
        return LAPSE_NOMEM;
    }
    status = lapse_text_render(text, &world->slots, n, block, len + 1, &len, &slot);
    *ret = (struct lapse_bytes){(const unsigned char *)block, len};
    return status;
}

enum lapse_status lapse_sim_draft_call(struct lapse_world *world, struct lapse_sim_draft *draft,
                                       const struct lapse_plan_call *call, int32_t actor, int32_t n,
                                       struct lapse_sim_miss *ret_miss) {
    struct lapse_request *request = &draft->request;
    struct maker maker = {world, draft, &request->command, call, actor, n, ret_miss};
    request->verb = call->verb;
    request->resource = -1;
    if (call->verb == LAPSE_CALL_WRITE || call->verb == LAPSE_CALL_READ) {
        return make_resource(&maker);
    }
    return call->verb == LAPSE_VERB_BATCH ? make_batch(&maker) : make_command(&maker);
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
    while (draft->blocks != NULL) {
        struct lapse_sim_block *block = draft->blocks;
        draft->blocks = block->next;
        lapse_alloc_free(world->alloc, block, block->bytes);
    }
}

/* Zeroed memory that lives as long as the draft; NULL: there is none. */
static void *take_block(struct lapse_world *world, struct lapse_sim_draft *draft, size_t bytes) {
    struct lapse_sim_block *block = lapse_alloc_zero(world->alloc, sizeof(*block) + bytes);
    if (block == NULL) {
        return NULL;
    }
    block->bytes = sizeof(*block) + bytes;
    block->next = draft->blocks;
    draft->blocks = block;
    return block->memory;
}

/* A call by itself: a batch's own words are its members and its request id. */
static enum lapse_status make_command(struct maker *maker) {
    const struct lapse_plan_call *call = maker->call;
    struct lapse_command *command = maker->command;
    command->verb = (enum lapse_verb)call->verb;
    enum lapse_status status = make_texts(maker);
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
        return make_write(maker);
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
        command->u.read.peek = call->peek;
        return number(maker, &call->rev, LAPSE_OPERAND_NUMBER, &command->u.read.has_revision,
                      &command->u.read.revision);
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        command->u.page.has_after = call->has_after;
        command->u.page.limit = call->limit;
        return text(maker, &call->after, &command->u.page.after);
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        return make_lease(maker);
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        return make_session(maker);
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        command->u.open.config = call->config;
        return LAPSE_OK;
    case LAPSE_VERB_WATCH:
    case LAPSE_VERB_UNWATCH:
        return make_watch(maker);
    default:
        return LAPSE_OK;
    }
}

/* All its calls, in a block of the draft; counted once all are made. */
static enum lapse_status make_batch(struct maker *maker) {
    const struct lapse_plan_call *call = maker->call;
    size_t count = call->batch_count;
    struct lapse_command *members =
        take_block(maker->world, maker->draft, (count + 1) * sizeof(*members));
    if (members == NULL) {
        return LAPSE_NOMEM;
    }
    maker->command->verb = LAPSE_VERB_BATCH;
    enum lapse_status status = text(maker, &call->request, &maker->command->request);
    for (size_t i = 0; i < count && status == LAPSE_OK; i++) {
        struct maker member = *maker;
        member.command = &members[i];
        member.call = &call->batch[i];
        status = make_command(&member);
    }
    if (status == LAPSE_OK) {
        maker->command->u.batch.commands = members;
        maker->command->u.batch.count = count;
    }
    return status;
}

static enum lapse_status make_texts(struct maker *maker) {
    const struct lapse_plan_call *call = maker->call;
    struct lapse_command *command = maker->command;
    enum lapse_status status = LAPSE_OK;
    if (call->bucket >= 0) {
        command->bucket = maker->world->plan->setup.buckets[call->bucket].name;
    } else {
        status = text(maker, &call->bucket_name, &command->bucket);
    }
    if (status == LAPSE_OK) {
        status = text(maker, &call->key, &command->key);
    }
    if (status == LAPSE_OK) {
        status = text(maker, &call->request, &command->request);
    }
    return status;
}

static enum lapse_status text(struct maker *maker, const struct lapse_text *from,
                              struct lapse_bytes *ret) {
    return lapse_sim_draft_text(maker->world, maker->draft, from, maker->n, ret, maker->ret_miss);
}

static enum lapse_status make_write(struct maker *maker) {
    struct lapse_command *command = maker->command;
    enum lapse_status status = text(maker, &maker->call->value, &command->u.write.value);
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
    const struct lapse_plan_call *call = maker->call;
    bool ttl = false, idle = false, date = false, cap = false;
    enum lapse_status status = number(maker, &call->ttl, LAPSE_OPERAND_SPAN, &ttl, &ret->ttl.ns);
    if (status == LAPSE_OK) {
        status = number(maker, &call->idle, LAPSE_OPERAND_SPAN, &idle, &ret->idle.ns);
    }
    if (status == LAPSE_OK) {
        status = number(maker, &call->cap, LAPSE_OPERAND_SPAN, &cap, &ret->cap.ns);
    }
    if (status == LAPSE_OK) {
        status = number(maker, &call->expires_at, LAPSE_OPERAND_DATE, &date, &ret->expires_at.ns);
    }
    if (status == LAPSE_OK) {
        status = text(maker, &call->session, &ret->session);
    }
    ret->given = (ttl ? (unsigned)LAPSE_TERM_TTL : 0) | (idle ? (unsigned)LAPSE_TERM_IDLE : 0) |
                 (date ? (unsigned)LAPSE_TERM_EXPIRES_AT : 0) |
                 (call->session.part_count > 0 ? (unsigned)LAPSE_TERM_SESSION : 0) |
                 (call->keep ? (unsigned)LAPSE_TERM_KEEP : 0);
    return status;
}

static enum lapse_status make_lease(struct maker *maker) {
    struct lapse_command *command = maker->command;
    bool given = false;
    command->u.lease.owner = maker->world->actors[maker->actor].owner;
    command->u.lease.durability = maker->call->durability;
    enum lapse_status status =
        number(maker, &maker->call->span, LAPSE_OPERAND_SPAN, &given, &command->u.lease.span.ns);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->token, LAPSE_OPERAND_NUMBER,
                        &command->u.lease.has_token, &command->u.lease.token);
    }
    return status == LAPSE_OK ? text(maker, &maker->call->session, &command->u.lease.session)
                              : status;
}

static enum lapse_status make_session(struct maker *maker) {
    struct lapse_command *command = maker->command;
    bool given = false;
    command->u.session.owner = maker->world->actors[maker->actor].owner;
    return number(maker, &maker->call->span, LAPSE_OPERAND_SPAN, &given,
                  &command->u.session.span.ns);
}

static enum lapse_status make_watch(struct maker *maker) {
    struct lapse_command *command = maker->command;
    bool given = false;
    if (maker->call->verb == LAPSE_VERB_UNWATCH) {
        command->u.watch.watcher = watcher_of(maker);
        return LAPSE_OK;
    }
    command->u.watch.from = maker->call->from;
    return number(maker, &maker->call->rev, LAPSE_OPERAND_NUMBER, &given,
                  &command->u.watch.revision);
}

static enum lapse_status make_resource(struct maker *maker) {
    struct lapse_request *request = &maker->draft->request;
    request->resource = maker->call->resource;
    enum lapse_status status = text(maker, &maker->call->value, &request->value);
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->token, LAPSE_OPERAND_NUMBER, &request->has_token,
                        &request->token);
    }
    if (status == LAPSE_OK) {
        status = number(maker, &maker->call->not_after, LAPSE_OPERAND_DATE,
                        &request->has_not_after, &request->not_after.ns);
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
