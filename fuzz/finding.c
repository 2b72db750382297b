/* Findings. A document of a drawn campaign is shrunk by all means; one that was made of a shape
 * loses only what the campaign has added. */
#include "fuzz/finding.h"

#include "fuzz/shape.h"
#include "fuzz/shrink.h"
#include "tree.h"

#include <stdio.h>
#include <string.h>

struct making {
    const struct lapse_trial_options *options;
    struct lapse_finding *ret;
    struct lapse_pool pool;
    struct lapse_node *document;
    struct lapse_trial_signature signature;
    size_t tries_max;
};

static enum lapse_status read_document(struct making *m, const char *text, size_t bytes);
static enum lapse_status make_free(struct making *m);
static enum lapse_status heal(struct making *m, const struct lapse_shrunk *shrunk);
static enum lapse_status make_shaped(struct making *m);
static bool fails_alike(struct making *m, size_t *ret_events, enum lapse_status *status);
static bool take_line(struct making *m, const char *section, enum lapse_status *status);
static bool take_word(struct making *m, const char *word, enum lapse_status *status);
static size_t lines_of(const struct making *m);
static size_t faults_of(const struct making *m);
static enum lapse_status write_text(struct making *m, const char *comment, size_t bytes);

enum lapse_status lapse_finding_make(const char *text, size_t bytes, bool keeps_shape,
                                     size_t tries_max, const struct lapse_trial_options *options,
                                     struct lapse_finding *ret) {
    struct making m = {.options = options, .ret = ret, .tries_max = tries_max};
    *ret = (struct lapse_finding){.text = {.alloc = options->alloc}};
    lapse_pool_init(&m.pool, options->alloc);
    enum lapse_status status = read_document(&m, text, bytes);
    if (status == LAPSE_OK && m.document != NULL) {
        status = keeps_shape ? make_shaped(&m) : make_free(&m);
    }
    lapse_pool_free(&m.pool);
    return status;
}

static enum lapse_status read_document(struct making *m, const char *text, size_t bytes) {
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    lapse_diag_list_init(&diags, m->options->alloc);
    bool good = lapse_yaml_parse(&m->pool, "finding", text, bytes, &documents, &diags);
    if (good && documents.count > 0) {
        m->document = ((const struct lapse_document *)lapse_list_at(&documents, 0))->root;
    }
    lapse_list_free(m->options->alloc, &documents);
    lapse_diag_list_free(&diags);
    return good ? LAPSE_OK : LAPSE_NOMEM;
}

static enum lapse_status make_free(struct making *m) {
    const struct lapse_shrink_options options = {.alloc = m->options->alloc,
                                                 .arena = m->options->arena,
                                                 .seed = m->options->seed,
                                                 .tries_max = m->tries_max,
                                                 .no_model = m->options->no_model,
                                                 .promise_strict = m->options->promise_strict};
    struct lapse_shrunk shrunk;
    enum lapse_status status = lapse_shrink(m->document, 0, &options, &shrunk, NULL);
    if (status == LAPSE_OK && shrunk.fails) {
        m->ret->minimal = shrunk.minimal;
        m->ret->needs_fault = shrunk.needs_fault;
        m->ret->steps_before = shrunk.before.steps;
        m->ret->steps = shrunk.after.steps;
        m->ret->faults = shrunk.after.faults;
        m->ret->events_before = shrunk.before.events;
        m->ret->events = shrunk.after.events;
        m->ret->tries = shrunk.tries;
        status = heal(m, &shrunk);
    }
    lapse_shrunk_free(&shrunk);
    return status == LAPSE_NOMEM ? status : LAPSE_OK;
}

/* A shrunk document rests on the wrong answer of its last call; with any answer allowed there it
 * passes once what broke is mended. */
static enum lapse_status heal(struct making *m, const struct lapse_shrunk *shrunk) {
    enum lapse_status status = LAPSE_OK;
    size_t events = 0;
    m->signature = shrunk->signature;
    m->document = lapse_node_deep_copy(&m->pool, shrunk->document);
    struct lapse_node *steps = lapse_node_get(m->document, "steps");
    struct lapse_node *last = NULL;
    for (size_t i = 0; steps != NULL && i < steps->count; i++) {
        last = lapse_shape_calls(steps->items[i]) ? steps->items[i] : last;
    }
    if (last != NULL && lapse_node_get(last, "on_any") == NULL &&
        lapse_node_get(last, "expect") == NULL) {
        lapse_tree_say(&m->pool, last, "on_any", "next");
        if (fails_alike(m, &events, &status)) {
            return write_text(m, shrunk->text.text, strcspn(shrunk->text.text, "\n") + 1);
        }
    }
    bool written = lapse_emitted_append(&m->ret->text, shrunk->text.text, shrunk->text.bytes);
    return status == LAPSE_OK && !written ? LAPSE_NOMEM : status;
}

