/* Terms: from the words of a call or a bucket to an end. Every sum is checked; nothing wraps. */
#include "decide.h"

#include <stdio.h>

static enum lapse_status check_span(const char *word, struct lapse_span span,
                                    struct lapse_error *err);
static enum lapse_status check_one(const struct lapse_term *term, const char *whose,
                                   struct lapse_error *err);
static enum lapse_status check_session(struct lapse_bytes name, struct lapse_error *err);
static enum lapse_status check_cap(const struct lapse_term *term, const char *whose,
                                   struct lapse_error *err);
static enum lapse_status check_key(const struct lapse_state *state, const struct lapse_term *own,
                                   struct lapse_error *err);
static enum lapse_status resolve_cap(const struct lapse_term *term, const struct lapse_now *now,
                                     struct lapse_image *ret, struct lapse_error *err);
static enum lapse_status resolve_span(const struct lapse_job *job, struct lapse_span span, bool key,
                                      struct lapse_image *ret);
static void end_at_once(const struct lapse_now *now, struct lapse_image *ret);
static struct lapse_span span_of(const struct lapse_term *term);

enum lapse_status lapse_term_resolve(const struct lapse_job *job, const struct lapse_term *own,
                                     const struct lapse_term *fallback, struct lapse_image *ret) {
    const struct lapse_now *now = &job->now;
    enum lapse_status status = LAPSE_OK;
    if (own->given != 0 || own->cap.ns != 0) {
        status = check_key(job->state, own, job->err);
    }
    if (status != LAPSE_OK) {
        return status;
    }
    /* What keeps an end that is not there gives no term of its own (KV-14). */
    bool gives = own->given != 0 && own->given != LAPSE_TERM_KEEP;
    const struct lapse_term *term = gives ? own : fallback;
    ret->end_kind = LAPSE_END_NONE;
    ret->end_ns = ret->span_ns = ret->aux.written_seq = 0;
    ret->source = LAPSE_SOURCE_NONE;
    ret->idle = ret->reached = false;
    if (term->given == 0) {
        return LAPSE_OK;
    }
    if (term->given == LAPSE_TERM_SESSION) {
        /* Which session that is, and whether it is live, is asked by lapse_session_join. */
        ret->source = LAPSE_SOURCE_SESSION;
        ret->aux.session = NULL;
        return LAPSE_OK;
    }
    ret->source = term == own ? LAPSE_SOURCE_OWN : LAPSE_SOURCE_DEFAULT;
    if (term->given == LAPSE_TERM_EXPIRES_AT) {
        /* A past date ends at the instant of the call. */
        int64_t date = lapse_decide_date(job->state, term->expires_at).ns;
        ret->end_kind = LAPSE_END_WALL;
        ret->end_ns = date < now->due_wall_ns ? now->due_wall_ns : date;
        ret->aux.written_seq = now->log_seq;
        return LAPSE_OK;
    }
    struct lapse_span span = span_of(term);
    if (span.ns == 0) {
        /* Without a term, or with one that is over: else it had been refused. */
        ret->source = LAPSE_SOURCE_NONE;
        if (lapse_policy(job->state, LAPSE_POLICY_ZERO_SPAN) == LAPSE_ZERO_SPAN_ENDED) {
            end_at_once(now, ret);
        }
        return LAPSE_OK;
    }
    bool own_ttl = term == own && term->given == LAPSE_TERM_TTL;
    status = job->state->strict ? LAPSE_OK
                                : lapse_decide_span(job->state, own_ttl, &span, job->err);
    if (status == LAPSE_OK) {
        status = resolve_span(job, span, true, ret);
    }
    if (status != LAPSE_OK || lapse_term_past(ret, now)) {
        return status;
    }
    ret->idle = term->given == LAPSE_TERM_IDLE;
    return ret->idle && term->cap.ns > 0 ? resolve_cap(term, now, ret, job->err) : LAPSE_OK;
}

enum lapse_status lapse_term_resolve_ttl(const struct lapse_job *job, struct lapse_span ttl,
                                         struct lapse_image *ret) {
    enum lapse_status status = check_span("ttl", ttl, job->err);
    if (status == LAPSE_OK) {
        status = lapse_decide_span(job->state, false, &ttl, job->err);
    }
    ret->source = LAPSE_SOURCE_OWN;
    ret->idle = ret->reached = false;
    ret->aux.written_seq = 0;
    return status == LAPSE_OK ? resolve_span(job, ttl, false, ret) : status;
}

void lapse_term_keep(const struct lapse_image *from, struct lapse_image *ret) {
    ret->end_kind = from->end_kind;
    ret->end_ns = from->end_ns;
    ret->span_ns = from->span_ns;
    ret->aux = from->aux;
    ret->source = from->source;
    ret->idle = from->idle;
    ret->reached = from->reached;
}

