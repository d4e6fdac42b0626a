"""The golden games: whole games as readable text, to be reviewed as a diff. `make playthroughs` writes them.

Owns which games these are, how they are chosen and how they are written down; `test_playthroughs` compares.
The seeds in GAMES were searched for, so that much happens in every game. A game follows from its seed through
`random.Random.random` alone, whose numbers Python promises never to change.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from textwrap import fill
from typing import NamedTuple

from casino_env import Move, Position
from casino_env.cards import card_name
from casino_env.moves import capture_value, low_value
from casino_env.rules import ITEMS, TURNS
from casino_env.state import NOBODY, State, build_owner, union
from casino_env.tokens import token_name
from tests.helpers import DECK
from tests.helpers_env import Speller, cards_in

FOLDER = Path(__file__).parent / "playthroughs"
WIDTH = 110
HAND_WIDTH = 16
WHIM = 0.3  # how often any legal move will do
WANTED = (  # what is played first, where it is possible
    "merges two builds",
    "raises a build",
    "adds to a build",
    "makes a multiple build",
    "makes a build",
    "takes a multiple build",
    "takes a build",
    "captures",
)


class Game(NamedTuple):
    """A golden game: its file, what it is dealt with, and the seed of deck and play."""

    name: str
    title: str
    rules: str
    players: int
    dealer: int
    score: tuple[int, ...]
    seed: int


GAMES = (
    Game("royal_2", "two players", "royal", 2, 0, (0, 0), 7884),
    Game("royal_3", "three players", "royal", 3, 1, (4, 11, 7), 3800),
    Game("royal_4", "partners, who leave each other's builds alone", "royal", 4, 3, (0, 0), 508),
    Game("royal_near21", "both sides near 21, and both win their item", "royal", 2, 1, (18, 19), 28862),
    Game("plain_2", "plain Casino: J Q K in pairs or all three, builds to 10", "plain", 2, 1, (20, 8), 23039),
    Game("spade_3", "spade Casino: every spade scores", "spade", 3, 2, (31, 40, 55), 5573),
    Game(
        "mix_2",
        "free captures, raises of own builds, loose cards along with a raise",
        "royal;capture=free;raise_own=yes;raise_absorb=yes;near21=pagat;sweeps=plain",
        2,
        0,
        (20, 9),
        1847,
    ),
    Game(
        "mix_4",
        "partners who may use each other's builds, to 11",
        "royal;partner_builds=own_card;raise_own=yes;target=11;near21=none;sweeps=plain",
        4,
        2,
        (6, 3),
        8396,
    ),
    Game(
        "kasino_2",
        "Nordic kasino: no builds, A 14, 2S 15 and TD 16 from the hand",
        "kasino",
        2,
        0,
        (9, 12),
        15,
    ),
    Game("draw_3", "a card is drawn after each play", "royal;draw=yes", 3, 2, (0, 5, 9), 336),
)


class Turn(NamedTuple):
    """A turn of a game: where, what was possible, what was played and what that did."""

    before: Position
    moves: list[Move]
    move: Move
    after: Position


def main() -> None:
    """Write every game to its file; files of games that are no more are removed."""
    FOLDER.mkdir(exist_ok=True)
    texts = {FOLDER / f"{game.name}.txt": write_game(game) for game in GAMES}
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8", newline="\n")
    for path in set(FOLDER.glob("*.txt")) - set(texts):
        path.unlink()


def write_game(game: Game) -> str:
    """The text of a game's file."""
    start, turns = play(game)
    sections = [_header(game, start), *(_turn(number, turn) for number, turn in enumerate(turns, 1))]
    return "\n\n".join([*sections, _end(turns[-1].after)]) + "\n"


def play(game: Game) -> tuple[Position, list[Turn]]:
    """The start and every turn of a game."""
    rng = Random(game.seed)
    deck = sorted(DECK, key=lambda card: rng.random())
    start = position = Position.deal(
        deck="".join(deck), rules=game.rules, players=game.players, dealer=game.dealer, score=game.score
    )
    turns = []
    while not position.is_over:
        moves = position.legal_moves()
        move = _choose(position, moves, rng)
        after = position.play(move)
        turns.append(Turn(position, moves, move, after))
        position = after
    return start, turns


def _choose(position: Position, moves: list[Move], rng: Random) -> Move:
    """A move of the kind that is wanted most, or any."""
    if rng.random() >= WHIM:
        state = position.state
        kinds = {move: deed(state, move) for move in moves}
        for kind in WANTED:
            if found := [move for move in moves if kinds[move] == kind]:
                moves = found
                break
    return moves[int(rng.random() * len(moves))]


