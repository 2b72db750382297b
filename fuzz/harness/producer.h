/* The producer: bytes as a row of records of one size, and each record as small numbers.
 *
 * A record is where an operation begins, so a mutator that moves whole records moves whole
 * operations (mutator.c). Behind the end of a record, and of all, every number is 0. */
#ifndef FUZZ_PRODUCER_H
#define FUZZ_PRODUCER_H

#include "lapse/base.h"

enum { LAPSE_PRODUCER_RECORD_BYTES = 16 };

struct lapse_producer {
    const unsigned char *data;
    size_t size;
    size_t at;   /* the next byte */
    size_t next; /* where the next record begins */
};

/* `data` is borrowed. Before the first record there is nothing to take. */
void lapse_producer_begin(struct lapse_producer *producer, const unsigned char *data, size_t size);
/* Goes on to the next record; false: there is none. */
bool lapse_producer_next(struct lapse_producer *producer);
/* Leaves bytes of the record out. */
void lapse_producer_skip(struct lapse_producer *producer, size_t bytes);
/* The next byte of the record as a number of 0..n-1 (0 < n <= 256). */
int lapse_producer_take(struct lapse_producer *producer, int n);
/* The next two bytes. */
int64_t lapse_producer_number(struct lapse_producer *producer);

#endif
