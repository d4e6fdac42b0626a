"""Decks: shuffling and reading them. The one place where randomness enters a game.

A deck is int8[52], the card ids in the order dealt; cards that are not in play come first and are not dealt.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import check_seed, check_seeds, is_count
from casino_env.cards import FULL_DECK, N_CARDS, card_name, card_set, cards_text, iter_cards, parse_cards
from casino_env.errors import CasinoError
from casino_env.rules import RuleTable

DECKS_AHEAD = 8

Seeds = int | Sequence[int | None] | NDArray[np.integer] | None  # for all games, or one for each
DeckLike = str | Sequence[int] | NDArray[np.integer]


def seeded_rng(seed: int | None) -> np.random.Generator:
    """A random generator of a seed that `check_seed` accepts."""
    return np.random.default_rng(check_seed(seed))


def shuffled_deck(rng: np.random.Generator, rules: RuleTable) -> NDArray[np.int8]:
    """A random deck, int8[52]."""
    unused, used = _cards_in_order(rules.deck)
    return np.concatenate([unused, rng.permutation(used)])


def shuffled_decks(rng: np.random.Generator, count: int, rules: RuleTable) -> NDArray[np.int8]:
    """Random decks, int8[count, 52], all from one stream."""
    unused, used = _cards_in_order(rules.deck)
    tail = rng.permuted(np.tile(used, (count, 1)), axis=1)
    return np.concatenate([np.tile(unused, (count, 1)), tail], axis=1)


def are_decks(decks: NDArray[np.integer], rules: RuleTable) -> bool:
    """Whether `decks` [E, 52] are decks of the rule set."""
    unused, used = _cards_in_order(rules.deck)
    head, tail = decks[:, : len(unused)], decks[:, len(unused) :]
    return bool((np.sort(head) == unused).all() and (np.sort(tail) == used).all())


@lru_cache
def _cards_in_order(deck: int) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    """The card ids, rising: of those not in play, and of those that are."""
    unused, used = (np.array([*iter_cards(cards)], np.int8) for cards in (FULL_DECK & ~deck, deck))
    return unused, used


class DeckStreams:
    """Shuffled decks for many games, each from a random stream of its own.

    Decks are drawn some at a time: a game's decks depend on the seed and its number alone, or on the game's
    own seed where there is one for each.
    """

    def __init__(self, games: int, seed: Seeds, rules: RuleTable) -> None:
        self._seeds: Any = check_seeds(seed, games)
        if self._seeds is None:
            self._seeds = np.random.SeedSequence(check_seed(seed)).spawn(games)
        unused, used = _cards_in_order(rules.deck)
        self._first, self._in_order = len(unused), np.tile(used, (DECKS_AHEAD, 1))
        self._rngs: dict[int, np.random.Generator] = {}  # of the games that have drawn
        self._decks = np.zeros((games, DECKS_AHEAD, N_CARDS), np.int8)
        self._decks[:, :, : self._first] = unused
        self._used = np.full(games, DECKS_AHEAD)

    def draw(self, games: NDArray[np.int64]) -> NDArray[np.int8]:
        """The next deck of each of `games` [E], int8[E, 52]."""
        for game in games[self._used[games] == DECKS_AHEAD]:
            if game not in self._rngs:
                self._rngs[game] = np.random.default_rng(self._seeds[game])
            self._decks[game, :, self._first :] = self._rngs[game].permuted(self._in_order, axis=1)
            self._used[game] = 0
        decks = self._decks[games, self._used[games]]
        self._used[games] += 1
        return decks


def deck_text(deck: NDArray[np.integer], rules: RuleTable) -> str:
    """The cards in play of a deck [52], in its order, as `read_deck` takes them."""
    unused, _ = _cards_in_order(rules.deck)
    return "".join(map(card_name, deck[len(unused) :].tolist()))


def read_deck(deck: DeckLike, rules: RuleTable) -> NDArray[np.int8]:
    """A deck given as text `2C3D…` or as card ids; CasinoError unless it is every card in play once."""
    unused, used = _cards_in_order(rules.deck)
    try:
        cards = parse_cards(deck) if isinstance(deck, str) else list(deck)
        if len(cards) != len(used) or any(not is_count(card) or card >= N_CARDS for card in cards):
            valid = f"the ids from 0 to {N_CARDS - 1}" if not len(unused) else cards_text(rules.deck)
            raise ValueError(f"{len(cards)} cards; valid: {valid} once each")
        cards = list(map(int, cards))
        if others := card_set(cards) & ~rules.deck:
            raise ValueError(f"{cards_text(others)} not in play; valid: {cards_text(rules.deck)} once each")
    except (TypeError, ValueError) as error:
        raise CasinoError(f"deck: {error}") from None
    return np.array([*unused, *cards], np.int8)
