/* The models of what can be judged, each a file of its own. Private to contracts. */
#ifndef CONTRACTS_LINEAR_MODELS_H
#define CONTRACTS_LINEAR_MODELS_H

#include "chunks.h"
#include "contracts/linear_problem.h"
#include "lapse/command.h"

/* Of every problem in one history: how far the store's clock may be from true time. */
struct lapse_linear_clocks {
    int64_t rate_ppb; /* rho */
    int64_t slack_ns; /* of readings that are rounded or cut down to ticks */
    /* What policies let a key do. */
    bool last_record; /* if_version looks at the last record, be it a tombstone or a marker */
    bool remembers;   /* ... at a revision that may outlive the entry */
    bool deletes_all; /* a delete of what is absent is done */
    bool tokens_from_0; /* the first token may be 0 */
};

/* ---- Texts by number, in the order of their coming: names, values, owners. */
struct lapse_linear_store {
    const lapse_alloc *alloc;
    struct lapse_chunks memory;
    struct lapse_bytes *texts;
    size_t count, cap;
    uint32_t *table; /* number + 1; 0: free */
    size_t table_cap;
    uint32_t *problems; /* by name and kind: which problem + 1; 0: none */
    size_t problems_cap;
    struct lapse_linear_clocks clocks;
};
/* The number of a text, a copy of which is kept; -1 when memory ran out. */
int64_t lapse_linear_store_text(struct lapse_linear_store *store, struct lapse_bytes text);

/* ---- Problems are filled by their readers. */
bool lapse_linear_problems_init(struct lapse_linear_problems *problems, const lapse_alloc *alloc);
/* The problem of that kind and name, made if there is none; NULL when memory ran out. It moves when
 * another one is made. */
struct lapse_linear_problem *lapse_linear_problem_find(struct lapse_linear_problems *problems,
                                                       enum lapse_linear_kind kind,
                                                       struct lapse_bytes name);
/* Appends a call. Returns its index, or -1 when memory ran out. */
int32_t lapse_linear_problem_add(struct lapse_linear_problems *problems,
                                 struct lapse_linear_problem *problem,
                                 const struct lapse_linear_call *call);

/* ---- Register. arg: value, or from and to; a cas: whether it was done. */
enum lapse_register_op { LAPSE_REGISTER_READ = 0, LAPSE_REGISTER_WRITE, LAPSE_REGISTER_CAS };
enum { LAPSE_REGISTER_VALUE = 0, LAPSE_REGISTER_TO = 1, LAPSE_REGISTER_DONE = 2 };
#define LAPSE_REGISTER_NIL INT64_MIN
lapse_linear_model lapse_register_model(void);
char *lapse_register_print(const struct lapse_linear_call *call, char *buf);

/* ---- String. Its model knows the texts that were read, as a tree of their bytes: a state is the
 * place of the text in it, and all texts with which none that was read begins are one state, since
 * no read will tell them apart. arg: the number of a text, and of a get its place. */
enum lapse_string_op { LAPSE_STRING_GET = 0, LAPSE_STRING_PUT, LAPSE_STRING_APPEND };
enum { LAPSE_STRING_TEXT = 0, LAPSE_STRING_PLACE = 1 };
struct lapse_string_node {
    uint32_t child, sibling; /* 0: none */
    unsigned char byte;
};
struct lapse_string_tree {
    const lapse_alloc *alloc;
    const struct lapse_linear_store *store;
    struct lapse_string_node *nodes; /* 0 is the empty text */
    size_t count, cap;
};
/* A tree with the empty text alone; NULL when memory ran out. */
struct lapse_string_tree *lapse_string_tree_open(const struct lapse_linear_store *store);
void lapse_string_tree_close(struct lapse_string_tree *tree);
/* The place of a text, which is put into the tree; -1 when memory ran out. */
int64_t lapse_string_tree_add(struct lapse_string_tree *tree, struct lapse_bytes text);
/* The tree of a problem of that kind, for who fills it. */
struct lapse_string_tree *lapse_linear_problem_tree(const struct lapse_linear_problem *problem);
lapse_linear_model lapse_string_model(const struct lapse_string_tree *tree);
char *lapse_string_print(const struct lapse_string_tree *tree, const struct lapse_linear_call *call,
                         char *buf);