static enum lapse_status make_shaped(struct making *m) {
    static const char *const sections[] = {"steps", "faults"};
    static const char *const words[] = {"request", "reply"};
    struct lapse_trial trial;
    char comment[LAPSE_TREE_TEXT_MAX];
    enum lapse_status status = lapse_trial_run(m->document, m->options, &trial, NULL);
    m->signature = trial.signature;
    lapse_trial_free(&trial);
    m->ret->steps_before = lines_of(m);
    if (status != LAPSE_OK || !fails_alike(m, &m->ret->events_before, &status)) {
        return status;
    }
    for (bool less = true; less && status == LAPSE_OK && m->ret->tries < m->tries_max;) {
        less = false;
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
            less = take_line(m, sections[i], &status) || less;
            less = take_word(m, words[i], &status) || less;
        }
    }
    m->ret->steps = lines_of(m);
    m->ret->faults = faults_of(m);
    m->ret->minimal = m->ret->tries < m->tries_max;
    if (status == LAPSE_OK && fails_alike(m, &m->ret->events, &status)) {
        int len = snprintf(comment, sizeof comment, "# %s, found by adding this to a shape.\n",
                           m->signature.id);
        status = write_text(m, comment, (size_t)len);
    }
    return status;
}

static bool fails_alike(struct making *m, size_t *ret_events, enum lapse_status *status) {
    struct lapse_trial trial;
    m->ret->tries++;
    enum lapse_status ran = lapse_trial_run(m->document, m->options, &trial, NULL);
    bool alike = ran == LAPSE_OK && trial.outcome == LAPSE_TRIAL_VIOLATED &&
                 lapse_trial_same(&trial.signature, &m->signature);
    if (trial.run.history != NULL) {
        *ret_events = lapse_history_count(trial.run.history);
    }
    lapse_trial_free(&trial);
    *status = ran == LAPSE_OK ? *status : ran;
    return alike;
}

/* Whether a line could be left out; the first that can be is. Calls of `steps` are the shape's. */
static bool take_line(struct making *m, const char *section, enum lapse_status *status) {
    struct lapse_node *seq = lapse_node_get(m->document, section);
    size_t events = 0;
    for (size_t i = 0; seq != NULL && i < seq->count && *status == LAPSE_OK; i++) {
        struct lapse_node *line = seq->items[i];
        if (lapse_shape_calls(line)) {
            continue;
        }
        lapse_tree_remove(seq, i);
        if (fails_alike(m, &events, status)) {
            return true;
        }
        lapse_tree_insert(&m->pool, seq, i, line);
    }
    return false;
}

static bool take_word(struct making *m, const char *word, enum lapse_status *status) {
    struct lapse_node *seq = lapse_node_get(m->document, "steps");
    size_t events = 0;
    for (size_t i = 0; seq != NULL && i < seq->count && *status == LAPSE_OK; i++) {
        struct lapse_node *value = lapse_node_get(seq->items[i], word);
        if (value == NULL) {
            continue;
        }
        lapse_tree_drop(seq->items[i], word);
        if (fails_alike(m, &events, status)) {
            return true;
        }
        lapse_tree_put(&m->pool, seq->items[i], word, value);
    }
    return false;
}

static size_t lines_of(const struct making *m) {
    const struct lapse_node *steps = lapse_node_get(m->document, "steps");
    const struct lapse_node *faults = lapse_node_get(m->document, "faults");
    return (steps != NULL ? steps->count : 0) + (faults != NULL ? faults->count : 0);
}

/* Lines that are no calls of the shape. */
static size_t faults_of(const struct making *m) {
    const struct lapse_node *steps = lapse_node_get(m->document, "steps");
    const struct lapse_node *faults = lapse_node_get(m->document, "faults");
    size_t count = faults != NULL ? faults->count : 0;
    for (size_t i = 0; steps != NULL && i < steps->count; i++) {
        count += !lapse_shape_calls(steps->items[i]);
    }
    return count;
}

static enum lapse_status write_text(struct making *m, const char *comment, size_t bytes) {
    return lapse_emitted_append(&m->ret->text, comment, bytes)
               ? lapse_yaml_write(m->document, &m->ret->text, NULL)
               : LAPSE_NOMEM;
}
