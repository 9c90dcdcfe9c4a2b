import { Buffer } from 'node:buffer';
import decodeQR from 'qr/decode.js';

const DARK = 0;
const LIGHT = 255;
const SCALE = 6;

/** Decodes a QR code like a camera: the code is drawn from the page's picture, module by module. */
export function readCode(viewBox: string, path: string): string {
  const size = Number(viewBox.split(' ')[2]) * SCALE;
  const data = Buffer.alloc(size * size * 4, LIGHT);
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let dy = 0; dy < SCALE; dy++)
      for (let dx = 0; dx < SCALE; dx++) {
        const at = ((Number(y) * SCALE + dy) * size + Number(x) * SCALE + dx) * 4;
        data.fill(DARK, at, at + 3);
      }
  return decodeQR({ width: size, height: size, data });
}
