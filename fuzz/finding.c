/* Findings. A document of a drawn campaign is shrunk by all means; one that was made of a shape
 * loses only what the campaign has added. */
#include "fuzz/finding.h"

#include "fuzz/shape.h"
#include "shrink_parts.h"
#include "tree.h"

struct making {
    const struct lapse_shrink_options *options;
    struct lapse_trial_options trial;
    struct lapse_shrunk *ret;
    struct lapse_pool pool;
    struct lapse_node *document;
    struct lapse_trial_signature signature;
    struct lapse_shrink_size size; /* of the last run that failed alike */
    size_t tries, tries_max;
};

static enum lapse_status read_document(struct making *m, const char *text, size_t bytes);
static enum lapse_status make_shaped(struct making *m);
static void take_away(struct making *m, enum lapse_status *status);
static bool fails_alike(struct making *m, enum lapse_status *status);
static bool take_line(struct making *m, const char *section, enum lapse_status *status);
static bool take_word(struct making *m, const char *word, enum lapse_status *status);
static void show(const struct making *m);

enum lapse_status lapse_finding_make(const char *text, size_t bytes, bool keeps_shape,
                                     const struct lapse_shrink_options *options,
                                     struct lapse_shrunk *ret) {
    struct making m = {.options = options, .ret = ret};
    m.trial = (struct lapse_trial_options){.alloc = options->alloc,
                                           .arena = options->arena,
                                           .seed = options->seed,
                                           .promise_strict = options->promise_strict,
                                           .no_model = options->no_model};
    m.tries_max = options->tries_max > 0 ? options->tries_max : LAPSE_SHRINK_TRIES_MAX;
    *ret = (struct lapse_shrunk){.text = {.alloc = options->alloc}};
    lapse_pool_init(&ret->pool, options->alloc);
    lapse_pool_init(&m.pool, options->alloc);
    enum lapse_status status = read_document(&m, text, bytes);
    if (status == LAPSE_OK && m.document != NULL) {
        status = keeps_shape ? make_shaped(&m) : lapse_shrink(m.document, 0, options, ret, NULL);
    }
    lapse_pool_free(&m.pool);
    return status == LAPSE_NOMEM ? status : LAPSE_OK;
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

static enum lapse_status make_shaped(struct making *m) {
    struct lapse_trial trial;
    enum lapse_status status = lapse_shrink_trial(m->options, m->document, &m->trial, &trial, NULL);
    m->signature = trial.signature;
    lapse_trial_free(&trial);
    if (status != LAPSE_OK || !fails_alike(m, &status)) {
        return status;
    }
    const struct lapse_shrink_size before = m->size;
    show(m);
    take_away(m, &status);
    if (status == LAPSE_OK) {
        lapse_pool_free(&m->ret->pool);
        status = lapse_shrink_explain(m->document, m->options, m->ret, NULL);
    }
    m->ret->shaped = true;
    m->ret->minimal = m->tries < m->tries_max;
    m->ret->before = before;
    m->ret->tries += m->tries;
    return status;
}

static void take_away(struct making *m, enum lapse_status *status) {
    static const char *const sections[] = {"steps", "faults"};
    static const char *const words[] = {"request", "reply"};
    for (bool less = true; less && *status == LAPSE_OK && m->tries < m->tries_max;) {
        less = false;
        for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
            less = take_line(m, sections[i], status) || less;
            less = take_word(m, words[i], status) || less;
        }
    }
}

static bool fails_alike(struct making *m, enum lapse_status *status) {
    struct lapse_trial trial;
    m->tries++;
    enum lapse_status ran =
        lapse_shrink_trial(m->options, m->document, &m->trial, &trial, NULL);
    bool alike = ran == LAPSE_OK && trial.outcome == LAPSE_TRIAL_VIOLATED &&
                 lapse_trial_same(&trial.signature, &m->signature);
    if (alike) {
        m->size = lapse_shrink_size_of(&trial, m->document);
    }
    lapse_trial_free(&trial);
    *status = ran == LAPSE_OK ? *status : ran;
    return alike;
}

/* Whether a line could be left out; the first that can be is. Calls of `steps` are the shape's. */
static bool take_line(struct making *m, const char *section, enum lapse_status *status) {
    struct lapse_node *seq = lapse_node_get(m->document, section);
    for (size_t i = 0; seq != NULL && i < seq->count && *status == LAPSE_OK; i++) {
        struct lapse_node *line = seq->items[i];
        if (lapse_shape_calls(line)) {
            continue;
        }
        lapse_tree_remove(seq, i);
        if (fails_alike(m, status)) {
            show(m);
            return true;
        }
        lapse_tree_insert(&m->pool, seq, i, line);
    }
    return false;
}

static bool take_word(struct making *m, const char *word, enum lapse_status *status) {
    struct lapse_node *seq = lapse_node_get(m->document, "steps");
    for (size_t i = 0; seq != NULL && i < seq->count && *status == LAPSE_OK; i++) {
        struct lapse_node *value = lapse_node_get(seq->items[i], word);
        if (value == NULL) {
            continue;
        }
        lapse_tree_drop(seq->items[i], word);
        if (fails_alike(m, status)) {
            show(m);
            return true;
        }
        lapse_tree_put(&m->pool, seq->items[i], word, value);
    }
    return false;
}

static void show(const struct making *m) {
    if (m->options->progress != NULL) {
        m->options->progress(m->options->ctx, &m->size, m->tries);
    }
}
