// The reports that the test looks at, most of them of real runs.
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

// The distribution's Chromium, or another one that is installed.
export function browserPath() {
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    for (const folder of (process.env.PATH ?? '').split(':')) {
      const file = path.join(folder, name);
      if (fs.existsSync(file)) {
        return file;
      }
    }
  }
  return null;
}

// A program in which both accesses come from a file whose lines are markup.
const EVIL = `</script><script>hacked = 1</script> // 1\n/* <img src=x onerror=hacked=1> */\nint x; // \u202e reversed\n`;

export function makePages(sooth, out, root) {
  const pages = {};
  // Findings are no failure here; everything else is.
  const run = (words, options = {}) => {
    const result = spawnSync(sooth, words, { encoding: 'utf8', cwd: out, maxBuffer: 1 << 28, ...options });
    if (![0, 66].includes(result.status)) {
      throw new Error(`sooth ${words.join(' ')} ended with ${result.status}: ${result.stderr}${result.error ?? ''}`);
    }
    return result.stdout;
  };
  const write = (name, data) => {
    const file = path.join(out, name);
    fs.writeFileSync(file, typeof data === 'string' ? data : JSON.stringify(data));
    return file;
  };
  const page = (name, report) => {
    pages[name] = path.join(out, `${name}.html`);
    run(['report', report, '--format', 'html', '-o', pages[name], '--fail-on', 'never']);
  };

  // The example of the README: recorded, predicted, confirmed. A second run would get another name for its report.
  fs.readdirSync(out).filter((name) => /^sooth-account.*\.json$/.test(name)).forEach((name) => fs.rmSync(path.join(out, name)));
  fs.copyFileSync(path.join(root, 'examples', 'bank_account_hidden.cc'), path.join(out, 'bank_account_hidden.cc'));
  execFileSync(sooth, ['c++', '-O1', '-g', 'bank_account_hidden.cc', '-o', 'account'], { cwd: out });
  pages.account = path.join(out, 'account.html');
  run(['run', '--schedule', 'serial', '--budget', '20s', '--format', 'html', '-o', pages.account, '--', './account']);

  const golden = (name) => path.join(root, 'tests', 'report', 'golden', `${name}.json`);
  const load = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
  for (const name of ['nothing', 'hostile', 'deadlock']) {
    page(name, golden(name));
  }
  const mixed = load(golden('program'));
  mixed.findings.push(...load(golden('misuse')).findings.slice(0, 1));
  page('mixed', write('mixed.json', mixed));

  // A report of 1,000 findings, made from the real one.
  const account = load(path.join(out, 'sooth-account.json'));
  const hex = (n) => n.toString(16).padStart(16, '0');
  const clone = (i) => {
    const finding = structuredClone(account.findings[0]);
    finding.id = hex(i + 1);
    finding.rung = ['suspected', 'predicted', 'confirmed', 'harmful'][i % 4];
    finding.accesses.forEach((access, side) => {
      access.variable = `queue_${i}.head`;
      access.site.function = `worker_${i % 97}(Task*)`;
      access.site.file = `/src/project/module_${i % 11}/file_${i % 29}.cc`;
      access.site.line = 10 + i + side;
    });
    return finding;
  };
  page('thousand', write('thousand.json', { ...account, findings: Array.from({ length: 1000 }, (_, i) => clone(i)) }));

  // Races in calls of the library: one on what it owns follows from the one on the owner, which the report has behind it. The third has nothing to
  // do with them.
  const throughLibrary = (site, stack) => ({ site: { ...site, file: '/usr/include/c++/12/bits/stl_vector.h', line: 1114, column: 3, function: 'std::vector<int>::push_back(int)' },
    stack: [site, ...stack], frame: 1 });
  const owner = structuredClone(account.findings[0]);
  owner.accesses = owner.accesses.map((access) => ({ ...access, ...throughLibrary(access.site, access.stack) }));
  const owned = structuredClone(owner);
  owned.id = hex(1);
  owned.accesses.forEach((access) => { delete access.variable; });
  owned.context = { memory: { kind: 'heap', address: '0x1000', size: 16, offset: 0,
    allocated: { thread: 'main', event: 1, ...throughLibrary(owner.accesses[0].stack[0], owner.accesses[0].stack.slice(1)) } } };
  const alone = structuredClone(account.findings[0]);
  alone.id = hex(2);
  alone.accesses.forEach((access) => { access.variable = 'queries'; });
  page('follows', write('follows.json', { ...account, findings: [owned, alone, owner] }));

  // Two threads that hand something to and fro 25,000 times and then collide.
  const rounds = 'T1|acq(l)|1\nT1|w(y)|2\nT1|rel(l)|2\nT2|acq(l)|3\nT2|r(y)|4\nT2|rel(l)|4\n'.repeat(25000);
  write('long.std', `T0|fork(T1)|10\nT0|fork(T2)|11\n${rounds}T1|w(x)|5\nT2|w(x)|6\n`);
  run(['analyze', 'long.std', '--with', 'hb', '--format', 'json', '-o', 'long.json']);
  page('long', path.join(out, 'long.json'));

  // A bucket goes from thread to thread, so that each takes part; then the last two collide.
  for (const count of [2, 10, 60]) {
    const ids = Array.from({ length: count }, (_, i) => i + 1);
    const passing = ids.map((i) => `T${i}|acq(m)|1\nT${i}|r(y)|2\nT${i}|w(y)|3\nT${i}|rel(m)|4\n`).join('');
    write(`threads${count}.std`, `${ids.map((i) => `T0|fork(T${i})|10\n`).join('')}${passing}T${count - 1}|w(x)|5\nT${count}|w(x)|6\n`);
    run(['analyze', `threads${count}.std`, '--with', 'wcp,hb', '--format', 'json', '-o', `threads${count}.json`]);
    page(`threads${count}`, path.join(out, `threads${count}.json`));
  }

  // A deadlock with a witness.
  run(['analyze', path.join(root, 'tests', 'golden', 'deadlock_fork_join.std'), '--format', 'json', '-o', 'cycle.json']);
  page('cycle', path.join(out, 'cycle.json'));

  // Whatever can have a name has a hostile one, and the source is hostile, too.
  const tag = '<img src=x onerror=hacked=1>';
  const evilFile = path.join(out, `</script><script>hacked=1</script>.cc`.replaceAll('/', '_'));
  fs.writeFileSync(evilFile, EVIL);
  const poison = (value, key) => {
    if (Array.isArray(value)) {
      return value.map((each) => poison(each, key));
    }
    if (value && typeof value === 'object') {
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poison(each, name)]));
    }
    return ['file'].includes(key) ? evilFile : key === 'line' ? 1 : ['thread', 'variable', 'function', 'module', 'name', 'lock', 'locks', 'objects', 'trace', 'program',
      'notes', 'command', 'outcome', 'found_by', 'label', 'why'].includes(key) ? `${tag}</script><b class="evil">'${value}` : value;
  };
  const evil = poison(account);
  evil.stats = account.stats;
  page('evil', write('evil.json', evil));

  // One file changed, the other is gone.
  const stale = structuredClone(account);
  stale.findings = stale.findings.slice(0, 1);
  const copy = path.join(out, 'changed.cc');
  fs.copyFileSync(path.join(out, 'bank_account_hidden.cc'), copy);
  stale.findings[0].accesses[0].site.file = copy;
  stale.findings[0].accesses[1].site.file = path.join(out, 'gone.cc');
  stale.sources = [{ file: copy, digest: '0x1' }];
  page('stale', write('stale.json', stale));
  return pages;
}
