/* One line: which verb it has, whether its words go together, when it is due, who does it. What
 * the verb does with its arguments is in decode_call.c, decode_probe.c and decode_fault.c. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

/* Words of any call that are read here or by the handlers. */
#define LINE_WORDS \
    "at after by expect save label timeout nowait jitter need else under times request reply " \
    "on_refused on_any"
/* Reads that can stand in the top-level `expect`. */
static const char final_reads[] = "get entry has list all count history";
/* Words that a loop's line keeps for itself when its body stands in the same map. */
#define LOOP_WORDS "every gap do until times at after by label"

static bool is_before(struct lapse_place a, struct lapse_place b);
static const char *object_text(struct lapse_decoder *d, const struct lapse_node *object);
static bool find_main(struct lapse_decoder *d, const struct lapse_line *line, size_t *ret_key,
                      const struct lapse_word **ret_row);
static bool check_words(struct lapse_decoder *d, const struct lapse_line *line, size_t main_key,
                        const struct lapse_word *row);
static bool check_word(struct lapse_decoder *d, const struct lapse_line *line,
                       const struct lapse_node *key, const struct lapse_word *row);
static void note_final_argument(struct lapse_decoder *d, const struct lapse_node *key,
                                const struct lapse_word *row);
static bool is_known(const char *word);
static void note_word(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_word *row);
static bool check_where(struct lapse_decoder *d, const struct lapse_line *line,
                        const struct lapse_node *key, const struct lapse_word *row);
static bool lists_keys(const struct lapse_node *map);
static void read_actor(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_plan_step *step);
static void read_words(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_plan_step *step);
static void read_expect(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_line *line, struct lapse_plan_step *step,
                        struct lapse_step_check *check);
static int64_t step_times(struct lapse_decoder *d, const struct lapse_line *line,
                          const struct lapse_word *row);

void lapse_decode_line(struct lapse_decoder *d, const struct lapse_line *line, int32_t *ret_step) {
    *ret_step = -1;
    if (!lapse_shape_is(d, line->node, LAPSE_NODE_MAP, "a line ({at: 0s, get: bucket/key})")) {
        return;
    }
    bool loops =
        lapse_node_index(line->node, "every") >= 0 || lapse_node_index(line->node, "gap") >= 0;
    if (loops && !line->shares_line) {
        lapse_decode_loop(d, line, ret_step);
        return;
    }
    size_t key = 0;
    const struct lapse_word *row = NULL;
    if (!find_main(d, line, &key, &row) || !check_words(d, line, key, row) ||
        !check_where(d, line, line->node->keys[key], row)) {
        return;
    }
    int64_t times = step_times(d, line, row);
    d->times = times > 0 ? times : line->times;
    struct lapse_plan_step step = {.actor = -1, .loop = line->loop};
    step.times = (int32_t)times;
    int32_t number = lapse_decode_new_step(d, line, row, key);
    if (number < 0) {
        return;
    }
    struct lapse_step_check check = *lapse_decode_check_at(d, number);
    lapse_decode_when(d, line, &step.when);
    if (row->kind == LAPSE_WORD_VERB && line->where != LAPSE_WHERE_EXPECT) {
        read_actor(d, line, &step);
        read_words(d, line, &step);
        lapse_decode_call(d, row, line->node, &step);
        lapse_decode_messages(d, row, line->node, &step);
        lapse_decode_handlers(d, row, line, &step, &check);
        read_expect(d, row, line, &step, &check);
    } else if (row->kind == LAPSE_WORD_FAULT) {
        lapse_decode_fault(d, row, line->node, &step);
        lapse_decode_point(d, line->node, &step);
        check.expect = lapse_decode_first(d, check.place);
    } else {
        lapse_decode_probe(d, row, line->node, &step, &check);
    }
    d->times = 0;
    *lapse_decode_step_at(d, number) = step;
    *lapse_decode_check_at(d, number) = check;
    lapse_decode_label(d, line->node, number);
    *ret_step = number;
}

