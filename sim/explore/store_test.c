/* The claim under the search: the engine's answers depend on nothing but the canonical state. One
 * store lives through long random stories and is never put back, so its dates, numbers and tokens
 * grow; each of its answers is compared with that of an image of the same canonical state. */
#include "store.h"

#include <criterion/criterion.h>

enum { STORIES = 40, STEPS = 3000, ROWS = 16, BUFFER = 32 };

struct story {
    struct scope scope;
    struct store *store;
    struct lapse_clock_manual clock;
    struct lapse *engine;
    struct lapse_result result;
    int64_t last; /* token of the last grant */
    int64_t live; /* of the live one */
    struct holding holding;
    uint64_t state;
};

static void begin(struct story *story, uint64_t seed);
static void end(struct story *story);
static uint64_t draw(struct story *story, uint64_t n);
static void step(struct story *story);
static struct question draw_question(struct story *story);
static void ask_engine(struct story *story, const struct question *question, struct reply *ret);
static void same(const struct story *story, const struct question *question,
                 const struct reply *lived, const struct reply *image);

Test(explore_store, a_store_that_has_lived_answers_as_an_image_does) {
    for (uint64_t seed = 1; seed <= STORIES; seed++) {
        struct story story;
        begin(&story, seed);
        for (int i = 0; i < STEPS; i++) {
            step(&story);
        }
        cr_expect(story.last > 100, "only %lld grants", (long long)story.last);
        end(&story);
    }
}

static void begin(struct story *story, uint64_t seed) {
    struct lapse_plan_explore protocol = {.clients = 3, .faults_max = -1};
    *story = (struct story){.state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1,
                            .holding = {OWNER_NONE, 0, false}};
    protocol.grain_ns = 1 + (int64_t)draw(story, 5 * LAPSE_NS_PER_S);
    protocol.span_ns = protocol.grain_ns * (1 + (int64_t)draw(story, 6));
    cr_assert_eq(lapse_explore_scope(&protocol, -1, &story->scope, NULL, NULL), LAPSE_OK);
    cr_assert_eq(lapse_explore_store_open(lapse_alloc_libc(), &story->scope, &story->store, NULL),
                 LAPSE_OK);
    lapse_clock_manual_init(&story->clock, (struct lapse_wall){LAPSE_NS_PER_S});
    story->clock.now.raw_ns = (int64_t)draw(story, 1000 * LAPSE_NS_PER_S);
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(&story->clock)};
    cr_assert_eq(lapse_open(&options, &story->engine, NULL), LAPSE_OK);
    lapse_result_init(&story->result, NULL);
}

static void end(struct story *story) {
    lapse_result_free(&story->result);
    lapse_close(story->engine);
    lapse_explore_store_close(story->store);
}

static uint64_t draw(struct story *story, uint64_t n) {
    story->state ^= story->state << 13;
    story->state ^= story->state >> 7;
    story->state ^= story->state << 17;
    return (story->state >> 11) % n;
}

static void step(struct story *story) {
    struct question question = draw_question(story);
    struct reply lived, image;
    ask_engine(story, &question, &lived);
    cr_assert_eq(lapse_explore_store_ask(story->store, story->holding, &question, &image, NULL),
                 LAPSE_OK);
    same(story, &question, &lived, &image);
    story->last += lived.counter;
    story->holding = lived.after;
}

static struct question draw_question(struct story *story) {
    static const enum lapse_verb verbs[] = {LAPSE_VERB_ACQUIRE, LAPSE_VERB_ACQUIRE,
                                            LAPSE_VERB_EXTEND,  LAPSE_VERB_RELEASE,
                                            LAPSE_VERB_REAP,    LAPSE_VERB_REAP};
    struct question question = {.verb = verbs[draw(story, 6)]};
    question.owner = (int32_t)draw(story, 4) - 1;
    if (question.owner == story->holding.owner && question.owner == OWNER_OTHER) {
        question.owner = 0; /* two that are gone are two; here there is one */
    }
    /* The live token, or one that was given before; where none is live the last is one of those. */
    bool live = story->holding.owner != OWNER_NONE && draw(story, 2) == 0;
    int64_t older = story->last < BUFFER - 4 ? story->last : BUFFER - 4;
    question.token = (uint8_t)(live || older == 0 ? 0 : 1 + draw(story, (uint64_t)older));
    if (!live && story->holding.owner == OWNER_NONE && question.token == 0) {
        question.token = 1;
    }
    return question;
}

static void ask_engine(struct story *story, const struct question *question, struct reply *ret) {
    struct lapse_result *result = &story->result;
    enum lapse_status status;
    if (question->verb == LAPSE_VERB_REAP) {
        story->clock.now.raw_ns += story->scope.grain_ns;
        status = lapse_step(story->engine, ROWS, result, NULL, NULL);
    } else {
        struct lapse_command command;
        lapse_explore_store_command(&story->scope, question, story->last, &command);
        status = lapse_apply(story->engine, &command, result, NULL);
    }
    cr_assert(status >= 0);
    *ret = (struct reply){.status = status, .renewed = result->renewed};
    ret->named = lapse_explore_store_owner(&story->scope, result->owner);
    ret->has_token = result->token != 0;
    ret->token = ret->has_token ? result->token - story->last : 0;
    ret->left_ns = result->left.ns;
    ret->end_ns = result->end.kind == LAPSE_END_STEADY ? result->end.ns - result->at.ns : 0;
    cr_assert_eq(lapse_explore_store_look(&story->scope, story->engine, ret, NULL), LAPSE_OK);
    ret->counter -= story->last;
}

static void same(const struct story *story, const struct question *question,
                 const struct reply *lived, const struct reply *image) {
    bool equal = lived->status == image->status && lived->renewed == image->renewed &&
                 lived->named == image->named && lived->has_token == image->has_token &&
                 lived->token == image->token && lived->left_ns == image->left_ns &&
                 lived->end_ns == image->end_ns && lived->counter == image->counter &&
                 lived->whole && image->whole && lived->after.owner == image->after.owner &&
                 lived->after.left == image->after.left;
    cr_assert(equal, "held by %d, left %d, %s owner %d token -%d: %s, and of the image %s",
              (int)story->holding.owner, (int)story->holding.left, lapse_verb_word(question->verb),
              (int)question->owner, (int)question->token, lapse_status_word(lived->status),
              lapse_status_word(image->status));
}
