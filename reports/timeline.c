/* The text timeline: what stood, who believed what, and the instant that failed, on one true time
 * axis. Belief is drawn beside truth, because most lease bugs are the difference of the two. */
#include <stdio.h>
#include <string.h>

#include "timeline.h"

enum {
    LABEL_MIN = 6,
    LABEL_MAX = 18,
    COLUMNS_MIN = 40,
    COLUMNS_MAX = 200,
    LANES_MAX = 4,
    KEYS_MAX = 2,
    FOCUS_MAX = 6, /* lanes that the failing event is about */
    ACTORS_MAX = 6,
    RESOURCES_MAX = 3,
    VERBS = 128,
    WHO_COLUMNS_MAX = 32,
    CUT_COLUMNS_MIN = 8, /* less of a value says nothing */
    CELL_BYTES = 5       /* a code point and a NUL */
};

struct drawing {
    struct lapse_out *out;
    const struct lapse_style *style;
    struct lapse_lanes lanes;
    struct lapse_axis axis;
    int label; /* columns of the labels */
    struct lapse_out *axis_line;
    char row[COLUMNS_MAX][CELL_BYTES];
    bool letters[VERBS]; /* used, for the legend */
    bool states[VERBS];  /* by character */
    size_t left_out;     /* lanes folded away */
    const char *id;      /* what failed */
};

static bool anything_happens(const struct lapse_lanes *lanes);
static void axis_prepare(struct drawing *drawing);
static int label_columns(const struct drawing *drawing);
static void draw_axis(struct drawing *drawing);
static void axis_labels(struct drawing *drawing, size_t index, int *at);
static void draw_lanes(struct drawing *drawing);
static void lanes_choose(struct lapse_lanes *lanes);
static void draw_bar(struct drawing *drawing, const struct lapse_bar *bar);
static void bar_label(struct drawing *drawing, const struct lapse_bar *bar, int from, int to);
static bool bar_label_put(struct drawing *drawing, int from, int to, const char *text);
static int bar_room(const struct drawing *drawing, int from, int to, int columns, int *ret_from);
static void bar_text(const struct lapse_lanes *lanes, const struct lapse_bar *bar, bool brief,
                     struct lapse_out *out);
static void draw_actors(struct drawing *drawing);
static bool actor_shown(const struct lapse_lanes *lanes, int32_t actor);
static bool resource_shown(const struct lapse_lanes *lanes, size_t resource);
static void actor_states(struct drawing *drawing, int32_t actor);
static char actor_state(const struct drawing *drawing, int32_t actor, int64_t at);
static void actor_letters(struct drawing *drawing, int32_t actor);
static void draw_nodes(struct drawing *drawing);
static void draw_resources(struct drawing *drawing);
static void resource_row(struct drawing *drawing, int32_t resource);
static void draw_mark(struct drawing *drawing);
static void draw_legend(struct drawing *drawing);
static void row_clear(struct drawing *drawing);
static void row_breaks(struct drawing *drawing);
static void row_print(struct drawing *drawing, struct lapse_bytes label);
static void row_put(struct drawing *drawing, int column, const char *text);
static char verb_letter(int verb);

void lapse_timeline_draw(struct lapse_out *out, const struct lapse_result_view *view, int64_t event,
                         const struct lapse_style *style) {
    struct drawing drawing;
    memset(&drawing, 0, sizeof drawing);
    drawing.out = out;
    drawing.style = style;
    drawing.id = view->verdict->id;
    lapse_lanes_collect(&drawing.lanes, out->alloc, view, event);
    if (drawing.lanes.failed) {
        out->failed = true;
    } else if (anything_happens(&drawing.lanes)) {
        lanes_choose(&drawing.lanes);
        axis_prepare(&drawing);
        draw_axis(&drawing);
        draw_lanes(&drawing);
        draw_actors(&drawing);
        draw_nodes(&drawing);
        draw_resources(&drawing);
        draw_mark(&drawing);
        draw_legend(&drawing);
    }
    lapse_lanes_free(&drawing.lanes);
}

/* A run without a call has an axis and nothing on it, unless an observer's look failed. */
static bool anything_happens(const struct lapse_lanes *lanes) {
    if (lanes->failing != NULL && lanes->failing->kind == LAPSE_HISTORY_PROBE) {
        return true;
    }
    return lanes->instant_count > 1 &&
           (lanes->lane_count > 0 || lanes->stretch_count > 0 || lanes->calls_cap > 0);
}

