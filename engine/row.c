/* A node told as a row: the one description that the journal, the walk, the digest and the fork
 * share. */
#include "node.h"
#include "state.h"

static int64_t session_id(const struct lapse_image *image);
#include <string.h>

void lapse_node_row(const struct lapse_state *state, const struct lapse_node *node,
                    const struct lapse_image *image, struct lapse_row *ret) {
    *ret = (struct lapse_row){.kind = (enum lapse_row_kind)node->kind, .part = LAPSE_PART_DURABLE};
    ret->revision = image->revision;
    switch (ret->kind) {
    case LAPSE_ROW_BUCKET:
        ret->bucket = lapse_node_key(node);
        memcpy(&ret->bucket_row.config, image->blob, sizeof(ret->bucket_row.config));
        ret->bucket_row.ceiling_revision = image->span_ns;
        ret->bucket_row.forgotten = image->aux.forgotten;
        return;
    case LAPSE_ROW_RECORD:
        ret->bucket = lapse_node_key(lapse_node_bucket(state, node)->row);
        ret->key = lapse_node_key(node);
        ret->record.kind = (enum lapse_record_kind)image->record;
        ret->record.value = lapse_image_blob(image);
        ret->record.end = lapse_image_end(image);
        ret->record.source = (enum lapse_term_source)image->source;
        ret->record.span.ns = image->span_ns;
        ret->record.idle = image->idle;
        ret->record.last.ns = image->idle ? lapse_image_last(image) : 0;
        ret->record.written_seq = lapse_image_written_seq(image);
        ret->record.session = session_id(image);
        ret->record.cap.ns = lapse_image_cap(image);
        if (image->record != LAPSE_RECORD_VALUE) {
            ret->record.old_revision = image->aux.old_revision;
            ret->record.why = (enum lapse_why)image->why;
        }
        return;
    case LAPSE_ROW_LEASE:
        ret->key = lapse_node_key(node);
        ret->revision = 0;
        ret->lease.owner = lapse_image_blob(image);
        ret->lease.token = image->revision;
        ret->lease.end = lapse_image_end(image);
        ret->lease.span.ns = image->span_ns;
        ret->lease.durability = LAPSE_PERSISTENT;
        ret->lease.session = session_id(image);
        return;
    case LAPSE_ROW_SESSION:
        ret->key = lapse_node_key(node);
        ret->session.owner = lapse_image_blob(image);
        ret->session.end = lapse_image_end(image);
        ret->session.span.ns = image->span_ns;
        return;
    case LAPSE_ROW_REQUEST:
        lapse_request_unpack(image, ret);
        ret->key = lapse_node_key(node);
        return;
    case LAPSE_ROW_COUNTER:
    case LAPSE_ROW_MARK:
        break;
    }
    LAPSE_ASSERT(node->kind == LAPSE_ROW_LEASE);
}

/* The number of the session that a row ends with; 0: of none. */
static int64_t session_id(const struct lapse_image *image) {
    const struct lapse_session *session = lapse_image_session(image);
    return session == NULL ? 0 : session->id;
}
