// Loads Scalar on request, below the header of the page.
(() => {
  const button = document.getElementById('interactive');
  const reference = document.getElementById('reference');
  if (!button || !reference) return;
  button.hidden = false;
  button.addEventListener('click', () => {
    button.disabled = true;
    button.textContent = 'Loading';
    const place = document.createElement('script');
    place.id = 'api-reference';
    place.type = 'application/json';
    place.dataset.url = '/api/openapi.json';
    place.dataset.configuration = button.dataset.configuration;
    const script = document.createElement('script');
    script.src = button.dataset.script;
    script.addEventListener('load', () => reference.remove());
    script.addEventListener('error', () => {
      button.disabled = false;
      button.textContent = 'Not loaded. Try again';
    });
    document.body.append(place, script);
  });
})();
