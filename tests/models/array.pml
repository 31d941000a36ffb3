/*
 * A byte array: include/gmod/device_array.h and gmod_array_scan() in device_guard.h.
 *
 * Two threads put two entries each into segments of two entries; a scanner consumes entries and takes out segments that
 * are used up, whose numbers are then given to new segments. There are fewer numbers than segments are needed.
 *
 *   good      every entry that a thread got a place for is seen exactly once; nobody writes to a segment that is gone
 *   good      MOVE       the scanner moves what is left in old segments to the current one
 *   good      SHORT      there is no memory for a segment: the number of reservations stays small
 *   broken    EARLY      a segment is taken out before all of its entries have been published
 *             CURRENT    a segment is taken out when all that was reserved is used up, also while it is current
 *             LATELINK   a segment is made current before it is in the chain: for a while its entries are out of reach
 *             RUNOVER    (SHORT) reservations that get nothing are counted for ever
 *             TWOSTEPS   the segment is read first and the entry reserved then
 */
#define CAP 2
#define SEGMENTS 3		/* numbers 1 to 3 */
#define PRODUCERS 2
#ifdef SHORT
#define EACH 4
#else
#define EACH 2
#endif
#define USED_UP 9
#define E(n, i) entry[(n) * CAP + (i)]

byte number;			/* a->control: number of the current segment ... */
byte count;			/* ... and entries reserved in it; always changed together */
byte head;			/* a->segments */
byte next[SEGMENTS + 1];
bool there[SEGMENTS + 1];	/* memory that is a segment of this array */
bool linked[SEGMENTS + 1];	/* only for the check of A3 */
byte entry[(SEGMENTS + 1) * CAP];
bool growing;
byte seen[6], failed, running = PRODUCERS;

/* gmod_array_reserve: a place for one entry in (n, i), or ok = 0 */
inline reserve()
{
	ok = 0;
	do
	::
#ifdef TWOSTEPS
		n = number;
		atomic { i = count; count++ };
#else
		atomic { n = number; i = count; count++ };	/* gmod_add64_acquire(&a->control, 1) */
		assert(n || i < CAP + PRODUCERS);
#endif
		if
		:: n && i < CAP -> ok = 1; break
		:: else
		fi;
		do						/* gmod_array_grow */
		:: atomic { !growing -> growing = 1 }; break
		:: number != n -> goto next_try
		od;
		if
		:: number == n ->
			atomic {				/* gmod_segment_get */
				if
				:: !there[1] -> s = 1; there[1] = 1
				:: there[1] && !there[2] -> s = 2; there[2] = 1
				:: there[1] && there[2] && !there[3] -> s = 3; there[3] = 1
				:: else -> s = 0
				fi
			};
			if
			:: s ->
				E(s, 0) = 0; E(s, 1) = 0;
#ifndef LATELINK
				link();
#endif
				atomic { number = s; count = 0 };	/* gmod_cas64_release(&a->control), until it does */
#ifdef LATELINK
				link();
#endif
				growing = 0
			:: else ->
#ifndef RUNOVER
				count = CAP;			/* the number is as it was: who has `growing` changes it */
#endif
				growing = 0; break
			fi
		:: else -> growing = 0
		fi;
next_try:	skip
	od
}

/* gmod_array_link */
inline link()
{
	do
	::	next[s] = head;
		atomic {
			if
			:: head == next[s] -> head = s; linked[s] = 1; break
			:: else
			fi
		}
	od
}

/* gmod_entry_publish */
inline publish(v)
{
	atomic {
		assert(there[n] && linked[n]);			/* A2, A3 */
		assert(E(n, i) == 0);
		E(n, i) = v
	}
}

proctype producer(byte base)
{
	byte n, i, s, k;
	bool ok;

	do
	:: k < EACH ->
		reserve();
		if
		:: ok -> publish(base + k)
		:: else -> failed++
		fi;
		k++
	:: else -> break
	od;
	running--
}

/* gmod_array_scan */
proctype scanner()
{
	byte at, before, after, c, used, e, v, n, i, s;
	bool current, over, ok;

	do
	::	over = (running == 0);
		before = 0;
		at = head;
		do
		:: at == 0 -> break
		:: else ->
			after = next[at];
			atomic {				/* gmod_segment_reserved */
				current = (number == at);
				c = (current && count < CAP -> count : CAP)
			};
			used = 0; e = 0;
			do
			:: e < c ->
				atomic {			/* gmod_entry_look */
					v = E(at, e);
					if
					:: v == USED_UP -> used++
					:: v && v != USED_UP && (e == 0 || over) -> seen[v]++; E(at, e) = USED_UP; used++
					:: v && v != USED_UP && e && !over	/* lives on */
					:: else
					fi
				};
				e++
			:: else -> break
			od;
#ifdef MOVE
			if
			:: !current && used == 1 && E(at, 1) != 0 && E(at, 1) != USED_UP ->	/* gmod_segment_move */
				v = E(at, 1);
				reserve();
				if
				:: ok -> publish(v); E(at, 1) = USED_UP; used++
				:: else
				fi
			:: else
			fi;
#endif
			if
#if defined(EARLY)
			:: !current && used ->
#elif defined(CURRENT)
			:: c && used == c ->
#else
			:: !current && used == CAP ->
#endif
				atomic {			/* gmod_array_unlink, by swap if it is the first */
					if
					:: head == at -> head = after; ok = 1
					:: else -> ok = 0
					fi
				};
				if
				:: !ok ->
					before = head;
					do
					:: next[before] == at -> break
					:: else -> before = next[before]
					od;
					next[before] = after
				:: else -> before = 0
				fi;
				atomic { there[at] = 0; linked[at] = 0 }	/* gmod_segment_drop */
			:: else -> before = at
			fi;
			at = after
		od;
		if
		:: over -> break
		:: else
		fi
	od;
	e = 1;
	do
	:: e <= 4 -> assert(seen[e] <= 1); used = seen[e]; failed = failed + used; e++
	:: else -> break
	od;
	assert(failed == PRODUCERS * EACH)
}

init
{
#ifdef SHORT
	there[1] = 1; there[2] = 1; there[3] = 1;
#endif
	atomic { run producer(1); run producer(3); run scanner() }
}
