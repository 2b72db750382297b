/* The digest: two 64-bit lanes mixed word by word, so that it needs no buffer and gives the same
 * value on machines of either byte order. */
#include "lapse/base.h"

static uint64_t mix(uint64_t word);

void lapse_digest_begin(struct lapse_digest *digest) {
    digest->a = UINT64_C(0x243f6a8885a308d3);
    digest->b = UINT64_C(0x13198a2e03707344);
    digest->fields = 0;
}

void lapse_digest_u64(struct lapse_digest *digest, uint64_t value) {
    digest->a = mix(digest->a ^ value);
    digest->b = (digest->b << 23 | digest->b >> 41) * UINT64_C(0xd6e8feb86659fd93) + digest->a;
    digest->fields++;
}

void lapse_digest_i64(struct lapse_digest *digest, int64_t value) {
    lapse_digest_u64(digest, (uint64_t)value);
}

void lapse_digest_bytes(struct lapse_digest *digest, struct lapse_bytes bytes) {
    lapse_digest_u64(digest, (uint64_t)bytes.len);
    for (size_t i = 0; i < bytes.len; i += 8) {
        uint64_t word = 0;
        for (size_t k = 0; k < 8 && i + k < bytes.len; k++) {
            word |= (uint64_t)bytes.data[i + k] << (8 * k);
        }
        lapse_digest_u64(digest, word);
    }
}

uint64_t lapse_digest_value(const struct lapse_digest *digest) {
    return mix(digest->a ^ mix(digest->b ^ digest->fields));
}

static uint64_t mix(uint64_t word) {
    word ^= word >> 32;
    word *= UINT64_C(0xe9846af9b1a615d3);
    word ^= word >> 29;
    word *= UINT64_C(0x94d049bb133111eb);
    return word ^ (word >> 32);
}
