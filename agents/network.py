"""The networks: an actor that scores the legal moves of a view, and a critic that may see all cards.

Axes: `B` games, `M` moves of all games together, `H` hidden units.
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass

import torch
from torch import Tensor, nn

from agents.critic_features import critic_width, hands_width
from agents.features import MOVE_WIDTH, state_width

MAX_UNITS, MAX_DEPTH = 8192, 16  # of a layer, and of the scorer
BF16_ROWS = 512  # below, turning the weights into bfloat16 takes as long as it saves


@dataclass(frozen=True)
class NetworkShape:
    """What must be known to rebuild an actor; kept in checkpoints."""

    players: int
    hidden: int = 256
    scorer: int = 128
    merged: bool = False  # equivalent moves are one choice (see `merging`)
    depth: int = 1  # hidden layers of the scorer

    def as_strings(self) -> dict[str, str]:
        """The fields as text, for a checkpoint's metadata."""
        return {name: str(value) for name, value in asdict(self).items()}


class Actor(nn.Module):
    """Scores each legal move: a trunk over the state, plus the move's features, through a few layers.

    All but the first of these add to what they are given (He et al. 2016, arXiv:1512.03385).
    """

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.shape, self.bf16 = shape, False
        self.trunk = _trunk(state_width(shape.players), shape.hidden)
        self.of_state = nn.Linear(shape.hidden, shape.scorer)
        self.of_move = nn.Linear(MOVE_WIDTH, shape.scorer, bias=False)
        self.blocks = nn.ModuleList(nn.Linear(shape.scorer, shape.scorer) for _ in range(shape.depth - 1))
        self.score = nn.Linear(shape.scorer, 1, bias=False)
        nn.init.normal_(self.score.weight, std=0.01)

    def forward(self, states: Tensor, moves: Tensor, owner: Tensor) -> Tensor:
        """Logits [M] of states [B, F], moves [M, G] and the game of each move, owner [M]."""
        return self.score_moves(self.summarise(states), moves, owner)

    def summarise(self, states: Tensor) -> Tensor:
        """The trunk's summary [B, H] of states [B, F]."""
        with products(states, self.bf16):
            return self.trunk(states)

    def score_moves(self, summaries: Tensor, moves: Tensor, owner: Tensor) -> Tensor:
        """Logits [M] of moves [M, G] in the games `owner` [M] of the summaries [B, H]."""
        with products(moves, self.bf16):
            state = self.of_state(summaries).index_select(0, owner)
            joined = torch.relu(state + self.of_move(moves))
            for block in self.blocks:
                joined = joined + torch.relu(block(joined))
        return self.score(joined.float()).squeeze(-1)


class HandHead(nn.Module):
    """Guesses the other hands from an actor's summary: a task beside the game's, for training only."""

    def __init__(self, shape: NetworkShape) -> None:
        super().__init__()
        self.guess = nn.Linear(shape.hidden, hands_width(shape.players))

    def forward(self, summaries: Tensor) -> Tensor:
        """Logits [B, (P - 1) * classes] of each class of card in each other hand, of summaries [B, H]."""
        return self.guess(summaries.float())


class Critic(nn.Module):
    """Value of the state for the seat to act. `privileged`: it sees the hidden cards too.

    It serves training only, so what it sees never helps anyone at play.
    """

    def __init__(self, shape: NetworkShape, privileged: bool = False) -> None:
        super().__init__()
        self.bf16, self.privileged = False, privileged
        width = state_width(shape.players) + privileged * critic_width(shape.players)
        self.trunk = _trunk(width, shape.hidden)
        self.value = nn.Linear(shape.hidden, 1)
        nn.init.zeros_(self.value.weight)

    def forward(self, states: Tensor, hidden: Tensor) -> Tensor:
        """Values [B] of states [B, F] and what is hidden [B, F']."""
        seen = torch.cat([states, hidden], dim=1) if self.privileged else states
        with products(states, self.bf16):
            summaries = self.trunk(seen)
        return self.value(summaries.float()).squeeze(-1)


def products(example: Tensor, bf16: bool) -> AbstractContextManager[object]:
    """Matrix products in bfloat16 within the block, if asked for, on the device of the example.

    Faster where the processor has them, and the rows are many. Weights stay float32, and so do the last
    layers: logits may all be far from 0, where bfloat16 would tell them apart no more.
    """
    if not bf16 or len(example) < BF16_ROWS:
        return nullcontext()
    return torch.autocast(example.device.type, torch.bfloat16)


def _trunk(width: int, hidden: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
