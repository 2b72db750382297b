/* The search that goes reply by reply: it carries every configuration from which an order may still
 * come, and lets calls take effect only where a reply asks for one. */
#include "linear_parts.h"

#include <string.h>

enum { LOG_KEPT_MIN = 4096 };

static bool begin(struct lapse_linear_wide *wide);
static bool settle_next(struct lapse_linear_wide *wide);
static bool work_next(struct lapse_linear_wide *wide);
static bool try_call(struct lapse_linear_wide *wide, uint32_t from, uint32_t call);
static bool place(struct lapse_linear_wide *wide, struct lapse_linear_config *config);
static void finish_reply(struct lapse_linear_wide *wide);
static void cut_log(struct lapse_linear_wide *wide);
static uint32_t first_live(const struct lapse_linear_bag *bag);

static struct lapse_linear_bag *bag_before(struct lapse_linear_wide *wide) {
    return &wide->bags[wide->before];
}

static struct lapse_linear_bag *bag_after(struct lapse_linear_wide *wide) {
    return &wide->bags[1 - wide->before];
}

bool lapse_linear_wide_init(struct lapse_linear_wide *wide, const lapse_alloc *alloc, size_t limit,
                            struct lapse_linear_search *search) {
    *wide = (struct lapse_linear_wide){.search = search};
    lapse_meter_init(&wide->meter, alloc, limit);
    const lapse_alloc *own = &wide->meter.alloc;
    wide->log.alloc = own;
    lapse_linear_bag_init(&wide->bags[0], own, search->plan, &search->steps);
    lapse_linear_bag_init(&wide->bags[1], own, search->plan, &search->steps);
    lapse_linear_bag_init(&wide->work, own, search->plan, &search->steps);
    wide->bits = lapse_alloc_zero(own, (search->plan->words + 1) * sizeof(*wide->bits));
    return wide->bits != NULL && begin(wide);
}

void lapse_linear_wide_free(struct lapse_linear_wide *wide) {
    const lapse_alloc *own = &wide->meter.alloc;
    lapse_alloc_free(own, wide->log.items, wide->log.cap * sizeof(*wide->log.items));
    lapse_linear_bag_free(&wide->bags[0]);
    lapse_linear_bag_free(&wide->bags[1]);
    lapse_linear_bag_free(&wide->work);
    lapse_alloc_free(own, wide->bits, (wide->search->plan->words + 1) * sizeof(*wide->bits));
}

enum lapse_linear_found lapse_linear_wide_run(struct lapse_linear_wide *wide, uint64_t steps) {
    uint64_t limit = wide->search->steps.taken + steps;
    while (wide->passed < wide->search->plan->return_count) {
        if (wide->settled < bag_before(wide)->count) {
            if (!settle_next(wide)) {
                return LAPSE_LINEAR_SPENT;
            }
        } else if (wide->worked < wide->work.count) {
            if (!work_next(wide)) {
                return LAPSE_LINEAR_SPENT;
            }
        } else if (bag_after(wide)->live == 0) {
            wide->furthest = wide->passed;
            return LAPSE_LINEAR_NOWHERE;
        } else {
            finish_reply(wide);
        }
        if (wide->search->steps.taken >= limit) {
            return LAPSE_LINEAR_RUNNING;
        }
    }
    wide->last = bag_before(wide)->items[first_live(bag_before(wide))].log;
    return LAPSE_LINEAR_FOUND;
}

static bool begin(struct lapse_linear_wide *wide) {
    struct lapse_linear_config first = {.state = wide->search->start, .log = LAPSE_LINEAR_NONE};
    bool taken;
    return lapse_linear_bag_put(bag_before(wide), &first, wide->bits, &taken);
}

/* Of a configuration that passed the last reply: what is now pending and changes nothing. */
static bool settle_next(struct lapse_linear_wide *wide) {
    const struct lapse_linear_plan *plan = wide->search->plan;
    const struct lapse_linear_bag *bag = bag_before(wide);
    size_t at = wide->settled++;
    if (bag->items[at].dead) {
        return true;
    }
    struct lapse_linear_config config = bag->items[at];
    config.passed = wide->passed;
    memcpy(wide->bits, bag->bits + at * plan->words, plan->words * sizeof(*wide->bits));
    if (!lapse_linear_settle(wide->search, &wide->log, &config, wide->bits)) {
        return false;
    }
    /* A call that lapses need not have taken effect. */
    bool taken;
    uint32_t call = plan->returns[wide->passed];
    if (plan->calls[call].open && !lapse_linear_bit(wide->bits, plan->bit[call]) &&
        !lapse_linear_bag_put(bag_after(wide), &config, wide->bits, &taken)) {
        return false;
    }
    return place(wide, &config);
}

