// The run that the report is about, as far as the report knows it.
import { report } from './data.js';
import { counted, h, number, splitPath } from './dom.js';

const card = (title, ...children) => h('section', { class: 'card' }, h('h2', {}, title), children);
const share = (part, whole) => whole > 0 ? `${(100 * part / whole).toFixed(part / whole < 0.1 ? 1 : 0)} %` : '0 %';
const short = (n) => n >= 1e9 ? `${(n / 1e9).toFixed(1)} G` : n >= 1e6 ? `${(n / 1e6).toFixed(1)} M` : n >= 1e4 ? `${(n / 1e3).toFixed(0)} k` : number(n);

function figures() {
  const stats = report.stats;
  const list = [['events', stats.events], ['threads', stats.threads], ['locks', stats.locks || (report.overview ? report.overview.locks.length + report.overview.more_locks : undefined)], ['variables', stats.variables || undefined], ['sites', stats.sites || undefined],
    ['seconds', !stats.seconds ? undefined : stats.seconds.toFixed(stats.seconds < 10 ? 2 : 0)]];
  return h('dl', { class: 'figures' }, list.filter(([, value]) => value !== undefined).map(([name, value]) =>
    h('div', {}, h('dt', {}, name), h('dd', { title: typeof value === 'number' ? number(value) : value }, typeof value === 'number' ? short(value) : value))));
}

