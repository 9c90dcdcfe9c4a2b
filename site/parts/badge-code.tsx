import { useEffect, useState } from 'hono/jsx';
import { UNKNOWN_ORIGIN } from './agent-snippets.ts';
import { CopyBlock } from './copyable.tsx';

const BADGE = '/api/badge/reserve.svg';

export const badgeHtml = (origin: string): string =>
  `<a href="${origin}/reserves"><img src="${origin}${BADGE}" alt="Sats in the reserve and ABSR supply" height="20"></a>`;

/** The badge as it is now, and the HTML that shows it on other sites. */
export function BadgeCode() {
  const [origin, setOrigin] = useState(UNKNOWN_ORIGIN);
  useEffect(() => setOrigin(location.origin), []);
  return (
    <div class="stack">
      <p>
        <img src={BADGE} alt="The badge: sats in the reserve and ABSR supply" height="20" />
      </p>
      <CopyBlock label="Badge HTML" text={badgeHtml(origin)} />
    </div>
  );
}
