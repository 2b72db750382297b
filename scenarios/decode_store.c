/* Which store a document runs on: `profile`, `policy` and `store`. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

static void read_profile(struct lapse_decoder *d, const struct lapse_node *node);
static void read_policies(struct lapse_decoder *d, const struct lapse_node *map);
static void read_policy(struct lapse_decoder *d, const struct lapse_node *key,
                        const struct lapse_node *value);
static void note_policy(struct lapse_decoder *d, const struct lapse_node *key);
static void note_value(struct lapse_decoder *d, enum lapse_policy policy,
                       const struct lapse_node *value);
static void read_store(struct lapse_decoder *d, const struct lapse_node *map);
static void refuse_bucket(struct lapse_decoder *d, const struct lapse_node *name,
                          const struct lapse_node *words);
static void refuse_many(struct lapse_decoder *d, const struct lapse_node *buckets);
static void refuse_markers(struct lapse_decoder *d, const struct lapse_node *name,
                           const struct lapse_node *words);
static void refuse_first(struct lapse_decoder *d, const struct lapse_node *name,
                         const struct lapse_node *words);
static void refuse_short(struct lapse_decoder *d, const struct lapse_node *name,
                         const struct lapse_node *words, const char *term);
static bool read_choice(struct lapse_decoder *d, const struct lapse_node *value,
                        const char *const *words, size_t count, size_t *ret);
static void note_choice(struct lapse_decoder *d, const struct lapse_node *value,
                        const char *const *words, size_t count);

void lapse_decode_store(struct lapse_decoder *d) {
    struct lapse_setup *setup = &d->plan->setup;
    const struct lapse_node *profile = lapse_node_get(d->root, "profile");
    const struct lapse_node *policy = lapse_node_get(d->root, "policy");
    const struct lapse_node *store = lapse_node_get(d->root, "store");
    setup->profile = lapse_bytes_of(lapse_profile_word(LAPSE_PROFILE_STRICT));
    setup->policies = lapse_policies_of(LAPSE_PROFILE_STRICT);
    setup->sync = LAPSE_SYNC_NONE;
    if (profile != NULL) {
        read_profile(d, profile);
    }
    if (policy != NULL) {
        read_policies(d, policy);
    }
    if (store != NULL) {
        read_store(d, store);
    }
}

/* A bucket that the store would refuse before the first step is a mistake of the file. */
void lapse_decode_store_end(struct lapse_decoder *d) {
    const struct lapse_node *buckets = lapse_node_get(d->root, "buckets");
    if (buckets != NULL && buckets->kind == LAPSE_NODE_MAP) {
        refuse_many(d, buckets);
        for (size_t i = 0; i < buckets->count; i++) {
            refuse_bucket(d, buckets->keys[i], buckets->items[i]);
        }
    }
    lapse_decode_disk_store(d);
    if (d->plan->store == LAPSE_STORE_NONE && d->node_falls) {
        d->plan->store = LAPSE_STORE_MEMORY;
        d->plan->setup.sync = LAPSE_SYNC_FULL;
    }
    d->plan->setup.durable = d->plan->store != LAPSE_STORE_NONE;
}

static void refuse_many(struct lapse_decoder *d, const struct lapse_node *buckets) {
    if (buckets->count > LAPSE_BUCKETS_MAX) {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y006", buckets->keys[LAPSE_BUCKETS_MAX]->place, "",
            "%zu buckets are declared, and a store opens at most %d", buckets->count,
            (int)LAPSE_BUCKETS_MAX);
        lapse_diag_note(d->diags, diag, "help", "put more keys into fewer buckets");
    }
}

static void refuse_bucket(struct lapse_decoder *d, const struct lapse_node *name,
                          const struct lapse_node *words) {
    if (words->kind == LAPSE_NODE_MAP) {
        refuse_markers(d, name, words);
        refuse_first(d, name, words);
        refuse_short(d, name, words, "ttl");
        refuse_short(d, name, words, "idle");
    }
}

