/* KV-03, KV-04, KV-05, KV-11 and KV-13: what is live and what is not, to every call at once, and
 * what reads of live keys show. */
#include "rules.h"
#include "track.h"

static bool ended_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           bool found_only);
static bool ended_holds(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        bool found_only, struct lapse_violation *ret);
static bool ended_listed(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         bool found_only, struct lapse_violation *ret);
static bool say_ended(const struct lapse_look *look, const struct lapse_tracked_key *key,
                      struct lapse_violation *ret);
static bool counts(const struct lapse_tracked_key *key, enum lapse_tracked_state state,
                   bool found_only);
static size_t count_live(const struct lapse_trackers *trackers, const struct lapse_look *look);
static const struct lapse_tracked_record *find_record(const struct lapse_tracked_key *key,
                                                      int64_t revision);
static bool record_right(const struct lapse_look *look, struct lapse_violation *ret);
static bool history_right(const struct lapse_look *look, struct lapse_violation *ret);
static bool read_right(const struct lapse_look *look, struct lapse_violation *ret);
static bool listing_right(const struct lapse_trackers *trackers, const struct lapse_look *look,
                          struct lapse_violation *ret);
static bool counts_open(const struct lapse_trackers *trackers, const struct lapse_look *look);
static bool item_right(const struct lapse_trackers *trackers, const struct lapse_look *look,
                       size_t index, struct lapse_violation *ret);
static struct lapse_span shown_span(const struct lapse_trackers *trackers,
                                    const struct lapse_look *look);

static bool kv_03_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    return ended_concerns(trackers, look, false);
}

static bool kv_03_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    return ended_holds(trackers, look, false, ret);
}
LAPSE_RULE_BY_LOOKS(kv_03, kv_03_concerns, kv_03_check)

/* An accepted write or delete of what has ended brings nothing back: KV-03 names it. */
static bool kv_04_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    bool written = lapse_verb_takes_revision(look->verb) && look->answer->status == LAPSE_OK;
    return !written && ended_concerns(trackers, look, true);
}

static bool kv_04_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    return ended_holds(trackers, look, true, ret);
}
LAPSE_RULE_BY_LOOKS(kv_04, kv_04_concerns, kv_04_check)

/* A create that succeeds too early is CAS-03's to name. */
static bool kv_05_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    return look->state == LAPSE_TRACKED_LIVE && look->verb != LAPSE_VERB_CREATE &&
           lapse_look_shows(look) != LAPSE_SHOWN_NOTHING;
}

static bool kv_05_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    (void)trackers;
    if (lapse_look_shows(look) == LAPSE_SHOWN_PRESENT)
        return true;
    struct lapse_rule_text end = lapse_text_end(look->key->entry.end);
    struct lapse_rule_text at = lapse_text_ns(look->answer->at.ns);
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    lapse_violation_label(ret, look->event, "found nothing at %s", at.text);
    lapse_violation_label(ret, look->key->entry.term, "this gave it a term that ends: %s",
                          end.text);
    return lapse_violation_say(ret, "%s was absent at %s, before its end (%s)", name.text, at.text,
                               end.text);
}
LAPSE_RULE_BY_LOOKS(kv_05, kv_05_concerns, kv_05_check)

static bool kv_11_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    if (look->bucket != NULL && look->bucket->unsure)
        return false;
    if (lapse_look_lists(look))
        return look->bucket->key_count > 0 || look->answer->item_count > 0;
    if (look->verb == LAPSE_VERB_HISTORY && look->bucket != NULL)
        return look->answer->status == LAPSE_OK && look->state == LAPSE_TRACKED_LIVE;
    return lapse_verb_reads_key(look->verb) && look->answer->status == LAPSE_OK &&
           look->bucket != NULL && look->state != LAPSE_TRACKED_ENDED;
}

static bool kv_11_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    if (lapse_look_lists(look))
        return listing_right(trackers, look, ret);
    if (look->verb == LAPSE_VERB_HISTORY)
        return history_right(look, ret);
    if (look->command != NULL && look->command->u.read.has_revision)
        return record_right(look, ret);
    return read_right(look, ret);
}
LAPSE_RULE_BY_LOOKS(kv_11, kv_11_concerns, kv_11_check)

