// Findings of Sooth's reports in VS Code: as problems, with what can be done about them.
'use strict';

const path = require('node:path');
const vscode = require('vscode');

const { findingsOf, headline, replayArguments } = require('./findings.js');
const { reportAsPage, reportAsSarif } = require('./tool.js');

const kSource = 'sooth';

const kSeverities = {
  error: vscode.DiagnosticSeverity.Error,
  warning: vscode.DiagnosticSeverity.Warning,
  note: vscode.DiagnosticSeverity.Information,
};

function setting(name) {
  return vscode.workspace.getConfiguration('sooth').get(name);
}

function locationOf(place) {
  return new vscode.Location(vscode.Uri.file(place.path), new vscode.Position(place.line, place.column));
}

// From the column to the end of the word there: editors underline it.
function rangeOf(place) {
  const start = new vscode.Position(place.line, place.column);
  const document = vscode.workspace.textDocuments.find((each) => each.uri.fsPath === place.path);
  const word = place.line < (document?.lineCount ?? 0) ? document.getWordRangeAtPosition(start) : undefined;
  return new vscode.Range(start, word?.end ?? start);
}

function diagnosticOf(finding) {
  const diagnostic = new vscode.Diagnostic(
    rangeOf(finding.place), finding.message, kSeverities[finding.level] ?? vscode.DiagnosticSeverity.Warning);
  diagnostic.source = kSource;
  diagnostic.code = finding.id;
  diagnostic.relatedInformation =
    finding.related.map((each) => new vscode.DiagnosticRelatedInformation(locationOf(each), each.text));
  return diagnostic;
}

// The reports of the folder, and the problems that stand for their findings.
class Reports {
  constructor() {
    this.problems = vscode.languages.createDiagnosticCollection(kSource);
    this.output = vscode.window.createOutputChannel('Sooth');
    this.findings = new Map();  // path of a report -> what it shows
  }

  dispose() {
    this.problems.dispose();
    this.output.dispose();
  }

  async readAll() {
    this.findings.clear();
    const files = await vscode.workspace.findFiles(setting('reports'));
    await Promise.all(files.map((each) => this.read(each)));
    this.show();
  }

  // A file that is no report is told of in the output: its name alone does not make it one.
  async read(uri) {
    const folder = path.dirname(uri.fsPath);
    try {
      const sarif = await reportAsSarif(setting('executable'), uri.fsPath, folder);
      this.findings.set(uri.fsPath, findingsOf(sarif, folder, setting('show')));
    } catch (error) {
      this.findings.delete(uri.fsPath);
      this.output.appendLine(`${uri.fsPath}: ${error.message}`);
    }
  }

  async changed(uri) {
    await this.read(uri);
    this.show();
  }

  removed(uri) {
    this.findings.delete(uri.fsPath);
    this.show();
  }

  // Two reports may have the same finding: it is one problem.
  all() {
    const byKey = new Map();
    for (const [report, findings] of this.findings) {
      for (const finding of findings) {
        const key = finding.id || `${report} ${finding.message}`;
        if (!byKey.has(key) || (!byKey.get(key).replay && finding.replay)) {
          byKey.set(key, { ...finding, report });
        }
      }
    }
    return [...byKey.values()];
  }

  show() {
    const byFile = new Map();
    for (const finding of this.all()) {
      byFile.set(finding.place.path, [...(byFile.get(finding.place.path) ?? []), diagnosticOf(finding)]);
    }
    this.problems.clear();
    for (const [file, diagnostics] of byFile) {
      this.problems.set(vscode.Uri.file(file), diagnostics);
    }
  }

  byId(id) {
    return this.all().find((each) => each.id === id);
  }
}

// The finding that a command is about: the one whose problem it was started from, or one that the user picks.
async function choose(reports, id, accepts) {
  if (id) {
    return reports.byId(id);
  }
  const items = reports.all().filter(accepts).map((finding) => ({
    label: headline(finding),
    description: `${vscode.workspace.asRelativePath(finding.place.path)}:${finding.place.line + 1}`,
    finding,
  }));
  if (items.length === 0) {
    vscode.window.showInformationMessage('Sooth: there is no such finding.');
    return undefined;
  }
  return (await vscode.window.showQuickPick(items, { placeHolder: 'Which finding?' }))?.finding;
}

// Starts the tool in a terminal of its own, where programs can be talked to.
function start(name, words, folder) {
  const execution = new vscode.ProcessExecution(setting('executable'), words, { cwd: folder });
  const task = new vscode.Task({ type: kSource, words }, vscode.TaskScope.Workspace, name, kSource, execution);
  task.presentationOptions = { focus: true, panel: vscode.TaskPanelKind.Dedicated };
  return vscode.tasks.executeTask(task);
}

