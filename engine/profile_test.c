/* What real systems do where they differ from strict: their rules as tables of steps, each row
 * naming the rule in our own words. A table runs on the memory store and, closed and opened again
 * after each step, on the store in a file. */
#include "lapse/sqlite.h"
#include "testing.h"
#include "testing_files.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* A step moves the clock to `at_ms`, makes one call and looks at its answer. */
struct step {
    int64_t at_ms;
    enum lapse_verb verb;
    const char *name, *text; /* key or lease name; value or owner */
    enum lapse_status status;
    const char *rule;
    unsigned given; /* a term of `span_ms`, and flags below */
    int64_t span_ms;
    int64_t version; /* if_version of a write */
    int64_t want;    /* revision, or of a lease the token */
    int64_t end_ms;  /* 0: not looked at */
};

enum {
    IF = 64,         /* `version` is an if_version */
    EPHEMERAL = 128, /* the lease is ephemeral */
    SEES = 256,      /* `want` is looked at */
    WALL = 512,      /* the wall alone is stepped by span_ms first */
    HELD = 1024,     /* not followed by a reopen: it is of the tenure */
    ID = 2048,       /* under the request id `r` */
    COUNT = 4096     /* `want` is the number of items */
};

#define MS LAPSE_NS_PER_MS
#define TTL LAPSE_TERM_TTL
#define V(word) LAPSE_VERB_##word

struct table {
    enum lapse_profile profile;
    enum lapse_policy policy; /* set to `value`, where value is not 0 */
    uint8_t value;
    struct lapse_bucket_config bucket;
    const struct step *steps;
    size_t count;
};

static void run_step(struct lapse_testing *t, const struct step *step);
static void run_table(const struct table *table, bool in_file);
static void reopen(struct lapse_testing *t, const char *path);

#define TABLE(profile, steps, ...)                                                                 \
    (struct table) {                                                                               \
        LAPSE_PROFILE_##profile, LAPSE_POLICY_AT_END, 0, {__VA_ARGS__}, steps,                     \
            sizeof(steps) / sizeof(steps[0])                                                       \
    }
#define WITH(profile, policy_, value_, steps, ...)                                                 \
    (struct table) {                                                                               \
        LAPSE_PROFILE_##profile, LAPSE_POLICY_##policy_, value_, {__VA_ARGS__}, steps,             \
            sizeof(steps) / sizeof(steps[0])                                                       \
    }
#define TTL_OF(ms) .term = {.given = LAPSE_TERM_TTL, .ttl = {(ms)*MS}}
#define IDLE_OF(ms) .term = {.given = LAPSE_TERM_IDLE, .idle = {(ms)*MS}}

static void both(const struct table *table) {
    run_table(table, false);
    run_table(table, true);
}

