"""The soak and what it checks: nothing breaks in random games, and what is broken on purpose is found.

A broken state must be named by both checkers: the readable one of a single game and the compiled one.
"""

import random
from collections import Counter
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import pytest

from agents import soak
from agents.cli import main
from casino_env import InvalidPosition, Move, Position, Rules
from casino_env import soundness as sound
from casino_env import transitions as turn
from casino_env.cards import card_id, card_set
from casino_env.engine import apply_batch
from casino_env.groups import group_count, splits
from casino_env.invariants import check_state
from casino_env.rules import TURNS
from casino_env.soundness import SOUND, check_batch, count_groups
from casino_env.state import NOBODY, VALUES, IntArray, State
from casino_env.transitions import Turns, check_ends, check_lists, check_score, check_turns
from tests.helpers import STYLES, TABLES, deal_arguments, load_vectors, random_line
from tests.mutations import mutate

ROYAL, PLAIN, DRAWS, TINY = map(Rules.parse, ("royal", "plain", "royal;draw=yes", "royal;size=tiny"))
START = Position.deal(seed=7)
DRAWING = Position.deal(seed=7, rules=DRAWS)
SMALL = Position.deal(deck="AC2D3S2CAD3CAS2S3D", rules=TINY)  # 2C3S/2DAC AD
MIDDLE = Position.parse(
    "royal 3D7HJD/9HTDJC 7DJSKD 7=2S5H@0,9*=9C9D@1 3H3S4C4D6C6S8DTCTSQCACAS/2C2D5D5S6H8C8SQSKHKSAH "
    "QH9S5C4S7STH4H3C2HJHKC8HQD6D7CAD 1 0 0/1 0/0 0"
)
DEALING = Position.parse(  # the last card of a hand, so that hands are dealt after it
    "royal 7S/- 5D7D8H - 3S4C6SJDJHJSQSKDKSAS/2D4H4S6C6H8C8STDTHTSQCQHADAH "
    "QD9C2CTCJC9D8D5S4D7H3D9S7CKC6D9HAC2H3HKH3C2S5C5H 0 1 0/0 0/0 0"
)
SWEEPING = Position.parse(
    "royal 5S9STDQD/3D5H9DAS 5D9H - 2C2D2H2S3C3H3S4C4D5C6C6D6H7D8C8D8H8S9CTCTHTSJCJDJHJSQSKSACADAH/"
    "4H4S6S7C7H7SQCQHKCKDKH - 1 1 0/0 0/0 0"
)
LAST = Position.parse(  # the last turn of a deal
    "royal 3D/- 3S5H6SJCQH - 6D6H7C7D7S8C8HQDQSKCKDAH/"
    "2C2D2H2S3C3H4C4D4H4S5C5D5S6C7H8D8S9C9D9H9STCTDTHTSJDJHJSQCKHKSACADAS - 0 1 2/0 0/0 0"
)
TURNS_PLAYED = {  # each a move, the position and the turns of the deal with it
    "capture": ("9H*[9]", MIDDLE, 27),
    "trail": ("KH", START, 1),
    "build": ("8H+3C=11", START, 1),
    "deal": ("7S*7D", DEALING, 24),
    "sweep": ("AS*5D9H", SWEEPING, 41),
    "last": ("3D*3S", LAST, 48),
}

SOAK_TURNS = 20_000
TEXTS, TEXTS_SLOW = 5_000, 1_000_000
LONGEST_PARSE = 1.0  # seconds

Change = Callable[[State], None]


def put(state: State, cards: str, *places: str) -> None:
    """Take cards such as `3D7H` off each place where they are and put them where they are not."""
    chosen = card_set(card_id(cards[i : i + 2]) for i in range(0, len(cards), 2))
    for place in places:
        pile, _, index = place.partition(" ")
        arrays = {"hand": state.hands, "captured": state.captured, "build": state.build_cards}
        if pile == "loose":
            state.loose[0] ^= chosen
        else:
            arrays[pile][0, int(index)] ^= chosen


def moved(cards: str, *places: str) -> Change:
    """A change that puts cards elsewhere."""
    return lambda state: put(state, cards, *places)


def set_to(name: str, value: int, *index: int) -> Change:
    """A change of one number of a state."""

    def change(state: State) -> None:
        getattr(state, name)[(0, *index)] = value

    return change


def both(*changes: Change) -> Change:
    """Changes one after another."""

    def change(state: State) -> None:
        for one in changes:
            one(state)

    return change


