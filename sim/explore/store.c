/* Images of stores, and questions to them. */
#include "store.h"

#include "sim/arena.h"

#include <string.h>

/* Tokens before the live one that clients may still hold; the last grant of every image has this
 * number, so that each rank below it is a number that was given. */
enum { TOKEN_LAST = RANKS_MAX + 1, ROWS_MAX = 16 };

static const char lease_name[] = "jobs/x";
static const char *const owner_names[] = {"c1", "c2", "c3", "c4"};
/* Two, so that one who is gone is refused what another holds who is gone too. */
static const char holds_gone[] = "gone", asks_gone[] = "gone#2";

struct image {
    void *bytes;
    size_t size;
};

struct store {
    const lapse_alloc *alloc;
    struct scope scope;
    struct lapse_arena *arena;
    struct lapse_clock_manual clock; /* of all stores here; outside of the images */
    int64_t base_ns;                 /* what it reads in an image */
    struct lapse *engine;            /* in the arena, at the same place in every image */
    struct lapse_result result;
    struct image *images; /* by place_of */
    size_t image_count, image_bytes;
    uint64_t calls;
};

struct look {
    const struct scope *scope;
    struct lapse_steady now;
    struct reply *reply;
    bool strange;
};

static size_t place_of(const struct store *store, struct holding holding);
static enum lapse_status make_image(struct store *store, struct holding holding,
                                    struct image *image, struct lapse_error *err);
static enum lapse_status live_through(struct store *store, struct holding holding,
                                      struct lapse *engine, struct lapse_error *err);
static enum lapse_status load(struct store *store, const struct lapse *engine, bool steps,
                              struct image *image, struct lapse_error *err);
static enum lapse_status look_at(void *ctx, const struct lapse_row *row);
static void look_at_lease(struct look *look, const struct lapse_row *row);

enum lapse_status lapse_explore_store_open(const lapse_alloc *alloc, const struct scope *scope,
                                           struct store **ret, struct lapse_error *err) {
    struct store *store = lapse_alloc_zero(alloc, sizeof(*store));
    if (store == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for a store");
    }
    store->alloc = alloc;
    store->scope = *scope;
    lapse_clock_manual_init(&store->clock, (struct lapse_wall){0});
    lapse_result_init(&store->result, alloc);
    store->base_ns = scope->span * scope->grain_ns;
    store->image_count = 2 + (size_t)(scope->clients + 1) * (size_t)scope->span;
    store->images = lapse_alloc_zero(alloc, store->image_count * sizeof(*store->images));
    store->arena = lapse_arena_open();
    if (store->images == NULL || store->arena == NULL) {
        lapse_explore_store_close(store);
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the images of a store");
    }
    *ret = store;
    return LAPSE_OK;
}

void lapse_explore_store_close(struct store *store) {
    if (store == NULL) {
        return;
    }
    for (size_t i = 0; store->images != NULL && i < store->image_count; i++) {
        lapse_alloc_free(store->alloc, store->images[i].bytes, store->images[i].size);
    }
    lapse_alloc_free(store->alloc, store->images, store->image_count * sizeof(*store->images));
    lapse_result_free(&store->result);
    lapse_arena_close(store->arena);
    lapse_alloc_free(store->alloc, store, sizeof(*store));
}

enum lapse_status lapse_explore_store_ask(struct store *store, struct holding before,
                                          const struct question *question, struct reply *ret,
                                          struct lapse_error *err) {
    struct image *image = &store->images[place_of(store, before)];
    if (image->bytes == NULL) {
        enum lapse_status made = make_image(store, before, image, err);
        if (made != LAPSE_OK) {
            return made;
        }
    }
    lapse_arena_load(store->arena, image->bytes, image->size);
    store->clock.now.raw_ns = store->base_ns;
    store->calls++;
    struct lapse_result *result = &store->result;
    enum lapse_status status;
    if (question->verb == LAPSE_VERB_REAP) {
        store->clock.now.raw_ns += store->scope.grain_ns;
        status = lapse_step(store->engine, ROWS_MAX, result, NULL, err);
    } else {
        struct lapse_command command;
        lapse_explore_store_command(&store->scope, question, TOKEN_LAST, &command);
        status = lapse_apply(store->engine, &command, result, err);
    }
    if (status < 0) {
        return status;
    }
    *ret = (struct reply){.status = status, .renewed = result->renewed};
    ret->named = lapse_explore_store_owner(&store->scope, result->owner);
    ret->has_token = result->token != 0;
    ret->token = ret->has_token ? result->token - TOKEN_LAST : 0;
    ret->left_ns = result->left.ns;
    ret->end_ns = result->end.kind == LAPSE_END_STEADY ? result->end.ns - result->at.ns : 0;
    status = lapse_explore_store_look(&store->scope, store->engine, ret, err);
    ret->counter -= TOKEN_LAST;
    return status;
}

