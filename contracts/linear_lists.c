/* What calls on many keys tell of each of them: a listing is one read of each key that it shows,
 * and of each that it would have shown. */
#include "linear_split.h"

#include <string.h>

enum { UNTOLD = -1 };
/* Listings times keys: past this, what a listing leaves out is not looked at. */
enum { LEFT_OUT_MAX = 1 << 22 };

/* One listing, as it was answered. */
struct listing {
    const struct lapse_linear_sent *sent;
    struct lapse_bytes bucket, after;
    bool has_after, values;
    const struct lapse_answer *answer;
};

static bool listing_of(const struct lapse_linear_sent *sent, struct listing *ret);
static bool add_shown(struct lapse_linear_split *split, const struct listing *listing);
static bool add_left_out(struct lapse_linear_split *split, const struct listing *listing,
                         size_t problem_count);
static bool add_read(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                     const struct listing *listing, const struct lapse_item *item, bool found);
static bool key_of(const struct lapse_linear_problem *problem, struct lapse_bytes bucket,
                   struct lapse_bytes *ret);
static bool covers(const struct listing *listing, struct lapse_bytes key);
static bool shows(const struct listing *listing, struct lapse_bytes key);
static size_t covered(const struct lapse_linear_split *split, const struct listing *listing,
                      size_t problem_count);

bool lapse_linear_split_lists(struct lapse_linear_split *split) {
    if (split->no_keys) {
        return true;
    }
    struct listing listing;
    size_t listings = 0;
    for (size_t i = 0; i < split->sent_count; i++) {
        if (listing_of(&split->sent[i], &listing)) {
            listings++;
            if (!add_shown(split, &listing)) {
                return false;
            }
        }
    }
    size_t problem_count = split->problems->count;
    if (listings > 0 && problem_count > LEFT_OUT_MAX / listings) {
        return true;
    }
    for (size_t i = 0; i < split->sent_count; i++) {
        if (listing_of(&split->sent[i], &listing) &&
            !add_left_out(split, &listing, problem_count)) {
            return false;
        }
    }
    return true;
}

static bool listing_of(const struct lapse_linear_sent *sent, struct listing *ret) {
    const struct lapse_command *command = &sent->invoke->u.invoke.request.command;
    if (sent->reply == NULL || sent->dropped || sent->reply->u.reply.answer.status != LAPSE_OK) {
        return false;
    }
    *ret = (struct listing){
        .sent = sent, .bucket = command->bucket, .answer = &sent->reply->u.reply.answer};
    switch (command->verb) {
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
        ret->has_after = command->u.page.has_after;
        ret->after = command->u.page.after;
        ret->values = command->verb == LAPSE_VERB_ALL;
        return true;
    case LAPSE_VERB_WATCH:
        ret->values = true;
        return command->u.watch.from == LAPSE_WATCH_LIVE && command->key.len == 0;
    default:
        return false;
    }
}

static bool add_shown(struct lapse_linear_split *split, const struct listing *listing) {
    for (size_t i = 0; listing->answer->items != NULL && i < listing->answer->item_count; i++) {
        const struct lapse_item *item = &listing->answer->items[i];
        struct lapse_command named = {
            .verb = LAPSE_VERB_HAS, .bucket = listing->bucket, .key = item->key};
        struct lapse_linear_problem *problem = lapse_linear_split_place(split, &named);
        if (problem == NULL || !add_read(split, problem, listing, item, true)) {
            return false;
        }
    }
    return true;
}

/* Keys that it would have shown, had they been live. A count shows none of its keys: only that all
 * are live, or none. */
