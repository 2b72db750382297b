/* What clients can do beside plain calls: an acquire that waits, a wait for a key that stands
 * still; an operator's `revoke`; the words of guarded resources. */
#include <string.h>

#include "decode.h"

static void read_resource_word(struct lapse_decoder *d, const struct lapse_node *key,
                               const struct lapse_node *value, struct lapse_setup_resource *ret);
static void read_bar(struct lapse_decoder *d, const struct lapse_node *value,
                     struct lapse_setup_resource *ret);
static void check_bar(struct lapse_decoder *d, const struct lapse_node *words,
                      const struct lapse_setup_resource *resource);

void lapse_decode_wait(struct lapse_decoder *d, const struct lapse_node *map,
                       struct lapse_plan_call *call) {
    int64_t wait = lapse_node_index(map, "wait");
    int64_t retry = lapse_node_index(map, "retry");
    if (wait < 0 && retry < 0) {
        return;
    }
    size_t key = (size_t)(wait >= 0 ? wait : retry);
    if (wait < 0 || retry < 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y125", map->keys[key]->place, "", "`%s` needs `%s`",
                              wait >= 0 ? "wait" : "retry", wait >= 0 ? "retry" : "wait");
        lapse_diag_note(d->diags, diag, "help",
                        "write `wait: 30s, retry: 1s`: asks again each second, for 30 s at most");
        return;
    }
    static const char *const others[] = {"nowait", "id"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        int64_t other = lapse_node_index(map, others[i]);
        if (other >= 0) {
            struct lapse_diag *diag =
                lapse_mistake_add(d->diags, "Y120", map->keys[other]->place, "",
                                  "`%s` does not go with `wait`", others[i]);
            lapse_diag_note(d->diags, diag, "help",
                            i == 0 ? "a line that asks again waits for each answer"
                                   : "each ask is a request of its own, and with one id all would "
                                     "get the first one's answer");
        }
    }
    call->has_wait = lapse_number_span(d, map->items[wait], 0, &call->wait_ns) &&
                     lapse_number_span(d, map->items[retry], 1, &call->retry_ns);
}

void lapse_decode_unchanged(struct lapse_decoder *d, const struct lapse_node *map,
                            struct lapse_plan_step *step) {
    const struct lapse_node *key = lapse_node_get(map, "unchanged");
    const struct lapse_node *span = lapse_node_get(map, "for");
    struct lapse_plan_await *await = &step->u.await;
    size_t offset = 0;
    step->kind = LAPSE_STEP_AWAIT;
    await->kind = LAPSE_AWAIT_UNCHANGED;
    if (lapse_resolve_key(d, key, &await->bucket, &offset)) {
        (void)lapse_text_decode(d, key, offset, &await->key);
    }
    if (span == NULL) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y125",
                              map->keys[lapse_node_index(map, "unchanged")]->place, "",
                              "`unchanged` needs `for`");
        lapse_diag_note(d->diags, diag, "help",
                        "write `for: 30s`: how long the revision must stand still");
        return;
    }
    if (lapse_text_argument(d, span, LAPSE_OPERAND_SPAN, &await->still) &&
        await->still.kind == LAPSE_OPERAND_SPAN && await->still.number <= 0) {
        lapse_mistake_add(d->diags, "Y109", span->place, "", "this duration is not above 0");
    }
}

void lapse_decode_revoke(struct lapse_decoder *d, const struct lapse_node *node,
                         struct lapse_plan_step *step) {
    step->kind = LAPSE_STEP_OPERATOR;
    step->u.operator_act = (struct lapse_plan_operator){.verb = LAPSE_OPERATOR_REVOKE};
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a lease name")) {
        return;
    }
    if (strchr(node->text, '$') == NULL) {
        lapse_resolve_lease(d, node);
        (void)lapse_text_decode(d, node, 0, &step->u.operator_act.lease);
        return;
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", node->place, "",
                                                "an operator knows no saved names");
    lapse_diag_note(d->diags, diag, "help", "write the lease's name as it is");
}

void lapse_decode_resource(struct lapse_decoder *d, const struct lapse_node *words,
                           struct lapse_setup_resource *ret) {
    for (size_t i = 0; i < words->count; i++) {
        if (lapse_shape_word(d, words->keys[i], LAPSE_WORD_RESOURCE, "a resource")) {
            read_resource_word(d, words->keys[i], words->items[i], ret);
        }
    }
    check_bar(d, words, ret);
}

void lapse_decode_resources_end(struct lapse_decoder *d) {
    const struct lapse_node *all = lapse_node_get(d->root, "resources");
    for (size_t i = 0; all != NULL && all->kind == LAPSE_NODE_MAP && i < all->count; i++) {
        const struct lapse_node *lease = lapse_node_get(all->items[i], "lease");
        if (lease != NULL && lease->kind == LAPSE_NODE_SCALAR) {
            lapse_resolve_lease(d, lease);
        }
    }
}

static void read_resource_word(struct lapse_decoder *d, const struct lapse_node *key,
                               const struct lapse_node *value, struct lapse_setup_resource *ret) {
    if (lapse_node_is(key, "lease")) {
        if (lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "a lease name")) {
            ret->lease = lapse_decoder_bytes(d, value);
        }
    } else if (lapse_node_is(key, "bar")) {
        read_bar(d, value, ret);
    } else if (lapse_node_is(key, "not_after")) {
        (void)lapse_shape_flag(d, value, &ret->not_after);
    } else if (lapse_node_is(key, "once")) {
        (void)lapse_shape_flag(d, value, &ret->once);
    } else {
        (void)lapse_shape_flag(d, value, &ret->fenced);
    }
}

static void read_bar(struct lapse_decoder *d, const struct lapse_node *value,
                     struct lapse_setup_resource *ret) {
    if (lapse_node_is(value, "ends")) {
        ret->bar = LAPSE_BAR_ENDS;
    } else if (!lapse_node_is(value, "writes")) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", value->place, "",
                                                    "a bar rises with `writes` or with `ends`");
        lapse_diag_note(d->diags, diag, "help",
                        "writes: with each accepted write; ends: also with each end of its lease");
    }
}

/* A bar stands at a fenced resource; ends are those of one lease. */
static void check_bar(struct lapse_decoder *d, const struct lapse_node *words,
                      const struct lapse_setup_resource *resource) {
    int64_t bar = lapse_node_index(words, "bar");
    if (bar >= 0 && !resource->fenced) {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y120", words->keys[bar]->place, "",
                              "`bar` does nothing without `fenced: true`");
        lapse_diag_note(d->diags, diag, "help", "add `fenced: true`, or take `bar` out");
    } else if (resource->bar == LAPSE_BAR_ENDS && resource->lease.len == 0) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y125", words->keys[bar]->place, "",
                                                    "`bar: ends` needs `lease`");
        lapse_diag_note(d->diags, diag, "help", "say whose ends: `lease: NAME`");
    }
}
