/* The shrinker's course: the plan as a tree, its first run, passes until none finds anything more,
 * and then the reasons. Passes work on trees as they come; in between the tree is written as its
 * plan says, so that what comes out, given in again, comes out the same. */
#include "shrink_parts.h"

#include <stdio.h>
#include <string.h>

enum {
    ROUNDS_MAX = 12,
    EVENTS_SPARE = 1000,
    EVENTS_TIMES = 3,
    FIRINGS_SPARE = 1000, /* of loops, beyond those of the document that was given */
    SEEDS_TRIED_MAX = 1000
};

static enum lapse_status init(struct lapse_shrinker *s,
                              const struct lapse_shrink_options *options, uint64_t seed,
                              struct lapse_shrunk *ret, struct lapse_error *err);
static enum lapse_status begin(struct lapse_shrinker *s, const struct lapse_plan *plan);
static enum lapse_status read_plan(struct lapse_shrinker *s, const struct lapse_plan *plan,
                                   struct lapse_pool *pool, struct lapse_node **ret);
static enum lapse_status first_run(struct lapse_shrinker *s);
static enum lapse_status settle_seed(struct lapse_shrinker *s);
static void aim(struct lapse_shrinker *s, const struct lapse_trial *trial);
static void passes(struct lapse_shrinker *s);
static bool rewrite(struct lapse_shrinker *s);
static bool same_text(struct lapse_shrinker *s, const struct lapse_node *a,
                      const struct lapse_node *b);
static enum lapse_status finish(struct lapse_shrinker *s, enum lapse_status status);

enum lapse_status lapse_shrink_plan(const struct lapse_plan *plan,
                                    const struct lapse_shrink_options *options,
                                    struct lapse_shrunk *ret, struct lapse_error *err) {
    struct lapse_shrinker s;
    enum lapse_status status = init(&s, options, lapse_plan_seed(plan, options->seed), ret, err);
    if (status == LAPSE_OK) {
        status = begin(&s, plan);
    }
    if (status == LAPSE_OK) {
        status = first_run(&s);
    }
    if (status == LAPSE_OK && ret->fails && s.seed > INT64_MAX) {
        status = settle_seed(&s);
    }
    if (status == LAPSE_OK && ret->fails) {
        passes(&s);
        status = s.status == LAPSE_OK ? lapse_shrink_tell(&s) : s.status;
    }
    return finish(&s, status);
}

enum lapse_status lapse_shrink(const struct lapse_node *document, int32_t row,
                               const struct lapse_shrink_options *options,
                               struct lapse_shrunk *ret, struct lapse_error *err) {
    struct lapse_trial trial;
    const struct lapse_trial_options trial_options = {.alloc = options->alloc,
                                                      .arena = options->arena,
                                                      .seed = options->seed,
                                                      .row = row,
                                                      .promise_strict = options->promise_strict,
                                                      .no_model = options->no_model};
    *ret = (struct lapse_shrunk){.text = {.alloc = options->alloc}};
    lapse_pool_init(&ret->pool, options->alloc);
    enum lapse_status status =
        lapse_shrink_trial(options, document, &trial_options, &trial, err);
    if (status == LAPSE_OK && trial.plan == NULL) {
        status = lapse_error_set(err, trial.death != 0 ? LAPSE_BUG : LAPSE_INVALID, "%.400s",
                                 trial.err.message);
    } else if (status == LAPSE_OK) {
        status = lapse_shrink_plan(trial.plan, options, ret, err);
    }
    lapse_trial_free(&trial);
    return status;
}

enum lapse_status lapse_shrink_explain(const struct lapse_node *document,
                                       const struct lapse_shrink_options *options,
                                       struct lapse_shrunk *ret, struct lapse_error *err) {
    struct lapse_shrinker s;
    enum lapse_status status = init(&s, options, options->seed, ret, err);
    s.as_is = true;
    if (status == LAPSE_OK) {
        struct lapse_node *tree = lapse_shrink_copy(&s.draft_pool, document);
        status = tree == NULL ? LAPSE_NOMEM : LAPSE_OK;
        if (tree != NULL) {
            lapse_shrink_take(&s, &s.draft_pool, tree);
            status = s.status == LAPSE_OK ? first_run(&s) : s.status;
        }
    }
    if (status == LAPSE_OK && ret->fails) {
        status = lapse_shrink_tell(&s);
    }
    return finish(&s, status);
}

void lapse_shrunk_free(struct lapse_shrunk *shrunk) {
    lapse_emitted_free(&shrunk->text);
    lapse_pool_free(&shrunk->pool);
    *shrunk = (struct lapse_shrunk){.fails = false};
}

void lapse_shrink_structure(struct lapse_shrinker *s) {
    do {
        s->changed = false;
        lapse_shrink_faults(s);
        lapse_shrink_names(s);
        lapse_shrink_lines(s);
        lapse_shrink_words(s);
    } while (s->changed && !s->spent && s->status == LAPSE_OK);
}

