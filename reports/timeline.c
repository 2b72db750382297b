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
    ACTORS_MAX = 6,
    RESOURCES_MAX = 3,
    VERBS = 128,
    BAR_TEXT_MAX = 64
};

struct drawing {
    struct lapse_out *out;
    const struct lapse_style *style;
    struct lapse_lanes lanes;
    struct lapse_axis axis;
    int label; /* columns of the labels */
    char row[COLUMNS_MAX + 1];
    bool letters[VERBS]; /* used, for the legend */
    bool states[VERBS];  /* by character */
    size_t left_out;     /* lanes folded away */
    const char *id;      /* what failed */
};

static bool anything_happens(const struct lapse_lanes *lanes);
static void axis_prepare(struct drawing *drawing);
static int label_columns(const struct drawing *drawing);
static void draw_axis(struct drawing *drawing);
static void draw_lanes(struct drawing *drawing);
static bool lane_shown(const struct lapse_lanes *lanes, size_t index);
static void draw_bar(struct drawing *drawing, const struct lapse_bar *bar);
static void bar_text(const struct lapse_lanes *lanes, const struct lapse_bar *bar, bool brief,
                     char *buf, size_t cap);
static void draw_actors(struct drawing *drawing);
static bool actor_shown(const struct lapse_lanes *lanes, int32_t actor);
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
    } else if (drawing.lanes.instant_count > 1 && anything_happens(&drawing.lanes)) {
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

/* A run without a call has an axis and nothing on it. */
static bool anything_happens(const struct lapse_lanes *lanes) {
    return lanes->lane_count > 0 || lanes->stretch_count > 0 || lanes->calls_cap > 0;
}

static void axis_prepare(struct drawing *drawing) {
    drawing->label = label_columns(drawing);
    /* The last instant's token may need a few columns more. */
    int columns = drawing->style->width - drawing->label - 4 - 4;
    columns = columns < COLUMNS_MIN ? COLUMNS_MIN : columns > COLUMNS_MAX ? COLUMNS_MAX : columns;
    lapse_axis_fit(&drawing->axis, drawing->lanes.instants, drawing->lanes.instant_count, columns);
}

static int label_wider(int columns, struct lapse_bytes a, struct lapse_bytes b) {
    size_t len = a.len + b.len + (a.len > 0 ? 1 : 0);
    int wanted = len > LABEL_MAX ? LABEL_MAX : (int)len;
    return wanted > columns ? wanted : columns;
}

static int label_columns(const struct drawing *drawing) {
    const struct lapse_lanes *lanes = &drawing->lanes;
    const struct lapse_bytes none = {NULL, 0};
    int columns = LABEL_MIN;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        if (lane_shown(lanes, i)) {
            columns = label_wider(columns, lanes->lanes[i].bucket, lanes->lanes[i].name);
        }
    }
    for (size_t i = 0; i < lanes->setup->actor_count; i++) {
        columns = label_wider(columns, none, lanes->setup->actors[i].name);
    }
    for (size_t i = 0; i < lanes->setup->resource_count; i++) {
        columns = label_wider(columns, none, lanes->setup->resources[i].name);
    }
    return columns;
}

/* Labels stand at round instants, and at the beginning of what follows a break. */
static void draw_axis(struct drawing *drawing) {
    const struct lapse_axis *axis = &drawing->axis;
    int64_t step = axis->quantum_ns * LAPSE_AXIS_TICK;
    int at_column = 0;
    lapse_out_repeat(drawing->out, ' ', drawing->label + 4);
    lapse_out_paint(drawing->out, drawing->style, LAPSE_PAINT_FRAME);
    for (int column = 0; column < axis->columns; column++) {
        int64_t at = lapse_axis_instant(axis, column);
        bool first = column == 0 || (at < 0) != (lapse_axis_instant(axis, column - 1) < 0);
        char buf[LAPSE_TIME_TEXT_MAX] = " //";
        if (at >= 0 && (first || at % step == 0)) {
            lapse_span_print((struct lapse_span){at}, buf);
        } else if (at >= 0 || !first) {
            continue;
        }
        /* A label keeps a blank between itself and the one before it. */
        int room = column - at_column;
        if (room >= (at_column > 0 && at >= 0 ? 1 : 0)) {
            lapse_out_repeat(drawing->out, ' ', room);
            lapse_out_text(drawing->out, buf);
            at_column = column + (int)strlen(buf);
        }
    }
    lapse_out_paint(drawing->out, drawing->style, LAPSE_PAINT_RESET);
    lapse_out_text(drawing->out, "\n");
}

