// What a report says, as an editor shows it. Nothing here knows VS Code, so it is tested without one.
//
// The tool prints reports as SARIF, with the sentences that its other formats have: they are not made up a second time.
'use strict';

// From the least proven up, as the docs have it.
const kRungs = ['suspected', 'predicted', 'confirmed', 'harmful'];

// Of a path or URI in SARIF, relative to the folder of the report where it is neither.
function pathOf(uri, folder) {
  if (uri.startsWith('file://')) {
    return decodeURIComponent(new URL(uri).pathname);
  }
  const path = decodeURIComponent(uri);
  return path.startsWith('/') ? path : `${folder}/${path}`;
}

// { path, line, column, text } with lines and columns from 0, as editors count; null for what has no source.
function placeOf(location, folder) {
  const physical = location.physicalLocation;
  const uri = physical?.artifactLocation?.uri;
  if (!uri || !physical.region?.startLine) {
    return null;
  }
  return {
    path: pathOf(uri, folder),
    line: physical.region.startLine - 1,
    column: Math.max((physical.region.startColumn ?? 1) - 1, 0),
    text: location.message?.text ?? '',
  };
}

// Every finding of a report in SARIF that is proven at least as well as `least`, and has a place in some source:
// { id, rung, kind, level, message, place, related, replay }. `folder` is the one of the report.
function findingsOf(sarif, folder, least) {
  const findings = [];
  for (const run of sarif.runs ?? []) {
    for (const result of run.results ?? []) {
      const rung = result.properties?.rung ?? 'predicted';
      const known = result.baselineState === 'unchanged' || (result.suppressions ?? []).length > 0;
      const place = (result.locations ?? []).map((each) => placeOf(each, folder)).find((each) => each !== null);
      if (known || !place || kRungs.indexOf(rung) < kRungs.indexOf(least)) {
        continue;
      }
      findings.push({
        id: result.properties?.id ?? '',
        rung,
        kind: result.ruleId ?? 'race',
        level: result.level ?? 'warning',
        message: result.message?.text ?? '',
        place,
        related: (result.relatedLocations ?? []).map((each) => placeOf(each, folder)).filter((each) => each !== null),
        replay: result.properties?.replay ?? '',
      });
    }
  }
  return findings;
}

// The words of a command line that the tool wrote: it quotes with ' and takes a ' out of the quotes as '\''.
function shellWords(line) {
  const words = [];
  let word = null;
  for (let at = 0; at < line.length; ++at) {
    const letter = line[at];
    if (letter === ' ') {
      if (word !== null) {
        words.push(word);
      }
      word = null;
    } else if (letter === "'") {
      const end = line.indexOf("'", at + 1);
      if (end < 0) {
        return null;
      }
      word = (word ?? '') + line.slice(at + 1, end);
      at = end;
    } else if (letter === '\\') {
      word = (word ?? '') + (line[++at] ?? '');
    } else {
      word = (word ?? '') + letter;
    }
  }
  return word === null ? words : [...words, word];
}

// What to start for the replay of a finding: arguments of the tool. null when the report names none, or something else
// than a replay: a report may come from somebody else, and nothing but `sooth replay` is ever started for it.
function replayArguments(finding, inGdb) {
  const words = shellWords(finding.replay);
  if (words === null || words.length < 5 || words[0] !== 'sooth' || words[1] !== 'replay' || words[3] !== '--') {
    return null;
  }
  const schedule = words[2];
  if (schedule.startsWith('-')) {
    return null;
  }
  return ['replay', ...(inGdb ? ['--gdb'] : []), schedule, '--', ...words.slice(4)];
}

// One line for lists of findings.
function headline(finding) {
  const end = finding.message.search(/[:;]/);
  return end > 0 ? finding.message.slice(0, end) : finding.message;
}

module.exports = { findingsOf, headline, kRungs, replayArguments, shellWords };