uint64_t lapse_explore_store_calls(const struct store *store) {
    return store->calls;
}

size_t lapse_explore_store_bytes(const struct store *store) {
    return store->image_bytes;
}

void lapse_explore_store_command(const struct scope *scope, const struct question *question,
                                 int64_t last, struct lapse_command *command) {
    memset(command, 0, sizeof(*command));
    command->verb = question->verb;
    command->key = lapse_bytes_of(lease_name);
    command->u.lease.span = (struct lapse_span){scope->span * scope->grain_ns};
    if (question->verb == LAPSE_VERB_ACQUIRE) {
        const char *owner =
            question->owner == OWNER_OTHER ? asks_gone : owner_names[question->owner];
        command->u.lease.owner = lapse_bytes_of(owner);
        return;
    }
    command->u.lease.has_token = true;
    command->u.lease.token = last - question->token;
    if (question->verb == LAPSE_VERB_RELEASE) {
        command->u.lease.span.ns = 0;
    }
}

int32_t lapse_explore_store_owner(const struct scope *scope, struct lapse_bytes owner) {
    for (int32_t i = 0; i < scope->clients; i++) {
        if (lapse_bytes_equal(owner, lapse_bytes_of(owner_names[i]))) {
            return i;
        }
    }
    return owner.len > 0 ? OWNER_OTHER : OWNER_NONE;
}

enum lapse_status lapse_explore_store_look(const struct scope *scope, const struct lapse *store,
                                           struct reply *ret, struct lapse_error *err) {
    struct look look = {.scope = scope, .now = lapse_store_time(store), .reply = ret};
    ret->after = (struct holding){OWNER_NONE, 0, false};
    ret->counter = 0;
    ret->whole = true;
    enum lapse_status status = lapse_walk(store, look_at, &look, err);
    if (status == LAPSE_OK && look.strange) {
        status = lapse_error_set(err, LAPSE_BUG,
                                 "the store of a protocol holds a row that the canonical form of "
                                 "its states does not tell");
    }
    return status;
}

static size_t place_of(const struct store *store, struct holding holding) {
    if (holding.owner == OWNER_NONE) {
        return holding.unreaped ? store->image_count - 1 : 0;
    }
    LAPSE_ASSERT(holding.left > 0 && holding.left <= store->scope.span);
    size_t row = (size_t)(holding.owner - OWNER_OTHER);
    return 1 + row * (size_t)store->scope.span + (size_t)holding.left - 1;
}

static enum lapse_status make_image(struct store *store, struct holding holding,
                                    struct image *image, struct lapse_error *err) {
    struct lapse_options options = {
        .alloc = store->alloc, .clock = lapse_clock_manual_vtable(&store->clock), .unlocked = true};
    struct lapse *engine = NULL;
    store->clock.now.raw_ns = 0;
    enum lapse_status status = lapse_open(&options, &engine, err);
    if (status == LAPSE_OK) {
        status = live_through(store, holding, engine, err);
    }
    if (status == LAPSE_OK) {
        status = load(store, engine, !holding.unreaped, image, err);
    }
    lapse_close(engine);
    return status;
}

/* From an empty store to this holding at the base instant: as if all older grants were over, then
 * the last. */
