/* Texts with names in them, and operands that may be names: `codes/k$n`, `$t1`, `$t1.end-1ns`. */
#include <stdio.h>
#include <string.h>

#include "decode.h"

enum { NAMES_SHOWN = 8 };

static bool is_name_start(char c);
static size_t name_length(const char *text);
static bool read_reference(struct lapse_decoder *d, const struct lapse_node *node, size_t *at,
                           struct lapse_text_part *ret);
static bool find_slot(struct lapse_decoder *d, const struct lapse_node *node, size_t *at,
                      size_t len, struct lapse_slot_ref *ret);
static bool find_numbered(const struct lapse_decoder *d, const char *name, size_t len,
                          struct lapse_slot_ref *ret);
static bool read_field(struct lapse_decoder *d, const struct lapse_node *node, size_t *at,
                       struct lapse_slot_ref *ret);
static bool check_field(struct lapse_decoder *d, const struct lapse_node *node, size_t from,
                        size_t to, const struct lapse_slot_ref *slot);
static const struct lapse_slot_decl *decl_of(const struct lapse_decoder *d, int32_t base);
static void note_kind(struct lapse_decoder *d, const struct lapse_node *node,
                      enum lapse_operand_kind kind, const struct lapse_slot_decl *decl,
                      uint32_t kinds);
static void note_unsaved(struct lapse_decoder *d, const struct lapse_node *node, size_t at,
                         size_t len);
static bool slot_operand(struct lapse_decoder *d, const struct lapse_node *node,
                         enum lapse_operand_kind kind, struct lapse_operand *ret);

bool lapse_text_decode(struct lapse_decoder *d, const struct lapse_node *node, size_t offset,
                       struct lapse_text *ret) {
    struct lapse_list parts = {.item_bytes = sizeof(struct lapse_text_part)};
    size_t at = offset;
    bool fine = true;
    while (fine && at < node->len) {
        struct lapse_text_part *part = lapse_list_add(d->alloc, &parts);
        if (part == NULL) {
            d->nomem = true;
            fine = false;
            break;
        }
        if (node->text[at] == '$' && is_name_start(node->text[at + 1])) {
            size_t from = at;
            fine = read_reference(d, node, &at, part) &&
                   (part->kind != LAPSE_PART_SLOT || check_field(d, node, from, at, &part->slot));
            continue;
        }
        /* A `$` that begins no name is itself. */
        size_t end = at + 1;
        while (end < node->len && (node->text[end] != '$' || !is_name_start(node->text[end + 1]))) {
            end++;
        }
        part->kind = LAPSE_PART_LITERAL;
        part->literal.data =
            (const unsigned char *)lapse_pool_text(d->pool, node->text + at, end - at);
        part->literal.len = end - at;
        at = end;
    }
    ret->part_count = parts.count;
    ret->parts = lapse_list_seal(&parts, d->pool);
    lapse_list_free(d->alloc, &parts);
    return fine;
}

bool lapse_text_slot(struct lapse_decoder *d, const struct lapse_node *node,
                     struct lapse_slot_ref *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a saved name ($t1)")) {
        return false;
    }
    struct lapse_text_part part = {0};
    size_t at = 0;
    bool begins = node->text[0] == '$' && is_name_start(node->text[1]);
    if (begins && !read_reference(d, node, &at, &part)) {
        return false;
    }
    if (!begins || at != node->len || part.kind != LAPSE_PART_SLOT) {
        struct lapse_diag *diag = lapse_mistake_add(d->diags, "Y103", node->place, "",
                                                    "`%.60s` is not a saved name", node->text);
        lapse_diag_note(d->diags, diag, "help", "write $NAME, the name of an earlier `save: NAME`");
        return false;
    }
    *ret = part.slot;
    return true;
}

