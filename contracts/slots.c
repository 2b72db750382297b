/* Saved names: their values, the fields that can be read of them, and the numbers and texts of a
 * scenario that are made from them. */
#include "contracts/expect.h"

#include "copy.h"
#include "line.h"

#include <string.h>

static bool lists(int verb);
static bool is_token_verb(int verb);
static bool field_default(int verb, const struct lapse_answer *answer, struct lapse_value *ret);
static bool field_value(int verb, const struct lapse_answer *answer, struct lapse_value *ret);
static bool field_rev(int verb, const struct lapse_answer *answer, struct lapse_value *ret);
static bool field_end(int verb, const struct lapse_answer *answer, struct lapse_value *ret);
static bool field_left(int verb, const struct lapse_answer *answer, struct lapse_value *ret);
static bool field_owner(int verb, const struct lapse_answer *answer, struct lapse_value *ret);
static bool field_token(int verb, const struct lapse_answer *answer, struct lapse_value *ret);
static bool field_flag(const struct lapse_answer *answer, bool flag, struct lapse_value *ret);
static bool shows_end(int verb, enum lapse_status status);
static struct lapse_value value_of(enum lapse_operand_kind kind, int64_t number);
static struct lapse_value value_of_text(struct lapse_bytes text);
static enum lapse_status operand_slot(const struct lapse_operand *operand,
                                      const struct lapse_slots *slots, int32_t n,
                                      struct lapse_value *ret, int32_t *ret_slot);
static int32_t slot_index(struct lapse_slot_ref ref, int32_t n);

enum lapse_status lapse_slots_init(struct lapse_slots *slots, const lapse_alloc *alloc,
                                   size_t count) {
    *slots = (struct lapse_slots){.alloc = alloc};
    if (count == 0) {
        return LAPSE_OK;
    }
    slots->items = lapse_alloc_zero(alloc, count * sizeof(*slots->items));
    if (slots->items == NULL) {
        return LAPSE_NOMEM;
    }
    slots->count = count;
    return LAPSE_OK;
}

void lapse_slots_free(struct lapse_slots *slots) {
    if (slots == NULL || slots->alloc == NULL) {
        return;
    }
    for (size_t i = 0; i < slots->count; i++) {
        lapse_alloc_free(slots->alloc, slots->items[i].memory, slots->items[i].memory_bytes);
    }
    lapse_alloc_free(slots->alloc, slots->items, slots->count * sizeof(*slots->items));
    *slots = (struct lapse_slots){.alloc = slots->alloc};
}

enum lapse_status lapse_slots_bind(struct lapse_slots *slots, int32_t index, int verb,
                                   const struct lapse_answer *answer) {
    LAPSE_ASSERT(index >= 0);
    LAPSE_ASSERT((size_t)index < slots->count);
    struct lapse_copy copy = {NULL, 0};
    struct lapse_answer placed = *answer;
    lapse_copy_answer(&copy, &placed);
    size_t bytes = copy.used;
    if (bytes > 0) {
        copy = (struct lapse_copy){lapse_alloc_zero(slots->alloc, bytes), 0};
        if (copy.base == NULL) {
            return LAPSE_NOMEM;
        }
        placed = *answer;
        lapse_copy_answer(&copy, &placed);
    }
    struct lapse_slot *slot = &slots->items[index];
    lapse_alloc_free(slots->alloc, slot->memory, slot->memory_bytes);
    *slot = (struct lapse_slot){true, verb, placed, copy.base, bytes};
    return LAPSE_OK;
}

const struct lapse_slot *lapse_slots_find(const struct lapse_slots *slots,
                                          struct lapse_slot_ref ref, int32_t n) {
    int32_t index = slot_index(ref, n);
    if (index < 0 || (size_t)index >= slots->count || !slots->items[index].bound) {
        return NULL;
    }
    return &slots->items[index];
}

