import { createPipTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Tools of Python that write documents, generate code and run tasks. */
export const rows: readonly ToolRow[] = [
  {
    ...createPipTool('sphinx'),
    slug: 'sphinx-broken-toctree',
    tool: 'sphinx',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'docs/conf.py': 'project = "Bird atlas"\n',
      'docs/index.rst': 'Bird atlas\n==========\n\n.. toctree::\n\n   owls\n   swifts\n',
      'docs/owls.rst': 'Owls\n====\n\nSee :ref:`night-birds`.\n',
    },
    green: {
      'docs/owls.rst': ['Owls\n====', '.. _night-birds:\n\nOwls\n===='],
      'docs/swifts.rst': 'Swifts\n======\n\nThey sleep in the air.\n',
    },
    run: 'sphinx-build -W --keep-going -b html docs build/html',
    exitCode: 1,
    telling: [
      "toctree contains reference to nonexisting document 'swifts'",
      "undefined label: 'night-birds'",
    ],
  },
  {
    ...createPipTool('sphinx'),
    slug: 'sphinx-missing-extension',
    tool: 'sphinx',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'docs/conf.py': 'project = "Soup book"\nextensions = ["sphinx_recipe_cards"]\n',
      'docs/index.rst': 'Soup book\n=========\n',
    },
    green: { 'docs/conf.py': ['sphinx_recipe_cards', 'sphinx.ext.autodoc'] },
    run: 'python -m sphinx -b html docs build/html',
    exitCode: 2,
    telling: [
      "Could not import extension sphinx_recipe_cards (exception: No module named 'sphinx_recipe_cards')",
    ],
  },
  {
    ...createPipTool('mkdocs'),
    slug: 'mkdocs-strict-link',
    tool: 'mkdocs',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'mkdocs.yml': 'site_name: Bike kitchen\nstrict: true\n',
      'docs/index.md': '# Bike kitchen\n\nBring your own [tools](tool-list.md).\n',
      'docs/tools.md': '# Tools\n\nA wrench.\n',
    },
    green: { 'docs/index.md': ['tool-list.md', 'tools.md'] },
    run: 'mkdocs build',
    exitCode: 1,
    telling: ["contains a link 'tool-list.md', but the target is not found among documentation files"],
  },
  {
    ...createPipTool('mkdocs'),
    slug: 'mkdocs-missing-plugin',
    tool: 'mkdocs',
    heldOut: false,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'mkdocs.yml': 'site_name: Bike kitchen\nplugins:\n  - search\n  - timeline\n',
      'docs/index.md': '# Bike kitchen\n',
    },
    green: { 'mkdocs.yml': ['  - timeline\n', ''] },
    run: 'mkdocs build',
    exitCode: 1,
    telling: ['The "timeline" plugin is not installed'],
  },
  {
    ...createPipTool('alembic', 'sqlalchemy'),
    slug: 'alembic-two-heads',
    tool: 'alembic',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'alembic.ini': '[alembic]\nscript_location = migrations\nsqlalchemy.url = sqlite:///garden.db\n',
      'migrations/env.py':
        'from alembic import context\nfrom sqlalchemy import create_engine\n\nengine = create_engine(context.config.get_main_option("sqlalchemy.url"))\nwith engine.connect() as connection:\n    context.configure(connection=connection)\n    with context.begin_transaction():\n        context.run_migrations()\n',
      'migrations/script.py.mako': '',
      'migrations/versions/a1_plants.py':
        'revision = "a1"\ndown_revision = None\n\n\ndef upgrade():\n    pass\n',
      'migrations/versions/b2_beds.py':
        'revision = "b2"\ndown_revision = "a1"\n\n\ndef upgrade():\n    pass\n',
      'migrations/versions/c3_tools.py':
        'revision = "c3"\ndown_revision = "a1"\n\n\ndef upgrade():\n    pass\n',
    },
    green: { 'migrations/versions/c3_tools.py': ['down_revision = "a1"', 'down_revision = "b2"'] },
    run: 'alembic upgrade head',
    exitCode: 255,
    telling: ['Multiple head revisions are present'],
  },
  {
    ...createPipTool('snakemake'),
    slug: 'snakemake-missing-input',
    tool: 'snakemake',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      Snakefile:
        'rule all:\n    input: "summary.txt"\n\nrule summary:\n    input: "counts/north.csv", "counts/south.csv"\n    output: "summary.txt"\n    shell: "cat {input} > {output}"\n',
      'counts/north.csv': 'owl,3\n',
    },
    green: { 'counts/south.csv': 'owl,5\n' },
    run: 'snakemake --cores 1',
    exitCode: 1,
    telling: ['Missing input files for rule summary:', 'counts/south.csv'],
  },
  {
    ...createPipTool('yamale'),
    slug: 'yamale-required-field',
    tool: 'yamale',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'schema.yaml': 'name: str()\nseats: int(min=1)\n',
      'boats/heron.yaml': 'name: Heron\nseats: 0\nsails: 2\n',
    },
    green: { 'boats/heron.yaml': 'name: Heron\nseats: 4\n' },
    run: 'yamale --schema schema.yaml boats',
    exitCode: 1,
    telling: ['seats: 0 is less than 1'],
  },
  {
    ...createPipTool('openapi-spec-validator'),
    setup:
      'python3 -m pip install --user --no-warn-script-location --ignore-installed openapi-spec-validator',
    slug: 'openapi-spec-validator-missing-responses',
    tool: 'openapi-spec-validator',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'api.yaml':
        'openapi: 3.0.3\ninfo:\n  title: Ferry times\n  version: "1"\npaths:\n  /times:\n    get:\n      parameters:\n        - name: pier\n          schema: { type: string }\n',
    },
    green: {
      'api.yaml': [
        '          schema: { type: string }\n',
        '          in: query\n          schema: { type: string }\n      responses:\n        "200": { description: Times }\n',
      ],
    },
    run: 'openapi-spec-validator api.yaml',
    exitCode: 1,
    telling: ["Validation Error: 'responses' is a required property"],
  },
  {
    ...createPipTool('mdformat'),
    slug: 'mdformat-check',
    tool: 'mdformat',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'notes.md': '# Notes\n* one\n* two\n' },
    green: { 'notes.md': '# Notes\n\n- one\n- two\n' },
    run: 'mdformat --check notes.md',
    exitCode: 1,
    telling: ['is not formatted'],
  },
  {
    ...createPipTool('doc8'),
    slug: 'doc8-line-length',
    tool: 'doc8',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'docs/usage.rst':
        'Usage\n=====\n\nOpen the valve slowly, then wait until the needle of the gauge stands still for at least ten seconds. \n',
    },
    green: { 'docs/usage.rst': 'Usage\n=====\n\nOpen the valve slowly.\n' },
    run: 'doc8 docs',
    exitCode: 1,
    telling: ['D001 Line too long', 'D002 Trailing whitespace'],
  },
  {
    ...createPipTool('rstcheck'),
    slug: 'rstcheck-directive',
    tool: 'rstcheck',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'README.rst': 'Kettle\n======\n\n.. warnin:: Hot.\n\n.. code-block:: json\n\n   {"liters": 1.5,}\n',
    },
    green: { 'README.rst': 'Kettle\n======\n\n.. warning:: Hot.\n' },
    run: 'rstcheck README.rst',
    exitCode: 1,
    telling: ['Unknown directive type "warnin".'],
  },
  {
    ...createPipTool('nbconvert', 'ipykernel', 'nbformat'),
    slug: 'nbconvert-cell-error',
    tool: 'nbconvert',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'rainfall.ipynb': `{
 "cells": [
  {"cell_type": "code", "id": "a1", "metadata": {}, "execution_count": null, "outputs": [], "source": ["rain = {\\"may\\": 31, \\"june\\": 44}\\n", "rain"]},
  {"cell_type": "code", "id": "a2", "metadata": {}, "execution_count": null, "outputs": [], "source": ["mean = sum(rain.values()) / len(rain)\\n", "round(mean, digits=1)"]}
 ],
 "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}, "nbformat": 4, "nbformat_minor": 5
}
`,
    },
    green: { 'rainfall.ipynb': ['digits=1', 'ndigits=1'] },
    run: 'jupyter nbconvert --to notebook --execute rainfall.ipynb --output executed.ipynb',
    exitCode: 1,
    telling: ["TypeError: 'digits' is an invalid keyword argument for round()"],
  },
  {
    ...createPipTool('cython', 'setuptools'),
    slug: 'cython-undeclared-name',
    tool: 'cython',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'waves.pyx':
        'cdef double height(double wind):\n    return wind * factor\n\n\ndef tallest(list winds):\n    return max(height(wind) for wind in winds)\n',
    },
    green: { 'waves.pyx': ['* factor', '* 0.4'] },
    run: 'cython -Werror -3 waves.pyx',
    exitCode: 1,
    telling: ['undeclared name not builtin: factor'],
  },
  {
    ...createPipTool('grpcio-tools', 'setuptools'),
    slug: 'grpc-tools-field-number',
    tool: 'protoc',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'proto/parcel.proto':
        'syntax = "proto3";\n\nmessage Parcel {\n  string id = 1;\n  int32 grams = 2;\n  Address to = 2;\n}\n',
    },
    green: { 'proto/parcel.proto': ['  Address to = 2;', '  string to = 3;'] },
    run: 'mkdir -p gen\npython -m grpc_tools.protoc -Iproto --python_out=gen parcel.proto',
    exitCode: 1,
    telling: ['"Address" is not defined.'],
  },
  {
    ...createPipTool('scrapy'),
    slug: 'scrapy-contract',
    tool: 'scrapy',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'scrapy.cfg': '[settings]\ndefault = prices.settings\n',
      'prices/__init__.py': '',
      'prices/settings.py':
        'BOT_NAME = "prices"\nSPIDER_MODULES = ["prices.spiders"]\nRETRY_ENABLED = False\nLOG_LEVEL = "WARNING"\n',
      'prices/spiders/__init__.py': '',
      'prices/spiders/tea.py':
        'import scrapy\n\n\nclass TeaSpider(scrapy.Spider):\n    name = "tea"\n    start_urls = ["http://payments.example.test/tea"]\n\n    def parse(self, response):\n        yield {"price": response.css(".price::text").get()}\n',
    },
    network: 'none',
    run: 'scrapy crawl coffee',
    exitCode: 1,
    telling: ["KeyError: 'Spider not found: coffee'"],
  },
  {
    ...createPipTool('doit'),
    slug: 'doit-task-failed',
    tool: 'doit',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'dodo.py':
        'def task_index():\n    return {"actions": ["python make_index.py"], "targets": ["index.txt"], "verbosity": 2}\n\n\ndef task_pages():\n    return {"actions": ["echo pages"], "task_dep": ["index"]}\n',
      'make_index.py':
        'from pathlib import Path\n\npages = sorted(Path("pages").iterdir())\nPath("index.txt").write_text("\\n".join(page.name for page in pages))\n',
    },
    green: { 'pages/one.md': '# One\n' },
    run: 'doit',
    exitCode: 1,
    telling: ["FileNotFoundError: [Errno 2] No such file or directory: 'pages'"],
  },
  {
    ...createPipTool('invoke'),
    slug: 'invoke-missing-task',
    tool: 'invoke',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'tasks.py':
        'from invoke import task\n\n\n@task\ndef deploy(c, target="staging"):\n    c.run(f"echo deploying to {target} && cat settings/{target}.toml")\n',
    },
    green: { 'settings/production.toml': 'replicas = 3\n' },
    run: 'invoke deploy --target production',
    exitCode: 1,
    telling: ['cat: settings/production.toml: No such file or directory'],
  },
  {
    ...createPipTool('cookiecutter'),
    slug: 'cookiecutter-undefined-variable',
    tool: 'cookiecutter',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'template/cookiecutter.json': '{"name": "kiosk"}\n',
      'template/{{cookiecutter.name}}/README.md': '# {{ cookiecutter.title }}\n',
    },
    green: { 'template/{{cookiecutter.name}}/README.md': '# {{ cookiecutter.name }}\n' },
    run: 'cookiecutter --no-input ./template --output-dir out',
    exitCode: 1,
    telling: ["has no attribute 'title'"],
  },
  {
    ...createPipTool('semgrep'),
    slug: 'semgrep-own-rule',
    tool: 'semgrep',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'rules.yml':
        'rules:\n  - id: no-float-money\n    languages: [python]\n    severity: ERROR\n    message: Money is counted in cents. Use int.\n    pattern: price = float(...)\n',
      'till.py': 'def read(text):\n    price = float(text)\n    return price\n',
    },
    green: { 'till.py': ['float(text)', 'int(text)'] },
    run: 'semgrep scan --config rules.yml --error --metrics off --disable-version-check .',
    exitCode: 1,
    telling: ['Money is counted in cents. Use int.', 'price = float(text)'],
  },
];