static bool work_next(struct lapse_linear_wide *wide) {
    uint32_t from = (uint32_t)wide->worked++;
    if (wide->work.items[from].dead) {
        return true;
    }
    for (size_t n = 0;; n++) {
        uint32_t call = lapse_linear_candidate(wide->search->plan, wide->passed, n);
        if (call == LAPSE_LINEAR_NONE) {
            return true;
        }
        if (!try_call(wide, from, call)) {
            return false;
        }
    }
}

static bool try_call(struct lapse_linear_wide *wide, uint32_t from, uint32_t call) {
    const struct lapse_linear_plan *plan = wide->search->plan;
    size_t first_word = from * plan->words;
    if (!lapse_linear_ready(plan, wide->passed, wide->work.bits + first_word, call)) {
        return true;
    }
    for (unsigned branch = 0; branch < plan->calls[call].branches; branch++) {
        struct lapse_linear_config config = wide->work.items[from];
        uint32_t state;
        enum lapse_linear_move move =
            lapse_linear_ask(wide->search, config.state, call, branch, &state);
        if (move == LAPSE_LINEAR_FULL) {
            return false;
        }
        /* An open call that changes nothing is better kept for later. */
        if (move == LAPSE_LINEAR_CANNOT || lapse_linear_idle(plan, call, config.state, state)) {
            continue;
        }
        memcpy(wide->bits, wide->work.bits + first_word, plan->words * sizeof(*wide->bits));
        config.state = state;
        if (!lapse_linear_take(wide->search, &wide->log, &config, wide->bits, call, branch) ||
            !lapse_linear_settle(wide->search, &wide->log, &config, wide->bits) ||
            !place(wide, &config)) {
            return false;
        }
    }
    return true;
}

/* Whose call has taken effect waits behind the reply, all others must go on working. */
static bool place(struct lapse_linear_wide *wide, struct lapse_linear_config *config) {
    const struct lapse_linear_plan *plan = wide->search->plan;
    uint32_t bit = plan->bit[plan->returns[wide->passed]];
    struct lapse_linear_bag *bag = &wide->work;
    bool taken;
    if (lapse_linear_bit(wide->bits, bit)) {
        lapse_linear_bit_clear(wide->bits, bit);
        bag = bag_after(wide);
    }
    return lapse_linear_bag_put(bag, config, wide->bits, &taken);
}

static void finish_reply(struct lapse_linear_wide *wide) {
    lapse_linear_bag_clear(bag_before(wide));
    lapse_linear_bag_clear(&wide->work);
    wide->before = 1 - wide->before;
    wide->settled = wide->worked = 0;
    wide->passed++;
    if (wide->log.count > 2 * wide->kept + LOG_KEPT_MIN) {
        cut_log(wide);
    }
}

/* Keeps what the living configurations come from. A parent stands before its children, so one walk
 * back marks and one walk forth moves. Without memory for it, the log is cut some other time. */
static void cut_log(struct lapse_linear_wide *wide) {
    struct lapse_linear_step *items = wide->log.items;
    struct lapse_linear_bag *bag = bag_before(wide);
    size_t count = wide->log.count;
    wide->kept = count;
    uint32_t *moved_to = lapse_alloc_zero(wide->log.alloc, count * sizeof(*moved_to));
    if (moved_to == NULL) {
        return;
    }
    for (size_t i = 0; i < bag->count; i++) {
        if (!bag->items[i].dead && bag->items[i].log != LAPSE_LINEAR_NONE) {
            moved_to[bag->items[i].log] = 1;
        }
    }
    for (size_t i = count; i-- > 0;) {
        if (moved_to[i] != 0 && items[i].parent != LAPSE_LINEAR_NONE) {
            moved_to[items[i].parent] = 1;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (moved_to[i] == 0) {
            continue;
        }
        struct lapse_linear_step moved = items[i];
        moved.parent = moved.parent == LAPSE_LINEAR_NONE ? moved.parent : moved_to[moved.parent];
        moved_to[i] = (uint32_t)kept;
        items[kept++] = moved;
    }
    for (size_t i = 0; i < bag->count; i++) {
        if (!bag->items[i].dead && bag->items[i].log != LAPSE_LINEAR_NONE) {
            bag->items[i].log = moved_to[bag->items[i].log];
        }
    }
    wide->log.count = wide->kept = kept;
    lapse_alloc_free(wide->log.alloc, moved_to, count * sizeof(*moved_to));
}

static uint32_t first_live(const struct lapse_linear_bag *bag) {
    uint32_t at = 0;
    while (bag->items[at].dead) {
        at++;
    }
    return at;
}
