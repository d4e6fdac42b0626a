"""A hand of two players searched to its end, with both hands open: alpha-beta over whole moves.

Two yardsticks. By the points of the deal (R6) the search is exact, majorities, sweeps and the last cards
included; it needs a known hand: an empty stock, and all cards in play accounted for. By the worth of captured
cards (`worth`) it values a hand of which more follow. A value is what the seat to act will bank beyond what
it has: so positions that differ in what is banked share an entry of the transposition table, and positions
that differ in suits that do not matter too.

Axes: `B` games, `M` moves of all games together, `D` plies and one more.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.worlds import Question, copy_game, deal_hidden, hand_is_over, write_seen
from agents.worth import Scale, TableT, cards_worth, half_cards, half_spades, move_gain, scale_of
from casino_env.bits import lowest, popcount
from casino_env.cards import BIG_CASINO, N_CARDS, SPADES, SUIT_COUNT
from casino_env.engine import apply_move
from casino_env.jit import borrow, inner_kernel, kernel
from casino_env.legal import list_turn
from casino_env.rules import HAND_SIZE, Rules, RuleTable
from casino_env.state import IntArray, State, empty_state, union
from casino_env.turn import look
from casino_env.unions import COUNT, CUT, MAX_MOVES, MOVES, WORK_SIZE
from casino_env.view import View, unseen_cards

PLAYERS = 2
PLIES = PLAYERS * HAND_SIZE
PLIES_DRAWING = 4  # with `draw` and a stock hands do not run out: so many turns are searched
SETTLED = 63  # stands for the number of cards captured, once it is

EFFORT = 4_000_000  # moves that are listed for a game: a second or two, where a thousandth is usual
ENTRIES = 1 << 15  # of the transposition table
EXACT, AT_LEAST, AT_MOST = range(3)  # what a stored value says
INFINITE = 2**40  # beyond any value
FIRST = 2**41  # a move that was best before is tried first

# What is kept of each ply: the window, the best move and its value, the moves and which is tried, ...
ALPHA, BETA, START, BEST, CHOICE, LENGTH, INDEX, GAIN, KEY, N_FRAME = range(10)
NODES, WAS_CUT, AGE, LEFT, N_NUMBERS = range(5)
OWN_HAND, OTHER_HAND, LOOSE, IN_BUILD, OTHER_THINGS, PLACES = range(6)  # of a card, in a key


class Yardstick(NamedTuple):
    """What a search counts."""

    scale: Scale
    majorities: int  # 1: points for most cards and spades, at the end of the deal
    order: Scale  # by which promising moves are tried first


class Search(NamedTuple):
    """Scratch space; the position to search is row 0."""

    rows: State  # [D]
    world: State  # of one game
    frames: IntArray  # [D, N_FRAME]
    moves: IntArray  # [D, MAX_MOVES] sorted, the most promising first
    promises: IntArray  # [MAX_MOVES]
    work: IntArray  # of the lists of moves
    table: IntArray  # [ENTRIES, 4] keys, values, what they say, best moves
    numbers: IntArray  # NODES searched, whether anything WAS_CUT, AGE of the table, effort LEFT
    salts: IntArray  # [PLACES, 52] random numbers; equal for cards that differ in suits that do not matter


def points_of(rules: Rules) -> Yardstick:
    """Exact points."""
    points = Scale(point=1, card=0, spade=0, sweep=int(rules.option("sweeps") != "none"))
    return Yardstick(points, 1, scale_of(rules.table))


def worth_of(rules: Rules) -> Yardstick:
    """Worth of captured cards."""
    return Yardstick(scale_of(rules.table), 0, scale_of(rules.table))


def new_search() -> Search:
    """Scratch space for any number of searches."""
    salts = np.random.default_rng(0).integers(-(2**62), 2**62, (PLACES, N_CARDS))
    for card in range(N_CARDS):
        if card != BIG_CASINO and not SPADES >> card & 1:
            salts[:, card] = salts[:, card - card % SUIT_COUNT]
    return Search(
        rows=empty_state(PLIES + 1, PLAYERS),
        world=empty_state(1, PLAYERS),
        frames=np.zeros((PLIES + 1, N_FRAME), np.int64),
        moves=np.zeros((PLIES + 1, MAX_MOVES), np.int64),
        promises=np.zeros(MAX_MOVES, np.int64),
        work=np.zeros(WORK_SIZE, np.int64),
        table=np.zeros((ENTRIES, 4), np.int64),
        numbers=np.zeros(N_NUMBERS, np.int64),
        salts=salts,
    )


@kernel
def search_worlds(
    rules: RuleTable,
    yardsticks: tuple[Yardstick, Yardstick],
    search: Search,
    question: Question,
    worlds: int,
) -> None:
    """Add what each move is worth in `worlds` worlds together; sole moves are left out.

    `yardsticks` are for hands of which more follow, and for known ones, whose one world is searched once.
    EFFORT bounds a game's search.
    """
    search, question = borrow(search), borrow(question)
    rows, world = search.rows, search.world
    for game in range(question.offsets.shape[0] - 1):
        first, end = question.offsets[game], question.offsets[game + 1]
        if end - first == 1:
            continue
        write_seen(question.seen, game, world, 0)
        known = _is_known(rules, question.seen, game)
        yardstick = yardsticks[1] if known else yardsticks[0]
        tried = (1 if known else worlds) * (end - first)
        for _ in range(1 if known else worlds):
            deal_hidden(rules, question, game, world, 0)
            search.numbers[AGE] += 1
            for i in range(first, end):
                copy_game(world, 0, rows, 0)
                search.numbers[LEFT] = EFFORT // tried
                gain = _play(rules, yardstick, rows, 0, 0, question.moves[i])
                question.values[i] += gain - _search(rules, yardstick, search, world.dealt[0])


@inner_kernel
def _play(rules: RuleTable, yardstick: Yardstick, rows: State, source: int, target: int, move: int) -> int:
    """Play a move; returns what the seat that made it has banked by it, and the other not."""
    seat = rows.turn[source]
    before = banked(rules, yardstick, rows, source, seat)
    if source != target:
        copy_game(rows, source, rows, target)
    apply_move(rows, target, rules, move)
    return banked(rules, yardstick, rows, target, seat) - before


@inner_kernel
def banked(rules: RuleTable, yardstick: Yardstick, table: TableT, row: int, seat: int) -> int:
    """What a seat of a state or view has banked beyond the other, majorities apart."""
    scale = yardstick.scale
    own, other = table.captured[row, seat], table.captured[row, 1 - seat]
    sweeps = table.sweeps[row, seat] - table.sweeps[row, 1 - seat]
    return cards_worth(rules, scale, own) - cards_worth(rules, scale, other) + scale.sweep * sweeps


@inner_kernel
def _search(rules: RuleTable, yardstick: Yardstick, search: Search, dealt: int) -> int:
    """Value of row 0 for its seat to act; the hand began with `dealt` cards dealt."""
    rows, frames, moves = search.rows, search.frames, search.moves
    frames[0, ALPHA], frames[0, BETA] = -INFINITE, INFINITE
    ply, opening, value = 0, True, 0
    while True:
        frame = frames[ply]
        if opening:
            known, value = _look_up(rules, yardstick, search, ply, dealt)
            if not known:
                _list_in_order(rules, yardstick, search, ply)
                known = frame[LENGTH] == 0  # a study's promise that nobody can keep: worth nothing
        if not opening or known:
            if opening:  # the value is known without searching
                if ply == 0:
                    return value
                ply -= 1
                frame = frames[ply]
            value = frame[GAIN] - value  # that of the move which led there
            if value > frame[BEST]:
                frame[BEST], frame[CHOICE] = value, moves[ply, frame[INDEX]]
                frame[ALPHA] = max(frame[ALPHA], value)
            frame[INDEX] += 1
        if frame[INDEX] < frame[LENGTH] and frame[ALPHA] < frame[BETA]:
            gain = _play(rules, yardstick, rows, ply, ply + 1, moves[ply, frame[INDEX]])
            frame[GAIN] = gain
            frames[ply + 1, ALPHA], frames[ply + 1, BETA] = gain - frame[BETA], gain - frame[ALPHA]
            ply += 1
            opening = True
            continue
        value = frame[BEST]
        _remember(search, frame)
        if ply == 0:
            return value
        ply -= 1
        opening = False


@inner_kernel
def _look_up(
    rules: RuleTable, yardstick: Yardstick, search: Search, ply: int, dealt: int
) -> tuple[bool, int]:
    """Whether a node's value, or a bound of it beyond the window, is known, and which."""
    rows, frame = search.rows, search.frames[ply]
    seat = rows.turn[ply]
    search.numbers[NODES] += 1
    horizon = PLIES_DRAWING if rules.draw and dealt < N_CARDS else PLIES
    if hand_is_over(rules, rows, ply, dealt) or ply == horizon:
        return True, _decided(rules, yardstick, rows, ply, seat)
    if search.numbers[LEFT] <= 0:
        search.numbers[WAS_CUT] = 1
        return True, _decided(rules, yardstick, rows, ply, seat)
    least, most = _bounds(rules, yardstick, rows, ply, seat)
    if most <= frame[ALPHA]:
        return True, most
    if least >= frame[BETA]:
        return True, least
    frame[KEY] = _key(rules, yardstick, search, ply, seat)
    entry = search.table[_slot(frame[KEY])]
    frame[CHOICE] = 0
    if entry[0] == frame[KEY]:
        value, says = entry[1], entry[2]
        if says == EXACT or (says == AT_LEAST and value >= frame[BETA]):
            return True, value
        if says == AT_MOST and value <= frame[ALPHA]:
            return True, value
        frame[CHOICE] = entry[3]
    return False, 0


