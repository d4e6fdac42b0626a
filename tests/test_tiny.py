"""`size=tiny`: the rules of any rule set, played with nine cards."""

import numpy as np
import pytest
from pettingzoo.test import api_test

from agents.features import UNSEEN, state_features
from agents.registry import LADDER, make_agent
from casino_env import CasinoError, InvalidPosition, Position, Rules, VectorEnv, royal_casino_v0
from casino_env.decks import shuffled_decks
from casino_env.errors import InvalidRules
from casino_env.view import see, unseen_cards
from tests.helpers_env import cards_in

TINY = "royal;size=tiny"
CARDS = "2C2D2S3C3D3SACADAS"
DECK = "AC2D3S2CAD3CAS2S3D"


def test_a_deal_of_nine_cards_has_eight_turns() -> None:
    position = Position.deal(deck=DECK, rules=TINY)
    assert str(position) == f"{TINY} 2C3S/2DAC AD - -/- 3CAS2S3D 1 - 0/0 0/0 0"
    turns = 0
    while not position.is_over:
        position, turns = position.play(position.legal_moves()[0]), turns + 1
    assert turns == 8
    captured = [cards_in(int(cards)) for cards in position.state.captured[0]]
    left = cards_in(int(position.state.loose[0]))
    assert len(left) + sum(map(len, captured)) == 9


def test_the_second_hands_are_dealt_from_the_stock() -> None:
    position = Position.deal(deck=DECK, rules=TINY)
    for _ in range(4):
        position = position.play(position.legal_moves()[0])
    assert str(position).split()[1] == "2S3D/3CAS"
    assert str(position).split()[5] == "-"


def test_decks_are_of_the_cards_in_play() -> None:
    table = Rules.parse(TINY).table
    decks = shuffled_decks(np.random.default_rng(0), 100, table)
    assert {frozenset(deck[43:]) for deck in decks.tolist()} == {frozenset(cards_in(table.deck))}  # dealt
    assert len({tuple(deck[43:]) for deck in decks.tolist()}) > 95
    env = VectorEnv(2, TINY)
    env.reset(decks=decks[:2])
    with pytest.raises(
        CasinoError,
        match="once each, the 43 that are not in play first",
    ):
        env.reset(decks=np.tile(np.arange(52, dtype=np.int8), (2, 1)))


@pytest.mark.parametrize(
    ("deck", "reason"),
    [
        (DECK[:-2], f"deck: 8 cards; valid: {CARDS} once each"),
        (DECK[:-2] + "KH", f"deck: KH not in play; valid: {CARDS} once each"),
        (DECK[:-2] + "AC", "deck: card AC appears twice"),
    ],
)
def test_another_deck_is_refused(deck: str, reason: str) -> None:
    with pytest.raises(CasinoError, match=reason):
        Position.deal(deck=deck, rules=TINY)


def test_a_position_with_other_cards_is_refused() -> None:
    text = f"{TINY} 2C3S/2DAC KH - -/- 3CAS2S3D 1 - 0/0 0/0 0"
    with pytest.raises(InvalidPosition, match="cards that the rule set leaves out: KH"):
        Position.parse(text)
    with pytest.raises(InvalidPosition, match="cards are missing: AD"):
        Position.parse(text.replace("KH", "-"))


def test_the_deck_cannot_be_dealt_out_to_three() -> None:
    with pytest.raises(
        InvalidRules, match=r"players=3 is not possible with rules 'royal;size=tiny'; valid: 2, 4$"
    ):
        Position.deal(rules=TINY, players=3)
    assert Position.deal(seed=0, rules=TINY, players=4).state.dealt[0] == 52


def test_only_cards_in_play_are_unseen() -> None:
    position = Position.deal(seed=1, rules=TINY)
    view, table = see(position.state), position.rules.table
    assert len(cards_in(unseen_cards(table, view, 0))) == 9 - 3
    assert state_features(view, table)[0, UNSEEN].sum() == 6
    observation = royal_casino_v0.raw_env(rules=TINY)
    observation.reset(seed=0)
    assert observation.observe("player_1")["observation"].max() <= 1


def test_the_environments_are_sound() -> None:
    for options in ({}, {"objective": "match"}):
        api_test(royal_casino_v0.env(rules=TINY, **options), num_cycles=60)


def test_the_ladder_plays_it() -> None:
    rules, env = Rules.parse(TINY), VectorEnv(64, TINY, seed=3)
    legal, rng = env.reset(), np.random.default_rng(0)
    agents = [make_agent(name, rules, 2) for name in LADDER if name != "champion"]
    for turn in range(16):
        legal = env.step(agents[turn % len(agents)].choose(env.view(), legal, rng)).legal
