/* Other ways to break a rule than the one that its story tells: what else each must notice, and
 * what it must let pass. */
#include <criterion/criterion.h>

#include "contracts/tracker.h"
#include "history_builder_test.h"

static struct lapse_request dated(struct lapse_request request, int64_t ns) {
    request.command.u.write.term.given = LAPSE_TERM_EXPIRES_AT;
    request.command.u.write.term.expires_at.ns = builder_setup()->epoch.ns + ns;
    return request;
}

static struct lapse_answer wrote_dated(const struct builder *b, int64_t revision, int64_t ns) {
    struct lapse_answer answer = wrote(b, revision, 0);
    answer.end = (struct lapse_end){LAPSE_END_WALL, builder_setup()->epoch.ns + ns};
    answer.left.ns = ns > b->at ? ns - b->at : 0;
    return answer;
}

static void list_shows_ended(struct builder *b) {
    put(b, W1, "codes", "a", "1", 1, 15 * MINUTE);
    b->at = 15 * MINUTE;
    const struct lapse_item item = {
        .key = lapse_bytes_of("a"), .value = lapse_bytes_of("1"), .revision = 1};
    list(b, "codes", 1, &item);
}

static void count_counts_ended(struct builder *b) {
    put(b, W1, "codes", "a", "1", 1, 15 * MINUTE);
    b->at = 15 * MINUTE;
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.item_count = 1;
    decide(b, W1, key_call(LAPSE_VERB_COUNT, "codes", ""), answer);
}

static void list_is_out_of_order(struct builder *b) {
    put(b, W1, "plain", "a", "1", 1, 0);
    put(b, W1, "plain", "b", "2", 2, 0);
    const struct lapse_item items[] = {
        {.key = lapse_bytes_of("b"), .value = lapse_bytes_of("2"), .revision = 2},
        {.key = lapse_bytes_of("a"), .value = lapse_bytes_of("1"), .revision = 1},
    };
    list(b, "plain", 2, items);
}

static void create_refused_after_end(struct builder *b) {
    put(b, W1, "codes", "a", "1", 1, 15 * MINUTE);
    b->at = 15 * MINUTE;
    decide(b, W1, put_call(LAPSE_VERB_CREATE, "codes", "a", "2"), answered(b, LAPSE_EXISTS));
}

static void deleted_key_is_read(struct builder *b) {
    put(b, W1, "plain", "a", "1", 1, 0);
    accept(b, W1, key_call(LAPSE_VERB_DELETE, "plain", "a"), wrote(b, 2, 0));
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "a"), read_value(b, "1", 1, 0));
}

/* A use whose answer does not show an end keeps the key alive in the tracker too. */
static void has_renews(struct builder *b, int64_t later, enum lapse_status status) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = 20 * MINUTE;
    struct lapse_answer answer = wrote(b, 1, 0);
    answer.renewed = true;
    decide(b, W1, key_call(LAPSE_VERB_HAS, "idle", "k"), answer);
    b->at = later;
    answer.status = status;
    answer.at.ns = later;
    decide(b, W1, key_call(LAPSE_VERB_HAS, "idle", "k"), answer);
}

static void has_renewed(struct builder *b) {
    has_renews(b, 50 * MINUTE - 1, LAPSE_OK);
}

static void has_did_not_renew(struct builder *b) {
    has_renews(b, 30 * MINUTE, LAPSE_ABSENT);
}

static void list_renewed_idle(struct builder *b) {
    put(b, W1, "idle", "k", "v", 1, 30 * MINUTE);
    b->at = 20 * MINUTE;
    const struct lapse_item item = {
        .key = lapse_bytes_of("k"), .value = lapse_bytes_of("v"), .revision = 1};
    list(b, "idle", 1, &item);
    b->at = 40 * MINUTE;
    struct lapse_answer answer = read_value(b, "v", 1, 70 * MINUTE);
    answer.renewed = true;
    decide(b, W1, key_call(LAPSE_VERB_GET, "idle", "k"), answer);
}

