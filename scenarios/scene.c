/* From a path to lines. A line is a call; what later moves do with it (it arrives, is answered,
 * lost, given up) is noted in it as they come, so the lines are written once the path is read. */
#include "scenarios/scene.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Spread: between two moves; and by how much less a grant is than in the path. */
enum { APART_NS = 10, SHORTER_NS = 50000, NEVER = -1, TEXT_MAX = 240 };

enum line_kind { LINE_CALL = 1, LINE_WRITE, LINE_FAULT };
struct line {
    enum line_kind kind;
    enum lapse_explore_kind move;
    int32_t client;
    int64_t at_ns, arrives_ns, told_ns, given_up_ns; /* NEVER */
    enum lapse_status status;
    int64_t save, token; /* numbers of acquires; 0: none */
    int64_t moved, for_ns; /* FAULT of a clock: grains in one grain */
    bool dropped;          /* its client crashes while it waits */
    bool lost;             /* a message of it is, by a move */
    bool stale;            /* of a grant that is over, so its answer is a definite no */
};

struct scene {
    const struct lapse_plan_explore *protocol;
    const struct lapse_explore_found *found;
    bool spread;
    const lapse_alloc *alloc;
    struct line *lines;
    size_t count, cap;
    /* By client: places of lines plus 1; 0: none. */
    size_t calls[LAPSE_EXPLORE_CLIENTS_MAX], late[LAPSE_EXPLORE_CLIENTS_MAX],
        writes[LAPSE_EXPLORE_CLIENTS_MAX];
    int64_t known[LAPSE_EXPLORE_CLIENTS_MAX]; /* the acquire whose answer it goes by */
    bool unsure[LAPSE_EXPLORE_CLIENTS_MAX];   /* a release of its owner was not answered */
    int64_t acquires;
    struct lapse_emitted *out;
    struct lapse_error *err;
};

static enum lapse_status read_step(struct scene *scene, size_t which);
static void drop_call(struct scene *scene, int32_t client);
static enum lapse_status read_call(struct scene *scene, size_t which, int64_t at_ns);
static void close_call(struct line *line, int64_t at_ns);
static void close_calls(struct scene *scene);
static void read_message(struct scene *scene, size_t which, int64_t at_ns);
static void answer(struct scene *scene, struct line *line, int32_t client, int64_t at_ns);
static enum lapse_status read_clocks(struct scene *scene, size_t which);
static struct line *add(struct scene *scene, enum line_kind kind, enum lapse_explore_kind move,
                        int32_t client, int64_t at_ns);
static int64_t instant(const struct scene *scene, size_t which);
static void write_scene(struct scene *scene, const char *name);
static void write_line(struct scene *scene, const struct line *line);
static void write_call(struct scene *scene, const struct line *line);
static void write_fault(struct scene *scene, const struct line *line);
static void write_messages(struct scene *scene, const struct line *line);
static void write_end(struct scene *scene);
static void put(struct scene *scene, const char *format, ...) LAPSE_PRINTF(2, 3);
static const char *span(int64_t ns, char *buf);

enum lapse_status lapse_scene_write(const lapse_alloc *alloc,
                                    const struct lapse_plan_explore *protocol,
                                    const struct lapse_explore_found *found, const char *name,
                                    bool spread, struct lapse_emitted *ret,
                                    struct lapse_error *err) {
    struct scene scene = {.protocol = protocol,
                          .found = found,
                          .spread = spread,
                          .alloc = alloc,
                          .out = ret,
                          .err = err};
    *ret = (struct lapse_emitted){.alloc = alloc};
    enum lapse_status status = LAPSE_OK;
    for (size_t i = 0; i < found->step_count && status == LAPSE_OK; i++) {
        status = read_step(&scene, i);
    }
    if (status == LAPSE_OK) {
        close_calls(&scene);
        write_scene(&scene, name);
        status = ret->text == NULL ? lapse_error_set(err, LAPSE_NOMEM, "no memory for a scenario")
                                   : LAPSE_OK;
    }
    lapse_alloc_free(alloc, scene.lines, scene.cap * sizeof(*scene.lines));
    if (status != LAPSE_OK) {
        lapse_emitted_free(ret);
    }
    return status;
}

