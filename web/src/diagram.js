// A witness as a space-time diagram: threads are columns, time runs down, critical sections are bars, what is next stands at the bottom.
//
// A report names some events of a witness; of the others it has stretches ("runs"), of which there may be 100,000. Only rows in sight are in the
// document, all of the same height.
import { add, counted, h, number, placeOf, quoted, replace, s, shortPlace } from './dom.js';
import { snippet } from './source.js';

const ZOOM = [{ row: 12, column: 76 }, { row: 22, column: 112 }, { row: 28, column: 184 }, { row: 36, column: 260 }];
const GUTTER = innerWidth < 700 ? 44 : 62;  // for the positions at the left
const NEXT = 58;     // height of the last row
const BAR = 9;       // width of a bar
const MAX_DEPTH = 4;
const MAX_OTHERS = 3;  // columns of threads that only take part; more of them share one

const VERB = {
  acquire: 'lock', release: 'unlock', fork: 'start', join: 'join', 'atomic load': 'load', 'atomic store': 'store', 'atomic rmw': 'update',
  'semaphore post': 'post', 'semaphore wait': 'take', 'happens before': 'signal', 'happens after': 'see', 'barrier arrive': 'arrive at', 'barrier leave': 'leave',
};

// Which run an event is in: those of a thread are ascending and apart.
function runFinder(runs) {
  const byThread = new Map();
  runs.forEach(([thread], index) => byThread.get(thread)?.push(index) ?? byThread.set(thread, [index]));
  return (thread, event) => {
    const own = byThread.get(thread) ?? [];
    let low = 0, high = own.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      runs[own[middle]][2] < event ? low = middle + 1 : high = middle;
    }
    return own.length > 0 && runs[own[low]][1] <= event ? own[low] : -1;  // the page may hold the last runs only
  };
}

// Columns, and rows as { kind: 'event' | 'gap' | 'next', ... }.
function model(finding) {
  const { witness, accesses } = finding;
  const runs = witness.order_runs ?? [];
  const drawing = witness.drawing;
  const idOf = new Map();
  const threads = [];
  if (drawing) {
    drawing.threads.forEach(({ id, name }, column) => { idOf.set(id, column); threads.push(name); });
  } else {
    for (const id of [...new Set(runs.map(([thread]) => thread))].sort((a, b) => a - b)) {
      idOf.set(id, threads.length);
      threads.push(`thread ${id}`);
    }
    accesses.forEach(({ thread }) => threads.includes(thread) || threads.push(thread));
  }
  // Those who meet in the end come first: with many threads the others would push them out of sight.
  const racers = [...new Set(accesses.map(({ thread }) => Math.max(0, threads.indexOf(thread))))].sort((a, b) => a - b);
  const order = [...racers, ...threads.keys()].filter((column, i, all) => all.indexOf(column) === i);
  const columnOf = [];
  order.forEach((old, column) => { columnOf[old] = column; });
  idOf.forEach((old, id) => idOf.set(id, columnOf[old]));
  threads.splice(0, threads.length, ...order.map((old) => threads[old]));
  const runOf = runFinder(runs);
  const leftOut = witness.runs_left_out ?? 0;
  const swapped = new Set((witness.swaps ?? []).flatMap((swap) => [swap.now_first.acquire, swap.now_second.acquire]));
  const rows = [];
  let before = { position: -1, run: -1 };
  const gap = (position, run) => {
    const count = position - before.position - 1;
    if (count > 0) {
      const inside = run - 1 < before.run + 1;  // no whole stretch between the two
      rows.push({ kind: 'gap', count, first: before.run + 1, last: run - 1, inside, cut: before.run < 0 && leftOut > 0, nameless: !drawing });
    }
  };
  for (const [position, event, thread, deed, object, site] of drawing?.rows ?? []) {
    const { op, shared } = drawing.deeds[deed];
    const run = runOf(drawing.threads[thread].id, event);
    gap(position, run);
    rows.push({ kind: 'event', position, event, thread: columnOf[thread], op, shared, object: drawing.objects[object], site: drawing.sites[site], swapped: swapped.has(event) });
    before = { position, run };
  }
  const length = drawing?.length ?? runs.length;
  gap(length, runs.length);
  rows.push({ kind: 'next' });
  const next = accesses.map((access) => ({ access, thread: Math.max(0, threads.indexOf(access.thread)) }));
  return { threads, racers: racers.length, rows, runs, column: (id) => idOf.get(id) ?? 0, next, length, named: Boolean(drawing) };
}

