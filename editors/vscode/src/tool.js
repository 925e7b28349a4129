// Asks the tool for reports in other forms.
'use strict';

const { execFile } = require('node:child_process');

const kLargestOutput = 256 * 1024 * 1024;

// What `sooth ARGUMENTS` prints. Throws an Error with the tool's own sentence.
function ask(executable, words, folder) {
  return new Promise((resolve, reject) => {
    execFile(executable, words, { cwd: folder, maxBuffer: kLargestOutput }, (error, output, complaint) => {
      if (!error) {
        resolve(output);
      } else if (error.code === 'ENOENT') {
        reject(new Error(`'${executable}' was not found; the setting sooth.executable says where the tool is`));
      } else {
        reject(new Error(complaint.trim().split('\n')[0] || `'${executable} ${words[0]}' failed: ${error.message}`));
      }
    });
  });
}

async function reportAsSarif(executable, report, folder) {
  return JSON.parse(await ask(executable, ['report', report, '--format', 'sarif', '--fail-on', 'never'], folder));
}

function reportAsPage(executable, report, folder) {
  return ask(executable, ['report', report, '--format', 'html', '--fail-on', 'never'], folder);
}

module.exports = { reportAsPage, reportAsSarif };
