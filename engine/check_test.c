/* The check is what every other test leans on, so each of its claims is shown to bite: one field of
 * a sound store is spoiled at a time, and the check must say so in the words of that claim. */
#include "handle.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

struct scene {
    struct lapse_testing t;
    struct lapse_state *state;
    struct lapse_bucket *b, *c;
    int spoiled;
};

enum { SAVED_MAX = 2048 };

/* Spoils the bytes of an object by one statement, expects the sentence, and mends them. */
#define SPOIL_BYTES(scene, object, bytes, change, sentence)                                        \
    do {                                                                                           \
        unsigned char saved[SAVED_MAX];                                                            \
        cr_assert_leq((size_t)(bytes), sizeof(saved));                                             \
        memcpy(saved, (object), (bytes));                                                          \
        change;                                                                                    \
        expect_bug((scene), #change, (sentence));                                                  \
        memcpy((object), saved, (bytes));                                                          \
    } while (0)
#define SPOIL(scene, object, change, sentence)                                                     \
    SPOIL_BYTES(scene, object, sizeof(*(object)), change, sentence)
/* A node is followed by its key. */
#define SPOIL_NODE(scene, node, change, sentence)                                                  \
    SPOIL_BYTES(scene, node, offsetof(struct lapse_node, key), change, sentence)

static struct lapse_bytes bytes(const char *text) {
    return lapse_bytes_of(text);
}

static void expect_told(const struct scene *scene, enum lapse_status status, const char *change,
                        const char *sentence) {
    cr_expect_eq(status, LAPSE_BUG, "nobody sees %s", change);
    cr_expect_not_null(strstr(scene->t.err.message, sentence), "%s: %s", change,
                       scene->t.err.message);
}

static void expect_bug(struct scene *scene, const char *change, const char *sentence) {
    scene->t.err = (struct lapse_error){.status = LAPSE_OK};
    expect_told(scene, lapse_check(scene->t.store, &scene->t.err), change, sentence);
    scene->spoiled++;
}

/* Keys of every kind: plain, with a term of each kind, with a history, ended in each way. */
static void write_keys(struct lapse_testing *t) {
    struct lapse_bucket_config config = {.markers = {S(60)}, .history = 4};
    struct lapse_term idle = {.given = LAPSE_TERM_IDLE, .idle = {S(60)}, .cap = {S(100)}};
    cr_assert_eq(lapse_bucket_open(t->store, bytes("b"), &config, &t->r, &t->err), LAPSE_OK);
    lapse_testing_bucket(t, "c", 0, 0, 0);
    cr_assert_eq(lapse_watch(t->store, bytes("b"), bytes(""), LAPSE_WATCH_NOW, &t->r, &t->err),
                 LAPSE_OK);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "m", "ends first", LAPSE_TERM_TTL, S(1));
    lapse_testing_at(t, S(2));
    cr_assert_eq(lapse_step(t->store, 1, &t->r, NULL, &t->err), LAPSE_OK);
    for (int i = 0; i < 3; i++) {
        lapse_testing_do(t, LAPSE_VERB_SET, "b", "h", "often", LAPSE_TERM_TTL, S(300));
    }
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "x", "deleted", 0, 0);
    lapse_testing_do(t, LAPSE_VERB_DELETE, "b", "x", NULL, 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "p", "purged", 0, 0);
    lapse_testing_do(t, LAPSE_VERB_PURGE, "b", "p", NULL, 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "v", "plain", 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "t", "timed", LAPSE_TERM_TTL, S(500));
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "d", "dated", LAPSE_TERM_EXPIRES_AT, S(5000));
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "e", "dated", LAPSE_TERM_EXPIRES_AT, S(6000));
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "r", "reached", LAPSE_TERM_EXPIRES_AT, S(1010));
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(lapse_set(t->store, bytes("c"), bytes(i == 0 ? "i" : "j"), bytes("idle"),
                               &idle, NULL, &t->r, &t->err),
                     LAPSE_OK);
    }
}

