/* `lapse fuzz`: what its files share. */
#ifndef CLI_FUZZ_H
#define CLI_FUZZ_H

#include "args.h"
#include "runner.h"
#include "fuzz/campaign.h"
#include "fuzz/finding.h"
#include "small.h"

enum { LAPSE_CLI_FINDINGS_MAX = 256, LAPSE_CLI_FINDING_PATH_MAX = 512 };

/* A violation that was found, of one contract and one shape. */
struct lapse_cli_finding {
    struct lapse_trial_signature signature; /* as it was found; id NULL: lapse itself failed */
    uint64_t run;                           /* the first that found it */
    uint64_t count;                         /* how many runs did */
    int64_t after_ns;                       /* by the clock */
    uint64_t skeleton;
    struct lapse_out text;                  /* as it is saved */
    struct lapse_out told;                  /* its sizes, a line, and why it fails */
    bool shrunk;
    struct lapse_cli_made made;
    char why[LAPSE_ERROR_MESSAGE_MAX]; /* of what broke in lapse itself */
    bool saved;
    char path[LAPSE_CLI_FINDING_PATH_MAX];
};

/* against.c: the document and the set of all its states. */
struct lapse_cli_against {
    struct lapse_cli_file file;
    size_t index;
    const struct lapse_plan *plan;
    struct lapse_reach reach;
};
/* Opens both as --against says, and sees that they belong together. Returns an exit code; PASSED:
 * done. */
int lapse_cli_against_open(const struct lapse_cli_options *options, struct lapse_cli_against *ret);
void lapse_cli_against_close(struct lapse_cli_against *against);
/* Appends the share that was seen; the first states that were not. */
void lapse_cli_against_status(const struct lapse_campaign_share *share, struct lapse_out *out);
void lapse_cli_against_unseen(const struct lapse_cli_against *against,
                              const struct lapse_campaign *campaign, struct lapse_out *out);

struct lapse_cli_fuzz {
    const struct lapse_cli_options *options;
    struct lapse_cli_against against; /* --against */
    struct lapse_campaign *campaign;
    struct lapse_diversity diversity;
    size_t jobs;
    uint64_t next; /* run */
    int64_t began_ns, shown_ns, new_ns; /* by the clock: the start, the last status, the last new
                                           state */
    size_t states_shown;
    size_t finding_count;
    struct lapse_cli_finding findings[LAPSE_CLI_FINDINGS_MAX];
    uint64_t findings_dropped;
    size_t unsaved;
    int interrupted; /* the signal, or 0 */
};

int64_t lapse_cli_clock_ns(void);
/* The number of the k-th run of this shard. */
uint64_t lapse_cli_fuzz_number(const struct lapse_cli_fuzz *fuzz, uint64_t k);

/* fuzz_round.c: makes runs [next, next + count) in `jobs` processes and takes them in. OK, NOMEM
 * or IO. */
enum lapse_status lapse_cli_fuzz_round(struct lapse_cli_fuzz *fuzz, size_t count,
                                       struct lapse_error *err);
/* fuzz_find.c: takes in what an attempt found. What cannot be saved is told, and is no fault. OK or
 * NOMEM. */
enum lapse_status lapse_cli_fuzz_find(struct lapse_cli_fuzz *fuzz,
                                      const struct lapse_attempt *attempt,
                                      struct lapse_error *err);
/* fuzz_tell.c: a finding when it is met. */
void lapse_cli_fuzz_tell(const struct lapse_cli_fuzz *fuzz,
                         const struct lapse_cli_finding *finding);
/* fuzz_show.c: the first lines, the status, the last lines; stats.json in the folder of
 * findings. */
void lapse_cli_fuzz_begin(const struct lapse_cli_fuzz *fuzz);
void lapse_cli_fuzz_status(struct lapse_cli_fuzz *fuzz, bool last);
void lapse_cli_fuzz_end(const struct lapse_cli_fuzz *fuzz);
/* fuzz_stats.c. */
/* Whether stats.json may be written there: none is, or a campaign's. False: err says so. */
bool lapse_cli_fuzz_stats_free(const char *folder, struct lapse_error *err);
enum lapse_status lapse_cli_fuzz_stats(const struct lapse_cli_fuzz *fuzz, const char *folder,
                                       struct lapse_error *err);
/* fuzz_shape.c: the documents of the path, as shapes. Returns an exit code; 0: done. */
int lapse_cli_fuzz_shapes(struct lapse_cli_fuzz *fuzz, char *const *paths, size_t count);

#endif
