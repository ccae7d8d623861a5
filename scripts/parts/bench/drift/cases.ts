/** Two runs of the same commit: what was installed in each, and what failed. */
export interface DriftCase {
  readonly id: string;
  readonly kind: 'new version' | 'tool update' | 'unavailable' | 'image' | 'innocent';
  readonly by: 'uv' | 'pip' | 'npm';
  /** The requirements in the project's own manifest. */
  readonly asks: readonly string[];
  /** The days as of which dependencies are resolved. For npm, the packages of each run instead. */
  readonly green: string | readonly string[];
  readonly red: string | readonly string[];
  /**
   * Files of the project. A file has two versions if the runs differ for another reason than a dependency.
   */
  readonly files?: Readonly<Record<string, string>>;
  /** The failing step, the same in both runs. */
  readonly run: string;
  /** Variables of the failed run only. They make an innocent pair fail. */
  readonly redEnvironment?: Readonly<Record<string, string>>;
  /**
   * The lines about the runner's image before each log. They are written by hand, because no runner is
   * available.
   */
  readonly images?: readonly [green: string, red: string];
  /** True if it was captured after the rules were last changed. */
  readonly held?: true;
  /** The changes that may be named as the cause. Empty if no change is the cause. */
  readonly guilty: readonly string[];
}

const python = (
  id: string,
  asks: readonly string[],
  days: readonly [green: string, red: string],
  code: string,
  guilty: readonly string[],
): DriftCase => ({
  id,
  kind: 'new version',
  by: 'uv',
  asks,
  green: days[0],
  red: days[1],
  files: { 'app.py': code },
  run: 'python app.py',
  guilty,
});

const node = (
  id: string,
  green: readonly string[],
  red: readonly string[],
  code: string,
  guilty: readonly string[],
): DriftCase => ({
  id,
  kind: 'new version',
  by: 'npm',
  asks: green.map((one) => one.replace(/(?<=.)@.*$/, '')),
  green,
  red,
  files: { 'app.js': code },
  run: 'node app.js',
  guilty,
});