/* ---- tinystore */
static const struct step boundary[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", 0, 0, 0, 0, 900000},
    {899999, V(GET), "k", "", LAPSE_OK, "live 1 ms before its end", 0, 0, 0, 0, 0},
    {900000, V(GET), "k", "", LAPSE_ABSENT, "absent at exactly the end", 0, 0, 0, 0, 0},
};
static const struct step keep[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", SEES, 0, 0, 1, 600000},
    {60000, V(SET), "k", "w", LAPSE_OK, "a plain set keeps the end", SEES, 0, 0, 2, 600000},
    {60000, V(ENTRY), "k", "", LAPSE_OK, "and has a new version", SEES, 0, 0, 2, 600000},
    {60000, V(PERSIST), "k", "", LAPSE_OK, "no end any more", 0, 0, 0, 0, 0},
    {60000, V(SET), "k", "x", LAPSE_OK, "never is kept too", 0, 0, 0, 0, 0},
    {700000, V(GET), "k", "", LAPSE_OK, "so it lives on", 0, 0, 0, 0, 0},
    {700000, V(SET), "k", "x", LAPSE_OK, "its own term replaces it", TTL, 10, 0, 0, 700010},
    {700010, V(SET), "k", "x", LAPSE_OK, "over an ended key: the default", 0, 0, 0, 0, 1300010},
};
static const struct step zero[] = {
    {5, V(CREATE), "k", "v", LAPSE_OK, "a zero term is written", TTL | SEES, 0, 0, 1, 0},
    {5, V(GET), "k", "", LAPSE_ABSENT, "and absent at once", 0, 0, 0, 0, 0},
    {5, V(SET), "k", "v", LAPSE_OK, "a version was used up", SEES, 0, 0, 2, 0},
    {5, V(DELETE), "k", "", LAPSE_OK, "a delete takes no version", SEES, 0, 0, 2, 0},
    {5, V(CREATE), "k", "v", LAPSE_OK, "so the next is one more", SEES, 0, 0, 3, 0},
    {5, V(SET), "l", "v", LAPSE_OK, "another key counts on", TTL | SEES, INT64_MAX / MS, 0, 4, 0},
    {6, V(SET), "k", "v", LAPSE_INVALID, "a negative one is refused", TTL, -1, 0, 0, 0},
    {7, V(SET), "m", "v", LAPSE_OK, "written", TTL, 5, 0, 0, 12},
    {8, V(EXPIRE), "m", "", LAPSE_OK, "a zero span ends it", TTL, 0, 0, 0, 0},
    {8, V(GET), "m", "", LAPSE_ABSENT, "at once", 0, 0, 0, 0, 0},
};
static const struct step idle_write[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", 0, 0, 0, 0, 1800000},
    {1200000, V(SET), "k", "v", LAPSE_OK, "a write is a use", 0, 0, 0, 0, 3000000},
    {2400000, V(GET), "k", "", LAPSE_OK, "and it lives", HELD, 0, 0, 0, 3000000},
    {2401000, V(REAP), "", "", LAPSE_OK, "the renewal is written later", HELD, 0, 0, 0, 0},
    {2401000, V(ENTRY), "k", "", LAPSE_OK, "then it shows", 0, 0, 0, 0, 4200000},
};
static const struct step month[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", SEES, 0, 0, 1, INT64_C(2592000000)},
    {86399999, V(GET), "k", "", LAPSE_OK, "not due", HELD, 0, 0, 0, INT64_C(2592000000)},
    {86400000, V(GET), "k", "", LAPSE_OK, "due, the old end is shown", HELD, 0, 0, 0,
     INT64_C(2592000000)},
    {86401000, V(REAP), "", "", LAPSE_OK, "flushed", 0, 0, 0, 0, 0},
    {86401000, V(ENTRY), "k", "", LAPSE_OK, "same version, a month from the use", SEES, 0, 0, 1,
     INT64_C(2678400000)},
};
static const struct step last_minute[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", 0, 0, 0, 0, 1800000},
    {1740000, V(ENTRY), "k", "", LAPSE_OK, "exactly a minute: put off", HELD, 0, 0, 0, 1800000},
    {1740001, V(ENTRY), "k", "", LAPSE_OK, "less: at once", 0, 0, 0, 0, 3540001},
};
static const struct step reincarnation[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", 0, 0, 0, 0, 1800000},
    {1200000, V(GET), "k", "", LAPSE_OK, "a renewal waits", HELD, 0, 0, 0, 0},
    {1200000, V(DELETE), "k", "", LAPSE_OK, "deleted", HELD, 0, 0, 0, 0},
    {1200000, V(CREATE), "k", "w", LAPSE_OK, "another key", TTL | HELD, 60000, 0, 0, 1260000},
    {1201000, V(REAP), "", "", LAPSE_OK, "the renewal was not its own", 0, 0, 0, 0, 0},
    {1320000, V(GET), "k", "", LAPSE_ABSENT, "so it has ended", 0, 0, 0, 0, 0},
};
static const struct step ended[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", SEES, 0, 0, 1, 60000},
    {60000, V(SET), "k", "w", LAPSE_CONFLICT, "if_version never creates", IF, 0, 1, 0, 0},
    {60000, V(EXPIRE), "k", "", LAPSE_ABSENT, "expire never revives", TTL, 1000, 0, 0, 0},
    {60000, V(DELETE), "k", "", LAPSE_ABSENT, "nothing to delete", 0, 0, 0, 0, 0},
    {60000, V(CREATE), "k", "w", LAPSE_OK, "a create does, with a larger version", SEES, 0, 0, 2,
     120000},
};
static const struct step lost_term[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "its own hour", TTL, 3600000, 0, 0, 3600000},
    {1000, V(GET), "k", "", LAPSE_OK, "a read loses it", HELD, 0, 0, 0, 3600000},
    {2000, V(REAP), "", "", LAPSE_OK, "flushed", 0, 0, 0, 0, 0},
    {2000, V(ENTRY), "k", "", LAPSE_OK, "30 days from the read", 0, 0, 0, 0, INT64_C(2592001000)},
    {2000, V(EXPIRE), "k", "", LAPSE_OK, "shortened", TTL, 50000, 0, 0, 52000},
    {3000, V(GET), "k", "", LAPSE_OK, "and undone by the next read", 0, 0, 0, 0,
     INT64_C(2592003000)},
};
static const struct step late_flush[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", 0, 0, 0, 0, 1800000},
    {1200000, V(GET), "k", "", LAPSE_OK, "a renewal waits", HELD, 0, 0, 0, 1800000},
    {1800000, V(GET), "k", "", LAPSE_ABSENT, "absent, nothing was flushed", HELD, 0, 0, 0, 0},
    {1800000, V(DELETE), "k", "", LAPSE_ABSENT, "nothing to delete", HELD, 0, 0, 0, 0},
    {1800001, V(REAP), "", "", LAPSE_OK, "flushed before it is swept", HELD, 0, 0, 0, 0},
    {1800001, V(ENTRY), "k", "", LAPSE_OK, "and it is back", 0, 0, 0, 0, 3000000},
};
static const struct step swept[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", TTL, 10000, 0, 0, 10000},
    {0, V(SET), "l", "v", LAPSE_OK, "written", TTL, 11000, 0, 0, 11000},
    {10000, V(REAP), "", "", LAPSE_OK, "the first sweep", COUNT, 0, 0, 1, 0},
    {11000, V(GET), "l", "", LAPSE_ABSENT, "ended, swept or not", 0, 0, 0, 0, 0},
    {69999, V(REAP), "", "", LAPSE_OK, "within a minute of the last", COUNT, 0, 0, 0, 0},
    {70000, V(REAP), "", "", LAPSE_OK, "a minute later", COUNT, 0, 0, 1, 0},
    {70000, V(CREATE), "l", "v", LAPSE_OK, "nothing is left", SEES, 0, 0, 3, 0},
};
static const struct step wall_back[] = {
    {10000, V(SET), "k", "v", LAPSE_OK, "written", 0, 0, 0, 0, 15000},
    {15000, V(GET), "k", "", LAPSE_ABSENT, "ended", 0, 0, 0, 0, 0},
    {15000, V(GET), "k", "", LAPSE_OK, "the wall steps back: it is there", WALL, -2000, 0, 0,
     15000},
};