def owned(value: int, cards: str, place: str) -> Change:
    """A change that makes cards of a place a build of seat 0."""
    return both(moved(cards, place, f"build {value}"), given_to(0, value))


def given_to(owner: int, value: int) -> Change:
    """A change of the owner of a build, which may be NOBODY."""

    def change(state: State) -> None:
        state.owned[0] &= ~(1 << value)
        if owner != NOBODY:
            state.owned[0, owner] |= 1 << value

    return change


def flipped(name: str, value: int, *index: int) -> Change:
    """A change of whether a value is in a set of build values."""

    def change(state: State) -> None:
        getattr(state, name)[(0, *index)] ^= 1 << value

    return change


def state_code(state: State, rules: Rules) -> int:
    """What the compiled checker says of one game."""
    codes = np.full(1, -1, np.int64)
    check_batch(state, rules.table, codes)
    return int(codes[0])


def agree(state: State, rules: Rules) -> int:
    """The code of one game, for which the readable checker must have the sentence."""
    code, sentence = state_code(state, rules), check_state(state, 0, rules.table)
    alike = sentence is None if code == SOUND else sentence and sound.BROKEN[code] in sentence
    assert alike, f"{sound.BROKEN.get(code, 'sound')}: {sentence}"
    return code


BREAKS = [  # the code, what breaks MIDDLE (or DRAWING) so, and the rule set
    (sound.TWICE, moved("3D", "loose"), ROYAL),
    (sound.TWICE, moved("2S", "captured 0"), ROYAL),
    (sound.TWICE, moved("QH", "hand 0"), ROYAL),
    (sound.MISSING, moved("7D", "loose"), ROYAL),
    (sound.MISSING, moved("5H", "build 7"), ROYAL),
    (sound.UNEVEN, moved("3D", "hand 0", "loose"), ROYAL),
    (sound.UNEVEN, set_to("turn", 0), ROYAL),
    (sound.UNEVEN, set_to("dealer", 1), ROYAL),
    (sound.LARGE, both(set_to("dealt", 40), moved("QH9S", "hand 0"), moved("5C4S", "hand 1")), ROYAL),
    (sound.BAD_STOCK, both(set_to("dealt", 37), moved("QH", "captured 0")), ROYAL),
    (
        sound.NO_HANDS,
        both(moved("3D7HJD", "hand 0", "loose"), moved("9HTDJC", "hand 1", "loose")),
        ROYAL,
    ),
    (sound.NO_VALUE, owned(1, "7DKD", "loose"), ROYAL),
    (sound.NO_VALUE, owned(11, "JS", "loose"), PLAIN),
    (sound.NO_SPLIT, moved("JS", "loose", "build 7"), ROYAL),
    (sound.NO_SPLIT, moved("5H", "loose", "build 7"), ROYAL),
    (sound.NO_SPLIT, moved("9C", "loose", "build 9"), ROYAL),
    (sound.NO_SPLIT, moved("5H", "build 7", "build 9"), ROYAL),
    (sound.NO_SPLIT, moved("QC", "captured 0", "build 9"), PLAIN),  # R8: a queen is worth nothing
    (sound.MARK, flipped("multiple", 7), ROYAL),
    (sound.MARK, flipped("multiple", 9), ROYAL),
    (sound.MARK, moved("7D", "loose", "build 7"), ROYAL),
    (sound.PROMISE, given_to(1, 7), ROYAL),
    (sound.FOREIGN, moved("KH", "loose"), TINY),
    (sound.FOREIGN, moved("3S4S", "hand 0"), TINY),
    (sound.SMALL, both(moved("2C", "hand 0", "loose"), moved("4H", "hand 1", "loose")), DRAWS),
    (sound.BAD_STOCK, set_to("turn", 0), DRAWS),
    (sound.UNEVEN, moved("2C", "hand 0", "loose"), DRAWS),
    (sound.PROMISE, both(moved("7HKD", "hand 0", "loose"), moved("5H4D", "build 3", "build 3")), ROYAL),
]
STRAYS = [  # what no text of a position can say, so that only arrays break so
    (sound.STRAY, given_to(NOBODY, 7)),
    (sound.STRAY, flipped("owned", 7, 1)),
    (sound.STRAY, flipped("multiple", 5)),
    (sound.STRAY, flipped("multiple", 15)),
    (sound.NO_SEAT, set_to("turn", 2)),
    (sound.NO_SEAT, set_to("dealer", -1)),
    (sound.NO_SEAT, set_to("last_capture", 2)),
    (sound.NO_SEAT, set_to("dealt", 53)),
]


