/* The tracker of guarded resources: the writes that each applied, and the highest token among
 * them. What the resource says of its own highest token is not believed: only its writes are. */
#include "contracts/tracker.h"

#include "track.h"

enum lapse_status lapse_track_resource_begin(struct lapse_trackers *trackers) {
    size_t count = trackers->setup->resource_count;
    if (count == 0)
        return LAPSE_OK;
    trackers->resources = lapse_alloc_zero(trackers->alloc, count * sizeof *trackers->resources);
    if (trackers->resources == NULL)
        return LAPSE_NOMEM;
    trackers->resource_count = count;
    return LAPSE_OK;
}

void lapse_track_resource_event(struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    int32_t index = event->u.resource.resource;
    if (event->u.resource.verb != LAPSE_CALL_WRITE || event->u.resource.status != LAPSE_OK ||
        index < 0 || (size_t)index >= trackers->resource_count)
        return;
    struct lapse_tracked_resource *resource = &trackers->resources[index];
    resource->write_count++;
    resource->value = event->u.resource.value;
    resource->write = event;
    if (!event->u.resource.has_token ||
        (resource->has_highest && event->u.resource.token <= resource->highest))
        return;
    resource->has_highest = true;
    resource->highest = event->u.resource.token;
    resource->highest_by = event;
}

void lapse_track_resource_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->resources,
                     trackers->resource_count * sizeof *trackers->resources);
}
