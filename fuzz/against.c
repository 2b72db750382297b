/* Each state and transition of a run is looked up among all that there are. One that is not there
 * would mean that what was searched and what was run are not the same thing: it is told as a fault
 * of ours, and never counted. */
#include "against.h"
#include "scenarios/scene.h"
#include "scenarios/yaml.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct looking {
    struct lapse_reach_seer seer;
    const struct lapse_against *against;
    struct lapse_states met; /* by number plus 1: reached in this run already */
    struct lapse_list reached;
    int64_t from; /* -1: none yet */
    bool outside, failed;
    char *why;
    size_t why_used;
};

static void seen(struct lapse_reach_seer *seer, uint64_t state, const void *moment);
static void reach(struct looking *looking, uint64_t number);
static void say(void *ctx, const char *text);
static void say_outside(struct looking *looking, uint64_t state, const void *moment);
static bool lists(const struct lapse_plan *plan, const char *id);
static struct lapse_node *parse(struct lapse_pool *pool, const char *text, size_t bytes);

enum lapse_status lapse_against_open(struct lapse_against *against, const lapse_alloc *alloc,
                                     const struct lapse_reach *reach,
                                     const struct lapse_plan *plan, struct lapse_error *err) {
    *against = (struct lapse_against){.alloc = alloc, .plan = plan};
    against->text.alloc = alloc;
    if (!plan->explore.on) {
        struct lapse_plan unseeded = *plan;
        const struct lapse_plan *plans[] = {&unseeded};
        unseeded.has_seed = false;
        enum lapse_status status = lapse_plans_emit(alloc, plans, 1, &against->text, err);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    against->seen_bytes = reach->states.count + reach->moves.count + 1;
    against->seen = lapse_alloc_zero(alloc, against->seen_bytes);
    against->reach = reach;
    if (against->seen == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for %zu states and transitions",
                               against->seen_bytes);
    }
    return LAPSE_OK;
}

void lapse_against_close(struct lapse_against *against) {
    if (against->alloc != NULL) {
        lapse_alloc_free(against->alloc, against->seen, against->seen_bytes);
        lapse_emitted_free(&against->text);
    }
}

/* Chance draws its orders and values; nothing else of it changes. */
struct lapse_node *lapse_against_scenario(const struct lapse_against *against,
                                          struct lapse_pool *pool, uint64_t seed) {
    char line[32];
    int len = snprintf(line, sizeof line, "\nseed: %" PRIu64 "\n", seed & INT64_MAX);
    size_t bytes = against->text.bytes + (size_t)len;
    char *text = lapse_alloc_zero(against->alloc, bytes + 1);
    if (text == NULL) {
        return NULL;
    }
    memcpy(text, against->text.text, against->text.bytes);
    memcpy(text + against->text.bytes, line, (size_t)len);
    struct lapse_node *root = parse(pool, text, bytes);
    lapse_alloc_free(against->alloc, text, bytes + 1);
    return root;
}

/* A walk that no scenario says comes to a document that the loader refuses. */
struct lapse_node *lapse_against_walk(const struct lapse_against *against, struct lapse_pool *pool,
                                      const struct lapse_explore_leg *legs, size_t count) {
    const struct lapse_plan_explore *protocol = &against->plan->explore;
    static const char none[] = "name: no words for a walk\n";
    struct lapse_explore_found walk;
    struct lapse_emitted text;
    struct lapse_node *root = NULL;
    enum lapse_status status =
        lapse_explore_walk(against->alloc, protocol, legs, count, &walk, NULL);
    if (status == LAPSE_OK) {
        status = lapse_scene_write(against->alloc, protocol, &walk, "a walk of a protocol", true,
                                   &text, NULL);
        lapse_explore_unwalk(against->alloc, &walk);
    }
    if (status == LAPSE_OK) {
        root = parse(pool, text.text, text.bytes);
        lapse_emitted_free(&text);
    } else if (status != LAPSE_NOMEM) {
        root = parse(pool, none, sizeof none - 1);
    }
    return root;
}

