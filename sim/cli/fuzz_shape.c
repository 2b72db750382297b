/* The scenarios that a campaign starts from, as shapes: each document, or each of its rows. */
#include <stdio.h>

#include "fuzz.h"
#include "runner.h"
#include "scenarios/yaml.h"

static int take_file(struct lapse_cli_fuzz *fuzz, const char *path,
                     const struct lapse_cli_target *target, size_t *taken);

static const struct lapse_node *varied_document(const struct lapse_cli_file *file,
                                                const struct lapse_plan *plan,
                                                struct lapse_pool *pool);

int lapse_cli_fuzz_shapes(struct lapse_cli_fuzz *fuzz, char *const *paths, size_t count) {
    struct lapse_cli_selection selection;
    struct lapse_error err = {0};
    if (count == 0) {
        return LAPSE_EXIT_PASSED;
    }
    enum lapse_status status = lapse_cli_select(paths, count, &selection, &err);
    int code = LAPSE_EXIT_PASSED;
    size_t taken = 0;
    if (status != LAPSE_OK) {
        code = lapse_cli_complain(status == LAPSE_NOMEM ? LAPSE_EXIT_BUG : LAPSE_EXIT_MISTAKES,
                                  "%s", err.message);
    }
    for (size_t i = 0; code == LAPSE_EXIT_PASSED && i < selection.count; i++) {
        code = take_file(fuzz, selection.targets[i].path, &selection.targets[i], &taken);
    }
    if (code == LAPSE_EXIT_PASSED && taken == 0) {
        code = lapse_cli_complain_nothing(fuzz->options, &selection);
    }
    lapse_cli_selection_free(&selection);
    return code;
}

static int take_file(struct lapse_cli_fuzz *fuzz, const char *path,
                     const struct lapse_cli_target *target, size_t *taken) {
    struct lapse_cli_file file;
    struct lapse_error err = {0};
    int code = LAPSE_EXIT_PASSED;
    int32_t document = -1;
    enum lapse_status status = lapse_cli_file_open(path, &file);
    if (status == LAPSE_INVALID) {
        const struct lapse_style style = lapse_cli_style(fuzz->options);
        lapse_cli_diags_show(&file, lapse_cli_file_diags(&file), &style);
        code = LAPSE_EXIT_MISTAKES;
    } else if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    struct lapse_pool pool;
    lapse_pool_init(&pool, lapse_alloc_libc());
    for (size_t i = 0; code == LAPSE_EXIT_PASSED && i < file.loaded.plan_count; i++) {
        const struct lapse_plan *plan = file.loaded.plans[i];
        if (!lapse_cli_chosen(fuzz->options, target, plan) || plan->explore.on) {
            continue; /* a protocol has no run to vary */
        }
        const struct lapse_node *varied = varied_document(&file, plan, &pool);
        if (varied != NULL && document == plan->document) {
            continue; /* a row of it stands for them all */
        }
        document = plan->document;
        status = lapse_campaign_shape(fuzz->campaign, plan, varied, &err);
        if (status == LAPSE_NOMEM) {
            code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
        } else if (status != LAPSE_OK) {
            (void)lapse_cli_complain(LAPSE_EXIT_PASSED, "%s: left out: %s", path, err.message);
        }
        *taken += status == LAPSE_OK;
    }
    lapse_pool_free(&pool);
    lapse_cli_file_close(&file);
    return code;
}

/* The tree of the plan's document, if it varies something and is no copy of another. */
static const struct lapse_node *varied_document(const struct lapse_cli_file *file,
                                                const struct lapse_plan *plan,
                                                struct lapse_pool *pool) {
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    const struct lapse_node *root = NULL;
    if (plan->row < 0) {
        return NULL;
    }
    lapse_diag_list_init(&diags, pool->alloc);
    if (lapse_yaml_parse(pool, "shape", file->loaded.text, file->loaded.text_bytes, &documents,
                         &diags) &&
        (size_t)plan->document < documents.count) {
        root = ((const struct lapse_document *)lapse_list_at(&documents, (size_t)plan->document))
                   ->root;
    }
    lapse_list_free(pool->alloc, &documents);
    lapse_diag_list_free(&diags);
    return lapse_node_get(root, "like") == NULL ? root : NULL;
}
