/* The canaries of `lapse self-test`: lapse-canary tells each contract's story with one event
 * changed, and its rule must ring. */
#include "self.h"

#include <string.h>

static struct lapse_bytes cut(struct lapse_bytes *rest, char at);

enum lapse_status lapse_cli_canary_show(const char *canary, struct lapse_out *out,
                                        size_t *ret_silent, struct lapse_error *err) {
    struct lapse_cli_child child = {.argv = {canary}};
    enum lapse_status status = lapse_cli_children_run(&child, 1, 1, err);
    struct lapse_bytes rest = {(const unsigned char *)child.told.text, child.told.len};
    size_t rang = 0;
    *ret_silent = 0;
    lapse_out_text(out, "\ncontract    rings at  its canary, a history with one event changed\n");
    while (status == LAPSE_OK && rest.len > 0) {
        struct lapse_bytes line = cut(&rest, '\n');
        struct lapse_bytes id = cut(&line, '\t'), at = cut(&line, '\t'), of = cut(&line, '\t');
        bool silent = lapse_cli_tally_is(at, "0");
        *ret_silent += silent;
        rang += !silent;
        lapse_out_format(out, "%-11.*s %3.*s of %-3.*s %.*s%.*s\n", (int)id.len,
                         (const char *)id.data, (int)at.len, (const char *)at.data, (int)of.len,
                         (const char *)of.data, silent ? 8 : 0, "SILENT: ", (int)line.len,
                         (const char *)line.data);
    }
    *ret_silent += rang == 0; /* it told nothing */
    lapse_out_format(out, "%zu canaries ring, %zu are silent\n", rang, *ret_silent);
    if (child.told.alloc != NULL) {
        lapse_out_free(&child.told);
    }
    return status;
}

/* What stands before the next `at`, or all; the rest begins behind it. */
static struct lapse_bytes cut(struct lapse_bytes *rest, char at) {
    const unsigned char *mark = rest->len == 0 ? NULL : memchr(rest->data, at, rest->len);
    struct lapse_bytes head = *rest;
    size_t skipped = mark == NULL ? rest->len : (size_t)(mark - rest->data) + 1;
    head.len = mark == NULL ? rest->len : skipped - 1;
    rest->data = rest->data == NULL ? NULL : rest->data + skipped;
    rest->len -= skipped;
    return head;
}
