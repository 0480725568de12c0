package feature_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/features"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/feature"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/newproject"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projectfile"
	"github.com/slipway-dev/slipway/internal/scaffold/internal/projecttest"
)

const bareDeployment = `
-- config/manager/manager.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: operator
spec:
  template:
    spec:
      containers:
      - name: proxy
        args: [--listen]
      - name: manager
        command: [/manager]
`

// TestArguments: a manager without arguments is refused where one would be added, with its line; one that is not the
// first container gets the argument all the same.
func TestArguments(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, bareDeployment)
	_, err := projectfile.Edit(fileview.Disk(root), feature.Enable(features.HA))
	refusal, ok := errors.AsType[*report.Error](err)
	if !ok || refusal.Where != "config/manager/manager.yaml:11" || !strings.Contains(refusal.Hint, "args: []") {
		t.Errorf("got %v", err)
	}
	projecttest.Unpack(t, root, bareDeployment+"        args: []\n")
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.HA)))
	projecttest.Holds(t, root, "config/ha/kustomization.yaml", "/spec/template/spec/containers/0/args/-", "- name: manager")
}

const sidecarFirst = `
-- config/manager/manager.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: controller-manager
  namespace: system
spec:
  template:
    spec:
      containers:
      - name: proxy
        args: [--listen]
      - name: manager
        args: [--leader-elect]
`

// TestArgumentsBesideSidecar: the arguments of all features are the manager's, also behind a feature whose patch names
// its container, which makes that the first one.
func TestArgumentsBesideSidecar(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.Metrics)))
	projecttest.Unpack(t, root, sidecarFirst)
	for _, f := range []features.Name{features.HA, features.SelfCert, features.PProf} {
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(f)))
	}
	text := built(t, root)
	const proxy = "      - args:\n        - --listen\n        name: proxy\n"
	if !strings.Contains(text, proxy) {
		t.Errorf("the sidecar is not as it was:\n%s", text)
	}
	for _, argument := range []string{"--warm-up", "--webhook-cert-path", "--pprof-bind-address"} {
		if !strings.Contains(text, argument) {
			t.Errorf("the manager has no argument %s:\n%s", argument, text)
		}
	}
}

// TestRoles: a manager with a role of another name is kept in its namespace, too.
func TestRoles(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, `
-- config/rbac/role.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: "x\n    more: of\n    yaml"
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: operator-role
-- config/rbac/kustomization.yaml --
resources:
- role.yaml
- bindings.yaml
-- config/rbac/bindings.yaml --
kind: ClusterRoleBinding
metadata:
  name: proxies
roleRef:
  name: proxy-role
---
kind: ClusterRoleBinding
metadata:
  name: operator-binding
roleRef:
  name: operator-role
`)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Namespaced)))
	projecttest.Holds(t, root, "config/namespaced/kustomization.yaml", "name: operator-role\n", "name: operator-binding\n", "!manager-role", "!more")
}

// TestRolesElsewhere: the Makefile may have the role generated beside other files than layouts do.
func TestRolesElsewhere(t *testing.T) {
	for _, folder := range []string{"deploy/rbac", "config/rbac"} {
		root := projecttest.New(t, newproject.Options{})
		projecttest.Unpack(t, root, `
-- Makefile --
manifests:
	controller-gen rbac:roleName=operator-role paths=./... output:rbac:dir=deploy/rbac
-- deploy/rbac/role.yaml --
kind: ClusterRole
metadata:
  name: operator-role
-- config/rbac/kustomization.yaml --
resources:
- ../../`+folder+`/bindings.yaml
-- `+folder+`/bindings.yaml --
kind: ClusterRoleBinding
metadata:
  name: operator-binding
roleRef:
  name: operator-role
`)
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.Namespaced)))
		projecttest.Holds(t, root, "config/namespaced/kustomization.yaml", "name: operator-role\n", "name: operator-binding\n")
	}
}