static bool add_left_out(struct lapse_linear_split *split, const struct listing *listing,
                         size_t problem_count) {
    const struct lapse_answer *answer = listing->answer;
    enum lapse_verb verb = listing->sent->invoke->u.invoke.request.command.verb;
    bool counts = verb == LAPSE_VERB_COUNT;
    bool all = counts && answer->item_count > 0;
    if (all && answer->item_count != covered(split, listing, problem_count)) {
        return true;
    }
    for (size_t i = 0; i < problem_count; i++) {
        struct lapse_linear_problem *problem = &split->problems->items[i];
        struct lapse_bytes key;
        if (key_of(problem, listing->bucket, &key) && covers(listing, key) &&
            (counts || !shows(listing, key)) && !add_read(split, problem, listing, NULL, all)) {
            return false;
        }
    }
    return true;
}

static bool add_read(struct lapse_linear_split *split, struct lapse_linear_problem *problem,
                     const struct listing *listing, const struct lapse_item *item, bool found) {
    const struct lapse_history_event *invoke = listing->sent->invoke;
    struct lapse_linear_call call = {.invoke_ns = invoke->at.ns,
                                     .invoke_seq = invoke->seq,
                                     .return_seq = listing->sent->reply->seq,
                                     .return_ns = listing->sent->reply->at.ns,
                                     .branches = 1,
                                     .op = LAPSE_KEY_READ,
                                     .after = -1,
                                     .actor = invoke->actor,
                                     .source = invoke->call};
    int64_t text = UNTOLD;
    if (item != NULL && listing->values) {
        text = lapse_linear_store_text(split->problems->store, item->value);
        if (text < 0) {
            return false;
        }
    }
    call.arg[LAPSE_KEY_TEXT] = text;
    call.arg[LAPSE_KEY_REV] = item != NULL && item->revision > 0 ? item->revision : UNTOLD;
    call.arg[LAPSE_KEY_VERSION] = UNTOLD;
    call.arg[LAPSE_KEY_ANSWER] = found ? LAPSE_OK : LAPSE_ABSENT;
    call.arg[LAPSE_KEY_GIVES] = LAPSE_USE_NONE;
    call.arg[LAPSE_KEY_VERB] =
        (int64_t)invoke->u.invoke.request.command.verb | (text + 1) << LAPSE_KEY_VERB_BITS;
    return lapse_linear_split_add(split, problem, &call, LAPSE_KEY_SELF) >= 0;
}

static bool key_of(const struct lapse_linear_problem *problem, struct lapse_bytes bucket,
                   struct lapse_bytes *ret) {
    struct lapse_bytes name = problem->name;
    if (problem->kind != LAPSE_LINEAR_KEY || name.len <= bucket.len ||
        name.data[bucket.len] != '/' ||
        (bucket.len > 0 && memcmp(name.data, bucket.data, bucket.len) != 0)) {
        return false;
    }
    *ret = (struct lapse_bytes){name.data + bucket.len + 1, name.len - bucket.len - 1};
    return true;
}

/* Whether the listing reaches so far: keys above `after`, and up to its last one if it was cut. */
static bool covers(const struct listing *listing, struct lapse_bytes key) {
    const struct lapse_answer *answer = listing->answer;
    if (listing->has_after && lapse_bytes_compare(key, listing->after) <= 0) {
        return false;
    }
    if (!answer->more) {
        return true;
    }
    return answer->items != NULL && answer->item_count > 0 &&
           lapse_bytes_compare(key, answer->items[answer->item_count - 1].key) <= 0;
}

static bool shows(const struct listing *listing, struct lapse_bytes key) {
    const struct lapse_answer *answer = listing->answer;
    for (size_t i = 0; answer->items != NULL && i < answer->item_count; i++) {
        if (lapse_bytes_equal(answer->items[i].key, key)) {
            return true;
        }
    }
    return false;
}

static size_t covered(const struct lapse_linear_split *split, const struct listing *listing,
                      size_t problem_count) {
    size_t count = 0;
    for (size_t i = 0; i < problem_count; i++) {
        struct lapse_bytes key;
        count += key_of(&split->problems->items[i], listing->bucket, &key) && covers(listing, key);
    }
    return count;
}
