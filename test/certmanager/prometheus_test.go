package certmanager

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// prometheusImage is Debian's Prometheus.
const prometheusImage = "prometheus:debian"

// collected has Prometheus, in a pod of its own namespace, collect the metrics of both managers.
func (o operator) collected(t *testing.T) {
	o.loadPrometheus(t)
	o.startPrometheus(t)
	for query, want := range map[string]int{
		`up{job="monitor"} == 1`: 2,
		`up{job="name"} == 1`:    1,
		`controller_runtime_webhook_requests_total{job="monitor",webhook=~".*validate.*",code="200"}`: 2,
		`goobers_total{job="monitor"}`: 2,
	} {
		o.through(t, query, "monitoring", "service/prometheus", 9090, func(ctx context.Context, address string) error {
			found, err := find(ctx, address, query)
			if err == nil && len(found) != want {
				err = fmt.Errorf("%d are found, not %d: %s; targets: %s", len(found), want, found, targets(ctx, address))
			}
			return err
		})
	}
}

// startPrometheus does for a ServiceMonitor what the Prometheus operator does: it copies the authority and the token
// from Secrets and makes the configuration. All else is in testdata/prometheus.yaml.
func (o operator) startPrometheus(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile("testdata/prometheus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	apply := command(t, ".", o.cluster.env, o.cluster.slipway, "kubectl", "apply", "-f", "-")
	apply.Stdin = bytes.NewReader(text)
	output(t, apply)
	monitor := o.monitor(t)
	config := &corev1.ConfigMap{Data: map[string]string{
		"prometheus.yml":             monitor.configuration(t, o.targets(t, monitor), o.host("controller-manager-metrics-service")+":8443"),
		filepath.Base(authorityFile): o.valueOf(t, monitor.Endpoints[0].TLSConfig.CA.Secret),
		filepath.Base(tokenFile):     o.valueOf(t, monitor.Endpoints[0].Authorization.Credentials),
	}}
	config.Namespace, config.Name = "monitoring", "prometheus"
	o.create(t, config)
	o.kubectl(t, "-n", "monitoring", "rollout", "status", "deployment", "prometheus", "--timeout", patience.String())
}

// valueOf is a value of a Secret in the operator's namespace.
func (o operator) valueOf(t *testing.T, of secretKey) string {
	t.Helper()
	var secret corev1.Secret
	if err := o.Get(t.Context(), client.ObjectKey{Namespace: o.namespace, Name: of.Name}, &secret); err != nil {
		t.Fatal(err)
	}
	return string(secret.Data[of.Key])
}

// find asks Prometheus for the series that an expression finds.
func find(ctx context.Context, address, expression string) ([]json.RawMessage, error) {
	var answer struct {
		Status, Error string
		Data          struct{ Result []json.RawMessage }
	}
	if err := get(ctx, "http://"+address+"/api/v1/query?query="+url.QueryEscape(expression), &answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("prometheus says %s: %s", answer.Status, answer.Error)
	}
	return answer.Data.Result, nil
}

// targets are whom Prometheus asks, and what became of that.
func targets(ctx context.Context, address string) string {
	var answer json.RawMessage
	if err := get(ctx, "http://"+address+"/api/v1/targets", &answer); err != nil {
		return err.Error()
	}
	return string(answer)
}

func get(ctx context.Context, url string, answer any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	return json.NewDecoder(response.Body).Decode(answer)
}
