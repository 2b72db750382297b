/* Every event of a history as a line of text: what `replay -v` and `run -vv` show. Nothing is left
 * out, so that two runs can be compared line by line. */
#include <stdio.h>

#include "draw.h"

enum { SHORT_TEXT = 80 };

static void draw_invoke(struct lapse_out *out, const struct lapse_result_view *view,
                        const struct lapse_history_event *event);
static void draw_request(struct lapse_out *out, const struct lapse_setup *setup,
                         const struct lapse_request *request);
static void draw_write(struct lapse_out *out, const struct lapse_command *command);
static void draw_config(struct lapse_out *out, const struct lapse_bucket_config *config);
static void draw_page(struct lapse_out *out, const struct lapse_command *command);
static void draw_command(struct lapse_out *out, const struct lapse_command *command);
static void draw_lease(struct lapse_out *out, const struct lapse_command *command);
static void draw_role(struct lapse_out *out, const struct lapse_setup *setup,
                      const struct lapse_history_event *event);
static void draw_clock(struct lapse_out *out, const struct lapse_setup *setup,
                       const struct lapse_history_event *event);
static void draw_wall(struct lapse_out *out, const struct lapse_reading *reading);
static void draw_term(struct lapse_out *out, const struct lapse_term *term);
static void draw_reply(struct lapse_out *out, const struct lapse_history_event *event);
static void draw_fault(struct lapse_out *out, const struct lapse_setup *setup,
                       const struct lapse_history_event *event);
static void draw_link(struct lapse_out *out, const struct lapse_setup *setup,
                      const struct lapse_history_event *event);
static void draw_message(struct lapse_out *out, const struct lapse_setup *setup,
                         const struct lapse_history_event *event);
static void draw_belief(struct lapse_out *out, const struct lapse_history_event *event);
static void draw_resource(struct lapse_out *out, const struct lapse_setup *setup,
                          const struct lapse_history_event *event);
static void draw_probe(struct lapse_out *out, const struct lapse_result_view *view,
                       const struct lapse_history_event *event);
static void draw_bucket_event(struct lapse_out *out, const struct lapse_event *event);
static void draw_rest(struct lapse_out *out, const struct lapse_result_view *view,
                      const struct lapse_history_event *event);
static struct lapse_bytes party_name(const struct lapse_setup *setup, struct lapse_party party);
static void put_bytes(struct lapse_out *out, struct lapse_bytes bytes);
static void put_span(struct lapse_out *out, int64_t ns);
static int applied_verb(const struct lapse_result_view *view,
                        const struct lapse_history_event *event);

void lapse_events_draw(struct lapse_out *out, const struct lapse_result_view *view) {
    size_t count = lapse_history_count(view->history);
    for (size_t i = 0; i < count; i++) {
        lapse_out_text(out, "  ");
        lapse_event_draw(out, view, lapse_history_at(view->history, i));
        lapse_out_text(out, "\n");
    }
}

size_t lapse_view_calls(const struct lapse_result_view *view) {
    size_t calls = view->log_calls;
    size_t count = lapse_history_count(view->history);
    for (size_t i = 0; i < count; i++) {
        const struct lapse_history_event *event = lapse_history_at(view->history, i);
        calls +=
            event->kind == LAPSE_HISTORY_INVOKE && event->u.invoke.request.verb != LAPSE_CALL_WORK;
    }
    return calls;
}

void lapse_event_draw(struct lapse_out *out, const struct lapse_result_view *view,
                      const struct lapse_history_event *event) {
    const struct lapse_setup *setup = view->the_case->setup;
    char at[LAPSE_TIME_TEXT_MAX];
    lapse_out_format(out, "%5lld  %-12s  ", (long long)event->seq,
                     lapse_span_print((struct lapse_span){event->at.ns}, at));
    int columns = 0;
    if (event->actor >= 0) {
        struct lapse_bytes name = setup->actors[event->actor].name;
        columns = lapse_out_safe(out, (const char *)name.data, name.len, SHORT_TEXT);
    }
    lapse_out_repeat(out, ' ', 8 - columns);
    lapse_out_format(out, "  %-12s  ", lapse_history_kind_word(event->kind));
    lapse_event_body_draw(out, view, event);
    lapse_event_line_draw(out, view, event);
}

