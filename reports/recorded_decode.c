/* Values of a recorded history, by the tables of fields. Each mistake says what stands there, what
 * can, and what to write. */
#include "recorded_reading.h"

#include "contracts/nearest.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_MAX = 400, WORD_MAX = 64, WORDS_SHOWN_MAX = 400, WORDS_MAX = 128 };

static const char BYTES_WANTED[] = "a text, or {\"hex\": \"00ff\"}";

static bool decode_verb(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *table, void *base);
static bool decode_maps(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf_map *map);
static bool decode_missing(struct lapse_reading_file *file, const struct lapse_json *json,
                           const struct lapse_rf *field, char *base);
static bool refuse_unknown(struct lapse_reading_file *file, const struct lapse_json *json,
                           const struct lapse_rf_map *map);
static bool decode_value(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, char *base);
static bool decode_number(struct lapse_reading_file *file, const struct lapse_json *json,
                          const struct lapse_rf *field, char *base);
static bool decode_time(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, int64_t *ret);
static bool decode_rate(struct lapse_bytes text, int64_t *ret);
static bool decode_hex64(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, char *base);
static bool decode_word(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, char *base);
static bool decode_name(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, int32_t *ret);
static bool decode_party(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, struct lapse_party *ret);
static bool decode_end(struct lapse_reading_file *file, const struct lapse_json *json,
                       const struct lapse_rf *field, struct lapse_end *ret);
static bool decode_bytes(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, struct lapse_bytes *ret);
static bool keep_bytes(struct lapse_reading_file *file, struct lapse_bytes *bytes);
static bool decode_hex(struct lapse_reading_file *file, const struct lapse_json *json,
                       struct lapse_bytes *ret);
static bool decode_list(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, char *base);
static bool decode_actors(struct lapse_reading_file *file, const struct lapse_json *json,
                          const struct lapse_rf *field, char *base);
static bool decode_item(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, char *item);
static bool wrong(struct lapse_reading_file *file, const struct lapse_json *json,
                  const struct lapse_rf *field, const char *wanted);
static size_t status_words(const char **words);
static size_t verb_words(const char **words);
static int digit_of(unsigned char c);

bool lapse_reading_map(struct lapse_reading_file *file, const struct lapse_json *json,
                       const struct lapse_rf *first, void *first_base,
                       const struct lapse_rf *second, void *second_base) {
    struct lapse_rf_map map = {.count = 0};
    if (!decode_verb(file, json, first, first_base) ||
        (second != NULL && !decode_verb(file, json, second, second_base))) {
        return false;
    }
    lapse_rf_map_add(&map, first, first_base);
    if (second != NULL) {
        lapse_rf_map_add(&map, second, second_base);
    }
    return decode_maps(file, json, &map);
}

/* A verb says which other words there are, so it is read before them. */
static bool decode_verb(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *table, void *base) {
    const struct lapse_rf *field = table;
    while (field->word != NULL && field->kind != LAPSE_RF_REQUEST &&
           field->kind != LAPSE_RF_COMMAND) {
        field++;
    }
    if (field->word == NULL) {
        return true;
    }
    const struct lapse_json *verb = lapse_json_find(json, "verb");
    if (verb == NULL) {
        struct lapse_diag *diag =
            lapse_reading_mistake(file, "J104", json, "`verb` is missing", "a call has no verb");
        const char *words[WORDS_MAX];
        lapse_reading_help(file, diag, "", words, verb_words(words), "a verb is one of");
        return false;
    }
    const struct lapse_rf one = {.word = "verb", .kind = LAPSE_RF_VERB};
    int32_t number = 0;
    if (!decode_word(file, verb, &one, (char *)&number)) {
        return false;
    }
    void *at = (char *)base + field->at;
    if (field->kind == LAPSE_RF_COMMAND) {
        if (number >= (int32_t)LAPSE_CALL_WRITE || number == (int32_t)LAPSE_VERB_BATCH) {
            (void)lapse_reading_mistake(file, "J110", verb, "",
                                        "a batch holds calls of the store, and no batch");
            return false;
        }
        ((struct lapse_command *)at)->verb = (enum lapse_verb)number;
        return true;
    }
    struct lapse_request *request = at;
    request->verb = number;
    request->resource = -1;
    if (number < (int32_t)LAPSE_CALL_WRITE) {
        request->command.verb = (enum lapse_verb)number;
    }
    return true;
}

