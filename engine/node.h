/* Private: the row as it lies in memory. Buckets, records and leases are all nodes: a fixed key and
 * a replaceable image. An undo entry is a node and the image that it had, so one mechanism takes
 * back every change. */
#ifndef ENGINE_NODE_H
#define ENGINE_NODE_H

#include "lapse/journal.h"

#define LAPSE_POS_NONE UINT32_MAX

struct lapse_bucket;
struct lapse_deferred;

/* What a row says. An image whose `present` is false says that there is no such row. */
struct lapse_image {
    unsigned char *blob; /* value or owner, an allocation of its own; NULL iff blob_len is 0 */
    int64_t revision;    /* record: its own; bucket: the last one given; lease: the token */
    int64_t end_ns;      /* by end_kind */
    int64_t span_ns;     /* ttl or idle span; 0 for a date and for none; bucket: its ceiling */
    int64_t last_ns;     /* store time of the write, grant or renewal that set the end */
    int64_t written_seq; /* a date's log command; 0 for every other end */
    uint32_t blob_len;
    enum lapse_end_kind end_kind;
    enum lapse_term_source source;
    bool idle;
    bool present;
    bool reached; /* a date that a durable reading has come to; says no more than the peaks do */
};

struct lapse_node {
    struct lapse_node *next;         /* chain of its table */
    struct lapse_bucket *bucket;     /* record: its bucket; bucket: itself; lease: NULL */
    struct lapse_deferred *deferred; /* record: a renewal not yet durable, or NULL */
    uint32_t hash;
    uint32_t key_len;
    uint32_t heap_pos; /* in the heap of its end's kind, or LAPSE_POS_NONE */
    uint32_t undo_pos; /* in the undo list of the running command, or LAPSE_POS_NONE */
    enum lapse_row_kind kind;
    struct lapse_image now;
    unsigned char key[];
};

/* A node outside all tables and heaps, with an absent image. NULL when memory runs out. */
struct lapse_node *lapse_node_make(const lapse_alloc *alloc, enum lapse_row_kind kind,
                                   struct lapse_bytes key);
/* Frees the node and its blob. */
void lapse_node_free(const lapse_alloc *alloc, struct lapse_node *node);
struct lapse_bytes lapse_node_key(const struct lapse_node *node);
/* The hash by which a key is looked up. */
uint32_t lapse_node_hash(struct lapse_bytes key);

/* Copies `bytes` into the image's blob. False when memory runs out. */
bool lapse_image_copy_blob(const lapse_alloc *alloc, struct lapse_image *image,
                           struct lapse_bytes bytes);
struct lapse_bytes lapse_image_blob(const struct lapse_image *image);
struct lapse_end lapse_image_end(const struct lapse_image *image);
enum lapse_why lapse_image_why(const struct lapse_image *image);

/* The row that says about `node` what `image` says; it borrows from both. */
void lapse_node_row(const struct lapse_node *node, const struct lapse_image *image,
                    struct lapse_row *ret);

#endif
