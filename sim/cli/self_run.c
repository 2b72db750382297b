/* Planting each bug and seeing what catches it. A bug is caught if its scenario fails and is
 * charged with a contract that the bug names, and if each contract that it names would have found
 * it alone. One that only an expectation is to see must be seen by no rule of those. */
#include "self.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_A_BUG = 3 };

static void plan(struct lapse_cli_self *self, const char *planted);
static void plan_bug(struct lapse_cli_catch *each, const char *planted);
static void judge_bug(struct lapse_cli_catch *each);
static void judge_charge(struct lapse_cli_catch *each);
static void judge_alone(struct lapse_cli_catch *each);
static void judge_clean(struct lapse_cli_self *self);
static bool next_named(const struct lapse_cli_catch *each, const struct lapse_cli_child *child,
                       size_t *at, struct lapse_cli_tally *ret);
static bool is_catcher(const struct lapse_bug *bug, struct lapse_bytes id);
static bool next_catcher(const struct lapse_bug *bug, size_t *at, char *ret, size_t cap);

enum lapse_status lapse_cli_self_run(const char *planted, int jobs, struct lapse_cli_self *ret,
                                     struct lapse_error *err) {
    memset(ret, 0, sizeof *ret);
    const struct lapse_bug *bugs = lapse_bug_table(&ret->count);
    ret->child_count = 1 + RUNS_A_BUG * ret->count;
    ret->catches = calloc(ret->count + 1, sizeof *ret->catches);
    ret->children = calloc(ret->child_count, sizeof *ret->children);
    if (ret->catches == NULL || ret->children == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out");
    }
    for (size_t i = 0; i < ret->count; i++) {
        ret->catches[i].bug = &bugs[i];
    }
    plan(ret, planted);
    enum lapse_status status =
        lapse_cli_children_run(ret->children, ret->child_count, jobs, err);
    if (status != LAPSE_OK) {
        return status;
    }
    judge_clean(ret);
    for (size_t i = 0; i < ret->count; i++) {
        judge_bug(&ret->catches[i]);
    }
    return LAPSE_OK;
}

bool lapse_cli_self_recorded(const struct lapse_bug *bug) {
    static const char ending[] = ".jsonl";
    size_t len = strlen(bug->scenario), tail = sizeof ending - 1;
    return len > tail && strcmp(bug->scenario + len - tail, ending) == 0;
}

void lapse_cli_self_free(struct lapse_cli_self *self) {
    for (size_t i = 0; self->children != NULL && i < self->child_count; i++) {
        if (self->children[i].told.alloc != NULL) {
            lapse_out_free(&self->children[i].told);
        }
    }
    free(self->children);
    free(self->catches);
    memset(self, 0, sizeof *self);
}

bool lapse_cli_self_alone(const struct lapse_cli_catch *each, const char *id, int64_t *ret_events) {
    struct lapse_cli_tally tally, clean;
    for (size_t at = 0; next_named(each, each->alone, &at, &tally);) {
        int64_t event = 0, before = 0;
        bool missing = tally.event < 0 && lapse_cli_tally_is(tally.id, id);
        bool found = lapse_cli_tally_has(&tally, id, &event);
        size_t clean_at = 0;
        for (bool more = true; more && found;) {
            more = next_named(each, each->clean, &clean_at, &clean);
            found = !more || !lapse_bytes_equal(clean.name, tally.name) ||
                    !lapse_cli_tally_has(&clean, id, &before);
        }
        if (found || missing) {
            *ret_events = found ? event + 1 : tally.events;
            return true;
        }
    }
    return false;
}

/* The longest run goes first, so that the others fill the time beside it. */
static void plan(struct lapse_cli_self *self, const char *planted) {
    self->children[0] = (struct lapse_cli_child){
        .argv = {planted, "run", "scenarios", "-j1", "--report", "tally"}};
    for (size_t i = 0; i < self->count; i++) {
        struct lapse_cli_catch *each = &self->catches[i];
        each->charged = &self->children[1 + RUNS_A_BUG * i];
        each->alone = each->charged + 1;
        each->clean = each->charged + 2;
        plan_bug(each, planted);
    }
}

