/* `explore` back to text. `thing` is a struct lapse_plan_explore, but of the word itself. */
#include "emitter.h"

#include <string.h>

#define GRAIN_NS LAPSE_NS_PER_S

static void emit_explore(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_plan_explore *explore = &((const struct lapse_plan *)thing)->explore;
    if (explore->all) {
        lapse_emit_put(e, map, word, lapse_emit_text(e, "all"));
        return;
    }
    struct lapse_node *words = lapse_emit_map(e);
    if (explore->on) {
        lapse_emit_all(e, LAPSE_WORD_EXPLORE, words, explore);
        lapse_emit_put(e, map, word, words);
    }
}

static void emit_number(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_plan_explore *explore = thing;
    bool faults = strcmp(word, "faults") == 0;
    int32_t number = faults ? explore->faults_max : explore->clients;
    lapse_emit_put(e, map, word, number >= 0 ? lapse_emit_number(e, number) : NULL);
}

static void emit_span(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_explore *explore = thing;
    const struct {
        const char *word;
        int64_t ns, usual;
    } rows[] = {{"for", explore->span_ns, 0},
                {"grain", explore->grain_ns, GRAIN_NS},
                {"margin", explore->margin_ns, 0},
                {"clock", explore->clock_ns, 0},
                {"renew", explore->renew_ns, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, word) == 0 && rows[i].ns != rows[i].usual) {
            lapse_emit_put(e, map, word, lapse_emit_span(e, rows[i].ns));
        }
    }
}

static void emit_flag(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_plan_explore *explore = thing;
    const struct {
        const char *word;
        bool flag;
    } rows[] = {{"careful", explore->careful}, {"fresh_owner", explore->fresh_owner},
                {"delay", explore->delay},     {"loss", explore->loss},
                {"crash", explore->crash},     {"pause", explore->pause}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, word) == 0) {
            lapse_emit_put(e, map, word, lapse_emit_flag(e, rows[i].flag));
        }
    }
}

static void emit_resource(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                          const void *thing) {
    const struct lapse_plan_explore *explore = thing;
    switch (explore->resource) {
    case LAPSE_EXPLORE_NO_RESOURCE:
        break;
    case LAPSE_EXPLORE_FENCED:
        lapse_emit_put(e, map, word, lapse_emit_text(e, "fenced"));
        break;
    case LAPSE_EXPLORE_UNFENCED:
        lapse_emit_put(e, map, word, lapse_emit_text(e, "unfenced"));
        break;
    default:
        lapse_emit_refuse(e, "`explore` has a resource %d, which there is not",
                          (int)explore->resource);
    }
}

const struct lapse_emit_row *lapse_emit_explore_rows(size_t *ret_count) {
    static const struct lapse_emit_row rows[] = {
        {LAPSE_WORD_TOP, "explore", emit_explore},
        {LAPSE_WORD_EXPLORE, "clients", emit_number},
        {LAPSE_WORD_EXPLORE, "for", emit_span},
        {LAPSE_WORD_EXPLORE, "grain", emit_span},
        {LAPSE_WORD_EXPLORE, "careful", emit_flag},
        {LAPSE_WORD_EXPLORE, "margin", emit_span},
        {LAPSE_WORD_EXPLORE, "clock", emit_span},
        {LAPSE_WORD_EXPLORE, "renew", emit_span},
        {LAPSE_WORD_EXPLORE, "fresh_owner", emit_flag},
        {LAPSE_WORD_EXPLORE, "resource", emit_resource},
        {LAPSE_WORD_EXPLORE, "delay", emit_flag},
        {LAPSE_WORD_EXPLORE, "loss", emit_flag},
        {LAPSE_WORD_EXPLORE, "crash", emit_flag},
        {LAPSE_WORD_EXPLORE, "pause", emit_flag},
        {LAPSE_WORD_EXPLORE, "faults", emit_number},
    };
    *ret_count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}
