/* What a campaign prints: on stderr how it goes, on stdout what it found. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "lapse/clock.h"

enum { STATUS_SECONDS_LIVE = 1, STATUS_SECONDS = 30, MS_PER_S = 1000, MS_PER_MINUTE = 60000 };

/* Simulated time in the greatest unit of which there are two. */
struct amount {
    uint64_t number;
    const char *unit;
};

static struct amount amount_of(uint64_t seconds);
static void put_states(const struct lapse_cli_fuzz *fuzz, struct lapse_out *out);
static void print_share(const struct lapse_cli_fuzz *fuzz);
static void print_seen(const struct lapse_cli_finding *finding);
static void print_diversity(const struct lapse_cli_fuzz *fuzz);

int64_t lapse_cli_clock_ns(void) {
    lapse_clock clock = lapse_clock_system();
    struct lapse_reading now = {0};
    (void)clock.read(clock.ctx, &now);
    return now.raw_ns;
}

void lapse_cli_fuzz_begin(const struct lapse_cli_fuzz *fuzz) {
    size_t rules = 0;
    (void)lapse_rule_table(&rules);
    (void)printf("lapse %s, %zu contracts, seed %" PRIu64 ", %zu job%s, findings in %s\n",
                 LAPSE_CLI_VERSION, rules, fuzz->options->seed, fuzz->jobs,
                 fuzz->jobs == 1 ? "" : "s", fuzz->options->findings);
    (void)fflush(stdout);
}

/* A line a second on a terminal, over the one before; else one each half minute. */
void lapse_cli_fuzz_status(struct lapse_cli_fuzz *fuzz, bool last) {
    const struct lapse_campaign_totals *totals = lapse_campaign_totals(fuzz->campaign);
    bool live = isatty(STDERR_FILENO) == 1;
    int64_t now = lapse_cli_clock_ns();
    int64_t each = (live ? STATUS_SECONDS_LIVE : STATUS_SECONDS) * LAPSE_NS_PER_S;
    if (fuzz->options->verbose < 0 || (!last && now - fuzz->shown_ns < each)) {
        return;
    }
    int64_t ms = (now - fuzz->began_ns) / LAPSE_NS_PER_MS + 1;
    struct amount simulated = amount_of(totals->simulated_s);
    struct lapse_out shown;
    lapse_out_init(&shown, lapse_alloc_libc());
    put_states(fuzz, &shown);
    (void)fprintf(stderr,
                  "%s  %" PRId64 ":%02" PRId64 "   %" PRIu64 " runs   %" PRIu64 "/s   %" PRIu64
                  " %s simulated   %s   %zu finding%s%s",
                  live ? "\r" : "", ms / MS_PER_MINUTE, ms % MS_PER_MINUTE / MS_PER_S, totals->runs,
                  totals->runs * MS_PER_S / (uint64_t)ms, simulated.number, simulated.unit,
                  shown.text == NULL ? "" : shown.text, fuzz->finding_count,
                  fuzz->finding_count == 1 ? "" : "s", live && !last ? "\033[K" : "\n");
    lapse_out_free(&shown);
    fuzz->shown_ns = now;
    fuzz->states_shown = lapse_campaign_states(fuzz->campaign);
}

static struct amount amount_of(uint64_t seconds) {
    static const struct {
        uint64_t seconds;
        const char *word;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (seconds >= 2 * units[i].seconds) {
            return (struct amount){seconds / units[i].seconds, units[i].word};
        }
    }
    return (struct amount){seconds, "s"};
}

/* Of all that there are, where that is known. */
static void put_states(const struct lapse_cli_fuzz *fuzz, struct lapse_out *out) {
    struct lapse_campaign_share share;
    size_t states = lapse_campaign_states(fuzz->campaign);
    if (lapse_campaign_share(fuzz->campaign, &share)) {
        lapse_cli_against_status(&share, out);
    } else {
        lapse_out_format(out, "%zu states, %zu new", states, states - fuzz->states_shown);
    }
}

static void print_share(const struct lapse_cli_fuzz *fuzz) {
    const struct lapse_campaign_totals *totals = lapse_campaign_totals(fuzz->campaign);
    struct lapse_campaign_share share;
    struct lapse_out out;
    if (!lapse_campaign_share(fuzz->campaign, &share)) {
        (void)printf("%zu states, the last new one in run %" PRIu64 "; corpus of %zu documents\n",
                     lapse_campaign_states(fuzz->campaign), totals->states_at,
                     lapse_campaign_corpus(fuzz->campaign));
        return;
    }
    lapse_out_init(&out, lapse_alloc_libc());
    lapse_cli_against_status(&share, &out);
    lapse_out_format(&out, ", the last new one in run %" PRIu64 "\n", totals->states_at);
    if (fuzz->options->verbose > 0) {
        lapse_cli_against_unseen(&fuzz->against, fuzz->campaign, &out);
    }
    lapse_cli_print(&out);
    lapse_out_free(&out);
}

void lapse_cli_fuzz_end(const struct lapse_cli_fuzz *fuzz) {
    const struct lapse_campaign_totals *totals = lapse_campaign_totals(fuzz->campaign);
    for (size_t i = 0; i < fuzz->finding_count; i++) {
        print_seen(&fuzz->findings[i]);
    }
    struct amount simulated = amount_of(totals->simulated_s);
    (void)printf("%" PRIu64 " runs (%" PRIu64 " drawn anew), %" PRIu64 " events, %" PRIu64
                 " %s simulated\n",
                 totals->runs, totals->drawn, totals->events, simulated.number, simulated.unit);
    print_share(fuzz);
    (void)printf("%" PRIu64 " passed, %" PRIu64 " violated, %" PRIu64 " cut short, %" PRIu64
                 " made no sense, %" PRIu64 " broke lapse\n",
                 totals->outcomes[LAPSE_TRIAL_PASSED], totals->outcomes[LAPSE_TRIAL_VIOLATED],
                 totals->outcomes[LAPSE_TRIAL_INCONCLUSIVE] + totals->unmet,
                 totals->outcomes[LAPSE_TRIAL_REFUSED], totals->outcomes[LAPSE_TRIAL_BROKEN]);
    if (fuzz->options->verbose > 0 && fuzz->options->against == NULL) {
        print_diversity(fuzz);
    }
}

/* How often each was met is known at the end. */
static void print_seen(const struct lapse_cli_finding *finding) {
    if (finding->count > 1) {
        (void)printf("seen      %" PRIu64 " times: %s in run %" PRIu64 ", %s\n", finding->count,
                     finding->signature.id != NULL ? finding->signature.id : "lapse itself",
                     finding->run, finding->saved ? finding->path : "not saved");
    }
}

static void print_diversity(const struct lapse_cli_fuzz *fuzz) {
    const struct lapse_trait_row *row;
    for (size_t i = 0; (row = lapse_trait_row(i)) != NULL; i++) {
        struct lapse_bytes option;
        (void)printf("%s:", row->word);
        for (size_t k = 0; lapse_trait_option(row, k, &option); k++) {
            (void)printf("%s %.*s %" PRIu64, k > 0 ? "," : "", (int)option.len,
                         (const char *)option.data, fuzz->diversity.counts[i][k]);
        }
        (void)printf("\n");
    }
}
