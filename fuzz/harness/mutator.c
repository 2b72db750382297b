/* A custom mutator for AFL++: inputs of records that all have one size, behind a head that is kept
 * in place. Whole records are replaced, swapped, doubled, dropped, moved and taken from another
 * input; inside a record a byte or a number becomes a landmark. So an operation stays an operation
 * where plain mutation shifts all that follows.
 *
 * Compiled once for each layout: RECORD_BYTES and HEAD_BYTES. The names are those that afl-fuzz
 * looks for (AFL_CUSTOM_MUTATOR_LIBRARY); their types are as its manual has them, for it installs
 * no header. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES_MAX = 16384, CHANGES_MAX = 8 };

struct mutator {
    uint64_t chance;
    uint8_t buf[BYTES_MAX];
    size_t len;
};

void *afl_custom_init(void *afl, unsigned int seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **ret_buf, uint8_t *add,
                       size_t add_size, size_t size_max);

static size_t draw(struct mutator *m, size_t n);
static void change(struct mutator *m, const uint8_t *add, size_t add_size, size_t size_max);
static void change_inside(struct mutator *m, size_t record);
static void insert(struct mutator *m, size_t record, const uint8_t *what, size_t size_max);
static void drop(struct mutator *m, size_t record);
static void swap(struct mutator *m, size_t a, size_t b);
static size_t count_of(size_t size);
static uint8_t *record_at(struct mutator *m, size_t record);

void *afl_custom_init(void *afl, unsigned int seed) {
    struct mutator *m = calloc(1, sizeof(*m));
    (void)afl;
    if (m != NULL) {
        m->chance = seed;
    }
    return m;
}

void afl_custom_deinit(void *data) {
    free(data);
}

size_t afl_custom_fuzz(void *data, uint8_t *buf, size_t size, uint8_t **ret_buf, uint8_t *add,
                       size_t add_size, size_t size_max) {
    struct mutator *m = data;
    size_max = size_max < BYTES_MAX ? size_max : BYTES_MAX;
    m->len = size < size_max ? size : size_max;
    memcpy(m->buf, buf, m->len);
    for (size_t i = 1 + draw(m, CHANGES_MAX); i > 0; i--) {
        change(m, add, add_size, size_max);
    }
    *ret_buf = m->buf;
    return m->len;
}

static void change(struct mutator *m, const uint8_t *add, size_t add_size, size_t size_max) {
    uint8_t fresh[RECORD_BYTES];
    size_t count = count_of(m->len);
    size_t others = count_of(add_size);
    if (count == 0) {
        for (size_t i = 0; i < sizeof(fresh); i++) {
            fresh[i] = (uint8_t)draw(m, 256);
        }
        insert(m, 0, fresh, size_max);
        return;
    }
    size_t record = draw(m, count);
    size_t other = draw(m, count);
    switch (draw(m, 8)) {
    case 0:
        drop(m, record);
        break;
    case 1:
        swap(m, record, other);
        break;
    case 2:
        memcpy(fresh, record_at(m, record), sizeof(fresh));
        insert(m, other, fresh, size_max);
        break;
    case 3:
        memmove(record_at(m, record), record_at(m, other), sizeof(fresh));
        break;
    case 4:
        if (others > 0) {
            insert(m, record, add + HEAD_BYTES + draw(m, others) * RECORD_BYTES, size_max);
        }
        break;
    default:
        change_inside(m, record);
        break;
    }
    if (HEAD_BYTES > 0 && draw(m, 32) == 0) {
        m->buf[draw(m, HEAD_BYTES < m->len ? HEAD_BYTES : m->len)] = (uint8_t)draw(m, 256);
    }
}

static void change_inside(struct mutator *m, size_t record) {
    static const uint8_t landmarks[] = {0, 1, 2, 3, 15, 16, 31, 63, 64, 127, 128, 254, 255};
    uint8_t *bytes = record_at(m, record);
    size_t at = draw(m, RECORD_BYTES);
    switch (draw(m, 4)) {
    case 0:
        bytes[at] = landmarks[draw(m, sizeof(landmarks))];
        break;
    case 1:
        bytes[at] = (uint8_t)draw(m, 256);
        break;
    case 2:
        bytes[at] = (uint8_t)(bytes[at] + draw(m, 2) * 2 - 1);
        break;
    default: /* what stands there in another record */
        bytes[at] = record_at(m, draw(m, count_of(m->len)))[at];
        break;
    }
}

static void insert(struct mutator *m, size_t record, const uint8_t *what, size_t size_max) {
    size_t at = HEAD_BYTES + record * RECORD_BYTES;
    uint8_t copy[RECORD_BYTES];
    memcpy(copy, what, sizeof(copy));
    if (m->len < at) {
        memset(m->buf + m->len, 0, at - m->len);
        m->len = at;
    }
    if (m->len + RECORD_BYTES <= size_max) {
        memmove(m->buf + at + RECORD_BYTES, m->buf + at, m->len - at);
        memcpy(m->buf + at, copy, sizeof(copy));
        m->len += RECORD_BYTES;
    }
}

static void drop(struct mutator *m, size_t record) {
    size_t at = HEAD_BYTES + record * RECORD_BYTES;
    memmove(m->buf + at, m->buf + at + RECORD_BYTES, m->len - at - RECORD_BYTES);
    m->len -= RECORD_BYTES;
}

static void swap(struct mutator *m, size_t a, size_t b) {
    uint8_t kept[RECORD_BYTES];
    memcpy(kept, record_at(m, a), sizeof(kept));
    memmove(record_at(m, a), record_at(m, b), sizeof(kept));
    memcpy(record_at(m, b), kept, sizeof(kept));
}

/* Whole records behind the head. */
static size_t count_of(size_t size) {
    return size <= HEAD_BYTES ? 0 : (size - HEAD_BYTES) / RECORD_BYTES;
}

static uint8_t *record_at(struct mutator *m, size_t record) {
    return m->buf + HEAD_BYTES + record * RECORD_BYTES;
}

static size_t draw(struct mutator *m, size_t n) {
    m->chance = m->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)((m->chance >> 33) % n);
}
