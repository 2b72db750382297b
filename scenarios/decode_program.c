/* Client programs: `program: NAME` with its `with: {name: value}`. What a program takes is said by
 * the program itself; here its words are read, and what they name is declared. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

enum { LIST_BYTES = 200 };

static const struct lapse_program_kind *find_kind(struct lapse_decoder *d,
                                                  const struct lapse_node *name);
static void read_with(struct lapse_decoder *d, const struct lapse_program_kind *kind,
                      const struct lapse_node *with, struct lapse_plan_program *program);
static bool read_value(struct lapse_decoder *d, const struct lapse_program_word *word,
                       const struct lapse_node *node, struct lapse_plan_with *ret);
static bool read_text(struct lapse_decoder *d, const struct lapse_program_word *word,
                      const struct lapse_node *node, struct lapse_plan_with *ret);
static void note_word(struct lapse_decoder *d, const struct lapse_program_kind *kind,
                      const struct lapse_node *key);
static void note_careless(struct lapse_decoder *d, const struct lapse_program_word *word,
                          const struct lapse_node *node);
static void check_needed(struct lapse_decoder *d, const struct lapse_program_kind *kind,
                         const struct lapse_node *name, const struct lapse_node *with);
static void add_task(struct lapse_decoder *d, int32_t actor, const struct lapse_node *words);
static void declare_lease(struct lapse_decoder *d, const struct lapse_program_word *word,
                          const struct lapse_node *lease, const struct lapse_node *with);

void lapse_decode_program(struct lapse_decoder *d, int32_t actor, const struct lapse_node *words) {
    const struct lapse_node *name = lapse_node_get(words, "program");
    const struct lapse_node *with = lapse_node_get(words, "with");
    int64_t tasks = lapse_node_index(words, "tasks");
    const struct lapse_program_kind *kind = find_kind(d, name);
    if (tasks >= 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y120", words->keys[tasks]->place, "",
                              "`tasks` does not go with `program`: it is the actor's task");
        lapse_diag_note(d->diags, diag, "help",
                        "write what the actor does besides as lines of `steps`");
    }
    if (kind == NULL) {
        return;
    }
    struct lapse_plan_program *program = lapse_decoder_add(d, &d->programs);
    if (program == NULL) {
        return;
    }
    *program = (struct lapse_plan_program){
        .actor = actor, .name = lapse_bytes_of(kind->name), .place = name->place};
    if (!lapse_node_is_null(with) &&
        lapse_shape_is(d, with, LAPSE_NODE_MAP, "a map of the program's words")) {
        read_with(d, kind, with, program);
    }
    check_needed(d, kind, name, with);
    add_task(d, actor, words);
    if (!d->endless) {
        d->endless = d->endless_program = true;
        d->endless_place = name->place;
    }
}

/* What does not fit is passed over: it is noted when the program is read. */
void lapse_decode_program_leases(struct lapse_decoder *d, const struct lapse_node *words) {
    const struct lapse_node *name = lapse_node_get(words, "program");
    const struct lapse_node *with = lapse_node_get(words, "with");
    const struct lapse_program_kind *kind =
        name == NULL || name->kind != LAPSE_NODE_SCALAR ? NULL
                                                        : lapse_program_find(name->text, name->len);
    if (kind == NULL || with == NULL || with->kind != LAPSE_NODE_MAP) {
        return;
    }
    for (size_t i = 0; i < with->count; i++) {
        const struct lapse_program_word *word =
            lapse_program_word_find(kind, with->keys[i]->text, with->keys[i]->len);
        if (word != NULL && word->takes == LAPSE_PROGRAM_LEASE &&
            with->items[i]->kind == LAPSE_NODE_SCALAR) {
            declare_lease(d, word, with->items[i], with);
        }
    }
}