static void draw_lanes(struct drawing *drawing) {
    struct lapse_lanes *lanes = &drawing->lanes;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        if (!lane_shown(lanes, i)) {
            drawing->left_out += lanes->lanes[i].kind != LAPSE_LANE_KEY;
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

/* Those that the failing event is about, and the first ones up to the bound. */
static bool lane_shown(const struct lapse_lanes *lanes, size_t index) {
    const struct lapse_lane *lane = &lanes->lanes[index];
    bool plain = lane->kind == LAPSE_LANE_KEY;
    size_t before = 0;
    for (size_t i = 0; i < lanes->lane_count; i++) {
        bool alike = (lanes->lanes[i].kind == LAPSE_LANE_KEY) == plain;
        before += alike && (i < index || lanes->lanes[i].focus);
    }
    return lane->focus || before < (plain ? KEYS_MAX : LANES_MAX);
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
        drawing->row[column] = '=';
    }
    char text[BAR_TEXT_MAX];
    int inner = to - from - 2;
    bar_text(&drawing->lanes, bar, false, text, sizeof text);
    if ((int)strlen(text) > inner) {
        bar_text(&drawing->lanes, bar, true, text, sizeof text);
    }
    int len = (int)strlen(text);
    if (len > 0 && len <= inner) {
        row_put(drawing, from + 1, text);
        if (len < inner) {
            row_put(drawing, from + 1 + len, " ");
        }
    }
    if (to - 1 > from && to <= axis->columns) {
        row_put(drawing, to - 1, clipped ? ">" : "]");
    }
    row_put(drawing, from, "[");
}

static void bar_text(const struct lapse_lanes *lanes, const struct lapse_bar *bar, bool brief,
                     char *buf, size_t cap) {
    char who[BAR_TEXT_MAX / 2];
    lapse_bytes_print(bar->who, who, sizeof who);
    const char *number = "";
    switch (lanes->lanes[bar->lane].kind) {
    case LAPSE_LANE_LEASE:
        number = brief ? " " : " token ";
        break;
    case LAPSE_LANE_LOCK:
        number = brief ? " " : " revision ";
        break;
    case LAPSE_LANE_KEY:
        (void)snprintf(buf, cap, "%s", who);
        return;
    }
    (void)snprintf(buf, cap, "%s%s%lld", who, number, (long long)bar->token);
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

static bool actor_shown(const struct lapse_lanes *lanes, int32_t actor) {
    bool failing = lanes->failing != NULL && lanes->failing->actor == actor;
    bool later = lanes->failing != NULL && lanes->failing->actor > actor;
    return failing || actor + (later ? 1 : 0) < ACTORS_MAX;
}

static void actor_states(struct drawing *drawing, int32_t actor) {
    for (int column = 0; column < drawing->axis.columns; column++) {
        int64_t at = lapse_axis_instant(&drawing->axis, column);
        if (at >= 0 && at <= drawing->lanes.last) {
            char state = actor_state(drawing, actor, at);
            drawing->row[column] = state;
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
        drawing->row[column] = letter;
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
        const struct lapse_history_event *failing = drawing->lanes.failing;
        bool focus = failing != NULL && failing->kind == LAPSE_HISTORY_RESOURCE &&
                     failing->u.resource.resource == (int32_t)i;
        if (i >= RESOURCES_MAX && !focus) {
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
        legend_put(drawing, &at, "// time left out");
    }
    if (drawing->left_out > 0) {
        (void)snprintf(text, sizeof text, "(%zu more lanes not shown)", drawing->left_out);
        legend_put(drawing, &at, text);
    }
    lapse_out_text(drawing->out, at > 0 ? "\n" : "");
}

static void row_clear(struct drawing *drawing) {
    memset(drawing->row, ' ', sizeof drawing->row);
    drawing->row[COLUMNS_MAX] = '\0';
}

static void row_breaks(struct drawing *drawing) {
    for (size_t i = 1; i < drawing->axis.part_count; i++) {
        row_put(drawing, drawing->axis.parts[i].column - LAPSE_AXIS_BREAK, " // ");
    }
}

static void row_print(struct drawing *drawing, struct lapse_bytes label) {
    int end = COLUMNS_MAX;
    while (end > 0 && drawing->row[end - 1] == ' ') {
        end--;
    }
    lapse_out_text(drawing->out, "  ");
    int columns = lapse_out_safe(drawing->out, (const char *)label.data, label.len, drawing->label);
    if (end > 0) {
        lapse_out_repeat(drawing->out, ' ', drawing->label - columns + 2);
        lapse_out_bytes(drawing->out, drawing->row, (size_t)end);
    }
    lapse_out_text(drawing->out, "\n");
}

static void row_put(struct drawing *drawing, int column, const char *text) {
    for (int i = 0; text[i] != '\0' && column + i < COLUMNS_MAX; i++) {
        drawing->row[column + i] = text[i];
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
        {LAPSE_CALL_READ, 'Q'},
    };
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++) {
        if (letters[i].verb == verb) {
            return letters[i].letter;
        }
    }
    return ' ';
}
