import { type ComponentType, type ReactNode, Suspense } from 'react';
import { Redirect, Route, Switch, useLocation } from 'wouter';
import { type PageName, useSession } from './api/session.ts';
import { PageBoundary } from './frame/page-boundary.tsx';
import { SessionGate } from './frame/session-gate.tsx';
import { Shell } from './frame/shell.tsx';
import { ToolsPage } from './pages/tools/tools-page.tsx';
import { Empty, NotFound } from './parts/empty.tsx';
import { loadLater } from './parts/load-later.ts';
import { PageSkeleton } from './parts/skeleton.tsx';

/** A page that is loaded when it is opened, together with Mantine. */
function later<Props extends object>(load: () => Promise<ComponentType<Props>>) {
  return loadLater<Props>(async () => {
    const [Page, { Components }] = await Promise.all([load(), import('./frame/components.tsx')]);
    return (props) => (
      <Components>
        <Page {...props} />
      </Components>
    );
  });
}

const SignInHere = loadLater(async () => (await import('./frame/sign-in-more.tsx')).SignInHere);
const ToolPage = later(async () => (await import('./pages/tool/tool-page.tsx')).ToolPage);
const ApprovalsPage = later(async () => (await import('./pages/approvals/approvals-page.tsx')).ApprovalsPage);
const CallsPage = later(async () => (await import('./pages/calls/calls-page.tsx')).CallsPage);
const SourcesPage = later(async () => (await import('./pages/sources/sources-page.tsx')).SourcesPage);

/** The pages by address. Every page, its filters and its open detail are in the address. */
export function App() {
  return (
    <SessionGate>
      <Shell>
        <PageBoundary>
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
                    <ToolPage name={decoded(name)} />
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
                    <SourcesPage id={id === undefined ? undefined : decoded(id)} />
                  </Allowed>
                )}
              </Route>
              <Route>
                <NotFound />
              </Route>
            </Switch>
          </Suspense>
        </PageBoundary>
      </Shell>
    </SessionGate>
  );
}

/** A part of an address; as it is if it cannot be decoded. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Shows a page only to a caller that may see it. The address /tools leads others to their first page. */
function Allowed({ page, children }: { readonly page: PageName; readonly children: ReactNode }) {
  const { pages, role, signedIn } = useSession();
  const [location] = useLocation();
  const [first] = pages;
  if (!signedIn && page !== 'tools') return <SignInHere />;
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
