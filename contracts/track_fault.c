/* The tracker of faults: which stand. A fault that comes within one of its kind is told again, but
 * the two have one end; and a crash ends what its process suffered, without a word of it. */
#include "track.h"

static struct lapse_tracked_fault fault_of(const struct lapse_history_event *event, bool back);
static enum lapse_status add(struct lapse_trackers *trackers,
                             const struct lapse_tracked_fault *fault);
static bool ended_by(const struct lapse_tracked_fault *fault,
                     const struct lapse_tracked_fault *end);
static bool takes_with_it(const struct lapse_tracked_fault *fault,
                          const struct lapse_tracked_fault *crash);
static bool is_over(const struct lapse_tracked_fault *fault, const struct lapse_tracked_fault *by);
static bool same_party(struct lapse_party a, struct lapse_party b);
static void drop(struct lapse_trackers *trackers, const struct lapse_tracked_fault *by,
                 bool (*drops)(const struct lapse_tracked_fault *,
                               const struct lapse_tracked_fault *));

enum lapse_status lapse_track_fault_event(struct lapse_trackers *trackers,
                                          const struct lapse_history_event *event) {
    struct lapse_tracked_fault fault = fault_of(event, false);
    bool begins = event->kind == LAPSE_HISTORY_FAULT_BEGIN && fault.kind != LAPSE_FAULT_RESTART;
    bool rots = fault.kind == LAPSE_FAULT_DISK && fault.disk == LAPSE_DISK_ROT;
    if (fault.kind == LAPSE_FAULT_RESTART)
        fault.kind = LAPSE_FAULT_CRASH;
    if (fault.kind == LAPSE_FAULT_DISK && !begins) {
        for (size_t i = 0; i < trackers->faults_open; i++)
            trackers->faults[i].over = trackers->faults[i].over ||
                                       ended_by(&trackers->faults[i], &fault);
        return LAPSE_OK;
    }
    drop(trackers, &fault, ended_by);
    if (begins && fault.kind == LAPSE_FAULT_CRASH)
        drop(trackers, &fault, takes_with_it);
    struct lapse_tracked_fault other = fault_of(event, true);
    if (event->u.fault.both)
        drop(trackers, &other, ended_by);
    if (!begins || rots) /* bits flip at once */
        return LAPSE_OK;
    enum lapse_status status = add(trackers, &fault);
    return status >= 0 && event->u.fault.both ? add(trackers, &other) : status;
}

/* A store whose write has failed answers nobody before it is opened again. */
void lapse_track_fault_opened(struct lapse_trackers *trackers,
                              const struct lapse_history_event *event) {
    struct lapse_tracked_fault fault = {.kind = LAPSE_FAULT_DISK};
    if (event->kind == LAPSE_HISTORY_APPLY && event->u.apply.answer.status < 0)
        return;
    drop(trackers, &fault, is_over);
}

void lapse_track_fault_free(struct lapse_trackers *trackers) {
    lapse_alloc_free(trackers->alloc, trackers->faults,
                     trackers->fault_cap * sizeof *trackers->faults);
}

/* back: the other way of a link. */
static struct lapse_tracked_fault fault_of(const struct lapse_history_event *event, bool back) {
    return (struct lapse_tracked_fault){
        .kind = event->u.fault.kind,
        .disk = event->u.fault.disk,
        .actor = event->actor,
        .node = event->u.fault.node,
        .task = event->u.fault.task,
        .from = back ? event->u.fault.to : event->u.fault.from,
        .to = back ? event->u.fault.from : event->u.fault.to,
    };
}

static enum lapse_status add(struct lapse_trackers *trackers,
                             const struct lapse_tracked_fault *fault) {
    void *faults = trackers->faults;
    if (!lapse_alloc_grow(trackers->alloc, &faults, &trackers->fault_cap,
                          trackers->faults_open + 1, sizeof *trackers->faults))
        return LAPSE_NOMEM;
    trackers->faults = faults;
    trackers->faults[trackers->faults_open++] = *fault;
    return LAPSE_OK;
}

/* Task 0 stands for all of its actor's. */
static bool ended_by(const struct lapse_tracked_fault *fault,
                     const struct lapse_tracked_fault *end) {
    return fault->kind == end->kind && fault->disk == end->disk && fault->actor == end->actor &&
           fault->node == end->node && (end->task == 0 || fault->task == end->task) &&
           same_party(fault->from, end->from) && same_party(fault->to, end->to);
}

/* Links and disks outlive a process. */
static bool takes_with_it(const struct lapse_tracked_fault *fault,
                          const struct lapse_tracked_fault *crash) {
    bool of_process = fault->kind != LAPSE_FAULT_CUT && fault->kind != LAPSE_FAULT_LINK &&
                      fault->kind != LAPSE_FAULT_DISK;
    return of_process && fault->actor == crash->actor && fault->node == crash->node;
}

static bool is_over(const struct lapse_tracked_fault *fault,
                    const struct lapse_tracked_fault *by) {
    return fault->kind == by->kind && fault->over;
}

static bool same_party(struct lapse_party a, struct lapse_party b) {
    return a.kind == b.kind && a.index == b.index;
}

static void drop(struct lapse_trackers *trackers, const struct lapse_tracked_fault *by,
                 bool (*drops)(const struct lapse_tracked_fault *,
                               const struct lapse_tracked_fault *)) {
    size_t kept = 0;
    for (size_t i = 0; i < trackers->faults_open; i++) {
        if (!drops(&trackers->faults[i], by))
            trackers->faults[kept++] = trackers->faults[i];
    }
    trackers->faults_open = kept;
}
