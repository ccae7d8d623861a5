import pytest

from rates.convert import set_rate, to_euro


def test_francs():
    assert to_euro(19, "CHF") == 20.0


def test_new_rate_is_used():
    set_rate("SEK", 12.0)
    assert to_euro(120, "SEK") == 10.0


def test_kronor():
    assert to_euro(114, "SEK") == 10.0


@pytest.mark.parametrize("amount", [0, 1, 2.5, 99.99, 1_000_000])
def test_euro_stays_euro(amount):
    assert to_euro(amount, "EUR") == amount
