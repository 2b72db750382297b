/* Codes on the command line: contracts, mistakes of files, and the program's own messages, found in
 * any case of letters. */
#include "codes.h"

#include <string.h>

#include "contracts/nearest.h"
#include "reports/recorded.h"

enum { CODE_BYTES_MAX = 32 };

/* The rest are the loader's. */
static const struct lapse_mistake own[] = {
    {"Y000", "a file cannot be read",
     "The path does not lead to a file that this user may read. Look for a typing error in it. A "
     "scenario is a regular file: pipes and devices are not opened."},
    {"W001", "a pattern of `sometimes` never came true",
     "The scenario ran and nothing broke, but the moment that it is about did not come. Over all "
     "rows of a document each pattern must come true once; else the document is inconclusive."},
    {"W002", "a call may wait for ever",
     "A call has no timeout unless it says so, and a paused store answers when it wakes. Write "
     "`timeout: 1s`; the answer is then `unknown`, which may mean that the call took effect. Or "
     "end "
     "the pause: `for: 10s`, or `resume: n1` later."},
};

static bool mistake_at(size_t at, struct lapse_mistake *ret);

/* Codes are upper case. What is too long is no code and stays what it is. */
static const char *upper(const char *code, char *buf) {
    size_t len = strlen(code);
    if (len >= CODE_BYTES_MAX) {
        return code;
    }
    for (size_t i = 0; i <= len; i++) {
        buf[i] = code[i] >= 'a' && code[i] <= 'z' ? (char)(code[i] - 'a' + 'A') : code[i];
    }
    return buf;
}

const struct lapse_contract *lapse_cli_contract_find(const char *code) {
    char buf[CODE_BYTES_MAX];
    return lapse_contract_find(upper(code, buf));
}

bool lapse_cli_mistake_find(const char *code, struct lapse_mistake *ret) {
    char buf[CODE_BYTES_MAX];
    const char *wanted = upper(code, buf);
    for (size_t i = 0; mistake_at(i, ret); i++) {
        if (strcmp(ret->code, wanted) == 0) {
            return true;
        }
    }
    return false;
}

/* All of them, one table after the other. */
static bool mistake_at(size_t at, struct lapse_mistake *ret) {
    size_t scenarios, histories;
    const struct lapse_mistake *table = lapse_mistake_table(&scenarios);
    const struct lapse_recorded_code *codes = lapse_recorded_codes(&histories);
    if (at < scenarios) {
        *ret = table[at];
    } else if (at - scenarios < histories) {
        const struct lapse_recorded_code *one = &codes[at - scenarios];
        *ret = (struct lapse_mistake){one->code, one->title, one->more};
    } else if (at - scenarios - histories < sizeof own / sizeof *own) {
        *ret = own[at - scenarios - histories];
    } else {
        return false;
    }
    return true;
}

const char *lapse_cli_code_nearest(const char *code, bool contracts_only) {
    char buf[CODE_BYTES_MAX];
    size_t count;
    struct lapse_nearest near;
    lapse_nearest_begin(&near, upper(code, buf));
    const struct lapse_contract *contracts = lapse_contract_table(&count);
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&near, contracts[i].id);
    }
    if (contracts_only) {
        return near.best;
    }
    struct lapse_mistake mistake;
    for (size_t i = 0; mistake_at(i, &mistake); i++) {
        lapse_nearest_offer(&near, mistake.code);
    }
    return near.best;
}
