/* The words of a document: what it is called, which store it runs on, its sections, its verdict. */
#include <string.h>

#include "emitter.h"

static void emit_section(struct lapse_emitter *e, struct lapse_node *map,
                         enum lapse_emit_section section);
static struct lapse_node *actors_of(struct lapse_emitter *e);
static struct lapse_node *actor_of(struct lapse_emitter *e, const struct lapse_setup_actor *actor);
static struct lapse_node *lines_of(struct lapse_emitter *e, enum lapse_emit_section section,
                                   enum lapse_where where);
static struct lapse_node *policy_value(struct lapse_emitter *e, enum lapse_policy policy,
                                       unsigned value);

/* ---- `thing` is a struct lapse_plan. */
static void emit_lapse(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    (void)thing;
    lapse_emit_put(e, map, word, e->first ? lapse_emit_text(e, "1") : NULL);
}

static void emit_name(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan *plan = thing;
    lapse_emit_put(e, map, word, lapse_emit_text(e, plan->name));
}

static void emit_profile(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_plan *plan = thing;
    struct lapse_bytes strict = lapse_bytes_of(lapse_profile_word(LAPSE_PROFILE_STRICT));
    if (!lapse_bytes_equal(plan->setup.profile, strict)) {
        lapse_emit_put(e, map, word, lapse_emit_bytes(e, plan->setup.profile));
    }
}

/* Those that differ from the profile's. */
static void emit_policy(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_plan *plan = thing;
    enum lapse_profile profile = LAPSE_PROFILE_STRICT;
    struct lapse_node *policies = lapse_emit_map(e);
    if (!lapse_profile_find(plan->setup.profile, &profile)) {
        lapse_emit_refuse(e, "there is no such profile");
    }
    const struct lapse_policies usual = lapse_policies_of(profile);
    for (int i = 0; i < LAPSE_POLICIES; i++) {
        unsigned value = plan->setup.policies.value[i];
        if (value != usual.value[i]) {
            lapse_emit_put(e, policies, lapse_policy_word((enum lapse_policy)i),
                           policy_value(e, (enum lapse_policy)i, value));
        }
    }
    lapse_emit_put(e, map, word, policies != NULL && policies->count > 0 ? policies : NULL);
}

static struct lapse_node *policy_value(struct lapse_emitter *e, enum lapse_policy policy,
                                       unsigned value) {
    char word[32];
    const char *rest = lapse_policy_values(policy);
    for (unsigned i = 0; (rest = lapse_words_next(rest, word, sizeof(word))) != NULL; i++) {
        if (i == value) {
            return lapse_emit_text(e, word);
        }
    }
    lapse_emit_refuse(e, "the policy `%s` has no value %u", lapse_policy_word(policy), value);
    return NULL;
}

/* What a document gets where it says nothing hangs on its lines, so it is said. */
static void emit_store(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan *plan = thing;
    if (plan->store == LAPSE_STORE_NONE) {
        return;
    }
    struct lapse_node *store = lapse_emit_map(e);
    lapse_emit_all(e, LAPSE_WORD_STORE, store, plan);
    lapse_emit_put(e, map, word, store);
}

static void emit_kind(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan *plan = thing;
    lapse_emit_put(e, map, word,
                   lapse_emit_text(e, plan->store == LAPSE_STORE_SQLITE ? "sqlite" : "memory"));
}

static void emit_sync(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan *plan = thing;
    if (plan->setup.sync != LAPSE_SYNC_FULL) {
        lapse_emit_put(
            e, map, word,
            lapse_emit_text(e, plan->setup.sync == LAPSE_SYNC_NORMAL ? "normal" : "none"));
    }
}

static void emit_epoch(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan *plan = thing;
    char date[LAPSE_TIME_TEXT_MAX];
    if (plan->setup.epoch.ns != LAPSE_EPOCH_DEFAULT_S * LAPSE_NS_PER_S) {
        lapse_emit_put(e, map, word, lapse_emit_text(e, lapse_wall_print(plan->setup.epoch, date)));
    }
}

static void emit_bounds(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    struct lapse_node *bounds = lapse_emit_map(e);
    lapse_emit_all(e, LAPSE_WORD_BOUND, bounds, thing);
    lapse_emit_put(e, map, word, bounds != NULL && bounds->count > 0 ? bounds : NULL);
}

static void emit_bound_rate(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                            const void *thing) {
    const struct lapse_plan *plan = thing;
    if (plan->setup.rate_ppb != 0) {
        lapse_emit_put(e, map, word, lapse_emit_rate(e, plan->setup.rate_ppb, false));
    }
}

static void emit_bound_wall(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                            const void *thing) {
    const struct lapse_plan *plan = thing;
    if (plan->setup.wall_bound.ns != 0) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, plan->setup.wall_bound.ns));
    }
}

