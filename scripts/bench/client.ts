/** GET and POST over persistent connections. Bodies are received but not kept, so that their size costs little. */
import { Agent, request } from 'node:http';

export function openClient(connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  let callers = 0;

  /** Status of one response; of a POST if a body is given. */
  const ask = (address: string, body?: string): Promise<number> =>
    new Promise((resolve, reject) => {
      callers += 1;
      // A different address each time, so that no limit per address applies.
      const ip = `10.${(callers >> 16) & 255}.${(callers >> 8) & 255}.${callers & 255}`;
      const json = { 'content-type': 'application/json', 'user-agent': 'Mozilla/5.0 (bench)' };
      const headers = { 'cf-connecting-ip': ip, ...(body === undefined ? {} : json) };
      const sent = request(
        address,
        { agent, method: body === undefined ? 'GET' : 'POST', headers },
        (response) =>
          response
            .on('end', () => resolve(response.statusCode ?? 0))
            .on('error', reject)
            .resume(),
      );
      sent.on('error', reject).end(body);
    });

  return {
    get: (address: string): Promise<number> => ask(address),
    /** Responses per second over all connections; sends POST requests if bodies are given. */
    async rate(address: string, forMs: number, body?: () => string): Promise<number> {
      const began = performance.now();
      let done = 0;
      const call = async (): Promise<void> => {
        for (; performance.now() < began + forMs; done += 1) {
          const status = await ask(address, body?.());
          if (status >= 429) throw new Error(`${address}: ${status}`);
        }
      };
      await Promise.all(Array.from({ length: connections }, call));
      return (done * 1_000) / (performance.now() - began);
    },
    close: (): void => agent.destroy(),
  };
}
