/* The loader: guard, parse, resolve `like` and `vary`, decode. Each stage that finds the text
 * unreadable ends it; mistakes of meaning are gathered over the whole file. */
#include "scenarios/load.h"

#include <stdio.h>
#include <string.h>

#include "decode.h"
#include "guard.h"
#include "like.h"
#include "vary.h"
#include "scenarios/yaml.h"

/* What all documents of a file may unfold to by `like`, `vary` and `times`, in nodes. */
enum { UNFOLDED_MAX = 100000 };

struct loader {
    struct lapse_file *file;
    struct lapse_pool pool;  /* of the trees */
    struct lapse_list roots; /* of struct lapse_node *: documents with `like` resolved */
    struct lapse_names names;
    struct lapse_list plans; /* of struct lapse_plan * */
    int64_t budget;
    bool nomem;
};

static bool copy_input(struct lapse_file *file, const char *name, const char *bytes,
                       size_t byte_count);
static void load_documents(struct loader *l, const struct lapse_list *documents);
static struct lapse_node *resolve_document(struct loader *l, const struct lapse_document *document);
static struct lapse_node *find_base(struct loader *l, const struct lapse_node *like);
static void name_document(struct loader *l, const struct lapse_node *root, int32_t number);
static void decode_rows(struct loader *l, const struct lapse_document *document,
                        const struct lapse_node *root, int32_t number);
static void decode_row(struct loader *l, struct lapse_decode_input *input);
static bool over_budget(struct loader *l, struct lapse_place place);
static void finish(struct loader *l);
static FILE *open_file(const char *path, struct lapse_error *err);
static enum lapse_status read_all(const lapse_alloc *alloc, FILE *stream, char **ret,
                                  size_t *ret_cap, size_t *ret_bytes);

enum lapse_status lapse_file_load(const lapse_alloc *alloc, const char *name, const char *bytes,
                                  size_t byte_count, struct lapse_file *ret) {
    *ret = (struct lapse_file){.alloc = alloc};
    lapse_diag_list_init(&ret->diags, alloc);
    struct loader l = {.file = ret,
                       .roots = {.item_bytes = sizeof(struct lapse_node *)},
                       .plans = {.item_bytes = sizeof(struct lapse_plan *)},
                       .budget = UNFOLDED_MAX};
    struct lapse_list documents = {.item_bytes = sizeof(struct lapse_document)};
    lapse_pool_init(&l.pool, alloc);
    l.nomem = !copy_input(ret, name, bytes, byte_count);
    if (!l.nomem && lapse_guard_check(ret->name, bytes, byte_count, &ret->diags)) {
        l.nomem = !lapse_yaml_parse(&l.pool, ret->name, ret->text, ret->text_bytes, &documents,
                                    &ret->diags);
    }
    if (!l.nomem && ret->diags.count == 0 && documents.count == 0) {
        struct lapse_diag *diag =
            lapse_mistake_add(&ret->diags, "Y007", (struct lapse_place){ret->name, 1, 1, 1}, "",
                              "this file is empty");
        lapse_diag_note(&ret->diags, diag, "help", "a scenario has `steps` or `actors`");
    }
    if (!l.nomem) {
        load_documents(&l, &documents);
    }
    finish(&l);
    lapse_list_free(alloc, &documents);
    lapse_list_free(alloc, &l.roots);
    lapse_names_free(alloc, &l.names);
    lapse_pool_free(&l.pool);
    if (l.nomem) {
        return LAPSE_NOMEM;
    }
    return ret->diags.count > 0 ? LAPSE_INVALID : LAPSE_OK;
}

