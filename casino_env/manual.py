"""The manual of the PettingZoo environment: its text, and its tables as the code has them.

It becomes part of the docstring of `royal_casino_v0`, where `help` and editors show it.
"""

from casino_env.global_state import state_blocks
from casino_env.observation import OBSERVATION_VERSION, Block, blocks
from casino_env.rules import PLAYER_COUNTS
from casino_env.tokens import BUILD, CAPTURE, DONE, N_TOKENS, PILE, TAKE, TRAIL, VALUE, VALUE_ACE_HIGH

TOKENS = (  # first, last, name, meaning
    (TRAIL, CAPTURE - 1, "TRAIL c", "leave card c of the hand on the table; completes the move"),
    (CAPTURE, BUILD - 1, "CAPTURE c", "capture with card c; its parts follow"),
    (BUILD, TAKE - 1, "BUILD c", "build, add or raise with card c; a VALUE and parts follow"),
    (TAKE, VALUE - 1, "TAKE c", "part: loose card c"),
    (VALUE, VALUE_ACE_HIGH - 1, "VALUE v", "value 2-14 of the build that results"),
    (VALUE_ACE_HIGH, PILE - 1, "VALUE 14 (ace high)", "14, the played ace counting 14"),
    (PILE, DONE - 1, "PILE v", "part: the build of value 2-14, to capture or to raise"),
    (DONE, N_TOKENS - 1, "DONE", "complete the move"),
)


Table = list[tuple[str, ...]]  # rows of texts; the first is the head


def token_table() -> Table:
    """Ids, names and meanings of the tokens."""
    rows: Table = [("id", "token", "meaning")]
    for first, last, name, meaning in TOKENS:
        rows.append((str(first) if first == last else f"{first}-{last}", name, meaning))
    return rows


def block_table() -> Table:
    """The blocks of the observation, with offset and size for 2, 3 and 4 players."""
    return _blocks([blocks(players) for players in PLAYER_COUNTS])


def state_table() -> Table:
    """The blocks that the global state has after those of the observation."""
    first = len(blocks(PLAYER_COUNTS[0]))
    return _blocks([state_blocks(players)[first:] for players in PLAYER_COUNTS])


def _blocks(by_players: list[tuple[Block, ...]]) -> Table:
    rows: Table = [("block", "offset", "size", "meaning")]
    for same in zip(*by_players, strict=True):
        offsets, sizes = [block.offset for block in same], [block.size for block in same]
        rows.append((same[0].name, _numbers(offsets), _numbers(sizes), same[0].meaning))
    return rows


def _numbers(numbers: list[int]) -> str:
    """One number if all are alike."""
    return "/".join(map(str, numbers if len(set(numbers)) > 1 else numbers[:1]))


def _aligned(rows: Table) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"    {line}".rstrip() for line in lines)


MANUAL = f"""
Arguments of env and raw_env
    rules          rule set, e.g. royal or royal;near21=pagat;target=11 ("royal")
    players        {", ".join(map(str, PLAYER_COUNTS))} (2)
    objective      deal: an episode is one deal; match: deals until a side wins ("deal")
    max_deals      truncate a match after so many deals (None)
    auto_complete  after the first token of a turn, take a sole legal token without asking (True)
    render_mode    what render gives: ansi, a text; rgb_array, a picture uint8[height, width, 3]; human prints
                   the text after reset, every token and every whole move (None)

    env has PettingZoo's stock wrappers around raw_env. All cards are rendered, hidden ones too.

Agents
    player_0 … player_3, in order of play. With 4 players, 0 and 2 are partners, 1 and 3 too.

Actions: Discrete({N_TOKENS}), the same for every agent
    A turn is one move, spelled in one to a few tokens; the agent acts again until its move is complete.

{_aligned(token_table())}

    A pile comes before loose cards; these come group by group: rising ids within a group, groups by rising
    first card, and the group of the played card before the others. A card id is 4 * rank + suit; ranks
    run 2 … K, A, suits clubs, diamonds, hearts, spades. Loose cards that have to be captured (match_forced)
    are taken without being named.

Observation: a dict of "observation" (float32, values from 0 on) and "action_mask" (int8[{N_TOKENS}])
    The mask has 1 for each legal token; all are 0 for an agent that is not to act. Seats are relative to
    the observing agent: 0 itself, 1 who acts after it. Nothing depends on a card that it has not seen.
    The spaces stay the same objects. `casino_env.explain` prints an observation in words. Offsets and sizes
    are for 2/3/4 players.

{_aligned(block_table())}

State: float32, what player_0 observes with any unfinished move, and then, for centralised critics,

{_aligned(state_table())}

Rewards
    objective="deal": an episode is one deal; at its end an agent gets the points of its side minus the mean
    of the other sides'. objective="match": deals are played until a side wins; then its agents get 1, the
    others -1, or -1/2 with 3 players; 0 until then. The points of a deal and the match follow the rule set.
    After max_deals a match is truncated and brings nobody anything.

    An illegal token is refused by raw_env with its reason, and nothing changes. Through env it ends the
    episode: its agent gets -50 (deal) or -1 (match), the others 0.

Reset
    options: "deck" (all cards as text, or ids, in the order dealt), "dealer" (a seat), "score" (by side), or
    "position" (a Position or its text) alone. A seed decides all decks of the episode; without one the
    random stream goes on.

Versions
    v0: observation version {OBSERVATION_VERSION}. It changes with any block, and checkpoints carry it.
"""
