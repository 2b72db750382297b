/* What is said of a shrunk failure: a few lines, each an answer to a question. */
#include "shrunk.h"

#include <string.h>

enum part { EVENTS, FAULTS, STEPS };

static void draw_sizes(struct lapse_out *out, const struct lapse_cli_sizes *sizes, enum part part);
static size_t size_at(const struct lapse_cli_sizes *sizes, size_t index, enum part part);
static void draw_fault(struct lapse_out *out, const struct lapse_shrunk *shrunk);
static void draw_all(struct lapse_out *out, const struct lapse_shrunk *shrunk, int lines_more);
static void draw_threshold(struct lapse_out *out, const struct lapse_shrink_threshold *threshold,
                           int lines_more);
static const char *minimal_text(const struct lapse_shrunk *shrunk);
static void draw_others(struct lapse_out *out, const struct lapse_shrunk *shrunk);

void lapse_cli_sizes_take(void *ctx, const struct lapse_shrink_size *size, size_t tries) {
    struct lapse_cli_sizes *sizes = ctx;
    (void)tries;
    if (sizes->count == LAPSE_CLI_SIZES_MAX) {
        sizes->count--; /* the last one is always the one that counts */
    }
    sizes->items[sizes->count++] = *size;
}

void lapse_cli_sizes_draw(struct lapse_out *out, const struct lapse_cli_sizes *sizes,
                          const struct lapse_shrunk *shrunk) {
    draw_sizes(out, sizes, EVENTS);
    lapse_out_text(out, " events, ");
    draw_sizes(out, sizes, STEPS);
    lapse_out_text(out, " steps, ");
    draw_sizes(out, sizes, FAULTS);
    lapse_out_format(out, " faults, %zu tries", shrunk->tries);
}

/* The file has a line of comment more for each line of this, behind its first. */
void lapse_cli_shrunk_draw(struct lapse_out *out, const struct lapse_shrunk *shrunk) {
    struct lapse_out once;
    int lines = 0;
    lapse_out_init(&once, lapse_alloc_libc());
    draw_all(&once, shrunk, 0);
    for (size_t i = 0; i < once.len; i++) {
        lines += once.text[i] == '\n';
    }
    out->failed = out->failed || once.failed;
    lapse_out_free(&once);
    draw_all(out, shrunk, lines);
}

void lapse_cli_shrunk_text(struct lapse_out *out, const struct lapse_shrunk *shrunk) {
    struct lapse_out said;
    const char *document = shrunk->text.text;
    size_t head = strcspn(document, "\n") + 1;
    lapse_out_init(&said, lapse_alloc_libc());
    lapse_cli_shrunk_draw(&said, shrunk);
    lapse_out_bytes(out, document, head);
    for (size_t at = 0; at < said.len;) {
        size_t len = strcspn(said.text + at, "\n") + 1;
        lapse_out_text(out, "#");
        lapse_out_bytes(out, said.text + at + 1, len - 1);
        at += len;
    }
    out->failed = out->failed || said.failed;
    lapse_out_free(&said);
    lapse_out_bytes(out, document + head, shrunk->text.bytes - head);
    lapse_cli_finding_seal(out);
}

static void draw_all(struct lapse_out *out, const struct lapse_shrunk *shrunk, int lines_more) {
    draw_fault(out, shrunk);
    for (size_t i = 0; i < shrunk->threshold_count; i++) {
        lapse_out_text(out, i == 0 ? "    threshold         " : "                      ");
        draw_threshold(out, &shrunk->thresholds[i], lines_more);
    }
    if (shrunk->threshold_count == 0) {
        lapse_out_text(out, shrunk->unmet
                                ? "    threshold         not looked for where an expectation is "
                                  "not met\n"
                                : "    threshold         none was found: no number of it decides "
                                  "alone\n");
    }
    lapse_out_text(out, "    stability         ");
    lapse_out_format(out,
                     shrunk->stable ? "replayed %d times, same digest %016llx\n"
                                    : "%d replays did not agree (%016llx)\n",
                     LAPSE_SHRINK_REPLAYS, (unsigned long long)shrunk->digest);
    if (shrunk->loose) {
        lapse_out_format(out,
                         "    chance            has a part in it, under seed %llu, which no "
                         "document can name\n",
                         (unsigned long long)shrunk->seed);
    }
    if (shrunk->promise_strict) {
        lapse_out_text(out, "    judged            with --promise strict, without which `lapse "
                            "run` may pass it\n");
    }
    lapse_out_format(out, "    minimal           %s\n", minimal_text(shrunk));
    draw_others(out, shrunk);
}

