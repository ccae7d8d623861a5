import { create, type Program, replace } from './program.ts';

const TEST = ['python3', '-m', 'pytest', '-p', 'no:cacheprovider', '-q'];
const CONFTEST = create('conftest.py', '"""Puts the root of the repository on the path."""');

const shelves: Program = {
  name: 'shelves',
  language: 'Python',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin the shelves',
      edits: [
        CONFTEST,
        create('shelves/__init__.py', ''),
        create('shelves/options.py', 'OPTIONS = {', '    "loan_days": 14,', '    "fee_per_day": 3,', '}'),
        create(
          'shelves/loans.py',
          'from shelves.options import OPTIONS',
          '',
          '',
          'def late_fee(days):',
          '    late = days - OPTIONS["loan_days"]',
          '    if late <= 0:',
          '        return 0',
          '    return late * OPTIONS["fee_per_day"]',
          '',
          '',
          'def borrower_name(loan):',
          '    member = loan.get("member")',
          '    return member["name"].title()',
          '',
          '',
          'def last_loans(loans, count=2):',
          '    start = len(loans) - count',
          '    return loans[start:]',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Allow loans without a member',
      edits: [
        replace(
          'shelves/loans.py',
          '    return member["name"].title()',
          `    if member is None:
        return "nobody"
    return member["name"].title()`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test loans',
      edits: [
        create(
          'tests/test_loans.py',
          'from shelves.loans import borrower_name, last_loans, late_fee',
          '',
          '',
          'def test_fee_after_the_loan():',
          '    assert late_fee(16) == 6',
          '',
          '',
          'def test_names_nobody():',
          '    assert borrower_name({"title": "Dune"}) == "nobody"',
          '',
          '',
          'def test_last_loans():',
          '    assert last_loans(["a", "b", "c"]) == ["b", "c"]',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Add a readme',
      edits: [create('README.md', '# Shelves', '', 'Lends books.')],
    },
    {
      author: 'Dora Lind',
      message: 'Explain the fee',
      edits: [
        replace(
          'shelves/loans.py',
          `def late_fee(days):
`,
          `def late_fee(days):
    """Computes the fee in cents."""
`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Count loans',
      edits: [
        replace(
          'shelves/loans.py',
          `    return loans[start:]
`,
          `    return loans[start:]


def count_loans(loans):
    return len(loans)
`,
        ),
      ],
    },
    {
      author: 'Fay Orr',
      message: 'Test early returns',
      edits: [
        replace(
          'tests/test_loans.py',
          'def test_names_nobody',
          `def test_no_fee():
    assert late_fee(3) == 0


def test_names_nobody`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Simplify names',
      edits: [
        replace(
          'shelves/loans.py',
          `    if member is None:
        return "nobody"
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Show fewer loans',
      edits: [replace('shelves/loans.py', 'count=2', 'count=1')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Rename an option',
      edits: [replace('shelves/options.py', '"loan_days"', '"days_of_loan"')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Count the day of return',
      edits: [replace('shelves/loans.py', 'days - OPTIONS["loan_days"]', 'days - OPTIONS["loan_days"] + 1')],
    },
  },
};

const meters: Program = {
  name: 'meters',
  language: 'Python',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin the meters',
      edits: [
        CONFTEST,
        create('meters/__init__.py', ''),
        create(
          'meters/record.py',
          'def to_record(name, value):',
          '    return {"sensor": name, "reading": value}',
        ),
        create(
          'meters/series.py',
          'from meters.record import to_record',
          '',
          '',
          'def parse(lines):',
          '    records = []',
          '    for line in lines:',
          '        parts = line.split("=")',
          '        records.append(to_record(parts[0], float(parts[1])))',
          '    return records',
          '',
          '',
          'def mean(records):',
          '    return sum(r["reading"] for r in records) / len(records)',
          '',
          '',
          'def window(values, size=3):',
          '    return [values[i : i + size] for i in range(len(values) - size + 1)]',
          '',
          '',
          'def latest(records):',
          '    return records[len(records) - 1]["reading"]',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Skip comments and empty lines',
      edits: [
        replace(
          'meters/series.py',
          '        parts = line.split("=")',
          `        if not line or line.startswith("#"):
            continue
        parts = line.split("=")`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test series',
      edits: [
        create(
          'tests/test_series.py',
          'from meters.series import latest, mean, parse, window',
          '',
          'LINES = ["# morning", "a=1", "", "b=3"]',
          '',
          '',
          'def test_parses_readings():',
          '    assert len(parse(LINES)) == 2',
          '',
          '',
          'def test_mean():',
          '    assert mean(parse(["a=1", "b=3"])) == 2',
          '',
          '',
          'def test_window():',
          '    assert window([1, 2, 3, 4]) == [[1, 2, 3], [2, 3, 4]]',
          '',
          '',
          'def test_latest():',
          '    assert latest(parse(["a=1", "b=3"])) == 3',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Dora Lind',
      message: 'Describe the series',
      edits: [
        replace(
          'meters/series.py',
          'from meters.record',
          `"""Series of readings."""

from meters.record`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'Add a spread',
      edits: [
        replace(
          'meters/series.py',
          'def window(',
          `def spread(values):
    return max(values) - min(values)


def window(`,
        ),
      ],
    },
    {
      author: 'Carl Meyer',
      message: 'Add an example',
      edits: [create('examples/morning.txt', '# morning', 'a=1', 'b=3')],
    },
    {
      author: 'Fay Orr',
      message: 'Add a unit',
      edits: [
        replace(
          'meters/record.py',
          'def to_record',
          `UNIT = "kWh"


def to_record`,
        ),
      ],
    },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Parse every line',
      edits: [
        replace(
          'meters/series.py',
          `        if not line or line.startswith("#"):
            continue
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Widen the window',
      edits: [replace('meters/series.py', 'size=3', 'size=4')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Use the field names of the export',
      edits: [replace('meters/record.py', '"reading": value', '"value": value')],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Shorten the access to the latest record',
      edits: [replace('meters/series.py', 'records[len(records) - 1]', 'records[len(records)]')],
    },
  },
};

const tickets: Program = {
  name: 'tickets',
  language: 'Python',
  test: TEST,
  founding: [
    {
      author: 'Ada Brook',
      message: 'Begin tickets',
      edits: [
        CONFTEST,
        create('desk/__init__.py', ''),
        create(
          'desk/users.py',
          'USERS = {',
          '    "ada": {"email": "ada@desk.example", "team": "core"},',
          '    "kim": {"email": "kim@desk.example", "team": "web"},',
          '}',
          '',
          '',
          'def find_user(name):',
          '    return USERS.get(name)',
        ),
        create(
          'desk/tickets.py',
          'from desk.users import find_user',
          '',
          '',
          'def assign(ticket, name):',
          '    user = find_user(name)',
          '    ticket["owner"] = user["email"]',
          '    return ticket',
          '',
          '',
          'def priority(ticket, urgent=8):',
          '    return "high" if ticket["score"] >= urgent else "low"',
          '',
          '',
          'def page(tickets, number, size=2):',
          '    first = number * size',
          '    return tickets[first : first + size]',
        ),
      ],
    },
    {
      author: 'Ines Vale',
      message: 'Keep tickets of unknown users',
      edits: [
        replace(
          'desk/tickets.py',
          '    ticket["owner"] = user["email"]',
          `    if user is None:
        return ticket
    ticket["owner"] = user["email"]`,
        ),
      ],
    },
    {
      author: 'Hugo Tan',
      message: 'Test tickets',
      edits: [
        create(
          'tests/test_tickets.py',
          'from desk.tickets import assign, page, priority',
          '',
          '',
          'def test_assigns_to_nobody():',
          '    assert assign({"score": 1}, "zoe") == {"score": 1}',
          '',
          '',
          'def test_assigns():',
          '    assert assign({}, "kim") == {"owner": "kim@desk.example"}',
          '',
          '',
          'def test_priority():',
          '    assert priority({"score": 8}) == "high"',
          '    assert priority({"score": 7}) == "low"',
          '',
          '',
          'def test_pages():',
          '    assert page([1, 2, 3, 4, 5], 1) == [3, 4]',
        ),
      ],
    },
  ],
  harmless: [
    {
      author: 'Carl Meyer',
      message: 'Close tickets',
      edits: [
        replace(
          'desk/tickets.py',
          'def priority(',
          `def close(ticket):
    return {**ticket, "closed": True}


def priority(`,
        ),
      ],
    },
    {
      author: 'Dora Lind',
      message: 'Add Lou',
      edits: [
        replace(
          'desk/users.py',
          `USERS = {
`,
          `USERS = {
    "lou": {"email": "lou@desk.example", "team": "web"},
`,
        ),
      ],
    },
    {
      author: 'Emil Roth',
      message: 'List teams',
      edits: [
        replace(
          'desk/users.py',
          `    return USERS.get(name)
`,
          `    return USERS.get(name)


def teams():
    return sorted({user["team"] for user in USERS.values()})
`,
        ),
      ],
    },
    { author: 'Fay Orr', message: 'Note the licence', edits: [create('NOTICE.txt', 'Desk, 2026')] },
  ],
  plants: {
    'removed check': {
      author: 'Bob Hart',
      message: 'Assign directly',
      edits: [
        replace(
          'desk/tickets.py',
          `    if user is None:
        return ticket
`,
          '',
        ),
      ],
    },
    'changed default': {
      author: 'Bob Hart',
      message: 'Call fewer tickets urgent',
      edits: [replace('desk/tickets.py', 'urgent=8', 'urgent=9')],
    },
    'renamed key': {
      author: 'Bob Hart',
      message: 'Spell out addresses',
      edits: [
        replace('desk/users.py', '"kim": {"email"', '"kim": {"address"'),
        replace('desk/users.py', '"ada": {"email"', '"ada": {"address"'),
      ],
    },
    'off-by-one': {
      author: 'Bob Hart',
      message: 'Fix the end of a page',
      edits: [replace('desk/tickets.py', 'first : first + size]', 'first : first + size - 1]')],
    },
  },
};

export const PYTHON_PROGRAMS: readonly Program[] = [shelves, meters, tickets];
