/* Who has to see an event. A scenario may follow thousands of patterns, and hardly any of them
 * concerns a given event, so they are found by what they name. Private to the judge. */
#ifndef CONTRACTS_FOLLOW_H
#define CONTRACTS_FOLLOW_H

#include "scene.h"

/* One pattern of a follower. */
struct lapse_follow_link {
    const struct lapse_pattern *pattern;
    size_t follower;
    uint32_t next; /* 1 + the next link of the same slot; 0: none */
};

struct lapse_follow {
    const lapse_alloc *alloc;
    struct lapse_follow_link *links;
    size_t link_count, links_cap;
    uint32_t *slots; /* hash table of 1 + the first link */
    size_t slots_cap;
    uint32_t *timed; /* links of patterns that last and ask for an instant, by that instant */
    size_t timed_count, timed_next;
    size_t follower_count;
    int64_t *seen; /* by follower: 1 + the last event that it was found for */
    size_t *found; /* the followers of the last event */
    size_t found_count;
};

void lapse_follow_init(struct lapse_follow *follow, const lapse_alloc *alloc);
void lapse_follow_free(struct lapse_follow *follow);
/* Lets a follower, which may have several patterns, hear of one more. OK or NOMEM. */
enum lapse_status lapse_follow_add(struct lapse_follow *follow, size_t follower,
                                   const struct lapse_pattern *pattern);
/* All are added; there are `follower_count` followers. OK or NOMEM. */
enum lapse_status lapse_follow_ready(struct lapse_follow *follow, size_t follower_count);
/* Finds into found[0, found_count) all followers, each once, with a pattern that this event could
 * bring about, begin or end. To all others it means nothing. */
void lapse_follow_find(struct lapse_follow *follow, const struct lapse_fact *fact,
                       const struct lapse_history_event *event);

#endif