static void axis_prepare(struct drawing *drawing) {
    drawing->label = label_columns(drawing);
    /* The last instant's token may need a few columns more. */
    int columns = drawing->style->width - drawing->label - 4 - 4;
    columns = columns < COLUMNS_MIN ? COLUMNS_MIN : columns > COLUMNS_MAX ? COLUMNS_MAX : columns;
    lapse_axis_fit(&drawing->axis, drawing->lanes.instants, drawing->lanes.instant_count, columns);
}

static int label_wider(int columns, struct lapse_bytes a, struct lapse_bytes b) {
    int wanted = lapse_columns_of((const char *)a.data, a.len) + (a.len > 0 ? 1 : 0) +
                 lapse_columns_of((const char *)b.data, b.len);
    wanted = wanted > LABEL_MAX ? LABEL_MAX : wanted;
    return wanted > columns ? wanted : columns;
}

static int label_columns(const struct drawing *drawing) {
    const struct lapse_lanes *lanes = &drawing->lanes;
    const struct lapse_bytes none = {NULL, 0};
    int columns = LABEL_MIN;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        if (lanes->lanes[i].shown) {
            columns = label_wider(columns, lanes->lanes[i].bucket, lanes->lanes[i].name);
        }
    }
    for (size_t i = 0; i < lanes->setup->actor_count; i++) {
        if (actor_shown(lanes, (int32_t)i)) {
            columns = label_wider(columns, none, lanes->setup->actors[i].name);
        }
    }
    for (size_t i = 0; i < lanes->setup->resource_count; i++) {
        if (resource_shown(lanes, i)) {
            columns = label_wider(columns, none, lanes->setup->resources[i].name);
        }
    }
    return columns;
}

static void draw_axis(struct drawing *drawing) {
    const struct lapse_axis *axis = &drawing->axis;
    struct lapse_out line;
    lapse_out_init(&line, drawing->out->alloc);
    lapse_out_repeat(&line, ' ', drawing->label + 4);
    int at = 0;
    for (size_t i = 0; i < axis->part_count; i++) {
        const struct lapse_axis_part *part = &axis->parts[i];
        if (part->gap > 0) {
            lapse_out_repeat(&line, ' ', part->column - part->gap + 1 - at);
            lapse_out_format(&line, LAPSE_AXIS_MARK "%s" LAPSE_AXIS_MARK, part->length);
            at = part->column - 1;
        }
        drawing->axis_line = &line;
        axis_labels(drawing, i, &at);
    }
    lapse_out_paint(drawing->out, drawing->style, LAPSE_PAINT_FRAME);
    lapse_out_bytes(drawing->out, line.text, line.len);
    lapse_out_paint(drawing->out, drawing->style, LAPSE_PAINT_RESET);
    lapse_out_text(drawing->out, "\n");
    drawing->out->failed = drawing->out->failed || line.failed;
    lapse_out_free(&line);
}

static bool axis_round(const struct lapse_axis *axis, int column) {
    int64_t at = lapse_axis_instant(axis, column);
    return at % (axis->quantum_ns * LAPSE_AXIS_TICK) == 0;
}

/* Labels stand at round instants, and at the first instant behind a break. One that would touch
 * what stands beside it is left out, a round one last. */
static void axis_labels(struct drawing *drawing, size_t index, int *at) {
    const struct lapse_axis *axis = &drawing->axis;
    const struct lapse_axis_part *part = &axis->parts[index];
    int end = part->column + part->columns;
    int limit = drawing->style->width - drawing->label - 4;
    if (index + 1 < axis->part_count) {
        limit = axis->parts[index + 1].column - axis->parts[index + 1].gap;
    }
    int first = lapse_axis_column(axis, part->first);
    for (int column = part->column; column < end; column++) {
        char buf[LAPSE_TIME_TEXT_MAX];
        bool round = axis_round(axis, column);
        if (!round && column != first) {
            continue;
        }
        lapse_span_print(
            (struct lapse_span){round ? lapse_axis_instant(axis, column) : part->first}, buf);
        int to = column + (int)strlen(buf);
        bool fits = to <= limit && (*at == 0 || column > *at);
        for (int next = column + 1; !round && next <= to && next < end; next++) {
            fits = fits && !axis_round(axis, next);
        }
        if (fits) {
            lapse_out_repeat(drawing->axis_line, ' ', column - *at);
            lapse_out_text(drawing->axis_line, buf);
            *at = to;
        }
    }
}