static void write_leases(struct lapse_testing *t) {
    struct lapse_span span = {S(100)};
    struct lapse_term with = {.given = LAPSE_TERM_SESSION, .session = bytes("s")};
    struct lapse_command asked = {.verb = LAPSE_VERB_SET, .bucket = bytes("c"), .key = bytes("q")};
    struct lapse_bytes w = bytes("w");
    asked.request = bytes("id");
    lapse_apply(t->store, &asked, &t->r, &t->err);
    lapse_session_open(t->store, bytes("s"), w, span, &t->r, &t->err);
    lapse_session_open(t->store, bytes("s2"), w, span, &t->r, &t->err);
    lapse_set(t->store, bytes("b"), bytes("s1"), w, &with, NULL, &t->r, &t->err);
    lapse_set(t->store, bytes("b"), bytes("s2"), w, &with, NULL, &t->r, &t->err);
    lapse_acquire_session(t->store, bytes("job"), w, bytes("s"), &t->r, &t->err);
    lapse_acquire(t->store, bytes("job 2"), w, span, &t->r, &t->err);
    lapse_acquire_ephemeral(t->store, bytes("brief"), w, span, &t->r, &t->err);
    cr_assert_eq(lapse_acquire_ephemeral(t->store, bytes("brief 2"), w, span, &t->r, &t->err),
                 LAPSE_OK);
}

/* Two peaks, three watchers, two deferred renewals, the orders of both buckets. */
static void look_around(struct lapse_testing *t) {
    struct lapse_span back = {-S(1) / 2};
    lapse_testing_at(t, S(12));
    for (int i = 0; i < 2; i++) {
        lapse_testing_do(t, LAPSE_VERB_SET, "c", "a", "commits", 0, 0);
        (void)lapse_clock_manual_step_wall(&t->clock, back);
    }
    lapse_poll(t->store, 1, 99, &t->r, &t->err);
    lapse_watch(t->store, bytes("b"), bytes("h"), LAPSE_WATCH_NOW, &t->r, &t->err);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "v", "seen", 0, 0);
    lapse_testing_do(t, LAPSE_VERB_SET, "b", "v", "by one", 0, 0);
    lapse_poll(t->store, 1, 99, &t->r, &t->err);
    lapse_watch_revision(t->store, bytes("b"), bytes(""), 1, &t->r, &t->err);
    lapse_testing_at(t, S(20));
    lapse_get(t->store, bytes("c"), bytes("i"), &t->r, &t->err);
    lapse_get(t->store, bytes("c"), bytes("j"), &t->r, &t->err);
    cr_assert(t->r.renewed);
    lapse_list(t->store, bytes("b"), &t->r, &t->err);
    cr_assert_eq(lapse_list(t->store, bytes("c"), &t->r, &t->err), LAPSE_OK);
}

static void open_scene(struct scene *scene) {
    *scene = (struct scene){.spoiled = 0};
    lapse_testing_open(&scene->t);
    write_keys(&scene->t);
    write_leases(&scene->t);
    look_around(&scene->t);
    scene->state = &scene->t.store->state;
    scene->b = lapse_state_bucket(scene->state, bytes("b"));
    scene->c = lapse_state_bucket(scene->state, bytes("c"));
    lapse_testing_check(&scene->t);
    cr_assert_eq(scene->state->peaks.count, 2, "%zu peaks", scene->state->peaks.count);
    cr_assert_eq(scene->state->deferred_count, 2);
    cr_assert_eq(scene->state->watcher_count, 3);
}

/* All is mended: the store must be sound again, and give its memory back. */
static void close_scene(struct scene *scene, int least) {
    cr_expect_geq(scene->spoiled, least);
    lapse_testing_close(&scene->t);
}