@pytest.mark.jitless
@pytest.mark.parametrize(("code", "change", "rules"), BREAKS)
def test_both_checkers_name_what_is_broken(code: int, change: Change, rules: Rules) -> None:
    state = {DRAWS: DRAWING, TINY: SMALL}.get(rules, MIDDLE).state
    assert agree(state, rules) == SOUND
    change(state)
    assert agree(state, rules) == code


@pytest.mark.jitless
@pytest.mark.parametrize(("code", "change"), STRAYS)
def test_arrays_that_no_text_can_write(code: int, change: Change) -> None:
    state = MIDDLE.state
    change(state)
    assert agree(state, ROYAL) == code


def disturb(state: State, rng: random.Random) -> None:
    """Change one or two things of one game at random: mostly broken then, at times another position."""
    standing = np.flatnonzero(state.build_cards[0]).tolist()
    for _ in range(rng.randint(1, 2)):
        kind = rng.choice(("move", "swap", "swap", "drop", "turn", "build"))
        if kind == "turn":
            state.turn[0] = rng.randrange(state.hands.shape[1])
        elif kind == "build" and standing:
            disturb_build(state, rng.choice(standing), rng)
            return
        else:
            disturb_cards(state, standing, kind, rng)


def disturb_cards(state: State, standing: list[int], kind: str, rng: random.Random) -> None:
    """Move, swap or drop cards; without a card in a place it may also bring one in twice."""
    piles: list[tuple[IntArray, Any]] = [(state.loose, 0)]
    piles += [(array, (0, seat)) for array in (state.hands, state.captured) for seat in range(array.shape[1])]
    piles += [(state.build_cards, (0, value)) for value in standing]
    (one, at), (other, to) = rng.choice(piles), rng.choice(piles)
    first, second = (1 << rng.choice(cards_of(array[index])) for array, index in ((one, at), (other, to)))
    change = {"swap": first | second, "drop": 0}.get(kind, first)
    one[at] ^= change or first
    other[to] ^= change


def cards_of(cards: int) -> list[int]:
    return [card for card in range(52) if int(cards) >> card & 1] or [0]


def disturb_build(state: State, value: int, rng: random.Random) -> None:
    """Change the mark, owner or value of a build."""
    kind = rng.randrange(3)
    if kind == 0:
        flipped("multiple", value)(state)
    elif kind == 1:
        given_to(rng.randrange(state.hands.shape[1]), value)(state)
    else:
        new = rng.randrange(VALUES)
        state.build_cards[0, [value, new]] = state.build_cards[0, [new, value]]
        for sets in (state.owned, state.multiple):
            differ = (sets[0] >> value ^ sets[0] >> new) & 1
            sets[0] ^= differ << value | differ << new


def test_the_checkers_agree_on_disturbed_states() -> None:
    rng, seen = random.Random(0), Counter[int]()
    for rules, players in TABLES:
        for style in ("builds", "builds", "trails"):
            start = Position.deal(**deal_arguments(rules, players, rng))
            for position, _, _ in random_line(start, style, rng):
                assert agree(position.state, position.rules) == SOUND
                for _ in range(4):
                    state = position.state
                    disturb(state, rng)
                    seen[agree(state, position.rules)] += 1
    rare = {sound.NO_SEAT, sound.STRAY, sound.LARGE, sound.SMALL, sound.BAD_STOCK, sound.NO_HANDS}
    rare |= {sound.FOREIGN}
    assert min(seen[code] for code in {SOUND, *sound.BROKEN} - rare) >= 3, seen


@pytest.mark.parametrize("rules", ["royal", "plain"])
def test_groups_are_counted_alike_in_two_ways(rules: str) -> None:
    table, rng, found = Rules.parse(rules).table, random.Random(rules), Counter[bool]()
    top = 14 if rules == "royal" else 10
    worths = [rank for rank in range(13) if rules == "royal" or rank not in (9, 10, 11)]
    for _ in range(6_000):
        ranks = rng.sample(worths, rng.randint(2, len(worths)))  # mostly of few ranks, so that more split
        pool = [4 * rank + suit for rank in ranks for suit in range(4)]
        cards = card_set(rng.sample(pool, rng.randint(1, min(12, len(pool)))))
        value = rng.randint(2, top)
        split = splits(table, cards, value, 0, np.zeros(52, np.int64)) >= 0
        assert count_groups(table, cards, value) == (group_count(table, cards, value) if split else 0)
        found[split] += 1
    assert min(found[True], found[False]) > 100, found


