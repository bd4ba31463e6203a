/**
 * Comes before everything else: zod otherwise tries whether it may make functions of text, which the policy of the page
 * forbids and reports.
 */
import { config } from 'zod';

config({ jitless: true });
