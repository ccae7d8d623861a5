RATES = {"EUR": 1.0, "CHF": 0.95, "SEK": 11.4}


def set_rate(currency, rate):
    RATES[currency] = rate


def to_euro(amount, currency):
    return round(amount / RATES[currency], 2)
