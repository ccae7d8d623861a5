def week_of(day):
    return day.isocalendar().week
