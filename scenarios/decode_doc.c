/* One document, `like` and `vary` resolved, to one plan. Sections are decoded in the order in
 * which they stand, because steps of one instant run in file order. */
#include <stdio.h>
#include <string.h>

#include "contracts/rule.h"
#include "decode.h"

enum { REAP_BOUND_S = 1 };

static void init_lists(struct lapse_decoder *d);
static void free_lists(struct lapse_decoder *d);
static void decode_head(struct lapse_decoder *d, const struct lapse_decode_input *input);
static void decode_name(struct lapse_decoder *d, const struct lapse_decode_input *input);
static void decode_epoch(struct lapse_decoder *d);
static void check_top(struct lapse_decoder *d);
static void check_version(struct lapse_decoder *d, const struct lapse_node *node);
static void check_tags(struct lapse_decoder *d, const struct lapse_node *tags);
static void decode_sections(struct lapse_decoder *d);
static void decode_end(struct lapse_decoder *d);
static void decode_violates(struct lapse_decoder *d, const struct lapse_node *violates);
static void note_no_contract(struct lapse_decoder *d, const struct lapse_node *node);
static void seal_setup(struct lapse_decoder *d);
static void seal_case(struct lapse_decoder *d);
static void seal_slots(struct lapse_decoder *d);

bool lapse_decode_document(const struct lapse_decode_input *input, struct lapse_plan **ret) {
    *ret = NULL;
    struct lapse_pool *pool = lapse_alloc_zero(input->alloc, sizeof(*pool));
    if (pool == NULL) {
        return false;
    }
    lapse_pool_init(pool, input->alloc);
    size_t before = input->diags->count;
    struct lapse_decoder d = {.alloc = input->alloc,
                              .pool = pool,
                              .diags = input->diags,
                              .root = input->root,
                              .budget = input->budget};
    init_lists(&d);
    d.plan = lapse_decoder_take(&d, sizeof(*d.plan));
    if (d.plan != NULL) {
        d.plan->pool = pool;
        decode_head(&d, input);
        lapse_resolve_declare(&d);
        decode_sections(&d);
        lapse_decode_loops_end(&d);
        lapse_decode_fault_ends(&d);
        lapse_decode_points_end(&d);
        lapse_decode_starved_end(&d);
        lapse_decode_copies_end(&d);
        decode_end(&d);
        lapse_decode_chaos(&d);
        lapse_decode_explore(&d);
        lapse_decode_store_end(&d);
        seal_setup(&d);
        seal_case(&d);
    }
    bool fine = !d.nomem && !pool->failed && !input->diags->failed;
    free_lists(&d);
    if (fine && input->diags->count == before && *input->budget >= 0) {
        *ret = d.plan;
        return true;
    }
    lapse_pool_free(pool);
    lapse_alloc_free(input->alloc, pool, sizeof(*pool));
    return fine;
}

void lapse_decode_free(struct lapse_plan *plan) {
    if (plan == NULL) {
        return;
    }
    struct lapse_pool *pool = plan->pool;
    const lapse_alloc *alloc = pool->alloc;
    lapse_pool_free(pool);
    lapse_alloc_free(alloc, pool, sizeof(*pool));
}

static void init_lists(struct lapse_decoder *d) {
    d->buckets.item_bytes = sizeof(struct lapse_setup_bucket);
    d->resources.item_bytes = sizeof(struct lapse_setup_resource);
    d->actors.item_bytes = sizeof(struct lapse_setup_actor);
    d->steps.item_bytes = sizeof(struct lapse_plan_step);
    d->checks.item_bytes = sizeof(struct lapse_step_check);
    d->tasks.item_bytes = sizeof(struct lapse_plan_task);
    d->world.item_bytes = sizeof(int32_t);
    d->finals.item_bytes = sizeof(int32_t);
    d->loops.item_bytes = sizeof(struct lapse_setup_loop);
    d->slots.item_bytes = sizeof(struct lapse_slot_decl);
    d->watches.item_bytes = sizeof(struct lapse_watch_decl);
    d->measures.item_bytes = sizeof(struct lapse_measure);
    d->bucket_decls.item_bytes = sizeof(struct lapse_bucket_decl);
    d->opened.item_bytes = sizeof(struct lapse_place);
    d->faults.item_bytes = sizeof(struct lapse_fault_decl);
    d->labels.item_bytes = sizeof(struct lapse_label_decl);
    d->points.item_bytes = sizeof(struct lapse_point_decl);
    d->programs.item_bytes = sizeof(struct lapse_plan_program);
    d->starved.item_bytes = sizeof(struct lapse_starve_decl);
    d->copies.item_bytes = sizeof(struct lapse_copy_decl);
    d->restores.item_bytes = sizeof(struct lapse_restore_decl);
}

