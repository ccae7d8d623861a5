import pytest

from members.greeting import greeting, subject
from members.store import Profile, ProfileStore


@pytest.fixture
def store():
    store = ProfileStore()
    store.save(Profile("Grace Hopper", "grace@example.test"))
    store.save(Profile("Katherine Johnson", "Katherine@Example.test", newsletter=True))
    return store


def test_known_member_is_greeted_by_first_name(store):
    assert greeting(store, "grace@example.test") == "Hello Grace!"


def test_address_case_does_not_matter(store):
    assert greeting(store, "KATHERINE@example.test") == "Hello Katherine!"


def test_stranger_gets_a_neutral_greeting(store):
    assert greeting(store, "nobody@example.test") == "Hello!"


def test_subject_names_the_campaign(store):
    assert subject(store, "grace@example.test", "spring sale") == "Hello Grace! Spring Sale"
