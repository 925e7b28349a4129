// The list of findings with its filters.
import { report, rowOf } from './data.js';
import { RUNGS, announce, badge, counted, h, ladder, number, quoted, replace, splitPath, upper } from './dom.js';

const CHUNK = 60;  // findings that are drawn at a time

const state = { rungs: new Set(), file: '', analysis: '', kind: '', query: '', known: false };

const knownCount = report.rows.filter((row) => row.known).length;

function matches(row, except) {
  return (state.known || !row.known) &&
    (except === 'rung' || state.rungs.size === 0 || state.rungs.has(row.rung)) &&
    (!state.file || row.files.includes(state.file)) && (!state.analysis || row.found_by.includes(state.analysis)) &&
    (!state.kind || row.kind === state.kind) && state.query.split(/\s+/).every((word) => row.words.includes(word));
}

// `below`: its cause stands above it in the list.
function item(row, selected, below) {
  const places = row.places.map((place) => h('span', { class: 'place', title: place.text }, splitPath(place.text)[1]));
  return h('li', {}, h('a', { href: `#${row.id}`, class: `row ${row.rung}${below ? ' follows' : ''}`, 'data-index': row.index, 'aria-current': row.index === selected ? 'true' : null },
    h('span', { class: 'title' }, below ? h('span', { class: 'offscreen' }, 'Follows from the one above: ') : null, quoted(upper(row.headline))),
    h('span', { class: 'places' }, places.flatMap((place, i) => i === 0 ? [place] : [h('span', { class: 'with' }, row.kind === 'race' ? '⇄' : '→'), place])),
    h('span', { class: 'meta' }, badge(row.rung), h('span', { class: 'by' }, row.found_by.join(' · ')),
      row.follows && rowOf(row.follows) ? h('span', { class: 'tag', title: `Follows from: ${rowOf(row.follows).headline}` }, 'follows') : null,
      row.known ? h('span', { class: 'tag' }, 'known') : null)));
}

function select(label, options, key, changed) {
  if (options.length < 2) {
    return null;
  }
  const box = h('select', { 'aria-label': label, onchange: () => { state[key] = box.value; changed(); } },
    h('option', { value: '' }, `All ${label.toLowerCase()}`),
    options.map(([value, text, count]) => h('option', { value }, `${text} (${number(count)})`)));
  return h('label', { class: 'pick' }, box);
}

