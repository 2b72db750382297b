/* The codes of mistakes of recorded histories. A code keeps its meaning for ever. */
#include "reports/recorded.h"

static const struct lapse_recorded_code codes[] = {
    {"J001", "the file is too large",
     "A recorded history has at most 256 MiB. Record a shorter time, or one name alone."},
    {"J002", "the file is not UTF-8",
     "JSON is UTF-8. A key or value that is other bytes is written {\"hex\": \"00ff\"}."},
    {"J003", "a NUL byte", "No text has one. Is this a recorded history at all?"},
    {"J006", "too much in one file",
     "A history has at most 200,000 events, a line at most 40 MiB and 262,144 words and values. Of "
     "mistakes the first 50 are shown."},
    {"J007", "nothing in the file", "The first line of a history is {\"lapse\": 1, ..}."},
    {"J008", "not JSON",
     "Each line is one map, whole. A last line that ends early was cut off: take it out."},
    {"J101", "an unknown word",
     "The word is not one that this line takes. It would be lost, so it is refused."},
    {"J102", "not one of the choices", "The word takes a few fixed ones; the message lists them."},
    {"J103", "the wrong shape",
     "Times are whole nanoseconds, or durations such as \"30s\"; never decimals, which round."},
    {"J104", "a word is missing", "The line cannot be understood without it."},
    {"J105", "a name that resolves to nothing",
     "Where the first line lists actors, nodes or resources, it lists all of them. Where it does "
     "not, they are taken as they come."},
    {"J108", "a number out of range", "The number is outside of what can stand here."},
    {"J110", "events that do not fit each other",
     "A reply belongs to a call that was sent before, by the same actor; a key to a bucket."},
    {"J111", "a line behind the closing one", "The closing line is the last. Are these two files?"},
    {"J112", "the history was changed",
     "What lapse writes ends with the digest of all its events. Where one was changed, taken out "
     "or "
     "put in, take the closing line out too, and `recorder` out of the first: then it is judged as "
     "it is."},
    {"J118", "no such contract", "`lapse contracts` lists the ids."},
    {"J119", "a name stands twice", "Actors, nodes and resources have names of their own."},
    {"J121", "another version of the format", "This program reads {\"lapse\": 1}."},
    {"J130", "a line that is none of this log",
     "A log of Jepsen's has a line for each sending and each outcome: process, :invoke :ok :fail "
     "or "
     ":info, what was called, its value."},
};

const struct lapse_recorded_code *lapse_recorded_codes(size_t *ret_count) {
    *ret_count = sizeof(codes) / sizeof(codes[0]);
    return codes;
}
