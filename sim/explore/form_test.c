/* The other claim under the search: what the canonical form forgets, nothing could ever tell. Long
 * random paths are walked on states that are never made canonical; every move of such a path must
 * either change nothing of the canonical form, or be a move that the canonical state has too, with
 * the same outcome and into the same canonical state. */
#include "move.h"

#include <criterion/criterion.h>

#include <string.h>

enum { WALKS = 80, STEPS = 120, GRANTS_MAX = 20 };

struct walk {
    struct scope scope;
    struct mover mover;
    struct state state; /* raw */
    uint64_t chance;
    int grants;
    uint64_t stutters, moves;
};

static void begin(struct walk *walk, const struct lapse_plan_explore *protocol, uint64_t seed);
static uint64_t draw(struct walk *walk, uint64_t n);
static bool step(struct walk *walk);
static enum lapse_explore_break make(struct walk *walk, struct state *state, move_code move);
static bool has_like(struct walk *walk, const uint64_t *from, const uint64_t *to,
                     enum lapse_explore_break broken);
static bool two_act(const struct scope *scope, const struct state *state);

static const struct lapse_plan_explore protocols[] = {
    {.clients = 2,
     .span_ns = 3,
     .careful = true,
     .delay = true,
     .loss = true,
     .crash = true,
     .fresh_owner = true,
     .resource = LAPSE_EXPLORE_FENCED},
    {.clients = 2,
     .span_ns = 3,
     .careful = true,
     .delay = true,
     .loss = true,
     .crash = true,
     .resource = LAPSE_EXPLORE_UNFENCED,
     .clock_ns = 1,
     .margin_ns = 1},
    {.clients = 3,
     .span_ns = 4,
     .delay = true,
     .loss = true,
     .crash = true,
     .pause = true,
     .resource = LAPSE_EXPLORE_FENCED,
     .renew_ns = 2},
    {.clients = 3, .span_ns = 4, .careful = true, .delay = true, .crash = true, .pause = true},
    {.clients = 3,
     .span_ns = 5,
     .careful = true,
     .loss = true,
     .crash = true,
     .clock_ns = 2,
     .resource = LAPSE_EXPLORE_UNFENCED},
};

Test(explore_form, what_is_forgotten_makes_no_difference) {
    for (size_t i = 0; i < sizeof(protocols) / sizeof(*protocols); i++) {
        uint64_t stutters = 0, moves = 0;
        for (uint64_t seed = 1; seed <= WALKS; seed++) {
            struct walk walk;
            begin(&walk, &protocols[i], seed);
            for (int k = 0; k < STEPS && step(&walk); k++) {
            }
            stutters += walk.stutters;
            moves += walk.moves;
            lapse_explore_answers_close(walk.mover.answers);
            lapse_explore_store_close(walk.mover.store);
        }
        cr_expect(moves > 1000, "protocol %zu: only %llu moves", i, (unsigned long long)moves);
        cr_expect(stutters < moves, "protocol %zu: nothing ever happened", i);
    }
}

/* Every canonical state is its own canonical form, and no two states of a pair share one. */
Test(explore_form, a_packed_state_packs_to_itself) {
    struct walk walk;
    begin(&walk, &protocols[0], 7);
    for (int k = 0; k < STEPS && step(&walk); k++) {
        struct state open;
        uint64_t once[WORDS_MAX] = {0}, twice[WORDS_MAX] = {0};
        uint8_t order[LAPSE_EXPLORE_CLIENTS_MAX];
        struct state raw = walk.state;
        lapse_explore_pack(&walk.scope, &raw, once, order);
        lapse_explore_unpack(&walk.scope, once, &open);
        lapse_explore_pack(&walk.scope, &open, twice, order);
        cr_assert_arr_eq(once, twice, sizeof(once));
    }
    lapse_explore_answers_close(walk.mover.answers);
    lapse_explore_store_close(walk.mover.store);
}

