/* One exploration, and how it goes. What is left is not known before it is over: a state may lead
 * to any number of new ones. So what is told is how many are known and wait, whether they become
 * more or fewer, and how long those would take: at least so long. */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "explore.h"
#include "lapse/clock.h"

enum { FIRST_MS = 1000, LIVE_MS = 250, LINE_MS = 5000, MS_PER_S = 1000 };

struct progress {
    bool live, shown;
    int verbose;
    int64_t began_ns, told_ns;
    uint64_t waited; /* when it was last told */
};

static bool look_on(void *ctx, const struct lapse_explore_counts *so_far);
static void tell(struct progress *progress, int64_t now_ns,
                 const struct lapse_explore_counts *so_far);
static int64_t now(void);

enum lapse_status lapse_cli_explore_once(const struct lapse_cli_options *options,
                                         const struct lapse_plan_explore *protocol, int32_t faults,
                                         uint32_t listed, struct lapse_cli_states *states,
                                         struct lapse_explored *ret, struct lapse_error *err) {
    struct progress progress = {.live = isatty(STDERR_FILENO) == 1,
                                .verbose = options->verbose,
                                .began_ns = now()};
    struct lapse_explore_options how = {.protocol = protocol,
                                        .faults_max = faults,
                                        .listed = listed,
                                        .bytes_max = options->memory_bytes,
                                        .progress = look_on,
                                        .progress_ctx = &progress};
    if (states != NULL) {
        how.abstract = lapse_reach_take_move;
        how.abstract_ctx = &states->all;
    }
    enum lapse_status status = lapse_explore(&how, ret, err);
    if (progress.live && progress.shown) {
        (void)fprintf(stderr, "\r\033[K");
    }
    return status;
}

static bool look_on(void *ctx, const struct lapse_explore_counts *so_far) {
    struct progress *progress = ctx;
    int64_t now_ns = now();
    int64_t ms = (now_ns - (progress->shown ? progress->told_ns : progress->began_ns)) /
                 LAPSE_NS_PER_MS;
    int64_t each = !progress->shown ? FIRST_MS : progress->live ? LIVE_MS : LINE_MS;
    if ((progress->live || progress->verbose > 0) && ms >= each) {
        tell(progress, now_ns, so_far);
    }
    return lapse_cli_interrupted() == 0;
}

static void tell(struct progress *progress, int64_t now_ns,
                 const struct lapse_explore_counts *so_far) {
    uint64_t ms = (uint64_t)((now_ns - progress->began_ns) / LAPSE_NS_PER_MS) + 1;
    uint64_t made = so_far->states - so_far->waiting;
    uint64_t rate = made * MS_PER_S / ms;
    uint64_t least_s = rate == 0 ? 0 : so_far->waiting / rate;
    char states[32], per[32], waiting[32], moves[32], least[48] = "";
    if (rate > 0) {
        (void)snprintf(least, sizeof least, ", at least %" PRIu64 " s more", least_s);
    }
    (void)fprintf(stderr, "%s  %s states, %s/s, %s transitions; %s wait%s%s%s",
                  progress->live ? "\r" : "", lapse_cli_number(so_far->states, states),
                  lapse_cli_number(rate, per), lapse_cli_number(so_far->transitions, moves),
                  lapse_cli_number(so_far->waiting, waiting),
                  !progress->shown                      ? ""
                  : so_far->waiting > progress->waited  ? ", and more each time"
                  : so_far->waiting < progress->waited  ? ", and fewer each time"
                                                        : "",
                  least, progress->live ? "\033[K" : "\n");
    progress->shown = true;
    progress->told_ns = now_ns;
    progress->waited = so_far->waiting;
}

static int64_t now(void) {
    lapse_clock clock = lapse_clock_system();
    struct lapse_reading reading = {0};
    (void)clock.read(clock.ctx, &reading);
    return reading.raw_ns;
}

/* With commas: what is counted here is counted in millions. */
const char *lapse_cli_number(uint64_t number, char buf[32]) {
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)number);
    size_t used = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) {
            buf[used++] = ',';
        }
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}