static bool decode_maps(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf_map *map) {
    bool fine = true;
    for (size_t i = 0; i < map->count; i++) {
        const struct lapse_rf *field = map->items[i].field;
        const struct lapse_json *value = lapse_json_find(json, field->word);
        bool good = value != NULL ? decode_value(file, value, field, map->items[i].base)
                                  : decode_missing(file, json, field, map->items[i].base);
        fine = fine && good;
    }
    return refuse_unknown(file, json, map) && fine && !file->starved;
}

static bool decode_missing(struct lapse_reading_file *file, const struct lapse_json *json,
                           const struct lapse_rf *field, char *base) {
    struct lapse_history_event *event = (struct lapse_history_event *)(void *)base;
    if ((field->how & LAPSE_RF_MUST) != 0) {
        (void)lapse_reading_mistake(file, "J104", json, "", "`%s` is missing here", field->word);
        return false;
    }
    if (field->kind == LAPSE_RF_LIFE) {
        event->incarnation = event->actor >= 0 ? 1 : 0;
    } else if (field->kind == LAPSE_RF_DUE) {
        event->u.invoke.due.ns = event->at.ns;
    } else if (field->absent != 0) {
        lapse_rf_number_set(field, base, field->absent);
    }
    return true;
}

static bool refuse_unknown(struct lapse_reading_file *file, const struct lapse_json *json,
                           const struct lapse_rf_map *map) {
    bool fine = true;
    for (size_t k = 0; k < json->count; k++) {
        const char *words[LAPSE_RF_FIELDS_MAX];
        const char *seen = json->items[k].key;
        bool known = strcmp(seen, "event") == 0;
        for (size_t i = 0; i < map->count; i++) {
            words[i] = map->items[i].field->word;
            known = known || strcmp(words[i], seen) == 0;
        }
        if (known) {
            continue;
        }
        char shown[WORD_MAX];
        struct lapse_diag *diag = lapse_reading_mistake_word(
            file, "J101", &json->items[k], "`%s` is no word of this line",
            lapse_bytes_print(lapse_bytes_of(seen), shown, sizeof(shown)));
        lapse_reading_help(file, diag, seen, words, map->count, "here can stand");
        fine = false;
    }
    return fine;
}

static bool decode_value(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, char *base) {
    char *at = base + field->at;
    bool fine;
    switch (field->kind) {
    case LAPSE_RF_BYTES:
        fine = decode_bytes(file, json, field, (struct lapse_bytes *)(void *)at);
        break;
    case LAPSE_RF_END:
        fine = decode_end(file, json, field, (struct lapse_end *)(void *)at);
        break;
    case LAPSE_RF_PARTY:
        fine = decode_party(file, json, field, (struct lapse_party *)(void *)at);
        break;
    case LAPSE_RF_OBJECT:
        fine = decode_item(file, json, field, at);
        break;
    case LAPSE_RF_LIST:
        fine = decode_list(file, json, field, base);
        break;
    case LAPSE_RF_ACTORS:
        fine = decode_actors(file, json, field, base);
        break;
    case LAPSE_RF_POLICIES:
        file->policies = json;
        fine = true;
        break;
    case LAPSE_RF_WORD:
    case LAPSE_RF_STATUS:
    case LAPSE_RF_VERB:
        fine = decode_word(file, json, field, base);
        break;
    case LAPSE_RF_ACTOR:
    case LAPSE_RF_NODE:
    case LAPSE_RF_RESOURCE:
        fine = decode_name(file, json, field, (int32_t *)(void *)at);
        break;
    case LAPSE_RF_U64:
    case LAPSE_RF_HEX:
        fine = decode_hex64(file, json, field, base);
        break;
    default:
        fine = decode_number(file, json, field, base);
        break;
    }
    if (fine) {
        lapse_rf_flag_set(field, base);
    }
    return fine;
}

