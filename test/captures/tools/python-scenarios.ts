import { createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of Python that run scenarios written in words or tables. */
export const rows: readonly ToolRow[] = [
  {
    ...createPipTool('behave'),
    slug: 'behave-failed-step',
    tool: 'behave',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'features/locker.feature': `Feature: Lockers
  Scenario: A locker opens with its code
    Given a locker with the code 4711
    When I enter 4711
    Then the locker is open

  Scenario: A locker stays shut with a wrong code
    Given a locker with the code 4711
    When I enter 1234
    Then the locker is shut
`,
      'features/steps/locker.py': `from behave import given, then, when


@given("a locker with the code {code}")
def with_code(context, code):
    context.code = code


@when("I enter {code}")
def enter(context, code):
    context.open = len(code) == len(context.code)


@then("the locker is {state}")
def is_open(context, state):
    actual = "open" if context.open else "shut"
    assert actual == state, f"the locker is {actual}"
`,
    },
    green: { 'features/steps/locker.py': ['len(code) == len(context.code)', 'code == context.code'] },
    run: 'behave',
    exitCode: 1,
    telling: ['ASSERT FAILED: the locker is open'],
  },
  {
    ...createPipTool('behave'),
    slug: 'behave-undefined-step',
    tool: 'behave',
    heldOut: false,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'features/queue.feature':
        'Feature: Queue\n  Scenario: The queue moves\n    Given a queue of 3 people\n    When the desk opens\n    Then 2 people wait\n',
      'features/steps/queue.py': `from behave import given, then, when


@given("a queue of {count:d} people")
def queue(context, count):
    context.count = count


@then("{count:d} people wait")
def wait(context, count):
    assert context.count == count
`,
    },
    green: {
      'features/steps/queue.py': [
        '\n\n@then',
        '\n\n@when("the desk opens")\ndef opens(context):\n    context.count -= 1\n\n\n@then',
      ],
    },
    run: 'behave --no-capture --no-color',
    exitCode: 1,
    telling: ['When the desk opens       # None'],
  },
  {
    ...createPipTool('robotframework'),
    slug: 'robot-expected-text',
    tool: 'robot',
    heldOut: false,
    category: 'TEST_FAILURE',
    files: {
      'tests/greeting.robot': `*** Settings ***
Library    Process

*** Test Cases ***
Greets A Guest
    \${result}=    Run Process    python    greet.py    Ada
    Should Be Equal    \${result.stdout}    Welcome, Ada!

Asks For A Name
    \${result}=    Run Process    python    greet.py
    Should Contain    \${result.stdout}    Who is there?
`,
      'greet.py':
        'import sys\n\nprint(f"Welcome {sys.argv[1]}!" if len(sys.argv) > 1 else "Who is there?")\n',
    },
    green: { 'greet.py': ['Welcome {', 'Welcome, {'] },
    run: 'robot --outputdir results tests',
    exitCode: 1,
    telling: ['Welcome Ada! != Welcome, Ada!'],
  },
  {
    ...createPipTool('pytest-bdd'),
    slug: 'pytest-bdd-missing-step',
    tool: 'pytest-bdd',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'lift.feature':
        'Feature: Lift\n  Scenario: The lift goes up\n    Given the lift is on floor 2\n    When I press 5\n    Then the lift is on floor 5\n',
      'test_lift.py':
        'from pytest_bdd import given, parsers, scenarios, then\n\nscenarios("lift.feature")\n\n\n@given(parsers.parse("the lift is on floor {floor:d}"), target_fixture="lift")\ndef lift(floor):\n    return {"floor": floor}\n\n\n@then(parsers.parse("the lift is on floor {floor:d}"))\ndef on_floor(lift, floor):\n    assert lift["floor"] == floor\n',
    },
    run: 'python -m pytest -q',
    exitCode: 1,
    telling: ['StepDefinitionNotFoundError: Step definition is not found: When "I press 5"'],
  },
  {
    ...createPipTool('tavern'),
    slug: 'tavern-pytest-too-new',
    tool: 'tavern',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    files: {
      'test_prices.tavern.yaml': `test_name: The price list answers

stages:
  - name: Ask for the price of tea
    request:
      url: http://payments.example.test:8080/prices/tea
      method: GET
    response:
      status_code: 200
`,
    },
    run: 'python -m pytest -q --tb=short test_prices.tavern.yaml',
    exitCode: 3,
    telling: ["ModuleNotFoundError: No module named '_pytest.python_api'"],
  },
];
