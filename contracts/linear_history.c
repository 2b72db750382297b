/* A history, seen from outside: the calls that were sent, what became of their replies, when the
 * store began anew, and whether any of it can be judged. */
#include "contracts/linear_history.h"

#include "contracts/outside.h"
#include "linear_split.h"

#include <stdlib.h>
#include <string.h>

/* Where a call went: -1, nowhere. */
struct place {
    int32_t problem, call;
};

static bool gather(struct lapse_linear_split *split, const struct lapse_history *history,
                   struct lapse_outside *outside, bool *ret_crashed);
static bool gather_sent(struct lapse_linear_split *split, const struct lapse_history_event *event);
static bool sort_ids(struct lapse_linear_split *split);
static int compare_ids(const void *a, const void *b);
static struct lapse_linear_sent *find_sent(const struct lapse_linear_split *split, int64_t id);
static bool take_event(struct lapse_linear_split *split, const struct lapse_history_event *event,
                       int64_t *down_since);
static void take_clock(struct lapse_linear_terms *terms, const struct lapse_history_event *event);
static void take_message(struct lapse_linear_sent *sent, const struct lapse_history_event *event);
static bool take_tenure(struct lapse_linear_split *split, int64_t at, bool machine,
                        int64_t down_since);
static bool take_role(struct lapse_linear_split *split, const struct lapse_history_event *event);
static const char *not_judged(const struct lapse_setup *setup, const struct lapse_outside *outside,
                              bool crashed);
static void take_repeated(struct lapse_linear_split *split);
static void answer_first(const struct lapse_linear_split *split,
                         const struct lapse_linear_sent *repeated);
static bool add_call(struct lapse_linear_split *split, const struct lapse_linear_sent *sent,
                     bool copy);
static bool add_batch(struct lapse_linear_split *split, const struct lapse_command *batch,
                      const struct lapse_linear_part *whole);
static bool add_part(struct lapse_linear_split *split, struct lapse_linear_part *part,
                     struct place *ret);
static int32_t chain_of(const struct place *places, size_t count, int32_t problem);
static void take_policies(struct lapse_linear_split *split);
static bool make_problems(struct lapse_linear_split *split);
static void split_free(struct lapse_linear_split *split);

enum lapse_status lapse_linear_history_read(const lapse_alloc *alloc,
                                            const struct lapse_history *history,
                                            struct lapse_linear_problems *ret,
                                            struct lapse_error *err) {
    struct lapse_linear_split split = {.alloc = alloc, .problems = ret, .terms.walls = true};
    struct lapse_outside outside = {0};
    bool crashed = false;
    bool done =
        lapse_linear_problems_init(ret, alloc) && gather(&split, history, &outside, &crashed);
    if (done) {
        ret->not_judged = not_judged(split.setup, &outside, crashed);
        split.terms.walls = split.terms.walls && !outside.node_wall;
        done = ret->not_judged != NULL || make_problems(&split);
    }
    split_free(&split);
    if (!done) {
        lapse_linear_problems_free(ret);
        return lapse_error_set(err, LAPSE_NOMEM, "no memory to split a history of %zu events",
                               lapse_history_count(history));
    }
    return LAPSE_OK;
}

static bool gather(struct lapse_linear_split *split, const struct lapse_history *history,
                   struct lapse_outside *outside, bool *ret_crashed) {
    size_t count = lapse_history_count(history);
    int64_t down_since = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        lapse_outside_take(outside, event);
        if (event->kind == LAPSE_HISTORY_BEGIN) {
            split->setup = event->u.begin;
            split->terms.rate_ppb = split->setup->rate_ppb;
            split->terms.bound_ns = split->setup->wall_bound.ns;
            split->terms.epoch_ns = split->setup->epoch.ns;
        } else if (event->kind == LAPSE_HISTORY_INVOKE && !gather_sent(split, event)) {
            return false;
        }
        *ret_crashed =
            *ret_crashed || (event->kind == LAPSE_HISTORY_FAULT_BEGIN &&
                             event->u.fault.kind == LAPSE_FAULT_CRASH && event->u.fault.node >= 0);
    }
    if (!sort_ids(split)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!take_event(split, lapse_history_at(history, i), &down_since)) {
            return false;
        }
    }
    return true;
}

