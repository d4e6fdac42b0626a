"""What holds of every position and every text, drawn by Hypothesis; a failure shrinks to a small example."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from casino_env import (
    CasinoError,
    IllegalMove,
    InvalidMove,
    InvalidPosition,
    InvalidRules,
    Move,
    Position,
    Rules,
)
from casino_env.arguments import quoted
from casino_env.invariants import check_state
from casino_env.notation import FIELDS
from casino_env.observation import observe_batch
from casino_env.rules import MAX_TARGET
from casino_env.view import see
from tests.helpers import TABLES, load_vectors
from tests.helpers_env import Speller, hide_again, position_of
from tests.strategies import hostile_texts, positions, studies

pytestmark = pytest.mark.filterwarnings("ignore::casino_env.MoveListCut")

EXAMPLES = 300  # positions of a test
HOSTILE = 800  # texts of a test
PLAYED = 40  # of a longer list of legal moves, about so many are tried
CARD = re.compile("[2-9TJQKA][CDHS]")
ROWS = load_vectors("rulebook")
TEXTS = [row["position"] for row in ROWS]
TEXTS += [str(Position.deal(seed=0, rules=rules, players=players)) for rules, players in TABLES]
HOSTILE_POSITIONS = hostile_texts(st.sampled_from(TEXTS), " ")
HOSTILE_RULES = hostile_texts(st.sampled_from([rules for rules, _ in TABLES]), ";")
SEEDS = 99  # the highest
NAMED = (  # a refused position names a field or what is broken
    f"a position has {len(FIELDS)} fields",
    *(f"field {number} ({name}) " for number, name in enumerate(FIELDS, 1)),
    *(f"field {number} ({name}): " for number, name in enumerate(FIELDS, 1)),
    "not a possible position: ",
)

of_positions = given(positions() | studies())


def some_moves(position: Position) -> list[Move]:
    """The legal moves, or of a long list every so many."""
    moves = position.legal_moves()
    return moves[:: 1 + len(moves) // PLAYED]


def refusal(error: CasinoError) -> str:
    """The message of an error, which a user reads: one line, whatever he wrote."""
    assert len(str(error).splitlines()) == 1
    return str(error)


@settings(max_examples=EXAMPLES)
@of_positions
def test_a_position_is_its_text(position: Position) -> None:
    assert Position.parse(str(position), position.is_partial) == position
    assert eval(repr(position), {"Position": Position}) == position


@settings(max_examples=EXAMPLES)
@of_positions
def test_a_move_is_its_text_its_number_and_its_tokens(position: Position) -> None:
    speller = Speller(position)
    for move in some_moves(position):
        assert Move.parse(str(move)) == Move.unpack(move.packed) == move
        assert speller.read(speller.spell(move)) == move


@settings(max_examples=EXAMPLES)
@of_positions
def test_every_move_keeps_the_invariants(position: Position) -> None:
    """R2, R4.7, R1.1: what `check_state` names, and no card comes or goes."""
    cards = sorted(CARD.findall(str(position)))
    for after in (position, *map(position.play, some_moves(position))):
        assert check_state(after.state, 0, after.rules.table, after.is_partial) is None
        assert sorted(CARD.findall(str(after))) == cards
        assert after.is_partial == position.is_partial


@settings(max_examples=EXAMPLES)
@given(positions())
def test_there_is_a_move_until_the_deal_is_over(position: Position) -> None:
    """R4.7, R5.2."""
    assert bool(position.legal_moves()) != position.is_over


def seen(position: Position, seat: int) -> bytes:
    """All that a seat sees, and its observation."""
    view = see(position.state, np.array([seat]))
    return b"".join(part.tobytes() for part in (*view, observe_batch(view, position.rules.table)))


@settings(max_examples=EXAMPLES)
@given(positions() | studies(), st.integers(0, SEEDS))
def test_hidden_cards_change_nothing_for_who_acts(position: Position, seed: int) -> None:
    """Neither what he may do nor what he sees, also after his move, unless hands are dealt then."""
    twin = position_of(hide_again(position.state, np.random.default_rng(seed)), 0, str(position.rules))
    assert position.legal_moves() == twin.legal_moves()
    assert seen(position, position.turn) == seen(twin, position.turn)
    for move in some_moves(position):
        after, other = position.play(move), twin.play(move)
        if after.state.dealt[0] == position.state.dealt[0]:
            assert seen(after, position.turn) == seen(other, position.turn)


@pytest.mark.jitless
@settings(max_examples=HOSTILE)
@given(HOSTILE_POSITIONS, st.booleans())
def test_a_hostile_position_is_read_or_refused(text: str, partial: bool) -> None:
    try:
        position = Position.parse(text, partial)
    except InvalidPosition as error:
        assert refusal(error).startswith(NAMED)
        return
    assert str(position) == text
    for move in some_moves(position):
        assert Position.parse(str(position.play(move)), partial=True)


@st.composite
def hostile_moves(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """A row of the rule book, and a text made from one of its legal moves."""
    row = draw(st.sampled_from(ROWS))
    return row, draw(hostile_texts(st.sampled_from(row["legal"]), "+"))


@pytest.mark.jitless
@settings(max_examples=HOSTILE)
@given(hostile_moves())
def test_a_hostile_move_is_played_or_refused(drawn: tuple[dict[str, Any], str]) -> None:
    row, text = drawn
    try:
        move = Move.parse(text)
    except InvalidMove as error:
        assert refusal(error).startswith(f"{quoted(text)} is not a move: ")
        return
    assert str(move) == text
    assert Move.unpack(move.packed) == move
    position = Position.parse(row["position"], partial=True)
    if text in row["legal"]:
        position.play(text)
        return
    with pytest.raises(IllegalMove) as caught:
        position.play(text)
    assert refusal(caught.value).startswith(f"illegal move {text}: ")


@pytest.mark.jitless
@settings(max_examples=HOSTILE)
@given(HOSTILE_RULES)
def test_a_hostile_rule_set_is_read_or_refused(text: str) -> None:
    try:
        rules = Rules.parse(text)
    except InvalidRules as error:
        assert "rule" in refusal(error)
        return
    assert str(rules) == text
    assert 1 <= rules.table.target <= MAX_TARGET
