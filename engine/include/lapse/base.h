/* liblapse_base: what every layer shares and what knows nothing of keys, terms or leases.
 *
 * Byte strings, errors, the allocator, assertions, the digest. It is a library of its own so that
 * the contracts, which judge the engine, can use these without linking the engine. Thread-safe:
 * no function here has state. */
#ifndef LAPSE_BASE_H
#define LAPSE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lapse/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LAPSE_PRINTF(format_index, first_index)                                                    \
    __attribute__((format(printf, format_index, first_index)))
#else
#define LAPSE_PRINTF(format_index, first_index)
#endif

/* ---- Bytes: a borrowed byte string. Any bytes, NUL included; `data` may be NULL iff len is 0. */
struct lapse_bytes {
    const unsigned char *data;
    size_t len;
};

/* Borrows a NUL-terminated text. NULL gives the empty string. */
struct lapse_bytes lapse_bytes_of(const char *text);

/* Byte order: negative, 0, positive as memcmp; a prefix sorts first. */
int lapse_bytes_compare(struct lapse_bytes a, struct lapse_bytes b);
bool lapse_bytes_equal(struct lapse_bytes a, struct lapse_bytes b);

/* Writes `bytes` as printable UTF-8 into buf (capacity cap > 0): characters pass unchanged; each
 * byte of a control, of a mark that turns or hides text, of the backslash and of anything that is
 * not UTF-8 becomes \xHH. What does not fit ends in "...", never inside a character or an escape.
 * Always NUL-terminates. Returns buf, for use in a message. */
char *lapse_bytes_print(struct lapse_bytes bytes, char *buf, size_t cap);

/* ---- Errors: filled by the function that fails, context added as it climbs. Never allocates. */
enum { LAPSE_ERROR_MESSAGE_MAX = 512, LAPSE_ERROR_FILE_MAX = 256 };

struct lapse_error {
    enum lapse_status status;
    char message[LAPSE_ERROR_MESSAGE_MAX]; /* a sentence: thing, value seen, wanted, next step */
    char file[LAPSE_ERROR_FILE_MAX];       /* text input only; "" otherwise */
    int line;                              /* from 1; 0: no place */
    int column;                            /* from 1, in bytes */
    int span;                              /* length in bytes */
};

/* Sets *err (may be NULL) to status and message. Returns status, so that `return
 * lapse_error_set(...)` is one line. */
enum lapse_status lapse_error_set(struct lapse_error *err, enum lapse_status status,
                                  const char *format, ...) LAPSE_PRINTF(3, 4);

/* Puts "context: " before the message of *err (may be NULL); cuts the tail if it does not fit. */
void lapse_error_context(struct lapse_error *err, const char *format, ...) LAPSE_PRINTF(2, 3);

/* ---- Allocator: one function.
 * resize(ctx, NULL, 0, n) allocates, resize(ctx, p, old, 0) frees and returns NULL, else resizes
 * keeping min(old, n) bytes. Returns NULL when memory runs out; then p stays as it was.
 * Memory is aligned for any object. `old_bytes` is exactly the size last asked for. */
typedef struct lapse_alloc {
    void *(*resize)(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes);
    void *ctx;
} lapse_alloc;

/* The C library's allocator. Static object. */
const lapse_alloc *lapse_alloc_libc(void);

/* Allocates n zeroed bytes (n > 0), or returns NULL. */
void *lapse_alloc_zero(const lapse_alloc *alloc, size_t bytes);

/* Frees p (NULL is allowed) of `bytes` bytes. */
void lapse_alloc_free(const lapse_alloc *alloc, void *ptr, size_t bytes);

/* Grows an array to hold at least `count` items of `item_bytes`, doubling from 8. *cap is its
 * capacity in items. Returns false, changing nothing, when memory runs out or sizes overflow. */
bool lapse_alloc_grow(const lapse_alloc *alloc, void **array, size_t *cap, size_t count,
                      size_t item_bytes);

/* ---- Assertions: for our own bugs, on in every build. One condition each, no side effects. */
#define LAPSE_ASSERT(condition)                                                                    \
    ((condition) ? (void)0 : lapse_assert_failed(#condition, __FILE__, __LINE__))

/* Prints the condition and its place on stderr and aborts. */
#if defined(__GNUC__)
__attribute__((noreturn))
#endif
void lapse_assert_failed(const char *condition, const char *file, int line);

/* ---- Digest: 64 bits over a sequence of fields. Same fields, same digest, on every machine. Not
 * for secrecy. Fields are fed one by one, never whole structs: padding is not content. */
struct lapse_digest {
    uint64_t a, b;
    uint64_t fields;
};

void lapse_digest_begin(struct lapse_digest *digest);
void lapse_digest_u64(struct lapse_digest *digest, uint64_t value);
void lapse_digest_i64(struct lapse_digest *digest, int64_t value);
/* Feeds length, then content. */
void lapse_digest_bytes(struct lapse_digest *digest, struct lapse_bytes bytes);
/* The value so far; the digest can go on. */
uint64_t lapse_digest_value(const struct lapse_digest *digest);

/* A 64-bit hash of a byte string, for tables. Never iterate in its order. */
uint64_t lapse_bytes_hash(struct lapse_bytes bytes);

#ifdef __cplusplus
}
#endif
#endif
