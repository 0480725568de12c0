package clustertest

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/slipway-dev/slipway/operator/clustertest/internal/fault"
	"github.com/slipway-dev/slipway/operator/clustertest/internal/manifest"
)

// The resources of an account.
var (
	rbacVersion     = manifest.Roles.GroupVersion
	accountResource = schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}
)

// accountName is the name of each account in its namespace.
const accountName = "operator"

// Account is a ServiceAccount, under which an operator works in a test as it does in a pod: with its own
// permissions and no others. The log of an [Audited] cluster shows what it asked for.
type Account struct {
	Namespace string
	Name      string

	cluster *Cluster
	config  *rest.Config
	rules   []rule
	wire    *wire
}

// Account makes a ServiceAccount in a namespace of its own, and gives it the roles in the files and folders at paths,
// which are read as [Cluster.InstallCRDs] reads. A ClusterRole counts in the whole cluster, a Role in the
// account's namespace, whatever namespace its file names. All of it is deleted at the end of t.
func (c *Cluster) Account(t testing.TB, paths ...string) *Account {
	t.Helper()
	a := &Account{Namespace: c.Namespace(t), Name: accountName, cluster: c, wire: &wire{}}
	var bound []grant
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), cleanupTime)
		defer cancel()
		for _, g := range bound {
			if err := a.revoke(ctx, g); err != nil {
				t.Errorf("clustertest: %s", fault.Text(err))
			}
		}
	})
	var err error
	if bound, err = a.prepare(t.Context(), paths); err != nil {
		fatal(t, err)
	}
	return a
}

// prepare makes the account with its roles and its credentials. It returns what it granted also when it fails.
func (a *Account) prepare(ctx context.Context, paths []string) (granted []grant, err error) {
	var roles []*unstructured.Unstructured
	if len(paths) > 0 {
		if roles, err = manifest.Read(manifest.Roles, paths...); err != nil {
			return nil, err
		}
	}
	account := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ServiceAccount"}}
	account.SetName(a.Name)
	if _, err := a.cluster.dynamic.Resource(accountResource).Namespace(a.Namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return nil, a.failed("make", err)
	}
	for _, role := range roles {
		g, err := newGrant(role, a)
		if err != nil {
			return granted, err
		}
		granted = append(granted, g)
		if err := a.bind(ctx, g); err != nil {
			return granted, a.failed("give "+role.GetName()+" to", err)
		}
		if err := a.effective(ctx, g); err != nil {
			return granted, a.failed("wait for "+role.GetName()+" of", err)
		}
		a.rules = append(a.rules, g.rules...)
	}
	a.config, err = a.credentials(ctx)
	return granted, err
}

// credentials returns how the account reaches the cluster: with a token as a pod has it.
func (a *Account) credentials(ctx context.Context) (*rest.Config, error) {
	ask := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": map[string]any{"name": a.Name}, "spec": map[string]any{}}}
	made, err := a.cluster.dynamic.Resource(accountResource).Namespace(a.Namespace).Create(ctx, ask, metav1.CreateOptions{}, "token")
	if err != nil {
		return nil, a.failed("get a token for", err)
	}
	token, found, err := unstructured.NestedString(made.Object, "status", "token")
	if err != nil || !found {
		return nil, a.failed("get a token for", errors.Join(err, errNoToken))
	}
	config := rest.AnonymousClientConfig(a.cluster.config)
	config.BearerToken, config.QPS = token, -1
	config.Wrap(a.wire.wrap)
	return config, nil
}

var errNoToken = errors.New("the answer has no token")

func (a *Account) failed(what string, err error) error {
	return &fault.Error{What: "cannot " + what + " the ServiceAccount " + a.Namespace + "/" + a.Name, Err: a.cluster.because(err)}
}

// Config returns how to reach the cluster as this account. Each call returns a copy.
func (a *Account) Config() *rest.Config { return rest.CopyConfig(a.config) }

// Client returns a client that reads and writes as this account, without a cache, with the types of [Scheme].
func (a *Account) Client(t testing.TB) client.Client {
	t.Helper()
	cl, err := client.New(a.Config(), client.Options{Scheme: a.cluster.settings.scheme})
	if err != nil {
		fatal(t, err)
	}
	return cl
}

// user is the account's name in requests.
func (a *Account) user() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }
