"""What `render` gives, for every environment: the modes, a position as text or picture."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from casino_env.arguments import quoted
from casino_env.errors import CasinoError
from casino_env.position import Position
from casino_env.raster import paint
from casino_env.table_drawing import draw_table
from casino_env.tokens import token_name

RENDER_MODES = ["ansi", "human", "rgb_array"]

Picture = str | NDArray[np.uint8]


def check_render_mode(mode: Any, valid: list[str]) -> str | None:
    """`mode` if it is None or one of the valid ones, else CasinoError."""
    if mode is not None and not (isinstance(mode, str) and mode in valid):
        raise CasinoError(f"render_mode={quoted(mode)} is unknown; valid: {', '.join(valid)}, None")
    return mode


def warn_of_no_mode(valid: list[str]) -> None:
    """Say that there is nothing to render, as Gymnasium's environments do."""
    text = f"render: the environment was made without a render_mode; valid: {', '.join(valid)}"
    gymnasium.logger.warn(text)


def rendered(position: Position, spelled: list[int], mode: str) -> Picture:
    """A position with the tokens of an unfinished move: a picture for the mode `rgb_array`, else a text."""
    if mode == "rgb_array":
        return paint(draw_table(position.rules, position.state, spelled))
    return " ".join([str(position), *(f"({token_name(token)})" for token in spelled)])
