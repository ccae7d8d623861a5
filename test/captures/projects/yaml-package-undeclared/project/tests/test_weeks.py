from datetime import date

import pytest

from planner.weeks import week_of


@pytest.mark.parametrize("day, week", [(date(2024, 1, 1), 1), (date(2024, 12, 30), 1), (date(2021, 1, 3), 53)])
def test_week_of(day, week):
    assert week_of(day) == week
