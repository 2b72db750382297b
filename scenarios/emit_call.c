/* What a client does: the object of each verb, and its arguments. */
#include <string.h>

#include "emitter.h"

static struct lapse_node *copy_name(struct lapse_emitter *e, const struct lapse_plan_step *step);
static bool one_actor_watches(const struct lapse_emitter *e, int32_t watch, int32_t actor);
static struct lapse_node *watched(struct lapse_emitter *e, const struct lapse_plan_call *call);
static const char *watch_name(struct lapse_emitter *e, int32_t watch);

/* ---- Verbs. `thing` is a struct lapse_emit_line: of a call, or of a read that is looked at. */
static void emit_key(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                     const void *thing) {
    const struct lapse_emit_line *line = thing;
    int32_t bucket = line->call != NULL ? line->call->bucket : line->step->u.probe.bucket;
    const struct lapse_text *key =
        line->call != NULL ? &line->call->key : &line->step->u.probe.name;
    if (lapse_emit_bucket(e, bucket) != NULL) {
        lapse_emit_put(e, map, word, lapse_emit_name(e, bucket, key));
    }
}

static void emit_bucket(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    int32_t bucket = line->call != NULL ? line->call->bucket : line->step->u.probe.bucket;
    lapse_emit_put(e, map, word, lapse_emit_bucket(e, bucket));
}

static void emit_count(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->call != NULL || line->step->u.probe.kind == LAPSE_PROBE_READ) {
        emit_bucket(e, map, word, thing);
        return;
    }
    lapse_emit_put(e, map, word, lapse_emit_pattern(e, line->check->count));
    lapse_emit_put(e, map, "is", lapse_emit_is(e, line->check->expect, LAPSE_OPERAND_NUMBER));
}

/* A lease or a session. */
static void emit_lease(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_name(e, -1, &line->call->key));
}

static void emit_resource(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                          const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_resource(e, line->call->resource));
}

static void emit_batch(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    struct lapse_node *list = lapse_emit_seq(e);
    for (size_t i = 0; i < line->call->batch_count; i++) {
        lapse_emit_add(e, list, lapse_emit_member(e, &line->call->batch[i]));
    }
    lapse_emit_put(e, map, word, list);
}

static void emit_watch(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, watched(e, line->call));
}

static struct lapse_node *watched(struct lapse_emitter *e, const struct lapse_plan_call *call) {
    if (call->key.part_count == 0) {
        return lapse_emit_bucket(e, call->bucket);
    }
    return lapse_emit_name(e, call->bucket, &call->key);
}

static void emit_unwatch(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_text(e, watch_name(e, line->call->watch)));
}

static void emit_open(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_name(e, -1, &line->call->bucket_name));
}

static void emit_work(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    lapse_emit_put(e, map, word, lapse_emit_operand(e, &line->step->u.work, LAPSE_OPERAND_SPAN));
}

static void emit_await(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                       const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_plan_await *await = &line->step->u.await;
    if (await->kind == LAPSE_AWAIT_SAVE) {
        lapse_emit_put(e, map, word, lapse_emit_slot(e, await->slot, false));
        return;
    }
    struct lapse_node *event = lapse_emit_map(e);
    if (lapse_emit_bucket(e, await->bucket) != NULL) {
        lapse_emit_put(e, event, lapse_event_word(await->event),
                       lapse_emit_name(e, await->bucket, &await->key));
    }
    lapse_emit_put(e, map, word, event);
}

static void emit_unchanged(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                           const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_plan_await *await = &line->step->u.await;
    if (lapse_emit_bucket(e, await->bucket) != NULL) {
        lapse_emit_put(e, map, word, lapse_emit_name(e, await->bucket, &await->key));
    }
}

/* ---- Arguments. A read that is looked at is no call, and has none. */
/* Those that are an operand of the call, or of another step. */
static void emit_operand(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                         const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_plan_call *call = line->call;
    if (call == NULL) {
        return;
    }
    const struct {
        const char *word;
        const struct lapse_operand *operand;
        enum lapse_operand_kind place;
    } rows[] = {
        {"if_version", &call->if_version, LAPSE_OPERAND_NUMBER},
        {"expires_at", &call->expires_at, LAPSE_OPERAND_DATE},
        {"token", &call->token, LAPSE_OPERAND_NUMBER},
        {"rev", &call->rev, LAPSE_OPERAND_NUMBER},
        {"not_after", &call->not_after, LAPSE_OPERAND_DATE},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strcmp(rows[i].word, word) == 0 && lapse_emit_given(rows[i].operand)) {
            lapse_emit_put(e, map, word, lapse_emit_operand(e, rows[i].operand, rows[i].place));
        }
    }
}

/* The words of a bucket that is opened or altered; the engine knows no `locks`. */
static void emit_config(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->call == NULL) {
        return;
    }
    const struct lapse_setup_bucket bucket = {.config = line->call->config};
    lapse_emit_one(e, LAPSE_WORD_BUCKET, word, map, &bucket);
}

