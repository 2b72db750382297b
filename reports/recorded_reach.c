/* Reaching into objects by the tables: where a field lies, what it holds, whether it says anything.
 */
#include "recorded_fields.h"

#include <string.h>

static void add_field(struct lapse_rf_map *map, const struct lapse_rf *field, char *base);
static void add_request(struct lapse_rf_map *map, const struct lapse_rf *field, char *base);
static void add_command(struct lapse_rf_map *map, const struct lapse_rf *field, char *base);

/* A request's verb in words, as a field of its own. */
static const struct lapse_rf request_verb = {.word = "verb",
                                             .kind = LAPSE_RF_VERB,
                                             .how = LAPSE_RF_MUST,
                                             .at = offsetof(struct lapse_request, verb)};
static const struct lapse_rf command_verb = {.word = "verb",
                                             .kind = LAPSE_RF_VERB,
                                             .how = LAPSE_RF_MUST,
                                             .at = offsetof(struct lapse_command, verb)};

void lapse_rf_map_add(struct lapse_rf_map *map, const struct lapse_rf *table, void *base) {
    for (const struct lapse_rf *field = table; field->word != NULL; field++) {
        switch (field->kind) {
        case LAPSE_RF_INLINE:
            lapse_rf_map_add(map, field->table, (char *)base + field->at);
            break;
        case LAPSE_RF_REQUEST:
            add_request(map, field, base);
            break;
        case LAPSE_RF_COMMAND:
            add_command(map, field, base);
            break;
        default:
            add_field(map, field, base);
            break;
        }
    }
}

static void add_field(struct lapse_rf_map *map, const struct lapse_rf *field, char *base) {
    LAPSE_ASSERT(map->count < LAPSE_RF_FIELDS_MAX);
    map->items[map->count++] = (struct lapse_rf_place){field, base};
}

static void add_request(struct lapse_rf_map *map, const struct lapse_rf *field, char *base) {
    struct lapse_request *request = (struct lapse_request *)(void *)(base + field->at);
    const struct lapse_rf *table = lapse_rf_of_verb(request->verb);
    bool store = request->verb < (int)LAPSE_CALL_WRITE;
    add_field(map, &request_verb, (char *)request);
    if (table != NULL) {
        lapse_rf_map_add(map, table, store ? (void *)&request->command : (void *)request);
    }
}

static void add_command(struct lapse_rf_map *map, const struct lapse_rf *field, char *base) {
    struct lapse_command *command = (struct lapse_command *)(void *)(base + field->at);
    const struct lapse_rf *table = lapse_rf_of_verb((int)command->verb);
    add_field(map, &command_verb, (char *)command);
    if (table != NULL) {
        lapse_rf_map_add(map, table, command);
    }
}

/* Enums are as wide as int on every compiler that builds this. */
_Static_assert(sizeof(enum lapse_status) == sizeof(int32_t), "an enum is read as an int32_t");
_Static_assert(sizeof(enum lapse_verb) == sizeof(int32_t), "an enum is read as an int32_t");

int64_t lapse_rf_number(const struct lapse_rf *field, const char *base) {
    const char *at = base + field->at;
    switch (field->kind) {
    case LAPSE_RF_BOOL:
        return *(const bool *)(const void *)at ? 1 : 0;
    case LAPSE_RF_BIT:
        return (*(const unsigned *)(const void *)at & field->bit) != 0 ? 1 : 0;
    case LAPSE_RF_U32:
        return *(const uint32_t *)(const void *)at;
    case LAPSE_RF_SIZE:
        return (int64_t) * (const size_t *)(const void *)at;
    case LAPSE_RF_I64:
    case LAPSE_RF_U64:
    case LAPSE_RF_HEX:
    case LAPSE_RF_TIME:
    case LAPSE_RF_DATE:
    case LAPSE_RF_RATE:
    case LAPSE_RF_DUE:
        return *(const int64_t *)(const void *)at;
    default: {
        int32_t number;
        memcpy(&number, at, sizeof(number));
        return number;
    }
    }
}

void lapse_rf_number_set(const struct lapse_rf *field, char *base, int64_t number) {
    char *at = base + field->at;
    switch (field->kind) {
    case LAPSE_RF_BOOL:
        *(bool *)(void *)at = number != 0;
        break;
    case LAPSE_RF_BIT:
        *(unsigned *)(void *)at |= number != 0 ? field->bit : 0;
        break;
    case LAPSE_RF_U32:
        *(uint32_t *)(void *)at = (uint32_t)number;
        break;
    case LAPSE_RF_SIZE:
        *(size_t *)(void *)at = (size_t)number;
        break;
    case LAPSE_RF_I64:
    case LAPSE_RF_U64:
    case LAPSE_RF_HEX:
    case LAPSE_RF_TIME:
    case LAPSE_RF_DATE:
    case LAPSE_RF_RATE:
    case LAPSE_RF_DUE:
        *(int64_t *)(void *)at = number;
        break;
    default: {
        int32_t narrow = (int32_t)number;
        memcpy(at, &narrow, sizeof(narrow));
        break;
    }
    }
}

bool lapse_rf_flag(const struct lapse_rf *field, const char *base) {
    const char *at = base + field->flag - 1;
    if (field->flag == 0) {
        return true;
    }
    return field->bit == 0 ? *(const bool *)(const void *)at
                           : (*(const unsigned *)(const void *)at & field->bit) != 0;
}

void lapse_rf_flag_set(const struct lapse_rf *field, char *base) {
    char *at = base + field->flag - 1;
    if (field->flag == 0) {
        return;
    }
    if (field->bit == 0) {
        *(bool *)(void *)at = true;
    } else {
        *(unsigned *)(void *)at |= field->bit;
    }
}

bool lapse_rf_zero(const struct lapse_rf *table, const char *base) {
    for (const struct lapse_rf *field = table; field->word != NULL; field++) {
        struct lapse_rf plain = *field;
        plain.absent = 0;
        if (field->flag != 0 && lapse_rf_flag(field, base)) {
            return false;
        }
        plain.flag = 0;
        if (!lapse_rf_absent(&plain, base)) {
            return false;
        }
    }
    return true;
}

bool lapse_rf_absent(const struct lapse_rf *field, const char *base) {
    const char *at = base + field->at;
    if (field->flag != 0) {
        return !lapse_rf_flag(field, base);
    }
    switch (field->kind) {
    case LAPSE_RF_BYTES:
        return ((const struct lapse_bytes *)(const void *)at)->len == 0;
    case LAPSE_RF_END: {
        const struct lapse_end *end = (const struct lapse_end *)(const void *)at;
        return end->kind == LAPSE_END_NONE && end->ns == 0;
    }
    case LAPSE_RF_PARTY: {
        const struct lapse_party *party = (const struct lapse_party *)(const void *)at;
        return party->kind == 0 && party->index == 0;
    }
    case LAPSE_RF_INLINE:
    case LAPSE_RF_OBJECT:
        return lapse_rf_zero(field->table, at);
    case LAPSE_RF_LIST:
    case LAPSE_RF_ACTORS: {
        bool none = *(const void *const *)(const void *)at == NULL;
        bool empty = *(const size_t *)(const void *)(base + field->count) == 0;
        return (field->how & LAPSE_RF_KEPT) != 0 ? none : none || empty;
    }
    case LAPSE_RF_COUNT: {
        bool none = *(const void *const *)(const void *)at == NULL;
        return !none || *(const size_t *)(const void *)(base + field->count) == 0;
    }
    case LAPSE_RF_POLICIES:
        return false;
    default:
        return lapse_rf_number(field, base) == field->absent;
    }
}
