"""The prover's arithmetic against plain numbers: for random instructions, with operands that are polynomials of a few
variables, the value that the polynomial of the result has is the number that the instruction gives. A result that is an
unknown has that number in its interval. test_values.py SEED ROUNDS"""
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "prove"))
import integers  # noqa: E402
import machine  # noqa: E402
import ptx  # noqa: E402
import values  # noqa: E402


def value_of(x, numbers):
    """What a Poly or Cond is where its variables have these numbers; None where it has others."""
    if isinstance(x, values.Cond):
        if x.kind in ("true", "false"):
            return x.kind == "true"
        args = [value_of(arg, numbers) for arg in x.args]
        if any(arg is None for arg in args):
            return None
        return {"le": lambda: args[0] <= 0, "eq": lambda: args[0] == 0, "ne": lambda: args[0] != 0, "and": lambda: all(args),
                "or": lambda: any(args), "flag": lambda: args[0] == 1, "noflag": lambda: args[0] == 0}[x.kind]()
    total = 0
    for atoms, factor in x.terms.items():
        for atom in atoms:
            one = value_of_atom(atom, numbers)
            if one is None:
                return None
            assert atom.low <= one <= atom.high, (atom, atom.args, one)
            factor *= one
        total += factor
    return total


def value_of_atom(atom, numbers):
    if atom.kind == "variable":
        return numbers.get(atom)
    args = [arg if isinstance(arg, int) else value_of(arg, numbers) for arg in atom.args]
    if any(arg is None for arg in args):
        return None
    if atom.kind == "choose":
        return args[1] if args[0] else args[2]
    half = 1 << args[1] - 1 if atom.kind == "wrap" else 0
    return {"div": lambda: args[0] // args[1], "mod": lambda: args[0] % args[1], "min": lambda: min(args), "max": lambda: max(args),
            "wrap": lambda: (args[0] + half) % (2 * half) - half, "product": lambda: args[0] * args[1]}[atom.kind]()