static void refuse_markers(struct lapse_decoder *d, const struct lapse_node *name,
                           const struct lapse_node *words) {
    const struct lapse_node *markers = lapse_node_get(words, "markers");
    if (d->plan->setup.policies.value[LAPSE_POLICY_MARKERS] == 0 || markers == NULL ||
        lapse_node_is(markers, "false")) {
        return;
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y136", markers->place, "",
        "bucket `%.60s` has markers, and the store's policy is `markers: none`", name->text);
    lapse_diag_note(d->diags, diag, "help",
                    "take `markers` away, or add `policy: {markers: bucket}`");
}

/* A bucket has a first revision where it counts its revisions itself. */
static void refuse_first(struct lapse_decoder *d, const struct lapse_node *name,
                         const struct lapse_node *words) {
    const struct lapse_node *first = lapse_node_get(words, "first_revision");
    const struct lapse_setup_bucket *buckets = d->buckets.items;
    int32_t at = lapse_decoder_find(d, LAPSE_SPACE_BUCKET, name->text, name->len);
    uint8_t scope = d->plan->setup.policies.value[LAPSE_POLICY_REVISION];
    uint8_t store = 0;
    if (first == NULL || at < 0 || buckets[at].config.first_revision <= 1 ||
        !lapse_policy_value_find(LAPSE_POLICY_REVISION, lapse_bytes_of("store"), &store) ||
        scope < store) {
        return;
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y138", first->place, "",
        "bucket `%.60s` has a first revision, and the store's policy is `revision_scope: %s`",
        name->text, scope == store ? "store" : "key");
    lapse_diag_note(d->diags, diag, "help",
                    "take `first_revision` away, or add `policy: {revision_scope: bucket}`");
}

/* Where a store counts in milliseconds it takes no bucket whose term is less than one. */
static void refuse_short(struct lapse_decoder *d, const struct lapse_node *name,
                         const struct lapse_node *words, const char *term) {
    uint8_t ms = 0;
    const struct lapse_node *value = lapse_node_get(words, term);
    int32_t at = lapse_decoder_find(d, LAPSE_SPACE_BUCKET, name->text, name->len);
    if (!lapse_policy_value_find(LAPSE_POLICY_RESOLUTION, lapse_bytes_of("ms"), &ms) ||
        d->plan->setup.policies.value[LAPSE_POLICY_RESOLUTION] != ms || value == NULL || at < 0) {
        return;
    }
    const struct lapse_setup_bucket *buckets = d->buckets.items;
    const struct lapse_term *given = &buckets[at].config.term;
    int64_t ns = strcmp(term, "ttl") == 0 ? given->ttl.ns : given->idle.ns;
    if (ns <= 0 || ns >= LAPSE_NS_PER_MS) {
        return; /* 0: it was no span, which is a mistake of its own */
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y137", value->place, "",
        "bucket `%.60s` has %s %.60s, and the store's policy is `resolution: ms`", name->text,
        term, value->text);
    lapse_diag_note(d->diags, diag, "help",
                    "give at least 1ms, or add `policy: {resolution: ns}`");
}

static void read_profile(struct lapse_decoder *d, const struct lapse_node *node) {
    const char *words[LAPSE_PROFILES];
    enum lapse_profile profile = LAPSE_PROFILE_STRICT;
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a profile")) {
        return;
    }
    if (!lapse_profile_find(lapse_node_bytes(node), &profile)) {
        for (int i = 0; i < LAPSE_PROFILES; i++) {
            words[i] = lapse_profile_word((enum lapse_profile)i);
        }
        note_choice(d, node, words, LAPSE_PROFILES);
        return;
    }
    d->plan->setup.profile = lapse_bytes_of(lapse_profile_word(profile));
    d->plan->setup.policies = lapse_policies_of(profile);
}

static void read_policies(struct lapse_decoder *d, const struct lapse_node *map) {
    if (!lapse_shape_is(d, map, LAPSE_NODE_MAP, "a map from policy to value")) {
        return;
    }
    for (size_t i = 0; i < map->count; i++) {
        read_policy(d, map->keys[i], map->items[i]);
    }
}

