/* The JSON lines of a history: one object a line, by the tables of fields. What a field says when
 * it is not there is left out. What the tables cannot say is an error, never silence. */
#include "recorded_fields.h"

#include <string.h>

struct writer {
    struct lapse_out *out;
    const struct lapse_setup *setup;
    struct lapse_error *err;
    enum lapse_status status;
};

static void write_first(struct writer *w, const struct lapse_result_view *view,
                        const struct lapse_history_event *begin);
static void write_event(struct writer *w, const struct lapse_history_event *event);
static void write_closing(struct writer *w, const struct lapse_result_view *view);
static void write_map(struct writer *w, const struct lapse_rf_map *map, const char *before);
static void write_table(struct writer *w, const struct lapse_rf *table, const char *base);
static bool left_out(struct writer *w, const struct lapse_rf *field, const char *base);
static void write_value(struct writer *w, const struct lapse_rf *field, const char *base);
static void write_number(struct writer *w, const struct lapse_rf *field, const char *base);
static void write_word(struct writer *w, const struct lapse_rf *field, int64_t number);
static void write_index(struct writer *w, const struct lapse_rf *field, int64_t index);
static void write_party(struct writer *w, const struct lapse_party *party);
static void write_end(struct writer *w, const struct lapse_end *end);
static void write_list(struct writer *w, const struct lapse_rf *field, const char *base);
static void write_item(struct writer *w, const struct lapse_rf *field, const char *item);
static void write_policies(struct writer *w, const struct lapse_setup *setup);
static bool policies_differ(const struct lapse_setup *setup, struct lapse_policies *ret_base);
static void write_bytes(struct writer *w, struct lapse_bytes bytes);
static void write_text(struct writer *w, const char *text);
static bool is_text(struct lapse_bytes bytes);
static size_t character(const unsigned char *bytes, size_t left);
static const struct lapse_bytes *name_of(const struct lapse_setup *setup, enum lapse_rf_kind kind,
                                         int64_t index);
static void cannot(struct writer *w, const char *word, const char *why);

enum lapse_status lapse_recorded_write(struct lapse_out *out, const struct lapse_result_view *view,
                                       struct lapse_error *err) {
    const struct lapse_history *history = view->history;
    size_t count = lapse_history_count(history);
    LAPSE_ASSERT(count > 0);
    const struct lapse_history_event *begin = lapse_history_at(history, 0);
    LAPSE_ASSERT(begin->kind == LAPSE_HISTORY_BEGIN);
    struct writer w = {out, begin->u.begin, err, LAPSE_OK};
    write_first(&w, view, begin);
    for (size_t i = 1; i < count && w.status == LAPSE_OK; i++) {
        write_event(&w, lapse_history_at(history, i));
    }
    write_closing(&w, view);
    if (w.status == LAPSE_OK && out->failed) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out while writing a history");
    }
    return w.status;
}

static void write_first(struct writer *w, const struct lapse_result_view *view,
                        const struct lapse_history_event *begin) {
    const struct lapse_case *the_case = view->the_case;
    size_t bytes = (the_case->violates_count + 1) * sizeof(struct lapse_recorded_id);
    struct lapse_recorded_id *ids = lapse_alloc_zero(w->out->alloc, bytes);
    if (ids == NULL) {
        w->out->failed = true;
        return;
    }
    for (size_t i = 0; i < the_case->violates_count; i++) {
        ids[i].id = lapse_bytes_of(the_case->violates[i]);
    }
    struct lapse_recorded_top top = {.version = 1,
                                     .recorder = lapse_bytes_of("lapse"),
                                     .promise_strict = the_case->promise_strict,
                                     .violates_count = the_case->violates_count,
                                     .violates = ids};
    struct lapse_setup setup = *begin->u.begin;
    struct lapse_rf_map map = {.count = 0};
    if (begin->at.ns != 0 || begin->actor != -1 || begin->step != -1 || begin->call != 0) {
        cannot(w, "begin", "it is not at the start, or of somebody");
    }
    lapse_rf_map_add(&map, lapse_rf_top, &top);
    lapse_rf_map_add(&map, lapse_rf_setup, &setup);
    write_map(w, &map, NULL);
    lapse_out_text(w->out, "\n");
    lapse_alloc_free(w->out->alloc, ids, bytes);
}

