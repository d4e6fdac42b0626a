"""Royal Casino as a game of OpenSpiel: importing this file registers `python_royal_casino`.

An action is a token of `casino_env.royal_casino_v0`, whose manual explains them. None is taken automatically,
so that the actions are the whole public record. Returns are the rewards of `objective="deal"`.

Chance draws the cards one by one, each uniform among those not drawn, when the rules deal them (R2.2) and not
before. Together that is a shuffled deck, but at a decision the stock is still open: a search samples it by
itself, and hidden are only the cards in other hands. A token that makes cards be dealt takes effect with the
last of them. OpenSpiel's players are the seats: 0 deals, 1 is the first to act.

Use the searches of `open_spiel.python`: `pyspiel.MCTSBot` and `pyspiel.ISMCTSBot` of OpenSpiel 2.0.2 crash on
games written in Python, its own included.

Run as a program, it tests the game with `random_sim_test` and lets IS-MCTS play deals against random:

    python examples/open_spiel_game.py --players 3 --rules spade --deals 2
"""

import sys
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyspiel
from open_spiel.python.algorithms.ismcts import ISMCTSBot
from open_spiel.python.algorithms.mcts import RandomRolloutEvaluator

from agents.command import CommandParser, run_command
from casino_env import IllegalMove, Rules, explain
from casino_env.arguments import check_count, check_seed
from casino_env.cards import N_CARDS, card_name, card_set, cards_text, iter_cards
from casino_env.decks import read_deck
from casino_env.engine import is_over, start_deal
from casino_env.invariants import broken_promise
from casino_env.notation import format_position
from casino_env.objectives import end_deals
from casino_env.observation import blocks, observation_size
from casino_env.one_game import new_game, observe_seat, start_turn, take_apart, take_token
from casino_env.rules import PLAYER_COUNTS, check_players, deal_turns, side_count
from casino_env.scoring import card_points
from casino_env.state import State
from casino_env.tokens import MAX_TOKENS, N_TOKENS, token_name

NAME, DEALER = "python_royal_casino", 0
CHANCE, TERMINAL = int(pyspiel.PlayerId.CHANCE), int(pyspiel.PlayerId.TERMINAL)
SIMULATIONS, UCT_C = 20, 5.0  # of IS-MCTS, for a token; its exploration: about the spread of a deal's margin
TYPE = pyspiel.GameType(
    short_name=NAME,
    long_name="Royal Casino",
    dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
    chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
    information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
    utility=pyspiel.GameType.Utility.ZERO_SUM,
    reward_model=pyspiel.GameType.RewardModel.TERMINAL,
    min_num_players=min(PLAYER_COUNTS),
    max_num_players=max(PLAYER_COUNTS),
    provides_information_state_string=True,
    provides_information_state_tensor=False,  # the vector leaves out what was played when
    provides_observation_string=True,
    provides_observation_tensor=True,
    parameter_specification={"players": 2, "rules": "royal"},
)


