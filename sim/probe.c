/* Each look is made on forks of the store, whose making is dear: one will do as long as all answers
 * are those that an absent key gets, which change nothing. After any other, a verb that could
 * change something gets a fork of its own. A listing is cut down to the key that is looked for, so
 * that it says one thing: whether it is there. */
#include "probe.h"

#include "belief.h"
#include "keylock.h"
#include "node.h"
#include "request.h"
#include "resource.h"
#include "tenure.h"
#include "world_events.h"

enum { LOOKS_MAX = 11 };

/* One look: the event being made, and what it borrows until it is written. */
struct look {
    struct lapse_world *world;
    const struct lapse_plan_probe *plan;
    struct lapse_probe *probe;
    struct lapse_result results[LOOKS_MAX];
    struct lapse_probe_answer answers[LOOKS_MAX];
    struct lapse_item items[LOOKS_MAX]; /* the one item of a cut listing */
    size_t others;                      /* keys of the bucket beside the one looked for */
};

static void look_at(struct look *look);
static void look_key(struct look *look, bool gone);
static void ask(struct look *look, struct lapse *fork, enum lapse_verb verb);
static void ask_alone(struct look *look, enum lapse_verb verb);
static void find_nobody(struct look *look, enum lapse_verb verb);
static void look_rows(struct look *look);
static enum lapse_status count_row(void *ctx, const struct lapse_row *row);
static bool left_alone(const struct look *look);
static struct lapse_command command_for(const struct look *look, enum lapse_verb verb);
static void cut_listing(struct look *look, enum lapse_verb verb, size_t at);
static void look_left(struct look *look);
static enum lapse_status stored_end(void *ctx, const struct lapse_row *row);
static void look_holder(struct look *look);
static void look_who(struct look *look, bool may_act);
static void look_events(struct look *look);
static void look_read(struct look *look);
static void free_look(struct look *look);

void lapse_sim_probe_look(struct lapse_world *world, int32_t step) {
    const struct lapse_plan_probe *plan = &world->plan->steps[step].u.probe;
    struct lapse_history_event event = lapse_world_event(world, LAPSE_HISTORY_PROBE, -1, step);
    struct look look = {.world = world, .plan = plan, .probe = &event.u.probe};
    struct lapse_sim_draft draft = {0};
    struct lapse_sim_miss miss = {0};
    world->ran[step] = LAPSE_RAN_YES;
    event.u.probe.kind = plan->kind;
    event.u.probe.key_lock =
        plan->key_lock || (plan->kind == LAPSE_PROBE_LEFT && plan->bucket >= 0);
    if (plan->bucket >= 0) {
        event.u.probe.bucket = world->plan->setup.buckets[plan->bucket].name;
    }
    enum lapse_status status =
        lapse_sim_draft_text(world, &draft, &plan->name, 0, &event.u.probe.name, &miss);
    if (status == LAPSE_OK) {
        look_at(&look);
        event.u.probe.answers = look.answers;
        (void)lapse_world_emit(world, &event);
    } else if (status == LAPSE_ABSENT) {
        struct lapse_history_event unbound =
            lapse_world_event(world, LAPSE_HISTORY_UNBOUND, -1, step);
        lapse_world_emit_unbound(world, &unbound, &miss);
    } else {
        lapse_world_fail(world, status, "no memory for an observer");
    }
    free_look(&look);
    lapse_sim_draft_free(world, &draft);
}

