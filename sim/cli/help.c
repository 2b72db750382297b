/* `lapse help [TOPIC]`: topics, commands, and (words.c) words of the scenario language. */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "scenarios/load.h"
#include "contracts/nearest.h"
#include "lapse/policy.h"
#include "topics.h"

static int help_all(void);
static bool help_topic(const char *name);
static const char *nearest(const char *name);

int lapse_cli_help(const struct lapse_cli_options *options) {
    if (options->path_count == 0) {
        return help_all();
    }
    const char *name = options->paths[0];
    const struct lapse_cli_command *command = lapse_cli_command_find(name);
    bool found = command != NULL;
    if (command != NULL) {
        lapse_cli_usage(command);
    } else {
        found = help_topic(name);
    }
    /* One name may be a command, a word in several places and a policy. */
    found = lapse_cli_word_print(name, found) || found;
    found = lapse_cli_policy_print(name, found) || found;
    if (found) {
        return LAPSE_EXIT_PASSED;
    }
    const char *near = nearest(name);
    return lapse_cli_complain(LAPSE_EXIT_USAGE, "no help on '%s'%s%s%s", name,
                              near != NULL ? ", did you mean '" : "", near != NULL ? near : "",
                              near != NULL ? "'?" : "; see lapse help");
}

static int help_all(void) {
    lapse_cli_usage(NULL);
    printf("\nTopics (lapse help TOPIC):\n");
    for (const struct lapse_cli_topic *topic = lapse_cli_topics(); topic->name != NULL; topic++) {
        printf("  %-11s %s\n", topic->name, topic->sentence);
    }
    printf("  WORD        any word of the scenario language: lapse help acquire\n");
    printf("  POLICY      any policy of a profile: lapse help if_version\n");
    return LAPSE_EXIT_PASSED;
}

static bool help_topic(const char *name) {
    for (const struct lapse_cli_topic *topic = lapse_cli_topics(); topic->name != NULL; topic++) {
        if (strcmp(topic->name, name) != 0) {
            continue;
        }
        if (topic->text != NULL) {
            printf("%s", topic->text);
        } else {
            topic->print();
        }
        return true;
    }
    return false;
}

static const char *nearest(const char *name) {
    size_t count;
    struct lapse_nearest near;
    lapse_nearest_begin(&near, name);
    for (const struct lapse_cli_topic *topic = lapse_cli_topics(); topic->name != NULL; topic++) {
        lapse_nearest_offer(&near, topic->name);
    }
    const struct lapse_word *words = lapse_word_table(&count);
    for (size_t i = 0; i < count; i++) {
        lapse_nearest_offer(&near, words[i].word);
    }
    for (int policy = 0; policy < LAPSE_POLICIES; policy++) {
        lapse_nearest_offer(&near, lapse_policy_word((enum lapse_policy)policy));
    }
    return near.best;
}
