"""Decks: shuffling and reading them. The one place where randomness enters a game."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import check_seed, check_seeds, is_count
from casino_env.cards import N_CARDS, card_set, parse_cards
from casino_env.errors import CasinoError

DECKS_AHEAD = 8
_SORTED_DECKS = np.tile(np.arange(N_CARDS, dtype=np.int8), (DECKS_AHEAD, 1))

Seeds = int | Sequence[int | None] | NDArray[np.integer] | None  # for all games, or one for each
DeckLike = str | Sequence[int] | NDArray[np.integer]


def seeded_rng(seed: int | None) -> np.random.Generator:
    """A random generator of a seed that `check_seed` accepts."""
    return np.random.default_rng(check_seed(seed))


def shuffled_deck(rng: np.random.Generator) -> NDArray[np.int8]:
    """A random deck, int8[52] card ids in the order dealt."""
    return rng.permutation(N_CARDS).astype(np.int8)


def shuffled_decks(rng: np.random.Generator, count: int) -> NDArray[np.int8]:
    """Random decks, int8[count, 52], all from one stream."""
    return rng.permuted(np.tile(np.arange(N_CARDS, dtype=np.int8), (count, 1)), axis=1)


class DeckStreams:
    """Shuffled decks for many games, each from a random stream of its own.

    Decks are drawn some at a time: a game's decks depend on the seed and its number alone, or on the game's
    own seed where there is one for each.
    """

    def __init__(self, games: int, seed: Seeds) -> None:
        self._seeds: Any = check_seeds(seed, games)
        if self._seeds is None:
            self._seeds = np.random.SeedSequence(check_seed(seed)).spawn(games)
        self._rngs: dict[int, np.random.Generator] = {}  # of the games that have drawn
        self._decks = np.zeros((games, DECKS_AHEAD, N_CARDS), np.int8)
        self._used = np.full(games, DECKS_AHEAD)

    def draw(self, games: NDArray[np.int64]) -> NDArray[np.int8]:
        """The next deck of each of `games` [E], int8[E, 52]."""
        for game in games[self._used[games] == DECKS_AHEAD]:
            if game not in self._rngs:
                self._rngs[game] = np.random.default_rng(self._seeds[game])
            self._decks[game] = self._rngs[game].permuted(_SORTED_DECKS, axis=1)
            self._used[game] = 0
        decks = self._decks[games, self._used[games]]
        self._used[games] += 1
        return decks


def read_deck(deck: DeckLike) -> NDArray[np.int8]:
    """A deck given as text `2C3D…` or as card ids; CasinoError unless it is the 52 cards once each."""
    try:
        cards = parse_cards(deck) if isinstance(deck, str) else list(deck)
        if len(cards) != N_CARDS or any(not is_count(card) or card >= N_CARDS for card in cards):
            raise ValueError(f"{len(cards)} cards; valid: the ids from 0 to {N_CARDS - 1} once each")
        cards = list(map(int, cards))
        card_set(cards)
    except (TypeError, ValueError) as error:
        raise CasinoError(f"deck: {error}") from None
    return np.array(cards, np.int8)