static enum lapse_status init(struct lapse_shrinker *s,
                              const struct lapse_shrink_options *options, uint64_t seed,
                              struct lapse_shrunk *ret, struct lapse_error *err) {
    *s = (struct lapse_shrinker){.options = options, .ret = ret, .err = err, .status = LAPSE_OK};
    *ret = (struct lapse_shrunk){.text = {.alloc = options->alloc}};
    s->spots.item_bytes = s->lines.item_bytes = sizeof(struct lapse_shrink_spot);
    s->seed = seed;
    s->tries_max = options->tries_max > 0 ? options->tries_max : LAPSE_SHRINK_TRIES_MAX;
    lapse_pool_init(&ret->pool, options->alloc);
    lapse_pool_init(&s->texts, options->alloc);
    lapse_pool_init(&s->tree_pool, options->alloc);
    lapse_pool_init(&s->draft_pool, options->alloc);
    ret->others = lapse_pool_take(&ret->pool, LAPSE_SHRINK_OTHERS_MAX * sizeof(*ret->others));
    return ret->others == NULL ? LAPSE_NOMEM : LAPSE_OK;
}

/* What it is called is told at the end; till then its name must not look like one of its clients.
 * A seed of its own stays aside too. */
static enum lapse_status begin(struct lapse_shrinker *s, const struct lapse_plan *plan) {
    struct lapse_node *tree = NULL;
    enum lapse_status status = read_plan(s, plan, &s->draft_pool, &tree);
    if (status != LAPSE_OK) {
        return status;
    }
    int64_t seed = lapse_node_index(tree, "seed");
    if (seed >= 0) {
        lapse_shrink_cut(tree, (size_t)seed, 1);
    }
    if (!lapse_shrink_put(s, tree, "name", lapse_shrink_scalar(s, "", 0))) {
        return LAPSE_NOMEM;
    }
    lapse_node_get(tree, "name")->quoted = true;
    lapse_shrink_take(s, &s->draft_pool, tree);
    return s->status;
}

/* The plan's text, as a tree in `pool` whose texts live in `texts`. */
static enum lapse_status read_plan(struct lapse_shrinker *s, const struct lapse_plan *plan,
                                   struct lapse_pool *pool, struct lapse_node **ret) {
    struct lapse_emitted text = {.alloc = s->options->alloc};
    enum lapse_status status = lapse_plans_emit(s->options->alloc, &plan, 1, &text, s->err);
    if (status != LAPSE_OK) {
        return status;
    }
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    lapse_diag_list_init(&diags, s->options->alloc);
    if (!lapse_yaml_parse(&s->texts, "", text.text, text.bytes, &documents, &diags)) {
        status = LAPSE_NOMEM;
    } else if (diags.count > 0 || documents.count != 1) {
        status = lapse_error_set(s->err, LAPSE_INVALID, "`%.120s` cannot be written and read back",
                                 plan->name);
    } else {
        const struct lapse_document *document = lapse_list_at(&documents, 0);
        *ret = lapse_shrink_copy(pool, document->root);
        status = *ret == NULL ? LAPSE_NOMEM : LAPSE_OK;
    }
    lapse_list_free(s->options->alloc, &documents);
    lapse_diag_list_free(&diags);
    lapse_emitted_free(&text);
    return status;
}

static enum lapse_status first_run(struct lapse_shrinker *s) {
    struct lapse_trial trial;
    enum lapse_status status = lapse_shrink_run(s, s->tree, &trial);
    if (status == LAPSE_OK) {
        switch (trial.outcome) {
        case LAPSE_TRIAL_VIOLATED:
            aim(s, &trial);
            break;
        case LAPSE_TRIAL_BROKEN:
            status = lapse_error_set(s->err, LAPSE_BUG, "%.400s", trial.err.message);
            break;
        case LAPSE_TRIAL_REFUSED:
            status = lapse_error_set(s->err, LAPSE_INVALID, "%.400s", trial.err.message);
            break;
        default:
            break;
        }
    }
    lapse_trial_free(&trial);
    return status;
}

/* A document can name no seed as high as a command can: a lower one is taken under which it fails
 * alike. */
static enum lapse_status settle_seed(struct lapse_shrinker *s) {
    const uint64_t given = s->seed;
    bool found = false;
    for (s->seed = 1; !found && s->status == LAPSE_OK && s->seed <= SEEDS_TRIED_MAX; s->seed++) {
        struct lapse_trial trial;
        s->tries++;
        if (lapse_shrink_run(s, s->tree, &trial) == LAPSE_OK && lapse_shrink_alike(s, &trial)) {
            found = true;
            aim(s, &trial);
        }
        lapse_trial_free(&trial);
    }
    s->seed = found ? s->seed - 1 : given;
    return s->status;
}