static bool decode_number(struct lapse_reading_file *file, const struct lapse_json *json,
                          const struct lapse_rf *field, char *base) {
    int64_t number = json->number;
    bool narrow = field->kind == LAPSE_RF_I32 || field->kind == LAPSE_RF_LIFE;
    switch (field->kind) {
    case LAPSE_RF_BOOL:
    case LAPSE_RF_BIT:
        if (json->kind != LAPSE_JSON_BOOL) {
            return wrong(file, json, field, "true or false");
        }
        number = json->truth ? 1 : 0;
        break;
    case LAPSE_RF_TIME:
    case LAPSE_RF_DATE:
    case LAPSE_RF_RATE:
    case LAPSE_RF_DUE:
        if (!decode_time(file, json, field, &number)) {
            return false;
        }
        break;
    default:
        if (json->kind != LAPSE_JSON_NUMBER) {
            return wrong(file, json, field, "a whole number");
        }
        break;
    }
    bool counts = field->kind == LAPSE_RF_SIZE || field->kind == LAPSE_RF_U32 ||
                  field->kind == LAPSE_RF_COUNT;
    if ((narrow && (number < INT32_MIN || number > INT32_MAX)) || (counts && number < 0) ||
        (field->kind == LAPSE_RF_U32 && number > (int64_t)UINT32_MAX)) {
        (void)lapse_reading_mistake(file, "J108", json, "", "%lld is out of range for `%s`",
                                    (long long)number, field->word);
        return false;
    }
    if (field->kind == LAPSE_RF_COUNT) {
        if (*(const void *const *)(const void *)(base + field->at) == NULL) {
            *(size_t *)(void *)(base + field->count) = (size_t)number;
        }
        return true;
    }
    lapse_rf_number_set(field, base, number);
    return true;
}

/* Times are whole ns, or exact durations and dates; never decimals, which would be rounded. */
static bool decode_time(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, int64_t *ret) {
    bool date = field->kind == LAPSE_RF_DATE;
    bool rate = field->kind == LAPSE_RF_RATE;
    const char *wanted = date   ? "whole ns since 1970, or a date such as \"2026-01-31T00:00:00Z\""
                         : rate ? "a whole number of ppb, or \"200ppm\""
                                : "whole ns, or a duration such as \"30s\"";
    if (json->kind == LAPSE_JSON_NUMBER) {
        *ret = json->number;
        return true;
    }
    if (json->kind != LAPSE_JSON_TEXT) {
        return wrong(file, json, field, wanted);
    }
    const char *text = (const char *)json->text.data;
    size_t len = json->text.len;
    if (date) {
        struct lapse_wall wall;
        bool read = lapse_wall_scan(text, len, &wall) == LAPSE_OK;
        *ret = read ? wall.ns : 0;
        return read || wrong(file, json, field, wanted);
    }
    if (rate) {
        return decode_rate(json->text, ret) || wrong(file, json, field, wanted);
    }
    bool minus = len > 0 && text[0] == '-';
    struct lapse_span span;
    size_t used = 0;
    enum lapse_status status = lapse_span_scan(text + minus, len - minus, &span, &used);
    if (status != LAPSE_OK || used + minus != len) {
        return wrong(file, json, field, wanted);
    }
    *ret = minus ? -span.ns : span.ns;
    return true;
}

static bool decode_rate(struct lapse_bytes text, int64_t *ret) {
    int64_t number = 0;
    size_t at = 0;
    while (at < text.len && digit_of(text.data[at]) >= 0 && digit_of(text.data[at]) <= 9) {
        if (!lapse_ns_mul(number, 10, &number) ||
            !lapse_ns_add(number, digit_of(text.data[at]), &number)) {
            return false;
        }
        at++;
    }
    bool unit = at > 0 && text.len - at == 3;
    bool ppm = unit && memcmp(text.data + at, "ppm", 3) == 0;
    bool ppb = unit && memcmp(text.data + at, "ppb", 3) == 0;
    return (ppm || ppb) && lapse_ns_mul(number, ppm ? 1000 : 1, ret);
}

/* A digest is 16 digits; any other number of 64 bits may be text where it is above int64. */
static bool decode_hex64(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, char *base) {
    bool digest = field->kind == LAPSE_RF_HEX;
    if (!digest && json->kind == LAPSE_JSON_NUMBER && json->number >= 0) {
        lapse_rf_number_set(field, base, json->number);
        return true;
    }
    size_t from = digest ? 0 : 2;
    struct lapse_bytes text = json->text;
    bool fine = json->kind == LAPSE_JSON_TEXT && text.len > from && text.len <= from + 16;
    fine = fine && (digest || memcmp(text.data, "0x", 2) == 0);
    uint64_t number = 0;
    for (size_t i = from; fine && i < text.len; i++) {
        int digit = digit_of(text.data[i]);
        fine = digit >= 0;
        number = number * 16 + (uint64_t)(digit & 15);
    }
    if (!fine) {
        return wrong(file, json, field,
                     digest ? "16 hexadecimal digits" : "a whole number from 0, or \"0x..\"");
    }
    int64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    lapse_rf_number_set(field, base, bits);
    return true;
}