static void look_at(struct look *look) {
    const struct lapse_plan_probe *plan = look->plan;
    switch (plan->kind) {
    case LAPSE_PROBE_GONE:
    case LAPSE_PROBE_PRESENT:
        look_key(look, plan->kind == LAPSE_PROBE_GONE);
        break;
    case LAPSE_PROBE_LEFT:
        look_left(look);
        break;
    case LAPSE_PROBE_HOLDER:
        look_holder(look);
        break;
    case LAPSE_PROBE_BELIEVES:
    case LAPSE_PROBE_MAY:
        look_who(look, plan->kind == LAPSE_PROBE_MAY);
        break;
    case LAPSE_PROBE_STOPPED:
        look->probe->flag = look->world->actors[plan->actor].stopped;
        look->probe->name = look->world->plan->setup.actors[plan->actor].name;
        break;
    case LAPSE_PROBE_EVENTS:
        look_events(look);
        break;
    case LAPSE_PROBE_READ:
        look_read(look);
        break;
    case LAPSE_PROBE_ROWS:
        look_rows(look);
        break;
    case LAPSE_PROBE_COUNT:
    case LAPSE_PROBE_MEASURED:
        break; /* the judge knows the number */
    }
}

/* Listings come before get: a get may renew an idle key, and they show what was there. Create comes
 * last: it is the one verb that should change something. */
static void look_key(struct look *look, bool gone) {
    static const enum lapse_verb reads[] = {LAPSE_VERB_LIST,   LAPSE_VERB_ALL,   LAPSE_VERB_COUNT,
                                            LAPSE_VERB_GET,    LAPSE_VERB_ENTRY, LAPSE_VERB_HAS,
                                            LAPSE_VERB_HISTORY};
    static const enum lapse_verb acts[] = {LAPSE_VERB_EXPIRE, LAPSE_VERB_DELETE, LAPSE_VERB_UPDATE,
                                           LAPSE_VERB_CREATE};
    struct lapse *fork = lapse_sim_tenure_fork(look->world);
    if (fork == NULL) {
        find_nobody(look, LAPSE_VERB_GET);
        return;
    }
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        if (gone || (reads[i] != LAPSE_VERB_HAS && reads[i] != LAPSE_VERB_HISTORY)) {
            ask(look, fork, reads[i]);
        }
    }
    for (size_t i = 0; gone && fork != NULL && i < sizeof(acts) / sizeof(acts[0]); i++) {
        if (!left_alone(look)) {
            lapse_close(fork);
            fork = lapse_sim_tenure_fork(look->world);
        }
        if (fork != NULL) {
            ask(look, fork, acts[i]);
        }
    }
    if (fork != NULL) {
        lapse_close(fork);
    }
}

/* Whether all answers so far are those of an absent key. */
static bool left_alone(const struct look *look) {
    for (size_t i = 0; i < look->probe->answer_count; i++) {
        const struct lapse_answer *answer = &look->answers[i].answer;
        enum lapse_verb verb = (enum lapse_verb)look->answers[i].verb;
        bool lists = verb == LAPSE_VERB_LIST || verb == LAPSE_VERB_ALL || verb == LAPSE_VERB_COUNT;
        bool absent =
            lists ? answer->status == LAPSE_OK && answer->item_count == 0
                  : answer->status == (verb == LAPSE_VERB_UPDATE ? LAPSE_CONFLICT : LAPSE_ABSENT);
        if (!absent) {
            return false;
        }
    }
    return true;
}

static void ask(struct look *look, struct lapse *fork, enum lapse_verb verb) {
    size_t at = look->probe->answer_count++;
    LAPSE_ASSERT(at < LOOKS_MAX);
    struct lapse_command command = command_for(look, verb);
    lapse_result_init(&look->results[at], look->world->alloc);
    (void)lapse_apply(fork, &command, &look->results[at], NULL);
    look->answers[at].verb = (int)verb;
    look->answers[at].answer = lapse_answer_of(&look->results[at]);
    if (look->plan->kind != LAPSE_PROBE_READ) {
        cut_listing(look, verb, at);
    }
}

static void ask_alone(struct look *look, enum lapse_verb verb) {
    struct lapse *fork = lapse_sim_tenure_fork(look->world);
    if (fork == NULL) {
        find_nobody(look, verb);
        return;
    }
    ask(look, fork, verb);
    lapse_close(fork);
}

