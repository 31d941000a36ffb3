/*
 * The registry's life cycle and its stack of free records: monitor/registry/registry.c.
 *
 * Two threads claim and release buffers, one of them twice. As the stack runs empty positions come into use, and banks.
 * Without LOOKUP each holds two at a time. With it they hold one at a time, and a third thread looks the first record
 * up (gmod_record_snapshot) and frees the buffer it finds there, as a program does that frees from another thread.
 *
 *   good      no record has two owners; every record is free at the end, once; bounds belong to the word they were read
 *             with; nobody releases another buffer than the one it looked up; positions that are in use have their bank
 *   broken    NOTAG      the stack's head has no tag (ABA)
 *             NOGEN      retire leaves the generation as it was (with LOOKUP)
 *             UNSET      a position comes into use before its bank is there
 *             NOCAS      begin_release looks at the word and stores, instead of a CAS (with LOOKUP)
 *             NORECHECK  the snapshot does not look at the word again (with LOOKUP)
 */
#define BANK 2				/* records of a bank */
#define BANKS 4
#define RECORDS 8

#define FREE 0
#define ARMING 1
#define LIVE 2
#define RELEASING 3
#define WORD(generation, state) (((generation) % 16) * 4 + (state))
#define STATE(word) ((word) % 4)
#define GENERATION(word) ((word) / 4)

byte word[RECORDS];			/* struct gmod_record: generation << 2 | state */
byte bounds[RECORDS], bounds_too[RECORDS];	/* two of its fields: the number of the buffer they belong to */
byte next_free[RECORDS];		/* position + 1 */
byte owners[RECORDS];			/* threads that own the record, for the assertions */
byte stack, tag;			/* free_stack: position + 1 and tag, one atomic word */
bool bank_set[BANKS];			/* banks[i] is not NULL */
byte used;
byte buffers;				/* buffers there have been: each has a number */
byte through;

inline push_free(r)
{
	do
	:: atomic { head = stack; head_tag = tag };	/* atomic_load(&free_stack, relaxed) */
		next_free[r] = head;			/* atomic_store(&r->next_free, relaxed) */
		atomic {				/* CAS free_stack, release */
			if
			:: stack == head && tag == head_tag -> stack = r + 1; break
			:: else
			fi
		}
	od
}

/* got: position + 1, or 0 */
inline pop_free()
{
	do
	:: atomic { head = stack; head_tag = tag };	/* atomic_load(&free_stack, acquire) */
		if
		:: head == 0 -> got = 0; break
		:: else
		fi;
		next = next_free[head - 1];		/* atomic_load(&r->next_free, relaxed) */
		atomic {				/* CAS free_stack, acq_rel */
			if
			:: stack == head && tag == head_tag ->
				stack = next;
#ifndef NOTAG
				tag++;
#endif
				got = head;
				break
			:: else
			fi
		}
	od
}

/* got: position + 1 */
inline take_fresh()
{
	do
	:: i = used;					/* atomic_load(&used, acquire) */
		assert(i < RECORDS);
#ifndef UNSET
		bank_set[i / BANK] = true;		/* CAS banks[i / BANK] NULL -> fresh, acq_rel; else another's is there */
#endif
		atomic {				/* CAS used i -> i + 1, acq_rel */
			if
			:: used == i -> used = i + 1; got = i + 1; break
			:: else
			fi
		}
	od;
#ifdef UNSET
	bank_set[i / BANK] = true
#endif
}

inline claim(r)
{
	pop_free();
	if
	:: got == 0 -> take_fresh()
	:: else
	fi;
	r = got - 1;
	atomic {
		owners[r]++;
		assert(owners[r] == 1 && STATE(word[r]) == FREE)
	};
	word[r] = WORD(GENERATION(word[r]), ARMING);	/* atomic_store(&r->word, release) */
	atomic { buffers++; mine = buffers };
	bounds[r] = mine;				/* gmod_record_set_bounds, relaxed */
	bounds_too[r] = mine
}

inline publish(r)
{
	atomic {
		owners[r]--;
		word[r] = WORD(GENERATION(word[r]), LIVE)	/* atomic_store(&r->word, release) */
	}
}

/* Releases the buffer that was LIVE with `then`; number: which one it was. */
inline begin_release(r, then, number)
{
#ifdef NOCAS
	released = (word[r] == then);
	if
	:: released -> word[r] = then - LIVE + RELEASING; owners[r]++
	:: else
	fi;
#else
	atomic {					/* CAS word LIVE -> RELEASING, seq_cst */
		released = (word[r] == then);
		if
		:: released -> word[r] = then - LIVE + RELEASING; owners[r]++
		:: else
		fi
	};
#endif
	assert(!released || (owners[r] == 1 && bounds[r] == number && bounds_too[r] == number))
}

inline retire(r)
{
	atomic {
		assert(owners[r] == 1);
		owners[r]--;
#ifdef NOGEN
		word[r] = WORD(GENERATION(word[r]), FREE)
#else
		word[r] = WORD(GENERATION(word[r]) + 1, FREE)	/* gmod_record_abandon: atomic_store(&r->word, release) */
#endif
	};
	push_free(r)
}

/* begin_release and retire, unless another thread was first. */
inline release(r, then, number)
{
	begin_release(r, then, number);
	if
	:: released -> retire(r)
	:: else
	fi
}

#ifdef LOOKUP
proctype program(byte turns)
{
	byte head, head_tag, next, got, i, mine, r, live;
	bool released;

	do
	:: turns == 0 -> break
	:: else ->
		claim(r);
		live = WORD(GENERATION(word[r]), LIVE);
		publish(r);
		release(r, live, mine);
		atomic { turns--; r = 0; live = 0; mine = 0 }
	od;
	through++
}
#else
proctype program(byte turns)
{
	byte head, head_tag, next, got, i, mine;
	byte one, one_live, one_mine, two, two_live;
	bool released;

	do
	:: turns == 0 -> break
	:: else ->
		claim(one);
		one_mine = mine;
		one_live = WORD(GENERATION(word[one]), LIVE);
		publish(one);
		claim(two);
		two_live = WORD(GENERATION(word[two]), LIVE);
		publish(two);
		release(two, two_live, mine);
		release(one, one_live, one_mine);
		atomic { turns--; one = 0; one_live = 0; one_mine = 0; two = 0; two_live = 0; mine = 0 }
	od;
	through++
}
#endif

/* A look-up of the first record, and a free of what was found. */
proctype freeing()
{
	byte head, head_tag;
	byte then, one, two;
	bool released;

	if
	:: used > 0 ->
		assert(bank_set[0]);			/* gmod_record_at */
		then = word[0];				/* gmod_record_live: atomic_load(&r->word, seq_cst) */
		one = bounds[0];			/* gmod_record_snapshot, relaxed */
		two = bounds_too[0];
		if
#ifdef NORECHECK
		:: STATE(then) == LIVE ->
#else
		:: STATE(then) == LIVE && word[0] == then ->	/* atomic_load(&r->word, acquire) behind a fence */
#endif
			assert(one == two);
			release(0, then, one)
		:: else
		fi
	:: else
	fi;
	through++
}

init
{
	byte r, on_stack;

#ifdef LOOKUP
	atomic { run program(2); run program(1); run freeing() };
	(through == 3);
#else
	atomic { run program(2); run program(1) };
	(through == 2);
#endif
	d_step {
		r = stack;
		do
		:: r == 0 -> break
		:: else ->
			assert(STATE(word[r - 1]) == FREE && on_stack < RECORDS);
			on_stack++;
			r = next_free[r - 1]
		od;
		assert(on_stack == used)
	}
}
