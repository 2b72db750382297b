/* REPL-01..02: what a store of several nodes owes. Its nodes tell whom they follow and what they
 * have applied; what the next leader answers is compared with what was answered before it. */
#include "rules.h"
#include "track.h"

static bool since_lead(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event);
static bool of_lease(const struct lapse_trackers *trackers, const struct lapse_look *look);
static bool lease_kept(const struct lapse_trackers *trackers, const struct lapse_look *look,
                       struct lapse_violation *ret);
static bool entry_kept(const struct lapse_trackers *trackers, const struct lapse_look *look,
                       struct lapse_violation *ret);
static bool says_end(const struct lapse_look *look);
static bool fail(const struct lapse_trackers *trackers, const struct lapse_look *look,
                 const struct lapse_history_event *given, struct lapse_violation *ret,
                 const char *what);

/* ---- REPL-01: one leader an epoch, one state at a place of the log. */

static const struct lapse_history_event *other_leader(const struct lapse_trackers *trackers,
                                                      const struct lapse_history_event *event) {
    const struct lapse_tracked_roles *roles = &trackers->roles;
    return event->u.role.role == LAPSE_ROLE_LEADER
               ? lapse_tracked_role_find(roles->epochs, roles->epoch_count, event->u.role.epoch)
               : NULL;
}

static const struct lapse_history_event *other_state(const struct lapse_trackers *trackers,
                                                     const struct lapse_history_event *event) {
    const struct lapse_tracked_roles *roles = &trackers->roles;
    return event->u.role.digest.len > 0
               ? lapse_tracked_role_find(roles->indexes, roles->index_count, event->u.role.index)
               : NULL;
}

bool lapse_rule_repl_01_premise(const struct lapse_trackers *trackers,
                                const struct lapse_history_event *event) {
    return event->u.role.role == LAPSE_ROLE_LEADER || other_state(trackers, event) != NULL;
}

bool lapse_rule_repl_01_holds(const struct lapse_trackers *trackers,
                              const struct lapse_history_event *event,
                              struct lapse_violation *ret) {
    const struct lapse_history_event *leader = other_leader(trackers, event);
    const struct lapse_history_event *state = other_state(trackers, event);
    struct lapse_rule_text name = lapse_text_name(trackers->setup->nodes[event->u.role.node]);
    if (leader != NULL && leader->u.role.node != event->u.role.node) {
        struct lapse_rule_text first = lapse_text_name(trackers->setup->nodes[leader->u.role.node]);
        lapse_violation_label(ret, event, "%s leads too", name.text);
        lapse_violation_label(ret, leader, "%s leads since here", first.text);
        return lapse_violation_say(ret, "epoch %lld has two leaders, %s and %s",
                                   (long long)event->u.role.epoch, first.text, name.text);
    }
    if (state == NULL || lapse_bytes_equal(state->u.role.digest, event->u.role.digest))
        return true;
    struct lapse_rule_text first = lapse_text_name(trackers->setup->nodes[state->u.role.node]);
    struct lapse_rule_text was = lapse_text_name(state->u.role.digest);
    struct lapse_rule_text is = lapse_text_name(event->u.role.digest);
    lapse_violation_label(ret, event, "%s has the state %s", name.text, is.text);
    lapse_violation_label(ret, state, "%s had the state %s", first.text, was.text);
    return lapse_violation_say(ret, "after entry %lld of the log %s and %s differ",
                               (long long)event->u.role.index, first.text, name.text);
}

/* ---- REPL-02: the next leader keeps every end. */

/* Another policy may move what strict calls an end, leader or not; then it is not known what the
 * next leader has to keep. */
static bool is_strict(const struct lapse_trackers *trackers) {
    for (size_t i = 0; i < LAPSE_POLICIES; i++)
        if (trackers->setup->policies.value[i] != 0)
            return false;
    return true;
}

static bool repl_02_concerns(const struct lapse_trackers *trackers,
                             const struct lapse_look *look) {
    if (trackers->roles.changed == NULL || !is_strict(trackers))
        return false;
    if (look->key != NULL)
        return (look->state == LAPSE_TRACKED_LIVE || look->state == LAPSE_TRACKED_ENDED) &&
               look->key->entry.why != LAPSE_WHY_IDLE && look->key->entry.session == 0 &&
               !since_lead(trackers, look->key->entry.term) &&
               lapse_look_shows(look) != LAPSE_SHOWN_NOTHING;
    return of_lease(trackers, look);
}

