/* The one place that knows what is outside the contract and what is judged there. */
#include "contracts/outside.h"

#include <stdio.h>
#include <string.h>

/* X(kind, ids): what is still judged; NULL: all rules are (a wall beyond its bound takes a part of
 * some rules out of judgement, not a rule). */
#define OUTSIDE_TABLE(X)                                \
    X(CLOCK, "KV-04 FENCE-01 FENCE-03 REPL-01")         \
    X(FROZEN, "KV-04 FENCE-01 FENCE-03 REPL-01")        \
    X(WALL, NULL)                                       \
    X(LIES, "DUR-06")                                   \
    X(ROT, "DUR-06")                                    \
    X(OLD, "")                                          \
    X(SHIFTED, "CAS-04 FENCE-01")                       \
    X(OWNER, "FENCE-03")

static const char *const judged[LAPSE_OUTSIDE_KINDS] = {
#define OUTSIDE_ROW(kind, ids) [LAPSE_OUTSIDE_##kind] = (ids),
    OUTSIDE_TABLE(OUTSIDE_ROW)
#undef OUTSIDE_ROW
};

static void begin(struct lapse_outside *outside, const struct lapse_setup *setup);
static void take_clock(struct lapse_outside *outside, const struct lapse_history_event *event);
static void take_fault(struct lapse_outside *outside, const struct lapse_history_event *event);
static void take_reading(struct lapse_outside *outside, const struct lapse_history_event *event,
                         struct lapse_party whose, const struct lapse_reading *reading);
static void take_wall(struct lapse_outside *outside, const struct lapse_history_event *event,
                      struct lapse_party whose, struct lapse_wall wall);
static void take_owner(struct lapse_outside *outside, const struct lapse_history_event *event);
static void mark(struct lapse_outside *outside, enum lapse_outside_kind kind,
                 const struct lapse_history_event *event, struct lapse_party whose);
static bool lists(const char *ids, const char *id);
static struct lapse_bytes name_of(const struct lapse_setup *setup, struct lapse_party whose);
static void put_rate(int64_t ppb, char *buf, size_t cap);

void lapse_outside_take(struct lapse_outside *outside, const struct lapse_history_event *event) {
    const struct lapse_party node = {LAPSE_PARTY_NODE, 0};
    if (event->kind == LAPSE_HISTORY_BEGIN) {
        begin(outside, event->u.begin);
        return;
    }
    if (outside->setup == NULL) {
        return;
    }
    if (event->actor >= 0) {
        struct lapse_party actor = {LAPSE_PARTY_ACTOR, event->actor};
        take_wall(outside, event, actor, event->actor_wall);
    }
    switch (event->kind) {
    case LAPSE_HISTORY_CLOCK:
        take_clock(outside, event);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
        take_fault(outside, event);
        break;
    case LAPSE_HISTORY_APPLY:
        take_reading(outside, event, node, &event->u.apply.reading);
        break;
    case LAPSE_HISTORY_STEP:
        take_reading(outside, event, node, &event->u.step.reading);
        break;
    case LAPSE_HISTORY_TENURE:
        take_reading(outside, event, node, &event->u.tenure.reading);
        if (event->u.tenure.restored != LAPSE_RESTORED_NO) {
            bool old = event->u.tenure.restored == LAPSE_RESTORED_OLD;
            mark(outside, old ? LAPSE_OUTSIDE_OLD : LAPSE_OUTSIDE_SHIFTED, event, node);
        }
        break;
    case LAPSE_HISTORY_INVOKE:
        take_owner(outside, event);
        break;
    default:
        break;
    }
}

bool lapse_outside_judges(const struct lapse_outside *outside, const char *id) {
    for (size_t i = 0; outside->count > 0 && i < LAPSE_OUTSIDE_KINDS; i++) {
        if (outside->marks[i].by != NULL && judged[i] != NULL && !lists(judged[i], id)) {
            return false;
        }
    }
    return true;
}

