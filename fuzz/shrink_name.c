/* Names: all that is about one thing left out at once, two clients made one, and plain names for
 * what is left. */
#include "shrink_parts.h"

#include <stdio.h>
#include <string.h>

enum { NAMES_MAX = 256, NAME_BYTES_MAX = 64 };

/* What a name is of. A client's, a bucket's, a resource's and a save's stand as words in texts; a
 * lease's and a value are whole texts, a key the rest of one behind its bucket. */
enum kind { ACTOR = 1, BUCKET, RESOURCE, SAVE, LEASE, KEY, VALUE, KINDS };

struct name {
    enum kind kind;
    char text[NAME_BYTES_MAX];
};
struct names {
    size_t count;
    struct name items[NAMES_MAX];
};

static void drop_name(struct lapse_shrinker *s, const char *name, bool lines);
static bool mentions(const struct lapse_node *node, const char *name);
static bool has_word(const struct lapse_node *scalar, const char *name);
static size_t word_at(const char *text, size_t len, size_t at);
static bool is_word_char(char c);
static void cut_mentions(const struct lapse_shrinker *s, struct lapse_node *node,
                         const char *name, bool lines, int depth);
static void merge_actors(struct lapse_shrinker *s);
static void gather(const struct lapse_shrinker *s, struct names *ret);
static void add(struct names *names, enum kind kind, const char *text, size_t len);
static void gather_spot(const struct lapse_shrinker *s, const struct lapse_shrink_spot *spot,
                        struct names *ret);
static bool is_bucket(const struct lapse_shrinker *s, const char *text, size_t len);
static bool replace(struct lapse_shrinker *s, struct lapse_node *node, const struct name *name,
                    const char *to, const char *word);
static bool replace_text(struct lapse_shrinker *s, struct lapse_node *scalar,
                         const struct name *name, const char *to, const char *word);
static bool replace_words(struct lapse_shrinker *s, struct lapse_node *scalar, const char *from,
                          const char *to);
static void plain_name(enum kind kind, size_t which, char *ret);

void lapse_shrink_names(struct lapse_shrinker *s) {
    struct names names = {0};
    if (!lapse_shrink_draft(s)) {
        return;
    }
    gather(s, &names);
    for (size_t i = 0; i < names.count; i++) {
        drop_name(s, names.items[i].text, true);
        if (!s->target.unmet) {
            drop_name(s, names.items[i].text, false);
        }
    }
    merge_actors(s);
}

void lapse_shrink_rename(struct lapse_shrinker *s) {
    struct names names = {0};
    size_t counts[KINDS] = {0};
    if (s->target.unmet || s->options->as_written || !lapse_shrink_draft(s)) {
        return;
    }
    gather(s, &names);
    for (size_t i = 0; i < names.count; i++) {
        const struct name *name = &names.items[i];
        char to[NAME_BYTES_MAX];
        plain_name(name->kind, counts[name->kind]++, to);
        if (strcmp(to, name->text) == 0 || !lapse_shrink_draft(s)) {
            continue;
        }
        if (!mentions(s->draft, to) && replace(s, s->draft, name, to, "")) {
            (void)lapse_shrink_keep(s);
        }
    }
}

/* Lines that name it, or only the words that do. */
static void drop_name(struct lapse_shrinker *s, const char *name, bool lines) {
    if (!lapse_shrink_draft(s)) {
        return;
    }
    cut_mentions(s, s->draft, name, lines, 0);
    (void)lapse_shrink_keep(s);
}

/* `name` of the document is not touched. */
static void cut_mentions(const struct lapse_shrinker *s, struct lapse_node *node,
                         const char *name, bool lines, int depth) {
    for (size_t i = node->count; i-- > 0;) {
        struct lapse_node *item = node->items[i];
        bool map = node->kind == LAPSE_NODE_MAP;
        bool scalar = item->kind == LAPSE_NODE_SCALAR;
        bool line = !map && item->kind == LAPSE_NODE_MAP;
        bool named = map && strcmp(node->keys[i]->text, name) == 0;
        bool gone = named || (scalar && has_word(item, name)) ||
                    (lines && line && mentions(item, name));
        if (scalar && (depth == 0 || (map && lapse_shrink_guarded(s, node->keys[i]->text)))) {
            continue;
        }
        if (gone) {
            lapse_shrink_cut(node, i, 1);
        } else {
            cut_mentions(s, item, name, lines, depth + 1);
        }
    }
}

