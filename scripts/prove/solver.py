"""Formulas for z3, which is asked only where intervals do not tell. Whole numbers there have no bounds, as here."""
import importlib
import site
import sys

try:
    z3 = importlib.import_module("z3")
except ImportError:
    # python3 -I leaves out where pip puts packages for one user alone.
    sys.path.append(site.getusersitepackages())
    try:
        z3 = importlib.import_module("z3")
    except ImportError:
        z3 = None

from values import OutOfTime, Poly, clock

if z3:
    z3.set_param("memory_max_size", 1024)  # MiB

RAISES = 6
MISSING = "z3-solver is not installed"


class Formulas:
    """Atoms and conditions as z3 has them, each once."""

    def __init__(self):
        self.atoms, self.conds = {}, {}
        # One of its own for each launch, so that answers do not depend on those before.
        self.context = z3.Context() if z3 else None

    def atom(self, atom):
        if atom not in self.atoms:
            clock.tick()
            self.atoms[atom] = self._operation(atom) if atom.kind != "variable" else z3.Int(f"v{atom.id}", self.context)
        return self.atoms[atom]

    def _operation(self, atom):
        args = [self.of(arg) if not isinstance(arg, int) else arg for arg in atom.args]
        kind = atom.kind
        if kind == "div":
            return args[0] / args[1]
        if kind == "mod":
            return args[0] % args[1]
        if kind == "wrap":
            half = 1 << (args[1] - 1)
            return (args[0] + half) % (2 * half) - half
        if kind == "choose":
            return z3.If(args[0], args[1], args[2])
        if kind == "product":
            return args[0] * args[1]
        if kind == "min":
            return z3.If(args[0] <= args[1], args[0], args[1])
        assert kind == "max", kind
        return z3.If(args[0] >= args[1], args[0], args[1])

    def of(self, x):
        return self._poly(x) if isinstance(x, Poly) else self._cond(x)

    def _poly(self, p):
        parts = []
        for atoms, factor in p.terms.items():
            part = z3.IntVal(factor, self.context)
            for at, atom in enumerate(atoms):
                part = self.atom(atom) if at == 0 and factor == 1 else part * self.atom(atom)
            parts.append(part)
        return z3.Sum(parts) if len(parts) > 1 else parts[0] if parts else z3.IntVal(0, self.context)

    def _cond(self, c):
        if c not in self.conds:
            clock.tick()
            args = [self.of(arg) for arg in c.args]
            kind = c.kind
            if kind in ("true", "false"):
                found = z3.BoolVal(kind == "true", self.context)
            elif kind == "le":
                found = args[0] <= 0
            elif kind in ("eq", "noflag"):
                found = args[0] == 0
            elif kind in ("ne", "flag"):
                found = args[0] != 0
            else:
                found = (z3.And if kind == "and" else z3.Or)(*args)
            self.conds[c] = found
        return self.conds[c]


class Question:
    """Whether all the conditions can hold at the same time."""

    def __init__(self, formulas, conds):
        self.formulas = formulas
        # Solver() tries tactics with a time limit each, one within another; z3 4.8.10 to 4.8.12, which distributions have, can
        # lock up there. The plain solver decides as much, in less time.
        self.solver = z3.SimpleSolver(ctx=formulas.context)
        self.roots = frozenset().union(*(c.roots() for c in conds))
        for root in sorted(self.roots):
            name = formulas.atom(root)
            self.solver.add(name >= root.low, name <= root.high)
        for c in conds:
            self.solver.add(formulas.of(c))

    def answer(self):
        """A model, or None where there is none."""
        self.solver.set("timeout", max(1, int(1000 * clock.left())))
        try:
            found = self.solver.check()
        except z3.Z3Exception:
            raise OutOfTime() from None
        if found == z3.unknown:
            raise OutOfTime()
        return self.solver.model() if found == z3.sat else None

    def raised(self, model, p):
        """A model in which p is about as great as it can be, as a few questions show."""
        high = p.high
        for _ in range(RAISES):
            low = self.value(model, p)
            if low >= high:
                break
            self.solver.push()
            self.solver.add(self.formulas.of(p) > (low + high) // 2)
            try:
                better = self.answer()
            except OutOfTime:
                better = None
            self.solver.pop()
            high = high if better is not None else (low + high) // 2
            model = better if better is not None else model
        return model

    def value(self, model, p):
        """What the Poly of roots is in the model; what the model leaves open is the least."""
        total = 0
        for atoms, factor in p.terms.items():
            for atom in atoms:
                value = model[self.formulas.atom(atom)] if atom in self.roots else None
                factor *= value.as_long() if value is not None else atom.low
            total += factor
        return total

    def exclude(self, polys, numbers):
        """Asks from now on for other values of the polys."""
        self.solver.add(z3.Or(*(self.formulas.of(p) != n for p, n in zip(polys, numbers))))
