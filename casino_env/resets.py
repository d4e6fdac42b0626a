"""How an episode begins: the options of `reset`, for every environment that takes them."""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from casino_env.arguments import quoted
from casino_env.cards import N_CARDS
from casino_env.decks import read_deck, shuffled_deck
from casino_env.engine import start_deal
from casino_env.errors import CasinoError
from casino_env.invariants import broken_promise
from casino_env.position import Position, check_score, check_seat
from casino_env.rules import Rules
from casino_env.state import State, empty_state

RESET_OPTIONS = ("deck", "position", "dealer", "score")

Options = dict[str, Any]


def read_options(options: Any) -> Options:
    """The options that are given and known; an unknown one warns. Raises CasinoError if it is no dict."""
    valid = ", ".join(RESET_OPTIONS)
    if options is not None and not isinstance(options, dict):
        raise CasinoError(f"reset options are a dict, not {quoted(options)}; valid: {valid}")
    for name in options or ():
        if name not in RESET_OPTIONS:  # PettingZoo's own tests pass a foreign option
            warnings.warn(f"unknown reset option '{name}' is ignored; valid: {valid}", stacklevel=3)
    given = {} if options is None else options
    return {name: given[name] for name in RESET_OPTIONS if given.get(name) is not None}


def start_state(options: Options, rules: Rules, players: int, rng: np.random.Generator) -> tuple[State, bool]:
    """The state that an episode begins with, a batch of one game, and whether it is a study (R9).

    `options` are those of `read_options`; a deck is drawn from `rng` if none is given. Raises CasinoError for
    wrong or contradicting ones.
    """
    if "position" in options:
        return _set_up(options, rules, players)
    return _first_deal(options, rules, players, rng), False


def check_turns(state: State, seats: Iterable[int]) -> None:
    """CasinoError unless each of the seats has a turn before the deal is over."""
    if state.dealt[0] == N_CARDS and not all(state.hands[0, seat] for seat in seats):
        raise CasinoError("reset option 'position': the episode ends before the learner is to act")


def _set_up(options: Options, rules: Rules, players: int) -> tuple[State, bool]:
    if len(options) > 1:
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


def _first_deal(options: Options, rules: Rules, players: int, rng: np.random.Generator) -> State:
    state, table = empty_state(1, players), rules.table
    dealer = check_seat("dealer", options.get("dealer", 0), players)
    state.score[0] = check_score(options.get("score"), players)
    deck = read_deck(options["deck"], table) if "deck" in options else shuffled_deck(rng, table)
    start_deal(state, 0, table, deck, dealer)
    return state
