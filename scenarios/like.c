/* `like` on trees: merge the words, then change and drop labelled lines of the copy. Times are not
 * touched here: a dropped line stays as a mark, so that lines counted from it keep their times, and
 * added lines are sorted in once times are known. */
#include "like.h"

#include <string.h>

#include "mistakes.h"
#include "words.h"

/* Where each labelled line hangs in the tree. */
struct labels {
    struct lapse_pool *pool;
    struct lapse_names names;
    struct lapse_list slots; /* of struct lapse_node ** */
    struct lapse_list texts; /* of const char *, for "did you mean" */
    bool nomem;
};

static struct lapse_node *without(struct lapse_pool *pool, const struct lapse_node *root,
                                  const char *words);
static bool join_added(struct lapse_pool *pool, struct lapse_node *merged,
                       const struct lapse_node *base, const struct lapse_node *root);
static void find_labels(struct labels *labels, struct lapse_node *root);
static void find_in_list(struct labels *labels, struct lapse_node *list);
static void change_lines(struct labels *labels, struct lapse_diag_list *diags,
                         const struct lapse_node *change);
static void drop_lines(struct labels *labels, struct lapse_diag_list *diags,
                       const struct lapse_node *drop);
static struct lapse_node **find_line(struct labels *labels, struct lapse_diag_list *diags,
                                     const struct lapse_node *label);

struct lapse_node *lapse_like_resolve(struct lapse_pool *pool, struct lapse_diag_list *diags,
                                      struct lapse_node *base, struct lapse_node *root,
                                      int64_t *budget) {
    const struct lapse_node *change = lapse_node_get(root, "change");
    const struct lapse_node *drop = lapse_node_get(root, "drop");
    if (base == NULL && change == NULL && drop == NULL) {
        return root;
    }
    struct lapse_node *own = without(pool, root, "like change drop add");
    struct lapse_node *copy = NULL;
    if (base != NULL) {
        copy = without(pool, base, "lapse name violates sometimes like change drop");
    }
    struct lapse_node *merged =
        own == NULL || (base != NULL && copy == NULL) ? NULL : lapse_node_merge(pool, copy, own);
    if (merged == NULL || !join_added(pool, merged, base, root)) {
        return NULL;
    }
    /* The document is where its own words stand. */
    merged->place = root->place;
    *budget -= (int64_t)lapse_node_weight(merged);
    if (*budget < 0) {
        return merged;
    }
    merged = lapse_node_deep_copy(pool, merged);
    struct labels labels = {.pool = pool,
                            .slots = {.item_bytes = sizeof(struct lapse_node **)},
                            .texts = {.item_bytes = sizeof(char *)}};
    if (merged != NULL) {
        find_labels(&labels, merged);
        change_lines(&labels, diags, change);
        drop_lines(&labels, diags, drop);
    }
    lapse_names_free(pool->alloc, &labels.names);
    lapse_list_free(pool->alloc, &labels.slots);
    lapse_list_free(pool->alloc, &labels.texts);
    return labels.nomem ? NULL : merged;
}

/* A copy of the document's top level without these words. */
static struct lapse_node *without(struct lapse_pool *pool, const struct lapse_node *root,
                                  const char *words) {
    struct lapse_node *copy = lapse_node_copy(pool, root);
    if (copy == NULL) {
        return NULL;
    }
    copy->count = 0;
    for (size_t i = 0; i < root->count; i++) {
        if (!lapse_words_have(words, root->keys[i]->text)) {
            copy->keys[copy->count] = root->keys[i];
            copy->items[copy->count++] = root->items[i];
        }
    }
    return copy;
}

/* Lines added by the base are still to be sorted in, and the document's own come behind them. */
static bool join_added(struct lapse_pool *pool, struct lapse_node *merged,
                       const struct lapse_node *base, const struct lapse_node *root) {
    int64_t index = lapse_node_index(root, "add");
    if (index < 0) {
        return true;
    }
    struct lapse_node *added = root->items[index];
    const struct lapse_node *before = lapse_node_get(base, "add");
    if (before != NULL && before->kind == LAPSE_NODE_SEQ && added->kind == LAPSE_NODE_SEQ) {
        struct lapse_node *joined = lapse_node_copy(pool, added);
        size_t count = before->count + added->count;
        struct lapse_node **items = lapse_pool_take(pool, count * sizeof(*items));
        if (joined == NULL || items == NULL) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            items[i] = i < before->count ? before->items[i] : added->items[i - before->count];
        }
        joined->items = items;
        joined->count = count;
        added = joined;
    }
    return lapse_node_put(pool, merged, root->keys[index], added);
}