struct lapse_bucket_config lapse_term_config_plain(const struct lapse_bucket_config *config) {
    struct lapse_bucket_config plain = {.term = {.given = config->term.given},
                                        .markers = config->markers,
                                        .history = config->history,
                                        .first_revision = config->first_revision};
    if (plain.history == 0) {
        plain.history = 1;
    }
    if (plain.first_revision == 0) {
        plain.first_revision = 1;
    }
    if (config->term.given == LAPSE_TERM_TTL) {
        plain.term.ttl = config->term.ttl;
    }
    if (config->term.given == LAPSE_TERM_IDLE) {
        plain.term.idle = config->term.idle;
        plain.term.cap = config->term.cap;
    }
    return plain;
}

enum lapse_status lapse_term_check_config(const struct lapse_bucket_config *config,
                                          struct lapse_error *err) {
    if ((config->term.given & LAPSE_TERM_EXPIRES_AT) != 0) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "a bucket's default term is a date; give it a "
                               "ttl or an idle span, and dates to single writes");
    }
    if ((config->term.given & LAPSE_TERM_SESSION) != 0) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "a bucket's default term is a session; give it a ttl or an idle "
                               "span, and sessions to single writes");
    }
    if ((config->term.given & LAPSE_TERM_KEEP) != 0) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "a bucket's default term keeps an end, which only a write can; give "
                               "it a ttl or an idle span");
    }
    if (config->history > LAPSE_HISTORY_MAX) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "a history of %lu records is asked for and at most %d are kept; "
                               "give 1 to %d",
                               (unsigned long)config->history, (int)LAPSE_HISTORY_MAX,
                               (int)LAPSE_HISTORY_MAX);
    }
    if (config->first_revision < 0) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "a first revision of %lld is asked for and revisions count from 1; "
                               "give 1 to %lld",
                               (long long)config->first_revision, (long long)INT64_MAX);
    }
    enum lapse_status status = check_one(&config->term, "the bucket", err);
    if (status != LAPSE_OK) {
        return status;
    }
    if (config->markers.ns < 0) {
        char text[LAPSE_TIME_TEXT_MAX];
        return lapse_error_set(err, LAPSE_INVALID,
                               "markers of %s cannot live; give a span above "
                               "0, or 0 for none",
                               lapse_span_print(config->markers, text));
    }
    return LAPSE_OK;
}

bool lapse_term_config_equal(const struct lapse_bucket_config *a,
                             const struct lapse_bucket_config *b) {
    struct lapse_bucket_config one = lapse_term_config_plain(a);
    struct lapse_bucket_config other = lapse_term_config_plain(b);
    return one.term.given == other.term.given && one.term.ttl.ns == other.term.ttl.ns &&
           one.term.idle.ns == other.term.idle.ns && one.term.cap.ns == other.term.cap.ns &&
           one.markers.ns == other.markers.ns && one.history == other.history &&
           one.first_revision == other.first_revision;
}

char *lapse_term_config_print(const struct lapse_bucket_config *config, char *buf) {
    char term[LAPSE_TIME_TEXT_MAX];
    char cap[LAPSE_TIME_TEXT_MAX];
    char markers[LAPSE_TIME_TEXT_MAX];
    struct lapse_bucket_config plain = lapse_term_config_plain(config);
    const char *word = "no default term";
    bool given = config->term.given != 0;
    if (given) {
        word = config->term.given == LAPSE_TERM_IDLE ? "idle " : "ttl ";
    }
    bool marked = config->markers.ns > 0;
    bool capped = plain.term.cap.ns > 0;
    bool late = plain.first_revision > 1;
    char first[24] = "";
    if (late) {
        (void)snprintf(first, sizeof(first), "%lld", (long long)plain.first_revision);
    }
    (void)snprintf(buf, LAPSE_CONFIG_TEXT_MAX, "%s%s%s%s and %s%s, history %lu%s%s", word,
                   given ? lapse_span_print(span_of(&config->term), term) : "",
                   capped ? " cap " : "", capped ? lapse_span_print(plain.term.cap, cap) : "",
                   marked ? "markers " : "no markers",
                   marked ? lapse_span_print(config->markers, markers) : "",
                   (unsigned long)plain.history, late ? ", first revision " : "", first);
    return buf;
}

static enum lapse_status check_one(const struct lapse_term *term, const char *whose,
                                   struct lapse_error *err) {
    if (term->cap.ns != 0) {
        enum lapse_status status = check_cap(term, whose, err);
        if (status != LAPSE_OK) {
            return status;
        }
    }
    switch (term->given) {
    case 0:
    case LAPSE_TERM_EXPIRES_AT:
    case LAPSE_TERM_KEEP:
        return LAPSE_OK;
    case LAPSE_TERM_SESSION:
        return check_session(term->session, err);
    case LAPSE_TERM_TTL:
        return check_span("ttl", term->ttl, err);
    case LAPSE_TERM_IDLE:
        return check_span("idle", term->idle, err);
    default:
        break;
    }
    return lapse_error_set(err, LAPSE_INVALID,
                           "%s gives more than one term:%s%s%s%s%s; give one of "
                           "ttl, idle, expires_at and a session",
                           whose, (term->given & LAPSE_TERM_TTL) != 0 ? " ttl" : "",
                           (term->given & LAPSE_TERM_IDLE) != 0 ? " idle" : "",
                           (term->given & LAPSE_TERM_EXPIRES_AT) != 0 ? " expires_at" : "",
                           (term->given & LAPSE_TERM_SESSION) != 0 ? " session" : "",
                           (term->given & LAPSE_TERM_KEEP) != 0 ? " keep" : "");
}

