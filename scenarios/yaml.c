/* The one file that includes the YAML library's header.
 *
 * It takes events, not documents: events carry a place for maps and lists too, come one document
 * after another, and leave the check for duplicate keys to us, whose cost is then not quadratic.
 * The library gets a diagnostics object of its own that prints nothing; destroying it (not merely
 * dropping the reference) is what frees the collected errors. */
#include "scenarios/yaml.h"

#include <libfyaml.h>
#include <string.h>

#include "mistakes.h"

enum { SMALL_MAP = 16 };

struct frame {
    struct lapse_node *node;
    struct lapse_list children; /* of struct lapse_node *; a map's keys and values in turn */
};

struct builder {
    struct lapse_pool *pool;
    struct lapse_diag_list *diags;
    const char *file;
    const char *text;
    size_t len;
    struct lapse_list lines; /* of size_t: where each line begins */
    struct frame frames[LAPSE_NODE_DEPTH_MAX];
    size_t depth;
    struct lapse_node *root;
    struct lapse_list *documents;
    int line_first;
    size_t last; /* where the last scalar ended: an empty one has no mark of its own */
    bool stop;   /* a mistake after which the tree cannot be trusted */
    bool nomem;
};

static bool find_lines(struct builder *b);
static void run_parser(struct builder *b);
static void take_event(struct builder *b, struct fy_event *event);
static void take_scalar(struct builder *b, struct fy_event *event);
static const char *unquote(struct builder *b, const struct fy_mark *start,
                           const struct fy_mark *end, size_t *ret_len);
static void open_collection(struct builder *b, struct fy_event *event, enum lapse_node_kind kind);
static void close_collection(struct builder *b, struct fy_event *event);
static void close_map(struct builder *b, struct lapse_node *map, const struct lapse_list *list);
static bool keep_key(struct builder *b, struct lapse_node *map, struct lapse_names *names,
                     struct lapse_node *key);
static void refuse_marks(struct builder *b, struct fy_event *event, const struct fy_token *anchor,
                         const struct fy_token *tag);
static void attach(struct builder *b, struct lapse_node *node);
static void end_document(struct builder *b);
static int first_line(const struct builder *b, int line);
static bool begins_marked(const struct builder *b, int line);
static void note_errors(struct builder *b, struct fy_diag *diag);
static struct lapse_place place_of(struct builder *b, const struct fy_mark *start,
                                   const struct fy_mark *end);
static struct lapse_node *new_node(struct builder *b, enum lapse_node_kind kind,
                                   struct lapse_place place);

bool lapse_yaml_parse(struct lapse_pool *pool, const char *file, const char *text, size_t len,
                      struct lapse_list *ret, struct lapse_diag_list *diags) {
    struct builder b = {.pool = pool,
                        .diags = diags,
                        .file = file,
                        .text = text,
                        .len = len,
                        .lines = {.item_bytes = sizeof(size_t)},
                        .documents = ret};
    for (size_t i = 0; i < LAPSE_NODE_DEPTH_MAX; i++) {
        b.frames[i].children.item_bytes = sizeof(struct lapse_node *);
    }
    if (find_lines(&b)) {
        run_parser(&b);
    }
    for (size_t i = 0; i < LAPSE_NODE_DEPTH_MAX; i++) {
        lapse_list_free(pool->alloc, &b.frames[i].children);
    }
    lapse_list_free(pool->alloc, &b.lines);
    return !b.nomem && !pool->failed;
}

static bool find_lines(struct builder *b) {
    for (size_t at = 0; at <= b->len; at++) {
        if (at != 0 && b->text[at - 1] != '\n') {
            continue;
        }
        size_t *line = lapse_list_add(b->pool->alloc, &b->lines);
        if (line == NULL) {
            b->nomem = true;
            return false;
        }
        *line = at;
    }
    return true;
}

static void run_parser(struct builder *b) {
    struct fy_diag_cfg diag_cfg;
    fy_diag_cfg_default(&diag_cfg);
    diag_cfg.fp = NULL;
    diag_cfg.colorize = false;
    struct fy_diag *diag = fy_diag_create(&diag_cfg);
    if (diag == NULL) {
        b->nomem = true;
        return;
    }
    fy_diag_set_collect_errors(diag, true);
    struct fy_parse_cfg cfg = {.search_path = "", .flags = FYPCF_QUIET, .diag = diag};
    struct fy_parser *parser = fy_parser_create(&cfg);
    if (parser == NULL || fy_parser_set_string(parser, b->text, b->len) != 0) {
        b->nomem = true;
    }
    while (!b->nomem && !b->stop) {
        struct fy_event *event = fy_parser_parse(parser);
        if (event == NULL) {
            break;
        }
        take_event(b, event);
        fy_parser_event_free(parser, event);
    }
    if (!b->nomem && !b->stop && parser != NULL && fy_parser_get_stream_error(parser)) {
        note_errors(b, diag);
    }
    if (parser != NULL) {
        fy_parser_destroy(parser);
    }
    fy_diag_destroy(diag);
}

