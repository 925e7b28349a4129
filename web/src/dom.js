// Elements without markup: whatever a report contains reaches the page as text.

const SVG = 'http://www.w3.org/2000/svg';

function fill(node, props, children) {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) {
      continue;
    }
    if (name.startsWith('on')) {
      node.addEventListener(name.slice(2), value);
    } else if (name === 'css') {
      // The policy of the page forbids style attributes, but not this.
      for (const [key, entry] of Object.entries(value)) {
        node.style.setProperty(key, entry);
      }
    } else {
      node.setAttribute(name, value === true ? '' : String(value));
    }
  }
  add(node, children);
  return node;
}

export function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== undefined && child !== null && child !== false && child !== '') {
      node.append(child instanceof Node ? child : String(child));
    }
  }
  return node;
}

export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

export function replace(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

export const number = (n) => n.toLocaleString('en-US');
export const counted = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

export const RUNGS = ['harmful', 'confirmed', 'predicted', 'suspected'];
export const RUNG_MEANING = {
  harmful: 'A controlled run reached it, and failed',
  confirmed: 'A controlled run stopped with both threads about to do it',
  predicted: 'Proven: a checked reordering leads there, or the recorded run shows it',
  suspected: 'May be a false alarm: no proof was found',
};

// How high on the ladder: four rungs, filled from below.
export function ladder(rung) {
  const level = 4 - RUNGS.indexOf(rung);
  const bars = [1, 2, 3, 4].map((step) => s('rect', {
    x: (step - 1) * 5, y: 13 - step * 3.25, width: 3.6, height: step * 3.25, rx: 1, class: step <= level ? 'on' : 'off' }));
  return s('svg', { class: `ladder ${rung}`, viewBox: '0 0 19 13', width: 19, height: 13, 'aria-hidden': 'true' }, bars);
}

export const badge = (rung) => h('span', { class: `badge ${rung}`, title: RUNG_MEANING[rung] }, ladder(rung), rung);

// Text with what stands 'in quotes' as code.
export function quoted(text) {
  return text.split(/('[^']+')/).map((part) => /^'[^']+'$/.test(part) ? h('code', {}, part.slice(1, -1)) : part);
}

export const upper = (text) => text.replace(/^./, (c) => c.toUpperCase());

export function splitPath(path) {
  const slash = path.lastIndexOf('/');
  return [path.slice(0, slash + 1), path.slice(slash + 1)];
}

export function placeOf(site) {
  if (site.file) {
    return site.file + (site.line ? `:${site.line}${site.column ? `:${site.column}` : ''}` : '');
  }
  return site.module ? `${site.module}+${site.offset ?? '0x0'}` : site.label ? `site ${site.label}` : 'an unknown place';
}

export const shortPlace = (site) => splitPath(placeOf(site))[1] || placeOf(site);

// A button that copies `text` and says so, also where the page has no right to the clipboard.
export function copyButton(text, what) {
  const label = h('span', {}, 'Copy');
  const button = h('button', { type: 'button', class: 'copy', 'aria-label': `Copy ${what}` }, label);
  button.addEventListener('click', async () => {
    let done = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = h('textarea', { class: 'offscreen', readonly: true, 'aria-hidden': 'true', tabindex: '-1' });
      area.value = text;
      document.body.append(area);
      area.select();
      done = document.execCommand('copy');
      area.remove();
      button.focus();
    }
    label.textContent = done ? 'Copied' : 'Select and copy';
    button.classList.toggle('done', done);
    announce(done ? `Copied ${what}` : `Could not copy ${what}`);
    setTimeout(() => { label.textContent = 'Copy'; button.classList.remove('done'); }, 1800);
  });
  return button;
}

let live;
export function announce(text) {
  live ??= document.body.appendChild(h('div', { class: 'offscreen', role: 'status', 'aria-live': 'polite' }));
  live.textContent = text;
}
