import { CurlSnippets, McpSnippets, TryIt } from '../parts/agents-live.tsx';
import { mount } from './mount.tsx';

mount({ try: TryIt, mcp: McpSnippets, curl: CurlSnippets });