static const struct lapse_program_kind *find_kind(struct lapse_decoder *d,
                                                  const struct lapse_node *name) {
    size_t count = 0;
    const struct lapse_program_kind *const *table = lapse_program_table(&count);
    if (!lapse_shape_is(d, name, LAPSE_NODE_SCALAR, "a program's name")) {
        return NULL;
    }
    const struct lapse_program_kind *kind = lapse_program_find(name->text, name->len);
    if (kind != NULL) {
        return kind;
    }
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, name->text);
    char list[LIST_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&nearest, table[i]->name);
        used += used + 32 < sizeof(list)
                    ? (size_t)snprintf(list + used, sizeof(list) - used, " %s", table[i]->name)
                    : 0;
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y111", name->place, label,
                                                "there is no program named `%.60s`", name->text);
    lapse_diag_note(d->diags, diag, "note", "there is:%s", list);
    return NULL;
}

static void read_with(struct lapse_decoder *d, const struct lapse_program_kind *kind,
                      const struct lapse_node *with, struct lapse_plan_program *program) {
    struct lapse_plan_with *values = lapse_decoder_take(d, with->count * sizeof(*values));
    size_t kept = 0;
    for (size_t i = 0; values != NULL && i < with->count; i++) {
        const struct lapse_node *key = with->keys[i];
        const struct lapse_program_word *word = lapse_program_word_find(kind, key->text, key->len);
        if (word == NULL) {
            note_word(d, kind, key);
        } else if (read_value(d, word, with->items[i], &values[kept])) {
            values[kept++].name = lapse_bytes_of(word->name);
        }
    }
    program->with = values;
    program->with_count = kept;
}

static bool read_value(struct lapse_decoder *d, const struct lapse_program_word *word,
                       const struct lapse_node *node, struct lapse_plan_with *ret) {
    switch (word->takes) {
    case LAPSE_PROGRAM_SPAN:
        ret->number.kind = LAPSE_OPERAND_SPAN;
        return lapse_number_span(d, node, word->text == NULL ? 1 : 0, &ret->number.number);
    case LAPSE_PROGRAM_NUMBER:
        ret->number.kind = LAPSE_OPERAND_NUMBER;
        return lapse_number_count(d, node, 0, LAPSE_PROGRAM_MANY_MAX, &ret->number.number);
    default:
        return lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a text") &&
               read_text(d, word, node, ret);
    }
}

static bool read_text(struct lapse_decoder *d, const struct lapse_program_word *word,
                      const struct lapse_node *node, struct lapse_plan_with *ret) {
    int32_t bucket = -1;
    size_t offset = 0;
    bool fine = true;
    if (word->takes == LAPSE_PROGRAM_KEY) {
        fine = lapse_resolve_key(d, node, &bucket, &offset);
    } else if (word->takes == LAPSE_PROGRAM_BUCKET) {
        fine = lapse_resolve_name(d, node, LAPSE_SPACE_BUCKET) >= 0;
    } else if (word->takes == LAPSE_PROGRAM_RESOURCE) {
        fine = lapse_resolve_name(d, node, LAPSE_SPACE_RESOURCE) >= 0;
    } else if (word->takes == LAPSE_PROGRAM_CARELESS && !lapse_words_have(word->text, node->text)) {
        note_careless(d, word, node);
        return false;
    }
    struct lapse_text_part *part = fine ? lapse_decoder_take(d, sizeof(*part)) : NULL;
    if (part == NULL) {
        return false;
    }
    part->kind = LAPSE_PART_LITERAL;
    part->literal = lapse_decoder_bytes(d, node);
    ret->text = (struct lapse_text){.part_count = 1, .parts = part};
    return true;
}

static void note_word(struct lapse_decoder *d, const struct lapse_program_kind *kind,
                      const struct lapse_node *key) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, key->text);
    char list[LIST_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < kind->word_count; i++) {
        lapse_nearest_offer(&nearest, kind->words[i].name);
        used += used + 32 < sizeof(list) ? (size_t)snprintf(list + used, sizeof(list) - used,
                                                            " %s", kind->words[i].name)
                                         : 0;
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y101", key->place, label,
                          "`%.60s` is not a word of the program `%s`", key->text, kind->name);
    lapse_diag_note(d->diags, diag, "note", "`%s` takes:%s", kind->name, list);
}

