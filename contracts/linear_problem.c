/* Problems: the lists of calls that readers fill and the search judges, with the texts in them. */
#include "linear_models.h"

#include <string.h>

static void problem_free(struct lapse_linear_problems *problems, size_t at);
static bool problem_model(struct lapse_linear_problems *problems,
                          struct lapse_linear_problem *problem);
static bool store_grow(struct lapse_linear_store *store);
static bool store_copy(struct lapse_linear_store *store, struct lapse_bytes text,
                       struct lapse_bytes *ret);
static uint32_t *problem_place(struct lapse_linear_store *store, int64_t name, int kind);

bool lapse_linear_problems_init(struct lapse_linear_problems *problems, const lapse_alloc *alloc) {
    *problems = (struct lapse_linear_problems){.alloc = alloc};
    problems->store = lapse_alloc_zero(alloc, sizeof(*problems->store));
    if (problems->store == NULL) {
        return false;
    }
    problems->store->alloc = alloc;
    lapse_chunks_init(&problems->store->memory, alloc);
    return true;
}

void lapse_linear_problems_free(struct lapse_linear_problems *problems) {
    if (problems == NULL || problems->alloc == NULL) {
        return;
    }
    const lapse_alloc *alloc = problems->alloc;
    for (size_t i = 0; i < problems->count; i++) {
        problem_free(problems, i);
    }
    lapse_alloc_free(alloc, problems->items, problems->cap * sizeof(*problems->items));
    struct lapse_linear_store *store = problems->store;
    if (store != NULL) {
        lapse_chunks_free(&store->memory);
        lapse_alloc_free(alloc, store->texts, store->cap * sizeof(*store->texts));
        lapse_alloc_free(alloc, store->table, store->table_cap * sizeof(*store->table));
        lapse_alloc_free(alloc, store->problems, store->problems_cap * sizeof(*store->problems));
        lapse_alloc_free(alloc, store, sizeof(*store));
    }
    *problems = (struct lapse_linear_problems){.alloc = NULL};
}

struct lapse_linear_problem *lapse_linear_problem_find(struct lapse_linear_problems *problems,
                                                       enum lapse_linear_kind kind,
                                                       struct lapse_bytes name) {
    int64_t number = lapse_linear_store_text(problems->store, name);
    uint32_t *place = number < 0 ? NULL : problem_place(problems->store, number, (int)kind);
    if (place == NULL) {
        return NULL;
    }
    if (*place != 0) {
        return &problems->items[*place - 1];
    }
    if (!lapse_alloc_grow(problems->alloc, (void **)&problems->items, &problems->cap,
                          problems->count + 1, sizeof(*problems->items))) {
        return NULL;
    }
    struct lapse_linear_problem *problem = &problems->items[problems->count];
    *problem = (struct lapse_linear_problem){
        .kind = kind, .name = problems->store->texts[number], .store = problems->store};
    if (!problem_model(problems, problem)) {
        return NULL;
    }
    *place = (uint32_t)++problems->count;
    return problem;
}

int32_t lapse_linear_problem_add(struct lapse_linear_problems *problems,
                                 struct lapse_linear_problem *problem,
                                 const struct lapse_linear_call *call) {
    if (problem->count >= INT32_MAX ||
        !lapse_alloc_grow(problems->alloc, (void **)&problem->calls, &problem->cap,
                          problem->count + 1, sizeof(*problem->calls))) {
        return -1;
    }
    problem->calls[problem->count] = *call;
    problems->call_count++;
    return (int32_t)problem->count++;
}

const char *lapse_linear_kind_word(enum lapse_linear_kind kind) {
    static const char *const words[LAPSE_LINEAR_KINDS] = {"register", "string", "key", "lease"};
    return (size_t)kind < LAPSE_LINEAR_KINDS ? words[kind] : "?";
}

char *lapse_linear_call_print(const struct lapse_linear_problem *problem, size_t call, char *buf) {
    LAPSE_ASSERT(call < problem->count);
    switch (problem->kind) {
    case LAPSE_LINEAR_REGISTER:
        return lapse_register_print(&problem->calls[call], buf);
    case LAPSE_LINEAR_STRING:
        return lapse_string_print(problem->model.ctx, &problem->calls[call], buf);
    case LAPSE_LINEAR_KEY:
        return lapse_key_print(problem->store, &problem->calls[call], buf);
    default:
        return lapse_lease_print(problem->store, &problem->calls[call], buf);
    }
}

