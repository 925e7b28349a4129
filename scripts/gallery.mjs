// The pictures of docs/gallery.md: programs with one mistake each, what `sooth run` says of them, and the page that shows it.
//
//   node scripts/gallery.mjs MODULES SOOTH OUT [NAME...]     MODULES: build/npm; OUT: docs/gallery
//
// Makes OUT/NAME.png. Needs Chromium; exits with 77 without one.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

import { browserPath } from '../tests/html/pages.mjs';

const [modules, sooth, out] = process.argv.slice(2, 5).map((name) => path.resolve(name));
const wanted = process.argv.slice(5);
const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

// Source, options of the compiler and of `sooth run`, and the part of the page that is shown, of its first finding: the drawing, or the finding from its headline on.
const PICTURES = {
  'lock-given-back': { source: 'examples/bank_account_hidden.cc', part: '.scroller' },
  'no-lock': { source: 'examples/bank_account_race.cc', part: '.scroller' },
  'deadlock': { source: 'tests/bugs/deadlock_three_bug.cc', part: '.scroller' },
  'use-after-free': { source: 'tests/bugs/use_after_free_bug.cc', part: '.detail' },
  'branch-not-taken': { source: 'tests/recipe/programs/figure_1.cc', compiler: ['--deep'], part: '.detail' },
};
const WIDTH = 1560;  // of the window: the part gets what the list leaves
const MOST = 620;    // pixels of a picture's height

function run(words, cwd, accepted = [0]) {
  const result = spawnSync(words[0], words.slice(1), { cwd, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (!accepted.includes(result.status)) {
    throw new Error(`${words.join(' ')} ended with ${result.status}: ${result.stderr}${result.error ?? ''}`);
  }
}

function makePage(name, { source, compiler = [], options = [] }, folder) {
  const file = path.basename(source);
  fs.copyFileSync(path.join(root, source), path.join(folder, file));
  run([sooth, 'c++', ...compiler, '-std=c++20', '-O1', '-g', `-ffile-prefix-map=${folder}=.`, file, '-o', name], folder);
  const page = path.join(folder, `${name}.html`);
  // Any status: some of these programs crash.
  run([sooth, 'run', '--no-config', '--budget', '10s', '--no-times', ...options, '--format', 'html', '-o', page, '--', `./${name}`], folder, [0, 66, 134, 139]);
  return page;
}

const executablePath = browserPath();
if (!executablePath) {
  console.log('skipped: there is no Chromium');
  process.exit(77);
}
const { chromium } = createRequire(path.resolve(modules, 'package.json'))('playwright-core');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sooth-gallery-'));
fs.mkdirSync(out, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--force-color-profile=srgb'] });
try {
  for (const [name, picture] of Object.entries(PICTURES)) {
    if (wanted.length > 0 && !wanted.includes(name)) {
      continue;
    }
    const page = await (await browser.newContext({ viewport: { width: WIDTH, height: 4000 }, colorScheme: 'light' })).newPage();
    await page.goto(`file://${makePage(name, picture, folder)}`);
    await page.waitForSelector('#main > *');
    const shown = page.locator(picture.part).first();
    if (await shown.count() === 0) {
      throw new Error(`${name}: the page has no ${picture.part}`);
    }
    const box = await shown.boundingBox();
    await page.screenshot({ path: path.join(out, `${name}.png`), clip: { ...box, height: Math.min(box.height, MOST) } });
    console.log(`${name}: ${fs.statSync(path.join(out, `${name}.png`)).size} bytes`);
  }
} finally {
  await browser.close();
  fs.rmSync(folder, { recursive: true });
}
