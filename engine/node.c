/* Rows in memory: making and freeing them, and telling one as a lapse_row. */
#include "node.h"

#include <string.h>

static size_t node_bytes(size_t key_len);

struct lapse_node *lapse_node_make(const lapse_alloc *alloc, enum lapse_row_kind kind,
                                   struct lapse_bytes key) {
    LAPSE_ASSERT(key.len <= LAPSE_KEY_BYTES_MAX);
    struct lapse_node *node = lapse_alloc_zero(alloc, node_bytes(key.len));
    if (node == NULL) {
        return NULL;
    }
    node->kind = (uint8_t)kind;
    node->bucket = LAPSE_BUCKET_NONE;
    node->hash = lapse_node_hash(key);
    node->key_len = (uint16_t)key.len;
    if (key.len > 0) {
        memcpy(node->key, key.data, key.len);
    }
    return node;
}

void lapse_node_free(const lapse_alloc *alloc, struct lapse_node *node) {
    if (node == NULL) {
        return;
    }
    lapse_alloc_free(alloc, node->now.blob, node->now.blob_len);
    lapse_alloc_free(alloc, node, node_bytes(node->key_len));
}

uint32_t lapse_node_hash(struct lapse_bytes key) {
    return (uint32_t)(lapse_bytes_hash(key) & UINT32_MAX);
}

bool lapse_image_copy_blob(const lapse_alloc *alloc, struct lapse_image *image,
                           struct lapse_bytes bytes) {
    LAPSE_ASSERT(bytes.len <= LAPSE_VALUE_BYTES_MAX);
    image->blob = NULL;
    image->blob_len = 0;
    if (bytes.len == 0) {
        return true;
    }
    image->blob = alloc->resize(alloc->ctx, NULL, 0, bytes.len);
    if (image->blob == NULL) {
        return false;
    }
    memcpy(image->blob, bytes.data, bytes.len);
    image->blob_len = (uint32_t)bytes.len;
    return true;
}

struct lapse_image lapse_node_absent(const struct lapse_node *node) {
    bool session = node->kind == LAPSE_ROW_SESSION;
    return (struct lapse_image){.aux.session = session ? node->now.aux.session : NULL};
}

int64_t lapse_image_last(const struct lapse_image *image) {
    bool capped = image->end_ns == lapse_image_cap(image);
    return image->end_kind == LAPSE_END_STEADY && !capped ? image->end_ns - image->span_ns : 0;
}

int64_t lapse_image_written_seq(const struct lapse_image *image) {
    return image->end_kind == LAPSE_END_WALL ? image->aux.written_seq : 0;
}

int64_t lapse_image_cap(const struct lapse_image *image) {
    return image->idle ? image->aux.cap_ns : 0;
}

bool lapse_image_same_row(const struct lapse_image *a, const struct lapse_image *b) {
    return a->present == b->present && a->revision == b->revision && a->blob == b->blob &&
           a->blob_len == b->blob_len && a->end_kind == b->end_kind && a->end_ns == b->end_ns &&
           a->span_ns == b->span_ns && a->source == b->source &&
           a->aux.written_seq == b->aux.written_seq && a->idle == b->idle &&
           a->record == b->record && a->why == b->why;
}

enum lapse_why lapse_image_why(const struct lapse_image *image) {
    if (image->source == LAPSE_SOURCE_SESSION) {
        return LAPSE_WHY_SESSION;
    }
    if (image->end_kind == LAPSE_END_NONE) {
        return LAPSE_WHY_NONE;
    }
    if (image->idle) {
        return LAPSE_WHY_IDLE;
    }
    return image->source == LAPSE_SOURCE_DEFAULT ? LAPSE_WHY_DEFAULT : LAPSE_WHY_OWN;
}

/* The key lies right behind the last field, in what padding there is. */
static size_t node_bytes(size_t key_len) {
    size_t bytes = offsetof(struct lapse_node, key) + key_len;
    return bytes < sizeof(struct lapse_node) ? sizeof(struct lapse_node) : bytes;
}