static void read_policy(struct lapse_decoder *d, const struct lapse_node *key,
                        const struct lapse_node *value) {
    enum lapse_policy policy = LAPSE_POLICIES;
    uint8_t chosen = 0;
    if (!lapse_policy_find(lapse_node_bytes(key), &policy)) {
        note_policy(d, key);
    } else if (!lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "a value of the policy")) {
        return;
    } else if (!lapse_policy_value_find(policy, lapse_node_bytes(value), &chosen)) {
        note_value(d, policy, value);
    } else {
        d->plan->setup.policies.value[policy] = chosen;
    }
}

static void note_policy(struct lapse_decoder *d, const struct lapse_node *key) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, key->text);
    for (int i = 0; i < LAPSE_POLICIES; i++) {
        lapse_nearest_offer(&nearest, lapse_policy_word((enum lapse_policy)i));
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y101", key->place, label,
                                                "`%.60s` is not a policy", key->text);
    lapse_diag_note(d->diags, diag, "help", "`lapse help profiles` lists them with their values");
}

static void note_value(struct lapse_decoder *d, enum lapse_policy policy,
                       const struct lapse_node *value) {
    char words[LAPSE_POLICY_VALUES_MAX][32];
    size_t count = 0;
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, value->text);
    const char *rest = lapse_policy_values(policy);
    while (count < LAPSE_POLICY_VALUES_MAX &&
           (rest = lapse_words_next(rest, words[count], sizeof(words[0]))) != NULL) {
        lapse_nearest_offer(&nearest, words[count]);
        count++;
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y127", value->place, label, "`%.60s` is not a value of `%s`",
                          value->text, lapse_policy_word(policy));
    lapse_diag_note(d->diags, diag, "note", "`%s` takes: %s; strict has the first",
                    lapse_policy_word(policy), lapse_policy_values(policy));
}

static void read_store(struct lapse_decoder *d, const struct lapse_node *map) {
    static const char *const kinds[] = {"memory", "sqlite"};
    static const char *const syncs[] = {"full", "normal", "none"};
    static const enum lapse_sync sync_values[] = {LAPSE_SYNC_FULL, LAPSE_SYNC_NORMAL,
                                                  LAPSE_SYNC_NONE};
    if (!lapse_shape_is(d, map, LAPSE_NODE_MAP, "a map of `kind` and `sync`")) {
        return;
    }
    size_t kind = 0;
    size_t sync = 0;
    for (size_t i = 0; i < map->count; i++) {
        if (!lapse_shape_word(d, map->keys[i], LAPSE_WORD_STORE, "a store")) {
            continue;
        }
        if (lapse_node_is(map->keys[i], "kind")) {
            (void)read_choice(d, map->items[i], kinds, 2, &kind);
        } else {
            (void)read_choice(d, map->items[i], syncs, 3, &sync);
        }
    }
    d->plan->store = kind == 0 ? LAPSE_STORE_MEMORY : LAPSE_STORE_SQLITE;
    d->plan->setup.sync = sync_values[sync];
}

static bool read_choice(struct lapse_decoder *d, const struct lapse_node *value,
                        const char *const *words, size_t count, size_t *ret) {
    if (!lapse_shape_is(d, value, LAPSE_NODE_SCALAR, "a word")) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (lapse_node_is(value, words[i])) {
            *ret = i;
            return true;
        }
    }
    note_choice(d, value, words, count);
    return false;
}

static void note_choice(struct lapse_decoder *d, const struct lapse_node *value,
                        const char *const *words, size_t count) {
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, value->text);
    char list[120] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&nearest, words[i]);
        used +=
            (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i == 0 ? "" : " ", words[i]);
    }
    char label[64] = "";
    if (nearest.best != NULL) {
        (void)snprintf(label, sizeof(label), "did you mean `%s`?", nearest.best);
    }
    struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y127", value->place, label,
                                                "`%.60s` is not one of the choices", value->text);
    lapse_diag_note(d->diags, diag, "help", "write one of: %s", list);
}
