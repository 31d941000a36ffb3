/*
 * A place of the table of green contexts: write_place() and read_place() in lib/context/green.c.
 *
 * One writer at a time, under the lock: A is made, goes, B is made in its place, goes, and A's handle comes again. A reader
 * takes no lock. The fences of the code keep the writer's stores between the two of the turn, and the reader's loads
 * between its two, which is the order they have here.
 *
 *   good      what a reader takes for a green context is one whole
 *   broken    NOTURN  the reader looks at the context again instead of the turn
 *             NOODD   the turn is moved when all is written, not also before
 */
#define A 1
#define B 2
#define HOME(context) (context + 10)

byte turn;
byte context;			/* 0: free */
byte home;
bool through;

inline write_place(green)
{
#ifndef NOODD
	turn++;			/* odd */
#endif
	context = green;
	home = (green -> HOME(green) : 0);
#ifdef NOODD
	turn = turn + 2;
#else
	turn++;			/* atomic_store(&p->turn, turn + 2, release) */
#endif
}

active proctype writer()
{
	write_place(A);
	write_place(0);
	write_place(B);
	write_place(0);
	write_place(A);
	write_place(0);
	through = true
}

active [2] proctype reader()
{
	byte before, seen, its;

	do
	:: through -> break
	:: else ->
		before = turn;		/* acquire */
		seen = context;
		its = home;
		if
#ifdef NOTURN
		:: seen != 0 && context == seen ->
#else
		:: seen != 0 && before % 2 == 0 && turn == before ->
#endif
			assert(its == HOME(seen))
		:: else
		fi
	od
}
