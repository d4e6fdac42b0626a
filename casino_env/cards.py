"""Card ids, names and sets (R1). A card set is an int64 with bit `id` set for each card."""

import re
from collections.abc import Iterable, Iterator

RANKS = "23456789TJQKA"
SUITS = "CDHS"
N_CARDS = 52
SUIT_COUNT = 4
FULL_DECK = (1 << N_CARDS) - 1

_CARD = re.compile(f"[{RANKS}][{SUITS}]")


def card_id(name: str) -> int:
    """Id of a card name such as `TD` (R1.2); ValueError if it is not one."""
    if not _CARD.fullmatch(name):
        raise ValueError(f"{name!r} is not a card: rank {' '.join(RANKS)} then suit {' '.join(SUITS)}")
    return SUIT_COUNT * RANKS.index(name[0]) + SUITS.index(name[1])


def card_name(card: int) -> str:
    """Name of a card id, e.g. 33 is `TD` (R1.1)."""
    return RANKS[card // SUIT_COUNT] + SUITS[card % SUIT_COUNT]


def parse_cards(text: str) -> list[int]:
    """Ids of the cards written one after another, in the order written; ValueError if malformed."""
    return [card_id(text[i : i + 2]) for i in range(0, len(text), 2)]


def card_set(cards: Iterable[int]) -> int:
    """The set of the given card ids; ValueError if one comes twice."""
    result = 0
    for card in cards:
        if result >> card & 1:
            raise ValueError(f"card {card_name(card)} appears twice")
        result |= 1 << card
    return result


def iter_cards(cards: int) -> Iterator[int]:
    """Card ids of a set, rising."""
    cards = int(cards)
    while cards:
        low = cards & -cards
        yield low.bit_length() - 1
        cards ^= low


def cards_text(cards: int) -> str:
    """Names of the cards of a set in id order, joined; empty for the empty set."""
    return "".join(map(card_name, iter_cards(cards)))


def suit_set(suit: str) -> int:
    """All 13 cards of a suit letter."""
    return card_set(range(SUITS.index(suit), N_CARDS, SUIT_COUNT))


ACES = card_set(parse_cards("ACADAHAS"))
SPADES = suit_set("S")
BIG_CASINO = card_id("TD")
LITTLE_CASINO = card_id("2S")
JACK_OF_SPADES = card_id("JS")
