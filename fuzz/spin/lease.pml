/* The plain lease protocol that `lapse explore` closes, for Spin: careful clients, calls that take
 * no time, clocks off by up to BOUND grains either way, no bound on time.
 *
 * It is a model, written by hand, where lapse asks its own engine: what it is for is to count and to
 * time the same thing by another program. Ends and deadlines are countdowns, as there; clients are
 * not sorted, so Spin sees each state once for each way to name them. Tokens are left out: in this
 * protocol a client's belief is about the live grant iff the store names it as the holder.
 *
 *   spin -a lease.pml && cc -O3 -w -DSAFETY -DNOCLAIM -o pan pan.c && ./pan -m1000000
 */
#ifndef CLIENTS
#define CLIENTS 3
#endif
#ifndef SPAN
#define SPAN 10
#endif
#ifndef BOUND
#define BOUND 1
#endif
#ifndef MARGIN
#define MARGIN 2
#endif
#define NOBODY CLIENTS

byte holder = NOBODY;  /* as the store has it */
byte left = 0;         /* of the grant, in grains */
byte rem[CLIENTS];     /* to each client's deadline, by its own clock; 0: it does not believe */
byte off[CLIENTS];     /* its clock less true time, plus BOUND */
byte who = 0, then = 0, moved = 0, acting = 0; /* of one move; 0 between moves */

/* No two clients may act at one instant. */
inline look() {
	who = 0; acting = 0;
	do
	:: who < CLIENTS ->
		acting = acting + (rem[who] > 0 -> 1 : 0);
		who++
	:: else -> break
	od;
	assert(acting <= 1);
	who = 0; acting = 0
}

/* What a grant with `left` to go gives: until its end, less the margin. */
#define FRESH (left > MARGIN -> left - MARGIN : 0)

/* Asks for the lease: granted if it is free; the live owner is told what is left; else refused. */
#define ACQUIRE(i) \
	atomic { rem[i] == 0 -> \
		if \
		:: holder == NOBODY -> holder = i; left = SPAN; rem[i] = FRESH \
		:: holder == i -> rem[i] = FRESH \
		:: else \
		fi; \
		look() }
#define EXTEND(i) \
	atomic { rem[i] > 0 -> \
		if \
		:: holder == i -> left = SPAN; rem[i] = FRESH \
		:: else -> rem[i] = 0 \
		fi; \
		look() }
#define RELEASE(i) \
	atomic { rem[i] > 0 -> \
		rem[i] = 0; \
		if \
		:: holder == i -> holder = NOBODY; left = 0 \
		:: else \
		fi; \
		look() }
#define CLIENT(i) \
	:: ACQUIRE(i) \
	:: EXTEND(i) \
	:: RELEASE(i)

/* A grain passes. Each clock then reads anything within its bound that does not lie before what it
 * read: `then` is its next offset. */
inline tick() {
	if
	:: left > 1 -> left--
	:: else -> left = 0; holder = NOBODY
	fi;
	who = 0;
	do
	:: who < CLIENTS ->
		then = (off[who] > 0 -> off[who] - 1 : 0);
		do
		:: then < 2 * BOUND -> then++
		:: break
		od;
		moved = then + 1 - off[who];
		rem[who] = (rem[who] > moved -> rem[who] - moved : 0);
		off[who] = then;
		who++
	:: else -> break
	od;
	who = 0; then = 0; moved = 0;
	look()
}

active proctype world() {
	atomic {
		do
		:: who < CLIENTS -> off[who] = BOUND; who++
		:: else -> break
		od;
		who = 0
	}
	do
	CLIENT(0)
#if CLIENTS > 1
	CLIENT(1)
#endif
#if CLIENTS > 2
	CLIENT(2)
#endif
#if CLIENTS > 3
	CLIENT(3)
#endif
	:: atomic { true -> tick() }
	od
}