static void emit_clocks(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_plan *plan = thing;
    struct lapse_node *clocks = lapse_emit_map(e);
    for (size_t i = 0; i < plan->clock_count; i++) {
        const struct lapse_node *whose = lapse_emit_party(e, plan->clocks[i].whose);
        struct lapse_node *clock = lapse_emit_map(e);
        lapse_emit_all(e, LAPSE_WORD_CLOCK, clock, &plan->clocks[i]);
        lapse_emit_put(e, clocks, whose == NULL ? "" : whose->text, clock);
    }
    lapse_emit_put(e, map, word, plan->clock_count > 0 ? clocks : NULL);
}

static void emit_chaos(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_plan *plan = thing;
    struct lapse_node *chaos = lapse_emit_map(e);
    if (plan->chaos.on) {
        lapse_emit_all(e, LAPSE_WORD_CHAOS, chaos, &plan->chaos);
        lapse_emit_put(e, map, word, chaos);
    }
}

static void emit_buckets(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_setup *setup = &((const struct lapse_plan *)thing)->setup;
    struct lapse_node *buckets = lapse_emit_map(e);
    for (size_t i = 0; i < setup->bucket_count; i++) {
        const struct lapse_node *name = lapse_emit_bytes(e, setup->buckets[i].name);
        struct lapse_node *bucket = lapse_emit_map(e);
        lapse_emit_all(e, LAPSE_WORD_BUCKET, bucket, &setup->buckets[i]);
        lapse_emit_put(e, buckets, name == NULL ? "" : name->text, bucket);
    }
    lapse_emit_put(e, map, word, setup->bucket_count > 0 ? buckets : NULL);
}

/* ---- Words of a bucket. `thing` is a struct lapse_setup_bucket. */
static void emit_ttl(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                     const void *thing) {
    const struct lapse_term *term = &((const struct lapse_setup_bucket *)thing)->config.term;
    bool idle = strcmp(word, "idle") == 0;
    if ((term->given & (idle ? LAPSE_TERM_IDLE : LAPSE_TERM_TTL)) != 0) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, idle ? term->idle.ns : term->ttl.ns));
    }
}

static void emit_cap(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                     const void *thing) {
    const struct lapse_setup_bucket *bucket = thing;
    if (bucket->config.term.cap.ns != 0) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, bucket->config.term.cap.ns));
    }
}

static void emit_markers(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const int64_t ns = ((const struct lapse_setup_bucket *)thing)->config.markers.ns;
    if (ns != 0) {
        lapse_emit_put(e, map, word,
                       ns == 3600 * LAPSE_NS_PER_S ? lapse_emit_text(e, "true")
                                                   : lapse_emit_span(e, ns));
    }
}

static void emit_locks(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_setup_bucket *bucket = thing;
    lapse_emit_put(e, map, word, lapse_emit_flag(e, bucket->locks));
}

static void emit_history(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_setup_bucket *bucket = thing;
    if (bucket->config.history != 0) {
        lapse_emit_put(e, map, word, lapse_emit_number(e, bucket->config.history));
    }
}

static void emit_first(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_setup_bucket *bucket = thing;
    if (bucket->config.first_revision != 0) {
        lapse_emit_put(e, map, word, lapse_emit_number(e, bucket->config.first_revision));
    }
}

static void emit_resources(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                           const void *thing) {
    const struct lapse_setup *setup = &((const struct lapse_plan *)thing)->setup;
    struct lapse_node *resources = lapse_emit_map(e);
    for (size_t i = 0; i < setup->resource_count; i++) {
        const struct lapse_node *name = lapse_emit_bytes(e, setup->resources[i].name);
        struct lapse_node *resource = lapse_emit_map(e);
        lapse_emit_all(e, LAPSE_WORD_RESOURCE, resource, &setup->resources[i]);
        lapse_emit_put(e, resources, name == NULL ? "" : name->text, resource);
    }
    lapse_emit_put(e, map, word, setup->resource_count > 0 ? resources : NULL);
}

/* ---- Sections. Their order is that of their steps: where the table has one, the next that has
 * something to say stands in the document. `expect` waits for its own place if it is the last. */
static void emit_sections(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                          const void *thing) {
    (void)thing;
    bool last = strcmp(word, "expect") == 0;
    if (e->plan->explore.on) {
        return; /* a protocol has no lines */
    }
    size_t before = map->count;
    while (e->section_at < LAPSE_EMIT_SECTIONS && (last || map->count == before)) {
        enum lapse_emit_section next = e->sections[e->section_at];
        if (!last && next == LAPSE_EMIT_EXPECT && e->section_at + 1 == LAPSE_EMIT_SECTIONS) {
            return;
        }
        e->section_at++;
        emit_section(e, map, next);
    }
}

