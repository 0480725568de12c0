// Package clustertest gives Go tests a Kubernetes cluster: the stock API server, etcd, scheduler and
// controllers on loopback, ready in about a second. Other than with an API server alone, namespaces
// go away, dependents are collected, Deployments get pods and Jobs complete; only what runs in containers is
// simulated.
//
// # One cluster for a test
//
//	func TestGuestbook(t *testing.T) {
//		c := clustertest.Start(t, clustertest.CRDs("../../config/crd/bases"))
//		ns := c.Namespace(t)
//		err := c.Client(t).Create(t.Context(), …)
//
// # One cluster for a package
//
// Tests share a cluster to save time, each in a namespace of its own:
//
//	var shared = clustertest.ForPackage(clustertest.CRDs("../../config/crd/bases"))
//
//	func TestMain(m *testing.M) { shared.Main(m) }
//
//	func TestGuestbook(t *testing.T) {
//		t.Parallel()
//		c := shared.Cluster(t)
//		ns := c.Namespace(t)
//
// Where a namespace does not suffice, tests that run one after the other begin with [Cluster.Reset], and tests
// that run in parallel take a cluster of their own from [Cluster.Isolated], which costs half of what a program does.
//
// # Managers and webhooks
//
// [Run] runs a manager for as long as a test runs. Webhook configurations are installed from the files
// that deploy them, and reach the manager in the test:
//
//	c := clustertest.Start(t, clustertest.Webhooks("../../config/webhook"))
//	mgr, err := ctrl.NewManager(c.Config(), ctrl.Options{WebhookServer: webhook.NewServer(c.WebhookOptions())})
//	…
//	clustertest.Run(t, mgr)
//	c.WaitForWebhooks(t)
//
// The folder example is an operator with such tests.
//
// # Under its own account
//
// An operator that works as the administrator in its tests may lack a permission in production. [Cluster.Account] makes
// a ServiceAccount that holds the roles the operator is deployed with. In an [Audited] cluster the API server's log
// shows what it asked for: that a pass over unchanged objects writes nothing, which permissions it never needs, how
// many requests met a conflict.
//
//	c := clustertest.Start(t, clustertest.Audited(), clustertest.CRDs("../../config/crd/bases"))
//	account := c.Account(t, "../../config/rbac/role.yaml")
//	reconciler := &GuestbookReconciler{Client: account.Client(t)}
//	…
//	account.AtRest(t, func(ctx context.Context) error {
//		_, err := reconciler.Reconcile(ctx, request)
//		return err
//	})
//
// [Account.Restarted], [Account.FewWrites] and [Account.LeastPermissions] check what a restart causes, what many
// objects cost, and that the role is no more than what is needed.
//
// [Account.Interrupt] has each write fail in turn, lost or unanswered. With the client of [Observe] a test knows when a
// new manager has looked at all objects. [Cluster.WaitForEmpty] shows that a deletion leaves nothing, and
// [Cluster.Kubectl] what a user of kubectl gets to see.
//
// # Failures
//
// [Account.OpenDoor] opens a door for one process, such as a manager that [Build] has compiled. There a request of the
// process fails as it may in production: its answer is lost, the process dies after it, a watch lags behind it. Tests
// that `slipway prove --write-test` writes are of this form:
//
//	door := account.OpenDoor(t)
//	operator := door.Run(t, clustertest.Build(t, "../../cmd"), "--leader-elect=false")
//	failure := door.Fail(t, clustertest.Fault{Kind: clustertest.KilledAfter, Verb: "create", Resource: "configmaps"})
//	…
//	failure.Wait(t)
//	operator.Kill(t)
//	door = account.OpenDoor(t)
//	door.Run(t, …)
//
// # Without a testing.T
//
// What takes a [testing.TB] fails the test when it fails, and cleans up after it. For other frameworks and
// for programs there is a counterpart that takes a context and returns an error, called …Context, as
// [StartContext] is to [Start]. Ginkgo's GinkgoTB() is a testing.TB.
//
// # The program
//
// The cluster is a program of its own, slipway-cluster, and nothing of it is compiled into tests. It is the one that
// the variable SLIPWAY_CLUSTER names, or else the one that the slipway command on PATH has; slipway compiles it when it
// is needed for the first time, which takes minutes.
//
// Where SLIPWAY_SHARED_CLUSTER names the socket of a running program, clusters are started in that, beside
// those of other processes.
//
// A cluster ends with the process that started it, however that ends: the program stops when its
// standard input does. Its data are in a temporary folder that Close removes; what a killed process
// left is removed when a cluster is started the next time.
package clustertest