enum lapse_status lapse_file_read(const lapse_alloc *alloc, const char *path,
                                  struct lapse_file *ret, struct lapse_error *err) {
    *ret = (struct lapse_file){.alloc = alloc};
    lapse_diag_list_init(&ret->diags, alloc);
    FILE *stream = open_file(path, err);
    if (stream == NULL) {
        return LAPSE_IO;
    }
    char *bytes = NULL;
    size_t cap = 0;
    size_t count = 0;
    enum lapse_status status = read_all(alloc, stream, &bytes, &cap, &count);
    (void)fclose(stream);
    if (status == LAPSE_OK) {
        status = lapse_file_load(alloc, path, bytes == NULL ? "" : bytes, count, ret);
    }
    lapse_alloc_free(alloc, bytes, cap);
    if (status == LAPSE_IO) {
        return lapse_error_set(err, LAPSE_IO, "%.200s cannot be read", path);
    }
    if (status == LAPSE_NOMEM) {
        return lapse_error_set(err, LAPSE_NOMEM, "memory ran out while loading %.200s", path);
    }
    if (status == LAPSE_INVALID) {
        return lapse_error_set(err, LAPSE_INVALID, "%.200s has %zu mistakes", path,
                               ret->diags.count);
    }
    return status;
}

void lapse_file_free(struct lapse_file *file) {
    if (file == NULL || file->alloc == NULL) {
        return;
    }
    for (size_t i = 0; i < file->plan_count; i++) {
        lapse_decode_free(file->plans[i]);
    }
    lapse_alloc_free(file->alloc, file->plans, file->plan_count * sizeof(struct lapse_plan *));
    lapse_alloc_free(file->alloc, file->name, file->name == NULL ? 0 : strlen(file->name) + 1);
    lapse_alloc_free(file->alloc, file->text, file->text_bytes + 1);
    lapse_diag_list_free(&file->diags);
    *file = (struct lapse_file){0};
}

static bool copy_input(struct lapse_file *file, const char *name, const char *bytes,
                       size_t byte_count) {
    /* Of a file that is too large only the beginning is kept, for the excerpt. */
    size_t kept = byte_count > (size_t)LAPSE_FILE_BYTES_MAX ? 256 : byte_count;
    file->name = lapse_alloc_zero(file->alloc, strlen(name) + 1);
    file->text = lapse_alloc_zero(file->alloc, kept + 1);
    if (file->name == NULL || file->text == NULL) {
        lapse_alloc_free(file->alloc, file->text, kept + 1);
        file->text = NULL;
        return false;
    }
    memcpy(file->name, name, strlen(name));
    if (kept > 0) {
        memcpy(file->text, bytes, kept);
    }
    file->text_bytes = kept;
    return true;
}

static void load_documents(struct loader *l, const struct lapse_list *documents) {
    for (size_t i = 0; i < documents->count && !l->nomem; i++) {
        const struct lapse_document *document = lapse_list_at(documents, i);
        struct lapse_node *root = resolve_document(l, document);
        struct lapse_node **kept = lapse_list_add(l->pool.alloc, &l->roots);
        if (kept == NULL) {
            l->nomem = true;
            return;
        }
        *kept = root;
        if (root == NULL) {
            continue;
        }
        name_document(l, root, (int32_t)i);
        if (over_budget(l, root->place)) {
            return;
        }
        decode_rows(l, document, root, (int32_t)i);
    }
    l->file->document_count = documents->count;
}

/* The document with `like` resolved; NULL if it cannot be decoded. */
static struct lapse_node *resolve_document(struct loader *l,
                                           const struct lapse_document *document) {
    struct lapse_diag_list *diags = &l->file->diags;
    struct lapse_node *root = document->root;
    if (lapse_node_is_null(root)) {
        struct lapse_place place = {l->file->name, document->line_first, 1, 1};
        struct lapse_diag *diag =
            lapse_mistake_add(diags, "Y007", place, "", "this document is empty");
        lapse_diag_note(diags, diag, "help", "write `steps` or `actors`, or take the `---` out");
        return NULL;
    }
    if (root->kind != LAPSE_NODE_MAP) {
        struct lapse_diag *diag = lapse_mistake_add(
            diags, "Y103", root->place, "", "a document is a map of words, and this is %s",
            root->kind == LAPSE_NODE_SEQ ? "a list" : "a single value");
        lapse_diag_note(diags, diag, "help", "begin with `name: ..` and `steps:`");
        return NULL;
    }
    const struct lapse_node *like = lapse_node_get(root, "like");
    struct lapse_node *base = like == NULL ? NULL : find_base(l, like);
    if (like != NULL && base == NULL) {
        return NULL;
    }
    struct lapse_node *resolved = lapse_like_resolve(&l->pool, diags, base, root, &l->budget);
    l->nomem = l->nomem || resolved == NULL;
    return resolved;
}

