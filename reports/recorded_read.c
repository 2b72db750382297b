/* Reading a recorded history, line by line: the first says under what it was recorded, each other
 * one is an event, or a whole call. */
#include "recorded_reading.h"

#include "contracts/nearest.h"

#include <string.h>

enum { SHOWN_MAX = 64, KIND_WORDS_MAX = LAPSE_HISTORY_KINDS + 2 };

static void free_names(const lapse_alloc *alloc, struct lapse_reading_names *names);
static bool check_bytes(struct lapse_reading_file *file, const char *bytes, size_t byte_count);
static void read_lines(struct lapse_reading_file *file, const char *bytes, size_t byte_count);
static bool is_blank(const char *bytes, size_t len);
static void read_line(struct lapse_reading_file *file, const char *line, size_t len, bool last);
static bool check_line(struct lapse_reading_file *file, const char *line, size_t len);
static void refuse_json(struct lapse_reading_file *file, const struct lapse_json_error *err,
                        const char *line, size_t len, bool last);
static void read_first(struct lapse_reading_file *file, const struct lapse_json *json);
static void list_names(struct lapse_reading_file *file, const struct lapse_json *first,
                       const char *word, struct lapse_reading_names *names);
static bool check_violates(struct lapse_reading_file *file, const struct lapse_json *first);
static void read_event(struct lapse_reading_file *file, const struct lapse_json *json);
static int find_kind(struct lapse_reading_file *file, const struct lapse_json *word);
static void read_call(struct lapse_reading_file *file, const struct lapse_json *json,
                      struct lapse_place place);
static void read_closing(struct lapse_reading_file *file, const struct lapse_json *json);
static bool ends_a_map(const char *line, size_t len);
static bool names_steps(const char *line, size_t len);
static void add_event(struct lapse_reading_file *file, const struct lapse_history_event *event,
                      struct lapse_place place, int rank);

/* Beyond the kinds of events: a call in one line, and the last line. */
enum { KIND_CALL = LAPSE_HISTORY_KINDS, KIND_CLOSING };

bool lapse_recorded_looks(const char *bytes, size_t byte_count) {
    size_t at = 0;
    while (at < byte_count && strchr(" \t\r\n", bytes[at]) != NULL && bytes[at] != '\0') {
        at++;
    }
    size_t left = byte_count - at;
    if (left < 2 || bytes[at] != '{' || memchr(bytes + at, '"', left < 8 ? left : 8) == NULL) {
        return false;
    }
    const char *end = memchr(bytes + at, '\n', left);
    size_t line = end == NULL ? left : (size_t)(end - (bytes + at));
    size_t next = at + line;
    while (next < byte_count && strchr(" \t\r\n", bytes[next]) != NULL && bytes[next] != '\0') {
        next++;
    }
    return next < byte_count ? bytes[next] == '{' && ends_a_map(bytes + at, line)
                             : !names_steps(bytes + at, line);
}

static bool ends_a_map(const char *line, size_t len) {
    while (len > 0 && strchr(" \t\r", line[len - 1]) != NULL && line[len - 1] != '\0') {
        len--;
    }
    return len > 0 && line[len - 1] == '}';
}

static bool names_steps(const char *line, size_t len) {
    static const char word[] = "\"steps\"";
    for (size_t i = 0; i + sizeof word - 1 <= len; i++) {
        if (memcmp(line + i, word, sizeof word - 1) == 0) {
            return true;
        }
    }
    return false;
}

enum lapse_status lapse_recorded_read(const lapse_alloc *alloc, const char *name, const char *bytes,
                                      size_t byte_count, struct lapse_recorded *ret,
                                      struct lapse_error *err) {
    memset(ret, 0, sizeof(*ret));
    lapse_diag_list_init(&ret->diags, alloc);
    ret->source = (struct lapse_source){name, bytes, byte_count};
    struct lapse_reading_file *file = lapse_alloc_zero(alloc, sizeof(*file));
    if (file == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a recorded history");
    }
    file->alloc = alloc;
    file->ret = ret;
    file->name = name;
    file->actors.what = "actor";
    file->nodes.what = "node";
    file->resources.what = "resource";
    lapse_reading_pool_init(&file->pool, alloc);
    lapse_reading_pool_init(&file->line_pool, alloc);
    ret->memory = file;
    if (check_bytes(file, bytes, byte_count)) {
        read_lines(file, bytes, byte_count);
    }
    if (ret->diags.count == 0 && !file->starved) {
        lapse_reading_finish(file);
    }
    lapse_diag_list_sort(&ret->diags);
    if (file->starved || ret->diags.failed) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out while reading a history");
    }
    return ret->diags.count == 0 ? LAPSE_OK : LAPSE_INVALID;
}