/* A key with an idle term of its own of `idle_ns`, read 1 ns after its write. */
static void read_idle(struct builder *b, int64_t idle_ns) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    set.command.u.write.term.given = LAPSE_TERM_IDLE;
    set.command.u.write.term.idle.ns = idle_ns;
    accept(b, W1, set, wrote(b, 1, b->at + idle_ns));
    b->at += 1;
    struct lapse_answer answer = read_value(b, "v", 1, b->at + idle_ns);
    answer.renewed = true;
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "k"), answer);
}

/* A span under 30 ns renews at every use; a second use at one instant moves nothing. */
static void use_again(struct builder *b, enum lapse_verb verb, bool renewed, int64_t end) {
    read_idle(b, 20);
    struct lapse_answer answer = read_value(b, "v", 1, end);
    answer.renewed = renewed;
    decide(b, W1, key_call(verb, "plain", "k"), answer);
}

static void second_use_says_nothing(struct builder *b) {
    use_again(b, LAPSE_VERB_GET, false, 21);
}

static void second_use_says_renewed(struct builder *b) {
    use_again(b, LAPSE_VERB_ENTRY, true, 21);
}

static void second_use_by_has(struct builder *b) {
    use_again(b, LAPSE_VERB_HAS, false, 21);
}

static void second_use_moves_the_end(struct builder *b) {
    use_again(b, LAPSE_VERB_GET, false, 22);
}

/* The renewal that counted was the first: without it the key would be absent here. */
static void second_use_hides_no_loss(struct builder *b) {
    use_again(b, LAPSE_VERB_GET, false, 21);
    b->at = 20;
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "k"), answered(b, LAPSE_ABSENT));
}

static void use_at_the_write(struct builder *b) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    set.command.u.write.term.given = LAPSE_TERM_IDLE;
    set.command.u.write.term.idle.ns = 20;
    accept(b, W1, set, wrote(b, 1, 20));
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "k"), read_value(b, "v", 1, 20));
    b->at = 20;
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "k"), answered(b, LAPSE_ABSENT));
}

/* Where the new end would not fit, the old one stays. */
static void use_that_cannot_renew(struct builder *b) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "plain", "k", "v");
    set.command.u.write.term.given = LAPSE_TERM_IDLE;
    set.command.u.write.term.idle.ns = INT64_MAX;
    accept(b, W1, set, wrote(b, 1, INT64_MAX));
    b->at = INT64_MAX / 29;
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "k"), read_value(b, "v", 1, INT64_MAX));
}

static void reached_date_stays_reached(struct builder *b, enum lapse_status status) {
    accept(b, W1, dated(put_call(LAPSE_VERB_SET, "plain", "k", "v"), MINUTE),
           wrote_dated(b, 1, MINUTE));
    b->at = MINUTE;
    decide(b, W1, key_call(LAPSE_VERB_COUNT, "codes", ""), answered(b, LAPSE_OK));
    struct lapse_answer answer = answered(b, status);
    answer.wall.ns -= SECOND; /* the wall was set back */
    decide(b, W1, key_call(LAPSE_VERB_HAS, "plain", "k"), answer);
}

static void date_stays_reached(struct builder *b) {
    reached_date_stays_reached(b, LAPSE_ABSENT);
}

static void date_comes_back(struct builder *b) {
    reached_date_stays_reached(b, LAPSE_OK);
}

static void past_date_is_absent_at_once(struct builder *b) {
    b->at = MINUTE;
    accept(b, W1, dated(put_call(LAPSE_VERB_SET, "plain", "k", "v"), 0), wrote_dated(b, 1, 0));
    decide(b, W1, key_call(LAPSE_VERB_HAS, "plain", "k"), answered(b, LAPSE_ABSENT));
}

static void two_terms_accepted(struct builder *b) {
    struct lapse_request set = with_ttl(put_call(LAPSE_VERB_SET, "plain", "k", "v"), MINUTE);
    set.command.u.write.term.given |= LAPSE_TERM_IDLE;
    set.command.u.write.term.idle.ns = MINUTE;
    decide(b, W1, set, wrote(b, 1, MINUTE));
}