enum lapse_status lapse_linear_judge(const lapse_alloc *alloc,
                                     const struct lapse_linear_problems *problems,
                                     const struct lapse_linear_budget *budget,
                                     struct lapse_linear_sum *ret, struct lapse_error *err) {
    *ret = (struct lapse_linear_sum){.verdict = LAPSE_LINEAR_YES};
    for (size_t i = 0; i < problems->count && ret->verdict != LAPSE_LINEAR_NO; i++) {
        const struct lapse_linear_problem *problem = &problems->items[i];
        struct lapse_linear_result result;
        enum lapse_status status = lapse_linear_check(alloc, &problem->model, problem->calls,
                                                      problem->count, budget, &result, err);
        if (status != LAPSE_OK) {
            lapse_linear_result_free(&ret->result);
            return status;
        }
        ret->steps += result.steps;
        if (result.verdict == LAPSE_LINEAR_YES ||
            (result.verdict == LAPSE_LINEAR_GAVE_UP && ret->verdict == LAPSE_LINEAR_GAVE_UP)) {
            lapse_linear_result_free(&result);
            continue;
        }
        lapse_linear_result_free(&ret->result);
        ret->verdict = result.verdict;
        ret->problem = i;
        ret->result = result;
    }
    return LAPSE_OK;
}

static void problem_free(struct lapse_linear_problems *problems, size_t at) {
    struct lapse_linear_problem *problem = &problems->items[at];
    lapse_alloc_free(problems->alloc, problem->calls, problem->cap * sizeof(*problem->calls));
    if (problem->kind == LAPSE_LINEAR_STRING) {
        lapse_string_tree_close(lapse_linear_problem_tree(problem));
    }
}

static bool problem_model(struct lapse_linear_problems *problems,
                          struct lapse_linear_problem *problem) {
    if (problem->kind == LAPSE_LINEAR_STRING) {
        const struct lapse_string_tree *tree = lapse_string_tree_open(problems->store);
        problem->model = lapse_string_model(tree);
        return tree != NULL;
    }
    const struct lapse_linear_clocks *clocks = &problems->store->clocks;
    problem->model = problem->kind == LAPSE_LINEAR_KEY     ? lapse_key_model(clocks)
                     : problem->kind == LAPSE_LINEAR_LEASE ? lapse_lease_model(clocks)
                                                           : lapse_register_model();
    return true;
}

/* The model borrows it as what it may not change; here it is its owner's. */
struct lapse_string_tree *lapse_linear_problem_tree(const struct lapse_linear_problem *problem) {
    return (struct lapse_string_tree *)(uintptr_t)problem->model.ctx;
}

int64_t lapse_linear_store_text(struct lapse_linear_store *store, struct lapse_bytes text) {
    if ((store->count + 1) * 2 > store->table_cap && !store_grow(store)) {
        return -1;
    }
    size_t mask = store->table_cap - 1;
    size_t at = lapse_bytes_hash(text) & mask;
    for (; store->table[at] != 0; at = (at + 1) & mask) {
        uint32_t number = store->table[at] - 1;
        if (lapse_bytes_equal(store->texts[number], text)) {
            return number;
        }
    }
    struct lapse_bytes copy;
    if (store->count + 1 >= UINT32_MAX ||
        !lapse_alloc_grow(store->alloc, (void **)&store->texts, &store->cap, store->count + 1,
                          sizeof(*store->texts)) ||
        !store_copy(store, text, &copy)) {
        return -1;
    }
    store->texts[store->count] = copy;
    store->table[at] = (uint32_t)++store->count;
    return (int64_t)store->count - 1;
}

static bool store_copy(struct lapse_linear_store *store, struct lapse_bytes text,
                       struct lapse_bytes *ret) {
    *ret = (struct lapse_bytes){NULL, 0};
    if (text.len == 0) {
        return true;
    }
    unsigned char *data = lapse_chunks_take(&store->memory, text.len);
    if (data == NULL) {
        return false;
    }
    memcpy(data, text.data, text.len);
    *ret = (struct lapse_bytes){data, text.len};
    return true;
}

static bool store_grow(struct lapse_linear_store *store) {
    size_t cap = store->table_cap == 0 ? 64 : store->table_cap * 2;
    uint32_t *table = lapse_alloc_zero(store->alloc, cap * sizeof(*table));
    if (table == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < store->count; i++) {
        size_t at = lapse_bytes_hash(store->texts[i]) & (cap - 1);
        while (table[at] != 0) {
            at = (at + 1) & (cap - 1);
        }
        table[at] = i + 1;
    }
    lapse_alloc_free(store->alloc, store->table, store->table_cap * sizeof(*table));
    store->table = table;
    store->table_cap = cap;
    return true;
}

static uint32_t *problem_place(struct lapse_linear_store *store, int64_t name, int kind) {
    size_t at = (size_t)name * LAPSE_LINEAR_KINDS + (size_t)kind;
    size_t old = store->problems_cap;
    if (!lapse_alloc_grow(store->alloc, (void **)&store->problems, &store->problems_cap, at + 1,
                          sizeof(*store->problems))) {
        return NULL;
    }
    for (size_t i = old; i < store->problems_cap; i++) {
        store->problems[i] = 0;
    }
    return &store->problems[at];
}