static enum lapse_status read_step(struct scene *scene, size_t which) {
    const struct lapse_explore_step *step = &scene->found->steps[which];
    int64_t at_ns = instant(scene, which);
    switch (step->kind) {
    case LAPSE_MOVE_TICK:
        return read_clocks(scene, which);
    case LAPSE_MOVE_ACQUIRE:
    case LAPSE_MOVE_EXTEND:
    case LAPSE_MOVE_RELEASE:
    case LAPSE_MOVE_WRITE:
        return read_call(scene, which, at_ns);
    case LAPSE_MOVE_PAUSE:
    case LAPSE_MOVE_WAKE:
        return add(scene, LINE_FAULT, step->kind, step->client, at_ns) == NULL ? LAPSE_NOMEM
                                                                              : LAPSE_OK;
    case LAPSE_MOVE_CRASH:
        if (add(scene, LINE_FAULT, step->kind, step->client, at_ns) == NULL) {
            return LAPSE_NOMEM;
        }
        drop_call(scene, step->client);
        return LAPSE_OK;
    default:
        read_message(scene, which, at_ns);
        return LAPSE_OK;
    }
}

/* Nobody waits for the call any more. Its request may still arrive; if it has, one that was given
 * up before may. Of an acquire that was given up the path never forgets, so beside one the call is
 * of those that the path says no more of. */
static void drop_call(struct scene *scene, int32_t client) {
    size_t slot = scene->calls[client];
    scene->unsure[client] = false;
    scene->calls[client] = 0;
    if (slot > 0) {
        scene->lines[slot - 1].dropped = true;
        size_t late = scene->late[client];
        bool arrived = scene->lines[slot - 1].arrives_ns != NEVER;
        bool acquire = late > 0 && scene->lines[late - 1].move == LAPSE_MOVE_ACQUIRE;
        scene->late[client] = arrived || acquire ? late : slot;
    }
}

static enum lapse_status read_call(struct scene *scene, size_t which, int64_t at_ns) {
    const struct lapse_explore_step *step = &scene->found->steps[which];
    int32_t who = step->client;
    bool acquire = step->kind == LAPSE_MOVE_ACQUIRE, write = step->kind == LAPSE_MOVE_WRITE;
    if (acquire && scene->unsure[who] && scene->protocol->fresh_owner) {
        return lapse_error_set(scene->err, LAPSE_INVALID,
                               "a client asks under a fresh owner text, and an actor has one text "
                               "for each incarnation");
    }
    if (!write && scene->calls[who] > 0) {
        close_call(&scene->lines[scene->calls[who] - 1], at_ns);
    }
    struct line *line =
        add(scene, write ? LINE_WRITE : LINE_CALL, step->kind, who, at_ns);
    if (line == NULL) {
        return lapse_error_set(scene->err, LAPSE_NOMEM, "no memory for a scenario");
    }
    line->save = acquire ? ++scene->acquires : 0;
    line->token = acquire ? 0 : scene->known[who];
    (write ? scene->writes : scene->calls)[who] = scene->count;
    if (step->asked) {
        line->arrives_ns = at_ns;
        line->status = step->status;
        line->lost = step->reply_lost;
        if (!step->reply_lost) {
            answer(scene, line, who, at_ns);
        }
    }
    scene->unsure[who] = scene->unsure[who] || (step->kind == LAPSE_MOVE_RELEASE &&
                                                step->reply_lost);
    return LAPSE_OK;
}

/* A path says no more of what can change nothing: a call with the token of a grant that is over,
 * and an answer after which its client may not act. So nothing is said of when it arrives. */
static void close_call(struct line *line, int64_t at_ns) {
    bool open = line->kind == LINE_CALL && line->told_ns == NEVER && line->given_up_ns == NEVER &&
                !line->lost;
    if (!open || (line->dropped && line->arrives_ns != NEVER)) {
        return;
    }
    if (line->arrives_ns == NEVER) {
        line->arrives_ns = at_ns;
        line->stale = true;
    }
    line->told_ns = line->dropped ? NEVER : at_ns;
}

