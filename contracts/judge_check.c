/* Which expectation an event has to meet, and whether it does. */
#include "judge_parts.h"

#include "expect_parts.h"

static void check_reply(const struct lapse_judge *judge, const struct lapse_history_event *event,
                        struct lapse_finding *ret);
static bool decided_answer(const struct lapse_history_event *event, struct lapse_answer *ret);
static bool asks_took(const struct lapse_expect *expect);
static void check_probe(const struct lapse_judge *judge, const struct lapse_history_event *event,
                        struct lapse_finding *ret);
static bool check_number(const struct lapse_judge *judge, const struct lapse_history_event *event,
                         const struct lapse_expect_context *context, struct lapse_finding *ret);
static struct lapse_expect_context context_of(const struct lapse_judge *judge,
                                              const struct lapse_history_event *event);
static bool is_handled(const struct lapse_step_check *check, enum lapse_status status);
static uint32_t uses_of_call(const struct lapse_scene *scene, const struct lapse_command *command);
static uint32_t uses_of_command(const struct lapse_scene *scene,
                                const struct lapse_command *command);
static uint32_t uses_of_config(const struct lapse_bucket_config *config);

void lapse_judge_check(const struct lapse_judge *judge, const struct lapse_history_event *event,
                       struct lapse_finding *ret) {
    ret->check = lapse_judge_step(judge, event->step);
    if (ret->check == NULL || judge->scene.setup == NULL || judge->the_case->rules_only) {
        return;
    }
    ret->place = ret->check->place;
    switch (event->kind) {
    case LAPSE_HISTORY_REPLY:
        if (!judge->scene.setup->chaos) {
            check_reply(judge, event, ret);
        }
        break;
    case LAPSE_HISTORY_PROBE:
        check_probe(judge, event, ret);
        break;
    case LAPSE_HISTORY_UNBOUND:
        ret->unmet = !judge->scene.setup->chaos;
        break;
    case LAPSE_HISTORY_NOT_RUN:
        ret->unmet = ret->check->must_run && !judge->scene.setup->chaos;
        break;
    case LAPSE_HISTORY_WAITING:
        ret->unmet = ret->check->written && !judge->scene.setup->chaos;
        break;
    default:
        break;
    }
    if (ret->place.file == NULL) {
        ret->place = ret->check->place;
    }
}

void lapse_judge_check_decision(const struct lapse_judge *judge,
                                const struct lapse_history_event *event,
                                struct lapse_finding *ret) {
    const struct lapse_history_event *invoke = lapse_scene_invoke(&judge->scene, event->call);
    struct lapse_answer answer = {0};
    ret->check = invoke == NULL ? NULL : lapse_judge_step(judge, invoke->step);
    if (ret->check == NULL || !ret->check->written || judge->scene.setup->chaos ||
        asks_took(ret->check->expect) || !decided_answer(event, &answer)) {
        return;
    }
    ret->place = ret->check->place;
    struct lapse_expect_context context = context_of(judge, invoke);
    bool met = lapse_expect_answer(ret->check->expect, invoke->u.invoke.request.verb, &answer,
                                   &context, ret->expected, ret->got, &ret->place);
    ret->unmet = !met && !is_handled(ret->check, answer.status);
    if (ret->place.file == NULL) {
        ret->place = ret->check->place;
    }
}

