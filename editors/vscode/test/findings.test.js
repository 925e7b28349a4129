'use strict';

const assert = require('node:assert/strict');
const { test } = require('node:test');

const { findingsOf, headline, replayArguments, shellWords } = require('../src/findings.js');

const at = (uri, startLine, startColumn, text) => ({
  physicalLocation: { artifactLocation: { uri }, region: { startLine, startColumn } },
  message: { text },
});

const result = (changes = {}) => ({
  ruleId: 'race',
  level: 'error',
  message: { text: "Confirmed data race on 'x': read of 4 bytes; with write" },
  locations: [at('file:///p/a%20b.cc', 21, 14, 'read')],
  relatedLocations: [at('src/c.cc', 13, 1, 'write'), { message: { text: 'no place' } }],
  properties: { id: '0123456789abcdef', rung: 'confirmed', replay: 'sooth replay /p/r.json#01 -- ./a 1' },
  ...changes,
});

const report = (...results) => ({ runs: [{ results }] });

test('a finding has both places, from zero, with paths that editors open', () => {
  const [finding] = findingsOf(report(result()), '/p', 'predicted');
  assert.deepEqual(finding.place, { path: '/p/a b.cc', line: 20, column: 13, text: 'read' });
  assert.deepEqual(finding.related, [{ path: '/p/src/c.cc', line: 12, column: 0, text: 'write' }]);
  assert.equal(headline(finding), "Confirmed data race on 'x'");
});

test('what is less proven than asked for, known or without a source is left out', () => {
  const suspected = result({ properties: { id: '1', rung: 'suspected' } });
  assert.equal(findingsOf(report(suspected), '/p', 'predicted').length, 0);
  assert.equal(findingsOf(report(suspected), '/p', 'suspected').length, 1);
  assert.equal(findingsOf(report(result()), '/p', 'harmful').length, 0);
  assert.equal(findingsOf(report(result({ baselineState: 'unchanged' })), '/p', 'predicted').length, 0);
  assert.equal(findingsOf(report(result({ suppressions: [{ kind: 'external' }] })), '/p', 'predicted').length, 0);
  assert.equal(findingsOf(report(result({ locations: [{ message: { text: 'nowhere' } }] })), '/p', 'predicted').length, 0);
  assert.deepEqual(findingsOf({}, '/p', 'predicted'), []);
});

test('words of a shell', () => {
  assert.deepEqual(shellWords("a 'b c' 'd'\\''e' ''"), ['a', 'b c', "d'e", '']);
  assert.equal(shellWords("a 'b"), null);
});

test('nothing but a replay is started for a report', () => {
  const words = (replay, inGdb = false) => replayArguments({ replay }, inGdb);
  assert.deepEqual(words('sooth replay r.json#1 -- ./a -x'), ['replay', 'r.json#1', '--', './a', '-x']);
  assert.deepEqual(words('sooth replay r.json#1 -- ./a', true), ['replay', '--gdb', 'r.json#1', '--', './a']);
  for (const other of ['', 'rm -rf / -- x', 'sooth run x -- ./a', 'sooth replay --config -- ./a', 'sooth replay x; -- ',
    'sooth replay r.json#1', 'sooth replay -o r -- ./a']) {
    assert.equal(words(other), null, other);
  }
  // Letters that mean something to a shell are letters of a word: no shell reads them.
  assert.deepEqual(words('sooth replay r.json#1 -- $(reboot) ;x'), ['replay', 'r.json#1', '--', '$(reboot)', ';x']);
});
