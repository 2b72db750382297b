/* The index of patterns: by kind and by the text or number that they name. A pattern that lasts is
 * also found by its instant, which must be looked at when it has passed. */
#include "follow.h"

#include "pattern.h"

#include <stdlib.h>

#define HASH_BASIS UINT64_C(0xcbf29ce484222325)
#define HASH_PRIME UINT64_C(0x100000001b3)

/* What is sorted: an instant and its link. */
struct timed {
    int64_t at_ns;
    uint32_t link;
};

static bool sort_timed(struct lapse_follow *follow);
static int by_instant(const void *a, const void *b);
static void find_slot(struct lapse_follow *follow, uint64_t hash,
                      const struct lapse_history_event *event);
static void find_one(struct lapse_follow *follow, size_t follower,
                     const struct lapse_history_event *event);
static uint64_t hash_of(enum lapse_pattern_kind kind, int32_t subject, bool in_bucket,
                        struct lapse_bytes bucket, struct lapse_bytes name);
static uint64_t hash_bytes(uint64_t hash, struct lapse_bytes bytes);
static bool names_subject(enum lapse_pattern_kind kind);
static bool names_grant(enum lapse_pattern_kind kind);

void lapse_follow_init(struct lapse_follow *follow, const lapse_alloc *alloc) {
    *follow = (struct lapse_follow){.alloc = alloc};
}

void lapse_follow_free(struct lapse_follow *follow) {
    const lapse_alloc *alloc = follow->alloc;
    lapse_alloc_free(alloc, follow->links, follow->links_cap * sizeof(*follow->links));
    lapse_alloc_free(alloc, follow->slots, follow->slots_cap * sizeof(*follow->slots));
    lapse_alloc_free(alloc, follow->timed, follow->timed_count * sizeof(*follow->timed));
    lapse_alloc_free(alloc, follow->seen, (follow->follower_count + 1) * sizeof(*follow->seen));
    lapse_alloc_free(alloc, follow->found, (follow->follower_count + 1) * sizeof(*follow->found));
    lapse_follow_init(follow, alloc);
}

enum lapse_status lapse_follow_add(struct lapse_follow *follow, size_t follower,
                                   const struct lapse_pattern *pattern) {
    void *links = follow->links;
    if (!lapse_alloc_grow(follow->alloc, &links, &follow->links_cap, follow->link_count + 1,
                          sizeof(*follow->links))) {
        return LAPSE_NOMEM;
    }
    follow->links = links;
    follow->links[follow->link_count++] =
        (struct lapse_follow_link){.pattern = pattern, .follower = follower};
    return LAPSE_OK;
}

enum lapse_status lapse_follow_ready(struct lapse_follow *follow, size_t follower_count) {
    size_t cap = 16;
    while (cap < 2 * follow->link_count) {
        cap *= 2;
    }
    follow->follower_count = follower_count;
    follow->seen = lapse_alloc_zero(follow->alloc, (follower_count + 1) * sizeof(*follow->seen));
    follow->found = lapse_alloc_zero(follow->alloc, (follower_count + 1) * sizeof(*follow->found));
    follow->slots = lapse_alloc_zero(follow->alloc, cap * sizeof(*follow->slots));
    follow->slots_cap = follow->slots == NULL ? 0 : cap;
    if (follow->seen == NULL || follow->found == NULL || follow->slots == NULL) {
        return LAPSE_NOMEM;
    }
    for (size_t i = 0; i < follow->link_count; i++) {
        struct lapse_follow_link *link = &follow->links[i];
        const struct lapse_pattern *pattern = link->pattern;
        bool in_bucket = pattern->key_lock || !names_grant(pattern->kind);
        uint64_t hash =
            hash_of(pattern->kind, pattern->subject, in_bucket, pattern->bucket, pattern->name);
        uint32_t *slot = &follow->slots[hash & (cap - 1)];
        link->next = *slot;
        *slot = (uint32_t)(i + 1);
    }
    return sort_timed(follow) ? LAPSE_OK : LAPSE_NOMEM;
}

