import { createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of Python that resolve, build and release packages. */
export const rows: readonly ToolRow[] = [
  {
    ...createPipTool('pip-tools'),
    slug: 'pip-compile-conflict',
    tool: 'pip-compile',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    files: { 'requirements.in': 'flask==3.0.3\nwerkzeug==2.0.3\n' },
    green: { 'requirements.in': 'flask==3.0.3\n' },
    run: 'pip-compile --quiet requirements.in',
    exitCode: 1,
    telling: ['Cannot install -r requirements.in (line 1) and werkzeug==2.0.3'],
  },
  {
    ...createPipTool('pip-tools'),
    slug: 'pip-compile-unknown-package',
    tool: 'pip-compile',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    files: { 'requirements.in': 'itsdangerous==99.1\n' },
    green: { 'requirements.in': ['==99.1', ''] },
    run: 'pip-compile --strip-extras requirements.in',
    exitCode: 1,
    telling: ['No matching distribution found for itsdangerous==99.1'],
  },
  {
    ...createPipTool('pipenv'),
    slug: 'pipenv-lock-out-of-date',
    tool: 'pipenv',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    files: {
      Pipfile:
        '[[source]]\nurl = "https://pypi.org/simple"\nverify_ssl = true\nname = "pypi"\n\n[packages]\nclick = "*"\n',
      'Pipfile.lock':
        '{"_meta": {"hash": {"sha256": "0000000000000000000000000000000000000000000000000000000000000000"}, "pipfile-spec": 6, "requires": {}, "sources": []}, "default": {}, "develop": {}}\n',
    },
    run: 'pipenv install --deploy',
    exitCode: 1,
    telling: [{ from: 'Your Pipfile.lock', to: 'Expected:' }],
  },
  {
    ...createPipTool('poetry'),
    slug: 'poetry-check-fields',
    tool: 'poetry',
    heldOut: false,
    category: 'CONFIG_ERROR',
    files: {
      'pyproject.toml':
        '[project]\nname = "harvest"\nversion = "0.3.0"\nreadme = "READ.md"\n\n[tool.poetry]\nbuild = 3\n',
      'README.md': '# Harvest\n',
    },
    run: 'poetry check',
    exitCode: 1,
    telling: ['tool.poetry.build must be valid exactly by one definition'],
  },
  {
    ...createPipTool('poetry'),
    slug: 'poetry-lock-changed',
    tool: 'poetry',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    files: {
      'poetry.lock':
        'package = []\n\n[metadata]\nlock-version = "2.1"\npython-versions = ">=3.10"\ncontent-hash = "9d5f0c1e"\n',
      'pyproject.toml':
        '[project]\nname = "harvest"\nversion = "0.3.0"\nrequires-python = ">=3.11"\ndependencies = ["click>=8"]\n\n[tool.poetry]\npackage-mode = false\n',
    },
    run: 'poetry install --no-interaction',
    exitCode: 1,
    telling: ['pyproject.toml changed significantly since poetry.lock was last generated'],
  },
  {
    ...createPipTool('pdm'),
    slug: 'pdm-broken-dependency',
    tool: 'pdm',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    files: {
      'pyproject.toml':
        '[project]\nname = "parcels"\nversion = "1.0.0"\nrequires-python = ">=3.8"\ndependencies = ["click>=8.2"]\n',
    },
    run: 'pdm lock',
    exitCode: 1,
    telling: ["[AttributeError]: module 'hishel' has no attribute 'SyncSqliteStorage'"],
  },
  {
    ...createPipTool('hatch'),
    slug: 'hatch-no-package',
    tool: 'hatch',
    heldOut: false,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'pyproject.toml':
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n[project]\nname = "flower-calendar"\nversion = "0.1.0"\n',
      'src/calendar_of_flowers/__init__.py': '',
    },
    green: { 'src/flower_calendar/__init__.py': '' },
    run: 'hatch build -t wheel',
    exitCode: 1,
    telling: ['ValueError: Unable to determine which files to ship inside the wheel'],
  },
  {
    ...createPipTool('uv'),
    slug: 'uv-lock-check',
    tool: 'uv',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    setup:
      "python3 -m pip install --user --no-warn-script-location uv && uv lock -q && sed -i 's/click>=8/click>=8.1/' pyproject.toml",
    files: {
      'pyproject.toml':
        '[project]\nname = "rowing"\nversion = "1.2.0"\nrequires-python = ">=3.11"\ndependencies = ["click>=8"]\n',
    },
    green: {
      'pyproject.toml':
        '[project]\nname = "rowing"\nversion = "1.2.0"\nrequires-python = ">=3.11"\ndependencies = ["click>=8"]\n',
    },
    run: 'uv lock --check',
    exitCode: 1,
    telling: ['needs to be updated'],
  },
  {
    ...createPipTool('twine', 'build', 'setuptools', 'wheel'),
    slug: 'twine-broken-description',
    tool: 'twine',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'pyproject.toml':
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\nname = "moon-phase"\nversion = "1.0.0"\nreadme = "README.rst"\n',
      'README.rst':
        'Moon phase\n==========\n\n.. code-block: python\n\n   print("full")\n\n`The moon <https://moon.example.test>`__ and `the tide\n\nUsage\n---\n',
      'moon_phase.py': 'PHASES = 8\n',
    },
    green: { 'README.rst': 'Moon phase\n==========\n\nUsage: ``moon_phase.PHASES``.\n' },
    before: 'python -m build --no-isolation',
    run: 'twine check dist/*',
    exitCode: 1,
    telling: ['`long_description` has syntax errors in markup'],
  },
  {
    ...createPipTool('check-manifest', 'setuptools'),
    slug: 'check-manifest-missing-file',
    tool: 'check-manifest',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    setup:
      'python3 -m pip install --user --no-warn-script-location check-manifest setuptools\ngit init -q -b main && git add . && git -c user.name=Ada -c user.email=ada@example.test commit -qm Start',
    files: {
      'pyproject.toml':
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\nname = "star-map"\nversion = "1.0.0"\n',
      'star_map.py': 'STARS = 88\n',
      'CHANGES.md': '# Changes\n',
      'README.md': '# Star map\n',
    },
    run: 'check-manifest --no-build-isolation',
    exitCode: 1,
    telling: ['missing from sdist:', '  CHANGES.md'],
  },
  {
    ...createPipTool('build', 'setuptools'),
    slug: 'build-bad-license',
    tool: 'build',
    heldOut: false,
    category: 'CONFIG_ERROR',
    files: {
      'pyproject.toml':
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n\n[project]\nname = "snow-report"\nversion = "2.0.0"\nauthors = "Ola"\n',
      'snow_report.py': 'DEPTH = 40\n',
    },
    green: { 'pyproject.toml': ['authors = "Ola"', 'authors = [{ name = "Ola" }]'] },
    run: 'python -m build --wheel',
    exitCode: 1,
    telling: ['`project.authors` must be array'],
  },
  {
    ...createPipTool('setuptools'),
    slug: 'setuptools-c-extension',
    tool: 'setuptools',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR', 'DEPENDENCY_ERROR'],
    files: {
      'setup.py':
        'from setuptools import Extension, setup\n\nsetup(name="fastcount", version="1.0", ext_modules=[Extension("fastcount", ["fastcount.c"], include_dirs=["include"])])\n',
      'fastcount.c': '#include "counter.h"\n\nint count(int start) { return start + STEP; }\n',
    },
    run: 'python setup.py build_ext --inplace',
    exitCode: 1,
    telling: ['fatal error: counter.h: No such file or directory'],
  },
  {
    ...createPipTool('validate-pyproject'),
    slug: 'validate-pyproject-dependency',
    tool: 'validate-pyproject',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: {
      'pyproject.toml':
        '[project]\nname = "tram"\nversion = "1.0.0"\ndependencies = ["click >= 8", "rich => 13"]\n',
    },
    green: { 'pyproject.toml': ['=> 13', '>= 13'] },
    run: 'validate-pyproject pyproject.toml',
    exitCode: 1,
    telling: ['`project.dependencies[1]` must be pep508'],
  },
  {
    ...createPipTool('bump-my-version'),
    slug: 'bump-my-version-not-found',
    tool: 'bump-my-version',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      '.bumpversion.toml':
        '[tool.bumpversion]\ncurrent_version = "1.4.0"\n\n[[tool.bumpversion.files]]\nfilename = "kite.py"\nsearch = "VERSION = \\"{current_version}\\""\nreplace = "VERSION = \\"{new_version}\\""\n',
      'kite.py': 'VERSION = "1.3.9"\n',
    },
    green: { 'kite.py': ['1.3.9', '1.4.0'] },
    run: 'bump-my-version bump minor --dry-run --allow-dirty',
    exitCode: 2,
    telling: ['Did not find'],
  },
  {
    ...createPipTool('towncrier'),
    slug: 'towncrier-no-fragment',
    tool: 'towncrier',
    heldOut: true,
    category: 'CONFIG_ERROR',
    setup: `python3 -m pip install --user --no-warn-script-location towncrier
git init -q -b main && git add . && git -c user.name=Ada -c user.email=ada@example.test commit -qm Start && git checkout -qb feature
echo 'HOURS = 9' > opening.py && git add . && git -c user.name=Ada -c user.email=ada@example.test commit -qm 'Open longer'`,
    files: {
      'towncrier.toml': '[tool.towncrier]\nname = "museum"\ndirectory = "changes"\nfilename = "NEWS.rst"\n',
      'changes/.gitignore': '!.gitignore\n',
      'opening.py': 'HOURS = 8\n',
    },
    run: 'towncrier check --compare-with main',
    exitCode: 1,
    telling: ['No new newsfragments found on this branch.'],
  },
  {
    ...createPipTool('pip-licenses', 'click'),
    slug: 'pip-licenses-forbidden',
    tool: 'pip-licenses',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['DEPENDENCY_ERROR'],
    files: { 'requirements.txt': 'click\n' },
    run: "pip-licenses --packages click --fail-on 'BSD-3-Clause;BSD License'",
    exitCode: 1,
    telling: ['fail-on license'],
  },
  {
    ...createPipTool('pip-audit'),
    slug: 'pip-audit-no-network',
    tool: 'pip-audit',
    heldOut: true,
    category: 'INFRA_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'requirements.txt':
        'click==8.1.7 --hash=sha256:ae74fb96c20a0277a1d615f1e4d73c8414f5a98db8b799a7931d1582f3390c28\n',
    },
    network: 'none',
    run: 'pip-audit --disable-pip --require-hashes -r requirements.txt --timeout 3',
    exitCode: 1,
    telling: ["requests.exceptions.ConnectionError: HTTPSConnectionPool(host='"],
  },
  {
    ...createPipTool('commitizen'),
    slug: 'commitizen-message',
    tool: 'commitizen',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    setup: `python3 -m pip install --user --no-warn-script-location commitizen
git init -q -b main && git add . && git -c user.name=Ada -c user.email=ada@example.test commit -qm 'feat: count the bees' && git -c user.name=Ada -c user.email=ada@example.test commit -q --allow-empty -m 'more bees'`,
    files: { 'bees.py': 'BEES = 40000\n' },
    run: 'cz check --rev-range HEAD~1..HEAD',
    exitCode: 14,
    telling: [': "more bees'],
  },
  {
    ...createPipTool('gitlint-core'),
    slug: 'gitlint-title',
    tool: 'gitlint',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    setup: `python3 -m pip install --user --no-warn-script-location 'gitlint-core[trusted-deps]'
git init -q -b main && git add . && git -c user.name=Ada -c user.email=ada@example.test commit -qm 'WIP: paint the fence.'`,
    files: { 'fence.py': 'COLOR = "green"\n' },
    run: 'gitlint --ignore body-is-missing',
    exitCode: 2,
    telling: ['T5 Title contains the word', 'T3 Title has trailing punctuation'],
  },
  {
    ...createPipTool('pyinstaller'),
    slug: 'pyinstaller-missing-data',
    tool: 'pyinstaller',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'app.py': 'print("hello")\n' },
    run: 'pyinstaller --onefile --add-data icons/app.png:icons app.py',
    exitCode: 1,
    telling: ["Unable to find '/home/runner/work"],
  },
];