int32_t lapse_decode_new_step(struct lapse_decoder *d, const struct lapse_line *line,
                              const struct lapse_word *row, size_t main_key) {
    const struct lapse_node *key = line->node->keys[main_key];
    const struct lapse_node *object = line->node->items[main_key];
    struct lapse_plan_step *step = lapse_decoder_add(d, &d->steps);
    struct lapse_step_check *check = lapse_decoder_add(d, &d->checks);
    if (step == NULL || check == NULL) {
        return -1;
    }
    step->actor = -1;
    step->loop = -1;
    check->place = key->place;
    if (object->place.line == key->place.line && object->place.column > key->place.column) {
        check->place.span = object->place.column + object->place.span - key->place.column;
    }
    if (line->node->copied.file != NULL) {
        /* A line changed in a copy is shown where it was changed, and beside it as it was. */
        check->who = line->node->copied;
        check->place = is_before(key->place, line->node->place) ? line->node->place : check->place;
    }
    /* Faults, loops, counts and measures stand for no contract: an unmet one is headed so. */
    check->contract = row->contract == NULL ? LAPSE_NO_CONTRACT : row->contract;
    check->verb = row->word;
    check->object = object_text(d, object);
    check->must_run = line->where == LAPSE_WHERE_STEPS || line->where == LAPSE_WHERE_EXPECT;
    check->measure = -1;
    return (int32_t)d->steps.count - 1;
}

static bool is_before(struct lapse_place a, struct lapse_place b) {
    return a.line < b.line || (a.line == b.line && a.column < b.column);
}

struct lapse_plan_step *lapse_decode_step_at(struct lapse_decoder *d, int32_t step) {
    return lapse_list_at(&d->steps, (size_t)step);
}

struct lapse_step_check *lapse_decode_check_at(struct lapse_decoder *d, int32_t step) {
    return lapse_list_at(&d->checks, (size_t)step);
}

void lapse_decode_when(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_when *ret) {
    const struct lapse_node *at = lapse_node_get(line->node, "at");
    const struct lapse_node *after = lapse_decode_after(line->node);
    const struct lapse_node *jitter = lapse_node_get(line->node, "jitter");
    if (jitter != NULL) {
        (void)lapse_number_span(d, jitter, 0, &ret->jitter_ns);
    }
    if (line->shares_line) {
        return;
    }
    if (at != NULL && after != NULL && line->where != LAPSE_WHERE_STEPS) {
        lapse_decode_note_after(d, line->node, after);
    }
    switch (line->where) {
    case LAPSE_WHERE_STEPS:
    case LAPSE_WHERE_FAULTS:
        ret->kind = LAPSE_WHEN_AT;
        ret->ns = line->at_ns;
        return;
    case LAPSE_WHERE_EXPECT:
        ret->kind = LAPSE_WHEN_AT;
        ret->ns = LAPSE_FINAL_AT_END;
        if (after != NULL) {
            lapse_mistake_add(d->diags, "Y126", after->place, "",
                              "in `expect` only `at` can stand");
            return;
        }
        break;
    case LAPSE_WHERE_BODY:
        if (at != NULL) {
            lapse_mistake_add(d->diags, "Y126", at->place, "",
                              "in a loop's body only `after` can stand: each firing is later");
        }
        break;
    case LAPSE_WHERE_TASK:
        break;
    }
    if (at != NULL && line->where != LAPSE_WHERE_BODY) {
        ret->kind = LAPSE_WHEN_AT;
        (void)lapse_number_span(d, at, 0, &ret->ns);
    } else if (after != NULL) {
        ret->kind = LAPSE_WHEN_AFTER;
        (void)lapse_number_span(d, after, 0, &ret->ns);
    }
}

/* The object as written: `codes/c1`; of a map such as {granted: jobs/x}, "granted jobs/x". */
static const char *object_text(struct lapse_decoder *d, const struct lapse_node *object) {
    if (object->kind == LAPSE_NODE_SCALAR) {
        return (const char *)lapse_decoder_bytes(d, object).data;
    }
    bool pair = object->kind == LAPSE_NODE_MAP && object->count > 0 &&
                object->items[0]->kind == LAPSE_NODE_SCALAR;
    if (!pair) {
        return "";
    }
    size_t cap = object->keys[0]->len + object->items[0]->len + 2;
    char *text = lapse_decoder_take(d, cap);
    if (text != NULL) {
        (void)snprintf(text, cap, "%s %s", object->keys[0]->text, object->items[0]->text);
    }
    return text;
}

