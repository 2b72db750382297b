/* What shows that a contract's check can fail: the planted bugs that must break it, and where. */
#include <string.h>

#include "args.h"
#include "fuzz/bugs.h"

enum { INDENT = 11 };

static bool lists(const char *ids, const char *id);

size_t lapse_cli_caught(const char *id, size_t *at, const struct lapse_bug **ret) {
    size_t count, found = 0;
    const struct lapse_bug *bugs = lapse_bug_table(&count);
    *ret = NULL;
    for (size_t i = *at; i < count; i++) {
        if (lists(bugs[i].catchers, id)) {
            *ret = found == 0 ? &bugs[i] : *ret;
            *at = found == 0 ? i + 1 : *at;
            found++;
        }
    }
    return found;
}

void lapse_cli_caught_line(struct lapse_out *out, const struct lapse_contract *contract) {
    const struct lapse_bug *first;
    size_t at = 0;
    size_t count = lapse_cli_caught(contract->id, &at, &first);
    lapse_out_format(out, "%*sfrom %s; %s\n", INDENT, "", contract->source,
                     lapse_rule_exists(contract->id) ? "judged by a rule" : "not judged yet");
    if (count == 0) {
        return;
    }
    lapse_out_format(out, "%*scaught with it: %s", INDENT, "", first->name);
    if (count > 1) {
        lapse_out_format(out, " +%zu", count - 1);
    }
    lapse_out_format(out, "\n  %s\n", first->scenario);
}

static bool lists(const char *ids, const char *id) {
    size_t len = strlen(id);
    for (const char *at = ids; (at = strstr(at, id)) != NULL; at += len) {
        bool begins = at == ids || at[-1] == ' ';
        if (begins && (at[len] == ' ' || at[len] == '\0')) {
            return true;
        }
    }
    return false;
}
