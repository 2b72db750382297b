/* The options of `lapse fuzz`. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "lapse/time.h"

enum { SHARDS_MAX = 100000, SHARD_DIGITS = 6, HEX_DIGITS = 15, DAYS_MAX = 106751 };
/* So that an instant of the clock and such a span can be added. */
static const int64_t DAY_NS = INT64_C(86400) * 1000000000;

static bool read_span(const char *name, const char *value, int64_t *ret, struct lapse_error *err);
static bool read_shard(struct lapse_cli_options *options, const char *value,
                       struct lapse_error *err);
static bool read_mode(struct lapse_cli_options *options, const char *value,
                      struct lapse_error *err);
static bool read_commit(struct lapse_cli_options *options, struct lapse_error *err);

bool lapse_cli_fuzz_option(struct lapse_cli_options *options, const char *name, const char *value,
                           bool *ret_known, struct lapse_error *err) {
    *ret_known = true;
    if (strcmp(name, "time") == 0) {
        return read_span(name, value, &options->time_ns, err);
    }
    if (strcmp(name, "until-done") == 0) {
        return read_span(name, *value == '\0' ? "30s" : value, &options->until_done_ns, err);
    }
    if (strcmp(name, "shard") == 0) {
        return read_shard(options, value, err);
    }
    if (strcmp(name, "mode") == 0) {
        return read_mode(options, value, err);
    }
    if (strcmp(name, "against") == 0) {
        options->against = value;
        return true;
    }
    if (strcmp(name, "findings") == 0) {
        options->findings = value;
        return true;
    }
    if (strcmp(name, "seed") == 0 && strcmp(value, "commit") == 0) {
        return read_commit(options, err);
    }
    *ret_known = false;
    return true;
}

static bool read_span(const char *name, const char *value, int64_t *ret, struct lapse_error *err) {
    struct lapse_span span;
    size_t used = 0;
    bool whole = lapse_span_scan(value, strlen(value), &span, &used) == LAPSE_OK &&
                 value[used] == '\0' && span.ns > 0 && span.ns / DAY_NS < DAYS_MAX;
    if (!whole) {
        lapse_error_set(err, LAPSE_INVALID,
                        "--%s takes a duration above 0 and below %dd, such as 60s, not '%s'", name,
                        (int)DAYS_MAX, value);
        return false;
    }
    *ret = span.ns;
    return true;
}

static bool read_shard(struct lapse_cli_options *options, const char *value,
                       struct lapse_error *err) {
    uint64_t shard = 0, count = 0;
    char first[SHARD_DIGITS + 1] = "";
    size_t len = strcspn(value, "/");
    memcpy(first, value, len <= SHARD_DIGITS ? len : 0);
    if (value[len] != '/' || !lapse_cli_number_read(value + len + 1, SHARDS_MAX, &count) ||
        !lapse_cli_number_read(first, count, &shard) || shard == 0) {
        lapse_error_set(err, LAPSE_INVALID,
                        "--shard takes I/N with N from 1 to %d and I from 1 to N, not '%s'",
                        (int)SHARDS_MAX, value);
        return false;
    }
    options->shard = shard;
    options->shard_count = count;
    return true;
}

static bool read_mode(struct lapse_cli_options *options, const char *value,
                      struct lapse_error *err) {
    options->batch = strcmp(value, "batch") == 0;
    if (!options->batch && strcmp(value, "change") != 0) {
        lapse_error_set(err, LAPSE_INVALID, "--mode takes change or batch, not '%s'", value);
        return false;
    }
    return true;
}

/* So that a second run on one commit draws the same. */
static bool read_commit(struct lapse_cli_options *options, struct lapse_error *err) {
    const char *commit = options->around.commit;
    char digits[HEX_DIGITS + 1] = "";
    char *end = digits;
    if (commit != NULL) {
        (void)strncpy(digits, commit, HEX_DIGITS);
        options->seed = strtoull(digits, &end, 16);
    }
    if (end == digits) {
        lapse_error_set(err, LAPSE_INVALID,
                        "--seed commit needs the commit's number in GITHUB_SHA or CI_COMMIT_SHA; "
                        "set one of them");
        return false;
    }
    return true;
}