static enum lapse_status live_through(struct store *store, struct holding holding,
                                      struct lapse *engine, struct lapse_error *err) {
    bool held = holding.owner != OWNER_NONE || holding.unreaped;
    struct lapse_command given = {.verb = LAPSE_VERB_MARK,
                                  .u.mark.token = held ? TOKEN_LAST - 1 : TOKEN_LAST};
    enum lapse_status status = lapse_apply(engine, &given, &store->result, err);
    if (status == LAPSE_OK && held) {
        const char *owner = holding.owner >= 0 ? owner_names[holding.owner] : holds_gone;
        struct lapse_span span = {store->scope.span * store->scope.grain_ns};
        store->clock.now.raw_ns =
            store->base_ns - (store->scope.span - holding.left) * store->scope.grain_ns;
        status = lapse_acquire(engine, lapse_bytes_of(lease_name), lapse_bytes_of(owner), span,
                               &store->result, err);
    }
    if (status > 0) {
        return lapse_error_set(err, LAPSE_BUG, "a fresh store answers `%s` to an acquire",
                               lapse_status_word(status));
    }
    store->clock.now.raw_ns = store->base_ns;
    return status < 0 || holding.unreaped ? status
                                          : lapse_step(engine, ROWS_MAX, &store->result, NULL, err);
}

/* Through the recovery path into the arena, and out of it as bytes. A first step puts what was
 * loaded in its order. */
static enum lapse_status load(struct store *store, const struct lapse *engine, bool steps,
                              struct image *image, struct lapse_error *err) {
    struct lapse *loaded = NULL;
    lapse_arena_clear(store->arena);
    enum lapse_status status = lapse_fork(engine, lapse_arena_alloc(store->arena),
                                          lapse_clock_manual_vtable(&store->clock), &loaded, err);
    if (status == LAPSE_OK && steps) {
        status = lapse_step(loaded, ROWS_MAX, &store->result, NULL, err);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    LAPSE_ASSERT(store->engine == NULL || store->engine == loaded);
    store->engine = loaded;
    size_t size = lapse_arena_used(store->arena);
    void *bytes = store->alloc->resize(store->alloc->ctx, NULL, 0, size);
    if (bytes == NULL) {
        return lapse_error_set(err, LAPSE_NOMEM, "no memory for the image of a store");
    }
    lapse_arena_save(store->arena, bytes);
    *image = (struct image){bytes, size};
    store->image_bytes = size > store->image_bytes ? size : store->image_bytes;
    return LAPSE_OK;
}

static enum lapse_status look_at(void *ctx, const struct lapse_row *row) {
    struct look *look = ctx;
    switch (row->kind) {
    case LAPSE_ROW_MARK: /* the dates and numbers of the last commands */
        look->strange = look->strange ||
                        (row->key.len > 0 && !lapse_bytes_equal(row->key, lapse_bytes_of("now")));
        break;
    case LAPSE_ROW_COUNTER:
        if (lapse_bytes_equal(row->key, lapse_bytes_of("token"))) {
            look->reply->counter = row->revision;
        } else {
            look->strange = look->strange || row->revision != 0; /* of sessions: none are made */
        }
        break;
    case LAPSE_ROW_LEASE:
        look_at_lease(look, row);
        break;
    default:
        look->strange = true;
    }
    return LAPSE_OK;
}

static void look_at_lease(struct look *look, const struct lapse_row *row) {
    struct reply *reply = look->reply;
    const struct scope *scope = look->scope;
    int64_t left_ns = row->lease.end.ns - look->now.ns;
    bool second = reply->after.owner != OWNER_NONE;
    if (second || row->lease.durability != LAPSE_PERSISTENT || row->lease.session != 0 ||
        row->part != LAPSE_PART_DURABLE || row->lease.end.kind != LAPSE_END_STEADY) {
        look->strange = true;
        return;
    }
    if (left_ns <= 0) {
        reply->after.unreaped = true;
        return;
    }
    reply->after.owner = lapse_explore_store_owner(scope, row->lease.owner);
    /* The live lease has the last token: a later grant would have needed the name free. */
    reply->whole = left_ns % scope->grain_ns == 0 &&
                   row->lease.span.ns == scope->span * scope->grain_ns &&
                   left_ns <= row->lease.span.ns && row->lease.token == reply->counter;
    reply->after.left = (int32_t)(left_ns / scope->grain_ns);
}
