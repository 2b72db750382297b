/* KV-01, KV-02, KV-06..09: which term a key gets, when it ends, and what renews it. */
#include "rules.h"
#include "track.h"

static bool accepted_put(const struct lapse_look *look);
static bool accepted_term(const struct lapse_look *look);
static bool same_end(struct lapse_end a, struct lapse_end b);
static bool end_as_asked(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_end *ret_end);
static bool session_refused(const struct lapse_trackers *trackers, const struct lapse_look *look,
                            struct lapse_violation *ret);
static bool keeps(const struct lapse_look *look);
static bool say_end(const struct lapse_look *look, struct lapse_end wanted, const char *why,
                    struct lapse_violation *ret);
static bool two_terms(const struct lapse_term *term);
static struct lapse_end end_after_use(const struct lapse_look *look);
static bool shows_end(const struct lapse_look *look);
static bool listing_renewed(const struct lapse_look *look);

static bool kv_01_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    struct lapse_end end;
    if (accepted_put(look) && end_as_asked(trackers, look, &end) && end.kind == LAPSE_END_STEADY)
        return true;
    bool known = look->state == LAPSE_TRACKED_LIVE || look->state == LAPSE_TRACKED_ENDED;
    return known && look->key->entry.span.ns > 0 && look->key->entry.why != LAPSE_WHY_IDLE &&
           lapse_look_shows(look) != LAPSE_SHOWN_NOTHING;
}

/* Of spans that have not been renewed by a use: whose end is what the term says. */
static bool kv_01_true(const struct lapse_trackers *trackers, const struct lapse_look *look,
                       struct lapse_violation *ret) {
    const struct lapse_tracked_entry *entry = &look->key->entry;
    bool spans = entry->why == LAPSE_WHY_OWN || entry->why == LAPSE_WHY_DEFAULT;
    bool known = look->state == LAPSE_TRACKED_LIVE || look->state == LAPSE_TRACKED_ENDED;
    if (!spans || !known || entry->end.kind != LAPSE_END_STEADY || entry->term_open)
        return true;
    return lapse_true_says(look,
                           lapse_true_span(trackers, entry->term, entry->span, look->event->at),
                           lapse_look_shows(look) == LAPSE_SHOWN_PRESENT, ret);
}

static bool kv_01_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    struct lapse_end wanted;
    if (accepted_put(look) && end_as_asked(trackers, look, &wanted) &&
        !same_end(look->answer->end, wanted))
        return say_end(look, wanted, "a term runs from the write", ret);
    enum lapse_shown shown = lapse_look_shows(look);
    if (shown == LAPSE_SHOWN_NOTHING || look->key == NULL)
        return true;
    if ((shown == LAPSE_SHOWN_PRESENT) == (look->state == LAPSE_TRACKED_LIVE))
        return kv_01_true(trackers, look, ret);
    if (look->state == LAPSE_TRACKED_NEVER || look->state == LAPSE_TRACKED_REMOVED)
        return true;
    const struct lapse_tracked_entry *entry = &look->key->entry;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    struct lapse_rule_text end = lapse_text_end(entry->end);
    struct lapse_rule_text at = lapse_text_ns(look->answer->at.ns);
    const char *what = shown == LAPSE_SHOWN_PRESENT ? "live" : "absent";
    lapse_violation_label(ret, look->event, "found it %s at %s", what, at.text);
    lapse_violation_label(ret, entry->term, "this gave it a term that ends: %s", end.text);
    return lapse_violation_say(ret, "%s was %s at %s, its term ends at %s", name.text, what,
                               at.text, end.text);
}
LAPSE_RULE_BY_LOOKS(kv_01, kv_01_concerns, kv_01_check)

static bool kv_02_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    if (look->command == NULL)
        return false;
    if (look->verb == LAPSE_VERB_OPEN || look->verb == LAPSE_VERB_ALTER)
        return two_terms(&look->command->u.open.config.term);
    return lapse_verb_writes_key(look->verb) &&
           (two_terms(&look->command->u.write.term) || accepted_put(look) ||
            (look->command->u.write.term.given & LAPSE_TERM_SESSION) != 0);
}

