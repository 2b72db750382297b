/* The skeleton of a document: its lines with times, names and values left out. Two shrunk documents
 * with one skeleton tell the same story. */
#ifndef FUZZ_SKELETON_H
#define FUZZ_SKELETON_H

#include <stddef.h>
#include <stdint.h>

/* Of a text's first document; of bytes that are none, of all of them. */
uint64_t lapse_skeleton_digest(const char *text, size_t bytes);

#endif
