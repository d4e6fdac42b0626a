"""Spelling a move in tokens of one fixed space, `Discrete(236)`: exact, without any bound on their number.

Every legal move has a spelling, every completed spelling is a legal move, and no prefix is a dead end.
Parts come in one order: the pile first if at all, then loose cards group by group; rising ids within a
group, groups by rising first card, the played card's group before the others. An ace opening a group of
14 counts 14. Forced cards (R3.3) are taken without being named. Owns what each token does to an unfinished
move; which are legal next is in `masks`.
"""

from collections.abc import Iterable
from typing import NamedTuple

from casino_env.cards import N_CARDS, card_name
from casino_env.groups import is_alone
from casino_env.jit import inner_kernel, kernel
from casino_env.moves import NO_MOVE, pack
from casino_env.rules import ACE_HIGH, LOWEST_VALUE, RuleTable, hand_value, is_paired, sum_value
from casino_env.state import IntArray
from casino_env.turn import Table, forced_cards

TRAIL, CAPTURE, BUILD, TAKE = 0, N_CARDS, 2 * N_CARDS, 3 * N_CARDS
VALUE = 4 * N_CARDS  # VALUE + v - 2 for v = 2 … 14
VALUE_ACE_HIGH = VALUE + 13  # 14, the played ace counting 14
PILE = VALUE_ACE_HIGH + 1  # PILE + v - 2
DONE = PILE + 13
N_TOKENS = DONE + 1

NOT_STARTED, CAPTURING, BUILDING = 0, 1, 2
MAX_TOKENS = N_CARDS + 4  # the longest spelling: card, value, pile, every other card, done


class Spelling(NamedTuple):
    """An unfinished move. Numbers and card sets are those of the tokens named so far."""

    kind: int = NOT_STARTED
    card: int = -1  # the played card
    value: int = 0  # of the capture or the build; 0 until VALUE is named
    high: int = 0  # 1: the played ace counts 14
    pile: int = 0  # 1: PILE was named
    used: int = 0  # loose cards named
    need: int = 0  # what the open group lacks, 0 if none is open
    group: int = 0  # loose cards of the open group
    first: int = -1  # first card of the latest group of loose cards only


EMPTY = Spelling()


@inner_kernel
def kept_spelling(words: IntArray) -> Spelling:
    """The spelling that `keep_spelling` wrote to an array, int64[9]."""
    kind, card, value, high, pile = words[0], words[1], words[2], words[3], words[4]
    return Spelling(kind, card, value, high, pile, words[5], words[6], words[7], words[8])


@inner_kernel
def keep_spelling(spelling: Spelling, words: IntArray) -> None:
    """Write the fields of a spelling to an array, int64[9]."""
    for i, word in enumerate(spelling):
        words[i] = word


def token_name(token: int) -> str:
    """Readable name of a token, e.g. `TAKE 4H` or `VALUE 9`."""
    names = {TRAIL: "TRAIL", CAPTURE: "CAPTURE", BUILD: "BUILD", TAKE: "TAKE"}
    if token < VALUE:
        return f"{names[token // N_CARDS * N_CARDS]} {card_name(token % N_CARDS)}"
    if token == DONE:
        return "DONE"
    if token == VALUE_ACE_HIGH:
        return f"VALUE {ACE_HIGH} (ace high)"
    name, base = ("PILE", PILE) if token >= PILE else ("VALUE", VALUE)
    return f"{name} {token - base + LOWEST_VALUE}"


def token_names(tokens: Iterable[int]) -> str:
    """Readable names in a row."""
    return ", ".join(map(token_name, tokens))


@kernel
def advance(rules: RuleTable, table: Table, spelling: Spelling, token: int) -> tuple[Spelling, int]:
    """Name a legal token: the new spelling, and the packed move if it is complete, else NO_MOVE."""
    kind, card, value, high, pile, used, need, group, first = spelling
    if token < CAPTURE:
        return EMPTY, pack(token, 0, 0, 0, 0)
    if token == DONE:
        return EMPTY, _completed(rules, table, spelling)
    if token < BUILD:
        kind, card = CAPTURING, token - CAPTURE
        value = hand_value(rules, card)
    elif token < TAKE:
        kind, card = BUILDING, token - BUILD
    elif token < VALUE:
        used, need, group, first = _take(rules, spelling, token - TAKE)
    elif token == VALUE_ACE_HIGH:
        value, high = ACE_HIGH, 1
    elif token < PILE:
        value = token - VALUE + LOWEST_VALUE
        need = value - sum_value(rules, card)
    else:
        pile, need = 1, 0
    return Spelling(kind, card, value, high, pile, used, need, group, first), NO_MOVE


@inner_kernel
def _take(rules: RuleTable, spelling: Spelling, card: int) -> tuple[int, int, int, int]:
    """Used cards, need, open group and first card after TAKE `card`."""
    need, group, first = spelling.need, spelling.group, spelling.first
    if is_paired(rules, spelling.card) and spelling.kind == CAPTURING:
        return spelling.used | 1 << card, 0, 0, card
    if need == 0:
        first = card
        alone = is_alone(rules, card, spelling.value)
        need = 0 if alone else spelling.value - sum_value(rules, card)
    else:
        need -= sum_value(rules, card)
    group = group | 1 << card if need else 0
    return spelling.used | 1 << card, need, group, first


@inner_kernel
def _completed(rules: RuleTable, table: Table, spelling: Spelling) -> int:
    card, value = spelling.card, spelling.value
    if spelling.kind == CAPTURING:
        return pack(card, spelling.used | forced_cards(rules, table, card), 0, spelling.pile, 0)
    return pack(card, spelling.used, value, table.standing >> value & 1, spelling.pile)
