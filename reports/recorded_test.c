/* Recorded histories: what is written is read back alike, whatever an event holds; what a stranger
 * writes becomes the events that it means; and memory that runs out leaves nothing behind. */
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorded_fields.h"

enum { EVENTS = 3000, TEXTS = 5 };

/* A sequence of numbers that is the same each time. */
struct source {
    uint64_t state;
    char memory[4 * 1024 * 1024];
    size_t used;
};

static uint64_t draw(struct source *source, uint64_t n) {
    source->state = source->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (source->state >> 33) % n;
}

static void *take(struct source *source, size_t bytes) {
    source->used = (source->used + 15) / 16 * 16;
    void *taken = source->memory + source->used;
    source->used += bytes;
    cr_assert_lt(source->used, sizeof source->memory);
    memset(taken, 0, bytes);
    return taken;
}

static struct lapse_bytes some_bytes(struct source *source) {
    static const struct {
        const char *data;
        size_t len;
    } texts[TEXTS] = {{"a", 1},
                      {"na\xC3\xAFve \"\\\n\t\x7F", 11},
                      {"\0", 1},
                      {"\xFF\xC3", 2},
                      {"\xED\xA0\x80", 3}};
    size_t at = (size_t)draw(source, TEXTS);
    return (struct lapse_bytes){(const unsigned char *)texts[at].data, texts[at].len};
}

static int64_t some_number(struct source *source, const struct lapse_rf *field) {
    static const int64_t edges[] = {0, 1, -1, 2, INT64_MAX, INT64_MIN, 1000000000};
    int64_t number = edges[draw(source, sizeof edges / sizeof *edges)];
    switch (field->kind) {
    case LAPSE_RF_BOOL:
    case LAPSE_RF_BIT:
        return (int64_t)draw(source, 2);
    case LAPSE_RF_I32:
        return (int32_t)number;
    case LAPSE_RF_U32:
        return (uint32_t)number;
    case LAPSE_RF_SIZE:
        return number & INT64_MAX;
    case LAPSE_RF_STATUS:
        return (int64_t)draw(source, 23) - 11;
    case LAPSE_RF_VERB:
        return LAPSE_VERB_SET;
    case LAPSE_RF_WORD: {
        int64_t last = 0;
        while (field->words[last] == NULL || field->words[last][0] != '\0') {
            last++;
        }
        int64_t word = (int64_t)draw(source, (uint64_t)last);
        return field->words[word] == NULL ? last - 1 : word;
    }
    case LAPSE_RF_ACTOR:
    case LAPSE_RF_NODE:
    case LAPSE_RF_RESOURCE:
        return 0;
    default:
        return number;
    }
}

static void fill(struct source *source, const struct lapse_rf *table, void *base, int depth);

static void fill_list(struct source *source, const struct lapse_rf *field, char *base, int depth) {
    size_t count = (size_t)draw(source, 3);
    bool actors = field->kind == LAPSE_RF_ACTORS;
    size_t bytes = actors ? sizeof(int32_t) : field->item_bytes;
    char *items = take(source, count * bytes + 1);
    for (size_t i = 0; !actors && i < count; i++) {
        if (field->table->kind == LAPSE_RF_COMMAND) {
            ((struct lapse_command *)(void *)(items + i * bytes))->verb = LAPSE_VERB_SET;
        }
        fill(source, field->table, items + i * bytes, depth + 1);
    }
    *(void **)(void *)(base + field->at) = items;
    *(size_t *)(void *)(base + field->count) = count;
}

static void fill_field(struct source *source, const struct lapse_rf *field, char *base, int depth) {
    char *at = base + field->at;
    switch (field->kind) {
    case LAPSE_RF_BYTES:
        *(struct lapse_bytes *)(void *)at = some_bytes(source);
        break;
    case LAPSE_RF_END:
        *(struct lapse_end *)(void *)at =
            (struct lapse_end){draw(source, 2) ? LAPSE_END_STEADY : LAPSE_END_WALL, -5};
        break;
    case LAPSE_RF_PARTY:
        *(struct lapse_party *)(void *)at =
            (struct lapse_party){(enum lapse_party_kind)(1 + draw(source, 3)), 0};
        break;
    case LAPSE_RF_OBJECT:
        fill(source, field->table, at, depth + 1);
        break;
    case LAPSE_RF_LIST:
    case LAPSE_RF_ACTORS:
        fill_list(source, field, base, depth);
        break;
    case LAPSE_RF_COUNT:
    case LAPSE_RF_LIFE:
        break;
    default:
        lapse_rf_number_set(field, base, some_number(source, field));
        break;
    }
    lapse_rf_flag_set(field, base);
}