def test_groups_beyond_the_table_of_sums() -> None:
    """The 36 cards from 2 to 10 are worth 216."""
    assert count_groups(ROYAL.table, (1 << 36) - 1, 12) == 18
    assert count_groups(ROYAL.table, (1 << 36) - 1, 10) == 0


def one_turn(move: str, position: Position, played: int) -> Turns:
    """A turn that the engine played."""
    before, after, over = position.state, position.state, np.zeros(1, np.bool_)
    moves = np.array([Move.parse(move).packed])
    apply_batch(after, position.rules.table, moves, over)
    return Turns(before, moves, after, over, played)


def turn_code(turns: Turns) -> int:
    """What is wrong with the turn of one game."""
    codes = np.full(1, -1, np.int64)
    check_turns(turns, ROYAL.table, codes)
    return int(codes[0])


def swap_dealt(state: State) -> None:
    state.deck[0, [0, 1]] = state.deck[0, [1, 0]]


TURN_BREAKS = [  # the code, the turn, and what of the state after it is changed
    (turn.FIXED, "trail", set_to("turn", 1)),
    (turn.FIXED, "trail", set_to("dealer", 1)),
    (turn.FIXED, "trail", set_to("score", 1, 0)),
    (turn.FIXED, "build", swap_dealt),
    (turn.ENDS, "trail", set_to("dealt", 13)),
    (turn.ENDS, "deal", moved("3C", "hand 0", "loose")),
    (turn.HANDS, "trail", moved("2C", "hand 0", "hand 1")),
    (turn.HANDS, "capture", moved("3DTD", "hand 0", "hand 1")),
    (turn.BUILD_LEFT, "deal", owned(7, "3S4C", "captured 0")),
    (turn.BUILD_LEFT, "last", owned(5, "2H3C", "captured 1")),
    (turn.PLACE, "trail", moved("KH", "loose", "captured 1")),
    (turn.PLACE, "capture", moved("9H", "captured 1", "loose")),
    (turn.PLACE, "capture", moved("9H", "captured 1", "captured 0")),
    (turn.PLACE, "build", given_to(0, 11)),
    (turn.PLACE, "build", moved("3C", "build 11", "loose")),
    (turn.CAPTURED, "capture", moved("2C", "captured 1", "captured 0")),
    (turn.CAPTURED, "capture", moved("KD", "loose", "captured 0")),
    (turn.CAPTURED, "trail", moved("3C", "loose", "captured 0")),
    (turn.CAPTURED, "capture", set_to("last_capture", 0)),
    (turn.CAPTURED, "trail", set_to("last_capture", 1)),
    (turn.SWEPT, "capture", set_to("sweeps", 1, 0)),
    (turn.SWEPT, "capture", set_to("sweeps", 0, 1)),
    (turn.SWEPT, "sweep", set_to("sweeps", 0, 1)),
    (turn.SWEPT, "last", set_to("sweeps", 3, 0)),
]


@pytest.mark.jitless
@pytest.mark.parametrize("name", TURNS_PLAYED)
def test_turns_that_the_engine_played_are_sound(name: str) -> None:
    turns = one_turn(*TURNS_PLAYED[name])
    assert turn_code(turns) == SOUND
    assert turn_code(turns._replace(played=turns.played - 1)) == turn.ENDS
    assert turn_code(turns._replace(over=~turns.over)) == turn.ENDS


@pytest.mark.jitless
@pytest.mark.parametrize(("code", "name", "change"), TURN_BREAKS)
def test_what_a_turn_did_wrong_is_named(code: int, name: str, change: Change) -> None:
    turns = one_turn(*TURNS_PLAYED[name])
    change(turns.after)
    assert turn_code(turns) == code


@pytest.mark.jitless
def test_an_illegal_move_is_named() -> None:
    turns = one_turn(*TURNS_PLAYED["capture"])
    turns.moves[0] = Move.parse("TD").packed  # a trail, which an owner may not
    assert turn_code(turns) == turn.ILLEGAL


LIST_BREAKS = [  # the code, the position and how many moves its list is said to have
    (turn.STUCK, START, 0),
    (turn.OWNER_STUCK, MIDDLE, 0),
    (turn.NOT_STUCK, LAST.play("3D*3S"), 1),
    (SOUND, START, 11),
    (SOUND, LAST.play("3D*3S"), 0),
]