bool lapse_text_operand(struct lapse_decoder *d, const struct lapse_node *node,
                        enum lapse_operand_kind kind, struct lapse_operand *ret) {
    if (!lapse_shape_is(d, node, LAPSE_NODE_SCALAR, "a single value")) {
        return false;
    }
    ret->kind = kind;
    if (kind == LAPSE_OPERAND_TEXT) {
        return lapse_text_decode(d, node, 0, &ret->text);
    }
    if (node->text[0] == '$') {
        return slot_operand(d, node, kind, ret);
    }
    if (kind == LAPSE_OPERAND_DATE) {
        return lapse_number_date(d, node, ret);
    }
    if (kind == LAPSE_OPERAND_SPAN) {
        return lapse_number_span_part(d, node, 0, &ret->number);
    }
    return lapse_number_count(d, node, INT64_MIN, INT64_MAX, &ret->number);
}

bool lapse_text_argument(struct lapse_decoder *d, const struct lapse_node *node,
                         enum lapse_operand_kind kind, struct lapse_operand *ret) {
    if (!lapse_text_operand(d, node, kind, ret)) {
        return false;
    }
    if (ret->kind != LAPSE_OPERAND_SLOT) {
        return true;
    }
    const struct lapse_slot_decl *decl = decl_of(d, ret->slot.base);
    uint32_t kinds = decl->kinds[ret->slot.field];
    if ((kinds & (1U << kind)) != 0) {
        return true;
    }
    note_kind(d, node, kind, decl, kinds);
    return false;
}

/* `$x`, then nothing, or + or - and a number or duration. */
static bool slot_operand(struct lapse_decoder *d, const struct lapse_node *node,
                         enum lapse_operand_kind kind, struct lapse_operand *ret) {
    struct lapse_text_part part = {0};
    size_t at = 0;
    if (!is_name_start(node->text[1])) {
        lapse_mistake_add(d->diags, "Y129", node->place, "", "a name follows `$`");
        return false;
    }
    if (!read_reference(d, node, &at, &part)) {
        return false;
    }
    if (part.kind != LAPSE_PART_SLOT) {
        lapse_mistake_add(d->diags, "Y103", node->place, "", "$n can stand in texts alone");
        return false;
    }
    if (!check_field(d, node, 0, at, &part.slot)) {
        return false;
    }
    ret->kind = LAPSE_OPERAND_SLOT;
    ret->slot = part.slot;
    if (at == node->len) {
        return true;
    }
    char sign = node->text[at];
    if (sign != '+' && sign != '-') {
        lapse_mistake_add(d->diags, "Y103", lapse_shape_part(node, at, node->len - at), "",
                          "after a saved name only + or - can follow");
        return false;
    }
    if (kind != LAPSE_OPERAND_NUMBER) {
        return lapse_number_span_part(d, node, sign == '+' ? at + 1 : at, &ret->number);
    }
    struct lapse_node rest = *node;
    rest.text += sign == '+' ? at + 1 : at;
    rest.len -= sign == '+' ? at + 1 : at;
    return lapse_number_count(d, &rest, INT64_MIN, INT64_MAX, &ret->number);
}

