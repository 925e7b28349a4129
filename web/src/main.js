import { finding, indexOf, report } from './data.js';
import { createDetail } from './detail.js';
import { counted, h, number, replace, s } from './dom.js';
import { createList } from './list.js';
import { createOverview } from './overview.js';
import { themeButton } from './theme.js';

const top = document.getElementById('top');
const main = document.getElementById('main');
const foot = document.getElementById('foot');

const KIND = { race: ['race'], deadlock: ['deadlock'], misuse: ['misuse', 'misuses'], atomicity: ['atomicity violation'], crash: ['crash', 'crashes'], hang: ['hang'] };

function verdict() {
  const parts = Object.entries(KIND).map(([kind, words]) => [report.rows.filter((row) => row.kind === kind && !row.known).length, words])
    .filter(([n]) => n > 0).map(([n, words]) => counted(n, ...words));
  return parts.length ? parts.join(', ') : 'nothing found';
}

const name = report.program || report.trace || 'a report';
const tabs = [['findings', 'Findings', '#'], ['run', 'Run', '#run']].map(([view, text, href]) =>
  h('a', { href, 'data-view': view }, text, view === 'findings' ? h('span', { class: 'figure' }, number(report.rows.length)) : null));
replace(top,
  h('a', { class: 'brand', href: '#', 'aria-label': 'Sooth: all findings' },
    s('svg', { viewBox: '0 0 28 28', width: 26, height: 26, 'aria-hidden': 'true' },
      s('path', { d: 'M5 4v8c0 5 18 3 18 8v4', class: 'a' }), s('path', { d: 'M23 4v8c0 5-18 3-18 8v4', class: 'b' }), s('circle', { cx: 14, cy: 14.6, r: 3.4, class: 'c' })),
    h('span', {}, 'Sooth')),
  h('span', { class: 'program', title: name }, name),
  h('nav', { class: 'tabs', 'aria-label': 'Views' }, tabs),
  themeButton());
document.title = `${verdict()} · ${name} · Sooth`;

const licences = document.getElementById('licences').textContent.trim();
replace(foot, h('p', {}, `Made by Sooth${report.version ? ` ${report.version}` : ''}. Works without a network: everything is in this file.`),
  h('p', { class: 'keys' }, h('kbd', {}, '/'), ' search ', h('kbd', {}, 'j'), h('kbd', {}, 'k'), ' next and previous finding ', h('kbd', {}, 'Esc'), ' back to the list'),
  h('details', {}, h('summary', {}, 'Licences'), h('pre', { tabindex: '0' }, licences)));

const list = createList();
const pane = h('section', { class: 'pane', 'aria-label': 'Finding', tabindex: '-1' });
const findings = h('div', { class: 'findings' }, list.node, pane);
let overview;
const wide = matchMedia('(min-width: 860px)');

function welcome() {
  return report.rows.length === 0
    ? h('div', { class: 'calm' }, h('h1', {}, 'Nothing found'), h('p', {}, `The analyses looked at ${counted(report.stats.events ?? 0, 'event')} of one run. That is no proof: code that did not run was not judged.`),
        h('p', {}, h('a', { href: '#run' }, 'What was looked at, and what was not')))
    : h('p', { class: 'empty' }, 'Choose a finding.');
}

function show(byUser) {
  const hash = decodeURIComponent(location.hash.slice(1));
  const run = hash === 'run';
  let index = run ? undefined : indexOf(hash);
  if (!run && index === undefined && wide.matches) {
    index = list.first()?.index;  // there is room for it beside the list
  }
  for (const tab of tabs) {
    (tab.dataset.view === 'run') === run ? tab.setAttribute('aria-current', 'page') : tab.removeAttribute('aria-current');
  }
  if (run) {
    overview ??= createOverview();
    main.replaceChildren(overview);
    overview.drawn?.();
    return;
  }
  if (main.firstElementChild !== findings) {
    main.replaceChildren(findings);
  }
  findings.classList.toggle('open', indexOf(hash) !== undefined);
  list.mark(index ?? -1);
  if (index === undefined) {
    replace(pane, welcome());
    return;
  }
  const data = finding(index);
  if (!data) {
    replace(pane, h('p', { class: 'empty' }, 'Reading the report …'));
    addEventListener('DOMContentLoaded', () => show(byUser), { once: true });
    return;
  }
  const detail = createDetail(data);
  pane.replaceChildren(detail);
  detail.drawn();
  pane.scrollTop = 0;
  if (!wide.matches) {
    scrollTo(0, 0);
  }
  if (byUser && indexOf(hash) !== undefined) {
    pane.focus({ preventScroll: true });
  }
}

addEventListener('hashchange', () => show(true));
wide.addEventListener('change', () => show(false));
addEventListener('keydown', (event) => {
  const typing = event.target.closest('input, select, textarea');
  if (event.ctrlKey || event.metaKey || event.altKey) {
    return;
  }
  if (event.key === 'Escape' && location.hash && !event.defaultPrevented) {
    if (typing) {
      typing.blur();
    } else {
      location.hash = '';
      list.node.querySelector('[aria-current]')?.focus();
    }
  } else if (!typing && event.key === '/') {
    location.hash === '#run' && (location.hash = '');
    main.firstElementChild !== findings && show(false);
    list.focusSearch();
    event.preventDefault();
  } else if (!typing && (event.key === 'j' || event.key === 'k') && !event.defaultPrevented && location.hash !== '#run') {
    const next = list.neighbour(event.key === 'j' ? 1 : -1);
    if (next) {
      location.hash = next.id;
    }
  }
});
show(false);