/* Each field is set or left as it is where its word is not there. */
static void fill(struct source *source, const struct lapse_rf *table, void *base, int depth) {
    struct lapse_rf_map map = {.count = 0};
    lapse_rf_map_add(&map, table, base);
    for (size_t i = 0; i < map.count; i++) {
        const struct lapse_rf *field = map.items[i].field;
        if ((field->how & LAPSE_RF_MUST) != 0 || draw(source, 2) == 1) {
            fill_field(source, field, map.items[i].base, depth);
        } else if (field->absent != 0) {
            lapse_rf_number_set(field, map.items[i].base, field->absent);
        }
    }
}

static const struct lapse_bytes names[] = {{(const unsigned char *)"n1", 2}};
static const struct lapse_setup_actor actors[] = {{.name = {(const unsigned char *)"w1", 2}}};
static const struct lapse_setup_resource resources[] = {
    {.name = {(const unsigned char *)"report", 6}, .fenced = true}};
static const struct lapse_setup_bucket buckets[] = {{.name = {(const unsigned char *)"b", 1}}};
static const struct lapse_setup_loop loops[] = {{.period = {5}, .slack = {INT64_MAX}}};
static const struct lapse_setup setup = {
    .scenario = {(const unsigned char *)"s", 1},
    .profile = {(const unsigned char *)"nats", 4},
    .epoch = {-1},
    .rate_ppb = 200000,
    .bucket_count = 1,
    .resource_count = 1,
    .actor_count = 1,
    .loop_count = 1,
    .node_count = 1,
    .buckets = buckets,
    .resources = resources,
    .actors = actors,
    .loops = loops,
    .nodes = names,
};

/* What a reader refuses beyond its range. */
static void put_in_range(struct source *source, struct lapse_history_event *event) {
    if (event->kind == LAPSE_HISTORY_STEP) {
        event->u.step.store.ns &= INT64_MAX;
    } else if (event->kind == LAPSE_HISTORY_TENURE) {
        event->u.tenure.store.ns &= INT64_MAX;
    } else if (event->kind == LAPSE_HISTORY_ROLE) {
        event->u.role.epoch = 1 + (int64_t)draw(source, 9);
        event->u.role.index = 1 + (int64_t)draw(source, 9);
    } else if (event->kind == LAPSE_HISTORY_CLOCK) {
        event->u.clock.tick_ns = 1 + (int64_t)draw(source, 1000);
    } else if (event->kind == LAPSE_HISTORY_PROBE) {
        struct lapse_probe_answer *answers = (void *)(uintptr_t)event->u.probe.answers;
        for (size_t i = 0; i < event->u.probe.answer_count; i++) {
            answers[i].answer.at.ns &= INT64_MAX;
        }
    }
}