static void emit_section(struct lapse_emitter *e, struct lapse_node *map,
                         enum lapse_emit_section section) {
    struct lapse_node *lines = NULL;
    switch (section) {
    case LAPSE_EMIT_ACTORS:
        lapse_emit_put(e, map, "actors", actors_of(e));
        return;
    case LAPSE_EMIT_FAULTS:
        lapse_emit_put(e, map, "faults", lines_of(e, section, LAPSE_WHERE_FAULTS));
        return;
    case LAPSE_EMIT_EXPECT:
        lapse_emit_put(e, map, "expect", lines_of(e, section, LAPSE_WHERE_EXPECT));
        return;
    case LAPSE_EMIT_STEPS:
    case LAPSE_EMIT_SECTIONS:
        break;
    }
    for (size_t i = 0; i < e->plan->task_count; i++) {
        if (e->plan->tasks[i].from_steps) {
            lapse_emit_take_task(e, i);
        }
    }
    lines = lines_of(e, section, LAPSE_WHERE_STEPS);
    /* A document has one of the two sections at least. */
    bool alone = lapse_emit_is_usual(&e->plan->setup) && e->plan->task_count == 0;
    lapse_emit_put(e, map, "steps", lines == NULL && alone ? lapse_emit_seq(e) : lines);
}

static struct lapse_node *lines_of(struct lapse_emitter *e, enum lapse_emit_section section,
                                   enum lapse_where where) {
    struct lapse_node *list = lapse_emit_seq(e);
    for (size_t i = 0; i < e->plan->step_count; i++) {
        if (e->section_of[i] == (int8_t)section) {
            lapse_emit_add(e, list, lapse_emit_line(e, where, (int32_t)i));
        }
    }
    return list != NULL && list->count > 0 ? list : NULL;
}

/* The one actor that a document has without `actors`, and nothing said of it. */
bool lapse_emit_is_usual(const struct lapse_setup *setup) {
    const struct lapse_setup_actor *actor = setup->actors;
    return setup->actor_count == 1 && !actor->careful && actor->margin.ns == 0 &&
           actor->owner.len == 0 && !actor->timer_boot && actor->program.len == 0 &&
           lapse_bytes_equal(actor->name, lapse_bytes_of("client"));
}

/* Names alone are a list. */
static struct lapse_node *actors_of(struct lapse_emitter *e) {
    const struct lapse_setup *setup = &e->plan->setup;
    struct lapse_node *map = lapse_emit_map(e);
    struct lapse_node *list = lapse_emit_seq(e);
    bool words = false;
    for (size_t i = 0; map != NULL && i < setup->actor_count; i++) {
        struct lapse_node *name = lapse_emit_bytes(e, setup->actors[i].name);
        struct lapse_node *actor = actor_of(e, &setup->actors[i]);
        words = words || (actor != NULL && (actor->kind == LAPSE_NODE_SEQ || actor->count > 0));
        lapse_emit_put(e, map, name == NULL ? "" : name->text, actor);
        lapse_emit_add(e, list, name);
    }
    if (words) {
        return map;
    }
    return lapse_emit_is_usual(setup) ? NULL : list;
}

/* A map of words; one task `main` and nothing else is written as its list. */
static struct lapse_node *actor_of(struct lapse_emitter *e, const struct lapse_setup_actor *actor) {
    struct lapse_node *words = lapse_emit_map(e);
    lapse_emit_all(e, LAPSE_WORD_ACTOR, words, actor);
    const struct lapse_node *tasks = lapse_node_get(words, "tasks");
    struct lapse_node *main = lapse_node_get(tasks, "main");
    return words != NULL && words->count == 1 && main != NULL && tasks->count == 1 ? main : words;
}

static void emit_run_for(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_plan *plan = thing;
    lapse_emit_put(e, map, word, plan->has_run_for ? lapse_emit_span(e, plan->run_for_ns) : NULL);
}

static void emit_seed(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan *plan = thing;
    lapse_emit_put(e, map, word, plan->has_seed ? lapse_emit_number(e, plan->seed) : NULL);
}

static void emit_sometimes(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                           const void *thing) {
    const struct lapse_case *the_case = &((const struct lapse_plan *)thing)->the_case;
    struct lapse_node *list = lapse_emit_seq(e);
    for (size_t i = 0; i < the_case->sometimes_count; i++) {
        lapse_emit_add(e, list, lapse_emit_pattern(e, &the_case->sometimes[i]));
    }
    lapse_emit_put(e, map, word, the_case->sometimes_count > 0 ? list : NULL);
}

