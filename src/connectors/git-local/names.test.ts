/** Tests of names: what git, a shell or a file system could take for something else. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { verifies } from '../../../test/support/verifies.js';
import { isBranchName, isDotGit, isWritablePath, parseTarget } from './names.js';

const GIT_GUISES = [
  '.git',
  '.GIT',
  '.Git',
  'git~1',
  'GIT~1',
  'git~2',
  '.git.',
  '.git ',
  '.git . .',
  '.git::$INDEX_ALLOCATION',
  '.git:stream',
  'git~1.',
  '.g\u200cit',
  '.\u200dgit',
  '\u200e.git',
  '.gi\u202et',
  '.git\ufeff',
  '.g\u00adit',
  '.\uff47it',
  'x\\.git',
  '.git\\hooks',
];

describe('names', () => {
  it('know `.git` in every guise, and nothing else', () => {
    verifies('connectors.git.dot-git');
    for (const guise of GIT_GUISES) {
      assert.ok(isDotGit(guise), guise);
      for (const path of [guise, `${guise}/config`, `a/${guise}/b`]) assert.ok(!isWritablePath(path), path);
    }
    for (const plain of ['.gitignore', '.gitattributes', '.gitmodules', 'git', 'a.git', 'git~', 'git~x', '.github']) {
      assert.ok(!isDotGit(plain), plain);
      assert.ok(isWritablePath(`a/${plain}`), plain);
    }
  });

  it('refuse paths that lead elsewhere', () => {
    verifies('connectors.git.path');
    const refused = [
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '.',
      '..',
      'a/../b',
      './a',
      'a\0b',
      'a\nb',
      'a\\b',
      'C:/a',
      'e\u0301',
      'a\u202eb',
    ];
    for (const path of [...refused, '\ud800', 'x'.repeat(1_025)])
      assert.ok(!isWritablePath(path), JSON.stringify(path));
    assert.ok(isWritablePath('x'.repeat(1_024)));
    assert.ok(isWritablePath('docs/übersicht und mehr.md'));
    assert.ok(isWritablePath('-rf'));
  });

  it('refuse branches that git refuses or could read as an option', () => {
    verifies('connectors.git.names');
    const refused = [
      '-',
      '-x',
      '--upload-pack=x',
      '@',
      'HEAD',
      'a..b',
      'a b',
      'a~1',
      'a^',
      'a:b',
      'a?',
      'a*',
      'a[',
      'a\\b',
    ];
    const more = [
      '',
      '/a',
      'a/',
      'a//b',
      '.a',
      'a/.b',
      'a.lock',
      'a.lock/b',
      'a.',
      'a@{1}',
      'a\nb',
      'a\0',
      'a\u200bb',
      'e\u0301',
    ];
    for (const name of [...refused, ...more, '.git', 'a/.GIT', 'x'.repeat(256)])
      assert.ok(!isBranchName(name), JSON.stringify(name));
    for (const name of ['main', 'a/b', 'a-b', 'v1.0', '$(id)', '`id`', "it's;|&", 'a#b', 'x'.repeat(255)]) {
      assert.ok(isBranchName(name), name);
    }
  });

  it('accept no branch that git itself refuses', () => {
    verifies('connectors.git.names');
    const characters = fc.constantFrom(...'ab/.-@{}~^:?*[\\ \u007f#lock');
    fc.assert(
      fc.property(fc.string({ unit: characters, minLength: 1, maxLength: 12 }), (name) => {
        if (!isBranchName(name)) return;
        execFileSync('git', ['check-ref-format', `refs/heads/${name}`]);
      }),
      { numRuns: 300 },
    );
  });

  it('split a target at its first `#`', () => {
    verifies('connectors.git.names');
    assert.deepEqual(parseTarget('acme#a#b'), { alias: 'acme', branch: 'a#b' });
    for (const target of ['', '#', 'acme', 'acme#', '#main', 'a/b#main', '-a#main', 'acme#-x', ' acme#main']) {
      assert.equal(parseTarget(target), undefined, target);
    }
  });
});