static void write_event(struct writer *w, const struct lapse_history_event *event) {
    const struct lapse_rf *table = lapse_rf_of_kind((int)event->kind);
    struct lapse_history_event own = *event;
    struct lapse_rf_map map = {.count = 0};
    if (table == NULL) {
        cannot(w, "event", "its kind has no word");
        return;
    }
    if (event->kind == LAPSE_HISTORY_INVOKE) {
        const struct lapse_request *request = &event->u.invoke.request;
        bool store = request->verb < (int)LAPSE_CALL_WRITE;
        if ((int)request->command.verb != (store ? request->verb : 0)) {
            cannot(w, "verb", "the request names another than its command");
        }
    }
    lapse_rf_map_add(&map, lapse_rf_head, &own);
    lapse_rf_map_add(&map, table, &own);
    write_map(w, &map, lapse_rf_kind_word((int)event->kind));
    lapse_out_text(w->out, "\n");
}

/* The last line: what was found, and the digest by which a changed file is told. */
static void write_closing(struct writer *w, const struct lapse_result_view *view) {
    const struct lapse_verdict *verdict = view->verdict;
    struct lapse_recorded_closing closing = {
        .outcome = verdict->outcome,
        .charged = lapse_bytes_of(verdict->id),
        .event = verdict->event,
        .event_count = (int64_t)lapse_history_count(view->history),
        .digest = lapse_history_digest(view->history),
    };
    struct lapse_rf_map map = {.count = 0};
    lapse_rf_map_add(&map, lapse_rf_closing, &closing);
    write_map(w, &map, "closing");
    lapse_out_text(w->out, "\n");
}

/* `before`: the word of the event, which comes first; NULL: none. */
static void write_map(struct writer *w, const struct lapse_rf_map *map, const char *before) {
    const char *comma = "";
    lapse_out_text(w->out, "{");
    if (before != NULL) {
        lapse_out_format(w->out, "\"event\": \"%s\"", before);
        comma = ", ";
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_rf *field = map->items[i].field;
        if (left_out(w, field, map->items[i].base)) {
            continue;
        }
        lapse_out_format(w->out, "%s\"%s\": ", comma, field->word);
        write_value(w, field, map->items[i].base);
        comma = ", ";
    }
    lapse_out_text(w->out, "}");
}

static void write_table(struct writer *w, const struct lapse_rf *table, const char *base) {
    struct lapse_rf_map map = {.count = 0};
    lapse_rf_map_add(&map, table, (char *)(uintptr_t)base);
    write_map(w, &map, NULL);
}

static bool left_out(struct writer *w, const struct lapse_rf *field, const char *base) {
    const struct lapse_history_event *event =
        (const struct lapse_history_event *)(const void *)base;
    struct lapse_policies policies;
    if ((field->how & (LAPSE_RF_MUST | LAPSE_RF_ALWAYS)) != 0) {
        return false;
    }
    if (field->kind == LAPSE_RF_LIFE) {
        return event->incarnation == (event->actor >= 0 ? 1 : 0);
    }
    if (field->kind == LAPSE_RF_DUE) {
        return event->u.invoke.due.ns == event->at.ns;
    }
    if (field->kind == LAPSE_RF_POLICIES) {
        return !policies_differ(w->setup, &policies);
    }
    bool absent = lapse_rf_absent(field, base);
    if (absent && field->flag != 0) {
        struct lapse_rf plain = *field;
        plain.flag = 0;
        if (!lapse_rf_absent(&plain, base)) {
            cannot(w, field->word, "it has a value and is not given");
        }
    }
    return absent;
}

static void write_value(struct writer *w, const struct lapse_rf *field, const char *base) {
    const char *at = base + field->at;
    switch (field->kind) {
    case LAPSE_RF_BYTES:
        write_bytes(w, *(const struct lapse_bytes *)(const void *)at);
        break;
    case LAPSE_RF_END:
        write_end(w, (const struct lapse_end *)(const void *)at);
        break;
    case LAPSE_RF_PARTY:
        write_party(w, (const struct lapse_party *)(const void *)at);
        break;
    case LAPSE_RF_OBJECT:
        write_item(w, field, at);
        break;
    case LAPSE_RF_LIST:
    case LAPSE_RF_ACTORS:
        write_list(w, field, base);
        break;
    case LAPSE_RF_COUNT:
        lapse_out_format(w->out, "%zu", *(const size_t *)(const void *)(base + field->count));
        break;
    case LAPSE_RF_POLICIES:
        write_policies(w, (const struct lapse_setup *)(const void *)base);
        break;
    default:
        write_number(w, field, base);
        break;
    }
}

