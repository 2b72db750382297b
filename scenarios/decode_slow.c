/* `starve` and `slow`: who is late, and by how much. Tasks may be declared below the fault, so they
 * are looked up when all lines have been read. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

enum { FACTOR_MAX = 1000000 };

static size_t split_at(const struct lapse_decoder *d, const struct lapse_node *node);
static void resolve(struct lapse_decoder *d, const struct lapse_starve_decl *decl);

/* `w1.task`, or `w1`: all its tasks. */
void lapse_decode_starved(struct lapse_decoder *d, const struct lapse_node *node,
                          struct lapse_plan_fault *fault) {
    fault->task = -1;
    size_t dot = split_at(d, node);
    if (dot == node->len) {
        fault->actor = lapse_resolve_name(d, node, LAPSE_SPACE_ACTOR);
        return;
    }
    fault->actor = lapse_decoder_find(d, LAPSE_SPACE_ACTOR, node->text, dot);
    struct lapse_starve_decl *decl = lapse_decoder_add(d, &d->starved);
    if (decl != NULL) {
        *decl = (struct lapse_starve_decl){
            .node = node, .at = dot + 1, .fault = (int32_t)d->steps.count - 1};
    }
}

void lapse_decode_slow(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_fault *fault) {
    bool node = fault->node >= 0;
    const char *word = node ? "latency" : "factor";
    const char *other = node ? "factor" : "latency";
    const struct lapse_node *value = lapse_node_get(map, word);
    const struct lapse_node *wrong = lapse_node_get(map, other);
    int64_t factor = 1;
    if (value == NULL || wrong != NULL) {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, wrong != NULL ? "Y120" : "Y125",
            wrong != NULL ? wrong->place : map->keys[lapse_node_index(map, "slow")]->place, "",
            "`slow` of %s needs `%s`%s%s", node ? "n1" : "an actor", word,
            wrong != NULL ? ", and has no " : "", wrong != NULL ? other : "");
        lapse_diag_note(d->diags, diag, "help",
                        node ? "write `latency: 50ms`: how long each call waits at n1"
                             : "write `factor: 4`: its work takes that many times as long");
        return;
    }
    if (node) {
        (void)lapse_number_span(d, value, 1, &fault->link.latency_ns_min);
        fault->link.latency_ns_max = fault->link.latency_ns_min;
    } else if (lapse_number_count(d, value, 1, FACTOR_MAX, &factor)) {
        fault->factor = (int32_t)factor;
    }
}

void lapse_decode_starved_end(struct lapse_decoder *d) {
    for (size_t i = 0; i < d->starved.count && d->diags->count <= LAPSE_MISTAKES_MAX; i++) {
        resolve(d, lapse_list_at(&d->starved, i));
    }
}

/* Where an actor's name ends and `.` begins its task's; the text's length: it has none. */
static size_t split_at(const struct lapse_decoder *d, const struct lapse_node *node) {
    for (size_t i = 1; i + 1 < node->len; i++) {
        if (node->text[i] == '.' && lapse_decoder_find(d, LAPSE_SPACE_ACTOR, node->text, i) >= 0) {
            return i;
        }
    }
    return node->len;
}

static void resolve(struct lapse_decoder *d, const struct lapse_starve_decl *decl) {
    struct lapse_plan_fault *fault = &lapse_decode_step_at(d, decl->fault)->u.fault;
    struct lapse_bytes wanted = {(const unsigned char *)decl->node->text + decl->at,
                                 decl->node->len - decl->at};
    char list[300] = "";
    size_t used = 0;
    for (size_t i = 0; i < d->tasks.count; i++) {
        const struct lapse_plan_task *task = lapse_list_at(&d->tasks, i);
        if (task->actor != fault->actor) {
            continue;
        }
        if (lapse_bytes_equal(task->name, wanted)) {
            fault->task = (int32_t)i;
            return;
        }
        if (used + 40 < sizeof(list)) {
            int len = (int)(task->name.len < 30 ? task->name.len : 30);
            used += (size_t)snprintf(list + used, sizeof(list) - used, " %.*s", len,
                                     (const char *)task->name.data);
        }
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y111", lapse_shape_part(decl->node, decl->at, wanted.len), "",
        "there is no task named `%.60s`", decl->node->text + decl->at);
    lapse_diag_note(d->diags, diag, "note", used > 0 ? "there is:%s" : "the actor has none%s",
                    list);
}
