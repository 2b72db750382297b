/* `lapse contracts [ID]`: the catalogue, and what shows that each check can fail. With a
 * profile, see breaks.c. */
#include <string.h>

#include "args.h"
#include "codes.h"

enum { INDENT = 11 };

static int list(void);

int lapse_cli_contracts(const struct lapse_cli_options *options) {
    if (options->profile != NULL) {
        return lapse_cli_breaks(options);
    }
    if (options->path_count == 0) {
        return list();
    }
    const char *id = options->paths[0];
    if (lapse_cli_contract_find(id) == NULL) {
        const char *near = lapse_cli_code_nearest(id, true);
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "no contract is called '%s'%s%s%s", id,
                                  near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                                  near != NULL ? "'?" : "; see lapse contracts");
    }
    return lapse_cli_explain(options);
}

static int list(void) {
    size_t count;
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    for (size_t i = 0; i < count; i++) {
        lapse_out_format(&out, "%-*s ", INDENT - 1, contracts[i].id);
        lapse_cli_wrap(&out, contracts[i].sentence, INDENT, INDENT);
        lapse_cli_caught_line(&out, &contracts[i]);
    }
    int code = out.failed ? lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out") : 0;
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return code;
}
