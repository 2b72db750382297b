/* Private: the row as it lies in memory. Buckets, records and leases are all nodes: a fixed key and
 * a replaceable image. An undo entry is a node and the image that it had, so one mechanism takes
 * back every change.
 *
 * A live key costs its node, so fields are packed, and what follows from others is not stored: the
 * last use of a row that ends on store time is its end less its span. */
#ifndef ENGINE_NODE_H
#define ENGINE_NODE_H

#include "lapse/journal.h"

#include <string.h>

/* A hint that memory is looked at soon: a store of millions of rows mostly waits for its memory. */
#if defined(__GNUC__) || defined(__clang__)
#define LAPSE_PREFETCH(ptr) __builtin_prefetch(ptr)
#else
#define LAPSE_PREFETCH(ptr) ((void)(ptr))
#endif

#define LAPSE_POS_NONE UINT32_MAX
#define LAPSE_BUCKET_NONE UINT16_MAX

struct lapse_bucket;
struct lapse_session;

/* Buckets by the index that nodes name them by; a bucket keeps its index for good. */
struct lapse_buckets {
    struct lapse_bucket **items;
    size_t count, cap;
};

/* What a row says. An image whose `present` is false says that there is no such row. */
struct lapse_image {
    unsigned char *blob; /* value, owner, answer or a bucket's words, an allocation of its own; NULL
                            iff blob_len is 0 */
    int64_t revision;    /* record: its own; bucket: the last one given; lease: the token */
    int64_t end_ns;      /* by end_kind */
    int64_t span_ns;     /* ttl or idle span; 0 for a date and for none; bucket: its ceiling */
    union {
        int64_t written_seq;  /* a date: its log command; 0 for every other end */
        int64_t cap_ns;       /* an idle end: no use moves it past this; 0: none */
        int64_t old_revision; /* tombstone, purge, marker: the entry's revision before */
        int64_t forgotten;    /* bucket: as in its row */
        int64_t used_ns;      /* ephemeral lease: its last use */
        struct lapse_session *session; /* a row that ends with one; a session's row, present or not:
                                          itself */
    } aux;
    uint32_t blob_len;
    uint8_t end_kind; /* enum lapse_end_kind */
    uint8_t source;   /* enum lapse_term_source */
    uint8_t record;   /* of a record: enum lapse_record_kind; 0 for other rows */
    bool idle : 1;
    bool present : 1;
    bool reached : 1; /* a date that a durable reading has come to; no more than the peaks say */
    bool older : 1;   /* record: a newer one of its key stands; so its table says too */
    bool covered : 1; /* record: its own end counts no more. Of an older one: it goes with its key;
                         of a newest: it has ended and stays, for want of a marker (S13) */
    unsigned why : 3; /* marker: enum lapse_why, which term ended the key */
};

struct lapse_node {
    struct lapse_node *next; /* chain of its table */
    union {
        struct { /* a steady end: ring of the nodes of its slot in the wheel */
            struct lapse_node *next, *prev;
        } wheel;
        uint32_t heap_pos; /* in the heap of dates, or of its session, or of sessions */
    } at;
    struct lapse_image now;
    uint32_t hash;
    uint16_t key_len;
    uint16_t bucket; /* index of the record's bucket; of the bucket itself; or LAPSE_BUCKET_NONE */
    uint8_t kind;    /* enum lapse_row_kind */
    /* Marks. */
    bool placed : 1;   /* in the wheel or in a heap */
    bool deferred : 1; /* a renewal not yet durable stands in the side table */
    bool listed : 1;   /* on the undo list of the running command */
    bool fresh : 1;    /* its blob was made by the running command */
    unsigned char key[];
};

/* A node outside all tables, wheel and heaps, with an absent image. NULL when memory runs out. */
struct lapse_node *lapse_node_make(const lapse_alloc *alloc, enum lapse_row_kind kind,
                                   struct lapse_bytes key);
/* Frees the node and its blob. */
void lapse_node_free(const lapse_alloc *alloc, struct lapse_node *node);
static inline struct lapse_bytes lapse_node_key(const struct lapse_node *node) {
    return (struct lapse_bytes){node->key, node->key_len};
}
static inline bool lapse_node_has_key(const struct lapse_node *node, struct lapse_bytes key) {
    enum { WORD = sizeof(uint64_t) };
    if (node->key_len != key.len) {
        return false;
    }
    if (key.len < WORD || key.len > 2 * WORD) {
        return key.len == 0 || memcmp(node->key, key.data, key.len) == 0;
    }
    /* Most keys are so short: two words that may overlap. */
    return memcmp(node->key, key.data, WORD) == 0 &&
           memcmp(node->key + key.len - WORD, key.data + key.len - WORD, WORD) == 0;
}
/* Asks for both lines of memory that a row usually lies in. */
static inline void lapse_node_prefetch(const struct lapse_node *node) {
    LAPSE_PREFETCH(node);
    LAPSE_PREFETCH(node->key);
}
/* Asks for the rows that changing this one looks at: the next of its chain, which may be older, and
 * its neighbours in the wheel. */
static inline void lapse_node_prefetch_change(const struct lapse_node *node) {
    LAPSE_PREFETCH(node->next);
    if (node->placed && node->now.end_kind == LAPSE_END_STEADY) {
        LAPSE_PREFETCH(node->at.wheel.next);
        LAPSE_PREFETCH(node->at.wheel.prev);
    }
}
/* The hash by which a key is looked up. */
uint32_t lapse_node_hash(struct lapse_bytes key);

/* Copies `bytes` into the image's blob. False when memory runs out. */
bool lapse_image_copy_blob(const lapse_alloc *alloc, struct lapse_image *image,
                           struct lapse_bytes bytes);
static inline struct lapse_bytes lapse_image_blob(const struct lapse_image *image) {
    return (struct lapse_bytes){image->blob, image->blob_len};
}
/* The end that the row itself states: none for what ends with a session (lapse_state_end). */
static inline struct lapse_end lapse_image_end(const struct lapse_image *image) {
    return (struct lapse_end){(enum lapse_end_kind)image->end_kind, image->end_ns};
}
/* Store time of the write, grant or renewal that set a steady end; 0 for any other, and for one
 * that is a cap: no use moves it. */
int64_t lapse_image_last(const struct lapse_image *image);
/* The log command that set a date; 0 for any other end. */
int64_t lapse_image_written_seq(const struct lapse_image *image);
/* The session that a row ends with, or NULL. */
static inline struct lapse_session *lapse_image_session(const struct lapse_image *image) {
    return image->source == LAPSE_SOURCE_SESSION ? image->aux.session : NULL;
}
/* The cap of an idle end; 0: none. */
int64_t lapse_image_cap(const struct lapse_image *image);
enum lapse_why lapse_image_why(const struct lapse_image *image);
/* Whether the row's own end counts, so that it has a place in a heap: a covered record has none. */
static inline bool lapse_image_timed(const struct lapse_image *image) {
    bool ends = image->end_kind != LAPSE_END_NONE || image->source == LAPSE_SOURCE_SESSION;
    return image->present && ends && !image->covered;
}
/* Whether two images of one node are told as the same row. */
bool lapse_image_same_row(const struct lapse_image *a, const struct lapse_image *b);

/* The image of a row that is gone. */
struct lapse_image lapse_node_absent(const struct lapse_node *node);

#endif