Test(profile, tinystore_does_what_its_vectors_say) {
    both(&TABLE(TINYSTORE, boundary, TTL_OF(900000)));
    both(&TABLE(TINYSTORE, keep, TTL_OF(600000)));
    both(&TABLE(TINYSTORE, zero, .history = 1));
    both(&TABLE(TINYSTORE, idle_write, IDLE_OF(1800000)));
    both(&TABLE(TINYSTORE, month, IDLE_OF(INT64_C(2592000000))));
    both(&TABLE(TINYSTORE, last_minute, IDLE_OF(1800000)));
    both(&TABLE(TINYSTORE, reincarnation, IDLE_OF(1800000)));
    both(&TABLE(TINYSTORE, ended, TTL_OF(60000)));
    both(&TABLE(TINYSTORE, lost_term, IDLE_OF(INT64_C(2592000000))));
    both(&TABLE(TINYSTORE, late_flush, IDLE_OF(1800000)));
    both(&TABLE(TINYSTORE, swept, .history = 1));
    both(&TABLE(TINYSTORE, wall_back, TTL_OF(5000)));
}

/* ---- kahuna */
static const struct step leases[] = {
    {0, V(EXTEND), "l", "a", LAPSE_LOST, "absent: no lock", 0, 10, 0, 0, 0},
    {0, V(RELEASE), "l", "a", LAPSE_ABSENT, "absent: no lock", 0, 0, 0, 0, 0},
    {0, V(ACQUIRE), "l", "a", LAPSE_INVALID, "no span", 0, 0, 0, 0, 0},
    {0, V(ACQUIRE), "l", "a", LAPSE_OK, "the first token is 0", SEES, 10, 0, 0, 10},
    {1, V(ACQUIRE), "l", "a", LAPSE_OK, "its holder: the end is kept", SEES, 99, 0, 0, 10},
    {1, V(ACQUIRE), "l", "b", LAPSE_HELD, "another: busy", 0, 10, 0, 0, 0},
    {1, V(EXTEND), "l", "b", LAPSE_NOT_OWNER, "another: no owner", 0, 10, 0, 0, 0},
    {1, V(RELEASE), "l", "b", LAPSE_NOT_OWNER, "another: no owner", 0, 0, 0, 0, 0},
    {2, V(EXTEND), "l", "a", LAPSE_OK, "may shorten", SEES, 5, 0, 0, 7},
    {7, V(INSPECT), "l", "", LAPSE_OK, "held at exactly the end", SEES, 0, 0, 0, 7},
    {7, V(ACQUIRE), "l", "b", LAPSE_HELD, "so busy", 0, 10, 0, 0, 0},
    {8, V(INSPECT), "l", "", LAPSE_ABSENT, "free 1 ms later", 0, 0, 0, 0, 0},
    {8, V(REAP), "", "", LAPSE_OK, "reaped or not", 0, 0, 0, 0, 0},
    {8, V(EXTEND), "l", "b", LAPSE_LOST, "lapsed, whoever asks", 0, 10, 0, 0, 0},
    {8, V(RELEASE), "l", "b", LAPSE_NOT_OWNER, "lapsed: not the last owner", 0, 0, 0, 0, 0},
    {8, V(RELEASE), "l", "a", LAPSE_OK, "lapsed: released by the last owner", 0, 0, 0, 0, 0},
    {8, V(RELEASE), "l", "a", LAPSE_ABSENT, "free: no lock", 0, 0, 0, 0, 0},
    {8, V(ACQUIRE), "l", "a", LAPSE_OK, "the name's token goes on", SEES, 10, 0, 1, 18},
    {8, V(ACQUIRE), "m", "a", LAPSE_OK, "another name begins at 0", SEES, 10, 0, 0, 18},
    {8, V(ACQUIRE), "l", "b", LAPSE_OK, "the durabilities are apart", EPHEMERAL | SEES | HELD, 5, 0,
     0, 13},
    {8, V(INSPECT), "l", "", LAPSE_OK, "each has its own", EPHEMERAL | SEES | HELD, 0, 0, 0, 13},
    {8, V(RELEASE), "l", "b", LAPSE_OK, "released", EPHEMERAL | HELD, 0, 0, 0, 0},
    {8, V(ACQUIRE), "l", "a", LAPSE_OK, "its count goes on too", EPHEMERAL | SEES | HELD, 9, 0, 1,
     17},
    {18, V(RELEASE), "l", "a", LAPSE_OK, "lapsed: released", EPHEMERAL, 0, 0, 0, 0},
    {18, V(RELEASE), "l", "a", LAPSE_OK, "held at the end: released", 0, 0, 0, 0, 0},
    {18, V(ACQUIRE), "l", "c", LAPSE_OK, "one more", SEES, 10, 0, 2, 28},
};
static const struct step kahuna_keys[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "the first revision is 0", TTL | SEES, 10, 0, 0, 10},
    {1, V(SET), "k", "v", LAPSE_OK, "each key counts", TTL | SEES, 10, 0, 1, 11},
    {1, V(SET), "j", "v", LAPSE_OK, "for itself; no term is never", SEES, 0, 0, 0, 0},
    {11, V(GET), "k", "", LAPSE_OK, "live at exactly the end", SEES, 0, 0, 1, 11},
    {12, V(GET), "k", "", LAPSE_ABSENT, "absent 1 ms later", 0, 0, 0, 0, 0},
    {12, V(EXPIRE), "k", "", LAPSE_ABSENT, "extend never revives", TTL, 10, 0, 0, 0},
    {12, V(REAP), "", "", LAPSE_OK, "reaped or not", 0, 0, 0, 0, 0},
    {12, V(SET), "k", "v", LAPSE_CONFLICT, "another revision than remembered", IF | SEES, 0, 0, 1,
     0},
    {12, V(SET), "k", "v", LAPSE_OK, "the remembered one revives", IF | SEES, 0, 1, 2, 0},
    {12, V(SET), "n", "v", LAPSE_OK, "-1 is a key never seen", IF | SEES, 0, -1, 0, 0},
    {13, V(EXPIRE), "k", "", LAPSE_OK, "puts an end on it", TTL | SEES, 5, 0, 2, 18},
    {19, V(DELETE), "k", "", LAPSE_OK, "an ended key is deleted", SEES, 0, 0, 3, 0},
    {19, V(DELETE), "k", "", LAPSE_ABSENT, "a deleted one is not", 0, 0, 0, 0, 0},
    {19, V(DELETE), "q", "", LAPSE_ABSENT, "nor one never seen", 0, 0, 0, 0, 0},
    {19, V(CREATE), "k", "v", LAPSE_OK, "the count goes on", TTL | SEES, 5, 0, 4, 24},
    {20, V(SET), "k", "v", LAPSE_OK, "a set without a term takes it off", SEES, 0, 0, 5, 0},
    {20, V(SET), "k", "v", LAPSE_OK, "0 is never", TTL | SEES, 0, 0, 6, 0},
    {99, V(GET), "k", "", LAPSE_OK, "so it lives", SEES, 0, 0, 6, 0},
    {99, V(WATCH), "k", "", LAPSE_INVALID, "there is no watch", 0, 0, 0, 0, 0},
};
static const struct step frozen[] = {
    {1000, V(ACQUIRE), "l", "a", LAPSE_OK, "granted", 0, 100, 0, 0, 1100},
    {1050, V(INSPECT), "l", "", LAPSE_OK, "the wall steps back", WALL, -500, 0, 0, 1100},
    {1500, V(INSPECT), "l", "", LAPSE_OK, "time stands still", 0, 0, 0, 0, 1100},
    {1600, V(INSPECT), "l", "", LAPSE_OK, "until the wall has caught up", 0, 0, 0, 0, 1100},
    {1601, V(INSPECT), "l", "", LAPSE_ABSENT, "and then goes on", 0, 0, 0, 0, 0},
};