static bool is_name_start(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_length(const char *text) {
    size_t len = 0;
    while (is_name_start(text[len]) || (text[len] >= '0' && text[len] <= '9')) {
        len++;
    }
    return len;
}

/* Reads `$n`, `$name`, `$name$n`, each name with an optional `.field`, from node->text + *at. */
static bool read_reference(struct lapse_decoder *d, const struct lapse_node *node, size_t *at,
                           struct lapse_text_part *ret) {
    const char *name = node->text + *at + 1;
    size_t len = name_length(name);
    if (len != 1 || name[0] != 'n') {
        ret->kind = LAPSE_PART_SLOT;
        return find_slot(d, node, at, len, &ret->slot) && read_field(d, node, at, &ret->slot);
    }
    if (d->times == 0) {
        struct lapse_diag *diag = lapse_mistake_add(
            d->diags, "Y113", lapse_shape_part(node, *at, 2), "", "$n stands outside of `times`");
        lapse_diag_note(d->diags, diag, "help", "give the step or its loop `times: N`");
        return false;
    }
    ret->kind = LAPSE_PART_N;
    *at += 2;
    return true;
}

static bool find_slot(struct lapse_decoder *d, const struct lapse_node *node, size_t *at,
                      size_t len, struct lapse_slot_ref *ret) {
    const char *name = node->text + *at + 1;
    bool indexed = name[len] == '$' && name[len + 1] == 'n' && name_length(name + len + 1) == 1;
    int32_t number = -1;
    if (indexed) {
        number = lapse_decoder_find(d, LAPSE_SPACE_SLOT_INDEXED, name, len);
    }
    if (number >= 0 && d->times == 0) {
        lapse_mistake_add(d->diags, "Y113", lapse_shape_part(node, *at, len + 3), "",
                          "$n stands outside of `times`");
        return false;
    }
    if (number >= 0) {
        const struct lapse_slot_decl *decl = lapse_list_at(&d->slots, (size_t)number);
        *ret = (struct lapse_slot_ref){.base = decl->base, .indexed = true};
        *at += len + 3;
        return true;
    }
    number = lapse_decoder_find(d, LAPSE_SPACE_SLOT, name, len);
    if (number >= 0) {
        const struct lapse_slot_decl *decl = lapse_list_at(&d->slots, (size_t)number);
        *ret = (struct lapse_slot_ref){.base = decl->base};
    } else if (!find_numbered(d, name, len, ret)) {
        note_unsaved(d, node, *at, len);
        return false;
    }
    *at += len + 1;
    return true;
}

/* `$c2` where a step saved `c$n`. */
static bool find_numbered(const struct lapse_decoder *d, const char *name, size_t len,
                          struct lapse_slot_ref *ret) {
    size_t stem = len;
    while (stem > 0 && name[stem - 1] >= '0' && name[stem - 1] <= '9') {
        stem--;
    }
    if (stem == len || len - stem > 6 || name[stem] == '0') {
        return false;
    }
    int32_t which = 0;
    for (size_t i = stem; i < len; i++) {
        which = which * 10 + (name[i] - '0');
    }
    int32_t number = lapse_decoder_find(d, LAPSE_SPACE_SLOT_INDEXED, name, stem);
    if (number < 0) {
        return false;
    }
    const struct lapse_slot_decl *decl = lapse_list_at(&d->slots, (size_t)number);
    if (which > decl->count) {
        return false;
    }
    *ret = (struct lapse_slot_ref){.base = decl->base + which - 1};
    return true;
}

static bool read_field(struct lapse_decoder *d, const struct lapse_node *node, size_t *at,
                       struct lapse_slot_ref *ret) {
    const char *dot = node->text + *at;
    if (dot[0] != '.' || !is_name_start(dot[1])) {
        return true;
    }
    size_t len = name_length(dot + 1);
    ret->field = lapse_field_find(dot + 1, len);
    if (ret->field != LAPSE_FIELD_DEFAULT) {
        *at += len + 1;
        return true;
    }
    char word[40];
    size_t kept = len < sizeof(word) - 1 ? len : sizeof(word) - 1;
    memcpy(word, dot + 1, kept);
    word[kept] = '\0';
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, word);
    for (int i = LAPSE_FIELD_VALUE; i < LAPSE_FIELDS; i++) {
        lapse_nearest_offer(&nearest, lapse_field_word((enum lapse_field)i));
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y101", lapse_shape_part(node, *at + 1, len), nearest.best == NULL ? "" : "here",
        "`%s` is not a field of a reply", word);
    if (nearest.best != NULL) {
        lapse_diag_note(d->diags, diag, "help", "did you mean `%s`?", nearest.best);
    }
    lapse_diag_note(d->diags, diag, "note",
                    "a saved reply has: value rev end left count owner token took repeated more");
    return false;
}

