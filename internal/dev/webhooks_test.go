package dev

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/codebase"
	"github.com/slipway-dev/slipway/internal/dev/webhookproxy"
	"github.com/slipway-dev/slipway/internal/fileview"
	"github.com/slipway-dev/slipway/internal/report"
)

// TestWriteCertificate: who trusts the authority reaches a server with the certificate, at the address of
// webhooks.
func TestWriteCertificate(t *testing.T) {
	dir := t.TempDir()
	authority, err := webhookproxy.WriteCertificate(dir)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	defer server.Close()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authority)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	response, err := client.Get(server.URL) // of 127.0.0.1
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

const hookedProject = `version: "3"
projectName: op
domain: example.com
repo: example.com/op
layout: go.kubebuilder.io/v4
resources:
- {group: ship, version: v1, kind: Frigate, domain: example.com, webhooks: {webhookVersion: v1, conversion: true}}
`

func TestWebhooksOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "PROJECT"), []byte(hookedProject), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Code: codeIn(dir), Handler: report.Discard}
	hooks, err := o.webhooks(o.Code(), listening{})
	if err != nil || hooks == nil || !slices.Equal(hooks.Converted, []string{"frigates.ship.example.com"}) || hooks.Prefix != "op-run-" {
		t.Errorf("got %+v, %v", hooks, err)
	}
	if hooks, err := o.webhooks(o.Code(), listening{args: []string{"--webhook-cert-path=/mine"}}); hooks != nil || err != nil {
		t.Errorf("with a certificate of its own: %+v, %v", hooks, err)
	}
	o.Env = []string{"ENABLE_WEBHOOKS=false"}
	if hooks, err := o.webhooks(o.Code(), listening{}); hooks != nil || err != nil {
		t.Errorf("turned off: %+v, %v", hooks, err)
	}
}

// TestWebhooksByHand: what is generated from a marker is served, also if PROJECT knows no webhook.
func TestWebhooksByHand(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "config", "webhook", "manifests.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "PROJECT"), []byte("version: \"3\"\nprojectName: op\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	o := Options{Code: codeIn(dir), Handler: report.Discard}
	if hooks, err := o.webhooks(o.Code(), listening{}); hooks != nil || err != nil {
		t.Errorf("without webhooks: %+v, %v", hooks, err)
	}
	if err := os.WriteFile(file, []byte("kind: MutatingWebhookConfiguration\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if hooks, err := o.webhooks(o.Code(), listening{}); err != nil || hooks == nil || len(hooks.Manifests) == 0 {
		t.Errorf("got %+v, %v", hooks, err)
	}
}

// TestWebhooksElsewhere: the files that generators write count before the one of scaffolds, and all of them.
func TestWebhooksElsewhere(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	for name, content := range map[string]string{
		"PROJECT": "version: \"3\"\nprojectName: op\n", "a/manifests.yaml": "kind: A\n", "b/manifests.yaml": "kind: B\n", "config/webhook/manifests.yaml": "kind: Usual\n",
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file(name)), 0o755), os.WriteFile(file(name), []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for want, folders := range map[string][]string{
		"kind: A\n\n---\nkind: B\n": {"a", "b"}, "kind: B\n": {"b", "none"}, "kind: Usual\n": {"none"},
	} {
		makefile := "manifests:\n"
		for _, folder := range folders {
			makefile += "\tcontroller-gen webhook paths=./... output:webhook:dir=" + folder + "\n"
		}
		if err := os.WriteFile(file("Makefile"), []byte(makefile), 0o644); err != nil {
			t.Fatal(err)
		}
		hooks, err := Options{Handler: report.Discard}.webhooks(codeIn(dir)(), listening{})
		if err != nil || hooks == nil || string(hooks.Manifests) != want {
			t.Errorf("%v: got %+v, %v", folders, hooks, err)
		}
	}
}

// codeIn reads the project in a folder anew each time.
func codeIn(dir string) func() *codebase.Codebase {
	return func() *codebase.Codebase { return codebase.Read(fileview.Disk(dir), os.Getenv) }
}

func TestHostAndPort(t *testing.T) {
	for text, want := range map[string]string{
		"172.18.0.1": "172.18.0.1:0", "172.18.0.1:9444": "172.18.0.1:9444", "host.k3d.internal": "host.k3d.internal:0",
		"::1": "[::1]:0", "[fd00::1]:80": "[fd00::1]:80", "localhost:1": "localhost:1",
		"0.0.0.0": "", "[::]:9443": "", "a:0": "", "a:65536": "", "a:b": "", "a_b": "", "https://a": "", "a/b": "", "a:9443/x": "", ":9443": "", "": "",
	} {
		if got := hostAndPort(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestProbed: only the review that the API server sends to the run's own path counts as its call.
func TestProbed(t *testing.T) {
	for _, tc := range []struct {
		method, path, body string
		code               int
		called             bool
	}{
		{"POST", "/TOKEN", `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "7"}}`, 200, true},
		{"POST", "/OTHER", `{"request": {"uid": "7"}}`, 0, false},
		{"GET", "/TOKEN", "", 0, false},
		{"POST", "/TOKEN", "{}", 400, false},
		{"POST", "/TOKEN", "[", 400, false},
	} {
		p, answer := newProbe("TOKEN"), httptest.NewRecorder()
		answered := p.answer(answer, httptest.NewRequest(tc.method, tc.path, strings.NewReader(tc.body)))
		called := p.called()
		if answered != (tc.code != 0) || answered && answer.Code != tc.code || called != tc.called {
			t.Errorf("%s %s %s: answered %t, %d, called %t", tc.method, tc.path, tc.body, answered, answer.Code, called)
		}
		if want := `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"allowed":true,"uid":"7"}}`; called && strings.TrimSpace(answer.Body.String()) != want {
			t.Errorf("answered %s", answer.Body)
		}
	}
}
