/* What a plan is made of: a row for each field of each struct that one can reach. */
#include "equal.h"

#include <limits.h>

#define SIZE_OF(owner, member) sizeof(((owner *)NULL)->member)
#define FIELD(owner, member, held, type, count) \
    { #member, offsetof(owner, member), SIZE_OF(owner, member), held, type, count }
#define HERE(owner, member, type) FIELD(owner, member, LAPSE_HELD_HERE, &type, 0)
#define BEHIND(owner, member, type) FIELD(owner, member, LAPSE_HELD_BEHIND, &type, 0)
#define LIST(owner, member, type, number) \
    FIELD(owner, member, LAPSE_HELD_LIST, &type, offsetof(owner, number))
#define NOT(owner, member) FIELD(owner, member, LAPSE_HELD_NOT, NULL, 0)
#define LEAF(name, type, leaf) \
    static const struct lapse_shape_type name = {#name, sizeof(type), leaf, NULL, 0}
#define STRUCT(name, type, fields)                                                             \
    static const struct lapse_shape_type name = {#name, sizeof(type), LAPSE_LEAF_NONE, fields, \
                                                 sizeof(fields) / sizeof((fields)[0])}

LEAF(boolean, bool, LAPSE_LEAF_BOOL);
LEAF(u8, uint8_t, LAPSE_LEAF_U8);
LEAF(i32, int32_t, LAPSE_LEAF_I32);
LEAF(u32, uint32_t, LAPSE_LEAF_U32);
LEAF(i64, int64_t, LAPSE_LEAF_I64);
LEAF(size, size_t, LAPSE_LEAF_SIZE);
LEAF(text_leaf, const char *, LAPSE_LEAF_TEXT);
LEAF(bytes_leaf, struct lapse_bytes, LAPSE_LEAF_BYTES);

/* ---- Texts and operands. */
#define T struct lapse_slot_ref
static const struct lapse_shape_field slot_ref_fields[] = {
    HERE(T, base, i32), HERE(T, indexed, boolean), HERE(T, field, i32)};
STRUCT(slot_ref, T, slot_ref_fields);
#undef T
#define T struct lapse_text_part
static const struct lapse_shape_field text_part_fields[] = {
    HERE(T, kind, i32), HERE(T, literal, bytes_leaf), HERE(T, slot, slot_ref)};
STRUCT(text_part, T, text_part_fields);
#undef T
#define T struct lapse_text
static const struct lapse_shape_field text_fields[] = {HERE(T, part_count, size),
                                                       LIST(T, parts, text_part, part_count)};
STRUCT(text, T, text_fields);
#undef T
#define T struct lapse_operand
static const struct lapse_shape_field operand_fields[] = {
    HERE(T, kind, i32), HERE(T, number, i64), HERE(T, text, text), HERE(T, slot, slot_ref)};
STRUCT(operand, T, operand_fields);
#undef T

/* ---- Expectations and patterns. */
#define T struct lapse_compare
static const struct lapse_shape_field compare_fields[] = {
    HERE(T, field, i32), HERE(T, op, i32), HERE(T, operand_count, size),
    LIST(T, operands, operand, operand_count), NOT(T, place)};
STRUCT(compare, T, compare_fields);
#undef T
#define T struct lapse_event_expect
static const struct lapse_shape_field event_fields[] = {
    HERE(T, kind, i32),        HERE(T, bucket, text),
    HERE(T, key, text),        HERE(T, has_at, boolean),
    HERE(T, has_rev, boolean), HERE(T, has_why, boolean),
    HERE(T, at, operand),      HERE(T, rev, operand),
    HERE(T, why, i32),         NOT(T, place)};
STRUCT(event, T, event_fields);
#undef T
#define T struct lapse_expect_word
static const struct lapse_shape_field word_fields[] = {
    HERE(T, is_value, boolean), HERE(T, status, i32), HERE(T, value, operand)};
STRUCT(word, T, word_fields);
#undef T
#define T struct lapse_expect
static const struct lapse_shape_field expect_fields[] = {
    HERE(T, kind, i32),           NOT(T, place),
    HERE(T, word_count, size),    LIST(T, words, word, word_count),
    HERE(T, operand_count, size), LIST(T, operands, operand, operand_count),
    HERE(T, compare_count, size), LIST(T, compares, compare, compare_count),
    HERE(T, actor_count, size),   LIST(T, actors, i32, actor_count),
    HERE(T, event_count, size),   LIST(T, events, event, event_count)};
STRUCT(expect, T, expect_fields);
#undef T
#define T struct lapse_true_time
static const struct lapse_shape_field true_time_fields[] = {HERE(T, ns, i64)};
STRUCT(true_time, T, true_time_fields);
#undef T
#define T struct lapse_span
static const struct lapse_shape_field span_fields[] = {HERE(T, ns, i64)};
STRUCT(span, T, span_fields);
#undef T
#define T struct lapse_wall
static const struct lapse_shape_field wall_fields[] = {HERE(T, ns, i64)};
STRUCT(wall, T, wall_fields);
#undef T
#define T struct lapse_pattern
static const struct lapse_shape_field pattern_fields[] = {
    HERE(T, kind, i32),        HERE(T, key_lock, boolean), HERE(T, bucket, bytes_leaf),
    HERE(T, name, bytes_leaf), HERE(T, subject, i32),      HERE(T, by, i32),
    HERE(T, has_at, boolean),  HERE(T, at, true_time),     NOT(T, place)};
STRUCT(pattern, T, pattern_fields);
#undef T
#define T struct lapse_measure
static const struct lapse_shape_field measure_fields[] = {
    HERE(T, name, bytes_leaf), HERE(T, kind, i32),        HERE(T, from, pattern),
    HERE(T, to, pattern),      HERE(T, pattern, pattern), NOT(T, place)};
STRUCT(measure, T, measure_fields);
#undef T
#define T struct lapse_step_check
static const struct lapse_shape_field check_fields[] = {NOT(T, place),
                                                        NOT(T, who),
                                                        HERE(T, contract, text_leaf),
                                                        HERE(T, verb, text_leaf),
                                                        NOT(T, object),
                                                        BEHIND(T, expect, expect),
                                                        HERE(T, written, boolean),
                                                        BEHIND(T, need, expect),
                                                        HERE(T, handled, u32),
                                                        HERE(T, must_run, boolean),
                                                        BEHIND(T, count, pattern),
                                                        HERE(T, measure, i32)};
STRUCT(check, T, check_fields);
#undef T

/* ---- What a store is told. */
#define T struct lapse_term
static const struct lapse_shape_field term_fields[] = {
    HERE(T, given, u32),       HERE(T, ttl, span), HERE(T, idle, span),
    HERE(T, expires_at, wall), HERE(T, cap, span), HERE(T, session, bytes_leaf)};
STRUCT(term, T, term_fields);
#undef T
#define T struct lapse_bucket_config
static const struct lapse_shape_field config_fields[] = {
    HERE(T, term, term), HERE(T, markers, span), HERE(T, history, u32),
    HERE(T, first_revision, i64)};
STRUCT(config, T, config_fields);
#undef T

/* ---- Steps. */
#define T struct lapse_plan_call
static const struct lapse_shape_type call;
static const struct lapse_shape_field call_fields[] = {HERE(T, verb, i32),
                                                       HERE(T, bucket, i32),
                                                       HERE(T, bucket_name, text),
                                                       HERE(T, key, text),
                                                       HERE(T, key_lock, boolean),
                                                       HERE(T, resource, i32),
                                                       HERE(T, value, text),
                                                       HERE(T, has_value, boolean),
                                                       HERE(T, ttl, operand),
                                                       HERE(T, idle, operand),
                                                       HERE(T, expires_at, operand),
                                                       HERE(T, cap, operand),
                                                       HERE(T, keep, boolean),
                                                       HERE(T, session, text),
                                                       HERE(T, request, text),
                                                       HERE(T, rev, operand),
                                                       HERE(T, peek, boolean),
                                                       HERE(T, has_after, boolean),
                                                       HERE(T, after, text),
                                                       HERE(T, limit, size),
                                                       HERE(T, durability, i32),
                                                       HERE(T, batch_count, size),
                                                       LIST(T, batch, call, batch_count),
                                                       HERE(T, span, operand),
                                                       HERE(T, has_wait, boolean),
                                                       HERE(T, wait_ns, i64),
                                                       HERE(T, retry_ns, i64),
                                                       HERE(T, not_after, operand),
                                                       HERE(T, if_version, operand),
                                                       HERE(T, token, operand),
                                                       HERE(T, config, config),
                                                       HERE(T, from, i32),
                                                       HERE(T, watch, i32)};
STRUCT(call, T, call_fields);
#undef T
#define T struct lapse_plan_probe
static const struct lapse_shape_field probe_fields[] = {
    HERE(T, kind, i32),  HERE(T, verb, i32),  HERE(T, bucket, i32), HERE(T, key_lock, boolean),
    HERE(T, name, text), HERE(T, actor, i32), HERE(T, watch, i32)};
STRUCT(probe, T, probe_fields);
#undef T
#define T struct lapse_party
static const struct lapse_shape_field party_fields[] = {HERE(T, kind, i32), HERE(T, index, i32)};
STRUCT(party, T, party_fields);
#undef T
#define T struct lapse_plan_clock
static const struct lapse_shape_field clock_fields[] = {
    HERE(T, whose, party),      HERE(T, has_wall, boolean), HERE(T, wall_ns, i64),
    HERE(T, has_to, boolean),   HERE(T, to, operand),       HERE(T, has_rate, boolean),
    HERE(T, rate_ppb, i64),     HERE(T, has_mono, boolean), HERE(T, mono_stop, boolean),
    HERE(T, has_tick, boolean), HERE(T, tick_ns, i64),      HERE(T, has_origin, boolean),
    HERE(T, origin_ns, i64)};
STRUCT(clock, T, clock_fields);
#undef T
#define T struct lapse_plan_link
static const struct lapse_shape_field link_fields[] = {
    HERE(T, from, party),         HERE(T, to, party),           HERE(T, both, boolean),
    HERE(T, latency_ns_min, i64), HERE(T, latency_ns_max, i64), HERE(T, loss_ppm, i32),
    HERE(T, duplicate_ppm, i32),  HERE(T, reorder, boolean)};
STRUCT(link, T, link_fields);
#undef T
#define T struct lapse_point
static const struct lapse_shape_field point_fields[] = {HERE(T, kind, i32), HERE(T, step, i32),
                                                        HERE(T, node, i32), HERE(T, nth, i64)};
STRUCT(point, T, point_fields);
#undef T
#define T struct lapse_plan_fault
static const struct lapse_shape_field fault_fields[] = {
    HERE(T, kind, i32),        HERE(T, point, point), HERE(T, ends, boolean),
    HERE(T, actor, i32),       HERE(T, node, i32),    HERE(T, task, i32),
    HERE(T, has_for, boolean), HERE(T, for_ns, i64),  HERE(T, machine, boolean),
    HERE(T, keeps, boolean),   HERE(T, factor, i32),  HERE(T, clock, clock),
    HERE(T, link, link),       HERE(T, disk, i32),    HERE(T, disk_nth, i64),
    HERE(T, disk_bits, i64)};
STRUCT(fault, T, fault_fields);
#undef T
#define T struct lapse_plan_loop
static const struct lapse_shape_field loop_fields[] = {
    HERE(T, gap, boolean),     HERE(T, period_ns, i64),        HERE(T, times, i64),
    HERE(T, until, i32),       HERE(T, until_statuses, u32),   HERE(T, until_ns, i64),
    HERE(T, body_count, size), LIST(T, body, i32, body_count), HERE(T, beside, boolean),
    HERE(T, loop, i32)};
STRUCT(loop, T, loop_fields);
#undef T
#define T struct lapse_plan_await
static const struct lapse_shape_field await_fields[] = {
    HERE(T, kind, i32),   HERE(T, slot, slot_ref), HERE(T, event, i32),
    HERE(T, bucket, i32), HERE(T, key, text),      HERE(T, still, operand)};
STRUCT(await, T, await_fields);
#undef T
#define T struct lapse_plan_operator
static const struct lapse_shape_field act_fields[] = {HERE(T, verb, i32), HERE(T, node, i32),
                                                      HERE(T, lease, text), HERE(T, copy, i32),
                                                      HERE(T, restored, boolean)};
STRUCT(act, T, act_fields);
#undef T
#define T struct lapse_when
static const struct lapse_shape_field when_fields[] = {HERE(T, kind, i32), HERE(T, ns, i64),
                                                       HERE(T, jitter_ns, i64)};
STRUCT(when, T, when_fields);
#undef T
#define T struct lapse_plan_message
static const struct lapse_shape_field message_fields[] = {HERE(T, kind, i32), HERE(T, ns, i64)};
STRUCT(message, T, message_fields);
#undef T
#define T struct lapse_action
static const struct lapse_shape_field action_fields[] = {HERE(T, kind, i32),
                                                         HERE(T, again_ns, i64)};
STRUCT(action, T, action_fields);
#undef T
#define T struct lapse_handler
static const struct lapse_shape_field handler_fields[] = {HERE(T, statuses, u32),
                                                          HERE(T, action, action)};
STRUCT(handler, T, handler_fields);
#undef T

/* What a step is, by its kind. Each is an only field, so that a path names it. */
#define T struct lapse_plan_step
#define MEMBER(member, type) \
    { #member, 0, SIZE_OF(T, u.member), LAPSE_HELD_HERE, &type, 0 }
static const struct lapse_shape_field step_choice[] = {
    [LAPSE_STEP_CALL] = MEMBER(call, call),
    [LAPSE_STEP_WORK] = MEMBER(work, operand),
    [LAPSE_STEP_AWAIT] = MEMBER(await, await),
    [LAPSE_STEP_LOOP] = MEMBER(loop, loop),
    [LAPSE_STEP_PROBE] = MEMBER(probe, probe),
    [LAPSE_STEP_FAULT] = MEMBER(fault, fault),
    [LAPSE_STEP_OPERATOR] = MEMBER(operator_act, act),
    [LAPSE_STEP_PROGRAM] = MEMBER(program, i32),
};
STRUCT(step_kinds, T, step_choice);
static const struct lapse_shape_field step_fields[] = {
    HERE(T, kind, i32),
    HERE(T, when, when),
    HERE(T, actor, i32),
    HERE(T, loop, i32),
    HERE(T, times, i32),
    HERE(T, has_save, boolean),
    HERE(T, save, slot_ref),
    HERE(T, has_timeout, boolean),
    HERE(T, timeout_ns, i64),
    HERE(T, request, message),
    HERE(T, reply, message),
    HERE(T, forged, boolean),
    HERE(T, forged_status, i32),
    HERE(T, nowait, boolean),
    HERE(T, has_under, boolean),
    HERE(T, under, slot_ref),
    HERE(T, handler_count, size),
    LIST(T, handlers, handler, handler_count),
    BEHIND(T, need, expect),
    HERE(T, need_else, action),
    FIELD(T, u, LAPSE_HELD_CHOICE, &step_kinds, offsetof(T, kind))};
STRUCT(step, T, step_fields);
#undef T

/* ---- The whole. */
#define T struct lapse_plan_task
static const struct lapse_shape_field task_fields[] = {
    HERE(T, actor, i32), HERE(T, name, bytes_leaf), HERE(T, from_steps, boolean),
    HERE(T, step_count, size), LIST(T, steps, i32, step_count)};
STRUCT(task, T, task_fields);
#undef T
#define T struct lapse_plan_with
static const struct lapse_shape_field with_fields[] = {
    HERE(T, name, bytes_leaf), HERE(T, number, operand), HERE(T, text, text)};
STRUCT(with, T, with_fields);
#undef T
#define T struct lapse_plan_program
static const struct lapse_shape_field program_fields[] = {
    HERE(T, actor, i32), HERE(T, name, bytes_leaf), NOT(T, place), HERE(T, with_count, size),
    LIST(T, with, with, with_count)};
STRUCT(program, T, program_fields);
#undef T
#define T struct lapse_plan_chaos
static const struct lapse_shape_field chaos_fields[] = {HERE(T, on, boolean),
                                                        HERE(T, stop_at_ns, i64),
                                                        HERE(T, pause_count, size),
                                                        LIST(T, pause_who, party, pause_count),
                                                        HERE(T, pause_ns_min, i64),
                                                        HERE(T, pause_ns_max, i64),
                                                        HERE(T, crashes, i32),
                                                        HERE(T, down_ns_max, i64),
                                                        HERE(T, loss_ppm, i32),
                                                        HERE(T, duplicate_ppm, i32),
                                                        HERE(T, cuts, boolean),
                                                        HERE(T, reorder, boolean),
                                                        HERE(T, latency_ns_max, i64),
                                                        HERE(T, wall_ns, i64),
                                                        HERE(T, rate_ppb, i64),
                                                        HERE(T, suspend, boolean),
                                                        HERE(T, machine, boolean),
                                                        HERE(T, starve, boolean),
                                                        HERE(T, slow, boolean),
                                                        HERE(T, freeze, boolean),
                                                        HERE(T, disk, u32)};
STRUCT(chaos, T, chaos_fields);
#undef T
#define T struct lapse_plan_explore
static const struct lapse_shape_field explore_fields[] = {
    HERE(T, on, boolean),          HERE(T, all, boolean),   HERE(T, clients, i32),
    HERE(T, span_ns, i64),         HERE(T, grain_ns, i64),  HERE(T, careful, boolean),
    HERE(T, margin_ns, i64),       HERE(T, clock_ns, i64),  HERE(T, renew_ns, i64),
    HERE(T, fresh_owner, boolean), HERE(T, delay, boolean), HERE(T, loss, boolean),
    HERE(T, crash, boolean),       HERE(T, pause, boolean), HERE(T, faults_max, i32),
    HERE(T, resource, i32)};
STRUCT(explore, T, explore_fields);
#undef T
#define T struct lapse_setup_bucket
static const struct lapse_shape_field bucket_fields[] = {
    HERE(T, name, bytes_leaf), HERE(T, config, config), HERE(T, locks, boolean)};
STRUCT(bucket, T, bucket_fields);
#undef T
#define T struct lapse_setup_resource
static const struct lapse_shape_field resource_fields[] = {
    HERE(T, name, bytes_leaf), HERE(T, fenced, boolean),    HERE(T, lease, bytes_leaf),
    HERE(T, bar, i32),         HERE(T, not_after, boolean), HERE(T, once, boolean)};
STRUCT(resource, T, resource_fields);
#undef T
#define T struct lapse_setup_actor
static const struct lapse_shape_field actor_fields[] = {
    HERE(T, name, bytes_leaf), HERE(T, owner, bytes_leaf),   HERE(T, careful, boolean),
    HERE(T, margin, span),     HERE(T, timer_boot, boolean), HERE(T, program, bytes_leaf)};
STRUCT(actor, T, actor_fields);
#undef T
#define T struct lapse_setup_loop
static const struct lapse_shape_field setup_loop_fields[] = {
    HERE(T, actor, i32),  HERE(T, step, i32),       HERE(T, gap, boolean), HERE(T, period, span),
    HERE(T, retry, span), HERE(T, steady, boolean), HERE(T, slack, span)};
STRUCT(setup_loop, T, setup_loop_fields);
#undef T
#define T struct lapse_policies
static const struct lapse_shape_field policies_fields[] = {
    FIELD(T, value, LAPSE_HELD_ROW, &u8, LAPSE_POLICIES)};
STRUCT(policies, T, policies_fields);
#undef T
#define T struct lapse_setup
static const struct lapse_shape_field setup_fields[] = {
    HERE(T, scenario, bytes_leaf),
    HERE(T, profile, bytes_leaf),
    HERE(T, policies, policies),
    HERE(T, chaos, boolean),
    HERE(T, durable, boolean),
    HERE(T, sync, i32),
    HERE(T, epoch, wall),
    HERE(T, rate_ppb, i64),
    HERE(T, wall_bound, span),
    HERE(T, reap_bound, span),
    HERE(T, bucket_count, size),
    HERE(T, resource_count, size),
    HERE(T, actor_count, size),
    HERE(T, loop_count, size),
    HERE(T, node_count, size),
    LIST(T, buckets, bucket, bucket_count),
    LIST(T, resources, resource, resource_count),
    LIST(T, actors, actor, actor_count),
    LIST(T, loops, setup_loop, loop_count),
    LIST(T, nodes, bytes_leaf, node_count)};
STRUCT(setup, T, setup_fields);
#undef T
#define T struct lapse_case
static const struct lapse_shape_field case_fields[] = {
    NOT(T, setup), /* points at the plan's own */
    HERE(T, check_count, size), LIST(T, checks, check, check_count), HERE(T, slot_count, size),
    LIST(T, slot_names, text_leaf, slot_count), NOT(T, slot_places), HERE(T, violates_count, size),
    LIST(T, violates, text_leaf, violates_count), NOT(T, violates_places), NOT(T, promise_strict),
    HERE(T, sometimes_count, size), LIST(T, sometimes, pattern, sometimes_count),
    HERE(T, measure_count, size), LIST(T, measures, measure, measure_count), NOT(T, place),
    /* Of a history that was read from a file. */
    NOT(T, rules_only), NOT(T, no_decisions), NOT(T, event_place_count), NOT(T, event_places)};
STRUCT(case_type, T, case_fields);
#undef T
#define T struct lapse_plan
static const struct lapse_shape_field plan_fields[] = {NOT(T, file),
                                                       HERE(T, name, text_leaf),
                                                       NOT(T, line_begin),
                                                       NOT(T, line_first),
                                                       NOT(T, line_last),
                                                       NOT(T, row),
                                                       NOT(T, document),
                                                       HERE(T, step_count, size),
                                                       LIST(T, steps, step, step_count),
                                                       HERE(T, task_count, size),
                                                       LIST(T, tasks, task, task_count),
                                                       HERE(T, world_step_count, size),
                                                       LIST(T, world_steps, i32, world_step_count),
                                                       HERE(T, final_count, size),
                                                       LIST(T, finals, i32, final_count),
                                                       HERE(T, has_seed, boolean),
                                                       HERE(T, seed, i64),
                                                       HERE(T, has_run_for, boolean),
                                                       HERE(T, run_for_ns, i64),
                                                       HERE(T, watch_count, size),
                                                       LIST(T, watch_names, text_leaf, watch_count),
                                                       HERE(T, clock_count, size),
                                                       LIST(T, clocks, clock, clock_count),
                                                       HERE(T, program_count, size),
                                                       LIST(T, programs, program, program_count),
                                                       HERE(T, copy_count, i32),
                                                       HERE(T, chaos, chaos),
                                                       HERE(T, explore, explore),
                                                       HERE(T, store, i32),
                                                       NOT(T, compare_model),
                                                       NOT(T, promise_strict),
                                                       HERE(T, setup, setup),
                                                       HERE(T, the_case, case_type),
                                                       NOT(T, pool)};
STRUCT(plan, T, plan_fields);
#undef T

const struct lapse_shape_type *lapse_shape_plan(void) {
    return &plan;
}