/* A date that has passed already ends its key at once: there is nothing left to show. */
static bool kv_13_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    const struct lapse_answer *answer = look->answer;
    if (answer->status != LAPSE_OK && answer->status != LAPSE_HELD)
        return false;
    if (answer->end.kind == LAPSE_END_NONE)
        return false;
    bool past = look->command != NULL && lapse_verb_writes_key(look->verb) &&
                (look->command->u.write.term.given & LAPSE_TERM_EXPIRES_AT) != 0 &&
                look->command->u.write.term.expires_at.ns <= answer->wall.ns;
    return !past;
}

static bool kv_13_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    const struct lapse_answer *answer = look->answer;
    int64_t now = answer->end.kind == LAPSE_END_WALL ? answer->wall.ns : answer->at.ns;
    int64_t left = 0;
    bool exact = lapse_ns_sub(answer->end.ns, now, &left) && left == answer->left.ns;
    struct lapse_span span = shown_span(trackers, look);
    if (exact && left > 0 && (span.ns == 0 || left <= span.ns))
        return true;
    struct lapse_rule_text shown = lapse_text_ns(answer->left.ns);
    struct lapse_rule_text wanted = lapse_text_ns(left);
    struct lapse_rule_text whole = lapse_text_ns(span.ns);
    lapse_violation_label(ret, look->event, "showed %s left", shown.text);
    if (exact && left > 0)
        return lapse_violation_say(ret, "%s is left of a term of %s", shown.text, whole.text);
    return lapse_violation_say(ret, "%s showed %s left, but its end is %s away",
                               lapse_call_word(look->verb), shown.text, wanted.text);
}
LAPSE_RULE_BY_LOOKS(kv_13, kv_13_concerns, kv_13_check)

static bool ended_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look,
                           bool found_only) {
    if (!lapse_look_lists(look))
        return counts(look->key, look->state, found_only) &&
               lapse_look_shows(look) != LAPSE_SHOWN_NOTHING;
    for (size_t i = 0; i < look->bucket->key_count; i++) {
        const struct lapse_tracked_key *key = look->bucket->keys[i];
        if (counts(key, lapse_look_state_of(trackers, look, key), found_only))
            return true;
    }
    return false;
}

static bool ended_holds(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        bool found_only, struct lapse_violation *ret) {
    if (lapse_look_lists(look))
        return ended_listed(trackers, look, found_only, ret);
    if (lapse_look_shows(look) == LAPSE_SHOWN_ABSENT)
        return true;
    return say_ended(look, look->key, ret);
}

static bool ended_listed(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         bool found_only, struct lapse_violation *ret) {
    if (look->verb == LAPSE_VERB_COUNT) {
        size_t live = count_live(trackers, look);
        if (found_only || look->answer->item_count <= live || look->bucket->unsure ||
            counts_open(trackers, look))
            return true;
        struct lapse_rule_text name = lapse_text_name(look->bucket->name);
        lapse_violation_label(ret, look->event, "counted %zu", look->answer->item_count);
        return lapse_violation_say(ret, "%s was counted as %zu keys, but only %zu have not ended",
                                   name.text, look->answer->item_count, live);
    }
    for (size_t i = 0; i < look->answer->item_count; i++) {
        const struct lapse_tracked_key *key =
            lapse_tracked_key_find(look->bucket, look->answer->items[i].key);
        if (counts(key, lapse_look_state_of(trackers, look, key), found_only))
            return say_ended(look, key, ret);
    }
    return true;
}

static bool say_ended(const struct lapse_look *look, const struct lapse_tracked_key *key,
                      struct lapse_violation *ret) {
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, key->name);
    struct lapse_rule_text end = lapse_text_end(key->entry.end);
    struct lapse_rule_text at = lapse_text_ns(look->answer->at.ns);
    lapse_violation_label(ret, look->event, "%s still showed it at %s", lapse_call_word(look->verb),
                          at.text);
    lapse_violation_label(ret, key->entry.term, "this gave it a term that ends: %s", end.text);
    const struct lapse_history_event *found =
        key->found_ended != NULL ? key->found_ended : key->told_absent;
    lapse_violation_label(ret, found, "it was found ended here");
    if (found != NULL)
        return lapse_violation_say(ret, "%s came back at %s after it had been found ended",
                                   name.text, at.text);
    return lapse_violation_say(ret, "%s was still there at %s: its term had ended (%s)", name.text,
                               at.text, end.text);
}

