// Makes the page of the HTML report: one file without data, src/report/html/report.html, which is checked in.
//
//   node web/build.mjs MODULES [--check]
//
// MODULES is the folder that holds the node_modules of web/package-lock.json (scripts/setup.sh test puts it into build/npm-web). With --check nothing is
// written; exits with 1 when the checked-in page is not what would be written.
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const target = path.join(here, '..', 'src', 'report', 'html', 'report.html');
const [modules, mode] = process.argv.slice(2);

function fail(sentence) {
  console.error(`build.mjs: ${sentence}`);
  process.exit(1);
}

if (!modules || !fs.existsSync(path.join(modules, 'node_modules', 'esbuild'))) {
  fail('esbuild is not installed; run scripts/setup.sh test');
}
const require = createRequire(path.resolve(modules, 'package.json'));
const esbuild = require('esbuild');

async function bundle(entry) {
  const result = await esbuild.build({
    entryPoints: [path.join(here, entry)],
    nodePaths: [path.resolve(modules, 'node_modules')],
    bundle: true, minify: true, write: false, format: 'iife', target: ['es2020', 'chrome90', 'firefox90', 'safari15'],
    charset: 'utf8', legalComments: 'none',
  });
  return result.outputFiles[0].text.trim();
}

const hash = (text) => `'sha256-${crypto.createHash('sha256').update(text).digest('base64')}'`;

// What is bundled and did not come from us.
function licences() {
  const root = path.join(modules, 'node_modules', 'highlight.js');
  const { name, version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  return `This page contains ${name} ${version}.\n\n${fs.readFileSync(path.join(root, 'LICENSE'), 'utf8').trim()}`;
}

const script = (await bundle('src/main.js')).replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const style = await bundle('style.css');
const csp = ["default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "base-uri 'none'", "form-action 'none'",
  "require-trusted-types-for 'script'"].join('; ');
const parts = { CSP: csp, STYLE: style, SCRIPT: script, LICENCES: licences() };
const page = fs.readFileSync(path.join(here, 'index.html'), 'utf8').replace(/\{\{([A-Z]+)\}\}/g, (_, name) => parts[name]);

if (mode === '--check') {
  if (fs.readFileSync(target, 'utf8') !== page) {
    fail('src/report/html/report.html is not what web/ makes of it; run `node web/build.mjs build/npm-web` and commit it');
  }
} else {
  fs.writeFileSync(target, page);
}
console.log(`report.html: ${page.length} characters (script ${script.length}, style ${style.length})`);
