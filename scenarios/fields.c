/* Which fields the answers of each verb have, and what can stand in them: the one table that both
 * `expect` and saved names are held against, so that a check of what never comes is a mistake. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

#define BIT(kind) (1U << LAPSE_OPERAND_##kind)

struct answer_row {
    int verb;
    enum lapse_status status;
    const char *fields;
};

static const struct answer_row answer_rows[] = {
    {LAPSE_VERB_SET, LAPSE_OK, "rev end left repeated"},
    {LAPSE_VERB_CREATE, LAPSE_OK, "rev end left repeated"},
    {LAPSE_VERB_UPDATE, LAPSE_OK, "rev end left repeated"},
    {LAPSE_VERB_EXPIRE, LAPSE_OK, "rev end left repeated"},
    {LAPSE_VERB_PERSIST, LAPSE_OK, "rev end left repeated"},
    {LAPSE_VERB_GET, LAPSE_OK, "value"},
    {LAPSE_VERB_HAS, LAPSE_OK, "value"},
    {LAPSE_VERB_ENTRY, LAPSE_OK, "value rev end left"},
    {LAPSE_VERB_DELETE, LAPSE_OK, "rev repeated"},
    {LAPSE_VERB_PURGE, LAPSE_OK, "rev repeated"},
    {LAPSE_VERB_SET, LAPSE_CONFLICT, "rev"},
    {LAPSE_VERB_UPDATE, LAPSE_CONFLICT, "rev"},
    {LAPSE_VERB_DELETE, LAPSE_CONFLICT, "rev"},
    {LAPSE_VERB_PURGE, LAPSE_CONFLICT, "rev"},
    {LAPSE_VERB_EXPIRE, LAPSE_CONFLICT, "rev"},
    {LAPSE_VERB_PERSIST, LAPSE_CONFLICT, "rev"},
    {LAPSE_VERB_LIST, LAPSE_OK, "keys more"},
    {LAPSE_VERB_ALL, LAPSE_OK, "keys more"},
    {LAPSE_VERB_COUNT, LAPSE_OK, "count"},
    {LAPSE_VERB_ACQUIRE, LAPSE_OK, "owner token end left repeated"},
    {LAPSE_VERB_ACQUIRE, LAPSE_HELD, "owner end left"},
    {LAPSE_VERB_EXTEND, LAPSE_OK, "owner token end left repeated"},
    {LAPSE_VERB_RELEASE, LAPSE_OK, "repeated"},
    {LAPSE_VERB_INSPECT, LAPSE_OK, "owner token end left"},
    {LAPSE_VERB_HISTORY, LAPSE_OK, "more"},
    {LAPSE_VERB_BATCH, LAPSE_OK, "repeated"},
    {LAPSE_VERB_SESSION, LAPSE_OK, "token end left repeated"},
    {LAPSE_VERB_SESSION, LAPSE_HELD, "owner end left"},
    {LAPSE_VERB_KEEPALIVE, LAPSE_OK, "token end left repeated"},
    {LAPSE_VERB_CLOSE, LAPSE_OK, "repeated"},
    {LAPSE_CALL_READ, LAPSE_OK, "value token"},
};

struct field_word {
    const char *word;
    enum lapse_field field;
    uint32_t kinds;
};

static const struct field_word field_words[] = {
    {"value", LAPSE_FIELD_VALUE, BIT(TEXT)},         {"rev", LAPSE_FIELD_REV, BIT(NUMBER)},
    {"end", LAPSE_FIELD_END, BIT(SPAN) | BIT(DATE)}, {"left", LAPSE_FIELD_LEFT, BIT(SPAN)},
    {"keys", LAPSE_FIELD_KEYS, BIT(TEXT)},           {"count", LAPSE_FIELD_COUNT, BIT(NUMBER)},
    {"owner", LAPSE_FIELD_OWNER, BIT(TEXT)},         {"token", LAPSE_FIELD_TOKEN, BIT(NUMBER)},
    {"took", LAPSE_FIELD_TOOK, BIT(SPAN)},           {"repeated", LAPSE_FIELD_REPEATED, BIT(TEXT)},
    {"more", LAPSE_FIELD_MORE, BIT(TEXT)},
};

enum { FIELD_WORDS = sizeof(field_words) / sizeof(field_words[0]) };

static uint32_t kinds_of(enum lapse_field field);
static const char *fields_of(int verb, enum lapse_status status);

enum lapse_field lapse_field_find(const char *word, size_t len) {
    for (size_t i = 0; i < FIELD_WORDS; i++) {
        if (strlen(field_words[i].word) == len && memcmp(field_words[i].word, word, len) == 0) {
            return field_words[i].field;
        }
    }
    return LAPSE_FIELD_DEFAULT;
}

const char *lapse_field_word(enum lapse_field field) {
    for (size_t i = 0; i < FIELD_WORDS; i++) {
        if (field_words[i].field == field) {
            return field_words[i].word;
        }
    }
    return "";
}

enum lapse_field lapse_field_default(int verb) {
    switch (verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_INSPECT:
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
        return LAPSE_FIELD_TOKEN;
    case LAPSE_VERB_GET:
    case LAPSE_VERB_HAS:
    case LAPSE_CALL_READ:
        return LAPSE_FIELD_VALUE;
    case LAPSE_VERB_COUNT:
        return LAPSE_FIELD_COUNT;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
        return LAPSE_FIELD_KEYS;
    default:
        return LAPSE_FIELD_REV;
    }
}

bool lapse_field_answered(int verb, enum lapse_status status, enum lapse_field field) {
    return field == LAPSE_FIELD_TOOK ||
           lapse_words_have(fields_of(verb, status), lapse_field_word(field));
}

/* A saved reply is one that was accepted, and its keys are no single value. Without a date of its
 * own a write's end is a span from the start, as a lease's always is; what `persist` answers never
 * ends. A date that has passed ends at the instant of the call. */
