import pytest

from members.store import Profile, ProfileStore


@pytest.mark.parametrize("number", range(60))
def test_saves_and_finds(number):
    store = ProfileStore()
    store.save(Profile(f"Member {number}", f"m{number}@example.test"))
    assert store.find(f"M{number}@EXAMPLE.test").name == f"Member {number}"
