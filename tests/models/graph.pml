/*
 * A slot of what a graph's handle has stood for: put() and what_in() in monitor/launches/history.c.
 *
 * One slot: that an empty one has a reader see what came into the others before is for the release of NO_TIME. One
 * writer, as nobody may change one executable graph in two threads at a time: three sets in turn come into the slot,
 * each from a later time on. A reader takes no lock. The order of the code's release stores and acquire loads is the one
 * they have here.
 *
 *   good      a reader has the set of the time that it found, or nothing
 *   broken    NOAGAIN  the reader does not look at the time again
 *             NOTIME   the slot is not emptied before another set comes in
 */
#define NO_TIME 0

byte since = NO_TIME;
byte set;			/* of the time with the same number */
bool through;

inline put(now)
{
#ifndef NOTIME
	since = NO_TIME;
#endif
	set = now;		/* release */
	since = now		/* release */
}

active proctype writer()
{
	put(1);
	put(2);
	put(3);
	through = true
}

active [2] proctype reader()
{
	byte found, its;

	do
	:: through -> break
	:: else ->
		found = since;	/* acquire */
		its = set;	/* acquire */
		if
#ifdef NOAGAIN
		:: found != NO_TIME ->
#else
		:: found != NO_TIME && since == found ->
#endif
			assert(its == found)
		:: else
		fi
	od
}