/* The terms of a write, and those of a bucket. */
static void emit_term(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_plan_call *call = line->call;
    if (call == NULL) {
        return;
    }
    if (call->verb == LAPSE_VERB_OPEN || call->verb == LAPSE_VERB_ALTER) {
        emit_config(e, map, word, thing);
        return;
    }
    const struct lapse_operand *operand = strcmp(word, "ttl") == 0    ? &call->ttl
                                          : strcmp(word, "idle") == 0 ? &call->idle
                                                                      : &call->cap;
    if (lapse_emit_given(operand)) {
        lapse_emit_put(e, map, word, lapse_emit_operand(e, operand, LAPSE_OPERAND_SPAN));
    }
}

static void emit_text(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_plan_call *call = line->call;
    if (call == NULL) {
        return;
    }
    if (strcmp(word, "value") == 0 && call->has_value) {
        lapse_emit_put(e, map, word, lapse_emit_name(e, -1, &call->value));
    } else if (strcmp(word, "id") == 0 && call->request.part_count > 0) {
        lapse_emit_put(e, map, word, lapse_emit_name(e, -1, &call->request));
    } else if (strcmp(word, "session") == 0 && call->session.part_count > 0) {
        lapse_emit_put(e, map, word, lapse_emit_name(e, -1, &call->session));
    } else if (strcmp(word, "after") == 0 && call->has_after) {
        lapse_emit_put(e, map, word, lapse_emit_name(e, call->bucket, &call->after));
    }
}

/* `for` of a call, of a fault, of `unchanged`. */
static void emit_for(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                     const void *thing) {
    const struct lapse_emit_line *line = thing;
    const struct lapse_operand *span = line->call != NULL ? &line->call->span : NULL;
    if (span == NULL && line->step->kind == LAPSE_STEP_AWAIT) {
        span = &line->step->u.await.still;
    }
    if (span != NULL && lapse_emit_given(span)) {
        lapse_emit_put(e, map, word, lapse_emit_operand(e, span, LAPSE_OPERAND_SPAN));
    } else if (span == NULL && line->step->kind == LAPSE_STEP_FAULT &&
               line->step->u.fault.has_for) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, line->step->u.fault.for_ns));
    }
}

static void emit_choice(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                        const void *thing) {
    const struct lapse_plan_call *call = ((const struct lapse_emit_line *)thing)->call;
    if (call == NULL) {
        return;
    }
    if (strcmp(word, "term") == 0) {
        lapse_emit_put(e, map, word, call->keep ? lapse_emit_text(e, "keep") : NULL);
    } else if (strcmp(word, "peek") == 0) {
        lapse_emit_put(e, map, word, lapse_emit_flag(e, call->peek));
    } else if (strcmp(word, "durability") == 0) {
        bool ephemeral = call->durability == LAPSE_EPHEMERAL;
        lapse_emit_put(e, map, word, ephemeral ? lapse_emit_text(e, "ephemeral") : NULL);
    } else if (strcmp(word, "limit") == 0 && call->limit > 0) {
        lapse_emit_put(e, map, word, lapse_emit_number(e, (int64_t)call->limit));
    } else if (strcmp(word, "wait") == 0 && call->has_wait) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, call->wait_ns));
    } else if (strcmp(word, "retry") == 0 && call->has_wait) {
        lapse_emit_put(e, map, word, lapse_emit_span(e, call->retry_ns));
    }
}

/* Where a watch begins, or the copy that `restore` puts back. */
static void emit_from(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                      const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->call == NULL) {
        lapse_emit_put(e, map, word, copy_name(e, line->step));
    } else if (line->call->from == LAPSE_WATCH_LIVE) {
        lapse_emit_put(e, map, word, lapse_emit_text(e, "live"));
    } else if (line->call->from == LAPSE_WATCH_REVISION) {
        lapse_emit_put(e, map, word, lapse_emit_operand(e, &line->call->rev, LAPSE_OPERAND_NUMBER));
    }
}

/* A watch that has the name of what it watches needs none, if no other actor has it too; a copy of
 * the disk has one made up. */
static void emit_as(struct lapse_emitter *e, struct lapse_node *map, const char *word,
                    const void *thing) {
    const struct lapse_emit_line *line = thing;
    if (line->call == NULL) {
        lapse_emit_put(e, map, word, copy_name(e, line->step));
        return;
    }
    if (line->call->verb != LAPSE_VERB_WATCH || line->call->watch < 0) {
        return;
    }
    const char *name = watch_name(e, line->call->watch);
    bool same = name != NULL && lapse_node_is(watched(e, line->call), name);
    bool alone = name != NULL && (strchr(name, '/') != NULL ||
                                  one_actor_watches(e, line->call->watch, line->step->actor));
    if (!same || !alone) {
        lapse_emit_put(e, map, word, lapse_emit_text(e, name));
    }
}

static struct lapse_node *copy_name(struct lapse_emitter *e, const struct lapse_plan_step *step) {
    const struct lapse_node *number = lapse_emit_number(e, step->u.operator_act.copy + 1);
    return number == NULL ? NULL : lapse_emit_join(e, "copy", number->text, "");
}

