// Everything about one finding.
import { followersOf, rowOf } from './data.js';
import { createDiagram } from './diagram.js';
import { badge, copyButton, counted, h, number, placeOf, quoted, s, shortPlace, splitPath, upper } from './dom.js';
import { showMark, snippet } from './source.js';

const section = (title, ...children) => h('section', { class: 'part' }, h('h2', {}, title), children);

function frame(site, index) {
  const [folder, name] = splitPath(placeOf(site));
  const title = [h('span', { class: 'nr', 'aria-hidden': 'true' }, `#${index}`), h('span', { class: 'function' }, site.function || '(no symbol)'),
    h('span', { class: 'at', title: placeOf(site) }, name || folder)];
  if (!site.file) {
    return h('li', {}, h('div', { class: 'frame' }, title));
  }
  const fold = h('details', { class: 'frame' }, h('summary', {}, title));
  fold.addEventListener('toggle', () => {
    if (fold.open && fold.childElementCount === 1) {
      fold.append(snippet(site, { context: 3, label: 'Called here' }));
    }
  });
  return h('li', {}, fold);
}

const OP_WORD = { write: 'W', read: 'R' };

function lockChips(locks) {
  return locks.length === 0 ? h('span', { class: 'lock none' }, 'no lock')
    : locks.map((lock) => h('span', { class: 'lock' }, s('svg', { viewBox: '0 0 10 12', width: 9, height: 11, 'aria-hidden': 'true' },
        s('path', { d: 'M2.5 5V3.6a2.5 2.5 0 0 1 5 0V5', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.4 }), s('rect', { x: 1, y: 5, width: 8, height: 6.4, rx: 1.2, fill: 'currentColor' })), lock));
}