static bool repl_02_check(const struct lapse_trackers *trackers, const struct lapse_look *look,
                          struct lapse_violation *ret) {
    return look->key != NULL ? entry_kept(trackers, look, ret) : lease_kept(trackers, look, ret);
}
LAPSE_RULE_BY_LOOKS(repl_02, repl_02_concerns, repl_02_check)

static bool since_lead(const struct lapse_trackers *trackers,
                       const struct lapse_history_event *event) {
    return event == NULL || event->seq > trackers->roles.changed->seq;
}

/* An ephemeral grant ends with its leader; a session, and what ends with it, is not looked at. */
static bool of_lease(const struct lapse_trackers *trackers, const struct lapse_look *look) {
    const struct lapse_tracked_grant *grant = lapse_tracked_grant_last(look->lease);
    return grant != NULL && !grant->ephemeral && grant->session == 0 && grant->released == NULL &&
           !since_lead(trackers, grant->term) && lapse_verb_of_lease(look->verb) &&
           (look->verb != LAPSE_VERB_ACQUIRE || look->answer->status != LAPSE_LOST);
}

static bool lease_kept(const struct lapse_trackers *trackers, const struct lapse_look *look,
                       struct lapse_violation *ret) {
    const struct lapse_tracked_grant *grant = lapse_tracked_grant_last(look->lease);
    const struct lapse_answer *answer = look->answer;
    bool live = lapse_tracked_grant_live(look->lease, answer->at) != NULL;
    bool done = answer->status == LAPSE_OK;
    bool held = answer->status == LAPSE_HELD || (done && answer->token == grant->token);
    bool granted = done && look->verb == LAPSE_VERB_ACQUIRE && !answer->renewed;
    if (!live)
        return !held || fail(trackers, look, grant->term, ret,
                             "outlives its end under the next leader");
    if (answer->status == LAPSE_ABSENT || answer->status == LAPSE_LOST || granted)
        return fail(trackers, look, grant->term, ret, "was lost when another node began to lead");
    bool own = look->command != NULL &&
               (look->command->u.lease.has_token
                    ? look->command->u.lease.token == grant->token
                    : lapse_bytes_equal(look->command->u.lease.owner, grant->owner));
    if (own && answer->status == LAPSE_NOT_OWNER)
        return fail(trackers, look, grant->term, ret,
                    "is not its holder's any more under the next leader");
    bool shown = answer->status == LAPSE_HELD ||
                 (done && (look->verb == LAPSE_VERB_INSPECT || answer->renewed));
    return !shown || answer->end.ns == grant->end.ns ||
           fail(trackers, look, grant->term, ret, "has another end under the next leader");
}

static bool entry_kept(const struct lapse_trackers *trackers, const struct lapse_look *look,
                       struct lapse_violation *ret) {
    const struct lapse_tracked_entry *entry = &look->key->entry;
    bool present = lapse_look_shows(look) == LAPSE_SHOWN_PRESENT;
    if (look->state == LAPSE_TRACKED_ENDED)
        return !present || fail(trackers, look, entry->term, ret,
                                "outlives its end under the next leader");
    if (!present)
        return fail(trackers, look, entry->term, ret, "was lost when another node began to lead");
    bool same = look->answer->end.kind == entry->end.kind && look->answer->end.ns == entry->end.ns;
    return same || !says_end(look) ||
           fail(trackers, look, entry->term, ret, "has another end under the next leader");
}

static bool says_end(const struct lapse_look *look) {
    bool old = look->command != NULL && look->command->u.read.has_revision;
    return (look->verb == LAPSE_VERB_GET || look->verb == LAPSE_VERB_ENTRY) && !old &&
           look->answer->status == LAPSE_OK;
}

static bool fail(const struct lapse_trackers *trackers, const struct lapse_look *look,
                 const struct lapse_history_event *given, struct lapse_violation *ret,
                 const char *what) {
    const struct lapse_history_event *changed = trackers->roles.changed;
    struct lapse_rule_text name = look->key != NULL
                                      ? lapse_text_key(look->bucket->name, look->key->name)
                                      : lapse_text_name(look->key_name);
    struct lapse_rule_text node = lapse_text_name(trackers->setup->nodes[changed->u.role.node]);
    lapse_violation_label(ret, look->event, "%s answered %s", lapse_call_word(look->verb),
                          lapse_status_word(look->answer->status));
    lapse_violation_label(ret, given, "its end was given here");
    lapse_violation_label(ret, changed, "%s leads since here", node.text);
    return lapse_violation_say(ret, "%s %s", name.text, what);
}