static bool decode_word(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, char *base) {
    const char *words[WORDS_MAX];
    size_t count = 0;
    if (json->kind != LAPSE_JSON_TEXT) {
        return wrong(file, json, field, "a word");
    }
    /* NUL-terminated in the pool; one with a NUL inside is no word. */
    const char *seen = (const char *)json->text.data;
    if (strlen(seen) != json->text.len) {
        return wrong(file, json, field, "a word");
    }
    int number = -1;
    if (field->kind == LAPSE_RF_STATUS) {
        enum lapse_status status;
        count = status_words(words);
        for (size_t i = 0; i < count; i++) {
            if (strcmp(words[i], seen) == 0) {
                bool found = lapse_status_find(seen, &status) == 1;
                lapse_rf_number_set(field, base, found ? (int64_t)status : (int64_t)LAPSE_OK);
                return true;
            }
        }
    } else if (field->kind == LAPSE_RF_VERB) {
        count = verb_words(words);
        number = lapse_rf_verb_find(seen);
        number = number == 0 ? -1 : number;
    } else {
        for (int i = 0; field->words[i] == NULL || field->words[i][0] != '\0'; i++) {
            bool has = field->words[i] != NULL;
            number = has && strcmp(field->words[i], seen) == 0 ? i : number;
            words[count] = field->words[i];
            count += has ? 1 : 0;
        }
    }
    if (number >= 0) {
        lapse_rf_number_set(field, base, number);
        return true;
    }
    char shown[WORD_MAX];
    struct lapse_diag *diag = lapse_reading_mistake(
        file, "J102", json, "", "`%s` is not one of the words that `%s` takes",
        lapse_bytes_print(json->text, shown, sizeof(shown)), field->word);
    lapse_reading_help(file, diag, seen, words, count, "it takes");
    return false;
}

static bool decode_name(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, int32_t *ret) {
    struct lapse_reading_names *names = field->kind == LAPSE_RF_ACTOR  ? &file->actors
                                        : field->kind == LAPSE_RF_NODE ? &file->nodes
                                                                       : &file->resources;
    const struct lapse_rf name_field = {.word = field->word, .kind = LAPSE_RF_BYTES};
    struct lapse_bytes name;
    if (json->kind == LAPSE_JSON_NUMBER && json->number == field->absent && field->absent == -1) {
        *ret = -1;
        return true;
    }
    if (!lapse_reading_bytes(file, json, &name)) {
        return file->starved ? false : wrong(file, json, &name_field, BYTES_WANTED);
    }
    *ret = lapse_names_find(&names->table, 1, name);
    if (*ret >= 0) {
        return true;
    }
    if (!names->listed) {
        *ret = lapse_reading_name_add(file, names, name);
        return *ret >= 0;
    }
    char shown[WORD_MAX];
    struct lapse_diag *diag =
        lapse_reading_mistake(file, "J105", json, "", "no %s is called `%s`", names->what,
                              lapse_bytes_print(name, shown, sizeof(shown)));
    struct lapse_nearest nearest; /* names end in a NUL in the pool; one that has more is no text */
    lapse_nearest_begin(&nearest, shown);
    for (size_t i = 0; i < names->count; i++) {
        const char *text = (const char *)names->items[i].data;
        if (strlen(text) == names->items[i].len) {
            lapse_nearest_offer(&nearest, text);
        }
    }
    if (nearest.best != NULL) {
        lapse_diag_note(&file->ret->diags, diag, "help", "did you mean `%s`?", nearest.best);
        return false;
    }
    lapse_diag_note(&file->ret->diags, diag, "help",
                    "the first line lists all of them: add it there, or leave `%ss` out there",
                    names->what);
    return false;
}

