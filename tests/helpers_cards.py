"""What the makers of random studies share: cards as texts, groups that sum, and the text of builds.

Owns no expected value and uses nothing of the engine.
"""

from typing import NamedTuple

from tests.helpers import DECK

RANKS = "23456789TJQKA"


class Build(NamedTuple):
    """A build of a study that is being made."""

    cards: list[str]
    multiple: bool
    owner: int


def low_value(card: str) -> int:
    """Printed value of a card, the ace low (R1.3)."""
    return 1 if card[0] == "A" else RANKS.index(card[0]) + 2


def worth(value: int, cards: list[str]) -> list[str]:
    """The first of the cards that captures the value in royal, if there is one."""
    return [card for card in cards if RANKS.index(card[0]) + 2 == value][:1]


def summing(value: int, cards: list[str]) -> list[str]:
    """Cards that sum to the value, from the first on; none if it does not come out even."""
    group: list[str] = []
    for card in cards:
        if low_value(card) <= value:
            group.append(card)
            value -= low_value(card)
    return [] if value else group


def without(cards: list[str], deck: list[str]) -> list[str]:
    """The rest of the deck."""
    return [card for card in deck if card not in cards]


def split_cards(text: str) -> list[str]:
    """The cards of a text, `-` for none."""
    return [] if text == "-" else [text[i : i + 2] for i in range(0, len(text), 2)]


def in_order(cards: list[str]) -> str:
    """The text of some cards as R9 writes it, `-` for none."""
    return "".join(sorted(cards, key=DECK.index)) or "-"


def builds_text(builds: dict[int, Build]) -> str:
    """The text of builds by value as R9 writes it, `-` for none."""
    texts = (
        f"{value}{'*' * build.multiple}={in_order(build.cards)}@{build.owner}"
        for value, build in sorted(builds.items())
    )
    return ",".join(texts) or "-"
