/* A batch: calls that happen at one instant, all of them or none. A member is a verb with its
 * arguments: it has no time, no actor and no answer of its own. */
#include <string.h>

#include "decode.h"

static const char members[] =
    "set create update delete purge expire persist acquire extend release "
    "session keepalive close";

static bool read_member(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_call *call);
static const struct lapse_word *find_verb(struct lapse_decoder *d, const struct lapse_node *map);
static void note_verb(struct lapse_decoder *d, const struct lapse_node *key);
static bool check_word(struct lapse_decoder *d, const struct lapse_node *map, size_t index,
                       const struct lapse_word *row);

void lapse_decode_batch(struct lapse_decoder *d, const struct lapse_node *list,
                        struct lapse_plan_call *call) {
    if (!lapse_shape_is(d, list, LAPSE_NODE_SEQ, "a list of calls")) {
        return;
    }
    if (list->count == 0 || list->count > LAPSE_BATCH_MAX) {
        lapse_mistake_add(d->diags, list->count == 0 ? "Y124" : "Y109", list->place, "",
                          "a batch has 1 to %d calls, and this one has %zu", (int)LAPSE_BATCH_MAX,
                          list->count);
        return;
    }
    struct lapse_plan_call *calls = lapse_decoder_take(d, list->count * sizeof(*calls));
    for (size_t i = 0; calls != NULL && i < list->count; i++) {
        (void)read_member(d, list->items[i], &calls[i]);
    }
    call->batch = calls;
    call->batch_count = calls == NULL ? 0 : list->count;
}

static bool read_member(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_call *call) {
    call->bucket = call->resource = call->watch = -1;
    if (!lapse_shape_is(d, map, LAPSE_NODE_MAP, "a call ({set: bucket/key, value: x})")) {
        return false;
    }
    const struct lapse_word *row = find_verb(d, map);
    bool fine = row != NULL;
    for (size_t i = 0; row != NULL && i < map->count; i++) {
        fine = check_word(d, map, i, row) && fine;
    }
    if (fine) {
        lapse_decode_request(d, row, map, call);
    }
    return fine;
}

/* The member's one verb, if a batch can have it. */
static const struct lapse_word *find_verb(struct lapse_decoder *d, const struct lapse_node *map) {
    const struct lapse_word *found = NULL;
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_word *row = lapse_decode_main_row(map, map->keys[i]->text);
        if (row == NULL) {
            continue;
        }
        if (found != NULL) {
            lapse_mistake_add(d->diags, "Y124", map->keys[i]->place, "",
                              "a call does one thing, and this one has `%s` and `%s`", found->word,
                              row->word);
            return NULL;
        }
        if (!lapse_words_have(members, row->word)) {
            note_verb(d, map->keys[i]);
            return NULL;
        }
        found = row;
    }
    if (found == NULL) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y124", map->place, "", "this call does nothing");
        lapse_diag_note(d->diags, diag, "help", "a batch takes: %s", members);
    }
    return found;
}

static void note_verb(struct lapse_decoder *d, const struct lapse_node *key) {
    bool batch = strcmp(key->text, "batch") == 0;
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y126", key->place, "",
        batch ? "a batch cannot stand in a batch" : "`%.60s` cannot stand in a batch", key->text);
    lapse_diag_note(d->diags, diag, "help",
                    batch ? "write all calls in one list: %s" : "it takes: %s",
                    batch ? "they are one transaction already" : members);
}

static bool check_word(struct lapse_decoder *d, const struct lapse_node *map, size_t index,
                       const struct lapse_word *row) {
    const struct lapse_node *key = map->keys[index];
    bool ephemeral = strcmp(key->text, "durability") == 0;
    if (strcmp(key->text, row->word) == 0) {
        return true;
    }
    struct lapse_diag *diag = NULL;
    if (strcmp(key->text, "id") == 0) {
        diag = lapse_mistake_add(d->diags, "Y126", key->place, "",
                                 "a call of a batch has no request id of its own");
        lapse_diag_note(d->diags, diag, "help", "give the batch one: {batch: [..], id: r1}");
        return false;
    }
    if (ephemeral && lapse_node_is(map->items[index], "ephemeral")) {
        diag = lapse_mistake_add(d->diags, "Y126", map->items[index]->place, "",
                                 "an ephemeral lease cannot be acquired in a batch");
        lapse_diag_note(d->diags, diag, "help", "a batch is durable as a whole: acquire it alone");
        return false;
    }
    if (strcmp(key->text, "wait") == 0 || strcmp(key->text, "retry") == 0) {
        diag = lapse_mistake_add(d->diags, "Y126", key->place, "",
                                 "a call of a batch does not wait: all are done at one instant");
        lapse_diag_note(d->diags, diag, "help", "acquire it alone, before the batch");
        return false;
    }
    const struct lapse_word *argument = lapse_word_find(LAPSE_WORD_ARGUMENT, key->text);
    if (lapse_words_have(row->arguments, key->text) &&
        (argument == NULL || argument->stage <= LAPSE_STAGE_NOW)) {
        return true;
    }
    if (argument != NULL && argument->stage > LAPSE_STAGE_NOW) {
        lapse_shape_later(d, key->place, argument);
        return false;
    }
    diag = lapse_mistake_add(d->diags, "Y120", key->place, "",
                             "`%.60s` does not go with `%s` in a batch", key->text, row->word);
    lapse_diag_note(d->diags, diag, "note", "`%s` takes: %s", row->word, row->arguments);
    lapse_diag_note(d->diags, diag, "help",
                    "time, actor, `save` and `expect` are the batch's, not of its calls");
    return false;
}