Test(profile, kahuna_does_what_its_tables_say) {
    both(&TABLE(KAHUNA, leases, .history = 1));
    both(&TABLE(KAHUNA, kahuna_keys, TTL_OF(7)));
    both(&TABLE(KAHUNA, frozen, .history = 1));
}

/* ---- nats */
static const struct step tombstones[] = {
    {0, V(UPDATE), "k", "v", LAPSE_OK, "0 is nothing stored", IF | SEES, 0, 0, 1, 1000},
    {0, V(UPDATE), "k", "v", LAPSE_CONFLICT, "the last record's is told", IF | SEES, 0, 0, 1, 0},
    {10, V(DELETE), "k", "", LAPSE_OK, "a tombstone takes a revision", SEES, 0, 0, 2, 0},
    {10, V(UPDATE), "k", "v", LAPSE_CONFLICT, "and counts", IF | SEES, 0, 0, 2, 0},
    {10, V(DELETE), "k", "", LAPSE_OK, "one more, of an absent key", SEES, 0, 0, 3, 0},
    {10, V(UPDATE), "k", "v", LAPSE_OK, "its revision is the last", IF | SEES, 0, 3, 4, 1010},
    {20, V(DELETE), "k", "", LAPSE_OK, "deleted", SEES, 0, 0, 5, 0},
    {1020, V(UPDATE), "k", "v", LAPSE_OK, "aged out: nothing is stored", IF | SEES, 0, 0, 6, 2020},
    {2020, V(UPDATE), "k", "v", LAPSE_CONFLICT, "an old revision fails", IF | SEES, 0, 6, 0, 0},
    {2020, V(SET), "k", "v", LAPSE_INVALID, "no marker, no term of its own", TTL, 5000, 0, 0, 0},
    {2020, V(DELETE), "q", "", LAPSE_OK, "also of a key never seen", SEES, 0, 0, 7, 0},
};
static const struct step markers[] = {
    {0, V(SET), "k", "v", LAPSE_INVALID, "less than a second", TTL, 999, 0, 0, 0},
    {0, V(SET), "k", "v", LAPSE_OK, "whole seconds, cut down", TTL | SEES, 1900, 0, 1, 1000},
    {1000, V(REAP), "", "", LAPSE_OK, "its marker takes a revision", 0, 0, 0, 0, 0},
    {1000, V(UPDATE), "k", "v", LAPSE_CONFLICT, "and counts", IF | SEES, 0, 1, 2, 0},
    {1000, V(UPDATE), "k", "v", LAPSE_OK, "until written over", IF | SEES, 0, 2, 3, 61000},
    {1000, V(PURGE), "k", "", LAPSE_OK, "a purge", SEES, 0, 0, 4, 0},
    {61000, V(REAP), "", "", LAPSE_OK, "leaves no marker when it ages out", 0, 0, 0, 0, 0},
    {61000, V(UPDATE), "k", "v", LAPSE_OK, "so nothing is stored", IF | SEES, 0, 0, 5, 121000},
    {61000, V(DELETE), "k", "", LAPSE_OK, "a delete", SEES, 0, 0, 6, 0},
    {121000, V(REAP), "", "", LAPSE_OK, "leaves one", 0, 0, 0, 0, 0},
    {121000, V(UPDATE), "k", "v", LAPSE_CONFLICT, "which counts", IF | SEES, 0, 0, 7, 0},
    {123000, V(REAP), "", "", LAPSE_OK, "as long as it was given", 0, 0, 0, 0, 0},
    {123000, V(UPDATE), "k", "v", LAPSE_OK, "then nothing is left", IF | SEES, 0, 0, 8, 183000},
    {123000, V(SET), "k", "v", LAPSE_OK, "past the range: removed at once", TTL | SEES,
     INT64_MAX / MS, 0, 9, 0},
    {123000, V(GET), "k", "", LAPSE_ABSENT, "absent", 0, 0, 0, 0, 0},
};
static const struct step older[] = {
    {0, V(SET), "k", "old", LAPSE_OK, "an older value that never ends", SEES, 0, 0, 1, 0},
    {0, V(SET), "k", "new", LAPSE_OK, "a newer with a term", TTL | SEES, 2000, 0, 2, 2000},
    {0, V(SET), "k", "newer", LAPSE_OK, "and another", TTL | SEES, 1000, 0, 3, 1000},
    {500, V(HISTORY), "k", "", LAPSE_OK, "all three", COUNT, 0, 0, 3, 0},
    {1000, V(GET), "k", "", LAPSE_OK, "the one before is current again", SEES, 0, 0, 2, 2000},
    {1000, V(LIST), "", "", LAPSE_OK, "and listed", COUNT, 0, 0, 1, 0},
    {2000, V(REAP), "", "", LAPSE_OK, "reaped or not", 0, 0, 0, 0, 0},
    {2000, V(GET), "k", "", LAPSE_OK, "and the one before that", SEES, 0, 0, 1, 0},
    {2000, V(UPDATE), "k", "v", LAPSE_OK, "no marker while one is left", IF | SEES, 0, 1, 4, 0},
};
static const struct step sweep[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", SEES, 0, 0, 1, 1000},
    {0, V(SET), "l", "v", LAPSE_OK, "written", SEES, 0, 0, 2, 1000},
    {1020, V(UPDATE), "k", "v", LAPSE_OK, "renewed 20 ms late", IF | SEES, 0, 1, 3, 2020},
    {1020, V(GET), "l", "", LAPSE_OK, "still seen", SEES, 0, 0, 2, 1000},
    {1030, V(REAP), "", "", LAPSE_OK, "swept", COUNT, 0, 0, 1, 0},
    {1030, V(GET), "l", "", LAPSE_ABSENT, "gone", 0, 0, 0, 0, 0},
    {1040, V(SET), "m", "v", LAPSE_OK, "written", 0, 0, 0, 0, 2040},
    {2020, V(GET), "k", "", LAPSE_OK, "ended, not seen", 0, 0, 0, 0, 0},
    {2020, V(REAP), "", "", LAPSE_OK, "swept", COUNT, 0, 0, 1, 0},
    {2269, V(REAP), "", "", LAPSE_OK, "too soon after the last", COUNT, 0, 0, 0, 0},
    {2269, V(GET), "m", "", LAPSE_OK, "so it is there", 0, 0, 0, 0, 2040},
    {2270, V(REAP), "", "", LAPSE_OK, "250 ms apart", COUNT, 0, 0, 1, 0},
    {2270, V(GET), "m", "", LAPSE_ABSENT, "gone", 0, 0, 0, 0, 0},
};
static const struct step again[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "written", SEES, 0, 0, 1, 0},
    {0, V(UPDATE), "k", "w", LAPSE_OK, "renewed under an id", IF | ID | SEES, 0, 1, 2, 0},
    {0, V(UPDATE), "k", "w", LAPSE_CONFLICT, "again: its condition comes first", IF | ID | SEES, 0,
     1, 2, 0},
};
static const struct step bounds[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "no longer than the bucket's age", TTL, 90000, 0, 0, 60000},
    {0, V(SET), "k", "v", LAPSE_OK, "whole seconds first", TTL, 5900, 0, 0, 5000},
    {0, V(EXPIRE), "k", "", LAPSE_OK, "nor by a later term", TTL, 90000, 0, 0, 60000},
    {0, V(SET), "k", "v", LAPSE_OK, "less than the markers' span, one record kept", TTL, 1000, 0, 0,
     1000},
};
static const struct step raised[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "raised to the markers' span", TTL, 1000, 0, 0, 2000},
    {0, V(SET), "k", "v", LAPSE_OK, "a longer one stays", TTL, 3000, 0, 0, 3000},
    {0, V(SET), "k", "v", LAPSE_OK, "none stays none", SEES, 0, 0, 3, 0},
};
/* A lock is a key there: its token is the revision of its last write, and who looks for what has
 * ended is told of a conflict. */