// biome-ignore format: one case each
const PYTHON: readonly DriftCase[] = [
  python('markupsafe-soft-unicode', ['jinja2==2.11.3', 'markupsafe'], ['2022-02-01', '2022-03-01'], 'import jinja2\nprint(jinja2.__version__)\n', ['markupsafe']),
  python('werkzeug-url-quote', ['flask==2.2.2', 'werkzeug'], ['2023-09-01', '2023-10-15'], 'from flask import Flask\nprint(Flask("a"))\n', ['werkzeug']),
  python('jinja2-contextfilter', ['jinja2'], ['2022-03-20', '2022-04-01'], 'from jinja2 import contextfilter\nprint(contextfilter)\n', ['jinja2']),
  python('pydantic-settings-moved', ['pydantic'], ['2023-06-15', '2023-07-15'], 'from pydantic import BaseSettings\nprint(BaseSettings)\n', ['pydantic']),
  python('numpy-float', ['numpy'], ['2022-12-01', '2023-01-10'], 'import numpy as np\nprint(np.float(1))\n', ['numpy']),
  python('numpy-2-removed', ['numpy'], ['2024-06-01', '2024-07-01'], 'import numpy as np\nprint(np.float_(1))\n', ['numpy']),
  python('pandas-numpy-abi', ['pandas==2.0.3', 'numpy'], ['2024-06-01', '2024-07-01'], 'import pandas\nprint(pandas.DataFrame({"a": [1]}))\n', ['numpy']),
  python('pandas-append', ['pandas', 'numpy<2'], ['2023-03-15', '2023-04-20'], 'import pandas as pd\nprint(pd.DataFrame({"a": [1]}).append({"a": 2}, ignore_index=True))\n', ['pandas']),
  python('httpx-proxies', ['httpx'], ['2024-11-20', '2024-12-05'], 'import httpx\nclient = httpx.Client(proxies=None)\nprint(client)\n', ['httpx']),
  python('urllib3-ciphers', ['urllib3'], ['2023-04-20', '2023-05-10'], 'from urllib3.util.ssl_ import DEFAULT_CIPHERS\nprint(DEFAULT_CIPHERS)\n', ['urllib3']),
  python('openai-chat-completion', ['openai', 'aiohttp'], ['2023-11-01', '2023-11-10'], 'import openai\nprint(openai.ChatCompletion)\nopenai.ChatCompletion.create if hasattr(openai, "api_resources") else openai.ChatCompletion.create()\n', ['openai']),
  python('marshmallow-missing', ['marshmallow'], ['2025-03-01', '2025-05-15'], 'from marshmallow import fields\nprint(fields.Int(missing=1))\n', ['marshmallow']),
  python('setuptools-pkg-resources', ['setuptools'], ['2025-12-01', '2026-11-01'], 'import pkg_resources\nprint(pkg_resources)\n', ['setuptools']),
  python('itsdangerous-json', ['flask==1.1.2', 'itsdangerous', 'jinja2<3', 'markupsafe==2.0.1', 'werkzeug<2'], ['2022-02-10', '2022-02-25'], 'import flask\nprint(flask.__name__)\n', ['itsdangerous']),
  python('packaging-legacy-version', ['packaging'], ['2022-12-01', '2022-12-15'], 'from packaging.version import LegacyVersion\nprint(LegacyVersion)\n', ['packaging']),
  python('networkx-from-numpy', ['networkx', 'numpy<1.25'], ['2022-12-20', '2023-01-15'], 'import networkx as nx\nprint(nx.from_numpy_matrix)\n', ['networkx']),
  python('pillow-antialias', ['pillow'], ['2023-06-20', '2023-07-10'], 'from PIL import Image\nprint(Image.ANTIALIAS)\n', ['pillow']),
  python('lxml-html-clean', ['lxml'], ['2024-03-20', '2024-04-10'], 'from lxml.html import clean\nprint(clean)\n', ['lxml']),
  python('bleach-styles', ['bleach'], ['2022-03-20', '2022-05-01'], 'import bleach\nprint(bleach.clean("<b>x</b>", styles=[]))\n', ['bleach']),
  python('wtforms-html5', ['wtforms'], ['2021-10-20', '2021-11-20'], 'from wtforms.fields.html5 import EmailField\nprint(EmailField)\n', ['wtforms']),
  python('flask-escape', ['flask'], ['2023-09-20', '2023-10-10'], 'from flask import escape\nprint(escape("x"))\n', ['flask']),
  python('flask-first-request', ['flask'], ['2023-04-20', '2023-05-05'], 'from flask import Flask\napp = Flask("a")\nprint(app.before_first_request)\n', ['flask']),
  python('pyjwt-algorithms', ['pyjwt'], ['2020-12-01', '2021-01-10'], 'import jwt\nt = jwt.encode({"a": 1}, "k")\nprint(jwt.decode(t, "k"))\n', ['pyjwt']),
  python('elasticsearch-hosts', ['elasticsearch'], ['2022-02-01', '2022-03-01'], 'import elasticsearch\nprint(elasticsearch.Elasticsearch())\n', ['elasticsearch']),
  python('sqlalchemy-execute', ['sqlalchemy'], ['2023-01-20', '2023-02-10'], 'from sqlalchemy import create_engine\nprint(create_engine("sqlite://").execute("select 1"))\n', ['sqlalchemy']),
  python('telegram-filters', ['python-telegram-bot'], ['2022-12-20', '2023-01-10'], 'from telegram.ext import Filters\nprint(Filters)\n', ['python-telegram-bot']),
  { ...python('jinja2-pip', ['jinja2'], ['2022-03-20', '2022-04-01'], 'import jinja2\nprint(jinja2.Markup("x"))\n', ['jinja2']), by: 'pip' },
  { ...python('werkzeug-pip', ['werkzeug'], ['2023-09-01', '2023-10-15'], 'from werkzeug.urls import url_encode\nprint(url_encode)\n', ['werkzeug']), by: 'pip' },
  { ...python('ruff-subcommand', ['ruff'], ['2024-06-20', '2024-07-05'], 'import sys\n\nprint(sys)\n', ['ruff']), kind: 'tool update', run: 'ruff app.py' },
  { ...python('mypy-optional', ['mypy'], ['2022-11-01', '2022-11-15'], 'def f(a: int = None) -> int:\n    return 1\n\n\nprint(f())\n', ['mypy']), kind: 'tool update', run: 'mypy app.py' },
  { ...python('flake8-config', ['flake8'], ['2022-11-20', '2022-11-25'], 'x = 1\n', ['flake8']), kind: 'tool update', run: 'flake8 app.py', files: { 'app.py': 'x = 1\n', '.flake8': '[flake8]\nignore =\n    E501  # too long\n' } },
  { ...python('jinja2-gone', ['jinja2==3.0.3'], ['2022-01-01', '2021-11-01'], 'import jinja2\nprint(jinja2)\n', ['jinja2']), kind: 'unavailable', by: 'pip' },
  { ...python('flask-gone', ['flask==2.3.0'], ['2023-05-01', '2023-04-01'], 'import flask\nprint(flask)\n', ['flask']), kind: 'unavailable' },
  { ...python('httpx-gone', ['httpx==0.25.2'], ['2023-12-01', '2023-11-01'], 'import httpx\nprint(httpx)\n', ['httpx']), kind: 'unavailable', by: 'pip' },
];

