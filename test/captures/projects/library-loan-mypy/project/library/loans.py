from dataclasses import dataclass


@dataclass
class Loan:
    title: str
    days: int


def overdue(loans: list[Loan], limit: int) -> list[str]:
    return [loan for loan in loans if loan.days > limit]