char *lapse_outside_say(const struct lapse_outside *outside, enum lapse_outside_kind kind,
                        char *buf) {
    const struct lapse_outside_mark *said = &outside->marks[kind];
    LAPSE_ASSERT(said->by != NULL);
    struct lapse_bytes name = name_of(outside->setup, said->whose);
    char at[LAPSE_TIME_TEXT_MAX], bound[LAPSE_TIME_TEXT_MAX];
    bool still = said->by->kind == LAPSE_HISTORY_CLOCK && said->by->u.clock.stopped;
    const char *form = "%.*s frozen from %s";
    (void)lapse_span_print((struct lapse_span){said->by->at.ns}, at);
    switch (kind) {
    case LAPSE_OUTSIDE_CLOCK:
        put_rate(outside->setup->rate_ppb, bound, sizeof(bound));
        (void)snprintf(buf, LAPSE_OUTSIDE_TEXT_MAX,
                       still ? "clock of %.*s stands still, from %s on"
                             : "clock of %.*s beyond %s from %s",
                       (int)name.len, (const char *)name.data, still ? at : bound, at);
        return buf;
    case LAPSE_OUTSIDE_WALL:
        (void)lapse_span_print(outside->setup->wall_bound, bound);
        (void)snprintf(buf, LAPSE_OUTSIDE_TEXT_MAX, "wall clock of %.*s beyond %s from %s",
                       (int)name.len, (const char *)name.data, bound, at);
        return buf;
    case LAPSE_OUTSIDE_LIES:
        form = "syncs of %.*s lie from %s";
        break;
    case LAPSE_OUTSIDE_ROT:
        form = "bits on the disk of %.*s flip from %s";
        break;
    case LAPSE_OUTSIDE_OLD:
        form = "%.*s runs on an old copy from %s";
        break;
    case LAPSE_OUTSIDE_SHIFTED:
        form = "%.*s runs on an old copy, restored, from %s";
        break;
    case LAPSE_OUTSIDE_OWNER:
        form = "owner text of %.*s stands for two incarnations from %s";
        break;
    default:
        break;
    }
    (void)snprintf(buf, LAPSE_OUTSIDE_TEXT_MAX, form, (int)name.len, (const char *)name.data, at);
    return buf;
}

static void begin(struct lapse_outside *outside, const struct lapse_setup *setup) {
    outside->setup = setup;
    for (size_t i = 0; i < setup->actor_count; i++) {
        outside->owners = outside->owners || setup->actors[i].owner.len > 0;
    }
}

/* A raw clock may begin anywhere, but it never jumps while it runs. */
static void take_clock(struct lapse_outside *outside, const struct lapse_history_event *event) {
    int64_t rate = event->u.clock.rate_ppb;
    bool jumps = event->at.ns > 0 && event->u.clock.before.boot == event->u.clock.after.boot &&
                 event->u.clock.before.raw_ns != event->u.clock.after.raw_ns;
    int64_t bound = outside->setup->rate_ppb;
    if (jumps || event->u.clock.stopped || rate > bound || rate < -bound) {
        mark(outside, LAPSE_OUTSIDE_CLOCK, event, event->u.clock.whose);
    }
    take_wall(outside, event, event->u.clock.whose, event->u.clock.after.wall);
}

static void take_fault(struct lapse_outside *outside, const struct lapse_history_event *event) {
    struct lapse_party whose = {LAPSE_PARTY_NODE, event->u.fault.node};
    if (event->u.fault.node < 0) {
        whose = (struct lapse_party){LAPSE_PARTY_ACTOR, event->actor};
    }
    if (event->u.fault.kind == LAPSE_FAULT_FREEZE) {
        mark(outside, LAPSE_OUTSIDE_FROZEN, event, whose);
    } else if (event->u.fault.kind == LAPSE_FAULT_DISK) {
        if (event->u.fault.disk == LAPSE_DISK_SYNC_LIES) {
            mark(outside, LAPSE_OUTSIDE_LIES, event, whose);
        } else if (event->u.fault.disk == LAPSE_DISK_ROT) {
            mark(outside, LAPSE_OUTSIDE_ROT, event, whose);
        }
    }
}