static void free_lists(struct lapse_decoder *d) {
    struct lapse_list *lists[] = {&d->buckets, &d->resources, &d->actors,      &d->steps,
                                  &d->checks,  &d->tasks,     &d->world,       &d->finals,
                                  &d->loops,   &d->slots,     &d->watches,     &d->measures,
                                  &d->opened,  &d->faults,    &d->bucket_decls,
                                  &d->labels,  &d->points,    &d->starved,   &d->copies,
                                  &d->programs, &d->restores};
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        lapse_list_free(d->alloc, lists[i]);
    }
    lapse_names_free(d->alloc, &d->names);
}

static void decode_head(struct lapse_decoder *d, const struct lapse_decode_input *input) {
    struct lapse_plan *plan = d->plan;
    plan->file = input->file;
    plan->line_begin = input->line_begin;
    plan->line_first = input->line_first;
    plan->line_last = input->line_last;
    plan->row = input->row;
    plan->document = input->document;
    plan->setup.epoch.ns = LAPSE_EPOCH_DEFAULT_S * LAPSE_NS_PER_S;
    plan->setup.reap_bound.ns = REAP_BOUND_S * LAPSE_NS_PER_S;
    check_top(d);
    lapse_decode_store(d);
    decode_epoch(d);
    decode_name(d, input);
}

static void decode_name(struct lapse_decoder *d, const struct lapse_decode_input *input) {
    const struct lapse_node *name = lapse_node_get(d->root, "name");
    d->plan->the_case.place = name == NULL ? d->root->place : name->place;
    char unnamed[32];
    (void)snprintf(unnamed, sizeof(unnamed), "line %d", input->line_first);
    const char *base = unnamed;
    if (name != NULL && lapse_shape_is(d, name, LAPSE_NODE_SCALAR, "a text")) {
        base = name->text;
    }
    size_t base_len = strlen(base);
    size_t row_len = input->row_text == NULL ? 0 : strlen(input->row_text) + 1;
    char *whole = lapse_decoder_take(d, base_len + row_len + 1);
    if (whole == NULL) {
        return;
    }
    memcpy(whole, base, base_len);
    if (row_len > 0) {
        whole[base_len] = ' ';
        memcpy(whole + base_len + 1, input->row_text, row_len - 1);
    }
    d->plan->name = whole;
    d->plan->setup.scenario = lapse_bytes_of(whole);
}

static void decode_epoch(struct lapse_decoder *d) {
    const struct lapse_node *epoch = lapse_node_get(d->root, "epoch");
    struct lapse_operand date = {0};
    if (epoch == NULL || !lapse_number_date(d, epoch, &date)) {
        return;
    }
    if (date.kind == LAPSE_OPERAND_NOW) {
        lapse_mistake_add(d->diags, "Y107", epoch->place, "", "the epoch is a date of its own");
        return;
    }
    d->plan->setup.epoch.ns = date.number;
}

