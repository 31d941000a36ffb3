"""Whole numbers of a kernel: polynomials over atoms with an interval each, conditions on them, and pointers.

An integer register of n bits is a polynomial with values from -2^(n-1) to 2^(n-1)-1, whatever the sign of its type. Each
operation is exact, or makes a new atom that may have any value of its interval: a state always covers what can happen.
"""
import time
from math import gcd

# Where an atom's value comes from. What is of EXACT is known of a thread; the others say why an access stays undecided.
EXACT = frozenset(("thread", "count"))
MEMORY, FLOAT, LOOP, CALL, UNMODELLED, UNDEFINED, POINTER = (
    "memory", "float", "loop", "call", "unmodelled", "undefined", "pointer")

MOST_TERMS = 64
MOST_ATOMS = 500000
_interned = {}


class TooLarge(Exception):
    """A formula that grows beyond all bounds."""


class OutOfTime(Exception):
    """The time limit is over, or a kernel has too many atoms."""


class Clock:
    """What is made here, and until when: all that takes long makes atoms, polynomials or conditions."""
    end, made, atoms = float("inf"), 0, 0

    def tick(self):
        self.made += 1
        if self.made & 255 == 0:
            self.look()

    def look(self):
        if time.monotonic() > self.end:
            raise OutOfTime()

    def left(self):
        """Seconds, more than none."""
        self.look()
        return self.end - time.monotonic()


clock = Clock()


def reset():
    """Forgets all atoms: to be called before each launch."""
    _interned.clear()
    clock.atoms = 0


class Atom:
    """A number that is not taken apart: a variable, or an operation (kind) on its arguments."""
    __slots__ = ("id", "kind", "args", "low", "high", "source", "label", "roots")

    def __init__(self, kind, args, low, high, source=None, label=None):
        clock.atoms += 1
        if clock.atoms > MOST_ATOMS:
            raise OutOfTime()
        self.id, self.kind, self.args, self.low, self.high = clock.atoms, kind, args, low, high
        self.source, self.label = source, label
        self.roots = frozenset((self,)) if kind == "variable" else frozenset().union(
            *(arg.roots() for arg in args if isinstance(arg, (Poly, Cond))))

    def __lt__(self, other):
        return self.id < other.id

    def __repr__(self):
        return self.label or f"{self.kind}#{self.id}"


def _product(a, b, c, d):
    values = (a * c, a * d, b * c, b * d)
    return min(values), max(values)


class Poly:
    """terms: a tuple of atoms, sorted, to its coefficient. It is never changed."""
    __slots__ = ("terms", "low", "high", "_key", "_roots")

    def __init__(self, terms):
        clock.tick()
        self.terms = terms
        self._key = self._roots = None
        low = high = 0
        for atoms, factor in terms.items():
            if len(atoms) == 1:
                a, b = atoms[0].low, atoms[0].high
            else:
                a = b = 1
                for atom in atoms:
                    a, b = _product(a, b, atom.low, atom.high)
            if factor > 0:
                low, high = low + a * factor, high + b * factor
            else:
                low, high = low + b * factor, high + a * factor
        self.low, self.high = low, high

    def key(self):
        if self._key is None:
            self._key = frozenset(self.terms.items())
        return self._key

    def constant(self):
        """Its value where it has but one."""
        return self.low if self.low == self.high else None

    def roots(self):
        if self._roots is None:
            self._roots = frozenset().union(*(atom.roots for atoms in self.terms for atom in atoms))
        return self._roots

    def only_atom(self):
        """The atom that it is, or None."""
        if len(self.terms) == 1:
            (atoms, factor), = self.terms.items()
            if factor == 1 and len(atoms) == 1:
                return atoms[0]
        return None

    def __repr__(self):
        return " + ".join(f"{c}" + "".join(f"*{a!r}" for a in k) for k, c in self.terms.items()) or "0"


def number(n):
    return Poly({(): n}) if n else Poly({})


ZERO, ONE = number(0), number(1)


def of_atom(atom):
    return Poly({(atom,): 1}) if atom.low != atom.high else number(atom.low)


