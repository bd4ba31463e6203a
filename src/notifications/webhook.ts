/**
 * A webhook by the Standard Webhooks specification 1.0.0: id, time and an HMAC over both and the body, so that the
 * receiver knows who sent it, that nothing changed, and what it has had before.
 * Source: doors (notifications, embedding); docs/decisions/0016.
 */
import { hmacSha256, isoTime } from '../core/index.js';
import type { Channel, ChannelHost } from './channel.js';
import { post } from './http-post.js';
import { NOTIFY_LIMITS } from './limits.js';
import type { ChannelConfig } from './schema.js';

const PREFIX = 'whsec_';

export function webhookChannel(config: ChannelConfig & { readonly type: 'webhook' }, host: ChannelHost): Channel {
  return {
    async deliver(message, _address, signal) {
      const key = keyOf(await host.secret(config.secret));
      if (key === undefined) return { ok: false, code: 'no_secret' };
      const { id, type, at, data } = message;
      const body = JSON.stringify({ type, timestamp: isoTime(at), data });
      const timestamp = String(Math.floor(host.clock.now() / 1_000));
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${signed(key, `${id}.${timestamp}.${body}`)}`,
      };
      return post({ url: config.url, privateNetwork: config.private_network, headers, body, signal }, host);
    },
  };
}

function signed(key: Uint8Array, text: string): string {
  return Buffer.from(hmacSha256(key, text)).toString('base64');
}

/** `whsec_` and 24 to 64 bytes in Base64, in their one spelling. */
export function keyOf(secret: string | undefined): Uint8Array | undefined {
  if (secret?.startsWith(PREFIX) !== true) return undefined;
  const text = secret.slice(PREFIX.length);
  const key = Buffer.from(text, 'base64');
  const { secretBytesMin, secretBytesMax } = NOTIFY_LIMITS;
  const isFit = key.length >= secretBytesMin && key.length <= secretBytesMax && key.toString('base64') === text;
  return isFit ? key : undefined;
}
