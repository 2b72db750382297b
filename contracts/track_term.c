/* Terms: which one a write gives, what a use does to an idle one, and whether an entry has ended.
 *
 * Two ends of an idle entry are kept beside its own: the one before its last renewal, and the one
 * that no crash can lose, because it was durable before its answer or is a second old. */
#include "track.h"

static struct lapse_end end_after(struct lapse_steady at, struct lapse_span span);
static void session_term(const struct lapse_trackers *trackers, struct lapse_bytes name,
                         struct lapse_steady at, struct lapse_tracked_term *ret);
static void entry_term(const struct lapse_tracked_entry *entry, struct lapse_tracked_term *ret);
static bool has_ended(const struct lapse_trackers *trackers, const struct lapse_tracked_key *key,
                      struct lapse_steady at, struct lapse_wall wall);

void lapse_tracked_term_of(const struct lapse_trackers *trackers,
                           const struct lapse_tracked_bucket *bucket,
                           const struct lapse_tracked_key *key, const struct lapse_command *command,
                           const struct lapse_answer *answer, struct lapse_tracked_term *ret) {
    const struct lapse_term *own = &command->u.write.term;
    *ret = (struct lapse_tracked_term){.known = true};
    if (command->verb == LAPSE_VERB_PERSIST)
        return;
    bool keep = (own->given & LAPSE_TERM_KEEP) != 0;
    enum lapse_tracked_state state =
        lapse_tracked_key_state(trackers, key, answer->at, answer->wall);
    if (keep && state == LAPSE_TRACKED_LIVE) {
        entry_term(&key->entry, ret);
        return;
    }
    if (keep && state == LAPSE_TRACKED_UNSURE) {
        ret->known = false;
        ret->open = true;
        return;
    }
    bool given = own->given != 0 && !keep;
    const struct lapse_term *term = given ? own : &bucket->config.term;
    if (!given && bucket->config_open) {
        ret->known = false;
        ret->open = true;
        return;
    }
    if (term->given == 0)
        return;
    ret->why = given ? LAPSE_WHY_OWN : LAPSE_WHY_DEFAULT;
    if ((term->given & LAPSE_TERM_SESSION) != 0) {
        session_term(trackers, term->session, answer->at, ret);
    } else if ((term->given & LAPSE_TERM_EXPIRES_AT) != 0) {
        ret->end = (struct lapse_end){.kind = LAPSE_END_WALL, .ns = term->expires_at.ns};
    } else if ((term->given & LAPSE_TERM_IDLE) != 0) {
        ret->span = term->idle;
        ret->why = LAPSE_WHY_IDLE;
        ret->end = end_after(answer->at, ret->span);
        if (term->cap.ns > 0)
            ret->cap = end_after(answer->at, term->cap);
        if (term->cap.ns > 0 && ret->cap.ns < ret->end.ns)
            ret->end.ns = ret->cap.ns;
    } else {
        ret->span = term->ttl;
        ret->end = end_after(answer->at, ret->span);
    }
}

/* A use at the very instant of the last one moves nothing, nor does one whose end would not fit, or
 * whose end is the cap already. */
bool lapse_tracked_entry_renews(const struct lapse_tracked_entry *entry, struct lapse_steady at) {
    struct lapse_steady end;
    int64_t since = lapse_steady_between(entry->last, at).ns;
    bool capped = entry->cap.kind != LAPSE_END_NONE && entry->end.ns >= entry->cap.ns;
    return entry->why == LAPSE_WHY_IDLE && !capped && since > 0 && since >= entry->span.ns / 30 &&
           lapse_steady_add(at, entry->span, &end);
}

struct lapse_end lapse_tracked_entry_renewed(const struct lapse_tracked_entry *entry,
                                             struct lapse_steady at) {
    struct lapse_end end = end_after(at, entry->span);
    if (entry->cap.kind != LAPSE_END_NONE && entry->cap.ns < end.ns)
        end.ns = entry->cap.ns;
    return end;
}

enum lapse_tracked_state lapse_tracked_key_state(const struct lapse_trackers *trackers,
                                                 const struct lapse_tracked_key *key,
                                                 struct lapse_steady at, struct lapse_wall wall) {
    if (key == NULL)
        return LAPSE_TRACKED_NEVER;
    if (key->unsure || key->maybe != NULL)
        return LAPSE_TRACKED_UNSURE;
    enum lapse_tracked_state state = lapse_tracked_key_known(trackers, key, at, wall);
    bool lossy = state == LAPSE_TRACKED_LIVE && key->entry.lossy;
    return lossy && at.ns >= key->entry.end_kept.ns ? LAPSE_TRACKED_UNSURE : state;
}

enum lapse_tracked_state lapse_tracked_key_known(const struct lapse_trackers *trackers,
                                                 const struct lapse_tracked_key *key,
                                                 struct lapse_steady at, struct lapse_wall wall) {
    if (key == NULL || key->entry.write == NULL)
        return LAPSE_TRACKED_NEVER;
    if (!key->present)
        return LAPSE_TRACKED_REMOVED;
    return key->expired != NULL || has_ended(trackers, key, at, wall) ? LAPSE_TRACKED_ENDED
                                                                      : LAPSE_TRACKED_LIVE;
}

static struct lapse_end end_after(struct lapse_steady at, struct lapse_span span) {
    struct lapse_steady end = {INT64_MAX};
    (void)lapse_steady_add(at, span, &end);
    return (struct lapse_end){.kind = LAPSE_END_STEADY, .ns = end.ns};
}

static void session_term(const struct lapse_trackers *trackers, struct lapse_bytes name,
                         struct lapse_steady at, struct lapse_tracked_term *ret) {
    const struct lapse_tracked_session *session = lapse_tracked_session_find(trackers, name);
    ret->why = LAPSE_WHY_SESSION;
    ret->known = lapse_tracked_session_live(session, at) && !session->unsure;
    ret->open = session != NULL ? session->unsure : trackers->leases_unsure;
    if (session == NULL)
        return;
    ret->end = session->end;
    ret->span = session->span;
    ret->session = (size_t)(session - trackers->sessions) + 1;
}

static void entry_term(const struct lapse_tracked_entry *entry, struct lapse_tracked_term *ret) {
    ret->known = !entry->lossy;
    ret->end = entry->end;
    ret->span = entry->span;
    ret->why = entry->why;
    ret->cap = entry->cap;
    ret->session = entry->session;
}

/* A date that any command since its write has reached stays reached: the first peak since the term
 * was given is the highest reading since then. */
static bool has_ended(const struct lapse_trackers *trackers, const struct lapse_tracked_key *key,
                      struct lapse_steady at, struct lapse_wall wall) {
    const struct lapse_end *end = &key->entry.end;
    if (end->kind == LAPSE_END_STEADY)
        return at.ns >= end->ns;
    if (end->kind != LAPSE_END_WALL)
        return false;
    if (wall.ns >= end->ns)
        return true;
    for (size_t i = 0; i < trackers->peak_count; i++) {
        if (trackers->peaks[i].seq >= key->entry.term->seq)
            return trackers->peaks[i].wall_ns >= end->ns;
    }
    return false;
}