static bool decode_party(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, struct lapse_party *ret) {
    static const struct {
        const char *word;
        enum lapse_rf_kind kind;
        enum lapse_party_kind party;
    } table[] = {{"actor", LAPSE_RF_ACTOR, LAPSE_PARTY_ACTOR},
                 {"node", LAPSE_RF_NODE, LAPSE_PARTY_NODE},
                 {"resource", LAPSE_RF_RESOURCE, LAPSE_PARTY_RESOURCE}};
    for (size_t i = 0; json->kind == LAPSE_JSON_MAP && json->count == 1 && i < 3; i++) {
        if (strcmp(json->items[0].key, table[i].word) == 0) {
            const struct lapse_rf name = {.word = table[i].word, .kind = table[i].kind};
            ret->kind = table[i].party;
            return decode_name(file, &json->items[0], &name, &ret->index);
        }
    }
    return wrong(file, json, field, "a map of one: actor, node or resource, and its name");
}

static bool decode_end(struct lapse_reading_file *file, const struct lapse_json *json,
                       const struct lapse_rf *field, struct lapse_end *ret) {
    bool dated = json->kind == LAPSE_JSON_MAP;
    const struct lapse_json *value = dated ? lapse_json_find(json, "date") : json;
    if (value == NULL || (dated && json->count != 1)) {
        return wrong(file, json, field, "ns of store time, or {\"date\": ns since 1970}");
    }
    const struct lapse_rf time = {.word = dated ? "date" : field->word,
                                  .kind = dated ? LAPSE_RF_DATE : LAPSE_RF_TIME};
    ret->kind = dated ? LAPSE_END_WALL : LAPSE_END_STEADY;
    return decode_time(file, value, &time, &ret->ns);
}

static bool decode_bytes(struct lapse_reading_file *file, const struct lapse_json *json,
                         const struct lapse_rf *field, struct lapse_bytes *ret) {
    if (lapse_reading_bytes(file, json, ret)) {
        return json->kind != LAPSE_JSON_TEXT || keep_bytes(file, ret);
    }
    return file->starved ? false : wrong(file, json, field, BYTES_WANTED);
}

bool lapse_reading_bytes(struct lapse_reading_file *file, const struct lapse_json *json,
                         struct lapse_bytes *ret) {
    if (json->kind == LAPSE_JSON_TEXT) {
        *ret = json->text;
        return true;
    }
    const struct lapse_json *hex = lapse_json_find(json, "hex");
    return hex != NULL && json->count == 1 && hex->kind == LAPSE_JSON_TEXT &&
           decode_hex(file, hex, ret);
}

/* The line's tree goes before its events do. A NUL follows, for who takes it for a text. */
static bool keep_bytes(struct lapse_reading_file *file, struct lapse_bytes *bytes) {
    unsigned char *kept = lapse_reading_take(file, bytes->len + 1);
    if (kept == NULL) {
        return false;
    }
    if (bytes->len > 0) {
        memcpy(kept, bytes->data, bytes->len);
    }
    bytes->data = kept;
    return true;
}

static bool decode_hex(struct lapse_reading_file *file, const struct lapse_json *json,
                       struct lapse_bytes *ret) {
    size_t len = json->text.len / 2;
    unsigned char *bytes = lapse_reading_take(file, len + 1);
    bool fine = bytes != NULL && json->text.len % 2 == 0;
    for (size_t i = 0; fine && i < len; i++) {
        int high = digit_of(json->text.data[2 * i]);
        int low = digit_of(json->text.data[2 * i + 1]);
        fine = high >= 0 && low >= 0;
        bytes[i] = (unsigned char)((high & 15) * 16 + (low & 15));
    }
    *ret = (struct lapse_bytes){bytes, len};
    return fine;
}

static bool decode_list(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, char *base) {
    if (json->kind != LAPSE_JSON_LIST) {
        return wrong(file, json, field, "a list");
    }
    char *items = lapse_reading_take(file, json->count * field->item_bytes);
    bool fine = items != NULL;
    for (size_t i = 0; items != NULL && i < json->count; i++) {
        fine = decode_item(file, &json->items[i], field, items + i * field->item_bytes) && fine;
    }
    *(void **)(void *)(base + field->at) = items;
    *(size_t *)(void *)(base + field->count) = items == NULL ? 0 : json->count;
    return fine;
}

static bool decode_actors(struct lapse_reading_file *file, const struct lapse_json *json,
                          const struct lapse_rf *field, char *base) {
    const struct lapse_rf actor = {.word = field->word, .kind = LAPSE_RF_ACTOR};
    if (json->kind != LAPSE_JSON_LIST) {
        return wrong(file, json, field, "a list of actors");
    }
    int32_t *items = lapse_reading_take(file, json->count * sizeof(*items));
    bool fine = items != NULL;
    for (size_t i = 0; fine && i < json->count; i++) {
        fine = decode_name(file, &json->items[i], &actor, &items[i]);
    }
    *(void **)(void *)(base + field->at) = items;
    *(size_t *)(void *)(base + field->count) = fine ? json->count : 0;
    return fine;
}

