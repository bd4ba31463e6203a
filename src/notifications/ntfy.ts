/**
 * ntfy: a message to a topic, with the link behind a tap. A topic is as good as a password on a public server, so that
 * it may be named as a secret.
 */
import type { Channel, ChannelHost } from './channel.js';
import { post } from './http-post.js';
import { type ChannelConfig, isSource, isTopic } from './schema.js';

export function ntfyChannel(config: ChannelConfig & { readonly type: 'ntfy' }, host: ChannelHost): Channel {
  return {
    async deliver({ title, lines, link, isUrgent }, address, signal) {
      const topic = isSource(address) ? await host.secret(address) : address;
      if (topic === undefined || !isTopic(topic)) return { ok: false, code: 'no_topic', isTheirs: true };
      const token = config.token === undefined ? '' : await host.secret(config.token);
      if (token === undefined || !/^[!-~]{0,1024}$/.test(token)) return { ok: false, code: 'no_secret' };
      const body = JSON.stringify({
        ...{ topic, title, message: lines.join('\n'), priority: isUrgent ? 4 : 3 },
        ...(link === null ? {} : { click: link }),
      });
      const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
      return post({ url: config.server, privateNetwork: config.private_network, headers, body, signal }, host);
    },
  };
}
