/* Byte strings: comparison, hashing and printing, with lengths and never a terminator, because keys
 * and values may hold any bytes. */
#include "lapse/base.h"

#include <string.h>

static size_t print_byte(unsigned char byte, char *buf);

struct lapse_bytes lapse_bytes_of(const char *text) {
    struct lapse_bytes bytes = {NULL, 0};
    if (text != NULL) {
        bytes.data = (const unsigned char *)text;
        bytes.len = strlen(text);
    }
    return bytes;
}

int lapse_bytes_compare(struct lapse_bytes a, struct lapse_bytes b) {
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common == 0 ? 0 : memcmp(a.data, b.data, common);
    if (order != 0) {
        return order;
    }
    return a.len < b.len ? -1 : a.len > b.len;
}

bool lapse_bytes_equal(struct lapse_bytes a, struct lapse_bytes b) {
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

char *lapse_bytes_print(struct lapse_bytes bytes, char *buf, size_t cap) {
    LAPSE_ASSERT(cap > 0);
    const char dots[] = "...";
    size_t used = 0;
    size_t fits = 0; /* where the dots can still go */
    for (size_t i = 0; i < bytes.len; i++) {
        char piece[4];
        size_t len = print_byte(bytes.data[i], piece);
        if (used + len + 1 > cap) {
            size_t tail = cap - 1 - fits < 3 ? cap - 1 - fits : 3;
            memcpy(buf + fits, dots, tail);
            buf[fits + tail] = '\0';
            return buf;
        }
        memcpy(buf + used, piece, len);
        used += len;
        if (used + sizeof(dots) <= cap) {
            fits = used;
        }
    }
    buf[used] = '\0';
    return buf;
}

uint64_t lapse_bytes_hash(struct lapse_bytes bytes) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)bytes.len;
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ bytes.data[i]) * UINT64_C(0x100000001b3);
    }
    /* The low bits choose the slot, so the high ones are folded into them. */
    hash ^= hash >> 32;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ (hash >> 29);
}

/* Writes one byte as it is printed (1 or 4 characters, no terminator); returns how many. */
static size_t print_byte(unsigned char byte, char *buf) {
    const char *digits = "0123456789abcdef";
    if (byte >= 0x20 && byte < 0x7f && byte != '\\') {
        buf[0] = (char)byte;
        return 1;
    }
    buf[0] = '\\';
    buf[1] = 'x';
    buf[2] = digits[byte >> 4];
    buf[3] = digits[byte & 15];
    return 4;
}
