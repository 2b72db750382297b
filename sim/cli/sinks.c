/* Reports on their way out: to stdout, or to files. */
#include "sinks.h"
#include "output.h"

#include <stdio.h>
#include <string.h>

enum { FILE_COLUMNS_MAX = 80 };
static const char what[] = "the report";

static bool sink_write(const struct lapse_cli_sink *sink, const struct lapse_out *whole);

/* Columns for the names of files, so that what stands behind them is aligned. */
static int file_columns(const struct lapse_cli_selection *selection) {
    size_t widest = 0;
    for (size_t i = 0; i < selection->count; i++) {
        size_t len = strlen(selection->targets[i].path);
        widest = len > widest && len <= FILE_COLUMNS_MAX ? len : widest;
    }
    return (int)widest;
}

bool lapse_cli_sinks_check(const struct lapse_cli_options *options) {
    for (size_t i = 0; i < options->report_count; i++) {
        const char *path = options->reports[i].path;
        struct lapse_error err = {0};
        if (path != NULL && lapse_cli_output_check(options, what, path, &err) != LAPSE_OK) {
            (void)lapse_cli_complain(0, "--report %s", err.message);
            return false;
        }
    }
    return true;
}

void lapse_cli_sinks_open(const struct lapse_cli_options *options,
                          const struct lapse_cli_selection *selection,
                          struct lapse_cli_sinks *ret) {
    memset(ret, 0, sizeof *ret);
    bool out_taken = false;
    for (size_t i = 0; i < options->report_count; i++) {
        out_taken = out_taken || options->reports[i].path == NULL;
    }
    bool pretty = !out_taken && options->report_count < LAPSE_CLI_REPORTS_MAX;
    if (pretty) {
        ret->items[ret->count++].format = lapse_format_find("pretty");
    }
    for (size_t i = 0; i < options->report_count; i++) {
        ret->items[ret->count].format = options->reports[i].format;
        ret->items[ret->count++].path = options->reports[i].path;
    }
    for (size_t i = 0; i < ret->count; i++) {
        struct lapse_cli_sink *sink = &ret->items[i];
        lapse_out_init(&sink->body, lapse_alloc_libc());
        sink->style = lapse_cli_style(options);
        sink->style.file_columns = file_columns(selection);
        if (sink->path != NULL) {
            sink->style.color = false;
            sink->style.width = LAPSE_CLI_WIDTH;
        }
    }
}

void lapse_cli_sinks_close(struct lapse_cli_sinks *sinks) {
    for (size_t i = 0; i < sinks->count; i++) {
        lapse_out_free(&sinks->items[i].body);
    }
}

bool lapse_cli_sinks_write(struct lapse_cli_sinks *sinks, const struct lapse_totals *totals,
                           const char *replay) {
    bool written = true;
    for (size_t i = 0; i < sinks->count; i++) {
        struct lapse_cli_sink *sink = &sinks->items[i];
        struct lapse_out whole;
        lapse_out_init(&whole, lapse_alloc_libc());
        sink->format->begin(&whole, &sink->style, totals);
        lapse_out_bytes(&whole, sink->body.text, sink->body.len);
        sink->format->end(&whole, &sink->style, totals, replay);
        lapse_out_trim(&whole);
        whole.failed = whole.failed || sink->body.failed;
        written = sink_write(sink, &whole) && written;
        lapse_out_free(&whole);
    }
    return written;
}

static bool sink_write(const struct lapse_cli_sink *sink, const struct lapse_out *whole) {
    if (whole->failed) {
        (void)lapse_cli_complain(0, "memory ran out while writing the %s report",
                                 sink->format->name);
        return false;
    }
    if (whole->len == 0) {
        return true;
    }
    if (sink->path == NULL) {
        return fwrite(whole->text, 1, whole->len, stdout) == whole->len;
    }
    struct lapse_error err = {0};
    if (lapse_cli_output_write(what, sink->path, whole->text, whole->len, &err) != LAPSE_OK) {
        (void)lapse_cli_complain(0, "--report %s", err.message);
        return false;
    }
    return true;
}