/* The one word of the line that says what is done. */
static bool find_main(struct lapse_decoder *d, const struct lapse_line *line, size_t *ret_key,
                      const struct lapse_word **ret_row) {
    const struct lapse_node *map = line->node;
    size_t unknown = 0;
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_word *row = lapse_decode_main_row(map, map->keys[i]->text);
        if (row == NULL) {
            unknown += is_known(map->keys[i]->text) ? 0 : 1;
            continue;
        }
        if (*ret_row != NULL) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y124", map->keys[i]->place, "",
                                  "a line does one thing, and this one has `%s` and `%s`",
                                  (*ret_row)->word, row->word);
            lapse_diag_label(d->diags, diag, map->keys[*ret_key]->place, "the other one");
            lapse_diag_note(d->diags, diag, "help", "write two lines");
            return false;
        }
        *ret_row = row;
        *ret_key = i;
    }
    if (*ret_row != NULL) {
        return true;
    }
    for (size_t i = 0; i < map->count; i++) {
        if (!is_known(map->keys[i]->text)) {
            note_word(d, map->keys[i], NULL);
        }
    }
    if (unknown == 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y124", map->place, "", "this line does nothing");
        lapse_diag_note(d->diags, diag, "help",
                        "name a verb and its object, such as `get: bucket/key`");
    }
    return false;
}

const struct lapse_word *lapse_decode_main_row(const struct lapse_node *map, const char *word) {
    const struct lapse_word *row = lapse_word_find(LAPSE_WORD_VERB, word);
    row = row == NULL ? lapse_word_find(LAPSE_WORD_OBSERVER, word) : row;
    row = row == NULL ? lapse_word_find(LAPSE_WORD_FAULT, word) : row;
    if (row == NULL || lapse_word_find(LAPSE_WORD_ARGUMENT, word) == NULL) {
        return row;
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_word *other = lapse_word_find(LAPSE_WORD_VERB, map->keys[i]->text);
        if (other != NULL && other != row && lapse_words_have(other->arguments, word)) {
            return NULL;
        }
    }
    return row;
}

void lapse_decode_note_after(struct lapse_decoder *d, const struct lapse_node *map,
                             const struct lapse_node *after) {
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y120", after->place, "",
                                                "`at` and `after` cannot stand in one line");
    if (lists_keys(map) && after->kind == LAPSE_NODE_SCALAR) {
        lapse_diag_note(d->diags, diag, "help",
                        "to go on after a key write it as bucket/key: `after: BUCKET/%.40s`",
                        after->text);
    }
}

static bool lists_keys(const struct lapse_node *map) {
    return lapse_node_index(map, "list") >= 0 || lapse_node_index(map, "all") >= 0 ||
           lapse_node_index(map, "count") >= 0;
}

const struct lapse_node *lapse_decode_after(const struct lapse_node *map) {
    const struct lapse_node *after = lapse_node_get(map, "after");
    bool key = lists_keys(map) && after != NULL && after->kind == LAPSE_NODE_SCALAR &&
               strchr(after->text, '/') != NULL;
    return key ? NULL : after;
}

static bool check_words(struct lapse_decoder *d, const struct lapse_line *line, size_t main_key,
                        const struct lapse_word *row) {
    if (row->stage > LAPSE_STAGE_NOW) {
        lapse_shape_later(d, line->node->keys[main_key]->place, row);
        return false;
    }
    bool fine = true;
    for (size_t i = 0; i < line->node->count; i++) {
        if (i != main_key) {
            fine = check_word(d, line, line->node->keys[i], row) && fine;
        }
    }
    return fine;
}

static bool check_word(struct lapse_decoder *d, const struct lapse_line *line,
                       const struct lapse_node *key, const struct lapse_word *row) {
    const char *word = key->text;
    if (line->shares_line && lapse_words_have(LOOP_WORDS, word)) {
        return true;
    }
    bool call = row->kind == LAPSE_WORD_VERB;
    bool argument = lapse_words_have(row->arguments, word);
    bool common = call && (lapse_words_have(LINE_WORDS, word) || strncmp(word, "on_", 3) == 0);
    if (line->where == LAPSE_WHERE_EXPECT) {
        /* There is no client at the end: a read has its arguments, a time and what it must be. */
        common = lapse_words_have("at expect", word) && (call || strcmp(word, "at") == 0);
        common = common || (lapse_node_is(key, "is") && lapse_words_have("count", row->word));
        if (argument && !common && lapse_words_have(final_reads, row->word)) {
            note_final_argument(d, key, row);
            return false;
        }
    }
    if (common) {
        return true;
    }
    const struct lapse_word *later = lapse_word_find(LAPSE_WORD_ARGUMENT, word);
    later = later == NULL || !argument ? lapse_word_find(LAPSE_WORD_STEP, word) : later;
    if (later != NULL && later->stage > LAPSE_STAGE_NOW) {
        lapse_shape_later(d, key->place, later);
        return false;
    }
    if (argument) {
        return true;
    }
    note_word(d, key, row);
    return false;
}

