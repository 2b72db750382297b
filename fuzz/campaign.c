/* The campaign: what has been shown so far, and the documents that showed it. Documents that showed
 * more, and were changed less often since, are taken sooner. */
#include "fuzz/campaign.h"
#include "fuzz/shape.h"

#include "against.h"
#include "mutate.h"
#include "traits.h"

#include "contracts/slack.h"

#include <string.h>

enum { TRIES = 3, NEARER_SHOWN = 8, SHAKEN_MAX = 4 };
/* Of walks: the chain of earlier ones that one goes on from, and all moves of it. */
enum { LEGS_MAX = 64, WALK_MAX = 256, WALK_SHORTEST = 4, WALK_LENGTHS = 5 };

struct entry {
    struct lapse_pool pool;
    struct lapse_node *document;
    size_t shown;    /* new states */
    uint64_t taken;  /* how often it was changed */
    uint64_t paid;   /* how often that showed something */
    uint64_t run;    /* of a walk: its seed is the run's, and it goes on from where `parent` is */
    int64_t parent;  /* after `keep` moves, for `own` */
    size_t keep, own;
};

struct lapse_campaign {
    struct lapse_campaign_options options;
    struct lapse_states states;
    struct lapse_list corpus; /* of struct entry * */
    size_t shapes;            /* the first so many are given */
    struct lapse_campaign_totals totals;
    struct lapse_against against;
};

static uint64_t seed_of(const struct lapse_campaign *campaign, uint64_t run);
static struct entry *entry_at(const struct lapse_campaign *campaign, size_t at);
static struct lapse_node *make(const struct lapse_campaign *campaign, struct lapse_pool *pool,
                               struct lapse_choices *choices, struct lapse_diversity *diversity,
                               struct lapse_attempt *ret);
static struct lapse_node *make_walk(const struct lapse_campaign *campaign, struct lapse_pool *pool,
                                    struct lapse_choices *choices, struct lapse_attempt *ret);
static size_t choose_entry(const struct lapse_campaign *campaign, struct lapse_choices *choices);
static enum lapse_status try(const struct lapse_campaign *campaign,
                             const struct lapse_node *document, struct lapse_arena *arena,
                             struct lapse_attempt *ret);
static enum lapse_status look(const struct lapse_campaign *campaign,
                              const struct lapse_trial *trial, struct lapse_attempt *ret);
static bool nearer(const struct lapse_campaign *campaign, const struct lapse_attempt *attempt);
static bool keep_text(const lapse_alloc *alloc, const struct lapse_emitted *text,
                      struct lapse_attempt *ret);
static enum lapse_status add(struct lapse_campaign *campaign, const char *text, size_t bytes,
                             size_t shown);
static enum lapse_status take_walk(struct lapse_campaign *campaign,
                                   const struct lapse_attempt *attempt);
static void count(struct lapse_campaign *campaign, const struct lapse_attempt *attempt);

enum lapse_status lapse_campaign_open(const struct lapse_campaign_options *options,
                                      struct lapse_campaign **ret, struct lapse_error *err) {
    struct lapse_campaign *campaign = lapse_alloc_zero(options->alloc, sizeof(*campaign));
    if (campaign == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a campaign");
    }
    campaign->options = *options;
    campaign->corpus.item_bytes = sizeof(struct entry *);
    lapse_states_init(&campaign->states, options->alloc);
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        campaign->totals.slack_ns[i] = -1;
    }
    enum lapse_status status = LAPSE_OK;
    if (options->against != NULL) {
        status = lapse_against_open(&campaign->against, options->alloc, options->against,
                                    options->plan, err);
    }
    if (status != LAPSE_OK) {
        lapse_campaign_close(campaign);
        return status;
    }
    *ret = campaign;
    return LAPSE_OK;
}

void lapse_campaign_close(struct lapse_campaign *campaign) {
    if (campaign == NULL) {
        return;
    }
    const lapse_alloc *alloc = campaign->options.alloc;
    for (size_t i = 0; i < campaign->corpus.count; i++) {
        struct entry *entry = entry_at(campaign, i);
        lapse_pool_free(&entry->pool);
        lapse_alloc_free(alloc, entry, sizeof(*entry));
    }
    lapse_list_free(alloc, &campaign->corpus);
    lapse_states_free(&campaign->states);
    lapse_against_close(&campaign->against);
    lapse_alloc_free(alloc, campaign, sizeof(*campaign));
}

