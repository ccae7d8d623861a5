import { createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of PyPI that check text, configuration and repositories. */
export const rows: readonly ToolRow[] = [
  {
    ...createPipTool('sqlfluff'),
    slug: 'sqlfluff-keyword-case',
    tool: 'sqlfluff',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'reports/overdue.sql': 'SELECT\n    loan_id,\n    due_on\nfrom loans\nWHERE returned_on IS NULL\n',
    },
    green: { 'reports/overdue.sql': ['from loans', 'FROM loans'] },
    run: 'sqlfluff lint --dialect postgres reports',
    exitCode: 1,
    telling: ['CP01 | Keywords must be consistently upper case'],
  },
  {
    ...createPipTool('sqlfluff'),
    slug: 'sqlfluff-unparsable',
    tool: 'sqlfluff',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'reports/sales.sql': 'SELECT\n    month,\n    SUM(total) AS total\nFROM sales\nGROUP month\n' },
    green: { 'reports/sales.sql': ['GROUP month', 'GROUP BY month'] },
    run: 'sqlfluff parse --dialect ansi reports/sales.sql > parsed.txt || { sqlfluff lint --dialect ansi reports; exit 1; }',
    exitCode: 1,
    telling: ['Found unparsable section'],
  },
  {
    ...createPipTool('yamllint'),
    slug: 'yamllint-repeated-route',
    tool: 'yamllint',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'config/routes.yml': '---\nroutes:\n  harbor: 12\n  market: 7\n  harbor: 14\n' },
    green: { 'config/routes.yml': ['  harbor: 14\n', ''] },
    run: 'yamllint --strict config',
    exitCode: 1,
    telling: ['duplication of key "harbor" in mapping'],
  },
  {
    ...createPipTool('djlint'),
    slug: 'djlint-missing-alt',
    tool: 'djlint',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'templates/card.html':
        '<div class="card">\n    <img src="{{ photo }}" height="40" width="40">\n    <h2>{{ name }}</h2>\n</div>\n',
    },
    green: { 'templates/card.html': ['<img src', '<img alt="A photo" src'] },
    run: 'djlint templates --lint --profile=django',
    exitCode: 1,
    telling: ['H013'],
  },
  {
    ...createPipTool('check-jsonschema'),
    slug: 'check-jsonschema-wrong-type',
    tool: 'check-jsonschema',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'schema.json':
        '{"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "beds": {"type": "integer"}}}\n',
      'hotels/lakeside.json': '{"name": "Lakeside", "beds": "forty"}\n',
    },
    green: { 'hotels/lakeside.json': ['"forty"', '40'] },
    run: 'check-jsonschema --schemafile schema.json hotels/lakeside.json',
    exitCode: 1,
    telling: ["$.beds: 'forty' is not of type 'integer'"],
  },
  {
    ...createPipTool('check-jsonschema'),
    slug: 'check-jsonschema-workflow',
    tool: 'check-jsonschema',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      '.github/workflows/ci.yml':
        'name: CI\non: push\njobs:\n  test:\n    runs_on: ubuntu-latest\n    steps:\n      - run: make test\n',
    },
    green: { '.github/workflows/ci.yml': ['runs_on', 'runs-on'] },
    run: 'check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/ci.yml',
    exitCode: 1,
    telling: ["'runs-on' is a required property"],
  },
  {
    ...createPipTool('cfn-lint'),
    setup: 'python3 -m pip install --user --no-warn-script-location --ignore-installed cfn-lint',
    slug: 'cfn-lint-unknown-property',
    tool: 'cfn-lint',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'stack.yml': `AWSTemplateFormatVersion: '2010-09-09'
Resources:
  Photos:
    Type: AWS::S3::Bucket
    Properties:
      BucketNam: family-photos
`,
    },
    green: { 'stack.yml': ['BucketNam:', 'BucketName:'] },
    run: 'cfn-lint stack.yml',
    exitCode: 2,
    telling: ["Additional properties are not allowed ('BucketNam' was unexpected"],
  },
  {
    ...createPipTool('ansible-lint', 'ansible-core'),
    slug: 'ansible-lint-unnamed-task',
    tool: 'ansible-lint',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'site.yml': `---
- name: Prepare the print server
  hosts: printers
  tasks:
    - ansible.builtin.command: lpadmin -p office -E
      changed_when: false
`,
    },
    green: {
      'site.yml': [
        '- ansible.builtin.command',
        '- name: Enable the office printer\n      ansible.builtin.command',
      ],
    },
    run: 'ansible-lint --offline site.yml',
    exitCode: 2,
    telling: ['name[missing]: All tasks should be named.', 'site.yml:5'],
  },
  {
    ...createPipTool('detect-secrets'),
    slug: 'detect-secrets-password',
    tool: 'detect-secrets',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: { 'mailer.py': 'import os\n\nhost = os.environ["MAIL_HOST"]\npassword = "tulip-harvest-41"\n' },
    green: { 'mailer.py': ['"tulip-harvest-41"', 'os.environ["MAIL_PASSWORD"]'] },
    run: 'detect-secrets-hook mailer.py',
    exitCode: 1,
    telling: ['Secret Type: Secret Keyword', 'Location:    mailer.py:4'],
  },
  {
    ...createPipTool('codespell'),
    slug: 'codespell-typo',
    tool: 'codespell',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'docs/guide.md': '# Guide\n\nThe gate opens when the visitor has recieved a ticket.\n' },
    green: { 'docs/guide.md': ['recieved', 'received'] },
    run: 'codespell docs',
    exitCode: 65,
    telling: ['recieved ==> received'],
  },
  {
    ...createPipTool('deptry'),
    slug: 'deptry-missing-dependency',
    tool: 'deptry',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'pyproject.toml': '[project]\nname = "glossary"\nversion = "1.0.0"\ndependencies = ["click"]\n',
      'glossary.py': 'import click\nimport pendulum\n\nclick.echo(pendulum.now())\n',
    },
    green: { 'pyproject.toml': ['["click"]', '["click", "pendulum"]'] },
    run: 'deptry .',
    exitCode: 1,
    telling: ["DEP001 'pendulum' imported but missing from the dependency definitions"],
  },
  {
    ...createPipTool('reuse'),
    slug: 'reuse-no-license',
    tool: 'reuse',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'LICENSES/MIT.txt': 'MIT License\n\nPermission is hereby granted, free of charge, to any person.\n',
      'README.md':
        '<!--\nSPDX-FileCopyrightText: 2026 The Orchard\nSPDX-License-Identifier: MIT\n-->\n\n# Orchard\n',
      'apples.py': 'print("apples")\n',
    },
    green: {
      'apples.py':
        '# SPDX-FileCopyrightText: 2026 The Orchard\n# SPDX-License-Identifier: MIT\n\nprint("apples")\n',
    },
    run: 'reuse lint',
    exitCode: 1,
    telling: ['/apples.py'],
  },
  {
    ...createPipTool('pre-commit'),
    slug: 'pre-commit-local-hook',
    tool: 'pre-commit',
    heldOut: false,
    category: 'CODE_ERROR',
    setup:
      'python3 -m pip install --user --no-warn-script-location pre-commit\ngit init -q -b main && git add .',
    files: {
      '.pre-commit-config.yaml': `repos:
  - repo: local
    hooks:
      - id: no-print
        name: no print in the library
        language: pygrep
        entry: '^\\s*print\\('
        types: [python]
      - id: ends-with-newline
        name: files end with a newline
        language: system
        entry: tail -c1
        types: [python]
`,
      'meter.py': 'def read(meter):\n    print(meter)\n    return meter["value"]\n',
    },
    green: { 'meter.py': ['    print(meter)\n', ''] },
    run: 'pre-commit run --all-files --show-diff-on-failure',
    exitCode: 1,
    telling: ['meter.py:2:    print(meter)'],
  },
  {
    ...createPipTool('pre-commit'),
    slug: 'pre-commit-bad-config',
    tool: 'pre-commit',
    heldOut: false,
    category: 'CONFIG_ERROR',
    setup:
      'python3 -m pip install --user --no-warn-script-location pre-commit\ngit init -q -b main && git add .',
    files: {
      '.pre-commit-config.yaml':
        'repos:\n  - repo: local\n    hooks:\n      - id: lint\n        name: lint\n        entry: make lint\n',
    },
    green: {
      '.pre-commit-config.yaml': ['entry: make lint', "language: pygrep\n        entry: 'never[ ]matched'"],
    },
    run: 'pre-commit run --all-files',
    exitCode: 1,
    telling: ['=====> Missing required key: language'],
  },
];
