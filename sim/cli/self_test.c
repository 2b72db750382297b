/* `lapse self-test`: shows that the checks can fail. It starts lapse-planted, which lies beside
 * this program, with each planted bug, and prints what caught it and how soon; then each contract
 * with the bugs that its rule finds alone. */
#include "self.h"

#include <stdio.h>
#include <string.h>

#define PLANTED "lapse-planted"
#define CANARY "lapse-canary"

enum { PATH_BYTES = LAPSE_CLI_PATH_MAX + 16 }; /* room for a program's name beside this one */

static bool beside(const struct lapse_cli_options *options, const char *name, char *ret);

int lapse_cli_self_test(const struct lapse_cli_options *options) {
    char planted[PATH_BYTES], canary[PATH_BYTES];
    if (!beside(options, PLANTED, planted) ||
        (!options->matrix && !beside(options, CANARY, canary))) {
        return LAPSE_EXIT_MISTAKES;
    }
    if (options->matrix) {
        return lapse_cli_matrix(options, planted);
    }
    struct lapse_cli_self self;
    struct lapse_error err = {0};
    struct lapse_out out;
    lapse_out_init(&out, lapse_alloc_libc());
    size_t silent = 0;
    int code = LAPSE_EXIT_PASSED;
    if (lapse_cli_self_run(planted, options->jobs, &self, &err) != LAPSE_OK) {
        code = lapse_cli_complain(LAPSE_EXIT_BUG, "%s", err.message);
    } else {
        lapse_cli_self_show_bugs(&self, &out);
        size_t idle = lapse_cli_self_show_rules(&self, &out);
        if (lapse_cli_canary_show(canary, &out, &silent, &err) != LAPSE_OK) {
            silent = 1;
            lapse_out_format(&out, "%s\n", err.message);
        }
        lapse_cli_self_show_sums(&self, idle, &out);
        lapse_cli_print(&out);
        bool good = lapse_cli_self_caught(&self) == self.count && self.clean > 0 &&
                    self.clean_bad == 0;
        code = good && silent == 0 ? LAPSE_EXIT_PASSED : LAPSE_EXIT_VIOLATED;
    }
    lapse_out_free(&out);
    lapse_cli_self_free(&self);
    return code;
}

/* Fills ret, of PATH_BYTES, with the path of a program beside this one; complains where there is
 * none. */
static bool beside(const struct lapse_cli_options *options, const char *name, char *ret) {
    const char *slash = strrchr(options->around.self, '/');
    int folder = slash == NULL ? 0 : (int)(slash + 1 - options->around.self);
    (void)snprintf(ret, PATH_BYTES, "%.*s%s", folder, options->around.self, name);
    FILE *file = fopen(ret, "rb");
    if (file == NULL) {
        (void)lapse_cli_complain(LAPSE_EXIT_MISTAKES,
                                 "there is no %s beside this program (looked for '%s'); build it: "
                                 "meson compile -C build %s",
                                 name, ret, name);
        return false;
    }
    (void)fclose(file);
    return true;
}
