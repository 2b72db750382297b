/* The check under policies: what only some stores have, such as keys and names that are remembered
 * or traces without an end, is a mistake in others, and must be told. One field of a sound store is
 * spoiled at a time. */
#include "decide.h"
#include "handle.h"
#include "heap.h"
#include "testing.h"

#include <criterion/criterion.h>
#include <string.h>

struct scene {
    struct lapse_testing t;
    struct lapse_state *state;
    struct lapse_bucket *b;
};

enum { SAVED_MAX = 2048 };

/* Spoils an object by one statement, expects the sentence, and mends it. */
#define SPOIL_BYTES(scene, object, bytes, change, sentence)                                        \
    do {                                                                                           \
        unsigned char saved[SAVED_MAX];                                                            \
        cr_assert_leq((size_t)(bytes), sizeof(saved));                                             \
        memcpy(saved, (object), (bytes));                                                          \
        change;                                                                                    \
        expect_bug((scene), #change, (sentence));                                                  \
        memcpy((object), saved, (bytes));                                                          \
        lapse_testing_check(&(scene)->t);                                                          \
    } while (0)
#define SPOIL(scene, object, change, sentence)                                                     \
    SPOIL_BYTES(scene, object, sizeof(*(object)), change, sentence)
/* A node is followed by its key. */
#define SPOIL_NODE(scene, node, change, sentence)                                                  \
    SPOIL_BYTES(scene, node, offsetof(struct lapse_node, key), change, sentence)

#define DO(s, verb, key, given, span)                                                              \
    lapse_testing_do(&(s)->t, LAPSE_VERB_##verb, "b", (key), "v", (given), (span))
#define TTL LAPSE_TERM_TTL

static void expect_bug(struct scene *s, const char *change, const char *sentence) {
    s->t.err = (struct lapse_error){.status = LAPSE_OK};
    cr_expect_eq(lapse_check(s->t.store, &s->t.err), LAPSE_BUG, "nobody sees %s", change);
    cr_expect_not_null(strstr(s->t.err.message, sentence), "%s: %s", change, s->t.err.message);
}

static void open_scene(struct scene *s, const struct lapse_policies *policies,
                       struct lapse_bucket_config words) {
    lapse_testing_open_policies(&s->t, NULL, 0, policies);
    s->state = &s->t.store->state;
    cr_assert_eq(lapse_bucket_open(s->t.store, lapse_bytes_of("b"), &words, &s->t.r, &s->t.err),
                 LAPSE_OK, "%s", s->t.err.message);
    s->b = lapse_state_bucket(s->state, lapse_bytes_of("b"));
}

static struct lapse_node *find(const struct lapse_table *table, const char *key) {
    struct lapse_node *node = lapse_table_find(table, lapse_bytes_of(key));
    cr_assert_not_null(node, "%s", key);
    return node;
}

Test(policy_check, what_is_remembered_is_no_more_than_a_number) {
    static unsigned char blob[1];
    struct lapse_policies kahuna = lapse_policies_of(LAPSE_PROFILE_KAHUNA);
    struct lapse_bytes w = lapse_bytes_of("w");
    struct scene s;
    open_scene(&s, &kahuna, (struct lapse_bucket_config){.history = 1});
    DO(&s, SET, "k", TTL, S(1));
    lapse_testing_lease(&s.t, LAPSE_VERB_ACQUIRE, "over", "w", S(1));
    lapse_acquire_ephemeral(s.t.store, lapse_bytes_of("brief"), w, (struct lapse_span){S(1)},
                            &s.t.r, &s.t.err);
    lapse_testing_at(&s.t, S(2));
    lapse_testing_step(&s.t, NULL);
    struct lapse_node *k = find(&s.b->records, "k");
    struct lapse_node *over = find(&s.state->leases, "over");
    struct lapse_node *brief = find(&s.state->ephemeral.names, "brief");
    uint8_t *values = s.state->policies.value;
    cr_assert_eq(k->now.record, LAPSE_RECORD_GONE);
    SPOIL_NODE(&s, k, (k->now.blob = blob, k->now.blob_len = 1), "is more than that (S12)");
    SPOIL_NODE(&s, k, k->now.older = true, "is more than that (S12)");
    SPOIL_NODE(&s, k, k->now.revision = -1, "never gave (S4)");
    SPOIL(&s, &s.state->policies,
          values[LAPSE_POLICY_REVISION] = values[LAPSE_POLICY_IF_VERSION] =
              values[LAPSE_POLICY_DELETE_ENDED] = 0,
          "never gave (S4)");
    SPOIL(&s, &s.state->policies,
          (values[LAPSE_POLICY_IF_VERSION] = values[LAPSE_POLICY_DELETE_ENDED] =
               values[LAPSE_POLICY_REVISION] = 0,
           k->now.revision = 1, s.b->row->now.revision = 1),
          "is more than that (S12)");
    k->now.revision = s.b->row->now.revision = 0;
    lapse_testing_check(&s.t);
    SPOIL_NODE(&s, over, over->now.revision = -1, "a token that the store never gave");
    SPOIL(&s, &s.state->policies,
          values[LAPSE_POLICY_TOKEN] = values[LAPSE_POLICY_RELEASE_ENDED] = 0,
          "a token that the store never gave");
    SPOIL_NODE(&s, brief, brief->now.revision = -1, "the ephemeral lease `brief`");
    SPOIL_NODE(&s, brief, brief->placed = true, "the ephemeral lease `brief`");
    lapse_testing_close(&s.t);
}

/* A name that is remembered for its last owner has one; it has no token to go on from. */
Test(policy_check, a_name_that_is_remembered_has_what_it_is_remembered_for) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    struct scene s;
    policies.value[LAPSE_POLICY_RELEASE_ENDED] = 1;
    open_scene(&s, &policies, (struct lapse_bucket_config){.history = 1});
    lapse_testing_lease(&s.t, LAPSE_VERB_ACQUIRE, "over", "w", S(1));
    lapse_testing_lease(&s.t, LAPSE_VERB_ACQUIRE, "held", "w", S(9));
    lapse_testing_at(&s.t, S(1));
    lapse_testing_step(&s.t, NULL);
    struct lapse_node *over = find(&s.state->leases, "over");
    struct lapse_node *held = find(&s.state->leases, "held");
    uint8_t *values = s.state->policies.value;
    SPOIL_NODE(&s, over, (over->now.blob_len = 0), "a lease without an owner or an end");
    SPOIL(&s, &s.state->policies, values[LAPSE_POLICY_RELEASE_ENDED] = 0,
          "a lease without an owner or an end");
    SPOIL_NODE(&s, held, held->listed = true, "still on the undo list (S1, S3)");
    cr_expect_eq(lapse_testing_lease(&s.t, LAPSE_VERB_RELEASE, "over", "w", 0), LAPSE_OK);
    lapse_testing_close(&s.t);
}

Test(policy_check, a_trace_has_an_end_unless_it_ages_as_values_do) {
    struct lapse_policies nats = lapse_policies_of(LAPSE_PROFILE_NATS);
    struct scene s;
    open_scene(&s, &nats, (struct lapse_bucket_config){.history = 1});
    DO(&s, SET, "k", 0, 0);
    DO(&s, DELETE, "k", 0, 0);
    DO(&s, DELETE, "never", 0, 0);
    struct lapse_node *k = find(&s.b->records, "k");
    struct lapse_node *never = find(&s.b->records, "never");
    uint8_t *values = s.state->policies.value;
    cr_assert_eq(k->now.end_kind, LAPSE_END_NONE);
    SPOIL(&s, &s.state->policies, values[LAPSE_POLICY_REVISION] = 0, "no known end (S12)");
    SPOIL(&s, &s.state->policies, values[LAPSE_POLICY_DELETE_ENDED] = 0, "no known end (S12)");
    SPOIL_NODE(&s, never, never->now.aux.old_revision = -1, "no known end (S12)");
    SPOIL_NODE(&s, s.b->row, s.b->row->listed = true, "still on the undo list (S1, S3)");
    lapse_testing_close(&s.t);
}

/* Where a key counts for itself its first revision is 0, and even that may be a tombstone's. */
Test(policy_check, a_trace_tells_of_an_older_revision_of_whatever_count) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    struct scene s;
    policies.value[LAPSE_POLICY_REVISION] = LAPSE_REVISION_KEY;
    policies.value[LAPSE_POLICY_DELETE_ENDED] = LAPSE_DELETE_ENDED_TOMBSTONE;
    open_scene(&s, &policies, (struct lapse_bucket_config){.markers = {S(60)}});
    DO(&s, DELETE, "never", 0, 0);
    cr_expect_eq(s.t.r.revision, 0);
    DO(&s, SET, "k", 0, 0);
    DO(&s, DELETE, "k", 0, 0);
    cr_expect_eq(s.t.r.revision, 1);
    lapse_testing_check(&s.t);
    struct lapse_node *k = find(&s.b->records, "k");
    SPOIL_NODE(&s, k, k->now.aux.old_revision = 1, "no known end (S12)");
    SPOIL_NODE(&s, k, k->now.aux.old_revision = 2, "no known end (S12)");
    SPOIL_NODE(&s, k, k->now.aux.old_revision = -1, "no known end (S12)");
    lapse_testing_close(&s.t);
}

