/* A store file that was edited: each column of each table in turn is given another value, and the
 * open must call the row corrupt, whatever a column can hold; then keys of every kind of bytes,
 * which are text to a person exactly where they are UTF-8; and a journal in the hands of a process
 * that did not open it. */
#include "testing.h"

#include "lapse/sqlite.h"
#include "sqlite_store.h"
#include "testing_files.h"
#include "testing_vfs.h"

#include <criterion/criterion.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

enum { SQL_MAX = 300, COLUMNS_MAX = 20 };

struct columns {
    char names[COLUMNS_MAX][32];
    int count;
};

/* On a VFS that leaves syncs out: no process ends here. */
struct scene {
    struct lapse_testing_dir dir;
    struct lapse_testing_vfs vfs;
    struct lapse_testing t;
};

static enum lapse_status open_file(struct scene *scene, const char *path) {
    struct lapse_sqlite_options file = {.alloc = &scene->t.alloc.vtable, .vfs = "faulty"};
    struct lapse_options options = scene->t.options;
    enum lapse_status status =
        lapse_sqlite_open(path, &file, &options.journal, &scene->t.err);
    if (status == LAPSE_OK) {
        status = lapse_open(&options, &scene->t.store, &scene->t.err);
        if (status != LAPSE_OK) {
            options.journal.close(options.journal.ctx);
        }
    }
    return status;
}

static void close_file(struct scene *scene) {
    lapse_close(scene->t.store);
    scene->t.store = NULL;
}

/* A file with rows of every kind: the story as it stands after `calls` of its calls. */
static void begin_scene(struct scene *scene, size_t calls) {
    lapse_testing_dir_make(&scene->dir);
    lapse_testing_vfs_init(&scene->vfs, "faulty");
    lapse_testing_open(&scene->t);
    close_file(scene);
    cr_assert_eq(open_file(scene, scene->dir.file), LAPSE_OK, "%s", scene->t.err.message);
    for (size_t i = 0; i < calls; i++) {
        (void)lapse_testing_story(&scene->t, i);
    }
    close_file(scene);
}

static void end_scene(struct scene *scene) {
    lapse_result_free(&scene->t.r);
    cr_expect_eq(scene->t.alloc.bytes_out, 0);
    lapse_testing_vfs_finish(&scene->vfs);
    lapse_testing_dir_remove(&scene->dir);
}

static int take_column(void *ctx, int count, char **values, char **names) {
    struct columns *columns = ctx;
    (void)count;
    (void)names;
    cr_assert_lt(columns->count, COLUMNS_MAX);
    (void)snprintf(columns->names[columns->count++], sizeof(columns->names[0]), "%s", values[1]);
    return 0;
}

static sqlite3 *open_shell(const char *path) {
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, "faulty"), SQLITE_OK);
    return db;
}

/* The columns of a table, and how many rows it has. */
static int look(const char *path, const char *table, struct columns *ret) {
    char sql[SQL_MAX];
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = open_shell(path);
    *ret = (struct columns){.count = 0};
    (void)snprintf(sql, sizeof(sql), "PRAGMA table_info(%s)", table);
    cr_assert_eq(sqlite3_exec(db, sql, take_column, ret, NULL), SQLITE_OK);
    (void)snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s", table);
    cr_assert_eq(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    int rows = sqlite3_column_int(stmt, 0);
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return rows;
}

/* How many rows a person could change so. */
static int edit(const char *path, const char *table, const char *column, const char *value) {
    char sql[SQL_MAX];
    sqlite3 *db = open_shell(path);
    (void)snprintf(sql, sizeof(sql), "UPDATE OR IGNORE %s SET %s = %s WHERE %s IS NOT (%s)", table,
                   column, value, column, value);
    /* A column that takes no such value refuses it. */
    int changes = sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? sqlite3_changes(db) : 0;
    (void)sqlite3_close(db);
    return changes;
}

/* Whether the edited file is told; what is told names the table. */
static bool expect_told(struct scene *scene, const char *table, const char *column,
                        const char *value) {
    enum lapse_status status = open_file(scene, scene->dir.copy);
    close_file(scene);
    cr_expect_eq(status, LAPSE_CORRUPT, "%s.%s = %s: %s", table, column, value,
                 lapse_status_word(status));
    return status == LAPSE_CORRUPT && strstr(scene->t.err.message, table) != NULL;
}

Test(sqlite_damage, a_value_that_was_edited_is_told_whatever_its_column_holds) {
    static const char *const tables[] = {"mark_rows",   "counter_rows", "session_rows",
                                         "bucket_rows", "record_rows",  "lease_rows",
                                         "request_rows"};
    static const char *const values[] = {"-1", "9223372036854775807", "'x'", "x'ff'"};
    struct scene s;
    int edits = 0;
    begin_scene(&s, 60);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct columns columns;
        cr_expect_gt(look(s.dir.file, tables[i], &columns), 0, "%s has no row", tables[i]);
        for (int c = 0; c < columns.count; c++) {
            for (size_t v = 0; v < sizeof(values) / sizeof(values[0]); v++) {
                const char *column = columns.names[c];
                lapse_testing_file_copy(s.dir.file, s.dir.copy);
                if (edit(s.dir.copy, tables[i], column, values[v]) > 0) {
                    cr_expect(expect_told(&s, tables[i], column, values[v]), "%s",
                              s.t.err.message);
                    edits++;
                }
            }
        }
    }
    cr_expect_gt(edits, 150, "only %d values were edited", edits);
    end_scene(&s);
}

