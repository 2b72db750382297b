/* `lapse fuzz FILE --against STATES`: what the campaign is counted against, and what it has not
 * seen of it. */
#include <inttypes.h>
#include <stdio.h>

#include "explore.h"
#include "fuzz.h"

enum { UNSEEN_SHOWN = 20, PERMILLE = 1000 };

static int read_states(const char *path, struct lapse_reach *ret);
static int compare(const struct lapse_cli_against *against, const char *path);
static void put_share(struct lapse_out *out, size_t part, size_t all);

int lapse_cli_against_open(const struct lapse_cli_options *options,
                           struct lapse_cli_against *ret) {
    if (options->path_count != 1) {
        return lapse_cli_complain(LAPSE_EXIT_USAGE, "--against needs the one document that was "
                                                    "explored: lapse fuzz FILE --against STATES");
    }
    int code = lapse_cli_only_plan(options, "--against", &ret->file, &ret->index);
    if (code != LAPSE_EXIT_PASSED) {
        return code;
    }
    code = read_states(options->against, &ret->reach);
    if (code != LAPSE_EXIT_PASSED) {
        lapse_cli_file_close(&ret->file);
        return code;
    }
    ret->plan = ret->file.loaded.plans[ret->index];
    code = compare(ret, options->against);
    if (code != LAPSE_EXIT_PASSED) {
        lapse_cli_against_close(ret);
    }
    return code;
}

void lapse_cli_against_close(struct lapse_cli_against *against) {
    lapse_reach_free(&against->reach);
    lapse_cli_file_close(&against->file);
}

static int read_states(const char *path, struct lapse_reach *ret) {
    struct lapse_cli_bytes bytes;
    struct lapse_error err = {0};
    enum lapse_status status = lapse_cli_bytes_read(
        path, "a file of states", (size_t)LAPSE_REACH_BYTES_MAX + 1, &bytes, &err);
    if (status == LAPSE_OK && bytes.count > LAPSE_REACH_BYTES_MAX) {
        status = lapse_error_set(&err, LAPSE_INVALID, "it is longer than %d MiB, and no file of "
                                                      "states is",
                                 (int)LAPSE_REACH_BYTES_MAX / (1024 * 1024));
    } else if (status == LAPSE_OK) {
        status = lapse_reach_read(lapse_alloc_libc(), bytes.count > 0 ? bytes.data : "",
                                  bytes.count, ret, &err);
    }
    lapse_cli_bytes_free(&bytes);
    return status == LAPSE_OK      ? LAPSE_EXIT_PASSED
           : status == LAPSE_NOMEM ? lapse_cli_complain(LAPSE_EXIT_BUG, "%s", err.message)
                                   : lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s: %s", path,
                                                        err.message);
}

static int compare(const struct lapse_cli_against *against, const char *path) {
    struct lapse_error err = {0};
    uint64_t digest = 0;
    enum lapse_status status =
        lapse_reach_digest(lapse_alloc_libc(), against->plan, &digest, &err);
    if (status != LAPSE_OK) {
        return lapse_cli_complain(LAPSE_EXIT_MISTAKES, "%s", err.message);
    }
    if (digest != against->reach.digest ||
        against->plan->explore.on != against->reach.protocol) {
        return lapse_cli_complain(LAPSE_EXIT_MISTAKES,
                                  "%s: it has the states of another document (%016" PRIx64
                                  "; %s:%d is %016" PRIx64 "); write it anew with `lapse explore "
                                  "%s:%d --states %s`",
                                  path, against->reach.digest, against->plan->file,
                                  against->plan->line_first, digest, against->plan->file,
                                  against->plan->line_first, path);
    }
    return LAPSE_EXIT_PASSED;
}

void lapse_cli_against_status(const struct lapse_campaign_share *share, struct lapse_out *out) {
    lapse_out_text(out, "states ");
    put_share(out, share->states, share->states_all);
    lapse_out_text(out, ", transitions ");
    put_share(out, share->moves, share->moves_all);
}

/* In whole tenths of a percent, cut down: 100 % is said of all alone. */
static void put_share(struct lapse_out *out, size_t part, size_t all) {
    char seen[32], there_are[32];
    uint64_t permille = all == 0 ? PERMILLE : (uint64_t)part * PERMILLE / all;
    lapse_out_format(out, "%s of %s (%" PRIu64 ".%" PRIu64 " %%)", lapse_cli_number(part, seen),
                     lapse_cli_number(all, there_are), permille / 10, permille % 10);
}

/* The states that no run came to, in the order in which the exploration did. */
void lapse_cli_against_unseen(const struct lapse_cli_against *against,
                              const struct lapse_campaign *campaign, struct lapse_out *out) {
    size_t shown = 0, unseen = 0;
    for (size_t i = 0; i < against->reach.states.count; i++) {
        if (lapse_campaign_reached(campaign, i)) {
            continue;
        }
        unseen++;
        if (shown < UNSEEN_SHOWN) {
            lapse_out_format(out, "%s  ", shown == 0 ? "not seen:\n" : "");
            (void)lapse_out_safe_text(out, lapse_reach_tell(&against->reach, i));
            lapse_out_text(out, "\n");
            shown++;
        }
    }
    if (unseen > shown) {
        lapse_out_format(out, "  and %zu more\n", unseen - shown);
    }
}