static void note_careless(struct lapse_decoder *d, const struct lapse_program_word *word,
                          const struct lapse_node *node) {
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y127", node->place, "",
                          "`%.60s` is not a mistake that this program makes", node->text);
    lapse_diag_note(d->diags, diag, "help", "it makes one of these, or none: %s", word->text);
}

static void check_needed(struct lapse_decoder *d, const struct lapse_program_kind *kind,
                         const struct lapse_node *name, const struct lapse_node *with) {
    for (size_t i = 0; i < kind->word_count; i++) {
        const struct lapse_program_word *word = &kind->words[i];
        bool text = word->takes != LAPSE_PROGRAM_SPAN && word->takes != LAPSE_PROGRAM_NUMBER;
        bool given = !lapse_node_is_null(with) && with->kind == LAPSE_NODE_MAP &&
                     lapse_node_index(with, word->name) >= 0;
        if (!text || word->text != NULL || given) {
            continue;
        }
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y125", name->place, "",
                                                    "`%s` needs `%s`", kind->name, word->name);
        lapse_diag_note(d->diags, diag, "help", "write `with: {%s: ..}`: %s", word->name,
                        word->sentence);
    }
}

/* The one line of its task takes every answer: what a program does with it is its own business. */
static void add_task(struct lapse_decoder *d, int32_t actor, const struct lapse_node *words) {
    struct lapse_line line = {
        .node = words, .where = LAPSE_WHERE_TASK, .actor = actor, .loop = -1};
    const struct lapse_word *row = lapse_word_find(LAPSE_WORD_ACTOR, "program");
    int32_t number =
        lapse_decode_new_step(d, &line, row, (size_t)lapse_node_index(words, "program"));
    struct lapse_plan_task *task = lapse_decoder_add(d, &d->tasks);
    int32_t *steps = lapse_decoder_take(d, sizeof(*steps));
    if (number < 0 || task == NULL || steps == NULL) {
        return;
    }
    *steps = number;
    *task = (struct lapse_plan_task){
        .actor = actor, .name = lapse_bytes_of("program"), .step_count = 1, .steps = steps};
    struct lapse_plan_step *step = lapse_decode_step_at(d, number);
    *step = (struct lapse_plan_step){.kind = LAPSE_STEP_PROGRAM, .actor = actor, .loop = -1};
    step->u.program = (int32_t)d->programs.count - 1;
    struct lapse_step_check *check = lapse_decode_check_at(d, number);
    check->expect = lapse_decode_first(d, check->place);
    check->handled = UINT32_MAX;
}

/* A lease of several, q/1 to q/N, has the name alone for what they make up together. */
static void declare_lease(struct lapse_decoder *d, const struct lapse_program_word *word,
                          const struct lapse_node *lease, const struct lapse_node *with) {
    (void)lapse_decoder_name(d, LAPSE_SPACE_LEASE, lease->text, 0);
    if (word->count == NULL) {
        return;
    }
    const struct lapse_node *count = lapse_node_get(with, word->count);
    int64_t many = word->number;
    for (size_t i = 0; count != NULL && count->kind == LAPSE_NODE_SCALAR && i < count->len; i++) {
        many = i == 0 ? 0 : many;
        bool digit = count->text[i] >= '0' && count->text[i] <= '9' && many < LAPSE_TIMES_MAX;
        many = digit ? many * 10 + (count->text[i] - '0') : many;
    }
    for (int n = 1; n <= many && n <= LAPSE_PROGRAM_MANY_MAX; n++) {
        char buf[LAPSE_PROGRAM_TEXT_MAX];
        struct lapse_bytes base = {(const unsigned char *)lease->text, lease->len};
        struct lapse_bytes name = lapse_program_numbered(base, n, buf);
        const char *kept = lapse_pool_text(d->pool, (const char *)name.data, name.len);
        d->nomem = d->nomem || kept == NULL;
        if (kept != NULL) {
            (void)lapse_decoder_name(d, LAPSE_SPACE_LEASE, kept, 0);
        }
    }
}