/* At the end of a walk nothing is under way any more. Where something was found a path may end in
 * the middle of a call. */
static void close_calls(struct scene *scene) {
    const struct lapse_explore_found *found = scene->found;
    if (found->what != LAPSE_BREAK_NONE || found->step_count == 0) {
        return;
    }
    const struct lapse_explore_step *last = &found->steps[found->step_count - 1];
    bool ticks = last->kind == LAPSE_MOVE_TICK;
    int64_t at_ns = ticks ? last->tick * scene->protocol->grain_ns
                          : instant(scene, found->step_count - 1) + APART_NS;
    for (size_t i = 0; i < scene->count; i++) {
        close_call(&scene->lines[i], at_ns);
    }
}

/* A move about what is under way. */
static void read_message(struct scene *scene, size_t which, int64_t at_ns) {
    const struct lapse_explore_step *step = &scene->found->steps[which];
    int32_t who = step->client;
    bool late = step->kind == LAPSE_MOVE_LATE || step->kind == LAPSE_MOVE_LOSE_LATE;
    bool write = step->kind == LAPSE_MOVE_LAND || step->kind == LAPSE_MOVE_LOSE_WRITE;
    size_t *slot = &(late ? scene->late : write ? scene->writes : scene->calls)[who];
    if (*slot == 0) {
        return;
    }
    struct line *line = &scene->lines[*slot - 1];
    bool gives_up = step->kind == LAPSE_MOVE_GIVE_UP || step->kind == LAPSE_MOVE_LOSE_CALL;
    switch (step->kind) {
    case LAPSE_MOVE_ARRIVE:
        line->arrives_ns = at_ns;
        line->status = step->status;
        if (line->move == LAPSE_MOVE_RELEASE ||
            (step->status != LAPSE_OK && line->move != LAPSE_MOVE_EXTEND)) {
            answer(scene, line, who, at_ns); /* an answer that changes nothing */
        }
        break;
    case LAPSE_MOVE_REPLY:
        answer(scene, line, who, at_ns);
        break;
    case LAPSE_MOVE_LATE:
    case LAPSE_MOVE_LAND:
        line->arrives_ns = at_ns;
        line->status = step->status;
        *slot = 0;
        break;
    default: /* lost, or given up */
        line->lost = step->kind != LAPSE_MOVE_GIVE_UP;
        scene->unsure[who] =
            scene->unsure[who] || (gives_up && line->move == LAPSE_MOVE_RELEASE);
        line->given_up_ns = gives_up ? at_ns : line->given_up_ns;
        if (step->kind == LAPSE_MOVE_GIVE_UP && line->arrives_ns == NEVER) {
            scene->late[who] = *slot;
        }
        *slot = 0;
    }
}

static void answer(struct scene *scene, struct line *line, int32_t client, int64_t at_ns) {
    line->told_ns = at_ns;
    if (line->move == LAPSE_MOVE_ACQUIRE && line->status == LAPSE_OK) {
        scene->known[client] = line->save;
    }
    if (line->kind == LINE_CALL) {
        scene->calls[client] = 0;
    }
}

/* In the grain before this instant a clock went faster or slower than true time. */
static enum lapse_status read_clocks(struct scene *scene, size_t which) {
    const struct lapse_explore_step *step = &scene->found->steps[which];
    for (int32_t i = 0; i < scene->protocol->clients; i++) {
        if (step->clock[i] == 1) {
            continue;
        }
        if (step->clock[i] > 2) {
            return lapse_error_set(scene->err, LAPSE_INVALID,
                                   "a clock moves by %d grains in one, and no rate is above twice "
                                   "true time",
                                   (int)step->clock[i]);
        }
        struct line *line = add(scene, LINE_FAULT, step->kind, i,
                                (step->tick - 1) * scene->protocol->grain_ns);
        if (line == NULL) {
            return lapse_error_set(scene->err, LAPSE_NOMEM, "no memory for a scenario");
        }
        line->moved = step->clock[i];
        line->for_ns = scene->protocol->grain_ns;
    }
    return LAPSE_OK;
}