static bool mentions(const struct lapse_node *node, const char *name) {
    if (node->kind == LAPSE_NODE_SCALAR) {
        return has_word(node, name);
    }
    for (size_t i = 0; i < node->count; i++) {
        if (mentions(node->items[i], name) ||
            (node->kind == LAPSE_NODE_MAP && strcmp(node->keys[i]->text, name) == 0)) {
            return true;
        }
    }
    return false;
}

static bool has_word(const struct lapse_node *scalar, const char *name) {
    size_t len = strlen(name);
    if (scalar->len == len && memcmp(scalar->text, name, len) == 0) {
        return true;
    }
    for (size_t at = 0; at < scalar->len;) {
        size_t word = word_at(scalar->text, scalar->len, at);
        if (word == len && memcmp(scalar->text + at, name, len) == 0) {
            return true;
        }
        at += word > 0 ? word : 1;
    }
    return false;
}

/* The bytes of the word that begins here; 0: none does. */
static size_t word_at(const char *text, size_t len, size_t at) {
    size_t end = at;
    while (end < len && is_word_char(text[end])) {
        end++;
    }
    return end - at;
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Each client in the place of each before it. Where both have lines of their own the loader
 * refuses it; and what clients promise each other, one client alone has nobody to keep to. */
static void merge_actors(struct lapse_shrinker *s) {
    struct names names = {0};
    if (s->target.unmet || s->options->as_written || lapse_shrink_guarded(s, "by") ||
        !lapse_shrink_draft(s)) {
        return;
    }
    gather(s, &names);
    for (size_t i = 1; i < names.count; i++) {
        for (size_t k = 0; k < i && names.items[i].kind == ACTOR; k++) {
            struct lapse_node *actors = NULL;
            if (names.items[k].kind != ACTOR || !lapse_shrink_draft(s)) {
                continue;
            }
            actors = lapse_node_get(s->draft, "actors");
            for (size_t at = 0; actors != NULL && at < actors->count; at++) {
                const struct lapse_node *who =
                    actors->kind == LAPSE_NODE_MAP ? actors->keys[at] : actors->items[at];
                if (lapse_node_is(who, names.items[i].text)) {
                    lapse_shrink_cut(actors, at, 1);
                }
            }
            if (replace(s, s->draft, &names.items[i], names.items[k].text, "")) {
                (void)lapse_shrink_keep(s);
            }
        }
    }
}

static void gather(const struct lapse_shrinker *s, struct names *ret) {
    for (size_t i = 0; i < s->spots.count; i++) {
        gather_spot(s, lapse_shrink_spot(s, i), ret);
    }
}

static void gather_spot(const struct lapse_shrinker *s, const struct lapse_shrink_spot *spot,
                        struct names *ret) {
    static const char *const declared[] = {"actors", "buckets", "resources"};
    static const char *const leases[] = {"acquire", "extend",   "release", "inspect", "holder",
                                         "left",    "believes", "may",     "revoke",  "session"};
    const struct lapse_node *item = lapse_shrink_at(spot);
    bool map = spot->parent->kind == LAPSE_NODE_MAP;
    for (size_t i = 0; i < sizeof(declared) / sizeof(declared[0]); i++) {
        const struct lapse_node *list = lapse_node_get(s->draft, declared[i]);
        if (list != NULL && spot->parent == list) {
            const struct lapse_node *name = map ? list->keys[spot->index] : item;
            add(ret, (enum kind)(ACTOR + (int)i), name->text, name->len);
            return;
        }
    }
    if (item->kind != LAPSE_NODE_SCALAR || !map || spot->parent == s->draft) {
        return;
    }
    size_t slash = strcspn(item->text, "/");
    if (strcmp(spot->word, "save") == 0) {
        add(ret, SAVE, item->text, item->len);
    } else if (strcmp(spot->word, "value") == 0) {
        add(ret, VALUE, item->text, item->len);
    } else if (slash < item->len && is_bucket(s, item->text, slash)) {
        add(ret, KEY, item->text + slash + 1, item->len - slash - 1);
    }
    for (size_t i = 0; i < sizeof(leases) / sizeof(leases[0]); i++) {
        if (strcmp(spot->word, leases[i]) == 0 &&
            !(slash < item->len && is_bucket(s, item->text, slash))) {
            add(ret, LEASE, item->text, item->len);
        }
    }
}

static bool is_bucket(const struct lapse_shrinker *s, const char *text, size_t len) {
    const struct lapse_node *buckets = lapse_node_get(s->draft, "buckets");
    for (size_t i = 0; buckets != NULL && i < buckets->count; i++) {
        const struct lapse_node *name =
            buckets->kind == LAPSE_NODE_MAP ? buckets->keys[i] : buckets->items[i];
        if (name->kind == LAPSE_NODE_SCALAR && name->len == len &&
            memcmp(name->text, text, len) == 0) {
            return true;
        }
    }
    return false;
}

/* Names with saved names in them, and those past the bound, stay as they are. */
static void add(struct names *names, enum kind kind, const char *text, size_t len) {
    bool fits = len > 0 && len < NAME_BYTES_MAX && names->count < NAMES_MAX;
    if (!fits || memchr(text, '$', len) != NULL) {
        return;
    }
    for (size_t i = 0; i < names->count; i++) {
        if (names->items[i].kind == kind && strlen(names->items[i].text) == len &&
            memcmp(names->items[i].text, text, len) == 0) {
            return;
        }
    }
    struct name *name = &names->items[names->count++];
    name->kind = kind;
    memcpy(name->text, text, len);
    name->text[len] = '\0';
}

static bool replace(struct lapse_shrinker *s, struct lapse_node *node, const struct name *name,
                    const char *to, const char *word) {
    for (size_t i = 0; i < node->count; i++) {
        bool map = node->kind == LAPSE_NODE_MAP;
        struct lapse_node *item = node->items[i];
        const char *key = map ? node->keys[i]->text : word;
        bool declares = map && name->kind <= RESOURCE && item->kind != LAPSE_NODE_SCALAR &&
                        strcmp(key, name->text) == 0;
        if (declares && !lapse_shrink_set_text(s, node->keys[i], to)) {
            return false;
        }
        bool top = node == s->draft && item->kind == LAPSE_NODE_SCALAR;
        if (!top && !(item->kind == LAPSE_NODE_SCALAR ? replace_text(s, item, name, to, key)
                                                      : replace(s, item, name, to, key))) {
            return false;
        }
    }
    return true;
}

static bool replace_text(struct lapse_shrinker *s, struct lapse_node *scalar,
                         const struct name *name, const char *to, const char *word) {
    char text[2 * NAME_BYTES_MAX];
    const char *slash = strchr(scalar->text, '/');
    bool whole = strcmp(scalar->text, name->text) == 0;
    bool valued = strcmp(word, "value") == 0;
    switch (name->kind) {
    case VALUE:
    case LEASE:
        return !whole || (name->kind == LEASE && valued) || lapse_shrink_set_text(s, scalar, to);
    case KEY:
        if (slash == NULL || strcmp(slash + 1, name->text) != 0 ||
            slash - scalar->text >= NAME_BYTES_MAX) {
            return true;
        }
        (void)snprintf(text, sizeof(text), "%.*s/%s", (int)(slash - scalar->text), scalar->text,
                       to);
        return lapse_shrink_set_text(s, scalar, text);
    default:
        return valued || replace_words(s, scalar, name->text, to);
    }
}

static bool replace_words(struct lapse_shrinker *s, struct lapse_node *scalar, const char *from,
                          const char *to) {
    char text[4 * NAME_BYTES_MAX];
    size_t out = 0;
    if (!has_word(scalar, from) || scalar->len * 2 >= sizeof(text)) {
        return true;
    }
    for (size_t at = 0; at < scalar->len && out + NAME_BYTES_MAX < sizeof(text);) {
        size_t word = word_at(scalar->text, scalar->len, at);
        bool hit = word == strlen(from) && memcmp(scalar->text + at, from, word) == 0;
        size_t step = word > 0 ? word : 1;
        const char *put = hit ? to : scalar->text + at;
        size_t len = hit ? strlen(to) : step;
        len = len < NAME_BYTES_MAX ? len : NAME_BYTES_MAX - 1;
        memcpy(text + out, put, len);
        out += len;
        at += step;
    }
    text[out] = '\0';
    return lapse_shrink_set_text(s, scalar, text);
}

/* a, b, c for clients; else one word, and a number from the second on. */
static void plain_name(enum kind kind, size_t which, char *ret) {
    static const char *const words[KINDS] = {"", "", "kv", "r", "t", "job", "k", "x"};
    if (kind == ACTOR && which < 26) {
        (void)snprintf(ret, NAME_BYTES_MAX, "%c", (char)('a' + (int)which));
    } else if (which == 0) {
        (void)snprintf(ret, NAME_BYTES_MAX, "%s", words[kind]);
    } else {
        (void)snprintf(ret, NAME_BYTES_MAX, "%s%zu", words[kind], which + 1);
    }
}