// TestMetricsOfOtherName: what would select no Service is refused at the line of the Service that there is.
func TestMetricsOfOtherName(t *testing.T) {
	for _, f := range []features.Name{features.Prometheus, features.Alerts} {
		root := projecttest.New(t, newproject.Options{})
		if err := os.RemoveAll(filepath.Join(root, "config", "metrics")); err != nil {
			t.Fatal(err)
		}
		_, err := projectfile.Edit(fileview.Disk(root), feature.Enable(f))
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Next != "slipway edit --enable metrics,"+string(f) {
			t.Errorf("%s: got %v", f, err)
		}
		const service = "-- config/manager/kustomization.yaml --\nresources: [manager.yaml, service.yaml]\n-- config/manager/service.yaml --\napiVersion: v1\nkind: Service\nmetadata:\n  name: operator-metrics-service\n"
		projecttest.Unpack(t, root, service)
		_, err = projectfile.Edit(fileview.Disk(root), feature.Enable(f))
		if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "config/manager/service.yaml:4" {
			t.Errorf("%s: got %v", f, err)
		}
		projecttest.Unpack(t, root, strings.Replace(service, "operator-metrics", "controller-manager-metrics", 1))
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(f)))
	}
}

// TestNamespacedBeyondMain: a manager that main only leads to is its author's.
func TestNamespacedBeyondMain(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, `
-- cmd/main.go --
package main

import "example.com/op/internal/start"

func main() {
	start.Run()
}
-- internal/start/start.go --
package start

import (
	ctrl "sigs.k8s.io/controller-runtime"
)

func Run() error {
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme})
	// +kubebuilder:scaffold:builder
	return err
}
`)
	if err := os.Remove(filepath.Join(root, "internal", "manager", "flags.go")); err != nil {
		t.Fatal(err)
	}
	_, err := projectfile.Edit(fileview.Disk(root), feature.InNamespace(true))
	if refusal, ok := errors.AsType[*report.Error](err); !ok || refusal.Where != "cmd/main.go:1" {
		t.Errorf("got %v", err)
	}
}

// TestExpected: where a feature's files would name or select nothing, or lie in a namespace of their own, it is refused
// with what there is, and nothing is planned.
func TestExpected(t *testing.T) {
	deployment := strings.Replace(sidecarFirst, "namespace: system", "namespace: theirs", 1)
	for f, where := range map[features.Name]string{
		features.HA: list, features.Metrics: list, features.NetworkPolicy: list, features.Egress: list,
		features.Prometheus: list, features.Alerts: list, features.Dashboard: list, features.Tracing: "", features.Policies: "",
	} {
		root := projecttest.New(t, newproject.Options{})
		if err := os.RemoveAll(filepath.Join(root, "config", "metrics")); err != nil {
			t.Fatal(err)
		}
		projecttest.Unpack(t, root, deployment+"-- "+list+" --\nresources:\n- ../manager\n")
		_, err := projectfile.Edit(fileview.Disk(root), feature.Enable(f))
		refused(t, f, err, where, "namespace: theirs")
		projecttest.Unpack(t, root, strings.Replace(deployment, "manager.yaml", "deployment.yaml", 1)+"-- "+list+" --\nnamespace: theirs\nresources:\n- ../manager\n")
		if err := os.Remove(filepath.Join(root, "config", "manager", "manager.yaml")); err != nil {
			t.Fatal(err)
		}
		if where != "" && f != features.Dashboard || f == features.Tracing {
			_, err = projectfile.Edit(fileview.Disk(root), feature.Enable(f))
			refused(t, f, err, list, "list config/manager/manager.yaml there")
		}
	}
}

// inComponents is a project whose kustomizations are in folders of their own, as jobset's are.
const inComponents = "-- " + list + ` --
namespace: crew
resources:
- ../components/manager
- https://example.com/elsewhere
- ../../../outside
components:
- ../components/rest
-- config/components/rest/kustomization.yml --
kind: Component
resources: [service.yaml, other.yaml]
-- config/components/rest/service.yaml --
kind: Service
metadata:
  name: controller-manager-metrics-service
-- config/components/rest/other.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache}
spec:
  template: {spec: {containers: [{name: cache}]}}
-- config/components/manager/kustomization.yaml --
resources: [deployment.yaml]
-- config/components/manager/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: crew-manager
  namespace: system
spec:
  selector:
    matchLabels: {role: crew}
  template:
    spec:
      containers:
      - name: manager
        args: []
        ports:
        - {name: metrics, containerPort: 8080}
        - {name: webhook-server, containerPort: 9444}
`

// TestDeployedFromElsewhere: the manager's Deployment is the one that config/default builds, in whichever folder.
func TestDeployedFromElsewhere(t *testing.T) {
	root := projecttest.New(t, newproject.Options{})
	for _, folder := range []string{"manager", "metrics"} {
		if err := os.RemoveAll(filepath.Join(root, "config", folder)); err != nil {
			t.Fatal(err)
		}
	}
	projecttest.Unpack(t, root, inComponents)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.HA, features.NetworkPolicy, features.Alerts)))
	projecttest.Holds(t, root, "config/ha/kustomization.yaml", "    kind: Deployment\n    name: crew-manager\n")
	projecttest.Holds(t, root, "config/network-policy/manager.yaml", "role: crew\n", "port: 8080\n", "port: 9444\n")
}