function threadCard({ threads, slice, more_threads: more }) {
  if (threads.length === 0) {
    return null;
  }
  const top = Math.max(1, ...threads.flatMap((thread) => thread.activity));
  const rows = threads.map((thread, i) => {
    const canvas = h('canvas', { class: 'strip', role: 'img', 'aria-label': `Activity of ${thread.thread} over the run: from event ${number(thread.first)} to ${number(thread.last)}` });
    canvas.paint = () => {
      const { width, height } = canvas.getBoundingClientRect();
      const ratio = devicePixelRatio || 1;
      canvas.width = Math.max(1, width * ratio);
      canvas.height = Math.max(1, height * ratio);
      const context = canvas.getContext('2d');
      const style = getComputedStyle(canvas);
      context.fillStyle = style.color;
      const step = canvas.width / thread.activity.length;
      thread.activity.forEach((count, at) => {
        if (count > 0) {
          const tall = Math.max(0.16, Math.sqrt(count / top)) * canvas.height;
          context.fillRect(at * step, canvas.height - tall, Math.max(1, step - (step > 4 ? 1 : 0)), tall);
        }
      });
    };
    return h('tr', { css: { '--thread': `var(--thread-${i % 8})` } }, h('th', { scope: 'row', title: thread.thread }, thread.thread), h('td', { class: 'wide' }, canvas),
      h('td', { class: 'n', title: `events ${number(thread.first)} to ${number(thread.last)}` }, short(thread.events)));
  });
  return card('Threads over time',
    h('table', { class: 'lanes' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Thread'), h('th', { scope: 'col' }, `Activity, ${counted(slice, 'event')} a column`), h('th', { scope: 'col', class: 'n' }, 'Events'))),
      h('tbody', {}, rows)),
    more > 0 ? h('p', { class: 'quiet' }, `and ${counted(more, 'quieter thread')}`) : null);
}

function bars(rows, total, label) {
  const top = Math.max(1, ...rows.map(([, value]) => value));
  return h('table', { class: 'chart' }, h('caption', { class: 'offscreen' }, label), h('tbody', {}, rows.map(([name, value, extra]) => h('tr', {},
    h('th', { scope: 'row', title: name }, name),
    h('td', { class: 'wide' }, h('i', { class: 'level', css: { width: `${Math.max(0.5, 100 * value / top)}%` } })),
    h('td', { class: 'n' }, short(value)), h('td', { class: 'n quiet' }, extra ?? share(value, total))))));
}

function lockCard({ locks, more_locks: more }) {
  if (locks.length === 0) {
    return null;
  }
  const top = Math.max(1, ...locks.map((lock) => lock.acquires));
  return card('Locks and contention',
    h('table', { class: 'chart locks' },
      h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Lock'), h('th', { scope: 'col' }, h('span', { class: 'offscreen' }, 'Share')), h('th', { scope: 'col', class: 'n' }, 'Acquired'), h('th', { scope: 'col', class: 'n' }, 'Passed on'))),
      h('tbody', {}, locks.map((lock) => h('tr', {}, h('th', { scope: 'row', title: lock.lock }, lock.lock),
        h('td', { class: 'wide' }, h('span', { class: 'split', css: { width: `${Math.max(1, 100 * lock.acquires / top)}%` } },
          h('i', { class: 'hot', css: { width: `${100 * lock.handovers / Math.max(1, lock.acquires)}%` } }))),
        h('td', { class: 'n' }, short(lock.acquires)), h('td', { class: 'n' }, short(lock.handovers)))))),
    h('p', { class: 'quiet' }, 'Passed on: acquired by another thread than the one before. That is what contention leaves in a trace.', more > 0 ? ` ${counted(more, 'lock')} more ${more === 1 ? 'was' : 'were'} used less.` : ''));
}

function filterCard(filter) {
  if (!filter) {
    return null;
  }
  const hidden = filter.hidden_intra + filter.hidden_inter;
  return card('Filter',
    h('p', { class: 'big' }, filter.accesses > 0 ? share(hidden, filter.accesses) : short(hidden), h('span', { class: 'quiet' }, ` of the accesses hidden by ${filter.name}`)),
    filter.accesses > 0 ? h('div', { class: 'meter', role: 'img', 'aria-label': `${share(hidden, filter.accesses)} hidden` },
      h('i', { class: 'one', css: { width: `${100 * filter.hidden_intra / filter.accesses}%` } }), h('i', { class: 'two', css: { width: `${100 * filter.hidden_inter / filter.accesses}%` } })) : null,
    h('p', { class: 'quiet' }, `${number(filter.hidden_intra)} because of the same thread, ${number(filter.hidden_inter)} because of two others; ${number(filter.locations)} locations remembered.`));
}

function analysesCard(stats) {
  const names = stats.analysis_order;
  return names.length === 0 ? null : card('Analyses', h('table', { class: 'plain' },
    h('thead', {}, h('tr', {}, ['Analysis', 'Promise', 'Races', 'Pairs', 'Seconds'].map((text, i) => h('th', { scope: 'col', class: i > 1 ? 'n' : null }, text)))),
    h('tbody', {}, names.map((name) => {
      const each = stats.analyses[name];
      return h('tr', {}, h('th', { scope: 'row' }, name), h('td', {}, each.guarantee ?? ''), h('td', { class: 'n' }, number(each.races)), h('td', { class: 'n' }, short(each.dynamic_pairs)),
        h('td', { class: 'n' }, !each.seconds && !stats.seconds ? '–' : each.seconds.toFixed(2)));
    }))));
}

function coverageCard() {
  const notes = [...report.notes];
  if (!report.exact) {
    notes.unshift('The trace is not exact: its order of events is one that fits, not the one that happened. A witness from it counts as a suspicion until it is confirmed.');
  }
  return card('Notes, and what was not covered', h('ul', { class: 'notes' }, notes.map((note) => h('li', {}, note)),
    h('li', {}, 'Code that did not run, and what other inputs would do.')));
}

function suppressionCard() {
  return (report.suppressions ?? []).length === 0 ? null : card('Suppressions', h('p', {}, counted(report.suppressed, 'finding'), ' suppressed'),
    h('table', { class: 'plain' }, h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, 'Rule'), h('th', { scope: 'col' }, 'Where'), h('th', { scope: 'col', class: 'n' }, 'Hits'))),
      h('tbody', {}, report.suppressions.map((use) => h('tr', {}, h('th', { scope: 'row' }, h('code', {}, use.text)), h('td', {}, `${splitPath(use.file)[1]}:${use.line}`), h('td', { class: 'n' }, number(use.hits)))))));
}

export function createOverview() {
  const overview = report.overview;
  const node = h('div', { class: 'overview' },
    h('h1', {}, 'The run'),
    h('p', { class: 'lead' }, report.program ? h('code', {}, report.program) : null, report.trace ? h('span', { class: 'quiet' }, ` ${report.trace}`) : null),
    figures(),
    overview ? threadCard(overview) : card('Threads over time', h('p', { class: 'quiet' }, 'This report has no overview of one run: it is older, or was merged from several.')),
    h('div', { class: 'cards' },
      overview ? lockCard(overview) : null,
      overview?.kinds.length ? card('Events by kind', bars(overview.kinds.map(({ op, events }) => [op, events]).sort((a, b) => b[1] - a[1]), report.stats.events, 'Events by kind')) : null,
      filterCard(report.stats.filter), analysesCard(report.stats), coverageCard(), suppressionCard()));
  node.drawn = () => node.querySelectorAll('canvas').forEach((canvas) => canvas.paint());
  addEventListener('resize', () => node.isConnected && node.drawn());
  new MutationObserver(() => node.isConnected && node.drawn()).observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return node;
}
