/* Values: durations, dates, shares, names, and texts and numbers that may be saved names. */
#include <stdio.h>
#include <string.h>

#include "emitter.h"
#include "scenarios/span.h"

#define DAY_NS (24 * 3600 * LAPSE_NS_PER_S)

static void push(struct lapse_emitter *e, const char *text, size_t len);
static void push_word(struct lapse_emitter *e, const char *text);
static void push_span(struct lapse_emitter *e, int64_t ns);
static struct lapse_node *take(struct lapse_emitter *e);
static void offer_span(int64_t ns, int64_t off, char *best);
static void push_text(struct lapse_emitter *e, const struct lapse_text *text);
static void push_part(struct lapse_emitter *e, const struct lapse_text_part *part,
                      const struct lapse_text_part *next);
static void push_slot(struct lapse_emitter *e, struct lapse_slot_ref slot);
static struct lapse_node *slot_operand(struct lapse_emitter *e, const struct lapse_operand *operand,
                                       enum lapse_operand_kind place);
static bool is_numbered_too(const struct lapse_emitter *e, int32_t base);
static bool begins_name(struct lapse_bytes literal);
static bool grow(struct lapse_emitter *e, struct lapse_node *node);

struct lapse_node *lapse_emit_map(struct lapse_emitter *e) {
    struct lapse_node *node = lapse_pool_take(e->pool, sizeof(*node));
    if (node != NULL) {
        node->kind = LAPSE_NODE_MAP;
    }
    return node;
}

struct lapse_node *lapse_emit_seq(struct lapse_emitter *e) {
    struct lapse_node *node = lapse_emit_map(e);
    if (node != NULL) {
        node->kind = LAPSE_NODE_SEQ;
    }
    return node;
}

void lapse_emit_put(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    struct lapse_node *value) {
    struct lapse_node *key = value == NULL ? NULL : lapse_emit_text(e, word);
    if (key == NULL || map == NULL || !grow(e, map)) {
        return;
    }
    map->keys[map->count] = key;
    map->items[map->count++] = value;
}

void lapse_emit_add(struct lapse_emitter *e, struct lapse_node *seq, struct lapse_node *item) {
    if (item != NULL && seq != NULL && grow(e, seq)) {
        seq->items[seq->count++] = item;
    }
}

/* Room for one more: lists double when their count is a power of two. */
static bool grow(struct lapse_emitter *e, struct lapse_node *node) {
    size_t count = node->count;
    if (count != 0 && (count < 8 || (count & (count - 1)) != 0)) {
        return true;
    }
    size_t cap = count == 0 ? 8 : 2 * count;
    struct lapse_node **items = lapse_pool_take(e->pool, cap * sizeof(struct lapse_node *));
    struct lapse_node **keys = lapse_pool_take(e->pool, cap * sizeof(struct lapse_node *));
    if (items == NULL || keys == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        items[i] = node->items[i];
        keys[i] = node->keys[i];
    }
    node->items = items;
    node->keys = keys;
    return true;
}

struct lapse_node *lapse_emit_text(struct lapse_emitter *e, const char *text) {
    if (text == NULL) {
        return NULL;
    }
    push_word(e, text);
    return take(e);
}

struct lapse_node *lapse_emit_bytes(struct lapse_emitter *e, struct lapse_bytes bytes) {
    push(e, (const char *)bytes.data, bytes.len);
    return take(e);
}

struct lapse_node *lapse_emit_flag(struct lapse_emitter *e, bool flag) {
    return flag ? lapse_emit_text(e, "true") : NULL;
}

struct lapse_node *lapse_emit_number(struct lapse_emitter *e, int64_t number) {
    char text[32];
    (void)snprintf(text, sizeof(text), "%lld", (long long)number);
    return lapse_emit_text(e, text);
}

struct lapse_node *lapse_emit_span(struct lapse_emitter *e, int64_t ns) {
    push_span(e, ns);
    return take(e);
}

struct lapse_node *lapse_emit_signed(struct lapse_emitter *e, int64_t ns) {
    push(e, "+", ns >= 0 ? 1 : 0);
    push_span(e, ns);
    return take(e);
}

struct lapse_node *lapse_emit_range(struct lapse_emitter *e, int64_t min, int64_t max) {
    push_span(e, min);
    if (max != min) {
        push_word(e, "..");
        push_span(e, max);
    }
    return take(e);
}

struct lapse_node *lapse_emit_rate(struct lapse_emitter *e, int64_t ppb, bool sign) {
    char text[40];
    bool millions = ppb % 1000 == 0;
    (void)snprintf(text, sizeof(text), sign ? "%+lld%s" : "%lld%s",
                   (long long)(millions ? ppb / 1000 : ppb), millions ? "ppm" : "ppb");
    return lapse_emit_text(e, text);
}