static void draw_lanes(struct drawing *drawing) {
    struct lapse_lanes *lanes = &drawing->lanes;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        if (!lanes->lanes[i].shown) {
            drawing->left_out++;
            continue;
        }
        row_clear(drawing);
        for (size_t k = 0; k < lanes->bar_count; k++) {
            if (lanes->bars[k].lane == i) {
                draw_bar(drawing, &lanes->bars[k]);
            }
        }
        row_breaks(drawing);
        struct lapse_out label;
        lapse_out_init(&label, drawing->out->alloc);
        const struct lapse_lane *lane = &lanes->lanes[i];
        lapse_out_bytes(&label, (const char *)lane->bucket.data, lane->bucket.len);
        lapse_out_text(&label, lane->bucket.len > 0 ? "/" : "");
        lapse_out_bytes(&label, (const char *)lane->name.data, lane->name.len);
        row_print(drawing, (struct lapse_bytes){(const unsigned char *)label.text, label.len});
        lapse_out_free(&label);
    }
}

/* The first of those that the failing event is about; in a run that passed, the first of each kind.
 */
static void lanes_choose(struct lapse_lanes *lanes) {
    size_t focus = 0, keys = 0, others = 0;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        struct lapse_lane *lane = &lanes->lanes[i];
        if (lanes->failing != NULL) {
            lane->shown = lane->focus && focus++ < FOCUS_MAX;
        } else if (lane->kind == LAPSE_LANE_KEY) {
            lane->shown = keys++ < KEYS_MAX;
        } else {
            lane->shown = others++ < LANES_MAX;
        }
    }
}

static void draw_bar(struct drawing *drawing, const struct lapse_bar *bar) {
    const struct lapse_axis *axis = &drawing->axis;
    if (!bar->endless && bar->to <= bar->from) {
        return;
    }
    int from = lapse_axis_column(axis, bar->from);
    int to = bar->endless ? axis->columns : lapse_axis_column(axis, bar->to);
    bool clipped = bar->endless || to >= axis->columns;
    to = to > axis->columns ? axis->columns : to;
    to = to <= from ? from + 1 : to;
    for (int column = from; column < to && column < axis->columns; column++) {
        row_put(drawing, column, "=");
    }
    bar_label(drawing, bar, from + 1, to - 1);
    if (to - 1 > from && to <= axis->columns) {
        row_put(drawing, to - 1, clipped ? ">" : "]");
    }
    row_put(drawing, from, "[");
}

/* The whole label where a stretch between two breaks has room for it, else the brief one, else the
 * beginning of a value. */
static void bar_label(struct drawing *drawing, const struct lapse_bar *bar, int from, int to) {
    struct lapse_out text;
    lapse_out_init(&text, drawing->out->alloc);
    for (int brief = 0; brief < 2; brief++) {
        bar_text(&drawing->lanes, bar, brief != 0, &text);
        if (text.len == 0 || bar_label_put(drawing, from, to, text.text)) {
            break;
        }
        int at, widest = bar_room(drawing, from, to, 0, &at);
        if (drawing->lanes.lanes[bar->lane].kind == LAPSE_LANE_KEY && widest >= CUT_COLUMNS_MIN) {
            lapse_out_free(&text);
            (void)lapse_out_safe(&text, (const char *)bar->who.data, bar->who.len, widest);
            (void)bar_label_put(drawing, from, to, text.text != NULL ? text.text : "");
            break;
        }
        lapse_out_free(&text);
    }
    drawing->out->failed = drawing->out->failed || text.failed;
    lapse_out_free(&text);
}

static bool bar_label_put(struct drawing *drawing, int from, int to, const char *text) {
    int columns = lapse_columns_of(text, strlen(text));
    int at, room = bar_room(drawing, from, to, columns, &at);
    if (room < columns) {
        return false;
    }
    row_put(drawing, at, text);
    if (columns < room) {
        row_put(drawing, at + columns, " ");
    }
    return true;
}

/* The first stretch of [from, to) without a break that has `columns`, or, for 0, the widest.
 * Returns its columns. */
static int bar_room(const struct drawing *drawing, int from, int to, int columns, int *ret_from) {
    int widest = 0;
    *ret_from = from;
    for (size_t i = 0; i < drawing->axis.part_count; i++) {
        const struct lapse_axis_part *part = &drawing->axis.parts[i];
        int begin = part->column > from ? part->column : from;
        int end = part->column + part->columns < to ? part->column + part->columns : to;
        if (end - begin > widest) {
            widest = end - begin;
            *ret_from = begin;
        }
        if (columns > 0 && widest >= columns) {
            break;
        }
    }
    return widest;
}