void lapse_recorded_free(struct lapse_recorded *recorded) {
    struct lapse_reading_file *file = recorded->memory;
    if (recorded->diags.alloc != NULL) {
        lapse_diag_list_free(&recorded->diags);
    }
    lapse_history_close(recorded->history);
    if (file != NULL) {
        const lapse_alloc *alloc = file->alloc;
        lapse_reading_pool_free(&file->pool);
        lapse_reading_pool_free(&file->line_pool);
        free_names(alloc, &file->actors);
        free_names(alloc, &file->nodes);
        free_names(alloc, &file->resources);
        lapse_alloc_free(alloc, file->events, file->cap * sizeof(*file->events));
        lapse_alloc_free(alloc, file, sizeof(*file));
    }
    memset(recorded, 0, sizeof(*recorded));
}

static void free_names(const lapse_alloc *alloc, struct lapse_reading_names *names) {
    lapse_alloc_free(alloc, names->items, names->cap * sizeof(*names->items));
    lapse_names_free(alloc, &names->table);
}

static bool check_bytes(struct lapse_reading_file *file, const char *bytes, size_t byte_count) {
    file->line = 1;
    if (byte_count > (size_t)LAPSE_RECORDED_BYTES_MAX) {
        (void)lapse_reading_mistake(file, "J001", NULL, "",
                                    "this file is too large: a recorded history has at most %d MiB",
                                    (int)LAPSE_RECORDED_BYTES_MAX / (1024 * 1024));
        return false;
    }
    const char *nul = memchr(bytes, '\0', byte_count);
    for (const char *at = bytes; nul != NULL && at < nul; at++) {
        file->line += *at == '\n' ? 1 : 0;
    }
    if (nul != NULL) {
        (void)lapse_reading_mistake(
            file, "J003", NULL, "",
            "a NUL byte: this is no text; write bytes as {\"hex\": \"00\"}");
        return false;
    }
    return true;
}

static void read_lines(struct lapse_reading_file *file, const char *bytes, size_t byte_count) {
    size_t at = 0;
    file->line = 0;
    while (at < byte_count && !file->starved && !file->alien &&
           file->ret->diags.count <= LAPSE_RECORDED_MISTAKES_MAX) {
        const char *end = memchr(bytes + at, '\n', byte_count - at);
        size_t len = end == NULL ? byte_count - at : (size_t)(end - (bytes + at));
        file->line++;
        if (!is_blank(bytes + at, len)) {
            read_line(file, bytes + at, len, is_blank(bytes + at + len, byte_count - at - len));
        }
        at += len + (end == NULL ? 0 : 1);
    }
    if (file->ret->top.version == 0 && file->ret->diags.count == 0 && !file->starved) {
        file->line = 1;
        (void)lapse_reading_mistake(file, "J007", NULL, "",
                                    "nothing in the file: a recorded history begins with a line "
                                    "{\"lapse\": 1, ..}");
    }
}

