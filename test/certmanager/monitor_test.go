package certmanager

import (
	"net"
	"strconv"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// serviceMonitor is what a ServiceMonitor says, as far as slipway scaffolds it.
type serviceMonitor struct {
	Selector struct {
		MatchLabels map[string]string `json:"matchLabels"`
	} `json:"selector"`
	Endpoints []endpoint `json:"endpoints"`
}

// endpoint is one that is asked for metrics.
type endpoint struct {
	Path          string `json:"path"`
	Port          string `json:"port"`
	Scheme        string `json:"scheme"`
	Authorization struct {
		Credentials secretKey `json:"credentials"`
	} `json:"authorization"`
	TLSConfig struct {
		ServerName string `json:"serverName"`
		CA         struct {
			Secret secretKey `json:"secret"`
		} `json:"ca"`
	} `json:"tlsConfig"`
}

// secretKey is a value in a Secret of the ServiceMonitor's namespace.
type secretKey struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

// monitor is the project's. That it says more than is read here fails the test.
func (o operator) monitor(t *testing.T) serviceMonitor {
	t.Helper()
	for _, object := range o.manifests {
		if object.GetKind() != "ServiceMonitor" {
			continue
		}
		spec, _ := object.Object["spec"].(map[string]any)
		var m serviceMonitor
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(spec, &m, true); err != nil {
			t.Fatal(err)
		}
		if len(m.Endpoints) != 1 {
			t.Fatalf("the ServiceMonitor has %d endpoints", len(m.Endpoints))
		}
		return m
	}
	t.Fatal("config/default has no ServiceMonitor")
	return serviceMonitor{}
}

// authorityFile and tokenFile are where Prometheus finds what a ServiceMonitor takes from Secrets.
const (
	authorityFile = "/etc/prometheus/authority.crt"
	tokenFile     = "/etc/prometheus/token"
)

// configuration is Prometheus' for a ServiceMonitor, as the Prometheus operator makes it, but that the targets are
// given: Debian builds Prometheus without what finds them in a cluster. A second job asks by the name of a Service.
func (m serviceMonitor) configuration(t *testing.T, targets []string, service string) string {
	t.Helper()
	e := m.Endpoints[0]
	job := func(name string, targets ...string) map[string]any {
		return map[string]any{
			"job_name": name, "scheme": e.Scheme, "metrics_path": e.Path,
			"authorization":  map[string]any{"credentials_file": tokenFile},
			"tls_config":     map[string]any{"ca_file": authorityFile, "server_name": e.TLSConfig.ServerName},
			"static_configs": []any{map[string]any{"targets": targets}},
		}
	}
	text, err := yaml.Marshal(map[string]any{
		"global":         map[string]any{"scrape_interval": "1s"},
		"scrape_configs": []any{job("monitor", targets...), job("name", service)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// targets are the endpoints of the Services that a ServiceMonitor selects, at its port.
func (o operator) targets(t *testing.T, m serviceMonitor) (targets []string) {
	t.Helper()
	var slices discoveryv1.EndpointSliceList
	if err := o.List(t.Context(), &slices, client.InNamespace(o.namespace), client.MatchingLabels(m.Selector.MatchLabels)); err != nil {
		t.Fatal(err)
	}
	for _, slice := range slices.Items {
		for _, port := range slice.Ports {
			if port.Name == nil || *port.Name != m.Endpoints[0].Port {
				continue
			}
			for _, e := range slice.Endpoints {
				targets = append(targets, net.JoinHostPort(e.Addresses[0], strconv.Itoa(int(*port.Port))))
			}
		}
	}
	return targets
}
