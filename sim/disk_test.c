/* The disk alone: what a process reads, and what a crash of its machine leaves. */
#include "disk.h"

#include "sim/arena.h"

#include <criterion/criterion.h>
#include <string.h>

struct scene {
    struct lapse_arena *arena;
    struct lapse_sim_trouble trouble;
    struct lapse_sim_disk disk;
};

static void begin(struct scene *scene) {
    *scene = (struct scene){.arena = lapse_arena_open()};
    lapse_sim_disk_init(&scene->disk, lapse_arena_alloc(scene->arena), &scene->trouble);
}

static void end(struct scene *scene) {
    cr_assert_eq(lapse_sim_disk_check(&scene->disk, NULL), LAPSE_OK);
    lapse_sim_disk_finish(&scene->disk);
    lapse_arena_close(scene->arena);
}

static struct lapse_sim_file *open_it(struct scene *scene, const char *name) {
    struct lapse_sim_file *file = NULL;
    cr_assert_eq(lapse_sim_disk_open(&scene->disk, name, true, &file), LAPSE_SIM_DISK_DONE);
    return file;
}

static void write_it(struct scene *scene, struct lapse_sim_file *file, const char *text,
                     size_t at) {
    cr_assert_eq(lapse_sim_disk_write(&scene->disk, file, text, strlen(text), at),
                 LAPSE_SIM_DISK_DONE);
}

/* NULL: there is no such file. */
static void expect_text(struct scene *scene, const char *name, const char *text) {
    char buf[32] = "";
    struct lapse_sim_file *file = NULL;
    cr_assert_eq(lapse_sim_disk_has(&scene->disk, name), text != NULL, "%s", name);
    if (text != NULL) {
        cr_assert_eq(lapse_sim_disk_open(&scene->disk, name, false, &file), LAPSE_SIM_DISK_DONE);
        (void)lapse_sim_disk_read(&scene->disk, file, buf, sizeof(buf) - 1, 0);
        cr_expect_str_eq(buf, text);
        lapse_sim_disk_close(&scene->disk, file);
    }
}

static void crash(struct scene *scene) {
    cr_assert(lapse_sim_disk_crash(&scene->disk, NULL, 0));
    cr_assert_eq(lapse_sim_disk_check(&scene->disk, NULL), LAPSE_OK);
}

Test(disk, a_crash_takes_what_no_sync_has_reached) {
    struct scene scene;
    begin(&scene);
    struct lapse_sim_file *a = open_it(&scene, "/a");
    struct lapse_sim_file *b = open_it(&scene, "/b");
    write_it(&scene, a, "hello", 0);
    cr_assert_eq(lapse_sim_disk_sync(&scene.disk, a), LAPSE_SIM_DISK_DONE);
    write_it(&scene, a, "J", 0);
    cr_assert_eq(lapse_sim_disk_truncate(&scene.disk, a, 2), LAPSE_SIM_DISK_DONE);
    write_it(&scene, b, "gone", 0);
    lapse_sim_disk_close(&scene.disk, a);
    lapse_sim_disk_close(&scene.disk, b);
    expect_text(&scene, "/a", "Je");
    expect_text(&scene, "/b", "gone");
    crash(&scene);
    expect_text(&scene, "/a", "hello");
    expect_text(&scene, "/b", NULL);
    end(&scene);
}

/* A removal that the folder's sync has not reached is undone; a name made again is a new file. */
Test(disk, a_name_that_was_removed_comes_back_unless_that_was_synced) {
    for (int durably = 0; durably < 2; durably++) {
        struct scene scene;
        begin(&scene);
        struct lapse_sim_file *file = open_it(&scene, "/a");
        write_it(&scene, file, "old", 0);
        cr_assert_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_DONE);
        lapse_sim_disk_close(&scene.disk, file);
        cr_assert_eq(lapse_sim_disk_remove(&scene.disk, "/a", durably == 1), LAPSE_SIM_DISK_DONE);
        file = open_it(&scene, "/a");
        write_it(&scene, file, "n", 0);
        lapse_sim_disk_close(&scene.disk, file);
        expect_text(&scene, "/a", "n");
        crash(&scene);
        expect_text(&scene, "/a", durably ? NULL : "old");
        end(&scene);
    }
}