static bool gather_sent(struct lapse_linear_split *split, const struct lapse_history_event *event) {
    int verb = event->u.invoke.request.verb;
    if (verb >= LAPSE_CALL_WRITE) {
        return true;
    }
    if ((verb == LAPSE_VERB_OPEN || verb == LAPSE_VERB_ALTER) &&
        !lapse_alloc_grow(split->alloc, (void **)&split->words, &split->words_cap,
                          split->word_count + 1, sizeof(*split->words))) {
        return false;
    }
    if (!lapse_alloc_grow(split->alloc, (void **)&split->sent, &split->sent_cap,
                          split->sent_count + 1, sizeof(*split->sent))) {
        return false;
    }
    if (verb == LAPSE_VERB_OPEN || verb == LAPSE_VERB_ALTER) {
        split->words[split->word_count++] = split->sent_count;
    }
    split->sent[split->sent_count++] = (struct lapse_linear_sent){.invoke = event};
    return true;
}

static bool sort_ids(struct lapse_linear_split *split) {
    size_t bytes = (split->sent_count + 1) * sizeof(*split->ids);
    split->ids = split->alloc->resize(split->alloc->ctx, NULL, 0, bytes);
    if (split->ids == NULL) {
        return false;
    }
    for (size_t i = 0; i < split->sent_count; i++) {
        split->ids[i] = (struct lapse_linear_id){split->sent[i].invoke->call, i};
    }
    qsort(split->ids, split->sent_count, sizeof(*split->ids), compare_ids);
    return true;
}

static int compare_ids(const void *a, const void *b) {
    const struct lapse_linear_id *x = a;
    const struct lapse_linear_id *y = b;
    if (x->id != y->id) {
        return x->id < y->id ? -1 : 1;
    }
    return (x->sent > y->sent) - (x->sent < y->sent);
}

static struct lapse_linear_sent *find_sent(const struct lapse_linear_split *split, int64_t id) {
    size_t from = 0, to = split->sent_count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (split->ids[middle].id < id) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    bool found = from < split->sent_count && split->ids[from].id == id;
    return found ? &split->sent[split->ids[from].sent] : NULL;
}

static bool take_event(struct lapse_linear_split *split, const struct lapse_history_event *event,
                       int64_t *down_since) {
    struct lapse_linear_sent *sent = NULL;
    switch (event->kind) {
    case LAPSE_HISTORY_REPLY:
        sent = event->u.reply.sent ? find_sent(split, event->call) : NULL;
        if (sent != NULL && sent->reply == NULL) {
            sent->reply = event;
        }
        return true;
    case LAPSE_HISTORY_MESSAGE:
        sent = event->call > 0 ? find_sent(split, event->call) : NULL;
        if (sent != NULL) {
            take_message(sent, event);
        }
        return true;
    case LAPSE_HISTORY_CLOCK:
        take_clock(&split->terms, event);
        return true;
    case LAPSE_HISTORY_FAULT_BEGIN:
        if (event->u.fault.kind == LAPSE_FAULT_CRASH && event->u.fault.node >= 0) {
            *down_since = event->at.ns;
        }
        return true;
    case LAPSE_HISTORY_TENURE: {
        int64_t from = *down_since;
        *down_since = INT64_MIN;
        return take_tenure(split, event->at.ns, event->u.tenure.machine, from);
    }
    case LAPSE_HISTORY_ROLE:
        return take_role(split, event);
    default:
        return true;
    }
}

/* Readings of a clock with a rate are rounded, those of one that ticks cut down. Without a bound on
 * walls, a wall that was ever moved, or drifts, tells nothing of true time. */
static void take_clock(struct lapse_linear_terms *terms, const struct lapse_history_event *event) {
    int64_t right;
    int64_t tick = event->u.clock.tick_ns;
    bool drifts = event->u.clock.rate_ppb != 0;
    if (event->u.clock.whose.kind != LAPSE_PARTY_NODE) {
        return;
    }
    if ((drifts || tick > 1) && tick > terms->slack_ns) {
        terms->slack_ns = tick;
    }
    bool moved = !lapse_ns_add(terms->epoch_ns, event->at.ns, &right) ||
                 event->u.clock.after.wall.ns > right ||
                 event->u.clock.after.wall.ns < right - (tick > 1 ? tick : 0);
    terms->walls = terms->walls && (terms->bound_ns > 0 || !(moved || drifts));
    terms->wall_moved = terms->wall_moved || moved || drifts;
}

static void take_message(struct lapse_linear_sent *sent, const struct lapse_history_event *event) {
    enum lapse_message_fate fate = event->u.message.fate;
    sent->forged = sent->forged || fate == LAPSE_MESSAGE_FORGED;
    bool again = fate == LAPSE_MESSAGE_TWICE && !event->u.message.reply;
    sent->copies += again || fate == LAPSE_MESSAGE_AGAIN ? 1 : 0;
}