static struct lapse_node *find(const struct lapse_bucket *bucket, const char *key) {
    struct lapse_node *node = lapse_table_find(&bucket->records, bytes(key));
    cr_assert_not_null(node);
    return node;
}

static void spoil_values(struct scene *s) {
    struct lapse_node *v = find(s->b, "v");
    struct lapse_node *row = s->b->row;
    SPOIL_NODE(s, v, v->now.present = false, "(S1, S3)");
    SPOIL_NODE(s, v, v->listed = true, "(S1, S3)");
    SPOIL_NODE(s, v, v->fresh = true, "(S1, S3)");
    SPOIL_NODE(s, v, v->now.blob = NULL, "a length that do not fit");
    SPOIL_NODE(s, v, v->now.blob_len = 0, "a length that do not fit");
    SPOIL_NODE(s, v, v->bucket = s->c->index, "not its own");
    SPOIL_NODE(s, v, v->kind = LAPSE_ROW_LEASE, "not its own");
    struct lapse_node *q = find(s->c, "q");
    SPOIL_NODE(s, q, q->now.revision = 0, "(S4)");
    SPOIL_NODE(s, q, q->now.revision = 99, "(S4)");
    SPOIL_NODE(s, q, q->now.older = true, "older than none (S11)");
    SPOIL_NODE(s, v, v->placed = true, "a trace of one (S2)");
    SPOIL_NODE(s, v, v->now.end_ns = 1, "a trace of one (S2)");
    SPOIL_NODE(s, v, v->now.idle = true, "a trace of one (S2)");
    SPOIL_NODE(s, v, v->now.why = LAPSE_WHY_OWN, "gives a reason");
    SPOIL_NODE(s, v, v->now.source = LAPSE_SOURCE_MARKERS, "another's term");
    SPOIL_NODE(s, row, row->now.aux.forgotten = -1, "never had");
    SPOIL_NODE(s, row, row->now.aux.forgotten = row->now.revision + 1, "never had");
    SPOIL_NODE(s, row, row->kind = LAPSE_ROW_RECORD, "not the row of its bucket");
    SPOIL_NODE(s, row, row->bucket = 9, "not the row of its bucket");
    SPOIL(s, s->b, s->b->row = s->c->row, "not the row of its bucket");
    SPOIL(s, &s->state->by_index.items[s->c->index], s->state->by_index.items[s->c->index] = NULL,
          "not the row of its bucket");
}

static void spoil_ends(struct scene *s) {
    struct lapse_node *t = find(s->b, "t");
    struct lapse_node *d = find(s->b, "d");
    struct lapse_node *r = find(s->b, "r");
    struct lapse_node *i = find(s->c, "i");
    int64_t log_seq = s->state->log_seq;
    SPOIL_NODE(s, t, t->placed = false, "the wheel or heap of its end (S2)");
    SPOIL_NODE(s, d, d->at.heap_pos = 99, "the wheel or heap of its end (S2)");
    SPOIL_NODE(s, d, d->at.heap_pos = 1 - d->at.heap_pos, "the wheel or heap of its end (S2)");
    SPOIL_NODE(s, d, d->now.reached = true, "the wheel or heap of its end (S2)");
    SPOIL_NODE(s, t, t->now.span_ns = t->now.end_ns + 1, "(S4)");
    SPOIL_NODE(s, t, t->now.span_ns = 1, "(S4)");
    SPOIL_NODE(s, t, t->now.span_ns = INT64_MIN, "(S4)");
    SPOIL_NODE(s, t, t->now.reached = true, "of the peaks, alone (S2)");
    SPOIL_NODE(s, d, d->now.aux.written_seq = 0, "a command that never came");
    SPOIL_NODE(s, d, d->now.aux.written_seq = log_seq + 1, "a command that never came");
    SPOIL_NODE(s, d, d->now.end_ns = 0, "of the peaks, alone (S2)");
    SPOIL_NODE(s, r, r->now.end_ns = S(5000), "of the peaks, alone (S2)");
    SPOIL_NODE(s, i, i->now.aux.cap_ns = i->now.end_ns - 1, "another's term");
    SPOIL(s, s->state, s->state->wall.count--, "the wheel or heap of its end (S2)");
    SPOIL(s, &s->state->steady, s->state->steady.count++, "the wheel and the heaps hold");
    SPOIL(s, &s->state->reached, s->state->reached.count++, "the wheel and the heaps hold");
}

