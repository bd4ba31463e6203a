/**
 * A server in a process of its own, for tests that kill it. Its arguments: the home, and the port. It tells its address, and
 * serves until it is killed.
 */
import { writeSync } from 'node:fs';
import { open } from '../../src/app/index.js';
import { serve } from '../../src/server/index.js';

const [, , home = '', port = '0'] = process.argv;
const gate = await open({ home });
const { publicUrl } = await serve(gate, { publicUrl: `http://localhost:${port}`, version: '0.0.0' });
writeSync(1, `${JSON.stringify({ url: publicUrl })}\n`);
