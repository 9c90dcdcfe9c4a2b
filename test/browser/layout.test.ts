/** How the parts of a page stand beside each other. */
import { expect, it } from 'vitest';
import { settled, useBrowser, visit } from './visit.ts';

useBrowser();

it('on a desktop the list of tokens leaves no token alone in the last line, however many there are', async () => {
  const visited = await visit('/tokens');
  const alone = await visited.page.evaluate(() => {
    const list = document.createElement('ul');
    list.className = 'gallery';
    document.querySelector('main')?.appendChild(list);
    return Array.from({ length: 50 }, (_, index) => {
      const last = document.createElement('li');
      list.appendChild(last);
      const before = last.previousElementSibling;
      const isAlone = before instanceof HTMLElement && before.offsetTop !== last.offsetTop;
      return isAlone ? index + 1 : 0;
    }).filter((amount) => amount > 0);
  });
  expect(alone).toEqual([]);
  await visited.close();
});

it('on a desktop the lists beside each other on /trust end at one line', async () => {
  const visited = await visit('/trust');
  await settled(visited.page);
  const ends = await visited.page
    .locator('.columns.even')
    .evaluateAll((pairs) =>
      pairs.map((pair) =>
        [...pair.children].map((side) =>
          Math.round(side.lastElementChild?.getBoundingClientRect().bottom ?? 0),
        ),
      ),
    );
  expect(ends).toHaveLength(2);
  for (const [left = 0, right = 0] of ends) expect(Math.abs(left - right)).toBeLessThan(2);
  await visited.close();
});
