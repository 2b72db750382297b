/* The story stands for all calls in the tests that fail, fork and recover each of them, so it must
 * hold every verb, every kind of term and end, and every answer that a call can give. */
#include "testing.h"

#include <criterion/criterion.h>

struct told {
    uint64_t verbs, done; /* called at all; with success */
    unsigned terms, bucket_terms;
    unsigned watches, durabilities, records;
    uint64_t answers; /* of statuses >= 0 */
    bool request, repeated, after, limit, peek, by_revision, version, cap, renewed;
};

static void look_at_command(struct told *told, const struct lapse_command *command) {
    told->request = told->request || command->request.len > 0;
    switch (command->verb) {
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        told->bucket_terms |= command->u.open.config.term.given;
        break;
    case LAPSE_VERB_SET:
    case LAPSE_VERB_EXPIRE:
        told->terms |= command->u.write.term.given;
        told->cap = told->cap || command->u.write.term.cap.ns > 0;
        break;
    case LAPSE_VERB_DELETE:
        told->version = told->version || command->u.write.has_if_version;
        break;
    case LAPSE_VERB_WATCH:
        told->watches |= 1U << command->u.watch.from;
        break;
    case LAPSE_VERB_ACQUIRE:
        told->durabilities |= 1U << command->u.lease.durability;
        break;
    case LAPSE_VERB_GET:
        told->peek = told->peek || command->u.read.peek;
        told->by_revision = told->by_revision || command->u.read.has_revision;
        break;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
        told->after = told->after || command->u.page.has_after;
        told->limit = told->limit || command->u.page.limit > 0;
        break;
    default:
        break;
    }
}

static enum lapse_status look_at_row(void *ctx, const struct lapse_row *row) {
    struct told *told = ctx;
    if (row->kind == LAPSE_ROW_RECORD) {
        told->records |= 1U << row->record.kind;
    }
    return LAPSE_OK;
}

Test(story, it_holds_every_verb_term_and_answer) {
    struct lapse_testing t;
    struct told told = {0};
    lapse_testing_open(&t);
    for (size_t i = 0; i < lapse_testing_story_length(); i++) {
        struct lapse_command command = lapse_testing_story_command(i);
        enum lapse_status status = lapse_testing_story(&t, i);
        look_at_command(&told, &command);
        told.verbs |= UINT64_C(1) << command.verb;
        told.done |= status == LAPSE_OK ? UINT64_C(1) << command.verb : 0;
        told.answers |= status >= LAPSE_OK ? UINT64_C(1) << status : 0;
        told.repeated = told.repeated || t.r.repeated;
        told.renewed = told.renewed || t.r.renewed;
        cr_assert_eq(lapse_walk(t.store, look_at_row, &told, &t.err), LAPSE_OK);
    }
#define EXPECT_VERB(id, value, word, klass)                                                        \
    cr_expect((told.verbs >> (value)&1) != 0, "no %s is called", word);                            \
    cr_expect((told.done >> (value)&1) != 0, "no %s is done", word);
    LAPSE_VERB_TABLE(EXPECT_VERB)
#undef EXPECT_VERB
    cr_expect_eq(told.terms, LAPSE_TERM_TTL | LAPSE_TERM_IDLE | LAPSE_TERM_EXPIRES_AT |
                                 LAPSE_TERM_SESSION | LAPSE_TERM_KEEP);
    cr_expect_eq(told.bucket_terms, LAPSE_TERM_TTL | LAPSE_TERM_IDLE);
    cr_expect_eq(told.watches, 7, "watches from now, the live keys, a revision: %u", told.watches);
    cr_expect_eq(told.durabilities, 3);
    cr_expect_eq(told.records, 30, "values, tombstones, markers, purges: %u", told.records);
    static const enum lapse_status answers[] = {LAPSE_OK,   LAPSE_ABSENT,    LAPSE_EXISTS,
                                                LAPSE_HELD, LAPSE_NOT_OWNER, LAPSE_CONFLICT,
                                                LAPSE_LOST};
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        cr_expect((told.answers >> answers[i] & 1) != 0, "no call answers %s",
                  lapse_status_word(answers[i]));
    }
    cr_expect(told.request && told.repeated && told.after && told.limit && told.peek &&
              told.by_revision && told.version && told.cap && told.renewed);
    lapse_testing_close(&t);
}