static void refused_call_took_a_revision(struct builder *b) {
    put(b, W1, "plain", "a", "1", 1, 0);
    decide(b, W2, put_call(LAPSE_VERB_CREATE, "plain", "a", "2"), answered(b, LAPSE_EXISTS));
    put(b, W1, "plain", "a", "3", 3, 0);
}

static void refused_call_made_an_event(struct builder *b) {
    put(b, W1, "plain", "a", "1", 1, 0);
    struct lapse_request create = put_call(LAPSE_VERB_CREATE, "plain", "a", "2");
    int64_t call = decide(b, W2, create, answered(b, LAPSE_EXISTS));
    emit(b, call, bucket_event(b, LAPSE_EVENT_PUT, &create.command, 2));
}

static void accepted_write_made_no_event(struct builder *b) {
    decide(b, W1, put_call(LAPSE_VERB_SET, "plain", "a", "1"), wrote(b, 1, 0));
    plain_event(b, LAPSE_HISTORY_END, -1);
}

static void mark_end(struct builder *b, int64_t at, bool paused) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "marked", "a", "v");
    accept(b, W1, set, wrote(b, 1, MINUTE));
    b->at = MINUTE - 1;
    if (paused)
        plain_event(b, LAPSE_HISTORY_FAULT_BEGIN, -1);
    b->at = at;
    if (paused)
        plain_event(b, LAPSE_HISTORY_FAULT_END, -1);
    struct lapse_event event = bucket_event(b, LAPSE_EVENT_EXPIRED, &set.command, 2);
    event.old_revision = 1;
    event.why = LAPSE_WHY_DEFAULT;
    emit(b, 0, event);
}

static void marker_at_the_bound(struct builder *b) {
    mark_end(b, MINUTE + SECOND, false);
}

static void marker_after_the_bound(struct builder *b) {
    mark_end(b, MINUTE + SECOND + 1, false);
}

static void marker_late_by_a_pause(struct builder *b) {
    mark_end(b, 2 * MINUTE, true);
}

static void marker_too_early(struct builder *b) {
    mark_end(b, MINUTE - 1, false);
}

