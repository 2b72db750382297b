/* A row as bytes. One list of fields says what is written and what is read, so the two cannot part:
 * each kind's list is walked by a coder that writes, reads or digests. */
#include "lapse/journal.h"

#include <string.h>

enum coder_mode { WRITES, READS, DIGESTS };

struct coder {
    enum coder_mode mode;
    unsigned char *out; /* WRITES */
    size_t cap;
    const unsigned char *in; /* READS */
    size_t len;              /* written, wanted or read so far */
    size_t in_len;
    struct lapse_digest *digest; /* DIGESTS */
    bool bad; /* READS: the bytes ended, or a number is not one of its type */
};

static void code_row(struct coder *coder, struct lapse_row *row);
static void code_bucket(struct coder *coder, struct lapse_row *row);
static void code_record(struct coder *coder, struct lapse_row *row);
static void code_lease(struct coder *coder, struct lapse_row *row);
static void code_request(struct coder *coder, struct lapse_row *row);
static void code_mark(struct coder *coder, struct lapse_row *row);
static void code_end(struct coder *coder, struct lapse_end *end);
static void code_u64(struct coder *coder, uint64_t *value);
static void put_u64(unsigned char *out, uint64_t value);
static uint64_t get_u64(const unsigned char *in);
static void code_i64(struct coder *coder, int64_t *value);
static int code_int(struct coder *coder, int value, int max);
static void code_bool(struct coder *coder, bool *value);
static void code_bytes(struct coder *coder, struct lapse_bytes *bytes);

enum lapse_status lapse_row_encode(const struct lapse_row *row, unsigned char *buf, size_t cap,
                                   size_t *ret_len) {
    struct lapse_row copy = *row;
    struct coder coder = {.mode = WRITES, .out = NULL, .cap = 0};
    code_row(&coder, &copy);
    *ret_len = coder.len;
    if (coder.len > cap) {
        return LAPSE_LIMIT;
    }
    coder = (struct coder){.mode = WRITES, .out = buf, .cap = cap};
    code_row(&coder, &copy);
    return LAPSE_OK;
}

enum lapse_status lapse_row_decode(struct lapse_bytes bytes, struct lapse_row *ret,
                                   struct lapse_error *err) {
    struct lapse_row row = {0};
    struct coder coder = {.mode = READS, .in = bytes.data, .in_len = bytes.len};
    code_row(&coder, &row);
    if (coder.bad || coder.len != bytes.len) {
        return lapse_error_set(err, LAPSE_CORRUPT,
                               "%zu bytes are not those of one row; they part from it at byte %zu",
                               bytes.len, coder.len);
    }
    *ret = row;
    return LAPSE_OK;
}

void lapse_row_digest(const struct lapse_row *row, struct lapse_digest *digest) {
    struct lapse_row copy = *row;
    struct coder coder = {.mode = DIGESTS, .digest = digest};
    code_row(&coder, &copy);
}

static void code_row(struct coder *coder, struct lapse_row *row) {
    row->kind = (enum lapse_row_kind)code_int(coder, (int)row->kind, LAPSE_ROW_REQUEST);
    row->part = (enum lapse_part)code_int(coder, (int)row->part, LAPSE_PART_TENURE);
    code_bytes(coder, &row->bucket);
    code_bytes(coder, &row->key);
    code_i64(coder, &row->revision);
    switch (row->kind) {
    case LAPSE_ROW_BUCKET:
        code_bucket(coder, row);
        return;
    case LAPSE_ROW_RECORD:
        code_record(coder, row);
        return;
    case LAPSE_ROW_LEASE:
        code_lease(coder, row);
        return;
    case LAPSE_ROW_SESSION:
        code_bytes(coder, &row->session.owner);
        code_end(coder, &row->session.end);
        code_i64(coder, &row->session.span.ns);
        return;
    case LAPSE_ROW_COUNTER:
        return;
    case LAPSE_ROW_MARK:
        code_mark(coder, row);
        return;
    case LAPSE_ROW_REQUEST:
        code_request(coder, row);
        return;
    }
    coder->bad = true;
}

static void code_bucket(struct coder *coder, struct lapse_row *row) {
    struct lapse_bucket_config *config = &row->bucket_row.config;
    const int bits = LAPSE_TERM_TTL | LAPSE_TERM_IDLE;
    config->term.given = (unsigned)code_int(coder, (int)config->term.given, bits);
    code_i64(coder, &config->term.ttl.ns);
    code_i64(coder, &config->term.idle.ns);
    code_i64(coder, &config->term.cap.ns);
    code_i64(coder, &config->markers.ns);
    config->history = (uint32_t)code_int(coder, (int)config->history, LAPSE_HISTORY_MAX);
    code_i64(coder, &config->first_revision);
    code_i64(coder, &row->bucket_row.ceiling_revision);
    code_i64(coder, &row->bucket_row.forgotten);
}

static void code_record(struct coder *coder, struct lapse_row *row) {
    row->record.kind =
        (enum lapse_record_kind)code_int(coder, (int)row->record.kind, LAPSE_RECORD_GONE);
    code_bytes(coder, &row->record.value);
    code_end(coder, &row->record.end);
    row->record.source =
        (enum lapse_term_source)code_int(coder, (int)row->record.source, LAPSE_SOURCE_MARKERS);
    code_i64(coder, &row->record.span.ns);
    code_bool(coder, &row->record.idle);
    code_i64(coder, &row->record.cap.ns);
    code_i64(coder, &row->record.session);
    code_i64(coder, &row->record.last.ns);
    code_i64(coder, &row->record.written_seq);
    code_i64(coder, &row->record.old_revision);
    row->record.why = (enum lapse_why)code_int(coder, (int)row->record.why, LAPSE_WHY_SESSION);
    if (row->part == LAPSE_PART_TENURE) {
        code_i64(coder, &row->mark.store.ns);
    }
}