@pytest.mark.jitless
@pytest.mark.parametrize(("code", "position", "listed"), LIST_BREAKS)
def test_a_seat_without_a_move_is_named(code: int, position: Position, listed: int) -> None:
    codes = np.full(1, -1, np.int64)
    check_lists(position.state, np.array([0, listed]), codes)
    assert codes[0] == code


END_BREAKS = [
    (turn.LEFT_OVER, moved("3D", "captured 0", "loose")),
    (turn.POINTS, set_to("last_capture", NOBODY)),  # whoever captured nothing has no points
    (SOUND, both()),
]
SCORE_BREAKS = [  # the code, old and new score, and the winner; LAST brings 1 and 2 sweeps against 10
    (turn.SETTLED, (0, 0), (4, 10), NOBODY),
    (turn.SETTLED, (0, 0), (3, 0), NOBODY),
    (turn.SETTLED, (0, 18), (3, 28), 1),  # R7.1: it is frozen, and then wins with 21
    (turn.SETTLED, (20, 0), (22, 10), 0),  # R7.1, R7.3
    (turn.SETTLED, (22, 0), (25, 10), 0),  # R7.3
    (turn.WINNER, (0, 0), (3, 10), 1),
    (turn.WINNER, (0, 11), (3, 21), NOBODY),
    (turn.WINNER, (20, 11), (20, 21), 0),
    (turn.WINNER, (0, 18), (3, 21), NOBODY),
    (turn.WINNER, (0, 18), (3, 21), 0),
    (turn.WINNER, (21, 12), (22, 22), 0),  # R7.4
    (SOUND, (0, 0), (3, 10), NOBODY),
    (SOUND, (0, 11), (3, 21), 1),
    (SOUND, (0, 18), (3, 21), 1),
    (SOUND, (20, 0), (20, 10), NOBODY),
    (SOUND, (22, 0), (23, 10), 0),
    (SOUND, (21, 12), (22, 22), NOBODY),
    (SOUND, (22, 18), (23, 21), 1),  # R7.2
]


@pytest.mark.jitless
@pytest.mark.parametrize(("code", "change"), END_BREAKS)
def test_an_end_that_does_not_add_up_is_named(code: int, change: Change) -> None:
    state, codes = LAST.play("3D*3S").state, np.full(1, -1, np.int64)
    change(state)
    check_ends(state, ROYAL.table, codes)
    assert codes[0] == code


@pytest.mark.jitless
@pytest.mark.parametrize(("code", "score", "settled", "winner"), SCORE_BREAKS)
def test_a_score_that_does_not_follow_is_named(
    code: int, score: tuple[int, int], settled: tuple[int, int], winner: int
) -> None:
    points = np.array([list(side) for side in LAST.play("3D*3S").deal_points()])
    assert check_score(np.array(score), ROYAL.table, points, np.array(settled), winner) == code
    if code == SOUND:
        position = Position.parse(str(LAST).replace("0/0 0", f"{score[0]}/{score[1]} 0")).play("3D*3S")
        assert position.settle() == (settled, None if winner == NOBODY else winner)


def test_every_code_is_tried() -> None:
    assert {row[0] for row in (*BREAKS, *STRAYS)} == set(sound.BROKEN)
    tried = {row[0] for row in (*TURN_BREAKS, *LIST_BREAKS, *END_BREAKS, *SCORE_BREAKS)}
    assert tried | {turn.ILLEGAL} == {SOUND, *turn.BROKEN}


def test_a_small_soak() -> None:
    """Every rule set, number of seats and style."""
    done: list[int] = []
    tally = soak.soak(SOAK_TURNS, seed=0, advance=done.append)
    assert SOAK_TURNS <= tally.turns == sum(done) < SOAK_TURNS + TURNS
    assert tally.kinds.sum() == tally.turns < tally.deals * TURNS  # some deals are of fewer cards
    assert min(*tally.kinds, tally.sweeps) > 50
    settings = list(soak.all_settings())
    assert len(settings) == len(set(settings)) == (len(soak.RULE_SETS) * 3 - 1) * len(soak.STYLES)
    assert len(done) >= len(settings)
    assert soak.soak(SOAK_TURNS, seed=0).moves == tally.moves  # the same seed, the same games
    assert soak.soak(SOAK_TURNS, seed=1).moves != tally.moves