/* An event of any kind, such as a reader takes. */
static struct lapse_history_event some_event(struct source *source, int64_t *call) {
    int kind = 1 + (int)draw(source, LAPSE_HISTORY_KINDS - 1);
    while (lapse_rf_of_kind(kind) == NULL) {
        kind = 1 + (int)draw(source, LAPSE_HISTORY_KINDS - 1);
    }
    struct lapse_history_event event = {.kind = (enum lapse_history_kind)kind};
    struct lapse_request *request = &event.u.invoke.request;
    if (kind == LAPSE_HISTORY_INVOKE) {
        while (lapse_rf_of_verb(request->verb) == NULL) {
            request->verb = (int)draw(source, LAPSE_CALL_WORK + 1);
        }
        int verb = request->verb;
        request->resource = -1;
        request->command.verb = verb < (int)LAPSE_CALL_WRITE ? (enum lapse_verb)verb : 0;
    }
    int verb = request->verb;
    fill(source, lapse_rf_head, &event, 0);
    fill(source, lapse_rf_of_kind(kind), &event, 0);
    event.at.ns &= INT64_MAX;
    event.actor = 0;
    event.incarnation = 1 + (int32_t)draw(source, 2);
    event.step = (int32_t)draw(source, 9) - 1;
    event.call = 0;
    if (kind == LAPSE_HISTORY_INVOKE) {
        event.call = ++*call;
        request->verb = verb;
        request->command.bucket = buckets[0].name;
        request->command.verb = verb < (int)LAPSE_CALL_WRITE ? (enum lapse_verb)verb : 0;
        if (verb >= (int)LAPSE_CALL_WRITE) {
            request->command = (struct lapse_command){.verb = LAPSE_VERB_NONE};
            request->resource = verb == LAPSE_CALL_WORK ? -1 : 0;
        }
        for (size_t i = 0; verb == LAPSE_VERB_BATCH && i < request->command.u.batch.count; i++) {
            struct lapse_command *members = (void *)(uintptr_t)request->command.u.batch.commands;
            members[i].verb = LAPSE_VERB_SET;
            members[i].bucket = buckets[0].name;
        }
        event.u.invoke.loop = (int32_t)draw(source, 2) - 1;
    } else if (kind == LAPSE_HISTORY_REPLY) {
        event.u.reply.sent = false;
    } else if (kind == LAPSE_HISTORY_APPLY) {
        event.kind = LAPSE_HISTORY_STOPPED;
    } else {
        put_in_range(source, &event);
    }
    return event;
}

static struct lapse_history *some_history(struct source *source, size_t count) {
    struct lapse_history *history = NULL;
    struct lapse_history_event begin = {.kind = LAPSE_HISTORY_BEGIN, .actor = -1, .step = -1};
    int64_t call = 0;
    cr_assert_eq(lapse_history_open(lapse_alloc_libc(), 0, &history, NULL), LAPSE_OK);
    begin.u.begin = &setup;
    cr_assert_not_null(lapse_history_append(history, &begin));
    for (size_t i = 0; i < count; i++) {
        struct lapse_history_event event = some_event(source, &call);
        cr_assert_not_null(lapse_history_append(history, &event));
    }
    return history;
}

static void write_history(const struct lapse_history *history, struct lapse_out *out) {
    const struct lapse_verdict verdict = {.event = -1};
    const struct lapse_case the_case = {.setup = &setup};
    const struct lapse_result_view view = {
        .history = history, .verdict = &verdict, .the_case = &the_case};
    struct lapse_error err = {.message = ""};
    lapse_out_init(out, lapse_alloc_libc());
    cr_assert_eq(lapse_recorded_write(out, &view, &err), LAPSE_OK, "%s", err.message);
}

Test(recorded, events_of_every_kind_and_verb_are_read_back_alike) {
    struct source *source = calloc(1, sizeof *source);
    struct lapse_history *history = some_history(source, EVENTS);
    struct lapse_out out;
    struct lapse_recorded recorded;
    struct lapse_error err;
    write_history(history, &out);
    enum lapse_status status =
        lapse_recorded_read(lapse_alloc_libc(), "h", out.text, out.len, &recorded, &err);
    cr_assert_eq(status, LAPSE_OK, "%s",
                 recorded.diags.count > 0 ? recorded.diags.items[0]->message : "memory");
    size_t apart = lapse_history_part(history, recorded.history, EVENTS + 1);
    cr_assert_eq(apart, SIZE_MAX, "event %zu", apart);
    cr_assert(recorded.complete);
    lapse_recorded_free(&recorded);
    lapse_out_free(&out);
    lapse_history_close(history);
    free(source);
}

