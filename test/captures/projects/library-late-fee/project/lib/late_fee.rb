# What a borrower owes for a book that came back late.
class LateFee
  FREE_DAYS = 3
  CENTS_A_DAY = 25

  def initialize(days_late)
    @days_late = days_late
  end

  def cents
    (@days_late - FREE_DAYS + 1) * CENTS_A_DAY
  end
end
