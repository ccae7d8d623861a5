from library.loans import Loan, overdue


def report(loans: list[Loan]) -> str:
    return "\n".join(overdue(loans, 28))