struct lapse_node *lapse_emit_share(struct lapse_emitter *e, int32_t ppm) {
    char text[40];
    int len = snprintf(text, sizeof(text), "%d.%04d", (int)(ppm / 10000), (int)(ppm % 10000));
    while (len > 0 && text[len - 1] == '0') {
        len--;
    }
    len -= text[len - 1] == '.' ? 1 : 0;
    push(e, text, (size_t)len);
    push_word(e, "%");
    return take(e);
}

/* Near the start a date is told from there, if that is shorter. */
struct lapse_node *lapse_emit_date(struct lapse_emitter *e, int64_t ns) {
    char date[LAPSE_TIME_TEXT_MAX];
    char span[2 * LAPSE_TIME_TEXT_MAX];
    struct lapse_wall back = {0};
    int64_t from_start = 0;
    (void)lapse_wall_print((struct lapse_wall){ns}, date);
    bool told = lapse_wall_scan(date, strlen(date), &back) == LAPSE_OK && back.ns == ns;
    bool counted = lapse_ns_sub(ns, e->plan->setup.epoch.ns, &from_start);
    lapse_span_write(counted ? from_start : 0, span);
    bool near = counted && from_start > -366 * DAY_NS && from_start < 366 * DAY_NS &&
                strlen(span) + 6 < strlen(date);
    if (told && !near) {
        return lapse_emit_text(e, date);
    }
    if (!counted) {
        lapse_emit_refuse(e, "the date %s is outside of the dates that can be told", date);
        return NULL;
    }
    push_word(e, from_start > 0 ? "epoch+" : "epoch");
    push_word(e, from_start == 0 ? "" : span);
    return take(e);
}

struct lapse_node *lapse_emit_name(struct lapse_emitter *e, int32_t bucket,
                                   const struct lapse_text *text) {
    if (bucket >= 0 && (size_t)bucket < e->plan->setup.bucket_count) {
        struct lapse_bytes name = e->plan->setup.buckets[bucket].name;
        push(e, (const char *)name.data, name.len);
        push_word(e, "/");
    }
    push_text(e, text);
    return take(e);
}

struct lapse_node *lapse_emit_literal(struct lapse_emitter *e, const struct lapse_text *text) {
    for (size_t i = 0; i < text->part_count; i++) {
        push(e, (const char *)text->parts[i].literal.data, text->parts[i].literal.len);
    }
    return take(e);
}

struct lapse_node *lapse_emit_key(struct lapse_emitter *e, struct lapse_bytes bucket,
                                  struct lapse_bytes key) {
    push(e, (const char *)bucket.data, bucket.len);
    push(e, "/", bucket.len > 0 ? 1 : 0);
    push(e, (const char *)key.data, key.len);
    return take(e);
}

struct lapse_node *lapse_emit_join(struct lapse_emitter *e, const char *a, const char *b,
                                   const char *c) {
    push_word(e, a);
    push_word(e, b);
    push_word(e, c);
    return take(e);
}

struct lapse_node *lapse_emit_slot(struct lapse_emitter *e, struct lapse_slot_ref slot, bool save) {
    push_slot(e, slot);
    struct lapse_node *node = take(e);
    if (save && node != NULL && node->len > 0) {
        node->text++;
        node->len--;
        node->quoted = false;
    }
    return node;
}

struct lapse_node *lapse_emit_operand(struct lapse_emitter *e, const struct lapse_operand *operand,
                                      enum lapse_operand_kind place) {
    switch (operand->kind) {
    case LAPSE_OPERAND_NUMBER:
        return lapse_emit_number(e, operand->number);
    case LAPSE_OPERAND_SPAN:
        return lapse_emit_span(e, operand->number);
    case LAPSE_OPERAND_DATE:
        return lapse_emit_date(e, operand->number);
    case LAPSE_OPERAND_NOW:
        push_word(e, operand->number > 0 ? "now+" : "now");
        if (operand->number != 0) {
            push_span(e, operand->number);
        }
        return take(e);
    case LAPSE_OPERAND_TEXT:
        return lapse_emit_name(e, -1, &operand->text);
    case LAPSE_OPERAND_ABSENT:
        return lapse_emit_text(e, "none");
    case LAPSE_OPERAND_RECORD:
        return lapse_emit_text(e, lapse_decode_record_word(operand->number));
    case LAPSE_OPERAND_SLOT:
        break;
    }
    return slot_operand(e, operand, place);
}

