"""Broken texts: valid ones with something changed, as a slip of the pen or of the transport would.

A mutation is a function of a text and a `random.Random`, so that a seed gives the same million texts, and
hypothesis can draw and shrink them by a random object of its own.
"""

import re
from collections.abc import Callable
from random import Random

SIGNS = "23456789TJQKACDHS /-,=*@[]+;01\n\r\t\0\u0663\u00b2\u00e9\u2028\u00a0"
DIGITS = "0123456789\u0663\u00b2\uff19\U0001d7d7"  # also those that only int() or str.isdigit() accept
RUNS = (3, 12, 400, 5000)  # digits; int() reads 4300
_CARD = re.compile("[2-9TJQKA][CDHS]")
_DIGIT = re.compile("[0-9]")


def mutate(text: str, rng: Random, separator: str = " ") -> str:
    """The text with one to three changes; it may come out as it was."""
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(MUTATIONS)(text, rng, separator)
    return text


def _delete(text: str, rng: Random, separator: str) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.choice((1, 1, 1, 2, 9)) :]


def _insert(text: str, rng: Random, separator: str) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(SIGNS) + text[at:]


def _replace(text: str, rng: Random, separator: str) -> str:
    at = rng.randint(0, len(text))
    return text[:at] + rng.choice(SIGNS) + text[at + 1 :]


def _swap_fields(text: str, rng: Random, separator: str) -> str:
    fields = text.split(separator)
    i, j = rng.randrange(len(fields)), rng.randrange(len(fields))
    fields[i], fields[j] = fields[j], fields[i]
    return separator.join(fields)


def _repeat_field(text: str, rng: Random, separator: str) -> str:
    fields = text.split(separator)
    fields[rng.randrange(len(fields))] = rng.choice(fields)
    return separator.join(fields)


def _repeat_card(text: str, rng: Random, separator: str) -> str:
    """A card once more, in the place of another or before it."""
    cards = list(_CARD.finditer(text))
    if not cards:
        return text
    at, end = rng.choice(cards).span()
    return text[:at] + rng.choice(cards)[0] + text[rng.choice((at, end)) :]


def _swap_cards(text: str, rng: Random, separator: str) -> str:
    """Two cards in each other's place: of all changes the one that most often leaves a position."""
    cards = list(_CARD.finditer(text))
    if len(cards) < 2:
        return text
    first, second = sorted(rng.sample(range(len(cards)), 2))
    (a, b), (c, d) = cards[first].span(), cards[second].span()
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _change_digit(text: str, rng: Random, separator: str) -> str:
    return _at_digit(text, rng, rng.choice(DIGITS))


def _stretch_digit(text: str, rng: Random, separator: str) -> str:
    return _at_digit(text, rng, rng.choice(DIGITS) * rng.choice(RUNS))


def _at_digit(text: str, rng: Random, digits: str) -> str:
    """The text with one digit replaced by others, or with them at its end."""
    found = list(_DIGIT.finditer(text))
    if not found:
        return text + digits
    at = rng.choice(found).start()
    return text[:at] + digits + text[at + 1 :]


MUTATIONS: tuple[Callable[[str, Random, str], str], ...] = (
    _delete,
    _insert,
    _replace,
    _swap_fields,
    _repeat_field,
    _repeat_card,
    _swap_cards,
    _change_digit,
    _stretch_digit,
)
