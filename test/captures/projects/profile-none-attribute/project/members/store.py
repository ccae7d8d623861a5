from attrs import define


@define
class Profile:
    name: str
    email: str
    newsletter: bool = False


class ProfileStore:
    def __init__(self):
        self._by_email = {}

    def save(self, profile):
        self._by_email[profile.email.lower()] = profile

    def find(self, email):
        return self._by_email.get(email.lower())