/* A raw clock that has come to the end of its range stands still there. */
static void take_reading(struct lapse_outside *outside, const struct lapse_history_event *event,
                         struct lapse_party whose, const struct lapse_reading *reading) {
    if (reading->raw_ns == INT64_MAX) {
        mark(outside, LAPSE_OUTSIDE_CLOCK, event, whose);
    }
    take_wall(outside, event, whose, reading->wall);
}

/* Only where a bound was declared: else nothing is claimed of dates in true time. */
static void take_wall(struct lapse_outside *outside, const struct lapse_history_event *event,
                      struct lapse_party whose, struct lapse_wall wall) {
    struct lapse_wall right = {INT64_MAX};
    int64_t bound = outside->setup->wall_bound.ns;
    if (bound <= 0) {
        return;
    }
    (void)lapse_ns_add(outside->setup->epoch.ns, event->at.ns, &right.ns);
    int64_t off = lapse_wall_between(right, wall).ns;
    if (off <= bound && off >= -bound) {
        return;
    }
    outside->node_wall = outside->node_wall || whose.kind == LAPSE_PARTY_NODE;
    mark(outside, LAPSE_OUTSIDE_WALL, event, whose);
}

/* An owner text that the actor has had before, or that another one has too. */
static void take_owner(struct lapse_outside *outside, const struct lapse_history_event *event) {
    const struct lapse_setup *setup = outside->setup;
    int verb = event->u.invoke.request.verb;
    if (!outside->owners || event->actor < 0 || outside->marks[LAPSE_OUTSIDE_OWNER].by != NULL ||
        (verb != LAPSE_VERB_ACQUIRE && verb != LAPSE_VERB_SESSION)) {
        return;
    }
    const struct lapse_setup_actor *who = &setup->actors[event->actor];
    bool fixed = who->owner.len > 0;
    bool shared = fixed && event->incarnation > 1;
    for (size_t i = 0; i < setup->actor_count && !shared; i++) {
        const struct lapse_setup_actor *other = &setup->actors[i];
        struct lapse_bytes own = fixed ? who->owner : who->name;
        struct lapse_bytes text = other->owner.len > 0 ? other->owner : other->name;
        shared = i != (size_t)event->actor && lapse_bytes_equal(own, text);
    }
    if (shared) {
        mark(outside, LAPSE_OUTSIDE_OWNER, event,
             (struct lapse_party){LAPSE_PARTY_ACTOR, event->actor});
    }
}

static void mark(struct lapse_outside *outside, enum lapse_outside_kind kind,
                 const struct lapse_history_event *event, struct lapse_party whose) {
    if (outside->marks[kind].by == NULL) {
        outside->marks[kind] = (struct lapse_outside_mark){event, whose};
        outside->count++;
    }
}

static bool lists(const char *ids, const char *id) {
    size_t len = strlen(id);
    for (const char *found = strstr(ids, id); found != NULL; found = strstr(found + len, id)) {
        if ((found == ids || found[-1] == ' ') && (found[len] == ' ' || found[len] == '\0')) {
            return true;
        }
    }
    return false;
}

static struct lapse_bytes name_of(const struct lapse_setup *setup, struct lapse_party whose) {
    switch (whose.kind) {
    case LAPSE_PARTY_ACTOR:
        return setup->actors[whose.index].name;
    case LAPSE_PARTY_RESOURCE:
        return setup->resources[whose.index].name;
    case LAPSE_PARTY_NODE:
        break;
    }
    return setup->nodes[whose.index];
}

static void put_rate(int64_t ppb, char *buf, size_t cap) {
    bool million = ppb % 1000 == 0;
    (void)snprintf(buf, cap, million ? "%lldppm" : "%lldppb",
                   (long long)(million ? ppb / 1000 : ppb));
}
