/* Terms: when what is written ends, and whether that has come. */
#include "model_parts.h"

static void read_wall(struct lapse_model *model, struct lapse_model_peaks *peaks,
                      struct lapse_wall wall);
static bool reached(const struct lapse_model_peaks *peaks, const struct lapse_model_term *term);

/* What asks to keep the end of nothing live is as if it asked for nothing. */
enum lapse_status lapse_model_term_of(struct lapse_model *model, const struct lapse_term *own,
                                      const struct lapse_term *usual,
                                      struct lapse_model_term *ret) {
    bool gives = own->given != 0 && own->given != LAPSE_TERM_KEEP;
    const struct lapse_term *term = gives ? own : usual;
    enum lapse_status status = LAPSE_OK;
    *ret = (struct lapse_model_term){0};
    switch (term->given) {
    case LAPSE_TERM_TTL:
        status = lapse_model_span_of(model, term->ttl, ret);
        ret->why = gives ? LAPSE_WHY_OWN : LAPSE_WHY_DEFAULT;
        return status;
    case LAPSE_TERM_IDLE:
        status = lapse_model_span_of(model, term->idle, ret);
        ret->why = LAPSE_WHY_IDLE;
        ret->last = model->store;
        if (status == LAPSE_OK && term->cap.ns > 0) {
            status = lapse_steady_add(model->store, term->cap, &ret->cap) ? LAPSE_OK : LAPSE_RANGE;
            ret->end.ns = ret->cap.ns < ret->end.ns ? ret->cap.ns : ret->end.ns;
        }
        return status;
    case LAPSE_TERM_EXPIRES_AT: {
        int64_t date = term->expires_at.ns; /* a past one ends now */
        ret->end.kind = LAPSE_END_WALL;
        ret->end.ns = date < model->wall.ns ? model->wall.ns : date;
        ret->why = LAPSE_WHY_OWN;
        ret->written = model->seq;
        return LAPSE_OK;
    }
    case LAPSE_TERM_SESSION:
        ret->session = lapse_model_opening(model, term->session);
        ret->why = LAPSE_WHY_SESSION;
        return ret->session == NULL ? LAPSE_LOST : LAPSE_OK;
    default:
        return LAPSE_OK;
    }
}

enum lapse_status lapse_model_span_of(const struct lapse_model *model, struct lapse_span span,
                                      struct lapse_model_term *ret) {
    struct lapse_steady end = {0};
    *ret = (struct lapse_model_term){.why = LAPSE_WHY_OWN};
    if (!lapse_steady_add(model->store, span, &end)) {
        return LAPSE_RANGE;
    }
    ret->end = (struct lapse_end){LAPSE_END_STEADY, end.ns};
    ret->span = span;
    return LAPSE_OK;
}

enum lapse_model_state lapse_model_term_state(const struct lapse_model *model,
                                              const struct lapse_model_term *term) {
    struct lapse_end end = lapse_model_end_of(term);
    if (term->session != NULL && term->session->unsure) {
        return LAPSE_MODEL_UNSURE;
    }
    switch (end.kind) {
    case LAPSE_END_NONE:
        return LAPSE_MODEL_LIVE;
    case LAPSE_END_STEADY:
        if (model->store.ns >= end.ns) {
            return LAPSE_MODEL_ABSENT;
        }
        /* A renewal of before may have been lost. */
        return term->renewed > 0 && term->renewed < model->tenure ? LAPSE_MODEL_UNSURE
                                                                   : LAPSE_MODEL_LIVE;
    case LAPSE_END_WALL:
        break;
    }
    if (reached(&model->known, term)) {
        return LAPSE_MODEL_ABSENT;
    }
    return reached(&model->possible, term) ? LAPSE_MODEL_UNSURE : LAPSE_MODEL_LIVE;
}

void lapse_model_show_end(const struct lapse_model *model, const struct lapse_model_term *term,
                          struct lapse_answer *answer) {
    answer->end = lapse_model_end_of(term);
    answer->left = lapse_model_left(model, answer->end);
}

struct lapse_end lapse_model_end_of(const struct lapse_model_term *term) {
    return term->session == NULL
               ? term->end
               : (struct lapse_end){LAPSE_END_STEADY, term->session->end.ns};
}

struct lapse_span lapse_model_left(const struct lapse_model *model, struct lapse_end end) {
    struct lapse_span left = {0};
    if (end.kind == LAPSE_END_STEADY) {
        left = lapse_steady_between(model->store, (struct lapse_steady){end.ns});
    } else if (end.kind == LAPSE_END_WALL) {
        left = lapse_wall_between(model->wall, (struct lapse_wall){end.ns});
    }
    return left.ns > 0 ? left : (struct lapse_span){0};
}

void lapse_model_read_wall(struct lapse_model *model, struct lapse_wall wall, bool sure) {
    read_wall(model, &model->possible, wall);
    if (sure) {
        read_wall(model, &model->known, wall);
    }
}

/* No earlier reading counts beside a later one that is as high. */
static void read_wall(struct lapse_model *model, struct lapse_model_peaks *peaks,
                      struct lapse_wall wall) {
    void *items = peaks->items;
    while (peaks->count > 0 && peaks->items[peaks->count - 1].wall_ns <= wall.ns) {
        peaks->count--;
    }
    if (!lapse_model_grow(model, &items, &peaks->cap, peaks->count + 1, sizeof(*peaks->items))) {
        return;
    }
    peaks->items = items;
    peaks->items[peaks->count++] = (struct lapse_model_peak){model->seq, wall.ns};
}

/* Whether the wall was read at or past a date since that was set. */
static bool reached(const struct lapse_model_peaks *peaks, const struct lapse_model_term *term) {
    for (size_t i = peaks->count; i > 0 && peaks->items[i - 1].seq >= term->written; i--) {
        if (peaks->items[i - 1].wall_ns >= term->end.ns) {
            return true;
        }
    }
    return false;
}