static struct line *add(struct scene *scene, enum line_kind kind, enum lapse_explore_kind move,
                        int32_t client, int64_t at_ns) {
    void *lines = scene->lines;
    if (!lapse_alloc_grow(scene->alloc, &lines, &scene->cap, scene->count + 1,
                          sizeof(*scene->lines))) {
        return NULL;
    }
    scene->lines = lines;
    struct line *line = &scene->lines[scene->count++];
    *line = (struct line){.kind = kind,
                          .move = move,
                          .client = client,
                          .at_ns = at_ns,
                          .arrives_ns = NEVER,
                          .told_ns = NEVER,
                          .given_up_ns = NEVER};
    return line;
}

static int64_t instant(const struct scene *scene, size_t which) {
    const struct lapse_explore_step *steps = scene->found->steps;
    int64_t before = 0;
    while (scene->spread && which > 0 && steps[which - 1].kind != LAPSE_MOVE_TICK) {
        which--;
        before++;
    }
    return steps[which].tick * scene->protocol->grain_ns + before * APART_NS;
}

static void write_scene(struct scene *scene, const char *name) {
    const struct lapse_plan_explore *protocol = scene->protocol;
    char text[LAPSE_TIME_TEXT_MAX];
    put(scene, "lapse: 1\nname: '");
    for (const char *at = name; *at != '\0'; at++) {
        put(scene, *at == '\'' ? "''" : "%c", *at);
    }
    put(scene, "'\nactors: {");
    for (int32_t i = 0; i < protocol->clients; i++) {
        put(scene, "%sc%d: {", i > 0 ? ", " : "", (int)i + 1);
        if (protocol->careful) {
            put(scene, "careful: true");
        }
        if (protocol->careful && protocol->margin_ns > 0) {
            put(scene, ", margin: %s", span(protocol->margin_ns, text));
        }
        put(scene, "}");
    }
    put(scene, "}\n");
    if (protocol->resource != LAPSE_EXPLORE_NO_RESOURCE) {
        put(scene, "resources: {report: {fenced: %s}}\n",
            protocol->resource == LAPSE_EXPLORE_FENCED ? "true" : "false");
    }
    /* Lines of `steps` stand in the order of their instants, and those of clocks are found late. */
    put(scene, "steps:\n");
    int64_t done_ns = -1;
    for (bool more = true; more;) {
        int64_t next_ns = INT64_MAX;
        for (size_t i = 0; i < scene->count; i++) {
            int64_t at_ns = scene->lines[i].at_ns;
            next_ns = at_ns > done_ns && at_ns < next_ns ? at_ns : next_ns;
        }
        more = next_ns < INT64_MAX;
        for (size_t i = 0; i < scene->count && more; i++) {
            if (scene->lines[i].at_ns == next_ns) {
                write_line(scene, &scene->lines[i]);
            }
        }
        done_ns = next_ns;
    }
    write_end(scene);
}

static void write_line(struct scene *scene, const struct line *line) {
    char text[LAPSE_TIME_TEXT_MAX];
    put(scene, "  - {at: %s, ", span(line->at_ns, text));
    if (line->kind == LINE_FAULT) {
        write_fault(scene, line);
    } else {
        write_call(scene, line);
    }
    put(scene, "}\n");
}

static void write_call(struct scene *scene, const struct line *line) {
    char text[LAPSE_TIME_TEXT_MAX];
    int64_t for_ns = scene->protocol->span_ns - (scene->spread ? SHORTER_NS : 0);
    put(scene, "by: c%d, ", (int)line->client + 1);
    switch (line->move) {
    case LAPSE_MOVE_ACQUIRE:
        put(scene, "acquire: jobs/x, for: %s, save: t%d", span(for_ns, text), (int)line->save);
        break;
    case LAPSE_MOVE_EXTEND:
        put(scene, "extend: jobs/x, for: %s, token: $t%d", span(for_ns, text), (int)line->token);
        break;
    case LAPSE_MOVE_RELEASE:
        put(scene, "release: jobs/x, token: $t%d", (int)line->token);
        break;
    default:
        put(scene, "write: report, value: c%d, token: $t%d", (int)line->client + 1,
            (int)line->token);
    }
    write_messages(scene, line);
}