static void bar_text(const struct lapse_lanes *lanes, const struct lapse_bar *bar, bool brief,
                     struct lapse_out *out) {
    (void)lapse_out_safe(out, (const char *)bar->who.data, bar->who.len, WHO_COLUMNS_MAX);
    switch (lanes->lanes[bar->lane].kind) {
    case LAPSE_LANE_LEASE:
        lapse_out_format(out, brief ? " %lld" : " token %lld", (long long)bar->token);
        break;
    case LAPSE_LANE_LOCK:
        lapse_out_format(out, brief ? " %lld" : " revision %lld", (long long)bar->token);
        break;
    case LAPSE_LANE_KEY:
        break;
    }
}

static void draw_actors(struct drawing *drawing) {
    const struct lapse_lanes *lanes = &drawing->lanes;
    for (size_t i = 0; i < lanes->setup->actor_count; i++) {
        if (!actor_shown(lanes, (int32_t)i)) {
            drawing->left_out++;
            continue;
        }
        row_clear(drawing);
        actor_states(drawing, (int32_t)i);
        row_breaks(drawing);
        actor_letters(drawing, (int32_t)i);
        row_print(drawing, lanes->setup->actors[i].name);
    }
}

/* The nearest to the failing event first; what is not near it at all only if nothing failed. */
static bool actor_shown(const struct lapse_lanes *lanes, int32_t actor) {
    enum lapse_focus own = lanes->actors[actor];
    size_t before = 0;
    for (size_t i = 0; i < lanes->setup->actor_count; i++) {
        before += lanes->actors[i] > own || (lanes->actors[i] == own && i < (size_t)actor);
    }
    return (own != LAPSE_FOCUS_NONE || lanes->failing == NULL) && before < ACTORS_MAX;
}

static bool resource_shown(const struct lapse_lanes *lanes, size_t resource) {
    enum lapse_focus own = lanes->resources[resource];
    size_t before = 0;
    for (size_t i = 0; i < lanes->setup->resource_count; i++) {
        before += lanes->resources[i] > own || (lanes->resources[i] == own && i < resource);
    }
    return (own != LAPSE_FOCUS_NONE || lanes->failing == NULL) && before < RESOURCES_MAX;
}

static void actor_states(struct drawing *drawing, int32_t actor) {
    for (int column = 0; column < drawing->axis.columns; column++) {
        int64_t at = lapse_axis_instant(&drawing->axis, column);
        if (at >= 0 && at <= drawing->lanes.last) {
            char state = actor_state(drawing, actor, at);
            row_put(drawing, column, (const char[]){state, '\0'});
            drawing->states[(unsigned char)state] = true;
        }
    }
}

static char actor_state(const struct drawing *drawing, int32_t actor, int64_t at) {
    const struct lapse_lanes *lanes = &drawing->lanes;
    bool paused = false, believes = false, holds = false;
    for (size_t i = 0; i < lanes->stretch_count; i++) {
        const struct lapse_stretch *stretch = &lanes->stretches[i];
        if (stretch->actor != actor || at < stretch->from || at >= stretch->to) {
            continue;
        }
        if (stretch->kind == LAPSE_STRETCH_DOWN) {
            return 'x';
        }
        if (stretch->kind == LAPSE_STRETCH_PAUSED) {
            paused = true;
            continue;
        }
        bool held = lapse_lanes_holds(lanes, stretch->grant, lanes->setup->actors[actor].name, at);
        believes = true;
        holds = holds || held;
    }
    if (believes) {
        return !holds ? '?' : paused ? '.' : '#';
    }
    return paused ? '-' : ' ';
}

/* A letter at each call as it is sent. The failing call is never hidden by a later one. */
static void actor_letters(struct drawing *drawing, int32_t actor) {
    const struct lapse_lanes *lanes = &drawing->lanes;
    size_t count = lapse_history_count(lanes->history);
    int kept = -1;
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *event = lapse_history_at(lanes->history, i);
        char letter = ' ';
        if (event->actor == actor && event->kind == LAPSE_HISTORY_INVOKE) {
            letter = verb_letter(event->u.invoke.request.verb);
        } else if (event->actor == actor && event->kind == LAPSE_HISTORY_REPLY &&
                   !event->u.reply.sent) {
            letter = '!';
        }
        int column = lapse_axis_column(&drawing->axis, event->at.ns);
        if (letter == ' ' || lapse_axis_instant(&drawing->axis, column) < 0 || column == kept) {
            continue;
        }
        row_put(drawing, column, (const char[]){letter, '\0'});
        drawing->letters[(unsigned char)letter] = true;
        if (lanes->failing != NULL && event->call > 0 && event->call == lanes->failing->call) {
            kept = column;
        }
    }
}

