/* The words and sentences of the statuses, all from the one table in lapse/status.h, so that no
 * layer spells a status by hand. */
#include "lapse/status.h"

#include <string.h>

struct status_row {
    enum lapse_status status;
    const char *word;
    const char *sentence;
};

#define STATUS_ROW(id, value, word, sentence) {LAPSE_##id, word, sentence},
static const struct status_row rows[] = {LAPSE_STATUS_TABLE(STATUS_ROW)};
#undef STATUS_ROW

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

const char *lapse_status_word(enum lapse_status status) {
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].status == status) {
            return rows[i].word;
        }
    }
    return "?";
}

const char *lapse_status_sentence(enum lapse_status status) {
    for (int i = 0; i < ROW_COUNT; i++) {
        if (rows[i].status == status) {
            return rows[i].sentence;
        }
    }
    return "a status that this version does not know";
}

int lapse_status_find(const char *word, enum lapse_status *ret_status) {
    for (int i = 0; i < ROW_COUNT; i++) {
        if (strcmp(rows[i].word, word) == 0) {
            *ret_status = rows[i].status;
            return 1;
        }
    }
    return 0;
}