static void marker_missing_at_the_end(struct builder *b) {
    put(b, W1, "marked", "a", "v", 1, MINUTE);
    b->at = MINUTE + SECOND + 1;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

static void watch_and_put(struct builder *b, enum lapse_fault_kind fault) {
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    converse(b, W2, key_call(LAPSE_VERB_WATCH, "plain", ""), answer);
    if (fault != 0)
        client_fault(b, fault, W2);
    put(b, W1, "plain", "a", "v", 1, 0);
    plain_event(b, LAPSE_HISTORY_END, -1);
}

/* The store decides the watch, an event is made, and only then a reply comes, or none. */
static void watch_told_late(struct builder *b, bool told, enum lapse_status status) {
    struct lapse_request request = key_call(LAPSE_VERB_WATCH, "plain", "");
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    int64_t call = decide(b, W2, request, answer);
    put(b, W1, "plain", "a", "v", 1, 0);
    answer.status = status;
    if (told)
        reply(b, W2, call, request.verb, answer);
    plain_event(b, LAPSE_HISTORY_END, -1);
}

static void watch_is_told_of_late(struct builder *b) {
    watch_told_late(b, true, LAPSE_OK);
}

static void watch_is_given_up(struct builder *b) {
    watch_told_late(b, true, LAPSE_UNKNOWN);
}

static void watch_is_never_told_of(struct builder *b) {
    watch_told_late(b, false, LAPSE_OK);
}

static void last_event_is_lost(struct builder *b) {
    watch_and_put(b, 0);
}

static void last_event_waits_for_a_pause(struct builder *b) {
    watch_and_put(b, LAPSE_FAULT_PAUSE);
}

static void watch_dies_with_its_client(struct builder *b) {
    watch_and_put(b, LAPSE_FAULT_CRASH);
}

static void last_event_is_due_while_timers_starve(struct builder *b) {
    watch_and_put(b, LAPSE_FAULT_STARVE);
}

/* The lane from the node to the watcher is cut; healed, unless it lasts; told of a gap, or not. */
static void watch_over_a_cut(struct builder *b, bool healed, bool gap) {
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    converse(b, W2, key_call(LAPSE_VERB_WATCH, "plain", ""), answer);
    cut(b, LAPSE_HISTORY_FAULT_BEGIN, W2);
    put(b, W1, "plain", "a", "v", 1, 0);
    if (healed)
        cut(b, LAPSE_HISTORY_FAULT_END, W2);
    struct lapse_request request = key_call(LAPSE_VERB_WATCH, "plain", "");
    if (gap)
        deliver(b, false, bucket_event(b, LAPSE_EVENT_GAP, &request.command, 1));
    plain_event(b, LAPSE_HISTORY_END, -1);
}

static void cut_lasts(struct builder *b) {
    watch_over_a_cut(b, false, false);
}

static void cut_is_healed_with_a_gap(struct builder *b) {
    watch_over_a_cut(b, true, true);
}

static void cut_is_healed_without_a_gap(struct builder *b) {
    watch_over_a_cut(b, true, false);
}

/* The event is on its way when the run ends, or should have come. */
static void event_under_way(struct builder *b, int64_t latency_ns) {
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    converse(b, W2, key_call(LAPSE_VERB_WATCH, "plain", ""), answer);
    put(b, W1, "plain", "a", "v", 1, 0);
    late_event(b, W2, latency_ns);
    b->at += SECOND;
    plain_event(b, LAPSE_HISTORY_END, -1);
}

static void event_is_under_way_at_the_end(struct builder *b) {
    event_under_way(b, SECOND + 1);
}

static void event_should_have_come(struct builder *b) {
    event_under_way(b, SECOND);
}

/* A link hands over what it carries when it is slow no more. */
static void event_after_a_healed_link(struct builder *b, bool healed) {
    struct lapse_answer answer = answered(b, LAPSE_OK);
    answer.watcher = 1;
    converse(b, W2, key_call(LAPSE_VERB_WATCH, "plain", ""), answer);
    put(b, W1, "plain", "a", "v", 1, 0);
    late_event(b, W2, 60 * SECOND);
    if (healed)
        link_fault(b, LAPSE_HISTORY_FAULT_END, LAPSE_FAULT_LINK, W2);
    plain_event(b, LAPSE_HISTORY_END, -1);
}

static void event_waits_in_a_slow_link(struct builder *b) {
    event_after_a_healed_link(b, false);
}

static void event_is_lost_in_a_healed_link(struct builder *b) {
    event_after_a_healed_link(b, true);
}

/* A stolen lock: the thief's put is charged each time, a takeover that names the version is not. */
static void takeover_by_version(struct builder *b) {
    accept(b, W1, put_call(LAPSE_VERB_CREATE, "locks", "job", "a"), wrote(b, 1, 30 * SECOND));
    b->at = SECOND;
    accept(b, W2, versioned(put_call(LAPSE_VERB_UPDATE, "locks", "job", "b"), 1),
           wrote(b, 2, 31 * SECOND));
    accept(b, W2, put_call(LAPSE_VERB_SET, "locks", "job", "b"), wrote(b, 3, 31 * SECOND));
}

static void creator_lost_it_and_puts(struct builder *b) {
    takeover_by_version(b);
    accept(b, W1, put_call(LAPSE_VERB_SET, "locks", "job", "a"), wrote(b, 4, 31 * SECOND));
}

static void token_alone_names_the_grant(struct builder *b) {
    grant(b, W1, "job", "w1", 30 * SECOND, 1);
    struct lapse_request extend = lease_call(LAPSE_VERB_EXTEND, "job", "w2", 30 * SECOND);
    extend.command.u.lease.has_token = true;
    extend.command.u.lease.token = 1;
    decide(b, W2, extend, holds_lease(b, "w1", 1, 30 * SECOND));
    extend.command.u.lease.token = 2;
    decide(b, W1, extend, answered(b, LAPSE_NOT_OWNER));
}

/* A new grant is another one: acts under it are no acts under the one that was denied. */
static void act_after_a_new_grant(struct builder *b) {
    grant(b, C1, "job", "c1", 30 * SECOND, 1);
    b->at = 40 * SECOND;
    converse(b, C1, lease_call(LAPSE_VERB_EXTEND, "job", "c1", 30 * SECOND),
             answered(b, LAPSE_LOST));
    grant(b, C1, "job", "c1", 30 * SECOND, 2);
    b->grant = (struct lapse_grant_ref){.given = true, .name = lapse_bytes_of("job"), .token = 2};
    b->looked = true;
    b->last_look = b->at;
    invoke(b, C1, (struct lapse_request){.verb = LAPSE_CALL_WRITE, .resource = REPORT});
}

/* A denial of a token that the client never had ends its belief; the next grant, though it has the
 * token of before, begins another. */
static void act_after_the_same_grant(struct builder *b, bool again) {
    struct lapse_request extend = lease_call(LAPSE_VERB_EXTEND, "job", "c1", 30 * SECOND);
    extend.command.u.lease.has_token = true;
    extend.command.u.lease.token = 99;
    grant(b, C1, "job", "c1", 30 * SECOND, 1);
    converse(b, C1, extend, answered(b, LAPSE_NOT_OWNER));
    struct lapse_answer renewed = holds_lease(b, "c1", 1, 30 * SECOND);
    renewed.renewed = true;
    if (again)
        converse(b, C1, lease_call(LAPSE_VERB_ACQUIRE, "job", "c1", 30 * SECOND), renewed);
    b->grant = (struct lapse_grant_ref){.given = true, .name = lapse_bytes_of("job"), .token = 1};
    b->looked = true;
    b->last_look = b->at;
    invoke(b, C1, (struct lapse_request){.verb = LAPSE_CALL_WRITE, .resource = REPORT});
}

static void act_after_a_denial_and_a_grant(struct builder *b) {
    act_after_the_same_grant(b, true);
}

static void act_after_a_denial(struct builder *b) {
    act_after_the_same_grant(b, false);
}

/* The new grant has another token, and the call names the old one. */
static void act_under_a_denied_token(struct builder *b) {
    grant(b, C1, "job", "c1", 30 * SECOND, 1);
    b->at = 40 * SECOND;
    converse(b, C1, lease_call(LAPSE_VERB_EXTEND, "job", "c1", 30 * SECOND),
             answered(b, LAPSE_LOST));
    grant(b, C1, "job", "c1", 30 * SECOND, 2);
    b->grant = (struct lapse_grant_ref){.given = true, .name = lapse_bytes_of("job"), .token = 1};
    b->looked = true;
    b->last_look = b->at;
    invoke(b, C1, (struct lapse_request){.verb = LAPSE_CALL_WRITE, .resource = REPORT});
}

static void renewal_after_release(struct builder *b) {
    struct lapse_request extend = lease_call(LAPSE_VERB_EXTEND, "job", "c1", 30 * SECOND);
    grant(b, C1, "job", "c1", 30 * SECOND, 1);
    b->loop = LOOP;
    converse(b, C1, extend, holds_lease(b, "c1", 1, 30 * SECOND));
    b->loop = NO_LOOP;
    converse(b, C1, lease_call(LAPSE_VERB_RELEASE, "job", "c1", 0), answered(b, LAPSE_OK));
    b->loop = LOOP;
    invoke(b, C1, extend);
}

static void date_given_otherwise(struct builder *b) {
    struct lapse_request set = dated(put_call(LAPSE_VERB_SET, "plain", "k", "v"), MINUTE);
    accept(b, W1, set, wrote_dated(b, 1, MINUTE - 1));
}

/* A write on the revision of what was found ended is KV-03's, not a return of the key. */
static void ended_key_is_updated(struct builder *b) {
    struct lapse_request update = put_call(LAPSE_VERB_UPDATE, "codes", "a", "2");
    put(b, W1, "codes", "a", "1", 1, 15 * MINUTE);
    b->at = 15 * MINUTE;
    decide(b, W1, key_call(LAPSE_VERB_GET, "codes", "a"), answered(b, LAPSE_ABSENT));
    update.command.u.write.has_if_version = true;
    update.command.u.write.if_version = 1;
    accept(b, W1, update, wrote(b, 2, 30 * MINUTE));
}

/* Store time goes by as much as the wall was moved, or by more. */
static void wall_takes_store_time(struct builder *b, int64_t more) {
    put(b, W1, "plain", "a", "1", 1, 0);
    b->at = MINUTE;
    wall_step(b, 10 * SECOND); /* by more than its own clock may be off in a minute */
    struct lapse_answer answer = read_value(b, "1", 1, 0);
    answer.at.ns += 10 * SECOND + more;
    answer.wall.ns += 10 * SECOND;
    decide(b, W1, key_call(LAPSE_VERB_GET, "plain", "a"), answer);
}

static void store_time_goes_with_the_wall(struct builder *b) {
    wall_takes_store_time(b, 0);
}

static void store_time_goes_beyond_the_wall(struct builder *b) {
    wall_takes_store_time(b, MINUTE);
}

/* The wall is moved while the process is down, and the next one begins by it. */
static void store_time_starts_with_the_wall(struct builder *b) {
    put(b, W1, "plain", "a", "1", 1, 0);
    b->at = MINUTE;
    wall_step(b, -10 * SECOND);
    tenure(b, false, MINUTE - 10 * SECOND);
}

/* The token is lower too: but there should be no grant at all. */
static void held_name_is_granted(struct builder *b) {
    grant(b, C1, "job", "c1", 30 * SECOND, 5);
    decide(b, W1, lease_call(LAPSE_VERB_ACQUIRE, "job", "w1", 30 * SECOND),
           holds_lease(b, "w1", 1, 30 * SECOND));
}

/* A delete is an event; that its tombstone goes is none. */
static void tombstone_ends_with_an_event(struct builder *b) {
    struct lapse_request set = put_call(LAPSE_VERB_SET, "marked", "a", "v");
    put(b, W1, "marked", "a", "v", 1, MINUTE);
    accept(b, W1, key_call(LAPSE_VERB_DELETE, "marked", "a"), wrote(b, 2, 0));
    b->at = 60 * MINUTE;
    struct lapse_event event = bucket_event(b, LAPSE_EVENT_EXPIRED, &set.command, 3);
    event.value = (struct lapse_bytes){0};
    event.old_revision = 2;
    emit(b, 0, event);
}

/* It has an hour to live. */
static void tombstone_goes_too_soon(struct builder *b) {
    put(b, W1, "marked", "a", "v", 1, MINUTE);
    accept(b, W1, key_call(LAPSE_VERB_DELETE, "marked", "a"), wrote(b, 2, 0));
    b->at = MINUTE;
    rows(b, "marked", 0);
}

Test(rules, notice_other_breaks_and_let_the_rest_pass) {
    static const struct variant variants[] = {
        {"a list shows an ended key", "KV-03", list_shows_ended},
        {"a count counts an ended key", "KV-03", count_counts_ended},
        {"a list is out of order", "KV-11", list_is_out_of_order},
        {"create is refused after the end", "KV-03", create_refused_after_end},
        {"a deleted key is read", "KV-11", deleted_key_is_read},
        {"has renews an idle key", NULL, has_renewed},
        {"has does not renew an idle key", "KV-08", has_did_not_renew},
        {"a list renews an idle key", "KV-08", list_renewed_idle},
        {"a second use at one instant", NULL, second_use_says_nothing},
        {"a second use that says renewed", NULL, second_use_says_renewed},
        {"a second use by has", NULL, second_use_by_has},
        {"a second use moves the end", "KV-08", second_use_moves_the_end},
        {"a renewal is lost after a second use", "KV-08", second_use_hides_no_loss},
        {"a use at the instant of the write", NULL, use_at_the_write},
        {"a use that cannot renew", NULL, use_that_cannot_renew},
        {"a reached date stays reached", NULL, date_stays_reached},
        {"a reached date comes back", "CLOCK-02", date_comes_back},
        {"a past date is absent at once", NULL, past_date_is_absent_at_once},
        {"two terms are accepted", "KV-02", two_terms_accepted},
        {"a refused call takes a revision", "CAS-05", refused_call_took_a_revision},
        {"a refused call makes an event", "CAS-05", refused_call_made_an_event},
        {"an accepted write makes no event", "WATCH-02", accepted_write_made_no_event},
        {"a marker comes at the reap bound", NULL, marker_at_the_bound},
        {"a marker comes past the reap bound", "WATCH-03", marker_after_the_bound},
        {"a marker waits for a paused store", NULL, marker_late_by_a_pause},
        {"a marker comes too early", "WATCH-03", marker_too_early},
        {"a marker never comes", "WATCH-03", marker_missing_at_the_end},
        {"a watcher's last event is lost", "WATCH-01", last_event_is_lost},
        {"a paused watcher's event waits", NULL, last_event_waits_for_a_pause},
        {"a crashed watcher is told nothing", NULL, watch_dies_with_its_client},
        {"a starved watcher is handed its events", "WATCH-01",
         last_event_is_due_while_timers_starve},
        {"a watcher behind a cut is told nothing yet", NULL, cut_lasts},
        {"a watcher is told of a gap after a cut", NULL, cut_is_healed_with_a_gap},
        {"a watcher is told nothing after a cut", "WATCH-01", cut_is_healed_without_a_gap},
        {"an event is under way at the end", NULL, event_is_under_way_at_the_end},
        {"an event under way does not come", "WATCH-01", event_should_have_come},
        {"an event waits in a slow link", NULL, event_waits_in_a_slow_link},
        {"an event is lost in a link that is healed", "WATCH-01", event_is_lost_in_a_healed_link},
        {"an event between a watch and its reply", "WATCH-01", watch_is_told_of_late},
        {"a watch whose client was told unknown", NULL, watch_is_given_up},
        {"a watch whose client was never told", NULL, watch_is_never_told_of},
        {"a takeover names the version", NULL, takeover_by_version},
        {"the former creator puts", "LEASE-10", creator_lost_it_and_puts},
        {"a token alone names the grant", NULL, token_alone_names_the_grant},
        {"an act after a new grant", NULL, act_after_a_new_grant},
        {"an act after a denial and the same token", NULL, act_after_a_denial_and_a_grant},
        {"an act after a denial", "BELIEF-02", act_after_a_denial},
        {"an act under the denied token", "BELIEF-02", act_under_a_denied_token},
        {"a loop renews after a release", "RENEW-01", renewal_after_release},
        {"a date is another than asked for", "CLOCK-02", date_given_otherwise},
        {"an ended key is updated", "KV-03", ended_key_is_updated},
        {"store time goes with the wall", "CLOCK-01", store_time_goes_with_the_wall},
        {"store time goes beyond the wall", "CLOCK-06", store_time_goes_beyond_the_wall},
        {"store time starts with the wall", "CLOCK-01", store_time_starts_with_the_wall},
        {"a held name is granted", "LEASE-03", held_name_is_granted},
        {"a tombstone ends with an event", "WATCH-05", tombstone_ends_with_an_event},
        {"a tombstone goes too soon", "WATCH-05", tombstone_goes_too_soon},
    };
    check_variants(variants, sizeof variants / sizeof variants[0]);
}

/* An allocator that fails once its count of requests is used up. */
static void *stingy(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    int *left = ctx;
    if (new_bytes > 0 && (*left)-- <= 0)
        return NULL;
    return lapse_alloc_libc()->resize(NULL, ptr, old_bytes, new_bytes);
}

Test(trackers, say_so_when_memory_runs_out) {
    struct builder b;
    builder_open(&b);
    act_after_a_new_grant(&b);
    put(&b, W1, "plain", "a", "1", 1, 0);
    enum lapse_status status = LAPSE_NOMEM;
    int given = 0;
    for (; status == LAPSE_NOMEM; given++) {
        int left = given;
        lapse_alloc alloc = {.resize = stingy, .ctx = &left};
        struct lapse_trackers *trackers = NULL;
        status = lapse_trackers_open(&alloc, &trackers, NULL);
        for (size_t i = 0; status == LAPSE_OK && i < lapse_history_count(b.history); i++)
            status = lapse_trackers_absorb(trackers, lapse_history_at(b.history, i));
        if (trackers != NULL)
            lapse_trackers_close(trackers);
    }
    cr_assert_eq(status, LAPSE_OK);
    cr_assert_gt(given, 6);
    builder_close(&b);
}