@inner_kernel
def _decided(rules: RuleTable, yardstick: Yardstick, state: State, row: int, seat: int) -> int:
    """Points for majorities that nobody can take from who has them, for the seat."""
    if not yardstick.majorities:
        return 0
    own, other = state.captured[row, seat], state.captured[row, 1 - seat]
    points = 0
    for suit, half, majority in (
        (-1, half_cards(rules), rules.most_cards),
        (SPADES, half_spades(rules), rules.most_spades),
    ):
        if popcount(own & suit) > half:
            points += majority
        elif popcount(other & suit) > half:
            points -= majority
    return points


@inner_kernel
def _bounds(rules: RuleTable, yardstick: Yardstick, state: State, row: int, seat: int) -> tuple[int, int]:
    """The least and the most that the hand can still bring the seat."""
    decided = _decided(rules, yardstick, state, row, seat)
    free = state.hands[row, 0] | state.hands[row, 1] | state.loose[row]
    standing = union(state.owned, row)
    while standing:
        free |= state.build_cards[row, lowest(standing)]
        standing &= standing - 1
    if rules.draw:
        for i in range(state.dealt[row], N_CARDS):
            free |= 1 << int(state.deck[row, i])
    room = cards_worth(rules, yardstick.scale, free)
    if yardstick.majorities:
        room += rules.most_cards + rules.most_spades - abs(decided)
    most, least = decided + room, decided - room
    if rules.draw:
        return least - yardstick.scale.sweep * PLIES, most + yardstick.scale.sweep * PLIES
    least -= yardstick.scale.sweep * popcount(state.hands[row, 1 - seat])
    return least, most + yardstick.scale.sweep * popcount(state.hands[row, seat])