static void note_final_argument(struct lapse_decoder *d, const struct lapse_node *key,
                                const struct lapse_word *row) {
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y126", key->place, "", "in `expect` a `%s` has no `%s`: it looks at the whole",
        row->word, key->text);
    lapse_diag_note(d->diags, diag, "help", "write this read as a line of `steps`");
}

/* Whether the word is one that some line can have. */
static bool is_known(const char *word) {
    return lapse_word_find(LAPSE_WORD_STEP, word) != NULL ||
           lapse_word_find(LAPSE_WORD_ARGUMENT, word) != NULL || strncmp(word, "on_", 3) == 0;
}

static void note_word(struct lapse_decoder *d, const struct lapse_node *key,
                      const struct lapse_word *row) {
    struct lapse_diag *diag = NULL;
    if (row != NULL && is_known(key->text)) {
        diag = lapse_mistake_add(d->diags, "Y120", key->place, "", "`%.60s` does not go with `%s`",
                                 key->text, row->word);
        lapse_decode_note_takes(d, diag, row);
        return;
    }
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, key->text);
    if (strcmp(key->text, "put") == 0 || strcmp(key->text, "add") == 0) {
        nearest.best = key->text[0] == 'p' ? "set" : "create";
    } else {
        lapse_nearest_offer_kind(&nearest, LAPSE_WORD_STEP);
        lapse_nearest_offer_kind(&nearest, LAPSE_WORD_ARGUMENT);
    }
    if (row == NULL && nearest.best == NULL) {
        lapse_nearest_offer_kind(&nearest, LAPSE_WORD_VERB);
        lapse_nearest_offer_kind(&nearest, LAPSE_WORD_OBSERVER);
        lapse_nearest_offer_kind(&nearest, LAPSE_WORD_FAULT);
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    diag = lapse_mistake_add(d->diags, "Y101", key->place, label, "`%.60s` is not a word of a line",
                             key->text);
    lapse_decode_note_takes(d, diag, row);
}

void lapse_decode_note_takes(struct lapse_decoder *d, struct lapse_diag *diag,
                             const struct lapse_word *row) {
    if (row == NULL) {
        lapse_diag_note(d->diags, diag, "help",
                        "a line has one verb, such as set, get, acquire or gone");
        return;
    }
    char list[400];
    size_t used = (size_t)snprintf(list, sizeof(list), "`%s` takes:", row->word);
    char word[32];
    const char *rest = row->arguments;
    while ((rest = lapse_words_next(rest, word, sizeof(word))) != NULL) {
        const struct lapse_word *argument = lapse_word_find(LAPSE_WORD_ARGUMENT, word);
        bool twice = row->kind == LAPSE_WORD_VERB && lapse_words_have(LINE_WORDS, word);
        if (!twice && (argument == NULL || argument->stage <= LAPSE_STAGE_NOW)) {
            used += (size_t)snprintf(list + used, sizeof(list) - used, " %s", word);
        }
    }
    (void)snprintf(list + used, sizeof(list) - used, "%s",
                   row->kind == LAPSE_WORD_VERB ? " " LINE_WORDS " on_ANSWER" : "");
    lapse_diag_note(d->diags, diag, "note", "%s", list);
}

/* Calls stand in steps, tasks and bodies (reads in `expect` too), observers in steps and `expect`,
 * faults in steps and `faults`. */
