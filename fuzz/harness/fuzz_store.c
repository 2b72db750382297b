/* A store file that was damaged: bytes are patches on a sound file, and on its log. The store must
 * say that it cannot open it, and leave it as it was; or open, and then hold what was written: all
 * of it, or, where there was a log, what was there after some call, as if the rest had not been
 * finished.
 *
 * Bytes: one whose lowest bit asks for the log; then patches of PATCH_BYTES (patch below). */
#include "harness.h"

#include <string.h>

#include "lapse/lapse.h"
#include "sim/medium.h"

enum { PATCH_BYTES = 8, PATCHES_MAX = 32, RUN_BYTES = 64, CALLS = 16 };

struct image {
    struct lapse_bytes files[LAPSE_MEDIUM_FILES]; /* data NULL: there is no such file */
};

/* The sound files, made once: closed (the log is folded in), and with a log. */
struct sound {
    struct lapse_medium *medium;
    struct image closed, logged;
    uint64_t digests[CALLS + 1]; /* of the rows before the first call, and after each */
};

static void make_sound(struct sound *sound);
static void make_call(struct lapse *store, int call, struct lapse_result *result,
                      struct lapse_clock_manual *clock);
static struct image copy_files(const struct lapse_medium *medium);
static struct lapse_bytes copy_bytes(struct lapse_bytes bytes);
static void free_image(struct image *image);
static void damage(struct image *image, const unsigned char *data, size_t size);
static void patch(struct lapse_bytes *file, const unsigned char *how);
static uint64_t open_damaged(const struct sound *sound, const struct image *image, bool logged);
static enum lapse_status try_open(const struct sound *sound, struct lapse_clock_manual *clock,
                                  struct lapse **ret, struct lapse_error *err);
static void need_untouched(const struct lapse_medium *medium, const struct image *image);
static bool was_there(const struct sound *sound, uint64_t digest, bool logged);

uint64_t lapse_harness_run(const unsigned char *data, size_t size) {
    static struct sound sound;
    if (sound.medium == NULL) {
        make_sound(&sound);
    }
    if (size == 0) {
        return 0;
    }
    bool logged = data[0] % 2 == 1;
    const struct image *whole = logged ? &sound.logged : &sound.closed;
    struct image image = {{{NULL, 0}, {NULL, 0}}};
    lapse_medium_wipe(sound.medium);
    for (int i = 0; i < LAPSE_MEDIUM_FILES; i++) {
        image.files[i] = copy_bytes(whole->files[i]);
    }
    damage(&image, data + 1, size - 1);
    for (int i = 0; i < LAPSE_MEDIUM_FILES; i++) {
        LAPSE_ASSERT(image.files[i].data == NULL ||
                     lapse_medium_write(sound.medium, (enum lapse_medium_file)i, image.files[i]));
    }
    uint64_t digest = open_damaged(&sound, &image, logged);
    free_image(&image);
    return digest;
}

static void make_sound(struct sound *sound) {
    struct lapse_clock_manual clock;
    struct lapse_result result;
    struct lapse_error err = {0};
    struct lapse *store = NULL;
    lapse_result_init(&result, NULL);
    lapse_clock_manual_init(&clock, (struct lapse_wall){LAPSE_NS_PER_S});
    LAPSE_ASSERT(lapse_medium_make(lapse_alloc_libc(), LAPSE_STORE_SQLITE, &sound->medium) ==
                 LAPSE_OK);
    LAPSE_ASSERT(try_open(sound, &clock, &store, &err) == LAPSE_OK);
    for (int i = 0; i <= CALLS; i++) {
        if (i > 0) {
            make_call(store, i, &result, &clock);
        }
        LAPSE_ASSERT(lapse_digest(store, LAPSE_PART_DURABLE, &sound->digests[i]) == LAPSE_OK);
    }
    sound->logged = copy_files(sound->medium);
    LAPSE_ASSERT(sound->logged.files[LAPSE_MEDIUM_LOG].data != NULL);
    lapse_close(store);
    sound->closed = copy_files(sound->medium);
    LAPSE_ASSERT(sound->closed.files[LAPSE_MEDIUM_LOG].data == NULL);
    lapse_result_free(&result);
}