void lapse_event_line_draw(struct lapse_out *out, const struct lapse_result_view *view,
                           const struct lapse_history_event *event) {
    if (event->step >= 0 && (size_t)event->step < view->the_case->check_count) {
        lapse_out_format(out, "  (line %d)", view->the_case->checks[event->step].place.line);
    }
}

void lapse_event_body_draw(struct lapse_out *out, const struct lapse_result_view *view,
                           const struct lapse_history_event *event) {
    const struct lapse_setup *setup = view->the_case->setup;
    switch (event->kind) {
    case LAPSE_HISTORY_INVOKE:
        draw_invoke(out, view, event);
        break;
    case LAPSE_HISTORY_APPLY:
        lapse_answer_draw(out, applied_verb(view, event), &event->u.apply.answer);
        break;
    case LAPSE_HISTORY_REPLY:
        draw_reply(out, event);
        break;
    case LAPSE_HISTORY_FAULT_BEGIN:
    case LAPSE_HISTORY_FAULT_END:
        draw_fault(out, setup, event);
        break;
    case LAPSE_HISTORY_BELIEF_BEGIN:
    case LAPSE_HISTORY_BELIEF_END:
        draw_belief(out, event);
        break;
    case LAPSE_HISTORY_RESOURCE:
        draw_resource(out, setup, event);
        break;
    default:
        draw_rest(out, view, event);
        break;
    }
}

void lapse_answer_draw(struct lapse_out *out, int verb, const struct lapse_answer *answer) {
    char date[LAPSE_TIME_TEXT_MAX];
    lapse_out_text(out, lapse_answer_word(verb, answer->status));
    if (answer->value.len > 0) {
        lapse_out_text(out, " ");
        put_bytes(out, answer->value);
    }
    if (answer->owner.len > 0) {
        lapse_out_text(out, " owner ");
        put_bytes(out, answer->owner);
    }
    if (answer->has_token) {
        lapse_out_format(out, " token %lld", (long long)answer->token);
    }
    if (answer->revision != 0) {
        lapse_out_format(out, " rev %lld", (long long)answer->revision);
    }
    if (answer->end.kind == LAPSE_END_STEADY) {
        lapse_out_text(out, " end ");
        put_span(out, answer->end.ns);
    } else if (answer->end.kind == LAPSE_END_WALL) {
        lapse_out_format(out, " end %s",
                         lapse_wall_print((struct lapse_wall){answer->end.ns}, date));
    }
    if (answer->end.kind != LAPSE_END_NONE) {
        lapse_out_text(out, " left ");
        put_span(out, answer->left.ns);
    }
    if (answer->renewed) {
        bool held = verb == LAPSE_VERB_ACQUIRE || verb == LAPSE_VERB_SESSION;
        lapse_out_text(out, held ? " (held already)" : " (renewed)");
    }
    lapse_out_text(out, answer->repeated ? " (as before)" : "");
    for (size_t i = 0; i < answer->answer_count; i++) {
        const struct lapse_batch_answer *own = &answer->answers[i];
        lapse_out_format(out, "%s %s", i == 0 ? ":" : ",",
                         lapse_answer_word((int)own->verb, own->status));
        if (own->revision != 0) {
            lapse_out_format(out, " rev %lld", (long long)own->revision);
        }
        if (own->token != 0) {
            lapse_out_format(out, " token %lld", (long long)own->token);
        }
    }
    if (verb == LAPSE_VERB_LIST || verb == LAPSE_VERB_ALL || verb == LAPSE_VERB_COUNT ||
        verb == LAPSE_VERB_HISTORY) {
        lapse_out_format(out, " %zu", answer->item_count);
    }
    for (size_t i = 0; answer->items != NULL && i < answer->item_count; i++) {
        lapse_out_text(out, i == 0 ? ": " : " ");
        put_bytes(out, verb == LAPSE_VERB_HISTORY ? answer->items[i].value
                                                  : answer->items[i].key);
    }
    lapse_out_text(out, answer->more ? " and more" : "");
}

