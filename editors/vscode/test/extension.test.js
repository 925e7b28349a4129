// The extension on a stored report, with the real tool and a VS Code in memory. SOOTH names the tool.
'use strict';

const assert = require('node:assert/strict');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { after, before, test } = require('node:test');

const { install, makeVscode } = require('./fake_vscode.js');

const kReport = path.join(__dirname, 'account.json');
const executable = process.env.SOOTH ?? 'sooth';
let folder;
let id;

before(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'sooth-vscode-'));
  fs.copyFileSync(kReport, path.join(folder, 'sooth-account.json'));
  fs.writeFileSync(path.join(folder, 'sooth-other.json'), '{"no": "report"}');
  id = JSON.parse(fs.readFileSync(kReport, 'utf8')).findings[0].id;
});

after(() => fs.rmSync(folder, { recursive: true }));

async function open(changes = {}) {
  const settings = { executable, reports: '**/sooth-*.json', show: 'predicted', ...changes.settings };
  const { vscode, seen } = makeVscode({ folder, ...changes, settings });
  const state = new Map();
  await install(vscode).activate({
    subscriptions: [],
    workspaceState: { get: (key, otherwise) => state.get(key) ?? otherwise, update: async (key, value) => state.set(key, value) },
  });
  return seen;
}

test('findings are problems with the second access, and other files are told of', async () => {
  const seen = await open();
  assert.equal(seen.problems.size, 1);
  const [[file, [problem]]] = seen.problems;
  assert.match(file, /account\.cc$/);
  assert.match(problem.message, /^Confirmed data race on 'balance'/);
  assert.equal(problem.source, 'sooth');
  assert.equal(problem.code, id);
  assert.equal(problem.severity, 0);
  assert.equal(problem.range.start.line, 20);
  assert.match(problem.relatedInformation[0].message, /^write of 4 bytes to 'balance'/);
  assert.equal(problem.relatedInformation[0].location.range.start.line, 12);
  assert.equal(seen.output.length, 1);
  assert.match(seen.output[0], /sooth-other\.json: sooth: /);
});

test('a problem can be replayed, in gdb too, and looked at', async () => {
  const seen = await open();
  const [[, [problem]]] = seen.problems;
  const actions = seen.actions.provideCodeActions(null, null, { diagnostics: [problem, { source: 'gcc' }] });
  assert.deepEqual(actions.map((each) => each.command.command), ['sooth.replayInGdb', 'sooth.replay', 'sooth.showPage']);
  await seen.commands.get('sooth.replayInGdb')(...actions[0].command.arguments);
  const { execution } = seen.tasks[0];
  assert.equal(execution.process, executable);
  assert.deepEqual(execution.args.slice(0, 2), ['replay', '--gdb']);
  assert.deepEqual(execution.args.slice(3), ['--', './account']);
  assert.ok(execution.args[2].endsWith(`sooth-account.json#${id}`));
  assert.equal(execution.options.cwd, folder);
  await seen.commands.get('sooth.showPage')(id);
  assert.match(seen.panels[0].webview.html, /<html/);
  assert.ok(seen.panels[0].webview.html.includes(id));
});

test('without a problem the user picks', async () => {
  const seen = await open({ input: './account 1' });
  await seen.commands.get('sooth.replay')();
  assert.equal(seen.tasks.length, 1);
  await seen.commands.get('sooth.run')();
  assert.ok(seen.tasks[1].execution.commandLine.endsWith(' run -- ./account 1'));
});

test('a folder that is not trusted runs nothing', async () => {
  const seen = await open({ trusted: false });
  await seen.commands.get('sooth.replay')(id);
  assert.equal(seen.tasks.length, 0);
  assert.match(seen.messages[0], /trusted folders only/);
});

test('reports that come, change and go are followed', async () => {
  const seen = await open();
  const late = path.join(folder, 'sooth-late.json');
  fs.copyFileSync(kReport, late);
  const uri = { fsPath: late };
  await seen.watchers[0].onDidCreate.listener(uri);
  assert.equal([...seen.problems.values()].flat().length, 1, 'the same finding in two reports is one problem');
  await seen.watchers[0].onDidDelete.listener({ fsPath: path.join(folder, 'sooth-account.json') });
  assert.equal(seen.problems.size, 1);
  await seen.watchers[0].onDidDelete.listener(uri);
  assert.equal(seen.problems.size, 0);
  fs.rmSync(late);
});

test('a tool that is not there is named', async () => {
  const seen = await open({ settings: { executable: '/nowhere/sooth' } });
  assert.equal(seen.problems.size, 0);
  assert.match(seen.output[0], /'\/nowhere\/sooth' was not found; the setting sooth\.executable/);
});