/* A store node has a lane only if something happened to it. */
static void draw_nodes(struct drawing *drawing) {
    const struct lapse_lanes *lanes = &drawing->lanes;
    for (size_t i = 0; i < lanes->setup->node_count; i++) {
        int32_t actor = LAPSE_STRETCH_NODE((int32_t)i);
        bool touched = false;
        for (size_t k = 0; k < lanes->stretch_count; k++) {
            touched = touched || lanes->stretches[k].actor == actor;
        }
        if (touched) {
            row_clear(drawing);
            actor_states(drawing, actor);
            row_breaks(drawing);
            row_print(drawing, lanes->setup->nodes[i]);
        }
    }
}

static void draw_resources(struct drawing *drawing) {
    const struct lapse_setup *setup = drawing->lanes.setup;
    for (size_t i = 0; i < setup->resource_count; i++) {
        if (!resource_shown(&drawing->lanes, i)) {
            drawing->left_out++;
            continue;
        }
        row_clear(drawing);
        resource_row(drawing, (int32_t)i);
        row_breaks(drawing);
        row_print(drawing, setup->resources[i].name);
    }
}

/* The token of each write taken, (token) of each refused. */
static void resource_row(struct drawing *drawing, int32_t resource) {
    const struct lapse_history *history = drawing->lanes.history;
    size_t count = lapse_history_count(history);
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *event = lapse_history_at(history, i);
        if (event->kind != LAPSE_HISTORY_RESOURCE || event->u.resource.resource != resource ||
            event->u.resource.verb != LAPSE_CALL_WRITE) {
            continue;
        }
        char token[32] = "*";
        if (event->u.resource.has_token) {
            (void)snprintf(token, sizeof token, "%lld", (long long)event->u.resource.token);
        }
        char text[40];
        bool taken = event->u.resource.status == LAPSE_OK;
        (void)snprintf(text, sizeof text, taken ? "%s" : "(%s)", token);
        int column = lapse_axis_column(&drawing->axis, event->at.ns);
        if (lapse_axis_instant(&drawing->axis, column) >= 0) {
            drawing->states[taken ? '*' : '('] = true;
            row_put(drawing, taken || column == 0 ? column : column - 1, text);
        }
    }
}

/* "^ ID" under the failing instant; on the other side where the right has no room. */
static void draw_mark(struct drawing *drawing) {
    const struct lapse_history_event *event = drawing->lanes.failing;
    if (event == NULL || drawing->id == NULL) {
        return;
    }
    int column = drawing->label + 4 + lapse_axis_column(&drawing->axis, event->at.ns);
    int len = (int)strlen(drawing->id);
    bool right = column + 2 + len <= drawing->style->width;
    lapse_out_repeat(drawing->out, ' ', right ? column : column - len - 1);
    lapse_out_paint(drawing->out, drawing->style, LAPSE_PAINT_ERROR);
    lapse_out_format(drawing->out, right ? "^ %s" : "%s ^", drawing->id);
    lapse_out_paint(drawing->out, drawing->style, LAPSE_PAINT_RESET);
    lapse_out_text(drawing->out, "\n");
}

static void legend_put(struct drawing *drawing, int *at, const char *text) {
    int len = (int)strlen(text);
    if (*at > 0 && *at + 3 + len > drawing->style->width) {
        lapse_out_text(drawing->out, "\n");
        *at = 0;
    }
    int gap = *at > 0 ? 3 : 2;
    lapse_out_repeat(drawing->out, ' ', gap);
    *at += gap;
    lapse_out_text(drawing->out, text);
    *at += len;
}

