/**
 * Amounts for people: major units, and the minor units that are held. Pure.
 */
import { moneyText } from '../core/index.js';

/** `12.30 EUR (1230 minor units)`: the second form leaves no doubt about the exponent. */
export function amountText(minorUnits: number, currency: string): string {
  return `${moneyText({ amount: minorUnits, currency })} (${minorUnits} minor units)`;
}
