from roster.shifts import shifts


def plan(path, names):
    return {shift["day"]: names[index % len(names)] for index, shift in enumerate(shifts(path))}