/* The term of a write. A zero span is refused, unless a policy gives it a meaning. */
static enum lapse_status check_key(const struct lapse_state *state, const struct lapse_term *own,
                                   struct lapse_error *err) {
    bool spans = own->given == LAPSE_TERM_TTL || own->given == LAPSE_TERM_IDLE;
    bool zero = spans && own->cap.ns == 0 && span_of(own).ns == 0;
    if (zero && lapse_policy(state, LAPSE_POLICY_ZERO_SPAN) != 0) {
        return LAPSE_OK;
    }
    return check_one(own, "the call", err);
}

/* The end of a term of `span` from now. */
static enum lapse_status resolve_span(const struct lapse_job *job, struct lapse_span span, bool key,
                                      struct lapse_image *ret) {
    const struct lapse_now *now = &job->now;
    unsigned overflow = lapse_policy(job->state, LAPSE_POLICY_OVERFLOW);
    struct lapse_steady end = {INT64_MAX};
    if (!lapse_exact_add(now->store.ns, span.ns, &end.ns)) {
        if (overflow == LAPSE_OVERFLOW_ENDED && key) {
            end_at_once(now, ret);
            return LAPSE_OK;
        }
        struct lapse_span most = lapse_steady_between(now->store, end);
        if (overflow != LAPSE_OVERFLOW_SATURATE || most.ns <= 0) {
            char text[LAPSE_TIME_TEXT_MAX];
            return lapse_error_set(job->err, LAPSE_RANGE,
                                   "a term of %s from store time %lld ns ends past "
                                   "the range of time; give a shorter one",
                                   lapse_span_print(span, text), (long long)now->store.ns);
        }
        span = most;
    }
    ret->end_kind = LAPSE_END_STEADY;
    ret->end_ns = end.ns;
    ret->span_ns = span.ns;
    return LAPSE_OK;
}

/* A term that is over at the instant of the call; no row is stored with it. */
static void end_at_once(const struct lapse_now *now, struct lapse_image *ret) {
    ret->source = LAPSE_SOURCE_OWN;
    ret->end_kind = LAPSE_END_STEADY;
    ret->end_ns = now->store.ns;
    ret->span_ns = 0;
}

static enum lapse_status check_session(struct lapse_bytes name, struct lapse_error *err) {
    if (name.len > 0 && name.len <= LAPSE_KEY_BYTES_MAX) {
        return LAPSE_OK;
    }
    return lapse_error_set(err, LAPSE_INVALID,
                           "the term is a session whose name has %zu bytes; give the name of an "
                           "open session, of 1 to %d",
                           name.len, (int)LAPSE_KEY_BYTES_MAX);
}

static enum lapse_status check_cap(const struct lapse_term *term, const char *whose,
                                   struct lapse_error *err) {
    char text[LAPSE_TIME_TEXT_MAX];
    (void)lapse_span_print(term->cap, text);
    if (term->cap.ns < 0) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "%s gives a cap of %s; give a span above 0, or 0 for none", whose,
                               text);
    }
    if (term->given != LAPSE_TERM_IDLE) {
        return lapse_error_set(err, LAPSE_INVALID,
                               "%s gives a cap of %s without an idle span, which alone it bounds; "
                               "give idle too, or no cap",
                               whose, text);
    }
    return LAPSE_OK;
}

/* No use moves the end past the write plus cap, and neither does the write itself. */
static enum lapse_status resolve_cap(const struct lapse_term *term, const struct lapse_now *now,
                                     struct lapse_image *ret, struct lapse_error *err) {
    struct lapse_steady cap;
    if (!lapse_steady_add(now->store, term->cap, &cap)) {
        char text[LAPSE_TIME_TEXT_MAX];
        return lapse_error_set(err, LAPSE_RANGE,
                               "a cap of %s from store time %lld ns lies past the range of time; "
                               "give a shorter one, or none",
                               lapse_span_print(term->cap, text), (long long)now->store.ns);
    }
    ret->aux.cap_ns = cap.ns;
    ret->end_ns = ret->end_ns < cap.ns ? ret->end_ns : cap.ns;
    return LAPSE_OK;
}

static enum lapse_status check_span(const char *word, struct lapse_span span,
                                    struct lapse_error *err) {
    if (span.ns > 0) {
        return LAPSE_OK;
    }
    char text[LAPSE_TIME_TEXT_MAX];
    return lapse_error_set(err, LAPSE_INVALID,
                           "a term of %s %s would never be live; give a span "
                           "above 0",
                           word, lapse_span_print(span, text));
}

/* The span of a term that has one. */
static struct lapse_span span_of(const struct lapse_term *term) {
    return term->given == LAPSE_TERM_TTL ? term->ttl : term->idle;
}
