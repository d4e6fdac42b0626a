"""The errors a user can cause, each carrying one clear line. Owns no checks, only the types."""


class CasinoError(ValueError):
    """Base of every error caused by input rather than by a defect; `str(error)` is one line."""


class InvalidRules(CasinoError):
    """A rule-set text names an unknown rule set, field or value (R8)."""


class InvalidMove(CasinoError):
    """A text is not a move in the form of R9, or a number is not a token."""


class IllegalMove(CasinoError):
    """A well-formed move that the rules forbid in this position; the text names the reason."""


class InvalidPosition(CasinoError):
    """A position text is malformed (R9) or breaks an invariant of the game."""


class NotReset(CasinoError, AttributeError):
    """An environment is used before its first `reset`."""


class MoveListCut(UserWarning):
    """A list of legal moves is not complete: what is searched or listed reached its bound."""
