/* What is done to the disk of the store's node: its faults, a stall in a sync, and an operator's
 * copies of it. Some of that needs a disk of files, under `kind: sqlite`; the rest works on the
 * rows that `kind: memory` keeps as well. A document that names no store gets the one it needs. */
#include <string.h>

#include "decode.h"

/* How a disk misbehaves, by its word; `sync` has a word of its own for each. */
struct disk_row {
    const char *word, *value;
    enum lapse_disk_fault disk;
    bool files; /* only a disk of files can do it */
};
static const struct disk_row rows[] = {
    {"sync", "fail", LAPSE_DISK_SYNC_FAIL, false},
    {"sync", "lies", LAPSE_DISK_SYNC_LIES, false},
    {"sync", "stalls", LAPSE_DISK_SYNC_STALLS, false},
    {"tear", NULL, LAPSE_DISK_TEAR, true},
    {"full", NULL, LAPSE_DISK_FULL, true},
    {"rot", NULL, LAPSE_DISK_ROT, true},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]), ROT_BITS_MAX = 1000000 };

static bool read_node(struct lapse_decoder *d, const struct lapse_node *node, const char *word);
static void read_kind(struct lapse_decoder *d, const struct lapse_node *map,
                      struct lapse_plan_fault *fault);
static void read_row(struct lapse_decoder *d, const struct lapse_node *key,
                     const struct lapse_node *value, struct lapse_plan_fault *fault);
static void read_sync(struct lapse_decoder *d, const struct lapse_node *value,
                      struct lapse_plan_fault *fault);
static void read_count(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault);
static void want_files(struct lapse_decoder *d, const struct lapse_node *at);
static void check_made(struct lapse_decoder *d, const struct lapse_restore_decl *put);
static int32_t find_copy(struct lapse_decoder *d, const struct lapse_node *name,
                         const struct lapse_plan_step *made);
static int32_t last_step(const struct lapse_decoder *d);

void lapse_decode_disk(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault) {
    const struct lapse_node *node = lapse_node_get(map, "disk");
    fault->node = read_node(d, node, "disk") ? 0 : -1;
    d->wants_rows = true;
    read_kind(d, map, fault);
    read_count(d, map, fault);
}

void lapse_decode_stall(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_fault *fault) {
    const struct lapse_node *in = lapse_node_get(map, "in");
    const struct lapse_node *key = map->keys[lapse_node_index(map, "stall")];
    fault->node = read_node(d, lapse_node_get(map, "stall"), "stall") ? 0 : -1;
    d->wants_rows = true;
    if (in == NULL || !lapse_node_is(in, "sync")) {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, in == NULL ? "Y125" : "Y127", in == NULL ? key->place : in->place, "",
            in == NULL ? "`stall` needs `in`" : "a store stalls in a sync alone");
        lapse_diag_note(d->diags, diag, "help", "write `stall: n1, in: sync, for: 10s`");
    }
}

const char *lapse_decode_disk_word(enum lapse_disk_fault disk, const char **ret_value) {
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].disk == disk) {
            *ret_value = rows[i].value;
            return rows[i].word;
        }
    }
    return NULL;
}