static void write_number(struct writer *w, const struct lapse_rf *field, const char *base) {
    int64_t number = lapse_rf_number(field, base);
    switch (field->kind) {
    case LAPSE_RF_BOOL:
    case LAPSE_RF_BIT:
        lapse_out_text(w->out, number != 0 ? "true" : "false");
        break;
    case LAPSE_RF_HEX:
        lapse_out_format(w->out, "\"%016llx\"", (unsigned long long)number);
        break;
    case LAPSE_RF_U64:
        lapse_out_format(w->out, number < 0 ? "\"0x%llx\"" : "%llu", (unsigned long long)number);
        break;
    case LAPSE_RF_WORD:
    case LAPSE_RF_STATUS:
    case LAPSE_RF_VERB:
        write_word(w, field, number);
        break;
    case LAPSE_RF_ACTOR:
    case LAPSE_RF_NODE:
    case LAPSE_RF_RESOURCE:
        write_index(w, field, number);
        break;
    default:
        lapse_out_format(w->out, "%lld", (long long)number);
        break;
    }
}

static void write_word(struct writer *w, const struct lapse_rf *field, int64_t number) {
    const char *word = NULL;
    if (field->kind == LAPSE_RF_STATUS) {
        word = lapse_status_word((enum lapse_status)number);
    } else if (field->kind == LAPSE_RF_VERB) {
        word = lapse_call_word((int)number);
    } else {
        int64_t last = 0;
        while (field->words[last] == NULL || field->words[last][0] != '\0') {
            last++;
        }
        word = number >= 0 && number < last ? field->words[number] : NULL;
    }
    if (word == NULL || word[0] == '?') {
        cannot(w, field->word, "its number has no word");
        return;
    }
    write_text(w, word);
}

/* By name; a number where nobody has it. */
static void write_index(struct writer *w, const struct lapse_rf *field, int64_t index) {
    const struct lapse_bytes *name = name_of(w->setup, field->kind, index);
    if (name == NULL) {
        lapse_out_format(w->out, "%lld", (long long)index);
    } else {
        write_bytes(w, *name);
    }
}

static void write_party(struct writer *w, const struct lapse_party *party) {
    static const enum lapse_rf_kind kinds[] = {0, LAPSE_RF_ACTOR, LAPSE_RF_NODE, LAPSE_RF_RESOURCE};
    static const char *const words[] = {"", "actor", "node", "resource"};
    if (party->kind < LAPSE_PARTY_ACTOR || party->kind > LAPSE_PARTY_RESOURCE) {
        cannot(w, "party", "it is nobody, with a number");
        return;
    }
    const struct lapse_rf field = {.word = "", .kind = kinds[party->kind]};
    lapse_out_format(w->out, "{\"%s\": ", words[party->kind]);
    write_index(w, &field, party->index);
    lapse_out_text(w->out, "}");
}

static void write_end(struct writer *w, const struct lapse_end *end) {
    switch (end->kind) {
    case LAPSE_END_STEADY:
        lapse_out_format(w->out, "%lld", (long long)end->ns);
        break;
    case LAPSE_END_WALL:
        lapse_out_format(w->out, "{\"date\": %lld}", (long long)end->ns);
        break;
    default:
        cannot(w, "end", "it is none, and has an instant");
        break;
    }
}

static void write_list(struct writer *w, const struct lapse_rf *field, const char *base) {
    const char *items = *(const char *const *)(const void *)(base + field->at);
    size_t count = *(const size_t *)(const void *)(base + field->count);
    lapse_out_text(w->out, "[");
    for (size_t i = 0; i < count; i++) {
        lapse_out_text(w->out, i > 0 ? ", " : "");
        if (field->kind == LAPSE_RF_ACTORS) {
            const struct lapse_rf actor = {.word = "", .kind = LAPSE_RF_ACTOR};
            write_index(w, &actor, ((const int32_t *)(const void *)items)[i]);
        } else {
            write_item(w, field, items + i * field->item_bytes);
        }
    }
    lapse_out_text(w->out, "]");
}

/* One value in place of a map, where the first field alone says something. */
static void write_item(struct writer *w, const struct lapse_rf *field, const char *item) {
    bool alone = (field->how & LAPSE_RF_SHORT) != 0;
    struct lapse_rf_map map = {.count = 0};
    if (alone) {
        lapse_rf_map_add(&map, field->table, (char *)(uintptr_t)item);
    }
    for (size_t i = 1; i < map.count; i++) {
        alone = alone && left_out(w, map.items[i].field, map.items[i].base);
    }
    if (alone) {
        write_value(w, map.items[0].field, item);
    } else {
        write_table(w, field->table, item);
    }
}