static void spoil_records(struct scene *s) {
    static unsigned char blob[1];
    struct lapse_node *h = find(s->b, "h");
    struct lapse_node *middle = lapse_table_older(h);
    struct lapse_node *x = find(s->b, "x");
    struct lapse_node *under = lapse_table_older(x);
    struct lapse_node *p = find(s->b, "p");
    struct lapse_node *m = find(s->b, "m");
    SPOIL_NODE(s, m, m->now.why = LAPSE_WHY_NONE, "gives a reason");
    SPOIL_NODE(s, p, (p->now.blob = blob, p->now.blob_len = 1), "no known end (S12)");
    SPOIL_NODE(s, p, p->now.source = LAPSE_SOURCE_OWN, "no known end (S12)");
    SPOIL_NODE(s, p, p->now.aux.old_revision = 0, "no known end (S12)");
    SPOIL_NODE(s, p, p->now.aux.old_revision = p->now.revision, "no known end (S12)");
    SPOIL_NODE(s, p, p->now.record = 9, "no known end (S12)");
    SPOIL_NODE(s, p, p->now.idle = true, "no known end (S12)");
    SPOIL_NODE(s, x, x->now.record = LAPSE_RECORD_PURGE, "a newer record and should not");
    SPOIL_NODE(s, under, under->now.older = false, "a newer record and should not");
    SPOIL_NODE(s, middle, middle->now.record = LAPSE_RECORD_MARKER, "a newer record and should");
    SPOIL_NODE(s, middle, middle->now.record = LAPSE_RECORD_PURGE, "a newer record and should");
    SPOIL_NODE(s, middle, middle->placed = true, "a newer record and has a place (S2)");
    SPOIL_NODE(s, middle, middle->now.reached = true, "a newer record and has a place (S2)");
}

static void spoil_sessions(struct scene *s) {
    struct lapse_node *row = lapse_table_find(&s->state->sessions, bytes("s"));
    struct lapse_session *session = row->now.aux.session;
    struct lapse_node *k = find(s->b, "s1");
    struct lapse_heap *due = &s->state->sessions_due;
    SPOIL_NODE(s, k, k->placed = false, "(S10)");
    SPOIL_NODE(s, k, k->at.heap_pos = 99, "(S10)");
    SPOIL_NODE(s, k, k->at.heap_pos = (k->at.heap_pos + 1) % 3, "(S10)");
    SPOIL_NODE(s, k, k->now.end_kind = LAPSE_END_STEADY, "(S10)");
    SPOIL_NODE(s, k, k->now.end_ns = 1, "(S10)");
    SPOIL_NODE(s, k, k->now.idle = true, "(S10)");
    SPOIL_NODE(s, row, row->now.present = false, "not a member of its session");
    SPOIL(s, session, session->id++, "a number never given");
    SPOIL(s, session, session->id = row->now.revision = 0, "a number never given");
    row->now.revision = session->id;
    SPOIL(s, session, session->row = lapse_table_find(&s->state->sessions, bytes("s2")),
          "a number never given");
    SPOIL(s, &s->state->session, s->state->session = 0, "a number never given");
    SPOIL_NODE(s, row, row->kind = LAPSE_ROW_LEASE, "a number never given");
    SPOIL_NODE(s, row, row->listed = true, "(S1, S3)");
    SPOIL_NODE(s, row, row->fresh = true, "(S1, S3)");
    SPOIL_NODE(s, row, row->now.blob_len = 0, "(S1, S3)");
    SPOIL_NODE(s, row, row->now.end_kind = LAPSE_END_WALL, "without an owner or an end");
    SPOIL_NODE(s, row, row->now.span_ns = 0, "(S1, S3)");
    SPOIL_NODE(s, row, row->placed = false, "the heap of sessions (S10)");
    SPOIL_NODE(s, row, row->at.heap_pos = 99, "the heap of sessions (S10)");
    SPOIL_NODE(s, row, row->at.heap_pos = 1 - row->at.heap_pos, "the heap of sessions (S10)");
    SPOIL(s, due, due->count++, "sessions are stored and 3 are in the heap");
    struct lapse_session *other =
        lapse_table_find(&s->state->sessions, bytes("s2"))->now.aux.session;
    SPOIL(s, &other->members, other->members = session->members, "a session not its own (S10)");
}

