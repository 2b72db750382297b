/* The codes of mistakes. A code keeps its meaning for ever; a new kind of mistake gets a new one.
 */
#include "mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "scenarios/load.h"

static bool noted_before(const struct lapse_diag_list *diags, const char *code,
                         struct lapse_place place, const char *message);

static const struct lapse_mistake mistakes[] = {
    {LAPSE_NO_CONTRACT, "an expectation of the scenario itself was not met",
     "A `count` or `measured` of the list `expect`, or a fault or loop that did not run, stands "
     "for "
     "no contract. The scenario's own number was not met, and no promise need be broken: look at "
     "what was expected and what was seen."},
    {"Y001", "the file is too large",
     "A scenario file has at most 1 MiB. Split it: a suite is a folder of many files."},
    {"Y002", "the file is not UTF-8",
     "A byte is not part of any UTF-8 character. Save the file as UTF-8."},
    {"Y003", "a control character",
     "Only LF may stand in a file besides printable characters: no tab, no carriage return, no "
     "NUL. "
     "They hide text from a reader, and some make YAML libraries fail."},
    {"Y004", "a line begins with %",
     "YAML directives are not read. Nothing else needs a % at the start of a line."},
    {"Y005", "nested too deep",
     "Brackets or indentation go deeper than 32 levels. No scenario needs more than ten."},
    {"Y006", "too much in one file",
     "A file has a bound on entries, documents, rows of `vary` and lines that `like` copies. Split "
     "the file, or vary fewer numbers at once."},
    {"Y007", "nothing in the file",
     "An empty file, or an empty document between two `---` lines, runs nothing. That is never "
     "what "
     "was meant."},
    {"Y008", "not YAML",
     "The text breaks the rules of YAML: look for an open bracket or quote, or "
     "for indentation that does not line up."},
    {"Y009", "an anchor or an alias",
     "`&name` and `*name` are not read: a small file could unfold into gigabytes. Write the lines "
     "out, or copy a document with `like`. A text that begins with & or * needs quotes."},
    {"Y010", "a tag", "`!tag` is not read. A text that begins with ! needs quotes."},
    {"Y011", "a key stands twice",
     "Two equal keys in one map: one of them would be lost. Keep one."},
    {"Y012", "a key that is no word", "The keys of a map are words, never maps or lists."},
    {"Y101", "an unknown word",
     "The word is not one that can stand here. The message names the nearest one that can; "
     "`lapse help` lists all."},
    {"Y102", "a word that does not run yet",
     "The word belongs to the language, and this version refuses it rather than ignore it."},
    {"Y103", "the wrong shape", "A map, a list or a single value stands where another is needed."},
    {"Y104", "a duration needs a unit",
     "Write 30s, not 30. Units: ns us ms s m h d w, joined as in 1h30m. 0 alone needs none."},
    {"Y105", "not a duration",
     "A duration is numbers with units, joined by + - and *: 15m-1ns, 3*10s. It has no fractions "
     "(write 500ms) and cannot be negative. The units of one number fall: 1h30m, not 30m1h. A date "
     "is none: `at` counts from the start."},
    {"Y106", "months and years are no durations",
     "A month has 28 to 31 days and a year 365 or 366, so neither is a span. Write days (30d), or "
     "a "
     "date (2026-01-31T00:00:00Z)."},
    {"Y107", "not a date",
     "A date is 2026-01-31T00:00:00Z, epoch+1h (from the start) or now+15s (by the actor's "
     "clock)."},
    {"Y108", "not a number", "A whole number, or a $name, stands here."},
    {"Y109", "a number out of range", "The number is outside of what can stand here."},
    {"Y110", "times go back",
     "The lines of `steps` run in file order and time never goes back. Move the line up, or write "
     "`after`."},
    {"Y111", "a name that resolves to nothing",
     "A bucket, actor, resource, watch, label, measure, lease or document of this name is not "
     "there. A misspelt name would otherwise make a check that can never fail. A bucket is "
     "declared "
     "in `buckets`; `open` only shows what that call answers."},
    {"Y112", "a name that was never saved",
     "$name is filled by a step with `save: name`. No step of this document has it."},
    {"Y113", "$n outside of `times`",
     "$n counts the calls of a step, or the firings of a loop, that has `times: N`."},
    {"Y114", "not an answer of this verb", "Each verb has a few answers; the message lists them."},
    {"Y115", "who does this?", "With more than one actor each line of `steps` says `by: NAME`."},
    {"Y116", "the run would never end",
     "A loop with neither `times` nor `until: INSTANT` can run for ever: give the scenario a "
     "`run_for`."},
    {"Y117", "both kinds of term on one bucket",
     "A bucket's entries end by `ttl` or by `idle`, never both. (`open` may send both, so that the "
     "refusal can be shown.)"},
    {"Y118", "no such contract", "`lapse contracts` lists the ids."},
    {"Y119", "a name stands twice",
     "Documents of one file, and labels of one document, have names of their own."},
    {"Y120", "words that do not go together", "The message names the two words; keep one."},
    {"Y121", "another version of the language", "This program reads `lapse: 1`."},
    {"Y122", "a `vary` that does nothing",
     "Each name of `vary` has at least one value and is used as $name in the document."},
    {"Y123", "not a key", "A key is written bucket/key, the bucket being declared in `buckets`."},
    {"Y124", "a line without a verb, or with two",
     "A line does one thing: one verb, observer or fault."},
    {"Y125", "a word that is missing", "The verb cannot be sent without it."},
    {"Y126", "in the wrong place",
     "The word is right, and the place is not: an observer in a task, a loop in a loop, `skip` "
     "outside of a loop, a `times` bound on something that is no call."},
    {"Y127", "not one of the choices",
     "The word takes a few fixed values; the message lists them."},
    {"Y128", "nothing to run", "A scenario has `steps` or `actors`."},
    {"Y129", "not a name",
     "A name has letters, digits, `_`, `-` and `.`; a saved name has letters, digits and `_`, and "
     "may end in $n."},
    {"Y130", "a field that is never there",
     "Each answer has its own fields, and a saved name those of the calls that save it. The "
     "message "
     "lists them. A check of any other could only fail, or never run."},
    {"Y131", "a saved value of the wrong kind",
     "A token or revision is a number, the `end` of a lease is a span from the start and never a "
     "date, and what `get` saves is a text. The call could not be sent."},
    {"Y132", "an end that is no event",
     "Only in a bucket with `markers` does the end of a key become an event: without them nothing "
     "can see, await or count it. `gone` looks at the key itself."},
    {"Y134", "a key of another bucket",
     "A listing shows the keys of its own bucket, written bare or as bucket/key."},
    {"Y135", "nothing to end",
     "`resume` ends an earlier `pause`, and `restart` follows an earlier `crash`, of the same "
     "actor "
     "or node. At one instant the ends of faults come before their beginnings."},
    {"Y136", "markers where there are none",
     "Under `markers: none`, as under the profiles tinystore and kahuna, an end makes no event, so "
     "a bucket takes no `markers`."},
    {"Y137", "a term shorter than the store counts",
     "Under `resolution: ms`, as under the profiles tinystore and kahuna, terms are counted in "
     "whole milliseconds: a bucket takes no term below one."},
    {"Y138", "a first revision where buckets count none",
     "Under `revision_scope: store` or `key`, as under the profiles tinystore and kahuna, the "
     "store or each key counts revisions, so a bucket takes no `first_revision`."},
    {"Y141", "a fault of a disk that the store has not",
     "Only a store of files has a disk that can be full, slow to sync or torn: the memory store "
     "keeps rows, and has none. Say `store: {kind: sqlite}`."},
};

