/* The mutator keeps records whole: whatever it does, each record of the output is one of an input
 * but for a few bytes, so no operation is cut in two. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

enum {
    RECORDS = 12,
    ROUNDS = 20000,
    CHANGED_MAX = RECORD_BYTES / 2,
    LEN = HEAD_BYTES + RECORDS * RECORD_BYTES
};

void *afl_custom_init(void *afl, unsigned int seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **ret_buf, uint8_t *add,
                       size_t add_size, size_t size_max);

/* Records in which every byte tells record and place. */
static void fill(uint8_t *bytes, int base) {
    memset(bytes, 7, HEAD_BYTES);
    for (int i = 0; i < RECORDS * RECORD_BYTES; i++) {
        bytes[HEAD_BYTES + i] = (uint8_t)(base + i / RECORD_BYTES * 10 + i % RECORD_BYTES);
    }
}

static int least_changed(const uint8_t *record, const uint8_t *from) {
    int least = RECORD_BYTES;
    for (int i = 0; i < RECORDS; i++) {
        int changed = 0;
        for (int at = 0; at < RECORD_BYTES; at++) {
            changed += record[at] != from[HEAD_BYTES + i * RECORD_BYTES + at];
        }
        least = changed < least ? changed : least;
    }
    return least;
}

Test(mutator, every_record_that_comes_out_went_in_but_for_a_few_bytes) {
    uint8_t in[LEN], add[LEN], *out = NULL;
    int lengths[3] = {0}; /* shorter, equal, longer */
    int spliced = 0, records = 0, foreign = 0;
    void *m = afl_custom_init(NULL, 1);
    cr_assert_not_null(m);
    fill(in, 0);
    fill(add, 113);
    for (int round = 0; round < ROUNDS; round++) {
        size_t max = LEN + (size_t)(round % 3) * RECORD_BYTES;
        size_t len = afl_custom_fuzz(m, in, LEN, &out, add, LEN, max);
        cr_assert(len <= max && (len - HEAD_BYTES) % RECORD_BYTES == 0, "round %d", round);
        for (size_t at = HEAD_BYTES; at < len; at += RECORD_BYTES) {
            int own = least_changed(out + at, in);
            int other = least_changed(out + at, add);
            records++;
            foreign += own > CHANGED_MAX && other > CHANGED_MAX;
            spliced += other == 0;
        }
        lengths[len < LEN ? 0 : len == LEN ? 1 : 2]++;
    }
    cr_assert_lt(foreign, records / 200, "%d of %d records are cut", foreign, records);
    cr_assert(lengths[0] > 100 && lengths[1] > 100 && lengths[2] > 100 && spliced > 100);
    afl_custom_deinit(m);
}

Test(mutator, one_seed_gives_one_row_of_inputs_and_nothing_is_too_short_for_it) {
    uint8_t in[LEN], *out = NULL, *again = NULL;
    void *a = afl_custom_init(NULL, 3);
    void *b = afl_custom_init(NULL, 3);
    fill(in, 0);
    for (size_t size = 0; size < LEN; size++) {
        size_t len = afl_custom_fuzz(a, in, size, &out, NULL, 0, 4096);
        cr_assert_eq(afl_custom_fuzz(b, in, size, &again, NULL, 0, 4096), len);
        cr_assert_eq(memcmp(out, again, len), 0);
    }
    afl_custom_deinit(a);
    afl_custom_deinit(b);
}
