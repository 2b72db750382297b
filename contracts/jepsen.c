/* Jepsen's logs into problems: a sending and its outcome become one call. */
#include "contracts/jepsen.h"

#include "chunks.h"
#include "contracts/lookup.h"
#include "jepsen_line.h"
#include "linear_models.h"

#include <stdlib.h>
#include <string.h>

/* The last call that a process has sent. */
struct waiting {
    struct lapse_jepsen_line line;
    int64_t number; /* of the line; 0: it has its outcome */
};

struct reader {
    const lapse_alloc *alloc;
    struct lapse_linear_problems *problems;
    struct waiting *waiting; /* one a process, in the order of their first calls */
    size_t waiting_count, waiting_cap;
    struct lapse_names processes; /* the bytes of its number to its place in `waiting` */
    struct lapse_chunks memory;   /* of those bytes */
};

static struct lapse_bytes next_line(struct lapse_bytes *rest);
static enum lapse_status take_line(struct reader *reader, const struct lapse_jepsen_line *line,
                                   int64_t number, struct lapse_error *err);
static struct waiting *find_process(struct reader *reader, int64_t process);
static enum lapse_status take_rest(struct reader *reader);
static int compare_sent(const void *a, const void *b);
static bool to_call(const struct waiting *sent, const struct lapse_jepsen_line *outcome,
                    int64_t number, struct lapse_linear_call *ret);
static const char *value_fault(const struct lapse_jepsen_line *line);
static enum lapse_status add_register(struct reader *reader, const struct waiting *sent,
                                      const struct lapse_jepsen_line *outcome,
                                      struct lapse_linear_call *call);
static enum lapse_status add_string(struct reader *reader, const struct waiting *sent,
                                    const struct lapse_jepsen_line *outcome,
                                    struct lapse_linear_call *call);
static enum lapse_status complain(struct lapse_error *err, const struct lapse_jepsen_line *line,
                                  const char *what);

enum lapse_jepsen_form lapse_jepsen_detect(struct lapse_bytes text) {
    struct lapse_jepsen_line parts = {.skip = true};
    while (text.len > 0) {
        struct lapse_bytes line = next_line(&text);
        if (lapse_jepsen_map_line(line, &parts, NULL) == LAPSE_OK && !parts.skip) {
            return LAPSE_JEPSEN_MAPS;
        }
        if (lapse_jepsen_log_line(line, &parts, NULL) != LAPSE_OK) {
            return LAPSE_JEPSEN_NONE;
        }
        if (!parts.skip) {
            return LAPSE_JEPSEN_LOG;
        }
    }
    return LAPSE_JEPSEN_NONE;
}

enum lapse_status lapse_jepsen_read(const lapse_alloc *alloc, struct lapse_bytes text,
                                    enum lapse_jepsen_form form, struct lapse_linear_problems *ret,
                                    struct lapse_error *err) {
    struct reader reader = {.alloc = alloc, .problems = ret};
    lapse_chunks_init(&reader.memory, alloc);
    bool ready = lapse_linear_problems_init(ret, alloc);
    enum lapse_status status = ready ? LAPSE_OK : LAPSE_NOMEM;
    int64_t number = 1;
    for (; text.len > 0 && status == LAPSE_OK; number++) {
        struct lapse_jepsen_line line;
        struct lapse_bytes words = next_line(&text);
        status = form == LAPSE_JEPSEN_MAPS ? lapse_jepsen_map_line(words, &line, err)
                                           : lapse_jepsen_log_line(words, &line, err);
        if (status == LAPSE_OK && !line.skip) {
            status = take_line(&reader, &line, number, err);
        }
    }
    if (status == LAPSE_OK) {
        status = take_rest(&reader);
    }
    lapse_alloc_free(alloc, reader.waiting, reader.waiting_cap * sizeof(*reader.waiting));
    lapse_names_free(alloc, &reader.processes);
    lapse_chunks_free(&reader.memory);
    if (status == LAPSE_NOMEM) {
        (void)lapse_error_set(err, status, "no memory to read a log");
    } else if (status != LAPSE_OK && err != NULL) {
        err->line = number - 1 > INT32_MAX ? INT32_MAX : (int)(number - 1);
    }
    if (status != LAPSE_OK) {
        lapse_linear_problems_free(ret);
    }
    return status;
}

