package envtest_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestVariables chooses the programs by envtest's own variables, each on an environment that says nothing of them.
func TestVariables(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	ours := build(t).ours
	t.Run("KUBEBUILDER_ASSETS", func(t *testing.T) {
		t.Setenv("KUBEBUILDER_ASSETS", ours)
		startAndStop(t)
	})
	t.Run("TEST_ASSET and KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT", func(t *testing.T) {
		t.Setenv("KUBEBUILDER_ASSETS", "/no/such/folder")
		t.Setenv("TEST_ASSET_ETCD", filepath.Join(ours, "etcd"))
		t.Setenv("TEST_ASSET_KUBE_APISERVER", filepath.Join(ours, "kube-apiserver"))
		t.Setenv("TEST_ASSET_KUBECTL", filepath.Join(ours, "kubectl"))
		t.Setenv("KUBEBUILDER_ATTACH_CONTROL_PLANE_OUTPUT", "true")
		log := attached(t, func() { startAndStop(t) })
		if !strings.Contains(log, "Serving securely on 127.0.0.1") || !strings.Contains(log, "etcd-version") {
			t.Errorf("the programs' logs are not there:\n%s", log)
		}
	})
	t.Run("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT", func(t *testing.T) {
		t.Setenv("KUBEBUILDER_ASSETS", ours)
		t.Setenv("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT", "1ms")
		e := &envtest.Environment{}
		_, err := e.Start()
		if err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("start within a millisecond: %v", err)
		}
		if err := e.Stop(); err != nil {
			t.Error(err)
		}
	})
}

func startAndStop(t *testing.T) {
	t.Helper()
	e := &envtest.Environment{}
	config, err := e.Start()
	if err != nil {
		t.Fatal(err)
	}
	serverVersion(t, config)
	if err := e.Stop(); err != nil {
		t.Error(err)
	}
}

// attached returns what is written to this process's stdout and stderr while f runs.
func attached(t *testing.T, f func()) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	written := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, r)
		written <- b.String()
	}()
	stdout, stderr := os.Stdout, os.Stderr
	os.Stdout, os.Stderr = w, w
	f()
	os.Stdout, os.Stderr = stdout, stderr
	_ = w.Close()
	return <-written
}

// Flags of older projects and tutorials are refused with what took their place.
func TestRemovedFlags(t *testing.T) {
	if testing.Short() {
		t.Skip("long: make test-long-peers")
	}
	ours := build(t).ours
	for flag, instead := range map[string]string{
		"--insecure-port=8080":              "--secure-port",
		"--tls-ca-file=ca.crt":              "--client-ca-file",
		"--basic-auth-file=auth.csv":        "--token-auth-file",
		"--service-account-api-audiences=a": "--api-audiences",
	} {
		said := say(t, ours, "kube-apiserver "+flag)
		name, _, _ := strings.Cut(flag, "=")
		if !strings.Contains(said, "status 1\n") || !strings.Contains(said, "unknown flag: "+name+": removed from Kubernetes; ") || !strings.Contains(said, instead) {
			t.Errorf("%s: %s", flag, said)
		}
	}
	// This one still exists, and the server itself names what is to be used.
	if said := say(t, ours, "kube-apiserver --admission-control=AlwaysAdmit surplus"); !strings.Contains(said, "--enable-admission-plugins") {
		t.Error(said)
	}
}
