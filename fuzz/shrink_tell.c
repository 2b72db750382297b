/* Why what is left fails: the text with its name, the faults that it needs, the value of each
 * number at which the verdict flips, and whether replays agree. */
#include "shrink_parts.h"

#include "fuzz/shape.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES_MAX = 100, COMMENT_BYTES_MAX = 1024, THRESHOLDS_MAX = 64, FAULTS_MAX = 64,
       BEYOND = 12 };

static void leave_open(struct lapse_shrinker *s);
static bool open_lines(struct lapse_shrinker *s, const struct lapse_trial *trial);
static bool is_answered(const struct lapse_history *history, int64_t until, int32_t step);
static void open_last(struct lapse_shrinker *s);
static bool open_line(struct lapse_shrinker *s, struct lapse_node *line);
static enum lapse_status write_text(struct lapse_shrinker *s);
static enum lapse_status message_of(struct lapse_shrinker *s);
static const char *cut_text(struct lapse_shrinker *s, const char *text, size_t most);
static enum lapse_status read_text(struct lapse_shrinker *s);
static void list_faults(struct lapse_shrinker *s);
static bool fails_without(struct lapse_shrinker *s, size_t at);
static bool add_fault(struct lapse_shrinker *s, const struct lapse_shrink_spot *spot,
                      const char **list);
static enum lapse_status replay(struct lapse_shrinker *s);
static void find_thresholds(struct lapse_shrinker *s);
static void find_threshold(struct lapse_shrinker *s, size_t at, bool up,
                           struct lapse_shrink_threshold *list);
static enum lapse_trial_outcome probe(struct lapse_shrinker *s, size_t at, int64_t value,
                                      bool *ret_fails);
static bool first_right(struct lapse_shrinker *s, size_t at, int64_t from, int64_t sign,
                        int64_t *ret_fails, int64_t *ret_right);
static bool stays_right(struct lapse_shrinker *s, size_t at, int64_t from, int64_t sign);
static bool step_by(int64_t from, int64_t sign, int64_t by, int64_t *ret);
static const char *number_text(struct lapse_shrinker *s, const struct lapse_node *like,
                               int64_t value);

enum lapse_status lapse_shrink_tell(struct lapse_shrinker *s) {
    s->ret->unmet = s->target.unmet;
    s->ret->promise_strict = s->options->promise_strict;
    leave_open(s);
    open_last(s);
    enum lapse_status status = s->status == LAPSE_OK ? write_text(s) : s->status;
    if (status == LAPSE_OK) {
        status = read_text(s);
    }
    if (status == LAPSE_OK) {
        list_faults(s);
        status = replay(s);
    }
    if (status == LAPSE_OK && !s->target.unmet) {
        find_thresholds(s);
    }
    return status == LAPSE_OK ? s->status : status;
}

/* A run that is mended goes on where this one stopped. What its lines are answered then nobody has
 * seen, so nothing is expected of them: the rules judge. */
static void leave_open(struct lapse_shrinker *s) {
    struct lapse_trial trial;
    if (s->target.unmet || s->as_is || s->status != LAPSE_OK) {
        return;
    }
    lapse_pool_free(&s->draft_pool);
    lapse_pool_init(&s->draft_pool, s->options->alloc);
    s->status = lapse_shrink_run(s, s->tree, &trial);
    s->spent = false;
    if (s->status == LAPSE_OK && trial.outcome == LAPSE_TRIAL_VIOLATED &&
        lapse_shrink_parse(s, &trial.text) && open_lines(s, &trial)) {
        (void)lapse_shrink_keep(s);
    }
    lapse_trial_free(&trial);
}

static bool open_lines(struct lapse_shrinker *s, const struct lapse_trial *trial) {
    int64_t event = lapse_judge_verdict(trial->run.judge)->event;
    for (size_t i = 0; i < trial->plan->step_count; i++) {
        bool task = false;
        struct lapse_node *line = NULL;
        if (trial->plan->steps[i].kind == LAPSE_STEP_CALL &&
            !is_answered(trial->run.history, event, (int32_t)i)) {
            line = lapse_shrink_line_at(s, trial->plan->the_case.checks[i].place, &task);
        }
        if (line != NULL && !open_line(s, line)) {
            return false;
        }
    }
    return true;
}