static struct lapse_bytes next_line(struct lapse_bytes *rest) {
    const unsigned char *end = memchr(rest->data, '\n', rest->len);
    size_t len = end == NULL ? rest->len : (size_t)(end - rest->data);
    struct lapse_bytes line = {rest->data, len};
    size_t passed = end == NULL ? len : len + 1;
    *rest = (struct lapse_bytes){rest->data + passed, rest->len - passed};
    return line;
}

static enum lapse_status take_line(struct reader *reader, const struct lapse_jepsen_line *line,
                                   int64_t number, struct lapse_error *err) {
    const char *fault = value_fault(line);
    if (fault != NULL) {
        return complain(err, line, fault);
    }
    struct waiting *waiting = find_process(reader, line->process);
    if (waiting == NULL) {
        return LAPSE_NOMEM;
    }
    if (line->type == LAPSE_JEPSEN_INVOKE) {
        if (waiting->number > 0) {
            return complain(err, line, "is sent by a process whose last call has no outcome yet");
        }
        *waiting = (struct waiting){*line, number};
        reader->problems->sent_count++;
        return LAPSE_OK;
    }
    if (waiting->number == 0) {
        return complain(err, line, "is the outcome of a call that was not sent");
    }
    struct waiting sent = *waiting;
    if (sent.line.f != line->f || !lapse_bytes_equal(sent.line.key, line->key)) {
        return complain(err, line, "is the outcome of another call than its process has sent");
    }
    waiting->number = 0;
    struct lapse_linear_call call;
    if (!to_call(&sent, line, number, &call)) {
        return LAPSE_OK;
    }
    return line->f <= LAPSE_JEPSEN_CAS ? add_register(reader, &sent, line, &call)
                                       : add_string(reader, &sent, line, &call);
}

/* The process's place, made if it is new; NULL: memory ran out. */
static struct waiting *find_process(struct reader *reader, int64_t process) {
    struct lapse_bytes bytes = {(const unsigned char *)&process, sizeof(process)};
    int32_t at = lapse_names_find(&reader->processes, 1, bytes);
    if (at >= 0) {
        return &reader->waiting[at];
    }
    void *kept = lapse_chunks_take(&reader->memory, sizeof(process));
    if (kept == NULL || reader->waiting_count >= INT32_MAX ||
        !lapse_alloc_grow(reader->alloc, (void **)&reader->waiting, &reader->waiting_cap,
                          reader->waiting_count + 1, sizeof(*reader->waiting))) {
        return NULL;
    }
    memcpy(kept, &process, sizeof(process));
    bytes.data = kept;
    if (!lapse_names_add(reader->alloc, &reader->processes, 1, bytes,
                         (int32_t)reader->waiting_count)) {
        return NULL;
    }
    reader->waiting[reader->waiting_count] = (struct waiting){.number = 0};
    return &reader->waiting[reader->waiting_count++];
}

/* Calls whose outcome was never logged, by sending. */
static enum lapse_status take_rest(struct reader *reader) {
    enum lapse_status status = LAPSE_OK;
    if (reader->waiting_count > 0) {
        qsort(reader->waiting, reader->waiting_count, sizeof(*reader->waiting), compare_sent);
    }
    for (size_t i = 0; i < reader->waiting_count && status == LAPSE_OK; i++) {
        struct waiting *sent = &reader->waiting[i];
        if (sent->number == 0) {
            continue;
        }
        struct lapse_jepsen_line none = sent->line;
        none.type = LAPSE_JEPSEN_INFO;
        struct lapse_linear_call call;
        if (to_call(sent, &none, sent->number, &call)) {
            status = none.f <= LAPSE_JEPSEN_CAS ? add_register(reader, sent, &none, &call)
                                                : add_string(reader, sent, &none, &call);
        }
    }
    return status;
}

static int compare_sent(const void *a, const void *b) {
    const struct waiting *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number ? 1 : 0;
}

/* False for a call that tells nothing: a read without an answer, a write that certainly failed. */
static bool to_call(const struct waiting *sent, const struct lapse_jepsen_line *outcome,
                    int64_t number, struct lapse_linear_call *ret) {
    bool reads = outcome->f == LAPSE_JEPSEN_READ || outcome->f == LAPSE_JEPSEN_GET;
    bool open = outcome->type == LAPSE_JEPSEN_INFO;
    *ret = (struct lapse_linear_call){
        .invoke_ns = sent->number,
        .return_ns = number,
        .open = open,
        .branches = 1,
        .after = -1,
        .actor = sent->line.process > INT32_MAX ? INT32_MAX : (int32_t)sent->line.process,
        .source = sent->number,
    };
    if (outcome->type == LAPSE_JEPSEN_FAIL) {
        return outcome->f == LAPSE_JEPSEN_CAS;
    }
    return !(reads && open);
}