static const struct step locks[] = {
    {0, V(RELEASE), "l", "a", LAPSE_CONFLICT, "nothing was ever held", 0, 0, 0, 0, 0},
    {0, V(ACQUIRE), "l", "a", LAPSE_OK, "granted", SEES, 10, 0, 1, 10},
    {1, V(ACQUIRE), "l", "a", LAPSE_HELD, "refused to the owner itself", 0, 20, 0, 0, 10},
    {1, V(ACQUIRE), "l", "b", LAPSE_HELD, "and to another", 0, 20, 0, 0, 10},
    {2, V(EXTEND), "l", "a", LAPSE_OK, "a renewal is a write", SEES, 10, 0, 2, 12},
    {2, V(ACQUIRE), "m", "b", LAPSE_OK, "another name counts on", SEES, 10, 0, 3, 12},
    {3, V(EXTEND), "l", "a", LAPSE_OK, "and so does the next renewal", SEES, 10, 0, 4, 13},
    {3, V(RELEASE), "m", "a", LAPSE_NOT_OWNER, "another's", 0, 0, 0, 0, 0},
    {13, V(RELEASE), "l", "a", LAPSE_CONFLICT, "too late", 0, 0, 0, 0, 0},
    {13, V(EXTEND), "l", "a", LAPSE_LOST, "too late to renew", 0, 10, 0, 0, 0},
    {13, V(ACQUIRE), "l", "b", LAPSE_OK, "free", SEES, 10, 0, 5, 23},
    {14, V(RELEASE), "l", "b", LAPSE_OK, "released in time", 0, 0, 0, 0, 0},
    {14, V(RELEASE), "l", "b", LAPSE_CONFLICT, "once", 0, 0, 0, 0, 0},
    {14, V(ACQUIRE), "e", "a", LAPSE_OK, "for the tenure", EPHEMERAL | SEES | HELD, 10, 0, 6, 24},
    {15, V(ACQUIRE), "e", "a", LAPSE_HELD, "refused to its owner too", EPHEMERAL | HELD, 10, 0, 0,
     24},
    {15, V(EXTEND), "e", "a", LAPSE_OK, "no write stores its renewal", SEES | HELD, 10, 0, 6, 25},
    {15, V(ACQUIRE), "n", "a", LAPSE_OK, "above those too", SEES | HELD, 10, 0, 7, 25},
    {15, V(EXTEND), "n", "a", LAPSE_OK, "and renewed above them", SEES | HELD, 10, 0, 8, 25},
    {16, V(RELEASE), "e", "a", LAPSE_OK, "released", HELD, 0, 0, 0, 0},
    {16, V(RELEASE), "e", "a", LAPSE_CONFLICT, "and gone", HELD, 0, 0, 0, 0},
};
static const struct step ignored[] = {
    {0, V(SET), "k", "v", LAPSE_OK, "a term of its own is not seen", TTL, 5, 0, 0, 0},
    {9999, V(GET), "k", "", LAPSE_OK, "it never ends", 0, 0, 0, 0, 0},
};

