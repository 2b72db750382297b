/* Dates against a wall that may step back.
 *
 * A date is reached once any command since its write has read the wall at or past it. One global
 * maximum would be wrong: it would also end dates written after a step back. And a reading that
 * ended a date must outlive the process (KV-04), so what counts is what was committed: a command
 * that is the first to reach a date commits, and the mark of a commit is its reading.
 *
 * When a later mark reads lower, the one before becomes a peak. So the peaks fall, towards the
 * mark, and the greatest reading since commit s is that of the first peak numbered s or later. They
 * are kept only as long as a date rests on them, one that was reached and not yet reaped. All of it
 * is a function of the log commands and their readings. */
#include "decide.h"

static size_t first_since(const struct lapse_peaks *peaks, int64_t seq);
static bool plan_push(struct lapse_state *state);

bool lapse_peaks_reached(const struct lapse_state *state, const struct lapse_image *image) {
    size_t at = first_since(&state->peaks, image->aux.written_seq);
    struct lapse_wall most = state->mark.reading.wall;
    if (at < state->peaks.count) {
        most = state->peaks.items[at].wall;
    }
    return lapse_decide_wall_due(state, most) >= image->end_ns;
}

bool lapse_peaks_plan(struct lapse_state *state, const struct lapse_mark *next) {
    struct lapse_peaks *peaks = &state->peaks;
    int64_t wall = next->reading.wall.ns;
    bool rests = state->reached.count > 0;
    if (rests && wall < state->mark.reading.wall.ns && !plan_push(state)) {
        return false;
    }
    for (size_t i = peaks->count; i > 0 && (!rests || peaks->items[i - 1].wall.ns <= wall); i--) {
        peaks->items[i - 1].leaving = true;
    }
    return true;
}

void lapse_peaks_keep(struct lapse_state *state) {
    struct lapse_peaks *peaks = &state->peaks;
    size_t kept = 0;
    for (size_t i = 0; i < peaks->count; i++) {
        if (!peaks->items[i].leaving) {
            peaks->items[kept] = peaks->items[i];
            peaks->items[kept++].fresh = false;
        }
    }
    peaks->count = kept;
    struct lapse_now now =
        lapse_decide_now(state, state->mark.store, state->mark.reading.wall, state->log_seq);
    while (lapse_peaks_due(state, &now)) {
        struct lapse_node *node = state->wall.items[0];
        struct lapse_image image = node->now;
        image.reached = true;
        lapse_state_place(state, node, &image);
    }
}

void lapse_peaks_undo(struct lapse_state *state) {
    struct lapse_peaks *peaks = &state->peaks;
    if (peaks->count > 0 && peaks->items[peaks->count - 1].fresh) {
        peaks->count--;
    }
    for (size_t i = 0; i < peaks->count; i++) {
        peaks->items[i].leaving = false;
    }
}

enum lapse_status lapse_peaks_load(struct lapse_state *state, int64_t seq, struct lapse_wall wall) {
    struct lapse_peaks *peaks = &state->peaks;
    void *items = peaks->items;
    if (!lapse_alloc_grow(state->alloc, &items, &peaks->cap, peaks->count + 1,
                          sizeof(*peaks->items))) {
        return LAPSE_NOMEM;
    }
    peaks->items = items;
    const struct lapse_peak *last = peaks->count == 0 ? NULL : &peaks->items[peaks->count - 1];
    if (seq < 1 || seq >= state->log_seq || wall.ns <= state->mark.reading.wall.ns ||
        (last != NULL && (seq <= last->seq || wall.ns >= last->wall.ns))) {
        return LAPSE_CORRUPT;
    }
    peaks->items[peaks->count++] = (struct lapse_peak){.seq = seq, .wall = wall};
    return LAPSE_OK;
}

static size_t first_since(const struct lapse_peaks *peaks, int64_t seq) {
    size_t low = 0;
    size_t high = peaks->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (peaks->items[middle].seq < seq) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The present mark becomes a peak. Once the list is long, only the peaks that some date looks at
 * stay: so it is never longer than a fixed multiple of the dates reached, however often the wall
 * steps back. */
static bool plan_push(struct lapse_state *state) {
    struct lapse_peaks *peaks = &state->peaks;
    void *items = peaks->items;
    if (!lapse_alloc_grow(state->alloc, &items, &peaks->cap, peaks->count + 1,
                          sizeof(*peaks->items))) {
        return false;
    }
    peaks->items = items;
    peaks->items[peaks->count++] =
        (struct lapse_peak){state->log_seq, state->mark.reading.wall, true, false};
    if (peaks->count <= 2 * state->reached.count + 8) {
        return true;
    }
    for (size_t i = 0; i < peaks->count; i++) {
        peaks->items[i].leaving = true;
    }
    for (size_t i = 0; i < state->reached.count; i++) {
        size_t at = first_since(peaks, state->reached.items[i]->now.aux.written_seq);
        LAPSE_ASSERT(at < peaks->count);
        peaks->items[at].leaving = false;
    }
    return true;
}