bool lapse_decode_copy(struct lapse_decoder *d, const struct lapse_word *row,
                       const struct lapse_node *map, struct lapse_plan_step *step) {
    bool restore = strcmp(row->word, "restore") == 0;
    if (!restore && strcmp(row->word, "backup") != 0) {
        return false;
    }
    const struct lapse_node *key = map->keys[lapse_node_index(map, row->word)];
    const char *word = restore ? "from" : "as";
    const struct lapse_node *name = lapse_node_get(map, word);
    int64_t restored = lapse_node_index(map, "restored");
    struct lapse_plan_operator *act = &step->u.operator_act;
    step->kind = LAPSE_STEP_OPERATOR;
    act->verb = restore ? LAPSE_OPERATOR_RESTORE : LAPSE_OPERATOR_BACKUP;
    (void)read_node(d, lapse_node_get(map, row->word), row->word);
    want_files(d, key);
    if (restored >= 0) {
        (void)lapse_shape_flag(d, map->items[restored], &act->restored);
    }
    if (name == NULL) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y125", key->place, "", "`%s` needs `%s`", row->word, word);
        lapse_diag_note(d->diags, diag, "help",
                        restore ? "name the copy, as `backup: n1, as: NAME` has called it"
                                : "give the copy a name: `backup: n1, as: NAME`");
    } else if (lapse_shape_name(d, name, "a copy")) {
        act->copy = find_copy(d, name, restore ? NULL : step);
        struct lapse_restore_decl *put = restore ? lapse_decoder_add(d, &d->restores) : NULL;
        if (put != NULL) {
            *put = (struct lapse_restore_decl){name, step->when.ns, act->copy, last_step(d)};
        }
    }
    return true;
}

void lapse_decode_copies_end(struct lapse_decoder *d) {
    d->plan->copy_count = (int32_t)d->copies.count;
    for (size_t i = 0; i < d->copies.count; i++) {
        const struct lapse_copy_decl *copy = lapse_list_at(&d->copies, i);
        if (!copy->made) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y111", copy->name->place, "",
                                  "no line makes a copy `%.60s`", copy->name->text);
            lapse_diag_note(d->diags, diag, "help", "write `backup: n1, as: %.60s` before",
                            copy->name->text);
        }
    }
    for (size_t i = 0; i < d->restores.count && !d->nomem; i++) {
        check_made(d, lapse_list_at(&d->restores, i));
    }
}

/* Operators' acts of one instant come in file order. */
static void check_made(struct lapse_decoder *d, const struct lapse_restore_decl *put) {
    const struct lapse_copy_decl *copy = lapse_list_at(&d->copies, (size_t)put->copy);
    bool before = copy->made_ns < put->at_ns ||
                  (copy->made_ns == put->at_ns && copy->step < put->step);
    if (copy->made && !before) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y111", put->name->place, "",
                              "no line has made a copy `%.60s` by then", put->name->text);
        lapse_diag_label(d->diags, diag, copy->name->place, "made here");
        lapse_diag_note(d->diags, diag, "help", "put it back after it is made");
    }
}

/* What the document needs of a store, beside what it says of one. */
void lapse_decode_disk_store(struct lapse_decoder *d) {
    bool unsaid = d->plan->store == LAPSE_STORE_NONE;
    if (unsaid && (d->wants_rows || d->wants_files != NULL)) {
        d->plan->store = d->wants_files != NULL ? LAPSE_STORE_SQLITE : LAPSE_STORE_MEMORY;
        d->plan->setup.sync = LAPSE_SYNC_FULL;
    } else if (d->wants_files != NULL && d->plan->store == LAPSE_STORE_MEMORY) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y141", d->wants_files->place, "",
                              "`%.60s` needs a disk of files, and the store keeps its rows in "
                              "memory",
                              d->wants_files->text);
        lapse_diag_note(d->diags, diag, "help", "write `store: {kind: sqlite}`, or leave `store` "
                                                "out");
    }
}

static bool read_node(struct lapse_decoder *d, const struct lapse_node *node, const char *word) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "n1 (the store's node)")) {
        return false;
    }
    if (!lapse_node_is(node, "n1")) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", node->place, "",
                                                    "`%.60s` is not the store's node", node->text);
        lapse_diag_note(d->diags, diag, "help", "write `%s: n1`", word);
        return false;
    }
    return true;
}

