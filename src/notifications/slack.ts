/**
 * An incoming webhook as Slack has them, and whatever takes the same. Its address is the secret. The text is plain: no
 * markup is read in it, no page is fetched for it, and nobody is called by it.
 */
import type { Channel, ChannelHost } from './channel.js';
import { post } from './http-post.js';
import type { ChannelConfig } from './schema.js';

export function slackChannel(config: ChannelConfig & { readonly type: 'slack' }, host: ChannelHost): Channel {
  return {
    async deliver({ title, lines }, _address, signal) {
      const text = escaped([title, ...lines].join('\n'));
      const body = JSON.stringify({ text, mrkdwn: false, unfurl_links: false, unfurl_media: false });
      return post({ url: config.url, privateNetwork: config.private_network, headers: {}, body, signal }, host);
    },
  };
}

/** The three characters that Slack reads whatever it is told. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