uint32_t lapse_field_saved(int verb, bool dated, enum lapse_field field) {
    enum lapse_field meant = field == LAPSE_FIELD_DEFAULT ? lapse_field_default(verb) : field;
    if (meant == LAPSE_FIELD_KEYS || !lapse_field_answered(verb, LAPSE_OK, meant)) {
        return 0;
    }
    bool ends = meant == LAPSE_FIELD_END || meant == LAPSE_FIELD_LEFT;
    if (verb == LAPSE_VERB_PERSIST && ends) {
        return 0;
    }
    bool any = verb == LAPSE_VERB_ENTRY || dated;
    return meant == LAPSE_FIELD_END && !any ? BIT(SPAN) : kinds_of(meant);
}

const char *lapse_field_list(int verb, enum lapse_status status, char *buf, size_t cap) {
    const char *fields = fields_of(verb, status);
    (void)snprintf(buf, cap, "%s%stook", fields, fields[0] == '\0' ? "" : " ");
    return buf;
}

const char *lapse_field_list_saved(const uint32_t *kinds, char *buf, size_t cap) {
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < FIELD_WORDS; i++) {
        if (kinds[field_words[i].field] != 0 && used + 12 < cap) {
            used += (size_t)snprintf(buf + used, cap - used, "%s%s", used == 0 ? "" : " ",
                                     field_words[i].word);
        }
    }
    return buf;
}

static uint32_t kinds_of(enum lapse_field field) {
    for (size_t i = 0; i < FIELD_WORDS; i++) {
        if (field_words[i].field == field) {
            return field_words[i].kinds;
        }
    }
    return 0;
}

static const char *fields_of(int verb, enum lapse_status status) {
    for (size_t i = 0; i < sizeof(answer_rows) / sizeof(answer_rows[0]); i++) {
        if (answer_rows[i].verb == verb && answer_rows[i].status == status) {
            return answer_rows[i].fields;
        }
    }
    return "";
}