static void draw_invoke(struct lapse_out *out, const struct lapse_result_view *view,
                        const struct lapse_history_event *event) {
    draw_request(out, view->the_case->setup, &event->u.invoke.request);
    if (event->u.invoke.due.ns < event->at.ns) {
        lapse_out_text(out, ", due at ");
        put_span(out, event->u.invoke.due.ns);
    }
    if (event->u.invoke.grant.given) {
        lapse_out_text(out, ", under ");
        put_bytes(out, event->u.invoke.grant.name);
        lapse_out_format(out, " token %lld", (long long)event->u.invoke.grant.token);
    }
}

static void draw_request(struct lapse_out *out, const struct lapse_setup *setup,
                         const struct lapse_request *request) {
    const struct lapse_command *command = &request->command;
    lapse_out_text(out, lapse_call_word(request->verb));
    lapse_out_text(out, " ");
    switch (request->verb) {
    case LAPSE_CALL_WORK:
        put_span(out, request->work.ns);
        break;
    case LAPSE_CALL_WRITE:
    case LAPSE_CALL_READ:
        put_bytes(out, setup->resources[request->resource].name);
        if (request->verb == LAPSE_CALL_WRITE) {
            lapse_out_text(out, " value ");
            put_bytes(out, request->value);
        }
        if (request->has_token) {
            lapse_out_format(out, " token %lld", (long long)request->token);
        }
        break;
    default:
        draw_command(out, command);
        break;
    }
    if (command->request.len > 0) {
        lapse_out_text(out, " id ");
        put_bytes(out, command->request);
    }
}

static void draw_command(struct lapse_out *out, const struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_ACQUIRE:
    case LAPSE_VERB_EXTEND:
    case LAPSE_VERB_RELEASE:
        draw_lease(out, command);
        break;
    case LAPSE_VERB_SESSION:
    case LAPSE_VERB_KEEPALIVE:
    case LAPSE_VERB_CLOSE:
        put_bytes(out, command->key);
        lapse_out_text(out, " owner ");
        put_bytes(out, command->u.session.owner);
        if (command->u.session.span.ns != 0) {
            lapse_out_text(out, " for ");
            put_span(out, command->u.session.span.ns);
        }
        break;
    case LAPSE_VERB_BATCH:
        for (size_t i = 0; i < command->u.batch.count; i++) {
            const struct lapse_command *member = &command->u.batch.commands[i];
            lapse_out_format(out, "%s%s ", i == 0 ? "" : ", ", lapse_call_word((int)member->verb));
            draw_command(out, member);
        }
        break;
    default:
        put_bytes(out, command->bucket);
        lapse_out_text(out, command->bucket.len > 0 && command->key.len > 0 ? "/" : "");
        put_bytes(out, command->key);
        draw_write(out, command);
        break;
    }
}

static void draw_lease(struct lapse_out *out, const struct lapse_command *command) {
    put_bytes(out, command->key);
    lapse_out_text(out, " owner ");
    put_bytes(out, command->u.lease.owner);
    if (command->u.lease.session.len > 0) {
        lapse_out_text(out, " session ");
        put_bytes(out, command->u.lease.session);
    } else if (command->verb != LAPSE_VERB_RELEASE) {
        lapse_out_text(out, " for ");
        put_span(out, command->u.lease.span.ns);
    }
    if (command->verb == LAPSE_VERB_ACQUIRE && command->u.lease.durability == LAPSE_EPHEMERAL) {
        lapse_out_text(out, " ephemeral");
    }
    if (command->u.lease.has_token) {
        lapse_out_format(out, " token %lld", (long long)command->u.lease.token);
    }
}

