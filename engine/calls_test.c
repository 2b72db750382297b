/* The typed calls as a program that embeds the engine makes them: each builds the command that it
 * is named for, with every argument in its place. */
#include "testing.h"

#include <criterion/criterion.h>

static struct lapse_bytes bytes(const char *text) {
    return lapse_bytes_of(text);
}

Test(calls, keys_take_every_argument) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    struct lapse_result *r = &t.r;
    struct lapse_bytes b = bytes("b");
    struct lapse_bytes k = bytes("k");
    struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_TTL, .ttl = {S(10)}}};
    struct lapse_term own = {.given = LAPSE_TERM_TTL, .ttl = {S(3)}};
    int64_t stale = 7;
    cr_assert_eq(lapse_bucket_open(t.store, b, &config, r, &t.err), LAPSE_OK);
    cr_assert_eq(lapse_set(t.store, b, k, bytes("v1"), NULL, NULL, r, &t.err), LAPSE_OK);
    cr_expect(r->revision == 1 && r->left.ns == S(10));
    cr_expect_eq(lapse_set(t.store, b, k, bytes("x"), &own, &stale, r, &t.err), LAPSE_CONFLICT);
    cr_expect_eq(r->revision, 1);
    cr_expect_eq(lapse_create(t.store, b, k, bytes("x"), NULL, r, &t.err), LAPSE_EXISTS);
    cr_expect_eq(lapse_update(t.store, b, k, bytes("v2"), 1, &own, r, &t.err), LAPSE_OK);
    cr_expect(r->revision == 2 && r->left.ns == S(3));
    cr_expect_eq(lapse_get(t.store, b, k, r, &t.err), LAPSE_OK);
    cr_expect(lapse_testing_is(r->value, "v2"));
    cr_expect_eq(lapse_entry(t.store, b, k, r, &t.err), LAPSE_OK);
    cr_expect(lapse_testing_is(r->value, "v2") && r->revision == 2 && r->end.ns == S(3));
    cr_expect_eq(lapse_has(t.store, b, k, r, &t.err), LAPSE_OK);
    cr_expect_eq(r->value.len, 0);
    cr_expect_eq(lapse_expire(t.store, b, k, &own, &stale, r, &t.err), LAPSE_CONFLICT);
    cr_expect_eq(lapse_expire(t.store, b, k, &own, NULL, r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_persist(t.store, b, k, &stale, r, &t.err), LAPSE_CONFLICT);
    cr_expect_eq(lapse_persist(t.store, b, k, NULL, r, &t.err), LAPSE_OK);
    cr_expect_eq(r->end.kind, LAPSE_END_NONE);
    cr_expect_eq(lapse_create(t.store, b, bytes("a"), bytes("w"), &own, r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_list(t.store, b, r, &t.err), LAPSE_OK);
    cr_expect(r->item_count == 2 && lapse_testing_is(r->items[0].key, "a") &&
              r->items[0].value.len == 0);
    cr_expect_eq(lapse_all(t.store, b, r, &t.err), LAPSE_OK);
    cr_expect(r->item_count == 2 && lapse_testing_is(r->items[1].value, "v2"));
    cr_expect_eq(lapse_count(t.store, b, r, &t.err), LAPSE_OK);
    cr_expect(r->item_count == 2 && r->items == NULL);
    cr_expect_eq(lapse_delete(t.store, b, k, &stale, r, &t.err), LAPSE_CONFLICT);
    cr_expect_eq(lapse_delete(t.store, b, k, NULL, r, &t.err), LAPSE_OK);
    cr_expect_eq(r->events[0].kind, LAPSE_EVENT_DELETE);
    cr_expect_eq(lapse_purge(t.store, b, bytes("a"), NULL, r, &t.err), LAPSE_OK);
    cr_expect_eq(r->events[0].kind, LAPSE_EVENT_PURGE);
    lapse_testing_close(&t);
}

Test(calls, leases_and_watches_take_every_argument) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    struct lapse_result *r = &t.r;
    struct lapse_bytes job = bytes("job");
    struct lapse_bytes a = bytes("a");
    struct lapse_bytes b = bytes("b");
    struct lapse_span span = {S(5)};
    int64_t first = 1;
    int64_t other = 9;
    cr_assert_eq(lapse_acquire(t.store, job, a, span, r, &t.err), LAPSE_OK);
    cr_expect(r->token == 1 && r->left.ns == S(5) && lapse_testing_is(r->owner, "a"));
    cr_expect_eq(lapse_acquire(t.store, job, b, span, r, &t.err), LAPSE_HELD);
    span.ns = S(8);
    cr_expect_eq(lapse_extend(t.store, job, a, span, NULL, r, &t.err), LAPSE_OK);
    cr_expect_eq(r->left.ns, S(8));
    cr_expect_eq(lapse_extend(t.store, job, a, span, &other, r, &t.err), LAPSE_NOT_OWNER);
    cr_expect_eq(lapse_extend(t.store, job, b, span, &first, r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_inspect(t.store, job, r, &t.err), LAPSE_OK);
    cr_expect(r->token == 1 && lapse_testing_is(r->owner, "a"));
    cr_expect_eq(lapse_release(t.store, job, a, &other, r, &t.err), LAPSE_NOT_OWNER);
    cr_expect_eq(lapse_release(t.store, job, a, NULL, r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_inspect(t.store, job, r, &t.err), LAPSE_ABSENT);
    struct lapse_bucket_config config = {0};
    cr_assert_eq(lapse_bucket_open(t.store, b, &config, r, &t.err), LAPSE_OK);
    cr_assert_eq(lapse_set(t.store, b, a, bytes("v"), NULL, NULL, r, &t.err), LAPSE_OK);
    cr_assert_eq(lapse_watch(t.store, b, a, LAPSE_WATCH_LIVE, r, &t.err), LAPSE_OK);
    cr_expect(r->item_count == 1 && lapse_testing_is(r->items[0].value, "v"));
    int64_t watcher = r->watcher;
    cr_assert_eq(lapse_set(t.store, b, a, bytes("w"), NULL, NULL, r, &t.err), LAPSE_OK);
    cr_assert_eq(lapse_set(t.store, b, job, bytes("x"), NULL, NULL, r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_poll(t.store, watcher, 8, r, &t.err), LAPSE_OK);
    cr_expect(r->delivery_count == 1 && lapse_testing_is(r->deliveries[0].value, "w"));
    cr_expect_eq(lapse_unwatch(t.store, watcher, r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_poll(t.store, watcher, 8, r, &t.err), LAPSE_INVALID);
    lapse_testing_close(&t);
}

Test(calls, sessions_take_every_argument) {
    struct lapse_testing t;
    lapse_testing_open(&t);
    struct lapse_result *r = &t.r;
    struct lapse_bytes name = bytes("s");
    struct lapse_bytes a = bytes("a");
    struct lapse_bytes b = bytes("b");
    struct lapse_span none = {0};
    struct lapse_span span = {S(5)};
    cr_assert_eq(lapse_session_open(t.store, name, a, span, r, &t.err), LAPSE_OK);
    cr_expect(r->token == 1 && r->left.ns == S(5) && !r->renewed);
    cr_expect_eq(lapse_session_open(t.store, name, b, span, r, &t.err), LAPSE_HELD);
    cr_expect(lapse_testing_is(r->owner, "a"));
    cr_expect_eq(lapse_acquire_session(t.store, bytes("job"), b, name, r, &t.err), LAPSE_OK);
    cr_expect(r->left.ns == S(5) && lapse_testing_is(r->owner, "b"));
    span.ns = S(8);
    cr_expect_eq(lapse_session_keepalive(t.store, name, b, span, r, &t.err), LAPSE_LOST);
    cr_expect_eq(lapse_session_keepalive(t.store, name, a, span, r, &t.err), LAPSE_OK);
    cr_expect_eq(r->left.ns, S(8));
    cr_expect_eq(lapse_session_keepalive(t.store, name, a, none, r, &t.err), LAPSE_OK);
    cr_expect_eq(r->left.ns, S(8));
    cr_expect_eq(lapse_session_close(t.store, name, b, r, &t.err), LAPSE_LOST);
    cr_expect_eq(lapse_session_close(t.store, name, a, r, &t.err), LAPSE_OK);
    cr_expect_eq(lapse_inspect(t.store, bytes("job"), r, &t.err), LAPSE_ABSENT);
    cr_expect_eq(lapse_acquire_session(t.store, bytes("job"), b, name, r, &t.err), LAPSE_LOST);
    lapse_testing_close(&t);
}
