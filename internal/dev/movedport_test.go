package dev

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/report"
)

// TestMovedPort: a manager without a flag for it is compiled for another port while the usual one is taken, and stays
// there. One that has the flag, or chooses its port, or has no webhooks, is compiled as it is.
func TestMovedPort(t *testing.T) {
	if listener, err := net.Listen("tcp", ":"+webhookPort); err == nil { // else it is taken already
		defer listener.Close()
	}
	const (
		webhooks = "domain: example.com\nversion: \"3\"\nlayout: [go.kubebuilder.io/v4]\nprojectName: op\nrepo: example.com/op\n" +
			"resources: [{group: sea, version: v1, kind: Boat, domain: example.com, webhooks: {validation: true, webhookVersion: v1}}]\n"
		prints = "\tprintln(webhook.DefaultPort)\n"
	)
	build := func(project, code, before string) (Program, string) {
		t.Helper()
		dir := t.TempDir()
		for name, text := range map[string]string{
			"PROJECT":                  project,
			"go.mod":                   "module example.com/op\n\ngo 1.26\n\nrequire sigs.k8s.io/controller-runtime v0.25.0\n\nreplace sigs.k8s.io/controller-runtime => ./library\n",
			"library/go.mod":           "module sigs.k8s.io/controller-runtime\n\ngo 1.26\n",
			"library/pkg/webhook/s.go": "package webhook\n\nvar DefaultPort = 9443\n\ntype Options struct{ Port int }\n",
			"cmd/main.go":              "package main\n\nimport \"sigs.k8s.io/controller-runtime/pkg/webhook\"\n\nfunc main() {\n" + code + "}\n",
		} {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		o := Options{Dir: dir, Code: codeIn(dir), Env: os.Environ(), Stderr: os.Stderr, Handler: report.Discard, WebhookPort: before}
		program, err := Build(t.Context(), o, "cmd")
		if err != nil {
			t.Fatal(err)
		}
		said, err := exec.Command(program.Path).CombinedOutput()
		if err != nil {
			t.Fatal(err)
		}
		entries, err := os.ReadDir(filepath.Join(dir, "cmd"))
		if err != nil || len(entries) != 1 {
			t.Errorf("the package's folder has %v, %v", entries, err)
		}
		return program, strings.TrimSpace(string(said))
	}
	moved, said := build(webhooks, prints, "")
	if moved.WebhookPort == webhookPort || said != moved.WebhookPort {
		t.Errorf("moved to %q, and the manager has port %s", moved.WebhookPort, said)
	}
	if again, said := build(webhooks, prints, "9490"); again.WebhookPort != "9490" || said != "9490" {
		t.Errorf("the next build moves to %q, and the manager has port %s", again.WebhookPort, said)
	}
	if again, said := build(webhooks, prints, webhookPort); again.WebhookPort != webhookPort || said != webhookPort {
		t.Errorf("a build after one that was not moved moves to %q, and the manager has port %s", again.WebhookPort, said)
	}
	for what, stays := range map[string]struct{ project, code string }{
		"has the flag":     {webhooks, prints + "\tprint(\"\\n\", \"webhook-port\"[:0])\n"},
		"chooses its port": {webhooks, prints + "\t_ = webhook.Options{Port: 9447}\n"},
		"has no webhooks":  {strings.Replace(webhooks, ", webhooks: {validation: true, webhookVersion: v1}", "", 1), prints},
	} {
		if program, said := build(stays.project, stays.code, ""); program.WebhookPort != webhookPort || said != webhookPort {
			t.Errorf("a manager that %s moves to %q, and has port %s", what, program.WebhookPort, said)
		}
	}
}