def variable(low, high, source, label=None):
    return of_atom(Atom("variable", (), low, high, source, label)) if low != high else number(low)


def signed_range(bits):
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def anything(bits, source):
    """A new number of so many bits."""
    return variable(*signed_range(bits), source)


def add(p, q, factor=1):
    terms = dict(p.terms)
    for atoms, c in q.terms.items():
        c = terms.get(atoms, 0) + c * factor
        if c:
            terms[atoms] = c
        else:
            terms.pop(atoms, None)
    if len(terms) > MOST_TERMS:
        raise TooLarge()
    return Poly(terms)


def sub(p, q):
    return add(p, q, -1)


def scale(p, n):
    return Poly({atoms: c * n for atoms, c in p.terms.items()}) if n else ZERO


def plus(p, n):
    return add(p, number(n)) if n else p


def operation(kind, args, low, high):
    """The atom of an operation: the same one for the same arguments."""
    key = (kind,) + tuple(arg.key() if isinstance(arg, Poly) else arg for arg in args)
    atom = _interned.get(key)
    if atom is None:
        atom = _interned[key] = Atom(kind, args, low, high)
    return of_atom(atom)


def multiply(p, q):
    for a, b in ((p, q), (q, p)):
        if a.constant() is not None:
            return scale(b, a.constant())
    if len(p.terms) * len(q.terms) > MOST_TERMS:
        return operation("product", (p, q), *_product(p.low, p.high, q.low, q.high))
    terms = {}
    for x, c in p.terms.items():
        for y, d in q.terms.items():
            atoms = tuple(sorted(x + y))
            terms[atoms] = terms.get(atoms, 0) + c * d
    return Poly({atoms: c for atoms, c in terms.items() if c})


def _unwrapped(p, modulus):
    """p without the reductions in it that do not matter modulo a divisor of theirs."""
    for atoms, c in p.terms.items():
        for at, atom in enumerate(atoms):
            if atom.kind == "wrap":
                inner = 1 << atom.args[1]
            elif atom.kind == "mod":
                inner = atom.args[1]
            else:
                continue
            if inner % modulus == 0:
                rest = Poly({atoms[:at] + atoms[at + 1:]: c})
                return _unwrapped(add(Poly({k: v for k, v in p.terms.items() if k is not atoms}),
                                      multiply(rest, atom.args[0])), modulus)
    return p


def _reduced(p, modulus):
    """p with each factor nearest to zero, modulo."""
    half = modulus >> 1
    return _drop_zero({atoms: (c + half) % modulus - half for atoms, c in _unwrapped(p, modulus).terms.items()})


def _drop_zero(terms):
    return Poly({atoms: c for atoms, c in terms.items() if c})


def _with_remainders(p):
    """p with m * mod(r, n) where it has m * r - m * n * div(r, n), because the interval of that is exact."""
    for atoms, c in p.terms.items():
        if len(atoms) == 1 and atoms[0].kind == "div" and c % atoms[0].args[1] == 0:
            whole, n = atoms[0].args
            m = -c // n
            if all(p.terms.get(k, 0) == m * v for k, v in whole.terms.items() if k):
                rest = sub(add(p, Poly({atoms: c}), -1), scale(whole, m))
                return _with_remainders(add(rest, scale(floor_mod(whole, n), m)))
    return p


def wrap(p, bits):
    """p as a register of so many bits holds it."""
    low, high = signed_range(bits)
    if p.low == p.high:
        return p if low <= p.low <= high else number((p.low - low) % (1 << bits) + low)
    p = _with_remainders(p)
    if low <= p.low and p.high <= high:
        return p
    modulus = 1 << bits
    p = _reduced(p, modulus)
    turns = (p.low - low) // modulus
    if turns == (p.high - low) // modulus:
        return plus(p, -turns * modulus)
    return operation("wrap", (p, bits), low, high)


def unsigned(p, bits):
    """What a register of so many bits is as a number without a sign."""
    if p.low >= 0:
        return p
    return floor_mod(p, 1 << bits)