// Critical sections over the rows: { thread, lock, depth, from, to, swapped }; `from` is -1 when it began before what is shown.
function sections(rows) {
  const open = new Map();
  const bars = [];
  const depth = (thread) => {
    const used = new Set([...open.values()].filter((bar) => bar.thread === thread).map((bar) => bar.depth));
    let free = 0;
    while (used.has(free)) {
      ++free;
    }
    return free;
  };
  rows.forEach((row, index) => {
    if (row.kind !== 'event' || (row.op !== 'acquire' && row.op !== 'release')) {
      return;
    }
    const key = `${row.thread} ${row.object}`;
    const bar = open.get(key);
    if (row.op === 'acquire') {
      bar ? ++bar.count : open.set(key, { thread: row.thread, lock: row.object, shared: row.shared, depth: depth(row.thread), from: index, swapped: row.swapped, count: 1 });
    } else if (!bar) {
      bars.push({ thread: row.thread, lock: row.object, shared: row.shared, depth: depth(row.thread), from: -1, to: index });
    } else if (--bar.count === 0) {
      bars.push({ ...bar, to: index });
      open.delete(key);
    }
  });
  return [...bars, ...[...open.values()].map((bar) => ({ ...bar, to: rows.length - 1, held: true }))];
}

const PLAIN = new Set(['read', 'write', 'alloc', 'free', 'begin', 'end', 'enter', 'exit']);
const offscreen = (text) => h('span', { class: 'offscreen' }, text);
const eventText = (row) => `${VERB[row.op] ?? row.op}${row.object ? ` ${row.object}` : ''}${row.shared ? ' (shared)' : ''}`;

