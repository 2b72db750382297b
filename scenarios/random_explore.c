/* Drawing a protocol: its words hang together, so they are drawn by a table of their own. */
#include "random.h"

static const char *value_of(struct lapse_draw *d, const char *const *values);

struct lapse_node *lapse_draw_protocol(struct lapse_draw *d) {
    static const struct {
        const char *word;
        const char *values[5];
    } rows[] = {{"clients", {"1", "2", "3", "4"}},  {"for", {"10s", "30s", "12m"}},
                {"grain", {"1s", "500ms", "1m"}},   {"margin", {"2s", "1m"}},
                {"clock", {"1s", "1m"}},            {"renew", {"3s", "5m"}},
                {"faults", {"0", "2", "7"}},        {"resource", {"fenced", "unfenced"}},
                {"careful", {"true"}},              {"delay", {"true"}},
                {"loss", {"true", "false"}},        {"fresh_owner", {"true"}},
                {"crash", {"true"}},                {"pause", {"true"}}};
    struct lapse_node *protocol = lapse_emit_map(&d->e);
    size_t count = 0;
    const struct lapse_word *table = lapse_word_table(&count);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (i < 2 || lapse_draw_pick(d, 3) == 0) {
            const char *value = value_of(d, rows[i].values);
            lapse_emit_put(&d->e, protocol, rows[i].word, lapse_emit_text(&d->e, value));
            d->drawn[lapse_word_find(LAPSE_WORD_EXPLORE, rows[i].word) - table] = true;
        }
    }
    return protocol;
}

static const char *value_of(struct lapse_draw *d, const char *const *values) {
    size_t count = 0;
    while (values[count] != NULL) {
        count++;
    }
    return values[lapse_draw_pick(d, count)];
}