static void plan_bug(struct lapse_cli_catch *each, const char *planted) {
    const struct lapse_bug *bug = each->bug;
    if (lapse_cli_self_recorded(bug)) {
        *each->charged = (struct lapse_cli_child){
            .argv = {planted, "--plant", bug->name, "check", bug->scenario, "--report", "tally"}};
        *each->alone = *each->charged;
        each->alone->argv[7] = "--tally";
        *each->clean = (struct lapse_cli_child){
            .argv = {planted, "check", bug->scenario, "--report", "tally", "--tally"}};
        return;
    }
    (void)snprintf(each->seed, sizeof each->seed, "%llu", (unsigned long long)bug->seed);
    *each->charged = (struct lapse_cli_child){
        .argv = {planted, "--plant", bug->name, "run", bug->scenario, "-j1", "--report", "tally",
                 "--seed", each->seed}};
    *each->alone = *each->charged;
    each->alone->argv[10] = "--tally";
    *each->clean = (struct lapse_cli_child){
        .argv = {planted, "run", bug->scenario, "-j1", "--report", "tally", "--seed", each->seed,
                 "--tally"}};
}

static void judge_bug(struct lapse_cli_catch *each) {
    judge_charge(each);
    if (each->why[0] == '\0') {
        judge_alone(each);
    }
    each->caught = each->why[0] == '\0';
}

static void judge_charge(struct lapse_cli_catch *each) {
    struct lapse_cli_tally tally;
    size_t ran = 0;
    bool wrong = false;
    struct lapse_bytes other = {0};
    for (size_t at = 0; next_named(each, each->charged, &at, &tally); ran++) {
        bool violated = lapse_cli_tally_is(tally.outcome, "violated");
        if (violated && is_catcher(each->bug, tally.id)) {
            each->id = tally.id;
            each->events = tally.event < 0 ? tally.events : tally.event + 1;
            return;
        }
        other = violated && !wrong ? tally.id : other;
        wrong = wrong || violated || lapse_cli_tally_is(tally.outcome, "broken");
    }
    if (ran == 0) {
        (void)snprintf(each->why, sizeof each->why, "the document did not run (exit %d, signal %d)",
                       each->charged->code, each->charged->death);
    } else if (!wrong) {
        (void)snprintf(each->why, sizeof each->why, "it survived: nothing broke");
    } else if (other.len == 0) {
        (void)snprintf(each->why, sizeof each->why, "lapse itself failed, no contract was charged");
    } else {
        (void)snprintf(each->why, sizeof each->why, "charged with %.*s", (int)other.len,
                       (const char *)other.data);
    }
}

static void judge_alone(struct lapse_cli_catch *each) {
    char id[LAPSE_CLI_SEED_TEXT_MAX];
    int64_t events = 0;
    for (size_t at = 0; next_catcher(each->bug, &at, id, sizeof id);) {
        bool found = lapse_cli_self_alone(each, id, &events);
        if (found == each->bug->expected) {
            (void)snprintf(each->why, sizeof each->why,
                           found ? "%s finds it, not only an expectation"
                                 : "%s alone does not find it",
                           id);
            return;
        }
    }
}

static void judge_clean(struct lapse_cli_self *self) {
    const struct lapse_cli_child *child = &self->children[0];
    struct lapse_cli_tally tally;
    for (size_t at = 0; lapse_cli_tally_read(child->told.text, child->told.len, &at, &tally);) {
        bool bad = !lapse_cli_tally_is(tally.outcome, "passed");
        if (bad && self->clean_bad++ == 0) {
            self->clean_first = tally.file;
        }
        self->clean++;
    }
}

/* The next line that is about the bug's document. */
static bool next_named(const struct lapse_cli_catch *each, const struct lapse_cli_child *child,
                       size_t *at, struct lapse_cli_tally *ret) {
    while (lapse_cli_tally_read(child->told.text, child->told.len, at, ret)) {
        if (lapse_cli_tally_named(ret, each->bug->scenario, each->bug->document)) {
            return true;
        }
    }
    return false;
}

static bool is_catcher(const struct lapse_bug *bug, struct lapse_bytes id) {
    char catcher[LAPSE_CLI_SEED_TEXT_MAX];
    for (size_t at = 0; next_catcher(bug, &at, catcher, sizeof catcher);) {
        if (lapse_cli_tally_is(id, catcher)) {
            return true;
        }
    }
    return false;
}

static bool next_catcher(const struct lapse_bug *bug, size_t *at, char *ret, size_t cap) {
    const char *from = bug->catchers + *at;
    from += strspn(from, " ");
    size_t len = strcspn(from, " ");
    if (len == 0 || len >= cap) {
        return false;
    }
    memcpy(ret, from, len);
    ret[len] = '\0';
    *at = (size_t)(from - bug->catchers) + len;
    return true;
}
