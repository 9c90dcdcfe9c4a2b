import { buildSite, SITE_FOLDER } from './build-site.ts';

const made = await buildSite();
console.log(`${SITE_FOLDER}: ${made ? 'built' : 'up to date'}`);