/* Whether its last call before that event was. */
static bool is_answered(const struct lapse_history *history, int64_t until, int32_t step) {
    bool answered = false;
    for (size_t i = 0; i < lapse_history_count(history) && (int64_t)i < until; i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        bool its = event->step == step;
        answered = its && event->kind == LAPSE_HISTORY_REPLY  ? true
                   : its && event->kind == LAPSE_HISTORY_INVOKE ? false
                                                                : answered;
    }
    return answered;
}

/* The last call of `steps` may have been told what broke, in place of the right answer. */
static void open_last(struct lapse_shrinker *s) {
    struct lapse_node *last = NULL;
    if (s->target.unmet || s->as_is || s->status != LAPSE_OK) {
        return;
    }
    lapse_pool_free(&s->draft_pool);
    lapse_pool_init(&s->draft_pool, s->options->alloc);
    s->draft = lapse_shrink_copy(&s->draft_pool, s->tree);
    const struct lapse_node *steps =
        s->draft == NULL ? NULL : lapse_node_get(s->draft, "steps");
    for (size_t i = 0; steps != NULL && i < steps->count; i++) {
        last = lapse_shape_calls(steps->items[i]) ? steps->items[i] : last;
    }
    if (s->draft == NULL) {
        s->status = LAPSE_NOMEM;
    } else if (last != NULL && lapse_node_get(last, "on_any") == NULL &&
               lapse_node_get(last, "expect") == NULL && open_line(s, last)) {
        (void)lapse_shrink_keep(s);
    }
}

static bool open_line(struct lapse_shrinker *s, struct lapse_node *line) {
    bool handled = false;
    for (size_t i = 0; i < line->count; i++) {
        handled = handled || strncmp(line->keys[i]->text, "on_", 3) == 0;
    }
    int64_t expect = lapse_node_index(line, "expect");
    if (expect >= 0) {
        lapse_shrink_cut(line, (size_t)expect, 1);
    }
    return handled || lapse_shrink_put(s, line, "on_any", lapse_shrink_scalar(s, "next", 4));
}

/* A line of comment, and the document under a name that says the same. */
static enum lapse_status write_text(struct lapse_shrinker *s) {
    char comment[COMMENT_BYTES_MAX];
    enum lapse_status status = message_of(s);
    if (status != LAPSE_OK) {
        return status;
    }
    lapse_pool_free(&s->draft_pool);
    lapse_pool_init(&s->draft_pool, s->options->alloc);
    s->draft = lapse_shrink_copy(&s->draft_pool, s->tree);
    const char *name = cut_text(s, s->ret->message, NAME_BYTES_MAX);
    bool named = s->draft != NULL && name != NULL &&
                 (s->as_is || lapse_shrink_put(s, s->draft, "name",
                                               lapse_shrink_scalar(s, name, strlen(name))));
    if (!named) {
        return LAPSE_NOMEM;
    }
    if (s->ret->pinned) {
        (void)snprintf(comment, sizeof(comment), "%llu", (unsigned long long)s->seed);
        if (!lapse_shrink_put(s, s->draft, "seed",
                              lapse_shrink_scalar(s, comment, strlen(comment)))) {
            return LAPSE_NOMEM;
        }
    }
    int len = snprintf(comment, sizeof(comment), "# %s: %s\n", s->target.id, name);
    if (!lapse_emitted_append(&s->ret->text, comment, (size_t)len)) {
        return LAPSE_NOMEM;
    }
    return lapse_yaml_write(s->draft, &s->ret->text, s->err);
}

