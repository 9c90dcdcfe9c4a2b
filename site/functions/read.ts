export { onRequest } from './api/[[path]].ts';