def _split(p, n):
    """(q, r) with p = n q + r."""
    q, r = {}, {}
    for atoms, c in p.terms.items():
        if c % n == 0:
            q[atoms] = c // n
        elif atoms == ():
            if c // n:
                q[atoms] = c // n
            r[atoms] = c % n
        else:
            r[atoms] = c
    return Poly(q), Poly(r)


def floor_mod(p, n):
    rest = _split(_unwrapped(p, n), n)[1]
    if 0 <= rest.low and rest.high < n:
        return rest
    if rest.low // n == rest.high // n:
        return plus(rest, -(rest.low // n) * n)
    return operation("mod", (rest, n), 0, n - 1)


def _as_division(p, n):
    """(q, d) with p / n = q / d rounded down, for what compilers write as a product with a magic number; or (p, n)."""
    factor = 0
    for c in p.terms.values():
        factor = gcd(factor, c)
    if factor > 1 and p.low >= 0:
        q = Poly({atoms: c // factor for atoms, c in p.terms.items()})
        divisor = -(-n // factor)
        excess = factor * divisor - n
        if excess * q.high < n:
            return q, divisor
    return p, n


def floor_div(p, n):
    """p / n rounded down, for a whole n above zero."""
    if n == 1:
        return p
    q, r = _split(p, n)
    if 0 <= r.low and r.high < n:
        return q
    inner = r.only_atom()
    if inner is not None and inner.kind == "div":
        return add(q, floor_div(inner.args[0], inner.args[1] * n))
    r, divisor = _as_division(r, n)
    if divisor != n:
        return add(q, floor_div(r, divisor))
    return add(q, operation("div", (r, n), r.low // n, r.high // n))


def least(p, q):
    d = sub(p, q)
    if d.high <= 0 or d.low >= 0:
        return p if d.high <= 0 else q
    return operation("min", (p, q), min(p.low, q.low), min(p.high, q.high))


def most(p, q):
    d = sub(p, q)
    if d.high <= 0 or d.low >= 0:
        return q if d.high <= 0 else p
    return operation("max", (p, q), max(p.low, q.low), max(p.high, q.high))


# ---- conditions ----

class Cond:
    """kind: true, false, le (args[0] <= 0), eq (args[0] = 0), ne, flag (args[0] is 1), noflag, and, or. Equal ones are one."""
    __slots__ = ("kind", "args", "opposite", "_roots")

    def __init__(self, kind, args):
        self.kind, self.args, self.opposite, self._roots = kind, args, None, None

    def roots(self):
        if self._roots is None:
            self._roots = frozenset().union(*(arg.roots() for arg in self.args))
        return self._roots

    def parts(self):
        """What must hold at the same time."""
        return self.args if self.kind == "and" else () if self.kind == "true" else (self,)

    def __repr__(self):
        return f"({self.kind} {' '.join(map(repr, self.args))})"


def _cond(kind, *args):
    key = ("condition", kind) + tuple(arg.key() if isinstance(arg, Poly) else arg for arg in args)
    found = _interned.get(key)
    if found is None:
        clock.tick()
        found = _interned[key] = Cond(kind, args)
    return found


TRUE, FALSE = Cond("true", ()), Cond("false", ())
TRUE.opposite, FALSE.opposite = FALSE, TRUE


def at_most_zero(p):
    if p.high <= 0:
        return TRUE
    if p.low > 0:
        return FALSE
    common = 0
    for atoms, c in p.terms.items():
        common = gcd(common, c) if atoms else common
    if common > 1:
        p = Poly({atoms: c // common if atoms else -(-c // common) for atoms, c in p.terms.items()})
        return at_most_zero(_drop_zero(p.terms))
    return _cond("le", p)


def at_most(p, q):
    return at_most_zero(sub(p, q))


def below(p, q):
    return at_most_zero(plus(sub(p, q), 1))


def equal(p, q):
    p = sub(p, q)
    if p.constant() is not None:
        return TRUE if p.constant() == 0 else FALSE
    if p.low > 0 or p.high < 0:
        return FALSE
    common = 0
    for atoms, c in p.terms.items():
        common = gcd(common, c) if atoms else common
    if p.terms.get((), 0) % common:
        return FALSE
    return _cond("eq", Poly({atoms: c // common for atoms, c in p.terms.items()}))


def flag(source):
    """A condition that may hold or not."""
    return _cond("flag", variable(0, 1, source))


OPPOSITE = {"eq": "ne", "ne": "eq", "flag": "noflag", "noflag": "flag"}


def negate(c):
    """Conditions share parts, and each part is negated once: one by one, their number would double with each branch."""
    if c.opposite is None:
        c.opposite = _negated(c)
        c.opposite.opposite = c.opposite.opposite or c
    return c.opposite


def _negated(c):
    if c.kind == "le":
        return at_most_zero(sub(ONE, c.args[0]))
    if c.kind == "and":
        return either(*map(negate, c.args))
    if c.kind == "or":
        return both(*map(negate, c.args))
    return _cond(OPPOSITE[c.kind], *c.args)


def _flat(kind, neutral, conds):
    seen = {}
    for c in conds:
        if c.kind == kind:
            for part in c.args:
                seen[part] = True
        elif c is not neutral:
            seen[c] = True
    if len(seen) > 4000:
        raise TooLarge()
    return list(seen)


def both(*conds):
    flat = _flat("and", TRUE, conds)
    if FALSE in flat:
        return FALSE
    for c in flat:
        if c.kind != "or" and len(flat) < 40 and negate(c) in flat:
            return FALSE
    return TRUE if not flat else flat[0] if len(flat) == 1 else _cond("and", *flat)


def either(*conds):
    flat = _flat("or", FALSE, conds)
    if TRUE in flat:
        return TRUE
    if len(flat) == 2 and negate(flat[0]) is flat[1]:
        return TRUE
    return FALSE if not flat else flat[0] if len(flat) == 1 else _cond("or", *flat)


def choose(c, p, q):
    """p where c holds, else q."""
    if c is TRUE:
        return p
    if c is FALSE or p.key() == q.key():
        return q
    shared = Poly({atoms: v for atoms, v in p.terms.items() if q.terms.get(atoms) == v})
    p, q = sub(p, shared), sub(q, shared)
    return add(shared, operation("choose", (c, p, q), min(p.low, q.low), max(p.high, q.high)))


# ---- putting in ----

REBUILT = {"div": floor_div, "mod": floor_mod, "wrap": wrap, "choose": choose, "product": multiply, "min": least, "max": most}


def put_in(x, values, done=None):
    """x with values (atom to Poly) in place of its atoms."""
    done = {} if done is None else done
    if not any(root in values for root in x.roots()):
        return x
    if isinstance(x, Cond):
        if x in done:
            return done[x]
        args = [put_in(arg, values, done) for arg in x.args]
        if x.kind == "le":
            found = at_most_zero(args[0])
        elif x.kind in ("eq", "ne"):
            found = equal(args[0], ZERO)
            found = found if x.kind == "eq" else negate(found)
        elif x.kind in ("flag", "noflag"):
            found = equal(args[0], ONE if x.kind == "flag" else ZERO)
        else:
            found = both(*args) if x.kind == "and" else either(*args)
        done[x] = found
        return found
    total = ZERO
    for atoms, c in x.terms.items():
        part = number(c)
        for atom in atoms:
            part = multiply(part, _atom_with(atom, values, done))
        total = add(total, part)
    return total


def _atom_with(atom, values, done):
    if atom in values:
        return values[atom]
    if not any(root in values for root in atom.roots):
        return of_atom(atom)
    if atom not in done:
        done[atom] = REBUILT[atom.kind](*(put_in(arg, values, done) if isinstance(arg, (Poly, Cond)) else arg
                                          for arg in atom.args))
    return done[atom]


def worst(*found):
    """The source of what is made of them and not modelled."""
    sources = {atom.source for x in found if isinstance(x, (Poly, Cond)) for atom in x.roots()}
    return MEMORY if MEMORY in sources else UNMODELLED