/* What was told absent while its term ran has been found ended too, if wrongly. */
static bool counts(const struct lapse_tracked_key *key, enum lapse_tracked_state state,
                   bool found_only) {
    if (found_only && state == LAPSE_TRACKED_LIVE)
        return key->told_absent != NULL;
    return state == LAPSE_TRACKED_ENDED && (!found_only || key->found_ended != NULL);
}

static size_t count_live(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    size_t live = 0;
    for (size_t i = 0; i < look->bucket->key_count; i++) {
        const struct lapse_tracked_key *key = look->bucket->keys[i];
        if (lapse_look_lists_key(look, key->name) &&
            lapse_look_state_of(trackers, look, key) == LAPSE_TRACKED_LIVE)
            live++;
    }
    return live;
}

static const struct lapse_tracked_record *find_record(const struct lapse_tracked_key *key,
                                                      int64_t revision) {
    for (size_t i = 0; key != NULL && i < key->record_count; i++) {
        if (key->records[i].revision == revision)
            return &key->records[i];
    }
    return NULL;
}

/* A read by revision shows that very record. */
static bool record_right(const struct lapse_look *look, struct lapse_violation *ret) {
    int64_t asked = look->command->u.read.revision;
    const struct lapse_tracked_record *record = find_record(look->key, asked);
    bool valued = look->verb != LAPSE_VERB_HAS;
    if (look->state == LAPSE_TRACKED_LIVE && record == NULL && asked < look->key->records_from)
        return true; /* a crash may have left it */
    if (look->state == LAPSE_TRACKED_LIVE && look->answer->revision == asked && record != NULL &&
        record->kind == LAPSE_RECORD_VALUE &&
        (!valued || lapse_bytes_equal(look->answer->value, record->value)))
        return true;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key_name);
    lapse_violation_label(ret, look->event, "read revision %lld", (long long)asked);
    lapse_violation_label(ret, record != NULL ? record->by : NULL, "wrote revision %lld",
                          (long long)asked);
    return lapse_violation_say(ret, "%s was read at revision %lld, which it has not, or otherwise",
                               name.text, (long long)asked);
}

/* Oldest first, each a record that was kept, and the last the live entry unless a limit cut it. */
static bool history_right(const struct lapse_look *look, struct lapse_violation *ret) {
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key_name);
    size_t count = look->answer->item_count;
    const struct lapse_item *items = look->answer->items;
    lapse_violation_label(ret, look->event, "showed %zu records", count);
    for (size_t i = 0; i < count; i++) {
        const struct lapse_tracked_record *record = find_record(look->key, items[i].revision);
        if (i > 0 && items[i].revision <= items[i - 1].revision)
            return lapse_violation_say(ret, "the history of %s is out of order, or shows one twice",
                                       name.text);
        if (record == NULL && items[i].revision < look->key->records_from)
            continue;
        if (record == NULL || record->kind != items[i].kind ||
            !lapse_bytes_equal(record->value, items[i].value))
            return lapse_violation_say(ret, "the history of %s shows revision %lld, which it has "
                                            "not, or otherwise",
                                       name.text, (long long)items[i].revision);
    }
    bool whole = look->answer->more ||
                 (count > 0 && items[count - 1].revision == look->key->entry.revision);
    if (!whole)
        return lapse_violation_say(ret, "the history of %s lacks its live entry", name.text);
    ret->label_count = 0;
    return true;
}

static bool read_right(const struct lapse_look *look, struct lapse_violation *ret) {
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key_name);
    if (look->state != LAPSE_TRACKED_LIVE) {
        lapse_violation_label(ret, look->event, "read something");
        if (look->key != NULL)
            lapse_violation_label(ret, look->key->removed, "removed here");
        return lapse_violation_say(ret, "%s was read, but nothing stands there", name.text);
    }
    const struct lapse_tracked_entry *entry = &look->key->entry;
    if (look->answer->revision != entry->revision) {
        lapse_violation_label(ret, look->event, "read revision %lld",
                              (long long)look->answer->revision);
        lapse_violation_label(ret, entry->write, "wrote revision %lld", (long long)entry->revision);
        return lapse_violation_say(ret, "%s was read as revision %lld, its last write is %lld",
                                   name.text, (long long)look->answer->revision,
                                   (long long)entry->revision);
    }
    if (look->verb == LAPSE_VERB_HAS || lapse_bytes_equal(look->answer->value, entry->value))
        return true;
    struct lapse_rule_text read = lapse_text_name(look->answer->value);
    struct lapse_rule_text written = lapse_text_name(entry->value);
    lapse_violation_label(ret, look->event, "read %s", read.text);
    lapse_violation_label(ret, entry->write, "wrote %s", written.text);
    return lapse_violation_say(ret, "%s was read as %s, the last accepted value is %s", name.text,
                               read.text, written.text);
}