/* A map; or, where it may be short, the value of its first field. */
static bool decode_item(struct lapse_reading_file *file, const struct lapse_json *json,
                        const struct lapse_rf *field, char *item) {
    bool hex = json->kind == LAPSE_JSON_MAP && lapse_json_find(json, "hex") != NULL;
    if (json->kind == LAPSE_JSON_MAP && !hex) {
        return lapse_reading_map(file, json, field->table, item, NULL, NULL);
    }
    if ((field->how & LAPSE_RF_SHORT) == 0) {
        return wrong(file, json, field, "a map of words and values");
    }
    struct lapse_rf_map map = {.count = 0};
    lapse_rf_map_add(&map, field->table, item);
    bool fine = decode_value(file, json, map.items[0].field, map.items[0].base);
    for (size_t i = 1; i < map.count; i++) {
        if (map.items[i].field->absent != 0) {
            lapse_rf_number_set(map.items[i].field, map.items[i].base, map.items[i].field->absent);
        }
    }
    return fine;
}

bool lapse_reading_policies(struct lapse_reading_file *file, const struct lapse_json *first) {
    struct lapse_setup *setup = &file->setup;
    enum lapse_profile profile = LAPSE_PROFILE_STRICT;
    if (setup->profile.len == 0) {
        setup->profile = lapse_bytes_of(lapse_profile_word(profile));
    }
    if (!lapse_profile_find(setup->profile, &profile)) {
        const char *words[LAPSE_PROFILES];
        for (size_t i = 0; i < LAPSE_PROFILES; i++) {
            words[i] = lapse_profile_word((enum lapse_profile)i);
        }
        const struct lapse_json *at = lapse_json_find(first, "profile");
        char shown[WORD_MAX];
        lapse_bytes_print(setup->profile, shown, sizeof(shown));
        struct lapse_diag *diag =
            lapse_reading_mistake(file, "J102", at, "", "there is no profile `%s`", shown);
        lapse_reading_help(file, diag, shown, words, LAPSE_PROFILES, "there are");
        return false;
    }
    setup->policies = lapse_policies_of(profile);
    const struct lapse_json *given = file->policies;
    const struct lapse_rf field = {.word = "policies"};
    if (given != NULL && given->kind != LAPSE_JSON_MAP) {
        return wrong(file, given, &field, "a map of policies and their values");
    }
    bool fine = true;
    for (size_t i = 0; given != NULL && i < given->count; i++) {
        const struct lapse_json *one = &given->items[i];
        enum lapse_policy policy;
        if (!lapse_policy_find(lapse_bytes_of(one->key), &policy)) {
            (void)lapse_reading_mistake_word(file, "J101", one, "there is no policy of this name");
            fine = false;
        } else if (one->kind != LAPSE_JSON_TEXT ||
                   !lapse_policy_value_find(policy, one->text, &setup->policies.value[policy])) {
            (void)lapse_reading_mistake(file, "J102", one, "", "the policy `%s` takes one of: %s",
                                        one->key, lapse_policy_values(policy));
            fine = false;
        }
    }
    return fine;
}

int32_t lapse_reading_name_add(struct lapse_reading_file *file, struct lapse_reading_names *names,
                               struct lapse_bytes name) {
    bool taken = lapse_names_find(&names->table, 1, name) >= 0;
    if (names->count >= INT32_MAX || !keep_bytes(file, &name) ||
        !lapse_alloc_grow(file->alloc, (void **)&names->items, &names->cap, names->count + 1,
                          sizeof(*names->items)) ||
        (!taken &&
         !lapse_names_add(file->alloc, &names->table, 1, name, (int32_t)names->count))) {
        file->starved = true;
        return -1;
    }
    names->items[names->count] = name;
    return (int32_t)names->count++;
}

void *lapse_reading_take(struct lapse_reading_file *file, size_t bytes) {
    void *taken = lapse_reading_pool_take(&file->pool, bytes);
    file->starved = file->starved || taken == NULL;
    return taken;
}