enum lapse_status lapse_against_look(const struct lapse_against *against,
                                     const struct lapse_trial *trial, struct lapse_attempt *ret) {
    struct looking looking = {.seer = {.plan = against->plan, .seen = seen},
                              .against = against,
                              .from = -1,
                              .why = ret->why};
    struct lapse_error err = {0};
    lapse_states_init(&looking.met, against->alloc);
    looking.reached.item_bytes = sizeof(uint32_t);
    enum lapse_status status = lapse_reach_look(&looking.seer, trial->run.history, &err);
    bool listed = ret->outcome == LAPSE_TRIAL_VIOLATED && !ret->signature.unmet &&
                  lists(against->plan, ret->signature.id);
    bool violated = ret->outcome == LAPSE_TRIAL_VIOLATED && !ret->signature.unmet && !listed;
    bool unmet = ret->outcome == LAPSE_TRIAL_VIOLATED && ret->signature.unmet;
    if (listed) {
        ret->outcome = LAPSE_TRIAL_PASSED; /* as the protocol says it may come */
    }
    if (!violated && (looking.outside || unmet || status == LAPSE_INVALID)) {
        ret->outcome = LAPSE_TRIAL_BROKEN;
        ret->signature = (struct lapse_trial_signature){0};
        if (!looking.outside) {
            (void)snprintf(ret->why, sizeof ret->why, "outside the explored set: %.300s",
                           unmet ? "an answer is not the one that the exploration has there"
                                 : err.message);
        }
    }
    ret->reached_count = looking.reached.count;
    if (looking.reached.count > 0 && !looking.failed) {
        ret->reached = lapse_alloc_zero(against->alloc,
                                        looking.reached.count * sizeof(*ret->reached));
        looking.failed = ret->reached == NULL;
    }
    if (ret->reached != NULL) {
        memcpy(ret->reached, looking.reached.items, ret->reached_count * sizeof(*ret->reached));
    }
    lapse_list_free(against->alloc, &looking.reached);
    lapse_states_free(&looking.met);
    return looking.failed ? LAPSE_NOMEM : LAPSE_OK;
}

size_t lapse_against_take(struct lapse_against *against, const struct lapse_attempt *attempt) {
    size_t count = 0;
    for (size_t i = 0; i < attempt->reached_count; i++) {
        uint32_t number = attempt->reached[i];
        bool is_new = against->seen[number] == 0;
        bool state = number < against->reach->states.count;
        against->seen[number] = 1;
        against->states += is_new && state;
        against->moves += is_new && !state;
        count += is_new;
    }
    return count;
}

static void seen(struct lapse_reach_seer *seer, uint64_t state, const void *moment) {
    struct looking *looking = (struct looking *)seer; /* its first member */
    const struct lapse_reach *all = looking->against->reach;
    if (looking->outside) {
        return;
    }
    int64_t to = lapse_reach_find_state(all, state);
    if (to >= 0) {
        reach(looking, (uint64_t)to);
    }
    if (to >= 0 && looking->from >= 0 && looking->from != to) {
        int64_t move = lapse_reach_find_move(all, (uint32_t)looking->from, (uint32_t)to);
        if (move >= 0) {
            reach(looking, all->states.count + (uint64_t)move);
        } else {
            to = -1;
        }
    }
    if (to < 0) {
        looking->outside = true;
        say_outside(looking, state, moment);
    }
    looking->from = to;
}

static void reach(struct looking *looking, uint64_t number) {
    bool is_new = false;
    if (looking->against->seen[number] != 0 || looking->failed) {
        return;
    }
    looking->failed = !lapse_states_add(&looking->met, number + 1, &is_new);
    uint32_t *place = is_new ? lapse_list_add(looking->against->alloc, &looking->reached) : NULL;
    looking->failed = looking->failed || (is_new && place == NULL);
    if (place != NULL) {
        *place = (uint32_t)number;
    }
}

static void say(void *ctx, const char *text) {
    struct looking *looking = ctx;
    size_t left = LAPSE_ERROR_MESSAGE_MAX - looking->why_used;
    int len = snprintf(looking->why + looking->why_used, left, "%s", text);
    looking->why_used += len < 0 ? 0 : (size_t)len < left ? (size_t)len : left - 1;
}

static void say_outside(struct looking *looking, uint64_t state, const void *moment) {
    bool known = lapse_reach_find_state(looking->against->reach, state) >= 0;
    say(looking, known ? "outside the explored set: a transition to: "
                       : "outside the explored set: ");
    lapse_reach_say(looking->against->plan, state, moment, say, looking);
    if (looking->from >= 0) {
        say(looking, " | after: ");
        say(looking, lapse_reach_tell(looking->against->reach, (size_t)looking->from));
    }
}

static bool lists(const struct lapse_plan *plan, const char *id) {
    for (size_t i = 0; i < plan->the_case.violates_count; i++) {
        if (id != NULL && strcmp(plan->the_case.violates[i], id) == 0) {
            return true;
        }
    }
    return false;
}

static struct lapse_node *parse(struct lapse_pool *pool, const char *text, size_t bytes) {
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    struct lapse_node *root = NULL;
    lapse_diag_list_init(&diags, pool->alloc);
    if (lapse_yaml_parse(pool, "run", text, bytes, &documents, &diags) && documents.count > 0) {
        root = ((struct lapse_document *)lapse_list_at(&documents, 0))->root;
    }
    lapse_list_free(pool->alloc, &documents);
    lapse_diag_list_free(&diags);
    return root;
}
