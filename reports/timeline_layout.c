/* Where instants go: a true time axis that fits the width. It is linear, so that lengths can be
 * compared by eye; stretches in which nothing happens are cut out only where without the cut
 * different instants would share a column. */
#include <stdio.h>
#include <string.h>

#include "timeline.h"

/* Columns before a break: room for the label of a bar that goes on in it, or for that of an
 * instant. */
enum { TAIL_ROOMY = 12, TAIL_LEAST = 2 };

struct cuts {
    const size_t *at; /* the gaps behind these instants are cut out */
    size_t count;
    int tail; /* columns that are still drawn before each */
};

static bool axis_try(struct lapse_axis *axis, const int64_t *instants, size_t count,
                     struct cuts cuts, int columns);
static bool axis_place(struct lapse_axis *axis, const int64_t *instants, size_t count,
                       struct cuts cuts, int columns);
static bool part_begin(struct lapse_axis *axis, int64_t last, int64_t next);
static void length_print(int64_t ns, char *buf);
static size_t axis_clashes(const struct lapse_axis *axis, const int64_t *instants, size_t count);
static void cuts_choose(const int64_t *instants, size_t count, size_t *cuts, size_t *ret_count);
static int64_t step_next(int64_t step);

void lapse_axis_fit(struct lapse_axis *axis, const int64_t *instants, size_t count, int columns) {
    LAPSE_ASSERT(count > 0);
    LAPSE_ASSERT(columns >= 40);
    size_t cuts[LAPSE_AXIS_PARTS_MAX - 1]; /* by length of the gap, the longest first */
    size_t cut_count;
    cuts_choose(instants, count, cuts, &cut_count);
    bool fits = axis_try(axis, instants, count, (struct cuts){cuts, 0, 0}, columns);
    LAPSE_ASSERT(fits);
    size_t best = axis_clashes(axis, instants, count);
    for (size_t k = 1; k <= cut_count; k++) {
        for (int tail = TAIL_ROOMY; best > 0 && tail > 0; tail -= TAIL_ROOMY - TAIL_LEAST) {
            struct lapse_axis other;
            if (!axis_try(&other, instants, count, (struct cuts){cuts, k, tail}, columns)) {
                continue;
            }
            size_t clashes = axis_clashes(&other, instants, count);
            if (clashes < best) {
                best = clashes;
                *axis = other;
            }
        }
    }
}

int lapse_axis_column(const struct lapse_axis *axis, int64_t at) {
    for (size_t i = 0; i < axis->part_count; i++) {
        const struct lapse_axis_part *part = &axis->parts[i];
        if (at < part->from) {
            return i == 0 ? part->column : part->column - part->gap;
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

/* The finest scale at which all parts fit. False if the breaks alone leave no room. */
static bool axis_try(struct lapse_axis *axis, const int64_t *instants, size_t count,
                     struct cuts cuts, int columns) {
    for (int64_t step = LAPSE_AXIS_TICK;; step = step_next(step)) {
        memset(axis, 0, sizeof *axis);
        axis->quantum_ns = step / LAPSE_AXIS_TICK;
        if (axis_place(axis, instants, count, cuts, columns)) {
            return true;
        }
        if (axis->quantum_ns > instants[count - 1] || step > INT64_MAX / 10) {
            return false;
        }
    }
}

static bool axis_place(struct lapse_axis *axis, const int64_t *instants, size_t count,
                       struct cuts cuts, int columns) {
    int64_t quantum = axis->quantum_ns;
    axis->part_count = 1;
    axis->parts[0].from = instants[0] / quantum * quantum;
    axis->parts[0].first = instants[0];
    for (size_t i = 0; i < count; i++) {
        bool cut = i + 1 == count;
        for (size_t k = 0; k < cuts.count; k++) {
            cut = cut || cuts.at[k] == i;
        }
        if (!cut) {
            continue;
        }
        struct lapse_axis_part *part = &axis->parts[axis->part_count - 1];
        bool last = i + 1 == count;
        /* Compared before the sum is made: a quantum of 1 ns and a far instant fill the range. */
        int64_t steps = (instants[i] - part->from) / quantum;
        if (steps >= columns) {
            return false;
        }
        int64_t wide = steps + 1 + (last ? 0 : cuts.tail);
        if (wide > columns - part->column) {
            return false;
        }
        part->to = instants[i];
        part->columns = (int)wide;
        axis->columns = part->column + part->columns;
        if (!last && !part_begin(axis, instants[i], instants[i + 1])) {
            return false;
        }
    }
    return true;
}

/* A little of what lies before is shown, so that an end stands clear of the break. False if nothing
 * would be left out. */
static bool part_begin(struct lapse_axis *axis, int64_t last, int64_t next) {
    int64_t quantum = axis->quantum_ns;
    LAPSE_ASSERT(axis->part_count < LAPSE_AXIS_PARTS_MAX);
    const struct lapse_axis_part *before = &axis->parts[axis->part_count - 1];
    struct lapse_axis_part *part = &axis->parts[axis->part_count++];
    int64_t from = next / quantum * quantum;
    part->from = from - 2 * quantum > last ? from - 2 * quantum : from;
    part->first = next;
    if ((part->from - before->from) / quantum <= before->columns) {
        return false;
    }
    length_print(part->from - last, part->length);
    part->gap = (int)strlen(part->length) + (int)strlen(LAPSE_AXIS_MARK) * 2 + 2;
    part->column = axis->columns + part->gap;
    return true;
}

/* The two largest units of a length: a break says how much it leaves out, the labels beside it say
 * exactly what. */
static void length_print(int64_t ns, char *buf) {
    char whole[LAPSE_TIME_TEXT_MAX];
    (void)lapse_span_print((struct lapse_span){ns}, whole);
    size_t len = 0;
    for (int units = 0; whole[len] != '\0' && units < 2; units++) {
        len += strspn(whole + len, "0123456789");
        len += strcspn(whole + len, "0123456789");
    }
    (void)snprintf(buf, LAPSE_AXIS_LENGTH_MAX, "%.*s", (int)len, whole);
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
