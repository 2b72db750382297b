/* Short help, made from the tables: at most 24 lines of 80 columns, examples before options. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "args.h"

static bool takes(const struct lapse_cli_option *option, const char *command) {
    char name[32];
    (void)snprintf(name, sizeof name, " %s ", command);
    return strstr(option->commands, name) != NULL;
}

static void print_option(const struct lapse_cli_option *option) {
    char left[40];
    const char letter[] = {'-', option->letter, '\0'};
    (void)snprintf(left, sizeof left, "%s%s%s%s%s%s", option->letter != 0 ? letter : "",
                   option->letter != 0 && option->name != NULL ? ", " : "",
                   option->name != NULL ? "--" : "", option->name != NULL ? option->name : "",
                   option->value != NULL && option->value[0] != '[' ? " " : "",
                   option->value != NULL ? option->value : "");
    printf("  %-22s %s\n", left, option->sentence);
}

static void print_program(void) {
    printf("lapse: keys that expire, leases and fencing tokens, and a simulator that tries\n"
           "to break what relies on them.\n\n"
           "Usage: lapse COMMAND [options]\n\n"
           "Examples:\n"
           "  lapse run                      all scenarios under ./scenarios\n"
           "  lapse run scenarios/x.yaml     one file\n"
           "  lapse help scenarios           how a scenario is written\n\n"
           "Commands:\n");
    for (const struct lapse_cli_command *command = lapse_cli_commands(); command->name != NULL;
         command++) {
        printf("  %-10s %s\n", command->name, command->sentence);
    }
    printf("\nMore: lapse COMMAND -h\n");
}

void lapse_cli_usage(const struct lapse_cli_command *command) {
    if (command == NULL) {
        print_program();
        return;
    }
    printf("%s\n\nUsage: lapse %s%s%s [options]\n\nExamples:\n%s\nOptions:\n", command->sentence,
           command->name, command->arguments[0] != '\0' ? " " : "", command->arguments,
           command->examples);
    for (const struct lapse_cli_option *option = lapse_cli_options_table();
         option->sentence != NULL; option++) {
        if (takes(option, command->name)) {
            print_option(option);
        }
    }
    if (command->exits != NULL) {
        printf("\n%s", command->exits);
    }
}

int lapse_cli_complain(int code, const char *format, ...) {
    char message[LAPSE_ERROR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    /* Words of the command line come back here: they must not drive the terminal. */
    for (char *at = message; *at != '\0'; at++) {
        if ((unsigned char)*at < 0x20 || *at == 0x7F) {
            *at = '?';
        }
    }
    (void)fprintf(stderr, "lapse: %s\n", message);
    return code;
}