static void draw_write(struct lapse_out *out, const struct lapse_command *command) {
    switch (command->verb) {
    case LAPSE_VERB_OPEN:
    case LAPSE_VERB_ALTER:
        draw_config(out, &command->u.open.config);
        return;
    case LAPSE_VERB_GET:
    case LAPSE_VERB_ENTRY:
    case LAPSE_VERB_HAS:
        lapse_out_text(out, command->u.read.peek ? " peek" : "");
        if (command->u.read.has_revision) {
            lapse_out_format(out, " rev %lld", (long long)command->u.read.revision);
        }
        return;
    case LAPSE_VERB_LIST:
    case LAPSE_VERB_ALL:
    case LAPSE_VERB_COUNT:
    case LAPSE_VERB_HISTORY:
        draw_page(out, command);
        return;
    case LAPSE_VERB_DELETE:
    case LAPSE_VERB_PURGE:
    case LAPSE_VERB_PERSIST:
        break;
    case LAPSE_VERB_SET:
    case LAPSE_VERB_CREATE:
    case LAPSE_VERB_UPDATE:
        lapse_out_text(out, " value ");
        put_bytes(out, command->u.write.value);
        draw_term(out, &command->u.write.term);
        break;
    case LAPSE_VERB_EXPIRE:
        draw_term(out, &command->u.write.term);
        break;
    default:
        return;
    }
    if (command->u.write.has_if_version) {
        lapse_out_format(out, " if_version %lld", (long long)command->u.write.if_version);
    }
}

static void draw_config(struct lapse_out *out, const struct lapse_bucket_config *config) {
    draw_term(out, &config->term);
    if (config->markers.ns > 0) {
        lapse_out_text(out, " markers ");
        put_span(out, config->markers.ns);
    }
    if (config->history > 1) {
        lapse_out_format(out, " history %u", (unsigned)config->history);
    }
    if (config->first_revision > 1) {
        lapse_out_format(out, " first_revision %lld", (long long)config->first_revision);
    }
}

static void draw_page(struct lapse_out *out, const struct lapse_command *command) {
    if (command->u.page.has_after) {
        lapse_out_text(out, " after ");
        put_bytes(out, command->u.page.after);
    }
    if (command->u.page.limit > 0) {
        lapse_out_format(out, " limit %zu", command->u.page.limit);
    }
}

static void draw_term(struct lapse_out *out, const struct lapse_term *term) {
    char date[LAPSE_TIME_TEXT_MAX];
    if ((term->given & LAPSE_TERM_TTL) != 0) {
        lapse_out_text(out, " ttl ");
        put_span(out, term->ttl.ns);
    }
    if ((term->given & LAPSE_TERM_IDLE) != 0) {
        lapse_out_text(out, " idle ");
        put_span(out, term->idle.ns);
    }
    if ((term->given & LAPSE_TERM_IDLE) != 0 && term->cap.ns != 0) {
        lapse_out_text(out, " cap ");
        put_span(out, term->cap.ns);
    }
    if ((term->given & LAPSE_TERM_EXPIRES_AT) != 0) {
        lapse_out_format(out, " expires_at %s", lapse_wall_print(term->expires_at, date));
    }
    if ((term->given & LAPSE_TERM_SESSION) != 0) {
        lapse_out_text(out, " session ");
        put_bytes(out, term->session);
    }
    lapse_out_text(out, (term->given & LAPSE_TERM_KEEP) != 0 ? " term keep" : "");
}

static void draw_reply(struct lapse_out *out, const struct lapse_history_event *event) {
    lapse_out_format(out, "%s: ", lapse_call_word(event->u.reply.verb));
    lapse_answer_draw(out, event->u.reply.verb, &event->u.reply.answer);
    if (!event->u.reply.sent) {
        lapse_out_text(out, ", not sent");
    }
}

