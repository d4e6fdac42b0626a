"""What the terminal and the page of a replay say of a match in the same words."""

from collections.abc import Sequence

from casino_env.position import Position
from casino_env.rules import BIG, CARDS, LITTLE, SPADES_ITEM, side_count
from casino_env.scoring import NEAR_NONE, near_item

NEEDED = {
    CARDS: "most cards",
    SPADES_ITEM: "most spades",
    BIG: "the big casino",
    LITTLE: "the little casino",
}


def side_name(side: int, names: Sequence[str]) -> str:
    """Who scores together; `names` by seat."""
    return " and ".join(names[side :: side_count(len(names))])


def needed(position: Position, side: int) -> str:
    """What a near side has to get to win (R7.1), empty if it is not near."""
    return NEEDED.get(near_item(position.score[side], position.rules.table), "")


def special_count(position: Position, names: Sequence[str]) -> list[str]:
    """A sentence for each side whose points of the deal are not simply added, for its score before it."""
    table, told = position.rules.table, []
    for side, score in enumerate(position.score):
        before = f"{side_name(side, names)} had {score} of {table.target} before the deal"
        if needs := needed(position, side):
            told.append(f"{before}: only {needs} counts, and wins (R7.1).")
        elif table.near21 != NEAR_NONE and score >= table.target:
            told.append(f"{before}: sweeps do not count (R7.3).")
    return told
