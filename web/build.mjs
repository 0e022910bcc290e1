// Bundles the page of `tutti report`: `node build.mjs OUTPUT.cc` writes it as C++ source, `node build.mjs OUTPUT.html` as it is.
// With a second name it also writes the script that draws the timeline of a job on the page of `tutti serve`, from the same
// sources: `node build.mjs page.cc job.cc`. Needs the packages of package-lock.json (npm ci) and no network.

import {build} from 'esbuild';
import {readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const [, , output, jobOutput] = process.argv;
if (!output) {
  console.error('usage: node build.mjs OUTPUT.cc|OUTPUT.html [JOB.cc|JOB.js]');
  process.exit(2);
}

// Where the program puts the data of a report.
const mark = '<!--DATA-->';
// Compilers need not take longer literals than 65,536 bytes.
const longestLiteral = 16000;

async function bundled(entry, more = {}) {
  const result = await build({
    ...more,
    entryPoints: [join(here, 'src', entry)],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2021',
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'warning',
  });
  return result.outputFiles[0].text.trim();
}

// A script ends at the first "</script", wherever it stands; inside a JavaScript text the escaped
// slash means the same.
const script = (await bundled('main.js')).replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--');
const style = await bundled('style.css');
const page = readFileSync(join(here, 'src', 'index.html'), 'utf8')
  .replace('/*STYLE*/', () => style)
  .replace('/*SCRIPT*/', () => script);
const [before, after, ...more] = page.split(mark);
if (after === undefined || more.length > 0) throw new Error(`the page needs ${mark} exactly once`);

function literals(text) {
  const bytes = Buffer.from(text, 'utf8');
  const lines = [];
  for (let at = 0; at < bytes.length; at += longestLiteral) {
    const part = bytes.subarray(at, at + longestLiteral);
    let line = '';
    for (const byte of part) {
      const char = String.fromCharCode(byte);
      const plain = byte >= 0x20 && byte < 0x7f && !'"\\?'.includes(char);
      line += plain ? char : `\\${byte.toString(8).padStart(3, '0')}`;
    }
    lines.push(`    "${line}",`);
  }
  return lines.join('\n');
}

const source = `// Made by web/build.mjs from web/src; do not edit.

#include "tutti/report/template.h"

namespace tutti {
namespace {

constexpr std::string_view kBeforeData[] = {
${literals(before)}
};

constexpr std::string_view kAfterData[] = {
${literals(after)}
};

}  // namespace

PageTemplate page_template() {
  return {.before_data = kBeforeData, .after_data = kAfterData};
}

}  // namespace tutti
`;
writeFileSync(output, output.endsWith('.cc') ? source : page);

if (jobOutput) {
  // The style sheet goes in as text, and esbuild shrinks only those it bundles itself.
  const plugin = {name: 'style', setup: ({onLoad}) => onLoad({filter: /\.css$/}, () => ({contents: style, loader: 'text'}))};
  const job = await bundled('job.js', {plugins: [plugin]});
  writeFileSync(jobOutput, !jobOutput.endsWith('.cc') ? job : `// Made by web/build.mjs from web/src; do not edit.

#include "tutti/report/template.h"

namespace tutti {
namespace {

constexpr std::string_view kJobScript[] = {
${literals(job)}
};

}  // namespace

std::span<const std::string_view> job_script() {
  return kJobScript;
}

}  // namespace tutti
`);
}