/* How syncs go wrong, and what is left at once, after let_go, and after a later sync. */
Test(disk, a_sync_fails_lies_or_hangs) {
    static const struct {
        enum lapse_disk_fault sync;
        enum lapse_sim_disk_says says;
        const char *at_once, *let_go, *synced_later;
    } cases[] = {
        {0, LAPSE_SIM_DISK_DONE, "new", "new", "new"},
        {LAPSE_DISK_SYNC_FAIL, LAPSE_SIM_DISK_FAILED, "old", "old", "old"},
        {LAPSE_DISK_SYNC_LIES, LAPSE_SIM_DISK_DONE, "old", "old", "new"},
        {LAPSE_DISK_SYNC_STALLS, LAPSE_SIM_DISK_DONE, "old", "new", "new"},
    };
    for (size_t i = 0; i < 3 * sizeof(cases) / sizeof(cases[0]); i++) {
        struct scene scene;
        begin(&scene);
        struct lapse_sim_file *file = open_it(&scene, "/a");
        write_it(&scene, file, "old", 0);
        cr_assert_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_DONE);
        scene.trouble.sync = cases[i / 3].sync;
        write_it(&scene, file, "new", 0);
        cr_expect_eq(lapse_sim_disk_sync(&scene.disk, file), cases[i / 3].says);
        if (i % 3 > 0) {
            cr_assert(lapse_sim_disk_let_go(&scene.disk));
        }
        if (i % 3 == 2) {
            scene.trouble.sync = 0;
            scene.trouble.hanging = false;
            cr_assert_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_DONE);
        }
        lapse_sim_disk_close(&scene.disk, file);
        expect_text(&scene, "/a", "new");
        crash(&scene);
        expect_text(&scene, "/a", i % 3 == 0   ? cases[i / 3].at_once
                                  : i % 3 == 1 ? cases[i / 3].let_go
                                               : cases[i / 3].synced_later);
        end(&scene);
    }
}

/* What a process did after a sync that hung was never done if it falls before the disk lets go: a
 * log cut off after the file's sync would else be gone together with the file. */
Test(disk, a_process_that_falls_in_a_sync_that_hangs_never_came_past_it) {
    for (int let_go = 0; let_go < 2; let_go++) {
        struct scene scene;
        begin(&scene);
        struct lapse_sim_file *file = open_it(&scene, "/a");
        struct lapse_sim_file *log = open_it(&scene, "/log");
        write_it(&scene, file, "old", 0);
        write_it(&scene, log, "new", 0);
        cr_assert_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_DONE);
        cr_assert_eq(lapse_sim_disk_sync(&scene.disk, log), LAPSE_SIM_DISK_DONE);
        scene.trouble.sync = LAPSE_DISK_SYNC_STALLS;
        write_it(&scene, file, "new", 0);
        cr_assert_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_DONE);
        cr_assert_eq(lapse_sim_disk_truncate(&scene.disk, log, 0), LAPSE_SIM_DISK_DONE);
        cr_assert_eq(lapse_sim_disk_sync(&scene.disk, log), LAPSE_SIM_DISK_DONE);
        cr_assert_eq(lapse_sim_disk_remove(&scene.disk, "/log", true), LAPSE_SIM_DISK_DONE);
        if (let_go) {
            cr_assert(lapse_sim_disk_let_go(&scene.disk));
        }
        lapse_sim_disk_close(&scene.disk, file);
        lapse_sim_disk_close(&scene.disk, log);
        cr_assert(lapse_sim_disk_fall(&scene.disk));
        cr_assert(lapse_sim_disk_fall(&scene.disk)); /* nothing hangs any more */
        expect_text(&scene, "/a", "new");
        expect_text(&scene, "/log", let_go ? NULL : "new");
        crash(&scene);
        expect_text(&scene, "/a", let_go ? "new" : "old");
        expect_text(&scene, "/log", let_go ? NULL : "new");
        end(&scene);
    }
}

