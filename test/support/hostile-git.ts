/**
 * Makes a repository as hostile as its owner can: every setting, hook, attribute and ref by which git is known to run a
 * program or to read other objects. Each program leaves a canary, a file that says it ran, and else does its work.
 */
import { appendFile, chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const HOOKS = [
  'applypatch-msg',
  'pre-commit',
  'pre-merge-commit',
  'prepare-commit-msg',
  'commit-msg',
  'post-commit',
  'pre-rebase',
  'post-checkout',
  'post-merge',
  'pre-push',
  'pre-receive',
  'update',
  'proc-receive',
  'post-receive',
  'post-update',
  'reference-transaction',
  'push-to-checkout',
  'pre-auto-gc',
  'post-rewrite',
  'fsmonitor-watchman',
  'post-index-change',
];

/** Settings and how each one's program behaves: `cat` passes its input on, `file` prints its first argument. */
const PROGRAMS: Readonly<Record<string, 'cat' | 'file' | 'true' | 'merge'>> = {
  'core.fsmonitor': 'true',
  'core.sshCommand': 'true',
  'core.editor': 'true',
  'core.pager': 'cat',
  'core.askPass': 'true',
  'core.alternateRefsCommand': 'true',
  'core.gitProxy': 'true',
  'sequence.editor': 'true',
  'gpg.program': 'true',
  'gpg.ssh.program': 'true',
  'credential.helper': 'true',
  'interactive.diffFilter': 'cat',
  'uploadpack.packObjectsHook': 'true',
  'remote.origin.uploadpack': 'true',
  'remote.origin.receivepack': 'true',
  'filter.evil.clean': 'cat',
  'filter.evil.smudge': 'cat',
  'diff.external': 'true',
  'diff.evil.textconv': 'file',
  'diff.evil.command': 'true',
  'merge.evil.driver': 'merge',
  'trailer.countersign-action.command': 'true',
  'trailer.countersign-action.cmd': 'true',
};

const BEHAVIOUR = { cat: 'cat', file: 'cat "$1"', true: 'exit 0', merge: 'exit 0' } as const;

/** Leaves the files and branches of the repository as they are; only what git would obey is added. */
export async function makeHostile(root: string, gitDir: string): Promise<void> {
  const canaries = join(root, 'canaries');
  const programs = join(root, 'programs');
  await mkdir(canaries, { recursive: true });
  await mkdir(programs, { recursive: true });
  const program = async (path: string, name: string, does: string) => {
    await writeFile(path, `#!/bin/sh\necho "$0 $*" >> '${canaries}/${name}'\n${does}\n`);
    await chmod(path, 0o755);
    return path;
  };
  await mkdir(join(gitDir, 'hooks'), { recursive: true });
  for (const hook of HOOKS) await program(join(gitDir, 'hooks', hook), `hook-${hook}`, 'exit 0');
  const lines: string[] = [];
  for (const [setting, kind] of Object.entries(PROGRAMS)) {
    const path = await program(join(programs, setting), setting, BEHAVIOUR[kind]);
    const parts = setting.split('.');
    const [section, key] = [parts[0], parts.at(-1)];
    const subsection = parts.slice(1, -1).join('.');
    lines.push(`[${section}${subsection === '' ? '' : ` "${subsection}"`}]\n\t${key} = ${path}\n`);
  }
  const included = join(root, 'included');
  const process = await program(join(programs, 'process'), 'filter.evil.process', 'exit 1');
  const alias = await program(join(programs, 'alias'), 'alias', 'exit 0');
  const names = [
    'merge-tree',
    'commit-tree',
    'update-ref',
    'read-tree',
    'pack-objects',
    'index-pack',
    'rev-list',
    'st',
  ];
  await writeFile(included, `[filter "evil2"]\n\tprocess = ${process}\n\tclean = ${process}\n\tsmudge = ${process}\n`);
  await appendFile(
    join(gitDir, 'config'),
    [
      ...lines,
      `[include]\n\tpath = ${included}\n`,
      `[alias]\n${names.map((name) => `\t${name} = !${alias}\n`).join('')}`,
      '[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n[protocol "ext"]\n\tallow = always\n',
      `[remote "origin"]\n\turl = ext::${alias}\n\tpromisor = true\n\tvcs = ext\n[submodule]\n\trecurse = true\n`,
      `[submodule "sub"]\n\turl = ext::${alias}\n\tupdate = !${alias}\n\tactive = true\n`,
      '[fetch]\n\trecurseSubmodules = true\n',
    ].join(''),
  );
  await mkdir(join(gitDir, 'info'), { recursive: true });
  await appendFile(join(gitDir, 'info', 'attributes'), 'src/*.ts filter=evil2\n');
}

/** The canaries that ran, by name. */
export async function canaries(root: string): Promise<string[]> {
  return (await readdir(join(root, 'canaries'))).sort();
}
