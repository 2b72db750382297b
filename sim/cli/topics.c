/* Help on what is not a command: short pages, the words themselves come from the loader's table. */
#include "topics.h"

#include <stddef.h>

static const struct lapse_cli_topic topics[] = {
    {"scenarios", "how a scenario is written: every word", NULL, lapse_cli_words_print},
    {"profiles", "what each profile does: every policy", NULL, lapse_cli_profiles_print},
    {"programs", "clients written in C: what each does and takes", NULL, lapse_cli_programs_print},
    {"durations", "spans of time, dates, arithmetic",
     "A duration is a number with a unit, or several joined, read exactly:\n"
     "  30s  15m  1h30m  500ms  3us  1ns  30d  2w         (d is 24 h)\n"
     "  15m-1ns  3*10s  $span+1ms                         arithmetic\n"
     "A bare number is a mistake, but for 0. Months and years are no durations.\n\n"
     "A date is an instant of the wall clock:\n"
     "  2026-01-31T00:00:00Z  epoch+1h  now+15s\n"
     "epoch, the wall clock at the start, is 2000-01-01T00:00:00Z unless set.\n\n"
     "An entry whose end is e is there at e-1ns and absent at e.\n",
     NULL},
    {"exit-codes", "what the exit code says",
     "  0   all passed\n"
     "  1   a contract was violated, or an expectation was not met\n"
     "  2   the command line is wrong\n"
     "  3   a file cannot be read or has mistakes (it was not run; the others were)\n"
     "  4   inconclusive: a pattern of `sometimes` never came true, a run was cut, or\n"
     "      the search of `check` gave up\n"
     "  5   nothing was selected\n"
     "  7   not deterministic: with --check-determinism a run was made again, with the\n"
     "      same seed, and gave another history (the first difference is shown)\n"
     "  70  a bug in lapse itself, memory ran out, or a report cannot be written (it\n"
     "      says which)\n"
     "  130, 143  interrupted, terminated\n"
     "If several hold, 70 outranks 1, then come 7, 3, 4 and 5.\n",
     NULL},
    {"order", "what happens first at one instant",
     "At one instant of true time, in this order:\n"
     "  1  ends of faults and wakes, then beginnings of faults\n"
     "  2  housekeeping that is due; then what was under way: replies, timers, and\n"
     "     steps of a client that just woke, the longest due first\n"
     "  3  steps and ticks in the order of the file, each with all that it causes\n"
     "  4  `expect:` lists\n"
     "The end of a term is no event: it is a comparison at each call.\n",
     NULL},
    {"addresses", "how to name one scenario",
     "FILE:LINE is the scenario that holds that line: any line of it will do.\n"
     "With `vary` a document has rows, numbered from 0: --row 2 takes the third.\n"
     "A failing run prints the address that shows it again:\n"
     "  lapse replay scenarios/x.yaml:12 --row 2 --seed 1\n\n"
     "A folder is walked in byte order of names; files end in .yaml or .yml. A folder\n"
     "inside it that holds a file .lapse-skip is skipped and counted; a link to a\n"
     "folder is not followed, a link to a file is.\n",
     NULL},
    {"histories", "recorded histories: what `lapse check` reads",
     "JSON lines, one map a line; times are whole ns or durations:\n"
     "  {\"lapse\": 1, \"profile\": \"strict\"}                          first of all\n"
     "  {\"event\": \"call\", \"actor\": \"w1\", \"at\": 0, \"replied\": \"1ms\",\n"
     "   \"verb\": \"acquire\", \"name\": \"jobs/n\", \"for\": \"30s\", \"owner\": \"w1\",\n"
     "   \"answer\": {\"status\": \"granted\", \"token\": 1, \"left\": \"30s\"}}    in one line\n"
     "  {\"event\": \"resource\", \"at\": \"5s\", \"actor\": \"w1\", \"resource\": \"report\",\n"
     "   \"token\": 1, \"value\": \"x\"}                    as the resource takes it\n"
     "A call without `replied` may take effect later, or never. Bytes that are no\n"
     "text: {\"hex\": \"00ff\"}. All words are in contracts/README.md; recorders around\n"
     "a NATS and a Redis lock in contracts/examples. `run --save-history DIR` writes\n"
     "the same form. Logs of Jepsen's tools (a register, or get, put, append) are read\n"
     "too: the first line tells, or --format etcd, kv, lapse.\n",
     NULL},
    {"names", "choosing by name: -k",
     "  -k fence                    names that hold \"fence\", in any case\n"
     "  -k 'late write'             a phrase\n"
     "  -k 'lease and not (idle or watch)'\n"
     "`not` binds tightest, then `and`, then `or`.\n",
     NULL},
    {"timeline", "how to read the picture of a failing run",
     "The axis is true time. A lease, a lock or a key is drawn while it stands:\n"
     "  [w1 token 7 ====]   from its grant to its end\n"
     "An actor's lane says what it believes, beside what is so:\n"
     "  #  believes that it holds, holds, and runs\n"
     "  .  paused, and still holds\n"
     "  ?  believes that it holds, and does not\n"
     "  -  paused    x  down    !  a careful client did not send: too late\n"
     "A letter is a call as it is sent. A resource shows the token of each write that\n"
     "it took, and (token) where it refused one. //14m59s// is time left out. Lanes\n"
     "that the error is not about are folded away, and counted.\n",
     NULL},
    {NULL, NULL, NULL, NULL},
};

const struct lapse_cli_topic *lapse_cli_topics(void) {
    return topics;
}