static const char *minimal_text(const struct lapse_shrunk *shrunk) {
    return !shrunk->minimal ? "not proved: the tries ran out"
           : shrunk->unmet  ? "but for faults and acts, which stay: an expectation is not met"
           : shrunk->shaped ? "yes: without any one line or word that was added it does not fail"
                            : "yes: without any one line, client or word (but `on_any`) it "
                              "does not fail";
}

/* At most six, each at most two thirds of the one before. */
static void draw_sizes(struct lapse_out *out, const struct lapse_cli_sizes *sizes, enum part part) {
    size_t shown = 0, last = 0;
    for (size_t i = 0; i + 1 < sizes->count && shown < 5; i++) {
        size_t size = size_at(sizes, i, part);
        bool next = shown == 0 || (3 * size <= 2 * last && size > 0);
        if (next && size > size_at(sizes, sizes->count - 1, part)) {
            lapse_out_format(out, "%zu > ", size);
            last = size;
            shown++;
        }
    }
    lapse_out_format(out, "%zu",
                     sizes->count > 0 ? size_at(sizes, sizes->count - 1, part) : (size_t)0);
}

static size_t size_at(const struct lapse_cli_sizes *sizes, size_t index, enum part part) {
    const struct lapse_shrink_size *size = &sizes->items[index];
    return part == EVENTS ? size->events : part == FAULTS ? size->faults : size->steps;
}

static void draw_fault(struct lapse_out *out, const struct lapse_shrunk *shrunk) {
    lapse_out_text(out, "    needs a fault?    ");
    if (!shrunk->needs_fault || shrunk->fault_count == 0) {
        lapse_out_text(out, shrunk->needs_fault
                                ? "it has faults, and fails without any one of them.\n"
                                : "no. It happens where nothing goes wrong, which is the worse "
                                  "kind.\n");
        return;
    }
    lapse_out_text(out, shrunk->unmet ? "not asked where an expectation is not met. It has "
                                      : "yes: ");
    for (size_t i = 0; i < shrunk->fault_count; i++) {
        lapse_out_text(out, i > 0 ? ", and " : "");
        (void)lapse_out_safe_text(out, shrunk->faults[i]);
    }
    lapse_out_text(out, shrunk->unmet             ? ".\n"
                        : shrunk->fault_count > 1 ? ". Without any one of them it does not fail.\n"
                                                : ". Without it it does not fail.\n");
}

/* "`for: 40s` in line 5: fails down to 25s1ns, right at 25s". */
static void draw_threshold(struct lapse_out *out, const struct lapse_shrink_threshold *threshold,
                           int lines_more) {
    lapse_out_format(out,
                     threshold->above ? "`%s: %s` in line %d: fails down to %s, right at %s\n"
                                      : "`%s: %s` in line %d: fails up to %s, right at %s\n",
                     threshold->word, threshold->value, threshold->place.line + lines_more,
                     threshold->fails, threshold->passes);
}

static void draw_others(struct lapse_out *out, const struct lapse_shrunk *shrunk) {
    for (size_t i = 0; i < shrunk->other_count; i++) {
        lapse_out_format(out, "    met beside it %s: ", shrunk->others[i].signature.id);
        (void)lapse_out_safe_text(out, shrunk->others[i].message);
        lapse_out_text(out, "\n");
    }
}
