/* The program: reads the command line and the surroundings, and hands both to a command. Nothing
 * below this file looks at the environment. */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE 1

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "args.h"

enum { WIDTH_MIN = 60 };

static bool descriptors_ready(void);
static int out_check(int code);
static void look_around(const char *name, struct lapse_cli_options *options);

int main(int argc, char **argv) {
    struct lapse_cli_options options;
    memset(&options, 0, sizeof options);
    struct lapse_error err = {0};
    char **paths = calloc((size_t)argc + 1, sizeof *paths);
    if (paths == NULL) {
        return lapse_cli_complain(LAPSE_EXIT_BUG, "memory ran out");
    }
    if (!descriptors_ready()) {
        free(paths);
        return LAPSE_EXIT_BUG;
    }
    look_around(argv[0], &options);
    int code = LAPSE_EXIT_PASSED;
    if (!lapse_cli_parse(argc, argv, paths, &options, &err)) {
        code = lapse_cli_complain(LAPSE_EXIT_USAGE, "%s", err.message);
    } else if (options.version) {
        code = lapse_cli_version(&options);
    } else if (options.help || options.command == NULL) {
        lapse_cli_usage(options.command);
    } else {
        code = options.command->run(&options);
    }
    free(paths);
    return out_check(code);
}

/* A standard stream that the caller closed would be the number of the next pipe or report that we
 * open. It is taken by one that cannot be written, so that writing to it is an error. */
static bool descriptors_ready(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd) {
            return false;
        }
    }
    return true;
}

static int out_check(int code) {
    bool before = ferror(stdout) != 0;
    if (fflush(stdout) == 0 && !before) {
        return code;
    }
    return lapse_cli_complain(LAPSE_EXIT_BUG, "stdout cannot be written%s%s", before ? "" : ": ",
                              before ? "" : strerror(errno));
}

struct lapse_style lapse_cli_style(const struct lapse_cli_options *options) {
    bool color = options->color == LAPSE_COLOR_ALWAYS ||
                 (options->color == LAPSE_COLOR_AUTO && options->around.out_terminal &&
                  !options->around.no_color);
    return (struct lapse_style){color, options->around.out_width, 0, options->verbose,
                               options->coverage};
}

static void look_around(const char *name, struct lapse_cli_options *options) {
    const char *no_color = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    options->around.no_color = (no_color != NULL && no_color[0] != '\0') || terminal == NULL ||
                               strcmp(terminal, "dumb") == 0;
    const char *commit = getenv("GITHUB_SHA");
    options->around.commit = commit != NULL ? commit : getenv("CI_COMMIT_SHA");
    options->around.out_terminal = isatty(STDOUT_FILENO) == 1;
    options->around.out_width = LAPSE_CLI_WIDTH;
    ssize_t len = readlink("/proc/self/exe", options->around.self, LAPSE_CLI_PATH_MAX - 1);
    if (len < 0) {
        (void)snprintf(options->around.self, LAPSE_CLI_PATH_MAX, "%s", name);
    }
    struct winsize size;
    if (options->around.out_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0) {
        int width = size.ws_col;
        options->around.out_width = width < WIDTH_MIN             ? WIDTH_MIN
                                    : width > LAPSE_CLI_WIDTH_MAX ? LAPSE_CLI_WIDTH_MAX
                                                                  : width;
    }
}
