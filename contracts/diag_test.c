/* Diagnostics own their texts, keep their bounds and sort by place. */
#include "contracts/diag.h"

#include <criterion/criterion.h>
#include <string.h>

static struct lapse_place place_at(int line, int column) {
    return (struct lapse_place){"a.yaml", line, column, 1};
}

Test(diag, texts_outlive_the_buffers_they_came_from) {
    struct lapse_diag_list list;
    lapse_diag_list_init(&list, lapse_alloc_libc());
    char word[] = "expects";
    struct lapse_diag *diag =
        lapse_diag_add(&list, "Y101", place_at(6, 34), "did you mean `expect`?",
                       "`%s` is not a key of a step", word);
    lapse_diag_label(&list, diag, place_at(5, 1), "%s here", word);
    lapse_diag_note(&list, diag, "help", "%d words", 3);
    memset(word, 'x', sizeof(word) - 1);
    cr_assert_str_eq(diag->message, "`expects` is not a key of a step");
    cr_assert_str_eq(diag->labels[0].text, "did you mean `expect`?");
    cr_assert_str_eq(diag->labels[1].text, "expects here");
    cr_assert_eq(diag->labels[1].place.line, 5);
    cr_assert_str_eq(diag->notes[0].text, "3 words");
    cr_assert_eq(list.count, 1);
    lapse_diag_list_free(&list);
}

Test(diag, what_does_not_fit_is_left_out) {
    struct lapse_diag_list list;
    lapse_diag_list_init(&list, lapse_alloc_libc());
    struct lapse_diag *diag = lapse_diag_add(&list, "Y1", place_at(1, 1), "", "m");
    for (int i = 0; i < 20; i++) {
        lapse_diag_label(&list, diag, place_at(i, 1), "%d", i);
        lapse_diag_note(&list, diag, "note", "%d", i);
    }
    cr_assert_eq(diag->label_count, LAPSE_DIAG_LABELS_MAX);
    cr_assert_eq(diag->note_count, LAPSE_DIAG_NOTES_MAX);
    cr_assert_str_eq(diag->notes[LAPSE_DIAG_NOTES_MAX - 1].text, "5");
    lapse_diag_label(&list, NULL, place_at(1, 1), "no diagnostic");
    lapse_diag_note(&list, NULL, "note", "no diagnostic");
    lapse_diag_list_free(&list);
}

Test(diag, sorting_goes_by_file_line_column_code) {
    struct lapse_diag_list list;
    lapse_diag_list_init(&list, lapse_alloc_libc());
    struct lapse_place other = {"b.yaml", 1, 1, 1};
    (void)lapse_diag_add(&list, "Y5", other, "", "fifth");
    (void)lapse_diag_add(&list, "Y2", place_at(3, 2), "", "fourth");
    (void)lapse_diag_add(&list, "Y1", place_at(3, 2), "", "third");
    (void)lapse_diag_add(&list, "Y9", place_at(3, 1), "", "second");
    (void)lapse_diag_add(&list, "Y8", place_at(2, 9), "", "first");
    lapse_diag_list_sort(&list);
    const char *order[] = {"first", "second", "third", "fourth", "fifth"};
    for (size_t i = 0; i < 5; i++) {
        cr_assert_str_eq(list.items[i]->message, order[i]);
    }
    lapse_diag_list_free(&list);
}

Test(diag, many_diagnostics_keep_their_addresses) {
    struct lapse_diag_list list;
    lapse_diag_list_init(&list, lapse_alloc_libc());
    struct lapse_diag *first = lapse_diag_add(&list, "Y1", place_at(1, 1), "", "the first");
    for (int i = 0; i < 500; i++) {
        (void)lapse_diag_add(&list, "Y2", place_at(i, 1), "", "number %d %0200d", i, i);
    }
    cr_assert_eq(list.items[0], first);
    cr_assert_str_eq(first->message, "the first");
    cr_assert_not(list.failed);
    lapse_diag_list_free(&list);
}

static void *no_memory(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    (void)ctx;
    (void)ptr;
    (void)old_bytes;
    (void)new_bytes;
    return NULL;
}

Test(diag, without_memory_the_list_says_that_it_failed) {
    lapse_alloc alloc = {no_memory, NULL};
    struct lapse_diag_list list;
    lapse_diag_list_init(&list, &alloc);
    cr_assert_null(lapse_diag_add(&list, "Y1", place_at(1, 1), "", "m"));
    cr_assert(list.failed);
    lapse_diag_list_free(&list);
}
