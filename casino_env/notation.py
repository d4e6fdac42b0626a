"""The text form of a position (R9), exact both ways. The text form of a move is in `moves`."""

import re

import numpy as np

from casino_env.arguments import quoted
from casino_env.cards import N_CARDS, card_name, card_set, cards_text, parse_cards
from casino_env.errors import InvalidPosition, InvalidRules
from casino_env.invariants import check_state
from casino_env.rules import ACE_HIGH, LOWEST_VALUE, MAX_COUNT, PLAYER_COUNTS, Rules, side_count
from casino_env.state import NOBODY, VALUES, IntArray, State, build_owner, empty_state

FIELDS = (
    "rule set",
    "hands",
    "loose cards",
    "builds",
    "captured cards",
    "stock",
    "seat to act",
    "seat that captured last",
    "sweeps",
    "match score",
    "dealer",
)
_BUILD = re.compile(r"([0-9]{1,2})(\*?)=([2-9TJQKACDHS]+)@([0-9])")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")


def format_position(state: State, game: int, rules: Rules) -> str:
    """The R9 text of one game of a batch."""
    stock = state.deck[game, state.dealt[game] :]
    last = state.last_capture[game]
    fields = [
        str(rules),
        "/".join(_cards_or_dash(hand) for hand in state.hands[game]),
        _cards_or_dash(state.loose[game]),
        ",".join(_format_builds(state, game)) or "-",
        "/".join(_cards_or_dash(cards) for cards in state.captured[game]),
        "".join(map(card_name, stock)) or "-",
        str(state.turn[game]),
        "-" if last == NOBODY else str(last),
        "/".join(map(str, state.sweeps[game])),
        "/".join(map(str, state.score[game])),
        str(state.dealer[game]),
    ]
    return " ".join(fields)


def parse_position(text: str, partial: bool = False) -> tuple[Rules, State]:
    """Read the R9 text into a batch of one game; InvalidPosition names the field or broken invariant.

    `partial` accepts, for studies, a position that lacks cards, whose owners need not hold the
    promised card, and whose hands may be larger than four.
    """
    fields = text.split(" ")
    if len(fields) != len(FIELDS):
        raise InvalidPosition(f"a position has {len(FIELDS)} fields separated by a space, not {len(fields)}")
    try:
        rules = Rules.parse(fields[0])
    except InvalidRules as error:
        raise InvalidPosition(f"field 1 (rule set): {error}") from None
    state = _fill_state(fields)
    broken = check_state(state, 0, rules.table, partial)
    if broken:
        raise InvalidPosition(f"not a possible position: {broken}")
    written = format_position(state, 0, rules)
    if written != text:
        index = next(i for i, field in enumerate(written.split(" ")) if field != fields[i])
        raise InvalidPosition(f"field {index + 1} ({FIELDS[index]}) is written '{written.split(' ')[index]}'")
    return rules, state


def _fill_state(fields: list[str]) -> State:
    players = fields[1].count("/") + 1
    if players not in PLAYER_COUNTS:
        raise InvalidPosition(f"field 2 (hands): {players} hands; valid: 2, 3 or 4 separated by '/'")
    state = empty_state(1, players)
    state.hands[0] = [_read_set(fields, 1, part) for part in _parts(fields, 1, players)]
    state.loose[0] = _read_set(fields, 2, fields[2])
    _read_builds(fields, state)
    state.captured[0] = [_read_set(fields, 4, part) for part in _parts(fields, 4, players)]
    stock = _read_list(fields, 5, fields[5])
    state.dealt[0] = N_CARDS - len(stock)
    state.deck[0, N_CARDS - len(stock) :] = stock
    state.turn[0] = _read_seat(fields, 6, players)
    state.last_capture[0] = NOBODY if fields[7] == "-" else _read_seat(fields, 7, players)
    state.sweeps[0] = _read_numbers(fields, 8, players)
    state.score[0] = _read_numbers(fields, 9, side_count(players))
    state.dealer[0] = _read_seat(fields, 10, players)
    return state


def _read_builds(fields: list[str], state: State) -> None:
    if fields[3] == "-":
        return
    players = state.hands.shape[1]
    for part in fields[3].split(","):
        match = _BUILD.fullmatch(part)
        if not match:
            raise _error(3, f"{quoted(part)} is not a build such as 9=4C5H@1 or 9*=4C5H9D@1")
        value, owner = int(match[1]), int(match[4])
        if not LOWEST_VALUE <= value <= ACE_HIGH or owner >= players:
            raise _error(3, f"'{part}' has no value from 2 to 14 or no seat from 0 to {players - 1}")
        if state.build_cards[0, value]:
            raise _error(3, f"two builds of {value}")
        state.build_cards[0, value] = _read_set(fields, 3, match[3])
        state.owned[0, owner] |= 1 << value
        state.multiple[0] |= bool(match[2]) << value


def _format_builds(state: State, game: int) -> list[str]:
    texts = []
    for value in range(VALUES):
        owner = build_owner(state.owned, game, value)
        if owner != NOBODY:
            multiple = "*" if state.multiple[game] >> value & 1 else ""
            texts.append(f"{value}{multiple}={cards_text(state.build_cards[game, value])}@{owner}")
    return texts


def _cards_or_dash(cards: int) -> str:
    return cards_text(cards) or "-"


def _parts(fields: list[str], index: int, count: int) -> list[str]:
    parts = fields[index].split("/")
    if len(parts) != count:
        raise _error(index, f"{len(parts)} entries separated by '/'; valid: {count}")
    return parts


def _read_list(fields: list[str], index: int, text: str) -> list[int]:
    try:
        cards = [] if text == "-" else parse_cards(text)
        card_set(cards)
    except ValueError as error:
        raise _error(index, str(error)) from None
    if not cards and text != "-":
        raise _error(index, "an empty entry is written '-'")
    return cards


def _read_set(fields: list[str], index: int, text: str) -> int:
    return card_set(_read_list(fields, index, text))


def _read_seat(fields: list[str], index: int, players: int) -> int:
    if fields[index] not in map(str, range(players)):
        raise _error(index, f"{quoted(fields[index])} is not a seat; valid: 0 to {players - 1}")
    return int(fields[index])


def _read_numbers(fields: list[str], index: int, count: int) -> IntArray:
    parts = _parts(fields, index, count)
    for part in parts:
        if not _NUMBER.fullmatch(part) or int(part) > MAX_COUNT:
            raise _error(index, f"{quoted(part)} is not a count from 0 to {MAX_COUNT}")
    return np.array([int(part) for part in parts], np.int64)


def _error(index: int, reason: str) -> InvalidPosition:
    return InvalidPosition(f"field {index + 1} ({FIELDS[index]}): {reason}")