function accessCard(finding, index, colour) {
  const access = finding.accesses[index];
  const text = finding.text.deeds[index];
  const [what, ...rest] = text.deed.split(/ (?=(?:to|from) ')/);
  return h('article', { class: 'access', css: { '--thread': `var(--thread-${colour})` }, 'aria-label': `${text.deed} by ${text.actor}` },
    h('header', {},
      h('span', { class: 'thread' }, h('i', { 'aria-hidden': 'true' }, OP_WORD[access.op] ?? '•'), access.thread || 'a thread'),
      h('h3', {}, quoted(what), rest.length ? h('span', { class: 'quiet' }, ' ', quoted(rest.join(' '))) : null)),
    heldLine(finding, access, text),
    snippet(text.site, { label: text.deed }),
    access.stack.length === 0 ? null : h('details', { class: 'stack' },
      h('summary', {}, `Call stack, ${counted(access.stack.length + 1, 'frame')}`),
      h('ol', {}, [access.site, ...access.stack].map(frame))));
}

// Locks and events are those of a trace; a run that was only watched has none, but may know some locks.
function heldLine(finding, access, text) {
  const known = finding.text.from_trace || access.locks.length > 0;
  const rest = [text.awaited, text.through].filter(Boolean).map((clause) => h('span', { class: 'quiet' }, clause.replace(/^, /, '')));
  const event = finding.text.from_trace && access.executed !== false ? h('span', { class: 'event' }, `event ${number(access.event)}`) : null;
  return known || rest.length || event ? h('p', { class: 'held' }, known ? ['holds ', lockChips(access.locks)] : null, rest, event) : null;
}

const linkTo = (row) => h('a', { href: `#${row.id}` }, quoted(upper(row.headline)));

// What leads to it, or what it leads to.
function causePart(finding) {
  const cause = finding.follows ? rowOf(finding.follows) : undefined;
  const followers = followersOf(finding.id);
  return [
    cause ? h('p', { class: 'cause' }, 'Follows from another finding: ', linkTo(cause), '. Mend that first.') : null,
    followers.length ? section('Leads to', h('ul', { class: 'origins leads' }, followers.map((row) => h('li', {}, badge(row.rung), ' ', linkTo(row),
      h('span', { class: 'at' }, row.places.map((place) => splitPath(place.text)[1]).join(' ⇄ ')))))) : null,
  ];
}

function replayPart(finding) {
  const replay = finding.replay;
  if (!replay) {
    return finding.text.attempts ? section('Controlled runs', h('p', {}, finding.text.attempts)) : null;
  }
  const facts = [];
  if (replay.trials > 0) {
    facts.push(`${number(replay.hits)} of ${counted(replay.trials, 'controlled run')} reached it`);
  }
  if (replay.witness_followed) {
    const runs = replay.witness_repeats ? `${number(replay.witness_repeats + 1)} runs along the witness` : 'the run along the witness';
    facts.push(facts.length ? `so did ${runs}` : `${runs} reached it`);
  }
  if (replay.outcome) {
    facts.push(`how it ended: ${replay.outcome}`);
  }
  if (replay.diverged) {
    facts.push(`the run along the witness went elsewhere: ${replay.diverged}`);
  }
  const line = facts.length ? h('p', { class: 'quiet' }, upper(`${facts.join('; ')}.`)) : null;
  const ways = [...(replay.preemptions ?? []), ...(replay.older_values ?? [])];
  const withoutFolders = (way) => way.replace(/( at )\S*\/(?=[^/\s]+:\d)/g, '$1');
  const how = ways.length ? [h('p', {}, 'What it takes:'), h('ul', { class: 'ways' }, ways.map((way) => h('li', { title: way }, quoted(upper(withoutFolders(way))))))] : null;
  return replay.command
    ? section('Make it happen again', ...(how ?? []), h('div', { class: 'command' }, h('code', { tabindex: '0' }, replay.command), copyButton(replay.command, 'the replay command')), line)
    : section('Controlled runs', line);
}

function originPart(finding) {
  return finding.text.notes.length === 0 ? null : section('Where things come from', h('ul', { class: 'origins' }, finding.text.notes.map((note) => {
    if (!note.site) {
      return h('li', {}, quoted(note.text));
    }
    const fold = h('details', {}, h('summary', {}, quoted(note.text), h('span', { class: 'at', title: placeOf(note.place) }, shortPlace(note.place))));
    fold.addEventListener('toggle', () => {
      if (fold.open && fold.childElementCount === 1) {
        fold.append(snippet(note.place, { context: 3, label: note.text }));
        if (note.stack?.length) {
          fold.append(h('ol', { class: 'calls' }, [note.site, ...note.stack].map(frame)));
        }
      }
    });
    return h('li', {}, fold);
  })));
}

export function createDetail(finding) {
  const order = finding.accesses.map((_, i) => i);
  if (finding.kind === 'race' && finding.text.primary === 1) {
    order.reverse();
  }
  const witness = finding.witness;
  const diagram = witness?.status === 'checked' ? createDiagram(finding) : null;
  const threads = diagram?.threads ?? [...new Set(finding.accesses.map((access) => access.thread))];
  const times = { race: ['unordered pair'], deadlock: ['cycle of locks', 'cycles of locks'], misuse: ['time'], atomicity: ['time'], crash: ['run'], hang: ['run'] }[finding.kind];
  const facts = [
    ['Found by', finding.found_by.join(', ')],
    ['Seen', `${counted(finding.dynamic_pairs, ...times)}${finding.kind === 'race' ? `, at best ${counted(finding.distance, 'event')} apart` : ''}`],
    ['Proof', upper(finding.text.why)],
    finding.exact ? null : ['Trace', 'not exact: the order of events is only one that fits'],
    finding.known ? ['Baseline', 'known from it'] : null,
  ].filter(Boolean);
  const [cause, leads] = causePart(finding);
  const node = h('article', { class: `detail ${finding.rung}` },
    h('a', { class: 'back', href: '#' }, '‹ All findings'),
    h('div', { class: 'head' }, badge(finding.rung), h('code', { class: 'id' }, finding.id), copyButton(finding.id, 'the id')),
    h('h1', {}, quoted(upper(finding.text.headline))),
    h('p', { class: 'lead' }, quoted(finding.text.explanation)),
    cause,
    h('div', { class: order.length > 1 ? 'pair' : 'pair single' }, order.map((i) => accessCard(finding, i, threads.indexOf(finding.accesses[i].thread) % 8))),
    replayPart(finding),
    leads,
    diagram ? section('How the run gets there', diagram.node)
      : witness?.why ? section('No witness', h('p', {}, `${upper(witness.why)}.`)) : null,
    originPart(finding),
    section('Evidence', h('dl', { class: 'facts' }, facts.flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, value)]))));
  node.drawn = () => {
    diagram?.drawn();
    node.querySelectorAll('.access .source').forEach(showMark);
  };
  return node;
}
