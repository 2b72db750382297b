/* The table of formats, and what they share: joining, the replay command, exit sentences. */
#include <string.h>

#include "draw.h"

static const lapse_format *const formats[] = {
    &lapse_format_pretty,
    &lapse_format_tap,
    &lapse_format_junit,
    &lapse_format_jsonl,
    &lapse_format_digests,
    &lapse_format_tally,
};
static const char *const names[] = {"pretty", "tap", "junit", "jsonl", "digests", "tally", NULL};

const lapse_format *lapse_format_find(const char *name) {
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i]->name, name) == 0) {
            return formats[i];
        }
    }
    return NULL;
}

const char *const *lapse_format_names(void) {
    return names;
}

void lapse_format_join(struct lapse_out *out, const char *bytes, size_t len, size_t *index) {
    if (len == 0) {
        return; /* there may be no bytes at all */
    }
    const char *end = bytes + len;
    while (bytes < end) {
        const char *mark = memchr(bytes, LAPSE_FORMAT_INDEX[0], (size_t)(end - bytes));
        const char *stop = mark == NULL ? end : mark;
        lapse_out_bytes(out, bytes, (size_t)(stop - bytes));
        if (mark == NULL) {
            return;
        }
        lapse_out_format(out, "%zu", ++*index);
        bytes = mark + 1;
    }
}

/* A path that a shell would take apart is quoted, so that the line can be pasted as it is. */
static void put_path(struct lapse_out *out, const char *path, int line) {
    bool plain = path[0] != '\0';
    for (const char *at = path; *at != '\0'; at++) {
        bool letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z');
        bool digit = *at >= '0' && *at <= '9';
        plain = plain && (letter || digit || strchr("_-./+,:@%=", *at) != NULL);
    }
    lapse_out_text(out, plain ? "" : "'");
    for (const char *at = path; *at != '\0';) {
        size_t len = strcspn(at, "'");
        (void)lapse_out_safe(out, at, len, INT32_MAX);
        at += len;
        if (*at == '\'') {
            lapse_out_text(out, "'\\''");
            at++;
        }
    }
    if (line > 0) {
        lapse_out_format(out, ":%d", line);
    }
    lapse_out_text(out, plain ? "" : "'");
}

void lapse_replay_line(struct lapse_out *out, const struct lapse_result_view *view) {
    if (view->recorded) {
        lapse_out_text(out, "lapse check ");
        put_path(out, view->file, 0);
        return;
    }
    if (view->replay != NULL) {
        lapse_out_text(out, view->replay);
        return;
    }
    lapse_out_text(out, "lapse replay ");
    put_path(out, view->file, view->line);
    if (view->row >= 0) {
        lapse_out_format(out, " --row %d", view->row);
    }
    lapse_out_format(out, " --seed %llu", (unsigned long long)view->seed);
    lapse_out_text(out, view->promise_strict ? " --promise strict" : "");
    lapse_out_text(out, view->compare_model ? " --model" : "");
    lapse_out_text(out, view->parting != NULL ? " --check-determinism" : "");
}

const char *lapse_exit_sentence(int exit_code) {
    static const struct {
        int code;
        const char *sentence;
    } sentences[] = {
        {0, "0, all passed"},
        {1, "1, a contract was violated or an expectation was not met"},
        {2, "2, the command line is wrong"},
        {3, "3, mistakes in a file"},
        {4, "4, inconclusive"},
        {5, "5, nothing was selected"},
        {6, "6, the target died"},
        {7, "7, not deterministic: the same seed gave another history"},
        {70, "70, a bug in lapse itself"},
        {130, "130, interrupted"},
        {143, "143, terminated"},
    };
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++) {
        if (sentences[i].code == exit_code) {
            return sentences[i].sentence;
        }
    }
    return "?";
}
