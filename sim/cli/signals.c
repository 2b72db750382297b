/* Signals that are held back, so that a command tells what is known before it ends. */
#define _POSIX_C_SOURCE 200809L

#include <signal.h>

#include "explore.h"

int lapse_cli_interrupted(void) {
    sigset_t pending;
    if (sigpending(&pending) != 0) {
        return 0;
    }
    return sigismember(&pending, SIGINT) == 1    ? SIGINT
           : sigismember(&pending, SIGTERM) == 1 ? SIGTERM
                                                 : 0;
}

/* At the end those that have come are taken: they have had their effect. */
void lapse_cli_hold_signals(bool hold) {
    sigset_t signals;
    int taken;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGTERM);
    while (!hold && lapse_cli_interrupted() != 0) {
        (void)sigwait(&signals, &taken);
    }
    (void)sigprocmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL);
}