/* What becomes of a call's messages, and what is to be seen of it. */
static void write_messages(struct scene *scene, const struct line *line) {
    char text[LAPSE_TIME_TEXT_MAX];
    bool write = line->kind == LINE_WRITE;
    bool told = line->told_ns != NEVER || (write && line->arrives_ns != NEVER);
    put(scene, ", nowait: true");
    if (line->arrives_ns == NEVER) {
        put(scene, ", request: lost");
    } else if (line->arrives_ns > line->at_ns) {
        put(scene, ", request: %s", span(line->arrives_ns - line->at_ns, text));
    }
    if (line->arrives_ns != NEVER && !told) {
        put(scene, ", reply: lost");
    } else if (told && line->told_ns > line->arrives_ns) {
        put(scene, ", reply: %s", span(line->told_ns - line->arrives_ns, text));
    }
    if (!told && line->dropped) {
        return; /* nobody is left to wait for an answer */
    }
    if (!told) {
        int64_t waits_ns = line->given_up_ns - line->at_ns;
        put(scene, ", timeout: %s, expect: unknown",
            span(line->given_up_ns == NEVER || waits_ns <= 0 ? 1 : waits_ns, text));
    } else if (line->stale) {
        put(scene, ", expect: [%s, not_owner]",
            line->move == LAPSE_MOVE_RELEASE ? "absent" : "lost");
    } else if (line->status != LAPSE_OK) {
        put(scene, ", expect: %s", lapse_status_word(line->status));
    }
}

static void write_fault(struct scene *scene, const struct line *line) {
    char text[LAPSE_TIME_TEXT_MAX];
    int who = (int)line->client + 1;
    switch (line->move) {
    case LAPSE_MOVE_PAUSE:
        put(scene, "pause: c%d", who);
        break;
    case LAPSE_MOVE_WAKE:
        put(scene, "resume: c%d", who);
        break;
    case LAPSE_MOVE_CRASH:
        put(scene, "crash: c%d, for: 1ns", who);
        break;
    default:
        if (line->moved == 0) {
            put(scene, "clock: c%d, mono: stop, for: %s", who, span(line->for_ns, text));
        } else {
            /* The language has no clock that is twice as fast, only one that is nearly so. */
            put(scene, "clock: c%d, rate: +999999999ppb, for: %s", who, span(line->for_ns, text));
        }
    }
}

/* Where two may act no call fails: a look at them does. */
static void write_end(struct scene *scene) {
    const struct lapse_explore_found *found = scene->found;
    char text[LAPSE_TIME_TEXT_MAX];
    if (found->what != LAPSE_BREAK_TWO_ACT) {
        return;
    }
    int64_t at_ns = instant(scene, found->step_count - 1) + (scene->spread ? APART_NS : 0);
    put(scene, "  - {at: %s, may: jobs/x, who: [c%d]}\n", span(at_ns, text),
        (int)found->steps[found->step_count - 1].client + 1);
}

static void put(struct scene *scene, const char *format, ...) {
    struct lapse_emitted *out = scene->out;
    char text[TEXT_MAX];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (len < 0 || (size_t)len >= sizeof(text)) {
        return;
    }
    void *grown = out->text;
    if (!lapse_alloc_grow(out->alloc, &grown, &out->cap, out->bytes + (size_t)len + 1, 1)) {
        return;
    }
    out->text = grown;
    memcpy(out->text + out->bytes, text, (size_t)len + 1);
    out->bytes += (size_t)len;
}

static const char *span(int64_t ns, char *buf) {
    return lapse_span_print((struct lapse_span){ns}, buf);
}
