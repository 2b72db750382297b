/* The plan of a search: sendings and replies put in order once, so that each search only looks up
 * which calls may take effect before which reply, and which bit stands for which call. */
#include "linear_parts.h"

#include <stdlib.h>
#include <string.h>

/* At one instant ends come before calls. In what no order is known of, sendings come first. */
struct moment {
    int64_t ns;
    int64_t seq;
    uint32_t call;
    bool call_rank; /* of a call, no end */
    bool reply;
};

/* What is pending while the moments are walked. */
struct walk {
    uint32_t *active; /* by reply */
    size_t active_count;
    bool sent; /* a call, since the last reply */
    uint32_t *free_bits;
    size_t free_count, bit_count;
};

enum { TWINS_LOOKED_AT = 256, WORD_BITS = 64 };

static bool reserve(struct lapse_linear_plan *plan);
static uint32_t *numbers(const lapse_alloc *alloc, size_t count);
static void numbers_free(const lapse_alloc *alloc, uint32_t *array, size_t count);
static size_t list_moments(const struct lapse_linear_plan *plan, struct moment *moments);
static int moment_compare(const void *a, const void *b);
static bool left_out(const struct lapse_linear_plan *plan, uint32_t call);
static void note_ranks(struct lapse_linear_plan *plan, const struct moment *moments, size_t count);
static bool follow(struct lapse_linear_plan *plan, struct walk *walk, const struct moment *moments,
                   size_t count);
static void send(struct lapse_linear_plan *plan, struct walk *walk, uint32_t call);
static bool answer(struct lapse_linear_plan *plan, struct walk *walk, uint32_t call, size_t at);
static bool find_twins(struct lapse_linear_plan *plan);
static size_t words_of(size_t bits);

bool lapse_linear_plan_make(struct lapse_linear_plan *ret, const lapse_alloc *alloc,
                            const lapse_linear_model *model, const struct lapse_linear_call *calls,
                            size_t count) {
    *ret =
        (struct lapse_linear_plan){.alloc = alloc, .model = model, .calls = calls, .count = count};
    size_t moment_bytes = (2 * count + 1) * sizeof(struct moment);
    struct moment *moments = alloc->resize(alloc->ctx, NULL, 0, moment_bytes);
    struct walk walk = {.active = numbers(alloc, count), .free_bits = numbers(alloc, count)};
    bool done = moments != NULL && walk.active != NULL && walk.free_bits != NULL && reserve(ret);
    if (done) {
        size_t moment_count = list_moments(ret, moments);
        note_ranks(ret, moments, moment_count);
        done = follow(ret, &walk, moments, moment_count) && find_twins(ret);
    }
    /* One at least, so that a configuration of no calls has bits as well. */
    ret->answered_words = words_of(walk.bit_count == 0 ? 1 : walk.bit_count);
    ret->words = ret->answered_words + words_of(ret->open_count);
    for (size_t i = 0; done && i < ret->open_count; i++) {
        uint32_t *bit = &ret->bit[ret->opens[i]];
        *bit = ret->bound[ret->opens[i]] ? *bit : (uint32_t)(ret->answered_words * WORD_BITS + i);
    }
    lapse_alloc_free(alloc, moments, moment_bytes);
    numbers_free(alloc, walk.active, count);
    numbers_free(alloc, walk.free_bits, count);
    return done;
}

void lapse_linear_plan_free(struct lapse_linear_plan *plan) {
    size_t count = plan->count;
    numbers_free(plan->alloc, plan->returns, count);
    numbers_free(plan->alloc, plan->pend_from, count);
    numbers_free(plan->alloc, plan->pend_to, count);
    numbers_free(plan->alloc, plan->opens, count);
    numbers_free(plan->alloc, plan->open_before, count);
    numbers_free(plan->alloc, plan->twin, count);
    lapse_alloc_free(plan->alloc, plan->bound, (count + 1) * sizeof(*plan->bound));
    numbers_free(plan->alloc, plan->bit, count);
    numbers_free(plan->alloc, plan->sent, count);
    numbers_free(plan->alloc, plan->answered, count);
    numbers_free(plan->alloc, plan->answered_at, count);
    lapse_alloc_free(plan->alloc, plan->pend, plan->pend_cap * sizeof(*plan->pend));
}