uint32_t lapse_judge_uses(const struct lapse_scene *scene,
                          const struct lapse_history_event *event) {
    bool known = scene->setup != NULL && event->actor >= 0;
    bool careful = known && scene->setup->actors[event->actor].careful;
    switch (event->kind) {
    case LAPSE_HISTORY_BELIEF_BEGIN:
        return careful ? LAPSE_USE_BELIEF : 0;
    case LAPSE_HISTORY_REPLY: {
        enum lapse_status status = event->u.reply.answer.status;
        return status == LAPSE_RANGE || status == LAPSE_INVALID ? LAPSE_USE_EDGES : 0;
    }
    case LAPSE_HISTORY_TENURE:
        return LAPSE_USE_RESTARTS;
    case LAPSE_HISTORY_ROLE:
        return LAPSE_USE_ROLES;
    case LAPSE_HISTORY_CLOCK:
        return event->u.clock.whose.kind == LAPSE_PARTY_NODE ? LAPSE_USE_CLOCKS : 0;
    case LAPSE_HISTORY_FAULT_END:
        return event->u.fault.node >= 0 && event->u.fault.kind != LAPSE_FAULT_CRASH &&
                       event->u.fault.kind != LAPSE_FAULT_SLOW
                   ? LAPSE_USE_STOPS
                   : 0;
    default:
        break;
    }
    if (event->kind != LAPSE_HISTORY_INVOKE || !known) {
        return 0;
    }
    const struct lapse_request *request = &event->u.invoke.request;
    uint32_t uses = event->u.invoke.loop >= 0 ? LAPSE_USE_LOOPS : 0;
    if (uses != 0 && request->verb == LAPSE_VERB_ACQUIRE) {
        uses |= LAPSE_USE_WANTS;
    }
    if (request->verb == LAPSE_CALL_WRITE || request->verb == LAPSE_CALL_READ) {
        return uses | LAPSE_USE_RESOURCES;
    }
    uses |= request->command.request.len > 0 ? LAPSE_USE_REQUESTS : 0;
    if (request->verb != LAPSE_VERB_BATCH) {
        return uses | uses_of_call(scene, &request->command);
    }
    for (size_t i = 0; i < request->command.u.batch.count; i++) {
        uses |= uses_of_call(scene, &request->command.u.batch.commands[i]);
    }
    return uses;
}

static uint32_t uses_of_call(const struct lapse_scene *scene, const struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_INSPECT:
        return LAPSE_USE_LEASES;
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_EXTEND:
        return LAPSE_USE_LEASES | LAPSE_USE_EXTEND;
    case LAPSE_VERB_CLOSE:
    case LAPSE_VERB_RELEASE:
        return LAPSE_USE_LEASES | LAPSE_USE_RELEASE;
    case LAPSE_VERB_WATCH:
        return LAPSE_USE_WATCH;
    case LAPSE_VERB_HISTORY:
    case LAPSE_VERB_ALTER:
        return uses_of_command(scene, command);
    default:
        return command->verb >= LAPSE_VERB_OPEN && command->verb <= LAPSE_VERB_COUNT
                   ? uses_of_command(scene, command)
                   : 0;
    }
}

static void check_reply(const struct lapse_judge *judge, const struct lapse_history_event *event,
                        struct lapse_finding *ret) {
    struct lapse_expect_context context = context_of(judge, event);
    const struct lapse_answer *answer = &event->u.reply.answer;
    bool met = lapse_expect_answer(ret->check->expect, event->u.reply.verb, answer, &context,
                                   ret->expected, ret->got, &ret->place);
    ret->unmet = !met && !is_handled(ret->check, answer->status);
}

/* What a decision says to its client, as far as its event tells. */
static bool decided_answer(const struct lapse_history_event *event, struct lapse_answer *ret) {
    if (event->kind == LAPSE_HISTORY_APPLY) {
        *ret = event->u.apply.answer;
        return true;
    }
    if (event->kind != LAPSE_HISTORY_RESOURCE) {
        return false;
    }
    *ret = (struct lapse_answer){.status = event->u.resource.status,
                                 .has_token = event->u.resource.has_token,
                                 .token = event->u.resource.token,
                                 .value = event->u.resource.value};
    return true;
}

/* How long the call takes is not known before its reply. */
static bool asks_took(const struct lapse_expect *expect) {
    for (size_t i = 0; i < expect->compare_count; i++) {
        if (expect->compares[i].field == LAPSE_FIELD_TOOK) {
            return true;
        }
    }
    return false;
}

/* An `on_...` word takes an answer that `expect:` does not ask for; where it asks for this very
 * answer and one of its fields is wrong, nothing excuses it. A `need:` takes every answer, met or
 * by its `else:`, unless an `expect:` asks for one as well. */
static bool is_handled(const struct lapse_step_check *check, enum lapse_status status) {
    if (check->need != NULL && !check->written) {
        return true;
    }
    int bit = (int)status + 16;
    bool taken = bit >= 0 && bit < 32 && (check->handled & LAPSE_HANDLED_BIT((int)status)) != 0;
    return taken && !lapse_expect_asks(check->expect, status);
}