/* Rows of every kind, and an end that is past. */
static void make_call(struct lapse *store, int call, struct lapse_result *result,
                      struct lapse_clock_manual *clock) {
    static const char *const keys[] = {"a", "b", "c", "a longer key"};
    const struct lapse_bytes bucket = lapse_bytes_of(call % 2 == 0 ? "codes" : "docs");
    const struct lapse_bytes key = lapse_bytes_of(keys[call / 2 % 4]);
    const struct lapse_bytes name = lapse_bytes_of("s");
    const struct lapse_bytes owner = lapse_bytes_of("w");
    const struct lapse_span span = {call * LAPSE_NS_PER_S};
    const struct lapse_term ends = {.given = LAPSE_TERM_SESSION, .session = name};
    struct lapse_bucket_config words = {.history = 2, .markers = {60 * LAPSE_NS_PER_S}};
    struct lapse_command request = {
        .verb = LAPSE_VERB_SET, .bucket = bucket, .key = key, .request = lapse_bytes_of("id")};
    struct lapse_error err = {0};
    enum lapse_status status = LAPSE_OK;
    switch (call) {
    case 1:
    case 2:
        words.term = (struct lapse_term){.given = LAPSE_TERM_TTL, .ttl = span};
        status = lapse_bucket_open(store, bucket, &words, result, &err);
        break;
    case 3:
        status = lapse_session_open(store, name, owner, span, result, &err);
        break;
    case 4:
        status = lapse_acquire(store, key, owner, span, result, &err);
        break;
    case 5:
        status = lapse_create(store, bucket, key, owner, &ends, result, &err);
        break;
    case 6:
        status = lapse_apply(store, &request, result, &err);
        break;
    case 13:
        status = lapse_delete(store, bucket, key, NULL, result, &err);
        break;
    case CALLS:
        (void)lapse_clock_manual_advance(clock, span);
        status = lapse_step(store, 1, result, NULL, &err);
        break;
    default:
        status = lapse_set(store, bucket, key, owner, NULL, NULL, result, &err);
        break;
    }
    LAPSE_ASSERT(status >= LAPSE_OK);
}

static struct image copy_files(const struct lapse_medium *medium) {
    struct image image = {{{NULL, 0}, {NULL, 0}}};
    for (int i = 0; i < LAPSE_MEDIUM_FILES; i++) {
        struct lapse_bytes bytes;
        if (lapse_medium_read(medium, (enum lapse_medium_file)i, &bytes)) {
            image.files[i] = copy_bytes(bytes);
        }
    }
    return image;
}

static struct lapse_bytes copy_bytes(struct lapse_bytes bytes) {
    if (bytes.data == NULL) {
        return bytes;
    }
    unsigned char *copy = lapse_alloc_zero(lapse_alloc_libc(), bytes.len + RUN_BYTES);
    LAPSE_ASSERT(copy != NULL);
    memcpy(copy, bytes.data, bytes.len);
    return (struct lapse_bytes){copy, bytes.len};
}

static void free_image(struct image *image) {
    for (int i = 0; i < LAPSE_MEDIUM_FILES; i++) {
        lapse_alloc_free(lapse_alloc_libc(), (void *)(uintptr_t)image->files[i].data,
                         image->files[i].len + RUN_BYTES);
    }
}

static void damage(struct image *image, const unsigned char *data, size_t size) {
    for (size_t i = 0; i < PATCHES_MAX && (i + 1) * PATCH_BYTES <= size; i++) {
        const unsigned char *how = data + i * PATCH_BYTES;
        struct lapse_bytes *file = &image->files[how[0] / 128];
        if (file->data != NULL) {
            patch(file, how);
        }
    }
}

