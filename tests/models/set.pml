/*
 * Members of a word and the word's bit in the summary: include/gmod/device_set.h.
 *
 * Two threads each add and take members of one word, any number of each other's; a third searches.
 *
 *   good      once all is done, a word that has members has its summary bit; nobody takes a member that another took
 *   broken    NORECHECK  who empties the word clears the summary and does not look again
 *             EARLY      an adder sets the summary bit before the member is there
 */
bool member[2];
bool summary;
byte taken[2], added[2];
byte running = 3;

inline add(m)
{
#ifdef EARLY
	atomic { old = member[0] || member[1] };
	if
	:: !old -> summary = 1
	:: else
	fi;
	atomic { member[m] = 1; added[m]++ }
#else
	/* gmod_set_add_mask: gmod_or32_release() of the word */
	atomic { old = member[0] || member[1]; member[m] = 1; added[m]++ };
	if
	:: !old -> summary = 1
	:: else
	fi
#endif
}

inline take(m)
{
	/* gmod_set_take_mask: gmod_and32_acquire() of the word */
	atomic {
		got = member[m];
		member[m] = 0;
		if
		:: got -> taken[m]++
		:: else
		fi;
		last = got && !member[0] && !member[1]
	};
	if
	:: last ->
		summary = 0;			/* gmod_set_unmark */
#ifndef NORECHECK
		if
		:: member[0] || member[1] -> summary = 1
		:: else
		fi
#endif
	:: else
	fi
}

proctype user(byte own)
{
	bool old, got, last;

	add(own);
	take(own);
	if
	:: got -> add(own)
	:: else
	fi;
	take(1 - own);
	if
	:: got -> add(1 - own)
	:: else
	fi;
	running--
}

/* gmod_set_find and gmod_set_take: by way of the summary, so it may miss what is there, but takes nothing twice. */
proctype searcher()
{
	bool old, got, last;

	if
	:: summary ->
		if
		:: member[0] -> take(0)
		:: member[1] -> take(1)
		:: else
		fi
	:: else
	fi;
	running--
}

init
{
	atomic { run user(0); run user(1); run searcher() };
	running == 0;
	assert(!(member[0] || member[1]) || summary);
	assert(added[0] == taken[0] + member[0] && added[1] == taken[1] + member[1])
}
