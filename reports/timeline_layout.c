/* Where instants go: a true time axis that fits the width. It is linear, so that lengths can be
 * compared by eye; stretches in which nothing happens are cut out only where without the cut
 * different instants would share a column. */
#include <string.h>

#include "timeline.h"

static void axis_try(struct lapse_axis *axis, const int64_t *instants, size_t count,
                     const size_t *cuts, size_t cut_count, int columns);
static bool axis_place(struct lapse_axis *axis, const int64_t *instants, size_t count,
                       const size_t *cuts, size_t cut_count, int columns);
static size_t axis_clashes(const struct lapse_axis *axis, const int64_t *instants, size_t count);
static void cuts_choose(const int64_t *instants, size_t count, size_t *cuts, size_t *ret_count);
static int64_t step_next(int64_t step);

void lapse_axis_fit(struct lapse_axis *axis, const int64_t *instants, size_t count, int columns) {
    LAPSE_ASSERT(count > 0);
    LAPSE_ASSERT(columns >= 40);
    size_t cuts[LAPSE_AXIS_PARTS_MAX - 1]; /* by length of the gap, the longest first */
    size_t cut_count;
    cuts_choose(instants, count, cuts, &cut_count);
    axis_try(axis, instants, count, cuts, 0, columns);
    size_t best = axis_clashes(axis, instants, count);
    for (size_t k = 1; k <= cut_count && best > 0; k++) {
        struct lapse_axis other;
        axis_try(&other, instants, count, cuts, k, columns);
        size_t clashes = axis_clashes(&other, instants, count);
        if (clashes < best) {
            best = clashes;
            *axis = other;
        }
    }
}

int lapse_axis_column(const struct lapse_axis *axis, int64_t at) {
    for (size_t i = 0; i < axis->part_count; i++) {
        const struct lapse_axis_part *part = &axis->parts[i];
        if (at < part->from) {
            return i == 0 ? part->column : part->column - LAPSE_AXIS_BREAK;
        }
        int64_t column = (at - part->from) / axis->quantum_ns;
        if (column < part->columns) {
            return part->column + (int)column;
        }
    }
    return axis->columns;
}

int64_t lapse_axis_instant(const struct lapse_axis *axis, int column) {
    for (size_t i = 0; i < axis->part_count; i++) {
        const struct lapse_axis_part *part = &axis->parts[i];
        if (column >= part->column && column < part->column + part->columns) {
            return part->from + (column - part->column) * axis->quantum_ns;
        }
    }
    return -1;
}

/* The finest scale at which all parts fit. */
static void axis_try(struct lapse_axis *axis, const int64_t *instants, size_t count,
                     const size_t *cuts, size_t cut_count, int columns) {
    int64_t step = LAPSE_AXIS_TICK;
    for (;;) {
        memset(axis, 0, sizeof *axis);
        axis->quantum_ns = step / LAPSE_AXIS_TICK;
        if (axis_place(axis, instants, count, cuts, cut_count, columns)) {
            return;
        }
        step = step_next(step);
    }
}

static bool axis_place(struct lapse_axis *axis, const int64_t *instants, size_t count,
                       const size_t *cuts, size_t cut_count, int columns) {
    int64_t quantum = axis->quantum_ns;
    int64_t from = instants[0] / quantum * quantum;
    int64_t column = 0;
    for (size_t i = 0; i < count; i++) {
        bool cut = i + 1 == count;
        for (size_t k = 0; k < cut_count; k++) {
            cut = cut || cuts[k] == i;
        }
        if (!cut) {
            continue;
        }
        int64_t wide = (instants[i] - from) / quantum;
        if (wide >= columns - column) {
            return false;
        }
        wide++;
        LAPSE_ASSERT(axis->part_count < LAPSE_AXIS_PARTS_MAX);
        axis->parts[axis->part_count++] =
            (struct lapse_axis_part){from, instants[i], (int)column, (int)wide};
        column += wide;
        axis->columns = (int)column;
        if (i + 1 < count) {
            /* A little of what lies before is shown, so that an end stands clear of the break. */
            int64_t next = instants[i + 1] / quantum * quantum;
            from = next - 2 * quantum > instants[i] ? next - 2 * quantum : next;
            column += LAPSE_AXIS_BREAK;
        }
    }
    return true;
}

static size_t axis_clashes(const struct lapse_axis *axis, const int64_t *instants, size_t count) {
    size_t clashes = 0;
    for (size_t i = 1; i < count; i++) {
        clashes += lapse_axis_column(axis, instants[i]) == lapse_axis_column(axis, instants[i - 1]);
    }
    return clashes;
}

/* The gaps after instants[cuts[k]], the longest first; of equals the earlier. */
static void cuts_choose(const int64_t *instants, size_t count, size_t *cuts, size_t *ret_count) {
    size_t chosen = 0;
    for (; chosen < LAPSE_AXIS_PARTS_MAX - 1 && chosen + 1 < count; chosen++) {
        int64_t longest = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            bool taken = false;
            for (size_t k = 0; k < chosen; k++) {
                taken = taken || cuts[k] == i;
            }
            int64_t gap = instants[i + 1] - instants[i];
            if (!taken && gap > longest) {
                longest = gap;
                cuts[chosen] = i;
            }
        }
        LAPSE_ASSERT(longest > 0);
    }
    *ret_count = chosen;
}

/* The next round length of ten columns: each is a multiple of 10 ns. */
static int64_t step_next(int64_t step) {
    static const int64_t seconds[] = {
        1,    2,     5,     10,    30,     60,     120,    300,     600,     1800,     3600,
        7200, 18000, 43200, 86400, 172800, 432000, 864000, 2592000, 8640000, 25920000, 86400000};
    if (step < LAPSE_NS_PER_S) {
        int64_t unit = LAPSE_AXIS_TICK;
        while (unit * 10 <= step) {
            unit *= 10;
        }
        return step == unit ? 2 * unit : step == 2 * unit ? 5 * unit : 10 * unit;
    }
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        if (seconds[i] * LAPSE_NS_PER_S > step) {
            return seconds[i] * LAPSE_NS_PER_S;
        }
    }
    return step * 10;
}