/* While the process is down there is no store to look at: the answer is what a call would get. */
static void find_nobody(struct look *look, enum lapse_verb verb) {
    look->probe->answer_count = 1;
    look->answers[0].verb = (int)verb;
    look->answers[0].answer = (struct lapse_answer){.status = LAPSE_UNAVAILABLE};
}

/* Rows in storage, of what is live and what is not. A file is not looked into behind the back of a
 * store that is down: opening it would write to it. */
static void look_rows(struct look *look) {
    struct lapse_sim_node *node = &look->world->node;
    enum lapse_status status = LAPSE_OK;
    if (node->store != NULL) {
        status = lapse_walk(node->store, count_row, look->probe, NULL);
    } else if (node->vfs != NULL) {
        find_nobody(look, LAPSE_VERB_COUNT);
    } else {
        lapse_journal disk = lapse_sim_rows_journal(&node->rows);
        status = disk.load(disk.ctx, count_row, look->probe, NULL);
    }
    if (status < 0) {
        lapse_world_fail(look->world, status, "a look at the store's rows");
    }
}

static enum lapse_status count_row(void *ctx, const struct lapse_row *row) {
    struct lapse_probe *probe = ctx;
    if (row->kind == LAPSE_ROW_RECORD && row->part == LAPSE_PART_DURABLE &&
        lapse_bytes_equal(row->bucket, probe->bucket)) {
        probe->row_count++;
    }
    return LAPSE_OK;
}

static struct lapse_command command_for(const struct look *look, enum lapse_verb verb) {
    struct lapse_command command = {.verb = verb, .bucket = look->probe->bucket};
    bool lists = verb == LAPSE_VERB_LIST || verb == LAPSE_VERB_ALL || verb == LAPSE_VERB_COUNT;
    if (!lists) {
        command.key = look->probe->name;
    }
    if (verb == LAPSE_VERB_EXPIRE) {
        command.u.write.term.given = LAPSE_TERM_TTL;
        command.u.write.term.ttl.ns = LAPSE_NS_PER_S;
    }
    if (verb == LAPSE_VERB_UPDATE) {
        command.u.write.has_if_version = true;
        command.u.write.if_version = 1;
    }
    return command;
}

static void cut_listing(struct look *look, enum lapse_verb verb, size_t at) {
    struct lapse_answer *answer = &look->answers[at].answer;
    if (verb == LAPSE_VERB_COUNT) {
        answer->item_count = answer->item_count > look->others ? 1 : 0;
    }
    if (verb != LAPSE_VERB_LIST && verb != LAPSE_VERB_ALL) {
        return;
    }
    size_t found = 0;
    for (size_t i = 0; i < answer->item_count; i++) {
        if (lapse_bytes_equal(answer->items[i].key, look->probe->name)) {
            look->items[at] = answer->items[i];
            found = 1;
        }
    }
    look->others = answer->item_count - found;
    answer->item_count = found;
    answer->items = found > 0 ? &look->items[at] : NULL;
}

struct end_search {
    const struct lapse_probe *probe;
    struct lapse_end end;
};

/* Asking is a use, which renews an idle key on the fork; what is left is what stood before it. */
static void look_left(struct look *look) {
    if (look->plan->bucket < 0) {
        ask_alone(look, LAPSE_VERB_INSPECT);
        return;
    }
    struct end_search search = {.probe = look->probe};
    ask_alone(look, LAPSE_VERB_ENTRY);
    struct lapse_answer *answer = &look->answers[0].answer;
    if (look->probe->answer_count == 0 || !answer->renewed) {
        return;
    }
    enum lapse_status status = lapse_walk(look->world->node.store, stored_end, &search, NULL);
    if (status == LAPSE_OK && search.end.kind == LAPSE_END_STEADY) {
        answer->renewed = false;
        answer->end = search.end;
        answer->left = lapse_steady_between(answer->at, (struct lapse_steady){search.end.ns});
    }
}

