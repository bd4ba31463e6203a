#!/usr/bin/env node
/**
 * A stand-in of gh: an executable that answers `pr view`, `pr diff` and `pr merge` as gh 2.4x does, from a world that a test
 * writes, `world.json` in `GH_CONFIG_DIR`. Every call is recorded in `calls.jsonl` beside it, with its words and the names
 * of its variables. The world's `merge` says what becomes of a merge.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = process.env.GH_CONFIG_DIR;
const file = join(folder, 'world.json');
const words = process.argv.slice(2);
const world = JSON.parse(readFileSync(file, 'utf8'));
const variables = Object.keys(process.env).sort();
appendFileSync(join(folder, 'calls.jsonl'), `${JSON.stringify({ words, variables, token: process.env.GH_TOKEN })}\n`);

function save() {
  writeFileSync(`${file}.new`, JSON.stringify(world));
  renameSync(`${file}.new`, file);
}

function leave(code, out, err = '') {
  process.stdout.write(out, () => process.stderr.write(err, () => process.exit(code)));
}

function option(name) {
  const at = words.indexOf(name);
  return at < 0 ? undefined : words[at + 1];
}

function land() {
  world.pr.state = 'MERGED';
  world.pr.mergeCommit = { oid: 'c'.repeat(40) };
  world.merges = (world.merges ?? 0) + 1;
  if (words.includes('--delete-branch')) world.deleted = true;
  save();
}

const LOST = 'error connecting to api.github.com\ncheck your internet connection or https://githubstatus.com\n';
const MERGES = {
  success: () => {
    land();
    leave(0, '', '✓ Squashed and merged pull request acme/web#7 (Repair the login)\n');
  },
  refuse: () => leave(1, '', `${world.words ?? 'GraphQL: Pull Request is not mergeable (mergePullRequest)'}\n`),
  'drop-before': () => leave(1, '', LOST),
  'drop-after': () => {
    land();
    leave(1, '', LOST);
  },
  hang: () => setTimeout(() => undefined, 600_000),
  'hang-after': () => {
    land();
    setTimeout(() => undefined, 600_000);
  },
  queue: () => leave(0, '', '✓ Pull request acme/web#7 will be added to the merge queue for main when ready\n'),
  close: () => {
    world.pr.state = 'CLOSED';
    save();
    leave(1, '', 'GraphQL: Pull request is closed (mergePullRequest)\n');
  },
  moved: () => {
    world.pr.headRefOid = 'b'.repeat(40);
    land();
    leave(1, '', 'GraphQL: Head branch was modified. Review and try the merge again. (mergePullRequest)\n');
  },
  'blind-after': () => {
    land();
    world.view = 'down';
    save();
    leave(0, '', '');
  },
};

function view() {
  if (world.view === 'down') return leave(1, '', LOST);
  if (world.view === 'missing') {
    return leave(1, '', 'GraphQL: Could not resolve to a PullRequest with the number of 7. (repository.pullRequest)\n');
  }
  if (typeof world.view === 'string') return leave(0, world.view);
  if (world.hangView) return setTimeout(() => undefined, 600_000);
  const fields = option('--json').split(',');
  leave(0, `${JSON.stringify(Object.fromEntries(fields.map((field) => [field, world.pr[field]])))}\n`);
}

function merge() {
  if (option('--match-head-commit') !== world.pr.headRefOid) {
    return leave(1, '', 'GraphQL: Head branch was modified. Review and try the merge again. (mergePullRequest)\n');
  }
  MERGES[world.merge ?? 'success']();
}

const [noun, verb, number] = words;
if (noun !== 'pr' || number !== String(world.pr.number)) leave(1, '', 'unknown command\n');
else if (verb === 'view') view();
else if (verb === 'diff')
  world.diff === null ? leave(1, '', 'HTTP 406: the diff is too large\n') : leave(0, world.diff);
else if (verb === 'merge') merge();
else leave(1, '', `unknown command "${verb}" for "gh pr"\n`);