/* What is added to a saved name is a number or a span: which, its place says. */
static struct lapse_node *slot_operand(struct lapse_emitter *e, const struct lapse_operand *operand,
                                       enum lapse_operand_kind place) {
    char number[32];
    (void)snprintf(number, sizeof(number), "%lld", (long long)operand->number);
    push_slot(e, operand->slot);
    push(e, "+", operand->number > 0 ? 1 : 0);
    if (operand->number != 0 && place == LAPSE_OPERAND_NUMBER) {
        push_word(e, number);
    } else if (operand->number != 0) {
        push_span(e, operand->number);
    }
    return take(e);
}

struct lapse_node *lapse_emit_actor(struct lapse_emitter *e, int32_t actor) {
    if (actor < 0 || (size_t)actor >= e->plan->setup.actor_count) {
        lapse_emit_refuse(e, "there is no actor %d", (int)actor);
        return NULL;
    }
    return lapse_emit_bytes(e, e->plan->setup.actors[actor].name);
}

struct lapse_node *lapse_emit_resource(struct lapse_emitter *e, int32_t resource) {
    if (resource < 0 || (size_t)resource >= e->plan->setup.resource_count) {
        lapse_emit_refuse(e, "there is no resource %d", (int)resource);
        return NULL;
    }
    return lapse_emit_bytes(e, e->plan->setup.resources[resource].name);
}

struct lapse_node *lapse_emit_bucket(struct lapse_emitter *e, int32_t bucket) {
    if (bucket < 0 || (size_t)bucket >= e->plan->setup.bucket_count) {
        lapse_emit_refuse(e, "there is no bucket %d", (int)bucket);
        return NULL;
    }
    return lapse_emit_bytes(e, e->plan->setup.buckets[bucket].name);
}

struct lapse_node *lapse_emit_party(struct lapse_emitter *e, struct lapse_party party) {
    switch (party.kind) {
    case LAPSE_PARTY_ACTOR:
        return lapse_emit_actor(e, party.index);
    case LAPSE_PARTY_RESOURCE:
        return lapse_emit_resource(e, party.index);
    case LAPSE_PARTY_NODE:
        break;
    }
    return lapse_emit_text(e, "n1");
}

struct lapse_node *lapse_emit_ends(struct lapse_emitter *e, const struct lapse_plan_link *link) {
    const struct lapse_node *from = lapse_emit_party(e, link->from);
    const struct lapse_node *to = lapse_emit_party(e, link->to);
    if (from == NULL || to == NULL) {
        return NULL;
    }
    return lapse_emit_join(e, from->text, link->both ? "-" : ">", to->text);
}

bool lapse_emit_given(const struct lapse_operand *operand) {
    return operand->kind != 0;
}

/* ---- Text being put together. */
static void push(struct lapse_emitter *e, const char *text, size_t len) {
    if (e->text_len + len + 1 > e->text_cap) {
        size_t cap = 2 * (e->text_len + len + 64);
        char *grown = lapse_pool_take(e->pool, cap);
        if (grown == NULL) {
            return;
        }
        if (e->text_len > 0) {
            memcpy(grown, e->text, e->text_len);
        }
        e->text = grown;
        e->text_cap = cap;
    }
    if (len > 0) {
        memcpy(e->text + e->text_len, text, len);
    }
    e->text_len += len;
}

static void push_word(struct lapse_emitter *e, const char *text) {
    push(e, text, strlen(text));
}

static void push_span(struct lapse_emitter *e, int64_t ns) {
    char text[2 * LAPSE_TIME_TEXT_MAX];
    lapse_span_write(ns, text);
    push_word(e, text);
}

/* The text as a scalar. One that would be read as nothing is quoted. */
static struct lapse_node *take(struct lapse_emitter *e) {
    struct lapse_node *node = lapse_pool_take(e->pool, sizeof(*node));
    char *text = lapse_pool_text(e->pool, e->text, e->text_len);
    size_t len = e->text_len;
    e->text_len = 0;
    if (node == NULL || text == NULL) {
        return NULL;
    }
    *node = (struct lapse_node){.kind = LAPSE_NODE_SCALAR, .text = text, .len = len};
    node->quoted = lapse_node_is_null(node);
    return node;
}

/* The shortest of the span itself, of a span beside it by one of the small units, and of what is
 * missing to a round one: 15m-1ns, 5s-20us. */
void lapse_span_write(int64_t ns, char *ret) {
    static const int64_t units[] = {1, LAPSE_NS_PER_US, LAPSE_NS_PER_MS};
    static const int64_t rounds[] = {LAPSE_NS_PER_US, LAPSE_NS_PER_MS, LAPSE_NS_PER_S};
    ret[0] = '\0';
    if (ns != INT64_MIN) {
        (void)lapse_span_print((struct lapse_span){ns}, ret);
    }
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        offer_span(ns, -units[i], ret);
        offer_span(ns, units[i], ret);
    }
    for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
        int64_t past = ns % rounds[i];
        offer_span(ns, past < 0 ? past + rounds[i] : past - rounds[i], ret);
    }
}

