import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Debian's checkers of sources, texts and documents. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('shellcheck'),
    slug: 'shellcheck-unquoted-remove',
    tool: 'shellcheck',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'scripts/clean.sh': '#!/bin/sh\nset -eu\nbuild_dir=$1\nrm -rf $build_dir/cache\necho "cleaned"\n',
      'scripts/pack.sh': '#!/bin/sh\nset -eu\ntar -czf site.tar.gz public\n',
    },
    green: {
      'scripts/clean.sh':
        '#!/bin/sh\nset -eu\nbuild_dir=$1\nrm -rf "$' + '{build_dir:?}/cache"\necho "cleaned"\n',
    },
    run: 'shellcheck scripts/*.sh',
    exitCode: 1,
    telling: ['SC2086 (info)'],
  },
  {
    ...createDebianTool('libxml2-utils'),
    slug: 'xmllint-schema-decimal',
    tool: 'xmllint',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'catalog.xsd': `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:element name="catalog">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="book" maxOccurs="unbounded">
          <xs:complexType>
            <xs:sequence>
              <xs:element name="title" type="xs:string"/>
              <xs:element name="price" type="xs:decimal"/>
            </xs:sequence>
          </xs:complexType>
        </xs:element>
      </xs:sequence>
    </xs:complexType>
  </xs:element>
</xs:schema>
`,
      'catalog.xml':
        '<catalog>\n  <book><title>Tides</title><price>12.50</price></book>\n  <book><title>Dunes</title><price>9,90</price></book>\n</catalog>\n',
    },
    green: {
      'catalog.xml': '<catalog>\n  <book><title>Tides</title><price>12.50</price></book>\n</catalog>\n',
    },
    run: 'xmllint --noout --schema catalog.xsd catalog.xml',
    exitCode: 3,
    telling: ["'9,90' is not a valid value"],
  },
  {
    ...createDebianTool('libxml2-utils'),
    slug: 'xmllint-tag-mismatch',
    tool: 'xmllint',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'icons/anchor.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">\n  <g>\n    <path d="M0 0h8v8z"/>\n  </group>\n</svg>\n',
    },
    green: {
      'icons/anchor.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">\n  <g>\n    <path d="M0 0h8v8z"/>\n  </g>\n</svg>\n',
    },
    run: 'for icon in icons/*.svg; do\n  xmllint --noout "$icon"\ndone',
    exitCode: 1,
    telling: ['Opening and ending tag mismatch'],
  },
  {
    ...createDebianTool('jq'),
    slug: 'jq-release-file-comma',
    tool: 'jq',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: { 'release.json': '{\n  "version": "3.4.0",\n  "channel": "stable",\n}\n' },
    green: { 'release.json': '{\n  "version": "3.4.0",\n  "channel": "stable"\n}\n' },
    run: 'version=$(jq -r .version release.json)\necho "releasing $version"',
    exitCode: 4,
    telling: ['parse error'],
  },
  {
    ...createDebianTool('tidy'),
    slug: 'tidy-unknown-element',
    tool: 'tidy',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'site/index.html':
        '<!DOCTYPE html>\n<html lang="en">\n<head><title>Tide tables</title></head>\n<body>\n<main>\n<tide-table>High water 06:12</tide>\n</main>\n</body>\n</html>\n',
    },
    green: {
      'site/index.html':
        '<!DOCTYPE html>\n<html lang="en">\n<head><title>Tide tables</title></head>\n<body>\n<main>\n<p>High water 06:12</p>\n</main>\n</body>\n</html>\n',
    },
    run: 'tidy -errors -quiet site/*.html',
    exitCode: 2,
    telling: ['Error: '],
  },
  {
    ...createDebianTool('lua-check'),
    slug: 'luacheck-undefined-global',
    tool: 'luacheck',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'src/garden.lua':
        'local M = {}\n\nfunction M.water(beds)\n  local litres = 0\n  for _, bed in ipairs(beds) do\n    litres = litres + bed.litres\n  end\n  return rounded(litres)\nend\n\nreturn M\n',
    },
    run: 'luacheck src',
    exitCode: 1,
    telling: ['accessing undefined variable'],
  },
  {
    ...createDebianTool('libperl-critic-perl'),
    slug: 'perlcritic-two-argument-open',
    tool: 'perlcritic',
    heldOut: false,
    category: 'CODE_ERROR',
    files: {
      'lib/Ledger.pm':
        'package Ledger;\nuse strict;\nuse warnings;\n\nsub read_lines {\n    my ($path) = @_;\n    open my $handle, "<$path" or die "no ledger: $!";\n    my @lines = <$handle>;\n    close $handle or die "close: $!";\n    return @lines;\n}\n\n1;\n',
    },
    green: {
      'lib/Ledger.pm':
        'package Ledger;\nuse strict;\nuse warnings;\n\nsub read_lines {\n    my ($path) = @_;\n    open my $handle, q{<}, $path or die "no ledger: $!";\n    my @lines = <$handle>;\n    close $handle or die "close: $!";\n    return @lines;\n}\n\n1;\n',
    },
    run: 'perlcritic --gentle lib',
    exitCode: 2,
    telling: ['Two-argument "open" used'],
  },
  {
    ...createDebianTool('chktex'),
    slug: 'chktex-environment-mismatch',
    tool: 'chktex',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'manual/main.tex':
        '\\documentclass{article}\n\\begin{document}\nThe valve opens at 3 bar \\cite{norm}, see Fig.\\ref{fig:valve}.\n\\begin{itemize}\n\\item close it\n\\end{enumerate}\n\\end{document}\n',
    },
    green: {
      'manual/main.tex':
        '\\documentclass{article}\n\\begin{document}\nThe valve opens at 3 bar.\n\\end{document}\n',
    },
    run: 'chktex -q -n 2 manual/main.tex',
    exitCode: 2,
    telling: ["`itemize' expected, found `enumerate'"],
  },
  {
    ...createDebianTool('devscripts'),
    slug: 'checkbashisms-double-bracket',
    tool: 'checkbashisms',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'bin/rotate': '#!/bin/sh\nset -e\nif [[ "$1" == daily ]]; then\n  echo "daily rotation"\nfi\n' },
    green: { 'bin/rotate': '#!/bin/sh\nset -e\nif [ "$1" = daily ]; then\n  echo "daily rotation"\nfi\n' },
    run: 'checkbashisms bin/*',
    exitCode: 1,
    telling: ['alternative test command ([[ foo ]] should be [ foo ])'],
  },
  {
    ...createDebianTool('codespell'),
    slug: 'codespell-recieve',
    tool: 'codespell',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'docs/orders.md': '# Orders\n\nYou recieve a mail when the order has left the warehouse.\n' },
    green: { 'docs/orders.md': '# Orders\n\nYou receive a mail when the order has left the warehouse.\n' },
    run: 'codespell docs',
    exitCode: 65,
    telling: ['recieve ==> receive'],
  },
  {
    ...createDebianTool('desktop-file-utils'),
    slug: 'desktop-file-validate-category',
    tool: 'desktop-file-validate',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'data/org.example.Tides.desktop':
        '[Desktop Entry]\nType=Application\nName=Tides\nExec=tides\nIcon=org.example.Tides\nCategories=Utility;Sailing;\nTerminal=no\n',
    },
    green: {
      'data/org.example.Tides.desktop':
        '[Desktop Entry]\nType=Application\nName=Tides\nExec=tides\nIcon=org.example.Tides\nCategories=Utility;\nTerminal=false\n',
    },
    run: 'desktop-file-validate data/*.desktop',
    exitCode: 1,
    telling: ['contains an unregistered value "Sailing"', 'value "no" for boolean key "Terminal"'],
  },
  {
    ...createDebianTool('appstream'),
    slug: 'appstreamcli-missing-license',
    tool: 'appstreamcli',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'data/org.example.Tides.metainfo.xml':
        '<?xml version="1.0" encoding="UTF-8"?>\n<component type="desktop-application">\n  <id>org.example.Tides</id>\n  <name>Tides</name>\n  <summary>Read tide tables</summary>\n  <project_license>MIT</project_license>\n  <launchable type="desktop-id">org.example.Tides.desktop</launchable>\n  <description><p>Shows when the water is high at a harbor.</p></description>\n  <developer_name>Example</developer_name>\n</component>\n',
    },
    run: 'appstreamcli validate --no-net data/org.example.Tides.metainfo.xml',
    exitCode: 3,
    telling: ['metadata-license-missing'],
  },
  {
    ...createDebianTool('gettext'),
    slug: 'msgfmt-format-argument',
    tool: 'msgfmt',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'po/de.po':
        'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: de\\n"\n"Project-Id-Version: tides 2\\n"\n"PO-Revision-Date: 2025-02-01 10:00+0100\\n"\n"Last-Translator: none\\n"\n"Language-Team: none\\n"\n"MIME-Version: 1.0\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n\n#, c-format\nmsgid "%d boats in %s"\nmsgstr "%s Boote in %d"\n',
    },
    run: 'msgfmt --check --output-file=/dev/null po/de.po',
    exitCode: 1,
    telling: ["format specifications in 'msgid' and 'msgstr' for argument 1 are not the same"],
  },
  {
    ...createDebianTool('mandoc'),
    slug: 'mandoc-unknown-macro',
    tool: 'mandoc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'man/tides.1':
        '.Dd February 1, 2025\n.Dt TIDES 1\n.Os\n.Sh NAME\n.Nm tides\n.Nd print tide tables\n.Sh OPTIONS\n.Bl -tag -width Ds\n.It Fl h\nShow help.\n.Sh SEE ALSO\n.Xp cal 1\n',
    },
    run: 'mandoc -T lint -W error man/tides.1',
    exitCode: 3,
    telling: ['unknown macro'],
  },
  {
    debian: ['jing'],
    slug: 'jing-missing-attribute',
    tool: 'jing',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'schema/feed.rng':
        '<element name="feed" xmlns="http://relaxng.org/ns/structure/1.0">\n  <oneOrMore>\n    <element name="entry">\n      <attribute name="id"/>\n      <text/>\n    </element>\n  </oneOrMore>\n</element>\n',
      'feed.xml': '<feed>\n  <entry id="1">Low water</entry>\n  <entry>High water</entry>\n</feed>\n',
    },
    green: { 'feed.xml': '<feed>\n  <entry id="1">Low water</entry>\n</feed>\n' },
    run: 'jing schema/feed.rng feed.xml',
    exitCode: 1,
    telling: ['missing required attribute "id"'],
  },
  {
    ...createDebianTool('puppet-lint'),
    slug: 'puppet-lint-double-quotes',
    tool: 'puppet-lint',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'manifests/init.pp':
        '# Installs the harbor service.\nclass harbor {\n  package { "harbor":\n    ensure => present,\n  }\n\n  service { \'harbor\':\n    ensure => running,\n    enable => true,\n  }\n}\n',
    },
    green: {
      'manifests/init.pp':
        "# Installs the harbor service.\nclass harbor {\n  package { 'harbor':\n    ensure => present,\n  }\n}\n",
    },
    run: 'puppet-lint --fail-on-warnings --no-autoloader_layout-check manifests',
    exitCode: 1,
    telling: ['double quoted string containing no variables'],
  },
  {
    ...createDebianTool('flawfinder'),
    slug: 'flawfinder-strcpy',
    tool: 'flawfinder',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'src/label.c':
        '#include <string.h>\n\nvoid label(char *target, const char *text)\n{\n    strcpy(target, text);\n}\n',
    },
    green: { 'src/label.c': 'int label(int id)\n{\n    return id + 1;\n}\n' },
    run: 'flawfinder --quiet --dataonly --minlevel=3 --error-level=3 src',
    exitCode: 1,
    telling: ['strcpy'],
  },
  {
    ...createDebianTool('uncrustify'),
    slug: 'uncrustify-check-indent',
    tool: 'uncrustify',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'uncrustify.cfg': 'indent_columns = 4\nindent_with_tabs = 0\nsp_assign = force\n',
      'src/main.c': 'int main(void)\n{\n  int total=3;\n    return total;\n}\n',
      'src/area.c': 'int area(int a, int b)\n{\n    return a * b;\n}\n',
    },
    green: { 'src/main.c': 'int main(void)\n{\n    int total = 3;\n    return total;\n}\n' },
    run: 'uncrustify -c uncrustify.cfg --check src/*.c',
    exitCode: 1,
    telling: ['FAIL: src/main.c'],
  },
  {
    ...createDebianTool('lintian'),
    slug: 'lintian-wrong-path',
    tool: 'lintian',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    setup:
      "mkdir -p pkg/DEBIAN pkg/usr/local/bin && printf '#!/bin/sh\\necho tides\\n' > pkg/usr/local/bin/tides && chmod 755 pkg/usr/local/bin/tides",
    files: {
      control:
        'Package: tides\nVersion: 1.4-1\nArchitecture: all\nMaintainer: Harbor Office <office@harbor.example>\nDescription: tide tables\n Prints tide tables.\n',
    },
    before: 'cp control pkg/DEBIAN/control\ndpkg-deb --root-owner-group --build pkg tides_1.4-1_all.deb',
    run: 'lintian --fail-on error --suppress-tags no-changelog,no-copyright-file tides_1.4-1_all.deb',
    exitCode: 2,
    telling: ['E: tides: dir-in-usr-local', 'E: tides: file-in-usr-local'],
  },
  {
    ...createDebianTool('rpmlint'),
    slug: 'rpmlint-source-missing',
    tool: 'rpmlint',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'tides.spec':
        'Name: tides\nVersion: 1.4\nRelease: 1\nSummary: Tide tables.\nLicense: MIT\nURL: https://tides.example\n\n%description\nPrints tide tables.\n\n%prep\n%setup -q -n tides\n\n%build\nmake\n\n%install\nrm -rf $RPM_BUILD_ROOT\ncp tides /usr/lib/tides\n\n%files\n/usr/bin/tides\n',
    },
    run: 'rpmlint tides.spec',
    exitCode: 64,
    telling: ['specfile-error', 'hardcoded-library-path'],
  },
];