static void emit_measures(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                          const void *thing) {
    const struct lapse_case *the_case = &((const struct lapse_plan *)thing)->the_case;
    struct lapse_node *measures = lapse_emit_map(e);
    for (size_t i = 0; i < the_case->measure_count; i++) {
        const struct lapse_node *name = lapse_emit_bytes(e, the_case->measures[i].name);
        struct lapse_node *measure = lapse_emit_map(e);
        lapse_emit_all(e, LAPSE_WORD_MEASURE, measure, &the_case->measures[i]);
        lapse_emit_put(e, measures, name == NULL ? "" : name->text, measure);
    }
    lapse_emit_put(e, map, word, the_case->measure_count > 0 ? measures : NULL);
}

/* ---- `thing` is a struct lapse_measure. */
static void emit_measure(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_measure *measure = thing;
    const struct {
        const char *word;
        enum lapse_measure_kind kind;
        const struct lapse_pattern *pattern;
    } rows[] = {
        {"from", LAPSE_MEASURE_BETWEEN, &measure->from},
        {"to", LAPSE_MEASURE_BETWEEN, &measure->to},
        {"count", LAPSE_MEASURE_COUNT, &measure->pattern},
        {"total", LAPSE_MEASURE_TOTAL, &measure->pattern},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, word) == 0 && rows[i].kind == measure->kind) {
            lapse_emit_put(e, map, word, lapse_emit_pattern(e, rows[i].pattern));
        }
    }
}

static void emit_violates(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                          const void *thing) {
    const struct lapse_case *the_case = &((const struct lapse_plan *)thing)->the_case;
    struct lapse_node *list = lapse_emit_seq(e);
    for (size_t i = 0; i < the_case->violates_count; i++) {
        lapse_emit_add(e, list, lapse_emit_text(e, the_case->violates[i]));
    }
    lapse_emit_put(e, map, word, the_case->violates_count > 0 ? list : NULL);
}

const struct lapse_emit_row *lapse_emit_setup_rows(size_t *ret_count) {
    static const struct lapse_emit_row rows[] = {
        {LAPSE_WORD_TOP, "lapse", emit_lapse},
        {LAPSE_WORD_TOP, "name", emit_name},
        {LAPSE_WORD_TOP, "about", NULL},
        {LAPSE_WORD_TOP, "tags", NULL},
        {LAPSE_WORD_TOP, "profile", emit_profile},
        {LAPSE_WORD_TOP, "policy", emit_policy},
        {LAPSE_WORD_TOP, "store", emit_store},
        {LAPSE_WORD_TOP, "epoch", emit_epoch},
        {LAPSE_WORD_TOP, "bounds", emit_bounds},
        {LAPSE_WORD_TOP, "clocks", emit_clocks},
        {LAPSE_WORD_TOP, "chaos", emit_chaos},
        {LAPSE_WORD_TOP, "buckets", emit_buckets},
        {LAPSE_WORD_TOP, "resources", emit_resources},
        {LAPSE_WORD_TOP, "actors", emit_sections},
        {LAPSE_WORD_TOP, "faults", emit_sections},
        {LAPSE_WORD_TOP, "steps", emit_sections},
        {LAPSE_WORD_TOP, "seed", emit_seed},
        {LAPSE_WORD_TOP, "run_for", emit_run_for},
        {LAPSE_WORD_TOP, "expect", emit_sections},
        {LAPSE_WORD_TOP, "sometimes", emit_sometimes},
        {LAPSE_WORD_TOP, "measure", emit_measures},
        {LAPSE_WORD_TOP, "vary", NULL},
        {LAPSE_WORD_TOP, "violates", emit_violates},
        {LAPSE_WORD_TOP, "like", NULL},
        {LAPSE_WORD_TOP, "change", NULL},
        {LAPSE_WORD_TOP, "drop", NULL},
        {LAPSE_WORD_TOP, "add", NULL},
        {LAPSE_WORD_STORE, "kind", emit_kind},
        {LAPSE_WORD_STORE, "sync", emit_sync},
        {LAPSE_WORD_BOUND, "rate", emit_bound_rate},
        {LAPSE_WORD_BOUND, "wall", emit_bound_wall},
        {LAPSE_WORD_BUCKET, "ttl", emit_ttl},
        {LAPSE_WORD_BUCKET, "idle", emit_ttl},
        {LAPSE_WORD_BUCKET, "markers", emit_markers},
        {LAPSE_WORD_BUCKET, "locks", emit_locks},
        {LAPSE_WORD_BUCKET, "cap", emit_cap},
        {LAPSE_WORD_BUCKET, "history", emit_history},
        {LAPSE_WORD_BUCKET, "first_revision", emit_first},
        {LAPSE_WORD_MEASURE, "from", emit_measure},
        {LAPSE_WORD_MEASURE, "to", emit_measure},
        {LAPSE_WORD_MEASURE, "count", emit_measure},
        {LAPSE_WORD_MEASURE, "total", emit_measure},
    };
    *ret_count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}
