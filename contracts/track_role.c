/* What the nodes of a replicated store tell of themselves: who led in which epoch, and what a node
 * had applied at which place of the log. A change of leader begins a tenure. */
#include "track.h"

static enum lapse_status add_number(struct lapse_trackers *trackers,
                                    struct lapse_tracked_role **items, size_t *count, size_t *cap,
                                    struct lapse_tracked_role added);
static size_t place_of(const struct lapse_tracked_role *items, size_t count, int64_t number);

enum lapse_status lapse_track_role_event(struct lapse_trackers *trackers,
                                         const struct lapse_history_event *event) {
    struct lapse_tracked_roles *roles = &trackers->roles;
    enum lapse_status status = LAPSE_OK;
    if (event->u.role.digest.len > 0)
        status = add_number(trackers, &roles->indexes, &roles->index_count, &roles->index_cap,
                            (struct lapse_tracked_role){event->u.role.index, event});
    if (status < 0 || event->u.role.role != LAPSE_ROLE_LEADER)
        return status;
    status = add_number(trackers, &roles->epochs, &roles->epoch_count, &roles->epoch_cap,
                        (struct lapse_tracked_role){event->u.role.epoch, event});
    if (status < 0)
        return status;
    if (lapse_tracked_lead_passes(trackers, event)) {
        roles->changed = event;
        lapse_track_kv_tenure(trackers, event, false);
        lapse_track_lease_tenure(trackers, event, false);
    }
    if (roles->leads == NULL || roles->changed == event)
        roles->leads = event;
    return LAPSE_OK;
}

void lapse_track_role_free(struct lapse_trackers *trackers) {
    struct lapse_tracked_roles *roles = &trackers->roles;
    lapse_alloc_free(trackers->alloc, roles->epochs, roles->epoch_cap * sizeof *roles->epochs);
    lapse_alloc_free(trackers->alloc, roles->indexes, roles->index_cap * sizeof *roles->indexes);
}

/* A leader of an older epoch that does not know yet takes nothing over. */
bool lapse_tracked_lead_passes(const struct lapse_trackers *trackers,
                               const struct lapse_history_event *event) {
    const struct lapse_history_event *leads = trackers->roles.leads;
    return event->u.role.role == LAPSE_ROLE_LEADER && leads != NULL &&
           event->u.role.epoch > leads->u.role.epoch;
}

const struct lapse_history_event *lapse_tracked_role_find(const struct lapse_tracked_role *items,
                                                          size_t count, int64_t number) {
    size_t at = place_of(items, count, number);
    return at < count && items[at].number == number ? items[at].by : NULL;
}

static enum lapse_status add_number(struct lapse_trackers *trackers,
                                    struct lapse_tracked_role **items, size_t *count, size_t *cap,
                                    struct lapse_tracked_role added) {
    size_t at = place_of(*items, *count, added.number);
    if (at < *count && (*items)[at].number == added.number)
        return LAPSE_OK;
    void *grown = *items;
    if (!lapse_alloc_grow(trackers->alloc, &grown, cap, *count + 1, sizeof **items))
        return LAPSE_NOMEM;
    *items = grown;
    for (size_t i = *count; i > at; i--)
        (*items)[i] = (*items)[i - 1];
    (*items)[at] = added;
    (*count)++;
    return LAPSE_OK;
}

/* The first that is not below. */
static size_t place_of(const struct lapse_tracked_role *items, size_t count, int64_t number) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
