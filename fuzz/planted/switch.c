/* The switch of the planted bugs: which one is on. It is a global, and the only one: what is
 * planted is chosen once, before the program proper begins, and each worker process inherits it.
 * Linked in front of main, it takes `--plant NAME` off the command line; the rest is as for lapse.
 *
 * While a bug is planted the store's walk over its own invariants says nothing, or it would end
 * most runs before a contract is broken: what must be seen is seen from outside. */
#include <stdio.h>
#include <string.h>

#include "fuzz/bugs.h"
#include "lapse/lapse.h"

static int planted; /* a bug's number; 0: none, and the program is as lapse */

int lapse_planted(void);
int __real_main(int argc, char **argv);
int __wrap_main(int argc, char **argv);
enum lapse_status __real_lapse_check(const struct lapse *store, struct lapse_error *err);
enum lapse_status __wrap_lapse_check(const struct lapse *store, struct lapse_error *err);

static int number_of(const char *name);

int lapse_planted(void) {
    return planted;
}

int __wrap_main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "--plant") != 0) {
        return __real_main(argc, argv);
    }
    planted = argc < 3 ? 0 : number_of(argv[2]);
    if (planted == 0) {
        (void)fprintf(stderr,
                      "lapse-planted: no bug is called '%s'; `lapse self-test -v` lists them all\n",
                      argc < 3 ? "" : argv[2]);
        return 2;
    }
    argv[2] = argv[0];
    return __real_main(argc - 2, argv + 2);
}

enum lapse_status __wrap_lapse_check(const struct lapse *store, struct lapse_error *err) {
    return planted == 0 ? __real_lapse_check(store, err) : LAPSE_OK;
}

static int number_of(const char *name) {
    size_t count;
    const struct lapse_bug *bugs = lapse_bug_table(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(bugs[i].name, name) == 0) {
            return (int)i + 1;
        }
    }
    return 0;
}
