/* `lapse contracts [ID]`: the catalogue. */
#include <stdio.h>
#include <string.h>

#include "args.h"

static bool judged(const char *id);
static int list(const struct lapse_cli_options *options);

int lapse_cli_contracts(const struct lapse_cli_options *options) {
    if (options->path_count == 0) {
        return list(options);
    }
    if (lapse_contract_find(options->paths[0]) == NULL) {
        return lapse_cli_complain(
            LAPSE_EXIT_USAGE, "no contract is called '%s'; see lapse contracts", options->paths[0]);
    }
    return lapse_cli_explain(options);
}

static int list(const struct lapse_cli_options *options) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    for (size_t i = 0; i < count; i++) {
        lapse_out_format(&out, "%-10s ", contracts[i].id);
        int at = 11;
        const char *rest = contracts[i].sentence;
        /* Sentences are ours: plain ASCII, so bytes are columns. */
        while (*rest != '\0') {
            size_t word = strcspn(rest, " ");
            if (at + (int)word + 1 > options->around.out_width) {
                lapse_out_format(&out, "\n%11s", "");
                at = 11;
            }
            lapse_out_bytes(&out, rest, word);
            rest += word + strspn(rest + word, " ");
            lapse_out_text(&out, *rest != '\0' ? " " : "");
            at += (int)word + 1;
        }
        lapse_out_text(&out, judged(contracts[i].id) ? "\n" : " (not judged yet)\n");
    }
    int code = out.failed ? lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out") : 0;
    if (out.len > 0) {
        (void)fwrite(out.text, 1, out.len, stdout);
    }
    lapse_out_free(&out);
    return code;
}

static bool judged(const char *id) {
    size_t count;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(rules[i].id, id) == 0) {
            return true;
        }
    }
    return false;
}