@pytest.mark.parametrize(
    ("style", "loose", "wanted"),
    [
        (soak.UNIFORM, 1, [{"4H", "4H+3C=7", "4H*4C", "2H+[7]=9", "5H"}, {"4H", "4H*4C"}]),
        (soak.BUILDS, 1, [{"2H+[7]=9"}, {"4H", "4H*4C"}]),
        (soak.TRAILS, 1, [{"4H", "5H"}, {"4H"}]),
        (soak.TRAILS, soak.CROWD, [{"4H*4C"}, {"4H*4C"}]),
    ],
)
def test_styles_choose_as_they_say(style: int, loose: int, wanted: list[set[str]]) -> None:
    texts = ["4H", "4H+3C=7", "4H*4C", "2H+[7]=9", "5H", "4H", "4H*4C"]
    offsets, moves = np.array([0, 5, 7]), np.array([Move.parse(text).packed for text in texts])
    tables, chosen = np.full(2, (1 << loose) - 1), np.zeros(2, np.int64)
    found: list[set[str]] = [set(), set()]
    for draw in np.linspace(0, 0.999, 40):
        soak.choose_moves(style, offsets, moves, (tables, np.full(2, draw)), chosen)
        for game in (0, 1):
            found[game].add(str(Move.unpack(chosen[game])))
    assert found == wanted


def test_the_command_tells_what_was_played(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soak", "--turns", "2_400", "--seed", "3", "--rules", "spade", "--players", "4"]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("every invariant held in 2,400 turns of 50 deals") and err == ""


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--turns", "0"], "turns=0 is not possible; valid: 1 or more"),
        (["--seed", "-1"], "seed=-1 is not possible; valid: 0 or more"),
        (["--rules", "regal"], "unknown rule set 'regal'; valid: royal, plain, spade, kasino"),
        (["--players", "5"], "players=5 is not possible; valid: 2, 3, 4"),
    ],
)
def test_an_error_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["soak", *arguments]) == 2
    assert capsys.readouterr() == ("", f"casino: {line}\n")


def lose_a_card(state: State) -> None:
    """The lowest of the table, where there is one."""
    state.loose[:] &= state.loose - 1


def count_a_sweep(state: State) -> None:
    state.sweeps[:, 0] += 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [(lose_a_card, "cards are missing: "), (count_a_sweep, turn.BROKEN[turn.SWEPT])],
)
def test_a_broken_engine_is_told_with_position_and_move(
    change: Change, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def broken_apply(state: State, *others: Any) -> None:
        nonlocal calls
        calls += 1
        apply_batch(state, *others)
        if calls == 20:
            change(state)

    monkeypatch.setattr(soak, "apply_batch", broken_apply)
    with pytest.raises(SystemExit) as status:
        main(["soak", "--turns", "9_600", "--seed", "5", "--players", "3"])
    assert status.value.code == soak.FOUND
    told = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()[1:])
    assert told["played"] == "royal, 3 players, style uniform"
    assert told["broken"].startswith(sentence)
    state = Position.parse(told["position"]).play(told["move"]).state  # it can be played again
    change(state)
    assert str(Position(ROYAL, state)) == told["then"]


def valid_texts() -> list[str]:
    """Positions of games in every style at every table, and those of the rule book."""
    rng = random.Random(0)
    texts = [row["position"] for row in load_vectors("rulebook")]
    for rules, players in TABLES:
        for style in STYLES:
            start = Position.deal(**deal_arguments(rules, players, rng))
            texts += [str(position) for position, _, _ in random_line(start, style, rng)]
    return texts


def parse_mutated(count: int, seed: int) -> Counter[str]:
    """Parse so many mutated texts: each gives the same text back or is refused in one line, at once."""
    rng, texts, found = random.Random(seed), valid_texts(), Counter[str]()
    for _ in range(count):
        text, partial = mutate(rng.choice(texts), rng), rng.random() < 0.5
        start = perf_counter()
        try:
            assert str(Position.parse(text, partial)) == text
            found["parsed"] += 1
        except InvalidPosition as error:
            assert len(str(error).splitlines()) == 1, ascii(text)
            found["refused"] += 1
        except Exception as error:
            raise AssertionError(f"{error!r} for {text!a}") from error
        assert perf_counter() - start < LONGEST_PARSE, ascii(text)
    return found


def test_mutated_texts_are_parsed_or_refused() -> None:
    found = parse_mutated(TEXTS, seed=0)
    assert min(found["parsed"], found["refused"]) > TEXTS // 50, found


@pytest.mark.slow
def test_a_million_mutated_texts() -> None:
    found = parse_mutated(TEXTS_SLOW, seed=1)
    assert min(found["parsed"], found["refused"]) > TEXTS_SLOW // 50, found