async function replay(reports, id, inGdb) {
  if (!vscode.workspace.isTrusted) {
    vscode.window.showErrorMessage('Sooth: programs are run in trusted folders only.');
    return;
  }
  const finding = await choose(reports, id, (each) => replayArguments(each, inGdb) !== null);
  if (!finding) {
    return;
  }
  const words = replayArguments(finding, inGdb);
  if (words === null) {
    vscode.window.showErrorMessage('Sooth: no run has made this finding happen, so there is nothing to replay.');
    return;
  }
  await start(`replay ${finding.id}`, words, path.dirname(finding.report));
}

async function run(memory) {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const line = await vscode.window.showInputBox({
    prompt: 'The program to run, and its arguments. Build it with `sooth c++` or -fsanitize=thread.',
    value: memory.get('program', ''),
    placeHolder: './server --once',
  });
  if (!line || !folder) {
    return;
  }
  await memory.update('program', line);
  // The user's own words, so the shell may read them.
  const execution = new vscode.ShellExecution(`${quoted(setting('executable'))} run -- ${line}`, { cwd: folder });
  const task = new vscode.Task({ type: kSource, line }, vscode.TaskScope.Workspace, 'run', kSource, execution);
  await vscode.tasks.executeTask(task);
}

function quoted(word) {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

async function showPage(reports, id) {
  let report = id ? reports.byId(id)?.report : undefined;
  if (!report) {
    const files = [...reports.findings.keys()];
    report = files.length === 1
      ? files[0]
      : await vscode.window.showQuickPick(files, { placeHolder: files.length ? 'Which report?' : 'There is no report.' });
  }
  if (!report) {
    return;
  }
  try {
    const page = await reportAsPage(setting('executable'), report, path.dirname(report));
    const panel = vscode.window.createWebviewPanel(
      'sooth.page', path.basename(report), vscode.ViewColumn.Beside,
      { enableScripts: true, enableFindWidget: true, retainContextWhenHidden: true, localResourceRoots: [] });
    panel.webview.html = page;
  } catch (error) {
    vscode.window.showErrorMessage(`Sooth: ${error.message}`);
  }
}

// What can be done about the problems under the cursor.
class Actions {
  constructor(reports) {
    this.reports = reports;
  }

  provideCodeActions(_document, _range, context) {
    const actions = [];
    for (const diagnostic of context.diagnostics.filter((each) => each.source === kSource)) {
      const finding = this.reports.byId(diagnostic.code);
      const offered = [
        ...(finding && replayArguments(finding, false) !== null
          ? [['Replay it in gdb', 'sooth.replayInGdb'], ['Replay it', 'sooth.replay']]
          : []),
        ['Show it in the report’s page', 'sooth.showPage'],
      ];
      for (const [title, command] of offered) {
        const action = new vscode.CodeAction(`Sooth: ${title}`, vscode.CodeActionKind.QuickFix);
        action.command = { title, command, arguments: [diagnostic.code] };
        action.diagnostics = [diagnostic];
        actions.push(action);
      }
    }
    return actions;
  }
}

async function activate(context) {
  const reports = new Reports();
  const watch = () => {
    const watcher = vscode.workspace.createFileSystemWatcher(setting('reports'));
    watcher.onDidCreate((uri) => reports.changed(uri));
    watcher.onDidChange((uri) => reports.changed(uri));
    watcher.onDidDelete((uri) => reports.removed(uri));
    return watcher;
  };
  let watcher = watch();
  const id = (argument) => (typeof argument === 'string' ? argument : undefined);  // menus pass other things
  context.subscriptions.push(
    reports,
    { dispose: () => watcher.dispose() },
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('sooth')) {
        watcher.dispose();
        watcher = watch();
        await reports.readAll();
      }
    }),
    vscode.languages.registerCodeActionsProvider({ scheme: 'file' }, new Actions(reports), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
    vscode.commands.registerCommand('sooth.run', () => run(context.workspaceState)),
    vscode.commands.registerCommand('sooth.replay', (argument) => replay(reports, id(argument), false)),
    vscode.commands.registerCommand('sooth.replayInGdb', (argument) => replay(reports, id(argument), true)),
    vscode.commands.registerCommand('sooth.showPage', (argument) => showPage(reports, id(argument))),
    vscode.commands.registerCommand('sooth.reload', () => reports.readAll()),
  );
  await reports.readAll();
  return { reports };  // for tests
}

function deactivate() {}

module.exports = { activate, deactivate };
