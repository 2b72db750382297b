/* The set of all states, collected while everything is tried. Each state has its words from the
 * first time that it is seen. */
#include "fuzz/reach.h"

#include <string.h>

static void seen(struct lapse_reach_seer *seer, uint64_t state, const void *moment);
static uint32_t add(struct lapse_reach_builder *builder, uint64_t state, const void *moment);
static void put(void *ctx, const char *text);
static enum lapse_status check_grain(int64_t grain_ns, struct lapse_error *err);

#define GRAIN_NS_MAX (7 * 86400 * LAPSE_NS_PER_S)

enum lapse_status lapse_reach_begin(struct lapse_reach_builder *builder, const lapse_alloc *alloc,
                                    const struct lapse_plan *plan, struct lapse_error *err) {
    uint64_t digest = 0;
    enum lapse_status status = lapse_reach_digest(alloc, plan, &digest, err);
    *builder = (struct lapse_reach_builder){.seer = {.plan = plan, .seen = seen}, .from = -1};
    builder->words.alloc = alloc;
    lapse_reach_init(&builder->reach, alloc, plan->explore.on, digest);
    return status == LAPSE_OK && plan->explore.on ? check_grain(plan->explore.grain_ns, err)
                                                  : status;
}

/* A walk is written as a scenario, whose lines lie microseconds apart within a grain and whose
 * hundreds of grains must be an instant. */
static enum lapse_status check_grain(int64_t grain_ns, struct lapse_error *err) {
    char text[LAPSE_TIME_TEXT_MAX];
    if (grain_ns >= LAPSE_NS_PER_MS && grain_ns <= GRAIN_NS_MAX) {
        return LAPSE_OK;
    }
    return lapse_error_set(err, LAPSE_INVALID,
                           "its grain is %s, and states are counted of protocols with a grain from "
                           "1ms to 1w; write its spans in such grains",
                           lapse_span_print((struct lapse_span){grain_ns}, text));
}

void lapse_reach_finish(struct lapse_reach_builder *builder) {
    lapse_emitted_free(&builder->words);
    lapse_reach_free(&builder->reach);
}

void lapse_reach_take_move(void *ctx, uint64_t from, uint64_t to) {
    struct lapse_reach_builder *builder = ctx;
    uint32_t a = add(builder, from, NULL), b = add(builder, to, NULL);
    if (builder->status == LAPSE_OK) {
        builder->status = lapse_reach_move(&builder->reach, a, b);
    }
}

void lapse_reach_take_run(struct lapse_reach_builder *builder,
                          const struct lapse_history *history) {
    builder->from = -1;
    (void)lapse_reach_look(&builder->seer, history, NULL);
}

static void seen(struct lapse_reach_seer *seer, uint64_t state, const void *moment) {
    struct lapse_reach_builder *builder = (struct lapse_reach_builder *)seer;
    uint32_t to = add(builder, state, moment);
    if (builder->status == LAPSE_OK && builder->from >= 0) {
        builder->status = lapse_reach_move(&builder->reach, (uint32_t)builder->from, to);
    }
    builder->from = to;
}

static uint32_t add(struct lapse_reach_builder *builder, uint64_t state, const void *moment) {
    uint32_t place = 0;
    bool is_new = false;
    if (builder->status == LAPSE_OK) {
        builder->status = lapse_reach_state(&builder->reach, state, &place, &is_new);
    }
    if (builder->status == LAPSE_OK && is_new) {
        builder->words.bytes = 0;
        lapse_reach_say(builder->seer.plan, state, moment, put, builder);
    }
    if (builder->status == LAPSE_OK && is_new) {
        builder->status =
            lapse_reach_words(&builder->reach, builder->words.text, builder->words.bytes);
    }
    return place;
}

static void put(void *ctx, const char *text) {
    struct lapse_reach_builder *builder = ctx;
    struct lapse_emitted *words = &builder->words;
    void *grown = words->text;
    size_t len = strlen(text);
    if (!lapse_alloc_grow(words->alloc, &grown, &words->cap, words->bytes + len + 1, 1)) {
        builder->status = LAPSE_NOMEM;
        return;
    }
    words->text = grown;
    memcpy(words->text + words->bytes, text, len + 1);
    words->bytes += len;
}