const ESM = 'print = console.log;\n';
// biome-ignore format: one case each
const NODE: readonly DriftCase[] = [
  node('chalk-5', ['chalk@4.1.2'], ['chalk@5.3.0'], `const chalk = require('chalk');\n${ESM}print(chalk.red('x'));\n`, ['chalk']),
  node('uuid-subpath', ['uuid@3.4.0'], ['uuid@9.0.1'], `const v4 = require('uuid/v4');\n${ESM}print(v4());\n`, ['uuid']),
  node('glob-callback', ['glob@8.1.0'], ['glob@10.4.5'], `const glob = require('glob');\nglob('*.js', (error, files) => console.log(files));\n`, ['glob']),
  node('p-limit-esm', ['p-limit@3.1.0'], ['p-limit@6.1.0'], `const pLimit = require('p-limit');\nconsole.log(pLimit(1));\n`, ['p-limit']),
  node('strip-ansi-esm', ['strip-ansi@6.0.1'], ['strip-ansi@7.1.0'], `const stripAnsi = require('strip-ansi');\nconsole.log(stripAnsi('x'));\n`, ['strip-ansi']),
  node('find-up-esm', ['find-up@5.0.0'], ['find-up@7.0.0'], `const findUp = require('find-up');\nconsole.log(findUp('x'));\n`, ['find-up']),
  node('mkdirp-3', ['mkdirp@1.0.4'], ['mkdirp@3.0.1'], `const mkdirp = require('mkdirp');\nmkdirp('out').then(console.log);\n`, ['mkdirp']),
  node('rimraf-5', ['rimraf@3.0.2'], ['rimraf@5.0.10'], `const rimraf = require('rimraf');\nrimraf('out', console.log);\n`, ['rimraf']),
  node('marked-5', ['marked@3.0.8'], ['marked@5.1.2'], `const marked = require('marked');\nconsole.log(marked('x'));\n`, ['marked']),
  node('express-5', ['express@4.21.1'], ['express@5.0.1'], `const app = require('express')();\napp.get('*', () => {});\nconsole.log('ok');\n`, ['express', 'path-to-regexp']),
  node('lru-cache-10', ['lru-cache@6.0.0'], ['lru-cache@10.4.3'], `const LRU = require('lru-cache');\nconsole.log(new LRU({ max: 1 }).max);\n`, ['lru-cache']),
  { ...node('react-peer', ['react@18.3.1', 'react-test-renderer@18.3.1'], ['react@19.0.0', 'react-test-renderer@18.3.1'], `console.log(require('react').version);\n`, ['react']), run: 'node app.js' },
  { ...node('typescript-option', ['typescript@5.4.5'], ['typescript@5.6.3'], 'export {};\n', ['typescript']), kind: 'tool update', run: 'npx tsc --noEmit', files: { 'a.ts': 'export const a = 1;\n', 'tsconfig.json': '{"compilerOptions":{"importsNotUsedAsValues":"error","ignoreDeprecations":"5.0"},"files":["a.ts"]}\n' } },
  { ...node('eslint-9', ['eslint@8.57.1'], ['eslint@9.15.0'], 'console.log(1);\n', ['eslint']), kind: 'tool update', run: 'npx eslint app.js', files: { 'app.js': 'console.log(1);\n', '.eslintrc.json': '{"root":true}\n' } },
  { ...node('prettier-3', ['prettier@2.8.8'], ['prettier@3.4.1'], 'f(\n  a,\n  b\n);\n', ['prettier']), kind: 'tool update', run: 'npx prettier --check app.js', files: { 'app.js': 'someFunctionWithALongName(\n  argumentNumberOneIsLong,\n  argumentNumberTwoIsLongToo,\n  argumentNumberThree\n);\n' } },
];

