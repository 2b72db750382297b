/* What of a history event goes into its digest: every field, none of the padding. Private. */
#ifndef CONTRACTS_FEED_H
#define CONTRACTS_FEED_H

#include "contracts/history.h"

void lapse_feed_command(struct lapse_digest *digest, const struct lapse_command *command);
void lapse_feed_config(struct lapse_digest *digest, const struct lapse_bucket_config *config);
void lapse_feed_event(struct lapse_digest *digest, const struct lapse_history_event *event);

#endif
