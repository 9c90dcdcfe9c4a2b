import { useEffect, useState } from 'hono/jsx';
import type { JSX } from 'hono/jsx/jsx-runtime';
import { Notice, Waiting } from './notice.tsx';

type Part<Props> = (props: Props) => JSX.Element;
type State<Props> = { readonly Loaded: Part<Props> | null; readonly hasFailed: boolean };

/** A part whose script is loaded when the part is first shown, so that the first screen of its page needs less. */
export function later<Props extends object>(load: () => Promise<Part<Props>>): Part<Props> {
  return function Later(props) {
    const [{ Loaded, hasFailed }, setState] = useState<State<Props>>({ Loaded: null, hasFailed: false });
    useEffect(() => {
      load().then(
        (part) => setState({ Loaded: part, hasFailed: false }),
        () => setState({ Loaded: null, hasFailed: true }),
      );
    }, []);
    if (Loaded !== null) return <Loaded {...props} />;
    if (!hasFailed) return <Waiting what="Loading this part of the page." />;
    return (
      <Notice kind="warn" title="This part of the page could not be loaded.">
        <p>Check your connection. Your entries and your order are kept.</p>
        <button type="button" class="quiet" onClick={() => location.reload()}>
          Load the page again
        </button>
      </Notice>
    );
  };
}