Test(profile, nats_does_what_its_rules_say) {
    both(&TABLE(NATS, tombstones, TTL_OF(1000)));
    both(&TABLE(NATS, markers, TTL_OF(60000), .markers = {2000 * MS}));
    both(&TABLE(NATS, bounds, TTL_OF(60000), .markers = {2000 * MS}));
    both(&TABLE(NATS, raised, .markers = {2000 * MS}, .history = 3));
    both(&TABLE(NATS, locks, .history = 1));
    both(&TABLE(NATS, older, .markers = {1000 * MS}, .history = 3));
    both(&WITH(NATS, END_SEEN, 1, sweep, TTL_OF(1000)));
    both(&WITH(NATS, REQUEST, 1, again, .history = 1));
    both(&WITH(NATS, OWN_TERM, 2, ignored, .history = 1));
}

Test(profile, an_unused_ephemeral_lease_is_dropped_and_counts_anew) {
    const struct lapse_policies policies = lapse_policies_of(LAPSE_PROFILE_KAHUNA);
    const struct step one = {0, V(ACQUIRE), "l", "a", LAPSE_OK, "granted", EPHEMERAL, 9000000, 0, 0,
                             0};
    struct lapse_testing t;
    lapse_testing_open_policies(&t, NULL, 0, &policies);
    run_step(&t, &one);
    for (int i = 1; i < 500; i++) {
        struct step next = one;
        char name[8];
        (void)snprintf(name, sizeof(name), "%d", i % 200);
        next.name = name;
        next.at_ms = i < 499 ? 1 : 1800000;
        run_step(&t, &next);
    }
    struct step fresh = {1800000, V(ACQUIRE), "l", "b", LAPSE_OK, "gone, though it had not ended",
                         EPHEMERAL | SEES, 5, 0, 0, 0};
    run_step(&t, &fresh);
    lapse_testing_close(&t);
}

