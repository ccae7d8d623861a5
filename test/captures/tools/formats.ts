import { createDebianTool, type ToolRow } from '../../../scripts/parts/capture/row.ts';

/** Generators of code and documents, hardware languages, shaders. */
export const rows: readonly ToolRow[] = [
  {
    ...createDebianTool('protobuf-compiler'),
    slug: 'protoc-undefined-type',
    tool: 'protoc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'proto/berth.proto':
        'syntax = "proto3";\npackage harbor;\n\nmessage Berth {\n  string name = 1;\n  Position position = 2;\n}\n',
    },
    green: {
      'proto/berth.proto': 'syntax = "proto3";\npackage harbor;\n\nmessage Berth {\n  string name = 1;\n}\n',
    },
    run: 'mkdir -p gen\nprotoc --cpp_out=gen --proto_path=proto berth.proto',
    exitCode: 1,
    telling: ['"Position" is not defined'],
  },
  {
    ...createDebianTool('thrift-compiler'),
    slug: 'thrift-duplicate-field',
    tool: 'thrift',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'tide.thrift':
        'namespace py tide\n\nstruct Reading {\n  1: required i64 time,\n  2: required double height,\n  2: optional string gauge\n}\n',
    },
    green: {
      'tide.thrift':
        'namespace py tide\n\nstruct Reading {\n  1: required i64 time,\n  2: required double height,\n  3: optional string gauge\n}\n',
    },
    run: 'thrift -r --gen py tide.thrift',
    exitCode: 1,
    telling: ['field identifier/name has already been used'],
  },
  {
    ...createDebianTool('flatbuffers-compiler'),
    slug: 'flatc-unknown-type',
    tool: 'flatc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'schema/boat.fbs':
        'namespace Harbor;\n\ntable Boat {\n  name:string;\n  crew:[Sailor];\n  draft:decimal;\n}\n\ntable Sailor { name:string; }\nroot_type Boat;\n',
    },
    run: 'flatc --cpp -o gen schema/boat.fbs',
    exitCode: 1,
    telling: ['type referenced but not defined'],
  },
  {
    ...createDebianTool('latexmk', 'texlive-latex-base'),
    slug: 'latexmk-undefined-command',
    tool: 'latexmk',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'thesis.tex':
        '\\documentclass{article}\n\\begin{document}\n\\section{Tides}\nThe height is \\SI{3}{\\meter} at noon.\n\\end{document}\n',
    },
    green: {
      'thesis.tex':
        '\\documentclass{article}\n\\begin{document}\n\\section{Tides}\nThe height is 3 m at noon.\n\\end{document}\n',
    },
    run: 'latexmk -pdf -interaction=nonstopmode -halt-on-error thesis.tex',
    exitCode: 12,
    telling: ['! Undefined control sequence', 'l.4 The height is'],
  },
  {
    ...createDebianTool('texlive-latex-base'),
    slug: 'pdflatex-style-missing',
    tool: 'pdflatex',
    heldOut: true,
    category: 'DEPENDENCY_ERROR',
    alsoOk: ['CONFIG_ERROR', 'CODE_ERROR'],
    files: {
      'letter.tex':
        '\\documentclass{article}\n\\usepackage{harborletter}\n\\begin{document}\nDear harbor office\n\\end{document}\n',
    },
    run: 'pdflatex -interaction=nonstopmode -halt-on-error letter.tex',
    exitCode: 1,
    telling: ["File `harborletter.sty' not found"],
  },
  {
    ...createDebianTool('pandoc'),
    slug: 'pandoc-metadata-quote',
    tool: 'pandoc',
    heldOut: true,
    category: 'CONFIG_ERROR',
    alsoOk: ['CODE_ERROR'],
    files: {
      'guide/intro.md': '---\ntitle: Guide\n---\n\n# Intro\n\nRead the tables.\n',
      'guide/metadata.yaml': 'title: "Guide\nauthor: Harbor office\n',
    },
    green: { 'guide/metadata.yaml': 'title: Guide\nauthor: Harbor office\n' },
    run: 'pandoc --standalone --metadata-file guide/metadata.yaml -o guide.html guide/intro.md',
    exitCode: 64,
    telling: [{ from: 'YAML parse exception', to: 'found unexpected end of stream' }],
  },
  {
    ...createDebianTool('asciidoctor'),
    slug: 'asciidoctor-include-missing',
    tool: 'asciidoctor',
    heldOut: true,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'docs/manual.adoc': '= Manual\n\n== Install\n\ninclude::install.adoc[]\n\n== Use\n\nSee <<install>>.\n',
    },
    green: { 'docs/install.adoc': '[[install]]\nUnpack the archive.\n' },
    run: 'asciidoctor --failure-level=WARN docs/manual.adoc',
    exitCode: 1,
    telling: ['include file not found'],
  },
  {
    ...createDebianTool('doxygen'),
    slug: 'doxygen-undocumented-parameter',
    tool: 'doxygen',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      Doxyfile:
        'PROJECT_NAME = winch\nINPUT = include\nQUIET = YES\nGENERATE_LATEX = NO\nGENERATE_HTML = NO\nGENERATE_XML = YES\nWARN_AS_ERROR = FAIL_ON_WARNINGS\n',
      'include/winch.h':
        '/** @file */\n\n/**\n * Pulls the rope.\n * @param meters how much rope\n * @return what is left\n */\nint pull(int meters, int speed);\n',
    },
    green: {
      'include/winch.h':
        '/** @file */\n\n/**\n * Pulls the rope.\n * @param meters how much rope\n * @return what is left\n */\nint pull(int meters);\n',
    },
    run: 'doxygen Doxyfile',
    exitCode: 1,
    telling: ['The following parameter of pull', "parameter 'speed'"],
  },
  {
    ...createDebianTool('xsltproc'),
    slug: 'xsltproc-unknown-function',
    tool: 'xsltproc',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'page.xsl':
        '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">\n  <xsl:template match="/boats">\n    <xsl:value-of select="upper-case(boat)"/>\n  </xsl:template>\n</xsl:stylesheet>\n',
      'boats.xml': '<boats><boat>Anna</boat></boats>\n',
    },
    run: 'xsltproc -o page.html page.xsl boats.xml',
    exitCode: 11,
    telling: ['function upper-case not found'],
  },
  {
    ...createDebianTool('graphviz'),
    slug: 'dot-syntax',
    tool: 'dot',
    heldOut: true,
    category: 'CODE_ERROR',
    files: { 'docs/flow.dot': 'digraph flow {\n  order -> pack;\n  pack -> [label="by truck"] ship;\n}\n' },
    green: { 'docs/flow.dot': 'digraph flow {\n  order -> pack;\n  pack -> ship [label="by truck"];\n}\n' },
    run: 'dot -Tsvg -o flow.svg docs/flow.dot',
    exitCode: 1,
    telling: ['syntax error in line 3'],
  },
  {
    ...createDebianTool('verilator'),
    slug: 'verilator-width-mismatch',
    tool: 'verilator',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'rtl/counter.v':
        "module counter(input clk, input reset, output reg [3:0] value);\n  wire [7:0] next = value + 8'd1;\n  always @(posedge clk)\n    if (reset) value <= 4'd0;\n    else value <= next;\nendmodule\n",
    },
    green: {
      'rtl/counter.v':
        "module counter(input clk, input reset, output reg [3:0] value);\n  always @(posedge clk)\n    if (reset) value <= 4'd0;\n    else value <= value + 4'd1;\nendmodule\n",
    },
    run: 'verilator --lint-only -Wall rtl/counter.v',
    exitCode: 1,
    telling: ['rtl/counter.v:2:27', 'rtl/counter.v:5:16', '%Warning-UNUSEDSIGNAL'],
  },
  {
    ...createDebianTool('iverilog'),
    slug: 'iverilog-unknown-module',
    tool: 'iverilog',
    heldOut: false,
    category: 'CODE_ERROR',
    alsoOk: ['CONFIG_ERROR'],
    files: {
      'top.v':
        'module top;\n  reg clk = 0;\n  wire [3:0] count;\n  divider #(.BY(4)) slow(.clk(clk), .out(count));\n  initial #10 $finish;\nendmodule\n',
    },
    run: 'iverilog -o top.vvp top.v',
    exitCode: 2,
    telling: ['Unknown module type: divider'],
  },
  {
    ...createDebianTool('ghdl'),
    slug: 'ghdl-assertion',
    tool: 'ghdl',
    heldOut: true,
    category: 'TEST_FAILURE',
    alsoOk: ['CODE_ERROR'],
    files: {
      'tb.vhdl':
        'entity tb is end;\narchitecture sim of tb is\n  signal level : integer := 3;\nbegin\n  process begin\n    wait for 10 ns;\n    level <= level * 2;\n    wait for 10 ns;\n    assert level = 7 report "level is " & integer\'image(level) & ", expected 7" severity failure;\n    wait;\n  end process;\nend;\n',
    },
    before: 'ghdl -a tb.vhdl\nghdl -e tb',
    run: 'ghdl -r tb',
    exitCode: 1,
    telling: ['level is 6, expected 7'],
  },
  {
    ...createDebianTool('glslang-tools'),
    slug: 'glslang-undeclared',
    tool: 'glslangValidator',
    heldOut: true,
    category: 'CODE_ERROR',
    files: {
      'shaders/water.frag':
        '#version 330 core\nin vec2 place;\nout vec4 color;\n\nvoid main() {\n  float wave = sin(place.x + seconds);\n  color = vec4(0.0, 0.3, wave, 1.0);\n}\n',
    },
    green: {
      'shaders/water.frag':
        '#version 330 core\nin vec2 place;\nout vec4 color;\nuniform float seconds;\n\nvoid main() {\n  float wave = sin(place.x + seconds);\n  color = vec4(0.0, 0.3, wave, 1.0);\n}\n',
    },
    run: 'glslangValidator shaders/water.frag',
    exitCode: 2,
    telling: ["'seconds' : undeclared identifier"],
  },
  {
    ...createDebianTool('diffutils'),
    slug: 'diff-golden-report',
    tool: 'diff',
    heldOut: true,
    category: 'TEST_FAILURE',
    files: {
      'report.awk':
        'BEGIN { FS = "," }\n{ total[$1] += $2 }\nEND { for (name in total) printf "%s %d\\n", name, total[name] | "sort" }\n',
      'input.csv': 'anna,4\nbea,2\nanna,3\ncarl,1\n',
      'expected.txt': 'anna 7\nbea 2\ncarl 2\n',
    },
    green: { 'expected.txt': 'anna 7\nbea 2\ncarl 1\n' },
    run: 'awk -f report.awk input.csv > actual.txt\ndiff -u expected.txt actual.txt',
    exitCode: 1,
    telling: ['-carl 2', '+carl 1'],
  },
];