static void find_labels(struct labels *labels, struct lapse_node *root) {
    find_in_list(labels, lapse_node_get(root, "steps"));
    find_in_list(labels, lapse_node_get(root, "add"));
    find_in_list(labels, lapse_node_get(root, "faults"));
    struct lapse_node *actors = lapse_node_get(root, "actors");
    if (actors == NULL || actors->kind != LAPSE_NODE_MAP) {
        return;
    }
    for (size_t i = 0; i < actors->count; i++) {
        struct lapse_node *tasks = lapse_node_get(actors->items[i], "tasks");
        find_in_list(labels, actors->items[i]);
        for (size_t j = 0; tasks != NULL && tasks->kind == LAPSE_NODE_MAP && j < tasks->count;
             j++) {
            find_in_list(labels, tasks->items[j]);
        }
    }
}

static void find_in_list(struct labels *labels, struct lapse_node *list) {
    if (list == NULL || list->kind != LAPSE_NODE_SEQ) {
        return;
    }
    const lapse_alloc *alloc = labels->pool->alloc;
    for (size_t i = 0; i < list->count; i++) {
        const struct lapse_node *label = lapse_node_get(list->items[i], "label");
        find_in_list(labels, lapse_node_get(list->items[i], "do"));
        if (label == NULL || label->kind != LAPSE_NODE_SCALAR ||
            lapse_names_find(&labels->names, 1, lapse_node_bytes(label)) >= 0) {
            continue;
        }
        int32_t number = (int32_t)labels->slots.count;
        struct lapse_node ***slot = lapse_list_add(alloc, &labels->slots);
        const char **text = lapse_list_add(alloc, &labels->texts);
        if (slot == NULL || text == NULL ||
            !lapse_names_add(alloc, &labels->names, 1, lapse_node_bytes(label), number)) {
            labels->nomem = true;
            return;
        }
        *slot = &list->items[i];
        *text = label->text;
    }
}

static void change_lines(struct labels *labels, struct lapse_diag_list *diags,
                         const struct lapse_node *change) {
    if (change == NULL) {
        return;
    }
    if (change->kind != LAPSE_NODE_MAP) {
        lapse_mistake_add(diags, "Y103", change->place, "",
                          "a map from label to words is wanted here");
        return;
    }
    for (size_t i = 0; i < change->count; i++) {
        struct lapse_node **line = find_line(labels, diags, change->keys[i]);
        if (line == NULL) {
            continue;
        }
        if (change->items[i]->kind != LAPSE_NODE_MAP) {
            lapse_mistake_add(diags, "Y103", change->items[i]->place, "",
                              "a map of a line's words is wanted here");
            continue;
        }
        struct lapse_node *changed = lapse_node_merge(labels->pool, *line, change->items[i]);
        labels->nomem = labels->nomem || changed == NULL;
        if (changed != NULL) {
            /* What was right before the change is looked for in the change. */
            changed->copied = (*line)->place;
            changed->place = change->items[i]->place;
            *line = changed;
        }
    }
}

static void drop_lines(struct labels *labels, struct lapse_diag_list *diags,
                       const struct lapse_node *drop) {
    if (drop == NULL) {
        return;
    }
    if (drop->kind != LAPSE_NODE_SEQ) {
        lapse_mistake_add(diags, "Y103", drop->place, "", "a list of labels is wanted here");
        return;
    }
    for (size_t i = 0; i < drop->count; i++) {
        struct lapse_node **line = find_line(labels, diags, drop->items[i]);
        if (line != NULL) {
            (*line)->dropped = true;
        }
    }
}

static struct lapse_node **find_line(struct labels *labels, struct lapse_diag_list *diags,
                                     const struct lapse_node *label) {
    int32_t number = -1;
    if (label->kind == LAPSE_NODE_SCALAR) {
        number = lapse_names_find(&labels->names, 1, lapse_node_bytes(label));
    }
    if (number >= 0) {
        return *(struct lapse_node ***)lapse_list_at(&labels->slots, (size_t)number);
    }
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, label->text);
    for (size_t i = 0; i < labels->texts.count && i < LAPSE_MISTAKES_MAX; i++) {
        lapse_nearest_offer(&nearest, *(const char **)lapse_list_at(&labels->texts, i));
    }
    struct lapse_diag *diag = lapse_mistake_add(diags, "Y111", label->place, "",
                                                "no line has the label `%.60s`", label->text);
    if (nearest.best != NULL) {
        lapse_diag_note(diags, diag, "help", "did you mean `%s`?", nearest.best);
    } else {
        lapse_diag_note(diags, diag, "help", "give the line of the earlier document `label: NAME`");
    }
    return NULL;
}