/* ---- Mistakes. */
static struct lapse_diag *mistake_at(struct lapse_reading_file *file, const char *code, int column,
                                     int span, const char *label, const char *format,
                                     va_list args) {
    char message[MESSAGE_MAX];
    struct lapse_diag_list *diags = &file->ret->diags;
    (void)vsnprintf(message, sizeof(message), format, args);
    struct lapse_place place = {file->name, file->line, column, span > 0 ? span : 1};
    if (diags->count > LAPSE_RECORDED_MISTAKES_MAX) {
        return NULL;
    }
    if (diags->count == LAPSE_RECORDED_MISTAKES_MAX) {
        (void)lapse_diag_add(diags, "J006", place, "",
                             "more than %d mistakes: the rest is not shown",
                             (int)LAPSE_RECORDED_MISTAKES_MAX);
        return NULL;
    }
    return lapse_diag_add(diags, code, place, label, "%s", message);
}

struct lapse_diag *lapse_reading_mistake(struct lapse_reading_file *file, const char *code,
                                         const struct lapse_json *at, const char *label,
                                         const char *format, ...) {
    va_list args;
    va_start(args, format);
    bool long_one = at != NULL && (at->kind == LAPSE_JSON_MAP || at->kind == LAPSE_JSON_LIST);
    struct lapse_diag *diag =
        mistake_at(file, code, at == NULL ? 1 : at->column, at == NULL || long_one ? 1 : at->span,
                   label, format, args);
    va_end(args);
    return diag;
}

struct lapse_diag *lapse_reading_mistake_word(struct lapse_reading_file *file, const char *code,
                                              const struct lapse_json *of, const char *format,
                                              ...) {
    va_list args;
    va_start(args, format);
    struct lapse_diag *diag =
        mistake_at(file, code, of->key_column, (int)strlen(of->key) + 2, "", format, args);
    va_end(args);
    return diag;
}

void lapse_reading_help(struct lapse_reading_file *file, struct lapse_diag *diag, const char *seen,
                        const char *const *words, size_t count, const char *what) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, seen);
    char all[WORDS_SHOWN_MAX];
    size_t len = 0;
    all[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&nearest, words[i]);
        int put = snprintf(all + len, sizeof(all) - len, "%s%s", i > 0 ? " " : "", words[i]);
        if (put < 0 || (size_t)put >= sizeof(all) - len) {
            all[len] = '\0';
            break;
        }
        len += (size_t)put;
    }
    if (nearest.best != NULL && seen[0] != '\0') {
        lapse_diag_note(&file->ret->diags, diag, "help", "did you mean `%s`?", nearest.best);
    } else {
        lapse_diag_note(&file->ret->diags, diag, "help", "%s: %s", what, all);
    }
}

static bool wrong(struct lapse_reading_file *file, const struct lapse_json *json,
                  const struct lapse_rf *field, const char *wanted) {
    static const char *const kinds[] = {"null",   "true or false", "a number", "a decimal number",
                                        "a text", "a list",        "a map"};
    char shown[WORD_MAX];
    if (json->kind == LAPSE_JSON_TEXT) {
        lapse_bytes_print(json->text, shown, sizeof(shown));
        (void)lapse_reading_mistake(file, "J103", json, "", "`%s` takes %s, not \"%s\"",
                                    field->word, wanted, shown);
    } else if (json->kind == LAPSE_JSON_NUMBER) {
        (void)lapse_reading_mistake(file, "J103", json, "", "`%s` takes %s, not %lld", field->word,
                                    wanted, (long long)json->number);
    } else {
        (void)lapse_reading_mistake(file, "J103", json, "", "`%s` takes %s, not %s", field->word,
                                    wanted, kinds[json->kind]);
    }
    return false;
}

/* Statuses, and the words with which calls say that they were done. */
static size_t status_words(const char **words) {
    static const char *const done[] = {"granted", "extended", "released", "held_by", "value"};
    size_t count = 0;
#define WORD(id, value, word, sentence) words[count++] = (word);
    LAPSE_STATUS_TABLE(WORD)
#undef WORD
    for (size_t i = 0; i < sizeof(done) / sizeof(done[0]); i++) {
        words[count++] = done[i];
    }
    return count;
}

static size_t verb_words(const char **words) {
    size_t count = 0;
    for (const char *word = lapse_rf_verb_word(0); word != NULL; word = lapse_rf_verb_word(count)) {
        words[count++] = word;
    }
    return count;
}

static int digit_of(unsigned char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}