/* Only the choice is judged here: which of the terms it is, not how long it is. */
static bool kv_02_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    (void)trackers;
    const char *word = lapse_call_word(look->verb);
    if (look->verb == LAPSE_VERB_OPEN || look->verb == LAPSE_VERB_ALTER ||
        two_terms(&look->command->u.write.term)) {
        if (look->answer->status < 0)
            return true;
        struct lapse_rule_text name = lapse_text_name(look->bucket_name);
        lapse_violation_label(ret, look->event, "two kinds of term were accepted");
        return lapse_violation_say(ret, "%s on %s was accepted with two kinds of term", word,
                                   name.text);
    }
    if (!session_refused(trackers, look, ret))
        return false;
    struct lapse_end wanted;
    if (look->answer->status != LAPSE_OK || !end_as_asked(trackers, look, &wanted))
        return true;
    struct lapse_command plain = *look->command;
    plain.u.write.term.given = 0;
    struct lapse_tracked_term by_default;
    lapse_tracked_term_of(trackers, look->bucket, look->key, &plain, look->answer, &by_default);
    bool own = look->command->u.write.term.given != 0 && !keeps(look);
    bool confused =
        own && same_end(look->answer->end, by_default.end) && !same_end(by_default.end, wanted);
    if (look->answer->end.kind == wanted.kind && !confused)
        return true;
    return say_end(look, wanted, own ? "the call gave its own term" : "the bucket says so", ret);
}
LAPSE_RULE_BY_LOOKS(kv_02, kv_02_concerns, kv_02_check)

static bool kv_06_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    if (look->state != LAPSE_TRACKED_LIVE || look->answer->status != LAPSE_OK)
        return false;
    if (look->verb == LAPSE_VERB_EXPIRE || look->verb == LAPSE_VERB_PERSIST)
        return true;
    return look->key->entry.term != look->key->entry.write && lapse_verb_reads_key(look->verb) &&
           !look->command->u.read.has_revision;
}

static bool kv_06_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    (void)trackers;
    const struct lapse_tracked_entry *entry = &look->key->entry;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    struct lapse_end wanted;
    if (accepted_term(look) && end_as_asked(trackers, look, &wanted) &&
        !same_end(look->answer->end, wanted))
        return say_end(look, wanted, "that is what was asked", ret);
    bool valued = look->verb == LAPSE_VERB_GET || look->verb == LAPSE_VERB_ENTRY;
    if (look->answer->revision == entry->revision &&
        (!valued || lapse_bytes_equal(look->answer->value, entry->value)))
        return true;
    lapse_violation_label(ret, look->event, "shows revision %lld",
                          (long long)look->answer->revision);
    lapse_violation_label(ret, entry->write, "wrote revision %lld", (long long)entry->revision);
    if (!accepted_term(look))
        lapse_violation_label(ret, entry->term, "should have changed the term only");
    return lapse_violation_say(ret, "a change of %s's term changed its value or revision",
                               name.text);
}
LAPSE_RULE_BY_LOOKS(kv_06, kv_06_concerns, kv_06_check)

static bool kv_07_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    return look->verb == LAPSE_VERB_SET && accepted_put(look) &&
           look->state == LAPSE_TRACKED_LIVE && look->command->u.write.term.given == 0 &&
           look->bucket->config.term.given != 0;
}

static bool kv_07_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    (void)trackers;
    struct lapse_end wanted;
    if (!end_as_asked(trackers, look, &wanted) || same_end(look->answer->end, wanted))
        return true;
    lapse_violation_label(ret, look->event, "a plain set of a live key");
    lapse_violation_label(ret, look->key->entry.term, "its term before");
    return say_end(look, wanted, "a plain set starts a fresh default term", ret);
}
LAPSE_RULE_BY_LOOKS(kv_07, kv_07_concerns, kv_07_check)

static bool kv_14_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    return accepted_put(look) && look->state == LAPSE_TRACKED_LIVE && keeps(look) &&
           !look->key->entry.lossy;
}

static bool kv_14_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    (void)trackers;
    struct lapse_end wanted = look->key->entry.end;
    if (same_end(look->answer->end, wanted))
        return true;
    lapse_violation_label(ret, look->event, "a set that keeps the term");
    lapse_violation_label(ret, look->key->entry.term, "the term to keep");
    return say_end(look, wanted, "it keeps the end that it has", ret);
}
LAPSE_RULE_BY_LOOKS(kv_14, kv_14_concerns, kv_14_check)

/* That a write or delete of what has ended is accepted says of no listing that it renewed. */
static bool kv_08_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    if (look->key == NULL || look->key->entry.why != LAPSE_WHY_IDLE || look->key->entry.lossy)
        return false;
    bool older = look->command != NULL && lapse_verb_reads_key(look->verb) &&
                 look->command->u.read.has_revision;
    if (look->state == LAPSE_TRACKED_LIVE && lapse_verb_reads_key(look->verb) && !older)
        return look->answer->status == LAPSE_OK ||
               (look->answer->status == LAPSE_ABSENT && look->key->entry.renewal != NULL);
    bool written = lapse_verb_takes_revision(look->verb) && look->answer->status == LAPSE_OK;
    return !written && look->state == LAPSE_TRACKED_ENDED && listing_renewed(look);
}