enum lapse_status lapse_campaign_attempt(const struct lapse_campaign *campaign, uint64_t run,
                                         struct lapse_arena *arena,
                                         struct lapse_diversity *diversity,
                                         struct lapse_attempt *ret) {
    const lapse_alloc *alloc = campaign->options.alloc;
    struct lapse_choices *choices = NULL;
    struct lapse_pool pool;
    *ret = (struct lapse_attempt){.run = run, .parent = -1};
    enum lapse_status status =
        lapse_choices_open_seed(alloc, seed_of(campaign, run), &choices);
    lapse_pool_init(&pool, alloc);
    if (status == LAPSE_OK) {
        struct lapse_node *document = make(campaign, &pool, choices, diversity, ret);
        status = document == NULL ? LAPSE_NOMEM : try(campaign, document, arena, ret);
    }
    lapse_pool_free(&pool);
    lapse_choices_close(choices);
    return status;
}

enum lapse_status lapse_campaign_document(const struct lapse_campaign *campaign, uint64_t run,
                                          struct lapse_emitted *ret) {
    const lapse_alloc *alloc = campaign->options.alloc;
    struct lapse_diversity *unused = lapse_alloc_zero(alloc, sizeof(*unused));
    struct lapse_choices *choices = NULL;
    struct lapse_attempt attempt = {.run = run};
    struct lapse_pool pool;
    lapse_pool_init(&pool, alloc);
    enum lapse_status status = LAPSE_NOMEM;
    if (unused != NULL) {
        status = lapse_choices_open_seed(alloc, seed_of(campaign, run), &choices);
    }
    if (status == LAPSE_OK) {
        const struct lapse_node *document = make(campaign, &pool, choices, unused, &attempt);
        status = document == NULL ? LAPSE_NOMEM : lapse_yaml_write(document, ret, NULL);
    }
    lapse_pool_free(&pool);
    lapse_choices_close(choices);
    lapse_alloc_free(alloc, unused, sizeof(*unused));
    return status;
}

enum lapse_status lapse_campaign_shape(struct lapse_campaign *campaign,
                                       const struct lapse_plan *plan,
                                       const struct lapse_node *document,
                                       struct lapse_error *err) {
    struct lapse_emitted text = {.alloc = campaign->options.alloc};
    enum lapse_status status =
        document != NULL ? lapse_yaml_write(document, &text, err)
                         : lapse_plans_emit(campaign->options.alloc, &plan, 1, &text, err);
    if (status == LAPSE_OK) {
        status = add(campaign, text.text, text.bytes, 1);
    }
    if (status == LAPSE_OK) {
        struct entry *entry = entry_at(campaign, campaign->corpus.count - 1);
        lapse_shape(&entry->pool, entry->document);
        campaign->shapes++;
    }
    lapse_emitted_free(&text);
    return status;
}

void lapse_attempt_free(const lapse_alloc *alloc, struct lapse_attempt *attempt) {
    lapse_alloc_free(alloc, attempt->states, attempt->state_count * sizeof(*attempt->states));
    lapse_alloc_free(alloc, attempt->text, attempt->text == NULL ? 0 : attempt->text_bytes + 1);
    lapse_alloc_free(alloc, attempt->reached, attempt->reached_count * sizeof(*attempt->reached));
    attempt->states = NULL;
    attempt->reached = NULL;
    attempt->text = NULL;
}

enum lapse_status lapse_campaign_take(struct lapse_campaign *campaign,
                                      const struct lapse_attempt *attempt) {
    size_t shown = nearer(campaign, attempt) ? NEARER_SHOWN : 0;
    bool is_new;
    count(campaign, attempt);
    if (campaign->against.reach != NULL) {
        return take_walk(campaign, attempt);
    }
    for (size_t i = 0; i < attempt->state_count; i++) {
        if (!lapse_states_add(&campaign->states, attempt->states[i], &is_new)) {
            return LAPSE_NOMEM;
        }
        shown += is_new;
    }
    if (attempt->parent >= 0) {
        struct entry *parent = entry_at(campaign, (size_t)attempt->parent);
        parent->taken++;
        parent->paid += shown > 0;
    }
    if (shown == 0 || attempt->text == NULL ||
        campaign->corpus.count >= LAPSE_CAMPAIGN_CORPUS_MAX) {
        return LAPSE_OK;
    }
    campaign->totals.states_at = attempt->state_count > 0 ? attempt->run
                                                          : campaign->totals.states_at;
    return add(campaign, attempt->text, attempt->text_bytes, shown);
}

