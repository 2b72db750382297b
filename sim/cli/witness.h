/* Which scenarios show the breaks of a profile: those of the profile that list a contract under
 * `violates`. They are searched for, so that no list of them can go stale. */
#ifndef CLI_WITNESS_H
#define CLI_WITNESS_H

#include "args.h"
#include "lapse/policy.h"

/* What shows that one contract is broken. */
struct lapse_cli_witness {
    struct lapse_out place; /* FILE:LINE of the first */
    size_t count;
};
struct lapse_cli_witnesses {
    enum lapse_profile profile;
    const char *path; /* where was searched; NULL: nowhere */
    size_t count;
    struct lapse_cli_witness *items; /* by contract of the catalogue */
    size_t mistaken_files;           /* that could not be searched */
};

/* Searches `path`; if it is NULL, ./scenarios if there is one. Returns OK, NOMEM, LIMIT or IO (a
 * folder cannot be read); to be freed in any case. */
enum lapse_status lapse_cli_witnesses_find(const struct lapse_cli_options *options,
                                           enum lapse_profile profile, char *path,
                                           struct lapse_cli_witnesses *ret,
                                           struct lapse_error *err);
void lapse_cli_witnesses_free(struct lapse_cli_witnesses *witnesses);

#endif