static bool one_actor_watches(const struct lapse_emitter *e, int32_t watch, int32_t actor) {
    for (size_t i = 0; i < e->plan->step_count; i++) {
        const struct lapse_plan_step *step = &e->plan->steps[i];
        if (step->kind == LAPSE_STEP_CALL && step->u.call.verb == LAPSE_VERB_WATCH &&
            step->u.call.watch == watch && step->actor != actor) {
            return false;
        }
    }
    return true;
}

static const char *watch_name(struct lapse_emitter *e, int32_t watch) {
    if (watch >= 0 && (size_t)watch < e->plan->watch_count) {
        return e->plan->watch_names[watch];
    }
    lapse_emit_refuse(e, "there is no watch %d", (int)watch);
    return NULL;
}

const struct lapse_emit_row *lapse_emit_call_rows(size_t *ret_count) {
    static const struct lapse_emit_row rows[] = {
        {LAPSE_WORD_VERB, "set", emit_key},
        {LAPSE_WORD_VERB, "create", emit_key},
        {LAPSE_WORD_VERB, "update", emit_key},
        {LAPSE_WORD_VERB, "get", emit_key},
        {LAPSE_WORD_VERB, "entry", emit_key},
        {LAPSE_WORD_VERB, "has", emit_key},
        {LAPSE_WORD_VERB, "delete", emit_key},
        {LAPSE_WORD_VERB, "purge", emit_key},
        {LAPSE_WORD_VERB, "expire", emit_key},
        {LAPSE_WORD_VERB, "persist", emit_key},
        {LAPSE_WORD_VERB, "history", emit_key},
        {LAPSE_WORD_VERB, "list", emit_bucket},
        {LAPSE_WORD_VERB, "all", emit_bucket},
        {LAPSE_WORD_VERB, "count", emit_count},
        {LAPSE_WORD_VERB, "batch", emit_batch},
        {LAPSE_WORD_VERB, "acquire", emit_lease},
        {LAPSE_WORD_VERB, "extend", emit_lease},
        {LAPSE_WORD_VERB, "release", emit_lease},
        {LAPSE_WORD_VERB, "inspect", emit_lease},
        {LAPSE_WORD_VERB, "session", emit_lease},
        {LAPSE_WORD_VERB, "keepalive", emit_lease},
        {LAPSE_WORD_VERB, "close", emit_lease},
        {LAPSE_WORD_VERB, "write", emit_resource},
        {LAPSE_WORD_VERB, "read", emit_resource},
        {LAPSE_WORD_VERB, "watch", emit_watch},
        {LAPSE_WORD_VERB, "unwatch", emit_unwatch},
        {LAPSE_WORD_VERB, "open", emit_open},
        {LAPSE_WORD_VERB, "alter", emit_open},
        {LAPSE_WORD_VERB, "work", emit_work},
        {LAPSE_WORD_VERB, "await", emit_await},
        {LAPSE_WORD_VERB, "unchanged", emit_unchanged},
        {LAPSE_WORD_ARGUMENT, "value", emit_text},
        {LAPSE_WORD_ARGUMENT, "if_version", emit_operand},
        {LAPSE_WORD_ARGUMENT, "ttl", emit_term},
        {LAPSE_WORD_ARGUMENT, "idle", emit_term},
        {LAPSE_WORD_ARGUMENT, "expires_at", emit_operand},
        {LAPSE_WORD_ARGUMENT, "for", emit_for},
        {LAPSE_WORD_ARGUMENT, "token", emit_operand},
        {LAPSE_WORD_ARGUMENT, "from", emit_from},
        {LAPSE_WORD_ARGUMENT, "as", emit_as},
        {LAPSE_WORD_ARGUMENT, "markers", emit_config},
        {LAPSE_WORD_ARGUMENT, "locks", emit_config},
        {LAPSE_WORD_ARGUMENT, "term", emit_choice},
        {LAPSE_WORD_ARGUMENT, "id", emit_text},
        {LAPSE_WORD_ARGUMENT, "session", emit_text},
        {LAPSE_WORD_ARGUMENT, "rev", emit_operand},
        {LAPSE_WORD_ARGUMENT, "peek", emit_choice},
        {LAPSE_WORD_ARGUMENT, "after", emit_text},
        {LAPSE_WORD_ARGUMENT, "limit", emit_choice},
        {LAPSE_WORD_ARGUMENT, "durability", emit_choice},
        {LAPSE_WORD_ARGUMENT, "cap", emit_term},
        {LAPSE_WORD_ARGUMENT, "history", emit_config},
        {LAPSE_WORD_ARGUMENT, "first_revision", emit_config},
        {LAPSE_WORD_ARGUMENT, "wait", emit_choice},
        {LAPSE_WORD_ARGUMENT, "retry", emit_choice},
        {LAPSE_WORD_ARGUMENT, "not_after", emit_operand},
    };
    *ret_count = sizeof(rows) / sizeof(rows[0]);
    return rows;
}
