/* Errors: a fixed struct in the caller's memory, so that reporting "memory ran out" needs none. */
#include "lapse/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum lapse_status lapse_error_set(struct lapse_error *err, enum lapse_status status,
                                  const char *format, ...) {
    if (err == NULL) {
        return status;
    }
    err->status = status;
    err->file[0] = '\0';
    err->line = 0;
    err->column = 0;
    err->span = 0;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->message, sizeof(err->message), format, args);
    va_end(args);
    return status;
}

void lapse_error_context(struct lapse_error *err, const char *format, ...) {
    if (err == NULL) {
        return;
    }
    char joined[LAPSE_ERROR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    int written = vsnprintf(joined, sizeof(joined), format, args);
    va_end(args);
    if (written < 0) {
        return;
    }
    size_t len = strlen(joined);
    /* The context comes first and whole; what is cut is the tail of the older text. */
    const char *glue = ": ";
    for (size_t i = 0; glue[i] != '\0' && len + 1 < sizeof(joined); i++) {
        joined[len++] = glue[i];
    }
    size_t room = sizeof(joined) - 1 - len;
    size_t kept = strlen(err->message) < room ? strlen(err->message) : room;
    memcpy(joined + len, err->message, kept);
    joined[len + kept] = '\0';
    memcpy(err->message, joined, len + kept + 1);
}