static void code_lease(struct coder *coder, struct lapse_row *row) {
    code_bytes(coder, &row->lease.owner);
    code_i64(coder, &row->lease.token);
    code_end(coder, &row->lease.end);
    code_i64(coder, &row->lease.span.ns);
    row->lease.durability =
        (enum lapse_durability)code_int(coder, (int)row->lease.durability, LAPSE_EPHEMERAL);
    code_i64(coder, &row->lease.session);
    if (row->part == LAPSE_PART_TENURE) {
        code_i64(coder, &row->mark.store.ns);
    }
}

static void code_request(struct coder *coder, struct lapse_row *row) {
    row->request.verb = (enum lapse_verb)code_int(coder, (int)row->request.verb, UINT8_MAX);
    code_u64(coder, &row->request.digest);
    row->request.status =
        (enum lapse_status)code_int(coder, (int)row->request.status, UINT8_MAX);
    code_i64(coder, &row->request.at.ns);
    code_i64(coder, &row->request.revision);
    code_i64(coder, &row->request.token);
    code_end(coder, &row->request.end);
    code_bytes(coder, &row->request.owner);
    code_bytes(coder, &row->request.answers);
}

static void code_mark(struct coder *coder, struct lapse_row *row) {
    code_i64(coder, &row->mark.store.ns);
    code_u64(coder, &row->mark.reading.boot);
    code_i64(coder, &row->mark.reading.raw_ns);
    code_i64(coder, &row->mark.reading.wall.ns);
    code_i64(coder, &row->mark.ceiling_store.ns);
    code_i64(coder, &row->mark.ceiling_token);
    code_u64(coder, &row->mark.policies);
}

static void code_end(struct coder *coder, struct lapse_end *end) {
    end->kind = (enum lapse_end_kind)code_int(coder, (int)end->kind, LAPSE_END_WALL);
    code_i64(coder, &end->ns);
}

static void code_u64(struct coder *coder, uint64_t *value) {
    if (coder->mode == DIGESTS) {
        lapse_digest_u64(coder->digest, *value);
        return;
    }
    if (coder->mode == WRITES) {
        if (coder->len + 8 <= coder->cap) {
            put_u64(coder->out + coder->len, *value);
        }
        coder->len += 8;
        return;
    }
    if (coder->bad || coder->in_len - coder->len < 8) {
        coder->bad = true;
        return;
    }
    *value = get_u64(coder->in + coder->len);
    coder->len += 8;
}

/* Without a loop, which compilers join to one store, or one load, at -O2. */
static void put_u64(unsigned char *out, uint64_t value) {
    out[0] = (unsigned char)value;
    out[1] = (unsigned char)(value >> 8);
    out[2] = (unsigned char)(value >> 16);
    out[3] = (unsigned char)(value >> 24);
    out[4] = (unsigned char)(value >> 32);
    out[5] = (unsigned char)(value >> 40);
    out[6] = (unsigned char)(value >> 48);
    out[7] = (unsigned char)(value >> 56);
}

static uint64_t get_u64(const unsigned char *in) {
    return (uint64_t)in[0] | (uint64_t)in[1] << 8 | (uint64_t)in[2] << 16 |
           (uint64_t)in[3] << 24 | (uint64_t)in[4] << 32 | (uint64_t)in[5] << 40 |
           (uint64_t)in[6] << 48 | (uint64_t)in[7] << 56;
}

/* Two's complement, by value: no cast out of range. */
static void code_i64(struct coder *coder, int64_t *value) {
    uint64_t bits = (uint64_t)*value;
    code_u64(coder, &bits);
    *value = bits <= INT64_MAX ? (int64_t)bits : -(int64_t)(UINT64_MAX - bits) - 1;
}

/* One byte, 0 to max. */
static int code_int(struct coder *coder, int value, int max) {
    LAPSE_ASSERT(max <= UINT8_MAX);
    if (coder->mode == DIGESTS) {
        lapse_digest_u64(coder->digest, (uint64_t)value);
        return value;
    }
    if (coder->mode == WRITES) {
        LAPSE_ASSERT(value >= 0 && value <= max);
        if (coder->len < coder->cap) {
            coder->out[coder->len] = (unsigned char)value;
        }
        coder->len++;
        return value;
    }
    if (coder->bad || coder->in_len == coder->len || coder->in[coder->len] > max) {
        coder->bad = true;
        return 0;
    }
    return coder->in[coder->len++];
}

static void code_bool(struct coder *coder, bool *value) {
    *value = code_int(coder, *value ? 1 : 0, 1) == 1;
}

/* Their length, then they themselves. */
static void code_bytes(struct coder *coder, struct lapse_bytes *bytes) {
    if (coder->mode == DIGESTS) {
        lapse_digest_bytes(coder->digest, *bytes);
        return;
    }
    uint64_t len = bytes->len;
    code_u64(coder, &len);
    if (coder->mode == WRITES) {
        if (bytes->len > 0 && coder->len + bytes->len <= coder->cap) {
            memcpy(coder->out + coder->len, bytes->data, bytes->len);
        }
        coder->len += bytes->len;
        return;
    }
    if (coder->bad || len > coder->in_len - coder->len) {
        coder->bad = true;
        return;
    }
    bytes->data = len == 0 ? NULL : coder->in + coder->len;
    bytes->len = (size_t)len;
    coder->len += (size_t)len;
}
