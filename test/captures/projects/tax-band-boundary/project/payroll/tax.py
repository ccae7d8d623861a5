"""Income tax by bands. Amounts are whole units of currency per year."""

BANDS = ((10_000, 0.0), (30_000, 0.2), (None, 0.4))


def tax(income):
    owed = 0.0
    lower = 0
    for upper, rate in BANDS:
        if upper is None or income < upper:
            return round(owed + (income - lower) * rate, 2)
        owed += (upper - lower) * rate
        lower = upper
    return round(owed, 2)


def monthly(income):
    return tax(income) // 12