/* Every list has one place for each call, and one more. */
static bool reserve(struct lapse_linear_plan *plan) {
    uint32_t **const lists[] = {&plan->returns,     &plan->pend_from,  &plan->pend_to, &plan->opens,
                                &plan->open_before, &plan->twin,       &plan->bit,     &plan->sent,
                                &plan->answered,    &plan->answered_at};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = numbers(plan->alloc, plan->count);
        if (*lists[i] == NULL) {
            return false;
        }
    }
    plan->bound = lapse_alloc_zero(plan->alloc, (plan->count + 1) * sizeof(*plan->bound));
    for (size_t i = 0; plan->bound != NULL && i < plan->count; i++) {
        if (plan->calls[i].after >= 0 && !plan->calls[i].end &&
            !plan->calls[plan->calls[i].after].lapses) {
            plan->bound[plan->calls[i].after] = true;
        }
    }
    return plan->bound != NULL;
}

static uint32_t *numbers(const lapse_alloc *alloc, size_t count) {
    return alloc->resize(alloc->ctx, NULL, 0, (count + 1) * sizeof(uint32_t));
}

static void numbers_free(const lapse_alloc *alloc, uint32_t *array, size_t count) {
    lapse_alloc_free(alloc, array, (count + 1) * sizeof(*array));
}

static size_t list_moments(const struct lapse_linear_plan *plan, struct moment *moments) {
    size_t count = 0;
    bool sorted = true;
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct lapse_linear_call *call = &plan->calls[i];
        if (left_out(plan, i)) {
            continue;
        }
        moments[count++] = (struct moment){call->invoke_ns, call->invoke_seq, i, !call->end, false};
        if (!call->open || call->lapses) {
            moments[count++] =
                (struct moment){call->return_ns, call->return_seq, i, !call->end, true};
        }
    }
    for (size_t i = 1; sorted && i < count; i++) {
        sorted = moment_compare(&moments[i - 1], &moments[i]) < 0;
    }
    if (!sorted) {
        qsort(moments, count, sizeof(*moments), moment_compare);
    }
    return count;
}

static int moment_compare(const void *a, const void *b) {
    const struct moment *x = a;
    const struct moment *y = b;
    if (x->ns != y->ns) {
        return x->ns < y->ns ? -1 : 1;
    }
    if (x->call_rank != y->call_rank) {
        return x->call_rank ? 1 : -1;
    }
    if (x->seq != y->seq) {
        return x->seq < y->seq ? -1 : 1;
    }
    if (x->reply != y->reply) {
        return x->reply ? 1 : -1;
    }
    return (x->call > y->call) - (x->call < y->call);
}

/* An open call plays no part if it changes nothing and nothing waits for it. */
static bool left_out(const struct lapse_linear_plan *plan, uint32_t call) {
    const struct lapse_linear_call *c = &plan->calls[call];
    return c->open && !plan->bound[call] && !plan->model->changes(plan->model->ctx, c);
}

/* Ranks of sendings and replies; a first mark in `bit` for the open calls that play a part. */
static void note_ranks(struct lapse_linear_plan *plan, const struct moment *moments, size_t count) {
    for (uint32_t i = 0; i < plan->count; i++) {
        plan->answered[i] = LAPSE_LINEAR_NONE;
        plan->bit[i] = LAPSE_LINEAR_NONE;
    }
    uint32_t replies = 0;
    for (size_t at = 0; at < count; at++) {
        uint32_t call = moments[at].call;
        if (!moments[at].reply) {
            plan->sent[call] = (uint32_t)at;
            continue;
        }
        plan->answered[call] = replies;
        plan->answered_at[replies] = (uint32_t)at;
        plan->returns[replies++] = call;
    }
    plan->return_count = replies;
    for (uint32_t i = 0; i < plan->count; i++) {
        if (plan->calls[i].open && !plan->calls[i].lapses && !left_out(plan, i)) {
            plan->bit[i] = 0;
        }
    }
}