const IMAGES = ['ubuntu-24.04 20261101.1.0', 'ubuntu-24.04 20261118.1.0'] as const;
const MOVED = ['ubuntu-22.04 20261101.1.0', 'ubuntu-24.04 20261118.1.0'] as const;
/** Creates a case in which the script of the passing run installs a program that the older image contains. */
const image = (id: string, run: string, images: readonly [string, string]): DriftCase => ({
  id,
  kind: 'image',
  by: 'uv',
  asks: ['six==1.16.0'],
  green: '2026-01-01',
  red: '2026-01-01',
  run,
  images,
  guilty: ['runner image'],
});
const IMAGE_CASES: readonly DriftCase[] = [
  image('image-wkhtmltopdf', 'wkhtmltopdf in.html out.pdf', IMAGES),
  image('image-svn', 'svn --quiet status', MOVED),
  image('image-library', 'cat /usr/lib/libgconf-drift.so', IMAGES),
  image('image-node-spawn', `node -e "require('child_process').spawn('phantomjs', ['a'])"`, MOVED),
];

const innocent = (
  id: string,
  asks: readonly string[],
  days: readonly [green: string, red: string],
  code: string,
  images?: readonly [string, string],
): DriftCase => ({
  ...python(id, asks, days, code, []),
  kind: 'innocent',
  redEnvironment: { DRIFT_RED: '1' },
  ...(images === undefined ? {} : { images }),
});
const RED = 'import os\nred = "DRIFT_RED" in os.environ\n';
const NUMPY = ['2022-12-01', '2023-01-10'] as const;
// biome-ignore format: one case each
const INNOCENT: readonly DriftCase[] = [
  innocent('own-assertion', ['numpy'], NUMPY, `${RED}import numpy as np\ntotal = float(np.sum([1, 2]))\nassert total == (4 if red else 3), f"total is {total}"\n`),
  innocent('own-module', ['flask'], ['2023-09-20', '2023-10-10'], `${RED}import flask\nif red:\n    import billing_rules\nprint(flask)\n`),
  innocent('own-attribute', ['pandas', 'numpy<2'], ['2023-03-15', '2023-04-20'], `${RED}import pandas as pd\nclass Cart:\n    pass\nprint(pd.__version__)\nif red:\n    Cart().total\n`),
  innocent('own-none', ['pydantic'], ['2023-06-15', '2023-07-15'], `${RED}import pydantic\nrow = None if red else {"a": 1}\nprint(row["a"])\n`),
  innocent('refused-by-service', ['redis'], ['2022-12-01', '2023-08-01'], `${RED}import redis\nif red:\n    redis.Redis(port=1).ping()\n`),
  innocent('refused-by-host', ['requests'], ['2023-04-01', '2024-06-01'], `${RED}import requests\nif red:\n    requests.get("http://127.0.0.1:1/", timeout=2)\n`),
  innocent('httpx-refused', ['httpx'], ['2024-11-20', '2024-12-05'], `${RED}import httpx\nif red:\n    httpx.get("http://127.0.0.1:1/")\n`),
  innocent('data-changed', ['pandas', 'numpy<2'], ['2023-03-15', '2023-04-20'], `${RED}import io\nimport pandas as pd\ntext = "a,b\\n1,2\\n1,2,3,4\\n" if red else "a,b\\n1,2\\n"\nprint(pd.read_csv(io.StringIO(text)))\n`),
  innocent('column-missing', ['pandas', 'numpy<2'], ['2023-03-15', '2023-04-20'], `${RED}import pandas as pd\nframe = pd.DataFrame({"a": [1]})\nprint(frame["b" if red else "a"])\n`),
  innocent('own-file-missing', ['jinja2'], ['2022-03-20', '2022-04-01'], `${RED}import jinja2\nopen("result.json" if red else "app.py").read()\n`),
  innocent('template-missing', ['jinja2'], ['2022-03-20', '2022-04-01'], `${RED}import jinja2\njinja2.Environment(loader=jinja2.DictLoader({"a": "x"})).get_template("b" if red else "a")\n`),
  innocent('exit-code', ['click'], ['2022-03-20', '2022-04-02'], `${RED}import sys\nimport click\nsys.exit(3 if red else 0)\n`),
  innocent('killed', ['numpy'], NUMPY, `${RED}import signal\nimport numpy\nif red:\n    os.kill(os.getpid(), signal.SIGKILL)\n`),
  innocent('image-and-assertion', ['six==1.16.0'], ['2026-01-01', '2026-01-01'], `${RED}assert not red, "two orders have one number"\n`, MOVED),
  innocent('image-and-own-file', ['six==1.16.0'], ['2026-01-01', '2026-01-01'], `${RED}open("out/report.xml" if red else "app.py")\n`, IMAGES),
  innocent('variable-unset', ['flask'], ['2023-09-20', '2023-10-10'], `${RED}import flask\nvalue = os.environ["SHOP_TOKEN"] if red else ""\n`),
  { ...innocent('flaky-test', ['pytest'], ['2023-12-01', '2024-03-01'], ''), run: 'pytest -q test_app.py', files: { 'test_app.py': `${RED}\ndef test_total():\n    assert 3 == (4 if red else 3)\n` } },
  { ...innocent('mypy-own', ['mypy', 'six==1.16.0'], ['2022-11-20', '2022-11-25'], ''), run: 'sh check.sh', files: { 'app.py': 'x: int = 1\n', 'check.sh': 'mypy app.py\nif [ -n "$DRIFT_RED" ]; then echo "error: 2 files are not in the index"; exit 1; fi\n' } },
  { ...node('own-helper', ['chalk@4.1.2'], ['chalk@5.3.0'], `const helper = process.env.DRIFT_RED ? {} : { total: () => 1 };\nconsole.log(helper.total());\n`, []), kind: 'innocent', redEnvironment: { DRIFT_RED: '1' } },
  { ...node('own-assert', ['uuid@8.3.2'], ['uuid@9.0.1'], `require('assert').strictEqual(process.env.DRIFT_RED ? 2 : 1, 1);\n`, []), kind: 'innocent', redEnvironment: { DRIFT_RED: '1' } },
  { ...node('own-module-missing', ['glob@8.1.0'], ['glob@10.4.5'], `require(process.env.DRIFT_RED ? './rules' : 'path');\n`, []), kind: 'innocent', redEnvironment: { DRIFT_RED: '1' } },
  { ...node('express-refused', ['express@4.21.1'], ['express@5.0.1'], `require('express');\nif (process.env.DRIFT_RED) require('http').get('http://127.0.0.1:1/');\n`, []), kind: 'innocent', redEnvironment: { DRIFT_RED: '1' } },
];