bool lapse_answer_field(int verb, const struct lapse_answer *answer, enum lapse_field field,
                        struct lapse_value *ret) {
    switch (field) {
    case LAPSE_FIELD_DEFAULT:
        return field_default(verb, answer, ret);
    case LAPSE_FIELD_VALUE:
        return field_value(verb, answer, ret);
    case LAPSE_FIELD_REV:
        return field_rev(verb, answer, ret);
    case LAPSE_FIELD_END:
        return field_end(verb, answer, ret);
    case LAPSE_FIELD_LEFT:
        return field_left(verb, answer, ret);
    case LAPSE_FIELD_OWNER:
        return field_owner(verb, answer, ret);
    case LAPSE_FIELD_TOKEN:
        return field_token(verb, answer, ret);
    case LAPSE_FIELD_TOOK:
        *ret = value_of(LAPSE_OPERAND_SPAN, answer->took.ns);
        return true;
    case LAPSE_FIELD_REPEATED:
        return field_flag(answer, answer->repeated, ret);
    case LAPSE_FIELD_MORE:
        return field_flag(answer, answer->more, ret) && lists(verb) && verb != LAPSE_VERB_COUNT;
    case LAPSE_FIELD_COUNT:
        if (answer->status != LAPSE_OK || !lists(verb)) {
            return false;
        }
        *ret = value_of(LAPSE_OPERAND_NUMBER, (int64_t)answer->item_count);
        return true;
    default:
        return false; /* keys are many values: expect.c compares them */
    }
}

enum lapse_status lapse_operand_value(const struct lapse_operand *operand,
                                      const struct lapse_slots *slots, int32_t n,
                                      struct lapse_wall wall, char *buf, size_t cap,
                                      struct lapse_value *ret, int32_t *ret_slot) {
    switch (operand->kind) {
    case LAPSE_OPERAND_NUMBER:
    case LAPSE_OPERAND_SPAN:
    case LAPSE_OPERAND_DATE:
    case LAPSE_OPERAND_ABSENT:
    case LAPSE_OPERAND_RECORD:
        *ret = value_of(operand->kind, operand->number);
        return LAPSE_OK;
    case LAPSE_OPERAND_NOW: {
        int64_t date = 0;
        if (!lapse_ns_add(wall.ns, operand->number, &date)) {
            return LAPSE_RANGE;
        }
        *ret = value_of(LAPSE_OPERAND_DATE, date);
        return LAPSE_OK;
    }
    case LAPSE_OPERAND_TEXT: {
        size_t len = 0;
        enum lapse_status status =
            lapse_text_render(&operand->text, slots, n, buf, cap, &len, ret_slot);
        if (status == LAPSE_OK) {
            *ret = value_of_text(
                (struct lapse_bytes){(const unsigned char *)buf, len < cap ? len : cap});
        }
        return status;
    }
    case LAPSE_OPERAND_SLOT:
        return operand_slot(operand, slots, n, ret, ret_slot);
    }
    return LAPSE_INVALID;
}

enum lapse_status lapse_text_render(const struct lapse_text *text, const struct lapse_slots *slots,
                                    int32_t n, char *buf, size_t cap, size_t *ret_len,
                                    int32_t *ret_slot) {
    size_t len = 0;
    for (size_t i = 0; i < text->part_count; i++) {
        const struct lapse_text_part *part = &text->parts[i];
        char scratch[LAPSE_TIME_TEXT_MAX];
        struct lapse_value value = value_of_text(part->literal);
        if (part->kind == LAPSE_PART_N) {
            value = value_of(LAPSE_OPERAND_NUMBER, n);
        } else if (part->kind == LAPSE_PART_SLOT) {
            struct lapse_operand operand = {.kind = LAPSE_OPERAND_SLOT, .slot = part->slot};
            enum lapse_status status = operand_slot(&operand, slots, n, &value, ret_slot);
            if (status != LAPSE_OK) {
                return status;
            }
        }
        struct lapse_bytes bytes = lapse_value_bytes(&value, scratch);
        size_t room = len < cap ? cap - len : 0;
        size_t fits = bytes.len < room ? bytes.len : room;
        if (fits > 0) {
            memcpy(buf + len, bytes.data, fits);
        }
        len += bytes.len;
    }
    *ret_len = len;
    return LAPSE_OK;
}

static enum lapse_status operand_slot(const struct lapse_operand *operand,
                                      const struct lapse_slots *slots, int32_t n,
                                      struct lapse_value *ret, int32_t *ret_slot) {
    const struct lapse_slot *slot = lapse_slots_find(slots, operand->slot, n);
    if (slot == NULL) {
        *ret_slot = slot_index(operand->slot, n);
        return LAPSE_ABSENT;
    }
    struct lapse_value value = {0};
    if (!lapse_answer_field(slot->verb, &slot->answer, operand->slot.field, &value) ||
        value.kind == LAPSE_OPERAND_ABSENT) {
        return LAPSE_INVALID;
    }
    if (operand->number != 0) {
        if (value.kind == LAPSE_OPERAND_TEXT) {
            return LAPSE_INVALID;
        }
        if (!lapse_ns_add(value.number, operand->number, &value.number)) {
            return LAPSE_RANGE;
        }
    }
    *ret = value;
    return LAPSE_OK;
}

