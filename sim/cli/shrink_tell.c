/* What `lapse shrink` has made: saved, run again from its file as anybody would, and explained. */
#include <stdio.h>
#include <string.h>

#include "shrunk.h"
#include "story.h"

static enum lapse_status save(const struct lapse_cli_options *options, const char *id,
                              const struct lapse_out *text, char *ret_path,
                              struct lapse_error *err);
static void draw_end(const struct lapse_cli_options *options, const struct lapse_plan *plan,
                     const char *path, bool pinned, struct lapse_out *out);

int lapse_cli_shrink_tell(const struct lapse_cli_options *options, const struct lapse_plan *plan,
                          const struct lapse_cli_made *made, const struct lapse_out *text,
                          const struct lapse_out *told) {
    char path[LAPSE_CLI_PATH_MAX];
    struct lapse_error err = {0};
    if (save(options, made->id, text, path, &err) != LAPSE_OK) {
        return lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    }
    struct lapse_out out;
    size_t sizes = strcspn(told->text, "\n") + 1;
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_out_text(&out, "  ");
    lapse_out_bytes(&out, told->text, sizes);
    lapse_cli_print(&out);
    lapse_out_free(&out);
    int code = lapse_cli_replay_told(options, path);
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_out_bytes(&out, told->text + sizes, told->len - sizes);
    draw_end(options, plan, path, made->pinned, &out);
    lapse_cli_print(&out);
    lapse_out_free(&out);
    return code == LAPSE_EXIT_VIOLATED ? LAPSE_EXIT_VIOLATED
                                       : lapse_cli_complain(LAPSE_EXIT_BUG,
                                                            "the shrunk scenario does not fail");
}

static enum lapse_status save(const struct lapse_cli_options *options, const char *id,
                              const struct lapse_out *text, char *ret_path,
                              struct lapse_error *err) {
    if (options->output == NULL) {
        return lapse_cli_finding_add(text, LAPSE_CLI_FINDINGS, id, ret_path, LAPSE_CLI_PATH_MAX,
                                     err);
    }
    (void)snprintf(ret_path, LAPSE_CLI_PATH_MAX, "%s", options->output);
    return lapse_cli_finding_put(text, ret_path, err);
}

/* A document with a seed of its own needs none. */
static void draw_end(const struct lapse_cli_options *options, const struct lapse_plan *plan,
                     const char *path, bool pinned, struct lapse_out *out) {
    const char *promise = options->promise_strict ? " --promise strict" : "";
    lapse_out_text(out, "\nsaved    ");
    (void)lapse_out_safe_text(out, path);
    lapse_out_format(out, "     a scenario: `lapse run%s` fails on it until this is mended\n"
                          "exit     %s\nreplay   lapse replay ",
                     promise, lapse_exit_sentence(LAPSE_EXIT_VIOLATED));
    (void)lapse_out_safe_text(out, path);
    lapse_out_text(out, ":1");
    if (!pinned) {
        lapse_out_format(out, " --seed %llu",
                         (unsigned long long)lapse_plan_seed(plan, options->seed));
    }
    lapse_out_format(out, "%s%s\n", promise, options->compare_model ? " --model" : "");
}
