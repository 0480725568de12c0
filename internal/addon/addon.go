// Package addon knows what operators often need in a cluster besides themselves, and makes it from Go modules, without
// an image or a manifest from elsewhere:
//
//	a, err := addon.Find("cert-manager")
//	made, err := addon.Make(ctx, a, os.Getenv, handler)   // sources in the cache, objects
//	made.Dir, made.Objects, a.Programs                     // to be built, loaded and applied
//
// An [Addon] consists of custom resource definitions, which are files of a Go module, and perhaps of programs. The
// programs' sources, with a go.mod and a go.sum that pin all modules, are part of slipway: they need no checkout. They
// lie in the folder _sources, which the go command takes for no package; there go.mod is called go.mod.txt, since a
// folder with a go.mod cannot be embedded. The go command gets modules as the user's settings say, and refuses those
// whose content is not the one in go.sum.
//
// The package builds no image and touches no cluster.
package addon

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-dev/slipway/internal/report"
	"github.com/slipway-dev/slipway/internal/spelling"
)

// Addon is something that a cluster can have.
type Addon struct {
	Name     string
	Summary  string   // a few words
	Groups   []string // of the kinds that it defines; the first one reports that a cluster has it
	Programs []Program
	LeftOut  []string // parts of the original that are not there
	Makes    []string // objects that its programs make in its namespace, like secret/NAMESPACE/NAME

	module      string // the Go module that has the definitions
	definitions string // the folder of its definitions
}

// Program is one of an add-on's programs.
type Program struct {
	Package string // in the folder of the sources, like ./webhook
	Image   string // the name of its image in the manifests
}

// All are the add-ons, by name.
func All() []*Addon {
	return []*Addon{
		{
			Name: certManager, Summary: "issues self-signed certificates, and those of a CA in a Secret",
			Groups:   []string{"cert-manager.io", "acme.cert-manager.io"},
			Programs: certManagerPrograms("controller", "cainjector", "webhook"),
			LeftOut: []string{"ACME issuers with all their solvers", "Vault issuers", "Venafi (CyberArk) issuers", "CertificateSigningRequests of Kubernetes",
				"certificates for annotated Ingresses and Gateways", "the controller's metrics"},
			Makes:  []string{"secret/cert-manager/cert-manager-webhook-ca"},
			module: "github.com/cert-manager/cert-manager", definitions: "deploy/crds",
		},
		{
			Name: gatewayAPI, Summary: "the kinds of the Gateway API's standard channel",
			Groups: []string{"gateway.networking.k8s.io"},
			module: "sigs.k8s.io/gateway-api", definitions: "config/crd/standard",
		},
		{
			Name: prometheusCRDs, Summary: "the Prometheus operator's kinds, such as ServiceMonitor",
			Groups: []string{"monitoring.coreos.com"},
			module: "github.com/prometheus-operator/prometheus-operator", definitions: "example/prometheus-operator-crd",
		},
	}
}

// certManagerImages is what the names of cert-manager's images begin with. They do not have the original's names, since
// they leave parts out.
const certManagerImages = "addons.slipway.dev/cert-manager/"

func certManagerPrograms(names ...string) (programs []Program) {
	a := Addon{Name: certManager, module: "github.com/cert-manager/cert-manager"}
	for _, name := range names {
		programs = append(programs, Program{Package: "./" + name, Image: certManagerImages + name + ":" + a.Version()})
	}
	return programs
}

// The names of the add-ons.
const (
	certManager    = "cert-manager"
	gatewayAPI     = "gateway-api"
	prometheusCRDs = "prometheus-crds"
)

// Names are the names of all add-ons, in order. Every start of the command asks for them, so they cost no look at the
// add-ons themselves, whose versions are in files.
func Names() []string { return []string{certManager, gatewayAPI, prometheusCRDs} }

// Find returns the add-on of a name. The error is a [report.Error] with the nearest one.
func Find(name string) (*Addon, error) {
	all := All()
	if at := slices.IndexFunc(all, func(a *Addon) bool { return a.Name == name }); at >= 0 {
		return all[at], nil
	}
	e := &report.Error{What: "unknown add-on", Where: name, Next: "slipway cluster add", Code: report.UsageCode}
	if near := nearest(name); near != "" {
		e.Hint = "did you mean " + near + "?"
	}
	return nil, e
}

// mayDiffer is how many letters of a name may be wrong for another to be suggested.
const mayDiffer = 4

// others are names that add-ons are known by elsewhere.
var others = map[string]string{
	"certmanager": certManager, "jetstack": certManager, "gateway": gatewayAPI, "gatewayapi": gatewayAPI,
	"prometheus": prometheusCRDs, "prometheus-operator": prometheusCRDs, "prometheus-operator-crds": prometheusCRDs, "kube-prometheus": prometheusCRDs,
}

func nearest(name string) string {
	if known, ok := others[name]; ok {
		return known
	}
	return spelling.Nearest(name, Names(), min(mayDiffer, len(name)/2))
}

// ForGroup returns the add-on that brings the kinds of an API group; nil if none does.
func ForGroup(group string) *Addon {
	all := All()
	at := slices.IndexFunc(all, func(a *Addon) bool { return slices.Contains(a.Groups, group) })
	if at < 0 {
		return nil
	}
	return all[at]
}

// Probe is an object that a cluster takes once the add-on serves; nil for one without programs. It is for a trial and
// not to be stored.
func (a *Addon) Probe() *unstructured.Unstructured {
	if a.Name != "cert-manager" {
		return nil
	}
	probe := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "cert-manager.io/v1", "kind": "Certificate",
		"spec": map[string]any{"secretName": "slipway-probe", "dnsNames": []any{"probe.invalid"}, "issuerRef": map[string]any{"name": "slipway-probe"}},
	}}
	probe.SetName("slipway-probe")
	probe.SetNamespace("default")
	return probe
}
