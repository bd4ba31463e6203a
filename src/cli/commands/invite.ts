/**
 * People who come with a passkey: a link to make one, and the code that says whose it is.
 */
import type { Command } from '../run.js';
import { noteSigners } from './people.js';
import { publicUrlOf, type ServeOptions } from './serve.js';

export interface InviteOptions extends ServeOptions {
  readonly role?: readonly string[];
}

type Roles = readonly ('viewer' | 'approver' | 'operator' | 'auditor')[];

export function invite(name: string, options: InviteOptions): Command {
  return async ({ gate, output }) => {
    const { PeopleDoor } = await import('../../app/internal.js');
    const opened = await gate();
    const person = name.startsWith('human:') ? name : `human:${name}`;
    const roles = (options.role ?? ['approver']) as Roles;
    const invited = await new PeopleDoor(opened).invite(person, roles, opened.caller.principal);
    const link = `${publicUrlOf(options) ?? 'http://localhost:8787'}/enrol#${invited.secret}`;
    const { invitation_id, expires } = invited;
    output.value({ invitation_id, person, link, expires });
    output.line(link);
    output.note('The link is for them alone, and good for 15 minutes. They read you the code that the page shows:');
    output.note(`countersign approver confirm ${invitation_id} CODE`);
    return undefined;
  };
}

export function confirm(invitationId: string, code: string): Command {
  return async ({ gate, output }) => {
    const { PeopleDoor } = await import('../../app/internal.js');
    const opened = await gate();
    const issued = await new PeopleDoor(opened).confirm(invitationId, code, opened);
    output.value(issued);
    for (const line of issued.summary) output.line(line);
    noteSigners(output, issued);
    return undefined;
  };
}