/* Any one digit or letter of a value: told by the digest, or by the reader. */
Test(recorded, a_change_of_any_value_is_told) {
    struct source *source = calloc(1, sizeof *source);
    struct lapse_history *history = some_history(source, 60);
    struct lapse_out out;
    struct lapse_error err;
    write_history(history, &out);
    const char *closing = strstr(out.text, "{\"event\": \"closing\"");
    size_t tried = 0;
    for (char *at = strchr(out.text, '\n'); at < closing; at++) {
        bool digit = *at >= '0' && *at <= '8' && at[-1] != 'x' && at[1] != 'd';
        if (!digit || draw(source, 3) != 0) {
            continue;
        }
        struct lapse_recorded recorded;
        (*at)++;
        enum lapse_status status =
            lapse_recorded_read(lapse_alloc_libc(), "h", out.text, out.len, &recorded, &err);
        cr_assert_eq(status, LAPSE_INVALID, "%.60s", at - 20);
        lapse_recorded_free(&recorded);
        (*at)--;
        tried++;
    }
    cr_assert_gt(tried, 100);
    lapse_out_free(&out);
    lapse_history_close(history);
    free(source);
}

static void read_text(const char *text, struct lapse_recorded *ret) {
    struct lapse_error err;
    enum lapse_status status =
        lapse_recorded_read(lapse_alloc_libc(), "h", text, strlen(text), ret, &err);
    cr_assert_eq(status, LAPSE_OK, "%s", ret->diags.count > 0 ? ret->diags.items[0]->message : "");
}

/* What lapse writes ends with a closing line. Where that is missing the history is cut, and its end
 * is none that a rule may count on. */
Test(recorded, a_history_of_ours_without_its_closing_line_is_cut) {
    static const char note[] = "{\"event\": \"note\", \"at\": 1}\n";
    static const char end[] = "{\"event\": \"end\", \"at\": 2}\n";
    static const struct {
        const char *recorder, *end;
        bool cut;
        enum lapse_history_kind last;
    } rows[] = {{"lapse", "", true, LAPSE_HISTORY_TRUNCATED},
                {"lapse", end, true, LAPSE_HISTORY_END},
                {"lapses", "", false, LAPSE_HISTORY_END},
                {"", end, false, LAPSE_HISTORY_END}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[256];
        struct lapse_recorded recorded;
        (void)snprintf(text, sizeof text, "{\"lapse\": 1, \"recorder\": \"%s\"}\n%s%s",
                       rows[i].recorder, note, rows[i].end);
        read_text(text, &recorded);
        size_t count = lapse_history_count(recorded.history);
        cr_assert_eq(recorded.cut, rows[i].cut, "row %zu", i);
        cr_assert_eq(count, 3, "row %zu: %zu", i, count);
        cr_assert_eq(lapse_history_at(recorded.history, 2)->kind, rows[i].last, "row %zu", i);
        lapse_recorded_free(&recorded);
    }
}

Test(recorded, two_maps_in_two_lines_look_like_a_history_and_a_scenario_does_not) {
    static const char *const yes[] = {"{\"lapse\": 1}\n{\"event\": \"note\"}", "{\"lapse\": 1}",
                                      " { \"lapse\": 1} \r\n\n{", "{\"lapse\": 1, \"recorder\""};
    static const char *const no[] = {"",
                                     "lapse: 1\nsteps: []",
                                     "{lapse: 1}\n{event: x}",
                                     "{\"lapse\": 1, \"steps\": []}",
                                     "{\"lapse\": 1,\n \"steps\": []}",
                                     "{\"lapse\": 1, \"steps\": [\n{\"at\": 0}]}",
                                     "{\"lapse\": 1}\n---\n{\"name\": \"x\"}"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        cr_assert(lapse_recorded_looks(yes[i], strlen(yes[i])), "%s", yes[i]);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        cr_assert_not(lapse_recorded_looks(no[i], strlen(no[i])), "%s", no[i]);
    }
}

