/* The texts of `lapse help TOPIC`. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

#include <stdbool.h>

struct lapse_cli_topic {
    const char *name;
    const char *sentence;
    const char *text; /* NULL: `print` makes it from a table */
    void (*print)(void);
};
/* Ends with an entry without a name. */
const struct lapse_cli_topic *lapse_cli_topics(void);

/* words.c: every word of the language that runs; then all that the table says of one word, behind
 * an empty line if `more` (false: there is none of this name). */
void lapse_cli_words_print(void);
bool lapse_cli_word_print(const char *name, bool more);
/* profiles.c: each policy with its values, and what each profile has of them. */
void lapse_cli_profiles_print(void);
/* All on the policy called `name`, behind an empty line if `more`. False: there is none. */
bool lapse_cli_policy_print(const char *name, bool more);
/* programs.c: each client program with its words. */
void lapse_cli_programs_print(void);

#endif
