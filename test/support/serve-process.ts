/**
 * `countersign serve` as a process of its own, on a port that nobody has.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import { ROOT } from './files.js';

export interface ServeProcess {
  readonly url: string;
  /** Standard output and standard error so far. */
  output(): string;
  /** Ends it as a service manager does, or as a power switch does; answers its exit code. */
  end(signal?: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

export async function serveProcess(home: string, environment: Readonly<Record<string, string>>): Promise<ServeProcess> {
  const url = `http://localhost:${await freePort()}`;
  const words = [join(ROOT, 'dist', 'bin', 'main.js'), 'serve', '--public-url', url, '--home', home, '--debug'];
  const child = spawn(process.execPath, words, { env: { ...process.env, NO_COLOR: '1', ...environment } });
  // A test that failed in between leaves none behind, which would keep its file from ending.
  after(() => void child.kill('SIGKILL'));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (data: Buffer) => {
        output += data.toString('utf8');
        if (output.includes('agents come with a token')) resolve();
      });
    }
    child.once('exit', () => reject(new Error(`it ended: ${output}`)));
  });
  return {
    url,
    output: () => output,
    async end(signal = 'SIGTERM') {
      const exited = once(child, 'exit');
      child.kill(signal);
      return (await exited)[0] as number | null;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
