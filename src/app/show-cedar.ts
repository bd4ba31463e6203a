/**
 * What a configuration says in Cedar: the policies that its plain rules become, and those of its files.
 */
import { CedarDoor, policiesOf, type TrustConfig } from '../policy/index.js';

/** Empty for a configuration without rules and files: the class rule decides it, and is no Cedar. */
export function cedarOf({ policy }: TrustConfig): readonly { readonly name: string; readonly text: string }[] {
  if (policy.rules === undefined && policy.cedar === undefined && policy.otherwise === undefined) return [];
  const policies = policiesOf(new CedarDoor(), policy);
  return (policies?.all ?? []).map(({ name, text }) => ({ name, text }));
}
