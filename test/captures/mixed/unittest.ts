import {
  assertion,
  type MixedBuild,
  missingFile,
  nullReference,
  ownModule,
  refused,
  thrown,
} from '../../../scripts/parts/capture/mixed-row.ts';

/** Suites of Python's unittest. */
export const builds: readonly MixedBuild[] = [
  {
    version: 'python --version',
    id: 'unittest-kitchen',
    runner: 'unittest',
    project: 'kitchen',
    files: {
      'kitchen.py': `import csv


def portions(grams, eaters):
    return grams // eaters


def season(dish):
    dish.salt += 2
    return dish


def cellar():
    with open("stock/cellar.csv") as file:
        return list(csv.reader(file))


def menu():
    return {"starter": "leek soup", "main": "trout", "dessert": "plum cake"}


def oven(celsius):
    if celsius > 280:
        raise ValueError(f"the oven stops at 280 degrees, not {celsius}")
    return celsius
`,
      'tests/__init__.py': '',
      'tests/test_kitchen.py': `import unittest

import kitchen


class PortionsTest(unittest.TestCase):
    def test_four_eaters(self):
        self.assertEqual(kitchen.portions(800, 4), 200)

    def test_nobody_eats(self):
        self.assertEqual(kitchen.portions(800, 0), 0)

    def test_three_eaters(self):
        self.assertEqual(kitchen.portions(500, 3), 167)


class MenuTest(unittest.TestCase):
    def test_is_cooked_in_this_order(self):
        self.assertDictEqual(kitchen.menu(), {"starter": "leek soup", "main": "pike", "dessert": "plum cake"})

    def test_salts_an_empty_pot(self):
        self.assertIsNone(kitchen.season(None))

    def test_wine_is_in_the_cellar(self):
        self.assertIn(["Riesling", "6"], kitchen.cellar())

    def test_pizza_needs_a_hot_oven(self):
        self.assertEqual(kitchen.oven(320), 320)

    def test_sizes_of_plates(self):
        for size in (18, 27, 32):
            with self.subTest(size=size):
                self.assertLess(size, 30)


if __name__ == "__main__":
    unittest.main()
`,
    },
    run: 'python -m unittest discover -v',
    tally: 'FAILED (failures=3, errors=4)',
    failures: [
      {
        ...assertion,
        test: 'test_is_cooked_in_this_order',
        suite: 'tests.test_kitchen.MenuTest',
        at: 'FAIL: test_is_cooked_in_this_order',
        message: "AssertionError: {'starter': 'leek soup', 'main': 'trout', 'dessert': 'plum cake'} !=",
        lines: ["'main': 'trout',", "'main': 'pike',"],
        cause: 'main-course',
      },
      {
        ...assertion,
        test: 'test_sizes_of_plates',
        suite: 'tests.test_kitchen.MenuTest',
        at: 'FAIL: test_sizes_of_plates (',
        message: 'AssertionError: 32 not less than 30',
        cause: 'plate-of-32',
      },
      {
        ...assertion,
        test: 'test_three_eaters',
        suite: 'tests.test_kitchen.PortionsTest',
        at: 'FAIL: test_three_eaters',
        message: 'AssertionError: 166 != 167',
        cause: 'third-portion',
      },
      {
        ...thrown,
        test: 'test_pizza_needs_a_hot_oven',
        suite: 'tests.test_kitchen.MenuTest',
        at: 'ERROR: test_pizza_needs_a_hot_oven',
        message: 'ValueError: the oven stops at 280 degrees, not 320',
        cause: 'oven-limit',
      },
      {
        ...nullReference,
        test: 'test_salts_an_empty_pot',
        suite: 'tests.test_kitchen.MenuTest',
        at: 'ERROR: test_salts_an_empty_pot',
        message: "AttributeError: 'NoneType' object has no attribute 'salt'",
        cause: 'no-dish',
      },
      {
        ...missingFile,
        test: 'test_wine_is_in_the_cellar',
        suite: 'tests.test_kitchen.MenuTest',
        at: 'ERROR: test_wine_is_in_the_cellar',
        message: "FileNotFoundError: [Errno 2] No such file or directory: 'stock/cellar.csv'",
        cause: 'cellar-file',
      },
      {
        ...thrown,
        test: 'test_nobody_eats',
        suite: 'tests.test_kitchen.PortionsTest',
        at: 'ERROR: test_nobody_eats',
        message: 'ZeroDivisionError: integer division or modulo by zero',
        cause: 'no-eaters',
      },
    ],
  },
  {
    version: 'python --version',
    id: 'unittest-choir-set-up',
    runner: 'unittest',
    project: 'choir',
    ci: 'plain',
    files: {
      'tests/__init__.py': '',
      'tests/test_rehearsal.py': `import socket
import unittest


class RehearsalTest(unittest.TestCase):
    def setUp(self):
        self.organ = socket.create_connection(("127.0.0.1", 7700), timeout=2)

    def test_sopranos_come_in(self):
        self.assertTrue(self.organ)

    def test_basses_come_in(self):
        self.assertTrue(self.organ)

    def test_all_end_together(self):
        self.assertTrue(self.organ)


class ConcertTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.organ = socket.create_connection(("127.0.0.1", 7700), timeout=2)

    def test_encore(self):
        self.assertTrue(self.organ)
`,
      'tests/test_scores.py': `import unittest


class ScoresTest(unittest.TestCase):
    def test_one_for_each_singer(self):
        self.assertEqual(len(["alto", "bass"]), 24, "scores on the stands")

    def test_are_sorted(self):
        self.assertListEqual(["Bach", "Ravel", "Orff"], ["Bach", "Orff", "Ravel"])
`,
      'tests/test_stage.py':
        'import unittest\n\nfrom tests.lamps import dim\n\n\nclass StageTest(unittest.TestCase):\n    def test_dims(self):\n        self.assertEqual(dim(4), 2)\n',
    },
    run: 'python -m unittest',
    tally: 'FAILED (failures=2, errors=5)',
    failures: [
      ...['test_all_end_together', 'test_basses_come_in', 'test_sopranos_come_in'].map((test) => ({
        ...refused,
        test,
        suite: 'tests.test_rehearsal.RehearsalTest',
        at: `ERROR: ${test}`,
        message: 'ConnectionRefusedError: [Errno 111] Connection refused',
        cause: 'no-organ',
      })),
      {
        ...refused,
        test: 'setUpClass',
        suite: 'tests.test_rehearsal.ConcertTest',
        at: 'ERROR: setUpClass (tests.test_rehearsal.ConcertTest)',
        message: 'ConnectionRefusedError: [Errno 111] Connection refused',
        cause: 'no-organ',
      },
      {
        ...ownModule,
        test: 'tests.test_stage',
        at: 'ERROR: tests.test_stage',
        message: "ModuleNotFoundError: No module named 'tests.lamps'",
        cause: 'lamps-module',
      },
      {
        ...assertion,
        test: 'test_one_for_each_singer',
        suite: 'tests.test_scores.ScoresTest',
        at: 'FAIL: test_one_for_each_singer',
        message: 'AssertionError: 2 != 24 : scores on the stands',
        cause: 'scores-missing',
      },
      {
        ...assertion,
        test: 'test_are_sorted',
        suite: 'tests.test_scores.ScoresTest',
        at: 'FAIL: test_are_sorted',
        message: "Lists differ: ['Bach', 'Ravel', 'Orff'] != ['Bach', 'Orff', 'Ravel']",
        cause: 'order-of-scores',
      },
    ],
  },
];
