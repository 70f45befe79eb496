import { Component, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import { Empty } from '../parts/empty.tsx';

/** Shows a page. If it fails, the frame stays, and another page can be opened. */
export function PageBoundary({ children }: { readonly children: ReactNode }) {
  const [location] = useLocation();
  return <Boundary location={location}>{children}</Boundary>;
}

interface BoundaryProps {
  readonly location: string;
  readonly children: ReactNode;
}

class Boundary extends Component<BoundaryProps, { readonly hasFailed: boolean }> {
  override readonly state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidUpdate({ location }: BoundaryProps): void {
    if (this.state.hasFailed && location !== this.props.location) this.setState({ hasFailed: false });
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <Empty title="This page cannot be shown.">
        <p className="soft">
          The console failed while it showed it. The console of the browser has the details.{' '}
          <button type="button" className="link" onClick={() => this.setState({ hasFailed: false })}>
            Try again
          </button>
        </p>
      </Empty>
    );
  }
}