void lapse_follow_find(struct lapse_follow *follow, const struct lapse_fact *fact,
                       const struct lapse_history_event *event) {
    uint32_t kinds = fact->kinds;
    if (event->kind == LAPSE_HISTORY_BELIEF_BEGIN || event->kind == LAPSE_HISTORY_BELIEF_END) {
        kinds |= LAPSE_FACT(LAPSE_PATTERN_BELIEVES) | LAPSE_FACT(LAPSE_PATTERN_TWO_BELIEVE);
    }
    follow->found_count = 0;
    for (int k = LAPSE_PATTERN_GRANTED; k <= LAPSE_PATTERN_STOPPED; k++) {
        enum lapse_pattern_kind kind = (enum lapse_pattern_kind)k;
        if ((kinds & LAPSE_FACT(kind)) != 0) {
            uint64_t hash =
                hash_of(kind, fact->subject, !names_grant(kind), fact->bucket, fact->name);
            find_slot(follow, hash, event);
        }
    }
    while (follow->timed_next < follow->timed_count) {
        const struct lapse_follow_link *link = &follow->links[follow->timed[follow->timed_next]];
        if (event->at.ns <= link->pattern->at.ns && event->kind != LAPSE_HISTORY_END) {
            break;
        }
        find_one(follow, link->follower, event);
        follow->timed_next++;
    }
}

static bool sort_timed(struct lapse_follow *follow) {
    size_t count = 0;
    for (size_t i = 0; i < follow->link_count; i++) {
        const struct lapse_pattern *pattern = follow->links[i].pattern;
        count += pattern->has_at && lapse_pattern_lasts(pattern) ? 1 : 0;
    }
    if (count == 0) {
        return true;
    }
    struct timed *all = lapse_alloc_zero(follow->alloc, count * sizeof(*all));
    follow->timed = lapse_alloc_zero(follow->alloc, count * sizeof(*follow->timed));
    follow->timed_count = follow->timed == NULL ? 0 : count;
    if (all == NULL || follow->timed == NULL) {
        lapse_alloc_free(follow->alloc, all, count * sizeof(*all));
        return false;
    }
    size_t made = 0;
    for (size_t i = 0; i < follow->link_count; i++) {
        const struct lapse_pattern *pattern = follow->links[i].pattern;
        if (pattern->has_at && lapse_pattern_lasts(pattern)) {
            all[made++] = (struct timed){pattern->at.ns, (uint32_t)i};
        }
    }
    qsort(all, count, sizeof(*all), by_instant);
    for (size_t i = 0; i < count; i++) {
        follow->timed[i] = all[i].link;
    }
    lapse_alloc_free(follow->alloc, all, count * sizeof(*all));
    return true;
}

/* A total order, so that every library sorts alike. */
static int by_instant(const void *a, const void *b) {
    const struct timed *left = a;
    const struct timed *right = b;
    if (left->at_ns != right->at_ns) {
        return left->at_ns < right->at_ns ? -1 : 1;
    }
    return left->link < right->link ? -1 : 1;
}

/* Links of other names may share the slot; their patterns say no for themselves. */
static void find_slot(struct lapse_follow *follow, uint64_t hash,
                      const struct lapse_history_event *event) {
    uint32_t at = follow->slots[hash & (follow->slots_cap - 1)];
    while (at != 0) {
        find_one(follow, follow->links[at - 1].follower, event);
        at = follow->links[at - 1].next;
    }
}

static void find_one(struct lapse_follow *follow, size_t follower,
                     const struct lapse_history_event *event) {
    LAPSE_ASSERT(follower < follow->follower_count);
    if (follow->seen[follower] != event->seq + 1) {
        follow->seen[follower] = event->seq + 1;
        follow->found[follow->found_count++] = follower;
    }
}

/* A belief in a key's lock is named "bucket/key", so a bucket and a key hash like that text. */
static uint64_t hash_of(enum lapse_pattern_kind kind, int32_t subject, bool in_bucket,
                        struct lapse_bytes bucket, struct lapse_bytes name) {
    uint64_t hash = (HASH_BASIS ^ (uint64_t)kind) * HASH_PRIME;
    if (names_subject(kind)) {
        hash = (hash ^ (uint64_t)(uint32_t)subject) * HASH_PRIME;
    } else {
        if (in_bucket) {
            hash = hash_bytes(hash, bucket);
            hash = (hash ^ '/') * HASH_PRIME;
        }
        hash = hash_bytes(hash, name);
    }
    return hash ^ (hash >> 32);
}

static uint64_t hash_bytes(uint64_t hash, struct lapse_bytes bytes) {
    for (size_t i = 0; i < bytes.len; i++) {
        hash = (hash ^ bytes.data[i]) * HASH_PRIME;
    }
    return hash;
}

static bool names_subject(enum lapse_pattern_kind kind) {
    return kind >= LAPSE_PATTERN_ACCEPTED;
}

static bool names_grant(enum lapse_pattern_kind kind) {
    return kind == LAPSE_PATTERN_BELIEVES || kind == LAPSE_PATTERN_TWO_BELIEVE ||
           kind == LAPSE_PATTERN_DENIED;
}