/* Only what was drawn is explained. */
static void draw_legend(struct drawing *drawing) {
    static const struct {
        char state;
        const char *text;
    } states[] = {
        {'#', "# holds and runs"},
        {'.', ". paused, still holds"},
        {'?', "? believes it holds, does not"},
        {'-', "- paused"},
        {'x', "x down"},
        {'*', "1 write taken with token 1 (* without)"},
        {'(', "(1) write refused"},
    };
    char text[80];
    int at = 0;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (drawing->states[(unsigned char)states[i].state]) {
            legend_put(drawing, &at, states[i].text);
        }
    }
    for (int verb = 1; verb < VERBS; verb++) {
        char letter = verb_letter(verb);
        if (letter != ' ' && drawing->letters[(unsigned char)letter]) {
            (void)snprintf(text, sizeof text, "%c %s", letter, lapse_call_word(verb));
            legend_put(drawing, &at, text);
        }
    }
    if (drawing->letters['!']) {
        legend_put(drawing, &at, "! not sent: too late");
    }
    if (drawing->axis.part_count > 1) {
        legend_put(drawing, &at, "//1h// time left out");
    }
    if (drawing->left_out > 0) {
        (void)snprintf(text, sizeof text, "(%zu more lane%s not shown)", drawing->left_out,
                       drawing->left_out == 1 ? "" : "s");
        legend_put(drawing, &at, text);
    }
    lapse_out_text(drawing->out, at > 0 ? "\n" : "");
}

static void row_clear(struct drawing *drawing) {
    for (int column = 0; column < COLUMNS_MAX; column++) {
        memcpy(drawing->row[column], " ", 2);
    }
}

static void row_breaks(struct drawing *drawing) {
    for (size_t i = 1; i < drawing->axis.part_count; i++) {
        const struct lapse_axis_part *part = &drawing->axis.parts[i];
        for (int column = part->column - part->gap; column < part->column; column++) {
            row_put(drawing, column, " ");
        }
        row_put(drawing, part->column - part->gap + 1, LAPSE_AXIS_MARK);
        row_put(drawing, part->column - 1 - (int)strlen(LAPSE_AXIS_MARK), LAPSE_AXIS_MARK);
    }
}

static void row_print(struct drawing *drawing, struct lapse_bytes label) {
    int end = COLUMNS_MAX;
    while (end > 0 && drawing->row[end - 1][0] == ' ') {
        end--;
    }
    lapse_out_text(drawing->out, "  ");
    int columns = lapse_out_safe(drawing->out, (const char *)label.data, label.len, drawing->label);
    if (end > 0) {
        lapse_out_repeat(drawing->out, ' ', drawing->label - columns + 2);
    }
    for (int column = 0; column < end; column++) {
        lapse_out_text(drawing->out, drawing->row[column]);
    }
    lapse_out_text(drawing->out, "\n");
}

/* Safe text, a code point a cell. */
static void row_put(struct drawing *drawing, int column, const char *text) {
    size_t len = strlen(text);
    for (size_t i = 0; i < len && column < COLUMNS_MAX; column++) {
        bool plain;
        size_t step = lapse_character_bytes(text + i, len - i, &plain);
        memcpy(drawing->row[column], text + i, step);
        drawing->row[column][step] = '\0';
        i += step;
    }
}

static char verb_letter(int verb) {
    static const struct {
        int verb;
        char letter;
    } letters[] = {
        {LAPSE_VERB_OPEN, 'O'},   {LAPSE_VERB_SET, 'S'},     {LAPSE_VERB_CREATE, 'C'},
        {LAPSE_VERB_UPDATE, 'U'}, {LAPSE_VERB_GET, 'G'},     {LAPSE_VERB_ENTRY, 'Y'},
        {LAPSE_VERB_HAS, 'H'},    {LAPSE_VERB_DELETE, 'D'},  {LAPSE_VERB_PURGE, 'P'},
        {LAPSE_VERB_EXPIRE, 'X'}, {LAPSE_VERB_PERSIST, 'K'}, {LAPSE_VERB_LIST, 'L'},
        {LAPSE_VERB_ALL, 'B'},    {LAPSE_VERB_COUNT, 'N'},   {LAPSE_VERB_ACQUIRE, 'A'},
        {LAPSE_VERB_EXTEND, 'E'}, {LAPSE_VERB_RELEASE, 'R'}, {LAPSE_VERB_INSPECT, 'I'},
        {LAPSE_VERB_WATCH, 'V'},  {LAPSE_VERB_UNWATCH, 'Z'}, {LAPSE_CALL_WRITE, 'W'},
        {LAPSE_CALL_READ, 'Q'},   {LAPSE_VERB_HISTORY, 'T'}, {LAPSE_VERB_BATCH, 'M'},
        {LAPSE_VERB_SESSION, 'J'}, {LAPSE_VERB_KEEPALIVE, 'E'}, {LAPSE_VERB_CLOSE, 'R'},
        {LAPSE_VERB_ALTER, 'O'},
    };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (letters[i].verb == verb) {
            return letters[i].letter;
        }
    }
    return ' ';
}
