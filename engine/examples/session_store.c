/* A session store: a session ends when it has not been used for 30 minutes, and after 12 hours
 * whatever its use. Reading a session is a use; looking for statistics is not.
 *
 *   session_store [FILE]     with FILE the sessions outlive the process */
#include <lapse/sqlite.h>

#include <stdio.h>

static const int64_t minute_ns = 60 * LAPSE_NS_PER_S;

struct sessions {
    struct lapse *store;
    struct lapse_result result;
    struct lapse_error err;
};

static bool sessions_open(struct sessions *sessions, const char *file, lapse_clock clock) {
    struct lapse_options options = {.clock = clock};
    lapse_result_init(&sessions->result, NULL);
    enum lapse_status status =
        file == NULL ? lapse_open(&options, &sessions->store, &sessions->err)
                     : lapse_open_file(file, &options, &sessions->store, &sessions->err);
    if (status == LAPSE_OK) {
        struct lapse_bucket_config config = {.term = {.given = LAPSE_TERM_IDLE}};
        config.term.idle.ns = 30 * minute_ns;
        config.term.cap.ns = 12 * 60 * minute_ns;
        status = lapse_bucket_open(sessions->store, lapse_bytes_of("sessions"), &config,
                                   &sessions->result, &sessions->err);
    }
    return status == LAPSE_OK;
}

static void sessions_close(struct sessions *sessions) {
    lapse_close(sessions->store);
    lapse_result_free(&sessions->result);
}

static bool sign_in(struct sessions *sessions, const char *id, const char *user) {
    return lapse_create(sessions->store, lapse_bytes_of("sessions"), lapse_bytes_of(id),
                        lapse_bytes_of(user), NULL, &sessions->result,
                        &sessions->err) == LAPSE_OK;
}

/* Whose session it is, or NULL. This is a use: the 30 minutes begin again. */
static const struct lapse_bytes *user_of(struct sessions *sessions, const char *id) {
    enum lapse_status status = lapse_get(sessions->store, lapse_bytes_of("sessions"),
                                         lapse_bytes_of(id), &sessions->result, &sessions->err);
    return status == LAPSE_OK ? &sessions->result.value : NULL;
}

/* Counting keeps nobody signed in. */
static size_t signed_in(struct sessions *sessions) {
    (void)lapse_count(sessions->store, lapse_bytes_of("sessions"), &sessions->result,
                      &sessions->err);
    return sessions->result.item_count;
}

/* To be called from time to time: removes what has ended, writes renewals. */
static void housekeep(struct sessions *sessions) {
    (void)lapse_step(sessions->store, 1000, &sessions->result, NULL, &sessions->err);
}

int main(int argc, char **argv) {
    struct lapse_clock_manual clock;
    lapse_clock_manual_init(&clock, (struct lapse_wall){0});
    struct sessions sessions = {0};
    if (!sessions_open(&sessions, argc > 1 ? argv[1] : NULL, lapse_clock_manual_vtable(&clock)) ||
        !sign_in(&sessions, "s1", "ann") || !sign_in(&sessions, "s2", "bob")) {
        fprintf(stderr, "%s\n", sessions.err.message);
        sessions_close(&sessions);
        return 1;
    }
    /* Ann comes back every 20 minutes, Bob never. */
    int ann_for = 0;
    for (int minutes = 20; minutes <= 13 * 60; minutes += 20) {
        (void)lapse_clock_manual_advance(&clock, (struct lapse_span){20 * minute_ns});
        housekeep(&sessions);
        ann_for = user_of(&sessions, "s1") != NULL ? minutes : ann_for;
        if (minutes == 20 || minutes == 40) {
            printf("after %d minutes: %zu signed in\n", minutes, signed_in(&sessions));
        }
    }
    printf("ann was signed in for %d minutes, then the cap came\n", ann_for);
    bool right = ann_for == 12 * 60 - 20 && signed_in(&sessions) == 0;
    sessions_close(&sessions);
    return right ? 0 : 1;
}