const struct lapse_campaign_totals *lapse_campaign_totals(const struct lapse_campaign *campaign) {
    return &campaign->totals;
}

size_t lapse_campaign_states(const struct lapse_campaign *campaign) {
    return campaign->states.count + campaign->against.states + campaign->against.moves;
}

bool lapse_campaign_share(const struct lapse_campaign *campaign, struct lapse_campaign_share *ret) {
    const struct lapse_against *against = &campaign->against;
    if (against->reach == NULL) {
        return false;
    }
    *ret = (struct lapse_campaign_share){against->states, against->reach->states.count,
                                         against->moves, against->reach->moves.count};
    return true;
}

bool lapse_campaign_reached(const struct lapse_campaign *campaign, size_t state) {
    return campaign->against.seen[state] != 0;
}

size_t lapse_campaign_corpus(const struct lapse_campaign *campaign) {
    return campaign->corpus.count;
}

static void count(struct lapse_campaign *campaign, const struct lapse_attempt *attempt) {
    struct lapse_campaign_totals *totals = &campaign->totals;
    bool unmet = attempt->outcome == LAPSE_TRIAL_VIOLATED && attempt->signature.unmet;
    totals->runs++;
    totals->drawn += attempt->parent < 0;
    totals->events += attempt->events;
    totals->simulated_s += (uint64_t)(attempt->simulated_ns / LAPSE_NS_PER_S);
    totals->outcomes[attempt->outcome] += !unmet;
    totals->unmet += unmet;
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        int64_t ns = attempt->slack_ns[i];
        bool less = ns >= 0 && (totals->slack_ns[i] < 0 || ns < totals->slack_ns[i]);
        totals->slack_ns[i] = less ? ns : totals->slack_ns[i];
    }
}