/* What (one byte), where (three, low first), and four of contents. The memory of a file goes on for
 * RUN_BYTES behind its end. */
static void patch(struct lapse_bytes *file, const unsigned char *how) {
    unsigned char *bytes = (unsigned char *)(uintptr_t)file->data;
    size_t at = (size_t)how[1] | (size_t)how[2] << 8 | (size_t)how[3] << 16;
    size_t from = (size_t)how[4] | (size_t)how[5] << 8 | (size_t)how[6] << 16;
    at %= file->len;
    switch (how[0] % 8) {
    case 0:
        bytes[at] ^= (unsigned char)(1 << how[4] % 8);
        break;
    case 1:
    case 2:
    case 3:
        memcpy(bytes + at, how + 4, (size_t)1 << (how[0] % 8 - 1));
        break;
    case 4:
        memset(bytes + at, how[4], RUN_BYTES);
        break;
    case 5:
        memmove(bytes + at, bytes + from % file->len, RUN_BYTES);
        break;
    default:
        memset(bytes + at, 0, file->len - at);
        break;
    }
}

static uint64_t open_damaged(const struct sound *sound, const struct image *image, bool logged) {
    struct lapse *store = NULL;
    struct lapse_error err = {0};
    struct lapse_result result;
    struct lapse_clock_manual clock;
    uint64_t digest = 0;
    lapse_clock_manual_init(&clock, (struct lapse_wall){LAPSE_NS_PER_S});
    enum lapse_status status = try_open(sound, &clock, &store, &err);
    if (status != LAPSE_OK) {
        LAPSE_ASSERT(status == LAPSE_CORRUPT || status == LAPSE_VERSION || status == LAPSE_IO);
        LAPSE_ASSERT(err.message[0] != '\0');
        need_untouched(sound->medium, image);
        return (uint64_t)-status;
    }
    LAPSE_ASSERT(lapse_digest(store, LAPSE_PART_DURABLE, &digest) == LAPSE_OK);
    LAPSE_ASSERT(lapse_check(store, &err) == LAPSE_OK);
    LAPSE_ASSERT(was_there(sound, digest, logged));
    lapse_result_init(&result, NULL);
    status = lapse_acquire(store, lapse_bytes_of("after"), lapse_bytes_of("w"),
                           (struct lapse_span){1}, &result, &err);
    LAPSE_ASSERT(status == LAPSE_OK || status == LAPSE_CORRUPT || status == LAPSE_IO);
    lapse_result_free(&result);
    lapse_close(store);
    return digest;
}

static enum lapse_status try_open(const struct sound *sound, struct lapse_clock_manual *clock,
                                  struct lapse **ret, struct lapse_error *err) {
    struct lapse_options options = {.clock = lapse_clock_manual_vtable(clock), .unlocked = true};
    enum lapse_status status = lapse_medium_open(sound->medium, &options.journal, err);
    if (status == LAPSE_OK) {
        status = lapse_open(&options, ret, err);
        if (status != LAPSE_OK) {
            options.journal.close(options.journal.ctx);
        }
    }
    return status;
}

static void need_untouched(const struct lapse_medium *medium, const struct image *image) {
    for (int i = 0; i < LAPSE_MEDIUM_FILES; i++) {
        struct lapse_bytes now = {NULL, 0};
        bool there = lapse_medium_read(medium, (enum lapse_medium_file)i, &now);
        LAPSE_ASSERT(there == (image->files[i].data != NULL));
        LAPSE_ASSERT(lapse_bytes_equal(now, image->files[i]));
    }
}

static bool was_there(const struct sound *sound, uint64_t digest, bool logged) {
    for (int i = logged ? 0 : CALLS; i <= CALLS; i++) {
        if (sound->digests[i] == digest) {
            return true;
        }
    }
    return false;
}
