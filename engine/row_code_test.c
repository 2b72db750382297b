/* Rows as bytes: what is written is read back, every field counts, and bytes that are cut or
 * changed are told or are another row: they never reach an assertion, and never read past their
 * end. */
#include "testing.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 512 };

static struct lapse_bytes bytes(const char *text) {
    return lapse_bytes_of(text);
}

static const struct lapse_end until = {LAPSE_END_STEADY, INT64_MAX};

/* A row of each kind in which no field that its kind has is zero. */
static void make_rows(struct lapse_row *rows) {
    for (int kind = LAPSE_ROW_BUCKET; kind <= LAPSE_ROW_REQUEST; kind++) {
        rows[kind - 1] = (struct lapse_row){.kind = (enum lapse_row_kind)kind,
                                            .part = LAPSE_PART_TENURE,
                                            .bucket = bytes("bucket"),
                                            .key = bytes("k"),
                                            .revision = INT64_MIN};
    }
    rows[0].bucket_row.config = (struct lapse_bucket_config){
        .term = {.given = LAPSE_TERM_IDLE, .ttl = {1}, .idle = {2}, .cap = {3}},
        .markers = {4},
        .history = LAPSE_HISTORY_MAX};
    rows[0].bucket_row.ceiling_revision = -1;
    rows[0].bucket_row.forgotten = 5;
    rows[1].record.kind = LAPSE_RECORD_MARKER;
    rows[1].record.value = bytes("value");
    rows[1].record.end = until;
    rows[1].record.source = LAPSE_SOURCE_MARKERS;
    rows[1].record.span.ns = 6;
    rows[1].record.idle = true;
    rows[1].record.cap.ns = 7;
    rows[1].record.session = 8;
    rows[1].record.last.ns = 9;
    rows[1].record.written_seq = 10;
    rows[1].record.old_revision = 11;
    rows[1].record.why = LAPSE_WHY_SESSION;
    rows[1].mark.store.ns = 12;
    rows[2].lease.owner = bytes("owner");
    rows[2].lease.token = 13;
    rows[2].lease.end = until;
    rows[2].lease.span.ns = 14;
    rows[2].lease.durability = LAPSE_EPHEMERAL;
    rows[2].lease.session = 15;
    rows[3].session.owner = bytes("owner");
    rows[3].session.end = (struct lapse_end){LAPSE_END_WALL, INT64_MIN};
    rows[3].session.span.ns = 16;
    rows[5].mark.store.ns = 17;
    rows[5].mark.reading = (struct lapse_reading){UINT64_MAX, 18, {19}};
    rows[5].mark.ceiling_store.ns = 20;
    rows[5].mark.ceiling_token = 21;
    rows[5].mark.policies = UINT64_C(1) << 63;
    rows[6].request.verb = LAPSE_VERB_BATCH;
    rows[6].request.digest = 22;
    rows[6].request.status = LAPSE_HELD;
    rows[6].request.at.ns = 23;
    rows[6].request.revision = 24;
    rows[6].request.token = 25;
    rows[6].request.end = until;
    rows[6].request.owner = bytes("owner");
    rows[6].request.answers = bytes("answers");
}

static size_t encode(const struct lapse_row *row, unsigned char *buf) {
    size_t len = 0;
    cr_assert_eq(lapse_row_encode(row, buf, BYTES_MAX, &len), LAPSE_OK);
    return len;
}

static uint64_t digest_of(const struct lapse_row *row) {
    struct lapse_digest digest;
    lapse_digest_begin(&digest);
    lapse_row_digest(row, &digest);
    return lapse_digest_value(&digest);
}

/* Decodes from memory of exactly that length, so that a read past the end shows. */
static enum lapse_status decode(const unsigned char *data, size_t len, struct lapse_row *ret,
                                unsigned char **ret_exact) {
    struct lapse_error err;
    unsigned char *exact = malloc(len == 0 ? 1 : len);
    cr_assert_not_null(exact);
    memcpy(exact, data, len);
    *ret_exact = exact;
    enum lapse_status status = lapse_row_decode((struct lapse_bytes){exact, len}, ret, &err);
    cr_assert(status == LAPSE_OK || strstr(err.message, "are not those of one row") != NULL);
    return status;
}