static bool kv_08_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    (void)trackers;
    const struct lapse_tracked_entry *entry = &look->key->entry;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key->name);
    struct lapse_rule_text last = lapse_text_ns(entry->last.ns);
    if (look->state == LAPSE_TRACKED_ENDED) {
        if (lapse_look_shows(look) != LAPSE_SHOWN_PRESENT)
            return true;
        lapse_violation_label(ret, look->event, "it is still there");
        lapse_violation_label(ret, look->bucket->listing, "a listing renews nothing");
        return lapse_violation_say(ret, "%s outlived its idle term: a listing renewed it",
                                   name.text);
    }
    if (look->answer->status != LAPSE_OK) {
        if (look->answer->at.ns < entry->end_unrenewed.ns)
            return true;
        lapse_violation_label(ret, look->event, "absent");
        lapse_violation_label(ret, entry->renewal, "this use renewed it");
        return lapse_violation_say(ret, "%s is absent although a use at %s renewed it", name.text,
                                   last.text);
    }
    bool renews = lapse_look_uses(look) && lapse_tracked_entry_renews(entry, look->answer->at);
    lapse_violation_label(ret, look->event, look->answer->renewed ? "renewed" : "did not renew");
    lapse_violation_label(ret, entry->renewal != NULL ? entry->renewal : entry->term,
                          "its last use that counts, at %s", last.text);
    /* At the very instant of the last use both words are true: there the end shown decides. */
    if (look->answer->renewed != renews && look->answer->at.ns != entry->last.ns)
        return lapse_violation_say(ret, "%s of %s %s its idle term", lapse_call_word(look->verb),
                                   name.text, renews ? "did not renew" : "renewed too soon");
    struct lapse_end wanted = end_after_use(look);
    if (shows_end(look) && !same_end(look->answer->end, wanted))
        return say_end(look, wanted, "an idle term runs from the last use", ret);
    ret->label_count = 0;
    return true;
}
LAPSE_RULE_BY_LOOKS(kv_08, kv_08_concerns, kv_08_check)

/* An accepted write or delete of what has ended brings nothing back: KV-03 names it. */
static bool kv_09_concerns(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    (void)trackers;
    bool written = lapse_verb_takes_revision(look->verb) && look->answer->status == LAPSE_OK;
    if (look->key == NULL || look->key->entry.lossy)
        return false;
    if (look->state == LAPSE_TRACKED_ENDED)
        return !written && look->key->entry.why == LAPSE_WHY_IDLE &&
               look->key->found_ended != NULL && lapse_look_shows(look) != LAPSE_SHOWN_NOTHING;
    return look->state == LAPSE_TRACKED_LIVE && shows_end(look) &&
           (look->key->entry.renewal != NULL || look->key->old_renewal != NULL);
}

static bool kv_09_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                        struct lapse_violation *ret) {
    (void)trackers;
    const struct lapse_tracked_key *key = look->key;
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, key->name);
    if (look->state == LAPSE_TRACKED_ENDED) {
        if (lapse_look_shows(look) != LAPSE_SHOWN_PRESENT)
            return true;
        lapse_violation_label(ret, look->event, "it is there again");
        lapse_violation_label(ret, key->found_ended, "it was found ended here");
        return lapse_violation_say(ret, "a late renewal brought %s back after its end", name.text);
    }
    struct lapse_end wanted = end_after_use(look);
    bool foreign = key->old_renewal != NULL && !same_end(look->answer->end, wanted);
    bool shorter =
        look->answer->end.kind == key->entry.end.kind && look->answer->end.ns < key->entry.end.ns;
    if (!foreign && !shorter)
        return true;
    lapse_violation_label(ret, look->event, "shows another end");
    lapse_violation_label(ret, key->entry.term, "the term that it should have");
    lapse_violation_label(ret, foreign ? key->old_renewal : key->entry.renewal, "the renewal");
    return say_end(look, wanted,
                   foreign ? "a renewal of an older entry must not touch it"
                           : "a renewal never shortens",
                   ret);
}
LAPSE_RULE_BY_LOOKS(kv_09, kv_09_concerns, kv_09_check)

