/* Links: who they are between, what they do to messages, and what a step says of its own. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

enum { MILLION = 1000000, PERCENT = 10000 };

static void read_ends(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_link *link);
static bool find_parties(struct lapse_decoder *d, const struct lapse_node *node, size_t at,
                         struct lapse_plan_link *link);
static struct lapse_party find_party(struct lapse_decoder *d, const char *text, size_t len);
static void note_ends(struct lapse_decoder *d, const struct lapse_node *node);
static struct lapse_node part_of(struct lapse_decoder *d, const struct lapse_node *node,
                                 size_t offset, size_t len);
static void read_message(struct lapse_decoder *d, const struct lapse_node *node,
                         const struct lapse_word *row, struct lapse_plan_step *step);
static void read_forged(struct lapse_decoder *d, const struct lapse_node *node,
                        const struct lapse_word *row, struct lapse_plan_step *step);

void lapse_decode_link(struct lapse_decoder *d, const struct lapse_node *map,
                       const struct lapse_node *target, struct lapse_plan_fault *fault) {
    const struct lapse_node *latency = lapse_node_get(map, "latency");
    const struct lapse_node *loss = lapse_node_get(map, "loss");
    const struct lapse_node *duplicate = lapse_node_get(map, "duplicate");
    const struct lapse_node *reorder = lapse_node_get(map, "reorder");
    if (!lapse_shape_is(d, target, LAPSE_NODE_SCALAR, "a link (a-n1, a>n1)") ||
        (fault->ends && lapse_node_is(target, "all"))) {
        return;
    }
    if (fault->ends && lapse_node_is(target, "n1")) {
        fault->kind = LAPSE_FAULT_DISK;
        fault->node = 0;
        return;
    }
    read_ends(d, target, &fault->link);
    if (fault->kind != LAPSE_FAULT_LINK) {
        return;
    }
    if (latency == NULL && loss == NULL && duplicate == NULL && reorder == NULL) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y125", target->place, "",
                                                    "`link` does not say what the link does");
        lapse_diag_note(d->diags, diag, "help",
                        "write `latency: 5ms..40ms`, `loss: 20%%`, `duplicate: 1%%` or `reorder: "
                        "true`");
        return;
    }
    if (latency != NULL) {
        lapse_decode_range(d, latency, &fault->link.latency_ns_min, &fault->link.latency_ns_max);
    }
    if (loss != NULL) {
        lapse_decode_share(d, loss, &fault->link.loss_ppm);
    }
    if (duplicate != NULL) {
        lapse_decode_share(d, duplicate, &fault->link.duplicate_ppm);
    }
    if (reorder != NULL) {
        (void)lapse_shape_flag(d, reorder, &fault->link.reorder);
    }
}

void lapse_decode_messages(struct lapse_decoder *d, const struct lapse_word *row,
                           const struct lapse_node *map, struct lapse_plan_step *step) {
    static const char *const words[] = {"request", "reply"};
    for (size_t i = 0; i < 2; i++) {
        int64_t at = lapse_node_index(map, words[i]);
        if (at < 0) {
            continue;
        }
        if (step->kind != LAPSE_STEP_CALL) {
            lapse_mistake_add(d->diags, "Y120", map->keys[at]->place, "",
                              "`%s` does not go with `%s`, which sends nothing", words[i],
                              row->word);
            continue;
        }
        read_message(d, map->items[at], i == 0 ? NULL : row, step);
    }
}

/* `a-n1` goes both ways, `a>n1` one way. A name may have a `-` itself, so each place is tried. */
static void read_ends(struct lapse_decoder *d, const struct lapse_node *node,
                      struct lapse_plan_link *link) {
    for (size_t i = 1; i + 1 < node->len; i++) {
        bool sign = node->text[i] == '-' || node->text[i] == '>';
        if (sign && find_parties(d, node, i, link)) {
            return;
        }
    }
    note_ends(d, node);
}

static bool find_parties(struct lapse_decoder *d, const struct lapse_node *node, size_t at,
                         struct lapse_plan_link *link) {
    struct lapse_party from = find_party(d, node->text, at);
    struct lapse_party to = find_party(d, node->text + at + 1, node->len - at - 1);
    bool both = node->text[at] == '-';
    bool one_actor = (from.kind == LAPSE_PARTY_ACTOR) != (to.kind == LAPSE_PARTY_ACTOR);
    if (from.kind == 0 || to.kind == 0 || !one_actor) {
        return false;
    }
    bool turned = both && to.kind == LAPSE_PARTY_ACTOR;
    link->from = turned ? to : from;
    link->to = turned ? from : to;
    link->both = both;
    return true;
}

static struct lapse_party find_party(struct lapse_decoder *d, const char *text, size_t len) {
    int32_t actor = lapse_decoder_find(d, LAPSE_SPACE_ACTOR, text, len);
    int32_t resource = lapse_decoder_find(d, LAPSE_SPACE_RESOURCE, text, len);
    if (actor >= 0) {
        return (struct lapse_party){LAPSE_PARTY_ACTOR, actor};
    }
    if (resource >= 0) {
        return (struct lapse_party){LAPSE_PARTY_RESOURCE, resource};
    }
    bool node = len == 2 && strncmp(text, "n1", 2) == 0;
    return (struct lapse_party){node ? LAPSE_PARTY_NODE : 0, 0};
}

