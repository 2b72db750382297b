/* Private to the timeline: what is to be drawn (timeline_lanes.c, and which of it
 * matters: timeline_focus.c; lanes by name: timeline_index.c), where on the axis
 * (timeline_layout.c). The drawing itself is timeline.c. */
#ifndef REPORTS_TIMELINE_H
#define REPORTS_TIMELINE_H

#include "draw.h"

/* ---- The axis: true time to columns. Linear, with stretches where nothing happens cut out. */
#define LAPSE_AXIS_MARK "//"
enum {
    LAPSE_AXIS_PARTS_MAX = 5,
    LAPSE_AXIS_TICK = 10,
    LAPSE_AXIS_LENGTH_MAX = 24 /* bytes of the text of a break's length */
};

struct lapse_axis_part {
    int64_t from, to; /* both drawn; `from` is a multiple of the quantum */
    int column;       /* of `from` */
    int columns;
    int64_t first;                      /* the first instant that must be seen */
    int gap;                            /* columns of the break before it; 0: none */
    char length[LAPSE_AXIS_LENGTH_MAX]; /* of the time that the break leaves out: "14m59s" */
};
struct lapse_axis {
    int64_t quantum_ns; /* of one column */
    size_t part_count;
    struct lapse_axis_part parts[LAPSE_AXIS_PARTS_MAX];
    int columns;
};

/* Fits instants (rising, unique, at least one, all >= 0) into at most `columns` columns. */
void lapse_axis_fit(struct lapse_axis *axis, const int64_t *instants, size_t count, int columns);
/* The column of an instant; one inside a break gives the break's first column. */
int lapse_axis_column(const struct lapse_axis *axis, int64_t at);
/* The instant at which a column begins; -1 for a column of a break. */
int64_t lapse_axis_instant(const struct lapse_axis *axis, int column);

/* ---- What is drawn. */
enum lapse_lane_kind { LAPSE_LANE_LEASE = 1, LAPSE_LANE_LOCK, LAPSE_LANE_KEY };

struct lapse_lane {
    enum lapse_lane_kind kind;
    struct lapse_bytes bucket, name; /* bucket is empty for leases */
    bool focus;                      /* the failing event is about it */
    bool shown;                      /* drawn; the others are counted */
    size_t bar_last;                 /* its newest bar, or LAPSE_BAR_NONE */
};
/* How near an actor or a resource is to the failing event: it called on, or was written under, a
 * name that the event is about; the event or a line that the error points at is its own. */
enum lapse_focus { LAPSE_FOCUS_NONE = 0, LAPSE_FOCUS_NEAR = 1, LAPSE_FOCUS_DIRECT = 2 };

#define LAPSE_BAR_NONE SIZE_MAX
/* One grant or one life of an entry, on [from, to). */
struct lapse_bar {
    size_t lane;
    int64_t from, to;
    bool endless;
    struct lapse_bytes who; /* owner; for plain keys the value */
    int64_t token;
    size_t before; /* the lane's bar before it, or LAPSE_BAR_NONE */
};
enum lapse_stretch_kind { LAPSE_STRETCH_PAUSED = 1, LAPSE_STRETCH_DOWN, LAPSE_STRETCH_BELIEF };
#define LAPSE_STRETCH_NODE(node) (-1 - (node))
struct lapse_stretch {
    enum lapse_stretch_kind kind;
    int32_t actor; /* LAPSE_STRETCH_NODE(node) for a node */
    int64_t from, to;
    const struct lapse_grant_ref *grant; /* BELIEF */
};

struct lapse_lanes {
    const lapse_alloc *alloc;
    const struct lapse_history *history;
    const struct lapse_setup *setup;
    const struct lapse_history_event *failing; /* NULL: none */
    const struct lapse_history_event **calls;  /* INVOKE by call id */
    size_t calls_cap;
    size_t actors_cap, resources_cap;
    enum lapse_focus *actors, *resources; /* by number in setup */
    size_t lane_count, lane_cap;
    struct lapse_lane *lanes;
    size_t slot_count; /* a power of two, or 0 */
    size_t *slots;     /* by hash of the name: lane number + 1; 0: free */
    size_t bar_count, bar_cap;
    struct lapse_bar *bars;
    size_t stretch_count, stretch_cap;
    struct lapse_stretch *stretches;
    size_t instant_count, instant_cap;
    int64_t *instants;
    struct lapse_bytes bucket_focus; /* the bucket whose lanes all came into focus last */
    int64_t last;                    /* true time reached */
    bool failed;                     /* memory ran out */
};

void lapse_lanes_collect(struct lapse_lanes *lanes, const lapse_alloc *alloc,
                         const struct lapse_result_view *view, int64_t event);
void lapse_lanes_free(struct lapse_lanes *lanes);
/* Marks what the failing event is about; nothing without one. */
void lapse_lanes_focus(struct lapse_lanes *lanes, const struct lapse_result_view *view);
/* timeline_index.c: the lane's number; makes it if it is new. */
size_t lapse_lane_find(struct lapse_lanes *lanes, enum lapse_lane_kind kind,
                       struct lapse_bytes bucket, struct lapse_bytes name);
/* The lane of a name (of a lease: bucket is empty), or of what a grant is of; or NULL. */
struct lapse_lane *lapse_lane_seek(const struct lapse_lanes *lanes, struct lapse_bytes bucket,
                                   struct lapse_bytes name);
struct lapse_lane *lapse_lane_of_grant(const struct lapse_lanes *lanes,
                                       const struct lapse_grant_ref *grant);
/* The kind of the lanes of a bucket's keys; of leases, if it is empty. */
enum lapse_lane_kind lapse_lanes_kind(const struct lapse_lanes *lanes, struct lapse_bytes bucket);
/* The INVOKE of a call, or NULL. */
const struct lapse_history_event *lapse_lanes_call(const struct lapse_lanes *lanes, int64_t call);
/* Whether the grant that was believed in is the one that stands at that instant. */
bool lapse_lanes_holds(const struct lapse_lanes *lanes, const struct lapse_grant_ref *grant,
                       struct lapse_bytes actor, int64_t at);

#endif
