/* The conformance list, on every store, as a plain program: no test framework stands between it and
 * a sanitizer. Prints TAP. */
#include "conformance.h"

#include "testing_files.h"

#include <stdio.h>

static int number;
static int failed;

static void report(const char *name, bool right, const char *message) {
    printf("%sok %d - %s\n", right ? "" : "not ", ++number, name);
    if (!right) {
        printf("# %s\n", message);
        failed++;
    }
}

static bool calls_every_verb(void) {
    uint64_t wanted = 0;
#define ADD(id, value, word, klass) wanted |= UINT64_C(1) << (value);
    LAPSE_VERB_TABLE(ADD)
#undef ADD
    return conformance_verbs() == wanted;
}

int main(void) {
    static char message[CONFORMANCE_MESSAGE_MAX];
    struct lapse_testing_dir dir;
    lapse_testing_dir_make(&dir);
    struct conformance_store memory = {.open = conformance_memory};
    struct conformance_store file = {.open = conformance_file, .ctx = dir.file};
    struct conformance_store reopened = {
        .open = conformance_file, .ctx = dir.copy, .reopens = true};
    printf("1..4\n");
    report("the memory store gives the answers", conformance_run(&memory, message), message);
    report("the store file gives the same", conformance_run(&file, message), message);
    report("and reopened between steps", conformance_run(&reopened, message), message);
    report("the list calls every verb", calls_every_verb(), "a verb is missing from the list");
    lapse_testing_dir_remove(&dir);
    return failed == 0 ? 0 : 1;
}
