/* A planted fault: chance that is not the same when a run is made again. Linked in the place of
 * lapse_choose, it shows that --check-determinism can fail, through the whole program. */
#include "sim/choice.h"

uint64_t __real_lapse_choose(struct lapse_choices *choices, uint64_t n,
                             enum lapse_choice_label label, int32_t who);
uint64_t __wrap_lapse_choose(struct lapse_choices *choices, uint64_t n,
                             enum lapse_choice_label label, int32_t who);

uint64_t __wrap_lapse_choose(struct lapse_choices *choices, uint64_t n,
                             enum lapse_choice_label label, int32_t who) {
    static uint64_t draws; /* of the process: what nothing outside plan and seed may be */
    return (__real_lapse_choose(choices, n, label, who) + draws++) % n;
}