Test(row_code, each_kind_is_read_back_as_it_was_written) {
    struct lapse_row rows[LAPSE_ROW_REQUEST];
    make_rows(rows);
    for (int i = 0; i < 2 * LAPSE_ROW_REQUEST; i++) {
        unsigned char buf[BYTES_MAX];
        unsigned char again[BYTES_MAX];
        struct lapse_row row = rows[i / 2];
        struct lapse_row back = {.revision = 99};
        unsigned char *exact = NULL;
        row.part = i % 2 == 0 ? LAPSE_PART_DURABLE : LAPSE_PART_TENURE;
        size_t len = encode(&row, buf);
        cr_assert_eq(decode(buf, len, &back, &exact), LAPSE_OK, "kind %d", (int)row.kind);
        cr_expect(back.kind == row.kind && back.part == row.part &&
                  back.revision == row.revision && lapse_bytes_equal(back.bucket, row.bucket) &&
                  lapse_bytes_equal(back.key, row.key));
        cr_expect_eq(encode(&back, again), len);
        cr_expect_eq(memcmp(buf, again, len), 0, "kind %d", (int)row.kind);
        cr_expect_eq(digest_of(&back), digest_of(&row));
        free(exact);
    }
}

Test(row_code, a_buffer_that_is_too_small_is_not_written_to) {
    struct lapse_row rows[LAPSE_ROW_REQUEST];
    make_rows(rows);
    for (int i = 0; i < LAPSE_ROW_REQUEST; i++) {
        unsigned char buf[BYTES_MAX];
        size_t len = encode(&rows[i], buf);
        for (size_t cap = 0; cap < len; cap++) {
            unsigned char small[BYTES_MAX];
            size_t wanted = 0;
            memset(small, 0x5a, sizeof(small));
            cr_assert_eq(lapse_row_encode(&rows[i], cap == 0 ? NULL : small, cap, &wanted),
                         LAPSE_LIMIT);
            cr_assert_eq(wanted, len);
            cr_assert(small[0] == 0x5a && memcmp(small, small + 1, sizeof(small) - 1) == 0);
        }
    }
}

Test(row_code, bytes_that_are_cut_or_prolonged_are_corrupt) {
    struct lapse_row rows[LAPSE_ROW_REQUEST];
    make_rows(rows);
    for (int i = 0; i < LAPSE_ROW_REQUEST; i++) {
        unsigned char buf[BYTES_MAX] = {0};
        struct lapse_row back = {.revision = 99};
        unsigned char *exact = NULL;
        size_t len = encode(&rows[i], buf);
        for (size_t cut = 0; cut <= len + 8; cut++) {
            enum lapse_status want = cut == len ? LAPSE_OK : LAPSE_CORRUPT;
            cr_assert_eq(decode(buf, cut, &back, &exact), want, "kind %d cut to %zu", i + 1, cut);
            cr_assert(cut == len || cut > len || back.revision == 99, "a refused row was given");
            free(exact);
        }
    }
}

/* Every byte is part of what the row says: another byte there is refused or another row, whose
 * bytes are those, and whose digest is another. */
Test(row_code, a_byte_that_is_changed_is_refused_or_another_row) {
    struct lapse_row rows[LAPSE_ROW_REQUEST];
    int refused = 0;
    int other = 0;
    make_rows(rows);
    for (int i = 0; i < LAPSE_ROW_REQUEST; i++) {
        unsigned char buf[BYTES_MAX];
        unsigned char again[BYTES_MAX];
        size_t len = encode(&rows[i], buf);
        for (size_t at = 0; at < len; at++) {
            for (unsigned flip = 1; flip < 256; flip += at % 2 == 0 ? 1 : 7) {
                struct lapse_row back = {0};
                unsigned char *exact = NULL;
                buf[at] ^= (unsigned char)flip;
                if (decode(buf, len, &back, &exact) == LAPSE_OK) {
                    other++;
                    cr_assert_eq(encode(&back, again), len);
                    cr_assert_eq(memcmp(buf, again, len), 0, "kind %d, byte %zu", i + 1, at);
                    cr_assert_neq(digest_of(&back), digest_of(&rows[i]));
                } else {
                    refused++;
                }
                free(exact);
                buf[at] ^= (unsigned char)flip;
            }
        }
    }
    cr_expect(refused > 1000 && other > 1000, "%d refused, %d other rows", refused, other);
}

/* Numbers one past those of their type, at each place that holds one byte. */
Test(row_code, a_number_past_its_type_is_corrupt) {
    for (int kind = 0; kind <= UINT8_MAX; kind++) {
        struct lapse_row row = {.kind = LAPSE_ROW_COUNTER};
        unsigned char buf[BYTES_MAX];
        unsigned char *exact = NULL;
        size_t len = encode(&row, buf);
        buf[0] = (unsigned char)kind;
        enum lapse_status want = kind == LAPSE_ROW_COUNTER ? LAPSE_OK : LAPSE_CORRUPT;
        cr_expect_eq(decode(buf, len, &row, &exact), want, "kind %d", kind);
        free(exact);
    }
}
