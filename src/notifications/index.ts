/** Notifications: what happened, whom it reaches over which channel, and the delivery. */
export { type Channel, type ChannelHost, openChannel } from './channel.js';
export { ChannelDelivery } from './deliver.js';
export { NOTIFY_LIMITS } from './limits.js';
export type { Delivered, Message, Notice, Presence, SettledFacts, Subject, Waiting } from './notice.js';
export { noticeOfSettled, noticeOfUndelivered, noticesOfWaiting } from './plan.js';
export { runProgram } from './program.js';
export { messageOf } from './render.js';
export { entriesOf, type Groups, isMeant, reachedAt } from './route.js';
export {
  type ChannelConfig,
  isSource,
  type Notifications,
  noticesOf,
  notificationsConfig,
} from './schema.js';
export { readEntry } from './stored.js';
export { keyOf as webhookKeyOf } from './webhook.js';