function tally(values) {
  const counts = new Map();
  for (const value of values) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

const KINDS = { race: 'Data races', deadlock: 'Deadlocks', misuse: 'Misuse', atomicity: 'Atomicity', crash: 'Crashes', hang: 'Hangs' };

export function createList() {
  let shown = [];
  let drawn = 0;
  let selected = -1;
  const list = h('ol', { class: 'rows', role: 'list' });
  const more = h('div', { class: 'more', 'aria-hidden': 'true' });
  const count = h('p', { class: 'count', role: 'status' });
  const search = h('input', { type: 'search', placeholder: 'Search', 'aria-label': 'Search findings', autocomplete: 'off', spellcheck: 'false' });
  const reset = h('button', { type: 'button', class: 'reset' }, 'Clear filters');
  const chips = RUNGS.map((rung) => {
    const figure = h('span', { class: 'figure' });
    const chip = h('button', { type: 'button', class: `chip ${rung}`, 'aria-pressed': 'false' }, ladder(rung), rung, figure);
    chip.addEventListener('click', () => {
      state.rungs.has(rung) ? state.rungs.delete(rung) : state.rungs.add(rung);
      update();
    });
    return { rung, chip, figure };
  });
  const shownName = (file) => splitPath(file)[1];
  const files = tally(report.rows.flatMap((row) => row.files));
  const names = tally(files.map(([file]) => shownName(file)));
  const twice = new Set(names.filter(([, n]) => n > 1).map(([name]) => name));
  const picks = [
    select('Files', files.map(([file, n]) => [file, twice.has(shownName(file)) ? file : shownName(file), n]), 'file', update),
    select('Analyses', tally(report.rows.flatMap((row) => row.found_by)).map(([name, n]) => [name, name, n]), 'analysis', update),
    select('Kinds', tally(report.rows.map((row) => row.kind)).map(([kind, n]) => [kind, KINDS[kind] ?? kind, n]), 'kind', update),
  ].filter(Boolean);
  const known = knownCount === 0 ? null : h('label', { class: 'check' },
    h('input', { type: 'checkbox', onchange: (event) => { state.known = event.target.checked; update(); } }), `Show ${number(knownCount)} known`);

  function draw() {
    const end = Math.min(shown.length, drawn + CHUNK);
    const above = new Set(shown.slice(0, end).map((row) => row.id));
    list.append(...shown.slice(drawn, end).map((row) => item(row, selected, above.has(row.follows))));
    drawn = end;
    more.hidden = drawn >= shown.length;
  }

  function update() {
    const start = performance.now();
    shown = report.rows.filter((row) => matches(row));
    const others = report.rows.filter((row) => matches(row, 'rung'));
    for (const { rung, chip, figure } of chips) {
      const n = others.reduce((sum, row) => sum + (row.rung === rung ? 1 : 0), 0);
      figure.textContent = number(n);
      chip.setAttribute('aria-pressed', String(state.rungs.has(rung)));
      chip.classList.toggle('zero', n === 0);
    }
    replace(list);
    drawn = 0;
    draw();
    const total = report.rows.length - (state.known ? 0 : knownCount);
    count.textContent = shown.length === total ? counted(total, 'finding') : `${number(shown.length)} of ${counted(total, 'finding')}`;
    const filtered = state.rungs.size > 0 || state.file || state.analysis || state.kind || state.query;
    reset.hidden = !filtered;
    list.classList.toggle('none', shown.length === 0);
    if (shown.length === 0) {
      list.append(h('li', { class: 'empty' }, filtered ? 'Nothing matches these filters.' : 'Nothing found.'));
    }
    document.documentElement.dataset.filterMs = (performance.now() - start).toFixed(1);
  }

  search.addEventListener('input', () => { state.query = search.value.trim().toLowerCase(); update(); });
  reset.addEventListener('click', () => {
    Object.assign(state, { rungs: new Set(), file: '', analysis: '', kind: '', query: '' });
    search.value = '';
    picks.forEach((pick) => { pick.firstChild.value = ''; });
    update();
    search.focus();
    announce('Filters cleared');
  });

  new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting) && drawn < shown.length) {
      draw();
    }
  }, { rootMargin: '600px' }).observe(more);

  const links = () => [...list.querySelectorAll('a.row')];
  list.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const current = links().indexOf(document.activeElement);
    if (step && current >= 0) {
      if (current + step >= drawn && drawn < shown.length) {
        draw();
      }
      links()[Math.max(0, Math.min(drawn - 1, current + step))]?.focus();
    } else if (event.key === 'Home') {
      links()[0]?.focus();
    } else if (event.key === 'End') {
      links().at(-1)?.focus();
    } else {
      return;
    }
    event.preventDefault();
  });
  search.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') {
      links()[0]?.focus();
      event.preventDefault();
    }
  });

  const node = h('nav', { class: 'side', 'aria-label': 'Findings' },
    h('div', { class: 'filters' },
      h('div', { class: 'search' }, search, h('kbd', { 'aria-hidden': 'true' }, '/')),
      h('div', { class: 'chips', role: 'group', 'aria-label': 'Filter by rung' }, chips.map((each) => each.chip)),
      picks.length ? h('div', { class: 'picks' }, picks) : null, known,
      h('div', { class: 'tally' }, count, reset)),
    list, more);
  update();

  return {
    node,
    focusSearch: () => { search.focus(); search.select(); },
    first: () => shown[0],
    // The finding next to the selected one in the list, or undefined.
    neighbour: (step) => shown[shown.findIndex((row) => row.index === selected) + step],
    mark(index) {
      selected = index;
      for (const link of links()) {
        const current = Number(link.dataset.index) === index;
        current ? link.setAttribute('aria-current', 'true') : link.removeAttribute('aria-current');
        if (current) {
          const box = link.getBoundingClientRect();
          if (box.top < 60 || box.bottom > innerHeight) {
            link.scrollIntoView({ block: 'nearest' });
          }
        }
      }
    },
  };
}
