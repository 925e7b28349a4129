// As much of VS Code's interface as the extension uses, in memory. `install()` makes require('vscode') return it.
'use strict';

const Module = require('node:module');
const fs = require('node:fs');
const path = require('node:path');

class Position {
  constructor(line, character) {
    Object.assign(this, { line, character });
  }
}

class Range {
  constructor(start, end) {
    Object.assign(this, { start, end });
  }
}

class Location {
  constructor(uri, position) {
    Object.assign(this, { uri, range: new Range(position, position) });
  }
}

class Diagnostic {
  constructor(range, message, severity) {
    Object.assign(this, { range, message, severity });
  }
}

class DiagnosticRelatedInformation {
  constructor(location, message) {
    Object.assign(this, { location, message });
  }
}

class CodeAction {
  constructor(title, kind) {
    Object.assign(this, { title, kind });
  }
}

class ProcessExecution {
  constructor(process, args, options) {
    Object.assign(this, { process, args, options });
  }
}

class ShellExecution {
  constructor(commandLine, options) {
    Object.assign(this, { commandLine, options });
  }
}

class Task {
  constructor(definition, scope, name, source, execution) {
    Object.assign(this, { definition, scope, name, source, execution });
  }
}

const file = (fsPath) => ({ fsPath, scheme: 'file', toString: () => `file://${fsPath}` });

// A window on `folder`. `picks` answers questions; what was shown and started is in `seen`.
function makeVscode({ folder, settings, trusted = true, pick = (items) => items[0], input = undefined }) {
  const seen = { problems: new Map(), commands: new Map(), tasks: [], messages: [], panels: [], output: [], watchers: [] };
  const disposable = { dispose() {} };
  const tell = (kind) => (text) => seen.messages.push(`${kind}: ${text}`);
  const vscode = {
    Position, Range, Location, Diagnostic, DiagnosticRelatedInformation, CodeAction, ProcessExecution, ShellExecution, Task,
    DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2 },
    CodeActionKind: { QuickFix: 'quickfix' },
    TaskScope: { Workspace: 2 },
    TaskPanelKind: { Dedicated: 2 },
    ViewColumn: { Beside: -2 },
    Uri: { file },
    workspace: {
      isTrusted: trusted,
      textDocuments: [],
      workspaceFolders: [{ uri: file(folder) }],
      getConfiguration: () => ({ get: (name) => settings[name] }),
      findFiles: async () =>
        fs.readdirSync(folder).filter((each) => /^sooth-.*\.json$/.test(each)).map((each) => file(path.join(folder, each))),
      createFileSystemWatcher: () => {
        const watcher = { dispose() {} };
        for (const event of ['onDidCreate', 'onDidChange', 'onDidDelete']) {
          watcher[event] = (listener) => (watcher[event].listener = listener);
        }
        seen.watchers.push(watcher);
        return watcher;
      },
      onDidChangeConfiguration: (listener) => {
        seen.configured = () => listener({ affectsConfiguration: () => true });
        return disposable;
      },
      asRelativePath: (each) => path.relative(folder, each),
    },
    languages: {
      createDiagnosticCollection: () => ({
        clear: () => seen.problems.clear(),
        set: (uri, diagnostics) => seen.problems.set(uri.fsPath, diagnostics),
        dispose() {},
      }),
      registerCodeActionsProvider: (_selector, provider) => {
        seen.actions = provider;
        return disposable;
      },
    },
    window: {
      createOutputChannel: () => ({ appendLine: (line) => seen.output.push(line), dispose() {} }),
      showInformationMessage: tell('information'),
      showErrorMessage: tell('error'),
      showQuickPick: async (items) => pick(items),
      showInputBox: async () => input,
      createWebviewPanel: (_type, title) => {
        const panel = { title, webview: { html: '' } };
        seen.panels.push(panel);
        return panel;
      },
    },
    commands: {
      registerCommand: (name, body) => {
        seen.commands.set(name, body);
        return disposable;
      },
    },
    tasks: { executeTask: async (task) => seen.tasks.push(task) },
  };
  return { vscode, seen };
}

let current = null;
const load = Module._load;

// What modules get that ask for 'vscode' from now on.
function install(vscode) {
  current = vscode;
  Module._load = (request, ...rest) => (request === 'vscode' ? current : load(request, ...rest));
  delete require.cache[require.resolve('../src/extension.js')];
  return require('../src/extension.js');
}

module.exports = { install, makeVscode };