static bool check_where(struct lapse_decoder *d, const struct lapse_line *line,
                        const struct lapse_node *key, const struct lapse_word *row) {
    bool fine = true;
    switch (line->where) {
    case LAPSE_WHERE_STEPS:
        fine = strcmp(row->word, "measured") != 0;
        break;
    case LAPSE_WHERE_TASK:
    case LAPSE_WHERE_BODY:
        fine = row->kind == LAPSE_WORD_VERB;
        break;
    case LAPSE_WHERE_FAULTS:
        fine = row->kind == LAPSE_WORD_FAULT;
        break;
    case LAPSE_WHERE_EXPECT:
        fine = row->kind == LAPSE_WORD_OBSERVER || lapse_words_have(final_reads, row->word);
        break;
    }
    if (fine) {
        return true;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y126", key->place, "", "`%s` cannot stand here", row->word);
    const char *help = "calls stand in `steps` and in tasks; in `expect` only reads do";
    if (row->kind == LAPSE_WORD_OBSERVER) {
        help = "observers stand in `steps` and `expect`: no actor does them";
    } else if (row->kind == LAPSE_WORD_FAULT) {
        help = "faults and operators' acts stand in `steps` and `faults`: no actor does them";
    }
    lapse_diag_note(d->diags, diag, "help", "%s",
                    strcmp(row->word, "measured") == 0 ? "`measured` stands in `expect`" : help);
    return false;
}

static void read_actor(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_plan_step *step) {
    const struct lapse_node *by = lapse_node_get(line->node, "by");
    step->actor = line->actor;
    if (line->where != LAPSE_WHERE_STEPS) {
        if (by != NULL && !line->shares_line) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y126", by->place, "",
                                  "the lines of a task are its actor's: `by` cannot stand here");
            lapse_diag_note(d->diags, diag, "help", "leave `by` out");
        }
        return;
    }
    if (by != NULL) {
        step->actor = lapse_resolve_name(d, by, LAPSE_SPACE_ACTOR);
        return;
    }
    step->actor = 0;
    if (d->actors.count <= 1) {
        return;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y115", line->node->place, "", "who does this?");
    lapse_diag_note(d->diags, diag, "help", "add `by: NAME`; this document has %zu actors",
                    d->actors.count);
}

static void read_words(struct lapse_decoder *d, const struct lapse_line *line,
                       struct lapse_plan_step *step) {
    const struct lapse_node *map = line->node;
    const struct lapse_node *timeout = lapse_node_get(map, "timeout");
    const struct lapse_node *nowait = lapse_node_get(map, "nowait");
    const struct lapse_node *under = lapse_node_get(map, "under");
    const struct lapse_node *save = lapse_node_get(map, "save");
    if (timeout != NULL) {
        step->has_timeout = lapse_number_span(d, timeout, 1, &step->timeout_ns);
    }
    if (nowait != NULL) {
        (void)lapse_shape_flag(d, nowait, &step->nowait);
    }
    if (under != NULL) {
        step->has_under = lapse_text_slot(d, under, &step->under);
    }
    if (save == NULL || save->kind != LAPSE_NODE_SCALAR) {
        return;
    }
    size_t len = save->len;
    bool indexed = len > 2 && strcmp(save->text + len - 2, "$n") == 0;
    int32_t slot = lapse_decoder_find(d, indexed ? LAPSE_SPACE_SLOT_INDEXED : LAPSE_SPACE_SLOT,
                                      save->text, indexed ? len - 2 : len);
    if (slot >= 0) {
        const struct lapse_slot_decl *decl = lapse_list_at(&d->slots, (size_t)slot);
        step->has_save = true;
        step->save = (struct lapse_slot_ref){.base = decl->base, .indexed = indexed};
    }
}

static void read_expect(struct lapse_decoder *d, const struct lapse_word *row,
                        const struct lapse_line *line, struct lapse_plan_step *step,
                        struct lapse_step_check *check) {
    const struct lapse_node *expect = lapse_node_get(line->node, "expect");
    const struct lapse_node *need = lapse_node_get(line->node, "need");
    int32_t bucket = step->kind == LAPSE_STEP_CALL ? step->u.call.bucket : -1;
    check->written = expect != NULL;
    check->expect = expect == NULL ? lapse_decode_first(d, check->place)
                                   : lapse_decode_expect(d, row, bucket, expect);
    if (need != NULL) {
        step->need = lapse_decode_expect(d, row, bucket, need);
        check->need = step->need;
    }
}

/* `times` of a call; 0 if it has none of its own. */
static int64_t step_times(struct lapse_decoder *d, const struct lapse_line *line,
                          const struct lapse_word *row) {
    const struct lapse_node *node = lapse_node_get(line->node, "times");
    int64_t times = 0;
    if (node == NULL || line->shares_line) {
        return 0;
    }
    if (lapse_words_have("work await unchanged watch unwatch", row->word)) {
        lapse_mistake_add(d->diags, "Y120", node->place, "", "`times` does not go with `%s`",
                          row->word);
        return 0;
    }
    return lapse_number_count(d, node, 1, LAPSE_TIMES_MAX, &times) ? times : 0;
}