const struct lapse_mistake *lapse_mistake_table(size_t *ret_count) {
    *ret_count = sizeof(mistakes) / sizeof(mistakes[0]);
    return mistakes;
}

struct lapse_diag *lapse_mistake_add(struct lapse_diag_list *diags, const char *code,
                                     struct lapse_place place, const char *label,
                                     const char *format, ...) {
    char message[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (diags->count > LAPSE_MISTAKES_MAX || noted_before(diags, code, place, message)) {
        return NULL;
    }
    if (diags->count == LAPSE_MISTAKES_MAX) {
        (void)lapse_diag_add(diags, "Y006", place, "",
                             "more than %d mistakes: the rest is not shown",
                             (int)LAPSE_MISTAKES_MAX);
        return NULL;
    }
    return lapse_diag_add(diags, code, place, label, "%s", message);
}

static bool noted_before(const struct lapse_diag_list *diags, const char *code,
                         struct lapse_place place, const char *message) {
    for (size_t i = 0; i < diags->count; i++) {
        const struct lapse_diag *diag = diags->items[i];
        const struct lapse_place *first = &diag->labels[0].place;
        if (first->line == place.line && first->column == place.column &&
            strcmp(diag->code, code) == 0 && strcmp(diag->message, message) == 0) {
            return true;
        }
    }
    return false;
}