static void draw_fault(struct lapse_out *out, const struct lapse_setup *setup,
                       const struct lapse_history_event *event) {
    static const char *const disks[] = {"",      ": syncs fail", ": syncs lie", ": syncs hang",
                                        ": crashes tear", ": full",       ": bits flip"};
    lapse_out_text(out, lapse_fault_word(event->u.fault.kind));
    if (event->u.fault.node >= 0) {
        lapse_out_text(out, " of ");
        put_bytes(out, setup->nodes[event->u.fault.node]);
    }
    if (event->u.fault.from.kind != 0) {
        lapse_out_text(out, " ");
        draw_link(out, setup, event);
    }
    lapse_out_text(out, event->u.fault.machine ? " with its machine" : "");
    lapse_out_text(out, event->u.fault.keeps ? " with its memory kept" : "");
    if (event->u.fault.task > 0) {
        lapse_out_format(out, " task %d", (int)event->u.fault.task);
    }
    lapse_out_text(out, disks[event->u.fault.disk]);
    if (event->u.fault.has_until) {
        lapse_out_text(out, " until ");
        put_span(out, event->u.fault.until.ns);
    }
}

/* a-n1 both ways, a>n1 one way. */
static void draw_link(struct lapse_out *out, const struct lapse_setup *setup,
                      const struct lapse_history_event *event) {
    put_bytes(out, party_name(setup, event->u.fault.from));
    lapse_out_text(out, event->u.fault.both ? "-" : ">");
    put_bytes(out, party_name(setup, event->u.fault.to));
}

static void draw_message(struct lapse_out *out, const struct lapse_setup *setup,
                         const struct lapse_history_event *event) {
    static const char *const fates[] = {
        "", "lost", "late", "twice", "forged", "arrives a second time"};
    bool watch = event->call == 0;
    lapse_out_text(out, watch ? "event" : event->u.message.reply ? "reply" : "request");
    lapse_out_text(out, " ");
    put_bytes(out, party_name(setup, event->u.message.from));
    lapse_out_text(out, ">");
    put_bytes(out, party_name(setup, event->u.message.to));
    lapse_out_format(out, " %s", fates[event->u.message.fate]);
    if (event->u.message.latency.ns > 0) {
        lapse_out_text(out, " by ");
        put_span(out, event->u.message.latency.ns);
    }
    if (event->u.message.fate == LAPSE_MESSAGE_FORGED) {
        lapse_out_format(out, ": %s", lapse_status_word(event->u.message.status));
    }
}

static void draw_belief(struct lapse_out *out, const struct lapse_history_event *event) {
    static const char *const why[] = {"granted", "denied",  "released",
                                      "stopped", "crashed", "deadline"};
    put_bytes(out, event->u.belief.grant.name);
    lapse_out_format(out, " token %lld: %s", (long long)event->u.belief.grant.token,
                     why[event->u.belief.why]);
    if (event->u.belief.has_deadline) {
        lapse_out_text(out, ", deadline ");
        put_span(out, event->u.belief.deadline.ns);
    }
}

static void draw_resource(struct lapse_out *out, const struct lapse_setup *setup,
                          const struct lapse_history_event *event) {
    put_bytes(out, setup->resources[event->u.resource.resource].name);
    lapse_out_format(out, ": %s %s", lapse_call_word(event->u.resource.verb),
                     lapse_answer_word(event->u.resource.verb, event->u.resource.status));
    if (event->u.resource.has_token) {
        lapse_out_format(out, " token %lld", (long long)event->u.resource.token);
    }
    if (event->u.resource.has_highest) {
        lapse_out_format(out, ", highest %lld", (long long)event->u.resource.highest);
    }
}