/* One kind a line. */
static void read_kind(struct lapse_decoder *d, const struct lapse_node *map,
                      struct lapse_plan_fault *fault) {
    static const char help[] = "write one of `sync: fail` (or lies, stalls), `tear: true`, `full: "
                               "true`, `rot: N`";
    const struct lapse_node *first = NULL;
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_node *key = map->keys[i];
        if (!lapse_words_have("sync tear full rot", key->text)) {
            continue;
        }
        if (first != NULL) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y120", key->place, "",
                                  "`%s` and `%s` cannot stand in one line", first->text, key->text);
            lapse_diag_note(d->diags, diag, "help", "write a line for each");
            continue;
        }
        first = key;
        read_row(d, key, map->items[i], fault);
    }
    if (first == NULL) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y125", map->keys[lapse_node_index(map, "disk")]->place,
                              "", "`disk` needs to be told what is wrong with it");
        lapse_diag_note(d->diags, diag, "help", help);
    }
}

static void read_row(struct lapse_decoder *d, const struct lapse_node *key,
                     const struct lapse_node *value, struct lapse_plan_fault *fault) {
    bool flag = true;
    if (lapse_node_is(key, "sync")) {
        read_sync(d, value, fault);
        return;
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (lapse_node_is(key, rows[i].word)) {
            fault->disk = rows[i].disk;
        }
    }
    want_files(d, key);
    if (fault->disk == LAPSE_DISK_ROT) {
        fault->disk_bits = 1;
        (void)lapse_number_count(d, value, 1, ROT_BITS_MAX, &fault->disk_bits);
    } else if (lapse_shape_flag(d, value, &flag) && !flag) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y127", value->place, "",
                              "a disk is well unless a line says otherwise");
        lapse_diag_note(d->diags, diag, "help", "to end the fault give it a `for`");
    }
}

static void read_sync(struct lapse_decoder *d, const struct lapse_node *value,
                      struct lapse_plan_fault *fault) {
    fault->disk = LAPSE_DISK_SYNC_FAIL;
    if (!lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "fail, lies or stalls")) {
        return;
    }
    for (size_t i = 0; i < ROWS && rows[i].value != NULL; i++) {
        if (lapse_node_is(value, rows[i].value)) {
            fault->disk = rows[i].disk;
            return;
        }
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", value->place, "",
                                                "a sync does not `%.60s`", value->text);
    lapse_diag_note(d->diags, diag, "help", "write `sync: fail`, `sync: lies` or `sync: stalls`");
}

/* With `when`, `nth` counts the moments that it names. */
static void read_count(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault) {
    const struct lapse_node *nth = lapse_node_get(map, "nth");
    if (nth == NULL || lapse_node_get(map, "when") != NULL) {
        return;
    }
    if (lapse_number_count(d, nth, 1, INT32_MAX, &fault->disk_nth) &&
        lapse_node_get(map, "sync") == NULL) {
        lapse_mistake_add(d->diags, "Y120", map->keys[lapse_node_index(map, "nth")]->place, "",
                          "`nth` counts syncs, and goes with `sync`");
    }
}

static void want_files(struct lapse_decoder *d, const struct lapse_node *at) {
    d->wants_files = d->wants_files == NULL ? at : d->wants_files;
}

/* `made`: by this line; NULL: the line only names it. */
static int32_t find_copy(struct lapse_decoder *d, const struct lapse_node *name,
                         const struct lapse_plan_step *made) {
    size_t at = 0;
    while (at < d->copies.count &&
           strcmp(((struct lapse_copy_decl *)lapse_list_at(&d->copies, at))->name->text,
                  name->text) != 0) {
        at++;
    }
    struct lapse_copy_decl *copy = at < d->copies.count ? lapse_list_at(&d->copies, at)
                                                        : lapse_decoder_add(d, &d->copies);
    if (copy == NULL) {
        return 0;
    }
    if (copy->name == NULL) {
        copy->name = name;
    }
    if (made != NULL && (!copy->made || made->when.ns < copy->made_ns)) {
        *copy = (struct lapse_copy_decl){name, true, made->when.ns, last_step(d)};
    }
    return (int32_t)at;
}

/* The step of the line in hand. */
static int32_t last_step(const struct lapse_decoder *d) {
    return (int32_t)d->steps.count - 1;
}