/* A store keeps the policies that it was made with, and says which those are. */
Test(profile, a_store_is_opened_with_the_policies_it_has_or_not_at_all) {
    for (int made = 0; made < LAPSE_PROFILES; made++) {
        struct lapse_testing_journal journal;
        struct lapse_testing t;
        struct lapse_policies policies = lapse_policies_of((enum lapse_profile)made);
        lapse_testing_journal_init(&journal);
        lapse_testing_open_policies(&t, &journal, 0, &policies);
        lapse_testing_bucket(&t, "b", 0, 0, 0);
        for (int asked = 0; asked < LAPSE_PROFILES; asked++) {
            struct lapse *other = NULL;
            struct lapse_options options = t.options;
            options.policies = lapse_policies_of((enum lapse_profile)asked);
            enum lapse_status status = lapse_open(&options, &other, &t.err);
            cr_assert_eq(status, made == asked ? LAPSE_OK : LAPSE_INVALID, "%s", t.err.message);
            if (status == LAPSE_INVALID) {
                cr_expect_not_null(
                    strstr(t.err.message, lapse_profile_word((enum lapse_profile)made)));
                cr_expect_not_null(
                    strstr(t.err.message, lapse_profile_word((enum lapse_profile)asked)));
            }
            lapse_close(other);
            journal.closed = false;
        }
        policies.value[LAPSE_POLICY_AT_END] = 9;
        t.options.policies = policies;
        struct lapse *none = NULL;
        cr_expect_eq(lapse_open(&t.options, &none, &t.err), LAPSE_INVALID);
        lapse_testing_close(&t);
        lapse_testing_journal_finish(&journal);
    }
}

