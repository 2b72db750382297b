/* The test that what is drawn is written back: documents made of the table's words, by chance; what
 * the loader takes of them is written, and must load equal. What the loader refuses is counted.
 *
 * Usage: random COUNT [SEED]. Output is TAP. It is a plain main so that leaks fail it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scenarios/emit.h"
#include "scenarios/yaml.h"

enum { SHOWN_MAX = 5 };

static bool check(struct lapse_draw *d, const struct lapse_node *document, size_t *loaded,
                  struct lapse_error *err);
static size_t count_undrawn(const bool *drawn);
static void show(const char *text);

int main(int argc, char **argv) {
    unsigned long long count = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
    unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    bool drawn[LAPSE_DRAWN_MAX] = {false};
    size_t loaded = 0, failed = 0;
    for (unsigned long long i = 0; i < count; i++) {
        struct lapse_pool pool;
        struct lapse_error err = {0};
        lapse_pool_init(&pool, lapse_alloc_libc());
        struct lapse_draw d = {.e = {.pool = &pool, .step = -1},
                               .state = (seed * 1000003 + i) * UINT64_C(0x9E3779B97F4A7C15) + 1,
                               .drawn = drawn};
        struct lapse_node *document = lapse_draw_document(&d);
        if (!check(&d, document, &loaded, &err) && ++failed <= SHOWN_MAX) {
            printf("# document %llu of seed %llu: %s\n", i, seed, err.message);
        }
        lapse_pool_free(&pool);
    }
    printf("%sok 1 - what is drawn and loads is written back and loads equal\n",
           failed == 0 ? "" : "not ");
    bool most = loaded * 2 >= count;
    printf("%sok 2 - most of what is drawn loads\n", most ? "" : "not ");
    size_t never = count_undrawn(drawn);
    printf("%sok 3 - every word is drawn\n", never == 0 || count < 1000 ? "" : "not ");
    printf("1..3\n# %llu drawn, %zu loaded, %zu not equal\n", count, loaded, failed);
    return failed > 0 || !most || (never > 0 && count >= 1000) ? 1 : 0;
}

static size_t count_undrawn(const bool *drawn) {
    size_t words = 0, never = 0;
    const struct lapse_word *table = lapse_word_table(&words);
    LAPSE_ASSERT(words <= LAPSE_DRAWN_MAX);
    for (size_t i = 0; i < words; i++) {
        bool resolved = table[i].kind == LAPSE_WORD_TOP &&
                        lapse_words_have("vary like change drop add", table[i].word);
        if (table[i].stage <= LAPSE_STAGE_NOW && !resolved && !drawn[i]) {
            never++;
            printf("# never drawn: `%s` of kind %d\n", table[i].word, (int)table[i].kind);
        }
    }
    return never;
}

/* A document as comments of TAP. */
static void show(const char *text) {
    while (*text != '\0') {
        size_t len = strcspn(text, "\n");
        printf("#   %.*s\n", (int)len, text);
        text += len + (text[len] == '\n' ? 1 : 0);
    }
}

static bool check(struct lapse_draw *d, const struct lapse_node *document, size_t *loaded,
                  struct lapse_error *err) {
    const lapse_alloc *alloc = d->e.pool->alloc;
    struct lapse_emitted drawn = {.alloc = alloc};
    struct lapse_emitted written = {0};
    struct lapse_file file = {0};
    bool fine = lapse_yaml_write(document, &drawn, err) == LAPSE_OK;
    enum lapse_status status =
        fine ? lapse_file_load(alloc, "drawn.yaml", drawn.text, drawn.bytes, &file) : LAPSE_INVALID;
    if (status == LAPSE_OK) {
        *loaded += 1;
        fine = lapse_plans_emit_proved(alloc, (const struct lapse_plan *const *)file.plans,
                                       file.plan_count, &written, err) == LAPSE_OK;
    }
    if (!fine && drawn.text != NULL) {
        show(drawn.text);
    }
    lapse_emitted_free(&written);
    lapse_file_free(&file);
    lapse_emitted_free(&drawn);
    return fine;
}