export function createDiagram(finding) {
  const m = model(finding);
  const racing = new Set(m.next.map((each) => each.thread));
  let rows = m.rows;
  let zoom = innerWidth < 700 ? 1 : 2;
  let active = rows.length - 1;
  const bars = h('div', { class: 'bars', 'aria-hidden': 'true' });
  const list = h('div', { class: 'events', role: 'listbox', tabindex: '0', 'aria-label': 'Events in the order of the witness' });
  const canvas = h('div', { class: 'canvas' }, bars, list);
  const names = h('div', { class: 'threads', 'aria-hidden': 'true' });
  const scroller = h('div', { class: 'scroller' }, names, canvas);
  const about = h('div', { class: 'about', 'aria-live': 'off' });
  const summary = h('p', { class: 'quiet summary' });

  const top = (index) => index * ZOOM[zoom].row;
  // Wide enough for the labels, and as wide as there is room; those who meet in the end need most.
  const others = m.threads.length - m.racers;
  let folded = others > MAX_OTHERS;
  const isFolded = (column) => folded && column >= m.racers;
  const weight = (column) => racing.has(column) ? 1 : 0.6;
  let starts = [];
  function placeColumns() {
    starts = [0];
    m.threads.forEach((_, i) => starts.push(starts[i] + (isFolded(i) ? 0 : weight(i))));
    if (folded) {
      starts[m.threads.length] += weight(m.racers);  // all of them in one
    }
  }
  placeColumns();
  const whole = () => starts[m.threads.length];
  const unit = () => Math.max(ZOOM[zoom].column, Math.min(320, (scroller.clientWidth - GUTTER - 12) / whole()));
  const width = (column) => weight(column) * unit();
  const left = (column) => GUTTER + starts[column] * unit();
  const colour = (column) => ({ '--thread': `var(--thread-${column % 8})` });

  function explain(index) {
    const row = rows[index];
    if (row.kind === 'event') {
      replace(about, h('h3', { css: colour(row.thread) }, h('span', { class: 'thread' }, m.threads[row.thread]), ' ', eventText(row)),
        h('p', { class: 'quiet' }, `Step ${number(row.position + 1)} of ${number(m.length)}, event ${number(row.event)} of the recorded run`,
          row.swapped ? '. This critical section comes in the other order here than in the recorded run.' : ''),
        snippet(row.site, { context: 2, label: eventText(row) }));
    } else if (row.kind === 'run') {
      const [thread, first, last] = m.runs[row.run];
      replace(about, h('h3', { css: colour(m.column(thread)) }, h('span', { class: 'thread' }, m.threads[m.column(thread)]), ' runs'),
        h('p', { class: 'quiet' }, first === last ? `Event ${number(first)}.` : `Its events from ${number(first)} to ${number(last)}, in one go. The report does not name them one by one.`));
    } else if (row.kind === 'gap') {
      replace(about, h('h3', {}, row.nameless ? 'Stretches of threads' : `${counted(row.count, 'event')} left out`), h('p', { class: 'quiet' }, row.inside
        ? (row.cut ? 'There are so many that this page does not hold them: the JSON report does.' : 'Of one thread, without synchronisation.') : `In ${counted(row.last - row.first + 1, 'stretch', 'stretches')}${row.cut ? ' and more that this page does not hold' : ''}. Press Enter or click to ${row.open ? 'hide' : 'show'} them.`));
    } else {
      replace(about, h('h3', {}, finding.kind === 'deadlock' ? 'Nobody can go on' : 'Both are next'),
        m.next.map(({ access }, i) => [h('p', { css: colour(m.next[i].thread) }, h('span', { class: 'thread' }, access.thread), ' ', quoted(finding.text.deeds[i].deed)),
          snippet(finding.text.deeds[i].site, { context: m.next.length > 2 ? 0 : 1, label: finding.text.deeds[i].deed })]));
    }
  }

  function cell(column, ...children) {
    return h('span', { class: 'cell', css: { left: `${left(column)}px`, width: `${width(column)}px`, ...colour(column) } }, children);
  }

  function rowNode(row, index) {
    const node = h('div', { role: 'option', id: `event-${index}`, class: `step ${row.kind}`, 'data-index': index, 'aria-selected': String(index === active),
      'aria-posinset': index + 1, 'aria-setsize': rows.length,
      css: { top: `${top(index)}px`, height: `${row.kind === 'next' ? NEXT : ZOOM[zoom].row}px` } });
    if (row.kind === 'event') {
      const indent = 24 + Math.min(MAX_DEPTH, depthAt(row.thread, index)) * (BAR + 3);
      const sync = row.op === 'acquire' || row.op === 'release';
      add(node, [h('span', { class: 'position' }, number(row.position + 1)), offscreen(` ${m.threads[row.thread]}: `),
        cell(row.thread, h('i', { class: `dot ${sync ? 'sync' : ''}` }),
          h('span', { class: `what ${PLAIN.has(row.op) ? '' : 'sync'}`, css: { 'padding-left': `${indent}px` } }, isFolded(row.thread) ? `${m.threads[row.thread]} ` : null, h('b', {}, VERB[row.op] ?? row.op), ' ', row.object,
            row.swapped ? h('span', { class: 'flip', title: 'The other way round than in the recorded run' }, '⇅', offscreen(' reversed')) : null)), offscreen(`, ${shortPlace(row.site)}`)]);
    } else if (row.kind === 'run') {
      const [thread, first, last] = m.runs[row.run];
      const column = m.column(thread);
      add(node, [offscreen(`${m.threads[column]} runs, event `), cell(column, h('i', { class: 'stretch' }), h('span', { class: 'what' }, isFolded(column) ? `${m.threads[column]} ` : '', first === last ? number(first) : `${number(first)} – ${number(last)}`))]);
    } else if (row.kind === 'gap') {
      const stretches = counted(row.last - row.first + 1, 'stretch', 'stretches');
      const text = row.nameless ? stretches : `${counted(row.count, 'event')}${row.inside ? '' : ` in ${stretches}`}`;
      add(node, [h('span', { class: 'gaptext' }, h('span', { 'aria-hidden': 'true' }, row.inside ? '⋯\u00a0' : row.open ? '▾\u00a0' : '▸\u00a0'), text),
        offscreen(` left out${row.inside ? '' : row.open ? ', shown below' : ', press Enter to show'}`)]);
    } else {
      const columns = m.next.map((each) => each.thread);
      const [from, to] = [Math.min(...columns), Math.max(...columns)];
      add(node, [offscreen('Next: '), h('span', { class: 'clash', css: { left: `${left(from) + 12}px`, width: `${Math.max(0, left(to) - left(from))}px` } }),
        m.next.map(({ access, thread }, i) => cell(thread, h('span', { class: 'target' }, offscreen(`${access.thread}: `), h('b', {}, access.op === 'acquire' ? 'waits for' : access.op), ' ', access.variable || access.address,
          h('span', { class: 'where' }, h('bdi', {}, shortPlace(finding.text.deeds[i].site))))))]);
    }
    return node;
  }

  let spans = sections(rows);
  const depthAt = (thread, index) => spans.filter((bar) => bar.thread === thread && bar.from <= index && bar.to >= index).length;

  // Bars, life lines and arrows: as many as there are named events, so they are drawn at once.
  function drawBars() {
    const { row } = ZOOM[zoom];
    const height = top(rows.length - 1) + NEXT;
    canvas.style.setProperty('height', `${height}px`);
    canvas.style.setProperty('width', `${left(m.threads.length) + 8}px`);
    const nodes = [];
    m.threads.forEach((_, i) => {
      if (isFolded(i) && i > m.racers) {
        return;
      }
      const first = rows.findIndex((each) => (each.kind === 'event' && each.thread === i) || (each.kind === 'next' && racing.has(i)) || (each.kind === 'gap' && !each.inside));
      nodes.push(h('i', { class: 'life', css: { left: `${left(i) + 12}px`, top: `${top(Math.max(0, first)) + row / 2}px`, height: `${height - top(Math.max(0, first)) - row / 2}px`, ...colour(i) } }));
    });
    for (const bar of spans) {
      const from = bar.from < 0 ? 0 : top(bar.from) + row / 2;
      const to = bar.held ? height : top(bar.to) + row / 2;
      nodes.push(h('i', { class: `bar${bar.swapped ? ' swapped' : ''}${bar.shared ? ' shared' : ''}${bar.held ? ' open' : ''}`, title: bar.lock,
        css: { left: `${left(bar.thread) + 12 - BAR / 2 + Math.min(MAX_DEPTH, bar.depth) * (BAR + 3)}px`, width: `${BAR}px`, top: `${from}px`, height: `${Math.max(6, to - from)}px`, ...colour(bar.thread) } }));
    }
    rows.forEach((each, index) => {
      if (each.kind !== 'event' || each.op !== 'fork') {
        return;
      }
      const child = m.threads.indexOf(each.object);
      // Where the child is seen for the first time, or the stretch in which it begins.
      const begin = rows.findIndex((other, i) => i > index && ((other.kind === 'event' && other.thread === child) || (other.kind === 'gap' && !other.inside) ||
        (other.kind === 'run' && m.column(m.runs[other.run][0]) === child) || (other.kind === 'next' && racing.has(child))));
      if (child >= 0 && begin > index && top(begin) - top(index) < 3000) {
        nodes.push(arrow(each.thread, index, child, begin));
      }
    });
    bars.replaceChildren(...nodes);
    names.style.setProperty('width', `${left(m.threads.length) + 8}px`);
    replace(names, m.threads.map((name, i) => h('span', { class: racing.has(i) ? 'racing' : null, title: name, css: { left: `${left(i)}px`, width: `${width(i) - 6}px`, ...colour(i) } }, name)).filter((_, i) => !isFolded(i)));
    if (others > MAX_OTHERS) {
      const column = m.racers;
      const text = folded ? `${others} more ▸` : '◂ fold';
      names.append(h('button', { type: 'button', class: 'fold', tabindex: '-1', title: folded ? 'Show each in a column of its own' : 'Show them in one column',
        css: { left: `${folded ? left(column) : left(m.threads.length) - 70}px` }, onclick: toggleFold }, text));
    }
    scroller.dataset.zoom = zoom;
    scroller.style.setProperty('--gutter', `${GUTTER}px`);
  }

  function arrow(fromColumn, fromRow, toColumn, toRow) {
    const { row } = ZOOM[zoom];
    const x1 = left(fromColumn) + 12, x2 = left(toColumn) + 12, y1 = top(fromRow) + row - 3, y2 = top(toRow) + row / 2 - 4;  // below the label
    const x = Math.min(x1, x2) - 6, w = Math.abs(x1 - x2) + 12, ht = Math.max(8, y2 - y1) + 8;
    const a = x1 - x, b = x2 - x;
    return s('svg', { class: 'arrow', width: w, height: ht, css: { left: `${x}px`, top: `${y1 - 4}px` } },
      s('path', { d: `M${a} 0 V4 H${b > a ? b - 8 : b + 8} Q${b} 4 ${b} 12 V${Math.max(12, ht - 6)}` }), s('path', { class: 'tip', d: `M${b - 4} ${ht - 11} L${b} ${ht - 4} L${b + 4} ${ht - 11}` }));
  }

  // Rows in sight.
  function drawRows() {
    const { row } = ZOOM[zoom];
    const from = Math.max(0, Math.floor((scroller.scrollTop - 200) / row));
    const to = Math.min(rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight + 200) / row));
    const nodes = [];
    for (let i = from; i < to; ++i) {
      nodes.push(rowNode(rows[i], i));
    }
    if (active < from || active >= to) {
      nodes.push(rowNode(rows[active], active));  // a screen reader looks for it
    }
    list.replaceChildren(...nodes);
    list.setAttribute('aria-activedescendant', `event-${active}`);
  }

  function choose(index, scroll) {
    active = Math.max(0, Math.min(rows.length - 1, index));
    if (scroll) {
      const y = top(active), head = names.offsetHeight;
      if (y < scroller.scrollTop) {
        scroller.scrollTop = y;
      } else if (y + NEXT + head > scroller.scrollTop + scroller.clientHeight) {
        scroller.scrollTop = y + NEXT + head - scroller.clientHeight;
      }
    }
    drawRows();
    explain(active);
  }

  function toggle(index) {
    const row = rows[index];
    if (row.kind !== 'gap' || row.inside) {
      return;
    }
    row.open = !row.open;
    rows = m.rows.flatMap((each) => each.kind === 'gap' && each.open
      ? [each, ...Array.from({ length: each.last - each.first + 1 }, (_, i) => ({ kind: 'run', run: each.first + i }))] : [each]);
    spans = sections(rows);
    drawBars();
    choose(rows.indexOf(row), true);
  }

  function toggleFold() {
    folded = !folded;
    placeColumns();
    drawBars();
    drawRows();
    foldButton.textContent = folded ? 'Show all threads' : 'Fold threads';
  }

  function setZoom(next) {
    const middle = (scroller.scrollTop + scroller.clientHeight / 2) / ZOOM[zoom].row;
    zoom = Math.max(0, Math.min(ZOOM.length - 1, next));
    drawBars();
    scroller.scrollTop = middle * ZOOM[zoom].row - scroller.clientHeight / 2;
    drawRows();
    zoomOut.disabled = zoom === 0;
    zoomIn.disabled = zoom === ZOOM.length - 1;
  }

  list.addEventListener('keydown', (event) => {
    const page = Math.max(1, Math.floor(scroller.clientHeight / ZOOM[zoom].row) - 2);
    const target = { ArrowDown: active + 1, ArrowUp: active - 1, Home: 0, End: rows.length - 1, PageDown: active + page, PageUp: active - page }[event.key];
    if (target !== undefined) {
      choose(target, true);
    } else if (event.key === 'Enter' || event.key === ' ') {
      toggle(active);
    } else if (event.key === '+' || event.key === '=') {
      setZoom(zoom + 1);
    } else if (event.key === '-') {
      setZoom(zoom - 1);
    } else {
      return;
    }
    event.preventDefault();
  });
  list.addEventListener('click', (event) => {
    const row = event.target.closest('[data-index]');
    if (row) {
      const index = Number(row.dataset.index);
      choose(index, false);
      toggle(index);
    }
  });
  // Browsers also send one when rows move under a pointer that rests.
  let pointer = '';
  let hovered = -1;
  list.addEventListener('mousemove', (event) => {
    const row = event.target.closest('[data-index]');
    const moved = pointer !== (pointer = `${event.clientX} ${event.clientY}`);
    if (row && moved && Number(row.dataset.index) !== hovered) {
      explain(hovered = Number(row.dataset.index));
    }
  });
  list.addEventListener('mouseleave', () => { hovered = -1; explain(active); });
  let pending = false;
  scroller.addEventListener('scroll', () => {
    if (!pending) {
      pending = true;
      requestAnimationFrame(() => { pending = false; drawRows(); });
    }
  });

  const zoomOut = h('button', { type: 'button', 'aria-label': 'Zoom out', title: 'Zoom out (-)', onclick: () => setZoom(zoom - 1) }, '−');
  const zoomIn = h('button', { type: 'button', 'aria-label': 'Zoom in', title: 'Zoom in (+)', onclick: () => setZoom(zoom + 1) }, '+');
  const toEnd = h('button', { type: 'button', onclick: () => { choose(rows.length - 1, true); list.focus(); } }, finding.kind === 'deadlock' ? 'To the deadlock' : 'To the race');
  const foldButton = others > MAX_OTHERS ? h('button', { type: 'button', class: 'unfold', onclick: toggleFold }, 'Show all threads') : null;
  const swaps = finding.witness.swaps ?? [];
  summary.textContent = summaryOf(m, swaps);
  const legend = h('ul', { class: 'legend' },
    h('li', {}, h('i', { class: 'bar' }), 'critical section'),
    swaps.length ? h('li', {}, h('i', { class: 'bar swapped' }), 'order reversed') : null,
    h('li', {}, h('i', { class: 'hit' }), finding.kind === 'deadlock' ? 'waits for ever' : 'the race'));

  return {
    node: h('div', { class: 'witness' }, summary,
      swaps.length ? h('ul', { class: 'swaps' }, withTimes(swaps).map(([swap, times]) => h('li', {}, h('code', {}, swap.lock), ': ', h('b', {}, swap.now_first.thread), ` takes it at ${shortPlace(swap.now_first.site)} before `,
        h('b', {}, swap.now_second.thread), ` does at ${shortPlace(swap.now_second.site)}; in the recorded run it was the other way round${times > 1 ? ` (${times} times)` : ''}`))) : null,
      h('div', { class: 'tools' }, legend, h('span', { class: 'buttons', role: 'group', 'aria-label': 'Diagram' }, foldButton, toEnd, zoomOut, zoomIn)),
      h('div', { class: 'stage' }, scroller, about)),
    threads: m.threads,
    // Once it is in the document, and so has a size.
    drawn() {
      drawBars();
      scroller.scrollTop = scroller.scrollHeight;
      drawRows();
      explain(active);
      setZoom(zoom);
      scroller.scrollTop = scroller.scrollHeight;
    },
  };
}

// Swaps that read alike, as those of a loop do, once and with how many there are.
function withTimes(swaps) {
  const same = new Map();
  for (const swap of swaps) {
    const { lock, now_first: first, now_second: second } = swap;
    const key = JSON.stringify([lock, first.thread, shortPlace(first.site), second.thread, shortPlace(second.site)]);
    same.set(key, [swap, (same.get(key)?.[1] ?? 0) + 1]);
  }
  return [...same.values()];
}

function summaryOf(m, swaps) {
  const threads = counted(new Set(m.runs.map(([thread]) => thread)).size, 'thread');
  return m.length === 0 ? 'Nothing has to run first: both can happen at once, right away.'
    : `A reordering of ${m.named ? counted(m.length, 'event') : counted(m.length, 'stretch', 'stretches')} of ${threads} that an independent checker accepted. Time runs down.` +
      (swaps.length ? '' : ' All critical sections keep their order.');
}
