/**
 * `completion`: a script that completes the words of this program in a shell.
 */
import type { Command as Program } from 'commander';
import { bashScript } from '../completion/bash.js';
import { fishScript } from '../completion/fish.js';
import { verbsOf } from '../completion/words.js';
import { zshScript } from '../completion/zsh.js';
import type { SHELL_NAMES } from '../options.js';
import type { Command } from '../run.js';

type ShellName = (typeof SHELL_NAMES)[number];

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const satisfies Record<ShellName, unknown>;

export function completion(program: Program, shell: ShellName): Command {
  return async ({ output }) => {
    const script = SCRIPTS[shell](verbsOf(program));
    output.value({ shell, script });
    output.line(script.trimEnd());
    return undefined;
  };
}