def signed(n, bits):
    return (n + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def plain(op, kind, bits, given):
    """The result of the instruction on numbers with a sign, of so many bits; None where PTX leaves it open."""
    u = [n % (1 << bits) for n in given]
    own = given if kind[0] == "s" else u
    word = op[0]
    if word in ("add", "sub"):
        return signed(given[0] + given[1] if word == "add" else given[0] - given[1], bits)
    if word in ("mul", "mad"):
        product = own[0] * own[1]
        more = given[2] if word == "mad" else 0
        if "wide" in op:
            return signed(product + more, 2 * bits)
        return signed((product >> bits if "hi" in op else product) + more, bits)
    if word in ("div", "rem"):
        if own[1] == 0:
            return None
        quotient = abs(own[0]) // abs(own[1]) * (1 if (own[0] < 0) == (own[1] < 0) else -1)
        return signed(quotient if word == "div" else own[0] - quotient * own[1], bits)
    if word in ("min", "max"):
        return signed((min if word == "min" else max)(own[:2]), bits)
    if word == "shl":
        shift = given[1] % (1 << 32)
        return signed(u[0] << shift, bits) if shift < bits else 0
    if word == "shr":
        return signed(own[0] >> min(given[1] % (1 << 32), bits), bits)
    if word == "bfe":
        position, length = given[1] & 255, given[2] & 255
        return signed((u[0] >> position) % (1 << length), bits) if position < bits and 0 < length <= bits else None
    return {"and": lambda: signed(u[0] & u[1], bits), "or": lambda: signed(u[0] | u[1], bits),
            "xor": lambda: signed(u[0] ^ u[1], bits), "neg": lambda: signed(-given[0], bits), "not": lambda: ~given[0],
            "abs": lambda: signed(abs(given[0]), bits), "popc": lambda: bin(u[0]).count("1"),
            "clz": lambda: bits - u[0].bit_length()}[word]()


INSTRUCTIONS = [("add", 2), ("sub", 2), ("mul.lo", 2), ("mul.hi", 2), ("mul.wide", 2), ("mad.lo", 3), ("mad.wide", 3), ("mad.hi", 3),
                ("div", 2), ("rem", 2), ("min", 2), ("max", 2), ("shl", 2), ("shr", 2), ("and", 2), ("or", 2), ("xor", 2), ("neg", 1),
                ("not", 1), ("abs", 1), ("popc", 1), ("clz", 1), ("bfe", 3)]


def an_operand(random_, variables, bits):
    """A polynomial in the range of a register."""
    kind = random_.randrange(6)
    low, high = values.signed_range(bits)
    if kind == 0:
        return values.number(random_.choice([0, 1, -1, 2, 3, 7, 8, 12, 255, low, high, random_.randint(low, high)]) if bits > 8 else 1)
    p = values.number(random_.choice([0, 0, 1, -4, 100]))
    for variable in random_.sample(variables, random_.randint(1, 2)):
        p = values.add(p, values.scale(variable, random_.choice([1, 1, 4, 8, -1, 96, 1 << 20])))
    return values.wrap(p, bits)


def once(random_):
    values.reset()
    variables = [values.variable(low, high, "thread") for low, high in (
        (0, 31), (0, 1023), (-5, 9), (0, 1 << 20), (-(1 << 31), (1 << 31) - 1), (0, random_.randint(1, 500)))]
    chosen = {p.only_atom(): random_.choice([p.low, p.high, random_.randint(p.low, p.high)]) for p in variables}
    bits = random_.choice([16, 32, 32, 64])
    results = list(variables)
    for _ in range(random_.randint(1, 4)):
        text, count = random_.choice(INSTRUCTIONS)
        op = text.split(".")
        kind = random_.choice("su") + str(bits)
        if "wide" in op and bits == 64 or "mad" in op and "hi" in op and bits == 16:
            continue
        operands = [random_.choice(results) if random_.random() < .4 else an_operand(random_, variables, bits) for _ in range(count)]
        operands = [values.wrap(p, bits) for p in operands]
        if op[0] in ("div", "rem") and random_.random() < .8:
            operands[1] = values.number(random_.choice([1, 2, 3, 7, 10, 16, 96, 1000]))
        if op[0] in ("shl", "shr", "bfe"):
            operands[1] = values.number(random_.randrange(40)) if random_.random() < .7 else variables[random_.choice([0, 2])]
        if op[0] == "bfe":
            operands[2], kind = values.number(random_.randrange(33)), "u" + str(bits)
            if bits == 16:
                continue
        numbers = [value_of(p, chosen) for p in operands]
        if any(n is None for n in numbers):
            continue
        found, wanted = integers.INTEGER[op[0]](op, kind, bits, *operands), plain(op, kind, bits, numbers)
        if found is None or wanted is None:
            continue
        value = value_of(found, chosen)
        assert found.low <= wanted <= found.high and value in (None, wanted), (text, kind, operands, numbers, found, value, wanted)
        if "wide" not in op:
            results.append(found)
        compare(random_, operands[0], operands[-1], kind, bits, chosen)


def compare(random_, p, q, kind, bits, chosen):
    word = random_.choice(["lt", "le", "gt", "ge", "eq", "ne"])
    a, b = value_of(p, chosen), value_of(q, chosen)
    x, y = (p, q) if kind[0] == "s" else (values.unsigned(p, bits), values.unsigned(q, bits))
    if kind[0] != "s":
        a, b = a % (1 << bits), b % (1 << bits)
    wanted = {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": a != b}[word]
    c = machine._ordered(word, x, y)
    assert value_of(c, chosen) == wanted, (word, kind, p, q, a, b, c)
    assert value_of(values.negate(c), chosen) != wanted, ("not", word, kind, p, q, a, b)
    d = machine._ordered(random_.choice(["lt", "eq"]), x, values.number(random_.randrange(9)))
    for together, combine in ((values.both, all), (values.either, any)):
        assert value_of(together(c, d), chosen) == combine((wanted, value_of(d, chosen))), (c, d)
    assert value_of(values.choose(c, x, y), chosen) == (a if wanted else b)


def main():
    random_ = random.Random(int(sys.argv[1]))
    assert ptx.SIZES["u32"] == 4
    for _ in range(int(sys.argv[2])):
        once(random_)


if __name__ == "__main__":
    main()