/* Every item in order and right, and as many as are live: so each live key stands there once. */
static bool listing_right(const struct lapse_trackers *trackers, const struct lapse_look *look,
                          struct lapse_violation *ret) {
    for (size_t i = 0; look->verb != LAPSE_VERB_COUNT && i < look->answer->item_count; i++) {
        if (!item_right(trackers, look, i, ret))
            return false;
    }
    size_t live = count_live(trackers, look);
    size_t shown = look->answer->item_count;
    if (shown == live || (look->answer->more && shown < live) || counts_open(trackers, look))
        return true;
    struct lapse_rule_text name = lapse_text_name(look->bucket->name);
    lapse_violation_label(ret, look->event, "showed %zu keys", look->answer->item_count);
    lapse_violation_label(ret, look->bucket->revision_by, "the last change of %s", name.text);
    return lapse_violation_say(ret, "%s of %s showed %zu keys, but %zu are live",
                               lapse_call_word(look->verb), name.text, look->answer->item_count,
                               live);
}

/* Whether a crash has left open if some key that it would show is there. */
static bool counts_open(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    for (size_t i = 0; i < look->bucket->key_count; i++) {
        if (lapse_look_state_of(trackers, look, look->bucket->keys[i]) == LAPSE_TRACKED_UNSURE)
            return true;
    }
    return false;
}

static bool item_right(const struct lapse_trackers *trackers, const struct lapse_look *look,
                       size_t index, struct lapse_violation *ret) {
    const struct lapse_item *item = &look->answer->items[index];
    const struct lapse_tracked_key *key = lapse_tracked_key_find(look->bucket, item->key);
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, item->key);
    enum lapse_tracked_state state = lapse_look_state_of(trackers, look, key);
    lapse_violation_label(ret, look->event, "showed %s", name.text);
    if (index > 0 && lapse_bytes_compare(look->answer->items[index - 1].key, item->key) >= 0)
        return lapse_violation_say(ret, "%s is not listed in byte order, or twice", name.text);
    if (state == LAPSE_TRACKED_UNSURE) {
        ret->label_count = 0;
        return true;
    }
    if (state != LAPSE_TRACKED_LIVE)
        return lapse_violation_say(ret, "%s is listed, but it is not live", name.text);
    bool valued = look->verb != LAPSE_VERB_LIST;
    if (item->revision == key->entry.revision &&
        (!valued || lapse_bytes_equal(item->value, key->entry.value))) {
        ret->label_count = 0;
        return true;
    }
    lapse_violation_label(ret, key->entry.write, "its last accepted write");
    return lapse_violation_say(ret, "%s is listed with another value or revision than it has",
                               name.text);
}

/* The span that the shown end belongs to; 0: a date, or not known. */
static struct lapse_span shown_span(const struct lapse_trackers *trackers,
                                    const struct lapse_look *look) {
    struct lapse_span span = {0};
    const struct lapse_tracked_grant *grant =
        lapse_tracked_grant_live(look->lease, look->answer->at);
    bool asked =
        look->command != NULL && look->answer->status == LAPSE_OK && !look->answer->renewed;
    if (lapse_verb_of_session(look->verb))
        return asked ? look->command->u.session.span : span;
    if (asked && (look->verb == LAPSE_VERB_ACQUIRE || look->verb == LAPSE_VERB_EXTEND))
        return look->command->u.lease.span;
    if (grant != NULL)
        return grant->span;
    if (lapse_verb_writes_key(look->verb) && look->command != NULL && look->bucket != NULL) {
        struct lapse_tracked_term term;
        lapse_tracked_term_of(trackers, look->bucket, look->key, look->command, look->answer,
                              &term);
        span = term.known ? term.span : span;
    } else if (look->state == LAPSE_TRACKED_LIVE) {
        span = look->key->entry.span;
    }
    return span;
}
