/* Private to the timeline: what is to be drawn (timeline_lanes.c), where on the axis
 * (timeline_layout.c). The drawing itself is timeline.c. */
#ifndef REPORTS_TIMELINE_H
#define REPORTS_TIMELINE_H

#include "draw.h"

/* ---- The axis: true time to columns. Linear, with stretches where nothing happens cut out. */
enum { LAPSE_AXIS_PARTS_MAX = 5, LAPSE_AXIS_BREAK = 4, LAPSE_AXIS_TICK = 10 };

struct lapse_axis_part {
    int64_t from, to; /* both drawn; `from` is a multiple of the quantum */
    int column;       /* of `from` */
    int columns;
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
};
/* One grant or one life of an entry, on [from, to). */
struct lapse_bar {
    size_t lane;
    int64_t from, to;
    bool endless;
    struct lapse_bytes who; /* owner; for plain keys the value */
    int64_t token;
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
    size_t lane_count, lane_cap;
    struct lapse_lane *lanes;
    size_t bar_count, bar_cap;
    struct lapse_bar *bars;
    size_t stretch_count, stretch_cap;
    struct lapse_stretch *stretches;
    size_t instant_count, instant_cap;
    int64_t *instants;
    int64_t last; /* true time reached */
    bool failed;  /* memory ran out */
};

void lapse_lanes_collect(struct lapse_lanes *lanes, const lapse_alloc *alloc,
                         const struct lapse_result_view *view, int64_t event);
void lapse_lanes_free(struct lapse_lanes *lanes);
/* The INVOKE of a call, or NULL. */
const struct lapse_history_event *lapse_lanes_call(const struct lapse_lanes *lanes, int64_t call);
/* Whether the grant that was believed in is the one that stands at that instant. */
bool lapse_lanes_holds(const struct lapse_lanes *lanes, const struct lapse_grant_ref *grant,
                       struct lapse_bytes actor, int64_t at);

#endif