static void check_top(struct lapse_decoder *d) {
    for (size_t i = 0; i < d->root->count; i++) {
        const struct lapse_node *key = d->root->keys[i];
        if (!lapse_shape_word(d, key, LAPSE_WORD_TOP, "a document")) {
            continue;
        }
        if (lapse_node_is(key, "lapse")) {
            check_version(d, d->root->items[i]);
        } else if (lapse_node_is(key, "about")) {
            (void)lapse_shape_is(d, d->root->items[i], LAPSE_NODE_SCALAR, "a text");
        } else if (lapse_node_is(key, "tags")) {
            check_tags(d, d->root->items[i]);
        }
    }
    const struct lapse_node *explore = lapse_node_get(d->root, "explore");
    if (explore != NULL && explore->kind == LAPSE_NODE_MAP) {
        return; /* a protocol is searched, not run */
    }
    if (lapse_node_is_null(lapse_node_get(d->root, "steps")) &&
        lapse_node_is_null(lapse_node_get(d->root, "actors")) &&
        lapse_node_is_null(lapse_node_get(d->root, "add"))) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y128", d->root->place, "",
                                                    "this document has nothing to run");
        lapse_diag_note(d->diags, diag, "help", "add `steps` or `actors`");
    }
}

static void check_version(struct lapse_decoder *d, const struct lapse_node *node) {
    if (!lapse_node_is(node, "1")) {
        lapse_mistake_add(d->diags, "Y121", node->place, "",
                          "this program reads version 1 of the language: `lapse: 1`");
    }
}

static void check_tags(struct lapse_decoder *d, const struct lapse_node *tags) {
    if (!lapse_shape_is(d, tags, LAPSE_NODE_SEQ, "a list of words")) {
        return;
    }
    for (size_t i = 0; i < tags->count; i++) {
        (void)lapse_shape_is(d, tags->items[i], LAPSE_NODE_SCALAR, "a word");
    }
}

static void decode_sections(struct lapse_decoder *d) {
    const struct lapse_node *add = lapse_node_get(d->root, "add");
    lapse_decode_measures(d, lapse_node_get(d->root, "measure"));
    lapse_decode_sometimes(d, lapse_node_get(d->root, "sometimes"));
    for (size_t i = 0; i < d->root->count; i++) {
        const struct lapse_node *key = d->root->keys[i];
        const struct lapse_node *section = d->root->items[i];
        if (lapse_node_is_null(section)) {
            continue;
        }
        if (lapse_node_is(key, "actors")) {
            lapse_decode_tasks(d, section);
        } else if (lapse_node_is(key, "faults")) {
            lapse_decode_faults(d, section);
        } else if (lapse_node_is(key, "steps")) {
            lapse_decode_steps(d, section, add);
        } else if (lapse_node_is(key, "add") && lapse_node_get(d->root, "steps") == NULL) {
            lapse_decode_steps(d, NULL, add);
        } else if (lapse_node_is(key, "expect")) {
            lapse_decode_finals(d, section);
        } else if (lapse_node_is(key, "bounds")) {
            lapse_decode_bounds(d, section);
        } else if (lapse_node_is(key, "clocks")) {
            lapse_decode_clocks(d, section);
        } else if (lapse_node_is(key, "violates")) {
            decode_violates(d, section);
        }
    }
}

static void decode_end(struct lapse_decoder *d) {
    const struct lapse_node *run_for = lapse_node_get(d->root, "run_for");
    const struct lapse_node *seed = lapse_node_get(d->root, "seed");
    const bool program = d->endless_program;
    if (seed != NULL) {
        d->plan->has_seed = lapse_number_count(d, seed, 0, INT64_MAX, &d->plan->seed);
    }
    if (run_for != NULL) {
        d->plan->has_run_for = lapse_number_span(d, run_for, 0, &d->plan->run_for_ns);
    } else if (d->endless) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y116", d->endless_place,
                              program ? "a program may run for ever" : "this loop has no end",
                              "with this %s the run would never end", program ? "program" : "loop");
        lapse_diag_note(
            d->diags, diag, "help",
            program ? "add `run_for: 60s` to the document"
                    : "add `run_for: 60s` to the document, or `times` or `until: 60s` to the loop");
    }
}

static void decode_violates(struct lapse_decoder *d, const struct lapse_node *violates) {
    if (!lapse_shape_is(d, violates, LAPSE_NODE_SEQ, "a list of contract ids")) {
        return;
    }
    const char **ids = lapse_decoder_take(d, violates->count * sizeof(*ids));
    struct lapse_place *places = lapse_decoder_take(d, violates->count * sizeof(*places));
    for (size_t i = 0; ids != NULL && places != NULL && i < violates->count; i++) {
        const struct lapse_node *node = violates->items[i];
        if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a contract id")) {
            continue;
        }
        const struct lapse_contract *contract = lapse_contract_find(node->text);
        if (contract == NULL) {
            note_no_contract(d, node);
        } else {
            ids[i] = contract->id;
            places[i] = node->place;
        }
    }
    d->plan->the_case.violates = ids;
    d->plan->the_case.violates_places = places;
    d->plan->the_case.violates_count = violates->count;
}