/* A store that gave up and was opened again was down since some instant after it last began. */
static bool take_tenure(struct lapse_linear_split *split, int64_t at, bool machine,
                        int64_t down_since) {
    struct lapse_linear_terms *terms = &split->terms;
    if (down_since == INT64_MIN) {
        down_since = terms->restart_count > 0 ? terms->restarts[terms->restart_count - 1].to : 0;
    }
    if (!lapse_alloc_grow(split->alloc, (void **)&terms->restarts, &terms->restart_cap,
                          terms->restart_count + 1, sizeof(*terms->restarts))) {
        return false;
    }
    terms->restarts[terms->restart_count++] =
        (struct lapse_linear_restart){down_since, at, machine};
    return true;
}

/* The next leader begins a tenure, at some instant after the last one was told of. */
static bool take_role(struct lapse_linear_split *split, const struct lapse_history_event *event) {
    const struct lapse_history_event *before = split->leads;
    if (event->u.role.role != LAPSE_ROLE_LEADER ||
        (before != NULL && event->u.role.epoch <= before->u.role.epoch)) {
        return true;
    }
    split->leads = event;
    return before == NULL || take_tenure(split, event->at.ns, false, before->at.ns);
}

static const char *not_judged(const struct lapse_setup *setup, const struct lapse_outside *outside,
                              bool crashed) {
    if (setup == NULL) {
        return "the history does not begin with its setup";
    }
    if (!lapse_outside_judges(outside, "LIN-01")) {
        return "the run left what the contract rests on";
    }
    if (setup->rate_ppb < 0 || setup->rate_ppb >= LAPSE_NS_PER_S) {
        return "its bound on rates says nothing";
    }
    if (crashed && (!setup->durable || setup->sync != LAPSE_SYNC_FULL)) {
        return "its store may lose over a crash what it has answered";
    }
    return NULL;
}

/* What a policy keeps the search from is left out, and told: keys or leases, if there are any. */
static void take_policies(struct lapse_linear_split *split) {
    struct lapse_linear_problems *problems = split->problems;
    const char *keys = lapse_linear_policy_keys(split);
    const char *leases = lapse_linear_policy_leases(split);
    split->no_keys = keys != NULL;
    split->no_leases = leases != NULL;
    problems->store->clocks.rate_ppb = split->terms.rate_ppb;
    problems->store->clocks.slack_ns = split->terms.slack_ns;
    lapse_linear_policy_clocks(split, &problems->store->clocks);
    lapse_linear_policy_terms(split);
    for (size_t i = 0; i < split->sent_count; i++) {
        enum lapse_verb verb = split->sent[i].invoke->u.invoke.request.command.verb;
        bool lease = lapse_linear_of_lease(verb);
        bool batch = verb == LAPSE_VERB_BATCH;
        if ((lease || batch) && leases != NULL) {
            problems->left_out = leases;
        }
        if (!lease && keys != NULL) {
            problems->left_out = keys;
        }
    }
}

static bool make_problems(struct lapse_linear_split *split) {
    take_policies(split);
    take_repeated(split);
    for (size_t i = 0; i < split->sent_count; i++) {
        const struct lapse_linear_sent *sent = &split->sent[i];
        if (!sent->dropped && !add_call(split, sent, false)) {
            return false;
        }
        for (int copy = 0; copy < sent->copies; copy++) {
            if (!add_call(split, sent, true)) {
                return false;
            }
        }
    }
    return lapse_linear_split_lists(split) && lapse_linear_split_finish(split);
}

/* A call that was told the answer of an earlier one with its request id did nothing itself. If none
 * of those was answered, and there is one alone, this is its answer. */
static void take_repeated(struct lapse_linear_split *split) {
    for (size_t i = 0; i < split->sent_count; i++) {
        struct lapse_linear_sent *sent = &split->sent[i];
        sent->reply = sent->forged ? NULL : sent->reply;
        if (sent->reply != NULL && sent->reply->u.reply.answer.repeated) {
            answer_first(split, sent);
            sent->dropped = true;
        }
    }
}

static void answer_first(const struct lapse_linear_split *split,
                         const struct lapse_linear_sent *repeated) {
    struct lapse_bytes id = repeated->invoke->u.invoke.request.command.request;
    struct lapse_linear_sent *first = NULL;
    size_t open = 0, answered = 0;
    for (struct lapse_linear_sent *other = split->sent; other < repeated; other++) {
        if (other->dropped ||
            !lapse_bytes_equal(other->invoke->u.invoke.request.command.request, id)) {
            continue;
        }
        enum lapse_status status =
            other->reply == NULL ? LAPSE_UNKNOWN : other->reply->u.reply.answer.status;
        answered += status == LAPSE_OK ? 1 : 0;
        open += status == LAPSE_UNKNOWN ? 1 : 0;
        first = status == LAPSE_UNKNOWN ? other : first;
    }
    if (answered == 0 && open == 1) {
        first->reply = repeated->reply;
    }
}

