"""Other numbers for a command line."""
import random
import re

NUMBER = re.compile(r"((?:--?[A-Za-z][\w-]*=)?)([0-9]{1,9})")
PRIMES = (3, 5, 7, 13, 31, 61, 127, 251, 509, 1021)
POWERS = tuple(2 ** n for n in range(13))
SMALL = 64
ROUND = (10, 100, 200, 300, 500, 1000, 2000)


def numbers(arguments):
    """{place: what stands in front of a number there}, places from 1 on."""
    return {at: found[1] for at, argument in enumerate(arguments, 1) for found in [NUMBER.fullmatch(argument)] if found}


def values(number):
    """Those near the number, those near powers of two, primes and round ones; none of another order of size, but small ones."""
    near = [number + 1, number - 1, 1, 2, number + 2, number - 2, 3] + [2 * number + by for by in (-1, 0, 1)] + [number // 2, number // 2 + 1]
    far = [power + by for power in POWERS for by in (-1, 0, 1)] + [*PRIMES, *ROUND]
    return [value for value in dict.fromkeys(near + far) if value > 0 and value != number and value <= max(4 * number, 200)]


def smaller(arguments):
    """The same with no number above SMALL."""
    return [found[1] + str(min(int(found[2]), SMALL)) if found else argument
            for argument in arguments for found in [NUMBER.fullmatch(argument)]]


def variations(arguments, ranges):
    """These arguments first; then one number changed; then several, by chance, without end. ranges: {place: values}
    of those that are to be varied; none: all numbers, as values() has them."""
    places = numbers(arguments)
    choices = {at: list(some) for at, some in ranges.items()} or {at: values(int(NUMBER.fullmatch(arguments[at - 1])[2])) for at in places}
    told = {tuple(arguments)}
    yield list(arguments)

    def changed(picked):
        new = list(arguments)
        for at, value in picked.items():
            new[at - 1] = places.get(at, "") + str(value)
        if tuple(new) in told:
            return []
        told.add(tuple(new))
        return [new]

    chance = random.Random(1)
    # By turns, so that each number has had some values before the time is over.
    queues = [[{at: value} for value in some] for at, some in choices.items()]
    while any(queues):
        for queue in queues:
            if queue:
                yield from changed(queue.pop(0))
    misses = 0
    while len(choices) > 1 and misses < 100:
        new = changed({at: chance.choice(some) for at, some in choices.items()})
        misses = 0 if new else misses + 1
        yield from new