static bool is_blank(const char *bytes, size_t len) {
    size_t at = 0;
    while (at < len && (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r'))) {
        at++;
    }
    return at == len;
}

static void read_line(struct lapse_reading_file *file, const char *line, size_t len, bool last) {
    const struct lapse_json *json = NULL;
    struct lapse_json_error err;
    if (!check_line(file, line, len)) {
        return;
    }
    lapse_reading_pool_reset(&file->line_pool);
    if (!lapse_json_read(&file->line_pool, line, len, &json, &err)) {
        file->starved = file->starved || err.fault == LAPSE_JSON_NOMEM;
        refuse_json(file, &err, line, len, last);
        return;
    }
    if (json->kind != LAPSE_JSON_MAP) {
        (void)lapse_reading_mistake(file, "J103", json, "", "a line is one map: {\"event\": ..}");
    } else if (file->ret->top.version == 0) {
        read_first(file, json);
    } else if (file->closed > 0) {
        (void)lapse_reading_mistake(file, "J111", json, "", "a line behind the closing one");
    } else {
        read_event(file, json);
    }
}

/* A value takes a hundred bytes of memory and more, however few it takes in the file. */
static bool check_line(struct lapse_reading_file *file, const char *line, size_t len) {
    size_t values = 1;
    bool text = false;
    for (size_t i = 0; i < len; i++) {
        i += text && line[i] == '\\' ? 1 : 0;
        text = text != (i < len && line[i] == '"');
        values += !text && i < len && (line[i] == ',' || line[i] == ':') ? 1 : 0;
    }
    if (len > (size_t)LAPSE_RECORDED_LINE_BYTES_MAX) {
        (void)lapse_reading_mistake(file, "J006", NULL, "",
                                    "this line has %zu bytes: a line has at most %d MiB", len,
                                    (int)LAPSE_RECORDED_LINE_BYTES_MAX / (1024 * 1024));
        return false;
    }
    if (values > (size_t)LAPSE_RECORDED_LINE_VALUES_MAX) {
        (void)lapse_reading_mistake(file, "J006", NULL, "",
                                    "this line has %zu words and values: a line has at most %d",
                                    values, (int)LAPSE_RECORDED_LINE_VALUES_MAX);
        return false;
    }
    return true;
}

static void refuse_json(struct lapse_reading_file *file, const struct lapse_json_error *err,
                        const char *line, size_t len, bool last) {
    static const char *const says[] = {
        [LAPSE_JSON_SYNTAX] = "this is not JSON",
        [LAPSE_JSON_CUT] = "the line ends before its value does",
        [LAPSE_JSON_MORE] = "something follows the value: one line is one map",
        [LAPSE_JSON_UTF8] = "this is not UTF-8: write other bytes as {\"hex\": \"00ff\"}",
        [LAPSE_JSON_TWICE] = "a word stands twice in this map",
        [LAPSE_JSON_RANGE] = "this number is out of range: numbers are whole and within 64 bits",
        [LAPSE_JSON_NUL_KEY] = "a NUL in a word",
        [LAPSE_JSON_DEEP] = "nested too deep: a history needs six levels",
    };
    if (err->fault == LAPSE_JSON_NOMEM) {
        return;
    }
    int most = len < 1 ? 1 : (int)len;
    const struct lapse_json at = {.column = err->column > most ? most : err->column, .span = 1};
    struct lapse_diag *diag = lapse_reading_mistake(
        file, err->fault == LAPSE_JSON_UTF8 ? "J002" : "J008", &at, "", "%s", says[err->fault]);
    if (err->fault == LAPSE_JSON_CUT) {
        lapse_diag_note(&file->ret->diags, diag, "help",
                        last ? "the recorder was cut off while it wrote: take the last line out"
                             : "a map may not go on in the next line");
    }
    file->alien = file->ret->top.version == 0 && line[0] != '{';
    if (file->alien) {
        lapse_diag_note(&file->ret->diags, diag, "help",
                        "a recorded history begins with {\"lapse\": 1, ..}; see `lapse help "
                        "histories`. A scenario is for `lapse run`");
    }
}

static void read_first(struct lapse_reading_file *file, const struct lapse_json *json) {
    struct lapse_recorded_top *top = &file->ret->top;
    size_t before = file->ret->diags.count;
    if (lapse_json_find(json, "lapse") == NULL) {
        struct lapse_diag *diag = lapse_reading_mistake(
            file, "J104", json, "",
            "the first line says under what was recorded: `lapse` is missing");
        lapse_diag_note(&file->ret->diags, diag, "help",
                        "put {\"lapse\": 1, \"profile\": \"strict\"} before it");
        top->version = 1; /* so that the others are read as events */
        return;
    }
    list_names(file, json, "actors", &file->actors);
    list_names(file, json, "nodes", &file->nodes);
    list_names(file, json, "resources", &file->resources);
    bool fine = lapse_reading_map(file, json, lapse_rf_top, top, lapse_rf_setup, &file->setup);
    file->buckets_listed = lapse_json_find(json, "buckets") != NULL;
    if (fine && top->version != 1) {
        (void)lapse_reading_mistake(file, "J121", lapse_json_find(json, "lapse"), "",
                                    "version %lld of the format: this program reads 1",
                                    (long long)top->version);
    }
    fine = fine && lapse_reading_policies(file, json);
    fine = check_violates(file, json) && fine;
    LAPSE_ASSERT(fine || file->starved || file->ret->diags.count > before);
    top->version = 1;
}

/* Names are known before anything of the line is read that may tell them. */
static void list_names(struct lapse_reading_file *file, const struct lapse_json *first,
                       const char *word, struct lapse_reading_names *names) {
    const struct lapse_json *list = lapse_json_find(first, word);
    names->listed = list != NULL && list->kind == LAPSE_JSON_LIST;
    for (size_t i = 0; names->listed && i < list->count; i++) {
        const struct lapse_json *item = &list->items[i];
        const struct lapse_json *name = lapse_json_find(item, "name");
        name = name != NULL ? name : item;
        struct lapse_bytes text = lapse_bytes_of(""); /* what it is instead is told later */
        if (lapse_reading_bytes(file, name, &text) &&
            lapse_names_find(&names->table, 1, text) >= 0 && text.len > 0) {
            (void)lapse_reading_mistake(file, "J119", name, "", "two %ss have this name",
                                        names->what);
        }
        (void)lapse_reading_name_add(file, names, text);
    }
}

static bool check_violates(struct lapse_reading_file *file, const struct lapse_json *first) {
    const struct lapse_recorded_top *top = &file->ret->top;
    const struct lapse_json *list = lapse_json_find(first, "violates");
    bool fine = true;
    for (size_t i = 0; i < top->violates_count; i++) {
        char id[SHOWN_MAX];
        lapse_bytes_print(top->violates[i].id, id, sizeof(id));
        if (lapse_contract_find(id) == NULL) {
            (void)lapse_reading_mistake(file, "J118", &list->items[i], "",
                                        "there is no contract `%s`; `lapse contracts` lists them",
                                        id);
            fine = false;
        }
    }
    return fine;
}

static void read_event(struct lapse_reading_file *file, const struct lapse_json *json) {
    const struct lapse_json *word = lapse_json_find(json, "event");
    if (word == NULL) {
        struct lapse_diag *diag =
            lapse_reading_mistake(file, "J104", json, "", "`event` is missing: what is this?");
        lapse_diag_note(&file->ret->diags, diag, "help",
                        "a call in one line: {\"event\": \"call\", \"actor\": \"w1\", \"at\": 0, "
                        "\"replied\": 5, ..}");
        return;
    }
    struct lapse_place place = {file->name, file->line, word->column, word->span};
    int kind = find_kind(file, word);
    struct lapse_history_event event = {.kind = (enum lapse_history_kind)kind};
    if (kind == KIND_CALL) {
        read_call(file, json, place);
    } else if (kind == KIND_CLOSING) {
        read_closing(file, json);
    } else if (kind >= 0 && lapse_reading_map(file, json, lapse_rf_head, &event,
                                              lapse_rf_of_kind(kind), &event)) {
        add_event(file, &event, place, 1);
    }
}

static int find_kind(struct lapse_reading_file *file, const struct lapse_json *word) {
    const char *words[KIND_WORDS_MAX] = {"call"};
    size_t count = 1;
    const char *seen = word->kind == LAPSE_JSON_TEXT ? (const char *)word->text.data : "";
    if (strcmp(seen, "call") == 0) {
        return KIND_CALL;
    }
    if (strcmp(seen, "closing") == 0) {
        return KIND_CLOSING;
    }
    for (int kind = 0; kind < (int)LAPSE_HISTORY_KINDS; kind++) {
        const char *own = lapse_rf_kind_word(kind);
        if (own != NULL && strcmp(own, seen) == 0) {
            return kind;
        }
        if (own != NULL) {
            words[count++] = own;
        }
    }
    char shown[SHOWN_MAX];
    struct lapse_diag *diag =
        lapse_reading_mistake(file, "J102", word, "", "there is no event `%s`",
                              lapse_bytes_print(lapse_bytes_of(seen), shown, sizeof(shown)));
    lapse_reading_help(file, diag, seen, words, count, "there are");
    return -1;
}

/* Two events: the call is sent, and its answer comes. Without an answer it may have taken effect at
 * any later time, or never. */
static void read_call(struct lapse_reading_file *file, const struct lapse_json *json,
                      struct lapse_place place) {
    struct lapse_recorded_call call = {.replied = false};
    if (!lapse_reading_map(file, json, lapse_rf_call, &call, NULL, NULL)) {
        return;
    }
    const struct lapse_json *answer = lapse_json_find(json, "answer");
    if (call.replied != (answer != NULL)) {
        (void)lapse_reading_mistake(file, "J104", json, "",
                                    call.replied ? "`answer` is missing: the call replied"
                                                 : "`replied` is missing: when the answer came");
        return;
    }
    if (call.invoke.actor < 0) {
        (void)lapse_reading_mistake(file, "J104", json, "",
                                    "`actor` is missing: who has sent the call");
        return;
    }
    call.invoke.kind = LAPSE_HISTORY_INVOKE;
    call.invoke.u.invoke.due.ns = call.invoke.at.ns;
    file->calls = true;
    add_event(file, &call.invoke, place, 0);
    if (!call.replied) {
        return;
    }
    if (call.reply.at.ns < call.invoke.at.ns) {
        (void)lapse_reading_mistake(file, "J110", lapse_json_find(json, "replied"), "",
                                    "the answer comes before the call was sent, at %lld ns",
                                    (long long)call.invoke.at.ns);
    }
    struct lapse_history_event *reply = &call.reply;
    reply->kind = LAPSE_HISTORY_REPLY;
    reply->actor = call.invoke.actor;
    reply->incarnation = call.invoke.incarnation;
    reply->call = call.invoke.call;
    reply->step = call.invoke.step;
    reply->n = call.invoke.n;
    reply->u.reply.verb = call.invoke.u.invoke.request.verb;
    reply->u.reply.sent = reply->u.reply.answer.status != LAPSE_TOO_LATE;
    reply->u.reply.save_slot = -1;
    reply->u.reply.grant = call.invoke.u.invoke.grant;
    (void)lapse_ns_sub(reply->at.ns, call.invoke.at.ns, &reply->u.reply.answer.took.ns);
    add_event(file, reply, place, 2);
}

static void read_closing(struct lapse_reading_file *file, const struct lapse_json *json) {
    struct lapse_recorded_closing *closing = &file->ret->closing;
    if (lapse_reading_map(file, json, lapse_rf_closing, closing, NULL, NULL)) {
        closing->given = true;
    }
    file->closed = file->line;
}

static void add_event(struct lapse_reading_file *file, const struct lapse_history_event *event,
                      struct lapse_place place, int rank) {
    if (event->at.ns < 0) {
        (void)lapse_reading_mistake(file, "J108", NULL, "",
                                    "`at` counts from the start of the history: it cannot be %lld",
                                    (long long)event->at.ns);
        return;
    }
    if (file->count > (size_t)LAPSE_RECORDED_EVENTS_MAX) {
        if (file->count == (size_t)LAPSE_RECORDED_EVENTS_MAX + 1) {
            (void)lapse_reading_mistake(file, "J006", NULL, "",
                                        "too many events: a history has at most %d",
                                        (int)LAPSE_RECORDED_EVENTS_MAX);
            file->count++;
        }
        return;
    }
    if (!lapse_alloc_grow(file->alloc, (void **)&file->events, &file->cap, file->count + 2,
                          sizeof(*file->events))) {
        file->starved = true;
        return;
    }
    struct lapse_reading_event *added = &file->events[file->count];
    *added = (struct lapse_reading_event){*event, place, rank, file->count};
    added->event.seq = 0;
    file->count++;
    file->stepped = file->stepped || event->step >= 0;
}
