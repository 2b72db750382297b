/* The journal: how rows reach storage. Live data is held in memory; the journal is written ahead
 * of each answer and read once, at open. It has no get and no scan.
 *
 * A row is one durable fact. The same rows are what lapse_walk visits, what the digest and the
 * check read, and what a fork is loaded from: there is one description of the state.
 *
 * The memory store is the null journal (all members NULL). */
#ifndef LAPSE_JOURNAL_H
#define LAPSE_JOURNAL_H

#include "lapse/clock.h"
#include "lapse/command.h"

#ifdef __cplusplus
extern "C" {
#endif

enum lapse_row_kind {
    LAPSE_ROW_BUCKET = 1,  /* key: bucket */
    LAPSE_ROW_RECORD = 2,  /* key: bucket, key, revision */
    LAPSE_ROW_LEASE = 3,   /* key: key (the name) */
    LAPSE_ROW_SESSION = 4, /* key: key (the session's name), revision (which incarnation) */
    LAPSE_ROW_COUNTER = 5, /* key: key (the counter's name: "token", "session"; where the ends of
                              keys are seen by sweeps, "swept": the store time of the last one) */
    LAPSE_ROW_MARK = 6,    /* key: key, and for "peak" revision */
    LAPSE_ROW_REQUEST = 7  /* key: key (the request id) */
};

/* Part of the state that a row belongs to: durable, or of this tenure only. */
enum lapse_part { LAPSE_PART_DURABLE = 0, LAPSE_PART_TENURE = 1 };

/* Which term an entry lives under. */
enum lapse_term_source {
    LAPSE_SOURCE_NONE = 0,
    LAPSE_SOURCE_OWN = 1,
    LAPSE_SOURCE_DEFAULT = 2,
    LAPSE_SOURCE_SESSION = 3, /* `session` names it; `end` is NONE: it is the session's */
    LAPSE_SOURCE_MARKERS = 4  /* a tombstone or marker, by the bucket's `markers` */
};

/* The durable rows of kind MARK, by their key:
 *   MARK, key empty    the mark, one row, in every commit: `mark` is the time of the last commit,
 *                      `revision` its number: how many log commands have been committed
 *   MARK, key "peak"   an earlier commit whose wall reading lies above the mark's and has ended a
 *                      date: that reading in `mark.reading.wall`, the commit's number in
 *                      `revision`. Peaks rise in number and fall strictly in reading
 * A date set by commit s (`written_seq`) has been reached iff the mark or a peak numbered s or
 * later shows a wall reading at or past it.
 *
 * Rows of the tenure are seen by a walk alone, never by a journal:
 *   MARK, key "now"    the last command: `mark` its time, `revision` its number
 *   RECORD             a deferred renewal: `record` as it will be, `mark.store` its oldest use
 *   COUNTER "token"    the last token given to an ephemeral lease, if one was; before those
 *   COUNTER "messages" where unused ones are dropped: how many calls have come to them
 *   LEASE              an ephemeral lease; `mark.store` is its last use
 *
 * Ceilings (0: none) bound what answers may show beyond what is durable: store time with sync FULL
 * or NORMAL, tokens of ephemeral leases always, and with NORMAL every token and revision. A commit
 * that raises one, or that is the first to show that a date was reached, is synced FULL. A tenure
 * on another boot starts at or above all of them, on the same boot above those of numbers. A wall
 * reading needs none: a MARK makes each durable before it is the first to end a date.
 *
 * A record's `last` is 0 but for an idle one. */
struct lapse_row {
    enum lapse_row_kind kind;
    enum lapse_part part;
    struct lapse_bytes bucket, key;
    int64_t revision; /* RECORD: its own; BUCKET: the last one given; COUNTER: its value; MARK */
    struct {          /* BUCKET */
        struct lapse_bucket_config config; /* spans that `given` does not name are 0 */
        int64_t ceiling_revision;
        int64_t forgotten; /* the newest revision whose event was a key's last and is kept no more:
                              a watch from at or below it begins with a gap */
    } bucket_row;
    struct { /* RECORD */
        enum lapse_record_kind kind;
        struct lapse_bytes value;
        struct lapse_end end;
        enum lapse_term_source source;
        struct lapse_span span;    /* ttl or idle span; 0 for a date and for none */
        bool idle;                 /* span is an idle one */
        struct lapse_steady cap;   /* idle: the end never moves past it; 0: none */
        int64_t session;           /* incarnation of the session it ends with; 0: none */
        struct lapse_steady last;  /* the last write or renewal */
        int64_t written_seq;       /* a date: number of the commit that set it; else 0 */
        int64_t old_revision;      /* TOMBSTONE MARKER PURGE: the entry's revision before; else 0 */
        enum lapse_why why;        /* MARKER: which term ended the key; else NONE */
    } record;
    struct { /* LEASE */
        struct lapse_bytes owner;
        int64_t token;
        struct lapse_end end;
        struct lapse_span span;
        enum lapse_durability durability;
        int64_t session; /* as of a record; span and end are 0 then */
    } lease;
    struct { /* SESSION; revision is its incarnation */
        struct lapse_bytes owner;
        struct lapse_end end;
        struct lapse_span span;
    } session;
    struct { /* REQUEST: what a call answered; it ends LAPSE_REQUEST_SPAN_NS after `at` */
        enum lapse_verb verb;
        uint64_t digest; /* of the command */
        enum lapse_status status;
        struct lapse_steady at;
        int64_t revision; /* of the answer */
        int64_t token;
        struct lapse_end end;
        struct lapse_bytes owner;
        struct lapse_bytes answers; /* a batch's, encoded */
    } request;
    struct { /* MARK: store time goes on from here */
        struct lapse_steady store;
        struct lapse_reading reading;
        struct lapse_steady ceiling_store;
        int64_t ceiling_token;
        uint64_t policies; /* the mark alone: lapse_policies_code of the store; 0 says strict */
    } mark;
};

/* What load hands each row to. Returns OK to go on; any other status stops the load with it.
 * Order: the mark first, required and once, then its peaks by their number; then counters, each at
 * most once; sessions; buckets; records; leases; requests. A key's records come by rising revision.
 * An empty journal has no rows. Rows out of order, twice, or such as no store writes are CORRUPT;
 * rows of a later version are VERSION. */
typedef enum lapse_status (*lapse_row_visit)(void *ctx, const struct lapse_row *row);

enum lapse_sync { LAPSE_SYNC_FULL = 0, LAPSE_SYNC_NORMAL = 1, LAPSE_SYNC_NONE = 2 };

/* Called under the handle's lock, never from two threads at once. Rows are borrowed for the call.
 * A transaction is begin, any number of put and drop, then commit or rollback. Each member but
 * close may answer NOMEM, IO, CORRUPT, LOCKED; a failed commit answers IO (it is certain that
 * nothing was written) or UNKNOWN (it is not: the handle is unavailable until reopened). After a
 * commit, failed or not, the transaction is over. */
typedef struct lapse_journal {
    enum lapse_status (*load)(void *ctx, lapse_row_visit visit, void *visit_ctx,
                              struct lapse_error *err);
    enum lapse_status (*begin)(void *ctx, struct lapse_error *err);
    enum lapse_status (*put)(void *ctx, const struct lapse_row *row, struct lapse_error *err);
    enum lapse_status (*drop)(void *ctx, const struct lapse_row *row, struct lapse_error *err);
    enum lapse_status (*commit)(void *ctx, enum lapse_sync sync, int64_t *ret_durable_point,
                                struct lapse_error *err);
    void (*rollback)(void *ctx);
    void (*close)(void *ctx);
    void *ctx;
} lapse_journal;

/* ---- A row as bytes: fixed order and width, little endian, every field of its kind and no other.
 * Equal rows have equal bytes: digests, checksums and stores of bytes are made of these. */

/* Writes the bytes of a row. `ret_len` is what they take, written always; past `cap` nothing is
 * written to buf and the answer is LIMIT. buf may be NULL iff cap is 0. OK or LIMIT. */
enum lapse_status lapse_row_encode(const struct lapse_row *row, unsigned char *buf, size_t cap,
                                   size_t *ret_len);
/* Adds the same fields to a digest. */
void lapse_row_digest(const struct lapse_row *row, struct lapse_digest *digest);
/* Reads them back; *ret borrows from `bytes`. OK, or CORRUPT: not the bytes of one row. Says
 * nothing about what the row means: see lapse_open. */
enum lapse_status lapse_row_decode(struct lapse_bytes bytes, struct lapse_row *ret,
                                   struct lapse_error *err);

#ifdef __cplusplus
}
#endif
#endif
