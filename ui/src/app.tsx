import { lazy, type ReactNode, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { type PageName, useSession } from './api/session.ts';
import { SessionGate } from './frame/session-gate.tsx';
import { Shell } from './frame/shell.tsx';
import { ToolsPage } from './pages/tools/tools-page.tsx';
import { Empty, NotFound } from './parts/empty.tsx';
import { PageSkeleton } from './parts/skeleton.tsx';

const ToolPage = lazy(() => import('./pages/tool/tool-page.tsx').then(({ ToolPage }) => ({ default: ToolPage })));
const ApprovalsPage = lazy(() =>
  import('./pages/approvals/approvals-page.tsx').then(({ ApprovalsPage }) => ({ default: ApprovalsPage })),
);
const CallsPage = lazy(() => import('./pages/calls/calls-page.tsx').then(({ CallsPage }) => ({ default: CallsPage })));
const SourcesPage = lazy(() =>
  import('./pages/sources/sources-page.tsx').then(({ SourcesPage }) => ({ default: SourcesPage })),
);

/** The pages by address. Every page, its filters and its open detail are in the address. */
export function App() {
  return (
    <SessionGate>
      <Shell>
        <Suspense fallback={<PageSkeleton />}>
          <Switch>
            <Route path="/">
              <Redirect to="/tools" />
            </Route>
            <Route path="/tools">
              <Allowed page="tools">
                <ToolsPage />
              </Allowed>
            </Route>
            <Route path="/tools/:name">
              {({ name }) => (
                <Allowed page="tools">
                  <ToolPage name={decodeURIComponent(name)} />
                </Allowed>
              )}
            </Route>
            <Route path="/approvals/:id?">
              {({ id }) => (
                <Allowed page="approvals">
                  <ApprovalsPage id={id} />
                </Allowed>
              )}
            </Route>
            <Route path="/calls/:id?">
              {({ id }) => (
                <Allowed page="calls">
                  <CallsPage id={id} />
                </Allowed>
              )}
            </Route>
            <Route path="/sources/:id?">
              {({ id }) => (
                <Allowed page="sources">
                  <SourcesPage id={id === undefined ? undefined : decodeURIComponent(id)} />
                </Allowed>
              )}
            </Route>
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </Shell>
    </SessionGate>
  );
}

/** Shows a page only to a caller that may see it. The address /tools leads others to their first page. */
function Allowed({ page, children }: { readonly page: PageName; readonly children: ReactNode }) {
  const { pages, role } = useSession();
  const [location] = useLocation();
  const [first] = pages;
  if (pages.includes(page)) return children;
  if (location === '/tools' && first !== undefined) return <Redirect to={`/${first}`} />;
  return (
    <Empty title="Your role does not include this page.">
      <p className="soft">
        You are signed in as {role}. An operator can give your key or account another role under{' '}
        <code>access.roles</code>.
      </p>
    </Empty>
  );
}