static void draw_probe(struct lapse_out *out, const struct lapse_result_view *view,
                       const struct lapse_history_event *event) {
    const struct lapse_probe *probe = &event->u.probe;
    const struct lapse_case *the_case = view->the_case;
    if (event->step >= 0 && (size_t)event->step < the_case->check_count) {
        lapse_out_format(out, "%s ", the_case->checks[event->step].verb);
    }
    put_bytes(out, probe->bucket);
    lapse_out_text(out, probe->bucket.len > 0 ? "/" : "");
    put_bytes(out, probe->name);
    for (size_t i = 0; i < probe->answer_count; i++) {
        lapse_out_format(out, "%s %s: ", i == 0 ? "" : ",",
                         lapse_call_word(probe->answers[i].verb));
        lapse_answer_draw(out, probe->answers[i].verb, &probe->answers[i].answer);
    }
    for (size_t i = 0; i < probe->who_count; i++) {
        lapse_out_text(out, i == 0 ? ": " : ", ");
        put_bytes(out, the_case->setup->actors[probe->who[i]].name);
    }
    for (size_t i = 0; i < probe->event_count; i++) {
        lapse_out_text(out, i == 0 ? ": " : ", ");
        draw_bucket_event(out, &probe->events[i]);
    }
    if (probe->kind == LAPSE_PROBE_ROWS) {
        lapse_out_format(out, ": %lld", (long long)probe->row_count);
    }
    if (probe->kind == LAPSE_PROBE_STOPPED) {
        lapse_out_text(out, probe->flag ? ": yes" : ": no");
    }
}

static void draw_bucket_event(struct lapse_out *out, const struct lapse_event *event) {
    static const char *const kinds[] = {"", "put", "delete", "purge", "expired", "gap"};
    static const char *const whys[] = {"", "own", "default", "idle", "session"};
    lapse_out_format(out, "%s ", kinds[event->kind]);
    put_bytes(out, event->bucket);
    lapse_out_text(out, event->bucket.len > 0 ? "/" : "");
    put_bytes(out, event->key);
    lapse_out_format(out, " rev %lld", (long long)event->revision);
    if (event->why != LAPSE_WHY_NONE) {
        lapse_out_format(out, " (%s)", whys[event->why]);
    }
}

static void draw_rest(struct lapse_out *out, const struct lapse_result_view *view,
                      const struct lapse_history_event *event) {
    const struct lapse_case *the_case = view->the_case;
    switch (event->kind) {
    case LAPSE_HISTORY_BEGIN:
        put_bytes(out, the_case->setup->scenario);
        break;
    case LAPSE_HISTORY_EMIT:
        draw_bucket_event(out, &event->u.emit.event);
        break;
    case LAPSE_HISTORY_DELIVER:
        draw_bucket_event(out, &event->u.deliver.event);
        break;
    case LAPSE_HISTORY_PROBE:
        draw_probe(out, view, event);
        break;
    case LAPSE_HISTORY_UNBOUND:
        if (event->u.unbound.slot >= 0 && (size_t)event->u.unbound.slot < the_case->slot_count) {
            lapse_out_format(out, "$");
            lapse_out_safe_text(out, the_case->slot_names[event->u.unbound.slot]);
        }
        break;
    case LAPSE_HISTORY_STEP:
        if (event->u.step.status < 0) {
            lapse_out_text(out, lapse_status_word(event->u.step.status));
            break;
        }
        lapse_out_text(out, "store ");
        put_span(out, event->u.step.store.ns);
        lapse_out_text(out, ", ");
        lapse_out_count(out, event->u.step.row_count, "row removed", "rows removed");
        break;
    case LAPSE_HISTORY_CLOCK:
        draw_clock(out, the_case->setup, event);
        break;
    case LAPSE_HISTORY_TENURE:
        put_bytes(out, the_case->setup->nodes[event->u.tenure.node]);
        lapse_out_text(out, event->u.tenure.machine ? ": opens on another boot, store "
                                                    : ": opens, store ");
        put_span(out, event->u.tenure.store.ns);
        lapse_out_text(out, ", wall ");
        draw_wall(out, &event->u.tenure.reading);
        break;
    case LAPSE_HISTORY_ROLE:
        draw_role(out, the_case->setup, event);
        break;
    case LAPSE_HISTORY_MESSAGE:
        draw_message(out, the_case->setup, event);
        break;
    case LAPSE_HISTORY_NOTE:
        put_bytes(out, event->u.note.text);
        break;
    case LAPSE_HISTORY_END:
        lapse_out_format(out, "state %016llx", (unsigned long long)event->u.end.state_digest);
        break;
    default:
        break;
    }
}

