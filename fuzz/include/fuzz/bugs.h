/* The planted bugs as data: their names, and what must catch each.
 *
 * The bugs themselves are in fuzz/planted and only in lapse-planted; this table is what knows of
 * them in lapse. Constant; any thread may read it. */
#ifndef FUZZ_BUGS_H
#define FUZZ_BUGS_H

#include "lapse/base.h"

struct lapse_bug {
    const char *name;     /* what --plant takes: a claim of what is wrong */
    const char *group;    /* the part of the tree that it is in: "engine", "lease", "rules" */
    const char *about;    /* a sentence */
    const char *file;     /* the source that it stands in, from the top folder */
    const char *function; /* and there */
    const char *catchers; /* contract ids, a blank between: each alone must catch it */
    const char *scenario; /* the file that shows it, from the top folder */
    const char *document; /* and the document's name in that file */
    const char *source;   /* where such a bug was seen */
    uint64_t seed;        /* of that run */
    bool expected;        /* only an expectation of the document sees it, and no rule */
};

/* All bugs. A bug's number is its place here, from 1 on. */
const struct lapse_bug *lapse_bug_table(size_t *ret_count);

#endif