static struct lapse_node *find_base(struct loader *l, const struct lapse_node *like) {
    int32_t number = -1;
    if (like->kind == LAPSE_NODE_SCALAR) {
        number = lapse_names_find(&l->names, 1, lapse_node_bytes(like));
    }
    if (number >= 0) {
        return *(struct lapse_node **)lapse_list_at(&l->roots, (size_t)number);
    }
    struct lapse_diag *diag = lapse_mistake_add(&l->file->diags, "Y111", like->place, "",
                                                "no earlier document is named `%.60s`", like->text);
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, like->text);
    for (size_t i = 0; i < l->roots.count; i++) {
        const struct lapse_node *root = *(struct lapse_node **)lapse_list_at(&l->roots, i);
        const struct lapse_node *name = lapse_node_get(root, "name");
        if (name != NULL && name->kind == LAPSE_NODE_SCALAR) {
            lapse_nearest_offer(&nearest, name->text);
        }
    }
    if (nearest.best != NULL) {
        lapse_diag_note(&l->file->diags, diag, "help", "did you mean `%s`?", nearest.best);
    } else {
        lapse_diag_note(&l->file->diags, diag, "help",
                        "`like` takes the whole `name` of a document above");
    }
    return NULL;
}

static void name_document(struct loader *l, const struct lapse_node *root, int32_t number) {
    const struct lapse_node *name = lapse_node_get(root, "name");
    if (name == NULL || name->kind != LAPSE_NODE_SCALAR) {
        return;
    }
    int32_t first = lapse_names_find(&l->names, 1, lapse_node_bytes(name));
    if (first < 0) {
        l->nomem = l->nomem ||
                   !lapse_names_add(l->pool.alloc, &l->names, 1, lapse_node_bytes(name), number);
        return;
    }
    const struct lapse_node *other = *(struct lapse_node **)lapse_list_at(&l->roots, (size_t)first);
    struct lapse_diag *diag =
        lapse_mistake_add(&l->file->diags, "Y119", name->place, "a second time",
                          "two documents of this file have the same name");
    lapse_diag_label(&l->file->diags, diag, lapse_node_get(other, "name")->place, "first here");
    lapse_diag_note(&l->file->diags, diag, "help", "a name says what sets this one apart");
}

static void decode_rows(struct loader *l, const struct lapse_document *document,
                        const struct lapse_node *root, int32_t number) {
    struct lapse_diag_list *diags = &l->file->diags;
    struct lapse_vary vary = {.pool = &l->pool, .diags = diags, .budget = l->budget};
    size_t before = diags->count;
    struct lapse_decode_input input = {.alloc = l->pool.alloc,
                                       .diags = diags,
                                       .file = l->file->name,
                                       .root = root,
                                       .row = -1,
                                       .document = number,
                                       .line_begin = document->line_begin,
                                       .line_first = document->line_first,
                                       .line_last = document->line_last,
                                       .budget = &l->budget};
    if (!lapse_vary_read(&vary, root)) {
        l->nomem = true;
        return;
    }
    if (diags->count > before) {
        return; /* without its rows the document would only seem to have more mistakes */
    }
    if (vary.row_count == 0) {
        decode_row(l, &input);
        return;
    }
    int64_t weight = (int64_t)lapse_node_weight(root);
    for (int64_t row = 0; row < vary.row_count && diags->count == before && !l->nomem; row++) {
        struct lapse_pool pool;
        char *text = NULL;
        lapse_pool_init(&pool, l->pool.alloc);
        l->budget -= weight;
        if (over_budget(l, root->place)) {
            return;
        }
        input.root = lapse_vary_row(&vary, &pool, root, row, &text);
        input.row_text = text;
        input.row = (int32_t)row;
        l->nomem = input.root == NULL;
        if (!l->nomem) {
            decode_row(l, &input);
        }
        lapse_pool_free(&pool);
    }
    if (!l->nomem) {
        lapse_vary_check_used(&vary);
    }
}

