import { Component, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { CouldNotLoad } from '../parts/could-not-load.tsx';
import { Empty } from '../parts/empty.tsx';
import { FilesMissing } from '../parts/load-later.ts';

/** Shows a page. If it fails, the frame stays, and another page can be opened. */
export function PageBoundary({ children }: { readonly children: ReactNode }) {
  const [location] = useLocation();
  return <Boundary location={location}>{children}</Boundary>;
}

interface BoundaryProps {
  readonly location: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly failure?: unknown;
}

class Boundary extends Component<BoundaryProps, BoundaryState> {
  override readonly state: BoundaryState = {};

  static getDerivedStateFromError(failure: unknown): BoundaryState {
    return { failure };
  }

  override componentDidUpdate({ location }: BoundaryProps): void {
    if (this.state.failure !== undefined && location !== this.props.location) this.setState({ failure: undefined });
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    // The browser keeps that a file did not arrive, so only loading the page again asks for it again.
    if (failure instanceof FilesMissing)
      return <CouldNotLoad what="This page" message={failure.message} onRetry={() => location.reload()} />;
    return (
      <Empty title="This page cannot be shown.">
        <p className="soft">
          The console failed while it showed it. The console of the browser has the details.{' '}
          <button type="button" className="link" onClick={() => this.setState({ failure: undefined })}>
            Try again
          </button>
        </p>
      </Empty>
    );
  }
}
