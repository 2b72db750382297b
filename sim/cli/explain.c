/* `lapse explain CODE`: a contract, a mistake of a file, or one of the program's own messages. */
#include <string.h>

#include "args.h"
#include "codes.h"
#include "fuzz/bugs.h"

enum { INDENT = 2 };

static void explain_contract(struct lapse_out *out, const struct lapse_contract *contract);
static void put_bugs(struct lapse_out *out, const char *id);
static void put_text(struct lapse_out *out, const char *text);

int lapse_cli_explain(const struct lapse_cli_options *options) {
    const char *code = options->paths[0];
    const struct lapse_contract *contract = lapse_cli_contract_find(code);
    struct lapse_mistake mistake;
    bool mistaken = lapse_cli_mistake_find(code, &mistake);
    if (contract == NULL && !mistaken) {
        const char *near = lapse_cli_code_nearest(code, false);
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "nothing is called '%s'%s%s%s", code,
                                  near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                                  near != NULL ? "'?" : "; see lapse contracts");
    }
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    if (contract != NULL) {
        explain_contract(&out, contract);
    } else {
        lapse_out_format(&out, "%s: %s\n\n", mistake.code, mistake.title);
        put_text(&out, mistake.more);
    }
    int exit =
        out.failed ? lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out") : LAPSE_EXIT_PASSED;
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return exit;
}

static void explain_contract(struct lapse_out *out, const struct lapse_contract *contract) {
    lapse_out_format(out, "%s\n\n", contract->id);
    put_text(out, contract->sentence);
    if (contract->why != NULL && contract->why[0] != '\0') {
        lapse_out_text(out, "\n");
        put_text(out, contract->why);
    }
    lapse_out_format(out, "\nFrom: %s\n", contract->source);
    put_bugs(out, contract->id);
}

/* The check can fail: each of these was planted, and it saw it. */
static void put_bugs(struct lapse_out *out, const char *id) {
    const struct lapse_bug *bug;
    size_t at = 0;
    if (lapse_cli_caught(id, &at, &bug) > 0) {
        lapse_out_text(out, "\nPlanted bugs that it must catch (lapse self-test):\n");
    }
    while (bug != NULL) {
        lapse_out_format(out, "\n  %s\n", bug->name);
        put_text(out, bug->about);
        lapse_out_format(out, "  in %s\n", bug->scenario);
        (void)lapse_cli_caught(id, &at, &bug);
    }
}

static void put_text(struct lapse_out *out, const char *text) {
    lapse_out_format(out, "%*s", INDENT, "");
    lapse_cli_wrap(out, text, INDENT, INDENT);
}