// TestUnknownFlag: an argument that the manager does not take is refused, with the code that it needs.
func TestUnknownFlag(t *testing.T) {
	served := projecttest.New(t, newproject.Options{})
	if err := os.RemoveAll(filepath.Join(served, "config", "metrics")); err != nil {
		t.Fatal(err)
	}
	projecttest.Unpack(t, served, "-- internal/manager/flags.go --\npackage manager\n\nfunc options(f flags) { f.StringVar(&address, \"metrics-bind-address\", \"0\", \"\") }\n")
	_, err := projectfile.Edit(fileview.Disk(served), feature.Enable(features.Metrics))
	refused(t, features.Metrics, err, "cmd/main.go", "SecureServing: true")
	for f, flag := range map[features.Name]string{features.Metrics: `"metrics-bind-address"`, features.PProf: `"pprof-bind-address"`} {
		root := projecttest.New(t, newproject.Options{})
		for _, name := range []string{"config/metrics", "config/pprof"} {
			if err := os.RemoveAll(filepath.Join(root, filepath.FromSlash(name))); err != nil {
				t.Fatal(err)
			}
		}
		flags := filepath.Join(root, "internal", "manager", "flags.go")
		code, err := os.ReadFile(flags)
		if err != nil {
			t.Fatal(err)
		}
		projecttest.Unpack(t, root, "-- internal/manager/flags.go --\n"+strings.ReplaceAll(string(code), flag, `"some-address"`))
		_, err = projectfile.Edit(fileview.Disk(root), feature.Enable(f))
		refused(t, f, err, "cmd/main.go", "flag.StringVar(&")
		projecttest.Unpack(t, root, "-- pkg/options/options.go --\npackage options\n\n// "+flag+" is the address.\n")
		_, err = projectfile.Edit(fileview.Disk(root), feature.Enable(f))
		refused(t, f, err, "cmd/main.go", "flag.StringVar(&")
		projecttest.Unpack(t, root, "-- pkg/options/options.go --\npackage options\n\nconst address = "+flag+"\n")
		projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(f)))
	}
}

// refused checks the refusal of a feature, or that there is none.
func refused(t *testing.T, f features.Name, err error, where, hint string) {
	t.Helper()
	if where == "" {
		if err != nil {
			t.Errorf("%s: got %v", f, err)
		}
		return
	}
	if refusal, ok := errors.AsType[*report.Error](err); !ok || !strings.HasPrefix(refusal.Where, where) || !strings.Contains(refusal.Hint, hint) {
		t.Errorf("%s: got %v", f, err)
	}
}

// TestVariablesInNewLayout: a project that moved to a newer layout may have kept the variables and the patches of an
// older one, one for each sort of webhooks.
func TestVariablesInNewLayout(t *testing.T) {
	const off = "resources:\n- ../manager\n#- ../certmanager\n\npatches:\n- path: own.yaml\n#- path: mutatingwebhookcainjection_patch.yaml\n#- path: validatingwebhookcainjection_patch.yaml\n\n" +
		"vars:\n#- name: SERVICE_NAME\n#  objref:\n#    kind: Service\n#    version: v1\n#    name: webhook-service\n"
	root := projecttest.New(t, newproject.Options{})
	projecttest.Unpack(t, root, "-- config/certmanager/kustomization.yaml --\nresources: [certificate.yaml]\n-- config/webhook/kustomization.yaml --\nresources: [service.yaml]\n"+
		"-- config/default/mutatingwebhookcainjection_patch.yaml --\n-- config/default/validatingwebhookcainjection_patch.yaml --\n-- "+list+" --\n"+off)
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Enable(features.CertManager)))
	projecttest.Holds(t, root, list, "\n- ../certmanager\n", "\n- path: mutatingwebhookcainjection_patch.yaml\n- path: validatingwebhookcainjection_patch.yaml\n", "\n- name: SERVICE_NAME\n  objref:\n")
	projecttest.Apply(t)(projectfile.Edit(fileview.Disk(root), feature.Disable(features.CertManager)))
	projecttest.Holds(t, root, list, off)
}
