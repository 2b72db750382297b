/* The words of verbs, answers, events and faults, as users write them. The engine has such tables
 * of its own; the contracts do not call it. */
#include "words.h"

const char *lapse_history_kind_word(enum lapse_history_kind kind) {
    static const char *const words[LAPSE_HISTORY_KINDS] = {
        "begin",     "invoke",       "apply",      "emit",     "reply",   "fault begin",
        "fault end", "belief begin", "belief end", "resource", "deliver", "stopped",
        "probe",     "unbound",      "not run",    "waiting",  "note",    "truncated",
        "end",       "step",         "message",    "clock",    "role",    "tenure",
    };
    const char *word = (unsigned)kind < LAPSE_HISTORY_KINDS ? words[kind] : NULL;
    return word == NULL ? "?" : word;
}

const char *lapse_fault_word(enum lapse_fault_kind kind) {
    static const char *const words[] = {"?",      "pause",  "crash", "restart", "suspend",
                                        "clock",  "freeze", "starve", "stall",  "slow",
                                        "cut",    "link",   "disk"};
    return (unsigned)kind < sizeof(words) / sizeof(words[0]) ? words[kind] : "?";
}

const char *lapse_call_word(int verb) {
    switch (verb) {
#define VERB_WORD(id, value, word, klass) \
    case (value):                         \
        return word;
        LAPSE_VERB_TABLE(VERB_WORD)
#undef VERB_WORD
    case LAPSE_CALL_WRITE:
        return "write";
    case LAPSE_CALL_READ:
        return "read";
    case LAPSE_CALL_WORK:
        return "work";
    default:
        return "?";
    }
}

const char *lapse_answer_word(int verb, enum lapse_status status) {
    if (status != LAPSE_OK) {
        return lapse_status_word(status);
    }
    switch (verb) {
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
    case LAPSE_CALL_READ:
        return "value";
    case LAPSE_VERB_ACQUIRE:
        return "granted";
    case LAPSE_VERB_EXTEND:
        return "extended";
    case LAPSE_VERB_RELEASE:
        return "released";
    case LAPSE_VERB_INSPECT:
        return "held_by";
    default:
        return "ok";
    }
}

const char *lapse_words_of_event(enum lapse_event_kind kind) {
    static const char *const words[] = {"?", "put", "delete", "purge", "expired", "gap"};
    return (unsigned)kind < sizeof(words) / sizeof(words[0]) ? words[kind] : "?";
}

const char *lapse_words_of_why(enum lapse_why why) {
    static const char *const words[] = {"none", "own", "default", "idle", "session"};
    return (unsigned)why < sizeof(words) / sizeof(words[0]) ? words[why] : "?";
}

const char *lapse_words_of_field(enum lapse_field field) {
    static const char *const words[LAPSE_FIELDS] = {"",      "value", "rev",      "end",
                                                    "left",  "keys",  "count",    "owner",
                                                    "token", "took",  "repeated", "more"};
    return (unsigned)field < LAPSE_FIELDS ? words[field] : "?";
}
