/* What the runs of `lapse self-test` have shown, as text: a line for each bug, one for each
 * contract, and the sums. */
#include "self.h"

#include <stdlib.h>
#include <string.h>

static bool is_repeated(const struct lapse_rule *rules, size_t at);

void lapse_cli_self_show_bugs(const struct lapse_cli_self *self, struct lapse_out *out) {
    size_t widest = 0;
    for (size_t i = 0; i < self->count; i++) {
        size_t len = strlen(self->catches[i].bug->name);
        widest = len > widest ? len : widest;
    }
    lapse_out_format(out, "%-*s  %-11s %6s  scenario\n", (int)widest, "planted bug", "caught by",
                     "events");
    for (size_t i = 0; i < self->count; i++) {
        const struct lapse_cli_catch *each = &self->catches[i];
        lapse_out_format(out, "%-*s  ", (int)widest, each->bug->name);
        if (each->caught) {
            lapse_out_format(out, "%-11.*s %6lld  ", (int)each->id.len,
                             (const char *)each->id.data, (long long)each->events);
        } else {
            lapse_out_format(out, "SURVIVED    %6s  %s; see ", "", each->why);
        }
        lapse_out_format(out, "%s\n", each->bug->scenario);
    }
}

/* Returns how many contracts have a rule and no bug that it finds alone. */
size_t lapse_cli_self_show_rules(const struct lapse_cli_self *self, struct lapse_out *out) {
    size_t count, idle = 0;
    const struct lapse_rule *rules = lapse_rule_table(&count);
    lapse_out_text(out, "\ncontract    bugs found alone, the soonest\n");
    for (size_t i = 0; i < count; i++) {
        if (is_repeated(rules, i)) {
            continue;
        }
        size_t found = 0;
        int64_t least = INT64_MAX, events = 0;
        const char *soonest = "none: this alarm has not been heard";
        for (size_t k = 0; k < self->count; k++) {
            if (lapse_cli_self_alone(&self->catches[k], rules[i].id, &events)) {
                found++;
                soonest = events < least ? self->catches[k].bug->name : soonest;
                least = events < least ? events : least;
            }
        }
        idle += found == 0;
        lapse_out_format(out, "%-11s %4zu  %s\n", rules[i].id, found, soonest);
    }
    return idle;
}

static int by_number(const void *a, const void *b) {
    const int64_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

void lapse_cli_self_show_sums(const struct lapse_cli_self *self, size_t idle,
                              struct lapse_out *out) {
    size_t caught = lapse_cli_self_caught(self), at = 0;
    int64_t *events = calloc(self->count + 1, sizeof *events);
    for (size_t i = 0; events != NULL && i < self->count; i++) {
        if (self->catches[i].caught) {
            events[at++] = self->catches[i].events;
        }
    }
    out->failed = out->failed || events == NULL;
    lapse_out_format(out, "\n%zu of %zu bugs caught, %zu contracts without one\n", caught,
                     self->count, idle);
    if (at > 0) {
        qsort(events, at, sizeof *events, by_number);
        lapse_out_format(out, "events until caught: median %lld, 95th percentile %lld, most %lld\n",
                         (long long)events[at / 2], (long long)events[(at - 1) * 95 / 100],
                         (long long)events[at - 1]);
    }
    lapse_out_format(out, "with no bug planted %zu of %zu scenarios pass", self->clean -
                     self->clean_bad, self->clean);
    if (self->clean_bad > 0) {
        lapse_out_format(out, "; the first that does not is in %.*s", (int)self->clean_first.len,
                         (const char *)self->clean_first.data);
    }
    lapse_out_text(out, "\n");
    free(events);
}

size_t lapse_cli_self_caught(const struct lapse_cli_self *self) {
    size_t caught = 0;
    for (size_t i = 0; i < self->count; i++) {
        caught += self->catches[i].caught;
    }
    return caught;
}

/* A contract may have more than one rule. */
static bool is_repeated(const struct lapse_rule *rules, size_t at) {
    for (size_t i = 0; i < at; i++) {
        if (strcmp(rules[i].id, rules[at].id) == 0) {
            return true;
        }
    }
    return false;
}