static bool accepted_put(const struct lapse_look *look) {
    return look->command != NULL && look->answer->status == LAPSE_OK && look->bucket != NULL &&
           lapse_verb_event(look->verb) == LAPSE_EVENT_PUT;
}

static bool accepted_term(const struct lapse_look *look) {
    return look->command != NULL && look->answer->status == LAPSE_OK && look->bucket != NULL &&
           (look->verb == LAPSE_VERB_EXPIRE || look->verb == LAPSE_VERB_PERSIST);
}

static bool same_end(struct lapse_end a, struct lapse_end b) {
    return a.kind == b.kind && (a.kind == LAPSE_END_NONE || a.ns == b.ns);
}

/* The end that an accepted write must show. False where any will do: a date in the past, or a term
 * that is not known. */
static bool end_as_asked(const struct lapse_trackers *trackers, const struct lapse_look *look,
                         struct lapse_end *ret_end) {
    struct lapse_tracked_term term;
    if (two_terms(&look->command->u.write.term))
        return false;
    lapse_tracked_term_of(trackers, look->bucket, look->key, look->command, look->answer, &term);
    *ret_end = term.end;
    return term.known && (ret_end->kind != LAPSE_END_WALL || ret_end->ns > look->answer->wall.ns);
}

/* A write with a session is lost iff no session of that name is live. */
static bool session_refused(const struct lapse_trackers *trackers, const struct lapse_look *look,
                            struct lapse_violation *ret) {
    const struct lapse_term *term = &look->command->u.write.term;
    const struct lapse_tracked_session *session =
        lapse_tracked_session_find(trackers, term->session);
    bool open = trackers->leases_unsure || (session != NULL && session->unsure);
    if ((term->given & LAPSE_TERM_SESSION) == 0 || open)
        return true;
    bool live = lapse_tracked_session_live(session, look->answer->at);
    if (live ? look->answer->status != LAPSE_LOST : look->answer->status != LAPSE_OK)
        return true;
    struct lapse_rule_text name = lapse_text_name(term->session);
    lapse_violation_label(ret, look->event, "%s answered %s", lapse_call_word(look->verb),
                          lapse_status_word(look->answer->status));
    lapse_violation_label(ret, session != NULL ? session->term : NULL, "this gave it its end");
    return lapse_violation_say(ret,
                               live ? "a write with session %s was refused, yet it is live"
                                    : "a write was accepted with session %s, which is not live",
                               name.text);
}

static bool keeps(const struct lapse_look *look) {
    return (look->command->u.write.term.given & LAPSE_TERM_KEEP) != 0;
}

static bool say_end(const struct lapse_look *look, struct lapse_end wanted, const char *why,
                    struct lapse_violation *ret) {
    struct lapse_rule_text name = lapse_text_key(look->bucket->name, look->key_name);
    struct lapse_rule_text end = lapse_text_end(look->answer->end);
    struct lapse_rule_text right = lapse_text_end(wanted);
    if (ret->label_count == 0)
        lapse_violation_label(ret, look->event, "its end is shown as %s", end.text);
    return lapse_violation_say(ret, "%s %s ends at %s, but it must be %s: %s",
                               lapse_call_word(look->verb), name.text, end.text, right.text, why);
}

static bool two_terms(const struct lapse_term *term) {
    return term->given != 0 && (term->given & (term->given - 1)) != 0;
}

/* The end of a live entry just after the look: a use may renew it. */
static struct lapse_end end_after_use(const struct lapse_look *look) {
    const struct lapse_tracked_entry *entry = &look->key->entry;
    struct lapse_end end = entry->end;
    if (lapse_look_uses(look) && lapse_tracked_entry_renews(entry, look->answer->at))
        end = lapse_tracked_entry_renewed(entry, look->answer->at);
    return end;
}

static bool shows_end(const struct lapse_look *look) {
    return (look->verb == LAPSE_VERB_GET || look->verb == LAPSE_VERB_ENTRY) &&
           !(look->command != NULL && look->command->u.read.has_revision) &&
           look->answer->status == LAPSE_OK;
}

/* Whether a listing came between the last use and the end, late enough to explain a longer life. */
static bool listing_renewed(const struct lapse_look *look) {
    const struct lapse_tracked_entry *entry = &look->key->entry;
    if (look->bucket->listing == NULL || entry->end.kind != LAPSE_END_STEADY)
        return false;
    struct lapse_steady at = look->bucket->listing->u.apply.answer.at;
    struct lapse_steady end;
    return at.ns > entry->last.ns && at.ns < entry->end.ns &&
           lapse_steady_add(at, entry->span, &end) && look->answer->at.ns < end.ns;
}
