/* Records between a worker and its parent: both are this very program on this machine, so fields go
 * as they lie in memory. */
#include "record.h"

#include <string.h>

static bool take(size_t len, size_t *at, int64_t wanted);

void lapse_cli_record_write(struct lapse_out *out, const struct lapse_cli_record *record,
                            const struct lapse_tally *tallies, const char *text,
                            const struct lapse_out *bodies, size_t count) {
    struct lapse_cli_record head = *record;
    LAPSE_ASSERT(count <= LAPSE_CLI_REPORTS_MAX);
    head.text_bytes = (int64_t)strlen(text);
    for (size_t i = 0; i < count; i++) {
        head.bytes[i] = (int64_t)bodies[i].len;
    }
    lapse_out_bytes(out, (const char *)&head, sizeof head);
    if (head.tally_count > 0) {
        lapse_out_bytes(out, (const char *)tallies, (size_t)head.tally_count * sizeof *tallies);
    }
    lapse_out_text(out, text);
    for (size_t i = 0; i < count; i++) {
        lapse_out_bytes(out, bodies[i].text, bodies[i].len);
        out->failed = out->failed || bodies[i].failed;
    }
}

bool lapse_cli_record_read(const char *bytes, size_t len, size_t *at,
                           struct lapse_cli_record_view *ret) {
    size_t next = *at;
    if (!take(len, &next, sizeof ret->head)) {
        return false;
    }
    memcpy(&ret->head, bytes + *at, sizeof ret->head);
    ret->tallies = bytes + next;
    if (ret->head.tally_count < 0 ||
        !take(len, &next, ret->head.tally_count * (int64_t)sizeof(struct lapse_tally))) {
        return false;
    }
    ret->text = bytes + next;
    if (!take(len, &next, ret->head.text_bytes)) {
        return false;
    }
    for (size_t i = 0; i < LAPSE_CLI_REPORTS_MAX; i++) {
        ret->bodies[i] = bytes + next;
        if (!take(len, &next, ret->head.bytes[i])) {
            return false;
        }
    }
    *at = next;
    return true;
}

static bool take(size_t len, size_t *at, int64_t wanted) {
    if (wanted < 0 || (uint64_t)wanted > len - *at) {
        return false;
    }
    *at += (size_t)wanted;
    return true;
}