static bool policies_differ(const struct lapse_setup *setup, struct lapse_policies *ret_base) {
    enum lapse_profile profile = LAPSE_PROFILE_STRICT;
    (void)lapse_profile_find(setup->profile, &profile);
    *ret_base = lapse_policies_of(profile);
    return memcmp(ret_base->value, setup->policies.value, sizeof(ret_base->value)) != 0;
}

static void write_policies(struct writer *w, const struct lapse_setup *setup) {
    struct lapse_policies base;
    const char *comma = "";
    (void)policies_differ(setup, &base);
    lapse_out_text(w->out, "{");
    for (size_t i = 0; i < LAPSE_POLICIES; i++) {
        if (setup->policies.value[i] == base.value[i]) {
            continue;
        }
        const char *words = lapse_policy_values((enum lapse_policy)i);
        for (uint8_t skip = setup->policies.value[i]; skip > 0; skip--) {
            words = strchr(words, ' ') + 1;
        }
        lapse_out_format(w->out, "%s\"%s\": \"%.*s\"", comma,
                         lapse_policy_word((enum lapse_policy)i), (int)strcspn(words, " "), words);
        comma = ", ";
    }
    lapse_out_text(w->out, "}");
}

/* ---- Text. Bytes that are no text go as {"hex": ".."}. */
static void write_bytes(struct writer *w, struct lapse_bytes bytes) {
    if (!is_text(bytes)) {
        lapse_out_text(w->out, "{\"hex\": \"");
        for (size_t i = 0; i < bytes.len; i++) {
            lapse_out_format(w->out, "%02x", bytes.data[i]);
        }
        lapse_out_text(w->out, "\"}");
        return;
    }
    lapse_out_text(w->out, "\"");
    for (size_t i = 0; i < bytes.len; i++) {
        unsigned char c = bytes.data[i];
        if (c == '"' || c == '\\') {
            lapse_out_format(w->out, "\\%c", c);
        } else if (c < 0x20 || c == 0x7F) {
            lapse_out_format(w->out, "\\u%04x", c);
        } else {
            lapse_out_bytes(w->out, (const char *)&bytes.data[i], 1);
        }
    }
    lapse_out_text(w->out, "\"");
}

static void write_text(struct writer *w, const char *text) {
    write_bytes(w, lapse_bytes_of(text));
}

/* UTF-8 without NUL. */
static bool is_text(struct lapse_bytes bytes) {
    for (size_t i = 0; i < bytes.len;) {
        size_t len = character(bytes.data + i, bytes.len - i);
        if (len == 0 || bytes.data[i] == 0) {
            return false;
        }
        i += len;
    }
    return true;
}

/* The bytes of the character that stands there; 0: none does. */
static size_t character(const unsigned char *bytes, size_t left) {
    unsigned char c = bytes[0];
    size_t len = c < 0x80 ? 1 : c < 0xC2 ? 0 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : c < 0xF5 ? 4 : 0;
    if (len == 0 || len > left) {
        return 0;
    }
    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    bool overlong = (c == 0xE0 && bytes[1] < 0xA0) || (c == 0xF0 && bytes[1] < 0x90);
    bool outside = (c == 0xED && bytes[1] > 0x9F) || (c == 0xF4 && bytes[1] > 0x8F);
    return overlong || outside ? 0 : len;
}

static const struct lapse_bytes *name_of(const struct lapse_setup *setup, enum lapse_rf_kind kind,
                                         int64_t index) {
    if (index < 0) {
        return NULL;
    }
    size_t at = (size_t)index;
    switch (kind) {
    case LAPSE_RF_ACTOR:
        return at < setup->actor_count ? &setup->actors[at].name : NULL;
    case LAPSE_RF_NODE:
        return at < setup->node_count ? &setup->nodes[at] : NULL;
    case LAPSE_RF_RESOURCE:
        return at < setup->resource_count ? &setup->resources[at].name : NULL;
    default:
        return NULL;
    }
}

static void cannot(struct writer *w, const char *word, const char *why) {
    if (w->status == LAPSE_OK) {
        w->status =
            lapse_error_set(w->err, LAPSE_INVALID,
                            "the format of recorded histories cannot say `%s`: %s", word, why);
    }
}