/* ---- A key with its terms. A term is called by the call that gave it; one that idles also has its
 * span, and the bounds of the instant of its last use. Where a call's answer tells a revision, the
 * entry has that one; the entry of an unanswered write has any above all that have been told, until
 * an answer tells it. */
enum lapse_key_op {
    LAPSE_KEY_PUT = 0, /* set, update */
    LAPSE_KEY_CREATE,
    LAPSE_KEY_READ,
    LAPSE_KEY_REMOVE, /* delete, purge */
    LAPSE_KEY_TERM,   /* expire, persist */
    LAPSE_KEY_END     /* of the term given by the call it is after */
};
enum lapse_key_arg {
    LAPSE_KEY_TEXT = 0, /* the number of the value written or read; -1: not told, or never read */
    LAPSE_KEY_REV,      /* the revision told; -1: none is. Of a conflict 0: there is no entry */
    LAPSE_KEY_VERSION,  /* the one asked for; -1: none */
    LAPSE_KEY_ANSWER,   /* enum lapse_status */
    LAPSE_KEY_GIVES,    /* enum lapse_key_gives; of a read enum lapse_key_use */
    LAPSE_KEY_SELF,     /* the name of the term it gives, or ends: above 0 */
    LAPSE_KEY_IDLE,     /* > 0: the term given idles with this span */
    LAPSE_KEY_VERB      /* for reports: enum lapse_verb and, above 16 bits, the text + 1 */
};
enum {
    LAPSE_KEY_VERB_BITS = 16,
    LAPSE_KEY_CAPPED = 0x8000, /* beside the verb: the term that idles has a cap */
    LAPSE_KEY_MARKED = 0x4000  /* ... its end may leave a marker; an end has this alone */
};
enum lapse_key_gives {
    LAPSE_GIVES_NONE = 0, /* no term */
    LAPSE_GIVES_TERM,
    LAPSE_GIVES_KEPT_OR_NONE, /* a live entry's term goes on; else as above */
    LAPSE_GIVES_KEPT_OR_TERM,
    LAPSE_GIVES_ENDED, /* a date that has passed: it is absent at once */
    LAPSE_GIVES_NEVER  /* a term that no store takes: it cannot have been done */
};
enum lapse_key_use {
    LAPSE_USE_NONE = 0, /* renews nothing */
    LAPSE_USE_RENEWED,  /* renewed, as its answer tells */
    LAPSE_USE_BY_RULE,  /* renews as the instants say, both ways where they leave it open */
    LAPSE_USE_ANY       /* a crash may have lost it */
};
lapse_linear_model lapse_key_model(const struct lapse_linear_clocks *clocks);
char *lapse_key_print(const struct lapse_linear_store *store, const struct lapse_linear_call *call,
                      char *buf);

/* ---- A lease. A grant's term is called as a key's; the grant of an unanswered acquire has any
 * token above all that have been told, until an answer tells it. */
enum lapse_lease_op {
    LAPSE_LEASE_ACQUIRE = 0,
    LAPSE_LEASE_EXTEND,
    LAPSE_LEASE_RELEASE,
    LAPSE_LEASE_INSPECT,
    LAPSE_LEASE_END,
    LAPSE_LEASE_TENURE /* a tenure ends: ephemeral grants with it */
};
enum lapse_lease_arg {
    LAPSE_LEASE_OWNER = 0, /* the number of who asks; -1: its token names the grant */
    LAPSE_LEASE_TOKEN,     /* the token asked with; -1: none */
    LAPSE_LEASE_TOLD_OWNER,
    LAPSE_LEASE_TOLD_TOKEN, /* -1: not told, both */
    LAPSE_LEASE_ANSWER,
    LAPSE_LEASE_SELF,
    LAPSE_LEASE_AGAIN, /* acquire: 1, a grant held already; 0, a new one; -1: not told */
    LAPSE_LEASE_EPHEMERAL
};
lapse_linear_model lapse_lease_model(const struct lapse_linear_clocks *clocks);
char *lapse_lease_print(const struct lapse_linear_store *store,
                        const struct lapse_linear_call *call, char *buf);

#endif
