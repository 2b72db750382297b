/* Byte strings: comparison, hashing and printing, with lengths and never a terminator, because keys
 * and values may hold any bytes. */
#include "lapse/base.h"

#include <string.h>

/* Code points that a message must not pass on: they move, hide or turn the text around them. */
struct range {
    uint32_t first, last;
};
static const struct range unprintable[] = {
    {0x0000, 0x001f}, /* C0 controls */
    {0x005c, 0x005c}, /* the backslash, which begins an escape */
    {0x007f, 0x009f}, /* DEL and C1 controls */
    {0x061c, 0x061c}, /* Arabic letter mark */
    {0x200b, 0x200f}, /* zero width, direction marks */
    {0x2028, 0x202e}, /* line and paragraph separators, direction overrides */
    {0x2066, 0x2069}, /* direction isolates */
    {0xd800, 0xdfff}, /* surrogates */
    {0xfeff, 0xfeff}, /* byte order mark */
};

enum { PIECE_MAX = 4 }; /* bytes of a character, or of an escape */

static uint64_t word_at(const unsigned char *data, size_t len);
static size_t print_piece(const unsigned char *data, size_t left, char *buf, size_t *ret_len);
static size_t char_len(const unsigned char *data, size_t left);
static bool is_printable(uint32_t code);

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
    for (size_t i = 0; i < bytes.len;) {
        char piece[PIECE_MAX];
        size_t len = 0;
        i += print_piece(bytes.data + i, bytes.len - i, piece, &len);
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
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)bytes.len;
    size_t at = 0;
    for (; bytes.len - at >= sizeof(uint64_t); at += sizeof(uint64_t)) {
        hash = (hash ^ word_at(bytes.data + at, sizeof(uint64_t))) * factor;
        hash ^= hash >> 32;
    }
    if (at < bytes.len) {
        /* What is left; where it can, with some of what has been read, in one load. */
        bool whole = bytes.len >= sizeof(uint64_t);
        uint64_t tail = whole ? word_at(bytes.data + bytes.len - sizeof(uint64_t), sizeof(uint64_t))
                              : word_at(bytes.data, bytes.len);
        hash = (hash ^ tail) * factor;
        hash ^= hash >> 32;
    }
    /* The low bits choose the slot. A product's low bits know nothing of the high ones of its
     * factors, so those are folded into them once more; folding twice without a product between
     * would undo itself. */
    hash *= factor;
    return hash ^ (hash >> 32);
}

/* Up to eight bytes as a number, the first lowest, on every machine. */
static uint64_t word_at(const unsigned char *data, size_t len) {
    uint64_t word = 0;
    if (len == sizeof(word)) {
        /* Spelled out, so that the compiler makes one load of it. */
        return (uint64_t)data[0] | (uint64_t)data[1] << 8 | (uint64_t)data[2] << 16 |
               (uint64_t)data[3] << 24 | (uint64_t)data[4] << 32 | (uint64_t)data[5] << 40 |
               (uint64_t)data[6] << 48 | (uint64_t)data[7] << 56;
    }
    for (size_t i = len; i > 0; i--) {
        word = word << 8 | data[i - 1];
    }
    return word;
}

/* Writes the character at data, or the escape of its first byte (no terminator); *ret_len is what
 * was written. Returns how many bytes of data it stands for. */
static size_t print_piece(const unsigned char *data, size_t left, char *buf, size_t *ret_len) {
    const char *digits = "0123456789abcdef";
    size_t len = char_len(data, left);
    if (len > 0) {
        memcpy(buf, data, len);
        *ret_len = len;
        return len;
    }
    buf[0] = '\\';
    buf[1] = 'x';
    buf[2] = digits[data[0] >> 4];
    buf[3] = digits[data[0] & 15];
    *ret_len = PIECE_MAX;
    return 1;
}

/* The bytes of the printable character at data; 0: there is none, or its encoding is broken. */
static size_t char_len(const unsigned char *data, size_t left) {
    static const uint32_t least[PIECE_MAX + 1] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = data[0];
    size_t len = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (len == 0 || len > left || lead > 0xf4) {
        return 0;
    }
    uint32_t code = len == 1 ? lead : lead & (0x7fU >> len);
    for (size_t i = 1; i < len; i++) {
        if ((data[i] & 0xc0) != 0x80) {
            return 0;
        }
        code = code << 6 | (data[i] & 0x3fU);
    }
    return code >= least[len] && code <= 0x10ffff && is_printable(code) ? len : 0;
}

static bool is_printable(uint32_t code) {
    for (size_t i = 0; i < sizeof(unprintable) / sizeof(unprintable[0]); i++) {
        if (code >= unprintable[i].first && code <= unprintable[i].last) {
            return false;
        }
    }
    return true;
}
