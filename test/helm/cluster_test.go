package helm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/cli"
	"helm.sh/helm/v4/pkg/kube"
	"k8s.io/apimachinery/pkg/util/wait"
)

// patience is how long Helm waits.
const patience = 5 * time.Minute

// startCluster starts a cluster for the test.
func (p project) startCluster(flags ...string) {
	p.Helper()
	if os.Getenv("SLIPWAY_CLUSTER") == "" {
		p.Skip("SLIPWAY_CLUSTER names no compiled cluster program")
	}
	home := p.TempDir()
	p.Setenv("SLIPWAY_STATE", filepath.Join(home, "state"))
	p.Setenv("KUBECONFIG", filepath.Join(home, "kubeconfig"))
	p.call(append([]string{"cluster", "start"}, flags...)...)
	p.Cleanup(func() { p.call("cluster", "stop") })
}

// withCluster starts a cluster for the test, with a namespace, and with the kinds of others that charts have.
func (p project) withCluster(namespace string) {
	p.Helper()
	p.startCluster()
	text := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", namespace)
	for _, kind := range []struct{ group, plural, name string }{
		{"cert-manager.io", "certificates", "Certificate"},
		{"cert-manager.io", "issuers", "Issuer"},
		{"monitoring.coreos.com", "servicemonitors", "ServiceMonitor"},
		{"monitoring.coreos.com", "prometheusrules", "PrometheusRule"},
	} {
		text += fmt.Sprintf(`---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[2]s.%[1]s
spec:
  group: %[1]s
  scope: Namespaced
  names: {plural: %[2]s, kind: %[3]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, kind.group, kind.plural, kind.name)
	}
	p.write("../others.yaml", text)
	p.call("kubectl", "apply", "--server-side", "-f", "../others.yaml")
	p.call("kubectl", "wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
}

// TestServerTakesCharts: an API server takes what charts render, with all features and without each of them.
func TestServerTakesCharts(t *testing.T) {
	for _, keeper := range []string{"certmanager", "selfcert"} {
		t.Run(keeper, func(t *testing.T) {
			p := featuredProject(t, keeper)
			p.withCluster("elsewhere")
			c := p.chart()
			sets := [][]string{nil, {"crd.keep=false"}, {"rbac.helpers.enabled=false", "serviceAccount.enabled=false"}}
			for _, name := range p.components() {
				sets = append(sets, []string{switches[name] + ".enabled=false"})
			}
			for _, set := range sets {
				p.write("../rendered.yaml", p.render(c, releaseAt{"zeta", "elsewhere"}, values(set...)))
				p.call("kubectl", "apply", "--server-side", "--dry-run=server", "-f", "../rendered.yaml")
			}
		})
	}
}

// helm is Helm for a namespace of the cluster.
func (p project) helm(namespace string) *action.Configuration {
	p.Helper()
	settings := cli.New()
	settings.KubeConfig = os.Getenv("KUBECONFIG")
	settings.SetNamespace(namespace)
	configuration := quiet()
	if err := configuration.Init(settings.RESTClientGetter(), namespace, "secret"); err != nil {
		p.Fatal(err)
	}
	return configuration
}

// install is `helm install --wait`.
func (p project) install(c *chart.Chart, r releaseAt, set map[string]any) {
	p.Helper()
	install := action.NewInstall(p.helm(r.namespace))
	install.ReleaseName, install.Namespace, install.CreateNamespace = r.name, r.namespace, true
	install.WaitStrategy, install.Timeout = kube.StatusWatcherStrategy, patience
	if _, err := install.Run(c, set); err != nil {
		p.Fatalf("helm install %s: %v\n%s", r.name, err, p.call("kubectl", "get", "all", "-A"))
	}
}

// upgrade is `helm upgrade --wait`.
func (p project) upgrade(c *chart.Chart, r releaseAt, set map[string]any) {
	p.Helper()
	upgrade := action.NewUpgrade(p.helm(r.namespace))
	upgrade.Namespace, upgrade.ServerSideApply = r.namespace, "auto"
	upgrade.WaitStrategy, upgrade.Timeout = kube.StatusWatcherStrategy, patience
	if _, err := upgrade.Run(r.name, c, set); err != nil {
		p.Fatalf("helm upgrade %s: %v", r.name, err)
	}
}

// served waits until a kind is discovered, which may be a moment after its definition is established.
func (p project) served(kind string) {
	p.Helper()
	var last error
	err := wait.PollUntilContextTimeout(p.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		_, last = p.try("kubectl", "get", kind, "-A")
		return last == nil, nil
	})
	if err != nil {
		p.Fatal(errors.Join(err, last))
	}
}

// uninstall is `helm uninstall --wait`.
func (p project) uninstall(r releaseAt) {
	p.Helper()
	uninstall := action.NewUninstall(p.helm(r.namespace))
	uninstall.WaitStrategy, uninstall.Timeout = kube.StatusWatcherStrategy, patience
	if _, err := uninstall.Run(r.name); err != nil {
		p.Fatalf("helm uninstall %s: %v", r.name, err)
	}
}

// of lists the objects of a release, of the kinds that charts have.
func (p project) of(r releaseAt) string {
	p.Helper()
	kinds := "deployments,services,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,networkpolicies,crds"
	return p.call("kubectl", "get", kinds, "-A", "-o", "name", "-l", "app.kubernetes.io/managed-by=Helm,app.kubernetes.io/instance="+r.name)
}

// TestRelease installs, upgrades and uninstalls a chart, twice side by side.
func TestRelease(t *testing.T) {
	p := newProject(t)
	p.withCluster("unused")
	p.call("edit", "--enable", "network-policy,namespaced")
	c := p.chart()
	first, second := releaseAt{"op", "op-system"}, releaseAt{"two", "second"}
	p.install(c, first, nil)
	p.install(c, second, map[string]any{"crd": map[string]any{"enabled": false}})
	ready := func(r releaseAt) string {
		return p.call("kubectl", "get", "deployment", "-n", r.namespace, r.prefix("op")+"-controller-manager", "-o", "jsonpath={.status.readyReplicas}")
	}
	if ready(first) != "1" || ready(second) != "1" {
		t.Errorf("ready are %q and %q", ready(first), ready(second))
	}
	p.call("kubectl", "apply", "-n", first.namespace, "-f", "config/samples/ship_v1_frigate.yaml")

	set := values("networkPolicy.enabled=false")
	set["manager"] = map[string]any{"replicas": 2}
	p.upgrade(c, first, set)
	if ready(first) != "2" || strings.Contains(p.of(first), "networkpolicy") || !strings.Contains(p.of(second), "networkpolicy") {
		t.Errorf("after the upgrade %q are ready, and there are\n%s", ready(first), p.of(first))
	}

	t.Log("the project changes, and its chart with it")
	p.call("create", "api", "--group", "ship", "--version", "v1", "--kind", "Sloop", "--resource", "--controller")
	p.upgrade(p.chart(), first, set)
	p.served("sloops.ship.example.com")
	p.call("kubectl", "apply", "-n", first.namespace, "-f", "config/samples/ship_v1_sloop.yaml")

	p.uninstall(first)
	if left := strings.Fields(p.of(first)); len(left) != 2 || !strings.Contains(left[0]+left[1], "frigates.ship.example.com") {
		t.Errorf("after uninstalling there are %q", left)
	}
	p.call("kubectl", "get", "-n", first.namespace, "-f", "config/samples/ship_v1_frigate.yaml")
	if ready(second) != "1" {
		t.Error("the other release is gone too")
	}
	p.uninstall(second)
	if left := p.of(second); left != "" {
		t.Errorf("after uninstalling there are %q", left)
	}
}