static void note_no_contract(struct lapse_decoder *d, const struct lapse_node *node) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, node->text);
    size_t count = 0;
    const struct lapse_contract *table = lapse_contract_table(&count);
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&nearest, table[i].id);
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y118", node->place, label,
                                                "there is no contract `%.60s`", node->text);
    lapse_diag_note(d->diags, diag, "help", "`lapse contracts` lists them");
}

static void seal_setup(struct lapse_decoder *d) {
    struct lapse_plan *plan = d->plan;
    struct lapse_setup *setup = &plan->setup;
    struct lapse_bytes *nodes = lapse_decoder_take(d, sizeof(*nodes));
    if (nodes != NULL) {
        nodes[0] = lapse_bytes_of("n1");
    }
    setup->nodes = nodes;
    setup->node_count = 1;
    setup->bucket_count = d->buckets.count;
    setup->buckets = lapse_list_seal(&d->buckets, d->pool);
    setup->resource_count = d->resources.count;
    setup->resources = lapse_list_seal(&d->resources, d->pool);
    setup->actor_count = d->actors.count;
    setup->actors = lapse_list_seal(&d->actors, d->pool);
    setup->loop_count = d->loops.count;
    setup->loops = lapse_list_seal(&d->loops, d->pool);
    plan->step_count = d->steps.count;
    plan->steps = lapse_list_seal(&d->steps, d->pool);
    plan->task_count = d->tasks.count;
    plan->tasks = lapse_list_seal(&d->tasks, d->pool);
    plan->program_count = d->programs.count;
    plan->programs = lapse_list_seal(&d->programs, d->pool);
    plan->world_step_count = d->world.count;
    plan->world_steps = lapse_list_seal(&d->world, d->pool);
    plan->final_count = d->finals.count;
    plan->finals = lapse_list_seal(&d->finals, d->pool);
    const char **names = lapse_decoder_take(d, d->watches.count * sizeof(*names));
    for (size_t i = 0; names != NULL && i < d->watches.count; i++) {
        names[i] = ((struct lapse_watch_decl *)lapse_list_at(&d->watches, i))->name;
    }
    plan->watch_names = names;
    plan->watch_count = d->watches.count;
}

static void seal_case(struct lapse_decoder *d) {
    struct lapse_case *the_case = &d->plan->the_case;
    the_case->setup = &d->plan->setup;
    the_case->check_count = d->checks.count;
    the_case->checks = lapse_list_seal(&d->checks, d->pool);
    the_case->measure_count = d->measures.count;
    the_case->measures = lapse_list_seal(&d->measures, d->pool);
    seal_slots(d);
}

/* The name of each slot; of `c$n` they are c1, c2 and so on. */
static void seal_slots(struct lapse_decoder *d) {
    size_t count = (size_t)d->slot_total;
    const char **names = lapse_decoder_take(d, count * sizeof(*names));
    struct lapse_place *places = lapse_decoder_take(d, count * sizeof(*places));
    if (names == NULL || places == NULL) {
        return;
    }
    for (size_t i = 0; i < d->slots.count; i++) {
        const struct lapse_slot_decl *decl = lapse_list_at(&d->slots, i);
        for (int32_t j = 0; j < decl->count; j++) {
            size_t cap = strlen(decl->name) + 12;
            char *name = lapse_decoder_take(d, cap);
            if (name == NULL) {
                return;
            }
            (void)snprintf(name, cap, decl->indexed ? "%s%d" : "%s", decl->name, (int)j + 1);
            names[decl->base + j] = name;
            places[decl->base + j] = decl->place;
        }
    }
    d->plan->the_case.slot_count = count;
    d->plan->the_case.slot_names = names;
    d->plan->the_case.slot_places = places;
}
