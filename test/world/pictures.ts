/**
 * Pictures of the tokens in the offline world, which the edge serves in place of a host on the network.
 * @module
 */

const picture = (ground: string, shapes: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="256" height="256"><rect width="64" height="64" fill="${ground}"/>${shapes}</svg>`;

/** By path on the site's host. */
export const PICTURES: Readonly<Record<string, string>> = {
  '/pictures/hut.svg': picture(
    '#1d4e6b',
    '<path fill="#dfeaf0" d="M0 48l20-28 12 16 10-12 22 24v16H0z"/><path fill="#7a3b1d" d="M20 62V44h24v18z"/><path fill="#b5562c" d="M15 46l17-14 17 14z"/><path fill="#ffd98a" d="M29 50h6v12h-6z"/><circle cx="50" cy="13" r="5" fill="#fff3cf"/>',
  ),
  '/pictures/loaf.svg': picture(
    '#7b2d3b',
    '<path fill="#e6b26a" d="M8 44c0-20 10-28 24-28s24 8 24 28z"/><path fill="none" stroke="#a86a2c" stroke-width="3" d="M20 26l6 12M31 22l6 14M42 25l5 11"/><path fill="#c98d45" d="M6 42h52v7H6z"/>',
  ),
  '/pictures/crop.svg': picture(
    '#2f6b34',
    '<path fill="#5a3a1e" d="M0 50h64v14H0z"/><path fill="none" stroke="#bfe38a" stroke-width="4" d="M32 52V22M16 52V32M48 52V32"/><path fill="#f0b429" d="M32 6c7 6 7 14 0 20-7-6-7-14 0-20zM16 20c5 4 5 10 0 14-5-4-5-10 0-14zM48 20c5 4 5 10 0 14-5-4-5-10 0-14z"/>',
  ),
  '/pictures/boat.svg': picture(
    '#f0a33c',
    '<circle cx="46" cy="18" r="8" fill="#fff3cf"/><path fill="#0b5f66" d="M0 46q8-5 16 0t16 0 16 0 16 0v18H0z"/><path fill="#fff" d="M30 10v28H12z"/><path fill="#f6dfc0" d="M33 16v22h14z"/><path fill="#7a2e12" d="M8 40h48l-8 10H16z"/>',
  ),
  '/pictures/poem.svg': picture(
    '#221c45',
    '<path fill="#f4c542" d="M8 22h48v26H8z"/><path fill="#2e2760" d="M12 26h10v10H12zM26 26h10v10H26zM40 26h12v10H40z"/><path fill="#e0533d" d="M8 42h48v4H8z"/><circle cx="19" cy="50" r="5" fill="#0d0a20"/><circle cx="45" cy="50" r="5" fill="#0d0a20"/><circle cx="52" cy="10" r="4" fill="#fff3cf"/>',
  ),
};