static enum lapse_status message_of(struct lapse_shrinker *s) {
    struct lapse_trial trial;
    enum lapse_status status = lapse_shrink_run(s, s->tree, &trial);
    if (status == LAPSE_OK) {
        const char *message = "it fails";
        size_t draws = 0;
        if (trial.run.judge != NULL) {
            (void)lapse_choices_list(trial.run.choices, &draws);
            s->ret->pinned = draws > 0 && s->seed <= INT64_MAX;
            s->ret->loose = draws > 0 && s->seed > INT64_MAX;
            s->ret->seed = s->seed;
            const struct lapse_diag_list *diags = &lapse_judge_verdict(trial.run.judge)->diags;
            message = diags->count > 0 ? diags->items[0]->message : message;
        }
        s->ret->message = lapse_pool_text(&s->ret->pool, message, strlen(message));
        status = s->ret->message == NULL ? LAPSE_NOMEM : LAPSE_OK;
    }
    lapse_trial_free(&trial);
    return status;
}

/* A copy that ends before the first byte that is no plain one, or at a blank. NULL: no memory. */
static const char *cut_text(struct lapse_shrinker *s, const char *text, size_t most) {
    size_t len = 0;
    while (text[len] >= ' ' && text[len] <= '~' && len <= most) {
        len++;
    }
    if (len > most) {
        while (len > 1 && text[len - 1] != ' ') {
            len--;
        }
        len--;
    }
    return lapse_pool_text(&s->texts, text, len);
}

/* The document as a person will see it, so that its places are those of the file. */
static enum lapse_status read_text(struct lapse_shrinker *s) {
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    struct lapse_shrunk *ret = s->ret;
    enum lapse_status status = LAPSE_OK;
    lapse_diag_list_init(&diags, s->options->alloc);
    if (!lapse_yaml_parse(&ret->pool, "", ret->text.text, ret->text.bytes, &documents, &diags)) {
        status = LAPSE_NOMEM;
    } else if (diags.count > 0 || documents.count != 1) {
        status = lapse_error_set(s->err, LAPSE_BUG, "the shrunk document cannot be read back");
    } else {
        const struct lapse_document *document = lapse_list_at(&documents, 0);
        ret->document = document->root;
        lapse_pool_free(&s->draft_pool);
        lapse_pool_init(&s->draft_pool, s->options->alloc);
        struct lapse_node *tree = lapse_shrink_copy(&s->draft_pool, ret->document);
        status = tree == NULL ? LAPSE_NOMEM : LAPSE_OK;
        if (tree != NULL) {
            lapse_shrink_take(s, &s->draft_pool, tree);
        }
    }
    lapse_list_free(s->options->alloc, &documents);
    lapse_diag_list_free(&diags);
    return status;
}

/* Where none of them could be left out it needs each; else each is tried. */
static void list_faults(struct lapse_shrinker *s) {
    const char **list = lapse_pool_take(&s->ret->pool, FAULTS_MAX * sizeof(*list));
    s->ret->needs_fault = s->size.faults > 0;
    s->ret->faults = list;
    if (list == NULL || !lapse_shrink_list(s, s->tree)) {
        s->status = LAPSE_NOMEM;
        return;
    }
    for (size_t i = 0; i < s->spots.count && s->ret->fault_count < FAULTS_MAX; i++) {
        if (!lapse_shrink_is_fault(lapse_shrink_spot(s, i)) ||
            (!s->ret->minimal && fails_without(s, i))) {
            continue;
        }
        if (s->status != LAPSE_OK || !add_fault(s, lapse_shrink_spot(s, i), list)) {
            s->status = LAPSE_NOMEM;
            return;
        }
    }
}

/* Whether it fails alike without what stands at a spot. The spots are those of the tree again. */
static bool fails_without(struct lapse_shrinker *s, size_t at) {
    struct lapse_trial trial;
    bool fails = false;
    lapse_pool_free(&s->draft_pool);
    lapse_pool_init(&s->draft_pool, s->options->alloc);
    s->draft = lapse_shrink_copy(&s->draft_pool, s->tree);
    if (s->draft != NULL && lapse_shrink_list(s, s->draft)) {
        const struct lapse_shrink_spot *spot = lapse_shrink_spot(s, at);
        lapse_shrink_cut(spot->parent, spot->index, 1);
        s->tries++;
        s->status = lapse_shrink_run(s, s->draft, &trial);
        fails = s->status == LAPSE_OK && lapse_shrink_alike(s, &trial);
        lapse_trial_free(&trial);
    }
    if (s->draft == NULL || !lapse_shrink_list(s, s->tree)) {
        s->status = LAPSE_NOMEM;
    }
    return fails;
}