@inner_kernel
def _key(rules: RuleTable, yardstick: Yardstick, search: Search, row: int, seat: int) -> int:
    """A number for all that what is to come depends on, relative to the seat to act."""
    state, salts = search.rows, search.salts
    key = _salted(salts, OWN_HAND, state.hands[row, seat]) + _salted(
        salts, OTHER_HAND, state.hands[row, 1 - seat]
    )
    key += _salted(salts, LOOSE, state.loose[row])
    standing = union(state.owned, row)
    while standing:
        value = lowest(standing)
        standing &= standing - 1
        cards = _salted(salts, IN_BUILD, state.build_cards[row, value])
        kind = 2 * (state.owned[row, seat] >> value & 1) + (state.multiple[row] >> value & 1)
        key += (cards ^ cards >> 29) * (8 * value + 2 * kind + 1)
    things = salts[OTHER_THINGS]
    last = state.last_capture[row]
    key += things[0] * (2 if last < 0 else last ^ seat) + things[4] * state.dealt[row]
    key += things[8] * search.numbers[AGE]
    if yardstick.majorities:
        own, other = state.captured[row, seat], state.captured[row, 1 - seat]
        key += things[12] * _count(own, other, half_cards(rules))
        key += things[16] * _count(own & SPADES, other & SPADES, half_spades(rules))
    return key