def deed(state: State, move: Move) -> str:
    """What a legal move does, in the words of the playthroughs."""
    if move.kind == "trail":
        return "trails"
    if move.kind == "raise":
        return "merges two builds" if move.pile else "raises a build"
    if move.kind == "build":
        cards = [low_value(card) for card in (move.card, *cards_in(move.loose))]
        several = sum(cards) != move.value
        return "adds to a build" if move.pile else f"makes a {'multiple ' * several}build"
    if not move.pile:
        return "captures"
    multiple = state.multiple[0] >> capture_value(move.card) & 1
    return f"takes a {'multiple ' * multiple}build"


def events(turn: Turn) -> Iterator[str]:
    """What a turn does: the move, and what follows from it."""
    before, after = turn.before.state, turn.after.state
    yield deed(before, turn.move)
    if (after.sweeps != before.sweeps).any():
        yield "a sweep"
    if after.dealt[0] != before.dealt[0]:
        yield "draws a card" if turn.before.rules.option("draw") == "yes" else "new hands"
    if turn.after.is_over and after.last_capture[0] != NOBODY:
        yield f"what is left goes to seat {after.last_capture[0]}"


def count_events(turns: list[Turn]) -> Counter[str]:
    """How often each thing happens in a game."""
    return Counter(event for turn in turns for event in events(turn))


def _header(game: Game, start: Position) -> str:
    deck = start.state.deck[0]
    rows = [
        ("rules", game.rules),
        ("players", str(game.players)),
        ("dealer", f"seat {game.dealer}"),
        ("score", _numbers(game.score)),
        ("deck", _cards(deck[:26])),
        ("", _cards(deck[26:])),
    ]
    about = f"Royal Casino, a golden game: {game.title}. Written by `make playthroughs`."
    return "\n".join([about, "", *(_row(name, text) for name, text in rows)])


def _turn(number: int, turn: Turn) -> str:
    tokens = Speller(turn.before).spell(turn.move)
    return "\n".join(
        [
            f"== Turn {number} of {TURNS}: seat {turn.before.turn} ==",
            str(turn.before),
            *_table(turn.before),
            _wrapped(f"legal {len(turn.moves)}", "  ".join(map(str, turn.moves))),
            _row("move", f"{turn.move}   ({', '.join(events(turn))})"),
            _row("tokens", ", ".join(map(token_name, tokens))),
        ]
    )


def _table(position: Position) -> Iterator[str]:
    """A picture of the table: whose turn, hands, captured counts, loose cards, builds."""
    state = position.state
    for seat in range(position.players):
        captured, sweeps = int(state.captured[0, seat]).bit_count(), state.sweeps[0, seat]
        hand = _cards(cards_in(state.hands[0, seat]))
        turn = " *" if seat == position.turn and not position.is_over else ""
        yield _row(f"seat {seat}{turn}", f"{hand:<{HAND_WIDTH}}captured {captured:>2}, sweeps {sweeps}")
    yield _row("loose", _cards(cards_in(state.loose[0])))
    for value in cards_in(union(state.owned, 0)):
        multiple = ", multiple" * (state.multiple[0] >> value & 1)
        cards = _cards(cards_in(state.build_cards[0, value])) + "  "
        owner = build_owner(state.owned, 0, value)
        yield _row(f"build {value}", f"{cards:<{HAND_WIDTH}}of seat {owner}{multiple}")
    yield _row("stock", f"{len(DECK) - state.dealt[0]} cards")


def _end(position: Position) -> str:
    settled = position.settle()
    winner = "the match goes on" if settled.winner is None else f"side {settled.winner} wins"
    columns = "".join(f"{name:>8}" for name in (*ITEMS, "total"))
    lines = ["== The end of the deal ==", str(position), *_table(position), _row("points", columns)]
    for side, points in enumerate(position.deal_points()):
        lines.append(_row(f"side {side}", "".join(f"{number:>8}" for number in (*points, points.total))))
    lines.append(_row("score", f"{_numbers(position.score)} before, {_numbers(settled.score)} now: {winner}"))
    return "\n".join(lines)


def _row(name: str, text: str) -> str:
    return f"{name:<10}{text}".rstrip()


def _wrapped(name: str, text: str) -> str:
    """A row of several lines, if it is too long for one."""
    return fill(_row(name, text), WIDTH, subsequent_indent=" " * 10, break_on_hyphens=False)


def _cards(cards: Iterable[int]) -> str:
    return " ".join(map(card_name, cards)) or "-"


def _numbers(numbers: tuple[int, ...]) -> str:
    return "/".join(map(str, numbers))


if __name__ == "__main__":
    main()
