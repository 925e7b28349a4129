// The blocks of JSON in the page.

const block = (id) => {
  const node = document.getElementById(id);
  return node ? JSON.parse(node.textContent) : null;
};

export const report = block('report') ?? { rows: [], notes: [], stats: { analyses: {}, analysis_order: [] }, source_texts: [], missing: true };

report.rows.forEach((row, index) => {
  row.index = index;
  row.words = [row.headline, row.rung, row.kind, row.id, ...row.found_by, ...row.threads, ...row.files,
    ...row.places.flatMap((place) => [place.text, place.function])].join('\n').toLowerCase();
});

// What follows from another finding stands below it.
const causes = new Set(report.rows.filter((row) => !row.follows).map((row) => row.id));
const following = new Map();
for (const row of report.rows) {
  if (causes.has(row.follows)) {
    following.set(row.follows, [...(following.get(row.follows) ?? []), row]);
  }
}
export const followersOf = (id) => following.get(id) ?? [];
report.rows = report.rows.filter((row) => !causes.has(row.follows)).flatMap((row) => [row, ...followersOf(row.id)]);

const byId = new Map(report.rows.map((row) => [row.id, row]));
export const rowOf = (id) => byId.get(id);
export const indexOf = (id) => rowOf(id)?.index;

// A finding with everything about it; parsed when somebody asks, and only the last one kept.
// null while the browser has not read as far.
let last = { index: -1, value: null };
export function finding(index) {
  if (last.index !== index || last.value === null) {
    last = { index, value: block(`finding-${index}`) };
  }
  return last.value;
}

const sources = new Map(report.source_texts.map((source) => [source.file, source]));
export const sourceOf = (file) => sources.get(file);