static void run_table(const struct table *table, bool in_file) {
    struct lapse_policies policies = lapse_policies_of(table->profile);
    struct lapse_testing_dir dir;
    struct lapse_testing t;
    if (table->value != 0) {
        policies.value[table->policy] = table->value;
    }
    lapse_testing_open_policies(&t, NULL, 0, &policies);
    lapse_testing_dir_make(&dir);
    if (in_file) {
        reopen(&t, dir.file);
    }
    cr_assert_eq(lapse_bucket_open(t.store, lapse_bytes_of("b"), &table->bucket, &t.r, &t.err),
                 LAPSE_OK, "%s", t.err.message);
    for (size_t i = 0; i < table->count; i++) {
        run_step(&t, &table->steps[i]);
        if (in_file && (table->steps[i].given & HELD) == 0) {
            reopen(&t, dir.file);
        }
    }
    lapse_testing_close(&t);
    lapse_testing_dir_empty(&dir);
    lapse_testing_dir_remove(&dir);
}

static void reopen(struct lapse_testing *t, const char *path) {
    lapse_close(t->store);
    t->store = NULL;
    cr_assert_eq(lapse_open_file(path, &t->options, &t->store, &t->err), LAPSE_OK, "%s",
                 t->err.message);
}

static void run_step(struct lapse_testing *t, const struct step *step) {
    struct lapse_command command = {.verb = step->verb};
    bool lease = step->verb == LAPSE_VERB_ACQUIRE || step->verb == LAPSE_VERB_EXTEND ||
                 step->verb == LAPSE_VERB_RELEASE || step->verb == LAPSE_VERB_INSPECT;
    lapse_testing_at(t, step->at_ms * MS);
    if ((step->given & WALL) != 0) {
        lapse_clock_manual_step_wall(&t->clock, (struct lapse_span){step->span_ms * MS});
    }
    command.key = lapse_bytes_of(step->name);
    command.bucket = lapse_bytes_of(lease ? "" : "b");
    command.request = lapse_bytes_of((step->given & ID) != 0 ? "r" : "");
    if (lease) {
        command.u.lease.owner = lapse_bytes_of(step->text);
        command.u.lease.span.ns = step->span_ms * MS;
        command.u.lease.durability =
            (step->given & EPHEMERAL) != 0 ? LAPSE_EPHEMERAL : LAPSE_PERSISTENT;
    } else if (step->verb == LAPSE_VERB_REAP) {
        command.u.reap.rows_max = 100;
    } else if (lapse_command_class(&command) == LAPSE_CLASS_LOG) {
        command.u.write.value = lapse_bytes_of(step->text);
        command.u.write.term.given = step->given & TTL;
        command.u.write.term.ttl.ns = step->span_ms * MS;
        command.u.write.has_if_version = (step->given & IF) != 0;
        command.u.write.if_version = step->version;
    }
    enum lapse_status status = lapse_apply(t->store, &command, &t->r, &t->err);
    cr_assert_eq(status, step->status, "%s `%s` at %lld ms, %s: %s %s", lapse_verb_word(step->verb),
                 step->name, (long long)step->at_ms, step->rule, lapse_status_word(status),
                 status < LAPSE_OK ? t->err.message : "");
    int64_t seen = lease ? t->r.token : t->r.revision;
    seen = (step->given & COUNT) != 0 ? (int64_t)t->r.item_count : seen;
    cr_assert((step->given & (SEES | COUNT)) == 0 || seen == step->want,
              "%s `%s` at %lld ms, %s: %lld", lapse_verb_word(step->verb), step->name,
              (long long)step->at_ms, step->rule, (long long)seen);
    cr_assert(step->end_ms == 0 || t->r.end.ns == step->end_ms * MS,
              "%s `%s` at %lld ms, %s: it ends at %lld ns", lapse_verb_word(step->verb), step->name,
              (long long)step->at_ms, step->rule, (long long)t->r.end.ns);
    lapse_testing_check(t);
}