static void take_event(struct builder *b, struct fy_event *event) {
    switch (event->type) {
    case FYET_DOCUMENT_START:
        b->root = NULL;
        b->depth = 0;
        b->line_first = place_of(b, fy_event_start_mark(event), NULL).line;
        break;
    case FYET_DOCUMENT_END:
        end_document(b);
        break;
    case FYET_MAPPING_START:
        refuse_marks(b, event, event->mapping_start.anchor, event->mapping_start.tag);
        open_collection(b, event, LAPSE_NODE_MAP);
        break;
    case FYET_SEQUENCE_START:
        refuse_marks(b, event, event->sequence_start.anchor, event->sequence_start.tag);
        open_collection(b, event, LAPSE_NODE_SEQ);
        break;
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        close_collection(b, event);
        break;
    case FYET_SCALAR:
        refuse_marks(b, event, event->scalar.anchor, event->scalar.tag);
        take_scalar(b, event);
        break;
    case FYET_ALIAS:
        refuse_marks(b, event, event->alias.anchor, NULL);
        break;
    case FYET_NONE:
    case FYET_STREAM_START:
    case FYET_STREAM_END:
        break;
    }
}

static void take_scalar(struct builder *b, struct fy_event *event) {
    struct fy_token *token = event->scalar.value;
    const struct fy_mark *start = fy_event_start_mark(event);
    enum fy_scalar_style style = token == NULL ? FYSS_PLAIN : fy_token_scalar_style(token);
    size_t len = 0;
    const char *text = "";
    if (style == FYSS_SINGLE_QUOTED) {
        text = unquote(b, start, fy_event_end_mark(event), &len);
    } else if (token != NULL) {
        text = fy_token_get_text(token, &len);
    }
    const struct fy_mark *end = token == NULL ? NULL : fy_event_end_mark(event);
    struct lapse_place place = place_of(b, start, end);
    b->last = end == NULL ? b->last : end->input_pos;
    struct lapse_node *node = new_node(b, LAPSE_NODE_SCALAR, place);
    if (node == NULL || text == NULL) {
        b->nomem = true;
        return;
    }
    /* A double-quoted text can hold an escaped NUL or other control character; a plain one cannot
     * after the guard. */
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c < 0x20 && c != '\n') || c == 0x7F) {
            lapse_mistake_add(b->diags, "Y003", place, "",
                              "a control character (U+%04X) may not stand in a text", (unsigned)c);
            b->stop = true;
            return;
        }
    }
    node->quoted = style != FYSS_PLAIN;
    node->text = lapse_pool_text(b->pool, text, len);
    node->len = len;
    attach(b, node);
}

/* The text of a single-quoted scalar, whose marks lie inside its quotes. The library's own function
 * loses memory on a text with many doubled quotes, so it is done here: `''` is one quote, a line
 * end with the spaces around it is one space, and n > 1 line ends are n - 1. */
static const char *unquote(struct builder *b, const struct fy_mark *start,
                           const struct fy_mark *end, size_t *ret_len) {
    size_t from = start == NULL || start->input_pos > b->len ? b->len : start->input_pos;
    size_t to = end == NULL || end->input_pos > b->len ? b->len : end->input_pos;
    char *text = lapse_pool_take(b->pool, to < from ? 1 : to - from + 1);
    size_t len = 0;
    for (size_t at = from; text != NULL && at < to;) {
        size_t line_ends = 0;
        size_t next = at;
        for (; next < to && (b->text[next] == ' ' || b->text[next] == '\n'); next++) {
            line_ends += b->text[next] == '\n' ? 1 : 0;
        }
        if (line_ends == 0) {
            text[len++] = b->text[at];
            at += b->text[at] == '\'' ? 2 : 1;
            continue;
        }
        memset(text + len, line_ends == 1 ? ' ' : '\n', line_ends == 1 ? 1 : line_ends - 1);
        len += line_ends == 1 ? 1 : line_ends - 1;
        at = next;
    }
    *ret_len = len;
    return text;
}