static void check_probe(const struct lapse_judge *judge, const struct lapse_history_event *event,
                        struct lapse_finding *ret) {
    struct lapse_expect_context context = context_of(judge, event);
    const struct lapse_probe *probe = &event->u.probe;
    bool met = false;
    if (probe->kind == LAPSE_PROBE_COUNT || probe->kind == LAPSE_PROBE_MEASURED) {
        met = check_number(judge, event, &context, ret);
    } else {
        met = lapse_expect_probe(ret->check->expect, probe, &context, ret->expected, ret->got,
                                 &ret->place);
    }
    ret->unmet = !met;
}

static bool check_number(const struct lapse_judge *judge, const struct lapse_history_event *event,
                         const struct lapse_expect_context *context, struct lapse_finding *ret) {
    const struct lapse_step_check *check = ret->check;
    struct lapse_value value = {.kind = LAPSE_OPERAND_NUMBER};
    bool known = false;
    if (event->u.probe.kind == LAPSE_PROBE_MEASURED) {
        LAPSE_ASSERT(check->measure >= 0);
        LAPSE_ASSERT((size_t)check->measure < judge->the_case->measure_count);
        struct lapse_measured measured =
            lapse_measure_value(&judge->measure_runs[check->measure], event->at);
        known = measured.known;
        value.kind = measured.is_span ? LAPSE_OPERAND_SPAN : LAPSE_OPERAND_NUMBER;
        value.number = measured.number;
    }
    for (size_t i = 0; i < judge->count_count && !known; i++) {
        known = judge->counts[i].step == event->step && event->u.probe.kind == LAPSE_PROBE_COUNT;
        value.number = known ? judge->counts[i].run.count : 0;
    }
    struct lapse_sides sides;
    lapse_sides_begin(&sides, ret->expected, ret->got, check->expect->place);
    bool met = lapse_expect_is(check->expect, known ? &value : NULL, "nothing: it never came true",
                               context, &sides);
    ret->place = sides.place;
    return met;
}

/* An observer has no clock of its own: it goes by true time since the epoch. */
static struct lapse_expect_context context_of(const struct lapse_judge *judge,
                                              const struct lapse_history_event *event) {
    struct lapse_wall wall = event->actor_wall;
    if (event->actor < 0) {
        (void)lapse_ns_add(judge->scene.setup->epoch.ns, event->at.ns, &wall.ns);
    }
    return (struct lapse_expect_context){judge->scene.setup, &judge->slots, event->n, wall};
}

static uint32_t uses_of_command(const struct lapse_scene *scene,
                                const struct lapse_command *command) {
    uint32_t uses = LAPSE_USE_KEYS;
    if (command->verb == LAPSE_VERB_EXPIRE || command->verb == LAPSE_VERB_PERSIST) {
        uses |= LAPSE_USE_RETIME;
    }
    if (command->verb == LAPSE_VERB_OPEN || command->verb == LAPSE_VERB_ALTER) {
        return uses | uses_of_config(&command->u.open.config);
    }
    for (size_t i = 0; i < scene->setup->bucket_count; i++) {
        const struct lapse_setup_bucket *bucket = &scene->setup->buckets[i];
        if (lapse_bytes_equal(bucket->name, command->bucket)) {
            uses |= uses_of_config(&bucket->config) | (bucket->locks ? LAPSE_USE_LOCK_KEYS : 0);
        }
    }
    switch (command->verb) {
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        uses |= LAPSE_USE_CAS;
        break;
    case LAPSE_VERB_SET:
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
        uses |= command->u.write.has_if_version ? LAPSE_USE_CAS : 0;
        break;
    default:
        return uses;
    }
    struct lapse_bucket_config own = {.term = command->u.write.term};
    unsigned given = own.term.given;
    uses |= (given & LAPSE_TERM_EXPIRES_AT) != 0 ? LAPSE_USE_DATES : 0;
    uses |= (given & LAPSE_TERM_KEEP) != 0 ? LAPSE_USE_KEEP : 0;
    own.term.given = given & ~(unsigned)LAPSE_TERM_KEEP;
    return uses | uses_of_config(&own);
}

static uint32_t uses_of_config(const struct lapse_bucket_config *config) {
    uint32_t uses = config->term.given != 0 ? LAPSE_USE_TERMS : 0;
    uses |= (config->term.given & LAPSE_TERM_IDLE) != 0 ? LAPSE_USE_IDLE : 0;
    return uses | (config->markers.ns > 0 ? LAPSE_USE_MARKERS : 0);
}
