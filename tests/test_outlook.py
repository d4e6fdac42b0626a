"""What tables offer: takes against the move lists, chances against sampling, scales by hand."""

from math import comb

import numpy as np
import pytest

from agents.outlook import live_scale, take_value, take_worth, write_chances, write_takes
from agents.worth import POINT, scale_of
from casino_env import Position, Rules, VectorEnv
from casino_env.cards import card_id, card_set
from casino_env.moves import move_card, move_loose, move_pile, move_value
from casino_env.view import see, unseen_cards
from tests.helpers_env import cards_in

pytestmark = pytest.mark.jitless
ROYAL = Rules().table


def takes_of(rules, loose):
    takes = np.full(17, -1, np.int64)
    write_takes(rules, loose, takes)
    return takes


def test_takes_by_hand():
    loose = card_set([card_id(name) for name in ("AC", "3D", "4H", "9C", "KC")])
    takes = takes_of(ROYAL, loose)

    def names(value):
        return {card for card in cards_in(int(takes[value]))}

    def ids(*cards):
        return {card_id(card) for card in cards}

    assert names(3) == ids("3D") and names(4) == ids("4H", "AC", "3D")
    assert names(9) == ids("9C") and names(8) == ids("AC", "3D", "4H")
    assert names(13) == ids("KC", "9C", "4H", "AC", "3D")
    assert names(14) == ids("AC", "KC", "9C", "4H")  # the ace high, ace and king, ace and nine and four
    assert names(2) == names(0) == set()


@pytest.mark.parametrize("rules", ["royal", "plain", "kasino", "spade"])
def test_takes_are_the_union_of_what_captures_take(rules):
    """Against the lists of legal moves, where nothing is forced."""
    env, rng = VectorEnv(64, f"{rules};capture=free", 2, seed=5), np.random.default_rng(5)
    table = env.rules.table
    legal, seen = env.reset(), 0
    for _ in range(60):
        view = env.view()
        for game in range(64):
            captured: dict[int, int] = {}
            if any(view.owned[game]):
                continue
            for move in legal.moves[legal.offsets[game] : legal.offsets[game + 1]]:
                if not move_value(move) and (move_loose(move) or move_pile(move)):
                    value = take_value(table, move_card(move))
                    captured[value] = captured.get(value, 0) | move_loose(move)
            takes = takes_of(table, view.loose[game])
            for card in cards_in(int(view.hand[game])):
                value = take_value(table, card)
                assert takes[value] == captured.get(value, 0)
                seen += 1
        counts = np.diff(legal.offsets)
        legal = env.step((rng.random(64) * counts).astype(np.int64)).legal
    assert seen > 2000


@pytest.mark.parametrize("players", [2, 3, 4])
def test_chances_are_those_of_drawing_from_the_unseen_cards(players):
    env, rng = VectorEnv(32, players=players, seed=2), np.random.default_rng(2)
    legal, promised = env.reset(), 0
    for _ in range(40):
        view = env.view()
        for game in range(32):
            chances = np.zeros(17)
            write_chances(ROYAL, view, game, chances)
            unseen = cards_in(unseen_cards(ROYAL, view, game))
            rivals = [seat for seat in range(players) if seat % (2 if players == 4 else players)]
            cards = int(view.hand_sizes[game, rivals].sum())
            for value in range(1, 15):
                count = sum(take_value(ROYAL, card) == value for card in unseen)
                expected = 1 - comb(len(unseen) - count, cards) / comb(len(unseen), cards)
                if any(int(view.owned[game, seat]) >> value & 1 for seat in rivals):
                    promised += expected < 1
                    expected = 1.0
                assert chances[value] == pytest.approx(expected)
        counts = np.diff(legal.offsets)
        legal = env.step((rng.random(32) * counts).astype(np.int64)).legal
    assert promised > 20


def test_a_majority_that_is_decided_counts_no_more():
    # seat 1 has 27 cards, 7 of them spades
    spades, others = (
        [card for card in range(52) if card % 4 == 3],
        [card for card in range(52) if card % 4 < 2],
    )
    view, scale = see(Position.deal(seed=1).state), scale_of(ROYAL)
    for cards, expected in (
        (spades[:6] + others[:20], scale),
        (spades[:7] + others[:19], scale._replace(spade=0)),
        (spades[:6] + others[:21], scale._replace(card=0)),
    ):
        view.captured[0] = [0, card_set(cards)]
        assert live_scale(ROYAL, scale, view, 0) == expected


def test_worth_by_hand():
    cards = card_set([card_id(name) for name in ("AS", "TD", "2C")])
    # an ace, big casino (2), three cards of 26 for 3 points, one spade of 7 for 1 point, and a sweep
    expected = 1 + 2 + 3 * 3 / 26 + 1 / 7
    assert take_worth(ROYAL, scale_of(ROYAL), cards, False) == pytest.approx(expected, abs=2 / POINT)
    assert take_worth(ROYAL, scale_of(ROYAL), cards, True) == pytest.approx(expected + 1, abs=2 / POINT)
