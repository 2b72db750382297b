/* Numbers out of bytes. */
#include "producer.h"

static unsigned take_byte(struct lapse_producer *producer);

void lapse_producer_begin(struct lapse_producer *producer, const unsigned char *data,
                          size_t size) {
    *producer = (struct lapse_producer){.data = data, .size = size};
}

bool lapse_producer_next(struct lapse_producer *producer) {
    producer->at = producer->next;
    if (producer->at >= producer->size) {
        return false;
    }
    producer->next += LAPSE_PRODUCER_RECORD_BYTES;
    return true;
}

void lapse_producer_skip(struct lapse_producer *producer, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        (void)take_byte(producer);
    }
}

int lapse_producer_take(struct lapse_producer *producer, int n) {
    LAPSE_ASSERT(n > 0 && n <= 256);
    return (int)(take_byte(producer) % (unsigned)n);
}

int64_t lapse_producer_number(struct lapse_producer *producer) {
    unsigned low = take_byte(producer);
    return (int64_t)(low | take_byte(producer) << 8);
}

static unsigned take_byte(struct lapse_producer *producer) {
    if (producer->at >= producer->next || producer->at >= producer->size) {
        return 0;
    }
    return producer->data[producer->at++];
}
