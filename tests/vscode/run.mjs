// The extension of editors/vscode in a real VS Code: its server and workbench, which the npm package code-server contains,
// in headless Chromium. Installs the packaged extension, opens a folder with a report, and does what a user would.
//
//   node run.mjs NPM-DIR SERVER-MAIN.js EXTENSION.vsix SOOTH FOLDER [PICTURES]
//
// NPM-DIR has playwright-core. FOLDER holds a report `sooth-account.json` on `account.cc`, and the program `account`.
// scripts/try-vscode.sh prepares all of it.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const [npmDir, serverMain, extension, sooth, folder, pictures] = process.argv.slice(2);
const require = createRequire(path.resolve(npmDir) + '/');
const { chromium } = require('playwright-core');

const scratch = mkdtempSync(path.join(tmpdir(), 'sooth-vscode-'));
const data = path.join(scratch, 'data');
const common = ['--accept-server-license-terms', '--server-data-dir', data, '--extensions-dir', path.join(scratch, 'extensions')];
let failed = 0;
let passed = 0;

function check(what, holds) {
  console.log(`${holds ? 'ok' : 'FAILED'}: ${what}`);
  holds ? ++passed : ++failed;
}

async function waitFor(condition, seconds) {
  for (const end = Date.now() + seconds * 1000; Date.now() < end;) {
    if (await condition()) {
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return false;
}

mkdirSync(path.join(data, 'data', 'Machine'), { recursive: true });
mkdirSync(path.join(data, 'data', 'logs'), { recursive: true });
writeFileSync(path.join(data, 'data', 'Machine', 'settings.json'), JSON.stringify({
  'sooth.executable': sooth,
  'workbench.startupEditor': 'none',
}));

const installed = spawnSync('node', [serverMain, ...common, '--install-extension', extension], { encoding: 'utf8' });
check('VS Code takes the package', installed.stdout.includes('was successfully installed'));

// Port 0: the server says which one it got.
const server = spawn('node', [serverMain, ...common, '--host', '127.0.0.1', '--port', '0', '--without-connection-token']);
let said = '';
server.stdout.on('data', (bytes) => (said += bytes));
server.stderr.on('data', (bytes) => (said += bytes));
const address = () => said.match(/http:\/\/(?:127\.0\.0\.1|localhost):(\d+)/);
let browser;
try {
  check('the server starts', await waitFor(() => address() !== null, 60));
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  const page = await browser.newPage({ viewport: { width: 1400, height: 900 } });
  const shoot = async (name) => pictures && page.screenshot({ path: path.join(pictures, `${name}.png`) });
  await page.goto(`http://127.0.0.1:${address()[1]}/?folder=${encodeURIComponent(folder)}`);
  await page.waitForSelector('.monaco-workbench .part.statusbar', { timeout: 120000 });

  const problems = page.locator('.markers-panel');
  const count = () => page.locator('.statusbar-item[id="status.problems"]').innerText().catch(() => '');
  check('the report of the folder is read before the folder is trusted', await waitFor(async () => /[1-9]/.test(await count()), 90));
  await page.getByRole('button', { name: 'Yes, I trust the authors' }).click();
  check('... and afterwards', await waitFor(async () => /[1-9]/.test(await count()), 90));
  await page.keyboard.press('Control+Shift+M');
  const row = problems.getByText(/Confirmed data race on 'balance'/).first();
  check('the race is a problem', await waitFor(async () => (await row.count()) > 0, 60));
  await row.click();
  await page.keyboard.press('ArrowRight');  // unfolds it
  check('the other access is a related place',
    await waitFor(async () => (await problems.getByText(/^write of 4 bytes to 'balance'/).count()) > 0, 30));
  await shoot('problems');
  await row.dblclick();
  const editor = page.locator('.editor-instance .monaco-editor').first();
  check('a click opens the line', await waitFor(async () => (await editor.getByText('printf').count()) > 0, 60));

  await editor.click();
  await page.keyboard.press('Control+G');
  await page.keyboard.type('21:15');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+.');
  const menu = page.locator('.action-widget');
  check('the light bulb offers the replay in gdb', await waitFor(async () => (await menu.getByText('Replay it in gdb').count()) > 0, 60));
  await shoot('actions');
  // The menu takes clicks with a layer above the text, so by keys: the third entry, below both replays.
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  check('the page of the report opens', await waitFor(async () => {
    for (const frame of page.frames()) {
      if ((await frame.getByText('balance').count().catch(() => 0)) > 0 && frame !== page.mainFrame()) {
        return true;
      }
    }
    return false;
  }, 60));
  await shoot('page');
} catch (error) {
  await browser?.contexts()[0]?.pages()[0]?.screenshot({ path: path.join(pictures ?? scratch, 'failed.png') }).catch(() => {});
  check(`no error: ${error.message}`, false);
  console.log(said.split('\n').slice(-20).join('\n'));
} finally {
  await browser?.close();
  server.kill();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
