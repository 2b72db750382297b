/* Dates against a wall that may step back.
 *
 * A date is reached once any command since its write has read the wall at or past it. One global
 * maximum would be wrong: it would also end dates written after a step back. So the readings are
 * kept as a list that falls: an entry stands for all readings up to its command that no later one
 * has reached again. The greatest reading since command s is then the first entry from s on. */
#include "state.h"

static size_t first_since(const struct lapse_peaks *peaks, int64_t seq);
static void compact(struct lapse_state *state);

bool lapse_peaks_reserve(struct lapse_state *state) {
    struct lapse_peaks *peaks = &state->peaks;
    void *items = peaks->items;
    if (!lapse_alloc_grow(state->alloc, &items, &peaks->cap, peaks->count + 1,
                          sizeof(*peaks->items))) {
        return false;
    }
    peaks->items = items;
    return true;
}

void lapse_peaks_note(struct lapse_state *state, const struct lapse_now *now) {
    struct lapse_peaks *peaks = &state->peaks;
    if (state->wall.count == 0) {
        /* Only readings since a date's write matter to it, and no date is left. */
        peaks->count = 0;
        return;
    }
    while (peaks->count > 0 && peaks->items[peaks->count - 1].wall.ns <= now->wall.ns) {
        peaks->count--;
    }
    LAPSE_ASSERT(peaks->count < peaks->cap);
    peaks->items[peaks->count++] = (struct lapse_peak){now->seq, now->wall, false};
    if (peaks->count > 2 * state->wall.count + 8) {
        compact(state);
    }
}

bool lapse_peaks_reached(const struct lapse_state *state, int64_t seq, int64_t date_ns,
                         const struct lapse_now *now) {
    if (now->wall.ns >= date_ns) {
        return true;
    }
    size_t at = first_since(&state->peaks, seq);
    return at < state->peaks.count && state->peaks.items[at].wall.ns >= date_ns;
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

/* Keeps the peaks that some date looks at, and the newest: so the list is never longer than a
 * fixed multiple of the dated rows, however often the wall steps back. */
static void compact(struct lapse_state *state) {
    struct lapse_peaks *peaks = &state->peaks;
    for (size_t i = 0; i < state->wall.count; i++) {
        size_t at = first_since(peaks, state->wall.items[i]->now.written_seq);
        if (at < peaks->count) {
            peaks->items[at].wanted = true;
        }
    }
    size_t kept = 0;
    for (size_t i = 0; i < peaks->count; i++) {
        struct lapse_peak peak = peaks->items[i];
        if (peak.wanted || i + 1 == peaks->count) {
            peak.wanted = false;
            peaks->items[kept++] = peak;
        }
    }
    peaks->count = kept;
}