/* What a sending asks for, and what a read's answer tells. */
static const char *value_fault(const struct lapse_jepsen_line *line) {
    bool sent = line->type == LAPSE_JEPSEN_INVOKE;
    bool read = line->type == LAPSE_JEPSEN_OK;
    switch (line->f) {
    case LAPSE_JEPSEN_READ:
        return read && line->value != LAPSE_JEPSEN_NUMBER && line->value != LAPSE_JEPSEN_NIL
                   ? "is no value of a register: a number or nil"
                   : NULL;
    case LAPSE_JEPSEN_WRITE:
        return sent && line->value != LAPSE_JEPSEN_NUMBER && line->value != LAPSE_JEPSEN_NIL
                   ? "is no value of a register: a number or nil"
                   : NULL;
    case LAPSE_JEPSEN_CAS:
        return sent && line->value != LAPSE_JEPSEN_PAIR ? "is no pair [from to] of numbers" : NULL;
    case LAPSE_JEPSEN_GET:
        return read && line->value != LAPSE_JEPSEN_TEXT ? "is no text in quotes" : NULL;
    default:
        return sent && line->value != LAPSE_JEPSEN_TEXT ? "is no text in quotes" : NULL;
    }
}

static enum lapse_status add_register(struct reader *reader, const struct waiting *sent,
                                      const struct lapse_jepsen_line *outcome,
                                      struct lapse_linear_call *call) {
    struct lapse_linear_problem *problem =
        lapse_linear_problem_find(reader->problems, LAPSE_LINEAR_REGISTER, sent->line.key);
    const struct lapse_jepsen_line *from = outcome->f == LAPSE_JEPSEN_READ ? outcome : &sent->line;
    call->op = (uint8_t)((int)LAPSE_REGISTER_READ + (int)outcome->f);
    call->arg[LAPSE_REGISTER_VALUE] =
        from->value == LAPSE_JEPSEN_NIL ? LAPSE_REGISTER_NIL : from->a;
    call->arg[LAPSE_REGISTER_TO] = sent->line.b;
    call->arg[LAPSE_REGISTER_DONE] = outcome->type == LAPSE_JEPSEN_OK;
    return problem == NULL || lapse_linear_problem_add(reader->problems, problem, call) < 0
               ? LAPSE_NOMEM
               : LAPSE_OK;
}

static enum lapse_status add_string(struct reader *reader, const struct waiting *sent,
                                    const struct lapse_jepsen_line *outcome,
                                    struct lapse_linear_call *call) {
    struct lapse_linear_problem *problem =
        lapse_linear_problem_find(reader->problems, LAPSE_LINEAR_STRING, sent->line.key);
    struct lapse_bytes text = outcome->f == LAPSE_JEPSEN_GET ? outcome->text : sent->line.text;
    int64_t number = lapse_linear_store_text(reader->problems->store, text);
    if (problem == NULL || number < 0) {
        return LAPSE_NOMEM;
    }
    call->op = (uint8_t)((int)outcome->f - (int)LAPSE_JEPSEN_GET);
    call->arg[LAPSE_STRING_TEXT] = number;
    if (outcome->f == LAPSE_JEPSEN_GET) {
        struct lapse_string_tree *tree = lapse_linear_problem_tree(problem);
        call->arg[LAPSE_STRING_PLACE] = lapse_string_tree_add(tree, text);
        if (call->arg[LAPSE_STRING_PLACE] < 0) {
            return LAPSE_NOMEM;
        }
    }
    return lapse_linear_problem_add(reader->problems, problem, call) < 0 ? LAPSE_NOMEM : LAPSE_OK;
}

static enum lapse_status complain(struct lapse_error *err, const struct lapse_jepsen_line *line,
                                  const char *what) {
    (void)lapse_error_set(err, LAPSE_INVALID, "this %s", what);
    if (err != NULL) {
        err->column = (int)line->column;
        err->span = 1;
    }
    return LAPSE_INVALID;
}
