"""An observation in words, read back from the vector by the table of its blocks alone."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from casino_env.cards import N_CARDS, card_name
from casino_env.errors import CasinoError
from casino_env.observation import SWEEP_SCALE, blocks, observation_size
from casino_env.rules import ACE_HIGH, HAND_SIZE, LOWEST_VALUE, PLAYER_COUNTS, TURNS
from casino_env.tokens import BUILD, CAPTURE, PILE, TAKE, VALUE, token_name

Parts = dict[str, NDArray[np.floating]]


def explain(observation: NDArray[np.floating]) -> str:
    """What the vector says, line by line; seats are `me` and `+1`, `+2`, `+3` in order of play.

    Raises CasinoError if it is no observation of 2, 3 or 4 players.
    """
    observation = np.asarray(observation)
    for players in PLAYER_COUNTS:
        if observation.shape == (observation_size(players),):
            parts = {
                block.name: observation[block.offset : block.offset + block.size] for block in blocks(players)
            }
            return "\n".join(f"{name + ':':<14} {text}" for name, text in _lines(parts, players))
    sizes = ", ".join(str(observation_size(players)) for players in PLAYER_COUNTS)
    raise CasinoError(f"observation of shape {observation.shape}; valid: a vector of {sizes} numbers")


def _lines(parts: Parts, players: int) -> Iterator[tuple[str, str]]:
    yield "hand", _cards(parts["hand"])
    yield "loose", _cards(parts["loose"])
    yield from _builds(parts, players)
    captured = parts["captured"].reshape(players, N_CARDS)
    for seat in range(players):
        yield f"captured {_seat(seat)}", f"{int(captured[seat].sum())}: {_cards(captured[seat])}"
    yield "unseen", f"{int(parts['unseen'].sum())}: {_cards(parts['unseen'])}"
    yield "hand sizes", _by_seat(np.rint(parts["hand_sizes"] * HAND_SIZE))
    yield "stock", f"{round(float(parts['stock_size'][0]) * TURNS)} cards"
    yield "sweeps", _by_seat(np.rint(parts["sweeps"] * SWEEP_SCALE))
    yield "last capture", _one_of(parts["last_capture"]) or "nobody"
    yield "dealer", _one_of(parts["dealer"]) or "nobody"
    yield "score", ", ".join(f"{_seat(side)} {share:.0%}" for side, share in enumerate(parts["score"]))
    yield "being spelled", _spelled(parts) or "nothing"


def _builds(parts: Parts, players: int) -> Iterator[tuple[str, str]]:
    owners = parts["build_owner"].reshape(-1, players)
    values = np.rint(parts["build_cards"] * ACE_HIGH)
    for i, owner in enumerate(owners):
        if owner.any():
            multiple = "multiple, " if parts["build_multiple"][i] else ""
            yield (
                f"build {i + LOWEST_VALUE}",
                f"{_cards(values == i + LOWEST_VALUE)} ({multiple}{_one_of(owner)})",
            )


def _spelled(parts: Parts) -> str:
    """The tokens of the unfinished move; loose cards in id order."""
    if not parts["spelled_kind"].any():
        return ""
    builds, card = int(parts["spelled_kind"][1]), int(parts["spelled_card"].argmax())
    tokens = [(BUILD if builds else CAPTURE) + card]
    tokens += (VALUE + np.flatnonzero(parts["spelled_value"])).tolist()
    texts = [token_name(token) for token in tokens]
    if parts["spelled_pile"][0]:
        texts.append(token_name(PILE).split()[0])
    texts += [token_name(TAKE + card) for card in np.flatnonzero(parts["spelled_used"]).tolist()]
    open_group = _cards(parts["spelled_group"])
    return ", ".join(texts) + (f" (open group: {open_group})" if open_group != "-" else "")


def _cards(chosen: NDArray[np.floating] | NDArray[np.bool_]) -> str:
    return " ".join(map(card_name, np.flatnonzero(chosen).tolist())) or "-"


def _seat(seat: int) -> str:
    return f"+{seat}" if seat else "me"


def _one_of(seats: NDArray[np.floating]) -> str:
    return "".join(_seat(seat) for seat in np.flatnonzero(seats).tolist())


def _by_seat(numbers: NDArray[np.floating]) -> str:
    return ", ".join(f"{_seat(seat)} {int(number)}" for seat, number in enumerate(numbers))