// biome-ignore format: one case each
const CAPTURED_LATER: readonly DriftCase[] = [
  python('held-werkzeug-base-response', ['werkzeug'], ['2022-03-20', '2022-04-01'], 'from werkzeug.wrappers import BaseResponse\nprint(BaseResponse)\n', ['werkzeug']),
  python('held-sqlalchemy-mapper', ['sqlalchemy'], ['2023-01-20', '2023-02-10'], 'from sqlalchemy.orm import mapper\nprint(mapper(object, None) if False else mapper)\nfrom sqlalchemy import MetaData\nMetaData(bind=None)\n', ['sqlalchemy']),
  python('held-markdown-etree', ['markdown'], ['2022-07-10', '2022-07-20'], 'from markdown.util import etree\nprint(etree)\n', ['markdown']),
  python('held-matplotlib-get-cmap', ['matplotlib', 'numpy<2'], ['2024-05-10', '2024-05-20'], 'import matplotlib.cm as cm\nprint(cm.get_cmap("viridis"))\n', ['matplotlib']),
  python('held-anyio-portal', ['anyio'], ['2023-08-20', '2023-09-05'], 'import anyio\nprint(anyio.start_blocking_portal)\n', ['anyio']),
  python('held-django-ugettext', ['django'], ['2021-12-01', '2021-12-15'], 'from django.utils.translation import ugettext\nprint(ugettext)\n', ['django']),
  python('held-django-utc', ['django'], ['2023-11-20', '2023-12-10'], 'from django.utils.timezone import utc\nprint(utc)\n', ['django']),
  python('held-scipy-simps', ['scipy', 'numpy<2'], ['2024-06-10', '2024-07-05'], 'from scipy.integrate import simps\nprint(simps([1, 2]))\n', ['scipy']),
  { ...python('held-ruff-show-source', ['ruff'], ['2024-06-20', '2024-07-05'], 'import sys\n\nprint(sys)\n', ['ruff']), kind: 'tool update', run: 'ruff check --show-source app.py' },
  { ...python('held-requests-gone', ['requests==2.32.0'], ['2024-05-25', '2024-05-01'], 'import requests\nprint(requests)\n', ['requests']), kind: 'unavailable', by: 'pip' },
  node('held-ora', ['ora@5.4.1'], ['ora@8.1.1'], `const ora = require('ora');\nconsole.log(typeof ora('x'));\n`, ['ora']),
  node('held-execa', ['execa@5.1.1'], ['execa@9.5.1'], `const execa = require('execa');\nexeca('true').then(() => console.log('ok'));\n`, ['execa']),
  node('held-globby', ['globby@11.1.0'], ['globby@14.0.2'], `const globby = require('globby');\nglobby('*').then(console.log);\n`, ['globby']),
  node('held-mime', ['mime@3.0.0'], ['mime@4.0.4'], `const mime = require('mime');\nconsole.log(mime.getType('a.txt'));\n`, ['mime']),
  node('held-webpack-merge', ['webpack-merge@4.2.2'], ['webpack-merge@5.10.0'], `const merge = require('webpack-merge');\nconsole.log(merge({ a: 1 }, { b: 2 }));\n`, ['webpack-merge']),
  node('held-got', ['got@11.8.6'], ['got@14.4.5'], `const got = require('got');\nconsole.log(typeof got.extend({}));\n`, ['got']),
  node('held-nanoid-subpath', ['nanoid@2.1.11'], ['nanoid@3.3.8'], `const generate = require('nanoid/generate');\nconsole.log(generate('ab', 3));\n`, ['nanoid']),
  innocent('held-no-such-table', ['sqlalchemy'], ['2023-01-20', '2023-02-10'], `${RED}from sqlalchemy import create_engine, text\nwith create_engine("sqlite://").connect() as c:\n    c.execute(text("select 1 from orders" if red else "select 1"))\n`),
  innocent('held-django-settings', ['django'], ['2021-12-01', '2021-12-15'], `${RED}import django\nfrom django.conf import settings\nif red:\n    settings.DEBUG\n`),
  innocent('held-shapes', ['numpy'], ['2024-06-01', '2024-07-01'], `${RED}import numpy as np\nprint(np.ones(3) + np.ones(4 if red else 3))\n`),
  innocent('held-validation', ['pydantic'], ['2023-06-15', '2023-07-15'], `${RED}from pydantic import BaseModel\nclass Order(BaseModel):\n    total: int\nOrder(**({} if red else {"total": 1}))\n`),
  innocent('held-json', ['marshmallow'], ['2025-03-01', '2025-05-15'], `${RED}import json\nimport marshmallow\njson.loads("<html>" if red else "{}")\n`),
  innocent('held-schema-load', ['marshmallow'], ['2025-03-01', '2025-05-15'], `${RED}from marshmallow import Schema, fields\nclass Order(Schema):\n    total = fields.Int(required=True)\nOrder().load({} if red else {"total": 1})\n`),
  innocent('held-timeout', ['urllib3'], ['2023-04-20', '2023-05-10'], `${RED}import urllib3\nif red:\n    raise TimeoutError("no answer from the shop within 30 s")\n`),
  innocent('held-cli', ['click'], ['2022-03-20', '2022-04-02'], `${RED}import click\n@click.command()\n@click.option("--total", type=int)\ndef main(total):\n    print(total)\nmain(["--total", "x" if red else "1"])\n`),
  { ...node('held-express-own', ['express@4.21.1'], ['express@5.0.1'], `const app = require('express')();\nconst shop = process.env.DRIFT_RED ? undefined : { total: 1 };\nconsole.log(shop.total, typeof app);\n`, []), kind: 'innocent', redEnvironment: { DRIFT_RED: '1' } },
  { ...node('held-uuid-json', ['uuid@8.3.2'], ['uuid@9.0.1'], `require('uuid');\nJSON.parse(process.env.DRIFT_RED ? '<html>' : '{}');\n`, []), kind: 'innocent', redEnvironment: { DRIFT_RED: '1' } },
];
const HELD = CAPTURED_LATER.map((one): DriftCase => ({ ...one, held: true }));

/** All pairs, in the order in which they are captured. */
export const DRIFT_CASES: readonly DriftCase[] = [...PYTHON, ...NODE, ...IMAGE_CASES, ...INNOCENT, ...HELD];