static void begin(struct walk *walk, const struct lapse_plan_explore *protocol, uint64_t seed) {
    struct lapse_plan_explore whole = *protocol;
    *walk = (struct walk){.chance = seed * UINT64_C(0x9E3779B97F4A7C15) + 1};
    whole.grain_ns = 1;
    cr_assert_eq(lapse_explore_scope(&whole, -1, &walk->scope, NULL, NULL), LAPSE_OK);
    walk->scope.stale_is_idle = true;
    walk->mover.scope = &walk->scope;
    cr_assert_eq(
        lapse_explore_store_open(lapse_alloc_libc(), &walk->scope, &walk->mover.store, NULL),
        LAPSE_OK);
    cr_assert_eq(lapse_explore_answers_open(lapse_alloc_libc(), &walk->scope, &walk->mover.answers),
                 LAPSE_OK);
}

static uint64_t draw(struct walk *walk, uint64_t n) {
    walk->chance ^= walk->chance << 13;
    walk->chance ^= walk->chance >> 7;
    walk->chance ^= walk->chance << 17;
    return (walk->chance >> 11) % n;
}

/* False: the path ends, as it broke something or has no tokens left. */
static bool step(struct walk *walk) {
    static move_code moves[MOVES_MAX];
    uint64_t before[WORDS_MAX] = {0}, after[WORDS_MAX] = {0};
    uint8_t order[LAPSE_EXPLORE_CLIENTS_MAX];
    struct state form = walk->state, next;
    lapse_explore_pack(&walk->scope, &form, before, order);
    size_t count = lapse_explore_moves(&walk->scope, &walk->state, moves);
    next = walk->state;
    move_code move = moves[draw(walk, count)];
    enum lapse_explore_break broken = make(walk, &next, move);
    form = next;
    lapse_explore_pack(&walk->scope, &form, after, order);
    bool still = broken == LAPSE_BREAK_NONE && memcmp(before, after, sizeof(before)) == 0;
    walk->stutters += still;
    walk->moves++;
    cr_assert(still || has_like(walk, before, after, broken),
              "move %d of client %d, breaking %d: its canonical form has no such move",
              (int)move_kind(move), (int)move_client(move), (int)broken);
    walk->state = next;
    return broken == LAPSE_BREAK_NONE && walk->grants < GRANTS_MAX;
}

static enum lapse_explore_break make(struct walk *walk, struct state *state, move_code move) {
    enum lapse_explore_break broken = LAPSE_BREAK_NONE;
    struct told told;
    bool was = two_act(&walk->scope, state);
    cr_assert_eq(lapse_explore_move(&walk->mover, state, move, &broken, &told, NULL), LAPSE_OK);
    walk->grants += told.granted;
    return broken == LAPSE_BREAK_NONE && !was && two_act(&walk->scope, state) ? LAPSE_BREAK_TWO_ACT
                                                                              : broken;
}

static bool has_like(struct walk *walk, const uint64_t *from, const uint64_t *to,
                     enum lapse_explore_break broken) {
    static move_code moves[MOVES_MAX];
    struct state state;
    lapse_explore_unpack(&walk->scope, from, &state);
    size_t count = lapse_explore_moves(&walk->scope, &state, moves);
    int grants = walk->grants;
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        struct state child = state;
        uint64_t words[WORDS_MAX] = {0};
        uint8_t order[LAPSE_EXPLORE_CLIENTS_MAX];
        enum lapse_explore_break like = make(walk, &child, moves[i]);
        lapse_explore_pack(&walk->scope, &child, words, order);
        found = like == broken && memcmp(words, to, sizeof(words)) == 0;
    }
    walk->grants = grants;
    return found;
}

static bool two_act(const struct scope *scope, const struct state *state) {
    size_t count = 0;
    for (int32_t i = 0; i < scope->clients; i++) {
        count += lapse_explore_may_act(scope, &state->clients[i]);
    }
    return count > 1;
}