static void spoil_leases(struct scene *s) {
    struct lapse_node *job = lapse_table_find(&s->state->leases, bytes("job 2"));
    struct lapse_node *id = lapse_table_find(&s->state->requests, bytes("id"));
    struct lapse_ephemeral *brief = &s->state->ephemeral;
    struct lapse_node *node = lapse_table_find(&brief->names, bytes("brief"));
    SPOIL_NODE(s, job, job->now.revision = 0, "a token that the store never gave");
    SPOIL_NODE(s, job, job->now.revision = s->state->token + 1, "a token that the store never");
    SPOIL_NODE(s, job, job->now.blob_len = 0, "a lease without an owner");
    SPOIL_NODE(s, job, job->now.end_kind = LAPSE_END_WALL, "a lease without an owner");
    SPOIL_NODE(s, id, id->now.blob_len = 0, "a request without an answer");
    SPOIL_NODE(s, id, id->now.end_kind = LAPSE_END_WALL, "a request without an answer");
    SPOIL_NODE(s, node, node->now.revision = 0, "the ephemeral lease `brief`");
    SPOIL_NODE(s, node, node->now.blob_len = 0, "the ephemeral lease `brief`");
    SPOIL(s, brief, brief->token = 0, "the ephemeral lease `brief");
    SPOIL(s, brief, brief->ends.count++, "the wheel counts 3 rows and links 2");
    SPOIL(s, brief, brief->names.count++, "a table counts 3 rows and links 2");
    lapse_table_unlink(&brief->names, node);
    expect_bug(s, "a lease without a name", "1 ephemeral leases have a name and 2 an end (S9)");
    lapse_table_link(&brief->names, node);
}

static void spoil_watchers(struct scene *s) {
    struct lapse_watcher *all = s->state->watchers[0];
    struct lapse_watcher *behind = s->state->watchers[1];
    struct lapse_watcher *past = s->state->watchers[2];
    struct lapse_kept *kept = s->b->ring.items[s->b->ring.first];
    cr_assert_not_null(past->past);
    SPOIL(s, s->b, s->b->watcher_count++, "miscounts its watchers");
    SPOIL(s, s->b, s->b->pending++, "miscounts its watchers");
    SPOIL(s, s->b, s->b->behind++, "(S8)");
    SPOIL(s, all, all->seen--, "(S8)");
    SPOIL(s, kept, kept->waiting++, "(S8)");
    SPOIL(s, kept, kept->revision++, "(S7)");
    SPOIL(s, s->state, s->state->watch_events_max = 0, "a ring that is too long");
    SPOIL(s, &s->c->ring, s->c->ring.cap = 8, "or that nobody watches");
    SPOIL(s, all, all->id = 0, "watcher 0 is out of order");
    SPOIL(s, behind, behind->id = 1, "watcher 1 is out of order");
    SPOIL(s, s->state, s->state->watcher_id = 2, "watcher 3 is out of order");
    SPOIL(s, behind, behind->seen = s->b->row->now.revision + 1, "has seen what was never written");
    SPOIL(s, past, past->past_at = past->past_count, "watcher 3 is out of order");
}

