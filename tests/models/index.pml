/*
 * From an address to its buffer while buffers come and go: monitor/registry/index.c, with the records of monitor/registry/registry.c and
 * the order of lib/buffers/buffer.c.
 *
 * One granule of two pages, whose leaf has one level: what several hold, when one buffer comes before the last one's slots
 * are cleared, is for test_index (the_next_buffer_is_found_beside_the_last).
 *
 * One thread keeps allocating both pages, one the first, one the second, wherever the driver has them free; any of three
 * records may serve any of them. Each looks its own live buffer up; another thread looks up either page at any time.
 *
 *   good      a live buffer's owner finds it; whatever is found holds the address, and its bounds belong to its word;
 *             the granule is never found taken by a buffer whose pages the driver has handed out again
 *   broken    LATE       the index is told after the real free
 *             NORECHECK  the word is not looked at again when the bounds have been read
 *             NOBOUNDS   the record is not asked whether the address is its own
 *             DROPLEAF   a leaf is given back when its last slot is cleared
 */
#define RECORDS 3
#define GENERATIONS 5

#define FREE 0
#define ARMING 1
#define LIVE 2
#define RELEASING 3
#define WORD(generation, state) ((generation) * 4 + (state))
#define STATE(word) ((word) % 4)
#define GENERATION(word) ((word) / 4)

#define LEAF 1			/* a granule's entry: 0, LEAF, or DIRECT of a position + 1 */
#define DIRECT(hit) ((hit) + 1)
#define IS_DIRECT(entry) ((entry) > LEAF)
#define HIT(entry) ((entry) - 1)

byte word[RECORDS], from[RECORDS], to[RECORDS];	/* struct gmod_record */
byte entry, slot[2];				/* the granule; the slots of its leaf */
bool taken[2];					/* pages the driver has handed out */

/* What the bounds of a record's buffer were, by generation; for the assertions. */
byte true_from[15], true_to[15];
#define BUFFER(r, w) ((r) * GENERATIONS + GENERATION(w))

#ifdef NORECHECK
#define SAME_WORD true
#else
#define SAME_WORD (word[hit - 1] == w)		/* atomic_load(&r->word, acquire), behind a fence */
#endif
#ifdef NOBOUNDS
#define OWN(address) true
#else
#define OWN(address) (address >= lo && address < hi)
#endif

/* gmod_index_find: found is 0 or position + 1, found_word its word. */
inline find(address)
{
	found = 0;
	e = entry;					/* look_up: atomic_load(entry, acquire) */
	if
	:: IS_DIRECT(e) -> hit = HIT(e)
	:: e == LEAF -> hit = slot[address]		/* atomic_load(&leaf[slot], acquire) */
	:: else -> hit = 0
	fi;
	if
	:: hit ->
		w = word[hit - 1];			/* gmod_record_live: atomic_load(&r->word, seq_cst) */
		lo = from[hit - 1];			/* gmod_record_snapshot, relaxed */
		hi = to[hit - 1];
		if
		:: STATE(w) == LIVE && SAME_WORD && OWN(address) -> found = hit
		:: else
		fi
	:: else
	fi;
	d_step {
		if
		:: found ->
			assert(lo == true_from[BUFFER(found - 1, w)] && hi == true_to[BUFFER(found - 1, w)]);
			assert(address >= lo && address < hi);
			found_word = w
		:: else -> found_word = 0
		fi;
		e = 0; hit = 0; w = 0; lo = 0; hi = 0
	}
}

/* enter_units, of some of them. */
inline enter_part(first, last, value)
{
	atomic {					/* make_leaf: CAS entry 0 -> leaf, acq_rel, unless there is one */
		assert(!IS_DIRECT(entry));		/* it would refuse: another buffer owns every page */
		if
		:: entry == 0 -> entry = LEAF; slot[0] = 0; slot[1] = 0
		:: else
		fi
	};
	i = first;
	do
	:: i == last -> break
	:: else -> slot[i] = value; i++			/* atomic_store(&leaf[i], release) */
	od
}

inline insert(first, last, value)
{
	if
	:: last - first == 2 ->
		atomic {				/* enter_units, of all: CAS entry 0 -> DIRECT, release */
			direct = (entry == 0);
			if
			:: direct -> entry = DIRECT(value)
			:: else
			fi
		};
		if
		:: !direct -> enter_part(first, last, value)
		:: else
		fi
	:: else -> enter_part(first, last, value)
	fi
}

/* gmod_index_remove */
inline remove(first, last)
{
	e = entry;					/* atomic_load(entry, acquire) */
	if
	:: IS_DIRECT(e) -> entry = 0			/* atomic_store(entry, 0, release) */
	:: e == LEAF ->
		i = first;
		do
		:: i == last -> break
		:: else -> slot[i] = 0; i++		/* atomic_store(&leaf[i], 0, release) */
		od
#ifdef DROPLEAF
		;
		if
		:: slot[0] == 0 && slot[1] == 0 -> entry = 0
		:: else
		fi
#endif
	:: else
	fi;
	e = 0
}

proctype program(byte first, last, turns)
{
	byte e, hit, w, lo, hi, found, found_word, i, r, mine;
	bool direct;

	do
	:: turns == 0 -> break
	:: else ->
		/* the backend's alloc(): the driver gives the pages; here it has them free in the end */
		atomic {
			(!taken[first] && !taken[last - 1]) ->
			taken[first] = true;
			taken[last - 1] = true;
			if			/* gmod_record_claim; three threads need three at most */
			:: STATE(word[0]) == FREE -> r = 0
			:: else ->
				if
				:: STATE(word[1]) == FREE -> r = 1
				:: else -> r = 2
				fi
			fi;
			word[r] = WORD(GENERATION(word[r]), ARMING);
			true_from[BUFFER(r, word[r])] = first;
			true_to[BUFFER(r, word[r])] = last
		};
		insert(first, last, r + 1);		/* arm: gmod_index_insert */
		from[r] = first;			/* gmod_record_set_bounds, relaxed */
		to[r] = last;
		mine = WORD(GENERATION(word[r]), LIVE);
		word[r] = mine;				/* gmod_record_publish: atomic_store(&r->word, LIVE, release) */
		find(last - 1);
		assert(found == r + 1 && found_word == mine);
		word[r] = WORD(GENERATION(mine), RELEASING);	/* gmod_record_begin_release: CAS, seq_cst */
#ifndef LATE
		remove(first, last);			/* release: gmod_index_remove */
#endif
		atomic { taken[first] = false; taken[last - 1] = false };	/* the backend's free() */
#ifdef LATE
		remove(first, last);
#endif
		atomic {
			word[r] = WORD(GENERATION(mine) + 1, FREE);	/* gmod_record_retire: atomic_store(release) */
			turns--;
			found = 0; found_word = 0; r = 0; mine = 0; i = 0; direct = false
		}
	od
}

active proctype looking()
{
	byte e, hit, w, lo, hi, found, found_word;

	if
	:: find(0)
	:: find(1)
	fi
}

init
{
	atomic { run program(0, 2, 2); run program(0, 1, 1); run program(1, 2, 1) }
}