Test(policy_check, rows_without_members_and_rows_of_requests_are_walked_too) {
    struct lapse_bytes w = lapse_bytes_of("w");
    struct scene s;
    open_scene(&s, NULL, (struct lapse_bucket_config){.history = LAPSE_HISTORY_MAX});
    struct lapse_command asked = {
        .verb = LAPSE_VERB_SET, .bucket = lapse_bytes_of("b"), .key = lapse_bytes_of("k")};
    asked.request = lapse_bytes_of("id");
    lapse_apply(s.t.store, &asked, &s.t.r, &s.t.err);
    lapse_session_open(s.t.store, lapse_bytes_of("bare"), w, (struct lapse_span){S(9)}, &s.t.r,
                       &s.t.err);
    lapse_testing_lease(&s.t, LAPSE_VERB_ACQUIRE, "l", "w", S(9));
    DO(&s, SET, "p", 0, 0);
    struct lapse_node *bare = find(&s.state->sessions, "bare");
    struct lapse_node *id = find(&s.state->requests, "id");
    struct lapse_node *l = find(&s.state->leases, "l");
    SPOIL_NODE(&s, bare, bare->now.present = false, "(S1, S3)");
    SPOIL_NODE(&s, bare, bare->now.end_kind = LAPSE_END_WALL, "(S1, S3)");
    SPOIL_NODE(&s, id, id->listed = true, "still on the undo list (S1, S3)");
    SPOIL_NODE(&s, l, l->now.end_kind = LAPSE_END_NONE, "a lease without an owner or an end");
    SPOIL_NODE(&s, l, l->fresh = true, "still on the undo list (S1, S3)");
    lapse_testing_close(&s.t);
}

