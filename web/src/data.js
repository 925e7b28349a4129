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

const byId = new Map(report.rows.map((row) => [row.id, row.index]));
export const indexOf = (id) => byId.get(id);

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