/* Whether a line that saves the name can fill the field; node->text[from..to) is the reference. */
static bool check_field(struct lapse_decoder *d, const struct lapse_node *node, size_t from,
                        size_t to, const struct lapse_slot_ref *slot) {
    const struct lapse_slot_decl *decl = decl_of(d, slot->base);
    if (decl->kinds[slot->field] != 0) {
        return true;
    }
    const char *field = lapse_field_word(slot->field);
    size_t span = slot->field == LAPSE_FIELD_DEFAULT ? to - from : strlen(field);
    char verb[48] = "the lines that save it";
    if (decl->one_verb) {
        (void)snprintf(verb, sizeof(verb), "`%.20s`, which saves it,", decl->verb);
    }
    struct lapse_diag *diag = NULL;
    struct lapse_place place = lapse_shape_part(node, to - span, span);
    if (slot->field == LAPSE_FIELD_DEFAULT) {
        diag = lapse_mistake_add(d->diags, "Y130", place, "",
                                 "`$%.40s` alone means nothing: %s %s no single value", decl->name,
                                 verb, decl->one_verb ? "gives" : "give");
    } else {
        diag = lapse_mistake_add(d->diags, "Y130", place, "", "`$%.40s` never has `%s`: %s %s",
                                 decl->name, field, verb,
                                 decl->one_verb ? "never gives it" : "never give it");
    }
    char list[96];
    lapse_diag_label(d->diags, diag, decl->place, "saved here");
    lapse_diag_note(d->diags, diag, "help", "`$%.40s` has: %s", decl->name,
                    lapse_field_list_saved(decl->kinds, list, sizeof(list)));
    return false;
}

/* The saved name that a slot is of. Their slots follow one another. */
static const struct lapse_slot_decl *decl_of(const struct lapse_decoder *d, int32_t base) {
    size_t low = 0;
    size_t high = d->slots.count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        const struct lapse_slot_decl *decl = lapse_list_at(&d->slots, middle);
        if (decl->base <= base) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return lapse_list_at(&d->slots, low);
}

static void note_kind(struct lapse_decoder *d, const struct lapse_node *node,
                      enum lapse_operand_kind kind, const struct lapse_slot_decl *decl,
                      uint32_t kinds) {
    const char *is = (kinds & (1U << LAPSE_OPERAND_TEXT)) != 0     ? "a text"
                     : (kinds & (1U << LAPSE_OPERAND_NUMBER)) != 0 ? "a number"
                     : (kinds & (1U << LAPSE_OPERAND_DATE)) != 0   ? "a duration or a date"
                                                                   : "a duration";
    const char *wanted = "a number";
    const char *help = "a token is saved by `acquire`, a revision by a write or by `entry`";
    if (kind == LAPSE_OPERAND_SPAN) {
        wanted = "a duration";
        help = "durations are the fields `left` and `took`";
    } else if (kind == LAPSE_OPERAND_DATE) {
        wanted = "a date";
        help = "write now+15s, or epoch+1h (from the start); only a key written with `expires_at` "
               "has a date as its `end`";
    }
    struct lapse_diag *diag =
        lapse_mistake_add(d->diags, "Y131", node->place, "", "`%.60s` is %s, and %s is wanted here",
                          node->text, is, wanted);
    lapse_diag_label(d->diags, diag, decl->place, "saved here, by `%.20s`", decl->verb);
    lapse_diag_note(d->diags, diag, "help", "%s", help);
}

static void note_unsaved(struct lapse_decoder *d, const struct lapse_node *node, size_t at,
                         size_t len) {
    char name[64];
    size_t kept = len < sizeof(name) - 1 ? len : sizeof(name) - 1;
    memcpy(name, node->text + at + 1, kept);
    name[kept] = '\0';
    char label[256] = "nothing is saved in this document";
    size_t used = 0;
    struct lapse_nearest nearest;
    lapse_nearest_begin(&nearest, name);
    for (size_t i = 0; i < d->slots.count && i < LAPSE_MISTAKES_MAX; i++) {
        const struct lapse_slot_decl *decl = lapse_list_at(&d->slots, i);
        lapse_nearest_offer(&nearest, decl->name);
        if (i < NAMES_SHOWN && used + 60 < sizeof(label)) {
            used += (size_t)snprintf(label + used, sizeof(label) - used, "%s%.30s%s (line %d)",
                                     i == 0 ? "saved: " : ", ", decl->name,
                                     decl->indexed ? "$n" : "", decl->place.line);
        }
    }
    struct lapse_diag *diag = lapse_mistake_add(
        d->diags, "Y112", lapse_shape_part(node, at, len + 1), label, "$%s was never saved", name);
    if (nearest.best != NULL) {
        lapse_diag_note(d->diags, diag, "help", "did you mean $%s?", nearest.best);
    }
}
