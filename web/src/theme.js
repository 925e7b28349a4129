// Light or dark: as the system says, until somebody chooses.
import { h } from './dom.js';

const KEY = 'sooth-theme';
const dark = matchMedia('(prefers-color-scheme: dark)');

function stored() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;  // pages from a file may have no storage
  }
}

export function themeButton() {
  let choice = stored();
  const button = h('button', { type: 'button', class: 'theme' });
  const apply = () => {
    const now = choice ?? (dark.matches ? 'dark' : 'light');
    document.documentElement.dataset.theme = now;
    const other = now === 'dark' ? 'light' : 'dark';
    button.textContent = now === 'dark' ? '☀' : '☾';
    button.setAttribute('aria-label', `Switch to ${other} colours`);
    button.title = `Switch to ${other} colours`;
  };
  button.addEventListener('click', () => {
    choice = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem(KEY, choice);
    } catch { /* then it lasts as long as the page */ }
    apply();
  });
  dark.addEventListener('change', apply);
  apply();
  return button;
}