/* "pause: w1", "reply: lost", "w1: {wall: +2s}". */
static bool add_fault(struct lapse_shrinker *s, const struct lapse_shrink_spot *spot,
                      const char **list) {
    char text[COMMENT_BYTES_MAX];
    const struct lapse_node *item = lapse_shrink_at(spot);
    const char *word = spot->word, *value = item->kind == LAPSE_NODE_SCALAR ? item->text : "";
    for (size_t i = 0; i < item->count && spot->parent->kind == LAPSE_NODE_SEQ; i++) {
        const char *key = item->keys[i]->text;
        bool fault = strcmp(key, "at") != 0 && strcmp(key, "when") != 0 &&
                     item->items[i]->kind == LAPSE_NODE_SCALAR;
        if (fault) {
            word = key;
            value = item->items[i]->text;
            break;
        }
    }
    (void)snprintf(text, sizeof(text), "%s%s%s", word, value[0] == '\0' ? "" : ": ", value);
    list[s->ret->fault_count] = lapse_pool_text(&s->ret->pool, text, strlen(text));
    return list[s->ret->fault_count++] != NULL;
}

static enum lapse_status replay(struct lapse_shrinker *s) {
    s->ret->stable = true;
    for (int i = 0; i < LAPSE_SHRINK_REPLAYS; i++) {
        struct lapse_trial trial;
        enum lapse_status status = lapse_shrink_run(s, s->ret->document, &trial);
        bool alike = status == LAPSE_OK && lapse_shrink_alike(s, &trial);
        uint64_t digest = alike ? lapse_history_digest(trial.run.history) : 0;
        s->ret->stable = s->ret->stable && alike && (i == 0 || digest == s->ret->digest);
        s->ret->digest = digest;
        lapse_trial_free(&trial);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    return LAPSE_OK;
}

static void find_thresholds(struct lapse_shrinker *s) {
    struct lapse_shrink_threshold *list =
        lapse_pool_take(&s->ret->pool, THRESHOLDS_MAX * sizeof(*list));
    s->ret->thresholds = list;
    if (list == NULL || !lapse_shrink_list(s, s->tree)) {
        s->status = LAPSE_NOMEM;
        return;
    }
    size_t count = s->spots.count;
    for (size_t i = 0; i < count && s->ret->threshold_count + 2 <= THRESHOLDS_MAX; i++) {
        find_threshold(s, i, false, list);
        find_threshold(s, i, true, list);
    }
}

static void find_threshold(struct lapse_shrinker *s, size_t at, bool up,
                           struct lapse_shrink_threshold *list) {
    struct lapse_shrink_number number;
    int64_t fails = 0, right = 0;
    if (!lapse_shrink_list(s, s->tree) || !lapse_shrink_number_at(s, at, &number)) {
        return;
    }
    const struct lapse_shrink_spot spot = *lapse_shrink_spot(s, at);
    const struct lapse_node *scalar = lapse_shrink_at(&spot);
    int64_t sign = up ? 1 : -1;
    if (!first_right(s, at, number.value, sign, &fails, &right) ||
        !stays_right(s, at, right, sign)) {
        return;
    }
    struct lapse_shrink_threshold *threshold = &list[s->ret->threshold_count];
    threshold->place = scalar->place;
    threshold->place.file = NULL;
    threshold->word = lapse_pool_text(&s->ret->pool, spot.word, strlen(spot.word));
    threshold->value = lapse_pool_text(&s->ret->pool, scalar->text, scalar->len);
    threshold->fails = number_text(s, scalar, fails);
    threshold->passes = number_text(s, scalar, right);
    threshold->above = !up;
    if (s->status == LAPSE_OK) {
        s->ret->threshold_count++;
    }
}

/* Steps that double until the verdict is another, then halves. False: it stays, or what comes next
 * to the last failing value is no pass: the loader refuses it, or it fails otherwise. */
static bool first_right(struct lapse_shrinker *s, size_t at, int64_t from, int64_t sign,
                        int64_t *ret_fails, int64_t *ret_right) {
    int64_t by = 1, other = 0;
    bool fails = true;
    *ret_fails = from;
    while (fails) {
        if (!step_by(from, sign, by, &other)) {
            return false;
        }
        (void)probe(s, at, other, &fails);
        *ret_fails = fails ? other : *ret_fails;
        if (by > INT64_MAX / 2) {
            if (fails) {
                return false;
            }
            break;
        }
        by *= 2;
    }
    while ((sign > 0 ? other - *ret_fails : *ret_fails - other) > 1) {
        int64_t middle = *ret_fails + (other - *ret_fails) / 2;
        (void)probe(s, at, middle, &fails);
        if (fails) {
            *ret_fails = middle;
        } else {
            other = middle;
        }
    }
    *ret_right = other;
    return probe(s, at, other, &fails) == LAPSE_TRIAL_PASSED;
}

/* Whether it does not fail again further on, at steps that grow. */
static bool stays_right(struct lapse_shrinker *s, size_t at, int64_t from, int64_t sign) {
    int64_t by = 1000;
    for (int i = 0; i < BEYOND; i++) {
        int64_t value = 0;
        bool fails = false;
        if (!step_by(from, sign, by, &value)) {
            return true;
        }
        if (probe(s, at, value, &fails) == LAPSE_TRIAL_REFUSED) {
            return true;
        }
        if (fails) {
            return false;
        }
        by *= 10;
    }
    return true;
}

/* Numbers of the language are not negative but for walls and rates; the loader says so. */
static bool step_by(int64_t from, int64_t sign, int64_t by, int64_t *ret) {
    return sign > 0 ? lapse_ns_add(from, by, ret)
                    : lapse_ns_sub(from, from > 0 && by > from ? from : by, ret) && *ret != from;
}

static enum lapse_trial_outcome probe(struct lapse_shrinker *s, size_t at, int64_t value,
                                      bool *ret_fails) {
    struct lapse_shrink_number number;
    struct lapse_trial trial;
    char text[LAPSE_SHRINK_NUMBER_MAX];
    *ret_fails = false;
    lapse_pool_free(&s->draft_pool);
    lapse_pool_init(&s->draft_pool, s->options->alloc);
    s->draft = lapse_shrink_copy(&s->draft_pool, s->tree);
    if (s->draft == NULL || !lapse_shrink_list(s, s->draft) ||
        !lapse_shrink_number_at(s, at, &number)) {
        s->status = LAPSE_NOMEM;
        return LAPSE_TRIAL_BROKEN;
    }
    struct lapse_node *scalar = lapse_shrink_at(lapse_shrink_spot(s, at));
    number.value = value;
    lapse_shrink_number_text(scalar, &number, text);
    if (!lapse_shrink_set_text(s, scalar, text)) {
        return LAPSE_TRIAL_BROKEN;
    }
    s->tries++;
    s->status = lapse_shrink_run(s, s->draft, &trial);
    enum lapse_trial_outcome outcome = trial.outcome;
    *ret_fails = s->status == LAPSE_OK && lapse_shrink_alike(s, &trial);
    lapse_trial_free(&trial);
    return s->status == LAPSE_OK ? outcome : LAPSE_TRIAL_BROKEN;
}

static const char *number_text(struct lapse_shrinker *s, const struct lapse_node *like,
                               int64_t value) {
    struct lapse_shrink_number number;
    char text[LAPSE_SHRINK_NUMBER_MAX];
    (void)lapse_shrink_number(like, &number);
    number.value = value;
    lapse_shrink_number_text(like, &number, text);
    const char *copy = lapse_pool_text(&s->ret->pool, text, strlen(text));
    s->status = copy == NULL ? LAPSE_NOMEM : s->status;
    return copy;
}