Test(recorded, whole_calls_become_their_two_events_in_order_of_time) {
    static const char text[] =
        "{\"lapse\": 1}\n"
        "{\"event\": \"call\", \"actor\": \"b\", \"at\": \"2s\", \"replied\": 2000000005, "
        "\"verb\": \"get\", \"bucket\": \"k\", \"key\": \"x\", \"answer\": \"value\"}\n"
        "{\"event\": \"call\", \"actor\": \"a\", \"at\": 1, \"verb\": \"set\", \"bucket\": \"k\", "
        "\"key\": \"x\", \"ttl\": \"15m\"}\n"
        "{\"event\": \"call\", \"actor\": \"a\", \"at\": 0, \"replied\": \"2s\", \"verb\": "
        "\"acquire\", "
        "\"name\": \"n\", \"owner\": \"a\", \"for\": \"5s\", "
        "\"answer\": {\"status\": \"granted\", \"token\": 7}}\n";
    static const struct {
        enum lapse_history_kind kind;
        int64_t at, call;
        int32_t actor;
    } wanted[] = {
        {LAPSE_HISTORY_BEGIN, 0, 0, -1},         {LAPSE_HISTORY_INVOKE, 0, 3, 1},
        {LAPSE_HISTORY_INVOKE, 1, 2, 1},         {LAPSE_HISTORY_INVOKE, 2000000000, 1, 0},
        {LAPSE_HISTORY_REPLY, 2000000000, 3, 1}, {LAPSE_HISTORY_REPLY, 2000000005, 1, 0},
        {LAPSE_HISTORY_END, 2000000005, 0, -1},
    };
    struct lapse_recorded recorded;
    read_text(text, &recorded);
    cr_assert_eq(lapse_history_count(recorded.history), sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct lapse_history_event *event = lapse_history_at(recorded.history, i);
        cr_assert_eq(event->kind, wanted[i].kind, "event %zu", i);
        cr_assert_eq(event->at.ns, wanted[i].at, "event %zu", i);
        cr_assert_eq(event->call, wanted[i].call, "event %zu", i);
        cr_assert_eq(event->actor, wanted[i].actor, "event %zu", i);
    }
    const struct lapse_history_event *reply = lapse_history_at(recorded.history, 4);
    cr_assert_eq(reply->u.reply.answer.token, 7);
    cr_assert_eq(reply->u.reply.answer.took.ns, 2000000000);
    cr_assert_eq(recorded.setup->bucket_count, 1);
    cr_assert_eq(recorded.setup->actor_count, 2);
    cr_assert(recorded.the_case.no_decisions);
    cr_assert_eq(recorded.the_case.event_places[1].line, 4);
    lapse_recorded_free(&recorded);
}

/* An allocator that fails at its nth call, and counts what is out. */
struct failing {
    int64_t left;
    size_t bytes;
};
static void *failing_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    struct failing *failing = ctx;
    if (new_bytes > 0 && failing->left-- == 0) {
        return NULL;
    }
    const lapse_alloc *alloc = lapse_alloc_libc();
    failing->bytes += new_bytes - old_bytes;
    return alloc->resize(alloc->ctx, ptr, old_bytes, new_bytes);
}

Test(recorded, memory_that_runs_out_anywhere_leaves_nothing_behind) {
    static const char *const texts[] = {
        "{\"lapse\": 1, \"actors\": [\"a\"], \"violates\": [\"KV-01\"]}\n"
        "{\"event\": \"call\", \"actor\": \"a\", \"at\": 1, \"replied\": 2, \"verb\": \"get\", "
        "\"bucket\": \"b\", \"key\": {\"hex\": \"00\"}, \"answer\": \"absent\"}\n",
        "{\"lapse\": 1}\n{\"event\": \"nte\"}\n"};
    for (size_t i = 0; i < 2; i++) {
        enum lapse_status status = LAPSE_NOMEM;
        for (int64_t n = 0; status == LAPSE_NOMEM; n++) {
            struct failing failing = {n, 0};
            const lapse_alloc alloc = {failing_resize, &failing};
            struct lapse_recorded recorded;
            status = lapse_recorded_read(&alloc, "h", texts[i], strlen(texts[i]), &recorded, NULL);
            lapse_recorded_free(&recorded);
            cr_assert_eq(failing.bytes, 0, "text %zu, allocation %lld", i, (long long)n);
            cr_assert_lt(n, 1000);
        }
        cr_assert_eq(status, i == 0 ? LAPSE_OK : LAPSE_INVALID);
    }
}