/* Of two sectors each is kept or dropped by itself: all four outcomes come, and no fifth. */
Test(disk, a_torn_crash_keeps_or_drops_each_sector) {
    bool came[4] = {false};
    for (int32_t seed = 0; seed < 40; seed++) {
        struct scene scene;
        struct lapse_choices *choices = NULL;
        unsigned char bytes[2 * LAPSE_SIM_SECTOR_BYTES];
        begin(&scene);
        cr_assert_eq(lapse_choices_open_seed(lapse_alloc_libc(), (uint64_t)seed, &choices),
                     LAPSE_OK);
        struct lapse_sim_file *file = open_it(&scene, "/a");
        memset(bytes, 'o', sizeof(bytes));
        (void)lapse_sim_disk_write(&scene.disk, file, bytes, sizeof(bytes), 0);
        cr_assert_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_DONE);
        memset(bytes, 'n', sizeof(bytes));
        (void)lapse_sim_disk_write(&scene.disk, file, bytes, sizeof(bytes), 0);
        lapse_sim_disk_close(&scene.disk, file);
        cr_assert(lapse_sim_disk_crash(&scene.disk, choices, 7));
        file = open_it(&scene, "/a");
        cr_assert_eq(lapse_sim_disk_read(&scene.disk, file, bytes, sizeof(bytes), 0),
                     LAPSE_SIM_DISK_DONE);
        for (size_t i = 0; i < sizeof(bytes); i++) {
            cr_assert_eq(bytes[i], bytes[i / LAPSE_SIM_SECTOR_BYTES * LAPSE_SIM_SECTOR_BYTES]);
        }
        came[(bytes[0] == 'n') + 2 * (bytes[LAPSE_SIM_SECTOR_BYTES] == 'n')] = true;
        lapse_sim_disk_close(&scene.disk, file);
        lapse_choices_close(choices);
        end(&scene);
    }
    cr_expect(came[0] && came[1] && came[2] && came[3]);
}

Test(disk, a_full_one_lets_no_file_grow_and_a_dead_process_does_nothing) {
    struct scene scene;
    begin(&scene);
    struct lapse_sim_file *file = open_it(&scene, "/a");
    write_it(&scene, file, "abc", 0);
    scene.trouble.full = true;
    cr_expect_eq(lapse_sim_disk_write(&scene.disk, file, "de", 2, 2), LAPSE_SIM_DISK_FULL);
    write_it(&scene, file, "x", 0);
    scene.trouble.dead = true;
    cr_expect_eq(lapse_sim_disk_write(&scene.disk, file, "y", 1, 0), LAPSE_SIM_DISK_FAILED);
    cr_expect_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_FAILED);
    scene.trouble.dead = false;
    lapse_sim_disk_close(&scene.disk, file);
    expect_text(&scene, "/a", "xbc");
    end(&scene);
}

/* A copy of what is durable, and one of everything; bits that flip show in both images. */
Test(disk, is_copied_and_rots) {
    struct scene scene, copy;
    struct lapse_choices *choices = NULL;
    begin(&scene);
    cr_assert_eq(lapse_choices_open_seed(lapse_alloc_libc(), 1, &choices), LAPSE_OK);
    struct lapse_sim_file *file = open_it(&scene, "/a");
    write_it(&scene, file, "old", 0);
    cr_assert_eq(lapse_sim_disk_sync(&scene.disk, file), LAPSE_SIM_DISK_DONE);
    write_it(&scene, file, "new", 0);
    lapse_sim_disk_close(&scene.disk, file);
    for (int all = 0; all < 2; all++) {
        begin(&copy);
        cr_assert(lapse_sim_disk_copy(&copy.disk, &scene.disk, all == 1));
        expect_text(&copy, "/a", all ? "new" : "old");
        crash(&copy);
        expect_text(&copy, "/a", "old");
        end(&copy);
    }
    crash(&scene);
    lapse_sim_disk_rot(&scene.disk, 1, choices, 0);
    char buf[4] = "";
    file = open_it(&scene, "/a");
    (void)lapse_sim_disk_read(&scene.disk, file, buf, 3, 0);
    cr_expect_str_neq(buf, "old");
    lapse_sim_disk_close(&scene.disk, file);
    lapse_choices_close(choices);
    end(&scene);
}
