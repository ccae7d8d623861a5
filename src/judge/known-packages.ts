/** Finds the value of a slot as text. */
type Read = (slot: string) => string | null;

/** The Debian and Ubuntu package of a header, a library or a pkg-config module. */
const SYSTEM_PACKAGES: Readonly<Record<string, string>> = {
  'Python.h': 'python3-dev',
  'openssl/ssl.h': 'libssl-dev',
  'openssl/opensslv.h': 'libssl-dev',
  'openssl/evp.h': 'libssl-dev',
  openssl: 'libssl-dev',
  OpenSSL: 'libssl-dev',
  ssl: 'libssl-dev',
  'zlib.h': 'zlib1g-dev',
  zlib: 'zlib1g-dev',
  ZLIB: 'zlib1g-dev',
  'libpq-fe.h': 'libpq-dev',
  pg_config: 'libpq-dev',
  pq: 'libpq-dev',
  'ffi.h': 'libffi-dev',
  libffi: 'libffi-dev',
  'curl/curl.h': 'libcurl4-openssl-dev',
  libcurl: 'libcurl4-openssl-dev',
  CURL: 'libcurl4-openssl-dev',
  curl: 'libcurl4-openssl-dev',
  'png.h': 'libpng-dev',
  libpng: 'libpng-dev',
  PNG: 'libpng-dev',
  'jpeglib.h': 'libjpeg-dev',
  'sqlite3.h': 'libsqlite3-dev',
  sqlite3: 'libsqlite3-dev',
  'X11/Xlib.h': 'libx11-dev',
  x11: 'libx11-dev',
  X11: 'libx11-dev',
  'libxml/parser.h': 'libxml2-dev',
  'libxml-2.0': 'libxml2-dev',
  LibXml2: 'libxml2-dev',
  'gtest/gtest.h': 'libgtest-dev',
  GTest: 'libgtest-dev',
  Boost: 'libboost-all-dev',
  Eigen3: 'libeigen3-dev',
  'readline/readline.h': 'libreadline-dev',
  'ncurses.h': 'libncurses-dev',
  'bzlib.h': 'libbz2-dev',
  'lzma.h': 'liblzma-dev',
  'yaml.h': 'libyaml-dev',
  'pcap.h': 'libpcap-dev',
  'libudev.h': 'libudev-dev',
  libudev: 'libudev-dev',
  'alsa/asoundlib.h': 'libasound2-dev',
  alsa: 'libasound2-dev',
  dbus: 'libdbus-1-dev',
  'dbus-1': 'libdbus-1-dev',
  'gtk+-3.0': 'libgtk-3-dev',
  'glib-2.0': 'libglib2.0-dev',
  'gobject-2.0': 'libglib2.0-dev',
  cairo: 'libcairo2-dev',
  oniguruma: 'libonig-dev',
  libzip: 'libzip-dev',
  icu: 'libicu-dev',
  'libGL.so.1': 'libgl1',
  'libgthread-2.0.so.0': 'libglib2.0-0',
  'libpq.so.5': 'libpq5',
  'libgomp.so.1': 'libgomp1',
  'libsndfile.so': 'libsndfile1',
};

/** System packages that were renamed in newer releases of Debian and Ubuntu. */
const RENAMED: Readonly<Record<string, string>> = {
  'libgl1-mesa-glx': 'libgl1',
  'libegl1-mesa': 'libegl1',
  libasound2: 'libasound2t64',
  libncurses5: 'libncurses6',
  'libncurses5-dev': 'libncurses-dev',
  libtinfo5: 'libtinfo6',
  'python-dev': 'python3-dev',
  'python-pip': 'python3-pip',
  'libwebkit2gtk-4.0-dev': 'libwebkit2gtk-4.1-dev',
};

/** Python modules whose distribution has another name. */
const DISTRIBUTIONS: Readonly<Record<string, string>> = {
  yaml: 'PyYAML',
  cv2: 'opencv-python-headless',
  PIL: 'Pillow',
  sklearn: 'scikit-learn',
  skimage: 'scikit-image',
  bs4: 'beautifulsoup4',
  dotenv: 'python-dotenv',
  dateutil: 'python-dateutil',
  attr: 'attrs',
  jwt: 'PyJWT',
  Crypto: 'pycryptodome',
  serial: 'pyserial',
  MySQLdb: 'mysqlclient',
  psycopg2: 'psycopg2-binary',
  magic: 'python-magic',
  docx: 'python-docx',
  fitz: 'PyMuPDF',
  git: 'GitPython',
  github: 'PyGithub',
  jose: 'python-jose',
  multipart: 'python-multipart',
  slugify: 'python-slugify',
  usb: 'pyusb',
  zmq: 'pyzmq',
  pkg_resources: 'setuptools<81',
};