static void note_ends(struct lapse_decoder *d, const struct lapse_node *node) {
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", node->place, "",
                                                "`%.60s` is not a link", node->text);
    const struct lapse_setup_actor *actor =
        d->actors.count == 0 ? NULL : lapse_list_at(&d->actors, 0);
    const char *name = actor == NULL ? "a" : (const char *)actor->name.data;
    lapse_diag_note(d->diags, diag, "help",
                    "one end is an actor, the other n1 or a resource: `%.40s-n1` both ways, "
                    "`%.40s>n1` one way",
                    name, name);
}

/* A span, or a range of spans of which one is chosen for each message. */
void lapse_decode_range(struct lapse_decoder *d, const struct lapse_node *node, int64_t *ret_min,
                        int64_t *ret_max) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a duration or a range (5ms..40ms)")) {
        return;
    }
    const char *dots = strstr(node->text, "..");
    if (dots == NULL) {
        (void)lapse_number_span(d, node, 0, ret_min);
        *ret_max = *ret_min;
        return;
    }
    size_t len = (size_t)(dots - node->text);
    struct lapse_node low = part_of(d, node, 0, len);
    struct lapse_node high = part_of(d, node, len + 2, node->len - len - 2);
    bool fine = !d->nomem && lapse_number_span(d, &low, 0, ret_min) &&
                lapse_number_span(d, &high, 0, ret_max);
    if (fine && *ret_max < *ret_min) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y109", node->place, "",
                                                    "this range ends before it begins");
        lapse_diag_note(d->diags, diag, "help", "write the shorter span first: `5ms..40ms`");
    }
}

static struct lapse_node part_of(struct lapse_decoder *d, const struct lapse_node *node,
                                 size_t offset, size_t len) {
    struct lapse_node part = *node;
    char *text = lapse_decoder_take(d, len + 1);
    if (text != NULL) {
        memcpy(text, node->text + offset, len);
    }
    part.text = text;
    part.len = len;
    part.place = lapse_shape_part(node, offset, len > 0 ? len : 1);
    return part;
}

/* 20%, 0.5%: at most four digits behind the point. */
void lapse_decode_share(struct lapse_decoder *d, const struct lapse_node *node, int32_t *ret_ppm) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a share (20%)")) {
        return;
    }
    int64_t value = 0;
    int64_t unit = PERCENT;
    bool point = false;
    size_t i = 0;
    for (; i < node->len && value <= MILLION; i++) {
        char letter = node->text[i];
        bool digit = letter >= '0' && letter <= '9' && !(point && unit == 1);
        if (letter == '.' && !point && i > 0) {
            point = true;
        } else if (digit && point) {
            unit /= 10;
            value += (letter - '0') * unit;
        } else if (digit) {
            value = value * 10 + (int64_t)(letter - '0') * PERCENT;
        } else {
            break;
        }
    }
    bool sign = i > 0 && i + 1 == node->len && node->text[i] == '%' && node->text[i - 1] != '.';
    if (!sign || value > MILLION) {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y107", node->place, "", "`%.60s` is not a share of messages", node->text);
        lapse_diag_note(d->diags, diag, "help", "write a percentage from 0%% to 100%%, such as "
                                                "`20%%` or `0.5%%`");
        return;
    }
    *ret_ppm = (int32_t)value;
}

/* row: of the verb, where an answer can be forged; NULL: a request. */
static void read_message(struct lapse_decoder *d, const struct lapse_node *node,
                         const struct lapse_word *row, struct lapse_plan_step *step) {
    struct lapse_plan_message *message = row == NULL ? &step->request : &step->reply;
    if (row != NULL && node->kind == LAPSE_NODE_MAP) {
        const struct lapse_node *answer = node->count == 1 ? lapse_node_get(node, "answer") : NULL;
        read_forged(d, answer == NULL ? node : answer, row, step);
        return;
    }
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a duration, lost or twice")) {
        return;
    }
    if (lapse_node_is(node, "lost")) {
        message->kind = LAPSE_MESSAGE_IS_LOST;
    } else if (lapse_node_is(node, "twice")) {
        message->kind = LAPSE_MESSAGE_IS_TWICE;
    } else if (node->text[0] >= '0' && node->text[0] <= '9') {
        message->kind = LAPSE_MESSAGE_TAKES;
        (void)lapse_number_span(d, node, 0, &message->ns);
    } else if (row != NULL) {
        read_forged(d, node, row, step);
    } else {
        struct lapse_diag *diag =
            lapse_mistake_add(d->diags, "Y127", node->place, "",
                              "`%.60s` is nothing that a request can meet", node->text);
        lapse_diag_note(d->diags, diag, "help", "write a duration, `lost` or `twice`");
    }
}

static void read_forged(struct lapse_decoder *d, const struct lapse_node *node,
                        const struct lapse_word *row, struct lapse_plan_step *step) {
    bool scalar = node->kind == LAPSE_NODE_SCALAR;
    step->forged = scalar && lapse_decode_answer(row, node->text, &step->forged_status);
    if (step->forged) {
        return;
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y127", node->place, "",
                          "`%.60s` is neither a duration, `lost`, `twice` nor an answer of `%s`",
                          scalar ? node->text : "this", row->word);
    lapse_diag_note(d->diags, diag, "help", "the answers of `%s` are: %s%s", row->word,
                    row->answers,
                    lapse_words_have(row->answers, "lost")
                        ? "; the answer `lost` is forged by `reply: {answer: lost}`"
                        : "");
}
