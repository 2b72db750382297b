/* Private: store time. It is state, carried on from a mark by what the clock reads. */
#ifndef ENGINE_MARK_H
#define ENGINE_MARK_H

#include "state.h"

/* The mark that `reading` gives when `from` was the last: same boot, plus the raw time passed;
 * another boot, plus what the wall passed, if it did. Never below `from`. False past the range. */
bool lapse_mark_advance(const struct lapse_mark *from, const struct lapse_reading *reading,
                        struct lapse_mark *ret);
/* Whether the wall has parted from store time by 100 ms since the mark. */
bool lapse_mark_parted(const struct lapse_mark *mark, const struct lapse_now *now);
/* Whether a journal should be given a new mark: a second has passed, or the wall has parted. */
bool lapse_mark_due(const struct lapse_mark *mark, const struct lapse_mark *last);

#endif
