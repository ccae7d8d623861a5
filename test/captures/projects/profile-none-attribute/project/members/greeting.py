def greeting(store, email):
    profile = store.find(email)
    first_name = profile.name.split()[0]
    return f"Hello {first_name}!"


def subject(store, email, campaign):
    return f"{greeting(store, email)} {campaign.title()}"
