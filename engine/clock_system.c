/* The clock of the machine. It counts suspend, so that a lease does not outlive a closed lid, and
 * names the run of the machine by the id that the kernel draws at each boot. */
#define _POSIX_C_SOURCE 200809L

#include "lapse/clock.h"

#include <stdio.h>
#include <time.h>

enum { BOOT_BYTES = 64 };

static enum lapse_status read_system(void *ctx, struct lapse_reading *ret);
static uintptr_t read_boot(void);
static bool read_one(clockid_t id, int64_t *ret_ns);

lapse_clock lapse_clock_system(void) {
    /* A process never outlives its boot, so the id is read once; it is the clock's whole context,
     * which is why any thread may read it. 0 says that the machine does not tell. */
    return (lapse_clock){read_system, (void *)read_boot()};
}

static enum lapse_status read_system(void *ctx, struct lapse_reading *ret) {
    uintptr_t boot = (uintptr_t)ctx;
    int64_t raw = 0;
    int64_t wall = 0;
    if (boot == 0 || !read_one(CLOCK_BOOTTIME, &raw) || !read_one(CLOCK_REALTIME, &wall)) {
        return LAPSE_IO;
    }
    *ret = (struct lapse_reading){(uint64_t)boot, raw, {wall}};
    return LAPSE_OK;
}

/* A hash of the kernel's id; 0 where there is none. */
static uintptr_t read_boot(void) {
    unsigned char text[BOOT_BYTES];
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file == NULL) {
        return 0;
    }
    size_t len = fread(text, 1, sizeof(text), file);
    (void)fclose(file);
    if (len == 0) {
        return 0;
    }
    uintptr_t hash = (uintptr_t)lapse_bytes_hash((struct lapse_bytes){text, len});
    return hash == 0 ? 1 : hash;
}

static bool read_one(clockid_t id, int64_t *ret_ns) {
    struct timespec at;
    int64_t ns = 0;
    return clock_gettime(id, &at) == 0 && lapse_ns_mul((int64_t)at.tv_sec, LAPSE_NS_PER_S, &ns) &&
           lapse_ns_add(ns, (int64_t)at.tv_nsec, ret_ns);
}