static void open_collection(struct builder *b, struct fy_event *event, enum lapse_node_kind kind) {
    struct lapse_place place = place_of(b, fy_event_start_mark(event), NULL);
    if (b->depth == LAPSE_NODE_DEPTH_MAX) {
        struct lapse_diag *diag = lapse_mistake_add(
            b->diags, "Y005", place, "", "nested more than %d deep", (int)LAPSE_NODE_DEPTH_MAX);
        lapse_diag_note(b->diags, diag, "help", "no scenario needs more than 10 levels");
        b->stop = true;
        return;
    }
    struct lapse_node *node = new_node(b, kind, place);
    if (node == NULL) {
        return;
    }
    b->frames[b->depth].node = node;
    b->frames[b->depth].children.count = 0;
    b->depth++;
}

static void close_collection(struct builder *b, struct fy_event *event) {
    if (b->depth == 0 || b->nomem || b->stop) {
        return;
    }
    struct frame *frame = &b->frames[--b->depth];
    struct lapse_node *node = frame->node;
    struct lapse_place end = place_of(b, fy_event_end_mark(event), NULL);
    if (node->kind == LAPSE_NODE_MAP) {
        close_map(b, node, &frame->children);
    } else {
        node->count = frame->children.count;
        node->items = lapse_list_seal(&frame->children, b->pool);
    }
    /* A span is of one line: a longer thing is shown by its beginning. */
    if (end.line == node->place.line && end.column > node->place.column) {
        node->place.span = end.column - node->place.column;
    } else if (node->count > 0) {
        const struct lapse_node *first =
            node->kind == LAPSE_NODE_MAP ? node->keys[0] : node->items[0];
        bool same = first->place.line == node->place.line;
        node->place.span = same ? first->place.column + first->place.span - node->place.column : 1;
        node->place.span = node->place.span < 1 ? 1 : node->place.span;
    }
    attach(b, node);
}

static void close_map(struct builder *b, struct lapse_node *map, const struct lapse_list *list) {
    size_t pairs = list->count / 2;
    struct lapse_node **children = list->items;
    struct lapse_names names = {0};
    map->keys = lapse_pool_take(b->pool, pairs * sizeof(struct lapse_node *));
    map->items = lapse_pool_take(b->pool, pairs * sizeof(struct lapse_node *));
    if (map->keys == NULL || map->items == NULL) {
        b->nomem = true;
        return;
    }
    for (size_t i = 0; i < pairs && !b->nomem; i++) {
        if (keep_key(b, map, pairs > SMALL_MAP ? &names : NULL, children[2 * i])) {
            map->keys[map->count] = children[2 * i];
            map->items[map->count++] = children[2 * i + 1];
        }
    }
    lapse_names_free(b->pool->alloc, &names);
}

/* Whether the key is a word that the map does not have yet. */
static bool keep_key(struct builder *b, struct lapse_node *map, struct lapse_names *names,
                     struct lapse_node *key) {
    if (key->kind != LAPSE_NODE_SCALAR) {
        struct lapse_diag *diag = lapse_mistake_add(b->diags, "Y012", key->place, "",
                                                    "a key must be a word, not a map or a list");
        lapse_diag_note(b->diags, diag, "help", "write `word: value`");
        return false;
    }
    int64_t first = -1;
    if (names == NULL) {
        first = lapse_node_index(map, key->text);
    } else {
        first = lapse_names_find(names, 1, lapse_node_bytes(key));
        if (first < 0 && !lapse_names_add(b->pool->alloc, names, 1, lapse_node_bytes(key),
                                          (int32_t)map->count)) {
            b->nomem = true;
            return false;
        }
    }
    if (first < 0) {
        return true;
    }
    struct lapse_diag *diag = lapse_mistake_add(b->diags, "Y011", key->place, "a second time",
                                                "`%.60s` stands twice in one map", key->text);
    lapse_diag_label(b->diags, diag, map->keys[first]->place, "first here");
    lapse_diag_note(b->diags, diag, "help", "keep one of them");
    return false;
}

static void refuse_marks(struct builder *b, struct fy_event *event, const struct fy_token *anchor,
                         const struct fy_token *tag) {
    struct lapse_place place = place_of(b, fy_event_start_mark(event), NULL);
    if (anchor != NULL) {
        struct lapse_diag *diag =
            lapse_mistake_add(b->diags, "Y009", place, "", "anchors and aliases are not read here");
        lapse_diag_note(b->diags, diag, "help",
                        "write the lines out, or copy a whole document with `like: NAME`");
        b->stop = true;
    }
    if (tag != NULL) {
        struct lapse_diag *diag =
            lapse_mistake_add(b->diags, "Y010", place, "", "tags are not read here");
        lapse_diag_note(b->diags, diag, "help",
                        "leave the tag out: what a value is follows from its word");
        b->stop = true;
    }
}

