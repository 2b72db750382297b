/* The texts of `lapse help TOPIC`. */
#ifndef CLI_TOPICS_H
#define CLI_TOPICS_H

struct lapse_cli_topic {
    const char *name;
    const char *sentence;
    const char *text; /* NULL: made from the table of words */
};
/* Ends with an entry without a name. */
const struct lapse_cli_topic *lapse_cli_topics(void);

#endif
