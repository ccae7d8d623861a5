import unittest

from payroll.tax import monthly, tax


class TaxTest(unittest.TestCase):
    def test_nothing_below_the_allowance(self):
        self.assertEqual(tax(9_999), 0)

    def test_first_band(self):
        self.assertEqual(tax(20_000), 2_000)

    def test_band_boundary(self):
        self.assertEqual(tax(30_000), 4_000)

    def test_top_band(self):
        self.assertEqual(tax(50_000), 12_000)


class MonthlyTest(unittest.TestCase):
    def test_monthly_is_exact_to_the_cent(self):
        self.assertEqual(monthly(50_500), 1_016.67)

    def test_monthly_of_nothing(self):
        self.assertEqual(monthly(0), 0)


if __name__ == "__main__":
    unittest.main()
