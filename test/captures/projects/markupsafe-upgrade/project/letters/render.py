from jinja2 import Template

INVITATION = Template("Dear {{ name }},\nyou are invited to {{ event }}.")


def invitation(name, event):
    return INVITATION.render(name=name, event=event)
