/**
 * A notification on the desktop of the machine that serves: `notify-send` or `osascript`, by their absolute paths, with
 * the words as arguments.
 */
import type { Channel, ChannelHost } from './channel.js';
import type { Message } from './notice.js';
import { runProgram } from './program.js';

const SCRIPT = ['on run argv', 'display notification (item 2 of argv) with title (item 1 of argv)', 'end run'];

/** By platform: the program, and its words. */
const PROGRAMS: Readonly<Record<string, { readonly path: string; words(message: Message): readonly string[] }>> = {
  linux: {
    path: '/usr/bin/notify-send',
    words: ({ title, lines, isUrgent }) => [
      ...['--app-name=countersign', `--urgency=${isUrgent ? 'critical' : 'normal'}`],
      ...['--', title, lines.join('\n')],
    ],
  },
  darwin: {
    path: '/usr/bin/osascript',
    words: ({ title, lines }) => [...SCRIPT.flatMap((line) => ['-e', line]), '--', title, lines.join('\n')],
  },
};

export function desktopChannel(host: ChannelHost): Channel {
  return {
    async deliver(message, _address, signal) {
      const program = PROGRAMS[host.platform];
      if (program === undefined) return { ok: false, code: 'no_desktop', isFinal: true };
      const path = host.programs?.[program.path] ?? program.path;
      const { exitCode } = await runProgram(path, program.words(message), host.session ?? {}, signal);
      if (exitCode === 0) return { ok: true };
      return { ok: false, code: exitCode === undefined ? 'not_started' : `exit_${exitCode}` };
    },
  };
}