static uint64_t seed_of(const struct lapse_campaign *campaign, uint64_t run) {
    uint64_t hash = campaign->options.seed * UINT64_C(0x9e3779b97f4a7c15) + run + 1;
    hash = (hash ^ (hash >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ (hash >> 27)) * UINT64_C(0x94d049bb133111eb);
    return hash ^ (hash >> 31);
}

static struct entry *entry_at(const struct lapse_campaign *campaign, size_t at) {
    return *(struct entry **)lapse_list_at(&campaign->corpus, at);
}

static struct lapse_node *make(const struct lapse_campaign *campaign, struct lapse_pool *pool,
                               struct lapse_choices *choices, struct lapse_diversity *diversity,
                               struct lapse_attempt *ret) {
    if (campaign->against.reach != NULL) {
        return campaign->against.plan->explore.on
                   ? make_walk(campaign, pool, choices, ret)
                   : lapse_against_scenario(&campaign->against, pool, seed_of(campaign, ret->run));
    }
    bool anew = campaign->corpus.count == 0 ||
                (campaign->shapes == 0 &&
                 lapse_choose(choices, 2, LAPSE_CHOICE_MUTATE, LAPSE_TRAITS_MAX) == 0);
    if (anew) {
        return lapse_generate(pool, choices, campaign->options.profile, diversity);
    }
    size_t at = choose_entry(campaign, choices);
    if (campaign->shapes > 0 &&
        lapse_choose(choices, SHAKEN_MAX, LAPSE_CHOICE_MUTATE, LAPSE_TRAITS_MAX + 2) > 0) {
        /* With fault upon fault its clients soon stand still: most begin from the shape itself. */
        at = (size_t)lapse_choose(choices, campaign->shapes, LAPSE_CHOICE_MUTATE,
                                  LAPSE_TRAITS_MAX + 3);
    }
    const struct lapse_node *document = entry_at(campaign, at)->document;
    ret->parent = (int64_t)at;
    if (campaign->shapes > 0) {
        return lapse_mutate_world(pool, choices, diversity, document);
    }
    size_t other = choose_entry(campaign, choices);
    return lapse_mutate(pool, choices, diversity, document, entry_at(campaign, other)->document);
}

/* A walk drawn anew, or one that leaves an earlier one somewhere on its way. */
static struct lapse_node *make_walk(const struct lapse_campaign *campaign, struct lapse_pool *pool,
                                    struct lapse_choices *choices, struct lapse_attempt *ret) {
    struct lapse_explore_leg legs[LEGS_MAX];
    size_t count = 0, place = LEGS_MAX - 1;
    ret->own = (size_t)WALK_SHORTEST << lapse_choose(choices, WALK_LENGTHS, LAPSE_CHOICE_MUTATE,
                                                     LAPSE_TRAITS);
    if (campaign->corpus.count > 0 &&
        lapse_choose(choices, SHAKEN_MAX, LAPSE_CHOICE_MUTATE, LAPSE_TRAITS + 2) > 0) {
        size_t at = choose_entry(campaign, choices);
        const struct entry *entry = entry_at(campaign, at);
        ret->parent = (int64_t)at;
        ret->keep = (size_t)lapse_choose(choices, entry->keep + entry->own + 1,
                                         LAPSE_CHOICE_MUTATE, LAPSE_TRAITS + 3);
    }
    if (ret->keep + ret->own > WALK_MAX) {
        ret->own = WALK_SHORTEST;
    }
    legs[place] = (struct lapse_explore_leg){seed_of(campaign, ret->run), ret->own};
    count = 1;
    size_t keep = ret->keep;
    for (int64_t at = ret->parent; at >= 0 && keep > 0 && place > 0;) {
        const struct entry *entry = entry_at(campaign, (size_t)at);
        if (keep > entry->keep) {
            legs[--place] =
                (struct lapse_explore_leg){seed_of(campaign, entry->run), keep - entry->keep};
            count++;
            keep = entry->keep;
        }
        at = entry->parent;
    }
    return lapse_against_walk(&campaign->against, pool, &legs[place], count);
}

/* The best of a few: what showed much and was seldom changed, or was changed to some effect. */
static size_t choose_entry(const struct lapse_campaign *campaign, struct lapse_choices *choices) {
    size_t best = 0;
    uint64_t best_worth = 0;
    for (int i = 0; i < TRIES; i++) {
        size_t at = (size_t)lapse_choose(choices, campaign->corpus.count, LAPSE_CHOICE_MUTATE,
                                         LAPSE_TRAITS_MAX + 1);
        const struct entry *entry = entry_at(campaign, at);
        uint64_t worth = 1000 * (1 + entry->shown + 4 * entry->paid) / (4 + entry->taken);
        if (i == 0 || worth > best_worth) {
            best = at;
            best_worth = worth;
        }
    }
    return best;
}

static enum lapse_status try(const struct lapse_campaign *campaign,
                             const struct lapse_node *document, struct lapse_arena *arena,
                             struct lapse_attempt *ret) {
    const struct lapse_trial_options options = {
        .alloc = campaign->options.alloc, .arena = arena, .seed = 1,
        .promise_strict = campaign->options.promise_strict,
        .orders = campaign->against.reach != NULL && !campaign->against.plan->explore.on};
    struct lapse_trial trial;
    enum lapse_status status = lapse_trial_run(document, &options, &trial, NULL);
    if (status == LAPSE_OK) {
        ret->outcome = trial.outcome;
        ret->signature = trial.signature;
        (void)memcpy(ret->why, trial.err.message, sizeof ret->why);
        status = look(campaign, &trial, ret);
    }
    lapse_trial_free(&trial);
    return status;
}

static enum lapse_status look(const struct lapse_campaign *campaign,
                              const struct lapse_trial *trial, struct lapse_attempt *ret) {
    const lapse_alloc *alloc = campaign->options.alloc;
    const struct lapse_history *history = trial->run.history;
    struct lapse_states found;
    bool good = true;
    bool against = campaign->against.reach != NULL;
    lapse_states_init(&found, alloc);
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        ret->slack_ns[i] = -1;
    }
    if (history != NULL && lapse_history_count(history) > 0) {
        ret->events = lapse_history_count(history);
        ret->simulated_ns = lapse_history_at(history, ret->events - 1)->at.ns;
        const struct lapse_slack *slacks = lapse_judge_verdict(trial->run.judge)->slacks;
        for (size_t i = 0; i < LAPSE_SLACKS; i++) {
            ret->slack_ns[i] = slacks[i].known ? slacks[i].least.ns : -1;
        }
        good = against ? lapse_against_look(&campaign->against, trial, ret) == LAPSE_OK
                       : lapse_states_collect(history, &campaign->states, &found);
    }
    if (found.count > 0 && good) {
        ret->states = lapse_alloc_zero(alloc, found.count * sizeof(*ret->states));
        good = ret->states != NULL;
        for (size_t i = 0; good && i < found.cap; i++) {
            if (found.slots[i] != 0) {
                ret->states[ret->state_count++] = found.slots[i];
            }
        }
    }
    bool failed = ret->outcome == LAPSE_TRIAL_VIOLATED || ret->outcome == LAPSE_TRIAL_BROKEN;
    bool kept = failed || (!against && (found.count > 0 || nearer(campaign, ret)));
    lapse_states_free(&found);
    return good && (!kept || keep_text(alloc, &trial->text, ret)) ? LAPSE_OK : LAPSE_NOMEM;
}