/* A deferred renewal is a row of the tenure's part and comes after the durable one. */
static enum lapse_status stored_end(void *ctx, const struct lapse_row *row) {
    struct end_search *search = ctx;
    if (row->kind == LAPSE_ROW_RECORD && row->record.kind == LAPSE_RECORD_VALUE &&
        lapse_bytes_equal(row->bucket, search->probe->bucket) &&
        lapse_bytes_equal(row->key, search->probe->name)) {
        search->end = row->record.end;
    }
    return LAPSE_OK;
}

static void look_holder(struct look *look) {
    if (look->plan->bucket < 0) {
        ask_alone(look, LAPSE_VERB_INSPECT);
        return;
    }
    ask_alone(look, LAPSE_VERB_ENTRY);
    if (look->probe->answer_count > 0 && look->answers[0].answer.status == LAPSE_OK) {
        look->answers[0].answer.owner =
            lapse_sim_keylock_owner(look->world, look->probe->bucket, look->probe->name);
    }
}

/* The event is written here, while the list of actors still stands. */
static void look_who(struct look *look, bool may_act) {
    struct lapse_world *world = look->world;
    size_t bytes = (world->plan->setup.actor_count + 1) * sizeof(int32_t);
    int32_t *who = lapse_alloc_zero(world->alloc, bytes);
    if (who == NULL) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for an observer");
        return;
    }
    look->probe->who_count = lapse_sim_belief_who(
        world, look->plan->bucket >= 0, look->probe->bucket, look->probe->name, may_act, who);
    look->probe->who = who;
}

static void look_events(struct look *look) {
    struct lapse_world *world = look->world;
    struct lapse_sim_seen *seen = &world->seen[look->plan->watch];
    look->probe->name = lapse_bytes_of(world->plan->watch_names[look->plan->watch]);
    if (seen->count == 0) {
        return;
    }
    struct lapse_event *events =
        lapse_alloc_zero(world->alloc, seen->count * sizeof(struct lapse_event));
    if (events == NULL) {
        lapse_world_fail(world, LAPSE_NOMEM, "no memory for an observer");
        return;
    }
    for (size_t i = 0; i < seen->count; i++) {
        events[i] = lapse_history_at(world->history, (size_t)seen->events[i])->u.deliver.event;
    }
    look->probe->events = events;
    look->probe->event_count = seen->count;
    seen->count = 0;
}

static void look_read(struct look *look) {
    const struct lapse_setup *setup = &look->world->plan->setup;
    if (look->plan->verb != LAPSE_CALL_READ) {
        ask_alone(look, (enum lapse_verb)look->plan->verb);
        return;
    }
    for (size_t i = 0; i < setup->resource_count; i++) {
        if (lapse_bytes_equal(setup->resources[i].name, look->probe->name)) {
            look->answers[0].verb = LAPSE_CALL_READ;
            look->answers[0].answer = lapse_sim_resource_read(look->world, (int32_t)i);
            look->probe->answer_count = 1;
            return;
        }
    }
}

static void free_look(struct look *look) {
    const lapse_alloc *alloc = look->world->alloc;
    for (size_t i = 0; i < LOOKS_MAX; i++) {
        if (look->results[i].alloc != NULL) {
            lapse_result_free(&look->results[i]);
        }
    }
    if (look->plan->kind == LAPSE_PROBE_BELIEVES || look->plan->kind == LAPSE_PROBE_MAY) {
        size_t bytes = (look->world->plan->setup.actor_count + 1) * sizeof(int32_t);
        lapse_alloc_free(alloc, (void *)look->probe->who, bytes);
    }
    if (look->plan->kind == LAPSE_PROBE_EVENTS) {
        lapse_alloc_free(alloc, (void *)look->probe->events,
                         look->probe->event_count * sizeof(struct lapse_event));
    }
}