static void aim(struct lapse_shrinker *s, const struct lapse_trial *trial) {
    const struct lapse_verdict *verdict = lapse_judge_verdict(trial->run.judge);
    s->target = s->ret->signature = trial->signature;
    s->ret->fails = true;
    if (trial->signature.unmet && verdict->event >= 0) {
        int32_t step = lapse_history_at(trial->run.history, (size_t)verdict->event)->step;
        const struct lapse_step_check *check =
            step < 0 ? NULL : &trial->plan->the_case.checks[step];
        bool watch = check != NULL && strcmp(check->verb, "events") == 0;
        const char *object = check == NULL || watch ? NULL : check->object;
        s->object = object == NULL ? NULL : lapse_pool_text(&s->texts, object, strlen(object));
    }
    s->about_object = lapse_shrink_object(s, trial);
    s->acts = lapse_shrink_acts(trial);
    s->size = lapse_shrink_size_of(trial, s->tree);
    s->ret->before = s->size;
    s->rounds_max = lapse_shrink_rounds(trial->plan);
    s->rounds_max = s->rounds_max < FIRINGS_SPARE ? FIRINGS_SPARE : s->rounds_max;
    s->events_max = EVENTS_SPARE + EVENTS_TIMES * trial->run.events;
    if (s->options->progress != NULL) {
        s->options->progress(s->options->ctx, &s->size, 0);
    }
}

/* Until a tree, written as its plan says, comes out as it went in. */
static void passes(struct lapse_shrinker *s) {
    bool more = true;
    lapse_shrink_chance(s);
    for (int round = 0; more && round < ROUNDS_MAX; round++) {
        struct lapse_pool pool;
        lapse_pool_init(&pool, s->options->alloc);
        struct lapse_node *before = lapse_shrink_copy(&pool, s->tree);
        s->status = before == NULL ? LAPSE_NOMEM : s->status;
        do {
            lapse_shrink_structure(s);
            lapse_shrink_flat(s);
            s->changed = false;
            lapse_shrink_values(s);
            lapse_shrink_rename(s);
        } while (s->changed && !s->spent && s->status == LAPSE_OK);
        more = rewrite(s) && !s->spent && s->status == LAPSE_OK &&
               !same_text(s, before, s->tree);
        lapse_pool_free(&pool);
    }
    s->ret->minimal = !s->spent && !more && s->status == LAPSE_OK;
}

/* The tree as its plan is written. */
static bool rewrite(struct lapse_shrinker *s) {
    struct lapse_trial trial;
    struct lapse_node *tree = NULL;
    if (s->status != LAPSE_OK) {
        return false;
    }
    lapse_pool_free(&s->draft_pool);
    lapse_pool_init(&s->draft_pool, s->options->alloc);
    s->status = lapse_shrink_run(s, s->tree, &trial);
    if (s->status == LAPSE_OK && trial.plan != NULL) {
        s->status = read_plan(s, trial.plan, &s->draft_pool, &tree);
    }
    lapse_trial_free(&trial);
    if (s->status == LAPSE_OK && tree != NULL) {
        s->status = lapse_shrink_run(s, tree, &trial);
        if (s->status == LAPSE_OK && lapse_shrink_alike(s, &trial)) {
            s->size = lapse_shrink_size_of(&trial, tree);
            lapse_shrink_take(s, &s->draft_pool, tree);
        }
        lapse_trial_free(&trial);
    }
    return s->status == LAPSE_OK;
}

static bool same_text(struct lapse_shrinker *s, const struct lapse_node *a,
                      const struct lapse_node *b) {
    struct lapse_emitted texts[2] = {{.alloc = s->options->alloc}, {.alloc = s->options->alloc}};
    bool written = lapse_yaml_write(a, &texts[0], NULL) == LAPSE_OK &&
                   lapse_yaml_write(b, &texts[1], NULL) == LAPSE_OK;
    s->status = written ? s->status : LAPSE_NOMEM;
    bool same = written && texts[0].bytes == texts[1].bytes &&
                memcmp(texts[0].text, texts[1].text, texts[0].bytes) == 0;
    lapse_emitted_free(&texts[0]);
    lapse_emitted_free(&texts[1]);
    return same;
}

static enum lapse_status finish(struct lapse_shrinker *s, enum lapse_status status) {
    const lapse_alloc *alloc = s->options->alloc;
    s->ret->tries = s->tries;
    s->ret->after = s->size;
    lapse_list_free(alloc, &s->spots);
    lapse_list_free(alloc, &s->lines);
    lapse_alloc_free(alloc, s->seen.slots, s->seen.cap * sizeof(*s->seen.slots));
    lapse_pool_free(&s->draft_pool);
    lapse_pool_free(&s->tree_pool);
    lapse_pool_free(&s->texts);
    if (status == LAPSE_NOMEM) {
        return lapse_error_set(s->err, LAPSE_NOMEM, "memory ran out while shrinking");
    }
    return status;
}
