/* The words of verbs, events and reasons, all from the tables in lapse/command.h. */
#include "lapse/command.h"

struct verb_word {
    enum lapse_verb verb;
    const char *word;
    enum lapse_class klass;
};

#define VERB_ROW(id, value, word, klass) [value] = {LAPSE_VERB_##id, word, LAPSE_CLASS_##klass},
static const struct verb_word words[] = {LAPSE_VERB_TABLE(VERB_ROW)};
#undef VERB_ROW

enum { WORD_COUNT = sizeof(words) / sizeof(words[0]) };

static const struct verb_word *find_word(enum lapse_verb verb);

const char *lapse_verb_word(enum lapse_verb verb) {
    const struct verb_word *found = find_word(verb);
    return found == NULL ? "?" : found->word;
}

enum lapse_class lapse_command_class(const struct lapse_command *command) {
    const struct verb_word *found = find_word(command->verb);
    bool ephemeral =
        command->verb == LAPSE_VERB_ACQUIRE && command->u.lease.durability == LAPSE_EPHEMERAL;
    if (found == NULL) {
        return LAPSE_CLASS_READ;
    }
    return ephemeral ? LAPSE_CLASS_LOCAL : found->klass;
}

const char *lapse_event_word(enum lapse_event_kind kind) {
    switch (kind) {
    case LAPSE_EVENT_PUT:
        return "put";
    case LAPSE_EVENT_DELETE:
        return "delete";
    case LAPSE_EVENT_PURGE:
        return "purge";
    case LAPSE_EVENT_EXPIRED:
        return "expired";
    case LAPSE_EVENT_GAP:
        return "gap";
    }
    return "?";
}

const char *lapse_why_word(enum lapse_why why) {
    switch (why) {
    case LAPSE_WHY_OWN:
        return "own";
    case LAPSE_WHY_DEFAULT:
        return "default";
    case LAPSE_WHY_SESSION:
        return "session";
    case LAPSE_WHY_IDLE:
        return "idle";
    case LAPSE_WHY_NONE:
        break;
    }
    return "?";
}

static const struct verb_word *find_word(enum lapse_verb verb) {
    bool known = (unsigned)verb < WORD_COUNT && words[verb].word != NULL;
    return known ? &words[verb] : NULL;
}
