/* `lapse contracts --profile NAME [ID|PATH]`: what the profile keeps, and what it breaks: by which
 * policies, and in which scenario this can be seen. */
#include <string.h>

#include "codes.h"
#include "contracts/promise.h"
#include "contracts/nearest.h"
#include "witness.h"

enum { INDENT = 11, COLUMNS = 80 };

static int complain_profile(const char *name);
static void show_all(const struct lapse_cli_witnesses *witnesses,
                     const struct lapse_policies *policies, const struct lapse_contract *only,
                     struct lapse_out *out);
static void show_break(const struct lapse_cli_witnesses *witnesses, size_t at,
                       const struct lapse_policies *policies, struct lapse_out *out);
static void show_sums(const struct lapse_cli_witnesses *witnesses, size_t broken, size_t shown,
                      struct lapse_out *out);

int lapse_cli_breaks(const struct lapse_cli_options *options) {
    enum lapse_profile profile;
    if (!lapse_profile_find(lapse_bytes_of(options->profile), &profile)) {
        return complain_profile(options->profile);
    }
    char *named = options->path_count > 0 ? options->paths[0] : NULL;
    const struct lapse_contract *only = named != NULL ? lapse_cli_contract_find(named) : NULL;
    struct lapse_policies policies = lapse_policies_of(profile);
    struct lapse_cli_witnesses witnesses;
    struct lapse_error err = {0};
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    enum lapse_status status = lapse_cli_witnesses_find(
        options, profile, only == NULL ? named : NULL, &witnesses, &err);
    int code = LAPSE_EXIT_PASSED;
    if (status == LAPSE_OK) {
        show_all(&witnesses, &policies, only, &out);
        lapse_cli_print(&out);
    }
    if (status == LAPSE_NOMEM || out.failed) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    } else if (status != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    }
    lapse_out_free(&out);
    lapse_cli_witnesses_free(&witnesses);
    return code;
}

static int complain_profile(const char *name) {
    struct lapse_nearest near;
    lapse_nearest_begin(&near, name);
    for (int i = 0; i < LAPSE_PROFILES; i++) {
        lapse_nearest_offer(&near, lapse_profile_word((enum lapse_profile)i));
    }
    return lapse_cli_complain(LAPSE_EXIT_USAGE, "no profile is called '%s'%s%s%s", name,
                              near.best != NULL ? ", did you mean '" : "",
                              near.best != NULL ? near.best : "",
                              near.best != NULL ? "'?" : "; see lapse help profiles");
}

static void show_all(const struct lapse_cli_witnesses *witnesses,
                     const struct lapse_policies *policies, const struct lapse_contract *only,
                     struct lapse_out *out) {
    size_t count, broken = 0, shown = 0;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (only != NULL && only != &contracts[i]) {
            continue;
        }
        lapse_out_format(out, "%-*s ", INDENT - 1, contracts[i].id);
        if (lapse_promise_break(policies, contracts[i].id, NULL) == NULL) {
            bool judged = lapse_rule_judges(contracts[i].id, policies);
            lapse_out_text(out, judged ? "kept\n" : "kept (not judged yet)\n");
            continue;
        }
        broken++;
        shown += witnesses->items[i].count > 0;
        show_break(witnesses, i, policies, out);
    }
    if (only == NULL) {
        show_sums(witnesses, broken, shown, out);
    }
}

static void show_break(const struct lapse_cli_witnesses *witnesses, size_t at,
                       const struct lapse_policies *policies, struct lapse_out *out) {
    size_t count;
    const char *id = lapse_contract_table(&count)[at].id;
    lapse_out_text(out, "broken by");
    size_t column = INDENT + sizeof "broken by" - 1;
    const struct lapse_promise *promise = NULL;
    const char *sign = "";
    while ((promise = lapse_promise_break(policies, id, promise)) != NULL) {
        struct lapse_bytes value = lapse_promise_value(promise);
        const char *word = lapse_promise_policy(promise);
        size_t len = strlen(sign) + strlen(word) + value.len + sizeof " : ," - 1;
        bool fits = column + len <= COLUMNS;
        lapse_out_text(out, sign);
        lapse_out_format(out, "%s%*s%s: %.*s", fits ? "" : "\n", fits ? 1 : INDENT, "", word,
                         (int)value.len, (const char *)value.data);
        column = fits ? column + len : INDENT + len;
        sign = ",";
    }
    lapse_out_text(out, "\n");
    const struct lapse_cli_witness *witness = &witnesses->items[at];
    lapse_out_format(out, "%*s", INDENT, "");
    if (witness->count > 0) {
        lapse_out_text(out, witness->place.text != NULL ? witness->place.text : "");
        lapse_out_text(out, witness->count > 1 ? " and " : "\n");
    } else {
        lapse_out_text(out, "no scenario shows it\n");
    }
    if (witness->count > 1) {
        lapse_out_format(out, "%zu more\n", witness->count - 1);
    }
    out->failed = out->failed || witness->place.failed;
}

static void show_sums(const struct lapse_cli_witnesses *witnesses, size_t broken, size_t shown,
                      struct lapse_out *out) {
    const char *profile = lapse_profile_word(witnesses->profile);
    if (broken == 0) {
        lapse_out_format(out, "\n%s keeps all %zu contracts\n", profile, witnesses->count);
        return;
    }
    lapse_out_format(out, "\n%s keeps %zu contracts and breaks %zu", profile,
                     witnesses->count - broken, broken);
    if (witnesses->path == NULL) {
        lapse_out_text(out, ";\nname a folder with scenarios that show it\n");
        return;
    }
    lapse_out_format(out, ",\n%zu of them shown by scenarios in ", shown);
    (void)lapse_out_safe_text(out, witnesses->path);
    lapse_out_text(out, "\n");
    if (witnesses->mistaken_files > 0) {
        lapse_out_format(out, "%zu file%s with mistakes not searched; see lapse lint\n",
                         witnesses->mistaken_files, witnesses->mistaken_files == 1 ? "" : "s");
    }
}
