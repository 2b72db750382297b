/* `when:` of a fault: the moment of the run that it waits for. Labels may stand below it, so they
 * are looked up when all lines have been read. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

struct point_row {
    const char *word;
    enum lapse_point_kind kind;
};
static const struct point_row of_calls[] = {
    {"sent", LAPSE_POINT_SENT},
    {"arrived", LAPSE_POINT_ARRIVED},
    {"applied", LAPSE_POINT_APPLIED},
    {"replied", LAPSE_POINT_REPLIED},
};
static const struct point_row of_nodes[] = {
    {"sync", LAPSE_POINT_SYNC},
    {"commit", LAPSE_POINT_COMMIT},
    {"reap", LAPSE_POINT_REAP},
    {"expire", LAPSE_POINT_EXPIRE},
};
enum { ROWS = 4 };

static enum lapse_point_kind kind_of(const struct point_row *rows, const char *word);
static void read_of_call(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_point *point);
static void read_of_node(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_point *point);
static void note_moments(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_place place, const char *what);
static void resolve(struct lapse_decoder *d, const struct lapse_point_decl *point);

void lapse_decode_point(struct lapse_decoder *d, const struct lapse_node *map,
                        struct lapse_plan_step *step) {
    const struct lapse_node *when = lapse_node_get(map, "when");
    const struct lapse_node *nth = lapse_node_get(map, "nth");
    struct lapse_point *point = &step->u.fault.point;
    if (when == NULL) {
        if (nth != NULL && step->u.fault.kind != LAPSE_FAULT_DISK) {
            lapse_mistake_add(d->diags, "Y125", map->keys[lapse_node_index(map, "nth")]->place, "",
                              "`nth` counts moments, and needs `when`");
        }
        return;
    }
    step->when = (struct lapse_when){.kind = LAPSE_WHEN_POINT};
    *point = (struct lapse_point){.step = -1, .node = -1, .nth = 1};
    if (lapse_node_get(map, "at") != NULL || lapse_node_get(map, "after") != NULL) {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y120", when->place, "", "`when` and a time cannot stand in one line");
        lapse_diag_note(d->diags, diag, "help", "leave the time out: the moment is its time");
    }
    if (nth != NULL) {
        (void)lapse_number_count(d, nth, 1, INT32_MAX, &point->nth);
    }
    if (when->kind == LAPSE_NODE_MAP) {
        read_of_node(d, when, point);
    } else if (lapse_shape_is(d, when, LAPSE_NODE_SCALAR, "a moment (LABEL.sent)")) {
        read_of_call(d, when, point);
    }
}

const char *lapse_decode_point_word(enum lapse_point_kind kind) {
    for (size_t i = 0; i < ROWS; i++) {
        if (of_calls[i].kind == kind || of_nodes[i].kind == kind) {
            return of_calls[i].kind == kind ? of_calls[i].word : of_nodes[i].word;
        }
    }
    return NULL;
}

void lapse_decode_points_end(struct lapse_decoder *d) {
    for (size_t i = 0; i < d->points.count && d->diags->count <= LAPSE_MISTAKES_MAX; i++) {
        resolve(d, lapse_list_at(&d->points, i));
    }
}

void lapse_decode_label(struct lapse_decoder *d, const struct lapse_node *map, int32_t step) {
    const struct lapse_node *label = lapse_node_get(map, "label");
    struct lapse_label_decl *decl =
        label == NULL || label->kind != LAPSE_NODE_SCALAR ? NULL : lapse_decoder_add(d, &d->labels);
    if (decl != NULL) {
        *decl = (struct lapse_label_decl){.label = label, .step = step};
    }
}

static enum lapse_point_kind kind_of(const struct point_row *rows, const char *word) {
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].word, word) == 0) {
            return rows[i].kind;
        }
    }
    return 0;
}

static void read_of_call(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_point *point) {
    const char *dot = strrchr(node->text, '.');
    size_t len = dot == NULL ? node->len : (size_t)(dot - node->text);
    point->kind = dot == NULL ? 0 : kind_of(of_calls, dot + 1);
    if (point->kind == 0 || len == 0) {
        note_moments(d, node, node->place, "this is not a moment");
        return;
    }
    struct lapse_point_decl *decl = lapse_decoder_add(d, &d->points);
    if (decl != NULL) {
        *decl = (struct lapse_point_decl){
            .node = node, .len = len, .fault = (int32_t)d->steps.count - 1};
    }
}

static void read_of_node(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_point *point) {
    bool one = node->count == 1 && lapse_node_is(node->keys[0], "n1");
    if (!one || node->items[0]->kind != LAPSE_NODE_SCALAR) {
        note_moments(d, node, node->place, "this is not a moment of the store's node");
        return;
    }
    point->kind = kind_of(of_nodes, node->items[0]->text);
    point->node = 0;
    d->wants_rows = d->wants_rows || point->kind != LAPSE_POINT_REAP;
    if (point->kind == 0) {
        note_moments(d, node, node->items[0]->place, "the store's node has no such moment");
    }
}

static void note_moments(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_place place, const char *what) {
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", place, "", "%s", what);
    lapse_diag_note(d->diags, diag, "help", "%s",
                    node->kind == LAPSE_NODE_MAP
                        ? "write {n1: sync}, {n1: commit}, {n1: reap} or {n1: expire}"
                        : "write LABEL.sent, LABEL.arrived, LABEL.applied or LABEL.replied, LABEL "
                          "being the `label` of a call");
}

/* A loop and the one call of its body may stand in one line: the call is meant. A label whose line
 * is a mistake is no mistake of its own. */
static void resolve(struct lapse_decoder *d, const struct lapse_point_decl *point) {
    const struct lapse_label_decl *found = NULL;
    for (size_t i = 0; i < d->labels.count; i++) {
        const struct lapse_label_decl *decl = lapse_list_at(&d->labels, i);
        bool same = decl->label->len == point->len &&
                    strncmp(decl->label->text, point->node->text, point->len) == 0;
        bool call = lapse_decode_step_at(d, decl->step)->kind == LAPSE_STEP_CALL;
        if (same && (call || found == NULL)) {
            found = decl;
        }
    }
    struct lapse_place place = lapse_shape_part(point->node, 0, point->len);
    if (found == NULL) {
        char name[64];
        int len = (int)(point->len < 60 ? point->len : 60);
        (void)snprintf(name, sizeof(name), "%.*s", len, point->node->text);
        if (lapse_decoder_find(d, LAPSE_SPACE_LABEL, point->node->text, point->len) < 0) {
            lapse_resolve_unknown(d, place, LAPSE_SPACE_LABEL, name);
        }
        return;
    }
    if (lapse_decode_step_at(d, found->step)->kind != LAPSE_STEP_CALL) {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y127", place, "", "only a call is sent, arrives, is applied and replied");
        lapse_diag_label(d->diags, diag, found->label->place, "this line is no call");
        return;
    }
    lapse_decode_step_at(d, point->fault)->u.fault.point.step = found->step;
}