/** Commands that were replaced by others. */
const REPLACED: Readonly<Record<string, string>> = {
  'docker-compose': 'docker compose',
  'huggingface-cli': 'hf',
};

/** Package managers that a job must install, and how. */
const SET_UP: Readonly<Record<string, string>> = {
  pnpm: 'Set up pnpm (`pnpm/action-setup` or `corepack enable`)',
  yarn: 'Set up Yarn (`corepack enable`)',
  uv: 'Set up uv (`astral-sh/setup-uv` or `pip install uv`)',
  poetry: 'Install Poetry (`pipx install poetry`)',
  bun: 'Set up Bun (`oven-sh/setup-bun`)',
};

/** Programs that open a window. */
const FOR_PEOPLE = /^(?:code|open|xdg-open|explorer|notepad|pbcopy)$/;

/** Words that are not the name of a program, such as a file of the project. */
const NO_PROGRAM =
  /\.(?:sh|bash|py|js|ts|mjs|cjs|rb|pl|bat|cmd|ps1)$|^(?:error|line|file|command|warning|bash|sh|\d+)$/i;

/** Advises to install the package that contains what is missing. */
export function installKnown(slot: string, before = 'in an earlier step'): (read: Read) => string | null {
  return (read) => {
    const missing = read(slot);
    const found = SYSTEM_PACKAGES[missing ?? ''];
    return found === undefined
      ? null
      : `Install ${found} (on Debian and Ubuntu) ${before}, because it provides ${missing}.`;
  };
}

/** Advises to install a system package under its new name. */
export function useNewName(read: Read): string | null {
  const name = read('name') ?? '';
  const present = RENAMED[name];
  return present === undefined
    ? null
    : `Install ${present} instead, because newer Debian and Ubuntu releases do not have ${name}.`;
}

/** Returns the name of the distribution of a Python module. */
export function getDistribution(module: string): string {
  const root = module.split('.')[0] ?? module;
  return DISTRIBUTIONS[root] ?? root;
}

/** Advises to declare the distribution of a Python module if its name differs. */
export function declareDistribution(read: Read): string | null {
  const module = read('pythonModule') ?? '';
  const found = getDistribution(module);
  if (module.startsWith(found)) return null;
  return `Add ${found} to the requirements, because it provides the module ${module}.`;
}

/**
 * Advises how a job gets a program. Returns null for a script of the project, which must be committed
 * instead.
 */
export function provideProgram(read: Read): string | null {
  const program = read('program');
  if (program === null || NO_PROGRAM.test(program)) return null;
  if (FOR_PEOPLE.test(program))
    return `Do not call ${program} in the job, because it opens a window for a person.`;
  const replacement = REPLACED[program];
  if (replacement !== undefined)
    return `Call \`${replacement}\` instead; it replaced ${program}, which is not installed in the job.`;
  const setUp = SET_UP[program];
  if (setUp !== undefined) return `${setUp} in an earlier step of the job.`;
  const script = read('npmScript');
  if (script !== null && !/^(?:python3?|docker|git|java|make|bash|go|cargo|php|ruby)$/.test(program))
    return `Install the dependencies before running the script “${script}”, and declare the package that provides the command ${program}.`;
  return `Install ${program} in an earlier step of the job, or use an image that has it.`;
}

/** Names the missing program. Returns null if it is not a program. */
export function nameProgram(sentence: string): (read: Read) => string | null {
  return (read) => {
    const program = read('program');
    if (program === null || NO_PROGRAM.test(program)) return null;
    let text = sentence.replace('{program}', program);
    for (const slot of ['script', 'command']) {
      if (!text.includes(`{${slot}}`)) continue;
      const value = read(slot);
      if (value === null) return null;
      text = text.replace(`{${slot}}`, value);
    }
    return text;
  };
}