static int32_t slot_index(struct lapse_slot_ref ref, int32_t n) {
    return ref.indexed && n > 0 ? ref.base + (n - 1) : ref.base;
}

static bool lists(int verb) {
    return (verb >= LAPSE_VERB_LIST && verb <= LAPSE_VERB_COUNT) || verb == LAPSE_VERB_HISTORY;
}

static bool is_token_verb(int verb) {
    return verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_EXTEND || verb == LAPSE_VERB_INSPECT ||
           verb == LAPSE_VERB_SESSION || verb == LAPSE_VERB_KEEPALIVE;
}

/* What a bare $x means. */
static bool field_default(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    if (is_token_verb(verb)) {
        return field_token(verb, answer, ret);
    }
    if (verb == LAPSE_VERB_GET || verb == LAPSE_VERB_HAS || verb == LAPSE_CALL_READ) {
        return field_value(verb, answer, ret);
    }
    if (verb == LAPSE_VERB_COUNT) {
        return lapse_answer_field(verb, answer, LAPSE_FIELD_COUNT, ret);
    }
    return field_rev(verb, answer, ret);
}

static bool field_value(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    if (answer->status != LAPSE_OK) {
        return false;
    }
    if (verb == LAPSE_VERB_HAS) {
        *ret = value_of_text(lapse_bytes_of("true"));
        return true;
    }
    *ret = value_of_text(answer->value);
    return verb == LAPSE_VERB_GET || verb == LAPSE_VERB_ENTRY || verb == LAPSE_CALL_READ;
}

static bool field_rev(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    bool is_key_call = verb >= LAPSE_VERB_SET && verb <= LAPSE_VERB_PERSIST;
    *ret = value_of(LAPSE_OPERAND_NUMBER, answer->revision);
    return is_key_call && (answer->status == LAPSE_OK || answer->status == LAPSE_CONFLICT);
}

static bool shows_end(int verb, enum lapse_status status) {
    switch (verb) {
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
    case LAPSE_VERB_EXPIRE:
    case LAPSE_VERB_PERSIST:
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_INSPECT:
    case LAPSE_VERB_KEEPALIVE:
        return status == LAPSE_OK;
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_SESSION:
        return status == LAPSE_OK || status == LAPSE_HELD;
    default:
        return false;
    }
}

static bool field_end(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    if (!shows_end(verb, answer->status)) {
        return false;
    }
    switch (answer->end.kind) {
    case LAPSE_END_STEADY:
        *ret = value_of(LAPSE_OPERAND_SPAN, answer->end.ns);
        break;
    case LAPSE_END_WALL:
        *ret = value_of(LAPSE_OPERAND_DATE, answer->end.ns);
        break;
    default:
        *ret = value_of(LAPSE_OPERAND_ABSENT, 0);
        break;
    }
    return true;
}

static bool field_left(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    if (!shows_end(verb, answer->status)) {
        return false;
    }
    *ret = answer->end.kind == LAPSE_END_NONE ? value_of(LAPSE_OPERAND_ABSENT, 0)
                                              : value_of(LAPSE_OPERAND_SPAN, answer->left.ns);
    return true;
}

static bool field_owner(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    *ret = value_of_text(answer->owner);
    if (answer->status == LAPSE_HELD) {
        return verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_SESSION;
    }
    bool session = verb == LAPSE_VERB_SESSION || verb == LAPSE_VERB_KEEPALIVE;
    return is_token_verb(verb) && !session && answer->status == LAPSE_OK;
}

static bool field_token(int verb, const struct lapse_answer *answer, struct lapse_value *ret) {
    *ret = value_of(LAPSE_OPERAND_NUMBER, answer->token);
    if (verb == LAPSE_CALL_READ) {
        return answer->status == LAPSE_OK && answer->has_token;
    }
    return is_token_verb(verb) && answer->status == LAPSE_OK;
}

static bool field_flag(const struct lapse_answer *answer, bool flag, struct lapse_value *ret) {
    *ret = value_of_text(lapse_bytes_of(flag ? "true" : "false"));
    return answer->status == LAPSE_OK;
}

static struct lapse_value value_of(enum lapse_operand_kind kind, int64_t number) {
    return (struct lapse_value){.kind = kind, .number = number};
}

static struct lapse_value value_of_text(struct lapse_bytes text) {
    return (struct lapse_value){.kind = LAPSE_OPERAND_TEXT, .text = text};
}