/* Whether it came nearer to a broken promise than any run before it. */
static bool nearer(const struct lapse_campaign *campaign, const struct lapse_attempt *attempt) {
    bool less = false;
    for (size_t i = 0; i < LAPSE_SLACKS; i++) {
        int64_t ns = attempt->slack_ns[i], before = campaign->totals.slack_ns[i];
        less = less || (ns >= 0 && (before < 0 || ns < before));
    }
    return less;
}

static bool keep_text(const lapse_alloc *alloc, const struct lapse_emitted *text,
                      struct lapse_attempt *ret) {
    ret->text = lapse_alloc_zero(alloc, text->bytes + 1);
    if (ret->text != NULL) {
        ret->text_bytes = text->bytes;
        memcpy(ret->text, text->text, text->bytes);
    }
    return ret->text != NULL;
}

static enum lapse_status add(struct lapse_campaign *campaign, const char *text, size_t bytes,
                             size_t shown) {
    const lapse_alloc *alloc = campaign->options.alloc;
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    struct entry *entry = lapse_alloc_zero(alloc, sizeof(*entry));
    if (entry == NULL) {
        return LAPSE_NOMEM;
    }
    lapse_diag_list_init(&diags, alloc);
    lapse_pool_init(&entry->pool, alloc);
    entry->shown = shown;
    bool good = lapse_yaml_parse(&entry->pool, "corpus", text, bytes, &documents, &diags);
    if (good && documents.count > 0) {
        entry->document = ((struct lapse_document *)lapse_list_at(&documents, 0))->root;
    }
    struct entry **place =
        entry->document == NULL ? NULL : lapse_list_add(alloc, &campaign->corpus);
    if (place != NULL) {
        *place = entry;
    } else {
        lapse_pool_free(&entry->pool);
        lapse_alloc_free(alloc, entry, sizeof(*entry));
    }
    lapse_list_free(alloc, &documents);
    lapse_diag_list_free(&diags);
    return place != NULL ? LAPSE_OK : LAPSE_NOMEM;
}

/* A walk that reached something new is one to go on from. */
static enum lapse_status take_walk(struct lapse_campaign *campaign,
                                   const struct lapse_attempt *attempt) {
    const lapse_alloc *alloc = campaign->options.alloc;
    size_t shown = lapse_against_take(&campaign->against, attempt);
    bool walk = campaign->against.plan->explore.on;
    if (attempt->parent >= 0) {
        struct entry *parent = entry_at(campaign, (size_t)attempt->parent);
        parent->taken++;
        parent->paid += shown > 0;
    }
    campaign->totals.states_at = shown > 0 ? attempt->run : campaign->totals.states_at;
    if (shown == 0 || !walk || campaign->corpus.count >= LAPSE_CAMPAIGN_CORPUS_MAX) {
        return LAPSE_OK;
    }
    struct entry **place = lapse_list_add(alloc, &campaign->corpus);
    struct entry *entry = place == NULL ? NULL : lapse_alloc_zero(alloc, sizeof(*entry));
    if (entry == NULL) {
        campaign->corpus.count -= place != NULL;
        return LAPSE_NOMEM;
    }
    lapse_pool_init(&entry->pool, alloc);
    entry->shown = shown;
    entry->run = attempt->run;
    entry->parent = attempt->keep > 0 ? attempt->parent : -1;
    entry->keep = attempt->keep;
    entry->own = attempt->own;
    *place = entry;
    return LAPSE_OK;
}