/* The end of a newest record counts, unless a policy has it stay without a marker. */
Test(policy_check, only_a_value_whose_end_cannot_be_marked_has_an_end_that_does_not_count) {
    struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    struct scene s;
    policies.value[LAPSE_POLICY_MARKER_UNSTORED] = 1;
    open_scene(&s, &policies,
               (struct lapse_bucket_config){.markers = {S(60)}, .first_revision = INT64_MAX - 1});
    DO(&s, SET, "k", TTL, S(5));
    DO(&s, SET, "date", LAPSE_TERM_EXPIRES_AT, S(1005));
    lapse_testing_at(&s.t, S(6));
    lapse_testing_step(&s.t, NULL);
    struct lapse_node *k = find(&s.b->records, "k");
    struct lapse_node *date = find(&s.b->records, "date");
    uint8_t *values = s.state->policies.value;
    cr_assert(k->now.covered && date->now.covered);
    SPOIL(&s, &s.state->policies, values[LAPSE_POLICY_MARKER_UNSTORED] = 0, "(S13)");
    SPOIL(&s, &s.state->policies, values[LAPSE_POLICY_REVISION] = LAPSE_REVISION_STORE, "(S13)");
    SPOIL(&s, s.b, s.b->config.markers.ns = 0, "(S13)");
    SPOIL_NODE(&s, k, k->now.covered = false, "is not in the wheel or heap of its end (S2)");
    SPOIL_NODE(&s, date, date->now.reached = true, "has a place (S2)");
    SPOIL_NODE(&s, s.b->row, s.b->row->now.revision = INT64_MAX - 3, "below its first (S4)");
    SPOIL(&s, s.b, s.b->config.first_revision = INT64_MAX, "never gave (S4)");
    lapse_testing_close(&s.t);
    open_scene(&s, &policies, (struct lapse_bucket_config){.first_revision = 7});
    SPOIL_NODE(&s, s.b->row, s.b->row->now.revision = 5, "no revision below its first (S4)");
    lapse_testing_close(&s.t);
}