static bool add_call(struct lapse_linear_split *split, const struct lapse_linear_sent *sent,
                     bool copy) {
    const struct lapse_history_event *invoke = sent->invoke;
    const struct lapse_history_event *reply = copy ? NULL : sent->reply;
    const struct lapse_command *command = &invoke->u.invoke.request.command;
    struct lapse_linear_part part = {
        .command = command,
        .answer = reply == NULL ? NULL : &reply->u.reply.answer,
        .call = {.invoke_seq = invoke->seq,
                 .return_seq = reply == NULL ? invoke->seq : reply->seq,
                 .invoke_ns = invoke->at.ns,
                 .return_ns = reply == NULL ? invoke->at.ns : reply->at.ns,
                 .branches = 1,
                 .after = -1,
                 .actor = invoke->actor,
                 .source = invoke->call},
    };
    if (command->verb == LAPSE_VERB_BATCH) {
        return add_batch(split, command, &part);
    }
    struct place place;
    return add_part(split, &part, &place);
}

/* Its calls in their order, each after the last one before it on the same key or name. */
static bool add_batch(struct lapse_linear_split *split, const struct lapse_command *batch,
                      const struct lapse_linear_part *whole) {
    const struct lapse_answer *answer = whole->answer;
    size_t count = batch->u.batch.count;
    bool open = answer == NULL || answer->status == LAPSE_UNKNOWN;
    if (count == 0 || (!open && (answer->status != LAPSE_OK || answer->answer_count < count))) {
        return true; /* none of it was done */
    }
    struct place *places = lapse_alloc_zero(split->alloc, count * sizeof(*places));
    bool done = places != NULL;
    for (size_t i = 0; done && i < count; i++) {
        struct lapse_answer own = {0};
        struct lapse_linear_part part = *whole;
        part.command = &batch->u.batch.commands[i];
        part.batch = true;
        part.answer = open ? NULL : &own;
        if (!open) {
            const struct lapse_batch_answer *told = &answer->answers[i];
            own.status = told->status;
            own.revision = told->revision;
            own.has_token = told->token != 0;
            own.token = told->token;
        }
        const struct lapse_linear_problem *problem = NULL;
        bool placed =
            lapse_linear_of_key(part.command->verb) || lapse_linear_of_lease(part.command->verb);
        if (placed) {
            problem = lapse_linear_split_place(split, part.command);
            done = problem != NULL;
        }
        if (done && placed) {
            part.call.after = chain_of(places, i, (int32_t)(problem - split->problems->items));
        }
        done = done && add_part(split, &part, &places[i]);
    }
    lapse_alloc_free(split->alloc, places, count * sizeof(*places));
    return done;
}

static bool add_part(struct lapse_linear_split *split, struct lapse_linear_part *part,
                     struct place *ret) {
    enum lapse_verb verb = part->command->verb;
    *ret = (struct place){-1, -1};
    if (!lapse_linear_of_key(verb) && !lapse_linear_of_lease(verb)) {
        return true;
    }
    struct lapse_linear_problem *problem = lapse_linear_split_place(split, part->command);
    if (problem == NULL) {
        return false;
    }
    size_t at = problem->count;
    bool done = lapse_linear_of_key(verb) ? lapse_linear_split_key(split, problem, part)
                                          : lapse_linear_split_lease(split, problem, part);
    if (done && problem->count > at) {
        *ret = (struct place){(int32_t)(problem - split->problems->items), (int32_t)at};
    }
    return done;
}

static int32_t chain_of(const struct place *places, size_t count, int32_t problem) {
    for (size_t i = count; i-- > 0;) {
        if (places[i].problem == problem && places[i].call >= 0) {
            return places[i].call;
        }
    }
    return -1;
}

static void split_free(struct lapse_linear_split *split) {
    const lapse_alloc *alloc = split->alloc;
    lapse_alloc_free(alloc, split->sent, split->sent_cap * sizeof(*split->sent));
    lapse_alloc_free(alloc, split->ids, (split->sent_count + 1) * sizeof(*split->ids));
    lapse_alloc_free(alloc, split->words, split->words_cap * sizeof(*split->words));
    lapse_alloc_free(alloc, split->terms.restarts,
                     split->terms.restart_cap * sizeof(*split->terms.restarts));
}
