"""The league: who is invited, where they sit, how they are rated, and that it continues from its state."""

import io

import numpy as np
import pytest
import torch

from agents.league import ELO_STEP, League, LeagueConfig, Member, PastSelf
from agents.rollout import LEARNER
from casino_env import CasinoError, Rules
from tests.helpers_learning import deals, generator, play, small_learner


def league_of(learner, **options):
    return League(LeagueConfig(**options), learner.shape, Rules())


def with_past(learner, count, **options):
    league = league_of(learner, **{"past": 0.5, "every": 1, **options})
    for update in range(count):
        league.admit(learner.actor, update + 1)
    return league


def test_a_league_without_shares_invites_nobody():
    league = league_of(small_learner())
    league.admit(small_learner().actor, 20)
    assert league.invite(generator(), 64) is None and not league.past


@pytest.mark.parametrize("players", [2, 3, 4])
def test_guests_sit_on_all_sides_but_the_learners(players):
    learner = small_learner(players=players)
    league = with_past(learner, 3, past=0.5, ladder=0.25, rungs="greedy random", guests=2)
    guests = league.invite(generator(), 64)
    assert [agent.name for agent in guests.agents[2:]] == ["greedy", "random"]
    assert all(agent.name.startswith("update ") for agent in guests.agents[:2])
    per_guest = [int((guests.holders == k).any(axis=1).sum()) for k in range(1, 5)]
    assert per_guest == [16, 16, 8, 8] and (guests.holders[48:] == LEARNER).all()
    sides = np.arange(players) % (2 if players == 4 else players)
    seats = np.zeros(players, int)
    for row in guests.holders[:48]:
        ours = row == LEARNER
        assert len(set(sides[ours])) == 1 and ours.sum() == (sides == sides[ours][0]).sum()
        assert len(set(row[~ours])) == 1
        seats += ours
    assert (seats > 0).all()


def test_who_is_hard_to_beat_is_met_more_often():
    league = with_past(small_learner(), 4, guests=1)
    for member, lost in zip(league.past, (0.9, 0.9, 0.9, 0.2), strict=True):
        member.lost = lost
    names = [league.invite(generator(i), 4).agents[0].name for i in range(200)]
    # (1 - 0.2)^2 + 0.01 = 0.65 against three of (1 - 0.9)^2 + 0.01 = 0.02
    assert names.count("update 4") / 200 == pytest.approx(0.65 / 0.71, abs=0.06)


def test_a_full_pool_gives_up_who_loses_most():
    learner = small_learner()
    league = with_past(learner, 3, size=3)
    league.past[1].lost = 0.8
    league.admit(learner.actor, 4)
    assert [member.agent.name for member in league.past] == ["update 1", "update 3", "update 4"]


def test_past_selves_are_copies():
    learner = small_learner()
    league = with_past(learner, 1)
    before = league.past[0].agent.actor.score.weight.clone()
    with torch.no_grad():
        learner.actor.score.weight += 1
    assert torch.equal(league.past[0].agent.actor.score.weight, before)


def test_ratings_by_hand():
    league = with_past(small_learner(), 1)
    past, rung = league.past[0], Member(agent=None)
    league._rate(past, 1.0)  # equals expect one half
    assert (league.rating, past.rating) == (ELO_STEP / 2, 0) and past.lost == pytest.approx(0.55)
    league.rating, rung.rating = 400.0, 0.0
    league._rate(rung, 0.0)  # ten to one expected
    assert league.rating == pytest.approx(400 - ELO_STEP * 10 / 11)
    assert rung.rating == pytest.approx(ELO_STEP * 10 / 11)


def test_ladder_agents_are_known_by_their_texts():
    """Two that differ in options have the same name."""
    learner, rungs = small_learner(), "counter:worlds=1 counter:worlds=8"
    league = league_of(learner, ladder=0.5, rungs=rungs)
    league.rungs[0].rating, league.rungs[1].rating = -50.0, 70.0
    other = league_of(learner, ladder=0.5, rungs=rungs)
    other.load_state_dict(league.state_dict())
    assert [rung.rating for rung in other.rungs] == [-50, 70]


def test_a_ladder_agent_that_is_none_is_told():
    with pytest.raises(CasinoError, match=r"league\.rungs: unknown agent 'nobody'; valid: random"):
        league_of(small_learner(), ladder=0.5, rungs="nobody")


def test_results_are_noted_and_the_state_goes_on():
    learner = small_learner()
    league, rng = with_past(learner, 2, ladder=0.25, rungs="greedy"), generator()
    guests = league.invite(rng, 16)
    metrics = league.note(play(learner, deals(16), rng, guests), learner.ranks)
    assert {"league/rating", "league/margin_past", "league/margin_ladder", "league/past_selves"} == set(
        metrics
    )
    content = io.BytesIO()
    torch.save(league.state_dict(), content)
    content.seek(0)
    other = league_of(learner, past=0.5, ladder=0.25, rungs="greedy")
    other.load_state_dict(torch.load(content, weights_only=True))
    assert (other.rating, len(other.past)) == (league.rating, 2)
    assert [one.lost for one in other.past + other.rungs] == [one.lost for one in league.past + league.rungs]
    assert other.rungs[0].rating == league.rungs[0].rating != 0
    assert isinstance(other.past[0], PastSelf)
    first, second = (some.past[1].agent.actor.state_dict() for some in (league, other))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert [a.name for a in other.invite(generator(3), 16).agents] == [
        a.name for a in league.invite(generator(3), 16).agents
    ]
