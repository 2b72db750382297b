/* The search for scenarios that show what a profile breaks. */
#define _POSIX_C_SOURCE 200809L

#include "witness.h"

#include <string.h>
#include <sys/stat.h>

#include "contracts/promise.h"
#include "runner.h"

static enum lapse_status look_at_file(struct lapse_cli_witnesses *witnesses,
                                      const struct lapse_cli_options *options,
                                      const struct lapse_cli_target *target);
static void look_at_plan(struct lapse_cli_witnesses *witnesses, const struct lapse_plan *plan,
                         const char *path);
static bool shows(enum lapse_profile profile, const struct lapse_setup *setup, const char *id);

enum lapse_status lapse_cli_witnesses_find(const struct lapse_cli_options *options,
                                           enum lapse_profile profile, char *path,
                                           struct lapse_cli_witnesses *ret,
                                           struct lapse_error *err) {
    char usual[] = "scenarios";
    struct stat found;
    char *at = path != NULL ? path : stat(usual, &found) == 0 ? usual : NULL;
    *ret = (struct lapse_cli_witnesses){.profile = profile,
                                        .path = at == usual ? "scenarios" : at};
    (void)lapse_contract_table(&ret->count);
    ret->items = lapse_alloc_zero(lapse_alloc_libc(), ret->count * sizeof *ret->items);
    if (ret->items == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    for (size_t i = 0; i < ret->count; i++) {
        lapse_out_init(&ret->items[i].place, lapse_alloc_libc());
    }
    struct lapse_cli_selection selection;
    enum lapse_status status = lapse_cli_select(&at, at != NULL ? 1 : 0, &selection, err);
    for (size_t i = 0; status == LAPSE_OK && i < selection.count; i++) {
        status = look_at_file(ret, options, &selection.targets[i]);
        if (status != LAPSE_OK) {
            (void)lapse_error_set(err, status, "memory ran out");
        }
    }
    lapse_cli_selection_free(&selection);
    return status;
}

void lapse_cli_witnesses_free(struct lapse_cli_witnesses *witnesses) {
    for (size_t i = 0; witnesses->items != NULL && i < witnesses->count; i++) {
        lapse_out_free(&witnesses->items[i].place);
    }
    lapse_alloc_free(lapse_alloc_libc(), witnesses->items,
                     witnesses->count * sizeof *witnesses->items);
    witnesses->items = NULL;
}

/* The first row of a document stands for all of them. */
static enum lapse_status look_at_file(struct lapse_cli_witnesses *witnesses,
                                      const struct lapse_cli_options *options,
                                      const struct lapse_cli_target *target) {
    struct lapse_file file;
    struct lapse_error unread = {0};
    enum lapse_status status = lapse_cli_read(target->path, &file, &unread);
    for (size_t i = 0; status == LAPSE_OK && i < file.plan_count; i++) {
        const struct lapse_plan *plan = file.plans[i];
        if (plan->row <= 0 && !plan->explore.on && lapse_cli_chosen(options, target, plan)) {
            look_at_plan(witnesses, plan, target->path);
        }
    }
    witnesses->mistaken_files += status == LAPSE_INVALID || status == LAPSE_IO;
    if (status == LAPSE_OK || status == LAPSE_INVALID) {
        lapse_file_free(&file);
    }
    return status == LAPSE_NOMEM ? LAPSE_NOMEM : LAPSE_OK;
}

static void look_at_plan(struct lapse_cli_witnesses *witnesses, const struct lapse_plan *plan,
                         const char *path) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    for (size_t i = 0; i < plan->the_case.violates_count; i++) {
        const char *id = plan->the_case.violates[i];
        size_t at = 0;
        while (at < count && strcmp(contracts[at].id, id) != 0) {
            at++;
        }
        if (at == count || !shows(witnesses->profile, &plan->setup, id)) {
            continue;
        }
        struct lapse_cli_witness *witness = &witnesses->items[at];
        if (witness->count++ == 0) {
            (void)lapse_out_safe_text(&witness->place, path);
            lapse_out_format(&witness->place, ":%d", plan->line_first);
        }
    }
}

/* A scenario may set single policies over its profile: it counts if one of those that break the
 * contract there is the profile's own. */
static bool shows(enum lapse_profile profile, const struct lapse_setup *setup, const char *id) {
    struct lapse_bytes name = lapse_bytes_of(lapse_profile_word(profile));
    if (!lapse_bytes_equal(setup->profile, name)) {
        return false;
    }
    const struct lapse_promise *promise = NULL;
    while ((promise = lapse_promise_break(&setup->policies, id, promise)) != NULL) {
        if (lapse_promise_of_profile(promise, name)) {
            return true;
        }
    }
    return false;
}
