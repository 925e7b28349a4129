// Checks reports against their schemas: *.json against docs/report.schema.json, *.sarif against the official schema of
// SARIF 2.1.0. A folder stands for all such files in it.
//
//   node validate.mjs MODULES SCHEMA [--invalid] PATH...
//
// MODULES is the folder of package.json's dependencies (scripts/setup.sh test puts it into build/npm). With --invalid every file must be
// refused: a validator that accepts everything proves nothing. Exits with 1 and a sentence when something is wrong,
// and also when the modules are missing or there is nothing to check.
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';

function fail(sentence) {
  console.error(`validate.mjs: ${sentence}`);
  process.exit(1);
}

const [modules, schemaFile, ...rest] = process.argv.slice(2);
const mustFail = rest[0] === '--invalid';
const paths = mustFail ? rest.slice(1) : rest;
if (!fs.existsSync(path.join(modules, 'node_modules', 'ajv'))) {
  fail(`the validator is not installed; run scripts/setup.sh test`);
}

const require = createRequire(path.resolve(modules, 'package.json'));
const addFormats = require('ajv-formats').default;
const Ajv = require('ajv').default;
const AjvDraft04 = require('ajv-draft-04').default;  // SARIF's schema is a draft-04 schema

const load = (file) => JSON.parse(fs.readFileSync(file, 'utf8'));
// Later versions may add members, so our schema lets them pass; what this version writes must all be in it.
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  if (schema.type === 'object' && schema.properties && !('additionalProperties' in schema)) {
    copy.additionalProperties = false;
  }
  return copy;
}
// A misspelt keyword is an error.
const ours = addFormats(new Ajv({ strict: true })).compile(closed(load(schemaFile)));
// The official schema has a pattern with a stray bracket, which only expressions without the u flag allow.
const sarif = addFormats(new AjvDraft04({ strict: false, unicodeRegExp: false })).compile(
  load(require.resolve('@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json')));

const files = paths.flatMap((name) =>
  fs.statSync(name).isDirectory() ? fs.readdirSync(name).map((entry) => path.join(name, entry)) : [name])
  .filter((name) => /\.(json|sarif)$/.test(name)).sort();
for (const suffix of ['.json', '.sarif']) {
  if (!files.some((name) => name.endsWith(suffix))) {
    fail(`there is no ${suffix} file to check in ${paths.join(', ')}`);
  }
}

let wrong = 0;
for (const file of files) {
  const bytes = fs.readFileSync(file);
  new TextDecoder('utf-8', { fatal: true }).decode(bytes);  // throws unless the file is UTF-8
  const validate = file.endsWith('.sarif') ? sarif : ours;
  const valid = validate(JSON.parse(bytes.toString('utf8')));
  if (valid === mustFail) {
    ++wrong;
    const error = valid ? 'is accepted, but should not be' :
      validate.errors.map((e) => `${e.instancePath || '/'} ${e.message} ${JSON.stringify(e.params)}`).join('; ');
    console.error(`${file}: ${error}`);
  }
}
console.log(`${files.length} files checked, ${wrong} wrong`);
process.exit(wrong === 0 ? 0 : 1);