/* `ns` as what lies `off` before it, and `off`. */
static void offer_span(int64_t ns, int64_t off, char *best) {
    char text[2 * LAPSE_TIME_TEXT_MAX];
    int64_t base = 0;
    if (!lapse_ns_sub(ns, off, &base) || base == 0 || (base > 0) != (ns > 0)) {
        return;
    }
    (void)lapse_span_print((struct lapse_span){base}, text);
    size_t len = strlen(text);
    text[len] = '+';
    (void)lapse_span_print((struct lapse_span){off}, text + (off > 0 ? len + 1 : len));
    if (best[0] == '\0' || strlen(text) < strlen(best)) {
        memcpy(best, text, strlen(text) + 1);
    }
}

static void push_text(struct lapse_emitter *e, const struct lapse_text *text) {
    for (size_t i = 0; i < text->part_count; i++) {
        push_part(e, &text->parts[i], i + 1 < text->part_count ? &text->parts[i + 1] : NULL);
    }
}

/* Where one part ends and the next begins must be seen from the text alone. */
static void push_part(struct lapse_emitter *e, const struct lapse_text_part *part,
                      const struct lapse_text_part *next) {
    bool literal_next = next != NULL && next->kind == LAPSE_PART_LITERAL;
    struct lapse_bytes after = literal_next ? next->literal : (struct lapse_bytes){NULL, 0};
    if (part->kind == LAPSE_PART_LITERAL) {
        for (size_t i = 0; i + 1 < part->literal.len; i++) {
            struct lapse_bytes rest = {part->literal.data + i + 1, part->literal.len - i - 1};
            bool digit = rest.data[0] >= '0' && rest.data[0] <= '9';
            if (part->literal.data[i] == '$' && begins_name(rest) && !digit) {
                lapse_emit_refuse(e, "a text holds `$` and a letter, which is read as a name");
            }
        }
        push(e, (const char *)part->literal.data, part->literal.len);
        return;
    }
    bool field = part->kind == LAPSE_PART_SLOT && part->slot.field != LAPSE_FIELD_DEFAULT;
    bool dot = part->kind == LAPSE_PART_SLOT && !field && after.len > 1 && after.data[0] == '.' &&
               begins_name((struct lapse_bytes){after.data + 1, after.len - 1});
    bool twice = part->kind == LAPSE_PART_SLOT && !field && !part->slot.indexed && next != NULL &&
                 next->kind == LAPSE_PART_N && is_numbered_too(e, part->slot.base);
    if (begins_name(after) || dot) {
        lapse_emit_refuse(e, "a text has a name and letters behind it, which are read as its own");
    }
    if (twice) {
        lapse_emit_refuse(e, "a text has a name and `$n` behind it, which is read as one name");
    }
    if (part->kind == LAPSE_PART_N) {
        push_word(e, "$n");
    } else {
        push_slot(e, part->slot);
    }
}

/* Whether the name that slot `base` has is also one with $n. */
static bool is_numbered_too(const struct lapse_emitter *e, int32_t base) {
    const struct lapse_case *the_case = &e->plan->the_case;
    if (base < 0 || (size_t)base >= the_case->slot_count) {
        return false;
    }
    size_t len = strlen(the_case->slot_names[base]);
    for (size_t i = 0; i < the_case->slot_count; i++) {
        const char *name = the_case->slot_names[i];
        if (e->indexed[i] && strlen(name) == len + 1 && name[len] == '1' &&
            memcmp(name, the_case->slot_names[base], len) == 0) {
            return true;
        }
    }
    return false;
}

static bool begins_name(struct lapse_bytes literal) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return literal.len > 0 && literal.data[0] != '\0' &&
           strchr(letters, (int)literal.data[0]) != NULL;
}

/* A name with $n is kept as the names of its slots: c1, c2 and so on. */
static void push_slot(struct lapse_emitter *e, struct lapse_slot_ref slot) {
    const struct lapse_case *the_case = &e->plan->the_case;
    if (slot.base < 0 || (size_t)slot.base >= the_case->slot_count) {
        lapse_emit_refuse(e, "there is no saved name %d", (int)slot.base);
        return;
    }
    const char *name = the_case->slot_names[slot.base];
    size_t len = strlen(name);
    if (slot.indexed && (len < 2 || name[len - 1] != '1')) {
        lapse_emit_refuse(e, "the saved name `%.60s` is not the first of several", name);
        return;
    }
    push_word(e, "$");
    push(e, name, slot.indexed ? len - 1 : len);
    push_word(e, slot.indexed ? "$n" : "");
    if (slot.field != LAPSE_FIELD_DEFAULT) {
        push_word(e, ".");
        push_word(e, lapse_field_word(slot.field));
    }
}
