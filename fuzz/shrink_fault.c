/* Faults: which parts of a document they are, and what is left without any of them. */
#include "shrink_parts.h"

#include <string.h>

static bool is_fault_line(const struct lapse_node *line);
static void cut_faults(struct lapse_node *node, bool top);

void lapse_shrink_faults(struct lapse_shrinker *s) {
    if (lapse_shrink_draft(s)) {
        cut_faults(s->draft, true);
        (void)lapse_shrink_keep(s);
    }
}

bool lapse_shrink_is_fault(const struct lapse_shrink_spot *spot) {
    const struct lapse_node *item = lapse_shrink_at(spot);
    if (spot->parent->kind == LAPSE_NODE_SEQ) {
        return item->kind == LAPSE_NODE_MAP && is_fault_line(item);
    }
    bool start = strcmp(spot->section, "clocks") == 0 && item->kind == LAPSE_NODE_MAP &&
                 spot->word != spot->section;
    return start || strcmp(spot->word, "chaos") == 0 ||
           (strcmp(spot->section, "expect") != 0 && item->kind == LAPSE_NODE_SCALAR &&
            (strcmp(spot->word, "request") == 0 || strcmp(spot->word, "reply") == 0));
}

static bool is_fault_line(const struct lapse_node *line) {
    static const char *const words[] = {"pause",  "resume", "crash", "restart", "suspend",
                                        "freeze", "starve", "stall", "slow",    "cut",
                                        "heal",   "link",   "clock", "disk"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (lapse_node_get(line, words[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static void cut_faults(struct lapse_node *node, bool top) {
    static const char *const tops[] = {"faults", "clocks", "chaos"};
    for (size_t i = node->count; i-- > 0;) {
        bool map = node->kind == LAPSE_NODE_MAP;
        const char *key = map ? node->keys[i]->text : "";
        bool fault = !map && node->items[i]->kind == LAPSE_NODE_MAP &&
                     is_fault_line(node->items[i]);
        for (size_t k = 0; k < sizeof(tops) / sizeof(tops[0]); k++) {
            fault = fault || (top && strcmp(key, tops[k]) == 0);
        }
        fault = fault || (!top && map && node->items[i]->kind == LAPSE_NODE_SCALAR &&
                          (strcmp(key, "request") == 0 || strcmp(key, "reply") == 0));
        if (fault) {
            lapse_shrink_cut(node, i, 1);
        } else if (!top || strcmp(key, "expect") != 0) {
            cut_faults(node->items[i], false);
        }
    }
}
