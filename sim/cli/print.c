/* What commands print: whole lines, within 80 columns, without blanks at their ends. */
#include <stdio.h>
#include <string.h>

#include "args.h"

enum { TEXT_COLUMNS = 80 };

void lapse_cli_print(struct lapse_out *out) {
    lapse_out_trim(out);
    if (out->len > 0) {
        (void)fwrite(out->text, 1, out->len, stdout); /* main looks at the stream's state */
    }
}

void lapse_cli_wrap(struct lapse_out *out, const char *text, int at, int indent) {
    bool first = true;
    while (*text != '\0') {
        size_t word = strcspn(text, " \n");
        if (!first && at + 1 + (int)word > TEXT_COLUMNS) {
            lapse_out_format(out, "\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            lapse_out_text(out, " ");
            at++;
        }
        lapse_out_bytes(out, text, word);
        at += (int)word;
        first = false;
        text += word;
        text += strspn(text, " \n");
    }
    lapse_out_text(out, "\n");
}