static bool follow(struct lapse_linear_plan *plan, struct walk *walk, const struct moment *moments,
                   size_t count) {
    for (size_t at = 0; at < count; at++) {
        uint32_t call = moments[at].call;
        if (moments[at].reply) {
            if (!answer(plan, walk, call, plan->answered[call])) {
                return false;
            }
        } else if (!plan->calls[call].open || plan->calls[call].lapses) {
            send(plan, walk, call);
        } else if (plan->bit[call] != LAPSE_LINEAR_NONE) {
            plan->bit[call] = plan->bound[call] ? (uint32_t)walk->bit_count++ : 0;
            plan->opens[plan->open_count++] = call;
        }
    }
    return true;
}

/* A pending call gets a bit for as long as it is pending, and its place by reply. */
static void send(struct lapse_linear_plan *plan, struct walk *walk, uint32_t call) {
    plan->bit[call] =
        walk->free_count > 0 ? walk->free_bits[--walk->free_count] : (uint32_t)walk->bit_count++;
    size_t at = walk->active_count++;
    walk->sent = true;
    while (at > 0 && plan->answered[walk->active[at - 1]] > plan->answered[call]) {
        walk->active[at] = walk->active[at - 1];
        at--;
    }
    walk->active[at] = call;
}

/* What is pending is listed anew only where something was sent since the last reply: else it is the
 * last list without its first call. */
static bool answer(struct lapse_linear_plan *plan, struct walk *walk, uint32_t call, size_t at) {
    LAPSE_ASSERT(walk->active_count > 0);
    LAPSE_ASSERT(walk->active[0] == call);
    size_t from = plan->pend_count;
    if (!walk->sent) {
        from = plan->pend_from[at - 1] + 1;
    } else if (from + walk->active_count >= LAPSE_LINEAR_NONE ||
               !lapse_alloc_grow(plan->alloc, (void **)&plan->pend, &plan->pend_cap,
                                 from + walk->active_count, sizeof(*plan->pend))) {
        return false;
    } else {
        memcpy(plan->pend + from, walk->active, walk->active_count * sizeof(*plan->pend));
        plan->pend_count += walk->active_count;
    }
    walk->sent = false;
    plan->pend_from[at] = (uint32_t)from;
    plan->pend_to[at] = (uint32_t)(from + walk->active_count);
    plan->open_before[at] = (uint32_t)plan->open_count;
    walk->free_bits[walk->free_count++] = plan->bit[call];
    walk->active_count--;
    memmove(walk->active, walk->active + 1, walk->active_count * sizeof(*walk->active));
    return true;
}

/* Each open call is chained to the last one alike. Only so many different ones are looked at: to
 * find no twin costs time later, and nothing else. Calls that others are after have none. */
static bool find_twins(struct lapse_linear_plan *plan) {
    size_t bytes = (plan->count + 1) * sizeof(bool);
    bool *followed = lapse_alloc_zero(plan->alloc, bytes);
    if (followed == NULL) {
        return false;
    }
    for (size_t i = 0; i < plan->count; i++) {
        if (plan->calls[i].after >= 0) {
            followed[plan->calls[i].after] = true;
        }
    }
    uint32_t lasts[TWINS_LOOKED_AT];
    size_t last_count = 0;
    for (uint32_t i = 0; i < plan->open_count; i++) {
        uint32_t call = plan->opens[i];
        plan->twin[call] = LAPSE_LINEAR_NONE;
        if (followed[call] || plan->calls[call].after >= 0) {
            continue;
        }
        size_t at = 0;
        while (at < last_count &&
               !plan->model->same(plan->model->ctx, &plan->calls[lasts[at]], &plan->calls[call])) {
            at++;
        }
        if (at < last_count) {
            plan->twin[call] = lasts[at];
            lasts[at] = call;
        } else if (last_count < TWINS_LOOKED_AT) {
            lasts[last_count++] = call;
        }
    }
    lapse_alloc_free(plan->alloc, followed, bytes);
    return true;
}

static size_t words_of(size_t bits) {
    return (bits + WORD_BITS - 1) / WORD_BITS;
}
