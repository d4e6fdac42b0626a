"""How an episode begins: the options of `reset`, for every environment that takes them."""

import warnings
from typing import Any

import numpy as np

from casino_env.arguments import quoted
from casino_env.decks import read_deck, shuffled_deck
from casino_env.engine import start_deal
from casino_env.errors import CasinoError
from casino_env.invariants import broken_promise
from casino_env.position import Position, check_dealer, check_score
from casino_env.rules import Rules
from casino_env.state import State, empty_state

RESET_OPTIONS = ("deck", "position", "dealer", "score")

Options = dict[str, Any]


def start_state(
    options: Options | None, rules: Rules, players: int, rng: np.random.Generator
) -> tuple[State, bool]:
    """The state that an episode begins with, a batch of one game, and whether it is a study (R9).

    Raises CasinoError for wrong or contradicting options. A deck is drawn from `rng` if none is given.
    """
    options = {} if options is None else options
    if not isinstance(options, dict):
        valid = ", ".join(RESET_OPTIONS)
        raise CasinoError(f"reset options are a dict, not {quoted(options)}; valid: {valid}")
    for name in options:
        if name not in RESET_OPTIONS:
            valid = ", ".join(RESET_OPTIONS)  # PettingZoo's own tests pass a foreign option
            warnings.warn(f"unknown reset option '{name}' is ignored; valid: {valid}", stacklevel=3)
    if options.get("position") is not None:
        return _set_up(options, rules, players)
    return _first_deal(options, players, rng), False


def _set_up(options: Options, rules: Rules, players: int) -> tuple[State, bool]:
    if any(options.get(name) is not None for name in RESET_OPTIONS if name != "position"):
        raise CasinoError("reset options: a position comes alone; it has deck, dealer and score")
    given = options["position"]
    position = given if isinstance(given, Position) else Position.parse(given)
    if str(position.rules) != str(rules) or position.players != players:
        raise CasinoError(
            f"reset option 'position' is for {position.players} players, rules '{position.rules}'; "
            f"valid here: {players} players, rules '{rules}'"
        )
    if position.is_over:
        raise CasinoError("reset option 'position': the deal is over")
    broken = broken_promise(position.state, 0, rules.table)
    if broken:
        raise CasinoError(f"reset option 'position': {broken}")
    return position.state, position.is_partial


def _first_deal(options: Options, players: int, rng: np.random.Generator) -> State:
    state = empty_state(1, players)
    dealer, deck = options.get("dealer"), options.get("deck")
    state.score[0] = check_score(options.get("score"), players)
    dealer = 0 if dealer is None else check_dealer(dealer, players)
    start_deal(state, 0, shuffled_deck(rng) if deck is None else read_deck(deck), dealer)
    return state