static void draw_role(struct lapse_out *out, const struct lapse_setup *setup,
                      const struct lapse_history_event *event) {
    bool leads = event->u.role.role == LAPSE_ROLE_LEADER;
    put_bytes(out, setup->nodes[event->u.role.node]);
    lapse_out_text(out, leads ? ": leads" : ": follows");
    if (event->u.role.epoch > 0) {
        lapse_out_format(out, ", epoch %lld", (long long)event->u.role.epoch);
    }
    if (event->u.role.index > 0) {
        lapse_out_format(out, ", index %lld", (long long)event->u.role.index);
    }
    if (event->u.role.digest.len > 0) {
        lapse_out_text(out, ", state ");
        put_bytes(out, event->u.role.digest);
    }
}

/* What is as on any clock is left out, but something is always said. */
static void draw_clock(struct lapse_out *out, const struct lapse_setup *setup,
                       const struct lapse_history_event *event) {
    const struct lapse_reading *before = &event->u.clock.before, *after = &event->u.clock.after;
    int64_t rate = event->u.clock.rate_ppb;
    bool moved = before->wall.ns != after->wall.ns;
    put_bytes(out, party_name(setup, event->u.clock.whose));
    lapse_out_text(out, ": ");
    draw_wall(out, before);
    if (moved) {
        lapse_out_text(out, " is set to ");
        draw_wall(out, after);
    }
    if (before->raw_ns != after->raw_ns) {
        lapse_out_text(out, ", raw ");
        put_span(out, after->raw_ns);
    }
    if (rate != 0 || !moved) {
        lapse_out_format(out, rate % 1000 == 0 ? ", rate %+lldppm" : ", rate %+lldppb",
                         (long long)(rate % 1000 == 0 ? rate / 1000 : rate));
    }
    lapse_out_text(out, event->u.clock.stopped ? ", monotonic and boot stand still" : "");
    if (event->u.clock.tick_ns > 1) {
        lapse_out_text(out, ", ticks of ");
        put_span(out, event->u.clock.tick_ns);
    }
}

static void draw_wall(struct lapse_out *out, const struct lapse_reading *reading) {
    char date[LAPSE_TIME_TEXT_MAX];
    lapse_out_text(out, lapse_wall_print(reading->wall, date));
}

static struct lapse_bytes party_name(const struct lapse_setup *setup, struct lapse_party party) {
    switch (party.kind) {
    case LAPSE_PARTY_ACTOR:
        return setup->actors[party.index].name;
    case LAPSE_PARTY_NODE:
        return setup->nodes[party.index];
    case LAPSE_PARTY_RESOURCE:
        return setup->resources[party.index].name;
    }
    return (struct lapse_bytes){NULL, 0};
}

static void put_bytes(struct lapse_out *out, struct lapse_bytes bytes) {
    (void)lapse_out_safe(out, (const char *)bytes.data, bytes.len, SHORT_TEXT);
}

static void put_span(struct lapse_out *out, int64_t ns) {
    char buf[LAPSE_TIME_TEXT_MAX];
    lapse_out_text(out, lapse_span_print((struct lapse_span){ns}, buf));
}

/* The verb that a decision answers: its INVOKE lies a little before it. */
static int applied_verb(const struct lapse_result_view *view,
                        const struct lapse_history_event *event) {
    for (int64_t i = event->seq - 1; event->call > 0 && i >= 0; i--) {
        const struct lapse_history_event *before = lapse_history_at(view->history, (size_t)i);
        if (before->kind == LAPSE_HISTORY_INVOKE && before->call == event->call) {
            return before->u.invoke.request.verb;
        }
    }
    return LAPSE_VERB_NONE;
}