static void attach(struct builder *b, struct lapse_node *node) {
    if (b->depth == 0) {
        b->root = node;
        return;
    }
    struct lapse_node **child = lapse_list_add(b->pool->alloc, &b->frames[b->depth - 1].children);
    if (child == NULL) {
        b->nomem = true;
        return;
    }
    *child = node;
}

static void end_document(struct builder *b) {
    struct lapse_document *document = lapse_list_add(b->pool->alloc, b->documents);
    if (document == NULL) {
        b->nomem = true;
        return;
    }
    document->root = b->root;
    document->line_begin = b->root == NULL ? b->line_first : first_line(b, b->root->place.line);
    /* What stands above the first word of a file belongs to its address; a `---` does not. */
    bool marked = b->root != NULL && begins_marked(b, document->line_begin);
    document->line_first = marked ? b->root->place.line : document->line_begin;
    size_t index = b->documents->count - 1;
    if (index > 0) {
        struct lapse_document *before = lapse_list_at(b->documents, index - 1);
        before->line_last = document->line_begin - 1;
    }
    bool newline_last = b->len > 0 && b->text[b->len - 1] == '\n';
    document->line_last = (int)b->lines.count - (newline_last ? 1 : 0);
}

/* The line of the `---` at or above `line`, or 1. At the start of a line it always parts
 * documents. */
static int first_line(const struct builder *b, int line) {
    for (int at = line; at > 1; at--) {
        if (begins_marked(b, at)) {
            return at;
        }
    }
    return 1;
}

static bool begins_marked(const struct builder *b, int line) {
    size_t start = *(size_t *)lapse_list_at(&b->lines, (size_t)line - 1);
    return b->len - start >= 3 && memcmp(b->text + start, "---", 3) == 0;
}

/* Only the first error is told: after it the library guesses. */
static void note_errors(struct builder *b, struct fy_diag *diag) {
    void *iterator = NULL;
    const struct fy_diag_error *error = fy_diag_errors_iterate(diag, &iterator);
    struct lapse_place place = {b->file, 1, 1, 1};
    const char *message = "it cannot be read";
    if (error != NULL) {
        int line_count = (int)b->lines.count;
        place.line = error->line < 1 ? 1 : error->line > line_count ? line_count : error->line;
        place.column = error->column < 1 ? 1 : error->column;
        message = error->msg == NULL ? message : error->msg;
    }
    size_t len = strcspn(message, "\n");
    char shown[160];
    (void)lapse_bytes_print((struct lapse_bytes){(const unsigned char *)message, len}, shown,
                            sizeof(shown));
    struct lapse_diag *noted =
        lapse_mistake_add(b->diags, "Y008", place, "", "this is not YAML: %s", shown);
    lapse_diag_note(b->diags, noted, "help",
                    "check brackets, quotes and indentation here and on the line before");
    b->stop = true;
}

/* Marks count bytes of the input from 0. */
static struct lapse_place place_of(struct builder *b, const struct fy_mark *start,
                                   const struct fy_mark *end) {
    size_t at = start == NULL ? b->last : start->input_pos;
    at = at > b->len ? b->len : at;
    size_t low = 0;
    size_t high = b->lines.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (*(size_t *)lapse_list_at(&b->lines, middle) <= at) {
            low = middle;
        } else {
            high = middle;
        }
    }
    size_t line_start = *(size_t *)lapse_list_at(&b->lines, low);
    size_t line_end =
        low + 1 < b->lines.count ? *(size_t *)lapse_list_at(&b->lines, low + 1) - 1 : b->len;
    size_t stop = end == NULL || end->input_pos > line_end ? line_end : end->input_pos;
    int span = end == NULL || stop <= at ? 1 : (int)(stop - at);
    return (struct lapse_place){b->file, (int)low + 1, (int)(at - line_start) + 1, span};
}

static struct lapse_node *new_node(struct builder *b, enum lapse_node_kind kind,
                                   struct lapse_place place) {
    struct lapse_node *node = lapse_pool_take(b->pool, sizeof(*node));
    if (node == NULL) {
        b->nomem = true;
        return NULL;
    }
    node->kind = kind;
    node->place = place;
    node->text = "";
    return node;
}