/* Equal bytes in the other form would be another value, and be found no more. */
Test(sqlite_damage, bytes_in_the_form_that_the_store_does_not_use_are_told) {
    static const char *const columns[][2] = {
        {"record_rows", "bucket"}, {"record_rows", "key"},  {"record_rows", "value"},
        {"lease_rows", "owner"},   {"lease_rows", "name"},  {"bucket_rows", "bucket"},
        {"session_rows", "owner"}, {"counter_rows", "name"}};
    struct scene s;
    begin_scene(&s, 40);
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        char cast[64];
        (void)snprintf(cast, sizeof(cast), "CAST(%s AS BLOB)", columns[i][1]);
        lapse_testing_file_copy(s.dir.file, s.dir.copy);
        cr_assert_gt(edit(s.dir.copy, columns[i][0], columns[i][1], cast), 0, "%s", columns[i][0]);
        cr_expect(expect_told(&s, columns[i][0], columns[i][1], cast));
        cr_expect_not_null(strstr(s.t.err.message, "a value is not of its kind"), "%s",
                           s.t.err.message);
    }
    end_scene(&s);
}

/* The type of the one key that is stored, as the shell sees it. */
static const char *type_of_key(const char *path) {
    sqlite3_stmt *stmt = NULL;
    sqlite3 *db = open_shell(path);
    cr_assert_eq(sqlite3_prepare_v2(db, "SELECT typeof(key) FROM record_rows", -1, &stmt, NULL),
                 SQLITE_OK);
    cr_assert_eq(sqlite3_step(stmt), SQLITE_ROW);
    bool text = strcmp((const char *)sqlite3_column_text(stmt, 0), "text") == 0;
    (void)sqlite3_finalize(stmt);
    (void)sqlite3_close(db);
    return text ? "text" : "blob";
}

Test(sqlite_damage, a_key_is_text_exactly_where_it_is_utf_8) {
    static const struct {
        const char *key, *type;
    } cases[] = {
        {"plain", "text"},
        {"\xc2\x80", "text"},         /* the first of two bytes */
        {"\xc1\xbf", "blob"},         /* too long a form */
        {"\xe0\xa0\x80", "text"},     /* the first of three */
        {"\xe0\x9f\xbf", "blob"},     /* too long a form */
        {"\xed\x9f\xbf", "text"},     /* before the surrogates */
        {"\xed\xa0\x80", "blob"},     /* a surrogate */
        {"\xf0\x90\x80\x80", "text"}, /* the first of four */
        {"\xf0\x8f\xbf\xbf", "blob"}, /* too long a form */
        {"\xf4\x8f\xbf\xbf", "text"}, /* the last there is */
        {"\xf4\x90\x80\x80", "blob"}, /* past it */
        {"\xf5\x80\x80\x80", "blob"},
        {"\xf0\x90\x80", "blob"},     /* cut short */
        {"\xf0\x90\x80!", "blob"},
        {"a\x80", "blob"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene s;
        begin_scene(&s, 0);
        for (int again = 0; again < 2; again++) {
            cr_assert_eq(open_file(&s, s.dir.file), LAPSE_OK, "%s", s.t.err.message);
            lapse_testing_bucket(&s.t, "b", 0, 0, 0);
            cr_expect_eq(lapse_testing_do(&s.t, LAPSE_VERB_GET, "b", cases[i].key, "", 0, 0),
                         again == 1 ? LAPSE_OK : LAPSE_ABSENT, "case %zu", i);
            lapse_testing_do(&s.t, LAPSE_VERB_SET, "b", cases[i].key, "v", 0, 0);
            close_file(&s);
        }
        cr_expect_str_eq(type_of_key(s.dir.file), cases[i].type, "case %zu", i);
        end_scene(&s);
    }
}

static enum lapse_status no_row(void *ctx, const struct lapse_row *row) {
    (void)ctx;
    (void)row;
    return LAPSE_OK;
}

Test(sqlite_damage, a_journal_that_another_process_opened_does_nothing) {
    struct scene s;
    struct lapse_error err;
    struct lapse_sqlite_options options = {.vfs = "faulty"};
    lapse_journal journal;
    begin_scene(&s, 0);
    cr_assert_eq(lapse_sqlite_open(s.dir.file, &options, &journal, &err), LAPSE_OK, "%s",
                 err.message);
    struct lapse_sqlite *store = journal.ctx;
    int64_t owner = store->owner;
    store->owner++;
    cr_expect_eq(journal.load(journal.ctx, no_row, NULL, &err), LAPSE_LOCKED);
    cr_expect_not_null(strstr(err.message, "of which this one is a fork"), "%s", err.message);
    cr_expect_eq(journal.begin(journal.ctx, &err), LAPSE_LOCKED);
    store->owner = owner;
    cr_expect_eq(journal.load(journal.ctx, no_row, NULL, &err), LAPSE_OK, "%s", err.message);
    cr_expect_eq(journal.begin(journal.ctx, &err), LAPSE_OK, "%s", err.message);
    journal.rollback(journal.ctx);
    journal.close(journal.ctx);
    end_scene(&s);
}
