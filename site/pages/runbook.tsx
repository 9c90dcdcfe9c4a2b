import { type Page, Title } from '../layout.tsx';

/** @param html the text below the title */
export const runbookPage = (html: string): Page => ({
  path: '/runbook',
  title: 'Runbook',
  description: 'For the operator: what each alarm means, and what to do about it.',
  script: 'plain',
  Content: () => (
    <>
      <Title name="Runbook">For the operator: what each alarm means, and what to do about it.</Title>
      <div class="stack written" dangerouslySetInnerHTML={{ __html: html }} />
    </>
  ),
});