static void decode_row(struct loader *l, struct lapse_decode_input *input) {
    struct lapse_plan *plan = NULL;
    if (!lapse_decode_document(input, &plan)) {
        l->nomem = true;
        return;
    }
    if (over_budget(l, input->root->place) || plan == NULL) {
        lapse_decode_free(plan);
        return;
    }
    struct lapse_plan **kept = lapse_list_add(l->pool.alloc, &l->plans);
    if (kept == NULL) {
        lapse_decode_free(plan);
        l->nomem = true;
        return;
    }
    *kept = plan;
}

static bool over_budget(struct loader *l, struct lapse_place place) {
    if (l->budget >= 0) {
        return false;
    }
    struct lapse_diag *diag = lapse_mistake_add(
        &l->file->diags, "Y006", place, "", "from here on the file unfolds to more than %d entries",
        (int)UNFOLDED_MAX);
    lapse_diag_note(&l->file->diags, diag, "help",
                    "`like`, `vary` and `times` multiply: use smaller numbers, or split the file");
    return true;
}

/* Hands the plans over, or throws them away if there are mistakes. */
static void finish(struct loader *l) {
    struct lapse_file *file = l->file;
    const lapse_alloc *alloc = l->pool.alloc;
    l->nomem = l->nomem || l->pool.failed || file->diags.failed;
    struct lapse_plan **plans = l->plans.items;
    bool keep = !l->nomem && file->diags.count == 0 && l->plans.count > 0;
    if (keep) {
        file->plans = lapse_alloc_zero(alloc, l->plans.count * sizeof(*file->plans));
        l->nomem = file->plans == NULL;
    }
    for (size_t i = 0; i < l->plans.count; i++) {
        if (file->plans != NULL) {
            file->plans[i] = plans[i];
        } else {
            lapse_decode_free(plans[i]);
        }
    }
    file->plan_count = file->plans == NULL ? 0 : l->plans.count;
    lapse_list_free(alloc, &l->plans);
    lapse_diag_list_sort(&file->diags);
}

static FILE *open_file(const char *path, struct lapse_error *err) {
    FILE *stream = fopen(path, "rb");
    if (stream == NULL) {
        (void)lapse_error_set(err, LAPSE_IO, "%.200s cannot be opened: is it there, and readable?",
                              path);
    }
    return stream;
}

/* Reads to the end, or to just past the size that the guard turns away. */
static enum lapse_status read_all(const lapse_alloc *alloc, FILE *stream, char **ret,
                                  size_t *ret_cap, size_t *ret_bytes) {
    const size_t most = (size_t)LAPSE_FILE_BYTES_MAX + 1;
    while (*ret_bytes < most) {
        void *grown = *ret;
        if (!lapse_alloc_grow(alloc, &grown, ret_cap, *ret_bytes + 65536, 1)) {
            return LAPSE_NOMEM;
        }
        *ret = grown;
        size_t got = fread(*ret + *ret_bytes, 1, *ret_cap - *ret_bytes, stream);
        *ret_bytes += got;
        if (got == 0) {
            return ferror(stream) != 0 ? LAPSE_IO : LAPSE_OK;
        }
    }
    return LAPSE_OK;
}