static void spoil_renewals_and_peaks(struct scene *s) {
    struct lapse_deferred *first = s->state->deferred_first;
    struct lapse_deferred *last = s->state->deferred_last;
    struct lapse_node *node = last->node;
    struct lapse_peak *peak = &s->state->peaks.items[1];
    SPOIL(s, first, first->prev = last, "its place in the queue");
    SPOIL(s, first, first->queued.ns = ++first->used.ns, "its place in the queue");
    SPOIL_NODE(s, node, node->deferred = false, "its place in the queue");
    SPOIL(s, last, last->used.ns = last->queued.ns - 1, "from outside its term (S5)");
    SPOIL(s, last, last->used.ns = node->now.end_ns, "from outside its term (S5)");
    SPOIL(s, s->state, s->state->deferred_last = first, "does not end at its end");
    SPOIL(s, s->state, s->state->deferred_count++, "does not end at its end");
    SPOIL(s, peak, peak->fresh = true, "(S6)");
    SPOIL(s, peak, peak->leaving = true, "(S6)");
    SPOIL(s, peak, peak->seq = s->state->log_seq, "(S6)");
    SPOIL(s, peak, peak->seq = peak[-1].seq, "(S6)");
    SPOIL(s, peak, peak->wall = s->state->mark.reading.wall, "wall peak 1 of 2");
    SPOIL(s, peak, peak->wall = peak[-1].wall, "wall peak 1 of 2");
    SPOIL(s, &s->state->txn, s->state->txn.count = 3, "the undo list holds 3 rows");
    SPOIL(s, &s->state->txn, s->state->txn.events = s->b->ring.items[0],
          "the undo list");
}

/* Tables, orders, heaps and the wheel as parts of the whole, and alone where another claim of the
 * whole would speak first. */
static void spoil_indexes(struct scene *s) {
    struct lapse_node *h = find(s->b, "h");
    struct lapse_node *d = find(s->b, "d");
    struct lapse_order_chunk *chunk = s->b->order.chunks[0];
    struct lapse_heap *wall = &s->state->wall;
    uint32_t slots = (uint32_t)s->b->records.slot_count;
    SPOIL_NODE(s, h, h->hash ^= 1, "not the chain of its hash");
    SPOIL_NODE(s, h, h->hash ^= slots, "not the chain of its hash");
    SPOIL_NODE(s, h, h->now.revision = 1, "do not fall in revision");
    SPOIL(s, &s->b->records, s->b->records.count++, "a table counts");
    SPOIL(s, &chunk->count, chunk->count = 0, "holds 0 rows (O1)");
    SPOIL(s, &chunk->count, chunk->count = LAPSE_ORDER_CHUNK + 1, "holds 513 rows (O1)");
    SPOIL(s, &chunk->nodes[1], chunk->nodes[1] = chunk->nodes[0], "(O1, O2)");
    SPOIL(s, &chunk->nodes[0], chunk->nodes[0] = lapse_table_older(h), "(O1, O2)");
    SPOIL(s, &s->b->order, s->b->order.count++, "an order counts");
    SPOIL(s, &s->b->order, s->b->order.made = false, "(O1, O2)");
    SPOIL(s, &chunk->count, chunk->count--, "an order counts");
    struct lapse_node *swap[2] = {wall->items[1], wall->items[0]};
    memcpy(wall->items, swap, sizeof(swap));
    wall->items[0]->at.heap_pos = 0;
    wall->items[1]->at.heap_pos = 1;
    expect_bug(s, "a heap upside down", "heap place 1 ends before its parent");
    lapse_heap_moved(wall, wall->items[1]);
    uint32_t pos = d->at.heap_pos;
    d->at.heap_pos = 7;
    expect_told(s, lapse_heap_check(wall, LAPSE_END_WALL, &s->t.err), "heap_pos", "to be at 7");
    d->at.heap_pos = pos;
    d->placed = false;
    expect_told(s, lapse_heap_check(wall, LAPSE_END_WALL, &s->t.err), "placed", "believes");
    d->placed = true;
    expect_told(s, lapse_heap_check(wall, LAPSE_END_STEADY, &s->t.err), "kind", "of kind 1");
}