class RoyalCasinoGame(pyspiel.Game):
    """One deal, with the parameters `players` and `rules` (R8): `royal;capture=free` or `royal;capture:free`.

    OpenSpiel's own text of a game has no place for a second `=`, so it is given the colon.
    """

    def __init__(self, params: dict[str, Any] | None = None) -> None:
        given = {**TYPE.parameter_specification, **(params or {})}
        self.rules = Rules.parse(given["rules"].replace(":", "="))
        players, table = check_players(given["players"], self.rules), self.rules.table
        self.cards = [*iter_cards(table.deck)]  # in play
        # A side gets at most every point and a sweep in each of its turns (R5.1, R6); the others at least 0.
        most = card_points(table, table.deck) + table.most_cards + table.most_spades
        most += deal_turns(table) // side_count(players)
        info = pyspiel.GameInfo(
            num_distinct_actions=N_TOKENS,
            max_chance_outcomes=len(self.cards),
            num_players=players,
            min_utility=-most,
            max_utility=most,
            utility_sum=0.0,
            # All but four tokens of a turn take up a loose card, and no card is taken up twice.
            max_game_length=deal_turns(table) * (MAX_TOKENS - N_CARDS) + len(self.cards),
        )
        super().__init__(TYPE, info, {**given, "rules": str(self.rules).replace("=", ":")})

    def new_initial_state(self) -> "RoyalCasinoState":
        """Before the first card is drawn."""
        return RoyalCasinoState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Every card is drawn once."""
        return len(self.cards)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Any:
        """What one player sees now, or with perfect recall what it has seen."""
        kind = iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False)
        if params or not kind.public_info or kind.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            raise ValueError("an observer takes no parameters, and sees what one player sees")
        return InformationState() if kind.perfect_recall else Observation(self)


class RoyalCasinoState(pyspiel.State):
    """A history of a deal. OpenSpiel clones a state by copying its attributes, and serialises them."""

    def __init__(self, game: RoyalCasinoGame) -> None:
        super().__init__(game)
        self.table, self.cards = game.rules.table, game.cards
        self.words = new_game(self.table, game.num_players())  # the deal and the unfinished move
        self.player = CHANCE  # or the seat to act, or TERMINAL
        self.drawn: list[int] = []  # cards, in this order
        self.due = 0  # number of cards to be drawn before play goes on
        self.tokens: list[int] = []  # of all players
        self.hands: list[list[str]] = []  # whenever cards were dealt, by seat: its hand, and the loose cards
        self.pending: list[str] = []  # tokens and cards that `deal` does not have yet
        self._go_on()

    @property
    def deal(self) -> State:
        """The deal as arrays, a batch of one game."""
        return take_apart(self.words).games.state

    def current_player(self) -> int:
        """The seat to act, or that chance is to draw or the deal is over."""
        return self.player

    def is_terminal(self) -> bool:
        """Whether the deal is over (R5.2)."""
        return self.player == TERMINAL

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """The cards not drawn, all equally likely."""
        return [(card, 1 / (len(self.cards) - len(self.drawn))) for card in self._not_drawn()]

    def returns(self) -> list[float]:
        """For each seat its side's points minus the mean of the other sides'; 0 before the end."""
        if not self.is_terminal():
            return [0.0] * self.num_players()
        outcome = end_deals(self.deal, self.get_game().rules.table, np.zeros(1, np.int64), "deal")
        return outcome.rewards[0].tolist()

    def resample_from_infostate(self, player_id: int, sampler: Callable[[], float]) -> "RoyalCasinoState":
        """This history with the cards that the player has not seen drawn anew.

        Uniform among the draws in which every token named is legal, by rejection; that owners hold what they
        promise (R4.4) is checked first, since naming all tokens again costs more.
        """
        game, observer = self.get_game(), self.get_game().make_py_observer()
        observer.set_from(self, player_id)
        unseen = np.flatnonzero(observer.dict["unseen"]).tolist()
        deal = self.deal
        while True:
            new = np.arange(N_CARDS)
            new[unseen] = sorted(unseen, key=lambda _: sampler())
            hands = [card_set(new[list(iter_cards(hand))].tolist()) for hand in deal.hands[0]]
            if broken_promise(deal._replace(hands=np.array([hands])), 0, game.rules.table):
                continue
            state = game.new_initial_state()
            with suppress(IllegalMove):
                for step in self.full_history():
                    state.apply_action(new[step.action] if step.player == CHANCE else step.action)
                return state

    def _legal_actions(self, player: int) -> list[int]:
        return np.flatnonzero(take_apart(self.words).games.unfinished.mask).tolist()

    def _apply_action(self, action: int) -> None:
        chance = self.player == CHANCE
        if action not in (self._not_drawn() if chance else self._legal_actions(self.player)):
            raise IllegalMove(f"action {action} is illegal in {self}")
        (self.drawn if chance else self.tokens).append(action)
        self.pending.append(self._action_to_string(self.player, action))
        if len(self.drawn) >= self.due:
            self._go_on()

    def _go_on(self) -> None:
        """Name the last token, or start the deal, on a copy: kept if all cards that it deals are drawn."""
        words, deck = self.words.copy(), read_deck([*self.drawn, *self._not_drawn()], self.table)
        deal = take_apart(words).games.state
        if self.tokens:
            deal.deck[0] = deck
            take_token(words, self.tokens[-1], False)
        else:
            start_deal(deal, 0, self.table, deck, DEALER)
            start_turn(words)
        due = len(self.cards) - N_CARDS + int(deal.dealt[0])  # cards that are not in play count as dealt
        if due > len(self.drawn):
            self.player, self.due = CHANCE, due
            return
        if self.player == CHANCE:
            loose = cards_text(deal.loose[0])
            self.hands.append([f"{cards_text(hand)}/{loose}" for hand in deal.hands[0]])
        player = TERMINAL if is_over(deal, 0) else int(deal.turn[0])
        if player != self.player:  # the deal has begun, or a move is complete
            self.pending = []
        self.words, self.player = words, player

    def _not_drawn(self) -> list[int]:
        return sorted(set(self.cards).difference(self.drawn))

    def _action_to_string(self, player: int, action: int) -> str:
        return card_name(action) if player == CHANCE else token_name(action)

    def __str__(self) -> str:
        """The position (R9; the stock, still open, in id order), and what has been named and drawn since."""
        position = format_position(self.deal, 0, self.get_game().rules)
        return " ".join([position, *(f"({text})" for text in self.pending)])


class Observation:
    """What a player sees now: the vector of `casino_env.observation`, and `explain` of it as the string."""

    def __init__(self, game: RoyalCasinoGame) -> None:
        players = game.num_players()
        self.tensor = np.zeros(observation_size(players), np.float32)
        self.dict = {block.name: self.tensor[block.offset :][: block.size] for block in blocks(players)}
        self._mask = np.zeros(N_TOKENS, np.int8)

    def set_from(self, state: RoyalCasinoState, player: int) -> None:
        """Write it to `tensor`, float32[N], of which `dict` has the blocks."""
        observe_seat(state.words, player, player == state.player, self.tensor, self._mask)

    def string_from(self, state: RoyalCasinoState, player: int) -> str:
        """It in words."""
        self.set_from(state, player)
        return explain(self.tensor)


class InformationState:
    """What a player has seen, as a string: its hand and the loose cards at each dealing, and all tokens."""

    tensor, dict = None, {}  # OpenSpiel reads that there is none

    def set_from(self, state: RoyalCasinoState, player: int) -> None:
        """Nothing to write."""

    def string_from(self, state: RoyalCasinoState, player: int) -> str:
        """Seat, hand/loose cards of each dealing, tokens."""
        hands = " ".join(by_seat[player] for by_seat in state.hands)
        return f"player {player}; {hands}; {', '.join(map(token_name, state.tokens))}"


pyspiel.register_game(TYPE, RoyalCasinoGame)


def play(arguments: Namespace) -> None:
    """Test the game, then play deals of IS-MCTS against random, its side changing from deal to deal."""
    deals, seed = check_count("deals", arguments.deals, 1), check_seed(arguments.seed)
    players = check_players(arguments.players, Rules.parse(arguments.rules))
    game = pyspiel.load_game(NAME, {"players": players, "rules": arguments.rules})
    pyspiel.random_sim_test(game, num_sims=1, serialize=True, verbose=False)
    print(f"{game} passes random_sim_test")
    rng, sides, margins = np.random.RandomState(np.random.MT19937(seed)), side_count(players), []
    search = ISMCTSBot(game, RandomRolloutEvaluator(1, rng), UCT_C, SIMULATIONS, random_state=rng)
    search.set_resampler(lambda state, player: state.resample_from_infostate(player, rng.random_sample))
    for deal in range(deals):
        state, seats = game.new_initial_state(), range(deal % sides, players, sides)
        while not state.is_terminal():
            searches = state.current_player() in seats  # the others, and chance, choose uniformly
            state.apply_action(search.step(state) if searches else rng.choice(state.legal_actions()))
        margins.append(state.returns()[seats[0]])
        print(f"deal {deal + 1}, IS-MCTS in seats {list(seats)}: {margins[-1]:+g}", flush=True)
    print(f"IS-MCTS ({SIMULATIONS} simulations) against random: mean margin {np.mean(margins):+.2f} points")


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; returns the exit status."""
    parser = CommandParser(description=__doc__)
    parser.add_argument("--players", type=int, default=2, help="2, 3 or 4")
    parser.add_argument("--rules", default="royal", help="rule set, with overrides as in royal;capture=free")
    parser.add_argument("--deals", type=int, default=6, help="how many deals to play")
    parser.add_argument("--seed", type=int, default=0, help="of the deals and the bots")
    parser.set_defaults(run=play)
    return run_command(parser, argv)


if __name__ == "__main__":
    sys.exit(main())
