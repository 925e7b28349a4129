// Source text with marked lines.
import hljs from 'highlight.js/lib/core';
import cpp from 'highlight.js/lib/languages/cpp';

import { sourceOf } from './data.js';
import { h, placeOf, splitPath } from './dom.js';

// Collects lines of [text, scopes] instead of markup.
class LineEmitter {
  constructor() {
    this.lines = [[]];
    this.scopes = [];
  }
  addText(text) {
    text.split('\n').forEach((part, i) => {
      if (i > 0) {
        this.lines.push([]);
      }
      if (part !== '') {
        this.lines.at(-1).push([part, this.scopes.at(-1) ?? '']);
      }
    });
  }
  openNode(scope) { this.scopes.push(scope); }
  closeNode() { this.scopes.pop(); }
  startScope(scope) { this.openNode(scope); }
  endScope() { this.closeNode(); }
  __addSublanguage(emitter) { emitter.lines.forEach((line) => line.forEach(([text]) => this.addText(text))); }
  finalize() {}
  toHTML() { return ''; }
}

hljs.registerLanguage('cpp', cpp);
hljs.configure({ __emitter: LineEmitter });

// Characters that reorder the text around them could make the source look like something else.
const visible = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069\u200b-\u200f]/g,
  (c) => `<U+${c.codePointAt(0).toString(16).toUpperCase()}>`);

function highlighted(lines) {
  try {
    const { lines: tokens } = hljs.highlight(lines.join('\n'), { language: 'cpp', ignoreIllegals: true })._emitter;
    return tokens.length === lines.length ? tokens : lines.map((line) => [[line, '']]);
  } catch {
    return lines.map((line) => [[line, '']]);
  }
}

// Cuts the tokens so that [from, to) of the line stands alone, and marks it.
function withMark(tokens, from, to) {
  const parts = [];
  let at = 0;
  for (const [text, scope] of tokens) {
    for (const [a, b, inside] of [[0, from - at, false], [from - at, to - at, true], [to - at, text.length, false]]) {
      const part = text.slice(Math.max(0, a), Math.max(0, Math.min(b, text.length)));
      if (part) {
        parts.push([part, scope, inside]);
      }
    }
    at += text.length;
  }
  return parts;
}

function lineNode(tokens, lineNumber, marks) {
  const text = tokens.map(([part]) => part).join('');
  const mark = marks.find((each) => each.line === lineNumber);
  let parts = tokens;
  if (mark?.column && mark.column <= text.length) {
    const word = /^\w+|^./.exec(text.slice(mark.column - 1));
    parts = withMark(tokens, mark.column - 1, mark.column - 1 + (word ? word[0].length : 1));
  }
  return h('span', { class: mark ? 'line marked' : 'line', 'data-line': lineNumber },
    mark ? h('span', { class: 'offscreen' }, `${mark.label}, line ${lineNumber}: `) : null,
    parts.map(([part, scope, inside]) => h('span', { class: `${scope ? `t-${scope.split('.')[0]}` : ''}${inside ? ' here' : ''}` || null }, visible(part))),
    '\n');
}

const STATE = {
  changed: 'This file has changed since the report was made: the lines may not be those that ran.',
  unknown: 'The report does not say what this file was like when it was made.',
};

export function sourceLine(site) {
  const source = site.file ? sourceOf(site.file) : undefined;
  const excerpt = source?.excerpts.find((each) => site.line >= each.first && site.line < each.first + each.lines.length);
  return excerpt ? excerpt.lines[site.line - excerpt.first] : undefined;
}

// Scrolls a long line to where it is marked.
export function showMark(figure) {
  const pre = figure.querySelector('pre');
  const here = figure.querySelector('.here');
  if (pre && here) {
    const right = here.getBoundingClientRect().right - pre.getBoundingClientRect().left + pre.scrollLeft;
    pre.scrollLeft = Math.max(0, right - pre.clientWidth * 0.8);
  }
}

// The lines around `site` as a figure; says why when they cannot be shown. `context` lines above and below.
export function snippet(site, { context = 5, label = 'Marked', caption = true } = {}) {
  const [folder, name] = splitPath(placeOf(site));
  const parent = splitPath(folder.slice(0, -1))[1];
  const head = caption ? h('figcaption', { title: placeOf(site) }, parent ? `${parent}/` : '', h('span', { class: 'name' }, name),
    site.function ? h('span', { class: 'function' }, ` in ${site.function}`) : null) : null;
  const source = site.file && site.line ? sourceOf(site.file) : undefined;
  const excerpt = source?.excerpts.find((each) => site.line >= each.first && site.line < each.first + each.lines.length);
  if (!excerpt) {
    const why = !site.file ? 'The trace does not name a source file here.'
      : !site.line ? 'The line is not known.'
      : source?.state === 'changed' ? `The file has changed and has no line ${site.line} any more.`
      : `The source could not be shown when this page was made${source?.why ? `: ${source.why}` : ''}.`;
    return h('figure', { class: 'source none' }, head, h('p', { class: 'absent' }, why));
  }
  const from = Math.max(excerpt.first, site.line - context);
  const to = Math.min(excerpt.first + excerpt.lines.length - 1, site.line + context);
  const lines = excerpt.lines.slice(from - excerpt.first, to - excerpt.first + 1);
  const code = h('code', {}, highlighted(lines).map((tokens, i) => lineNode(tokens, from + i, [{ line: site.line, column: site.column, label }])));
  return h('figure', { class: 'source' }, head,
    STATE[source.state] ? h('p', { class: `state ${source.state}` }, STATE[source.state]) : null,
    h('pre', { tabindex: '0', 'aria-label': `Source of ${name}` }, code));
}
