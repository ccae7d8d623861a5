import pytest

from maps.tiles import TILE_BYTES, neighbours, render, tile_key


@pytest.mark.parametrize("x", range(36))
@pytest.mark.parametrize("y", range(36))
def test_every_tile_has_eight_neighbours(x, y):
    assert len(set(neighbours(x, y))) == 8
    assert tile_key(5, x, y).count("/") == 2
