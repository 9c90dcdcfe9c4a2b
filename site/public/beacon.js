// Counts a page view, unless the visitor has requested not to be tracked. No cookie, no storage, no query
// string.
(() => {
  const { doNotTrack, globalPrivacyControl } = navigator;
  if (doNotTrack === '1' || doNotTrack === 'yes' || globalPrivacyControl) return;
  const send = () =>
    fetch('/api/analytics/pageview', {
      method: 'POST',
      keepalive: true,
      credentials: 'omit',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        path: location.pathname.slice(0, 1024),
        referrer: document.referrer.split(/[?#]/)[0].slice(0, 4096),
      }),
    }).catch(() => {});
  // A page that is rendered in advance counts only once it is shown.
  if (document.prerendering) document.addEventListener('prerenderingchange', send, { once: true });
  else send();
})();
