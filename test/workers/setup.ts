import { reset } from 'cloudflare:test';
import { afterAll, beforeAll } from 'vitest';
import { migrate } from './fresh-storage.ts';

beforeAll(() => migrate());
afterAll(() => reset());