@inner_kernel
def _salted(salts: IntArray, place: int, cards: int) -> int:
    total = 0
    while cards:
        total += salts[place, lowest(cards)]
        cards &= cards - 1
    return total


@inner_kernel
def _count(own: int, other: int, half: int) -> int:
    """How many cards one side has captured, as far as it matters for a majority."""
    if popcount(own) > half:
        return SETTLED
    return -SETTLED if popcount(other) > half else popcount(own)


def known_hands(rules: RuleTable, view: View) -> NDArray[np.bool_]:
    """[B] where the other hand is known, so that there is one world."""
    known = np.zeros(len(view.hand), np.bool_)
    _write_known(rules, view, known)
    return known


@kernel
def _write_known(rules: RuleTable, view: View, known: NDArray[np.bool_]) -> None:
    view = borrow(view)
    for game in range(known.shape[0]):
        known[game] = _is_known(rules, view, game)


@inner_kernel
def _is_known(rules: RuleTable, view: View, game: int) -> bool:
    """Whether all that is not seen is the other hand, and no hand is larger than dealt (as in studies)."""
    other = view.hand_sizes[game, 1]
    small = max(popcount(view.hand[game]), other) <= rules.hand_size
    return small and view.stock_size[game] == 0 and popcount(unseen_cards(rules, view, game)) == other


@inner_kernel
def _slot(key: int) -> int:
    return (key ^ key >> 31) & (ENTRIES - 1)


@inner_kernel
def _list_in_order(rules: RuleTable, yardstick: Yardstick, search: Search, ply: int) -> None:
    """List the moves of a node: a best move remembered, then captures by their worth, builds, trails."""
    frame, work, promises = search.frames[ply], search.work, search.promises
    list_turn(rules, look(search.rows, ply, rules), work)
    search.numbers[WAS_CUT] |= work[CUT]
    search.numbers[LEFT] -= work[COUNT]
    for i in range(work[COUNT]):
        move = work[MOVES + i]
        promise = move_gain(rules, yardstick.order, search.rows, ply, move)
        if move == frame[CHOICE]:
            promise = FIRST
        place = i
        while place and promises[place - 1] < promise:
            promises[place] = promises[place - 1]
            search.moves[ply, place] = search.moves[ply, place - 1]
            place -= 1
        promises[place], search.moves[ply, place] = promise, move
    frame[START], frame[BEST] = frame[ALPHA], -INFINITE
    frame[LENGTH], frame[INDEX] = work[COUNT], 0


@inner_kernel
def _remember(search: Search, frame: IntArray) -> None:
    """Store a node's value in the transposition table."""
    entry, value = search.table[_slot(frame[KEY])], frame[BEST]
    says = EXACT
    if value >= frame[BETA]:
        says = AT_LEAST
    elif value <= frame[START]:
        says = AT_MOST
    entry[0], entry[1], entry[2], entry[3] = frame[KEY], value, says, frame[CHOICE]


@kernel
def search_state(rules: RuleTable, yardstick: Yardstick, search: Search, state: State, game: int) -> int:
    """Value of one game of a batch for its seat to act."""
    search = borrow(search)
    search.numbers[AGE] += 1
    search.numbers[LEFT] = INFINITE
    copy_game(state, game, search.rows, 0)
    return _search(rules, yardstick, search, state.dealt[game])
