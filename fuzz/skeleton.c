/* What is left of a document's lines: the words, and not what they are said of. */
#include "fuzz/skeleton.h"

#include "scenarios/yaml.h"

#include <string.h>

enum { PRIME_BITS = 40 };

static uint64_t mix_text(uint64_t hash, const char *text, size_t len);
static uint64_t mix_lines(uint64_t hash, const struct lapse_node *node);
static uint64_t mix_line(uint64_t hash, const struct lapse_node *line);

uint64_t lapse_skeleton_digest(const char *text, size_t bytes) {
    const lapse_alloc *alloc = lapse_alloc_libc();
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    struct lapse_diag_list diags;
    struct lapse_pool pool;
    const struct lapse_node *root = NULL;
    lapse_pool_init(&pool, alloc);
    lapse_diag_list_init(&diags, alloc);
    if (lapse_yaml_parse(&pool, "skeleton", text, bytes, &documents, &diags) &&
        documents.count > 0) {
        root = ((const struct lapse_document *)lapse_list_at(&documents, 0))->root;
    }
    uint64_t hash = root != NULL ? 1 : mix_text(1, text, bytes);
    static const char *const sections[] = {"store", "actors", "faults", "steps"};
    for (size_t i = 0; root != NULL && i < sizeof sections / sizeof *sections; i++) {
        hash = mix_lines(mix_text(hash, sections[i], i), lapse_node_get(root, sections[i]));
    }
    lapse_list_free(alloc, &documents);
    lapse_diag_list_free(&diags);
    lapse_pool_free(&pool);
    return hash;
}

static uint64_t mix_text(uint64_t hash, const char *text, size_t len) {
    for (size_t i = 0; i < len; i++) {
        hash = (hash ^ (unsigned char)text[i]) * ((UINT64_C(1) << PRIME_BITS) + 0x1b3);
    }
    return hash;
}

/* Maps of names (actors, tasks) lead to lists of lines. */
static uint64_t mix_lines(uint64_t hash, const struct lapse_node *node) {
    for (size_t i = 0; node != NULL && i < node->count; i++) {
        bool line = node->kind == LAPSE_NODE_SEQ && node->items[i]->kind == LAPSE_NODE_MAP;
        hash = line ? mix_line(hash, node->items[i]) : mix_lines(hash, node->items[i]);
    }
    return hash;
}

static uint64_t mix_line(uint64_t hash, const struct lapse_node *line) {
    static const char *const left_out[] = {"at", "by", "value", "save", "label", "timeout"};
    for (size_t i = 0; i < line->count; i++) {
        const struct lapse_node *key = line->keys[i];
        bool out = strncmp(key->text, "on_", 3) == 0;
        for (size_t k = 0; k < sizeof left_out / sizeof *left_out; k++) {
            out = out || strcmp(key->text, left_out[k]) == 0;
        }
        if (!out) {
            hash = mix_lines(mix_text(hash, key->text, key->len), line->items[i]);
        }
    }
    return mix_text(hash, ";", 1);
}