/* One record more than are ever kept, put where no call puts it. */
Test(policy_check, a_history_that_is_too_long_is_told) {
    struct scene s;
    open_scene(&s, NULL, (struct lapse_bucket_config){.history = LAPSE_HISTORY_MAX});
    for (int i = 0; i < LAPSE_HISTORY_MAX; i++) {
        DO(&s, SET, "k", 0, 0);
    }
    struct lapse_node *newest = find(&s.b->records, "k");
    struct lapse_node *more =
        lapse_node_make(s.state->alloc, LAPSE_ROW_RECORD, lapse_bytes_of("k"));
    cr_assert_not_null(more);
    struct lapse_image image = newest->now;
    image.revision = newest->now.revision + 1;
    image.blob = NULL;
    image.blob_len = 0;
    more->bucket = s.b->index;
    s.b->row->now.revision++;
    newest->now.older = newest->now.covered = true;
    cr_assert(lapse_state_reserve(s.state, more));
    lapse_state_place(s.state, more, &image);
    expect_bug(&s, "a record too many", "has too long a history");
    struct lapse_image absent = lapse_node_absent(more);
    lapse_state_place(s.state, more, &absent);
    lapse_node_free(s.state->alloc, more);
    newest->now.older = newest->now.covered = false;
    s.b->row->now.revision--;
    lapse_testing_close(&s.t);
}

/* A renewal of a row that is no more: the one walk that begins at the renewal, not at a table. */
Test(policy_check, a_renewal_of_a_row_that_is_gone_is_told) {
    struct scene s;
    open_scene(&s, NULL,
               (struct lapse_bucket_config){
                   .term = {.given = LAPSE_TERM_IDLE, .idle = {S(60)}}, .history = 1});
    DO(&s, SET, "k", 0, 0);
    lapse_testing_at(&s.t, S(10));
    DO(&s, GET, "k", 0, 0);
    cr_assert_eq(s.state->deferred_count, 1);
    struct lapse_node *k = find(&s.b->records, "k");
    struct lapse_image before = k->now;
    struct lapse_image absent = lapse_node_absent(k);
    lapse_state_place(s.state, k, &absent);
    expect_bug(&s, "a renewal without a row", "a renewal from outside its term (S5)");
    cr_assert(lapse_state_reserve(s.state, k));
    lapse_state_place(s.state, k, &before);
    lapse_testing_close(&s.t);
}

/* What counts more than memory can hold is refused before it is reckoned with. */
Test(policy_check, no_table_or_heap_grows_past_what_its_numbers_can_say) {
    struct lapse_testing_alloc alloc;
    void *items = NULL;
    size_t cap = 0;
    lapse_testing_alloc_init(&alloc);
    struct lapse_heap heap = {.count = 0};
    cr_expect_not(lapse_heap_reserve(&alloc.vtable, &heap, UINT32_MAX));
    heap.count = UINT32_MAX - 2;
    cr_expect_not(lapse_heap_reserve(&alloc.vtable, &heap, 2));
    struct lapse_table table = {.slot_count = SIZE_MAX / 4 + 1, .count = SIZE_MAX / 2};
    cr_expect_not(lapse_table_reserve(&alloc.vtable, &table));
    struct lapse_node **nodes = NULL;
    cr_expect_not(lapse_table_sorted(&alloc.vtable, &table, &nodes));
    cr_expect_not(lapse_alloc_grow(&alloc.vtable, &items, &cap, SIZE_MAX, 1), "doubling");
    cr_expect_not(lapse_alloc_grow(&alloc.vtable, &items, &cap, 8, SIZE_MAX / 4), "bytes");
    cr_expect_eq(alloc.calls, 0, "nothing was asked of the allocator");
}