Test(check, each_invariant_of_a_row_is_walked) {
    struct scene scene;
    open_scene(&scene);
    spoil_values(&scene);
    spoil_ends(&scene);
    spoil_records(&scene);
    spoil_sessions(&scene);
    spoil_leases(&scene);
    close_scene(&scene, 80);
}

Test(check, each_invariant_of_an_index_is_walked) {
    struct scene scene;
    open_scene(&scene);
    spoil_watchers(&scene);
    spoil_renewals_and_peaks(&scene);
    spoil_indexes(&scene);
    close_scene(&scene, 40);
}

/* A key whose rows are parted by another's in the chain. */
Test(check, a_key_that_stands_twice_in_a_table_is_found) {
    struct scene scene;
    open_scene(&scene);
    struct lapse_node *nodes[3] = {find(scene.b, "h"), find(scene.b, "v"), find(scene.b, "h")};
    nodes[2] = lapse_table_older(nodes[0]);
    struct lapse_node *next[3] = {nodes[0]->next, nodes[1]->next, nodes[2]->next};
    struct lapse_node *slots[1] = {nodes[0]};
    struct lapse_table table = {.slots = slots, .slot_count = 1, .count = 3};
    for (int i = 0; i < 3; i++) {
        nodes[i]->next = i < 2 ? nodes[i + 1] : NULL;
    }
    expect_told(&scene, lapse_table_check(&table, &scene.t.err), "parted rows",
                "a key stands twice in chain 0");
    for (int i = 0; i < 3; i++) {
        nodes[i]->next = next[i];
    }
    close_scene(&scene, 0);
}

/* The lowest slot that the wheel uses, with its level; the mark of its first free slot. */
Test(check, each_invariant_of_the_wheel_is_walked) {
    struct scene scene;
    open_scene(&scene);
    struct scene *s = &scene;
    struct lapse_wheel *wheel = &s->state->steady;
    size_t work = SIZE_MAX;
    struct lapse_node *first = NULL;
    cr_assert(lapse_wheel_first(wheel, INT64_MAX, &work, &first));
    unsigned at = 0;
    while ((wheel->used >> at & 1) == 0) {
        at++;
    }
    struct lapse_wheel_level *level = wheel->levels[at];
    uint64_t used = level->used;
    SPOIL(s, wheel, wheel->used ^= 1U << at, "the wheel is wrong about its level");
    SPOIL(s, level, level->used = ~used, "is wrong about its slot");
    SPOIL(s, level, level->sorted = ~used, "is wrong about its slot");
    SPOIL(s, wheel, wheel->at += 1, "does not belong there (W1)");
    int64_t end = first->now.end_ns;
    first->now.end_ns++;
    expect_told(s, lapse_wheel_check(wheel, &s->t.err), "another end", "(W1)");
    first->now.end_ns = end;
    first->now.present = false;
    expect_told(s, lapse_wheel_check(wheel, &s->t.err), "an absent row", "(W1)");
    first->now.present = true;
    first->now.end_kind = LAPSE_END_WALL;
    expect_told(s, lapse_wheel_check(wheel, &s->t.err), "a date", "(W1)");
    first->now.end_kind = LAPSE_END_STEADY;
    first->placed = false;
    expect_told(s, lapse_wheel_check(wheel, &s->t.err), "a row that is not placed", "(W1)");
    first->placed = true;
    close_scene(&scene, 4);
}
