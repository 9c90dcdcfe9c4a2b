export { onRequest } from '../../mcp/[[path]].ts';
